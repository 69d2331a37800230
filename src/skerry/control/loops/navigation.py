"""Navigation data of a controller: each quantity comes from a named sensor or from the true state."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from pydantic import Field

from skerry.core.config import Config
from skerry.core.errors import SkerryError
from skerry.core.frames import heading_to_yaw, quaternion_to_rpy, rotate
from skerry.core.frames import inverse as inverse_of
from skerry.parts.sensor import SampleView

TRUTH = "truth"


class NavigationConfig(Config):
    """Source of each quantity: the name of a sensor, or `truth` for the true state."""

    position: str = Field(TRUTH, description="east and north: an odometry, a ground truth or a GPS")
    attitude: str = Field(TRUTH, description="roll and pitch, and heading: an IMU, an odometry or a ground truth")
    heading: str | None = Field(None, description="a compass; the sensor of the attitude by default")
    depth: str = Field(TRUTH, description="a pressure sensor or a ground truth")
    altitude: str = Field(TRUTH, description="a DVL, an altimeter or a ground truth")
    speed: str = Field(TRUTH, description="forwards: a DVL, an odometry or a ground truth")
    turn_rate: str = Field(TRUTH, description="about the vehicle's z: an IMU, an odometry or a ground truth")

    @property
    def sensors(self) -> tuple[str, ...]:
        """Names of the sensors that are used."""
        named = [getattr(self, name) for name in type(self).model_fields]
        return tuple(name for name in named if name not in (None, TRUTH))


class Navigation:
    """Navigation data at one sample. A method returns None if its sensor has no reading."""

    def __init__(self, config: NavigationConfig, link: str, sample: SampleView, sensors: Mapping[str, Any]) -> None:
        self._config = config
        self._link = link
        self._truth = sample
        self._sensors = sensors

    def position(self) -> tuple[float, float] | None:
        """Return the horizontal position: east and north, m."""
        position = self.position_enu()
        return None if position is None else (float(position[0]), float(position[1]))

    def position_enu(self) -> Any:
        """Return the position: east, north and up, m, (3,)."""
        if self._config.position == TRUTH:
            return self._truth.motion(self._link)[:3]
        if (reading := self._reading(self._config.position)) is None:
            return None
        if hasattr(reading, "pose"):
            return reading.pose.position
        if hasattr(reading, "easting") and self._truth.projection is not None:
            return self._truth.projection.from_utm([reading.easting, reading.northing, reading.altitude])
        raise self._wrong_sensor(self._config.position, "position")

    def attitude(self) -> tuple[float, float, float] | None:
        """Return roll (starboard down), pitch (nose down) and yaw (left from east), rad."""
        turn = self.orientation()
        if turn is None:
            return None
        roll, pitch, yaw = quaternion_to_rpy(turn).tolist()
        return roll, pitch, yaw

    def orientation(self) -> Any:
        """Return the attitude as a quaternion (x, y, z, w)."""
        if self._config.attitude == TRUTH:
            return self._truth.motion(self._link)[3:7]
        if (reading := self._reading(self._config.attitude)) is None:
            return None
        if hasattr(reading, "orientation"):
            return reading.orientation
        if hasattr(reading, "pose"):
            return reading.pose.orientation
        raise self._wrong_sensor(self._config.attitude, "attitude")

    def yaw(self) -> float | None:
        """Return the yaw, left from east, rad."""
        if self._config.heading in (None, TRUTH):
            attitude = self.attitude()
            return None if attitude is None else attitude[2]
        reading = self._reading(self._config.heading)
        return None if reading is None else float(heading_to_yaw(self._number(reading, "heading_deg")))

    def depth(self) -> float | None:
        """Return the depth below the surface, m."""
        if self._config.depth == TRUTH:
            return self._truth.depth(self._truth.motion(self._link)[:3])
        reading = self._reading(self._config.depth)
        return None if reading is None else self._number(reading, "depth")

    def altitude(self) -> float | None:
        """Return the altitude above the ground, m; None if the ground is out of range."""
        if self._config.altitude == TRUTH:
            position = self._truth.motion(self._link)[:3]
            if self._truth.terrain is None:
                return None
            return _finite(float(position[2]) - float(self._truth.terrain.height(position[:2])))
        if (reading := self._reading(self._config.altitude)) is None:
            return None
        return _finite(reading.range if hasattr(reading, "range") else self._number(reading, "altitude"))

    def speed(self) -> float | None:
        """Return the forward speed, m/s; None if a DVL has no lock."""
        velocity = self.velocity()
        return None if velocity is None else _finite(float(velocity[0]))

    def velocity(self) -> Any:
        """Return the velocity in the robot's axes (forward, left, up), m/s; NaN if a DVL has no lock."""
        if self._config.speed == TRUTH:
            motion = self._truth.motion(self._link)
            return rotate(inverse_of(motion[3:7]), motion[7:10])
        if (reading := self._reading(self._config.speed)) is None:
            return None
        if hasattr(reading, "twist"):
            return reading.twist.linear
        if hasattr(reading, "velocity"):
            return np.asarray(reading.velocity)
        raise self._wrong_sensor(self._config.speed, "speed")

    def turn_rate(self) -> float | None:
        """Return the rate of turn to the left, rad/s."""
        rates = self.rates()
        return None if rates is None else float(rates[2])

    def rates(self) -> Any:
        """Return the angular velocity in the robot's axes (forward, left, up), rad/s."""
        if self._config.turn_rate == TRUTH:
            motion = self._truth.motion(self._link)
            return rotate(inverse_of(motion[3:7]), motion[10:13])
        if (reading := self._reading(self._config.turn_rate)) is None:
            return None
        if hasattr(reading, "angular_velocity"):
            return reading.angular_velocity
        if hasattr(reading, "twist"):
            return reading.twist.angular
        raise self._wrong_sensor(self._config.turn_rate, "rate of turn")

    def _reading(self, name: str | None) -> Any:
        return self._sensors[name or ""].reading

    def _number(self, reading: Any, quantity: str) -> float:
        if not hasattr(reading, quantity):
            raise SkerryError(
                f"a {type(reading).__name__} has no field {quantity}; name another sensor in `navigation`"
            )
        return float(getattr(reading, quantity))

    def _wrong_sensor(self, name: str, quantity: str) -> SkerryError:
        return SkerryError(f"the sensor {name!r} does not measure the {quantity}; name another sensor in `navigation`")


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
