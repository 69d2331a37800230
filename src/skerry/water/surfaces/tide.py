"""Flat water surface that rises and falls with the tide.

The height is level + Σ A cos(2π t/T − φ), with t the time of the run. The harmonic constituents are those of tide
tables, with phases for the start of the run (Pugh & Woodworth 2014, *Sea-Level Science*, §4.2). The vertical velocity
of the water, about 0.1 mm/s, is ignored; tidal streams are currents.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.kernels import floats
from skerry.water.flow import HEIGHT, ROUNDING, FlowPart, SurfaceConfig, flow
from skerry.water.trigonometry import TURN, cosine, wrap

HOUR = 3600.0  # s


@flow
def tide(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function. Table: level, number of rows; rows of amplitude (m), frequency (turns/s), phase (turns)."""
    settings = floats(table, 2)
    now, n = floats(time, 1)[0], int(settings[1])
    rows = floats(table + 16, 3 * n)
    level = settings[0]
    for j in range(n):
        level += rows[3 * j] * cosine(wrap(rows[3 * j + 1] * now - rows[3 * j + 2]))
    height = floats(out + 8 * HEIGHT * count, count)
    for i in range(count):
        height[i] = level


class Constituent(Config):
    """Harmonic constituent of a tide."""

    amplitude: NonNegative = Field(description="half the range from low to high water, m")
    period_hours: Positive = Field(description="12.42 for the moon's M2, 12 for the sun's S2, 23.93 for K1")
    phase_deg: float = Field(0.0, description="at the start of the run: 0 is high water, 90 mid-tide and rising")


class TideSurface(SurfaceConfig):
    """Flat surface that follows a tide."""

    kind: Literal["tide"] = "tide"
    level: float = Field(0.0, description="mean z of the surface, m")
    constituents: tuple[Constituent, ...] = Field(min_length=1, max_length=100)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"constituents": [{"amplitude": 0.4, "period_hours": 12.42}]} | settings)

    def build(self, gravity: float) -> FlowPart:
        rows = [(c.amplitude, 1 / (c.period_hours * HOUR), np.radians(c.phase_deg) * TURN) for c in self.constituents]
        most = sum(constituent.amplitude for constituent in self.constituents) + ROUNDING
        low, high = self.level - most, self.level + most
        table = np.array([self.level, len(rows), *np.ravel(rows)])
        return FlowPart(tide, table, heights=(low, high), deep=low)
