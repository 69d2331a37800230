"""Course of the later dialects: boxes in the water in which a run starts, reaches a checkpoint, fails or finishes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive, Vector3
from skerry.core.frames import Pose, heading_to_yaw, rpy_to_quaternion
from skerry.core.noise import Noise

Size = tuple[Positive, Positive, Positive]


class Zone(Config):
    """Box along the world's axes; the robot is inside when its origin is inside."""

    position: Vector3 = Field(description="centre of the box, ENU, m")
    size: Size = Field((1.0, 1.0, 1.0), description="size along x, y and z, m")

    def contains(self, point: np.typing.NDArray[np.float64]) -> bool:
        """Return whether a point, (3,) ENU, m, is inside the box."""
        return bool((np.abs(point - self.position) <= 0.5 * np.array(self.size)).all())


class StartZone(Zone):
    """Box in which a run starts, at a random position with a random heading."""

    heading_deg: float = Field(0.0, description="mean heading at the start, clockwise from north, °")
    spread_deg: NonNegative = Field(0.0, le=180, description="largest deviation from the heading to either side, °")

    def draw_pose(self, noise: Noise, run: int) -> Pose:
        """Return the random pose in which a run starts.

        Args:
            noise: Source of random numbers.
            run: Number of the run; the same number gives the same pose.
        """
        x, y, z, turn = (2.0 * noise.uniform(run, (4,)) - 1.0).tolist()
        position = np.array(self.position) + 0.5 * np.array(self.size) * (x, y, z)
        yaw = float(heading_to_yaw(self.heading_deg + turn * self.spread_deg))
        return Pose(position, rpy_to_quaternion([0.0, 0.0, yaw]))


class CourseConfig(Config):
    """Zones of a course by their ids."""

    start_zones: dict[str, StartZone] = Field(
        {}, description="zones of which a reset picks one at random; without any, the scenario's pose is used"
    )
    checkpoints: dict[str, Zone] = Field({}, description="zones that count as reached until a reset")
    no_go_zones: dict[str, Zone] = Field({}, description="zones that end a run as a failure")
    finish_zones: dict[str, Zone] = Field({}, description="zones that end a run as a success")
    action_points: dict[str, Zone] = Field({}, description="zones that are active while the robot is inside")


@dataclass(frozen=True)
class ZoneHit:
    """Zone that ended a run."""

    name: str
    finish: bool


class CourseProgress:
    """Checkpoints and action points that the robot has reached. `update` is called by the simulation loop."""

    def __init__(self, config: CourseConfig, start: Pose, seed: int) -> None:
        self.config = config
        self.reached: dict[str, bool] = dict.fromkeys(config.checkpoints, False)
        self.active: frozenset[str] = frozenset()
        self._start = start
        self._noise = Noise(seed, "okon/course")
        self._runs = 0

    def update(self, point: np.typing.NDArray[np.float64]) -> ZoneHit | None:
        """Enter the robot's position, (3,) ENU, m; return the zone that ends the run, or None."""
        config = self.config
        for name, zone in config.checkpoints.items():
            if not self.reached[name] and zone.contains(point):
                self.reached[name] = True
        self.active = frozenset(_zones_at(config.action_points, point))
        for name in _zones_at(config.no_go_zones, point):
            return ZoneHit(name, finish=False)
        for name in _zones_at(config.finish_zones, point):
            return ZoneHit(name, finish=True)
        return None

    def start_run(self) -> Pose:
        """Clear all checkpoints and return the pose in which the next run starts."""
        self.reached = dict.fromkeys(self.config.checkpoints, False)
        self._runs += 1
        zones = list(self.config.start_zones.values())
        if not zones:
            return self._start
        chosen = int(self._noise.uniform(self._runs, channel=1) * len(zones))
        return zones[chosen].draw_pose(self._noise, self._runs)


def _zones_at(zones: Mapping[str, Zone], point: np.typing.NDArray[np.float64]) -> list[str]:
    return [name for name, zone in zones.items() if zone.contains(point)]
