"""Worlds with their sensors, over a million triangles: simulated seconds per second of CPU time.

SAM in 64-component waves, and the demonstration world; every sensor is measured whenever it is due, at its own rate.
"""

from __future__ import annotations

from collections.abc import Collection

from skerry.benchmarks.goal import Goal
from skerry.benchmarks.timing import best_cpu
from skerry.sensors.camera import CameraSensor
from skerry.world import World, build_world

SECONDS = 2.0
REPEATS = 5
NAVIGATION = ("dvl", "imu", "sbg_imu", "depth20", "depth300", "gps", "mbes")
SEABED = {"terrain": {"size": [708, 708], "resolution": 1.0}}

GOALS = {
    "world.sam_full.rtf": Goal(25, at_least=True),
    "world.sam_nav.rtf": Goal(150, at_least=True),
    "world.demo.rtf": Goal(20, at_least=True),
}


def measure() -> dict[str, float]:
    """All figures of this part; cameras are off."""
    with build_world("sam_in_the_bay", overrides=SEABED) as world:
        values = {"world.sam_nav.rtf": _rtf(world, NAVIGATION)}
        values["world.sam_full.rtf"] = _rtf(world)
    with build_world("demo") as world:
        values["world.demo.rtf"] = _rtf(world)
    return values


def _rtf(world: World, only: Collection[str] | None = None) -> float:
    for robot in world.robots.values():
        for name, sensor in robot.sensors.items():
            if name in only if only is not None else not isinstance(sensor.sensor, CameraSensor):
                _ = sensor.reading  # from now on it is measured whenever it is due
    return SECONDS / best_cpu(lambda: world.advance(SECONDS), REPEATS)
