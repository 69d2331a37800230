"""Pose in a scenario file: position in metres; roll, pitch and yaw or heading in degrees."""

from __future__ import annotations

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import Config, Vector3
from skerry.core.frames import Pose, heading_to_yaw, rpy_to_quaternion


class PoseConfig(Config):
    """Position in the world (ENU, m) and orientation.

    `yaw_deg` is anticlockwise from east, `heading_deg` clockwise from north.
    """

    position: Vector3 = (0.0, 0.0, 0.0)
    roll_deg: float = 0.0
    pitch_deg: float = Field(0.0, description="positive with the nose down (FLU axes)")
    yaw_deg: float | None = None
    heading_deg: float | None = None

    @model_validator(mode="after")
    def _one_direction(self) -> PoseConfig:
        if self.yaw_deg is not None and self.heading_deg is not None:
            raise ValueError("give `yaw_deg` or `heading_deg`, not both")
        return self

    def build(self) -> Pose:
        """Return the pose."""
        if self.heading_deg is not None:
            yaw = float(heading_to_yaw(self.heading_deg))
        else:
            yaw = float(np.radians(self.yaw_deg or 0.0))
        rpy = np.array([np.radians(self.roll_deg), np.radians(self.pitch_deg), yaw])
        return Pose(np.array(self.position), rpy_to_quaternion(rpy))
