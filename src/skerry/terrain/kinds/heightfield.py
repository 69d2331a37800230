"""Terrain from heights on a grid: an array, a greyscale image or a function."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from skerry.core.config import ExistingFile, Positive, config_of
from skerry.core.errors import Fault, FileError, SkerryError
from skerry.core.geo import Projection
from skerry.core.kernels import floats, integers, words
from skerry.core.meshes import Mesh
from skerry.formats.png import read_grey_png
from skerry.terrain.function import FUNCTIONS
from skerry.terrain.ground import POINT, ROWS, ground, write_ground, write_no_ground
from skerry.terrain.regions import RegionConfig, materials_by_region
from skerry.terrain.terrain import MAX_NODES, ContactHeightfield, Floats, Terrain, TerrainConfig, count_nodes

# ------------------------------------------------------------------------------------------------ ground


@ground
def heightfield(table: int, count: int, rows: int) -> None:
    """Native function of a heightfield.

    Table: west, south, east, north edge, cells per metre along x and y; then as int64: columns and rows of nodes,
    address of the heights, address of the materials of the cells (int32) or 0 if there is only one material.
    """
    west, south, east, north, per_x, per_y = floats(table, 6)
    nx, ny, heights, materials = words(table + 48, 4)
    h = floats(heights, nx * ny)
    cells = integers(materials, (nx - 1) * (ny - 1))
    block = floats(rows, ROWS * count)
    for i in range(count):
        x, y = block[POINT * count + i], block[(POINT + 1) * count + i]
        if not (west <= x <= east and south <= y <= north):
            write_no_ground(block, count, i)
            continue
        u, v = (x - west) * per_x, (y - south) * per_y
        c, r = min(int(u), nx - 2), min(int(v), ny - 2)
        u, v = u - c, v - r
        # Cells are split from south-west to north-east, as in MuJoCo's hfields. This was found by experiment: MuJoCo's
        # rays and contacts differ by 1e-7 from this split and by 0.7 from the other.
        sw = r * nx + c
        if u >= v:
            gx, gy = h[sw + 1] - h[sw], h[sw + nx + 1] - h[sw + 1]
        else:
            gx, gy = h[sw + nx + 1] - h[sw + nx], h[sw + nx] - h[sw]
        material = float(cells[r * (nx - 1) + c]) if materials != 0 else 0.0
        write_ground(block, count, i, h[sw] + u * gx + v * gy, gx * per_x, gy * per_y, material)


class HeightfieldGround(Terrain):
    """Ground with heights (rows, columns) at nodes; rows run northwards, columns eastwards, outer nodes on the edges.

    Each cell is two triangles and has one material; `cell_materials` is None if there is only one material. The arrays
    must be contiguous. The ground keeps references to them, so they must not be changed.
    """

    def __init__(
        self,
        heights: Floats,
        size: tuple[float, float],
        center: tuple[float, float],
        materials: tuple[str, ...],
        friction: float,
        cell_materials: NDArray[np.int32] | None = None,
    ) -> None:
        self.heights = heights
        self.size = size
        self.center = center
        self.cell_materials = cell_materials
        rows, columns = heights.shape
        west, south, east, north = self.extent
        table = np.zeros(10)
        table[:6] = west, south, east, north, (columns - 1) / (east - west), (rows - 1) / (north - south)
        cells_address = 0 if cell_materials is None else cell_materials.ctypes.data
        table.view(np.int64)[6:] = columns, rows, heights.ctypes.data, cells_address
        super().__init__(heightfield, table, materials, friction)

    @property
    def extent(self) -> tuple[float, float, float, float]:
        (x, y), (width, length) = self.center, self.size
        return (x - width / 2, y - length / 2, x + width / 2, y + length / 2)

    @cached_property
    def contact(self) -> ContactHeightfield:
        lowest = float(self.heights.min())
        above = (self.heights - lowest).astype(np.float32)
        return ContactHeightfield(self.center, (self.size[0] / 2, self.size[1] / 2), lowest, above)

    def triangles(self) -> Mesh:
        """Return two triangles per cell, row by row: the south-eastern, then the north-western."""
        rows, columns = self.heights.shape
        west, south, east, north = self.extent
        vertices = np.empty((rows, columns, 3))
        vertices[..., 0] = np.linspace(west, east, columns)
        vertices[..., 1] = np.linspace(south, north, rows)[:, None]
        vertices[..., 2] = self.heights
        sw = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)[:-1, :-1].reshape(-1, 1)
        faces = (sw + np.array([0, 1, columns + 1, 0, columns + 1, columns], np.int32)).reshape(-1, 3)
        if self.cell_materials is None:
            face_materials: NDArray[np.int32] = np.zeros(len(faces), np.int32)
        else:
            face_materials = np.repeat(self.cell_materials.ravel(), 2)
        return Mesh(vertices.reshape(-1, 3), faces, face_materials, self.materials)


# ------------------------------------------------------------------------------------------------ settings


def _file_or_rows(value: object) -> str:
    return "[file]" if isinstance(value, str | Path) else "[rows]"


def _as_lists(value: object) -> object:
    return value.tolist() if isinstance(value, np.ndarray) else value


# Tags in brackets cannot be keys of the file, so faults do not show them in their location.
_File = Annotated[ExistingFile, Tag("[file]")]
HeightRows = Annotated[
    _File | Annotated[tuple[tuple[float, ...], ...], Tag("[rows]")],
    Discriminator(_file_or_rows),
    BeforeValidator(_as_lists),
]
"""Rows of heights, or an .npy file with them."""
MaterialRows = Annotated[
    _File | Annotated[tuple[tuple[Annotated[int, Field(ge=0)], ...], ...], Tag("[rows]")],
    Discriminator(_file_or_rows),
    BeforeValidator(_as_lists),
]
"""Rows of indices into a list of materials, or a greyscale PNG with them."""

Nodes = Annotated[int, Field(ge=2)]


class HeightfieldTerrain(TerrainConfig):
    """Ground from heights on a grid, given by exactly one of `array`, `png` and `function`.

    Arrays and images are laid out like maps: the first row is north, the first column west. Heights are at nodes, the
    outer ones on the edges of the `size`; between nodes the ground consists of triangles. The pixels of a material map
    divide the `size` evenly; a cell gets the material at its centre.
    """

    kind: Literal["heightfield"] = "heightfield"
    size: tuple[Positive, Positive] = Field(description="size along x and y, m")
    center: tuple[float, float] = Field((0.0, 0.0), description="x and y of the centre in the world, m")
    level: float = Field(0.0, description="added to all heights, m")

    array: HeightRows | None = Field(None, description="rows of heights, m, or an .npy file with them")
    png: ExistingFile | None = Field(None, description="greyscale image with 16 or 8 bits")
    lowest: float | None = Field(None, description="height of black pixels, m")
    highest: float | None = Field(None, description="height of white pixels, m")
    function: config_of(FUNCTIONS) | None = None  # type: ignore[valid-type]
    resolution: Positive | None = Field(None, description="largest distance between nodes of a function, m")
    shape: tuple[Nodes, Nodes] | None = Field(None, description="rows and columns of nodes of a function")

    material_map: MaterialRows | None = Field(None, description="indices into `materials`, or an 8-bit image with them")
    materials: Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)] | None = None
    regions: tuple[RegionConfig, ...] = Field((), description="materials by height and slope; `material` elsewhere")

    @model_validator(mode="after")
    def _check_source(self) -> HeightfieldTerrain:
        given = [name for name in ("array", "png", "function") if getattr(self, name) is not None]
        problems = []
        if len(given) != 1:
            found = f", found {' and '.join(given)}" if given else ""
            problems.append(f"give exactly one of `array`, `png` and `function`{found}")
        scale = (self.lowest, self.highest)
        if self.png is None and scale != (None, None):
            problems.append("`lowest` and `highest` are only for a `png`")
        elif self.png is not None and (self.lowest is None or self.highest is None or self.lowest >= self.highest):
            problems.append(
                "a `png` needs `lowest` and `highest`, the heights of black and white, with lowest < highest"
            )
        grids = (self.resolution is not None) + (self.shape is not None)
        if self.function is None and grids:
            problems.append("`resolution` and `shape` are only for a `function`")
        elif self.function is not None and grids != 1:
            problems.append("a `function` needs either `resolution` or `shape`")
        elif self.function is not None and math.prod(self._function_shape()) > MAX_NODES:
            rows, columns = self._function_shape()
            problems.append(f"{rows} × {columns} nodes exceed the limit of {MAX_NODES}; use a coarser `resolution`")
        if (self.material_map is None) != (self.materials is None):
            problems.append("give both `material_map` and `materials`, or neither")
        elif self.material_map is not None and self.material != type(self).model_fields["material"].default:
            problems.append("give `material` or `material_map`, not both")
        if self.material_map is not None and self.regions:
            problems.append("give `regions` or `material_map`, not both")
        problems += self._problems_of_rows()
        if problems:
            raise ValueError("; ".join(problems))
        return self

    def _problems_of_rows(self) -> list[str]:
        problems = []
        for name, rows, least in (("array", self.array, 2), ("material_map", self.material_map, 1)):
            if isinstance(rows, tuple):
                lengths = {len(row) for row in rows}
                if len(rows) < least or min(lengths, default=0) < least:
                    problems.append(f"`{name}` needs at least {least} rows and {least} columns")
                elif len(lengths) > 1:
                    shortest, longest = min(lengths), max(lengths)
                    problems.append(f"the rows of `{name}` must have the same length, found {shortest} to {longest}")
                elif len(rows) * len(rows[0]) > MAX_NODES:
                    problems.append(f"`{name}` has more than {MAX_NODES} numbers")
        if isinstance(self.material_map, tuple) and self.materials is not None:
            largest = max((index for row in self.material_map for index in row), default=0)
            if largest >= len(self.materials):
                last = len(self.materials) - 1
                problems.append(f"`material_map` has the index {largest}, but `materials` has only 0 to {last}")
        return problems

    def with_seed(self, seed: int) -> Self:
        if self.function is None:
            return self
        return self.model_copy(update={"function": self.function.with_seed(seed)})

    def named_materials(self) -> dict[str, str]:
        named = super().named_materials()
        named |= {f"materials.{i}": name for i, name in enumerate(self.materials or ())}
        return named | {f"regions.{i}.material": region.material for i, region in enumerate(self.regions)}

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"size": [20, 20], "array": [[-9, -8, -9], [-9.5, -7, -9], [-8, -9, -9]]} | settings)

    def build(self, projection: Projection | None = None) -> HeightfieldGround:
        heights = np.ascontiguousarray(self._heights() + self.level)
        cells: NDArray[np.int32] | None = None
        materials = self.materials if self.materials is not None else (self.material,)
        if self.regions:
            materials, cells = materials_by_region(heights, self.size, self.regions, self.material)
        elif self.material_map is not None:
            cells = self._cell_materials(heights.shape)
        return HeightfieldGround(heights, self.size, self.center, materials, self.friction, cells)

    def _heights(self) -> Floats:
        if self.png is not None:
            assert self.lowest is not None and self.highest is not None
            pixels = read_grey_png(self.png, MAX_NODES)
            if min(pixels.shape) < 2:
                _fail(self.png, f"needs at least 2 rows and 2 columns, but has the shape {pixels.shape}")
            white = float(np.iinfo(pixels.dtype).max)
            return self.lowest + (self.highest - self.lowest) * (pixels[::-1].astype(np.float64) / white)
        if self.array is not None:
            return (_read_npy(self.array) if isinstance(self.array, Path) else np.array(self.array))[::-1]
        assert self.function is not None
        rows, columns = self._function_shape()
        x, y = (np.linspace(-s / 2, s / 2, n) for s, n in zip(self.size, (columns, rows), strict=True))
        heights = np.asarray(self.function.heights(x, y), np.float64)
        if heights.shape != (rows, columns) or not np.isfinite(heights).all():
            raise SkerryError(
                f"the terrain function {self.function.kind!r} must return {rows} × {columns} finite heights, "
                f"found {np.isfinite(heights).sum()} finite heights in the shape {heights.shape}"
            )
        return heights

    def _function_shape(self) -> tuple[int, int]:
        if self.shape is not None:
            return self.shape
        assert self.resolution is not None
        return count_nodes(self.size[1], self.resolution), count_nodes(self.size[0], self.resolution)

    def _cell_materials(self, nodes: tuple[int, ...]) -> NDArray[np.int32]:
        assert self.material_map is not None and self.materials is not None
        if isinstance(self.material_map, Path):
            indices = read_grey_png(self.material_map, MAX_NODES).astype(np.int32)
            if indices.max() >= len(self.materials):
                last = len(self.materials) - 1
                _fail(self.material_map, f"has the index {indices.max()}, but `materials` has only 0 to {last}")
        else:
            indices = np.array(self.material_map, np.int32)
        row, column = (
            (2 * np.arange(n - 1) + 1) * pixels // (2 * (n - 1)) for n, pixels in zip(nodes, indices.shape, strict=True)
        )
        return np.ascontiguousarray(indices[::-1][row[:, None], column])


def _read_npy(path: Path) -> Floats:
    try:
        # A memory map gives the shape before the numbers are read, which could be too many.
        data: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError) as error:
        _fail(path, f"is not a valid .npy file of numbers: {error}")
    if data.dtype.kind not in "iuf":
        _fail(path, f"must contain real numbers, found {data.dtype}")
    if data.ndim != 2 or min(data.shape) < 2 or data.size > MAX_NODES:
        need = f"at least 2 rows and 2 columns and at most {MAX_NODES} heights"
        _fail(path, f"needs {need}, but has the shape {data.shape}")
    heights = np.array(data, np.float64)
    bad = np.argwhere(~np.isfinite(heights))
    if len(bad):
        row, column = bad[0]
        _fail(
            path,
            f"has {len(bad)} heights that are not finite, the first in row {row}, column {column} (from 0)",
        )
    return heights


def _fail(path: Path, problem: str) -> NoReturn:
    raise FileError(str(path), [Fault("", problem)]) from None
