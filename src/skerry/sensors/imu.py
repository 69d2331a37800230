"""Inertial measurement unit: specific force, angular rate and attitude at its position on a link.

Angular rate and attitude are those of the sample. The specific force is the mean over the last step: (v − v_before)/h
of the sensor's position, minus gravity, in the axes of the middle of that step. So it includes the effects of the
offset from the link (centripetal and tangential acceleration), and its sum over all steps is exactly the change of
velocity.
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
from skerry.core.units import unit
from skerry.parts.display import Scalars
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import Sensor, SensorConfig, SensorView

# noise channels: white noise, the bias at the start, and one random walk per axis
RATE_NOISE, FORCE_NOISE, ATTITUDE_NOISE, START_BIAS = range(4)
RATE_WALK, FORCE_WALK = 4, 8


@dataclass(frozen=True)
class ImuReading:
    """Rates and forces in the sensor's axes (FLU); orientation of the sensor in the world (ENU) as x, y, z, w."""

    time: float = unit("s")
    orientation: NDArray[np.float64] = unit("")
    angular_velocity: NDArray[np.float64] = unit("rad/s")
    linear_acceleration: NDArray[np.float64] = unit("m/s²")  # with gravity it is 9.81 upwards at rest
    orientation_covariance: NDArray[np.float64] = unit("rad²")  # (3, 3)
    angular_velocity_covariance: NDArray[np.float64] = unit("(rad/s)²")  # (3, 3)
    linear_acceleration_covariance: NDArray[np.float64] = unit("(m/s²)²")  # (3, 3)


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
    measured: Any,
) -> None:
    """Write the attitude (x, y, z, w), rate and specific force of a frame, with noise.

    The force is the mean over the step, Δv/h, rotated into the frame by the attitude at the middle of the step. The
    attitude noise is a rotation by small angles δ, the quaternion (δ/2, 1) normalised.

    Args:
        now: Motion of the frame at the sample, (13,).
        before: Motion of the frame one step earlier, (13,).
        step: Length of the step, s.
        gravity: Gravity in the specific force, m/s²; 0 to leave it out.
        key0: First key of the noise.
        key1: Second key of the noise.
        tick: Tick of the sample.
        sigmas: Standard deviations of attitude, rate and force, (3,).
        measured: Output (10,).
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
    measured[0] = (w * i + x + y * k - z * j) * scale
    measured[1] = (w * j - x * k + y + z * i) * scale
    measured[2] = (w * k + x * j - y * i + z) * scale
    measured[3] = (w - x * i - y * j - z * k) * scale
    p, q, r = rotate_to_frame(x, y, z, w, now[10], now[11], now[12])
    measured[4], measured[5], measured[6] = p + noise[3], q + noise[4], r + noise[5]
    dot = x * before[3] + y * before[4] + z * before[5] + w * before[6]
    sign = 1.0 if dot >= 0.0 else -1.0
    x, y, z, w = before[3] + sign * x, before[4] + sign * y, before[5] + sign * z, before[6] + sign * w
    scale = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
    a, b, c = (now[7] - before[7]) / step, (now[8] - before[8]) / step, (now[9] - before[9]) / step + gravity
    a, b, c = rotate_to_frame(x * scale, y * scale, z * scale, w * scale, a, b, c)
    measured[7], measured[8], measured[9] = a + noise[6], b + noise[7], c + noise[8]


@kernel
def sense_batch(
    now: Any,
    before: Any,
    step: float,
    gravity: float,
    key0: int,
    key1: int,
    ticks: Any,
    sigmas: Any,
    measured: Any,
) -> None:
    """Run `sense` for several samples, one per row."""
    for k in range(ticks.size):
        sense(now[k], before[k], step, gravity, key0, key1, ticks[k], sigmas, measured[k])


class ImuSensor(Sensor[ImuReading]):
    """IMU with white noise, start bias and random walk."""

    execution = "batch"

    def __init__(self, config: Imu, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigmas = np.array([config.attitude_noise, config.gyro_noise, config.accelerometer_noise])
        walks = (config.gyro_bias, config.gyro_walk, config.accelerometer_bias, config.accelerometer_walk)
        self._has_bias = any(walks)
        self._covariances = [
            _fixed_covariance(sigma) for sigma in (config.attitude_noise, config.gyro_noise, config.accelerometer_noise)
        ]

    def measure(self, view: SensorView, noise: Noise) -> Readings[ImuReading]:
        config, ticks, step = self._config, view.ticks, view.step
        now, before = view.motion(config.link, self._offset), view.motion_before(config.link, self._offset)
        measured = np.empty((len(ticks), 10))
        gravity = view.gravity if config.with_gravity else 0.0
        sense_batch(now, before, step, gravity, *noise.key, ticks, self._sigmas, measured)
        if self._has_bias:
            for row, tick in zip(measured, ticks.tolist(), strict=True):
                row[4:7] += self._bias(noise, tick, step, config.gyro_bias, config.gyro_walk, RATE_WALK)
                row[7:] += self._bias(
                    noise, tick, step, config.accelerometer_bias, config.accelerometer_walk, FORCE_WALK
                )
        attitude, rate, force = (shared(covariance, len(view)) for covariance in self._covariances)
        return Readings(
            ImuReading,
            {
                "time": view.times,
                "orientation": measured[:, :4],
                "angular_velocity": measured[:, 4:7],
                "linear_acceleration": measured[:, 7:],
                "orientation_covariance": attitude,
                "angular_velocity_covariance": rate,
                "linear_acceleration_covariance": force,
            },
        )

    @staticmethod
    def _bias(noise: Noise, tick: int, step: float, start: float, walk: float, channel: int) -> NDArray[np.float64]:
        """Return the bias (3,) at a tick: a start value drawn once per run, plus a random walk (per √s)."""
        bias = np.zeros(3)
        if start > 0:
            bias += start * noise.child(f"bias {channel}").normal(0, (3,), START_BIAS)
        if walk > 0:
            bias += [noise.walk(tick, walk * step**0.5, channel + axis) for axis in range(3)]
        return bias


def _fixed_covariance(sigma: float) -> NDArray[np.float64]:
    """Return a read-only covariance (3, 3) with the same variance on each axis, shared by all readings."""
    covariance = np.eye(3) * sigma**2
    covariance.setflags(write=False)
    return covariance


class Imu(SensorConfig):
    """IMU. The default noise is that of a tactical-grade unit; 0 gives exact values."""

    display = (Scalars(vectors=("angular_velocity", "linear_acceleration")),)
    ros = {
        "sensor_msgs/Imu": {
            "orientation": "orientation",
            "orientation_covariance": "orientation_covariance",
            "angular_velocity": "angular_velocity",
            "angular_velocity_covariance": "angular_velocity_covariance",
            "linear_acceleration": "linear_acceleration",
            "linear_acceleration_covariance": "linear_acceleration_covariance",
        }
    }

    kind: Literal["imu"] = "imu"
    with_gravity: bool = Field(
        True, description="report the specific force, as real IMUs do; if false, the acceleration without gravity"
    )
    attitude_noise: NonNegative = Field(1.7e-6, description="standard deviation per axis, rad")
    gyro_noise: NonNegative = Field(1.7e-5, description="standard deviation per axis, rad/s")
    gyro_bias: NonNegative = Field(0.0, description="standard deviation of the bias at the start, rad/s")
    gyro_walk: NonNegative = Field(0.0, description="random walk of the bias, rad/s per √s")
    accelerometer_noise: NonNegative = Field(1e-5, description="standard deviation per axis, m/s²")
    accelerometer_bias: NonNegative = Field(0.0, description="standard deviation of the bias at the start, m/s²")
    accelerometer_walk: NonNegative = Field(0.0, description="random walk of the bias, m/s² per √s")

    def build(self) -> ImuSensor:
        return ImuSensor(self, self.offset())
