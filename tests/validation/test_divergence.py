"""Divergence: the report names body and step, the world keeps its last valid state, other worlds continue."""

from __future__ import annotations

import numpy as np
import pytest

import skerry

DEEP = {"position": [0.0, 0.0, -20.0]}
LINK = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]}


def _push(force):
    return {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 1e-6, "custom_force": force}


@pytest.fixture
def two(vehicle):
    """Return a scenario with a calm craft and one that a force drives."""

    def build(force, **scenario):
        calm = vehicle({"hull": LINK}, {"push": _push([1.0, 0, 0])})
        wild = vehicle({"hull": LINK}, {"push": _push(force)})
        robots = {
            "calm": {"vehicle": calm, "pose": {"position": [0.0, 50.0, -20.0]}},
            "wild": {"vehicle": wild, "pose": DEEP},
        }
        return {"robots": robots, "gravity": 0.0, "step": "1/200"} | scenario

    return build


def _is_finite(world):
    return all(
        np.isfinite(np.concatenate([robot.pose.position, robot.pose.orientation, robot.twist.linear])).all()
        for robot in world.robots.values()
    )


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
@pytest.mark.parametrize("force", [1e300, 1e200, 1e12])
def test_an_absurd_force_is_reported_with_body_and_step(load, two, integrator, force):
    """a = F/m beyond the limit in the first step; the report names the diverged body, not its neighbour."""
    world = load(two([force, 0.0, 0.0], integrator=integrator))
    with pytest.raises(skerry.PhysicsDiverged, match="wild") as caught:
        world.advance(1.0)
    assert caught.value.body == "wild/hull"
    assert (caught.value.step, caught.value.time) == (1, 0.0)
    assert "step 1" in str(caught.value)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_the_world_keeps_its_last_valid_state(load, two, integrator):
    """Nothing of the step that diverged remains: finite, at the start, and the clock too."""
    world = load(two([1e300, 0.0, 0.0], integrator=integrator))
    with pytest.raises(skerry.PhysicsDiverged):
        world.advance(1.0)
    assert world.tick == 0
    assert _is_finite(world)
    assert world.robots["wild"].pose.position == pytest.approx([0.0, 0.0, -20.0], abs=0.0)


@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_a_slow_runaway_stops_at_the_step_that_reaches_the_limit(load, two, integrator):
    """v = F t/m passes 10⁶ m/s at t = 0.2 s, step 40; both bodies are where 39 valid steps brought them."""
    world = load(two([1e7, 0.0, 0.0], integrator=integrator))
    with pytest.raises(skerry.PhysicsDiverged) as caught:
        world.advance(1.0)
    assert caught.value.body == "wild/hull"
    assert caught.value.step == 40
    assert caught.value.time == pytest.approx(0.195)
    assert world.tick == 39
    assert world.robots["wild"].twist.linear[0] == pytest.approx(5e6 * 0.195, rel=1e-9)
    assert world.robots["calm"].twist.linear[0] == pytest.approx(0.5 * 0.195, rel=1e-9)
    assert caught.value.last_velocity[0] == pytest.approx(5e6 * 0.195, rel=1e-9)


def test_the_last_valid_state_equals_that_of_a_world_stepped_so_far(load, two):
    """Bit-equal to a second world with only 39 steps."""
    diverged, stepped = load(two([1e7, 0.0, 0.0])), load(two([1e7, 0.0, 0.0]))
    with pytest.raises(skerry.PhysicsDiverged):
        diverged.advance(1.0)
    stepped.advance_steps(39)
    for name in ("calm", "wild"):
        assert np.array_equal(diverged.robots[name].pose.position, stepped.robots[name].pose.position)
        assert np.array_equal(diverged.robots[name].twist.linear, stepped.robots[name].twist.linear)


def test_a_nan_from_a_python_force_is_reported(load, two):
    """A NaN force is refused: the message names the body, and the world stays finite."""
    calls = []

    def force(state):
        calls.append(state.time)
        return np.full(6, np.nan if len(calls) == 5 else 0.0)

    world = load(two([1.0, 0.0, 0.0]), forces={"wild/hull": force})
    with pytest.raises(skerry.PhysicsDiverged) as caught:
        world.advance(1.0)
    assert caught.value.body == "wild/hull"
    assert caught.value.step == 5
    assert world.tick == 4
    assert _is_finite(world)


