"""A joint's drive: a servo that follows a target no faster than its speed and no harder than its force.

τ = I (ω² (target − q) − 2 ζ ω q̇) with I the inertia that the joint feels, so that the drive has one natural frequency
whatever it carries. Linearly implicit: τ is taken at q + h q̇, and h (2 ζ ω I + h ω² I) goes onto the joint's diagonal
of the mass matrix, so that no drive is too stiff for the step (Hairer & Wanner, Solving ODEs II, §IV.7).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import floats, load_word, words
from skerry.parts.law import (
    HEADER,
    JOINT_AXIS,
    JOINT_INERTIA,
    JOINT_POSITION,
    LAYOUT,
    Law,
    constants_of,
    law,
    state_of,
)
from skerry.physics.mujoco import MASS, QFRC_PASSIVE, QPOS, QVEL

WANTED, TARGET = range(2)  # the state: where the joint shall go, and how far the servo has got
INERTIA, FREQUENCY, DAMPING, FORCE, SPEED, STEP, OWN = range(7)  # the first constants; those of a kind begin at OWN
IMPLICIT_STEP = -1  # the last constant, which the engine adds


@law
def move_target(model: int, data: int, table: int) -> None:
    """Move the servo's target towards what is wanted."""
    state = state_of(data, table, 2)
    constants = constants_of(table)
    most = constants[SPEED] * constants[STEP]
    state[TARGET] += min(max(state[WANTED] - state[TARGET], -most), most)


@law
def drive_joint(model: int, data: int, table: int) -> None:
    """Pull the joint to the target."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], 12)
    constants = constants_of(table)
    state = state_of(data, table, 2)
    q = floats(load_word(data + layout[QPOS]) + 8 * header[JOINT_POSITION], 1)[0]
    rate = floats(load_word(data + layout[QVEL]) + 8 * header[JOINT_AXIS], 1)[0]
    force = floats(load_word(data + layout[QFRC_PASSIVE]) + 8 * header[JOINT_AXIS], 1)
    diagonal = floats(load_word(data + layout[MASS]) + 8 * header[JOINT_INERTIA], 1)
    stiffness = constants[INERTIA] * constants[FREQUENCY] ** 2
    damping = 2.0 * constants[DAMPING] * constants[INERTIA] * constants[FREQUENCY]
    h = constants[IMPLICIT_STEP]
    pull = stiffness * (state[TARGET] - q - h * rate) - damping * rate
    if abs(pull) <= constants[FORCE]:
        force[0] += pull
        diagonal[0] += h * damping + h * h * stiffness
    else:
        force[0] += constants[FORCE] if pull > 0.0 else -constants[FORCE]


class JointDrive(Law):
    """The drive of a joint, built."""

    position: NDArray[np.float64]  # (1,), the joint's; a view of the engine's once the world is there
    second_position: NDArray[np.float64]  # the same of a second joint that it drives too

    def go_to(self, position: float) -> None:
        """Set where the joint shall go."""
        self.memory[..., WANTED] = position


def joint_drive(
    joint: str,
    *,
    start: float,
    step: float,
    frequency_hz: float,
    damping_ratio: float,
    force: float,
    speed: float,
    armature: float,
) -> JointDrive:
    """A drive for a joint; force and speed may be infinite."""
    # A servo cannot be quicker than the step: else its force limit would be met by errors that the next step mends.
    frequency = min(2 * np.pi * frequency_hz, 1 / step)
    constants = np.array([0.0, frequency, damping_ratio, force, speed, step])
    drive = JointDrive(
        constants,
        force=drive_joint,
        update=move_target,
        initial_state=np.array([start, start]),
        joint=joint,
        joint_start=start,
        armature=armature,
        inertia_index=INERTIA,
        joint_damping=2 * damping_ratio * frequency,
    )
    drive.position = np.array([start])
    return drive
