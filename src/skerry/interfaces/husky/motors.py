"""Motors of the protocol: each commands one or more actuators with the signs and degrees of a profile."""

from __future__ import annotations

from math import degrees, radians
from typing import TypeGuard

from skerry.actuators.drives.motors import MotorActuator
from skerry.actuators.wheel_motor import WheelMotorActuator
from skerry.commands import Actuate
from skerry.interfaces.husky.messages import BadRequest, Report, motor_status
from skerry.interfaces.husky.profiles import MotorRow, RoverProfile
from skerry.world import Robot

Part = MotorActuator | WheelMotorActuator


class Motor:
    """Motor of the protocol; it commands all its actuators and reports the state of the first."""

    def __init__(self, name: str, robot: str, parts: dict[str, Part], row: MotorRow, of_shaft: bool) -> None:
        """Create a motor.

        Args:
            name: Name in the protocol.
            robot: Name of the robot.
            parts: Actuators by name.
            row: Signs and zero of the profile.
            of_shaft: Whether positions are those of the motor's shaft instead of the joint.
        """
        self.name = name
        self.row = row
        self._robot = robot
        self._parts = parts
        self._first = next(iter(parts.values()))
        self._scale = row.sign * (self._first.gear if of_shaft and isinstance(self._first, MotorActuator) else 1.0)
        self._limits = self._given_limits()
        self._limit = self.limit()

    def _given_limits(self) -> dict[str, float]:
        """Return the limits of the profile as arguments of a command, rad; empty if it has none."""
        if self.row.limits_deg is None:
            return {}
        low, high = sorted(self._angle(limit) for limit in self.row.limits_deg)
        return {"minimum": low, "maximum": high}

    def _angle(self, position_deg: float) -> float:
        """Return the angle of the joint at a position of the protocol, rad."""
        return radians((position_deg - self.row.zero_deg) / self._scale)

    def run(self, power: float) -> list[Actuate]:
        """Return the commands that run the motor with a power, -1 to 1, until the next command."""
        if not self.row.accepts_commands:
            raise BadRequest(f"motor {self.name} follows another motor and accepts no commands")
        value = {"power": self.row.power_sign * power, **self._limits}
        return [Actuate(self._robot, name, value, held=True) for name in self._parts]

    def run_to(self, position_deg: float) -> list[Actuate]:
        """Return the commands that run the motor to a position, ° of the protocol, and hold it there."""
        if not self.row.accepts_commands or self.position_deg is None:
            raise BadRequest(f"motor {self.name} has no encoder and accepts no positions")
        value = {"angle": self._angle(position_deg), **self._limits}
        return [Actuate(self._robot, name, value, held=True) for name in self._parts]

    @property
    def position_deg(self) -> float | None:
        """Position, ° of the protocol; None if the motor has no encoder."""
        part = self._first
        if not isinstance(part, MotorActuator) or part.position is None:
            return None
        return self.row.zero_deg + self._scale * degrees(part.position / part.gear)

    def status(self) -> Report:
        """Return the report of power and position."""
        part = self._first
        power = part.running_power if isinstance(part, MotorActuator) else part.feedback
        return motor_status(self.name, self.row.power_sign * power + 0.0, self.position_deg)  # + 0.0 makes 0.0 of -0.0

    def limit(self) -> str | None:
        """Return the limit switch that is closed, `minimum` or `maximum`, or None."""
        part = self._first
        if not isinstance(part, MotorActuator) or not (part.at_minimum or part.at_maximum):
            return None
        at_maximum = part.at_maximum == (self.row.power_sign > 0)
        return "maximum" if at_maximum else "minimum"

    def new_limit(self) -> str | None:
        """Return the limit switch that has closed since the last call and is reported, or None."""
        before, self._limit = self._limit, self.limit()
        is_reported = self._limit != "maximum" or self.row.reports_maximum
        return self._limit if self._limit != before and is_reported else None


def find_motors(robot: Robot, profile: RoverProfile) -> dict[str, Motor]:
    """Return the motors of a profile whose actuators a robot has, by their names in the protocol."""
    found: dict[str, Motor] = {}
    for name, row in profile.motors.items():
        given = ((part, robot.actuators.get(part)) for part in row.actuators)
        parts = {part: actuator for part, actuator in given if _is_motor(actuator)}
        if len(parts) == len(row.actuators):
            found[name] = Motor(name, robot.name, parts, row, profile.positions_of_shafts)
    return found


def _is_motor(part: object) -> TypeGuard[Part]:
    return isinstance(part, MotorActuator) or (isinstance(part, WheelMotorActuator) and part.keyword == "power")
