"""SAM with its sensors in 64-component waves over a million triangles: simulated seconds per second of CPU time."""

from __future__ import annotations

from collections.abc import Iterable

from skerry.benchmarks.goal import Goal
from skerry.benchmarks.timing import best_cpu
from skerry.world import World, build_world

SECONDS = 2.0
REPEATS = 5
NAVIGATION = ("dvl", "imu", "sbg_imu", "depth20", "depth300", "gps", "mbes")
SEABED = {"terrain": {"size": [708, 708], "resolution": 1.0}}

GOALS = {
    "world.sam_full.rtf": Goal(25, at_least=True),
    "world.sam_nav.rtf": Goal(150, at_least=True),
}


def measure() -> dict[str, float]:
    """All figures of this part; every sensor is measured whenever it is due, at its default rate."""
    with build_world("sam_in_the_bay", overrides=SEABED) as world:
        sensors = world.robots["sam"].sensors
        values = {"world.sam_nav.rtf": _rtf(world, NAVIGATION)}
        values["world.sam_full.rtf"] = _rtf(world, [name for name in sensors if not name.startswith("camera")])
    return values


def _rtf(world: World, names: Iterable[str]) -> float:
    for name in names:
        _ = world.robots["sam"].sensors[name].reading  # from now on it is measured whenever it is due
    return SECONDS / best_cpu(lambda: world.advance(SECONDS), REPEATS)
