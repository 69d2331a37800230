"""A current that is the same everywhere in the water and at all times."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import model_validator

from skerry.core.config import NonNegative, Vector3
from skerry.core.frames import heading_to_yaw
from skerry.core.kernels import floats
from skerry.water.flow import FLOW, NEED_FLOW, CurrentConfig, FlowPart, flow


@flow
def uniform(table: int, userdata: int, time: int, need: int, count: int, points: int, out: int) -> None:
    if need & NEED_FLOW:
        velocity = floats(table, 3)
        u = floats(out + 8 * FLOW * count, 3 * count)
        for k in range(3):
            for i in range(count):
                u[k * count + i] += velocity[k]


class Uniform(CurrentConfig):
    """A uniform current: a `velocity` (ENU, m/s), or a `speed` and the `heading_deg` it flows towards."""

    kind: Literal["uniform"] = "uniform"
    velocity: Vector3 | None = None
    speed: NonNegative | None = None
    heading_deg: float | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Uniform:
        polar = (self.speed is not None, self.heading_deg is not None)
        if self.velocity is not None and not any(polar):
            return self
        if self.velocity is None and all(polar):
            return self
        raise ValueError("give either `velocity`, or `speed` and `heading_deg`")

    def vector(self) -> Vector3:
        """The velocity, ENU, m/s."""
        if self.velocity is not None:
            return self.velocity
        assert self.speed is not None and self.heading_deg is not None
        yaw = heading_to_yaw(self.heading_deg)
        return float(self.speed * np.cos(yaw)), float(self.speed * np.sin(yaw)), 0.0

    def build(self, gravity: float) -> FlowPart:
        return FlowPart(uniform, np.array(self.vector()))
