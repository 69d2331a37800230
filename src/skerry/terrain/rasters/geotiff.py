"""Reader of the first image of a GeoTIFF (OGC 19-008r4, GeoTIFF 1.1), with GDAL's tag for missing data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from tifffile import TiffFile

from skerry.core.errors import DependencyError, SkerryError
from skerry.terrain.raster import Block, Floats, Raster, raise_file_error

if TYPE_CHECKING:
    from pyproj import CRS

LARGEST_SEGMENT: Final = 64 * 1024 * 1024
"""Most pixels of a strip or tile, which is decoded as a whole: 512 MiB as float64."""
PIXEL_IS_POINT: Final = 2  # GTRasterTypeGeoKey: tie points are centres of pixels, not corners
USER_DEFINED: Final = 32767
ROWS_AT_A_TIME: Final = 256


class GeoTiff(Raster):
    """Raster of the first image of a GeoTIFF."""

    def __init__(self, path: Path) -> None:
        with _as_file_error(path), TiffFile(path) as file:
            page: Any = file.pages.first
            geo: dict[str, Any] = dict(page.geotiff_tags or {})
            if page.samplesperpixel != 1 or page.dtype is None or page.dtype.kind not in "iuf":
                raise_file_error(
                    path, f"must have one real number per pixel, found {page.samplesperpixel} of type {page.dtype}"
                )
            shape = (int(page.imagelength), int(page.imagewidth))
            tile = (page.tilelength, page.tilewidth) if page.is_tiled else (page.rowsperstrip, page.imagewidth)
            self._tile = (min(int(tile[0]), shape[0]), int(tile[1]))
            self._mapped = bool(page.is_memmappable)
            self._missing = float(page.nodata) if "GDAL_NODATA" in page.tags else math.nan
            matrix = _matrix(path, geo)
        super().__init__(path, shape, matrix, _crs(path, geo))
        if not self._mapped and self._tile[0] * self._tile[1] > LARGEST_SEGMENT:
            raise_file_error(
                path,
                f"is compressed in blocks of {self._tile[0]} × {self._tile[1]} pixels, which are too large to read; "
                "convert it to tiles, for example with `gdal_translate -co TILED=YES`",
            )

    def blocks(self, rows: range, columns: range) -> Iterator[Block]:
        with _as_file_error(self.path), TiffFile(self.path) as file:
            page: Any = file.pages.first
            pieces = self._mapped_rows(page, rows) if self._mapped else self._tiles(page, rows, columns)
            for row, column, values in pieces:
                part = values[max(rows.start - row, 0) : rows.stop - row]
                numbers = np.array(part[:, max(columns.start - column, 0) : columns.stop - column], np.float64)
                numbers[numbers == self._missing] = np.nan
                yield max(row, rows.start), max(column, columns.start), numbers

    def _mapped_rows(self, page: Any, rows: range) -> Iterator[tuple[int, int, Any]]:
        pixels = page.asarray(out="memmap")
        for row in range(rows.start, rows.stop, ROWS_AT_A_TIME):
            yield row, 0, pixels[row : min(row + ROWS_AT_A_TIME, rows.stop)]

    def _tiles(self, page: Any, rows: range, columns: range) -> Iterator[tuple[int, int, Any]]:
        height, width = self._tile
        across = -(-self.shape[1] // width)
        for down in range(rows.start // height, -(-rows.stop // height)):
            for along in range(columns.start // width, -(-columns.stop // width)):
                number = down * across + along
                size = page.databytecounts[number]
                if size == 0:  # an omitted tile has no data
                    continue
                page.parent.filehandle.seek(page.dataoffsets[number])
                pixels, _, (_, used_rows, used_columns, _) = page.decode(page.parent.filehandle.read(size), number)
                yield down * height, along * width, pixels[0, :used_rows, :used_columns, 0]


@contextmanager
def _as_file_error(path: Path) -> Iterator[None]:
    """Convert errors of the decoder to a `FileError`; a damaged file can raise any exception."""
    try:
        yield
    except SkerryError:
        raise
    except Exception as error:
        if "imagecodecs" in str(error):
            problem = f"{path}: its compression needs another package; run pip install 'skerry[geotiff]'"
            raise DependencyError(problem) from None
        raise_file_error(path, f"is not a valid TIFF file: {error}")


def _matrix(path: Path, geo: dict[str, Any]) -> Floats:
    """Return the matrix from columns and rows of pixel centres to the coordinates of the file."""
    if "ModelTransformation" in geo:
        matrix = np.asarray(geo["ModelTransformation"], np.float64).reshape(4, 4)[:2, [0, 1, 3]]
    elif "ModelPixelScale" in geo and "ModelTiepoint" in geo:
        (dx, dy, _), (column, row, _, x, y, _) = geo["ModelPixelScale"], np.ravel(geo["ModelTiepoint"])[:6]
        matrix = np.array([[dx, 0.0, x - dx * column], [0.0, -dy, y + dy * row]])
    else:
        raise_file_error(
            path, "is a TIFF without a georeference (neither ModelPixelScale and ModelTiepoint nor ModelTransformation)"
        )
    if geo.get("GTRasterTypeGeoKey") != PIXEL_IS_POINT:
        matrix[:, 2] += matrix[:, :2] @ (0.5, 0.5)
    return matrix


def _crs(path: Path, geo: dict[str, Any]) -> CRS | None:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    code = geo.get("ProjectedCSTypeGeoKey") or geo.get("GeographicTypeGeoKey")
    if code is None or int(code) == USER_DEFINED:
        return None
    try:
        return CRS.from_epsg(int(code))
    except CRSError:
        raise_file_error(path, f"has the coordinate system EPSG:{int(code)}, which PROJ does not know; give `crs`")
