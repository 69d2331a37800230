"""Symmetry: results do not depend on position, heading, distant neighbours, or the division into advances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

LINKS = {
    "hull": {"mass": 12.0, "inertia": [0.5, 0.9, 1.1], "center": [0.05, -0.02, -0.04]},
    "arm": {"mass": 2.0, "inertia": [0.02, 0.05, 0.04], "center": [0.2, 0.01, 0.0]},
}
JOINTS = {
    "shoulder": {"parent": "hull", "child": "arm", "at": [0.4, 0.1, 0], "rpy": [0.3, -0.2, 0.5], "axis": [0, 1, 0]}
}


@pytest.fixture
def craft(vehicle, any_inertia):
    """Return the path of a chain with every law in the water."""
    forces = {
        "water": {"kind": "added_mass", "link": "hull", "matrix": any_inertia(1, 10.0)},
        "arm_water": {"kind": "added_mass", "link": "arm", "matrix": any_inertia(3, 2.0)},
        "drag": {"kind": "damping", "link": "hull", "linear": any_inertia(2, 8.0), "quadratic": [5, 9, 9, 1, 1, 1]},
        "lift": {"kind": "force_points", "link": "hull", "points": [[0.1, 0, 0.1], [-0.1, 0, 0.1]], "volume": 0.0135},
        "plain": {"kind": "immersion_damping", "link": "arm", "underwater_linear": 0.4, "air_linear": 0.1},
        "tank": {"kind": "ballast", "link": "hull", "position": [-0.2, 0, 0], "volume": 0.002, "rate": 0.001},
    }
    return vehicle(LINKS, forces, JOINTS)


def _world(load, path, position, yaw, current, integrator="rk4"):
    pose = {"position": list(position), "roll_deg": 20.0, "pitch_deg": -15.0, "yaw_deg": yaw}
    return load(
        {
            "robots": {"craft": {"vehicle": path, "pose": pose}},
            "integrator": integrator,
            "water": {"currents": {"stream": {"kind": "uniform", "velocity": list(current)}}},
        }
    )


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_a_shifted_and_rotated_craft_moves_the_same(load, craft, set_velocity, motion_of, integrator):
    """Start, current and result all shifted by 20 km and turned by 137° about the vertical; rounding."""
    turn = Rotation.from_euler("z", 137.0, degrees=True).as_matrix()
    away = np.array([12e3, -16e3, 0.0])
    start, linear, current = np.array([1.0, 2.0, -30.0]), np.array([0.8, -0.5, 0.3]), np.array([0.3, -0.2, 0.1])
    here = _world(load, craft, start, 40.0, current, integrator)
    there = _world(load, craft, turn @ start + away, 177.0, turn @ current, integrator)
    set_velocity(here, linear, [0.5, -0.7, 0.9], [1.1])
    set_velocity(there, turn @ linear, [0.5, -0.7, 0.9], [1.1])
    for world in (here, there):
        world.robots["craft"].forces["tank"].set_target(2.0)
        world.advance(1.5)
    for link in LINKS:
        x, r, v = motion_of(here, "craft", link)
        y, s, w = motion_of(there, "craft", link)
        assert y - away == pytest.approx(turn @ x, abs=1e-9)
        assert s == pytest.approx(turn @ r, abs=1e-9)
        assert w == pytest.approx(v, abs=1e-9)


@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_distant_craft_move_as_if_alone(load, craft, motion_of, integrator):
    """Without contact they do not interact; one common matrix gives the same numbers, to rounding."""
    robots = {
        f"craft{i}": {
            "vehicle": craft,
            "pose": {"position": [10.0 * i, 5.0 * i, -30.0], "yaw_deg": 50.0 * i, "roll_deg": 9.0},
        }
        for i in range(3)
    }
    together = load({"robots": robots, "integrator": integrator})
    together.advance(2.0)
    for name, robot in robots.items():
        alone = load({"robots": {name: robot}, "integrator": integrator})
        alone.advance(2.0)
        for link in LINKS:
            found, expected = motion_of(together, name, link), motion_of(alone, name, link)
            for a, b in zip(found, expected, strict=True):
                assert a == pytest.approx(b, abs=1e-10)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_many_short_advances_are_bit_equal_to_one_long(load, craft, integrator):
    """Stops between steps change nothing for bodies that swim, pump or lie on the ground."""
    block = {
        "geometry": {"kind": "box", "size": [0.4, 0.3, 0.2]},
        "motion": "dynamic",
        "mass": 40.0,
        "added_mass": [20.0] * 3 + [0.1] * 3,
        "linear_damping": [10.0] * 6,
        "pose": {"position": [5.0, 0.0, -39.7], "roll_deg": 10.0},
    }
    scenario = {
        "robots": {"craft": {"vehicle": craft, "pose": {"position": [0.0, 0.0, -30.0], "roll_deg": 20.0}}},
        "objects": {"block": block},
        "terrain": {"kind": "flat", "depth": 40.0},
        "integrator": integrator,
    }
    once, often = load(scenario), load(scenario)
    for world in (once, often):
        world.robots["craft"].forces["tank"].set_target(2.0)
    once.advance_steps(300)
    for _ in range(300):
        often.advance_steps(1)
    assert once._engine.states.tobytes() == often._engine.states.tobytes()
    assert np.array_equal(once.robots["craft"].pose.position, often.robots["craft"].pose.position)


@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_a_restored_world_continues_bit_equal(load, craft, integrator):
    """The tanks are half filled and the bodies move; a new world of the same scenario continues equally."""
    scenario = {
        "robots": {"craft": {"vehicle": craft, "pose": {"position": [0.0, 0.0, -30.0], "roll_deg": 20.0}}},
        "integrator": integrator,
    }
    world, fresh = load(scenario), load(scenario)
    world.robots["craft"].forces["tank"].set_target(2.0)
    world.advance(0.4)
    snapshot = world.snapshot()
    world.advance(0.7)
    end = world._engine.states.tobytes()
    for other in (world, fresh):
        other.restore(snapshot)
        other.advance(0.7)
        assert other._engine.states.tobytes() == end
        assert other.robots["craft"].forces["tank"].mass == world.robots["craft"].forces["tank"].mass
