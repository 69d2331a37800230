"""What geared motors share: power or an angle as their command, speed in proportion, encoder and limit switches.

A motor turns the target of its joint's drive with the speed that its power stands for, and stands when it has none, as
a motor behind a high gear does. The target runs ahead of the joint no farther than the drive's force can pull it, so
that an overloaded motor slips instead of catching up later.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.kernels import floats, kernel, load_word, words
from skerry.formats.urdf import UrdfJoint
from skerry.parts.actuator import Actuator, ActuatorConfig, within
from skerry.parts.law import HEADER, JOINT_AXIS, JOINT_POSITION, LAYOUT, constants_of, law, state_of
from skerry.parts.state_channel import StateChannel
from skerry.physics.joint_drive import (
    DAMPING,
    FORCE,
    FREQUENCY,
    INERTIA,
    OWN,
    SETPOINT,
    SPEED,
    STEP,
    TARGET,
    JointDrive,
    drive_joint,
)
from skerry.physics.mujoco import LAYOUT_SIZE, QPOS, QVEL

POWER, BY_ANGLE, SWITCH, COUNT = range(
    2, 6
)  # after the drive's state: power now, how it is commanded, −1 or 1 at an end
LOWER, UPPER, APPROACH, SWITCHES, MORE = range(OWN, OWN + 5)  # after the drive's constants
SWITCH_TRAVEL = 0.01  # rad or m before the end of the travel at which a switch closes, so that it does before the stop


@kernel
def run_motor(state: Any, c: Any, q: float, rate: float) -> None:
    """Turn the target on by a step, q and rate being those of the gear's output."""
    power = state[SETPOINT]
    if state[BY_ANGLE] != 0.0:
        power = min(max((state[SETPOINT] - q) / (c[APPROACH] * c[SPEED]), -1.0), 1.0)
    state[SWITCH] = 0.0
    if q >= c[UPPER] - SWITCH_TRAVEL:
        state[SWITCH] = 1.0
    elif q <= c[LOWER] + SWITCH_TRAVEL:
        state[SWITCH] = -1.0
    if c[SWITCHES] != 0.0 and state[SWITCH] * power > 0.0 and state[BY_ANGLE] == 0.0:
        power = 0.0
    target = state[TARGET] + power * c[SPEED] * c[STEP]
    slip = c[FORCE] / (c[INERTIA] * c[FREQUENCY] ** 2) + (2.0 * c[DAMPING] / c[FREQUENCY] + c[STEP]) * abs(rate)
    target = min(max(target, q - slip), q + slip)
    state[TARGET] = min(max(target, c[LOWER]), c[UPPER])
    state[POWER] = power


