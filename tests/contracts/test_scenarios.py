"""Every shipped scenario and vehicle loads, dumps back equal, and runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.formats.yaml_documents import read_document
from skerry.scenario.loading import SHIPPED as SCENARIOS
from skerry.scenario.loading import describe_shipped_scenarios, load_scenario, shipped_scenarios
from skerry.scenario.vehicle import SHIPPED as VEHICLES
from skerry.scenario.vehicle import shipped_vehicles
from skerry.world import World

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}


Load = Callable[[str | dict[str, Any]], World]


@pytest.fixture
def load(small_pictures: Callable[[Any], dict[str, Any]]) -> Load:
    """Return a builder of worlds with small camera images."""
    return lambda source: skerry.load(source, overrides=small_pictures(source))


def run(world: World, seconds: float) -> None:
    """Run with every sensor read, and check that all numbers stay plausible."""
    for _ in range(4):
        world.advance(seconds / 4)
        for robot in world.robots.values():
            for sensor in robot.sensors.values():
                _ = sensor.reading
    assert world.time == pytest.approx(seconds, abs=float(world.scenario.step))
    assert np.isfinite(world._engine.states).all()
    for tree in (*world.robots.values(), *world.objects.values()):
        assert np.linalg.norm(tree.twist.linear) < 30
        assert np.linalg.norm(tree.twist.angular) < 30


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_shipped_scenario_loads_runs_and_stays_finite(load: Load, name: str) -> None:
    with load(name) as world:
        assert world.scenario.name == name
        assert world.scenario.description
        run(world, 2.0)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_shipped_scenario_dumps_back_equal(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name).scenario
    assert scenario.description == describe_shipped_scenarios()[name] != ""
    path = tmp_path / "dump.yaml"
    path.write_text(scenario.dump(), encoding="utf-8")
    assert load_scenario(path).scenario == scenario
    assert load_scenario(scenario).scenario == scenario
    json.dumps(scenario.model_dump(mode="json"), allow_nan=False)


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_shipped_scenario_continues_from_its_snapshot(load: Load, name: str) -> None:
    with load(name) as world:
        run(world, 1.0)
        middle = world.snapshot()
        world.advance(1.0)
        after = bytes(world.snapshot())
        world.restore(middle)
        world.advance(1.0)
        assert bytes(world.snapshot()) == after


@pytest.mark.parametrize("name", shipped_scenarios())
def test_a_shipped_scenario_loads_from_any_folder(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_scenario(SCENARIOS / f"{name}.yaml").scenario == load_scenario(name).scenario


@pytest.mark.parametrize("name", shipped_vehicles())
@pytest.mark.parametrize("depth", [0.0, 30.0])
def test_a_shipped_vehicle_loads_runs_and_stays_finite(load: Load, name: str, depth: float) -> None:
    robot = {"vehicle": name, "pose": {"position": [0, 0, -depth]}}
    with load({"robots": {"a": robot}, "reference": REFERENCE}) as world:
        run(world, 2.0)


@pytest.mark.parametrize("name", shipped_vehicles())
def test_two_vehicles_of_one_kind_run_in_one_world(load: Load, name: str) -> None:
    robots = {key: {"vehicle": name, "pose": {"position": [x, 0, -9]}} for key, x in (("a", 0), ("b", 40))}
    with load({"robots": robots, "reference": REFERENCE}) as world:
        run(world, 0.5)


@pytest.mark.parametrize("name", shipped_vehicles())
def test_a_shipped_vehicle_describes_itself_and_every_part_has_its_link(name: str) -> None:
    document = read_document(VEHICLES / name / "vehicle.yaml")
    assert document.data["description"]
    vehicle = load_scenario({"robots": {"a": {"vehicle": name}}, "reference": REFERENCE}).vehicles["a"]
    for group, part, config in vehicle.config.parts():
        assert getattr(config, "link", vehicle.robot.root) in vehicle.robot.links, f"{group}.{part}"
