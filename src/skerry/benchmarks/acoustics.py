"""Acoustics: 100 transceivers broadcast once a second over a million triangles, all within range of each other.

About 19 000 packets arrive per second, by three paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.world import World, build_world

COUNT = 100
ROUNDS = 10  # per second, like a program at 10 Hz; a tenth of the transceivers transmits in each round
REPEATS = 7
SIDE = 300.0  # m, side of the square with all transceivers
GROUND: dict[str, Any] = {
    "kind": "heightfield",
    "size": [708, 708],
    "resolution": 1.0,
    "level": -60,
    "function": {"kind": "hills", "amplitude": 12, "wavelength": 200, "octaves": 7},
}

GOALS = {"acoustics.100.core_percent": Goal(5)}


def measure() -> dict[str, float]:
    """Return CPU time of this thread for a second with broadcasts, minus that of the same world without them.

    It includes transmission, path search and delivery into the receive buffers.
    """
    with build_world(_scenario()) as world:
        modems = [robot.acoustics["modem"] for robot in world.robots.values()]
        without = best_cpu(lambda: _run(world, ()), REPEATS)
        with_traffic = best_cpu(lambda: _run(world, modems), REPEATS)
    return {"acoustics.100.core_percent": 100.0 * (with_traffic - without)}


def _scenario() -> dict[str, Any]:
    """Return a scenario of anchored AUVs between surface and ground, with SAM's transceivers."""
    random = np.random.default_rng(1)
    with build_world({"seed": 1, "terrain": GROUND}) as bare:
        assert bare.terrain is not None
        positions = random.uniform(-SIDE / 2, SIDE / 2, (COUNT, 2))
        ground = bare.terrain.height(positions)
    depths = random.uniform(0.1, 0.9, COUNT) * -ground
    modem = {"kind": "transceiver", "link": "base_link", "max_range": 500, "bottom_echo_tolerance": 5}
    robots = {
        f"auv{k}": {
            "vehicle": "torpedo",
            "anchored": True,
            "pose": {"position": [float(x), float(y), -float(depth)]},
            "overrides": {"acoustics": {"modem": modem}},
        }
        for k, ((x, y), depth) in enumerate(zip(positions, depths, strict=True))
    }
    return {"seed": 1, "terrain": GROUND, "robots": robots}


def _run(world: World, modems: Sequence[Any]) -> None:
    """Simulate a second in which each modem transmits once."""
    for k in range(ROUNDS):
        for modem in modems[k::ROUNDS]:
            modem.write(f"packet of {modem.name}")
        world.advance(1.0 / ROUNDS)
    world.acoustics.deliver_batches()
