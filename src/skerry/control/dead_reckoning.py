"""Dead reckoning: estimates the pose of a vehicle from its IMU, DVL, pressure sensor and GPS.

The attitude is that of the IMU; the heading is that of a compass, if one is named. Each axis of the world has a Kalman
filter of position and speed with white-noise acceleration (Bar-Shalom, Li and Kirubarajan 2001, Estimation with
Applications to Tracking and Navigation, §6.2.2). The filters use speeds from the DVL, depths from the pressure sensor
and positions from the GPS, each corrected by the lever arm of the sensor. Without readings the variances grow.

Two inputs are true values: the poses of the sensors on the vehicle, and the position at the start, with an error of
`start_noise`, as the crew enters it at launch.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from math import radians
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import (
    Pose,
    Twist,
    heading_to_yaw,
    inverse,
    multiply,
    quaternion_to_rpy,
    rotate,
    rpy_to_quaternion,
)
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig
from skerry.parts.sensor import SampleView

logger = logging.getLogger("skerry")

Floats = NDArray[np.float64]

AFLOAT: Final = 1.0  # standard deviation of the height of a vehicle without pressure sensor, which is at the surface, m
PASCAL_PER_METRE: Final = 1025.0 * 9.81  # pressure per metre of sea water, used for the variance of a depth


@dataclass
class AxisFilter:
    """Kalman filter of position (m) and speed (m/s) along one axis."""

    position: float = 0.0
    speed: float = 0.0
    position_variance: float = 0.0
    covariance: float = 0.0
    speed_variance: float = 0.0

    def predict(self, seconds: float, density: float) -> None:
        """Predict the state after `seconds`; `density` is the power density of the acceleration noise, m²/s³."""
        h, q = seconds, density
        self.position += h * self.speed
        self.position_variance += h * (2.0 * self.covariance + h * self.speed_variance) + q * h**3 / 3.0
        self.covariance += h * self.speed_variance + q * h**2 / 2.0
        self.speed_variance += q * h

    def correct_position(self, position: float, variance: float) -> None:
        """Correct the state by a measured position."""
        self._correct(
            position - self.position, self.position_variance, self.covariance, self.position_variance + variance
        )

    def correct_speed(self, speed: float, variance: float) -> None:
        """Correct the state by a measured speed."""
        self._correct(speed - self.speed, self.covariance, self.speed_variance, self.speed_variance + variance)

    def _correct(self, innovation: float, with_position: float, with_speed: float, variance: float) -> None:
        """Correct the state by an innovation, given its covariances with the state and its variance."""
        if variance <= 0.0:
            return
        self.position += with_position / variance * innovation
        self.speed += with_speed / variance * innovation
        self.position_variance -= with_position**2 / variance
        self.covariance -= with_position * with_speed / variance
        self.speed_variance -= with_speed**2 / variance


@dataclass(frozen=True)
class Estimate:
    """Estimated pose and twist of the vehicle, with variances."""

    time: float
    pose: Pose  # pose of the link in the world
    twist: Twist  # twist in the axes of the link
    position_variance: Floats  # (3,), m², east, north and up
    velocity_variance: Floats  # (3,), (m/s)²
    attitude_variance: Floats  # (3,), rad², roll, pitch and yaw
    rate_variance: Floats  # (3,), (rad/s)²

    @property
    def depth(self) -> float:
        """Depth of the link below the surface, m."""
        return -float(self.pose.position[2])

    @property
    def roll(self) -> float:
        """Roll, starboard down, rad."""
        return float(quaternion_to_rpy(self.pose.orientation)[0])

    @property
    def pitch(self) -> float:
        """Pitch, nose down, rad."""
        return float(quaternion_to_rpy(self.pose.orientation)[1])

    @property
    def yaw(self) -> float:
        """Yaw, to the left from east, rad."""
        return float(quaternion_to_rpy(self.pose.orientation)[2])


class DeadReckoningController(Controller):
    """Dead reckoning; idle until it is engaged. It reads sensors and commands no actuators."""

    def __init__(self, config: DeadReckoning) -> None:
        self.config = config
        self._engaged = config.engaged
        self._reset()

    def _reset(self) -> None:
        self._time: float | None = None  # time of the estimate, s
        self._axes = [AxisFilter() for _ in range(3)]
        self._attitude: Floats = np.array([0.0, 0.0, 0.0, 1.0])
        self._rates: Floats = np.zeros(3)  # angular velocity in the axes of the link, rad/s
        self._variances: Floats = np.zeros(6)  # variances of roll, pitch and yaw, and of the rates
        self._seen: dict[str, float] = {}  # time of the last used reading of each sensor, s

    @property
    def idle(self) -> bool:
        return not self._engaged

    def engage(self) -> None:
        """Start at the present position of the vehicle; no effect if it has started already."""
        self._engaged = True

    def release(self) -> None:
        """Stop and reset the estimate."""
        self._engaged = False
        self._reset()

    @property
    def estimate(self) -> Estimate | None:
        """Latest estimate; None before the first one."""
        if self._time is None:
            return None
        position = np.array([axis.position for axis in self._axes])
        velocity = rotate(inverse(self._attitude), [axis.speed for axis in self._axes])
        return Estimate(
            self._time,
            Pose(position, self._attitude),
            Twist(velocity, self._rates),
            np.array([axis.position_variance for axis in self._axes]),
            np.array([axis.speed_variance for axis in self._axes]),
            self._variances[:3],
            self._variances[3:],
        )

    # -------------------------------------------------------------------------------------------- sensors

    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        if not self._update_attitude(sample, sensors) and self._time is None:
            return
        if self._time is None:
            self._begin(sample, sensors)
        else:
            for axis in self._axes:
                axis.predict(1.0 / float(self.config.frequency), self.config.acceleration_noise**2)
        self._time = sample.time
        self._update_velocity(sample, sensors)
        self._update_depth(sample, sensors)
        self._update_position(sample, sensors)

    def _begin(self, sample: SampleView, sensors: Mapping[str, Any]) -> None:
        if missing := [name for name in self.config.sensors if name not in sensors]:
            logger.warning(
                "dead reckoning runs without %s; the vehicle does not have these sensors", ", ".join(missing)
            )
        sigma = self.config.start_noise
        start = sample.pose(self.config.link).position + sigma * np.append(self.noise.normal(0, (2,)), 0.0)
        for axis, position in zip(self._axes, start.tolist(), strict=True):
            axis.position, axis.position_variance, axis.speed_variance = position, sigma**2, 1.0

    def _new(self, name: str | None, sensors: Mapping[str, Any]) -> Any:
        """Return the reading of a sensor if it was not used yet, otherwise None."""
        if name is None or (reading := _reading(name, sensors)) is None or self._seen.get(name) == reading.time:
            return None
        self._seen[name] = reading.time
        return reading

    def _mount(self, sample: SampleView, sensors: Mapping[str, Any], name: str | None) -> Pose:
        """Return the pose of a sensor relative to the link."""
        mount = sensors[name or ""].mount
        return sample.pose(self.config.link).inverse() @ sample.pose(mount.link) @ mount.offset()

    def _update_attitude(self, sample: SampleView, sensors: Mapping[str, Any]) -> bool:
        reading = self._new(self.config.attitude, sensors)
        if reading is None:
            return False
        mount = self._mount(sample, sensors, self.config.attitude).orientation
        self._attitude = multiply(reading.orientation, inverse(mount))
        self._rates = rotate(mount, reading.angular_velocity)
        self._variances = np.append(
            np.diag(reading.orientation_covariance), np.diag(reading.angular_velocity_covariance)
        )
        if (compass := _reading(self.config.heading, sensors)) is not None:
            roll, pitch, _ = quaternion_to_rpy(self._attitude)
            self._attitude = rpy_to_quaternion([roll, pitch, heading_to_yaw(compass.heading_deg)])
            self._variances[2] = compass.variance * radians(1.0) ** 2
        return True

    def _update_velocity(self, sample: SampleView, sensors: Mapping[str, Any]) -> None:
        reading = self._new(self.config.velocity, sensors)
        if reading is None or reading.track != "bottom":
            return
        mount = self._mount(sample, sensors, self.config.velocity)
        velocity = rotate(mount.orientation, reading.velocity) - np.cross(self._rates, mount.position)
        # An attitude error rotates the velocity. Its variance is taken equal for all axes, which stay uncorrelated.
        turned = float(self._variances[:3].max()) * float(velocity @ velocity)
        variance = float(np.trace(reading.covariance)) / 3.0 + turned
        for axis, speed in zip(self._axes, rotate(self._attitude, velocity).tolist(), strict=True):
            axis.correct_speed(speed, variance)

    def _update_depth(self, sample: SampleView, sensors: Mapping[str, Any]) -> None:
        if self.config.depth not in sensors:
            self._axes[2].correct_position(0.0, AFLOAT**2)
            return
        reading = self._new(self.config.depth, sensors)
        if reading is not None and not reading.saturated:
            arm = rotate(self._attitude, self._mount(sample, sensors, self.config.depth).position)
            self._axes[2].correct_position(-reading.depth - float(arm[2]), reading.variance / PASCAL_PER_METRE**2)

    def _update_position(self, sample: SampleView, sensors: Mapping[str, Any]) -> None:
        reading = self._new(self.config.position, sensors)
        if reading is None or sample.projection is None:
            return
        antenna = sample.projection.from_utm([reading.easting, reading.northing, reading.altitude])
        position = antenna - rotate(self._attitude, self._mount(sample, sensors, self.config.position).position)
        for axis in range(2):
            self._axes[axis].correct_position(float(position[axis]), float(reading.covariance[axis, axis]))

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        arrays = [self._attitude.tolist(), self._rates.tolist(), self._variances.tolist()]
        axes = [astuple(axis) for axis in self._axes]
        return json.dumps([self._engaged, self._time, self._seen, axes, *arrays]).encode()

    def set_state(self, state: bytes) -> None:
        self._engaged, self._time, self._seen, axes, *arrays = json.loads(state)
        self._axes = [AxisFilter(*axis) for axis in axes]
        self._attitude, self._rates, self._variances = (np.array(numbers) for numbers in arrays)


def _reading(name: str | None, sensors: Mapping[str, Any]) -> Any:
    """Return the reading of a sensor, or None if the vehicle does not have the sensor."""
    return None if name is None or name not in sensors else sensors[name].reading


class DeadReckoning(ControllerConfig):
    """Settings of dead reckoning. Only the IMU is required; overrides may remove the other sensors."""

    example_vehicle = "sam"

    kind: Literal["dead_reckoning"] = "dead_reckoning"
    link: str = Field("base_link", description="link whose motion is estimated")
    attitude: str = Field(description="name of an IMU")
    heading: str | None = Field(None, description="name of a compass; by default the heading is that of the IMU")
    velocity: str | None = Field(None, description="name of a DVL; used while it has bottom lock")
    depth: str | None = Field(None, description="name of a pressure sensor; null: the vehicle is at the surface")
    position: str | None = Field(None, description="name of a GPS")
    acceleration_noise: Positive = Field(
        0.1, description="acceleration noise of the filter, m/s² per √Hz; larger values follow faster"
    )
    start_noise: NonNegative = Field(1.0, description="standard deviation of the start position, m")
    engaged: bool = Field(False, description="whether it runs from the start; otherwise it is idle until it is engaged")

    @property
    def sensors(self) -> tuple[str, ...]:
        """Names of all configured sensors."""
        named = (self.attitude, self.heading, self.velocity, self.depth, self.position)
        return tuple(name for name in named if name is not None)

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        return (self.attitude,)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(
            **{
                "attitude": "imu",
                "heading": "compass",
                "velocity": "dvl",
                "depth": "depth300",
                "position": "gps",
                "engaged": True,
            }
            | settings
        )

    def build(self) -> DeadReckoningController:
        return DeadReckoningController(self)
