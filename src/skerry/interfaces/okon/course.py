"""The course of the later dialect: boxes in the water in which a run starts, counts, fails or ends."""

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
    """A box along the world's axes; the robot is in it when its origin is."""

    position: Vector3 = Field(description="of its middle, ENU, m")
    size: Size = Field((1.0, 1.0, 1.0), description="along x, y and z, m")

    def holds(self, point: np.typing.NDArray[np.float64]) -> bool:
        """Whether a point is in it."""
        return bool((np.abs(point - self.position) <= 0.5 * np.array(self.size)).all())


class StartZone(Zone):
    """Where a run starts: anywhere in it, headed nearly somewhere."""

    heading_deg: float = Field(0.0, description="clockwise from north")
    spread_deg: NonNegative = Field(0.0, le=180, description="by which the heading may be off, either way")

    def draw(self, noise: Noise, number: int) -> Pose:
        """A pose in it."""
        x, y, z, turn = (2.0 * noise.uniform(number, (4,)) - 1.0).tolist()
        place = np.array(self.position) + 0.5 * np.array(self.size) * (x, y, z)
        yaw = float(heading_to_yaw(self.heading_deg + turn * self.spread_deg))
        return Pose(place, rpy_to_quaternion([0.0, 0.0, yaw]))


class CourseConfig(Config):
    """Zones by their ids."""

    start_zones: dict[str, StartZone] = Field({}, description="of which a reset picks one; else the scenario's pose")
    checkpoints: dict[str, Zone] = Field({}, description="that stay reached until a reset")
    no_go_zones: dict[str, Zone] = Field({}, description="that end a run")
    finish_zones: dict[str, Zone] = Field({}, description="that end a run, well")
    action_points: dict[str, Zone] = Field({}, description="that are active while the robot is in them")


@dataclass(frozen=True)
class Hit:
    """A zone that ended a run."""

    name: str
    finish: bool


class Course:
    """What has been reached. `see` is called by the loop."""

    def __init__(self, config: CourseConfig, start: Pose, seed: int) -> None:
        self.config = config
        self.reached: dict[str, bool] = dict.fromkeys(config.checkpoints, False)
        self.active: frozenset[str] = frozenset()
        self._start = start
        self._noise = Noise(seed, "okon/course")
        self._runs = 0

    def see(self, point: np.typing.NDArray[np.float64]) -> Hit | None:
        """Where the robot is; what that ends, if anything."""
        config = self.config
        for name, zone in config.checkpoints.items():
            if not self.reached[name] and zone.holds(point):
                self.reached[name] = True
        self.active = frozenset(_inside(config.action_points, point))
        for name in _inside(config.no_go_zones, point):
            return Hit(name, finish=False)
        for name in _inside(config.finish_zones, point):
            return Hit(name, finish=True)
        return None

    def begin(self) -> Pose:
        """Forget what was reached; where the next run starts."""
        self.reached = dict.fromkeys(self.config.checkpoints, False)
        self._runs += 1
        zones = list(self.config.start_zones.values())
        if not zones:
            return self._start
        chosen = int(self._noise.uniform(self._runs, channel=1) * len(zones))
        return zones[chosen].draw(self._noise, self._runs)


def _inside(zones: Mapping[str, Zone], point: np.typing.NDArray[np.float64]) -> list[str]:
    return [name for name, zone in zones.items() if zone.holds(point)]
