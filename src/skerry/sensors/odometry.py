"""Odometry: exact pose and twist of a frame on the robot, as ground truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skerry.core.frames import Pose, Twist
from skerry.core.kernels import strict_kernel
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Scalars
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView


@strict_kernel
def in_own_axes(motion: Any, twist: Any) -> None:
    """Write the velocities of motions (n, 13) in the axes of their own frames, (n, 6)."""
    for i in range(len(motion)):
        m, t = motion[i], twist[i]
        x, y, z, w = -m[3], -m[4], -m[5], m[6]
        for k in range(2):
            a, b, c = m[7 + 3 * k], m[8 + 3 * k], m[9 + 3 * k]
            t[3 * k] = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - z * w) * b + 2.0 * (x * z + y * w) * c
            t[3 * k + 1] = 2.0 * (x * y + z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - x * w) * c
            t[3 * k + 2] = 2.0 * (x * z - y * w) * a + 2.0 * (y * z + x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c


@dataclass(frozen=True)
class OdometryReading:
    """Pose in the world (ENU) and twist in the frame's own axes."""

    time: float = unit("s")
    pose: Pose = unit()
    twist: Twist = unit()


class OdometrySensor(Sensor[OdometryReading]):
    """Sensor that reports the exact pose and twist."""

    execution = "batch"

    def __init__(self, link: str, offset: Pose) -> None:
        self.link = link
        self.offset = offset

    def measure(self, view: SensorView, noise: Noise) -> Readings[OdometryReading]:
        motion = view.motion(self.link, self.offset)
        twist = np.empty((len(motion), 6))
        in_own_axes(motion, twist)
        return Readings(
            OdometryReading,
            {"time": view.times, "pose": Readings.poses(motion), "twist": Readings.twists(twist)},
        )


class Odometry(SensorConfig):
    """Odometry of a link, or of a frame with an offset from a link."""

    display = (Scalars(vectors=("pose.position", "twist.linear", "twist.angular")),)

    kind: Literal["odometry"] = "odometry"

    def build(self) -> OdometrySensor:
        return OdometrySensor(self.link, self.offset())
