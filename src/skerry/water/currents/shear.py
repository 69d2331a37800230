"""Current that changes linearly with depth."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field

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
def shear(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    """Native function. Constants: velocity, its gradient with depth, depth of that velocity."""
    if not need & NEED_FLOW:
        return
    c = own_constants(table, 7)
    x, y, z = floats(points, count), floats(points + 8 * count, count), floats(points + 16 * count, count)
    height = floats(out + 8 * HEIGHT * count, count)
    u = floats(out + 8 * FLOW * count, 3 * count)
    for i in range(count):
        z_fluid = height_in_fluid(need, z[i], height[i])
        if is_in_volume(table, x[i], y[i], z_fluid):
            beyond = height[i] - z_fluid - c[6]
            for k in range(3):
                u[k * count + i] += c[k] + c[3 + k] * beyond


class ShearCurrent(CurrentConfig):
    """Velocity (ENU, m/s) at one depth, and its change per metre of depth."""

    kind: Literal["shear"] = "shear"
    velocity: Vector3
    gradient: Vector3 = Field(description="change of the velocity per metre of depth, 1/s")
    reference_depth: float = Field(0.0, description="depth below the surface of this velocity, m")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"velocity": [0.3, -0.2, 0.05], "gradient": [-0.01, 0, 0]} | settings)

    def build(self, gravity: float) -> FlowPart:
        return FlowPart(shear, self.table_of(self.velocity, self.gradient, self.reference_depth))
