"""Geometry of objects: boxes, spheres, cylinders, meshes from files, and plates with an ArUco marker."""

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
"""Volume (m³), centre (m), and inertia per unit of mass about that centre (m²)."""
Cells = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Centres (n, 3) of equal parts of a solid (their mean is the solid's centre), and the size of a part."""


def grid_cells(mesh: meshes.Mesh, count: int, center: NDArray[np.float64]) -> Cells:
    """Return the cells of a grid whose centres lie inside a solid; the bounding box has about `count` cells."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    side = float(np.prod(high - low) / count) ** (1 / 3)
    counts = np.maximum(1, np.round((high - low) / side)).astype(int)
    cell = (high - low) / counts
    steps = np.meshgrid(*(np.arange(number) + 0.5 for number in counts), indexing="ij")
    grid = np.stack(steps, axis=-1).reshape(-1, 3) * cell + low
    inside = grid[meshes.contains(mesh, grid)]
    if len(inside) == 0:
        raise SkerryError(
            "the geometry is too thin: no cell of the buoyancy grid lies inside; use a box or cylinder, or more `cells`"
        )
    return inside - inside.mean(axis=0) + center, cell


class BoxGeometry(Config):
    """Box; `size` is the full length along x, y and z, m."""

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
    """Sphere of a `radius`, m."""

    kind: Literal["sphere"]
    radius: Positive

    def mesh(self) -> meshes.Mesh:
        return meshes.sphere(self.radius)

    def shape(self) -> Shape:
        return Shape("sphere", radius=self.radius)

    def cells(self, count: int) -> Cells:
        """Return points on rings in layers. The number of points of a layer follows its share of the volume.

        Below the fraction t of the height lies the fraction t² (3 − 2 t) of the volume. With the ring radius
        √((r² − z²)/2), the points have the second moment of their layer.
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
    """Cylinder along z; `radius` and `length`, m."""

    kind: Literal["cylinder"]
    radius: Positive
    length: Positive

    def mesh(self) -> meshes.Mesh:
        return meshes.cylinder(self.radius, self.length)

    def shape(self) -> Shape:
        return Shape("cylinder", radius=self.radius, length=self.length)

    def cells(self, count: int) -> Cells:
        """Return points in layers along the axis. Each layer has rings of equal area; every second layer is rotated.

        Ring k of n has the root-mean-square radius r √((k + ½)/n), so its points have the second moment of the ring,
        and all points together that of the disc, r²/4 about a diameter. A 3 × 3 grid would be 19 % off.
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
    """Mesh from a file. It must be closed, except for static objects."""

    kind: Literal["mesh"]
    file: ExistingFile
    scale: tuple[Positive, Positive, Positive] = (1.0, 1.0, 1.0)

    @model_validator(mode="after")
    def _check_file(self) -> MeshGeometry:
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


# Markers 0 to 49 of the ArUco dictionary with 4 × 4 cells, DICT_4X4_50 in OpenCV: 16 bits, row by row from the top
# left, 1 is white (Garrido-Jurado et al. 2014, Pattern Recognition 47, 2280–2292; the codes are those of OpenCV 5).
CODES: Final = unpack(
    ">50H",
    bytes.fromhex(
        "b532 0f9a 332d 9946 549e 79cd 9e2e c4f2 feda cf56 f991 11a7 0eb7 2a0f 24b1 263e 4665 6600 6c5e 76af 868b b02b "
        "ccd5 dd82 fe47 9471 ace4 a554 2123 346f 4415 57b2 9ecf f0cb 08ae 0929 1875 04ff 0df6 1c5a 1718 2a28 328c 38b2 "
        "24e8 2eeb 2d3f 4b64 502e 5013"
    ),
)
CELLS_ACROSS: Final = 6  # four, and a black cell at each end
PLATE: Final = 8 / 6  # side of the plate over that of the marker: a white cell more on each side
RELIEF: Final = 0.001  # m, height of black cells above the plate, so that rays hit them and not the plate
WHITE, BLACK = (0.95, 0.95, 0.95, 1.0), (0.03, 0.03, 0.03, 1.0)


def marker_cells(number: int) -> NDArray[np.bool_]:
    """Return which cells of a marker are black, (6, 6), from the top left as seen from the front."""
    cells = np.ones((CELLS_ACROSS, CELLS_ACROSS), np.bool_)
    cells[1:-1, 1:-1] = [[not CODES[number] >> (15 - 4 * row - column) & 1 for column in range(4)] for row in range(4)]
    return cells


class MarkerGeometry(Config):
    """White plate with an ArUco marker on the side that faces +x; z is up."""

    kind: Literal["aruco"]
    id: int = Field(ge=0, lt=len(CODES), description="number of the marker in the dictionary DICT_4X4_50")
    size: Positive = Field(description="side of the black square, m; the plate is a third longer")
    thickness: Positive = Field(0.01, description="thickness of the plate, m")

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
        """Return the plate and its black cells; adjacent black cells of a row are one box."""
        found = [replace(self.shape(), colour=WHITE)]
        cell = self.size / CELLS_ACROSS
        for row, cells in enumerate(marker_cells(self.id)):
            column = 0
            for black, run in groupby(cells):
                count = len(list(run))
                if black:
                    middle = column + 0.5 * count - 0.5 * CELLS_ACROSS
                    position = (0.5 * (self.thickness + RELIEF), middle * cell, (2.5 - row) * cell)
                    found.append(Shape("box", position, size=(RELIEF, count * cell, cell), colour=BLACK))
                column += count
        return tuple(found)

    def solid(self) -> Solid:
        return self._plate().solid()


@lru_cache(maxsize=16)
def _read_cached(path: Path, changed: int, size: int) -> meshes.Mesh:
    """Read a mesh; cached, because it is needed for the check, for the build and by every world of a batch."""
    return read_mesh(path)


@contextmanager
def as_value_error() -> Iterator[None]:
    """Convert a `SkerryError` to a `ValueError`, so that pydantic reports it as a fault of the file."""
    try:
        yield
    except SkerryError as error:
        raise ValueError(str(error)) from None


Geometry = Annotated[
    BoxGeometry | SphereGeometry | CylinderGeometry | MeshGeometry | MarkerGeometry, Field(discriminator="kind")
]
