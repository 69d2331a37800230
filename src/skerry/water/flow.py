"""The native interface of everything that the sea is made of, and the base classes of its parts.

A part is a C function (table, userdata, time, need, count, points, out), all words: three rows of `count` coordinates
come in, ten rows of `count` numbers go out. A surface writes the height and slope rows and may add to the flow; a
current adds to the flow. Above the surface the answer is that of the water right below it. A wind is a current of the
air: it is asked with `IN_AIR`, and only what it says above the surface counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Final, Self

import numpy as np
from numba import types
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from skerry.core.config import Family, KindConfig
from skerry.core.kernels import floats, kernel, native
from skerry.water.spectrum import Components
from skerry.water.volumes import Volume, is_inside, volume_table

# rows of a sample
HEIGHT: Final = 0  # of the surface at this place, m
SLOPE: Final = 1  # 2: of the surface, ∂height/∂x and ∂height/∂y
FLOW: Final = 3  # 3: velocity of the water, m/s
FLOW_RATE: Final = 6  # 3: its acceleration, m/s²
DENSITY: Final = 9  # kg/m³
HEAD: Final = 10  # height of the column of water whose weight is the pressure, m; only where it is asked for
ROWS: Final = 11

# what the caller needs, as bits; the height is always given
NEED_SLOPE: Final = 1
NEED_FLOW: Final = 2
NEED_FLOW_RATE: Final = 4
NEED_HEAD: Final = 32
NEED_ALL: Final = 39
# and how it asks
IN_AIR: Final = 8  # for the air above the surface
HEIGHT_KNOWN: Final = 64  # the height is in the answer already, as the same sea gave it
MARK_OUTSIDE: Final = 16  # a part that refuses points outside its data answers NaN there, instead of the nearest

ROUNDING: Final = 1e-6  # m beyond which a surface surely never is, however its height is rounded

FLOW_FUNCTION = types.void(*[types.int64] * 7)
flow = native(FLOW_FUNCTION)
"""Decorator of a part's native function."""

SURFACES = Family("surfaces", "skerry.water.surfaces")
CURRENTS = Family("currents", "skerry.water.currents")


@dataclass(frozen=True)
class FlowPart:
    """A surface or a current, built: its native function and its table of constants (kept alive here)."""

    function: Any
    table: NDArray[np.float64]
    has_acceleration: bool = False  # whether it adds to the rate of change of the flow
    raises_outside: bool = False  # whether it may be asked where it has no answer, which is then an error
    followed_object: str | None = (
        None  # the object whose height goes into userdata, at the place in the second number of the table
    )
    waves: Components | None = None  # of a surface that has them: all that is needed to draw it
    heights: tuple[float, float] = (-inf, inf)  # of a surface: between which it stays, wherever and whenever
    deep: float = -inf  # of a surface: the z, not above all of it, below which its flow does not depend on its height


class FlowConfig(KindConfig):
    """Settings of a part of the sea."""

    def with_seed(self, seed: int) -> Self:
        """The same settings with this seed where a seed was left out."""
        return self

    def build(self, gravity: float) -> FlowPart:
        """The part."""
        raise NotImplementedError


class SurfaceConfig(FlowConfig):
    """Settings of a water surface."""


# ------------------------------------------------------------------------------------------------ currents


class CurrentConfig(FlowConfig):
    """Settings of a current or a wind."""

    volume: Volume | None = Field(None, description="outside which there is nothing of it; everywhere by default")

    def limited(self, *constants: ArrayLike) -> NDArray[np.float64]:
        """The table of a current: the place of its volume, its own constants, its volume."""
        own = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in constants])
        return np.concatenate([np.array([1.0 + own.size]), own, volume_table(self.volume)])


@kernel
def own_constants(table: int, count: int) -> Any:
    """The own constants of a current."""
    return floats(table + 8, count)


@kernel
def height_in_fluid(need: int, z: float, height: float) -> float:
    """The z at which a current is asked: in the water, at most that of the surface."""
    return z if need & IN_AIR else min(z, height)


@kernel
def is_in_volume(table: int, x: float, y: float, z: float) -> bool:
    """Whether a point lies in the volume that a current is limited to."""
    return is_inside(table + 8 * int(floats(table, 1)[0]), x, y, z)
