"""SAM: it floats, trims, dives and surfaces, runs straight and fast, turns both ways alike, and comes to rest again.

The expected values come from the published link table and coefficients, not from the vehicle's files.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import skerry
from skerry.core.frames import Pose, quaternion_to_rpy

RHO, G = 1025.0, 9.81
LENGTH, RADIUS = 1.334, 0.063  # of the hull, m
CB = np.array([-0.00069, 0.0, 0.0])  # the centre of buoyancy, by the vehicle's own trim
LINEAR = np.diag([1.0, 5.0, 5.0, 0.1, 1.5, 1.5])  # N s/m, N m s: the vehicle's linear damping
LIMITS = [
    ("thruster1", "rpm", -1525.0, 1525.0, None),
    ("thruster2", "rpm", -1525.0, 1525.0, None),
    ("thrust_vector_yaw", "angle", -0.122, 0.122, ("thruster_yaw_joint", -0.122, 0.122)),
    ("thrust_vector_pitch", "angle", -0.122, 0.122, ("thruster_joint", -0.122, 0.122)),
    ("vbs", "percent", 0.0, 100.0, ("vbs_joint", 0.006, 0.050)),
    ("lcg", "percent", 0.0, 100.0, ("battery_joint", 0.0, 0.057)),
]


@pytest.fixture
def dive(load):
    """Return the world and the robot of a SAM in still, deep water."""

    def build(depth=20.0, density=RHO, pose=None, overrides=None, anchored=False, **scenario):
        robot = {"pose": {"position": [0.0, 0.0, -depth], "heading_deg": None, "yaw_deg": 0.0} | (pose or {})}
        robot |= {"overrides": overrides or {}, "anchored": anchored}
        world = load("sam_empty", overrides={"water": {"density": density}, "robots": {"sam": robot}} | scenario)
        return world, world.robots["sam"]

    return build


def rpy(sam):
    """Roll, pitch (nose down positive) and yaw, rad."""
    return quaternion_to_rpy(sam.pose.orientation)


def propel(sam, rpm):
    for name in ("thruster1", "thruster2"):
        sam.actuators[name].command(rpm=rpm)


def matter(vbs=50.0, lcg=50.0, density=RHO):
    """Return mass and position of hull, batteries, piston and the water in the tank, from the link table."""
    return [
        (12.012, np.array([-0.0075, 0.0, -0.015])),
        (2.7, np.array([-0.080 + 0.12115 + 0.057 * lcg / 100, 0.0, 0.0])),
        (0.300, np.array([-0.273 + 0.006 + 0.044 * vbs / 100, 0.0, -0.0125])),
        (0.00025 * density * vbs / 100, np.array([-0.273, 0.0, -0.0125])),
    ]


def center_of_gravity(**settings):
    parts = matter(**settings)
    return sum(m * place for m, place in parts) / sum(m for m, _ in parts)


def weight(**settings):
    return G * sum(m for m, _ in matter(**settings))


def lamb(density, volume):
    """Lamb's added mass of a prolate spheroid, from his integrals (Hydrodynamics, §114) and not their closed forms.

    α₀ = a b² ∫₀^∞ dλ/((a² + λ) Δ), β₀ = a b² ∫₀^∞ dλ/((b² + λ) Δ), Δ = √(a² + λ) (b² + λ).
    """
    a, b = LENGTH / 2, RADIUS

    def integral(first):
        # λ = a² tan²(s) makes the range finite
        def inner(s):
            value = (a * np.tan(s)) ** 2
            slope = 2 * a**2 * np.tan(s) / np.cos(s) ** 2
            return slope / ((first + value) * np.sqrt(a**2 + value) * (b**2 + value))

        return a * b**2 * quad(inner, 0.0, np.pi / 2, epsabs=1e-13, epsrel=1e-11, limit=200)[0]

    alpha, beta = integral(a**2), integral(b**2)
    mass = density * volume
    across = beta / (2 - beta)
    turn = (a**2 - b**2) ** 2 * (beta - alpha) / (2 * (a**2 - b**2) + (a**2 + b**2) * (alpha - beta)) / 5 * mass
    return np.diag([alpha / (2 - alpha) * mass, across * mass, across * mass, 0.0, turn, turn])


def full_inertia(spatial):
    """The 6×6 inertia in trim about base_link, with the water that moves along; inertias of the shapes."""

    def cylinder(m, radius, length):
        across = m * (3 * radius**2 + length**2) / 12
        return [m * radius**2 / 2, across, across]

    hull, batteries, piston, water = matter()
    m = batteries[0]
    box = [m * (0.08**2 + 0.08**2) / 12, m * (0.2**2 + 0.08**2) / 12, m * (0.2**2 + 0.08**2) / 12]
    total = spatial(*hull, cylinder(hull[0], RADIUS, LENGTH))
    total = total + spatial(*batteries, box) + spatial(*piston, cylinder(piston[0], 0.0425, 0.02))
    total = total + spatial(*water, [0.0, 0.0, 0.0])
    return total + lamb(RHO, weight() / G / RHO)


# ------------------------------------------------------------------------------------------------ mass


@pytest.mark.parametrize(
    ("vbs", "lcg", "mass", "x"),
    [
        (0, 0, 15.012, -0.0039),
        (0, 50, 15.012, 0.0012),
        (0, 100, 15.012, 0.0063),
        (50, 0, 15.137, -0.0055),
        (50, 50, 15.137, -0.0004),
        (50, 100, 15.137, 0.0047),
        (100, 0, 15.261, -0.0066),
        (100, 50, 15.261, -0.0016),
        (100, 100, 15.261, 0.0034),
    ],
)
def test_mass_and_centre_of_gravity_are_those_of_the_link_table(dive, vbs, lcg, mass, x):
    """The published composite of SMaRC's SAM at 997 kg/m³: 1 g by its rounding, z to its rounding.

    Its water rides on the piston, while ours stays at the tank: 0.249 kg × 50 mm over 15 kg, 0.8 mm in x at most.
    """
    world, sam = dive(density=997.0, gravity=0.0)
    sam.actuators["vbs"].command(percent=vbs)
    sam.actuators["lcg"].command(percent=lcg)
    world.advance(12.0)
    compiled = world._engine.model.compiled
    total, first = sam.actuators["vbs"].water, np.zeros(3)
    back = sam.pose.inverse()
    first += total * np.array([-0.273, 0.0, -0.0125])
    for body in range(1, compiled.nbody):
        row = world._engine.motion(0, body)
        place = Pose(row[:3], row[3:7]).transform(compiled.body_ipos[body])
        first += compiled.body_mass[body] * back.transform(place)
        total += compiled.body_mass[body]
    assert total == pytest.approx(mass, abs=1.1e-3)
    assert first[0] / total == pytest.approx(x, abs=1e-3)
    assert first[1] == pytest.approx(0.0, abs=1e-12)
    assert first[2] / total == pytest.approx(-0.0123, abs=1e-4)
    assert first / total == pytest.approx(center_of_gravity(vbs=vbs, lcg=lcg, density=997.0), abs=1e-6)


def test_added_mass_of_the_hull_is_lambs(dive):
    """k₁ = α₀/(2 − α₀), k₂ = β₀/(2 − β₀) of the displaced mass, and Lamb's k′ in pitch and yaw; quadrature: 1e-6."""
    _, sam = dive()
    matrix = sam.forces["added_mass"].constants.reshape(6, 6)
    expected = lamb(RHO, weight() / G / RHO)
    assert matrix == pytest.approx(expected, rel=1e-6, abs=1e-9)
    # long and thin: nearly nothing along it, nearly the displaced mass across it
    assert matrix[0, 0] < 0.03 * weight() / G
    assert 0.95 < matrix[1, 1] * G / weight() < 1.0


