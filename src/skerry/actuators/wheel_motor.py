"""Wheel motor: torque on a straight line from stall to no-load speed, with friction and a brake.

τ = τ_stall (p − ω/ω₀) with the power p from −1 to 1: the line of a direct-current motor at the fraction p of its
voltage (Hughes & Drury 2019, Electric Motors and Drives, §3.4). Friction and brake are Coulomb friction, computed as
a stiff spring that slips at its force, so that a braked wheel holds on a slope. The slope of the line and the spring
are integrated implicitly.
"""

from __future__ import annotations

from math import pi
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.actuators.drives.joints import need_joint
from skerry.core.config import NonNegative, Positive
from skerry.core.kernels import floats, load_word, words
from skerry.parts.actuator import Actuator, ActuatorConfig
from skerry.parts.law import (
    HEADER,
    JOINT_AXIS,
    JOINT_INERTIA,
    JOINT_POSITION,
    LAYOUT,
    USERDATA_OFFSET,
    Attach,
    constants_of,
    law,
    state_of,
)
from skerry.parts.state_channel import StateChannel
from skerry.physics.joint_drive import IMPLICIT_STEP, INERTIA, JointDrive
from skerry.physics.mujoco import LAYOUT_SIZE, MASS, QFRC_PASSIVE, QPOS, QVEL

# State: command, angle at which friction holds (rad), motor torque (N m), 1 while the brake is on
SETPOINT, HELD, TORQUE, BRAKED, COUNT = range(5)
# Constants after INERTIA; the indices in userdata of the commands of the motors in `brake_with` follow after OTHERS
STALL, NO_LOAD, FRICTION, BRAKE, DEADBAND, BY_TORQUE, STEP, OTHERS = range(INERTIA + 1, INERTIA + 9)


