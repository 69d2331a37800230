"""NumPy grids: an .npy file whose edges are given in the settings, or an .npz file with axes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zipfile import BadZipFile

import numpy as np

from skerry.terrain.raster import Block, Floats, Raster, edges_to_matrix, raise_file_error

if TYPE_CHECKING:
    from pyproj import CRS

ROWS_AT_A_TIME: Final = 256
EVEN: Final = 1e-6
"""Largest deviation of an axis from even spacing, as a fraction of a step."""


class NumpyGrid(Raster):
    """Raster of an array in memory or of a memory map."""

    def __init__(self, path: Path, values: Any, matrix: Floats, crs: CRS | None) -> None:
        self._values = values
        super().__init__(path, values.shape, matrix, crs)

    def blocks(self, rows: range, columns: range) -> Iterator[Block]:
        for row in range(rows.start, rows.stop, ROWS_AT_A_TIME):
            part = self._values[row : min(row + ROWS_AT_A_TIME, rows.stop), columns.start : columns.stop]
            yield row, columns.start, np.array(part, np.float64)


def read_npy(path: Path, bounds: tuple[float, float, float, float] | None) -> NumpyGrid:
    """Read an .npy file with rows from north to south; `bounds` are the outer west, south, east and north edges."""
    try:
        values: Any = np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError) as error:
        raise_file_error(path, f"is not a valid .npy file of numbers: {error}")
    _check(path, values)
    if bounds is None:
        raise_file_error(path, "has no position; give `bounds` and `crs`, or use an .npz with axes")
    return NumpyGrid(path, values, edges_to_matrix(*bounds, values.shape), None)


def read_npz(path: Path) -> NumpyGrid:
    """Read an .npz file: `heights` (rows, columns), evenly spaced `x` of columns and `y` of rows, and `crs`."""
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        with np.load(path, allow_pickle=False) as file:
            held: dict[str, Any] = {name: file[name] for name in ("heights", "x", "y", "crs") if name in file}
    except (OSError, ValueError, BadZipFile, EOFError) as error:
        raise_file_error(path, f"is not a valid .npz file: {error}")
    missing = [name for name in ("heights", "x", "y") if name not in held]
    if missing:
        raise_file_error(path, f"has no {' and no '.join(missing)}; required are heights, x and y, recommended is crs")
    values = held["heights"]
    _check(path, values)
    matrix = np.zeros((2, 3))
    for axis, name, count in ((0, "x", values.shape[1]), (1, "y", values.shape[0])):
        positions = np.asarray(held[name], np.float64)
        steps = np.diff(positions)
        if positions.shape != (count,) or not np.allclose(steps, steps[:1], rtol=EVEN) or not np.any(steps):
            raise_file_error(
                path, f"needs {count} evenly spaced values of {name}, one per {'column' if axis == 0 else 'row'}"
            )
        matrix[axis, axis], matrix[axis, 2] = (positions[-1] - positions[0]) / (count - 1), positions[0]
    try:
        crs = CRS.from_user_input(str(held["crs"])) if "crs" in held else None
    except CRSError as error:
        raise_file_error(path, f"has a `crs` that PROJ does not know: {error}")
    return NumpyGrid(path, values, matrix, crs)


def _check(path: Path, values: Any) -> None:
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise_file_error(
            path, f"must have rows and columns of real numbers, found shape {values.shape} of {values.dtype}"
        )
