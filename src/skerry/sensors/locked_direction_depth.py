"""Height above the first hit along a direction that is fixed in the world, or above the water without a hit.

The value is (z − z_hit) (1 + n) with a hit within range, otherwise (z − z_water) (1 + n), where n is normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive, Vector3
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import SensorView
from skerry.rays import Bundle
from skerry.sensors.raycast.ray_sensor import RaySensor, RaySensorConfig

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True)
class LockedDirectionDepthReading:
    """Measured height."""

    time: float = unit("s")
    value: float = unit("m")  # above the hit or the water; negative below it
    using_water: bool = unit("")  # whether nothing was hit within range


class LockedDirectionDepthSensor(RaySensor[LockedDirectionDepthReading]):
    """Range finder whose direction in the world does not depend on the robot's attitude."""

    def __init__(self, config: LockedDirectionDepth) -> None:
        super().__init__(config, Bundle([config.direction]))
        self._config = config

    def measure(self, view: SensorView, noise: Noise) -> Readings[LockedDirectionDepthReading]:
        config = self._config
        poses = view.motion(config.link, self._offset)
        poses[:, 3:7] = UPRIGHT
        everywhere = np.ones(len(view), np.bool_)
        reach = self.cast_rays(view, poses, everywhere, config.max_range).distance[:, 0].astype(np.float64)
        using_water = reach == np.inf
        value = -reach * float(self.bundle.directions[2, 0])
        if np.count_nonzero(using_water):
            value = np.where(using_water, -view.depth(poses[:, :3]), value)
        value *= 1.0 + config.noise_mean + config.noise_sigma * noise.normals(view.ticks, 1)[:, 0]
        return Readings(LockedDirectionDepthReading, {"time": view.times, "value": value, "using_water": using_water})


class LockedDirectionDepth(RaySensorConfig):
    """Range finder on a gimbal that keeps its direction in the world."""

    ros = {"smarc_msgs/FloatStamped": {"data": "value"}}

    kind: Literal["locked_direction_depth"] = "locked_direction_depth"
    direction: Vector3 = Field((0.0, 0.0, -1.0), description="in the world (ENU), of any length; down by default")
    max_range: Positive = Field(30.0, description="maximum range, m")
    noise_mean: float = Field(0.0, description="mean of the relative error n")
    noise_sigma: NonNegative = Field(0.1, description="standard deviation of the relative error n")

    @model_validator(mode="after")
    def _check_direction(self) -> LockedDirectionDepth:
        if not any(self.direction):
            raise ValueError("`direction` must have a length above 0")
        return self

    def build(self) -> LockedDirectionDepthSensor:
        return LockedDirectionDepthSensor(self)
