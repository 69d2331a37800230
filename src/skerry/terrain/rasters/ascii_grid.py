"""ESRI ASCII grid: a header, then rows of numbers from north to south; the CRS is in a .prj file next to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from skerry.terrain.raster import Block, Floats, Raster, edges_to_matrix, raise_file_error

if TYPE_CHECKING:
    from pyproj import CRS

MISSING: Final = -9999.0  # default if the header has no nodata_value (ESRI, "Esri ASCII raster format")
NAMES: Final = {"ncols", "nrows", "xllcorner", "yllcorner", "xllcenter", "yllcenter", "cellsize", "nodata_value"}


class AsciiGrid(Raster):
    """Raster of an ESRI ASCII grid file."""

    def __init__(self, path: Path) -> None:
        header: dict[str, float] = {}
        self._start = 0  # byte offset of the first number
        try:
            with path.open("rb") as file:
                while (line := file.readline(1000)).split()[:1] and line.split()[0].decode().lower() in NAMES:
                    name, value = line.decode().split()
                    header[name.lower()] = float(value)
                    self._start = file.tell()
        except (OSError, ValueError) as error:
            raise_file_error(path, f"is not a valid ASCII grid: {error}")
        missing = [name for name in ("ncols", "nrows", "cellsize") if name not in header]
        missing += [
            f"{axis}llcorner (or {axis}llcenter)"
            for axis in "xy"
            if not {f"{axis}llcorner", f"{axis}llcenter"} & header.keys()
        ]
        if missing:
            raise_file_error(path, f"is not a valid ASCII grid: its header lacks {', '.join(missing)}")
        shape, cell = (int(header["nrows"]), int(header["ncols"])), header["cellsize"]
        west, south = (header.get(f"{axis}llcorner", header.get(f"{axis}llcenter", 0.0) - cell / 2) for axis in "xy")
        self._missing = header.get("nodata_value", MISSING)
        matrix = edges_to_matrix(west, south, west + cell * shape[1], south + cell * shape[0], shape)
        super().__init__(path, shape, matrix, _crs(path))

    def blocks(self, rows: range, columns: range) -> Iterator[Block]:
        with self.path.open("rb") as file:
            file.seek(self._start)
            for row in range(rows.stop):
                line = file.readline()
                if row >= rows.start:
                    yield row, columns.start, self._numbers(line, row)[None, columns.start : columns.stop]

    def _numbers(self, line: bytes, row: int) -> Floats:
        try:
            numbers = np.array(line.split(), np.float64)
        except ValueError as error:
            raise_file_error(self.path, f"is damaged: row {row} (from 0): {error}")
        if len(numbers) != self.shape[1]:
            raise_file_error(
                self.path, f"is damaged: row {row} (from 0) has {len(numbers)} numbers, not {self.shape[1]}"
            )
        numbers[numbers == self._missing] = np.nan
        return numbers


def _crs(path: Path) -> CRS | None:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    beside = path.with_suffix(".prj")
    if not beside.is_file():
        return None
    try:
        return CRS.from_user_input(beside.read_text(encoding="utf-8"))
    except (CRSError, UnicodeDecodeError) as error:
        raise_file_error(beside, f"is not a coordinate system that PROJ knows: {error}")
