"""Numbers of a robot by name, for plots: its motion, its actuators and the readings of its sensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import hypot, nan
from operator import attrgetter
from typing import Any, Final

import numpy as np

from skerry.core.frames import quaternion_to_rpy, yaw_to_heading
from skerry.core.geo import Projection
from skerry.parts.display import AXES, Scalars
from skerry.ui.streams import SensorName
from skerry.world import Robot, World

MOTION: Final = {
    "x": "m",
    "y": "m",
    "z": "m",
    "depth": "m",
    "altitude": "m",
    "speed": "m/s",
    "heading_deg": "°",
    "roll_deg": "°",
    "pitch_deg": "°",
}
ACTUATOR_FIELDS: Final = ("target", "value")
"""Names of the two numbers of an actuator: its setpoint and its feedback."""


def motion_of(world: World, robot: Robot) -> dict[str, float]:
    """Return the position, attitude and speed of a robot, in the order and the units of `MOTION`.

    The altitude is NaN where there is no terrain below the robot.
    """
    pose, twist = robot.pose, robot.twist
    x, y, z = pose.position.tolist()
    roll, pitch, yaw = quaternion_to_rpy(pose.orientation).tolist()
    surface = float(world.water.sample(pose.position, world.time, robot.engine.part("userdata")[0], need=0).height)
    ground = nan if world.terrain is None else float(world.terrain.height((x, y)))
    return {
        "x": x,
        "y": y,
        "z": z,
        "depth": surface - z,
        "altitude": z - ground,
        "speed": hypot(*twist.linear.tolist()),
        "heading_deg": float(yaw_to_heading(yaw)),
        "roll_deg": float(np.degrees(roll)),
        "pitch_deg": float(np.degrees(pitch)),
    }


def geodetic_position(projection: Projection | None, robot: Robot) -> tuple[float | None, float | None]:
    """Return latitude and longitude, degrees, or None for both if the scenario has no geographic reference."""
    if projection is None:
        return None, None
    latitude, longitude, _ = projection.to_geodetic(robot.position).tolist()
    return latitude, longitude


def _number_fields(robot: Robot, sensor: str) -> dict[str, tuple[str, Callable[[Any], float]]]:
    """Return the unit and a getter for each number in the readings of a sensor, by the name of the number."""
    reading = robot.sensors[sensor].sensor.reading_type()
    displays = (each for each in robot.vehicle.config.sensors[sensor].display if isinstance(each, Scalars))
    return {number: (unit, _getter(number)) for each in displays for number, unit in each.numbers_of(reading).items()}


def _getter(number: str) -> Callable[[Any], float]:
    """Return a getter for a field of a reading, or for a component such as `velocity.x` of a vector."""
    path, _, axis = number.rpartition(".")
    if axis not in AXES:
        return attrgetter(number)
    vector, index = attrgetter(path), AXES.index(axis)
    return lambda reading: vector(reading)[index]


class ScalarFields:
    """Numbers of a robot in a fixed order, with `names` and `units`."""

    def __init__(self, world: World, robot: Robot) -> None:
        self._world, self._robot = world, robot
        self._getters = {
            (robot.name, name): fields for name in robot.sensors if (fields := _number_fields(robot, name))
        }
        self.sensors: frozenset[SensorName] = frozenset(self._getters)
        parts = [(f"{name}.{field}", part.unit) for name, part in robot.actuators.items() for field in ACTUATOR_FIELDS]
        read = [
            (f"{name}.{field}", unit)
            for (_, name), fields in self._getters.items()
            for field, (unit, _) in fields.items()
        ]
        all_fields = [*MOTION.items(), *parts, *read]
        self.names = [name for name, _ in all_fields]
        self.units = [unit for _, unit in all_fields]

    def values(self, latest: Mapping[SensorName, Any]) -> list[float]:
        """Return the present values; NaN for a sensor without a reading.

        Args:
            latest: Latest reading of every sensor.
        """
        found = list(motion_of(self._world, self._robot).values())
        for actuator in self._robot.actuators.values():
            found += (actuator.setpoint, actuator.feedback)
        for sensor, fields in self._getters.items():
            reading = latest.get(sensor)
            found += [_number(get, reading) for _, get in fields.values()]
        return found


def _number(get: Callable[[Any], float], reading: Any) -> float:
    if reading is None:
        return nan
    value = get(reading)
    return nan if value is None else float(value)
