"""The native interface of everything that the sea is made of, and the base classes of its parts.

A part is a C function (table, userdata, time, need, count, points, out), all words: three rows of `count` coordinates
come in, ten rows of `count` numbers go out. A surface writes the height and slope rows and may add to the flow; a
current adds to the flow. Above the surface the answer is that of the water right below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.config import Family, KindConfig
from skerry.core.kernels import native
from skerry.water.spectrum import Components

# rows of a sample
HEIGHT: Final = 0  # of the surface at this place, m
SLOPE: Final = 1  # 2: of the surface, ∂height/∂x and ∂height/∂y
FLOW: Final = 3  # 3: velocity of the water, m/s
FLOW_RATE: Final = 6  # 3: its acceleration, m/s²
DENSITY: Final = 9  # kg/m³
ROWS: Final = 10

# what the caller needs, as bits; the height is always given
NEED_SLOPE: Final = 1
NEED_FLOW: Final = 2
NEED_FLOW_RATE: Final = 4
NEED_ALL: Final = 7

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
    accelerates: bool = False  # whether it adds to the rate of change of the flow
    waves: Components | None = None  # of a surface that has them: all that is needed to draw it


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


class CurrentConfig(FlowConfig):
    """Settings of a current."""
