"""Ground from a georeferenced file of heights or depths, laid into the world at the scenario's place on Earth."""

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
"""8 million triangles: some 2 GB with all that rays need to be quick."""
MAX_HEIGHT: Final = 12_000.0
"""m: the Challenger Deep has 10 935 m (Greenaway et al. 2021, Deep-Sea Research I 178), Mount Everest 8849 m."""
SUFFIXES: Final = (".tif", ".tiff", ".asc", ".npy", ".npz")


def _known_crs(name: str) -> str:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        crs = CRS.from_user_input(name)
    except CRSError:
        raise ValueError("names no coordinates that PROJ knows; write it as EPSG:32634, for example") from None
    if not (crs.is_projected or crs.is_geographic):
        raise ValueError(f"must be coordinates on a map or latitude and longitude, but is {crs.name}")
    return name


def _known_suffix(path: Path) -> Path:
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"must be one of {', '.join(SUFFIXES)}; gdal_translate turns most others into a GeoTIFF")
    return path


class GeoreferencedTerrain(TerrainConfig):
    """Heights or depths from a GeoTIFF, an ESRI ASCII grid or a file of NumPy's."""

    kind: Literal["georeferenced"] = "georeferenced"
    file: Annotated[ExistingFile, AfterValidator(_known_suffix)]
    crs: Annotated[str, AfterValidator(_known_crs)] | None = Field(
        None, description="the file's coordinates, as EPSG:32634; where it does not tell them, or tells them wrong"
    )
    bounds: tuple[float, float, float, float] | None = Field(
        None, description="of an .npy: outer west, south, east and north edge in its `crs`"
    )
    positive: Literal["up", "down"] = Field("up", description="whether the numbers are heights or depths")
    vertical_offset: float = Field(0.0, description="added to all heights, m, as from the chart's datum to z = 0")
    center: tuple[float, float] = Field((0.0, 0.0), description="of the part that is taken: x and y in the world, m")
    size: tuple[Positive, Positive] | None = Field(None, description="of the part, along x and y, m; the whole file")
    resolution: Positive | None = Field(None, description="longest way from node to node, m; a pixel by default")
    fill: Literal["nearest"] | float = Field("nearest", description="where there is no data: as nearest, or a z, m")
    regions: tuple[RegionConfig, ...] = Field((), description="materials by height and slope; `material` elsewhere")

    @model_validator(mode="after")
    def _bounds_fit(self) -> GeoreferencedTerrain:
        if (self.bounds is not None) != (self.file.suffix.lower() == ".npy"):
            raise ValueError("`bounds` are for an .npy file, which needs them")
        if self.bounds is not None:
            west, south, east, north = self.bounds
            if not (west < east and south < north):
                raise ValueError(
                    "`bounds` are west, south, east, north, and must grow from west to east, south to north"
                )
        if self.size is None and self.center != (0.0, 0.0):
            raise ValueError("a `center` needs a `size`")
        return self

    def named_materials(self) -> dict[str, str]:
        regions = {f"regions.{i}.material": region.material for i, region in enumerate(self.regions)}
        return super().named_materials() | regions

    def build(self, projection: Projection | None = None) -> HeightfieldGround:
        if projection is None:
            raise SkerryError("georeferenced ground needs the scenario's `reference`, the place on Earth of its origin")
        resampler = Resampler(self.raster(), projection)
        center, size = self._area(resampler)
        heights = self._heights(resampler, center, size)
        names, cells = materials_by_region(heights, size, self.regions, self.material) if self.regions else (None, None)
        return HeightfieldGround(heights, size, center, names or (self.material,), self.friction, cells)

    def raster(self) -> Raster:
        """The file, with the coordinates that it is in."""
        from pyproj import CRS

        raster = _open(self.file, self.bounds)
        if self.crs is not None:
            raster.crs = CRS.from_user_input(self.crs)
        if raster.crs is None:
            raise_file_error(self.file, "does not tell its coordinates; give `crs`, such as EPSG:32634")
        return raster

    def _area(self, resampler: Resampler) -> tuple[tuple[float, float], tuple[float, float]]:
        west, south, east, north = resampler.extent()
        if self.size is None:
            if not (west <= 0.0 <= east and south <= 0.0 <= north):
                raise_file_error(
                    self.file,
                    f"reaches from x {west:.0f} to {east:.0f} m and from y {south:.0f} to {north:.0f} m, and not over "
                    "the world's origin; correct the scenario's `reference`, or choose a part by `center` and `size`",
                )
            return ((west + east) / 2, (south + north) / 2), (east - west, north - south)
        (x, y), (width, length) = self.center, self.size
        if x + width / 2 < west or x - width / 2 > east or y + length / 2 < south or y - length / 2 > north:
            raise_file_error(
                self.file,
                f"reaches from x {west:.0f} to {east:.0f} m and from y {south:.0f} to {north:.0f} m, and nothing of it "
                "is in the part that is asked for",
            )
        return self.center, self.size

    def _heights(self, resampler: Resampler, center: tuple[float, float], size: tuple[float, float]) -> Floats:
        resolution = self.resolution or resampler.pixel(*center)
        columns, rows = (count_nodes(side, resolution) for side in size)
        if columns * rows > MAX_NODES:
            coarser = 1.01 * math.sqrt(size[0] * size[1] / MAX_NODES)
            raise_file_error(
                self.file,
                f"{size[0]:.0f} m × {size[1]:.0f} m every {resolution:.3g} m are {columns} × {rows} nodes, and the "
                f"most is {MAX_NODES}; give a `resolution` of {coarser:.2g} m or more, or a smaller `size`",
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
                f"has {farthest:g} m of height or depth, more than the Earth; is that what it calls missing data, and "
                "does not say so? `gdal_edit.py -a_nodata VALUE` would",
            )
        holes = int(np.isnan(heights).sum())
        if holes == heights.size:
            raise_file_error(self.file, "has no data in the part that is asked for")
        if holes:
            logger.info(
                "%s: %d of %d nodes have no data, and are filled (%s)", *(self.file, holes, heights.size, self.fill)
            )
        if self.fill == "nearest":
            fill_from_nearest(heights)
        else:
            heights[np.isnan(heights)] = self.fill
        return heights


def _open(path: Path, bounds: tuple[float, float, float, float] | None) -> Raster:
    from skerry.terrain.rasters.ascii_grid import AsciiGrid
    from skerry.terrain.rasters.geotiff import GeoTiff  # imported here, as its package takes 0.1 s
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
