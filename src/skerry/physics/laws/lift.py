"""Lift of hull and fixed fins: a force proportional to forward speed times cross-flow.

τ = −s |u| L ν_r, with u the speed along the mount's x axis and s the share of the body under water: the terms Y_uv u v,
Z_uw u w, M_uq u q, N_ur u r … of a slender body (Fossen 2021, §8.1.2; Prestero 2001, ch. 4). A fin of area A and lift
slope C has ½ ρ A C in sway or heave at its own position. The lift is implicit in the step.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import Matrix6, Vector6
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
from skerry.physics.laws.added_mass import full_matrix
from skerry.physics.laws.damping import REFERENCE_SPEED, positive_part


@law
def apply_lift(model: int, data: int, table: int) -> None:
    """Apply the lift. Constants: L about the link's origin, its positive part, and the direction of u."""
    block = block_of(data, table)
    c = constants_of(table)
    v = block[RELATIVE : RELATIVE + 6]
    speed = block[SUBMERGED] * abs(c[72] * v[0] + c[73] * v[1] + c[74] * v[2])
    if speed == 0.0:
        return
    step = block[STEP]
    for i in range(6):
        total = 0.0
        for j in range(6):
            total += c[6 * i + j] * v[j]
            block[INERTIA + 6 * i + j] += step * speed * c[36 + 6 * i + j]
        block[WRENCH + i] -= speed * total


class Lift(LawConfig):
    """Settings of lift coefficients about `position`."""

    kind: Literal["lift"] = "lift"
    matrix: Vector6 | Matrix6 = Field(
        description="L: diagonal, six numbers, or 6 × 6; kg/m, kg, kg m; positive numbers resist the motion"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"matrix": [0, 5, 5, 0, 1, 1]} | settings)

    def build(self, at: Attachment) -> Law:
        pose = self.pose_on_body(at)
        to_point = turned_shift(pose)
        matrix = to_point.T @ full_matrix(self.matrix) @ to_point
        positive = positive_part(matrix)
        constants = np.concatenate([matrix.ravel(), positive.ravel(), pose.rotation[:, 0]])
        return Law(constants, force=apply_lift, damping=REFERENCE_SPEED * positive)
