"""Geometry of objects: boxes, spheres, cylinders, meshes from files, and plates with a marker on them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from struct import unpack
from typing import Annotated, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core import meshes
from skerry.core.config import Config, ExistingFile, Positive
from skerry.core.errors import SkerryError
from skerry.formats.mesh_files import read_mesh
from skerry.formats.urdf import Shape

Solid = tuple[float, NDArray[np.float64], NDArray[np.float64]]
"""Volume, centre, and inertia per unit of mass about that centre."""
Cells = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The middles of equal parts of a solid, (n, 3), their mean in its centre; and how long a part is along each axis."""


def grid_cells(mesh: meshes.Mesh, count: int, center: NDArray[np.float64]) -> Cells:
    """Those cells of a grid over the box around a solid, about so many in the whole box, whose middles lie inside."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    side = float(np.prod(high - low) / count) ** (1 / 3)
    counts = np.maximum(1, np.round((high - low) / side)).astype(int)
    cell = (high - low) / counts
    steps = np.meshgrid(*(np.arange(number) + 0.5 for number in counts), indexing="ij")
    grid = np.stack(steps, axis=-1).reshape(-1, 3) * cell + low
    inside = grid[meshes.contains(mesh, grid)]
    if len(inside) == 0:
        raise SkerryError("the geometry is too thin to spread its buoyancy over; use a box or a cylinder instead")
    return inside - inside.mean(axis=0) + center, cell


class BoxGeometry(Config):
    """A box; `size` is its full length along x, y and z, m."""

    kind: Literal["box"]
    size: tuple[Positive, Positive, Positive]

    def mesh(self) -> meshes.Mesh:
        return meshes.box(self.size)

    def shape(self) -> Shape:
        return Shape("box", size=self.size)

    def cells(self, count: int) -> Cells:
        return grid_cells(self.mesh(), count, self.solid()[1])

    def visuals(self) -> tuple[Shape, ...]:
        return (self.shape(),)

    def solid(self) -> Solid:
        x, y, z = (value**2 for value in self.size)
        return float(np.prod(self.size)), np.zeros(3), np.diag([y + z, x + z, x + y]) / 12


class SphereGeometry(Config):
    """A sphere."""

    kind: Literal["sphere"]
    radius: Positive

    def mesh(self) -> meshes.Mesh:
        return meshes.sphere(self.radius)

    def shape(self) -> Shape:
        return Shape("sphere", radius=self.radius)

    def cells(self, count: int) -> Cells:
        """Rings in layers, each with points by its share of the volume, t² (3 − 2 t) up to the share t of the height.

        On a ring's radius, √((r² − z²)/2), the points have the second moment of their layer.
        """
        layers = max(1, round(count ** (1 / 3)))
        edges = np.linspace(0.0, 1.0, layers + 1)
        numbers = np.maximum(1, np.round(np.diff(edges**2 * (3.0 - 2.0 * edges)) * count * np.pi / 6)).astype(int)
        points = []
        for layer, number in enumerate(numbers):
            z = self.radius * (edges[layer] + edges[layer + 1] - 1.0)
            ring = np.sqrt(0.5 * (self.radius**2 - z**2)) if number > 1 else 0.0
            angle = 2.0 * np.pi * (np.arange(number) + 0.5 * (layer % 2)) / number
            points.append(np.stack([ring * np.cos(angle), ring * np.sin(angle), np.full(number, z)], axis=1))
        return np.concatenate(points), np.full(3, 2.0 * self.radius / layers)

    def visuals(self) -> tuple[Shape, ...]:
        return (self.shape(),)

    def solid(self) -> Solid:
        return 4 / 3 * np.pi * self.radius**3, np.zeros(3), np.eye(3) * 0.4 * self.radius**2


class CylinderGeometry(Config):
    """A cylinder along z."""

    kind: Literal["cylinder"]
    radius: Positive
    length: Positive

    def mesh(self) -> meshes.Mesh:
        return meshes.cylinder(self.radius, self.length)

    def shape(self) -> Shape:
        return Shape("cylinder", radius=self.radius, length=self.length)

    def cells(self, count: int) -> Cells:
        """Layers along the axis, each of rings of equal areas, every other layer turned by half a step.

        On the root mean square of its radii, r √((k + ½)/n) for ring k of n, a ring's points have its second moment,
        and all together the disc's, r²/4 about a diameter; a grid of 3 by 3 is 19 % off.
        """
        side = (4.0 * self.radius**2 * self.length / count) ** (1 / 3)
        across, layers = (max(1, round(extent / side)) for extent in (2.0 * self.radius, self.length))
        rings = max(1, round(across / 3))
        radii = self.radius * np.sqrt((np.arange(rings) + 0.5) / rings) if across > 1 else np.zeros(1)
        number = 4 * rings if across > 1 else 1
        points = []
        for layer in range(layers):
            z = self.length * ((layer + 0.5) / layers - 0.5)
            angle = 2.0 * np.pi * (np.arange(number) + 0.5 * (layer % 2)) / number
            x, y = (np.outer(radii, ring).ravel() for ring in (np.cos(angle), np.sin(angle)))
            points.append(np.stack([x, y, np.full(x.size, z)], axis=1))
        return np.concatenate(points), np.array([2.0 * self.radius / across] * 2 + [self.length / layers])

    def visuals(self) -> tuple[Shape, ...]:
        return (self.shape(),)

    def solid(self) -> Solid:
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
        with as_value_error():
            self.mesh()
        return self

    def mesh(self) -> meshes.Mesh:
        stamp = self.file.stat()
        return meshes.transform(_read_cached(self.file, stamp.st_mtime_ns, stamp.st_size), scale=self.scale)

    def shape(self) -> Shape:
        return Shape("mesh", mesh=self.file, scale=self.scale)

    def cells(self, count: int) -> Cells:
        return grid_cells(self.mesh(), count, self.solid()[1])

    def visuals(self) -> tuple[Shape, ...]:
        return (self.shape(),)

    def solid(self) -> Solid:
        mesh = self.mesh()
        meshes.closed_volume(mesh, str(self.file))
        volume, center, inertia = meshes.solid_inertia(mesh, 1.0)
        return volume, center, inertia / volume


# Markers 0 to 49 of ArUco's dictionary of 4 × 4 cells, DICT_4X4_50 of OpenCV: 16 bits row by row from the top left, 1
# is white (Garrido-Jurado et al. 2014, Pattern Recognition 47, 2280–2292; the codes are as OpenCV 5 draws them).
CODES: Final = unpack(
    ">50H",
    bytes.fromhex(
        "b532 0f9a 332d 9946 549e 79cd 9e2e c4f2 feda cf56 f991 11a7 0eb7 2a0f 24b1 263e 4665 6600 6c5e 76af 868b b02b "
        "ccd5 dd82 fe47 9471 ace4 a554 2123 346f 4415 57b2 9ecf f0cb 08ae 0929 1875 04ff 0df6 1c5a 1718 2a28 328c 38b2 "
        "24e8 2eeb 2d3f 4b64 502e 5013"
    ),
)
CELLS_ACROSS: Final = 6  # four, and a black one at either end
PLATE: Final = 8 / 6  # a white cell more all round
RELIEF: Final = 0.001  # m by which black cells stand out of the plate: rays tell them apart, eyes do not
WHITE, BLACK = (0.95, 0.95, 0.95, 1.0), (0.03, 0.03, 0.03, 1.0)


def marker_cells(number: int) -> NDArray[np.bool_]:
    """Which cells of a marker are black, (6, 6), from the top left as one looks at it."""
    cells = np.ones((CELLS_ACROSS, CELLS_ACROSS), np.bool_)
    cells[1:-1, 1:-1] = [[not CODES[number] >> (15 - 4 * row - column) & 1 for column in range(4)] for row in range(4)]
    return cells


class MarkerGeometry(Config):
    """A white plate that shows an ArUco marker to those whom its x points to, z up."""

    kind: Literal["aruco"]
    id: int = Field(ge=0, lt=len(CODES), description="of the dictionary DICT_4X4_50")
    size: Positive = Field(description="m along the black square; the plate is a third longer")
    thickness: Positive = Field(0.01, description="m of the plate")

    def _plate(self) -> BoxGeometry:
        side = PLATE * self.size
        return BoxGeometry(kind="box", size=(self.thickness, side, side))

    def mesh(self) -> meshes.Mesh:
        return self._plate().mesh()

    def shape(self) -> Shape:
        return self._plate().shape()

    def cells(self, count: int) -> Cells:
        return grid_cells(self.mesh(), count, self.solid()[1])

    def visuals(self) -> tuple[Shape, ...]:
        """The plate, and its black cells, those that touch in a row as one box."""
        found = [replace(self.shape(), colour=WHITE)]
        cell = self.size / CELLS_ACROSS
        for row, cells in enumerate(marker_cells(self.id)):
            column = 0
            for black, run in groupby(cells):
                count = len(list(run))
                if black:
                    middle = column + 0.5 * count - 0.5 * CELLS_ACROSS
                    place = (0.5 * (self.thickness + RELIEF), middle * cell, (2.5 - row) * cell)
                    found.append(Shape("box", place, size=(RELIEF, count * cell, cell), colour=BLACK))
                column += count
        return tuple(found)

    def solid(self) -> Solid:
        return self._plate().solid()


@lru_cache(maxsize=16)
def _read_cached(path: Path, changed: int, size: int) -> meshes.Mesh:
    """A mesh is needed when it is checked and again when it is built, and by every world of a batch."""
    return read_mesh(path)


@contextmanager
def as_value_error() -> Iterator[None]:
    """Let an error be one fault among those of the file that is being checked."""
    try:
        yield
    except SkerryError as error:
        raise ValueError(str(error)) from None


Geometry = Annotated[
    BoxGeometry | SphereGeometry | CylinderGeometry | MeshGeometry | MarkerGeometry, Field(discriminator="kind")
]
