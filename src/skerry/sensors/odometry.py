"""Odometry: the true pose and velocity of a frame on the robot, for ground truth and for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skerry.core.frames import Pose, Twist
from skerry.core.kernels import strict_kernel
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth


@strict_kernel
def in_own_axes(motion: Any, twist: Any) -> None:
    """The velocities of a motion (13,) in the axes of its frame (6,): each turned back by its quaternion."""
    x, y, z, w = -motion[3], -motion[4], -motion[5], motion[6]
    for k in range(2):
        a, b, c = motion[7 + 3 * k], motion[8 + 3 * k], motion[9 + 3 * k]
        twist[3 * k] = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - z * w) * b + 2.0 * (x * z + y * w) * c
        twist[3 * k + 1] = 2.0 * (x * y + z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - x * w) * c
        twist[3 * k + 2] = 2.0 * (x * z - y * w) * a + 2.0 * (y * z + x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c


@dataclass(frozen=True)
class OdometryReading:
    """Pose in the world (ENU) and twist in the frame's own axes, both with the kinematics of now."""

    time: float
    pose: Pose
    twist: Twist


class OdometrySensor(Sensor[OdometryReading]):
    """Gives the truth."""

    sees_bodies_only = True

    def __init__(self, link: str, offset: Pose) -> None:
        self.link = link
        self.offset = offset

    def measure(self, truth: Truth, noise: Noise) -> OdometryReading:
        motion = truth.motion(self.link, self.offset)
        twist = np.empty(6)
        in_own_axes(motion, twist)
        return OdometryReading(truth.time, Pose.of(motion[:7]), Twist.of(twist))


class Odometry(SensorConfig):
    """Ground truth of a link, or of a frame offset from it."""

    kind: Literal["odometry"] = "odometry"

    def build(self) -> OdometrySensor:
        return OdometrySensor(self.link, self.offset())
