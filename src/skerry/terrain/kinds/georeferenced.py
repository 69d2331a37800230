"""Terrain from a georeferenced file of heights or depths, placed by the scenario's `reference`."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from skerry.core.config import ExistingFile, Positive
from skerry.core.errors import SkerryError
from skerry.core.geo import Projection
from skerry.terrain.kinds.heightfield import HeightfieldGround
from skerry.terrain.raster import Floats, Raster, raise_file_error
from skerry.terrain.regions import RegionConfig, materials_by_region
from skerry.terrain.resample import Resampler, fill_from_nearest
from skerry.terrain.terrain import TerrainConfig, count_nodes

logger = logging.getLogger("skerry")

MAX_NODES: Final = 2048 * 2048
"""Most nodes of the height grid: 8 million triangles, about 2 GB with the acceleration structure of the rays."""
MAX_HEIGHT: Final = 12_000.0
"""Largest height or depth, m. The Challenger Deep is 10 935 m deep (Greenaway et al. 2021, Deep-Sea Research I 178),
Mount Everest 8849 m high."""
SUFFIXES: Final = (".tif", ".tiff", ".asc", ".npy", ".npz")


def _known_crs(name: str) -> str:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        crs = CRS.from_user_input(name)
    except CRSError:
        raise ValueError("is not a coordinate system that PROJ knows; write it as EPSG:32634, for example") from None
    if not (crs.is_projected or crs.is_geographic):
        raise ValueError(f"must be a projected or geographic coordinate system, found {crs.name}")
    return name


def _known_suffix(path: Path) -> Path:
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"must be one of {', '.join(SUFFIXES)}; gdal_translate converts most other formats to GeoTIFF")
    return path


class GeoreferencedTerrain(TerrainConfig):
    """Heights or depths from a GeoTIFF, an ESRI ASCII grid or a NumPy file."""

    kind: Literal["georeferenced"] = "georeferenced"
    file: Annotated[ExistingFile, AfterValidator(_known_suffix)]
    crs: Annotated[str, AfterValidator(_known_crs)] | None = Field(
        None, description="coordinate system of the file, such as EPSG:32634, if the file has none or a wrong one"
    )
    bounds: tuple[float, float, float, float] | None = Field(
        None, description="outer west, south, east and north edges of an .npy file, in its `crs`"
    )
    positive: Literal["up", "down"] = Field("up", description="up for heights, down for depths")
    vertical_offset: float = Field(0.0, description="added to all heights, m, such as from chart datum to z = 0")
    center: tuple[float, float] = Field((0.0, 0.0), description="centre of the used area: x and y in the world, m")
    size: tuple[Positive, Positive] | None = Field(
        None, description="size of the used area along x and y, m; the whole file by default"
    )
    resolution: Positive | None = Field(None, description="largest distance between nodes, m; a pixel by default")
    fill: Literal["nearest"] | float = Field(
        "nearest", description="height where there is no data: that of the nearest node, or a z, m"
    )
    regions: tuple[RegionConfig, ...] = Field((), description="materials by height and slope; `material` elsewhere")

    @model_validator(mode="after")
    def _check_bounds(self) -> GeoreferencedTerrain:
        if (self.bounds is not None) != (self.file.suffix.lower() == ".npy"):
            raise ValueError("`bounds` are required for an .npy file and not allowed for others")
        if self.bounds is not None:
            west, south, east, north = self.bounds
            if not (west < east and south < north):
                raise ValueError("`bounds` must be west, south, east, north, with west < east and south < north")
        if self.size is None and self.center != (0.0, 0.0):
            raise ValueError("a `center` needs a `size`")
        return self

    def named_materials(self) -> dict[str, str]:
        regions = {f"regions.{i}.material": region.material for i, region in enumerate(self.regions)}
        return super().named_materials() | regions

    def build(self, projection: Projection | None = None) -> HeightfieldGround:
        if projection is None:
            raise SkerryError(
                "georeferenced terrain needs the scenario's `reference`, the position of its origin on the Earth"
            )
        resampler = Resampler(self.raster(), projection)
        center, size = self._area(resampler)
        heights = self._heights(resampler, center, size)
        names, cells = materials_by_region(heights, size, self.regions, self.material) if self.regions else (None, None)
        return HeightfieldGround(heights, size, center, names or (self.material,), self.friction, cells)

    def raster(self) -> Raster:
        """Return the raster of the file, with its coordinate system."""
        from pyproj import CRS

        raster = _open(self.file, self.bounds)
        if self.crs is not None:
            raster.crs = CRS.from_user_input(self.crs)
        if raster.crs is None:
            raise_file_error(self.file, "has no coordinate system; give `crs`, such as EPSG:32634")
        return raster

    def _area(self, resampler: Resampler) -> tuple[tuple[float, float], tuple[float, float]]:
        west, south, east, north = resampler.extent()
        if self.size is None:
            if not (west <= 0.0 <= east and south <= 0.0 <= north):
                raise_file_error(
                    self.file,
                    f"covers x from {west:.0f} to {east:.0f} m and y from {south:.0f} to {north:.0f} m, not the "
                    "world's origin; correct the scenario's `reference`, or select an area with `center` and `size`",
                )
            return ((west + east) / 2, (south + north) / 2), (east - west, north - south)
        (x, y), (width, length) = self.center, self.size
        if x + width / 2 < west or x - width / 2 > east or y + length / 2 < south or y - length / 2 > north:
            raise_file_error(
                self.file,
                f"covers x from {west:.0f} to {east:.0f} m and y from {south:.0f} to {north:.0f} m, outside "
                "the area of `center` and `size`",
            )
        return self.center, self.size

    def _heights(self, resampler: Resampler, center: tuple[float, float], size: tuple[float, float]) -> Floats:
        resolution = self.resolution or resampler.pixel(*center)
        columns, rows = (count_nodes(side, resolution) for side in size)
        if columns * rows > MAX_NODES:
            coarser = 1.01 * math.sqrt(size[0] * size[1] / MAX_NODES)
            raise_file_error(
                self.file,
                f"{size[0]:.0f} m × {size[1]:.0f} m every {resolution:.3g} m are {columns} × {rows} nodes, more than "
                f"{MAX_NODES}; give a `resolution` of {coarser:.2g} m or more, or a smaller `size`",
            )
        x, y = (
            c + np.linspace(-s / 2, s / 2, n, dtype=np.float64)
            for c, s, n in zip(center, size, (columns, rows), strict=True)
        )
        heights = resampler.heights(x, y)
        if self.positive == "down":
            heights = -heights
        heights += self.vertical_offset
        if (farthest := float(np.nanmax(np.abs(heights), initial=0.0))) > MAX_HEIGHT:
            raise_file_error(
                self.file,
                f"has a height or depth of {farthest:g} m, which does not exist on the Earth. If this value means "
                "missing data, declare it with `gdal_edit.py -a_nodata VALUE`",
            )
        holes = int(np.isnan(heights).sum())
        if holes == heights.size:
            raise_file_error(self.file, "has no data in the requested area")
        if holes:
            logger.info(
                "%s: %d of %d nodes have no data; filled by `fill: %s`", *(self.file, holes, heights.size, self.fill)
            )
        if self.fill == "nearest":
            fill_from_nearest(heights)
        else:
            heights[np.isnan(heights)] = self.fill
        return heights


def _open(path: Path, bounds: tuple[float, float, float, float] | None) -> Raster:
    from skerry.terrain.rasters.ascii_grid import AsciiGrid
    from skerry.terrain.rasters.geotiff import GeoTiff  # imported here, because its import takes 0.1 s
    from skerry.terrain.rasters.numpy_grid import read_npy, read_npz

    match path.suffix.lower():
        case ".asc":
            return AsciiGrid(path)
        case ".npy":
            return read_npy(path, bounds)
        case ".npz":
            return read_npz(path)
        case _:
            return GeoTiff(path)
