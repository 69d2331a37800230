"""Native interface of the parts of the sea (surface, currents, winds), and the base classes of their settings.

A part is a C function (table, userdata, time, need, count, points, out) with int64 arguments. `points` are three rows
of `count` coordinates; `out` are eleven rows of `count` results. A surface writes the rows of height and slope and may
add to the flow; a current adds to the flow. Above the surface, the result is that of the water directly below it. A
wind is a current of the air: it is called with `IN_AIR`, and only its values above the surface are used.
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

# Indices of the rows of a sample
HEIGHT: Final = 0  # z of the surface, m
SLOPE: Final = 1  # 2 rows: slope of the surface, ∂height/∂x and ∂height/∂y
FLOW: Final = 3  # 3 rows: velocity of the water, m/s
FLOW_RATE: Final = 6  # 3 rows: acceleration of the water, m/s²
DENSITY: Final = 9  # kg/m³
HEAD: Final = 10  # pressure head: height of the water column whose weight is the pressure, m; only with NEED_HEAD
ROWS: Final = 11

# Bits of `need`: quantities that the caller requests. The height is always computed.
NEED_SLOPE: Final = 1
NEED_FLOW: Final = 2
NEED_FLOW_RATE: Final = 4
NEED_HEAD: Final = 32
NEED_ALL: Final = 39
# Bits of `need`: mode of the call
IN_AIR: Final = 8  # the point is in the air above the surface
HEIGHT_KNOWN: Final = 64  # `out` already has the height from an earlier call
MARK_OUTSIDE: Final = 16  # write NaN for points outside the data of a part with `raises_outside`, not the nearest value

ROUNDING: Final = 1e-6  # m, allowance for rounding errors in the bounds of a surface's height

FLOW_FUNCTION = types.void(*[types.int64] * 7)
flow = native(FLOW_FUNCTION)
"""Decorator of the native function of a part."""

SURFACES = Family("surfaces", "skerry.water.surfaces")
CURRENTS = Family("currents", "skerry.water.currents")


@dataclass(frozen=True)
class FlowPart:
    """Built surface or current: its native function and its table of constants, which this object keeps alive."""

    function: Any
    table: NDArray[np.float64]
    has_acceleration: bool = False  # whether it adds to the acceleration of the flow
    raises_outside: bool = False  # whether points outside its data are an error
    followed_object: str | None = (
        None  # object whose height is the surface's; the second number of the table is its index in userdata
    )
    waves: Components | None = None  # wave components of a surface, for drawing it
    heights: tuple[float, float] = (
        -inf,
        inf,
    )  # lower and upper bound of a surface's height at any position and time, m
    deep: float = -inf  # z below which the flow of a surface does not depend on its height, m; at most the lower bound


class FlowConfig(KindConfig):
    """Base class of settings of a surface or current."""

    def with_seed(self, seed: int) -> Self:
        """Return the same settings with this seed where no seed is given."""
        return self

    def build(self, gravity: float) -> FlowPart:
        """Build the part; gravity is in m/s²."""
        raise NotImplementedError


class SurfaceConfig(FlowConfig):
    """Base class of settings of a water surface."""


# ------------------------------------------------------------------------------------------------ currents


class CurrentConfig(FlowConfig):
    """Base class of settings of a current or a wind."""

    volume: Volume | None = Field(None, description="region of the current; everywhere by default")

    def table_of(self, *constants: ArrayLike) -> NDArray[np.float64]:
        """Return the table of a current: offset of its volume, constants of its kind, volume."""
        own = np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in constants])
        return np.concatenate([np.array([1.0 + own.size]), own, volume_table(self.volume)])


@kernel
def own_constants(table: int, count: int) -> Any:
    """Return the constants of a current's kind from its table."""
    return floats(table + 8, count)


@kernel
def height_in_fluid(need: int, z: float, height: float) -> float:
    """Return the z at which a current is evaluated; in the water, at most that of the surface."""
    return z if need & IN_AIR else min(z, height)


@kernel
def is_in_volume(table: int, x: float, y: float, z: float) -> bool:
    """Return whether a point lies in the volume of a current."""
    return is_inside(table + 8 * int(floats(table, 1)[0]), x, y, z)