def test_sam_has_every_link_of_the_link_table(dive):
    """ROS stacks find frames by these names."""
    _, sam = dive()
    frames = "tcg1 tcg2 pressure dvl sidescan imu sbg gps uw_gps camera_down camera_front_left camera_front_right"
    frames += (
        " camera_front rope front_transceiver aft_transceiver thruster_yaw thruster front_prop back_prop vbs battery"
    )
    assert set(sam.links) == {"base_link", *(f"{name}_link" for name in frames.split())}
    gps = sam.pose.inverse() @ sam.link_pose("gps_link")
    assert gps.position == pytest.approx([0.528, 0.0, 0.071], abs=1e-12)
    assert (sam.pose.inverse() @ sam.link_pose("back_prop_link")).position == pytest.approx([-0.754, 0, 0], abs=1e-9)


# ------------------------------------------------------------------------------------------------ floating and trim


@pytest.mark.parametrize("density", [997.0, 1005.0, 1025.0, 1050.0])
def test_sam_is_neutral_half_full_in_any_water(dive, density):
    """W = ρ g V at 50 %: in 60 s its depth changes by less than 1 mm; it lies level to half a degree."""
    world, sam = dive(depth=2.0, density=density)
    world.advance(60.0)
    assert sam.pose.position == pytest.approx([0.0, 0.0, -2.0], abs=1e-3)
    assert np.abs(sam.twist.linear).max() < 1e-5
    assert abs(np.degrees(rpy(sam)[1])) < 0.5


