"""Odometry: the true pose and velocity of a frame on the robot, for ground truth and for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skerry.core.frames import Pose, Twist
from skerry.core.kernels import strict_kernel
from skerry.core.noise import Noise
from skerry.parts.sensor import Columns, Rows, RowSensor, SensorConfig, Truths


@strict_kernel
def in_own_axes(motion: Any, twist: Any) -> None:
    """The velocities of motions (n, 13) in the axes of their frames (n, 6): each turned back by its quaternion."""
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
    """Pose in the world (ENU) and twist in the frame's own axes, both with the kinematics of now."""

    time: float
    pose: Pose
    twist: Twist


class OdometrySensor(RowSensor[OdometryReading]):
    """Gives the truth."""

    def __init__(self, link: str, offset: Pose) -> None:
        self.link = link
        self.offset = offset

    def measure_many(self, truths: Truths, noise: Noise) -> Rows[OdometryReading]:
        motion, times = truths.motion(self.link, self.offset), truths.times
        twist = np.empty((len(motion), 6))
        in_own_axes(motion, twist)

        def columns() -> Columns:
            pose = Columns(position=motion[:, :3], orientation=motion[:, 3:7])
            return Columns(time=times, pose=pose, twist=Columns(linear=twist[:, :3], angular=twist[:, 3:]))

        return Rows(
            len(times), lambda k: OdometryReading(times[k], Pose.of(motion[k, :7]), Twist.of(twist[k])), columns
        )


class Odometry(SensorConfig):
    """Ground truth of a link, or of a frame offset from it."""

    kind: Literal["odometry"] = "odometry"

    def build(self) -> OdometrySensor:
        return OdometrySensor(self.link, self.offset())
