"""Worlds of a batch start, move and are read as if each were alone."""

from __future__ import annotations

import numpy as np
import pytest

import skerry
from skerry.world.build import rebuild

LINK = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]}


@pytest.fixture
def scenario(vehicle):
    """Return a scenario with a craft with a tank, pushed by a force, and a kinematic buoy."""
    forces = {
        "push": {
            "kind": "force_points",
            "link": "hull",
            "points": [[0, 0, 0]],
            "volume": 0.001,
            "custom_force": [2.0, 0.0, 0.0],
        },
        "tank": {"kind": "ballast", "link": "hull", "volume": 0.004, "fill": 0.0, "rate": 0.002},
        "drag": {"kind": "damping", "link": "hull", "linear": [1.0] * 6},
    }
    craft = {"vehicle": vehicle({"hull": LINK}, forces), "pose": {"position": [0.0, 0.0, -20.0]}}
    buoy = {
        "geometry": {"kind": "sphere", "radius": 0.2},
        "motion": "kinematic",
        "pose": {"position": [9.0, 0.0, 0.0]},
    }
    return {"robots": {"craft": craft}, "objects": {"buoy": buoy}}


def test_each_world_of_a_batch_starts_at_its_own_pose(scenario):
    """Poses are values, not structure: each world has its own poses of robots and kinematic objects."""
    overrides = [
        None,
        {"robots": {"craft": {"pose": {"position": [5.0, 0.0, -30.0]}}}},
        {
            "robots": {"craft": {"pose": {"position": [-5.0, 1.0, -40.0], "yaw_deg": 90.0}}},
            "objects": {"buoy": {"pose": {"position": [7.0, 1.0, 0.0]}}},
        },
    ]
    with skerry.load_batch(scenario, [1, 2, 3], overrides, 1) as batch:
        expected = [[0.0, 0.0, -20.0], [5.0, 0.0, -30.0], [-5.0, 1.0, -40.0]]
        assert batch.robots["craft"].position == pytest.approx(np.array(expected))
        assert np.abs(batch.robots["craft"].orientation[2]) == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])
        expected = [[9.0, 0.0, 0.0], [9.0, 0.0, 0.0], [7.0, 1.0, 0.0]]
        assert batch.objects["buoy"].position == pytest.approx(np.array(expected))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_each_world_of_a_batch_with_its_own_laws_is_bit_equal_to_the_world_alone(load, scenario, threads, integrator):
    """Forces, water and gravity differ from world to world; the same numbers come out as from worlds stepped alone."""
    stream = {"stream": {"kind": "uniform", "velocity": [1.0, 0.0, 0.0]}}
    overrides = [
        {"robots": {"craft": {"overrides": {"forces": {"push": {"custom_force": [4.0, 1.0, 0.0]}}}}}},
        {"gravity": 3.0},
        {"water": {"density": 500.0, "currents": stream}},
        {"robots": {"craft": {"overrides": {"forces": {"tank": {"fill": 1.0}, "drag": {"quadratic": [1.0] * 6}}}}}},
    ]
    scenario["integrator"] = integrator
    with skerry.load_batch(scenario, [1, 2, 3, 4], overrides, threads) as batch:
        batch.advance(0.5)
        for number, layer in enumerate(overrides):
            alone = load(scenario, seed=number + 1, overrides=layer)
            alone.advance(0.5)
            assert batch.state(number) == alone._engine.states[0].tobytes()


def test_the_mass_in_the_tank_can_be_read_in_every_world_of_a_batch(scenario):
    """Each world has its own tank, filled by its own pump; a property of one number per world."""
    with skerry.load_batch(scenario, seeds=[1, 2, 3], threads=1) as batch:
        tank = batch.robots["craft"].forces["tank"]
        tank.set_target(1.0)
        batch.advance(2.0)
        assert np.asarray(tank.mass) == pytest.approx(np.array([1.0, 1.0, 1.0]))


def test_one_world_of_a_batch_is_reset_while_the_others_continue(scenario):
    """After a reset a world moves as the first time, to the bit, and the others are not affected."""
    with skerry.load_batch(scenario, seeds=[1, 2, 3], threads=2) as batch:
        batch.advance(0.5)
        once = [batch.state(world) for world in range(3)]
        batch.reset(1)
        assert batch.robots["craft"].position[1] == pytest.approx([0.0, 0.0, -20.0])
        batch.advance(0.5)
        assert batch.state(1) == once[1]
        with skerry.load_batch(scenario, seeds=[1, 2, 3], threads=1) as other:
            other.advance(1.0)
            assert [batch.state(world) for world in (0, 2)] == [other.state(world) for world in (0, 2)]


def test_one_world_of_a_batch_is_rebuilt_with_other_values(load, scenario):
    """The world is then bit-equal to a world of those values; the others keep their values, also after a reset."""
    layer = {"gravity": 3.0, "robots": {"craft": {"pose": {"position": [1.0, 2.0, -30.0]}}}}
    with skerry.load_batch(scenario, seeds=[1, 2], threads=1) as batch:
        batch.advance(0.5)
        for _ in range(20):  # memory of replaced models is freed, and no memory in use
            rebuild(batch, 1, scenario, 7, layer)
        batch.advance(0.5)
        alone = load(scenario, seed=7, overrides=layer)
        alone.advance(0.5)
        assert batch.state(1) == alone._engine.states[0].tobytes()
        batch.reset(1)
        assert batch.robots["craft"].position[1] == pytest.approx([1.0, 2.0, -30.0])
        batch.advance(0.5)
        assert batch.state(1) == alone._engine.states[0].tobytes()
        before = load(scenario, seed=1)
        before.advance(1.5)
        assert batch.state(0) == before._engine.states[0].tobytes()


def test_a_world_of_another_structure_cannot_replace_one_in_a_batch(scenario):
    more = {"objects": {"post": {"geometry": {"kind": "sphere", "radius": 0.1}}}}
    with (
        skerry.load_batch(scenario, seeds=[1, 2], threads=1) as batch,
        pytest.raises(skerry.SkerryError, match="differs from world 0"),
    ):
        rebuild(batch, 1, scenario, 1, more)


def test_a_world_loads_the_state_of_one_in_a_batch(load, scenario):
    """Time, pose and tank are those of the batch, and the following steps are the same to the bit."""
    with skerry.load_batch(scenario, seeds=[1, 2], threads=1) as batch:
        batch.robots["craft"].forces["tank"].set_target(1.0)
        batch.advance(0.5)
        alone = load(scenario, seed=2)
        alone.load_state(batch.state(1))
        assert alone.time == 0.5
        assert alone.robots["craft"].position == pytest.approx(batch.robots["craft"].position[1])
        assert alone.robots["craft"].forces["tank"].mass == batch.robots["craft"].forces["tank"].mass[1]
        batch.advance(0.5)
        alone.advance(0.5)
        assert batch.state(1) == alone._engine.states[0].tobytes()
        with pytest.raises(skerry.SkerryError, match="numbers"):
            alone.load_state(b"\0" * 80)
