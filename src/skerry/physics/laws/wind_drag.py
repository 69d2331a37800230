"""Wind drag: drag of the air on the part of a body above the water.

F_i = −s ½ ρ C_i A_i |v| v_i along the mount's axes, with v the velocity of `position` through the air and s the share
of the body above water (Fossen 2021, §10.1; DNV-RP-C205, §5.3). If `position` is under water, the wind at the surface
above it is used. The slope with velocity, times the step, is added to the mass matrix, as for all drag.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.kernels import call7, floats, load_word, stack_floats, words
from skerry.parts.law import (
    HEADER,
    INERTIA,
    POSITION,
    ROTATION,
    STEP,
    SUBMERGED,
    TIME_OFFSET,
    USERDATA_OFFSET,
    VELOCITY,
    WIND,
    WIND_TABLE,
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
from skerry.water import flow

AIR_DENSITY = 1.225  # kg/m³: the standard atmosphere at sea level (ISO 2533:1975, table 1)


@law
def apply_wind_drag(model: int, data: int, table: int) -> None:
    """Apply the drag. Constants: ½ ρ C A of the three axes, the position, and the upper half of the 6×6 shift to it."""
    block = block_of(data, table)
    share = 1.0 - block[SUBMERGED]
    if share <= 0.0:
        return
    header = words(table, HEADER)
    c = constants_of(table)
    to_point = c[6:24]
    R = block[ROTATION : ROTATION + 9]
    point, sample = stack_floats(3), stack_floats(10)
    where, found = floats(point, 3), floats(sample, 10)
    for i in range(3):
        where[i] = block[POSITION + i] + R[3 * i] * c[3] + R[3 * i + 1] * c[4] + R[3 * i + 2] * c[5]
    userdata, time = load_word(data + header[USERDATA_OFFSET]), data + header[TIME_OFFSET]
    call7(header[WIND], header[WIND_TABLE], userdata, time, flow.NEED_FLOW, 1, point, sample)
    if where[2] < found[flow.HEIGHT]:
        where[2] = found[flow.HEIGHT]
        call7(header[WIND], header[WIND_TABLE], userdata, time, flow.NEED_FLOW, 1, point, sample)
    x, y, z = found[flow.FLOW], found[flow.FLOW + 1], found[flow.FLOW + 2]
    w = floats(stack_floats(6), 6)
    v = floats(stack_floats(3), 3)
    for i in range(3):
        w[i] = block[VELOCITY + i] - (R[i] * x + R[3 + i] * y + R[6 + i] * z)
        w[3 + i] = block[VELOCITY + 3 + i]
    for i in range(3):
        v[i] = 0.0
        for j in range(6):
            v[i] += to_point[6 * i + j] * w[j]
    speed = np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if speed == 0.0:
        return
    step = block[STEP] * share
    for i in range(3):
        force = -share * c[i] * speed * v[i]
        # the slope k_i (|v| δ_ij + v_i v_j/|v|), its couplings as a bound on the diagonal (Gershgorin)
        slope = c[i] * (speed + v[i] * v[i] / speed)
        for j in range(3):
            if j != i:
                slope += 0.5 * (c[i] + c[j]) * abs(v[i] * v[j]) / speed
        for a in range(6):
            block[WRENCH + a] += to_point[6 * i + a] * force
            for b in range(6):
                block[INERTIA + 6 * a + b] += step * slope * to_point[6 * i + a] * to_point[6 * i + b]


class WindDrag(LawConfig):
    """Settings of the drag of the air at `position`, along the mount's axes."""

    kind: Literal["wind_drag"] = "wind_drag"
    area: tuple[NonNegative, NonNegative, NonNegative] = Field(
        description="area of the whole body seen along x, y and z, m²; the share above water is used"
    )
    drag_coefficient: tuple[NonNegative, NonNegative, NonNegative] = Field(
        description="drag coefficient along x, y and z; about 1 for a box (Hoerner 1965, ch. 3), 0.5 for a sphere"
    )
    air_density: Positive = Field(AIR_DENSITY, description="density of the air, kg/m³")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"area": [0.1, 0.3, 0.3], "drag_coefficient": [1, 1, 1]} | settings)

    def build(self, at: Attachment) -> Law:
        pose = self.pose_on_body(at)
        to_point = turned_shift(pose)[:3]
        factor = 0.5 * self.air_density * np.array(self.drag_coefficient) * np.array(self.area)
        constants = np.concatenate([factor, pose.position, to_point.ravel()])
        fastest = to_point.T @ np.diag(2.0 * REFERENCE_SPEED * factor) @ to_point
        return Law(constants, force=apply_wind_drag, air_damping=fastest)
