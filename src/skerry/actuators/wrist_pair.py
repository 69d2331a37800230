"""Motor of a differential wrist, which two gears move: pitch = (a + b)/2 and roll = (a − b)/2.

The angles of the gears are a = pitch + roll and b = pitch − roll. By virtual work the torque of a motor acts on the
pitch with sign +1, and on the roll with the sign of its side. The two motors are independent actuators.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.actuators.drives.joints import need_joint
from skerry.actuators.drives.motors import COUNT, MORE, MotorActuator, MotorConfig, run_motor
from skerry.core.kernels import floats, kernel, load_word, words
from skerry.parts.law import (
    HEADER,
    JOINT_AXIS,
    JOINT_INERTIA,
    JOINT_POSITION,
    LAYOUT,
    Attach,
    constants_of,
    law,
    state_of,
)
from skerry.physics.joint_drive import DAMPING, FORCE, FREQUENCY, IMPLICIT_STEP, INERTIA, TARGET
from skerry.physics.mujoco import LAYOUT_SIZE, MASS, QFRC_PASSIVE, QPOS, QVEL

OTHER_POSITION, OTHER_AXIS, OTHER_DIAGONAL, CROSS, ON_FIRST, ON_OTHER = range(MORE, MORE + 6)
"""Constants: engine indices of the second joint (4), and the factors of both joints in the gear angle (2)."""


@kernel
def _gear(data: int, header: Any, layout: Any, c: Any) -> tuple[float, float]:
    """Return the angle of the gear (rad) and its rate (rad/s)."""
    positions, rates = load_word(data + layout[QPOS]), load_word(data + layout[QVEL])
    q = c[ON_FIRST] * floats(positions + 8 * header[JOINT_POSITION], 1)[0]
    q += c[ON_OTHER] * floats(positions + 8 * int(c[OTHER_POSITION]), 1)[0]
    rate = c[ON_FIRST] * floats(rates + 8 * header[JOINT_AXIS], 1)[0]
    rate += c[ON_OTHER] * floats(rates + 8 * int(c[OTHER_AXIS]), 1)[0]
    return q, rate


@law
def turn_gear(model: int, data: int, table: int) -> None:
    """Move the target of the gear by one step."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    c = constants_of(table)
    q, rate = _gear(data, header, layout, c)
    run_motor(state_of(data, table, COUNT), c, q, rate)


@law
def drive_gear(model: int, data: int, table: int) -> None:
    """Apply torques to both joints that move the gear to its target; implicit, like the drive of one joint."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    c = constants_of(table)
    q, rate = _gear(data, header, layout, c)
    forces, mass = load_word(data + layout[QFRC_PASSIVE]), load_word(data + layout[MASS])
    stiffness = c[INERTIA] * c[FREQUENCY] ** 2
    damping = 2.0 * c[DAMPING] * c[INERTIA] * c[FREQUENCY]
    h = c[IMPLICIT_STEP]
    pull = stiffness * (state_of(data, table, COUNT)[TARGET] - q - h * rate) - damping * rate
    if abs(pull) <= c[FORCE]:
        slope = h * damping + h * h * stiffness
        floats(mass + 8 * header[JOINT_INERTIA], 1)[0] += slope
        floats(mass + 8 * int(c[OTHER_DIAGONAL]), 1)[0] += slope
        floats(mass + 8 * int(c[CROSS]), 1)[0] += c[ON_FIRST] * c[ON_OTHER] * slope
    else:
        pull = c[FORCE] if pull > 0.0 else -c[FORCE]
    floats(forces + 8 * header[JOINT_AXIS], 1)[0] += c[ON_FIRST] * pull
    floats(forces + 8 * int(c[OTHER_AXIS]), 1)[0] += c[ON_OTHER] * pull


class WristMotorActuator(MotorActuator):
    """Motor of a differential wrist; its angle is the angle of its gear."""

    def _angle(self) -> float:
        c = self._drive.constants
        return float(c[ON_FIRST] * self._drive.position[0] + c[ON_OTHER] * self._drive.second_position[0])


class WristPair(MotorConfig):
    """Settings of one motor of a differential wrist; `link` is the link that rolls, and its parent link pitches."""

    kind: Literal["wrist_pair"] = "wrist_pair"
    side: Literal["left", "right"] = Field(
        "left", description="the left motor rolls the hand in the positive direction, the right in the negative"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "hand", "maximum_rpm": 30} | settings)

    def build(self, attach: Attach) -> WristMotorActuator:
        below = attach(self.link)
        roll = need_joint(below, "revolute", "continuous")
        above = attach(roll.parent)
        pitch = need_joint(above, "revolute", "continuous")
        # The left law acts on the pitch joint, the right law on the roll joint, each with the armature of both rotors:
        # ½ J (ȧ² + ḃ²) = J (pitch rate² + roll rate²).
        left = self.side == "left"
        first, second, link = (pitch, roll, above.link) if left else (roll, pitch, below.link)
        more = np.zeros(6)
        more[-2:] = (1.0, 1.0) if left else (-1.0, 1.0)
        force = min(pitch.effort, roll.effort)
        limits = (pitch.lower, pitch.upper)
        reach = (pitch.lower + roll.lower, pitch.upper + roll.upper)
        drive = self.motor(first, below.step, limits, force, 2 * self.geared_inertia(), more, reach)
        drive.force, drive.update, drive.second_joint = drive_gear, turn_gear, (second.name, OTHER_POSITION)
        drive.joint_start = 0.0
        return WristMotorActuator(self, link, drive)
