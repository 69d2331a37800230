"""Odometry: the true pose and velocity of a frame on the robot, for ground truth and for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skerry.core.frames import Pose, Twist, rotate
from skerry.core.frames import inverse as inverse_of
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth


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
        back = inverse_of(motion[3:7])
        twist = Twist(rotate(back, motion[7:10]), rotate(back, motion[10:13]))
        return OdometryReading(truth.time, Pose.of(motion[:7]), twist)


class Odometry(SensorConfig):
    """Ground truth of a link, or of a frame offset from it."""

    kind: Literal["odometry"] = "odometry"

    def build(self) -> OdometrySensor:
        return OdometrySensor(self.link, self.offset())
