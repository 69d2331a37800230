"""Distance along a direction that is fixed in the world, to the first surface: ground, bodies, or water from above.

A sensor above the water also measures the water surface z = η(x, y), where its ray meets it first: the smallest s with
z + s d_z = η(x + s d_x, y + s d_y). It is found by steps of h/(−d_z + S |d_xy|) with the height h above the surface.
They cannot pass it, because no water surface is steeper than S = tan 30°, the limit of Stokes (1880, Math. Phys. Papers
1, 225). Without a surface within range, the value is the vertical distance from the water level.

The error is normal with the given mean and the standard deviation √(σ² + (p r)²) at the range r.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive, Vector3
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import SensorView
from skerry.rays import Bundle
from skerry.sensors.raycast.ray_sensor import RaySensor, RaySensorConfig

Floats = NDArray[np.float64]

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])

STEEPEST: Final = 3.0**-0.5
"""Slope that no water surface exceeds, tan 30°."""

MAX_STEPS: Final = 100
"""Largest number of steps towards the water."""

NEAR: Final = 1e-6
"""Height above the water at which a ray has reached it, m."""


@dataclass(frozen=True)
class LockedDirectionDepthReading:
    """Measured distance."""

    time: float = unit("s")
    value: float = unit("m")  # distance along the direction, or from the water level with no surface within range
    depth: float = unit("m")  # of the sensor below the surface that was measured, without noise; negative above it
    using_water: bool = unit("")  # whether the value is that of the water


class LockedDirectionDepthSensor(RaySensor[LockedDirectionDepthReading]):
    """Range finder whose direction in the world does not depend on the robot's attitude."""

    def __init__(self, config: LockedDirectionDepth) -> None:
        super().__init__(config, Bundle([config.direction]))
        self._config = config
        self._direction = np.array(config.direction) / np.linalg.norm(config.direction)

    def measure(self, view: SensorView, noise: Noise) -> Readings[LockedDirectionDepthReading]:
        config = self._config
        poses = view.motion(config.link, self._offset)
        poses[:, 3:7] = UPRIGHT
        everywhere = np.ones(len(view), np.bool_)
        hits = self.cast_rays(view, poses, everywhere, config.max_range).distance[:, 0]
        depths = view.depth(poses[:, :3])
        bodies = hits.astype(np.float64)
        water = self._to_water(view, poses[:, :3], -depths, np.minimum(bodies, config.max_range))
        reach = np.minimum(bodies, water)
        hits[:] = reach  # the ray that is shown ends at the water too
        is_hit = reach < np.inf
        value = np.where(is_hit, reach, np.abs(depths))
        depth = np.where(is_hit, np.where(is_hit, reach, 0.0) * self._direction[2], depths)
        sigma = np.hypot(config.noise_sigma, config.noise_proportional * value)
        error = config.noise_mean + sigma * noise.normals(view.ticks, 1)[:, 0]
        return Readings(
            LockedDirectionDepthReading,
            {
                "time": view.times,
                "value": np.maximum(value + error, 0.0),
                "depth": depth,
                "using_water": ~(bodies < water),
            },
        )

    def _to_water(self, view: SensorView, points: Floats, heights: Floats, limits: Floats) -> Floats:
        """Return the distances (n,) to the water surface; infinite from below, or beyond the limits.

        Args:
            view: Samples to measure.
            points: Positions of the sensor, (n, 3).
            heights: Heights of the sensor above the water, (n,), m.
            limits: Largest distances, (n,), m.
        """
        x, y, z = self._direction.tolist()
        closing = STEEPEST * float(np.hypot(x, y)) - z  # largest decrease of the height per metre of the ray
        reach: Floats = np.zeros(len(view))
        if closing <= 0.0 or not (heights > 0.0).any():
            return np.full(len(view), np.inf)
        height, before, last = heights, heights, reach
        for _ in range(MAX_STEPS):
            is_open = (height > NEAR) & (reach <= limits)
            if not is_open.any():
                break
            last, before = np.where(is_open, reach, last), np.where(is_open, height, before)
            reach = np.where(is_open, reach + height / closing, reach)
            height = np.where(is_open, -view.depth(points + reach[:, None] * self._direction), height)
        falls = before > height  # the last step is continued in a straight line, which level water meets exactly
        rest = height * (reach - last) / np.where(falls, before - height, 1.0)
        reach = reach + np.where(falls, rest, 0.0)
        return np.where((heights > 0.0) & (reach <= limits), reach, np.inf)


class LockedDirectionDepth(RaySensorConfig):
    """Range finder on a gimbal that keeps its direction in the world.

    The default noise is that of a small laser range finder (Garmin LIDAR-Lite v3: ±2.5 cm below 5 m, ±10 cm beyond).
    """

    ros = {"smarc_msgs/FloatStamped": {"data": "value"}}

    perfect = {"noise_mean": 0.0, "noise_sigma": 0.0, "noise_proportional": 0.0}

    kind: Literal["locked_direction_depth"] = "locked_direction_depth"
    direction: Vector3 = Field((0.0, 0.0, -1.0), description="in the world (ENU), of any length; down by default")
    max_range: Positive = Field(30.0, description="maximum range, m")
    noise_mean: float = Field(0.0, description="mean of the error, m")
    noise_sigma: NonNegative = Field(0.025, description="standard deviation of the error at short range, m")
    noise_proportional: NonNegative = Field(
        0.005, description="standard deviation that grows with the range, as a share of it"
    )

    @model_validator(mode="after")
    def _check_direction(self) -> LockedDirectionDepth:
        if not any(self.direction):
            raise ValueError("`direction` must have a length above 0")
        return self

    def build(self) -> LockedDirectionDepthSensor:
        return LockedDirectionDepthSensor(self)