@pytest.mark.parametrize(("water", "sign"), [(1005.0, -1), (1045.0, 1)])
def test_sam_trimmed_for_one_water_is_not_neutral_in_another(dive, water, sign):
    """(ρ − ρ_trim) V g, with V from the trim: 20 kg/m³ are 2.9 N, less what the tank's own water differs by."""
    world, sam = dive(density=water, overrides={"trim_density": 1025.0})
    world.advance(0.05)
    half = 0.000125
    volume = (15.012 + half * 1025.0) / 1025.0
    lift = (water * volume - 15.012 - half * water) * G
    rigid = 15.012 + half * water
    across = lamb(water, volume)[2, 2]
    # after so short a time there is no drag and no pitch yet, only W + B = (m + m_A) ẇ: 2 %
    assert sam.twist.linear[2] / 0.05 == pytest.approx(lift / (rigid + across), rel=0.02)
    world.advance(30.0)
    assert sign * (sam.pose.position[2] + 20.0) > 1.0


def test_sam_trimmed_for_its_own_water_is_neutral(dive):
    world, sam = dive(density=1005.0, overrides={"trim_density": 1005.0})
    world.advance(60.0)
    assert sam.pose.position[2] == pytest.approx(-20.0, abs=1e-3)


@pytest.mark.parametrize(("start", "sign"), [(0.0, 1), (50.0, 0), (100.0, -1)])
def test_where_the_buoyancy_system_starts_does_not_change_the_hull(dive, start, sign):
    """Neutral is 50 % whatever the reset value: started empty it rises, started full it sinks, by 1.26 N."""
    world, sam = dive(overrides={"actuators": {"vbs": {"reset_value": start}}})
    world.advance(10.0)
    assert sam.actuators["vbs"].feedback == start
    assert sam.pose.position[2] + 20.0 == pytest.approx(0.85 * sign, abs=0.15 if sign else 1e-4)


def test_sam_floats_empty_dives_full_and_surfaces_again(dive):
    """±0.128 kg of water make ±1.26 N: it rises to the surface and stays there, dives beneath it, and comes up."""
    world, sam = dive(depth=2.0)
    vbs = sam.actuators["vbs"]
    for _ in range(2):
        vbs.command(percent=0.0)
        world.advance(120.0)
        heights = []
        for _ in range(60):
            world.advance(0.5)
            heights.append(sam.pose.position[2])
        # it floats almost submerged, little deeper than its radius
        assert -0.07 < min(heights) <= max(heights) < -0.05
        assert np.abs(sam.twist.linear).max() < 5e-3
        assert np.abs(np.degrees(rpy(sam)[:2])).max() < 2.0
        vbs.command(percent=100.0)
        world.advance(60.0)
        assert sam.pose.position[2] < -3.0
    assert sam.twist.linear[2] < -0.05


