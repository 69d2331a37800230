"""Functions that give terrain heights, and the smooth random fields that they use."""

from __future__ import annotations

from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Family, KindConfig
from skerry.core.errors import SkerryError

Floats = NDArray[np.float64]
UInt64s = NDArray[np.uint64]

FUNCTIONS = Family("terrain_functions", "skerry.terrain.functions")


class FunctionConfig(KindConfig):
    """Base class of settings of a height function."""

    def with_seed(self, seed: int) -> Self:
        """Return the same settings with this seed wherever no seed is given."""
        return self

    def heights(self, x: Floats, y: Floats) -> Floats:
        """Return the heights on a grid.

        Args:
            x: Positions of the columns relative to the centre of the field, m, shape (n,).
            y: Positions of the rows relative to the centre of the field, m, shape (m,).

        Returns:
            Heights, m, shape (m, n).
        """
        raise NotImplementedError

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        """Return the ground (m, n) after this term of a `sum`; most functions add their heights."""
        return ground + self.heights(x, y)


class ShapingFunctionConfig(FunctionConfig):
    """Base class of functions that change existing ground; used alone, they change flat ground."""

    def heights(self, x: Floats, y: Floats) -> Floats:
        return self.apply_to(x, y, np.zeros((len(y), len(x))))

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        raise NotImplementedError


class SeededFunctionConfig(FunctionConfig):
    """Base class of random functions. The same seed gives the same heights, whatever the grid."""

    seed: int | None = Field(None, ge=0, lt=2**64, description="seed; that of the scenario by default")

    def with_seed(self, seed: int) -> Self:
        return self.model_copy(update={"seed": seed}) if self.seed is None else self

    def known_seed(self) -> int:
        """Return the seed; raise `SkerryError` if none is given."""
        if self.seed is None:
            raise SkerryError(f"the terrain function {self.kind!r} has no seed; set `seed`, or call `with_seed`")
        return self.seed


# ------------------------------------------------------------------------------------------------ noise

_UINT64_MAX: Final = (1 << 64) - 1
_DEVIATION: Final = (151 / 315) / 3**0.5
"""Standard deviation of the spline sum: uniform numbers in ±1 have variance 1/3, cubic B-splines ∫B² = 151/315."""

_ROWS_AT_A_TIME: Final = 64
"""Rows computed together; a limit on memory, because each row can need four lattice rows of its own."""


def smooth_noise(x: Floats, y: Floats, seed: int, layer: int) -> Floats:
    """Return a random field on columns x (n,) and rows y (m,), shape (m, n), of mean 0 and standard deviation 1.

    The field is a sum of cubic B-splines at the points of a lattice of spacing 1, so its curvature is continuous. The
    amplitude of each spline is a hash of seed, layer and lattice point. Each layer shifts its lattice randomly.
    """
    east, north = (_spread(_hash(seed, layer, np.uint64(axis))).item() for axis in (0, 1))
    columns, i, wx = _splines(x + east)
    field = np.zeros((len(y), len(x)))
    for begin in range(0, len(y), _ROWS_AT_A_TIME):
        part = slice(begin, begin + _ROWS_AT_A_TIME)
        rows, j, wy = _splines(y[part] + north)
        sizes = _spread(_hash(seed, layer, columns[None, :], rows[:, None]))
        along = np.zeros((len(rows), len(x)))
        for k in range(4):
            along += sizes[:, i + k] * wx[k]
        for k in range(4):
            field[part] += along[j + k] * wy[k][:, None]
    return field / _DEVIATION


def random_numbers(seed: int, layer: int, count: int) -> Floats:
    """Return `count` numbers from −1 to 1; each is a hash of seed, layer and its index."""
    return _spread(_hash(seed, layer, np.arange(count, dtype=np.uint64)))[0]


def cells_near(axis: Floats, low: float, high: float) -> slice:
    """Return the slice of an increasing axis between two values."""
    return slice(*np.searchsorted(axis, (low, high)).tolist())


def _splines(t: Floats) -> tuple[UInt64s, NDArray[np.int64], Floats]:
    """Return the lattice points in use, the index of the first of four points per position, and weights (4, n)."""
    cell = np.floor(t)
    u = t - cell
    weights = np.array([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]) / 6
    first = cell.astype(np.int64) - 1
    lattice = np.unique(first[:, None] + np.arange(4))
    return lattice.astype(np.uint64), np.searchsorted(lattice, first), weights


def _hash(seed: int, layer: int, *indices: UInt64s | np.uint64) -> UInt64s:
    """Return 64 random bits for each index: one step of SplitMix64 for each input.

    Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    mixed: UInt64s = np.zeros((1, 1), np.uint64)
    for number in (np.uint64(seed & _UINT64_MAX), np.uint64(layer), *indices):
        mixed = mixed + number + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _spread(words: UInt64s) -> Floats:
    """Convert random bits to numbers from −1 to 1, from the upper 53 bits, which a float64 represents exactly."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
