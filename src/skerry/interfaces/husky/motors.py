"""A motor of the protocol: the actuators that it runs, in the profile's signs and degrees."""

from __future__ import annotations

from math import degrees, radians

from skerry.actuators.drives.motors import MotorActuator
from skerry.actuators.wheel_motor import WheelMotorActuator
from skerry.commands import Actuate
from skerry.interfaces.husky.messages import BadRequest, Report, motor_status
from skerry.interfaces.husky.profiles import MotorRow, Profile
from skerry.world import Robot

Part = MotorActuator | WheelMotorActuator


class Motor:
    """Reports as its first actuator is, and gives commands for all of them."""

    def __init__(self, name: str, robot: str, parts: dict[str, Part], row: MotorRow, of_shaft: bool) -> None:
        self.name = name
        self.row = row
        self._robot = robot
        self._parts = parts
        self._first = next(iter(parts.values()))
        self._scale = row.sign * (self._first.gear if of_shaft and isinstance(self._first, MotorActuator) else 1.0)
        self._limit = self.limit()

    def run(self, power: float) -> list[Actuate]:
        """Run with a power until told otherwise."""
        if not self.row.is_heard:
            raise BadRequest(f"the motor {self.name} follows another and takes no commands")
        value = {"power": self.row.power_sign * power}
        return [Actuate(self._robot, name, value, held=True) for name in self._parts]

    def run_to(self, position_deg: float) -> list[Actuate]:
        """Run to a position and hold it; one beyond the limits is the limit."""
        if not self.row.is_heard or self.position_deg is None:
            raise BadRequest(f"the motor {self.name} knows no positions")
        value = {"angle": radians((position_deg - self.row.zero_deg) / self._scale)}
        return [Actuate(self._robot, name, value, held=True) for name in self._parts]

    @property
    def position_deg(self) -> float | None:
        """None if it has no encoder."""
        part = self._first
        if not isinstance(part, MotorActuator) or part.position is None:
            return None
        return self.row.zero_deg + self._scale * degrees(part.position / part.gear)

    def status(self) -> Report:
        """Its power and position now."""
        part = self._first
        power = part.running_power if isinstance(part, MotorActuator) else part.feedback
        return motor_status(self.name, self.row.power_sign * power + 0.0, self.position_deg)  # no −0

    def limit(self) -> str | None:
        """The limit switch that is closed now."""
        part = self._first
        if not isinstance(part, MotorActuator) or not (part.at_minimum or part.at_maximum):
            return None
        at_maximum = part.at_maximum == (self.row.power_sign > 0)
        return "maximum" if at_maximum else "minimum"

    def new_limit(self) -> str | None:
        """The limit switch that has closed since the last time."""
        before, self._limit = self._limit, self.limit()
        is_told = self._limit != "maximum" or self.row.tells_maximum
        return self._limit if self._limit != before and is_told else None


def motors_of(robot: Robot, profile: Profile) -> dict[str, Motor]:
    """The motors of a profile that a robot has."""
    found: dict[str, Motor] = {}
    for name, row in profile.motors.items():
        parts = {part: robot.actuators[part] for part in row.actuators if part in robot.actuators}
        if len(parts) == len(row.actuators) and all(_is_motor(part) for part in parts.values()):
            found[name] = Motor(name, robot.name, parts, row, profile.positions_of_shafts)
    return found


def _is_motor(part: object) -> bool:
    return isinstance(part, MotorActuator) or (isinstance(part, WheelMotorActuator) and part.keyword == "power")
