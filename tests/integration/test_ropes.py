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
