"""Anything attached to a robot or to the world, and the settings it is built from."""

from __future__ import annotations

from abc import ABC

import numpy as np
from pydantic import Field

from skerry.core.config import Config, KindConfig, Vector3
from skerry.core.frames import OPTICAL_IN_BODY, Pose, inverse, multiply, rpy_to_quaternion


class Component(ABC):  # noqa: B024  (what a family must define, its own base class says)
    """Anything attached to a robot or to the world; its state is bytes, so that a snapshot holds all of it.

    State that native code uses lives in the engine and is not repeated here.
    """

    def state(self) -> bytes:
        """All that must be known to go on bit-identically."""
        return b""

    def set_state(self, state: bytes) -> None:
        """Take up a state that `state` gave."""
        if state:
            raise ValueError(f"{type(self).__name__} keeps no state, but was given {len(state)} bytes")


class ComponentConfig(KindConfig):
    """Settings that a file picks by `kind:`; pure data with a `build` of its family's shape."""

    def trim_ballast(self, density: float) -> float:
        """The mass of water, kg, that it holds when the vehicle floats freely in water of this density."""
        return 0.0


class Mount(Config):
    """Where a component sits: a link by name, with an optional offset in that link's frame."""

    link: str = Field(min_length=1, description="the link it is attached to")
    position: Vector3 = Field((0.0, 0.0, 0.0), description="offset from the link's origin, m, in the link's frame")
    roll_deg: float = 0.0
    pitch_deg: float = 0.0
    yaw_deg: float = 0.0
    ros_camera: bool = Field(
        False, description="the link's frame is a ROS camera's, z forward, x right, y down: look along its z, not its x"
    )

    def offset(self) -> Pose:
        """The component's pose in its link's frame, its own axes being FLU: what looks or listens does it along x."""
        turn = rpy_to_quaternion(np.radians([self.roll_deg, self.pitch_deg, self.yaw_deg]))
        if self.ros_camera:
            turn = multiply(turn, inverse(OPTICAL_IN_BODY))
        return Pose(np.array(self.position), turn)