def test_the_buoyancy_system_fills_at_its_rate_and_its_piston_follows(dive):
    """7 % a second: from 50 % to 100 % in 50/7 = 7.14 s; the piston stands at 6 mm empty and at 50 mm full."""
    world, sam = dive(depth=50.0)
    vbs = sam.actuators["vbs"]
    assert sam.joint_position("vbs_joint") == pytest.approx(0.028, abs=1e-12)
    vbs.command(percent=100.0)
    world.advance(5.0)
    assert vbs.feedback == pytest.approx(85.0, abs=1e-9)
    world.advance(2.5)
    assert vbs.feedback == pytest.approx(100.0, abs=1e-12)
    assert vbs.water == pytest.approx(0.00025 * RHO, rel=1e-12)
    # the screw gives way by some 10 µm to the piston's weight in a tilt
    assert sam.joint_position("vbs_joint") == pytest.approx(0.050, abs=5e-5)
    vbs.command(percent=0.0)
    world.advance(20.0)
    assert vbs.feedback == pytest.approx(0.0, abs=1e-12)
    assert sam.joint_position("vbs_joint") == pytest.approx(0.006, abs=5e-5)


@pytest.mark.parametrize("lcg", [0.0, 25.0, 40.0, 75.0, 100.0])
def test_the_batteries_pitch_sam_as_the_closed_form_says(dive, lcg):
    """At rest the centre of gravity hangs below that of buoyancy: tan θ = Δx/BG, nose down where it is ahead.

    0.1°: the slides give way by 0.1 % of their travel, which is 0.05°.
    """
    world, sam = dive()
    sam.actuators["lcg"].command(percent=lcg)
    world.advance(150.0)
    command_slot = center_of_gravity(lcg=lcg) - CB
    expected = np.degrees(np.arctan2(command_slot[0], -command_slot[2]))
    assert np.degrees(rpy(sam)[1]) == pytest.approx(expected, abs=0.1)
    assert np.sign(expected) == np.sign(lcg - 50.0)
    assert abs(rpy(sam)[0]) < 1e-9


def test_zero_command_stays_put(dive):
    """Still water, neutral: nothing moves it by more than what its own settling into trim does (0.02°: microns)."""
    world, sam = dive(depth=2.0)
    for name, keyword, *_ in LIMITS:
        sam.actuators[name].command(**{keyword: 50.0 if keyword == "percent" else 0.0})
    world.advance(120.0)
    assert sam.pose.position == pytest.approx([0.0, 0.0, -2.0], abs=1e-5)
    assert np.abs(np.degrees(rpy(sam))).max() < 0.05


# ------------------------------------------------------------------------------------------------ swinging


def _swing(world, sam, axis, seconds):
    """An angle at every step, rad, about where it comes to rest."""
    angles = np.zeros(round(seconds * 200) + 1)
    angles[0] = rpy(sam)[axis]
    for k in range(1, angles.size):
        world.advance_steps(1)
        angles[k] = rpy(sam)[axis]
    return angles


def _crossings(angles):
    k = np.flatnonzero(angles[:-1] * angles[1:] < 0)
    return (k + angles[k] / (angles[k] - angles[k + 1])) / 200


