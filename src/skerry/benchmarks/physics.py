"""Physics: a step of a vehicle with all its forces against the bare engine; fleets, batches, threads, heightfield."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_cpu, best_wall
from skerry.physics.bare_model import bare_stepper
from skerry.world import World, build_batch, build_world

STEPS = 10_000
WORLDS = 64
FLEET = 16
REPEATS = 30
CORE = "torpedo_in_still_water"
SAM = "sam_empty"
WAVES: dict[str, Any] = {
    "water": {"surface": {"kind": "waves", "height": 1.0, "period": 6, "heading_deg": 45, "components": 64}}
}
# 700 × 700 nodes, 200 m below the vehicle, never in contact
HEIGHTFIELD: dict[str, Any] = {
    "terrain": {
        "kind": "heightfield",
        "size": [700, 700],
        "shape": [700, 700],
        "level": -200,
        "function": {"kind": "hills", "amplitude": 5, "seed": 1},
    }
}

# 708 × 708 nodes, a million triangles, half a metre apart
ROVER: dict[str, Any] = {
    "terrain": {
        "kind": "heightfield",
        "size": [353.5, 353.5],
        "shape": [708, 708],
        "level": 20,
        "function": {"kind": "hills", "amplitude": 3, "wavelength": 45, "seed": 1},
    },
    "reference": {"latitude_deg": 0, "longitude_deg": 0},
    "robots": {"husky": {"vehicle": "husky", "pose": {"position": [0, 0, 22]}}},
}

GOALS = {
    "physics.core.step_us": Goal(1.6, times="physics.core.bare_step_us"),
    "physics.core.rtf": Goal(700, at_least=True),
    "physics.core.batch_speedup": Goal(1.8, at_least=True),
    "physics.core.hfield_overhead_percent": Goal(10),
    "physics.sam.step_us": Goal(1.6, times="physics.sam.bare_step_us"),
    "physics.sam.rtf": Goal(700, at_least=True),
    "physics.sam_waves.rtf": Goal(350, at_least=True),
    "physics.fleet16.rtf": Goal(60, at_least=True),
    "physics.rover.rtf": Goal(120, at_least=True),
    "physics.threads2.speedup": Goal(1.7, at_least=True),
}


def measure() -> dict[str, float]:
    """Return all figures of this part."""
    values: dict[str, float] = {}
    with build_world(CORE) as world, build_world(CORE, overrides=HEIGHTFIELD) as above_ground:
        step, bare, ground = _alternate(world, above_ground)
        values["physics.core.step_us"] = step * 1e6
        values["physics.core.bare_step_us"] = bare * 1e6
        values["physics.core.rtf"] = float(world.scenario.step) / step
    values["physics.core.batch_speedup"] = _batch_speedup()
    values["physics.core.hfield_overhead_percent"] = 100 * (ground / step - 1)
    with build_world(SAM) as world, build_world(_fleet()) as fleet:
        _start_sams(world)
        _start_sams(fleet)
        step, bare, sixteen = _alternate(world, fleet)
        values["physics.sam.step_us"] = step * 1e6
        values["physics.sam.bare_step_us"] = bare * 1e6
        values["physics.sam.rtf"] = float(world.scenario.step) / step
        values["physics.fleet16.rtf"] = float(world.scenario.step) / sixteen
    with build_world(SAM, overrides=WAVES) as world:
        _start_sams(world)
        waves = best_cpu(lambda: world.advance_steps(STEPS)) / STEPS
        values["physics.sam_waves.rtf"] = float(world.scenario.step) / waves
    with build_world(ROVER) as world:
        _start_rover(world)
        steps = STEPS // 10  # the rover continues in each repeat and must stay on the terrain
        rover = best_cpu(lambda: world.advance_steps(steps)) / steps
        values["physics.rover.rtf"] = float(world.scenario.step) / rover
    values["physics.threads2.speedup"] = _thread_speedup()
    return values


def _fleet() -> dict[str, Any]:
    """Return a scenario of SAMs side by side."""
    robots = {
        f"sam{k}": {"vehicle": "sam", "pose": {"position": [5 * (k % 4), 5 * (k // 4), -10]}} for k in range(FLEET)
    }
    return {"robots": robots, "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}}


def _start_sams(world: World) -> None:
    """Command every SAM to swim in a turn."""
    for robot in world.robots.values():
        robot.actuators["thruster1"].command(rpm=600)
        robot.actuators["thruster2"].command(rpm=600)
        robot.actuators["thrust_vector_yaw"].command(angle=0.05)


def _start_rover(world: World) -> None:
    """Command the rover to drive in a wide circle, so that it stays on the terrain."""
    for name, actuator in world.robots["husky"].actuators.items():
        if name.endswith("Wheel"):
            actuator.command(power=0.7 if "Left" in name else 1.0)


def _alternate(world: World, other: World) -> tuple[float, float, float]:
    """Return seconds per step of a world, of its bare model and of another world, measured alternately."""
    bare = bare_stepper(world._engine.model, STEPS)
    actions = (lambda: world.advance_steps(STEPS), bare, lambda: other.advance_steps(STEPS))
    best = [float("inf")] * 3
    for _ in range(5):
        for k, action in enumerate(actions):
            best[k] = min(best[k], best_cpu(action, repeats=1) / STEPS)
    return best[0], best[1], best[2]


def _batch_speedup() -> float:
    """Return wall time of a batch on one thread over that on two, measured alternately."""
    with (
        build_batch(CORE, seeds=range(WORLDS), threads=1) as one,
        build_batch(CORE, seeds=range(WORLDS), threads=2) as two,
    ):
        return _best_ratio(lambda: one.advance(0.5), lambda: two.advance(0.5))


def _thread_speedup() -> float:
    """Return steps per second of two worlds in two Python threads over those of one world in one thread."""
    with build_world(SAM) as first, build_world(SAM) as second, ThreadPoolExecutor(2) as pool:

        def both() -> None:
            list(pool.map(lambda world: world.advance_steps(STEPS), (first, second)))

        return 2 * _best_ratio(lambda: first.advance_steps(STEPS), both)


def _best_ratio(first: Callable[[], object], second: Callable[[], object]) -> float:
    """Return the best wall time of one action over that of another, from many short alternating repeats."""
    best = [float("inf"), float("inf")]
    for _ in range(REPEATS):
        for k, action in enumerate((first, second)):
            best[k] = min(best[k], best_wall(action, repeats=1))
    return best[0] / best[1]
