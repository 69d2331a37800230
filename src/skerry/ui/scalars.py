"""Numbers of a robot by name, for plots: its motion, its actuators and the readings of its sensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from math import hypot, nan
from operator import attrgetter
from typing import Any, Final, get_args, get_type_hints

import numpy as np

from skerry.core.frames import quaternion_to_rpy, yaw_to_heading
from skerry.core.geo import Projection
from skerry.ui.sensor_streams import reading_type, sensor_streams
from skerry.ui.streams import SensorName
from skerry.ui.units import UNITS
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
VECTORS: Final = frozenset({"angular_velocity", "linear_acceleration", "velocity", "field"})
"""Names of the fields of readings that are vectors along x, y and z."""
SKIPPED_FIELDS: Final = frozenset({"time", "variance", "zone"})
"""Names of the fields of readings that are no measured values, such as the time and the variance."""
ACTUATOR_FIELDS: Final = ("target", "value")
"""Names of the two numbers of an actuator: its setpoint and its feedback."""
BULKY: Final = ("image/", "sonar/", "cloud/")
"""Prefixes of the streams of sensors whose readings are pictures or clouds instead of numbers."""


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


def _number_fields(robot: Robot, sensor: str) -> dict[str, Callable[[Any], float]]:
    """Return a getter for each number in the readings of a sensor, by the name of the number."""
    kind = reading_type(robot.sensors[sensor].sensor)
    if kind is None or not is_dataclass(kind) or any(s.name.startswith(BULKY) for s in sensor_streams(robot, sensor)):
        return {}
    found: dict[str, Callable[[Any], float]] = {}
    for name, hint in get_type_hints(kind).items():
        kinds = set(get_args(hint) or (hint,)) - {type(None)}
        if name in SKIPPED_FIELDS or name.startswith("_"):
            continue
        if kinds <= {float, int, bool}:
            found[name] = attrgetter(name)
        elif name in VECTORS:
            for index, axis in enumerate("xyz"):
                found[f"{name}.{axis}"] = lambda reading, name=name, index=index: getattr(reading, name)[index]  # type: ignore[misc]
    return found


class ScalarFields:
    """Numbers of a robot in a fixed order, with `names` and `units`."""

    def __init__(self, world: World, robot: Robot) -> None:
        self._world, self._robot = world, robot
        self._getters = {
            (robot.name, name): fields for name in robot.sensors if (fields := _number_fields(robot, name))
        }
        self.sensors: frozenset[SensorName] = frozenset(self._getters)
        parts = [
            (f"{name}.{field}", _unit(part)) for name, part in robot.actuators.items() for field in ACTUATOR_FIELDS
        ]
        read = [(f"{name}.{field}", "") for (_, name), fields in self._getters.items() for field in fields]
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
            found += [_number(get, reading) for get in fields.values()]
        return found


def _unit(actuator: Any) -> str:
    return UNITS.get(actuator.keyword, "")


def _number(get: Callable[[Any], float], reading: Any) -> float:
    if reading is None:
        return nan
    value = get(reading)
    return nan if value is None else float(value)