@law
def slip_brake(model: int, data: int, table: int) -> None:
    """Switch the brake, and move the angle at which friction holds, so that it lags no more than the force allows."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    c = constants_of(table)
    state = state_of(data, table, COUNT)
    q = floats(load_word(data + layout[QPOS]) + 8 * header[JOINT_POSITION], 1)[0]
    rate = floats(load_word(data + layout[QVEL]) + 8 * header[JOINT_AXIS], 1)[0]
    braked = abs(state[SETPOINT]) <= c[DEADBAND]
    userdata = load_word(data + header[USERDATA_OFFSET])
    for k in range(int(c[OTHERS])):
        braked = braked and abs(floats(userdata + 8 * int(c[OTHERS + 1 + k]), 1)[0]) <= c[DEADBAND]
    state[BRAKED] = 1.0 if braked and c[BRAKE] > 0.0 else 0.0
    most = c[FRICTION] + c[BRAKE] * state[BRAKED]
    slack = most * c[STEP] * c[STEP] / c[INERTIA] + 3.0 * c[STEP] * abs(rate)
    state[HELD] = min(max(state[HELD], q - slack), q + slack)


@law
def turn_wheel(model: int, data: int, table: int) -> None:
    """Apply the torque of motor, friction and brake to the wheel."""
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    c = constants_of(table)
    state = state_of(data, table, COUNT)
    q = floats(load_word(data + layout[QPOS]) + 8 * header[JOINT_POSITION], 1)[0]
    rate = floats(load_word(data + layout[QVEL]) + 8 * header[JOINT_AXIS], 1)[0]
    force = floats(load_word(data + layout[QFRC_PASSIVE]) + 8 * header[JOINT_AXIS], 1)
    diagonal = floats(load_word(data + layout[MASS]) + 8 * header[JOINT_INERTIA], 1)
    h = c[IMPLICIT_STEP]
    slope = c[STALL] / c[NO_LOAD]
    torque = c[STALL] * state[SETPOINT] - slope * rate
    if c[BY_TORQUE] != 0.0:
        low, high = -c[STALL] - slope * rate, c[STALL] - slope * rate
        torque = min(max(c[STALL] * state[SETPOINT], low), high)
        if low < torque < high:
            slope = 0.0
    diagonal[0] += h * slope
    state[TORQUE] = torque
    force[0] += torque
    most = c[FRICTION] + c[BRAKE] * state[BRAKED]
    if most > 0.0:
        stiffness, damping = c[INERTIA] / (c[STEP] * c[STEP]), 2.0 * c[INERTIA] / c[STEP]
        pull = stiffness * (state[HELD] - q - h * rate) - damping * rate
        if abs(pull) <= most:
            force[0] += pull
            diagonal[0] += h * damping + h * h * stiffness
        else:
            force[0] += most if pull > 0.0 else -most


class WheelMotorActuator(Actuator):
    """Wheel motor, commanded by `power=` (−1 to 1) or by `torque=` (N m), as its settings say."""

    def __init__(self, config: WheelMotor, drive: JointDrive) -> None:
        self.keyword = config.command
        self.unit = "N m" if config.command == "torque" else ""
        self._scale = config.stall_torque if config.command == "torque" else 1.0
        super().__init__([(config.link, drive)], (-self._scale, self._scale), 0.0, config.expected_frequency)
        self._drive = drive
        self._sign = -1.0 if config.reverse else 1.0
        self._encoder = config.encoder

    @property
    def setpoint(self) -> float:
        return self._sign * self._scale * float(self._drive.memory[SETPOINT])

    @property
    def state_channel(self) -> StateChannel:
        """State channel of the power, or of the torque if it is commanded by torque."""
        if self.keyword == "torque":
            return StateChannel(self._drive.memory[TORQUE : TORQUE + 1], self._sign)
        return StateChannel(self._drive.memory[SETPOINT : SETPOINT + 1], self._sign * self._scale)

    @property
    def torque(self) -> float:
        """Torque of the motor on the wheel in the last step, N m."""
        return self._sign * float(self._drive.memory[TORQUE])

    @property
    def position(self) -> float | None:
        """Encoder reading: angle of the wheel, rad; None without an encoder."""
        return self._sign * self._drive.position.item(0) if self._encoder else None

    def _set(self, value: float) -> None:
        self._drive.memory[..., SETPOINT] = self._sign * value / self._scale


class WheelMotor(ActuatorConfig):
    """Settings of a motor on the continuous joint above the link of a wheel."""

    kind: Literal["wheel_motor"] = "wheel_motor"
    stall_torque: Positive = Field(description="torque on the wheel at rest and full power, N m")
    no_load_rpm: Positive = Field(description="speed of the wheel at full power without load, 1/min")
    friction: NonNegative = Field(0.0, description="friction torque of bearings and gear, N m")
    brake: NonNegative = Field(0.0, description="brake torque while the command is within the `deadband`, N m")
    deadband: NonNegative = Field(0.05, le=1, description="fraction of the full command below which the brake holds")
    brake_with: tuple[str, ...] = Field(
        (), description="other wheel motors: the brake holds only while their commands are within the deadband too"
    )
    rotor_inertia: NonNegative = Field(0.0, description="inertia of motor and gear, reflected to the wheel, kg m²")
    command: Literal["power", "torque"] = Field(
        "power", description="keyword of its command: power (−1 to 1) or torque (N m)"
    )
    encoder: bool = Field(True, description="whether it measures its position")
    reverse: bool = Field(False, description="whether it turns its wheel in the negative direction")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(
            **{"link": "wheel", "stall_torque": 0.01, "no_load_rpm": 100, "friction": 0.001} | settings
        )

    def build(self, attach: Attach) -> WheelMotorActuator:
        at = attach(self.link)
        joint = need_joint(at, "continuous")
        by_torque = 1.0 if self.command == "torque" else 0.0
        no_load = self.no_load_rpm * pi / 30
        own = [0.0, self.stall_torque, no_load, self.friction, self.brake, self.deadband, by_torque, at.step]
        others = len(self.brake_with)
        drive = JointDrive(
            np.array([*own, others, *np.zeros(others)]),
            force=turn_wheel,
            update=slip_brake,
            initial_state=np.zeros(COUNT),
            joint=joint.name,
            armature=self.rotor_inertia,
            inertia_index=INERTIA,
            state_names={"setpoint": SETPOINT, "braked": BRAKED},
            reads={OTHERS + 1 + k: (f"actuators.{name}", "setpoint") for k, name in enumerate(self.brake_with)},
        )
        drive.position = np.zeros(1)
        return WheelMotorActuator(self, drive)
