"""What is rehearsed before a world runs changes nothing in it."""

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


def say_and_listen(world: World) -> bytes:
    world.robots["sam"].acoustics["modem"].write("here I am")
    world.advance(0.2)
    return bytes(world.snapshot().data)


def test_a_rehearsal_of_sound_compiles_its_kernels_and_leaves_no_trace(world: World) -> None:
    with world:
        world.advance(0.05)
        before = world.snapshot()
        world.warm_up_acoustics()
        assert all(kernel.signatures for kernel in NEEDED)
        assert world.snapshot() == before
        assert world.acoustics.is_silent
        assert world.acoustics.paths("sam/modem") == []
        rehearsed = say_and_listen(world)
        world.restore(before)
        assert say_and_listen(world) == rehearsed


def test_a_world_without_modems_has_nothing_to_rehearse() -> None:
    with skerry.load("torpedo_in_still_water") as world:
        world.warm_up_acoustics()
        assert world.acoustics.is_silent
