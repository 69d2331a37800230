"""Joint drive: a servo that moves a joint to a setpoint, limited in speed and force.

τ = I (ω² (target − q) − 2 ζ ω q̇), with I the inertia that the joint feels, so that the natural frequency does not
depend on the load. The drive is linearly implicit: τ is evaluated at q + h q̇, and h (2 ζ ω I + h ω² I) is added to the
joint's diagonal entry of the mass matrix, so that every stiffness is stable at every step (Hairer & Wanner, Solving
ODEs II, §IV.7).
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

SETPOINT, TARGET = range(2)  # state: commanded position, and the position that follows it at limited speed
# Constants of every drive; the constants of a special drive start at OWN.
INERTIA, FREQUENCY, DAMPING, FORCE, SPEED, STEP, OWN = range(7)
IMPLICIT_STEP = -1  # the last constant: the step length of the implicit part, added when the model is built


@law
def move_target(model: int, data: int, table: int) -> None:
    """Move the target towards the setpoint at limited speed."""
    state = state_of(data, table, 2)
    constants = constants_of(table)
    most = constants[SPEED] * constants[STEP]
    state[TARGET] += min(max(state[SETPOINT] - state[TARGET], -most), most)


@law
def drive_joint(model: int, data: int, table: int) -> None:
    """Apply the force that drives the joint to the target."""
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
    """Law of a joint drive."""

    position: NDArray[np.float64]  # (1,), position of the joint; a live view once the world is built
    range: tuple[float, float]  # range of the joint, rad or m, of a motor whose limits can be moved
    second_position: NDArray[np.float64]  # (1,), position of the second joint of a drive with two joints

    def go_to(self, position: float) -> None:
        """Set the setpoint, rad or m."""
        self.memory[..., SETPOINT] = position


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
    """Return the drive of a joint.

    Args:
        joint: name of the joint.
        start: position at the start, rad or m.
        step: length of a step, s.
        frequency_hz: natural frequency, Hz; limited by the step.
        damping_ratio: damping ratio ζ.
        force: largest torque or force, N m or N; may be infinite.
        speed: largest speed, rad/s or m/s; may be infinite.
        armature: inertia of the motor that is added to the joint, kg m² or kg.
    """
    # A drive faster than the step would reach its force limit on errors that the next step corrects anyway.
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
