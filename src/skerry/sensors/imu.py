"""Inertial measurement unit: specific force, angular rate and attitude at its position on a link.

`linear_acceleration` is the mean over the sensor's own period T, from its previous sample to this one:

    f = Rᵀ ((v − v_previous)/T + g ẑ)

v is the velocity of the sensor's position in the world, so that f includes the effects of the offset from the link
(centripetal and tangential acceleration). R is the attitude at the sample. At rest f is g upwards; without gravity
(`with_gravity: false`) the term g ẑ is left out. So R f − g ẑ, summed over the samples and multiplied by their periods,
is exactly the change of velocity, at any rate and also while the sensor turns. This is the velocity increment of a
strapdown unit after its sculling correction, resolved in the axes at the end of the period (Savage 1998, Strapdown
Inertial Navigation Integration Algorithm Design, Part 2, J. Guidance 21(2)): the sculling error of a unit that sums
in its turning axes is 0. `angular_acceleration` is Rᵀ (ω − ω_previous)/T, in the same way.

`angular_velocity`, `orientation` and `linear_velocity` are those of the instant of the sample. Integrating the angular
rate of a slow IMU therefore misses what happens between the samples, and coning; the orientation does not.

The first sample of a run has no previous one; its change of velocity is 0.
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
    """Vectors in the sensor's axes (FLU) at the sample; orientation of the sensor in the world (ENU) as x, y, z, w.

    The accelerations are means over the period since the previous sample; the other values are of the instant.
    """

    time: float = unit("s")
    orientation: NDArray[np.float64] = unit("")
    angular_velocity: NDArray[np.float64] = unit("rad/s")
    linear_acceleration: NDArray[np.float64] = unit("m/s²")  # with gravity it is 9.81 upwards at rest
    orientation_covariance: NDArray[np.float64] = unit("rad²")  # (3, 3)
    angular_velocity_covariance: NDArray[np.float64] = unit("(rad/s)²")  # (3, 3)
    linear_acceleration_covariance: NDArray[np.float64] = unit("(m/s²)²")  # (3, 3)
    linear_velocity: NDArray[np.float64] = unit("m/s")  # over ground, exact; real IMUs do not measure it
    angular_acceleration: NDArray[np.float64] = unit("rad/s²")  # exact


@kernel
def sense(
    now: Any,
    before: Any,
    seconds: float,
    gravity: float,
    key0: int,
    key1: int,
    tick: int,
    sigmas: Any,
    measured: Any,
) -> None:
    """Write attitude (x, y, z, w), rate and specific force with noise, then exact velocity and angular acceleration.

    All vectors are in the axes of the frame at the sample. The attitude noise is a rotation by small angles δ, the
    quaternion (δ/2, 1) normalised.

    Args:
        now: Motion of the frame at the sample, (13,).
        before: Motion of the frame at the previous sample, (13,).
        seconds: Time between the two samples, s.
        gravity: Gravity in the specific force, m/s²; 0 to leave it out.
        key0: First key of the noise.
        key1: Second key of the noise.
        tick: Tick of the sample.
        sigmas: Standard deviations of attitude, rate and force, (3,).
        measured: Output (16,).
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
    a, b, c = (now[7] - before[7]) / seconds, (now[8] - before[8]) / seconds, (now[9] - before[9]) / seconds + gravity
    a, b, c = rotate_to_frame(x, y, z, w, a, b, c)
    measured[7], measured[8], measured[9] = a + noise[6], b + noise[7], c + noise[8]
    measured[10], measured[11], measured[12] = rotate_to_frame(x, y, z, w, now[7], now[8], now[9])
    a, b, c = (now[10] - before[10]) / seconds, (now[11] - before[11]) / seconds, (now[12] - before[12]) / seconds
    measured[13], measured[14], measured[15] = rotate_to_frame(x, y, z, w, a, b, c)


@kernel
def sense_batch(
    now: Any,
    before: Any,
    seconds: Any,
    gravity: float,
    key0: int,
    key1: int,
    ticks: Any,
    sigmas: Any,
    measured: Any,
) -> None:
    """Run `sense` for several samples, one per row."""
    for k in range(ticks.size):
        sense(now[k], before[k], seconds[k], gravity, key0, key1, ticks[k], sigmas, measured[k])


class ImuSensor(Sensor[ImuReading]):
    """IMU with white noise, start bias and random walk."""

    execution = "batch"
    needs = frozenset({"previous"})

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
        earlier = view.previous
        now, before = view.motion(config.link, self._offset), earlier.motion(config.link, self._offset)
        seconds = np.maximum(view.times - earlier.times, step)  # the first sample of a run has no period
        measured = np.empty((len(ticks), 16))
        gravity = view.gravity if config.with_gravity else 0.0
        sense_batch(now, before, seconds, gravity, *noise.key, ticks, self._sigmas, measured)
        if self._has_bias:
            for row, tick in zip(measured, ticks.tolist(), strict=True):
                row[4:7] += self._bias(noise, tick, step, config.gyro_bias, config.gyro_walk, RATE_WALK)
                row[7:10] += self._bias(
                    noise, tick, step, config.accelerometer_bias, config.accelerometer_walk, FORCE_WALK
                )
        attitude, rate, force = (shared(covariance, len(view)) for covariance in self._covariances)
        return Readings(
            ImuReading,
            {
                "time": view.times,
                "orientation": measured[:, :4],
                "angular_velocity": measured[:, 4:7],
                "linear_acceleration": measured[:, 7:10],
                "orientation_covariance": attitude,
                "angular_velocity_covariance": rate,
                "linear_acceleration_covariance": force,
                "linear_velocity": measured[:, 10:13],
                "angular_acceleration": measured[:, 13:],
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

    perfect = {
        "attitude_noise": 0.0,
        "gyro_noise": 0.0,
        "gyro_bias": 0.0,
        "gyro_walk": 0.0,
        "accelerometer_noise": 0.0,
        "accelerometer_bias": 0.0,
        "accelerometer_walk": 0.0,
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
