"""Mooring: a light, straight line to an anchor, slack up to its length, then a spring with a damper.

The tension is T = k (d − L) + c ḋ if d > L and T > 0, otherwise 0; d is the distance between the fastening point and
the anchor, L the length. The weight of the line and its drag are neglected: it keeps a buoy in position, but has no
catenary. Spring and damper are implicit in the step, so that any stiffness is stable.
"""

from __future__ import annotations

import math
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive, Vector3
from skerry.core.kernels import floats, stack_floats
from skerry.parts.law import (
    INERTIA,
    POSITION,
    ROTATION,
    STEP,
    VELOCITY,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
    shift,
)


@law
def apply_mooring_tension(model: int, data: int, table: int) -> None:
    """Apply the tension. Constants: fastening point on the link, anchor in the world, length, stiffness, damping."""
    block = block_of(data, table)
    x, y, z, anchor_x, anchor_y, anchor_z, length, stiffness, damping = constants_of(table)
    R = block[ROTATION : ROTATION + 9]
    wx = anchor_x - block[POSITION] - (R[0] * x + R[1] * y + R[2] * z)
    wy = anchor_y - block[POSITION + 1] - (R[3] * x + R[4] * y + R[5] * z)
    wz = anchor_z - block[POSITION + 2] - (R[6] * x + R[7] * y + R[8] * z)
    distance = math.sqrt(wx * wx + wy * wy + wz * wz)
    if distance <= length:
        return
    along = floats(
        stack_floats(6), 6
    )  # direction of the line in the link's axes, and its moment about the link's origin
    for i in range(3):
        along[i] = (R[i] * wx + R[3 + i] * wy + R[6 + i] * wz) / distance
    along[3] = y * along[2] - z * along[1]
    along[4] = z * along[0] - x * along[2]
    along[5] = x * along[1] - y * along[0]
    rate = 0.0  # rate of change of the distance, m/s
    for i in range(6):
        rate -= along[i] * block[VELOCITY + i]
    h = block[STEP]
    tension = stiffness * (distance + h * rate - length) + damping * rate
    if tension <= 0.0:
        return
    for i in range(6):
        block[WRENCH + i] += tension * along[i]
        for j in range(6):
            block[INERTIA + 6 * i + j] += h * (h * stiffness + damping) * along[i] * along[j]


class Mooring(LawConfig):
    """Settings of a line from `position` on a link to a point of the world."""

    kind: Literal["mooring"] = "mooring"
    anchor: Vector3 = Field(description="other end of the line, in the world frame, m")
    length: Positive = Field(description="length up to which the line is slack, m")
    stiffness: Positive = Field(description="stiffness of the taut line, N/m")
    damping: NonNegative = Field(0.0, description="damping of the taut line, N s/m")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"anchor": [0, 0, -9], "length": 3, "stiffness": 20, "damping": 5} | settings)

    def build(self, at: Attachment) -> Law:
        position = self.pose_on_body(at).position
        to_point = shift(position)[:3]
        slope = self.damping * to_point.T @ to_point
        constants = np.array([*position, *self.anchor, self.length, self.stiffness, self.damping])
        return Law(constants, force=apply_mooring_tension, damping=slope, air_damping=slope)