@pytest.mark.parametrize(("axis", "name", "seconds"), [(0, "roll_deg", 3.0), (1, "pitch_deg", 16.0)])
def test_small_swings_have_the_period_of_the_closed_form(dive, spatial, axis, name, seconds):
    """det(λ² M + λ D + K) = 0 with M the rigid and added inertia and K = W BG in roll and pitch; T = 2π/Im λ.

    Released from 1°, where quadratic drag has little to say; 2 % for it and for the step of 5 ms.
    """
    mass = full_inertia(spatial)
    stiffness = np.zeros((6, 6))
    stiffness[3, 3] = stiffness[4, 4] = -weight() * center_of_gravity()[2]
    system = np.block(
        [[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, LINEAR)]]
    )
    values, vectors = np.linalg.eig(system)
    swinging = np.where(values.imag > 0, np.abs(vectors[3 + axis]), 0.0)
    mode = values[np.argmax(swinging)]

    world, sam = dive(pose={name: 1.0})
    rest = np.radians(-0.021056) if axis == 1 else 0.0  # the trim that 1025 kg/m³ gives, see the level test
    angles = _swing(world, sam, axis, seconds) - rest
    crossings = _crossings(angles)
    period = 2 * np.diff(crossings)[:2].mean()
    assert period == pytest.approx(2 * np.pi / mode.imag, rel=0.02)
    # and the amplitude falls as e^(Re λ t); at 1° the quadratic drag adds some
    first, second = (np.abs(angles[round(200 * crossings[k]) : round(200 * crossings[k + 1])]).max() for k in range(2))
    decay = np.log(first / second) / (period / 2)
    assert -mode.real * 0.98 < decay < -mode.real * 1.15


@pytest.mark.parametrize(("axis", "name", "period", "swings"), [(0, "roll_deg", 0.81, 3), (1, "pitch_deg", 8.65, 2)])
def test_large_swings_die_out_within_a_few_periods(dive, axis, name, period, swings):
    """Released from 20°: less than half is left after one period, a twentieth after a few; yet it does swing."""
    world, sam = dive(pose={name: 20.0})
    angles = np.abs(np.degrees(_swing(world, sam, axis, (swings + 1.5) * period)))
    after = angles[round(200 * period) :].max()
    late = angles[round(200 * swings * period) :].max()
    assert after < 10.0
    assert late < 1.0
    assert np.degrees(np.abs(rpy(sam))).max() < 1.0
    assert (np.diff(np.sign(np.diff(angles))) < 0).sum() >= 2


# ------------------------------------------------------------------------------------------------ propellers


@pytest.mark.parametrize(("rpm", "thrust", "torque"), [(500, 12.5, 0.268), (1000, 50.0, 1.07), (1525, 116.0, 2.50)])
@pytest.mark.parametrize("name", ["thruster1", "thruster2"])
def test_thrust_and_torque_at_the_bollard_are_the_published_ones(dive, name, rpm, thrust, torque):
    """T = ρ D⁴ K_T0 n², Q = ρ D⁵ K_Q0 n² at ρ = 1026 (smarc_modelling's SAM); published to three figures."""
    world, sam = dive(density=1026.0, anchored=True)
    propeller = sam.actuators[name]
    propeller.command(rpm=rpm)
    world.advance(3.0)
    assert propeller.feedback == pytest.approx(rpm, rel=1e-12)  # thirty lags
    assert propeller.thrust == pytest.approx(thrust, rel=5e-3)
    assert propeller.torque == pytest.approx(torque, rel=5e-3)
    assert propeller.thrust == pytest.approx(1026.0 * 0.14**4 * 0.4566 * (rpm / 60) ** 2, rel=1e-9)
    assert propeller.torque == pytest.approx(1026.0 * 0.14**5 * 0.0700 * (rpm / 60) ** 2, rel=1e-9)
    forward = propeller.thrust, propeller.torque
    propeller.command(rpm=-rpm)
    world.advance(5.0)
    assert (propeller.thrust, propeller.torque) == pytest.approx([-0.2 * value for value in forward], rel=1e-9)


def test_a_propeller_out_of_the_water_gives_no_thrust_and_one_half_in_gives_half(dive):
    """Thrust scales with the wet share of the disc, a half at the surface.

    1e-7: the hinge yields by nanometres under its load.
    """
    shares = []
    for depth in (-5.0, -0.08, 0.0, 0.05, 0.08, 20.0):
        world, sam = dive(depth=depth, anchored=True)
        propel(sam, 1000.0)
        world.advance(3.0)
        shares.append([sam.actuators[name].thrust for name in ("thruster1", "thruster2")])
    full = RHO * 0.14**4 * 0.4566 * (1000 / 60) ** 2
    expected = np.array([0.0, 0.0, 0.5, 0.5 + 0.05 / 0.14, 1.0, 1.0])
    assert np.array(shares) == pytest.approx(full * np.stack([expected, expected], axis=1), rel=1e-7)


