"""An inertial measurement unit: specific force, turn rate and attitude at its place on a link.

The instant: turn rate and attitude are those of now; the specific force is the mean over the last step, (v −
v_before)/h of the sensor's own place, less gravity, in the axes of the middle of that step. So a lever arm, centripetal
and tangential acceleration are in it, and its sum over all steps is exactly the change of velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.frames import Pose, inverse, multiply, normalise, rotate, rpy_to_quaternion
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth

# channels of the noise: white noise, then one walk per axis, then the bias at the start
RATE_NOISE, FORCE_NOISE, ATTITUDE_NOISE, START_BIAS = range(4)
RATE_WALK, FORCE_WALK = 4, 8


@dataclass(frozen=True)
class ImuReading:
    """In the sensor's own axes (FLU); the attitude is that of the sensor in the world (ENU), x, y, z, w."""

    time: float
    orientation: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]  # rad/s
    linear_acceleration: NDArray[np.float64]  # m/s²; with gravity: +9.81 upwards at rest
    orientation_covariance: NDArray[np.float64]  # (3, 3), rad²
    angular_velocity_covariance: NDArray[np.float64]  # (3, 3)
    linear_acceleration_covariance: NDArray[np.float64]  # (3, 3)


class ImuSensor(Sensor[ImuReading]):
    """Measures motion."""

    def __init__(self, config: Imu, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._covariances = [
            _fixed_covariance(sigma) for sigma in (config.attitude_noise, config.gyro_noise, config.accelerometer_noise)
        ]

    def measure(self, truth: Truth, noise: Noise) -> ImuReading:
        config, tick, step = self._config, truth.tick, truth.step
        link, before = truth.pose(config.link), truth.pose_before(config.link)
        twist, twist_before = truth.twist(config.link), truth.twist_before(config.link)
        pose, pose_before = link @ self._offset, before @ self._offset
        velocity = twist.moved(pose.position - link.position).linear
        velocity_before = twist_before.moved(pose_before.position - before.position).linear
        acceleration = (velocity - velocity_before) / step
        if config.with_gravity:
            acceleration[2] += truth.gravity
        middle = _between(pose_before.orientation, pose.orientation)
        rate = rotate(inverse(pose.orientation), twist.angular)
        force = rotate(inverse(middle), acceleration)
        turn = rpy_to_quaternion(config.attitude_noise * noise.normal(tick, (3,), ATTITUDE_NOISE))
        return ImuReading(
            truth.time,
            multiply(pose.orientation, turn),
            rate
            + self._bias(noise, tick, step, config.gyro_bias, config.gyro_walk, RATE_WALK)
            + config.gyro_noise * noise.normal(tick, (3,), RATE_NOISE),
            force
            + self._bias(noise, tick, step, config.accelerometer_bias, config.accelerometer_walk, FORCE_WALK)
            + config.accelerometer_noise * noise.normal(tick, (3,), FORCE_NOISE),
            *self._covariances,
        )

    @staticmethod
    def _bias(noise: Noise, tick: int, step: float, start: float, walk: float, channel: int) -> NDArray[np.float64]:
        """A bias drawn once per run, and its random walk (per √s) since."""
        bias = np.zeros(3)
        if start > 0:
            bias += start * noise.child(f"bias {channel}").normal(0, (3,), START_BIAS)
        if walk > 0:
            bias += [noise.walk(tick, walk * step**0.5, channel + axis) for axis in range(3)]
        return bias


def _fixed_covariance(sigma: float) -> NDArray[np.float64]:
    """Of three axes alike; all readings share it, so nobody can change it."""
    covariance = np.eye(3) * sigma**2
    covariance.setflags(write=False)
    return covariance


def _between(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """The attitude half-way between two that are near each other."""
    near = second if np.dot(first, second) >= 0 else -second
    return normalise(first + near)


class Imu(SensorConfig):
    """An IMU. Defaults are those of a tactical-grade unit; zero noise makes it perfect."""

    kind: Literal["imu"] = "imu"
    with_gravity: bool = Field(
        True, description="whether the acceleration is the specific force, as a real one gives it"
    )
    attitude_noise: NonNegative = Field(1.7e-6, description="standard deviation per axis, rad")
    gyro_noise: NonNegative = Field(1.7e-5, description="rad/s")
    gyro_bias: NonNegative = Field(0.0, description="standard deviation of the bias at the start, rad/s")
    gyro_walk: NonNegative = Field(0.0, description="random walk of the bias, rad/s per √s")
    accelerometer_noise: NonNegative = Field(1e-5, description="m/s²")
    accelerometer_bias: NonNegative = Field(0.0, description="standard deviation of the bias at the start, m/s²")
    accelerometer_walk: NonNegative = Field(0.0, description="random walk of the bias, m/s² per √s")

    def build(self) -> ImuSensor:
        return ImuSensor(self, self.offset())
