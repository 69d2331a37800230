"""A world that begins anew is the world that would be built, to the bit."""

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
def test_a_world_that_begins_anew_is_the_one_that_would_be_built(change: str) -> None:
    source, overrides = CHANGES[change]
    scenario = load_scenario(source, overrides).scenario
    with skerry.load(source) as world, skerry.load(scenario) as fresh:
        world.robots[next(iter(world.robots))].sensors["imu"].reading  # noqa: B018  from now on it is wanted
        world.advance(2.0)
        assert world.is_compatible(scenario)
        world.begin(scenario)
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
def test_what_the_model_is_made_of_cannot_begin_anew(overrides: dict[str, Any]) -> None:
    scenario = load_scenario("sam_empty", overrides).scenario
    with skerry.load("sam_empty") as world:
        assert not world.is_compatible(scenario)
        with pytest.raises(SkerryError, match="load the scenario"):
            world.begin(scenario)


def test_a_seed_that_waves_are_drawn_from_is_built_in() -> None:
    waves = {"water": {"surface": {"kind": "waves", "height": 1, "period": 6, "heading_deg": 0}}}
    with skerry.load("sam_empty", overrides=waves) as world:
        assert world.is_compatible(load_scenario("sam_empty", waves).scenario)
        assert not world.is_compatible(load_scenario("sam_empty", waves, seed=9).scenario)
