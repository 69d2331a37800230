"""A flat surface at any level."""

from __future__ import annotations

from typing import Literal

import numpy as np

from skerry.core.kernels import floats
from skerry.water.flow import HEIGHT, FlowPart, SurfaceConfig, flow


@flow
def flat(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    level = floats(table, 1)[0]
    height = floats(out + 8 * HEIGHT * count, count)
    for i in range(count):
        height[i] = level


class Flat(SurfaceConfig):
    """A flat surface; `level` is its height in the world, m."""

    kind: Literal["flat"] = "flat"
    level: float = 0.0

    def build(self, gravity: float) -> FlowPart:
        return FlowPart(flat, np.array([self.level]))
