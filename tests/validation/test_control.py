"""Autopilot of SAM: accuracy of the held setpoints in a current, and waypoints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.frames import quaternion_to_rpy, yaw_to_heading

BOTTOM = 30.0
CURRENT = 0.3  # m/s


def scenario(
    flow_deg: float = 0.0, speed: float = CURRENT, depth: float = 2.0, heading_deg: float = 90.0
) -> dict[str, Any]:
    """Return a world with SAM at rest over ground, in a sudden current towards a heading."""
    flow = np.radians(flow_deg)
    return {
        "terrain": {"kind": "flat", "depth": BOTTOM},
        "water": {
            "currents": {"it": {"kind": "uniform", "velocity": [speed * np.sin(flow), speed * np.cos(flow), 0.0]}}
        },
        "robots": {"sam": {"pose": {"position": [0, 0, -depth], "heading_deg": heading_deg}}},
    }


def track(world: Any, seconds: float) -> np.ndarray:
    """Rows of depth, roll, pitch, heading in degrees, and speed forwards, every 0.1 s."""
    sam, rows = world.robots["sam"], []
    for _ in range(round(seconds / 0.1)):
        world.advance(0.1)
        roll, pitch, yaw = quaternion_to_rpy(sam.pose.orientation)
        angles = [np.degrees(roll), np.degrees(pitch), yaw_to_heading(yaw)]
        rows.append([-sam.pose.position[2], *angles, sam.twist.linear[0]])
    return np.array(rows)


@pytest.mark.parametrize("flow_deg", [0.0, 180.0], ids=["from starboard", "from port"])
@pytest.mark.parametrize("rpm", [300, 500, 1000])
def test_sam_holds_depth_within_15_cm_and_heading_within_2_degrees_in_a_cross_current(flow_deg, rpm) -> None:
    """0.3 m/s across, from rest, 3 m deeper: the heading never leaves 2°, the depth is there after 40 s and stays."""
    with skerry.load("sam_empty", seed=3, overrides=scenario(flow_deg)) as world:
        world.robots["sam"].controllers["autopilot"].hold(depth=5.0, heading_deg=90.0, rpm=rpm)
        rows = track(world, 120.0)
    assert np.abs(rows[:, 3] - 90.0).max() < 2.0
    assert np.abs(rows[400:, 0] - 5.0).max() < 0.15


def test_sam_holds_altitude_speed_heading_and_roll_together() -> None:
    """The DVL looks 0.5 m ahead of the middle, so that a pitch of 1° is 1 cm of altitude."""
    with skerry.load("sam_empty", seed=3, overrides=scenario(45.0)) as world:
        autopilot = world.robots["sam"].controllers["autopilot"]
        autopilot.hold(altitude=22.0, heading_deg=60.0, speed=1.0, roll_deg=0.0)
        rows = track(world, 90.0)[600:]
    assert np.abs(BOTTOM - rows[:, 0] - 22.0).max() < 0.2
    assert np.abs(rows[:, 3] - 60.0).max() < 2.0
    assert np.abs(rows[:, 1]).max() < 0.5
    assert np.abs(rows[:, 4] - 1.0).max() < 0.05


def test_sam_holds_depth_at_rest_by_its_buoyancy_system_alone() -> None:
    with skerry.load("sam_empty", seed=3, overrides=scenario(speed=0.0)) as world:
        sam = world.robots["sam"]
        sam.controllers["autopilot"].hold(depth=5.0)
        rows = track(world, 150.0)
        assert {name for name, part in sam.actuators.items() if part.owner} == {"vbs"}
    assert np.abs(rows[500:, 0] - 5.0).max() < 0.15


@pytest.mark.parametrize("pitch_deg", [-10.0, 10.0])
def test_sam_holds_pitch_at_rest_by_its_batteries(pitch_deg) -> None:
    with skerry.load("sam_empty", seed=3, overrides=scenario(speed=0.0, depth=10.0)) as world:
        world.robots["sam"].controllers["autopilot"].hold(pitch_deg=pitch_deg)
        rows = track(world, 60.0)
    assert np.abs(rows[500:, 2] - pitch_deg).max() < 0.5


def journey(seed: int) -> tuple[bool, float, float]:
    """A goal 5 to 60 m off in any direction, at any heading and in any current: reached, and how far off."""
    random = np.random.default_rng(seed)
    place = scenario(*(random.uniform(0, 360), CURRENT, random.uniform(1, 8), random.uniform(0, 360)))
    bearing, distance, depth = random.uniform(0, 2 * np.pi), random.uniform(5, 60), random.uniform(1, 10)
    goal = distance * np.array([np.sin(bearing), np.cos(bearing)])
    level = {"depth": depth} if seed % 4 < 2 else {"altitude": BOTTOM - depth}
    pace = {"rpm": 500} if seed % 2 else {"speed": 1.0}
    with skerry.load("sam_empty", seed=seed, overrides=place) as world:
        sam = world.robots["sam"]
        autopilot = sam.controllers["autopilot"]
        autopilot.goal(goal, **level, **pace)
        while not autopilot.reached and world.time < 600.0:
            world.advance(0.1)
        position = sam.pose.position
        return autopilot.reached, float(np.hypot(*(position[:2] - goal))), abs(-position[2] - depth)


@pytest.mark.parametrize("seed", range(10))
def test_sam_reaches_a_waypoint_within_its_tolerance_for_every_seed(seed) -> None:
    """All seeds from 0 to 99 reach the goal; ten of them are run here."""
    reached, off, depth_off = journey(seed)
    assert reached
    assert off <= 2.0 + 0.15  # what it does in a step of 0.1 s
    assert depth_off <= 2.0
