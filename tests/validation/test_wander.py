"""Random drive of boats: speed and turns, area, seeds, and collisions with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}


def boat(x: float = 0.0, y: float = 0.0, heading: float = 90.0, **wander: Any) -> dict[str, Any]:
    return {
        "vehicle": "obstacle_boat",
        "pose": {"position": [x, y, 0], "heading_deg": heading},
        "overrides": {"controllers": {"wander": {"center": [x, y], "radius": 50, **wander}}},
    }


def test_it_floats_at_its_draught(load) -> None:
    """900 kg on a waterline of 4.6 m × 1.7 m: T = m/(ρ L B) = 0.1123 m, 0.1127 m being where its origin was put."""
    world = load({"robots": {"boat": boat()}})
    world.advance(30.0)
    keel = -0.188 + 0.3  # the points' height less half of their cells'
    draught = keel - world.robots["boat"].pose.position[2]
    assert draught == pytest.approx(900 / (1025 * 4.6 * 1.7), abs=0.003)


def test_it_goes_straight_and_then_turns_at_one_rate_for_as_long(load) -> None:
    """Odd periods turn, even ones do not; the rate is at most 15°/s, and held to 1.5°/s after 5 s to settle."""
    world = load({"robots": {"boat": boat(period=10, turn_rate_deg=15, radius=500)}})
    it = world.robots["boat"]
    for leg in range(8):
        world.advance(5.0)
        rates = []
        for _ in range(10):
            world.advance(0.5)
            rates.append(np.degrees(it.twist.angular[2]))
        if leg % 2 == 0:
            assert np.abs(rates).max() < 2.5
        else:
            assert np.ptp(rates) < 1.5
            assert np.abs(rates).max() < 16
    assert it.twist.linear[0] == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize(("period", "rate"), [(10, 15), (5, 20), (8, 10), (20, 3)])
def test_it_stays_in_its_area(load, period: float, rate: float) -> None:
    """For 20 minutes, in which it goes 2.4 km, it is never more than its 50 m away from the middle."""
    world = load({"seed": 3, "robots": {"boat": boat(7, -4, period=period, turn_rate_deg=rate)}})
    it = world.robots["boat"]
    furthest = travelled = 0.0
    before = it.pose.position
    for _ in range(600):
        world.advance(2.0)
        travelled += float(np.linalg.norm(it.pose.position - before))
        before = it.pose.position
        furthest = max(furthest, float(np.hypot(before[0] - 7, before[1] + 4)))
    assert furthest < 50
    assert travelled > 2000


def test_its_track_depends_on_seed_and_name(load) -> None:
    """The same seed gives the same bytes; another seed or name gives another track."""
    ways = []
    for seed in (1, 1, 2):
        world = load({"seed": seed, "robots": {"a": boat(0), "b": boat(200)}})
        world.advance(60.0)
        ways.append(bytes(world.snapshot()))
        moved = [world.robots[name].pose.position - [x, 0, 0] for name, x in (("a", 0), ("b", 200))]
        assert np.linalg.norm(moved[0] - moved[1]) > 1.0
    assert ways[0] == ways[1]
    assert ways[0] != ways[2]


def test_evolo_feels_the_boat_that_runs_into_it(load) -> None:
    """A boat of 900 kg at 2 m/s pushes the 50 kg Evolo, whose bumper reports the name of the boat.

    Evolo then moves as fast as the boat and hardly slows it down.
    """
    evolo = {"vehicle": "evolo", "pose": {"position": [25, 0, 0.408], "yaw_deg": 90}}
    world = load(
        {"reference": REFERENCE, "robots": {"evolo": evolo, "boat": boat(radius=500, period=60, turn_rate_deg=1)}}
    )
    hit, bumper = set(), world.robots["evolo"].sensors["collisions"]
    for _ in range(200):
        world.advance(0.1)
        hit |= {contact.other for contact in bumper.reading.contacts}
    assert hit == {"boat/base_link"}
    assert world.robots["evolo"].pose.position[0] > 28


def test_evolo_feels_a_buoy_that_it_runs_into(load) -> None:
    """At 8 kn onto a moored can buoy: it is felt by name."""
    evolo = {"vehicle": "evolo", "pose": {"position": [0, 0, 0.408]}}
    world = load(
        {
            "reference": REFERENCE,
            "terrain": {"kind": "flat", "depth": 10},
            "robots": {"evolo": evolo},
            "objects": {"mark": {"prop": "buoy_port", "pose": {"position": [40, 0, 0]}}},
        }
    )
    robot = world.robots["evolo"]
    robot.controllers["flight"].command(speed_kn=8)
    hit = set()
    for _ in range(300):
        world.advance(0.05)
        hit |= {contact.other for contact in robot.sensors["collisions"].reading.contacts}
    assert {other.partition("/")[0] for other in hit} == {"mark"}
