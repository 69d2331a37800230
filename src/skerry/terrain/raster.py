"""A grid of numbers with its place on Earth, as files of bathymetry hold it; read block by block, never as a whole."""

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
"""Row and column of its first number, and the numbers; NaN where there is no data."""


class Raster(ABC):
    """Rows southwards as a rule, columns eastwards; `matrix` tells, whatever the order is.

    `matrix` (2, 3) leads from (column, row, 1) to x and y in the `crs`; whole numbers are the middles of pixels.
    """

    def __init__(self, path: Path, shape: tuple[int, int], matrix: Floats, crs: CRS | None) -> None:
        self.path = path
        self.shape = shape
        self.matrix = matrix
        self.crs = crs
        if min(shape) < 2:
            raise_file_error(path, f"needs at least 2 rows and 2 columns, but has {shape[0]} × {shape[1]}")
        if not np.isfinite(matrix).all() or np.linalg.det(matrix[:, :2]) == 0.0:
            raise_file_error(path, "has pixels without a size; is its georeference whole?")

    @abstractmethod
    def blocks(self, rows: range, columns: range) -> Iterator[Block]:
        """All that lies within these rows and columns, in pieces of a moderate size."""

    def to_pixels(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Columns and rows, with fractions, of places in the `crs`."""
        inverse = np.linalg.inv(self.matrix[:, :2])
        dx, dy = x - self.matrix[0, 2], y - self.matrix[1, 2]
        return inverse[0, 0] * dx + inverse[0, 1] * dy, inverse[1, 0] * dx + inverse[1, 1] * dy


def edges_to_matrix(west: float, south: float, east: float, north: float, shape: tuple[int, int]) -> Floats:
    """The matrix of a grid whose first row lies north, by the outer edges of its outermost pixels."""
    dx, dy = (east - west) / shape[1], (north - south) / shape[0]
    return np.array([[dx, 0.0, west + dx / 2], [0.0, -dy, north - dy / 2]])


def raise_file_error(path: Path, problem: str) -> NoReturn:
    """Raise an error about a file."""
    raise FileError(str(path), [Fault("", problem)]) from None
