"""Particles that show the force fields: the fields move them, they restart, and the physics ignores them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry
from skerry.world.particles import BLUE, GREEN, MASS, RED

BALL = {"kind": "sphere", "center": [0, 0, -5], "radius": 3}
PUSH = {"kind": "vector", "vector": [1, 0, 0], "magnitude": 0.02, "volume": BALL}
DUMMY = {"geometry": {"kind": "box", "size": [0.4, 0.4, 0.4]}, "motion": "dynamic", "mass": 65.6}


def scenario(fields: dict[str, Any], **visualizer: Any) -> dict[str, Any]:
    return {"fields": fields, "visualizer": visualizer}


def test_a_particle_is_moved_by_the_field_and_by_nothing_else() -> None:
    """F/m = 0.02/0.1 = 0.2 m/s²; one step of the pool is semi-implicit Euler, so that v = a t exactly."""
    settings = scenario({"push": PUSH}, count=20, lifetime=100, recycle_when_out=False, spawn_strictly_inside=True)
    with skerry.load(settings) as world:
        world.advance(0.05)  # started, and moved once
        assert world.particles is not None
        born = world.particles.positions.copy()
        world.advance(0.5)
        alive = world.particles.alive
        assert alive.sum() >= 15
        speed = world.particles.velocities[alive]
        assert speed[:, 0] == pytest.approx(0.02 / MASS * 0.55, rel=1e-9)
        assert np.all(speed[:, 1:] == 0.0)
        assert np.all(world.particles.positions[alive, 0] > born[alive, 0])


def test_particles_start_strictly_inside_if_configured() -> None:
    settings = scenario({"push": PUSH | {"magnitude": 0.0}}, count=200, spawn_strictly_inside=True)
    with skerry.load(settings) as world:
        world.advance(0.05)
        assert world.particles is not None
        away = np.linalg.norm(world.particles.positions - [0, 0, -5], axis=1)
        assert away.max() <= 3.0


def test_particles_start_in_the_box_around_a_field_otherwise() -> None:
    settings = scenario({"push": PUSH | {"magnitude": 0.0}}, count=200)
    with skerry.load(settings) as world:
        world.advance(0.05)
        assert world.particles is not None
        offsets = world.particles.positions - [0, 0, -5]
        assert np.abs(offsets).max() <= 3.0
        assert np.linalg.norm(offsets, axis=1).max() > 3.0


def test_a_particle_without_force_is_replaced_if_configured() -> None:
    """No force acts in the corners of the box around a ball, which fills π/6 = 52 % of the box.

    A replaced particle may be in a corner again, until the next call.
    """
    inside = {}
    for recycle in (True, False):
        weak = PUSH | {"magnitude": 1e-9}
        settings = scenario({"push": weak}, count=300, lifetime=1000, recycle_when_out=recycle)
        with skerry.load(settings) as world:
            world.advance(1.0)
            assert world.particles is not None
            inside[recycle] = np.mean(np.linalg.norm(world.particles.positions - [0, 0, -5], axis=1) < 3)
    assert inside[False] == pytest.approx(np.pi / 6, rel=0.15)
    assert inside[True] > 0.95


@pytest.mark.parametrize("recycle", [True, False])
def test_as_many_particles_live_as_are_counted(recycle: bool) -> None:
    with skerry.load(scenario({"push": PUSH}, count=200, recycle_when_out=recycle)) as world:
        for _ in range(60):
            world.advance(0.05)
            assert world.particles is not None
            assert world.particles.alive.sum() == 200
        assert (world.particles.fading > 0).sum() > 50


@pytest.mark.parametrize("flag", ["only_underwater", "only_above_water"])
def test_particles_start_strictly_where_a_field_acts(flag: str) -> None:
    """Half of the ball is above the water."""
    ball = {"kind": "sphere", "center": [0, 0, 0], "radius": 3}
    settings = scenario(
        {"push": PUSH | {"volume": ball, "magnitude": 0.0, flag: True}},
        count=500,
        recycle_when_out=False,
        spawn_strictly_inside=True,
    )
    with skerry.load(settings) as world:
        for _ in range(5):
            world.advance(0.3)
            assert world.particles is not None
            heights = world.particles.positions[:, 2]
            assert (heights < 0).all() if flag == "only_underwater" else (heights >= 0).all()
            assert np.linalg.norm(world.particles.positions, axis=1).max() <= 3.0


def test_all_particles_live_in_a_field_that_fills_little_of_its_box() -> None:
    """The field acts in a cap of 0.5 m of a ball of 3 m, 2 % of the box around the ball."""
    ball = {"kind": "sphere", "center": [0, 0, 2.5], "radius": 3}
    settings = scenario({"push": PUSH | {"volume": ball, "only_underwater": True}}, spawn_strictly_inside=True)
    with skerry.load(settings) as world:
        for _ in range(20):
            world.advance(0.05)
            assert world.particles is not None
            assert world.particles.alive.sum() == 100


def test_a_field_that_acts_nowhere_has_no_particles() -> None:
    high = {"kind": "sphere", "center": [0, 0, 9], "radius": 3}
    field = PUSH | {"volume": high, "only_underwater": True}
    with skerry.load(scenario({"push": field}, count=10, spawn_strictly_inside=True)) as world:
        world.advance(0.5)
        assert world.particles is not None
        assert not world.particles.alive.any()


def test_colours_show_where_a_field_acts() -> None:
    above = {"kind": "box", "center": [0, 0, 5], "size": [4, 4, 4]}
    for field, colour in (
        (PUSH, GREEN),
        (PUSH | {"only_underwater": True}, BLUE),
        (PUSH | {"only_above_water": True, "volume": above}, RED),
    ):
        with skerry.load(scenario({"it": field}, count=10)) as world:
            world.advance(0.05)
            assert world.particles is not None
            assert set(world.particles.colours.tolist()) == {colour}


def test_a_field_that_is_not_to_be_shown_has_no_particles() -> None:
    with skerry.load(scenario({"it": PUSH | {"include_in_visualizer": False}})) as world:
        world.advance(1.0)
        assert world.particles is not None
        assert not world.particles.alive.any()


def test_the_wash_of_a_propeller_is_shown_behind_it() -> None:
    robot = {
        "vehicle": "sam",
        "pose": {"position": [0, 0, -20]},
        "overrides": {"actuators": {"thruster1": {"field": {"length": 3}}}},
        "commands": {"thruster1": {"rpm": 500}},
    }
    settings = {"robots": {"sam": robot}, "visualizer": {}, "reference": {"latitude_deg": 58, "longitude_deg": 17}}
    with skerry.load(settings) as world:
        world.advance(0.5)
        assert world.particles is not None
        alive = world.particles.alive
        assert alive.sum() > 10
        assert world.particles.positions[alive, 0].max() < -0.6  # SAM points along x; its propeller is 0.73 m behind
        assert world.particles.velocities[alive, 0].mean() < 0.0


def test_particles_leave_the_physics_alone_to_the_byte() -> None:
    states = []
    for visualizer in (None, {"count": 50}):
        with skerry.load({"fields": {"push": PUSH}, "objects": {"d": DUMMY}, "visualizer": visualizer}) as world:
            world.advance(2.0)
            states.append(world._engine.states[0].tobytes())
    assert states[0] == states[1]


def test_the_same_seed_shows_the_same_particles_and_a_snapshot_holds_them() -> None:
    settings = scenario({"push": PUSH})
    shown = []
    for seed in (1, 1, 2):
        with skerry.load(settings, seed=seed) as world:
            world.advance(1.0)
            before = world.snapshot()
            world.advance(1.0)
            assert world.particles is not None
            shown.append(world.particles.positions.tobytes())
            world.restore(before)
            world.advance(1.0)
            assert world.particles.positions.tobytes() == shown[-1]
    assert shown[0] == shown[1] != shown[2]


def test_trails_remember_where_a_particle_was() -> None:
    with skerry.load(scenario({"push": PUSH}, count=5, lifetime=100, trail=4, recycle_when_out=False)) as world:
        world.advance(1.0)
        assert world.particles is not None
        assert world.particles.trails.shape == (5, 4, 3)
        assert np.array_equal(world.particles.trails[:, 0], world.particles.positions)
