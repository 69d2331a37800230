"""A reset world is bit-identical to a newly built world."""

from __future__ import annotations

from typing import Any

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.scenario import load_scenario

CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "seed": ("sam_empty", {"seed": 7}),
    "commands": ("sam_empty", {"robots": {"sam": {"commands": {"thruster1": {"rpm": 500}, "vbs": {"percent": 80}}}}}),
    "events": ("sam_empty", {"events": [{"at": 1, "command": "sam/thruster1", "value": {"rpm": 900}}]}),
    "all": (
        "sam_empty",
        {
            "seed": 3,
            "robots": {"sam": {"commands": {"lcg": {"percent": 20}}}},
            "events": [{"at": 0, "move": "sam", "pose": {"position": [1, 2, -3]}}, {"at": 0, "trigger": "sam/leak"}],
        },
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_reset_world_is_bit_identical_to_a_new_one(change: str) -> None:
    source, overrides = CHANGES[change]
    scenario = load_scenario(source, overrides).scenario
    with skerry.load(source) as world, skerry.load(scenario) as fresh:
        world.robots[next(iter(world.robots))].sensors["imu"].reading  # noqa: B018  subscribes
        world.advance(2.0)
        assert world.is_compatible(scenario)
        world.reset(scenario=scenario)
        assert world.fingerprint() == fresh.fingerprint()
        for _ in range(2):
            for each in (world, fresh):
                each.advance(1.5)
            assert world.fingerprint() == fresh.fingerprint()
        robot = next(iter(world.robots))
        readings = [repr(each.robots[robot].sensors["imu"].reading) for each in (world, fresh)]
        assert readings[0] == readings[1]


@pytest.mark.parametrize(
    "overrides",
    [
        {"water": {"density": 1000}},
        {"robots": {"sam": {"overrides": {"forces": {"damping": {"linear": [2, 5, 5, 0.1, 1.5, 1.5]}}}}}},
        {"robots": {"sam": {"pose": {"position": [1, 2, -3]}}}},
        {"step": "1/100"},
    ],
)
def test_a_scenario_of_another_structure_cannot_be_reset(overrides: dict[str, Any]) -> None:
    scenario = load_scenario("sam_empty", overrides).scenario
    with skerry.load("sam_empty") as world:
        assert not world.is_compatible(scenario)
        with pytest.raises(SkerryError, match="load it instead"):
            world.reset(scenario=scenario)


def test_a_seed_of_waves_belongs_to_the_structure() -> None:
    waves = {"water": {"surface": {"kind": "waves", "height": 1, "period": 6, "heading_deg": 0}}}
    with skerry.load("sam_empty", overrides=waves) as world:
        assert world.is_compatible(load_scenario("sam_empty", waves).scenario)
        assert not world.is_compatible(load_scenario("sam_empty", waves, seed=9).scenario)
