"""Environment of ropes: force fields, wash, waves, wind, slopes; and ropes of teleported bodies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose, quaternion_to_matrix

DRY = {"surface": {"kind": "flat", "level": -1000.0}}
G = 9.81
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


def test_a_field_pulls_at_a_whole_rope_with_its_whole_force() -> None:
    """F on a rope wholly inside, 1/n of it on each of n nodes: the top one's share is the hook's to bear."""
    rope = {"start": [0, 0, 0], "length": 2, "direction": [0, 0, -1], "damping": 100, "mass_per_metre": 0.1}
    volume = {"kind": "box", "center": [0, 0, -1], "size": [1, 1, 3]}
    field = {"kind": "vector", "vector": [0, 0, -1], "magnitude": 6.0, "volume": volume}
    with skerry.load({"water": DRY, "ropes": {"line": rope}, "fields": {"pull": field}}) as world:
        world.advance(5)
        line = world.ropes["line"]
        own = line.config.linear_mass * (2 - line.rest_lengths[0] / 2) * G
        assert line.tension[0] == pytest.approx(own + 6.0 * 20 / 21, rel=1e-4)


def test_the_wash_of_a_propeller_moves_the_rope_of_another_but_not_its_own() -> None:
    """Two ropes float behind a vehicle, one of them tied to it; the wash acts on others alone."""
    rope = {"length": 1.0, "mass_per_metre": 0.005, "direction": [0, 1, 0]}
    propeller = {
        "kind": "propeller", "link": "base_link", "position": [-0.5, 0, 0], "rpm_to_force": 0.004, "maximum_rpm": 1000,
        "field": {"model": "cone", "half_angle_deg": 45, "length": 6},
    }  # fmt: skip
    parts = {"actuators": {"blower": propeller}, "ropes": {"own": {**rope, "start": "base_link"}}}
    parts["ropes"]["own"] |= {"start_point": [-2.0, -0.5, 0.3]}
    robot = {"vehicle": "torpedo", "anchored": True, "pose": {"position": [0, 0, -0.3]}, "overrides": parts}
    other = {**rope, "start": [-2.1, -0.5, 0.0]}
    with skerry.load({"robots": {"craft": robot}, "ropes": {"other": other}}) as world:
        world.advance(2)
        before = {name: world.ropes[name].end for name in ("other", "craft/own")}
        world.robots["craft"].actuators["blower"].command(rpm=800)
        world.advance(5)
        assert (world.ropes["other"].end - before["other"])[0] < -0.2
        assert (world.ropes["craft/own"].end - before["craft/own"])[0] == pytest.approx(0.0, abs=1e-3)


def test_a_buoy_rides_a_long_wave() -> None:
    """The wave period of 12 s is far above the buoy's, about 0.5 s: its height over the water stays within 1 cm."""
    water = {"surface": {"kind": "waves", "spectrum": "regular", "height": 1.0, "period": 12.0, "heading_deg": 90}}
    rope = {
        "start": [0, 0, -10], "length": 12, "segment_length": 0.5, "direction": [0, 0, 1], "mass_per_metre": 0.01,
        "buoy": {"mass": 2.0, "radius": 0.15},
    }  # fmt: skip
    with skerry.load({"water": water, "ropes": {"line": rope}}) as world:
        world.advance(24)
        above, heights = [], []
        for _ in range(48):
            world.advance(0.25)
            end = world.ropes["line"].end
            level = float(world.sample_water(end).height)
            above.append(end[2] - level)
            heights.append(level)
        assert np.ptp(heights) > 0.9
        assert np.ptp(above) < 0.02
        # it displaces what it and the rope that it lifts weigh: a cap of the ball is under water
        assert 0.0 < np.mean(above) < 0.15


def test_wind_leans_a_dry_rope_to_the_angle_of_its_drag_and_weight() -> None:
    """Across the rope w cos θ = ½ ρ C_n d (U sin θ)², θ below the wind: the current's formula, with air."""
    rope = {
        "start": [0, 0, 10], "length": 3, "mass_per_metre": 0.01, "direction": [1, 0, -1], "tangential_drag": 0,
        "segment_length": 0.2,
    }  # fmt: skip
    water = {**DRY, "winds": {"breeze": {"kind": "uniform", "velocity": [6, 0, 0]}}}
    with skerry.load({"water": water, "ropes": {"line": rope}}) as world:
        world.advance(60)
        weight, drag = 0.01 * G, 0.5 * 1.225 * 1.2 * 0.01 * 6**2
        angle = brentq(lambda t: weight * np.cos(t) - drag * np.sin(t) ** 2, 0.01, np.pi / 2)
        way = world.ropes["line"].points[10] - world.ropes["line"].points[3]
        assert np.arctan2(-way[2], way[0]) == pytest.approx(angle, rel=0.01)


