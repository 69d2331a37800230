"""Base of geared motors: commanded by power or angle, with encoder and limit switches.

The power of a motor sets the speed at which the target of its joint drive moves. Without power the motor holds its
position, like a motor behind a high gear ratio. The target leads the joint by no more than the drive's force can
pull, so that an overloaded motor slips instead of catching up later.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
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

# State after that of the drive: present power, 1 if commanded by angle, closed switch (−1 lower, 1 upper, 0 none), and
# both limits
POWER, BY_ANGLE, SWITCH, LOWER, UPPER, COUNT = range(2, 8)
APPROACH, SWITCHES, MORE = range(OWN, OWN + 3)  # constants after those of the drive
ENDLESS = 1e12  # limit of a joint without limits, rad; the state of a world must be finite
SWITCH_TRAVEL = 0.01  # distance from the end stop at which a limit switch closes, rad or m


@kernel
def run_motor(state: Any, c: Any, q: float, rate: float) -> None:
    """Move the target by one step.

    Args:
        state: State of the motor.
        c: Constants of the motor.
        q: Position of the gear output, rad or m.
        rate: Speed of the gear output, rad/s or m/s.
    """
    power = state[SETPOINT]
    if state[BY_ANGLE] != 0.0:
        power = min(max((state[SETPOINT] - q) / (c[APPROACH] * c[SPEED]), -1.0), 1.0)
    state[SWITCH] = 0.0
    if q >= state[UPPER] - SWITCH_TRAVEL:
        state[SWITCH] = 1.0
    elif q <= state[LOWER] + SWITCH_TRAVEL:
        state[SWITCH] = -1.0
    if c[SWITCHES] != 0.0 and state[SWITCH] * power > 0.0 and state[BY_ANGLE] == 0.0:
        power = 0.0
    target = state[TARGET] + power * c[SPEED] * c[STEP]
    slip = c[FORCE] / (c[INERTIA] * c[FREQUENCY] ** 2) + (2.0 * c[DAMPING] / c[FREQUENCY] + c[STEP]) * abs(rate)
    target = min(max(target, q - slip), q + slip)
    state[TARGET] = min(max(target, state[LOWER]), state[UPPER])
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
    """Geared motor, commanded by `power=` (−1 to 1) or by `angle=` of the gear output (rad).

    `minimum=` and `maximum=` beside a command move the limits, rad, within the range of the joint.
    """

    keyword = "power"

    def __init__(self, config: MotorConfig, link: str, drive: JointDrive) -> None:
        super().__init__([(link, drive)], (-1.0, 1.0), 0.0, config.expected_frequency)
        self.gear = config.gear
        self._drive = drive
        self._sign = -1.0 if config.reverse else 1.0
        self._encoder = config.encoder
        self._range = self._signed(*drive.range)

    def _signed(self, lower: float, upper: float) -> tuple[float, float]:
        """Return limits of the joint as limits of the motor."""
        return (-upper, -lower) if self._sign < 0 else (lower, upper)

    @property
    def angle_limits(self) -> tuple[float, float]:
        """Lowest and highest angle of the gear output, rad."""
        memory = self._drive.memory.reshape(-1, self._drive.memory.shape[-1])[0]
        return self._signed(float(memory[LOWER]), float(memory[UPPER]))

    @property
    def setpoint(self) -> float:
        """Commanded power, −1 to 1; while it moves to an angle, the power that it uses now."""
        memory = self._drive.memory
        return self._sign * float(memory[POWER if memory[BY_ANGLE] else SETPOINT])

    @property
    def state_channel(self) -> StateChannel:
        """State channel of the present power, −1 to 1."""
        return StateChannel(self._drive.memory[POWER : POWER + 1], self._sign)

    @property
    def running_power(self) -> float:
        """Present power, −1 to 1, for either kind of command; 0 at a closed limit switch."""
        return self._sign * float(self._drive.memory[POWER])

    @property
    def position(self) -> float | None:
        """Encoder reading: angle of the motor shaft, rad; None without an encoder."""
        return self.gear * self._sign * self._angle() if self._encoder else None

    @property
    def at_minimum(self) -> bool:
        """Whether the limit switch at the lower end is closed."""
        return bool(self._sign * self._drive.memory[SWITCH] < 0)

    @property
    def at_maximum(self) -> bool:
        """Whether the limit switch at the upper end is closed."""
        return bool(self._sign * self._drive.memory[SWITCH] > 0)

    def _angle(self) -> float:
        """Return the position of the gear output, rad or m."""
        return self._drive.position.item(0)

    @property
    def keywords(self) -> tuple[str, ...]:
        return ("power", "angle")

    def _checked(self, value: dict[str, float]) -> dict[str, float]:
        limits = {key: within(key, value[key], self._range) for key in ("minimum", "maximum") if key in value}
        if limits:
            return self._checked({key: value[key] for key in value if key not in limits}) | limits
        if list(value) == ["angle"]:
            return {"angle": within("angle", value["angle"], self._range)}
        return super()._checked(value)

    def _write_limits(self, checked: dict[str, float]) -> None:
        """Move the limits that a command contains."""
        if "minimum" in checked or "maximum" in checked:
            lower, upper = self.angle_limits
            limits = self._signed(checked.get("minimum", lower), checked.get("maximum", upper))
            self._drive.memory[..., LOWER], self._drive.memory[..., UPPER] = limits

    def _write(self, checked: dict[str, float]) -> None:
        self._write_limits(checked)
        if "angle" in checked:
            self._go_to(checked["angle"])
        else:
            super()._write(checked)

    def _go_to(self, angle: float) -> None:
        lower, upper = self.angle_limits
        angle = min(max(angle, lower), upper)
        self._drive.memory[..., BY_ANGLE] = 1.0
        self._drive.memory[..., SETPOINT] = self._sign * angle

    def _set(self, value: float) -> None:
        self._drive.memory[..., BY_ANGLE] = 0.0
        self._drive.memory[..., SETPOINT] = self._sign * value


class MotorConfig(ActuatorConfig):
    """Settings of a geared motor."""

    maximum_rpm: Positive = Field(description="speed of the motor shaft at full power, 1/min")
    gear: Positive = Field(1.0, description="gear ratio: revolutions of the motor per revolution of its output")
    rotor_inertia: NonNegative = Field(0.0, description="inertia of the motor shaft, kg m²")
    frequency_hz: Positive = Field(15.0, description="natural frequency of the speed loop, Hz")
    damping_ratio: Positive = Field(1.0, description="damping ratio of the speed loop; 1 is critical")
    approach_time: Positive = Field(0.375, description="time constant of the approach to an angle, s")
    encoder: bool = Field(True, description="whether it measures its position")
    minimum_angle: float | None = Field(
        None, description="lower limit of the gear output, rad or m; by default that of the joint"
    )
    maximum_angle: float | None = Field(
        None, description="upper limit of the gear output, rad or m; by default that of the joint"
    )
    limit_switches: bool = Field(True, description="whether limit switches at both ends cut its power")
    reverse: bool = Field(False, description="whether it moves its joint in the negative direction")

    def motor(
        self,
        joint: UrdfJoint,
        step: float,
        limits: tuple[float, float],
        force: float,
        armature: float,
        more: NDArray[np.float64] | None = None,
        reach: tuple[float, float] | None = None,
    ) -> JointDrive:
        """Return the drive of a joint whose target this motor moves.

        Args:
            joint: The joint.
            step: Step of the simulation, s.
            limits: Limits of the gear output, rad or m, unless the settings have others.
            force: Largest force or torque, N or N m.
            armature: Inertia of the rotor, reflected to the joint, kg m² or kg.
            more: Additional constants of a derived kind.
            reach: Range in which the limits of the settings and of commands must lie; `limits` by default.
        """
        frequency = min(2 * pi * self.frequency_hz, 1 / step)  # a loop cannot be faster than the step
        speed = min(self.maximum_rpm * pi / 30 / self.gear, joint.velocity)
        lower = limits[0] if self.minimum_angle is None else self.minimum_angle
        upper = limits[1] if self.maximum_angle is None else self.maximum_angle
        lowest, highest = limits if reach is None else reach
        if not lowest <= lower < upper <= highest:
            raise SkerryError(
                f"`minimum_angle` {lower:g} must be below `maximum_angle` {upper:g}, and both within the range of the "
                f"joint, {lowest:g} to {highest:g}"
            )
        start = min(max(0.0, lower), upper)
        switches = 1.0 if self.limit_switches else 0.0
        own = [0.0, frequency, self.damping_ratio, force, speed, step, self.approach_time, switches]
        initial = np.zeros(COUNT)
        initial[[TARGET, LOWER, UPPER]] = start, max(lower, -ENDLESS), min(upper, ENDLESS)
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
        drive.range = lowest, highest
        drive.position, drive.second_position = np.array([start]), np.array([start])
        return drive

    def geared_inertia(self) -> float:
        """Return the inertia of the rotor, reflected to the gear output, kg m²."""
        return self.rotor_inertia * self.gear**2
