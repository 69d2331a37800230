"""An inertial measurement unit: specific force, turn rate and attitude at its place on a link.

The instant: turn rate and attitude are those of now; the specific force is the mean over the last step, (v −
v_before)/h of the sensor's own place, less gravity, in the axes of the middle of that step. So a lever arm, centripetal
and tangential acceleration are in it, and its sum over all steps is exactly the change of velocity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.frames import Pose
from skerry.core.kernels import kernel
from skerry.core.noise import Noise, fill_normal
from skerry.core.rotations import rotate_to_frame
from skerry.parts.sensor import BatchSensor, ReadingColumns, Readings, SensorConfig, SensorView

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


@kernel
def sense(
    now: Any,
    before: Any,
    step: float,
    gravity: float,
    key0: int,
    key1: int,
    tick: int,
    sigmas: Any,
    seen: Any,
) -> None:
    """Attitude (x, y, z, w), rate and specific force of a frame, from its motion (13,) now and one step before.

    The force is the mean over the step, Δv/h, turned into the frame by the attitude half-way. `sigmas` are those of
    attitude, rate and force; a turn by small angles δ is (δ/2, 1), made of length 1.
    """
    noise = np.empty(9)
    fill_normal(key0, key1, tick, ATTITUDE_NOISE, 0, noise[:3])
    fill_normal(key0, key1, tick, RATE_NOISE, 0, noise[3:6])
    fill_normal(key0, key1, tick, FORCE_NOISE, 0, noise[6:])
    for k in range(9):
        noise[k] *= sigmas[k // 3]
    x, y, z, w = now[3], now[4], now[5], now[6]
    i, j, k = 0.5 * noise[0], 0.5 * noise[1], 0.5 * noise[2]
    scale = 1.0 / np.sqrt(1.0 + i * i + j * j + k * k)
    seen[0] = (w * i + x + y * k - z * j) * scale
    seen[1] = (w * j - x * k + y + z * i) * scale
    seen[2] = (w * k + x * j - y * i + z) * scale
    seen[3] = (w - x * i - y * j - z * k) * scale
    p, q, r = rotate_to_frame(x, y, z, w, now[10], now[11], now[12])
    seen[4], seen[5], seen[6] = p + noise[3], q + noise[4], r + noise[5]
    dot = x * before[3] + y * before[4] + z * before[5] + w * before[6]
    sign = 1.0 if dot >= 0.0 else -1.0
    x, y, z, w = before[3] + sign * x, before[4] + sign * y, before[5] + sign * z, before[6] + sign * w
    scale = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
    a, b, c = (now[7] - before[7]) / step, (now[8] - before[8]) / step, (now[9] - before[9]) / step + gravity
    a, b, c = rotate_to_frame(x * scale, y * scale, z * scale, w * scale, a, b, c)
    seen[7], seen[8], seen[9] = a + noise[6], b + noise[7], c + noise[8]


@kernel
def sense_each(
    now: Any,
    before: Any,
    step: float,
    gravity: float,
    key0: int,
    key1: int,
    ticks: Any,
    sigmas: Any,
    seen: Any,
) -> None:
    """The same at several instants, a row each."""
    for k in range(ticks.size):
        sense(now[k], before[k], step, gravity, key0, key1, ticks[k], sigmas, seen[k])


class ImuSensor(BatchSensor[ImuReading]):
    """Measures motion."""

    def __init__(self, config: Imu, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigmas = np.array([config.attitude_noise, config.gyro_noise, config.accelerometer_noise])
        walks = (config.gyro_bias, config.gyro_walk, config.accelerometer_bias, config.accelerometer_walk)
        self._has_bias = any(walks)
        self._covariances = [
            _fixed_covariance(sigma) for sigma in (config.attitude_noise, config.gyro_noise, config.accelerometer_noise)
        ]

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[ImuReading]:
        config, ticks, step = self._config, sensor_view.ticks, sensor_view.step
        now, before = (
            sensor_view.motion(config.link, self._offset),
            sensor_view.motion_before(config.link, self._offset),
        )
        seen = np.empty((len(ticks), 10))
        gravity = sensor_view.gravity if config.with_gravity else 0.0
        sense_each(now, before, step, gravity, *noise.key, ticks, self._sigmas, seen)
        if self._has_bias:
            for row, tick in zip(seen, ticks.tolist(), strict=True):
                row[4:7] += self._bias(noise, tick, step, config.gyro_bias, config.gyro_walk, RATE_WALK)
                row[7:] += self._bias(
                    noise, tick, step, config.accelerometer_bias, config.accelerometer_walk, FORCE_WALK
                )
        times, covariances = sensor_view.times, self._covariances

        def make(k: int) -> ImuReading:
            row = seen[k]
            return ImuReading(times[k], row[:4], row[4:7], row[7:], *covariances)

        def columns() -> ReadingColumns:
            return ReadingColumns(
                {
                    "orientation_covariance": covariances[0],
                    "angular_velocity_covariance": covariances[1],
                    "linear_acceleration_covariance": covariances[2],
                },
                time=times,
                orientation=seen[:, :4],
                angular_velocity=seen[:, 4:7],
                linear_acceleration=seen[:, 7:],
            )

        return Readings(len(times), make, columns)

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
