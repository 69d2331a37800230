"""Plain damping that differs in water and in air: a share of momentum lost per second, as game engines have it.

Force −d m v and torque −d_a I ω about the centre of mass of the link, with the pair for water while any part of the
link is under water, else the pair for air; in water v is the velocity through the water. Implicit in the step, as all
damping here.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.parts.law import (
    INERTIA,
    RELATIVE,
    STEP,
    TOUCHING,
    VELOCITY,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
    spatial_inertia,
)


@law
def lose_momentum(model: int, data: int, table: int) -> None:
    """Constants: the 6×6 damping in water, then in air."""
    block = block_of(data, table)
    constants = constants_of(table)
    wet = block[TOUCHING] != 0.0
    D = constants[:36] if wet else constants[36:72]
    start = RELATIVE if wet else VELOCITY
    v = block[start : start + 6]
    step = block[STEP]
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += D[6 * i + j] * v[j]
            block[INERTIA + 6 * i + j] += step * D[6 * i + j]
        block[WRENCH + i] -= total


class ImmersionDamping(LawConfig):
    """Damping rates (1/s) in water and in air."""

    kind: Literal["immersion_damping"] = "immersion_damping"
    underwater_linear: NonNegative = Field(0.0, description="1/s")
    underwater_angular: NonNegative = Field(0.0, description="1/s")
    air_linear: NonNegative = Field(0.0, description="1/s")
    air_angular: NonNegative = Field(0.0, description="1/s")

    def build(self, at: Attachment) -> Law:
        def matrix(linear: float, angular: float) -> NDArray[np.float64]:
            return spatial_inertia(linear * at.mass, at.center_of_mass, angular * at.inertia)

        water = matrix(self.underwater_linear, self.underwater_angular)
        air = matrix(self.air_linear, self.air_angular)
        # one wet point is enough for the damping of water, on a body that carries hardly any of it yet
        most = matrix(max(self.underwater_linear, self.air_linear), max(self.underwater_angular, self.air_angular))
        return Law(np.concatenate([water.ravel(), air.ravel()]), force=lose_momentum, damping=water, air_damping=most)