def test_counter_rotation_cancels_the_roll_torque(dive):
    """+Q and −Q at the same rpm: no roll at all, from standstill to full speed."""
    world, sam = dive()
    propel(sam, 1525.0)
    most = 0.0
    for _ in range(40):
        world.advance(0.5)
        most = max(most, abs(rpy(sam)[0]))
    assert most < 1e-9


@pytest.mark.parametrize(("name", "sign"), [("thruster1", -1), ("thruster2", 1)])
def test_one_propeller_alone_heels_sam_against_its_turning(dive, name, sign):
    """The body feels −Q: it heels until W BG sin φ = Q, to the left for a propeller that turns to the right; 1 %."""
    world, sam = dive(depth=50.0)
    sam.actuators[name].command(rpm=500.0)
    world.advance(60.0)
    command_slot = -center_of_gravity()[2]
    expected = np.arcsin(sam.actuators[name].torque / (weight() * command_slot))
    assert rpy(sam)[0] == pytest.approx(sign * expected, rel=0.01)
    assert np.degrees(expected) > 2.0


# ------------------------------------------------------------------------------------------------ running


def _speed(rpm, density=RHO):
    """Return the speed at which 2 T(V) = X_u V + X_uu V²: T = ρ D⁴ (K_T0 n² − 0.944 (K_T0 − K_Tmax)/J_max V n/D)."""
    n, diameter = rpm / 60, 0.14
    bollard = 2 * density * diameter**4 * 0.4566 * n**2
    loss = 2 * density * diameter**3 * 0.944 * (0.4566 - 0.1798) / 0.6632 * n
    b = 1.0 + loss
    return (-b + np.sqrt(b**2 + 4 * 14.235 * bollard)) / (2 * 14.235)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_sam_reaches_the_real_vehicles_speed_on_a_straight_course(dive, integrator):
    """2.5 m/s at 1525 rpm on both propellers, ±1 %; no side slip, no turn, hardly any pitch."""
    world, sam = dive(integrator=integrator)
    propel(sam, 1525.0)
    world.advance(60.0)
    assert sam.twist.linear[0] == pytest.approx(2.5, rel=0.01)
    assert np.abs(sam.pose.position[1]) < 1e-9
    assert np.abs(rpy(sam)[[0, 2]]).max() < 1e-9
    assert abs(np.degrees(rpy(sam)[1])) < 0.1
    # the start disturbs the heading a little: 1 m in 150 m
    assert sam.pose.position[2] == pytest.approx(-20.0, abs=1.5)


@pytest.mark.parametrize("rpm", [300.0, 500.0, 1000.0, 1525.0])
def test_speed_is_where_thrust_and_drag_meet(dive, rpm):
    """The root of 2 T(V) = X_u V + X_uu V²; 0.1 % for the small pitch that is left."""
    world, sam = dive()
    propel(sam, rpm)
    world.advance(60.0)
    assert sam.twist.linear[0] == pytest.approx(_speed(rpm), rel=1e-3)


def test_sam_runs_astern_by_a_fifth_of_the_thrust(dive):
    """2 ρ D⁴ K_T0 n² / 5 = X_u V + X_uu V²: no advance term backwards. 2 %: it begins to drift off."""
    world, sam = dive(depth=100.0)
    propel(sam, -500.0)
    world.advance(8.0)
    thrust = 2 * RHO * 0.14**4 * 0.4566 * (500 / 60) ** 2 / 5
    speed = (-1.0 + np.sqrt(1.0 + 4 * 14.235 * thrust)) / (2 * 14.235)
    assert sam.twist.linear[0] == pytest.approx(-speed, rel=0.02)


