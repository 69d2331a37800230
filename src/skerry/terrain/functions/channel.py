"""Height function: a dredged channel along a line, with a flat floor and sides of constant slope."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from skerry.core.config import Positive
from skerry.terrain.function import Floats, ShapingFunctionConfig


class ChannelFunction(ShapingFunctionConfig):
    """Channel that lowers the ground to the `floor` within half the `width` of a line; lower ground is not changed."""

    kind: Literal["channel"] = "channel"
    points: Annotated[tuple[tuple[float, float], ...], Field(min_length=2)] = Field(
        ((-50.0, 0.0), (50.0, 0.0)), description="points of the line: x and y relative to the centre of the field, m"
    )
    width: Positive = Field(20.0, description="width of the floor, m")
    floor: float = Field(-10.0, description="height of the floor, m, before `level` is added")
    side_slope_deg: float = Field(20.0, gt=0, lt=90, description="slope of the sides, degrees")

    def apply_to(self, x: Floats, y: Floats, ground: Floats) -> Floats:
        nearest = np.full(ground.shape, np.inf)  # squared distance to the line
        for (ax, ay), (bx, by) in zip(self.points, self.points[1:], strict=False):
            east, north = x[None, :] - ax, y[:, None] - ay
            dx, dy = bx - ax, by - ay
            length = dx * dx + dy * dy
            along = np.clip((east * dx + north * dy) / length, 0.0, 1.0) if length > 0 else 0.0
            np.minimum(nearest, (east - along * dx) ** 2 + (north - along * dy) ** 2, out=nearest)
        outside = np.maximum(np.sqrt(nearest) - self.width / 2, 0.0)
        return np.minimum(ground, self.floor + math.tan(math.radians(self.side_slope_deg)) * outside)
