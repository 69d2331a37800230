"""Georeferenced grid of numbers from a bathymetry file; it is read block by block, never as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import Fault, FileError

if TYPE_CHECKING:
    from pyproj import CRS

Floats = NDArray[np.float64]
Block = tuple[int, int, Floats]
"""Row and column of the first number of a block, and its numbers; NaN where there is no data."""


class Raster(ABC):
    """Base class of georeferenced grids. Rows usually run southwards and columns eastwards.

    `matrix` (2, 3) maps (column, row, 1) to x and y in the `crs`; integers are the centres of pixels.
    """

    def __init__(self, path: Path, shape: tuple[int, int], matrix: Floats, crs: CRS | None) -> None:
        self.path = path
        self.shape = shape
        self.matrix = matrix
        self.crs = crs
        if min(shape) < 2:
            raise_file_error(path, f"needs at least 2 rows and 2 columns, but has {shape[0]} × {shape[1]}")
        if not np.isfinite(matrix).all() or np.linalg.det(matrix[:, :2]) == 0.0:
            raise_file_error(path, "has pixels of size 0 or of infinite size; check its georeference")

    @abstractmethod
    def blocks(self, rows: range, columns: range) -> Iterator[Block]:
        """Yield the numbers of these rows and columns in blocks of moderate size."""

    def to_pixels(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Return the columns and rows, with fractions, of positions in the `crs`."""
        inverse = np.linalg.inv(self.matrix[:, :2])
        dx, dy = x - self.matrix[0, 2], y - self.matrix[1, 2]
        return inverse[0, 0] * dx + inverse[0, 1] * dy, inverse[1, 0] * dx + inverse[1, 1] * dy


def edges_to_matrix(west: float, south: float, east: float, north: float, shape: tuple[int, int]) -> Floats:
    """Return the matrix of a grid whose first row is the northern one, from the outer edges of its border pixels."""
    dx, dy = (east - west) / shape[1], (north - south) / shape[0]
    return np.array([[dx, 0.0, west + dx / 2], [0.0, -dy, north - dy / 2]])


def raise_file_error(path: Path, problem: str) -> NoReturn:
    """Raise a `FileError` with one fault."""
    raise FileError(str(path), [Fault("", problem)]) from None