def test_sam_holds_its_course_after_a_kick(dive, set_velocity):
    """Directionally stable: a kick of 0.2 rad/s at full speed dies out, and a new straight course remains."""
    world, sam = dive()
    propel(sam, 1525.0)
    world.advance(30.0)
    set_velocity(world, (sam.twist.linear[0], 0.0, 0.0), (0.0, 0.0, 0.2))
    world.advance(10.0)
    turned = np.degrees(rpy(sam)[2])
    world.advance(10.0)
    assert np.abs(sam.twist.angular).max() < 1e-4
    assert np.degrees(rpy(sam)[2]) == pytest.approx(turned, abs=0.1)
    assert 1.0 < turned < 60.0


def _track(world, sam, seconds):
    rows = []
    for _ in range(round(seconds * 4)):
        world.advance(0.25)
        rows.append(np.concatenate([sam.pose.position, rpy(sam), sam.twist.linear, sam.twist.angular]))
    return np.array(rows)


@pytest.mark.parametrize("rpm", [500.0, 1525.0])
def test_sam_turns_both_ways_alike(dive, rpm):
    """Mirrored in the x-z plane, all motion is the same, to 1e-9; thrust to the left turns the nose to the right."""
    tracks = []
    for angle in (0.122, -0.122):
        world, sam = dive(depth=100.0)
        propel(sam, rpm)
        sam.actuators["thrust_vector_yaw"].command(angle=angle)
        tracks.append(_track(world, sam, 40.0))
    mirror = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1])
    left = tracks[1] * mirror
    left[:, 5] = np.arctan2(np.sin(left[:, 5]), np.cos(left[:, 5]))
    assert np.abs(tracks[0] - left).max() < 1e-9
    assert tracks[0][-1][11] < -0.04


def test_the_turning_circle_hardly_depends_on_speed(dive):
    """Thrust, drag, lift and added mass all go with V², so that the circle has one size, but for linear drag: 2 %."""
    radii = []
    for rpm in (500.0, 1000.0, 1525.0):
        world, sam = dive(depth=100.0)
        propel(sam, rpm)
        sam.actuators["thrust_vector_yaw"].command(angle=0.122)
        world.advance(40.0)
        radii.append(np.hypot(*sam.twist.linear[:2]) / abs(sam.twist.angular[2]))
    assert max(radii) / min(radii) < 1.02
    assert 5.0 < min(radii) < 20.0


@pytest.mark.parametrize("angle", [0.05, 0.122])
def test_the_thrust_vector_pitches_sam_both_ways(dive, angle):
    """A thruster that points down (positive about y) lifts the nose: pitch is negative, and SAM climbs.

    The other way it dives, alike but for the trim of 0.02° and the swing into it: 1°.
    """
    pitches, climbs = [], []
    for sign in (1, -1):
        world, sam = dive(depth=100.0)
        propel(sam, 500.0)
        sam.actuators["thrust_vector_pitch"].command(angle=sign * angle)
        world.advance(20.0)
        pitches.append(np.degrees(rpy(sam)[1]))
        climbs.append(sam.pose.position[2] + 100.0)
        assert abs(rpy(sam)[0]) < 1e-9
        assert abs(rpy(sam)[2]) < 1e-9
    assert pitches[0] < -3.0
    assert climbs[0] > 0.5
    assert pitches[1] == pytest.approx(-pitches[0], abs=1.0)
    assert climbs[1] == pytest.approx(-climbs[0], rel=0.2)


# ------------------------------------------------------------------------------------------------ actuators


@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize(("name", "keyword", "lower", "upper", "joint"), LIMITS)
def test_every_actuator_reaches_both_its_limits_and_no_more(dive, name, keyword, lower, upper, joint, end):
    """A command far beyond the limit is the limit; the joint stands at its stop, to 0.1 % of its travel."""
    world, sam = dive(depth=100.0)
    actuator = sam.actuators[name]
    assert actuator.limits == pytest.approx((lower, upper), abs=1e-12)
    limit, span = (lower, upper)[end], upper - lower
    actuator.command(**{keyword: limit + (1e6 if end else -1e6)})
    world.advance(25.0)
    assert actuator.setpoint == pytest.approx(limit, abs=1e-9 * span)
    assert actuator.feedback == pytest.approx(limit, abs=1e-3 * span)
    if joint is not None:
        where, low, high = joint
        position, give = sam.joint_position(where), 1e-3 * (high - low)
        assert position == pytest.approx((low, high)[end], abs=give)
    actuator.reset()
    world.advance(25.0)
    assert actuator.feedback == pytest.approx(50.0 if keyword == "percent" else 0.0, abs=1e-3 * span)


