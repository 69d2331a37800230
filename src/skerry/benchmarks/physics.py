"""Physics: one step of a vehicle with all its forces against the bare engine, batches, and an untouched heightfield."""

from __future__ import annotations

from typing import Any

from skerry.benchmarks.goal import Goal
from skerry.benchmarks.timing import best_cpu, best_wall
from skerry.physics.bare import bare_steps
from skerry.world import World, build_batch, build_world

STEPS = 10_000
WORLDS = 64
SCENARIO = "torpedo_in_still_water"
# 700 × 700 nodes, 200 m below the vehicle: there, but never touched
HEIGHTFIELD: dict[str, Any] = {
    "terrain": {
        "kind": "heightfield",
        "size": [700, 700],
        "shape": [700, 700],
        "level": -200,
        "function": {"kind": "hills", "amplitude": 5, "seed": 1},
    }
}

GOALS = {
    "physics.core.step_us": Goal(1.6, times="physics.core.bare_step_us"),
    "physics.core.rtf": Goal(700, at_least=True),
    "physics.core.batch_speedup": Goal(1.8, at_least=True),
    "physics.core.hfield_overhead_percent": Goal(10),
}


def measure() -> dict[str, float]:
    """All figures of this part."""
    with build_world(SCENARIO) as world, build_world(SCENARIO, overrides=HEIGHTFIELD) as above_ground:
        step, bare, ground = _interleaved(world, above_ground)
        length = float(world.scenario.step)
    return {
        "physics.core.step_us": step * 1e6,
        "physics.core.bare_step_us": bare * 1e6,
        "physics.core.rtf": length / step,
        "physics.core.batch_speedup": _batch_speedup(),
        "physics.core.hfield_overhead_percent": 100 * (ground / step - 1),
    }


def _interleaved(world: World, above_ground: World) -> tuple[float, float, float]:
    """Seconds a step: with all forces, bare, and with the heightfield; taken in turns, since machines are noisy."""
    bare = bare_steps(world._engine.model, STEPS)
    actions = (lambda: world.advance_steps(STEPS), bare, lambda: above_ground.advance_steps(STEPS))
    best = [float("inf")] * 3
    for _ in range(5):
        for k, action in enumerate(actions):
            best[k] = min(best[k], best_cpu(action, repeats=2) / STEPS)
    return best[0], best[1], best[2]


def _batch_speedup() -> float:
    """Wall time of a batch on one thread over that on two."""
    times = []
    for threads in (1, 2):
        with build_batch(SCENARIO, seeds=range(WORLDS), threads=threads) as batch:
            times.append(best_wall(lambda batch=batch: batch.advance(2.0), repeats=5))  # type: ignore[misc]
    return times[0] / times[1]
