"""A warm-up before a run does not change the world."""

from typing import Any

import pytest

import skerry
from skerry.acoustics.channel import arrivals, paths
from skerry.world import World, build_world

PAIR: dict[str, Any] = {
    "water": {},
    "terrain": {"kind": "flat", "depth": 40.0},
    "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
    "robots": {
        "sam": {"vehicle": "sam", "pose": {"position": [0, 0, -5]}},
        "lolo": {"vehicle": "lolo", "pose": {"position": [30, 0, -5]}},
    },
}
NEEDED = (
    arrivals.add_in_flight,
    arrivals.predict_due,
    arrivals.collect_arrivals,
    arrivals.mark_due,
    arrivals.sort_stored,
    paths.find_paths,
)


@pytest.fixture
def world() -> World:
    return build_world(PAIR)


def send_and_receive(world: World) -> bytes:
    world.robots["sam"].acoustics["modem"].write("here I am")
    world.advance(0.2)
    return bytes(world.snapshot().data)


def test_an_acoustic_warm_up_compiles_kernels_and_changes_nothing(world: World) -> None:
    with world:
        world.advance(0.05)
        before = world.snapshot()
        world.warm_up_acoustics()
        assert all(kernel.signatures for kernel in NEEDED)
        assert world.snapshot() == before
        assert world.acoustics.is_silent
        assert world.acoustics.paths("sam/modem") == []
        expected = send_and_receive(world)
        world.restore(before)
        assert send_and_receive(world) == expected


def test_a_world_without_modems_has_nothing_to_warm_up() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        world.warm_up_acoustics()
        assert world.acoustics.is_silent
