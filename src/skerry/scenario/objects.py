"""Objects: things in the world that are not robots; static, moved by the user, or free in the water."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from skerry.core import meshes
from skerry.core.config import Config, ExistingFile, Matrix6, NonNegative, Positive, Vector3, Vector6
from skerry.core.errors import SkerryError
from skerry.core.mesh_files import read_mesh
from skerry.core.urdf import Inertial, Link, Robot, Shape
from skerry.parts.law import LAWS, LawConfig
from skerry.scenario.pose import PoseConfig

LINK = "body"
CELLS = 216  # about so many cells fill the box around an object, to spread its buoyancy over


class Box(Config):
    """A box; `size` is its full length along x, y and z, m."""

    kind: Literal["box"]
    size: tuple[Positive, Positive, Positive]

    def mesh(self) -> meshes.Mesh:
        return meshes.box(self.size)

    def shape(self) -> Shape:
        return Shape("box", size=self.size)

    def solid(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Volume, centre, and inertia per unit of mass."""
        x, y, z = (value**2 for value in self.size)
        return float(np.prod(self.size)), np.zeros(3), np.diag([y + z, x + z, x + y]) / 12


class Sphere(Config):
    """A sphere."""

    kind: Literal["sphere"]
    radius: Positive

    def mesh(self) -> meshes.Mesh:
        return meshes.sphere(self.radius)

    def shape(self) -> Shape:
        return Shape("sphere", radius=self.radius)

    def solid(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        return 4 / 3 * np.pi * self.radius**3, np.zeros(3), np.eye(3) * 0.4 * self.radius**2


class Cylinder(Config):
    """A cylinder along z."""

    kind: Literal["cylinder"]
    radius: Positive
    length: Positive

    def mesh(self) -> meshes.Mesh:
        return meshes.cylinder(self.radius, self.length)

    def shape(self) -> Shape:
        return Shape("cylinder", radius=self.radius, length=self.length)

    def solid(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        across = self.radius**2 / 4 + self.length**2 / 12
        return (
            np.pi * self.radius**2 * self.length,
            np.zeros(3),
            np.diag([across, across, self.radius**2 / 2]),
        )


class MeshGeometry(Config):
    """A closed mesh, or, for static objects, any."""

    kind: Literal["mesh"]
    file: ExistingFile
    scale: tuple[Positive, Positive, Positive] = (1.0, 1.0, 1.0)

    @model_validator(mode="after")
    def _can_be_read(self) -> MeshGeometry:
        with _as_fault():
            self.mesh()
        return self

    def mesh(self) -> meshes.Mesh:
        stamp = self.file.stat()
        return meshes.transform(_read_once(self.file, stamp.st_mtime_ns, stamp.st_size), scale=self.scale)

    def shape(self) -> Shape:
        return Shape("mesh", mesh=self.file, scale=self.scale)

    def solid(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        mesh = self.mesh()
        meshes.closed_volume(mesh, str(self.file))
        volume, center, inertia = meshes.solid_inertia(mesh, 1.0)
        return volume, center, inertia / volume


@lru_cache(maxsize=16)
def _read_once(path: Path, changed: int, size: int) -> meshes.Mesh:
    """A mesh is needed when it is checked and again when it is built, and by every world of a batch."""
    return read_mesh(path)


@contextmanager
def _as_fault() -> Iterator[None]:
    """Let an error be one fault among those of the file that is being checked."""
    try:
        yield
    except SkerryError as error:
        raise ValueError(str(error)) from None


Geometry = Annotated[Box | Sphere | Cylinder | MeshGeometry, Field(discriminator="kind")]


Share = Annotated[float, Field(ge=0, le=1)]


def _triple(values: NDArray[np.float64]) -> Vector3:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _rows(matrix: NDArray[np.float64]) -> tuple[Vector3, Vector3, Vector3]:
    return _triple(matrix[0]), _triple(matrix[1]), _triple(matrix[2])


ZERO: Vector6 = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
LAW_OF = {
    "linear_damping": ("damping", "linear"),
    "quadratic_damping": ("damping", "quadratic"),
    "added_mass": ("added_mass", "matrix"),
}
"""The law that each of these constants goes to, and its name there."""
FORCES = ("mass", "volume", "center_of_mass", "center_of_volume", *LAW_OF)


class ObjectConfig(Config):
    """A thing in the world. A dynamic one has a mass, and floats, sinks and drags by the constants given here."""

    geometry: Geometry
    motion: Literal["static", "kinematic", "dynamic"] = "static"
    pose: PoseConfig = PoseConfig()
    mass: Positive | None = Field(None, description="kg; dynamic objects only")
    volume: NonNegative | None = Field(None, description="displaced, m³; the geometry's own by default")
    center_of_mass: Vector3 | None = Field(None, description="in the object's frame, m; the geometry's own by default")
    center_of_volume: Vector3 | None = Field(
        None, description="in the object's frame, m; the geometry's own by default"
    )
    linear_damping: Vector6 | Matrix6 = ZERO
    quadratic_damping: Vector6 | Matrix6 = ZERO
    added_mass: Vector6 | Matrix6 = ZERO
    friction: NonNegative | None = Field(None, description="sliding coefficient; 1 by default")
    material: str = Field("default", description="what sonars and cameras take it for")
    category: str | None = Field(None, min_length=1, description="what detections call it; its name by default")
    colour: tuple[Share, Share, Share] = Field((0.7, 0.7, 0.7), description="red, green and blue, 0 to 1")

    @field_validator(*LAW_OF)
    @classmethod
    def _a_law_takes_it(cls, value: Vector6 | Matrix6, info: ValidationInfo) -> Vector6 | Matrix6:
        kind, setting = LAW_OF[str(info.field_name)]
        LAWS.find(kind).model_validate({"link": LINK, "kind": kind, setting: value})
        return value

    @model_validator(mode="after")
    def _only_a_dynamic_one_has_forces(self) -> ObjectConfig:
        if self.motion == "dynamic":
            if self.mass is None:
                raise ValueError("a dynamic object needs a `mass`")
            with _as_fault():
                self.geometry.solid()
        else:
            fields = type(self).model_fields
            given = [name for name in FORCES if getattr(self, name) != fields[name].default]
            if given:
                raise ValueError(f"a {self.motion} object takes no forces: remove {', '.join(given)}")
        return self

    def robot(self, name: str) -> Robot:
        """The object as a tree of one link."""
        inertial = None
        if self.motion == "dynamic":
            assert self.mass is not None
            _, center, per_mass = self._solid()
            at = center if self.center_of_mass is None else np.array(self.center_of_mass)
            inertial = Inertial(self.mass, _triple(at), (0.0, 0.0, 0.0), _rows(per_mass * self.mass))
        shape = self.geometry.shape()
        return Robot(name, {LINK: Link(LINK, inertial, (shape,), (shape,))}, {}, LINK, {})

    def forces(self) -> dict[str, LawConfig]:
        """The laws that act on it, as settings."""
        if self.motion != "dynamic":
            return {}
        found: dict[str, object] = {
            "damping": {
                "kind": "damping",
                "linear": self.linear_damping,
                "quadratic": self.quadratic_damping,
            },
            "added_mass": {"kind": "added_mass", "matrix": self.added_mass},
        }
        volume = self._solid()[0] if self.volume is None else self.volume
        if volume > 0:
            points, half = self._cells()
            found["buoyancy"] = {
                "kind": "force_points",
                "points": points.tolist(),
                "volume": volume,
                "depth_before_submerged": half,
                "height_before_dry": half,
            }
        made = {}
        for name, settings in found.items():
            assert isinstance(settings, dict)
            config = LAWS.find(settings["kind"]).model_validate({"link": LINK, **settings})
            assert isinstance(config, LawConfig)
            made[name] = config
        return made

    def _solid(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        return self.geometry.solid()

    def _cells(self) -> tuple[NDArray[np.float64], float]:
        """The middles of a grid's cells that lie inside, moved to the centre of volume; and half a cell's height."""
        mesh = self.geometry.mesh()
        low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        side = float(np.prod(high - low) / CELLS) ** (1 / 3)
        counts = np.maximum(1, np.round((high - low) / side)).astype(int)
        cell = (high - low) / counts
        steps = np.meshgrid(*(np.arange(count) + 0.5 for count in counts), indexing="ij")
        grid = np.stack(steps, axis=-1).reshape(-1, 3) * cell + low
        inside = grid[meshes.contains(mesh, grid)]
        if len(inside) == 0:
            raise SkerryError("the geometry is too thin to spread its buoyancy over; use a box or a cylinder instead")
        center = self._solid()[1] if self.center_of_volume is None else np.array(self.center_of_volume)
        return inside - inside.mean(axis=0) + center, float(cell[2] / 2)
