"""Heights as functions of the place, and the smooth random fields that they are made of."""

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
    """Settings of a function that gives heights."""

    def with_seed(self, seed: int) -> Self:
        """The same settings with this seed wherever a seed was left out."""
        return self

    def heights(self, x: Floats, y: Floats) -> Floats:
        """Heights (m, n), metres, where columns x (n,) and rows y (m,) cross; these count from the centre."""
        raise NotImplementedError

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        """The ground (m, n) with this upon it, as a `sum` builds it up: most functions add their heights."""
        return ground + self.heights(x, y)


class ShapingFunctionConfig(FunctionConfig):
    """Settings of a function that shapes the ground which it is laid upon; alone, it shapes level ground."""

    def heights(self, x: Floats, y: Floats) -> Floats:
        return self.apply_to(x, y, np.zeros((len(y), len(x))))

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        raise NotImplementedError


class SeededFunctionConfig(FunctionConfig):
    """Settings of a random function: the same seed gives the same heights, on any grid."""

    seed: int | None = Field(None, ge=0, lt=2**64, description="the scenario's where it is left out")

    def with_seed(self, seed: int) -> Self:
        return self.model_copy(update={"seed": seed}) if self.seed is None else self

    def known_seed(self) -> int:
        """The seed; raise `SkerryError` if nobody has given one."""
        if self.seed is None:
            raise SkerryError(f"the terrain function {self.kind!r} has no seed; set `seed`, or call `with_seed`")
        return self.seed


# ------------------------------------------------------------------------------------------------ noise

_UINT64_MAX: Final = (1 << 64) - 1
_DEVIATION: Final = (151 / 315) / 3**0.5
"""Of the sum below: numbers spread evenly over ±1 have variance 1/3, and cubic B-splines ∫B² = 151/315."""

_ROWS_AT_A_TIME: Final = 64
"""Keeps memory small where the lattice is finer than the grid, and so each row has four lattice rows."""


def smooth_noise(x: Floats, y: Floats, seed: int, layer: int) -> Floats:
    """A random field where columns x (n,) and rows y (m,) cross, shape (m, n): mean 0, standard deviation 1.

    It is a sum of cubic B-splines, one at each point of a lattice of spacing 1; its curvature is continuous.
    Their sizes are a hash of seed, layer and place. Each layer shifts its lattice by a random amount.
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
    """So many numbers from −1 to 1, a hash of seed, layer and their place."""
    return _spread(_hash(seed, layer, np.arange(count, dtype=np.uint64)))[0]


def cells_near(axis: Floats, low: float, high: float) -> slice:
    """The part of a growing axis from one value to another."""
    return slice(*np.searchsorted(axis, (low, high)).tolist())


def _splines(t: Floats) -> tuple[UInt64s, NDArray[np.int64], Floats]:
    """The lattice points in use; where among them the four of each place begin; their weights (4, n)."""
    cell = np.floor(t)
    u = t - cell
    weights = np.array([(1 - u) ** 3, 3 * u**3 - 6 * u**2 + 4, -3 * u**3 + 3 * u**2 + 3 * u + 1, u**3]) / 6
    first = cell.astype(np.int64) - 1
    lattice = np.unique(first[:, None] + np.arange(4))
    return lattice.astype(np.uint64), np.searchsorted(lattice, first), weights


def _hash(seed: int, layer: int, *places: UInt64s | np.uint64) -> UInt64s:
    """64 random bits for each place: a step of SplitMix64 for each number that goes in.

    Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    mixed: UInt64s = np.zeros((1, 1), np.uint64)
    for number in (np.uint64(seed & _UINT64_MAX), np.uint64(layer), *places):
        mixed = mixed + number + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed = mixed ^ (mixed >> np.uint64(31))
    return mixed


def _spread(words: UInt64s) -> Floats:
    """Words as numbers from −1 to 1: their upper 53 bits, which a float64 holds exactly."""
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1.0
