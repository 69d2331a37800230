"""Skid steering: speeds, turns and arcs as commanded, without sliding aside, and bit-identical from a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_rpy


@pytest.fixture
def world() -> Iterator[Any]:
    """World with the rover at rest on level ground, its nose to the east."""
    robots = {"it": {"vehicle": "husky", "pose": {"position": [0, 0, 20.2]}}}
    reference = {"latitude_deg": 0, "longitude_deg": 0}
    with skerry.load({"terrain": {"kind": "flat", "z": 20.0}, "robots": robots, "reference": reference}) as made:
        made.advance(2.0)
        yield made


@pytest.fixture
def drive(world: Any) -> Any:
    return world.robots["it"].controllers["drive"]


def track(world: Any, seconds: float) -> Any:
    """Return rows of position, velocity ahead and to the left, and rate of turn in °/s, every 0.05 s."""
    rover, rows = world.robots["it"], []
    for _ in range(round(seconds * 20)):
        world.advance(0.05)
        rows.append([*rover.pose.position[:2], *rover.twist.linear[:2], np.degrees(rover.twist.angular[2])])
    return np.array(rows)


@pytest.mark.parametrize("speed", [0.3, 1.0, -1.0, 2.0])
def test_it_drives_straight_at_the_commanded_speed(world, drive, speed) -> None:
    """2 % and no overshoot beyond 10 %; its line is kept within 1 cm: it does not slide aside."""
    drive.command(speed=speed)
    rows = track(world, 8.0)
    assert rows[100:, 2] == pytest.approx(speed, rel=0.02)
    assert np.abs(rows[:, 2]).max() < 1.1 * abs(speed)
    assert np.abs(rows[:, 1]).max() < 0.01
    assert np.abs(rows[:, 3]).max() < 0.01


@pytest.mark.parametrize("turn", [20.0, -45.0, 60.0])
def test_it_turns_on_the_spot_at_the_commanded_rate(world, drive, turn) -> None:
    """1 °/s, no overshoot beyond 10 %. Which axle slips less is up to its load: the centre of the turn is within half
    of the 0.325 m from the middle to an axle, and the middle so within twice that of its place."""
    drive.command(turn_rate_deg=turn)
    rows = track(world, 8.0)
    assert rows[60:, 4] == pytest.approx(turn, abs=1.0)
    assert np.abs(rows[:, 4]).max() < 1.1 * abs(turn)
    assert np.hypot(rows[:, 0], rows[:, 1]).max() < 0.325


@pytest.mark.parametrize(("speed", "turn"), [(0.5, 20.0), (0.5, -20.0), (1.0, 30.0), (2.0, 20.0), (-0.5, 20.0)])
def test_it_follows_a_commanded_arc(world, drive, speed, turn) -> None:
    """R = v/ω within 3 %, also where its motors are too weak for both and it slows down: friction in a turn takes more
    than half of their torque. It points along its track within 12°: the centre of the turn is not right beside it."""
    drive.command(speed=speed, turn_rate_deg=turn)
    rows = track(world, 20.0)[100:]
    radius = abs(speed / np.radians(turn))
    place = rows[:, :2]
    fit = np.linalg.lstsq(np.c_[2 * place, np.ones(len(place))], (place**2).sum(axis=1), rcond=None)[0]
    assert np.sqrt(fit[2] + fit[0] ** 2 + fit[1] ** 2) == pytest.approx(radius, rel=0.03)
    assert np.degrees(np.abs(np.arctan2(rows[:, 3], np.abs(rows[:, 2])))).max() < 12.0
    assert (np.sign(rows[:, 4]) == np.sign(turn)).all()


def test_up_and_down_a_slope_it_keeps_its_speed() -> None:
    """8°: what the motors' line alone loses or wins there, m g sin θ r/(4 τ) = 0.22 of 2.8 m/s, the loop makes up."""
    pose = {"position": [0, 0, 0.4], "pitch_deg": -8.0}
    ground = {
        "kind": "heightfield",
        "size": [60, 60],
        "resolution": 1,
        "function": {"kind": "slope", "slope_deg": 8.0, "heading_deg": 90},
    }
    source = {
        "terrain": ground,
        "water": {"surface": {"kind": "flat", "level": -50}},
        "robots": {"it": {"vehicle": "husky", "pose": pose}},
        "reference": {"latitude_deg": 0, "longitude_deg": 0},
    }
    with skerry.load(source) as world:
        for speed in (1.0, -1.0):
            world.robots["it"].controllers["drive"].command(speed=speed)
            assert track(world, 6.0)[80:, 2] == pytest.approx(speed, abs=0.05)


def test_it_is_idle_before_a_command_and_after_a_stop(world, drive) -> None:
    rover = world.robots["it"]
    assert drive.idle
    assert rover.control is None
    drive.command(speed=1.0, turn_rate_deg=20.0)
    world.advance(2.0)
    assert rover.control == "controller"
    drive.command(turn_rate_deg=0.0)
    assert (drive.speed, drive.turn_rate_deg) == (1.0, 0.0)
    drive.stop()
    world.advance(3.0)
    assert drive.idle
    assert np.linalg.norm(rover.twist.linear) < 0.02
    assert all(rover.actuators[name].setpoint == 0.0 for name in drive.config.needs_actuators)


def test_commands_are_clamped_and_invalid_ones_are_refused(drive) -> None:
    drive.command(speed=99.0, turn_rate_deg=-999.0)
    assert (drive.speed, drive.turn_rate_deg) == (2.0, -60.0)
    for value in (float("nan"), "fast", True):
        with pytest.raises(SkerryError, match="must be a finite number"):
            drive.command(speed=value)


def test_a_snapshot_in_the_middle_continues_bit_identically(world, drive) -> None:
    drive.command(speed=1.0, turn_rate_deg=25.0)
    world.advance(1.03)
    middle, ends = world.snapshot(), []
    for _ in range(2):
        world.restore(middle)
        world.advance(3.0)
        ends.append(bytes(world.snapshot()))
        drive.stop()
        world.advance(1.0)
    assert ends[0] == ends[1]
    assert abs(quaternion_to_rpy(world.robots["it"].pose.orientation)[0]) < 0.1
