"""Damping by a share of momentum per second, with different rates in water and in air, as in game engines.

The force is −d m v and the torque −d_a I ω, about the centre of mass of the link. The rates for water apply while any
part of the link is under water; v is then the velocity through the water. Otherwise the rates for air apply. The
damping is implicit in the step.
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
def apply_immersion_damping(model: int, data: int, table: int) -> None:
    """Apply the damping. Constants: 6×6 damping in water, 6×6 damping in air."""
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
    """Settings of damping rates in water and in air."""

    kind: Literal["immersion_damping"] = "immersion_damping"
    underwater_linear: NonNegative = Field(0.0, description="rate of translation in water, 1/s")
    underwater_angular: NonNegative = Field(0.0, description="rate of rotation in water, 1/s")
    air_linear: NonNegative = Field(0.0, description="rate of translation in air, 1/s")
    air_angular: NonNegative = Field(0.0, description="rate of rotation in air, 1/s")

    def build(self, at: Attachment) -> Law:
        def matrix(linear: float, angular: float) -> NDArray[np.float64]:
            return spatial_inertia(linear * at.mass, at.center_of_mass, angular * at.inertia)

        water = matrix(self.underwater_linear, self.underwater_angular)
        air = matrix(self.air_linear, self.air_angular)
        # One wet point is enough for the damping of water, while the body has almost no added mass yet.
        most = matrix(max(self.underwater_linear, self.air_linear), max(self.underwater_angular, self.air_angular))
        return Law(
            np.concatenate([water.ravel(), air.ravel()]), force=apply_immersion_damping, damping=water, air_damping=most
        )
