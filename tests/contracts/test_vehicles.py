"""What every shipped vehicle promises: it loads, writes itself down, and no commands whatever make it blow up."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest

import skerry
from skerry.core.config import resolve_paths_from
from skerry.scenario.loading import load_scenario
from skerry.scenario.vehicle import SHIPPED, VehicleConfig, shipped_vehicles
from skerry.world import World
from skerry.world.robot import Robot

SEEDS = range(10)
EVERY = pytest.mark.parametrize("name", shipped_vehicles())


def scenario(name: str, depth: float = 5.0) -> dict[str, object]:
    """A vehicle in still water over a flat ground."""
    return {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "terrain": {"kind": "flat", "depth": 25},
        "robots": {"it": {"vehicle": name, "pose": {"position": [0, 0, -depth]}}},
    }


@pytest.fixture(params=shipped_vehicles(), scope="module")
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    with skerry.load(scenario(request.param)) as built:
        yield built


def kinetic_energy(world: World, robot: Robot) -> float:
    """Return the kinetic energy of all links, from their masses and inertias without water, J."""
    compiled = world._engine.model.compiled
    total = 0.0
    for body in range(1, compiled.nbody):
        if compiled.body_rootid[body] != robot.root:
            continue
        row = world._engine.motion(0, body)
        total += 0.5 * compiled.body_mass[body] * float(row[7:10] @ row[7:10])
        total += 0.5 * float(compiled.body_inertia[body].max()) * float(row[10:13] @ row[10:13])
    return total


def test_random_commands_for_a_minute_leave_the_state_finite_and_the_energy_bounded(world: World) -> None:
    """Every actuator gets a new random command within its limits each second, for 60 s and ten seeds.

    A vehicle's energy is at most that of 25 m/s, which nothing here reaches but in flight or in a fall.
    """
    robot = world.robots["it"]
    start = world.snapshot()
    mass = float(world._engine.model.compiled.body_mass.sum())
    for seed in SEEDS:
        world.restore(start)
        random = np.random.default_rng(seed)
        for _ in range(60):
            for actuator in robot.actuators.values():
                low, high = actuator.limits
                actuator.command(**{actuator.keyword: random.uniform(low, high)})
            world.advance(1.0)
            assert np.isfinite(world._engine.states).all(), f"seed {seed}, at {world.time} s"
            assert kinetic_energy(world, robot) < 0.5 * mass * 25.0**2, f"seed {seed}, at {world.time} s"
        assert world.time == pytest.approx(60.0)


def test_commands_that_come_again_give_the_same_bytes(world: World) -> None:
    robot = world.robots["it"]
    start = world.snapshot()
    ends = []
    for _ in range(2):
        world.restore(start)
        for actuator in robot.actuators.values():
            actuator.command(**{actuator.keyword: 0.6 * actuator.limits[1]})
        world.advance(5.0)
        ends.append(bytes(world.snapshot()))
    assert ends[0] == ends[1]


@EVERY
def test_a_vehicle_goes_to_json_and_back(name: str) -> None:
    config = load_scenario(scenario(name)).vehicles["it"].config
    text = json.dumps(config.model_dump(mode="json"), allow_nan=False)
    with resolve_paths_from(SHIPPED / name):
        assert VehicleConfig.model_validate(json.loads(text)) == config


@EVERY
def test_a_vehicle_has_a_shape_to_see_and_a_shape_to_touch(name: str) -> None:
    links = load_scenario(scenario(name)).vehicles["it"].robot.links.values()
    assert any(link.visuals for link in links)
    assert any(link.collisions for link in links)
