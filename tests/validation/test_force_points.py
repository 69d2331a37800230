"""Force points: volume, weight and custom force of a body, distributed over points."""

from __future__ import annotations

import numpy as np
import pytest

import skerry
from skerry.core import meshes

RHO, G = 1025.0, 9.81
LINK = {"mass": 6.0, "inertia": [0.3, 0.5, 0.4]}
SKEW = {"position": [1.0, -2.0, -50.0], "roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}


@pytest.fixture
def craft(load, vehicle):
    """Return a craft of one link with force points."""

    def build(points, z=-50.0, link=LINK, pose=None, more=None, **settings):
        scenario = {"integrator": "implicitfast"} | settings.pop("scenario", {})
        law = {"kind": "force_points", "link": "hull", "points": points, **settings}
        if "mesh" not in law:
            law.setdefault("volume", 0.004)
        path = vehicle({"hull": link}, {"points": law} | (more or {}))
        pose = pose or {"position": [0.0, 0.0, z]}
        return load({"robots": {"craft": {"vehicle": path, "pose": pose}}} | scenario)

    return build


def _one_step(world, motion_of):
    """The acceleration in the first step, in the world's axes, and the angular one in the link's."""
    world.advance_steps(1)
    _, turn, v = motion_of(world, "craft")
    step = world.time
    return turn @ v[:3] / step, v[3:] / step


@pytest.mark.parametrize("count", [1, 2, 10, 63, 64, 65, 200])
def test_the_volume_is_the_whole_bodys_however_many_points_share_it(craft, motion_of, count):
    """Σ ρ g V/N = ρ g V, also with more points than one query of the water takes; to rounding."""
    angles = np.arange(count) * 2 * np.pi / count
    ring = np.stack([0.1 * np.cos(angles), 0.1 * np.sin(angles), 0 * angles], axis=1) if count > 1 else np.zeros((1, 3))
    found, turning = _one_step(craft(ring), motion_of)
    assert found[2] == pytest.approx((RHO * 0.004 - 6.0) * G / 6.0, rel=1e-11)
    assert turning == pytest.approx(np.zeros(3), abs=1e-11)


@pytest.mark.parametrize("depth", [-0.2, 0.0, 0.01, 0.03, 0.08, 0.1, 0.3])
def test_a_points_buoyancy_grows_linearly_with_its_depth(craft, depth):
    """F = ρ g V clamp(d/ramp, 0, 1)."""
    world = craft([[0, 0, 0]], -depth, depth_before_submerged=0.1)
    world.advance_steps(1)
    expected = RHO * G * 0.004 * min(max(depth / 0.1, 0.0), 1.0)
    assert world.robots["craft"].forces["points"].forces == pytest.approx(np.array([[0.0, 0.0, expected]]), rel=1e-12)


@pytest.mark.parametrize("depth", [-0.2, -0.1, -0.04, 0.0, 0.05, 0.06, 0.3])
def test_the_ramp_may_begin_above_the_surface(craft, depth):
    """F = ρ g V clamp((d + dry)/(ramp + dry), 0, 1): a point amid a cell that is half out has half its buoyancy."""
    world = craft([[0, 0, 0]], -depth, depth_before_submerged=0.06, height_before_dry=0.1)
    world.advance_steps(1)
    expected = RHO * G * 0.004 * min(max((depth + 0.1) / 0.16, 0.0), 1.0)
    assert world.robots["craft"].forces["points"].forces[0, 2] == pytest.approx(expected, rel=1e-12)


def test_without_a_ramp_a_point_is_in_or_out(craft):
    """F = ρ g V for d > 0, else 0."""
    for depth, expected in ((-0.001, 0.0), (0.001, RHO * G * 0.004)):
        world = craft([[0, 0, 0]], -depth, depth_before_submerged=0.0)
        world.advance_steps(1)
        assert world.robots["craft"].forces["points"].forces[0, 2] == pytest.approx(expected, rel=1e-12)


def test_buoyancy_is_capped(craft, motion_of):
    """Σ F = max_buoyancy where ρ g V is more, equally shared."""
    world = craft([[0.1, 0, 0], [-0.1, 0, 0], [0, 0.1, 0], [0, -0.1, 0]], max_buoyancy=12.0)
    found, _ = _one_step(world, motion_of)
    assert found[2] == pytest.approx(12.0 / 6.0 - G, rel=1e-12)
    assert world.robots["craft"].forces["points"].forces[:, 2] == pytest.approx(np.full(4, 3.0), rel=1e-12)


def test_a_cap_that_is_not_reached_changes_nothing(craft, motion_of):
    """Σ F = ρ g V < max_buoyancy."""
    world = craft([[0.1, 0, 0], [-0.1, 0, 0]], max_buoyancy=1e6)
    found, _ = _one_step(world, motion_of)
    assert found[2] == pytest.approx((RHO * 0.004 - 6.0) * G / 6.0, rel=1e-12)


def test_each_point_may_have_a_density_of_its_own(craft, motion_of):
    """F_i = ρ_i g V/N at its place: torque about the centre of mass included."""
    densities = [200.0, 997.0]
    world = craft([[0.2, 0, 0], [-0.3, 0, 0]], density=densities)
    found, turning = _one_step(world, motion_of)
    lifts = np.array(densities) * G * 0.002
    assert world.robots["craft"].forces["points"].forces[:, 2] == pytest.approx(lifts, rel=1e-12)
    assert found[2] == pytest.approx(lifts.sum() / 6.0 - G, rel=1e-12)
    assert turning[1] == pytest.approx(-(0.2 * lifts[0] - 0.3 * lifts[1]) / 0.5, rel=1e-10)


def test_one_density_can_apply_to_all_points(craft, motion_of):
    """Σ F = ρ_given g V, whatever the sea's density is."""
    found, _ = _one_step(craft([[0.2, 0, 0], [-0.2, 0, 0]], density=700.0), motion_of)
    assert found[2] == pytest.approx(700.0 * 0.004 * G / 6.0 - G, rel=1e-12)


def test_points_that_carry_the_weight_at_the_centre_of_mass_move_the_body_as_its_own_weight_does(
    craft, set_velocity, motion_of
):
    """Σ m g/N at points whose mean is the centre of mass is the body's weight: the same motion, to rounding."""
    link = {**LINK, "center": [0.1, 0.05, -0.02]}
    points = np.add(link["center"], [[0.2, 0, 0], [-0.2, 0, 0], [0, 0.1, 0], [0, -0.1, 0]])
    ends = []
    for weighing in (False, True):
        world = craft(points, link=link, pose=SKEW, gravity=weighing)
        set_velocity(world, [0.3, 0.1, -0.2], [0.5, -0.4, 0.9])
        world.advance(1.0)
        ends.append(np.concatenate([part.ravel() for part in motion_of(world, "craft")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-11)


@pytest.mark.parametrize("settings", [{}, {"mass": 6.0}, {"mass": 2.0}])
def test_points_that_carry_the_weight_replace_the_links_own(craft, motion_of, settings):
    """Acceleration in air: −g, not −2 g or 0; with a `mass` below the link's, the link carries the rest."""
    found, _ = _one_step(craft([[0, 0, 0]], 10.0, gravity=True, **settings), motion_of)
    assert found[2] == pytest.approx(-G, rel=1e-12)


def test_points_that_carry_a_part_of_the_weight_leave_the_rest_at_the_centre_of_mass(craft, motion_of):
    """ω̇ = x m' g/I of the 2 kg of 6 kg at x = 0.1 m."""
    _, turning = _one_step(craft([[0.1, 0, 0]], 10.0, gravity=True, mass=2.0), motion_of)
    assert turning[1] == pytest.approx(0.1 * 2.0 * G / 0.5, rel=1e-11)


def test_points_cannot_carry_more_than_the_mass_of_the_link(craft):
    """Weight and inertia are of one mass: 9 kg on a link of 6 kg would fall at 1.5 g."""
    with pytest.raises(skerry.SkerryError, match=r"craft: link 'hull' has a mass of 6 kg.*carry 9 kg.*1\.5 times"):
        craft([[0, 0, 0]], gravity=True, mass=9.0)
    other = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 0.001, "gravity": True, "mass": 4}
    with pytest.raises(skerry.SkerryError, match=r"carry 8 kg"):
        craft([[0, 0, 0]], gravity=True, mass=4.0, more={"other": other})


@pytest.mark.parametrize("masses", [(None, None, None), (1.0, None, None), (1.0, 2.0, 3.0), (1.0, 2.0, None)])
def test_several_sets_of_points_carry_the_weight_of_a_link_once(load, vehicle, motion_of, masses):
    """−g with one, two or three sets, with and without `mass`; the sets without `mass` share what is left."""
    sets = {
        f"set{k}": {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]] * (k + 1), "volume": 0.001}
        | {"gravity": True}
        | ({} if mass is None else {"mass": mass})
        for k, mass in enumerate(masses)
    }
    path = vehicle({"hull": LINK}, sets)
    world = load({"robots": {"craft": {"vehicle": path, "pose": {"position": [0, 0, 10.0]}}}})
    found, _ = _one_step(world, motion_of)
    assert found[2] == pytest.approx(-G, rel=1e-12)
    carried = [-law.weight[:, 2].sum() / G for law in world.robots["craft"].forces.values()]
    given = [mass for mass in masses if mass is not None]
    assert sum(carried) == pytest.approx(6.0, rel=1e-12)
    assert carried[: len(given)] == pytest.approx(given, rel=1e-12)