@pytest.mark.parametrize(("slope", "slides"), [(20.0, False), (35.0, True)])
def test_friction_holds_a_rope_on_a_slope_up_to_the_angle_of_friction(slope: float, slides: bool) -> None:
    """μ = 0.5 holds up to atan 0.5 = 26.6°; above, a loose rope slides with g (sin α − μ cos α).

    The rope lies uphill of where it is tied, so that no tension holds it. Below the angle it settles within a
    millimetre, and creeps by less than 1 mm/s.
    """
    angle = np.radians(slope)
    up = np.array([np.cos(angle), 0.0, np.sin(angle)])
    off = 0.005 * np.array([-np.sin(angle), 0.0, np.cos(angle)])
    terrain = {
        "kind": "heightfield", "size": [20, 20], "resolution": 1, "level": 0,
        "function": {"kind": "slope", "slope_deg": slope, "heading_deg": 90},
    }  # fmt: skip
    rope = {"start": off.tolist(), "length": 4, "direction": up.tolist(), "density": 1500, "friction": 0.5}
    with skerry.load({"water": DRY, "terrain": terrain, "ropes": {"line": rope}}) as world:
        before = world.ropes["line"].end
        world.advance(0.5)
        moved = float((before - world.ropes["line"].end) @ up)
        if slides:
            assert moved == pytest.approx(0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * 0.5**2, rel=0.05)
        else:
            assert abs(moved) < 1.5e-3


def test_a_teleported_vehicle_takes_its_rope_along() -> None:
    rope = {"start": "base_link", "length": 2, "mass_per_metre": 0.05}
    robot = {"vehicle": "torpedo", "pose": {"position": [0, 0, -2]}, "overrides": {"ropes": {"tow": rope}}}
    with skerry.load({"robots": {"craft": robot}}) as world:
        world.advance(1)
        craft, tow = world.robots["craft"], world.robots["craft"].ropes["tow"]
        pose, points = craft.pose, tow.points
        turn = np.array([0.0, 0.0, np.sin(0.5), np.cos(0.5)])
        world.teleport("craft", Pose(np.array([30.0, 5.0, -4.0]), turn))
        local = (points - pose.position) @ quaternion_to_matrix(pose.orientation)
        wanted = local @ quaternion_to_matrix(turn).T + [30.0, 5.0, -4.0]
        assert tow.points == pytest.approx(wanted, abs=1e-9)
        assert np.all(tow.velocities == 0.0)
        world.advance(1)
        assert np.linalg.norm(tow.points[0] - craft.pose.position) < 1e-2


def test_a_rope_with_two_tied_ends_is_laid_again_after_a_teleport() -> None:
    thing = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0}
    thing["pose"] = {"position": [3, 0, -2]}
    rope = {"start": [0, 0, -2], "end": "ball", "length": 4}
    with skerry.load({"objects": {"ball": thing}, "ropes": {"line": rope}}) as world:
        world.advance(1)
        world.teleport("ball", Pose(np.array([0.0, 2.0, -3.0]), LEVEL))
        line = world.ropes["line"]
        assert line.points[0] == pytest.approx([0, 0, -2])
        assert line.end == pytest.approx([0, 2, -3])
        assert np.linalg.norm(np.diff(line.points, axis=0), axis=1).sum() == pytest.approx(4.0, rel=0.01)
        world.advance(1)
        assert np.isfinite(line.points).all()
        before = bytes(world.snapshot())
        with pytest.raises(SkerryError, match="the rope 'line': its ends are 50 m apart, but it is 4 m long"):
            world.teleport("ball", Pose(np.array([50.0, 0.0, -2.0]), LEVEL))
        assert bytes(world.snapshot()) == before


def test_a_teleport_at_speed_does_not_jerk_the_rope() -> None:
    """A ball that falls at 5 m/s on a rope is teleported to rest; this exerts no force on the rope."""
    thing = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0}
    thing["pose"] = {"position": [0, 0, 10]}
    rope = {"start": "ball", "length": 2, "direction": [0, 0, -1], "mass_per_metre": 0.05}
    events = [{"at": 0.5, "move": "ball", "pose": {"position": [3, 0, 10]}}]
    scenario = {"water": DRY, "objects": {"ball": thing}, "ropes": {"line": rope}, "events": events}
    with skerry.load(scenario) as world:
        world.advance(0.5)
        line = world.ropes["line"]
        assert line.velocities[-1][2] == pytest.approx(-0.5 * G, rel=0.02)
        for _ in range(20):
            world.advance_steps(1)
            assert np.abs(line.velocities).max() < 1.0  # the rope falls freely, too
        assert line.points[0] == pytest.approx([3, 0, 10 - 0.5 * G * 0.1**2], abs=0.01)


@pytest.mark.parametrize("integrator", ["euler", "rk4"])
def test_a_load_hangs_from_a_rope_with_every_integrator(integrator: str) -> None:
    """The tension at the top is the weight below it."""
    thing = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 4.0}
    thing["pose"] = {"position": [0, 0, -2]}
    rope = {"start": [0, 0, 0], "end": "ball", "length": 2, "mass_per_metre": 0.05, "damping": 1e3}
    scenario = {"water": DRY, "integrator": integrator, "objects": {"ball": thing}, "ropes": {"line": rope}}
    with skerry.load(scenario) as world:
        world.advance(5)
        assert world.ropes["line"].tension[0] == pytest.approx((4.0 + 0.05 * 1.95) * G, rel=1e-3)