def test_a_body_that_leaves_the_map_is_named_itself(load):
    """At 5·10⁵ m/s the second of two balls is 10⁶ m away after 2 s; the first stands still and is not to blame."""
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0}
    objects = {
        "near": ball | {"pose": {"position": [0.0, 0.0, 10.0]}},
        "far": ball | {"pose": {"position": [0.0, 3.0, 10.0]}},
    }
    world = load({"objects": objects, "gravity": 0.0})
    world._engine.part("qvel")[0, 6] = 5e5
    world._engine.refresh()
    with pytest.raises(skerry.PhysicsDiverged) as caught:
        world.advance(3.0)
    assert caught.value.body == "far/body"
    assert caught.value.last_velocity[0] == pytest.approx(5e5)


def test_the_angle_of_a_propeller_has_no_limit(load, vehicle):
    """An angle of 10⁶ rad is 2.6 hours at 1000 rpm: many turns, not a divergence."""
    links = {"hull": LINK, "propeller": {"mass": 0.1, "inertia": [2e-4, 1e-4, 1e-4]}}
    joints = {"shaft": {"parent": "hull", "child": "propeller", "axis": [1, 0, 0]}}
    robot = {"vehicle": vehicle(links, {}, joints), "pose": {"position": [0.0, 0.0, 10.0]}}
    world = load({"robots": {"craft": robot}, "gravity": 0.0})
    world._engine.part("qpos")[0, 7] = 1e6 - 1.0
    world._engine.part("qvel")[0, 6] = 105.0
    world._engine.refresh()
    world.advance(1.0)
    assert world.robots["craft"].joint_velocity("shaft") == pytest.approx(105.0, rel=1e-9)


def test_a_joint_that_runs_away_is_named_by_its_link(load, vehicle):
    """The link that the joint moves, not the root of the tree."""
    links = {"hull": LINK, "arm": {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}}
    joints = {"hinge": {"parent": "hull", "child": "arm", "axis": [0, 0, 1]}}
    robot = {"vehicle": vehicle(links, {}, joints), "anchored": True, "pose": DEEP}
    world = load({"robots": {"craft": robot}}, forces={"craft/arm": lambda state: [0, 0, 0, 0, 0, 1e20]})
    with pytest.raises(skerry.PhysicsDiverged) as caught:
        world.advance(1.0)
    assert caught.value.body == "craft/arm"


def test_a_diverged_world_can_be_restored_and_continues(load, two):
    """A snapshot from before the divergence still works."""
    world = load(two([1e7, 0.0, 0.0]))
    world.advance(0.1)
    before = world.snapshot()
    with pytest.raises(skerry.PhysicsDiverged):
        world.advance(1.0)
    world.restore(before)
    assert world.tick == 20
    world.advance(0.05)
    assert world.robots["wild"].twist.linear[0] == pytest.approx(5e6 * 0.15, rel=1e-9)


# ------------------------------------------------------------------------------------------------ batches


def _forced(force):
    """Return overrides for the force on the diverging craft."""
    return {"robots": {"wild": {"overrides": {"forces": {"push": {"custom_force": [force, 0.0, 0.0]}}}}}}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_a_failed_world_of_a_batch_is_reported_and_the_others_equal_single_worlds(load, two, threads, integrator):
    """World 1 diverges at its step 40; worlds 0 and 2 continue, bit-equal to single worlds."""
    scenario = two([1.0, 0.0, 0.0], integrator=integrator)
    overrides = [_forced(3.0), _forced(1e7), _forced(-2.0)]
    with skerry.load_batch(scenario, [1, 2, 3], overrides, threads) as batch:
        batch.advance(0.5)
        assert list(batch.failures) == [1]
        error = batch.failures[1]
        assert isinstance(error, skerry.PhysicsDiverged)
        assert (error.world, error.body, error.step) == (1, "wild/hull", 40)
        assert batch.robots["wild"].velocity[1, 0] == pytest.approx(5e6 * 0.195, rel=1e-9)
        batch.advance(0.5)
        assert list(batch.failures) == [1]
        assert batch.robots["wild"].velocity[1, 0] == pytest.approx(5e6 * 0.195, rel=1e-9)
        for number, seed in ((0, 1), (2, 3)):
            alone = load(scenario, seed=seed, overrides=overrides[number])
            alone.advance(0.5)
            alone.advance(0.5)
            assert batch.state(number) == alone._engine.states[0].tobytes()
            assert np.array_equal(batch.robots["wild"].position[number], alone.robots["wild"].pose.position)