@pytest.mark.parametrize("order", [("one", "other"), ("other", "one")])
def test_two_automatic_centres_of_gravity_are_the_mean_of_all_their_points(load, vehicle, motion_of, order):
    """The same motion as with the centre of mass at the mean of the four points, whichever set is named first."""
    points = {"one": [[0.3, 0.1, 0.0]], "other": [[-0.1, 0.1, 0.1], [0.1, -0.1, -0.3], [0.5, 0.0, 0.0]]}
    mean = np.concatenate(list(points.values())).mean(axis=0)
    ends = []
    for automatic in (True, False):
        laws = {
            name: {"kind": "force_points", "link": "hull", "points": points[name], "volume": 0.001}
            | {"automatic_center_of_gravity": automatic}
            for name in order
        }
        link = {**LINK, "center": [0.5, 0.5, 0.5] if automatic else mean}
        world = load({"robots": {"craft": {"vehicle": vehicle({"hull": link}, laws), "pose": SKEW}}})
        world.advance(1.0)
        ends.append(np.concatenate([part.ravel() for part in motion_of(world, "craft")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-11)


def test_weight_at_the_points_acts_where_the_points_are(craft, motion_of):
    """ω̇ = −x m g / I about the centre of mass for a point ahead of it; nose down is positive in FLU."""
    _, turning = _one_step(craft([[0.1, 0, 0]], 10.0, gravity=True), motion_of)
    assert turning[1] == pytest.approx(0.1 * 6.0 * G / 0.5, rel=1e-11)


def test_the_weight_of_a_link_on_a_joint_is_taken_over_too(load, vehicle, motion_of):
    """Only the link that has the points loses its own weight: the chain falls at g as a whole and does not bend."""
    links = {"hull": LINK, "arm": {"mass": 2.0, "inertia": [0.02, 0.05, 0.04], "center": [0.2, 0, 0]}}
    joints = {"hinge": {"parent": "hull", "child": "arm", "at": [0.3, 0, 0], "axis": [0, 1, 0]}}
    law = {
        "kind": "force_points",
        "link": "arm",
        "points": [[0.1, 0, 0], [0.3, 0, 0]],
        "volume": 0.001,
        "gravity": True,
    }
    robot = {"vehicle": vehicle(links, {"points": law}, joints), "pose": {"position": [0.0, 0.0, 20.0]}}
    world = load({"robots": {"craft": robot}})
    world.advance(1.0)
    assert world.robots["craft"].joint_position("hinge") == pytest.approx(0.0, abs=1e-12)
    assert world.robots["craft"].twist.linear[2] == pytest.approx(-G, rel=1e-12)


def test_the_automatic_centre_of_gravity_is_the_mean_of_the_points(craft, set_velocity, motion_of):
    """The same motion as with the centre of mass written there in the URDF; rounding."""
    points = np.array([[0.3, 0.1, 0.0], [-0.1, 0.1, 0.1], [0.1, -0.1, -0.3]])
    ends = []
    for settings in (
        {"automatic_center_of_gravity": True, "link": {**LINK, "center": [0.5, 0.5, 0.5]}},
        {"link": {**LINK, "center": points.mean(axis=0)}},
    ):
        world = craft(points, pose=SKEW, **settings)
        set_velocity(world, [0.3, 0.1, -0.2], [0.5, -0.4, 0.9])
        world.advance(1.0)
        ends.append(np.concatenate([part.ravel() for part in motion_of(world, "craft")]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-11)


@pytest.mark.parametrize("z", [-50.0, 50.0])
def test_a_custom_force_accelerates_the_body_at_force_over_mass_in_the_worlds_axes(craft, motion_of, z):
    """a = F/m, whatever the body's attitude, in water and out of it, shared by the points; to rounding."""
    world = craft(
        [[0.1, 0, 0], [-0.1, 0, 0]],
        pose=SKEW | {"position": [0.0, 0.0, z]},
        custom_force=[3.0, -5.0, 2.0],
        scenario={"gravity": 0.0},
    )
    found, turning = _one_step(world, motion_of)
    assert found == pytest.approx(np.array([3.0, -5.0, 2.0]) / 6.0, rel=1e-12)
    assert turning == pytest.approx(np.zeros(3), abs=1e-12)


def test_a_custom_force_off_the_centre_turns_the_body(craft, motion_of):
    """ω̇ = I⁻¹ (r × F) with r the mean of the points."""
    world = craft([[0.1, 0.2, 0], [0.3, 0.2, 0.2]], custom_force=[3.0, -5.0, 2.0], scenario={"gravity": 0.0})
    _, turning = _one_step(world, motion_of)
    expected = np.cross([0.2, 0.2, 0.1], [3.0, -5.0, 2.0]) / LINK["inertia"]
    assert turning == pytest.approx(expected, rel=1e-10)


def test_a_custom_force_may_act_at_one_point(craft, motion_of):
    """a = F/m and ω̇ = I⁻¹ (r × F), r the position of that point alone."""
    points = [[0.1, 0.2, 0], [0.3, 0.2, 0.2], [0.0, -0.4, 0.1]]
    force = [3.0, -5.0, 2.0]
    world = craft(points, custom_force=force, custom_force_point=2, scenario={"gravity": 0.0})
    found, turning = _one_step(world, motion_of)
    assert found == pytest.approx(np.array(force) / 6.0, rel=1e-11)
    assert turning == pytest.approx(np.cross(points[2], force) / LINK["inertia"], rel=1e-10)


def test_a_custom_force_can_be_changed_and_switched_at_run_time(craft):
    """Each second gives Δv = F t/m or nothing; the switch is a part of snapshots, and a reset restores its start."""
    still = {"gravity": 0.0}
    world = craft([[0, 0, 0], [0, 0, 0]], custom_force=[6.0, 0, 0], apply_custom_force=False, scenario=still)
    craft_, law = world.robots["craft"], world.robots["craft"].forces["points"]
    speeds = []

    def run():
        world.advance(1.0)
        speeds.append(craft_.twist.linear.copy())

    run()
    law.apply_custom_force = True
    before = world.snapshot()
    run()
    law.set_custom_force([0.0, 12.0, 0.0], point=1)
    run()
    assert law.custom == pytest.approx(np.array([[0, 0, 0], [0, 12.0, 0]]))
    law.apply_custom_force = False
    run()
    expected = [[0, 0, 0], [1.0, 0, 0], [1.0, 2.0, 0], [1.0, 2.0, 0]]
    assert np.array(speeds) == pytest.approx(np.array(expected), abs=1e-9)
    world.restore(before)
    assert law.apply_custom_force
    assert law.custom == pytest.approx(np.array([[3.0, 0, 0], [3.0, 0, 0]]))
    world.reset()
    assert not law.apply_custom_force


def test_a_custom_force_that_is_impossible_is_refused(craft):
    law = craft([[0, 0, 0], [0.1, 0, 0]]).robots["craft"].forces["points"]
    with pytest.raises(skerry.SkerryError, match=r"no point 2; .* 0 to 1"):
        law.set_custom_force([1, 0, 0], point=2)
    with pytest.raises(skerry.SkerryError, match="three finite numbers"):
        law.set_custom_force([1, 0, np.nan])
    with pytest.raises(skerry.SkerryError, match=r"forces\.points.*custom_force_point.*no point 5"):
        craft([[0, 0, 0]], custom_force=[1, 0, 0], custom_force_point=5)


def test_each_force_on_the_points_can_be_read_by_itself(craft):
    """Buoyancy ρ g V/N, weight −m g/N, drag −d m v/N, field F/N, custom force; `forces` is their sum, to rounding."""
    volume = {"kind": "sphere", "center": [0, 0, -50], "radius": 30}
    push = {"kind": "vector", "vector": [0, 1, 0], "magnitude": 8.0, "volume": volume}
    current = {"currents": {"flow": {"kind": "uniform", "velocity": [0.5, 0, 0]}}}
    world = craft(
        [[0.1, 0, 0], [-0.1, 0, 0]],
        gravity=True,
        underwater_drag=2.0,
        custom_force=[0.0, 0.0, 1.0],
        custom_force_point=1,
        scenario={"fields": {"push": push}, "water": current},
    )
    world.advance_steps(1)
    law = world.robots["craft"].forces["points"]
    assert law.buoyancy == pytest.approx(np.tile([0, 0, RHO * G * 0.002], (2, 1)), rel=1e-12)
    assert law.weight == pytest.approx(np.tile([0, 0, -3.0 * G], (2, 1)), rel=1e-12)
    assert law.drag == pytest.approx(np.tile([2.0 * 3.0 * 0.5, 0, 0], (2, 1)), rel=1e-12)
    assert law.field == pytest.approx(np.tile([0, 4.0, 0], (2, 1)), rel=1e-12)
    assert law.custom == pytest.approx(np.array([[0, 0, 0], [0, 0, 1.0]]))
    assert law.forces == pytest.approx(law.buoyancy + law.weight + law.drag + law.field + law.custom, rel=1e-15)


# ------------------------------------------------------------------------------------------------ drag of points


@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_points_with_drag_are_carried_by_a_current(craft, integrator):
    """v = u (1 − e^{−d t}), d = 0.8 1/s for 2 s; implicitfast is of first order in the step, d h/2 = 0.2 %."""
    current = {"currents": {"flow": {"kind": "uniform", "velocity": [0.3, -0.4, 0.0]}}}
    world = craft(
        [[0.3, 0, 0], [-0.3, 0, 0]],
        volume=6.0 / RHO,
        underwater_drag=0.8,
        scenario={"water": current, "integrator": integrator},
    )
    world.advance(2.0)
    expected = np.array([0.3, -0.4, 0.0]) * (1 - np.exp(-1.6))
    rel = 2e-3 if integrator == "implicitfast" else 1e-9
    assert world.robots["craft"].twist.linear == pytest.approx(expected, rel=rel, abs=1e-9)


def test_points_without_drag_do_not_feel_a_current(craft):
    current = {"currents": {"flow": {"kind": "uniform", "velocity": [0.3, -0.4, 0.0]}}}
    world = craft([[0.3, 0, 0], [-0.3, 0, 0]], volume=6.0 / RHO, scenario={"water": current})
    world.advance(2.0)
    assert world.robots["craft"].twist.linear == pytest.approx(np.zeros(3), abs=1e-9)


def test_a_current_that_acts_on_one_end_turns_the_body(craft, motion_of):
    """F = d (m/N) u at the one of two points that lies in the current's volume: a = F/m, ω̇ = x F/I; rounding."""
    box = {"kind": "box", "center": [5.0, 0, -50], "size": [10, 4, 4]}
    current = {"currents": {"flow": {"kind": "uniform", "velocity": [0, 0.5, 0], "volume": box}}}
    still = {"water": current, "gravity": 0.0, "integrator": "rk4", "step": "1/1000"}
    world = craft([[0.3, 0, 0], [-0.3, 0, 0]], underwater_drag=2.0, scenario=still)
    found, turning = _one_step(world, motion_of)
    force = 2.0 * 3.0 * 0.5
    assert found[1] == pytest.approx(force / 6.0, rel=3e-3)
    assert turning[2] == pytest.approx(0.3 * force / 0.4, rel=3e-3)


def test_the_drag_of_points_damps_rotation_too(craft, set_velocity, motion_of):
    """ω̇ = −(d Σ (m/N) x²/I + d_a) ω: e^{−t rate} about z, with points at ±0.3 m on x; RK4."""
    still = {"gravity": 0.0, "integrator": "rk4", "step": "1/1000"}
    world = craft(
        [[0.3, 0, 0], [-0.3, 0, 0]], underwater_drag=2.0, underwater_angular_drag=0.5, air_drag=9.0, scenario=still
    )
    set_velocity(world, angular=[0, 0, 1.0])
    world.advance(0.5)
    rate = 2.0 * 6.0 * 0.3**2 / 0.4 + 0.5
    assert motion_of(world, "craft")[2][5] == pytest.approx(np.exp(-0.5 * rate), rel=1e-6)


def test_above_the_water_points_have_the_drag_of_the_air_and_feel_the_wind(craft):
    """v = w (1 − e^{−d t}) in a wind w, RK4."""
    wind = {"winds": {"breeze": {"kind": "uniform", "velocity": [4.0, 0.0, 0.0]}}}
    still = {"water": wind, "gravity": 0.0, "integrator": "rk4"}
    world = craft([[0.3, 0, 0], [-0.3, 0, 0]], 20.0, underwater_drag=9.0, air_drag=0.5, scenario=still)
    world.advance(2.0)
    assert world.robots["craft"].twist.linear[0] == pytest.approx(4.0 * (1 - np.exp(-1.0)), rel=1e-6)


@pytest.mark.parametrize("drag", [10.0, 1e4, 1e7])
def test_any_drag_of_points_is_stable(craft, set_velocity, drag):
    """Implicit in the step: a stiff drag ends in the speed of the current, without a swing."""
    current = {"currents": {"flow": {"kind": "uniform", "velocity": [0.5, 0, 0]}}}
    points = [[0.3, 0.1, 0], [-0.3, 0.2, 0.1], [0.1, -0.4, 0.2]]
    world = craft(points, volume=6.0 / RHO, underwater_drag=drag, scenario={"water": current})
    set_velocity(world, [-3.0, 2.0, 1.0], [5.0, -4.0, 3.0])
    world.advance(3.0)
    assert np.abs(world.robots["craft"].twist.linear).max() < 0.6
    assert np.abs(world.robots["craft"].twist.angular).max() < 0.1


def test_points_are_given_in_the_frame_of_their_mount(craft, motion_of):
    """p_link = R(rpy) p + position: a mount yawed by 90° at (0.1, 0, 0) puts (0.2, 0, 0) at (0.1, 0.2, 0)."""
    world = craft([[0.2, 0, 0]], position=[0.1, 0, 0], yaw_deg=90.0)
    assert world.robots["craft"].forces["points"].points == pytest.approx(np.array([[0.1, 0.2, 0.0]]), abs=1e-15)
    _, turning = _one_step(world, motion_of)
    expected = np.cross([0.1, 0.2, 0.0], [0.0, 0.0, RHO * G * 0.004]) / LINK["inertia"]
    assert turning == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.fixture
def box_file(tmp_path):
    """Write a box of 0.3 × 0.2 × 0.1 m as an OBJ file, without its last `missing` triangles."""

    def write(missing=0):
        box = meshes.box((0.3, 0.2, 0.1))
        lines = [f"v {x} {y} {z}" for x, y, z in box.vertices]
        lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in box.faces[: len(box.faces) - missing]]
        file = tmp_path / "box.obj"
        file.write_text("\n".join(lines) + "\n")
        return str(file)

    return write


def test_a_closed_mesh_gives_the_same_lift_as_its_volume(craft, motion_of, box_file):
    """V = 0.3 · 0.2 · 0.1 m³ of a box, by the divergence theorem; to rounding of what weight and lift leave."""
    told, _ = _one_step(craft([[0, 0, 0]], volume=0.006), motion_of)
    found, _ = _one_step(craft([[0, 0, 0]], mesh=box_file()), motion_of)
    assert found[2] == pytest.approx(told[2], rel=1e-11)


@pytest.mark.parametrize(("scale", "factor"), [(0.5, 0.125), ([0.5, 2.0, 3.0], 3.0)])
def test_the_mesh_of_the_volume_may_be_scaled(craft, box_file, scale, factor):
    """V = s_x s_y s_z · 0.006 m³; rounding."""
    world = craft([[0, 0, 0]], mesh=box_file(), scale=scale)
    world.advance_steps(1)
    lift = world.robots["craft"].forces["points"].buoyancy[0, 2]
    assert lift == pytest.approx(RHO * G * 0.006 * factor, rel=1e-11)


def test_a_scale_without_a_mesh_is_refused(craft):
    with pytest.raises(skerry.SkerryError, match="`scale` has an effect only with `mesh`"):
        craft([[0, 0, 0]], scale=2.0)


@pytest.mark.parametrize(
    ("geometry", "expected"),
    [
        ('<box size="0.3 0.2 0.1"/>', 0.006),
        ('<sphere radius="0.1"/>', 4 / 3 * np.pi * 1e-3),
        ('<cylinder radius="0.1" length="0.5"/>', np.pi * 0.005),
        ('<mesh filename="FILE" scale="2 -1 0.5"/>', 0.006),
    ],
)
def test_the_volume_may_be_that_of_the_links_own_geometry(craft, box_file, geometry, expected):
    """Closed forms of each shape; a mesh with the scale of the URDF."""
    link = {**LINK, "collision": geometry.replace("FILE", box_file())}
    world = craft([[0, 0, 0]], link=link, volume="collision")
    world.advance_steps(1)
    assert world.robots["craft"].forces["points"].buoyancy[0, 2] == pytest.approx(RHO * G * expected, rel=1e-11)


def test_a_link_without_the_geometry_of_its_volume_is_refused(craft):
    with pytest.raises(skerry.SkerryError, match="link 'hull' has no visual shape with a volume; use `collision`"):
        craft([[0, 0, 0]], volume="visual", link={**LINK, "collision": '<sphere radius="0.1"/>'})


@pytest.mark.parametrize("missing", [1, 2])
def test_an_open_mesh_is_refused_with_a_message(craft, box_file, missing):
    """A box with a hole encloses no volume; the message names the file, says that it is open, and what to do."""
    with pytest.raises(skerry.SkerryError, match=r"box\.obj.*open.*edges.*fill holes"):
        craft([[0, 0, 0]], mesh=box_file(missing))


def test_the_forces_that_can_be_read_sum_to_what_moves_the_body(craft, motion_of):
    """Σ F_i = m (a + g) of the step in which they acted, with ramp, density, cap and custom force at once."""
    world = craft(
        [[0.1, 0, 0.02], [-0.1, 0.05, -0.03], [0.0, -0.1, 0.0]],
        0.0,
        density=[900.0, 1100.0, 0.0],
        max_buoyancy=35.0,
        custom_force=[1.0, 2.0, 3.0],
        depth_before_submerged=0.05,
    )
    found, _ = _one_step(world, motion_of)
    total = world.robots["craft"].forces["points"].forces.sum(axis=0)
    assert total == pytest.approx(6.0 * np.add(found, [0.0, 0.0, G]), rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("order", [("hull_points", "mast_points"), ("mast_points", "hull_points")])
def test_two_sets_of_points_on_one_link_add_up_in_any_order(load, vehicle, motion_of, order):
    """A hull under water and a mast above it are one body, wet by the share of its whole volume: 9 parts in 10.

    So it feels 0.9 of the drag and, being touched by water, the damping of water, whichever set is named first.
    """
    sets = {
        "hull_points": {"kind": "force_points", "link": "hull", "points": [[0, 0, -0.5]], "volume": 0.009},
        "mast_points": {"kind": "force_points", "link": "hull", "points": [[0, 0, 0.5]], "volume": 0.001},
    }
    forces = {name: sets[name] for name in order} | {
        "drag": {"kind": "damping", "link": "hull", "linear": [12.0, 0, 0, 0, 0, 0]},
        "plain": {"kind": "immersion_damping", "link": "hull", "underwater_linear": 0.5},
    }
    robot = {"vehicle": vehicle({"hull": LINK}, forces)}
    world = load({"robots": {"craft": robot}, "gravity": 0.0, "integrator": "rk4", "step": "1/1000"})
    world._engine.part("qvel")[0, 0] = 1.0
    world._engine.refresh()
    world.advance(0.2)
    expected = np.exp(-0.2 * (0.9 * 12.0 / 6.0 + 0.5))
    assert world.robots["craft"].twist.linear[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "water",
    [
        {"surface": {"kind": "waves", "height": 0.5, "period": 3.0, "heading_deg": 40, "seed": 5}},
        {"surface": {"kind": "waves", "height": 0.3, "period": 3.0, "heading_deg": 40, "seed": 5, "depth": 4}},
        {"surface": {"kind": "tide", "constituents": [{"amplitude": 0.4, "period_hours": 12}]}},
        {
            "surface": {"kind": "waves", "height": 0.5, "period": 3.0, "heading_deg": 40, "seed": 5},
            "profile": {"depths": [0, 2], "temperature": [15, 5]},
        },
    ],
    ids=["deep", "shallow", "tide", "layers"],
)
@pytest.mark.parametrize("z", [6.0, 0.0, -1.5, -20.0])
def test_points_far_from_the_surface_give_the_same_bits_as_with_a_height_query(craft, water, z):
    """A surface stays between its heights, so that nothing is left out: the same bits as with any height possible."""
    points = [[0.3, 0.1, up] for up in np.linspace(-4.0, 4.0, 9)] + [[-0.3, -0.1, up] for up in np.linspace(-4, 4, 9)]
    ends = []
    for bounded in (True, False):
        world = craft(points, z, volume=0.006, depth_before_submerged=0.2, scenario={"water": water})
        if not bounded:
            world.water._table[2:5] = -np.inf, np.inf, -np.inf
        world.advance(1.0)
        ends.append((world.robots["craft"].pose.position, world.robots["craft"].forces["points"].forces))
    assert np.array_equal(ends[0][0], ends[1][0])
    assert np.array_equal(ends[0][1], ends[1][1])