@law
def turn_target(model: int, data: int, table: int) -> None:
    """Run a motor on one joint."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    q = floats(load_word(data + layout[QPOS]) + 8 * header[JOINT_POSITION], 1)[0]
    rate = floats(load_word(data + layout[QVEL]) + 8 * header[JOINT_AXIS], 1)[0]
    run_motor(state_of(data, table, COUNT), constants_of(table), q, rate)


class MotorActuator(Actuator):
    """Commanded by `power=`, −1 to 1, or sent to an `angle=` of the gear's output, rad."""

    keyword = "power"

    def __init__(self, config: MotorConfig, link: str, drive: JointDrive) -> None:
        super().__init__([(link, drive)], (-1.0, 1.0), 0.0, config.expected_frequency)
        self.gear = config.gear
        self._drive = drive
        self._sign = -1.0 if config.reverse else 1.0
        self._encoder = config.encoder
        lower, upper = float(drive.constants[LOWER]), float(drive.constants[UPPER])
        self.angle_limits = (-upper, -lower) if config.reverse else (lower, upper)

    @property
    def setpoint(self) -> float:
        """The power that was commanded; on the way to an angle, that which this takes now."""
        memory = self._drive.memory
        return self._sign * float(memory[POWER if memory[BY_ANGLE] else SETPOINT])

    @property
    def state_channel(self) -> StateChannel:
        """Shows the power that it runs with."""
        return StateChannel(self._drive.memory[POWER : POWER + 1], self._sign)

    @property
    def running_power(self) -> float:
        """The power that it runs with, −1 to 1, however it was commanded: none at a limit switch."""
        return self._sign * float(self._drive.memory[POWER])

    @property
    def position(self) -> float | None:
        """What its encoder reads: the angle of the motor's shaft, rad; None if it has no encoder."""
        return self.gear * self._sign * self._angle() if self._encoder else None

    @property
    def at_minimum(self) -> bool:
        """Whether the limit switch at the lower end is closed."""
        return bool(self._sign * self._drive.memory[SWITCH] < 0)

    @property
    def at_maximum(self) -> bool:
        """Whether the limit switch at the upper end is closed."""
        return bool(self._sign * self._drive.memory[SWITCH] > 0)

    def check(self, **value: float) -> None:
        if list(value) == ["angle"]:
            within("angle", value["angle"], self.angle_limits)
        else:
            self._checked(value)

    def _angle(self) -> float:
        """Of the gear's output."""
        return self._drive.position.item(0)

    def _apply(self, value: dict[str, float]) -> None:
        if list(value) == ["angle"]:
            self._go_to(within("angle", value["angle"], self.angle_limits))
        else:
            super()._apply(value)

    def _go_to(self, angle: float) -> None:
        self._drive.memory[..., BY_ANGLE] = 1.0
        self._drive.memory[..., SETPOINT] = self._sign * angle

    def _set(self, value: float) -> None:
        self._drive.memory[..., BY_ANGLE] = 0.0
        self._drive.memory[..., SETPOINT] = self._sign * value


class MotorConfig(ActuatorConfig):
    """A motor with a gear."""

    maximum_rpm: Positive = Field(description="of the motor's shaft at full power, 1/min")
    gear: Positive = Field(1.0, description="turns of the motor to a turn of its output")
    rotor_inertia: NonNegative = Field(0.0, description="of the motor's shaft, kg m²")
    frequency_hz: Positive = Field(15.0, description="natural frequency of the speed loop, Hz")
    damping_ratio: Positive = Field(1.0, description="1 is critical")
    approach_time: Positive = Field(0.375, description="s: time constant with which it nears an angle")
    encoder: bool = Field(True, description="whether it can read its position")
    limit_switches: bool = Field(True, description="whether switches at both ends take its power")
    reverse: bool = Field(False, description="turns its joint the other way")

    def motor(
        self,
        joint: UrdfJoint,
        step: float,
        limits: tuple[float, float],
        force: float,
        armature: float,
        more: NDArray[np.float64] | None = None,
    ) -> JointDrive:
        """The drive of a joint with a motor that turns its target; a kind may add constants of its own."""
        frequency = min(2 * pi * self.frequency_hz, 1 / step)  # a loop cannot be quicker than the step
        speed = min(self.maximum_rpm * pi / 30 / self.gear, joint.velocity)
        start = min(max(0.0, limits[0]), limits[1])
        switches = 1.0 if self.limit_switches else 0.0
        own = [0.0, frequency, self.damping_ratio, force, speed, step, *limits, self.approach_time, switches]
        initial = np.zeros(COUNT)
        initial[TARGET] = start
        drive = JointDrive(
            np.concatenate([own, np.zeros(0) if more is None else more]),
            force=drive_joint,
            update=turn_target,
            initial_state=initial,
            joint=joint.name,
            joint_start=start,
            armature=armature,
            inertia_index=INERTIA,
            joint_damping=2 * self.damping_ratio * frequency,
        )
        drive.position, drive.second_position = np.array([start]), np.array([start])
        return drive

    def geared_inertia(self) -> float:
        """The inertia of the rotor as the gear's output feels it."""
        return self.rotor_inertia * self.gear**2
