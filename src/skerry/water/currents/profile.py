"""Current that changes with depth, given at several depths with linear interpolation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import Vector3
from skerry.core.kernels import floats
from skerry.water.flow import (
    FLOW,
    HEIGHT,
    NEED_FLOW,
    CurrentConfig,
    FlowPart,
    flow,
    height_in_fluid,
    is_in_volume,
    own_constants,
)


@flow
def profile(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function. Constants: number of levels, their ascending heights above the surface, and velocities."""
    if not need & NEED_FLOW:
        return
    n = int(own_constants(table, 1)[0])
    level = own_constants(table, 1 + n)[1:]
    velocity = own_constants(table, 1 + 4 * n)[1 + n :]
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    u = floats(out + 8 * FLOW * count, 3 * count)
    for i in range(count):
        z_fluid = height_in_fluid(need, z[i], height[i])
        if not is_in_volume(table, x[i], y[i], z_fluid):
            continue
        above = z_fluid - height[i]
        j = 0
        while j < n and level[j] <= above:
            j += 1
        low, high = max(j - 1, 0), min(j, n - 1)  # constant beyond the ends
        share = (above - level[low]) / (level[high] - level[low]) if high > low else 0.0
        for k in range(3):
            u[k * count + i] += (1.0 - share) * velocity[3 * low + k] + share * velocity[3 * high + k]


class ProfileCurrent(CurrentConfig):
    """Velocities (ENU, m/s) at depths below the surface, or at heights above it; constant beyond the ends."""

    kind: Literal["profile"] = "profile"
    depths: tuple[float, ...] | None = Field(None, description="below the surface, m, increasing")
    heights: tuple[float, ...] | None = Field(None, description="above the surface, m, increasing; for winds")
    velocities: tuple[Vector3, ...] = Field(min_length=1, max_length=10_000)

    @model_validator(mode="after")
    def _fits(self) -> ProfileCurrent:
        levels = self.depths if self.heights is None else self.heights
        if levels is None or (self.depths is not None and self.heights is not None):
            raise ValueError("give either `depths` or `heights`")
        if len(levels) != len(self.velocities):
            raise ValueError(
                f"needs as many depths or heights as velocities (found {len(levels)} and {len(self.velocities)})"
            )
        if any(after <= before for before, after in pairwise(levels)):
            raise ValueError("`depths` or `heights` must be increasing")
        return self

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"depths": [0, 10], "velocities": [[0.3, -0.2, 0.05], [0.1, 0, 0]]} | settings)

    def build(self, gravity: float) -> FlowPart:
        velocities = np.array(self.velocities)
        if self.heights is not None:
            return FlowPart(profile, self.table_of(len(velocities), self.heights, velocities))
        assert self.depths is not None
        return FlowPart(profile, self.table_of(len(velocities), -np.array(self.depths)[::-1], velocities[::-1]))
