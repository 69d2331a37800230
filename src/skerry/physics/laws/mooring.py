"""A mooring line, light and straight: slack while it is long enough, else a spring and a damper towards its anchor.

Its tension is T = k (d − L) + c ḋ where that is positive and d > L, d being the way from where it is made fast to the
anchor and L its length; it pulls, and never pushes. Its weight and the water's drag on it are left out: it holds a buoy
in its place, but has no catenary. Spring and damper are implicit in the step, so that no line is too stiff.
"""

from __future__ import annotations

import math
from typing import Literal

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
def pull(model: int, data: int, table: int) -> None:
    """Constants: where it is made fast, the anchor in the world, length, stiffness and damping."""
    block = block_of(data, table)
    x, y, z, anchor_x, anchor_y, anchor_z, length, stiffness, damping = constants_of(table)
    R = block[ROTATION : ROTATION + 9]
    wx = anchor_x - block[POSITION] - (R[0] * x + R[1] * y + R[2] * z)
    wy = anchor_y - block[POSITION + 1] - (R[3] * x + R[4] * y + R[5] * z)
    wz = anchor_z - block[POSITION + 2] - (R[6] * x + R[7] * y + R[8] * z)
    distance = math.sqrt(wx * wx + wy * wy + wz * wz)
    if distance <= length:
        return
    along = floats(stack_floats(6), 6)  # the line's direction in the link's axes, and its moment about the origin
    for i in range(3):
        along[i] = (R[i] * wx + R[3 + i] * wy + R[6 + i] * wz) / distance
    along[3] = y * along[2] - z * along[1]
    along[4] = z * along[0] - x * along[2]
    along[5] = x * along[1] - y * along[0]
    rate = 0.0  # at which it gets longer
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
    """A line from a point of a link to a point of the world."""

    kind: Literal["mooring"] = "mooring"
    anchor: Vector3 = Field(description="its other end, in the world, m")
    length: Positive = Field(description="m up to which it is slack")
    stiffness: Positive = Field(description="N/m once it is taut")
    damping: NonNegative = Field(0.0, description="N s/m once it is taut")

    def build(self, at: Attachment) -> Law:
        position = self.pose_on_body(at).position
        to_point = shift(position)[:3]
        slope = self.damping * to_point.T @ to_point
        constants = np.array([*position, *self.anchor, self.length, self.stiffness, self.damping])
        return Law(constants, force=pull, damping=slope, air_damping=slope)
