"""Ropes: cost of a step of a rope that swings in water, of one that falls onto the seabed, and of many ropes."""

from __future__ import annotations

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu
from skerry.world import World, build_world

STEPS = 400
SEABED = {
    "kind": "heightfield",
    "size": [40, 40],
    "resolution": 0.5,
    "level": -5.06,
    "function": {"kind": "hills", "amplitude": 0.05, "wavelength": 4},
}

GOALS = {
    "rope.50.us_per_step": Goal(25),
    "rope.50_seabed.us_per_step": Goal(60),
    "rope.20x30.rtf": Goal(30, at_least=True),
}


def measure() -> dict[str, float]:
    """Return all figures of this part: the first two seconds after release; the cost of an empty step is subtracted."""
    line = {"length": 10.0, "segment_length": 0.2, "density": 1140, "start": [0, 0, -5]}
    many = {
        f"rope{number}": {**line, "start": [0, number, -5], "length": 6.0, "direction": [1, 0, 0.5]}
        for number in range(20)
    }
    with (
        build_world({}) as empty,
        build_world({"ropes": {"line": line}}) as one,
        build_world({"ropes": {"line": line}, "terrain": SEABED}) as grounded,
        build_world({"ropes": many}) as fleet,
    ):
        empty_step = _step(empty)
        return {
            "rope.50.us_per_step": 1e6 * (_step(one) - empty_step),
            "rope.50_seabed.us_per_step": 1e6 * (_step(grounded) - empty_step),
            "rope.20x30.rtf": 0.005 / _step(fleet),
        }


def _step(world: World) -> float:
    """Return CPU time per step, s."""
    start = world.snapshot()

    def run() -> None:
        world.restore(start)
        world.advance_steps(STEPS)

    return best_cpu(run) / STEPS
