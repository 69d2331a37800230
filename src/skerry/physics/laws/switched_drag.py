"""Switched drag: linear in slow flow and quadratic in fast flow, equal in all directions.

F = −s max(K₁, K₂ |v|) v at `position`, with v its velocity through the water and s the share of the body under water,
and τ = −s max(K₁r, K₂r |ω|) ω. These are the fluid dynamics of the Okoń simulator. The force is continuous where the
two terms meet. A bound on its slope with velocity, times the step, is added to the mass matrix, as for all damping.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.kernels import floats, stack_floats
from skerry.parts.law import (
    INERTIA,
    RELATIVE,
    STEP,
    SUBMERGED,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
    turned_shift,
)
from skerry.physics.laws.damping import REFERENCE_SPEED


@law
def apply_switched_drag(model: int, data: int, table: int) -> None:
    """Apply the drag. Constants: K₁, K₂, K₁r, K₂r, and the 6×6 shift to `position`."""
    block = block_of(data, table)
    share = block[SUBMERGED]
    if share == 0.0:
        return
    constants = constants_of(table)
    to_point = constants[4:40]
    w = block[RELATIVE : RELATIVE + 6]
    v = floats(stack_floats(6), 6)
    for i in range(6):
        v[i] = 0.0
        for j in range(6):
            v[i] += to_point[6 * i + j] * w[j]
    speed = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    turning = np.sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])
    along, about = max(constants[0], constants[1] * speed), max(constants[2], constants[3] * turning)
    step = block[STEP] * share
    steep_along = step * max(constants[0], 2.0 * constants[1] * speed)
    steep_about = step * max(constants[2], 2.0 * constants[3] * turning)
    for i in range(6):
        force = -share * (along if i < 3 else about) * v[i]
        steep = steep_along if i < 3 else steep_about
        for a in range(6):
            block[WRENCH + a] += to_point[6 * i + a] * force
            for b in range(6):
                block[INERTIA + 6 * a + b] += steep * to_point[6 * i + a] * to_point[6 * i + b]


class SwitchedDrag(LawConfig):
    """Settings of linear or quadratic drag at `position`, whichever is larger."""

    kind: Literal["switched_drag"] = "switched_drag"
    linear: NonNegative = Field(0.0, description="linear drag K₁, N s/m")
    quadratic: NonNegative = Field(0.0, description="quadratic drag K₂, N s²/m²")
    angular_linear: NonNegative = Field(0.0, description="linear drag of rotation K₁r, N m s")
    angular_quadratic: NonNegative = Field(0.0, description="quadratic drag of rotation K₂r, N m s²")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"linear": 3, "quadratic": 44, "angular_linear": 1, "angular_quadratic": 2} | settings)

    def build(self, at: Attachment) -> Law:
        to_point = turned_shift(self.pose_on_body(at))
        settings = [self.linear, self.quadratic, self.angular_linear, self.angular_quadratic]
        along = max(self.linear, 2.0 * self.quadratic * REFERENCE_SPEED)
        about = max(self.angular_linear, 2.0 * self.angular_quadratic * REFERENCE_SPEED)
        most = to_point.T @ np.diag([along] * 3 + [about] * 3) @ to_point
        return Law(np.concatenate([settings, to_point.ravel()]), force=apply_switched_drag, damping=most)