def test_the_thrust_vector_holds_at_full_thrust(dive):
    """Thrust passes through both hinges, and the torques of the propellers cancel: nothing bends it; 0.1 %."""
    world, sam = dive(depth=100.0)
    propel(sam, 1525.0)
    sam.actuators["thrust_vector_yaw"].command(angle=0.1)
    sam.actuators["thrust_vector_pitch"].command(angle=-0.08)
    world.advance(10.0)
    assert sam.actuators["thrust_vector_yaw"].feedback == pytest.approx(0.1, rel=1e-3)
    assert sam.actuators["thrust_vector_pitch"].feedback == pytest.approx(-0.08, rel=1e-3)


def test_the_thrust_vector_turns_no_faster_than_its_servo(dive):
    """0.2 rad/s: 0.1 rad takes half a second and the lag of a critically damped loop at 15 Hz, 2/ω = 21 ms."""
    world, sam = dive()
    hinge = sam.actuators["thrust_vector_yaw"]
    hinge.command(angle=0.1)
    world.advance(0.25)
    assert hinge.feedback == pytest.approx(0.2 * (0.25 - 2 / (2 * np.pi * 15)), abs=0.001)
    assert abs(sam.joint_velocity("thruster_yaw_joint")) == pytest.approx(0.2, rel=0.01)


# ------------------------------------------------------------------------------------------------ anything goes


@pytest.mark.parametrize("seed", range(20))
def test_random_commands_never_run_away(dive, spatial, seed):
    """60 s of any commands: finite, below the speed that full thrust gives, and with little more energy than that.

    Roll is damped by 0.1 (p + p²) N m alone. One propeller ahead and one astern turn it by 1.2 Q = 3 N m, its weight by
    1.9 N m on the way down, and a tight turn, m z_g u r, by less than 1: p stays below 7.2 rad/s.
    """
    random = np.random.default_rng(seed)
    world, sam = dive(depth=random.choice([0.3, 30.0]))
    mass = full_inertia(spatial)
    for _ in range(120):
        for name, keyword, lower, upper, _ in LIMITS:
            if random.random() < 0.5:
                sam.actuators[name].command(**{keyword: random.choice([lower, upper, random.uniform(lower, upper)])})
        world.advance(0.5)
        motion = np.concatenate([sam.twist.linear, sam.twist.angular])
        assert np.isfinite(motion).all()
        assert np.isfinite(sam.pose.position).all()
        assert np.linalg.norm(motion[:3]) < 3.0
        assert abs(motion[3]) < 7.2
        assert np.abs(motion[4:]).max() < 2.0
        assert 0.5 * motion @ mass @ motion < 100.0
        assert sam.pose.position[2] < 0.5
    for name, _, lower, upper, _ in LIMITS:
        span = upper - lower
        assert lower - 0.01 * span <= sam.actuators[name].feedback <= upper + 0.01 * span


def test_the_same_commands_give_the_same_bytes(dive):
    """The same scenario, seed and commands give the same states."""
    ends = []
    for _ in range(2):
        world, sam = dive()
        propel(sam, 900.0)
        sam.actuators["thrust_vector_yaw"].command(angle=0.05)
        sam.actuators["lcg"].command(percent=70.0)
        world.advance(10.0)
        ends.append(bytes(world.snapshot()))
    assert ends[0] == ends[1]


def test_the_shipped_scenario_is_sam_two_metres_down_and_facing_north():
    with skerry.load("sam_empty") as world:
        sam = world.robots["sam"]
        assert sam.pose.position == pytest.approx([0.0, 0.0, -2.0])
        assert np.degrees(rpy(sam)[2]) == pytest.approx(90.0)
        assert set(sam.actuators) == {name for name, *_ in LIMITS}
