"""Worlds with sensors over a million triangles: simulated seconds per second of CPU time.

SAM in 64-component waves, and `demo`; every sensor is evaluated at its own rate. In `demo` also the wall time of
attaching a load to the quadrotor's rope and of releasing it, each including the next step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Any

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.core.frames import Pose
from skerry.parts.readings import Readings
from skerry.sensors.camera import CameraSensor
from skerry.world import World, build_world

SECONDS = 2.0
REPEATS = 5
NAVIGATION = ("dvl", "imu", "sbg_imu", "depth20", "depth300", "gps", "mbes")
LOAD = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 5.0}
SEABED = {"terrain": {"size": [708, 708], "resolution": 1.0}}

GOALS = {
    "world.sam_full.rtf": Goal(25, at_least=True),
    "world.sam_nav.rtf": Goal(150, at_least=True),
    "world.demo.rtf": Goal(20, at_least=True),
    "world.attach_ms": Goal(20),
}


def measure() -> dict[str, float]:
    """Return all figures of this part; cameras are off."""
    with build_world("sam_in_the_bay", overrides=SEABED) as world:
        values = {"world.sam_nav.rtf": _rtf(world, NAVIGATION)}
        values["world.sam_full.rtf"] = _rtf(world)
    with build_world("demo") as world:
        values["world.demo.rtf"] = _rtf(world)
    with build_world("demo", overrides={"objects": {"load": LOAD}}) as world:
        values["world.attach_ms"] = 1e3 * _attach(world)
    return values


def _rtf(world: World, only: Collection[str] | None = None) -> float:
    for robot in world.robots.values():
        for name, sensor in robot.sensors.items():
            if name in only if only is not None else not isinstance(sensor.sensor, CameraSensor):
                sensor.deliver = _ignore  # the sensor is evaluated at every due tick from now on
    return SECONDS / best_cpu(lambda: world.advance(SECONDS), REPEATS)


def _ignore(ticks: list[int], readings: Readings[Any]) -> None:
    """Receive readings."""


def _attach(world: World) -> float:
    """Return the wall time of the slower of attaching and releasing a load, s."""
    rope = world.robots["quadrotor"].ropes["lift"]
    level = world.objects["load"].pose.orientation
    attached, released = [], []
    for _ in range(REPEATS):
        world.teleport("load", Pose(rope.end, level))
        attached.append(_time(world, lambda: rope.attach("load")))
        world.advance(0.1)
        released.append(_time(world, rope.release))
        world.advance(0.1)
    return max(min(attached), min(released))


def _time(world: World, action: Callable[[], None]) -> float:
    start = time.perf_counter()
    action()
    world.advance_steps(1)
    return time.perf_counter() - start
