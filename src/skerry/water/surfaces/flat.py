"""Flat water surface at a fixed level, or at the height of an object, as in a lock or a tank that fills."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.kernels import floats
from skerry.water.flow import HEIGHT, ROUNDING, FlowPart, SurfaceConfig, flow


@flow
def flat(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    settings = floats(table, 2)
    level = settings[0]
    if settings[1] >= 0.0:
        level += floats(userdata + 8 * int(settings[1]), 1)[0]
    height = floats(out + 8 * HEIGHT * count, count)
    for i in range(count):
        height[i] = level


class FlatSurface(SurfaceConfig):
    """Flat surface; `level` is its height in the world, m."""

    kind: Literal["flat"] = "flat"
    level: float = Field(0.0, description="height, m; relative to the followed object, if there is one")
    follow: str | None = Field(None, description="static or kinematic object whose height the surface follows")

    def build(self, gravity: float) -> FlowPart:
        table = np.array([self.level, -1.0])
        if self.follow is not None:
            return FlowPart(flat, table, followed_object=self.follow)
        low, high = self.level - ROUNDING, self.level + ROUNDING
        return FlowPart(flat, table, heights=(low, high), deep=low)
