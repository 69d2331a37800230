"""Ropes and winches: invalid settings, properties, and states that snapshots restore completely."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError

LINE = {"start": [0, 0, -1], "length": 2.0}
BALL = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.25}


def ball(x: float, y: float, z: float) -> dict[str, Any]:
    return {**BALL, "pose": {"position": [x, y, z]}}


def crane(rope: Mapping[str, Any], **winch: Any) -> dict[str, Any]:
    """Return a vehicle fixed in the air, 3 m above the water, with a rope on a winch."""
    parts = {
        "actuators": {"winch": {"kind": "winch", "link": "base_link", "rope_length": 10, "target_length": 2, **winch}},
        "ropes": {"lift": {"start": "base_link", "winch": "winch", "direction": [0, 0, -1], **rope}},
    }
    return {"vehicle": "torpedo", "anchored": True, "pose": {"position": [0.5, 0, 3]}, "overrides": parts}


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("rope", "words"),
    [
        ({"start": [0, 0, 0]}, "give either `length` or `winch`"),
        ({**LINE, "length": 0}, "greater than 0"),
        ({**LINE, "length": -1}, "greater than 0"),
        ({**LINE, "segment_length": 3}, "`segment_length` 3.0 m is more than `length` 2.0 m"),
        ({**LINE, "segment_length": 1e-4}, "more than 5000"),
        ({**LINE, "direction": [0, 0, 0]}, "`direction` must not be zero"),
        ({**LINE, "end": [1, 0, 0], "buoy": {"mass": 1}}, "only one of these at its end: end, buoy"),
        ({**LINE, "buoy": {"mass": 1}, "hook": {}}, "only one of these at its end: buoy, hook"),
        ({**LINE, "diametre": 0.1}, "diameter"),
        ({**LINE, "end": [9, 0, -1]}, "its ends are 9 m apart, but it is 2 m long"),
        ({**LINE, "end": "bal"}, "there is no robot or object 'bal'; did you mean 'ball'"),
        ({**LINE, "start": "ball/bse"}, "'ball' has no link 'bse'"),
        ({"start": [0, 0, 0], "winch": "winch"}, "a rope with a `winch` is a part of the vehicle"),
    ],
)
def test_a_bad_rope_is_refused_with_a_message(rope: dict[str, Any], words: str) -> None:
    with pytest.raises(SkerryError) as caught:
        skerry.load({"objects": {"ball": ball(0, 0, -3)}, "ropes": {"line": rope}})
    assert words in str(caught.value)
    assert "ropes.line" in str(caught.value)


@pytest.mark.parametrize(
    ("rope", "words"),
    [
        ({"start": "bse_link", "length": 2}, "base_link"),
        ({"start": "base_link", "winch": "wnch"}, "there is no such winch"),
    ],
)
def test_a_bad_rope_of_a_vehicle_is_refused_with_a_message(rope: dict[str, Any], words: str) -> None:
    with pytest.raises(SkerryError) as caught:
        skerry.load({"robots": {"craft": {"vehicle": "torpedo", "overrides": {"ropes": {"tow": rope}}}}})
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("winch", "words"),
    [
        ({"minimum_length": 20}, "must not exceed `rope_length`"),
        ({"target_length": 11}, "`target_length` 11.0 m must be between"),
        ({"start_length": 0.01}, "`start_length` 0.01 m must be between"),
        ({"speed": 9}, "must not exceed `maximum_speed`"),
    ],
)
def test_a_bad_winch_is_refused_with_a_message(winch: dict[str, Any], words: str) -> None:
    with pytest.raises(SkerryError) as caught:
        skerry.load({"robots": {"crane": crane({}, **winch)}})
    assert words in str(caught.value)


def test_an_impossible_attach_or_release_is_refused_and_the_world_continues() -> None:
    objects = {"near": ball(2.05, 0, -1), "far": ball(50, 0, -1)}
    rope = {**LINE, "direction": [1, 0, 0]}
    scenario = {"objects": objects, "ropes": {"line": rope, "later": {**LINE, "setup_on_start": False}}}
    with skerry.load(scenario) as world:
        line, later = world.ropes["line"], world.ropes["later"]
        before = bytes(world.snapshot())
        for place, words in (
            ("nobody", "there is no robot or object 'nobody'"),
            ("near/hand", "'near' has no link 'hand'"),
            ("far", "its ends are 50 m apart, but it is 2 m long"),
            ((0.0, float("nan"), 0.0), "three finite numbers"),
            ((0.0, 1.0), "three finite numbers"),
        ):
            with pytest.raises(SkerryError, match=words):
                line.attach(place)
            with pytest.raises(SkerryError, match=words):
                later.attach(place)
        with pytest.raises(SkerryError, match="is not tied, so it cannot be released"):
            line.release()
        with pytest.raises(SkerryError, match=r"there is no rope 'lin'|lin"):
            _ = world.ropes["lin"]
        assert bytes(world.snapshot()) == before
        assert not later.exists
        line.attach("near")
        with pytest.raises(SkerryError, match="is tied already; release it first"):
            line.attach("near")
        world.advance(0.5)
        line.release()
        later.attach([0, 1, -1])
        world.advance(0.5)
        assert later.exists
        assert later.length == pytest.approx(2.0)
        assert later.end == pytest.approx([0, 1, -1])


# ------------------------------------------------------------------------------------------------ what it says


def test_tightness_of_taut_slack_and_free_ropes() -> None:
    """A taut rope is tight towards both ends, a slack rope only over short distances; a free rope has no tension."""
    ropes = {
        "taut": {"start": [0, 0, -1], "end": [2.01, 0, -1], "length": 2.0},
        "slack": {"start": [0, 1, -1], "end": [1.0, 1, -1], "length": 2.0},
    }
    with skerry.load({"ropes": ropes}) as world:
        world.advance(2)
        taut, slack = world.ropes["taut"], world.ropes["slack"]
        assert taut.taut
        assert taut.tightness.shape == (20, 2)
        assert taut.tightness.all()
        assert slack.tightness[0, 0]
        assert slack.tightness[-1, 1]
        assert not slack.tightness[-1, 0]
        assert not slack.tightness[0, 1]
        assert slack.distance == pytest.approx(1.0, abs=1e-6)
        assert slack.length == pytest.approx(2.0)


# ------------------------------------------------------------------------------------------------ winch


def test_a_winch_follows_length_and_speed_within_its_limits() -> None:
    with skerry.load({"robots": {"crane": crane({}, expected_frequency=None)}}) as world:
        winch, rope = world.robots["crane"].actuators["winch"], world.robots["crane"].ropes["lift"]
        assert (winch.setpoint, winch.length, winch.speed, winch.rate) == (2.0, 2.0, 0.5, 0.0)
        winch.command(length=3.0, speed=1.0)
        world.advance(0.5)
        assert winch.length == pytest.approx(2.5)
        assert winch.rate == pytest.approx(1.0)
        assert rope.length == pytest.approx(2.5)
        winch.command(speed=0.0)
        world.advance(0.5)
        assert winch.length == pytest.approx(2.5)
        assert winch.setpoint == 3.0
        winch.command(speed=100.0)
        assert winch.speed == 5.0  # the maximum speed
        winch.command(length=99.0)
        assert winch.setpoint == 10.0
        world.advance(2.0)
        assert winch.length == pytest.approx(10.0)
        winch.command(length=-5.0)
        world.advance(3.0)
        assert winch.length == pytest.approx(0.1)
        assert rope.length == pytest.approx(0.1)
        with pytest.raises(SkerryError, match="length"):
            winch.command(rpm=5)
        with pytest.raises(SkerryError, match="length"):
            winch.command(length=float("nan"))
        with pytest.raises(SkerryError, match="speed"):
            winch.command(length=5.0, speed=float("nan"))  # either all of a command is used, or nothing
        assert winch.setpoint == 0.1
        with pytest.raises(SkerryError, match="`length=` or `speed=` or `release=`, not by spd; did you mean 'speed'"):
            winch.command(spd=1.0)
        winch.reset()
        assert winch.setpoint == 2.0


def test_a_winch_releases_its_load() -> None:
    robots = {"crane": crane({}, expected_frequency=None)}
    with skerry.load({"robots": robots, "objects": {"load": ball(0.5, 0, 1.0)}}) as world:
        winch, rope = world.robots["crane"].actuators["winch"], world.robots["crane"].ropes["lift"]
        rope.attach("load")
        world.advance(1.0)
        assert rope.loaded
        winch.command(release=1)
        world.advance(0.5)
        assert not rope.loaded
        assert world.objects["load"].position[2] < 0.5


# ------------------------------------------------------------------------------------------------ state

RECOVERY = {
    "robots": {"crane": crane({"hook": {"mass": 0.2}, "mass_per_metre": 0.02}, expected_frequency=None)},
    "objects": {"load": ball(-0.5, 0, -0.02)},
    "ropes": {"line": {"start": "load", "length": 2, "buoy": {"mass": 0.1}, "mass_per_metre": 0.005}},
}


def test_every_phase_of_a_recovery_continues_from_a_snapshot_bit_for_bit() -> None:
    """The phases: rope paid out and slack, caught and over the hook, hoisted and taut, carried."""
    commands = [{"length": 3.05, "speed": 0.3}, {"length": 3.05}, {"length": 0.5}, {"length": 1.0}]
    phases = []

    def run(world: Any, snapshot: Any, command: dict[str, float]) -> bytes:
        world.restore(snapshot)
        world.robots["crane"].actuators["winch"].command(**command)
        world.advance(2.0)
        return bytes(world.snapshot())

    with skerry.load(RECOVERY) as world, skerry.load(RECOVERY) as other:
        lift, winch = world.robots["crane"].ropes["lift"], world.robots["crane"].actuators["winch"]
        for command, seconds in zip(commands, (2.0, 2.5, 15.0, 3.0), strict=True):
            winch.command(**command)
            world.advance(seconds)
            phases.append(lift.phase)
            middle = world.snapshot()
            after = run(world, middle, {"length": 1.5})
            assert run(world, middle, {"length": 1.5}) == after
            assert run(other, middle, {"length": 1.5}) == after
            world.restore(middle)
        assert phases == ["hanging", "pulley", "carrying", "carrying"]


def test_ropes_in_a_batch_equal_those_of_single_worlds() -> None:
    scenario = {**RECOVERY, "robots": {"crane": crane({"hook": {}}, start_length=2.0, target_length=3.05)}}
    seconds = 6.0
    places = [[-0.5, 0, -0.02], [-0.6, 0.02, -0.02], [-0.4, 0, 0.0]]
    overrides = [{"objects": {"load": {"pose": {"position": place}}}} for place in places]
    alone = []
    for override in overrides:
        with skerry.load(scenario, overrides=override) as world:
            world.advance(seconds)
            alone.append(world._engine.states[0].tobytes())
    with skerry.load_batch(scenario, [0, 0, 0], overrides, 2) as batch:
        batch.advance(seconds)
        assert [batch.state(world) for world in range(3)] == alone
    assert len(set(alone)) == 3
    assert np.isfinite(np.frombuffer(alone[0])).all()


# ------------------------------------------------------------------------------------------------ catch, pulley, force


def test_a_hook_catches_a_rope_without_moving_it() -> None:
    """Nodes move no farther than before in the step of the catch, and no tension appears."""
    with skerry.load(RECOVERY) as world:
        lift, line = world.robots["crane"].ropes["lift"], world.ropes["line"]
        world.robots["crane"].actuators["winch"].command(length=3.05, speed=0.3)
        while lift.phase == "hanging":
            before, tension = line.points, line.tension.max()
            world.advance_steps(1)
            assert world.time < 10.0
        start, way = before[:-1, None], np.diff(before, axis=0)[:, None]
        share = ((line.points - start) * way).sum(-1, keepdims=True) / (way**2).sum(-1, keepdims=True)
        from_rope = np.linalg.norm(start + np.clip(share, 0, 1) * way - line.points, axis=-1).min(axis=0)
        assert from_rope.max() < 0.005  # 1 m/s for one step
        assert line.tension.max() < tension + 0.5
        assert np.linalg.norm(line.points - lift.end, axis=1).min() < 0.1 + 0.005


def test_the_end_of_a_rope_that_a_hook_has_taken_over_is_refused_with_a_message() -> None:
    with skerry.load(RECOVERY) as world:
        lift, line = world.robots["crane"].ropes["lift"], world.ropes["line"]
        for length, seconds in ((3.05, 6.0), (0.5, 15.0)):
            world.robots["crane"].actuators["winch"].command(length=length)
            world.advance(seconds)
        assert lift.phase == "carrying"
        assert not line.exists
        with pytest.raises(SkerryError, match="'line' does not exist now, so it has no end: a hook has caught it"):
            _ = line.end


HOIST = {"start": "one", "end": "two", "length": 6.0, "mass_per_metre": 0.001, "segment_length": 0.2, "damping": 1e2}


def test_a_pulley_has_two_limits_that_add_up_to_its_rope_and_tells_slack_from_tense() -> None:
    """Two equal loads hang at rest, tense; load one is lifted, so that there is slack; then load two takes it up."""
    objects = {"one": ball(-0.15, 0, 3), "two": ball(0.15, 0, 3)}
    with skerry.load({"objects": objects, "ropes": {"hoist": {**HOIST, "pulley": {"at": [0, 0, 6]}}}}) as world:
        hoist = world.ropes["hoist"]
        world.advance(1.0)
        pulley = hoist.pulley
        assert pulley is not None
        assert pulley.taut == (True, True)
        assert pulley.limit_sum == pytest.approx(6.0, abs=1e-9)
        assert pulley.limits == pytest.approx(pulley.distances, abs=0.02)
        assert pulley.tensions == pytest.approx([4.25 * 9.81] * 2, rel=0.05)
        world.teleport("one", skerry.Pose(np.array([-0.15, 0, 4.0]), np.array([0.0, 0, 0, 1])))
        pulley = hoist.pulley
        assert pulley is not None
        assert pulley.taut == (False, False)
        assert pulley.limits[0] > pulley.distances[0] + 0.2
        world.advance(3.0)
        pulley = hoist.pulley
        assert pulley is not None
        assert pulley.limit_sum == pytest.approx(6.0, abs=1e-9)
        assert world.ropes["hoist"].points[0] == pytest.approx(world.objects["one"].position, abs=1e-3)


def test_a_pulley_continues_from_a_snapshot_bit_for_bit_and_moves_with_its_loads() -> None:
    objects = {"one": ball(-0.5, 0, 3), "two": {**ball(0.5, 0, 3), "mass": 6.0}}
    with skerry.load({"objects": objects, "ropes": {"hoist": {**HOIST, "pulley": {"at": [0, 0, 6]}}}}) as world:
        world.advance(0.5)
        middle = world.snapshot()
        world.advance(1.0)
        after = bytes(world.snapshot())
        world.restore(middle)
        world.advance(1.0)
        assert bytes(world.snapshot()) == after
        assert world.objects["two"].position[2] < world.objects["one"].position[2]  # the heavier load sinks
        world.teleport("one", skerry.Pose(np.array([-0.5, 0, 4.0]), np.array([0.0, 0, 0, 1])))
        assert world.ropes["hoist"].points[0] == pytest.approx([-0.5, 0, 4.0])
        with pytest.raises(SkerryError, match="m apart over the pulley, but it is 6 m long"):
            world.teleport("one", skerry.Pose(np.array([-9.0, 0, 4.0]), np.array([0.0, 0, 0, 1])))


@pytest.mark.parametrize(
    ("rope", "words"),
    [
        ({**LINE, "pulley": {"at": [0, 0, 3]}}, "needs two loads: give `end`"),
        ({**LINE, "end": "ball", "pulley": {"at": "bal"}}, "there is no robot or object 'bal'; did you mean 'ball'"),
        ({**LINE, "end": "ball", "pulley": {"at": [0, 0, 30]}}, "m apart over the pulley, but it is 2 m long"),
        ({**LINE, "maximum_force": 0}, "greater than 0"),
        ({**LINE, "maximum_force": 5, "overload": "slip"}, "`overload: slip` needs a `winch`"),
        ({**LINE, "maximum_force": 5, "overload": "tear"}, "overload"),
    ],
)
def test_a_bad_pulley_or_maximum_force_is_refused_with_a_message(rope: dict[str, Any], words: str) -> None:
    with pytest.raises(SkerryError) as caught:
        skerry.load({"objects": {"ball": ball(0, 0, -3)}, "ropes": {"line": rope}})
    assert words in str(caught.value)


def test_a_rope_breaks_off_at_its_maximum_force_where_the_tension_is_largest() -> None:
    """A load of 20 N falls into a rope for 60 N, which holds it, and into one for 15 N, which does not."""
    load = {**BALL, "mass": 20 / 9.81}
    objects = {name: {**load, "pose": {"position": [x, 0, 3]}} for name, x in (("held", 0), ("lost", 2))}
    rope = {"length": 2.0, "mass_per_metre": 0.01, "damping": 500}
    ropes = {
        "strong": {**rope, "start": [0, 0, 5], "end": "held", "maximum_force": 60},
        "weak": {**rope, "start": [2, 0, 5], "end": "lost", "maximum_force": 15},
    }
    with skerry.load({"objects": objects, "ropes": ropes}) as world:
        largest = 0.0
        for _ in range(100):
            world.advance_steps(1)
            largest = max(largest, world.ropes["weak"].tension[[0, -1]].max())
        strong, weak = world.ropes["strong"], world.ropes["weak"]
        assert strong.broken == ()
        assert strong.loaded
        assert len(weak.broken) == 1
        assert largest <= 15.0
        assert world.objects["lost"].position[2] < 2.5
        assert world.objects["held"].position[2] == pytest.approx(3.0, abs=0.05)


def test_a_rope_slips_on_its_winch_at_its_maximum_force() -> None:
    """A load of 41.7 N on a winch that slips at 30 N sinks with a = g − F/m, until the drum is empty."""
    settings = {"maximum_force": 30, "overload": "slip", "mass_per_metre": 0.01, "damping": 200}
    robots = {"crane": crane(settings, target_length=1, rope_length=2.5, expected_frequency=None)}
    with skerry.load({"robots": robots, "objects": {"load": ball(0.5, 0, 2.0)}}) as world:
        winch, rope = world.robots["crane"].actuators["winch"], world.robots["crane"].ropes["lift"]
        winch.command(speed=0)
        rope.attach("load")
        world.advance(0.2)
        length, speed = winch.length, winch.rate
        world.advance(0.4)
        assert rope.tension[0] == pytest.approx(30.0, abs=1e-6)
        assert rope.length == pytest.approx(winch.length, abs=1e-9)
        fallen = winch.length - length - 0.4 * speed
        assert fallen == pytest.approx(0.5 * (9.81 - 30 / 4.25) * 0.4**2, rel=0.05)
        world.advance(3.0)
        assert winch.length == pytest.approx(2.5)
        assert rope.tension[0] != pytest.approx(30.0, abs=1e-3)
        assert rope.broken == ()
