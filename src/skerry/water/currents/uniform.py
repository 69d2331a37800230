"""Current that is the same everywhere in its volume and at all times."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from skerry.core.config import NonNegative, Vector3
from skerry.core.frames import heading_to_yaw
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
def uniform(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function. Constants: velocity."""
    if not need & NEED_FLOW:
        return
    velocity = own_constants(table, 3)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    u = floats(out + 8 * FLOW * count, 3 * count)
    for i in range(count):
        if is_in_volume(table, x[i], y[i], height_in_fluid(need, z[i], height[i])):
            for k in range(3):
                u[k * count + i] += velocity[k]


class UniformCurrent(CurrentConfig):
    """Uniform current: a `velocity` (ENU, m/s), or a `speed` (m/s) and the `heading_deg` it flows towards."""

    kind: Literal["uniform"] = "uniform"
    velocity: Vector3 | None = None
    speed: NonNegative | None = None
    heading_deg: float | None = None

    @model_validator(mode="after")
    def _one_form(self) -> UniformCurrent:
        polar = (self.speed is not None, self.heading_deg is not None)
        if self.velocity is not None and not any(polar):
            return self
        if self.velocity is None and all(polar):
            return self
        raise ValueError("give either `velocity`, or `speed` and `heading_deg`")

    def vector(self) -> Vector3:
        """Return the velocity, ENU, m/s."""
        if self.velocity is not None:
            return self.velocity
        assert self.speed is not None and self.heading_deg is not None
        yaw = heading_to_yaw(self.heading_deg)
        return float(self.speed * np.cos(yaw)), float(self.speed * np.sin(yaw)), 0.0

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"velocity": [0.3, -0.2, 0.05]} | settings)

    def build(self, gravity: float) -> FlowPart:
        return FlowPart(uniform, self.table_of(self.vector()))
