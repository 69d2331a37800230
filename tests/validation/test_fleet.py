"""Fleet: each vehicle floats, trims, runs and swings by its published numbers, which are repeated here."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from skerry.core.frames import quaternion_to_matrix, quaternion_to_rpy

G = 9.81
KGF = 9.80665  # N
S = np.sqrt(0.5)
AXES = ("surge", "sway", "heave", "roll", "pitch", "yaw")


@dataclass
class Craft:
    """Vehicle in the water of its publication, with its expected values."""

    density: float
    lift: float  # N, buoyancy minus weight, deep under water
    port: dict[str, float]  # commands that turn it one way
    starboard: dict[str, float]  # and their mirror image
    depth: float = 50.0
    step: str = "1/200"
    neutral: dict[str, Any] = field(default_factory=lambda: {"buoyancy": {"volume": "neutral"}})
    mirrored: dict[str, Any] = field(default_factory=dict)  # what the mirror image has besides other commands


LEFT_HANDED = {"propeller": {"reverse": True}}
FLEET = {
    "bluerov2": Craft(
        1000.0,
        114.8 - 11.5 * G,
        {"front_right": 0.6, "rear_left": 0.3, "vertical_left": 0.4},
        {"front_left": 0.6, "rear_right": 0.3, "vertical_right": 0.4},
    ),
    "bluerov2_heavy": Craft(
        1000.0,
        (0.0134 * 1000.0 - 13.5) * G,
        {"front_right": 0.6, "rear_left": 0.3, "vertical_front_left": 0.4},
        {"front_left": 0.6, "rear_right": 0.3, "vertical_front_right": 0.4},
    ),
    "remus100": Craft(
        1030.0,
        299.0 + 3.336 - 30.48 * G,
        {"propeller": 900.0, "rudder": -0.1, "stern_planes": 0.05},
        {"propeller": 900.0, "rudder": 0.1, "stern_planes": 0.05},
        mirrored={"actuators": LEFT_HANDED},
    ),
    "lolo": Craft(
        997.0,
        0.0077 * 997.0 * G,
        {"thruster_starboard": 900.0, "rudder_port": -0.2, "rudder_starboard": -0.1, "elevon_port": 0.2},
        {"thruster_port": 900.0, "rudder_port": 0.1, "rudder_starboard": 0.2, "elevon_starboard": 0.2},
        neutral={"reserve": None},
    ),
    "okon": Craft(
        997.0,
        (0.0126 * 997.0 - 12.55) * G,
        {"MR": 0.4, "FL": 0.1},
        {"ML": 0.4, "FR": 0.1},
        step="7/1000",
    ),
    "okon2": Craft(
        997.0,
        (0.0126 * 997.0 - 12.55) * G,
        {"FRH": 0.4, "FLV": 0.1},
        {"FLH": 0.4, "FRV": 0.1},
        step="7/1000",
    ),
    "otter": Craft(
        1025.0,
        (0.312195 * 1025.0 - 80.0) * G,
        {"propeller_starboard": 900.0, "propeller_port": 400.0},
        {"propeller_starboard": 400.0, "propeller_port": 900.0},
        depth=0.0,
        neutral={},
    ),
}
EVERY = pytest.mark.parametrize("name", FLEET)


@pytest.fixture
def launch(load):
    """Return the world and the robot of a vehicle of the fleet in still, deep water."""

    def build(name, depth=None, pose=None, overrides=None, **scenario):
        craft = FLEET[name]
        place = {"position": [0.0, 0.0, -(craft.depth if depth is None else depth)]} | (pose or {})
        given = {
            "step": craft.step,
            "water": {"density": craft.density},
            "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
            "robots": {"it": {"vehicle": name, "pose": place, "overrides": overrides or {}}},
        }
        world = load(given | scenario)
        return world, world.robots["it"]

    return build


def command(robot, values):
    for name, value in values.items():
        actuator = robot.actuators[name]
        actuator.command(**{actuator.keyword: value})


def velocity(robot):
    return np.concatenate([robot.twist.linear, robot.twist.angular])


def rpy(robot):
    return quaternion_to_rpy(robot.pose.orientation)


# ------------------------------------------------------------------------------------------------ floating and trim


@EVERY
def test_lift_under_water_is_the_published_one(launch, name):
    """The sum of the forces on the points, deep under water, less the weight; 0.2 N in W = 299.0 N is its rounding."""
    world, robot = launch(name, depth=50.0)
    world.advance_steps(1)
    compiled = world._engine.model.compiled
    found = sum(law.forces[:, 2].sum() for law in robot.forces.values() if hasattr(law, "forces"))
    assert found - compiled.body_mass.sum() * G == pytest.approx(FLEET[name].lift, abs=0.01 + 1e-4 * found)


@EVERY
def test_zero_command_stays_put(launch, name):
    """Made weightless, or afloat: for a minute nothing moves it by a millimetre, nor turns it by 0.01°."""
    world, robot = launch(name, overrides={"forces": FLEET[name].neutral})
    start = robot.pose.position.copy()
    for actuator in robot.actuators.values():
        actuator.command(**{actuator.keyword: 0.0})
    world.advance(60.0)
    assert robot.pose.position == pytest.approx(start, abs=1e-3)
    assert np.abs(np.degrees(rpy(robot))).max() < 0.01


@EVERY
@pytest.mark.parametrize("axis", ["roll_deg", "pitch_deg"])
def test_swings_die_out_and_leave_it_level(launch, name, axis):
    """Weightless or afloat, released from 15°: each half-minute has a smaller largest angle, and it ends level.

    0.5°: REMUS has quadratic damping alone in roll, which hardly stops small swings.
    """
    world, robot = launch(name, pose={axis: 15.0}, overrides={"forces": FLEET[name].neutral})
    most = []
    for _ in range(4):
        angles = []
        for _ in range(60):
            world.advance(0.5)
            angles.append(np.abs(np.degrees(rpy(robot)[:2])).max())
        most.append(max(angles))
    assert most[0] <= 15.0
    assert all(later < max(0.9 * earlier, 0.3) for earlier, later in pairwise(most))
    assert angles[-1] < 0.5
    assert abs(np.degrees(rpy(robot)[2])) < 5.0


def test_otter_floats_at_its_draft_and_comes_back_to_it(launch):
    """0.0780 m³ under water at 80 kg, the origin at the waterline, to a millimetre, also if dropped or pushed under."""
    for height in (0.0, 0.3, -0.2):
        world, boat = launch("otter", depth=-height)
        world.advance(20.0)
        assert boat.pose.position[2] == pytest.approx(0.0, abs=1e-3)
        assert np.abs(np.degrees(rpy(boat)[:2])).max() < 0.1
        wet = boat.forces["buoyancy"].forces[:, 2].sum() / (1025.0 * G)
        assert wet == pytest.approx(80.0 / 1025.0, rel=1e-4)


@pytest.mark.parametrize(("axis", "height"), [(0, 1.2325), (1, 3.1113)])
def test_otter_has_the_metacentric_heights_of_fossens_model(launch, axis, height):
    """GM = KB + I/∇ − KG: 1.2325 m across and 3.1113 m along. A moment of W GM sin 1° holds it at 1°; to 1 %."""
    # about the middle of the waterline, x = 0.1375 m, so that it displaces as much as at rest
    turned = {("roll_deg", "pitch_deg")[axis]: 1.0, "position": [0, 0, axis * 0.1375 * np.sin(np.radians(1.0))]}
    world, boat = launch("otter", pose=turned)
    world.advance_steps(1)
    points = boat.forces["buoyancy"].points
    forces = boat.forces["buoyancy"].forces
    turn = quaternion_to_matrix(boat.pose.orientation)
    weights = [(55.0, np.array([0.2, 0.0, 0.2])), (25.0, np.array([0.0, 0.0, 0.35]))]
    moment = np.cross(points @ turn.T, forces).sum(axis=0)
    moment += sum(np.cross(turn @ place, [0.0, 0.0, -mass * G]) for mass, place in weights)
    assert moment[axis] == pytest.approx(-80.0 * G * height * np.sin(np.radians(1.0)), rel=0.01)


def test_okon_floats_where_its_own_simulator_has_it(launch):
    """The description of the robot shows y = −0.19980505 at rest: −0.2 × 12.55/(997 × 0.0126) = −0.199806; 10 µm."""
    world, okon = launch("okon", depth=0.19)
    world.advance(240.0)
    assert okon.pose.position[2] == pytest.approx(-0.2 * 12.55 / (997.0 * 0.0126), abs=1e-5)
    assert okon.pose.position[2] == pytest.approx(-0.19980505, abs=1e-5)


@pytest.mark.parametrize("name", ["okon", "okon2"])
def test_okon_rises_slowly_by_its_linear_drag(launch, name):
    """K₁ v = ρ g V − m g = 0.1198 N: 0.0399 m/s, at which K₂ v < K₁; 1e-3 are left of the transient after 60 s."""
    world, okon = launch(name)
    world.advance(60.0)
    assert okon.twist.linear[2] == pytest.approx((0.0126 * 997.0 - 12.55) * G / 3.0, rel=1e-3)


@pytest.mark.parametrize(("name", "linear", "quadratic"), [("bluerov2", 5.18, 36.99), ("bluerov2_heavy", 33.0, 190.0)])
def test_bluerov_rises_or_sinks_as_its_lift_and_drag_say(launch, name, linear, quadratic):
    """d w + q w² = |B − W|; upwards for Wu's, downwards for von Benzon's; 1e-3, as W = 112.8 N is rounded."""
    world, rov = launch(name)
    world.advance(60.0)
    lift = FLEET[name].lift
    speed = (-linear + np.sqrt(linear**2 + 4 * quadratic * abs(lift))) / (2 * quadratic)
    assert rov.twist.linear[2] == pytest.approx(np.sign(lift) * speed, rel=1e-3)


# ------------------------------------------------------------------------------------------------ speed

# thrust at full throttle, forwards and backwards: a T200 at 16 V (Blue Robotics 2019), and von Benzon's curve
T200 = 5.25 * KGF, 4.07 * KGF
BENZON = (80.0 / (1.0 + np.exp(-4.0)) - 40.0,) * 2
WU_DRAG = [4.03, 6.22, 5.18, 0.07, 0.07, 0.07], [18.18, 21.66, 36.99, 1.55, 1.55, 1.55]
BENZON_DRAG = [13.7, 0.0, 33.0, 0.0, 0.8, 0.0], [141.0, 217.0, 190.0, 1.19, 0.47, 1.5]
CORNERS = {"front_right": (1, 1, 1), "front_left": (1, -1, -1), "rear_right": (-1, 1, -1), "rear_left": (-1, -1, 1)}


@pytest.mark.parametrize("name", ["bluerov2", "bluerov2_heavy"])
@pytest.mark.parametrize("axis", ["surge", "sway", "heave", "yaw"])
def test_bluerov_reaches_the_terminal_speed_of_thrust_and_damping(launch, name, axis):
    """d u + q u² = F, all thrusters full: (2 T₊ + 2 T₋)/√2 along or across, 0.1888 m of arm about the vertical; 1e-3.

    1 cm/s and 0.01 rad/s are left of the nod with which it sets off.
    """
    forwards, backwards = T200 if name == "bluerov2" else BENZON
    linear, quadratic = WU_DRAG if name == "bluerov2" else BENZON_DRAG
    world, rov = launch(name, overrides={"forces": FLEET[name].neutral})
    if axis == "heave":
        vertical = [key for key in rov.actuators if key.startswith("vertical")]
        command(rov, dict.fromkeys(vertical, 1.0))
        force = len(vertical) * forwards
    else:
        column = ("surge", "sway", "yaw").index(axis)
        command(rov, {key: float(signs[column]) for key, signs in CORNERS.items()})
        arm = (0.156 + 0.111) * S if axis == "yaw" else S
        force = arm * (2 * forwards + 2 * backwards)
    world.advance(20.0)
    i = AXES.index(axis)
    d, q = linear[i], quadratic[i]
    expected = np.zeros(6)
    expected[i] = (-d + np.sqrt(d * d + 4 * q * force)) / (2 * q)
    assert velocity(rov) == pytest.approx(expected, rel=1e-3, abs=0.01)


def test_the_two_published_sets_of_bluerov_differ_in_top_speed(launch):
    """2.56 m/s and 0.83 m/s at full thrust: the heavy one, identified with its tether, has eight times the drag."""
    speeds = []
    for name in ("bluerov2", "bluerov2_heavy"):
        world, rov = launch(name, overrides={"forces": FLEET[name].neutral})
        command(rov, {key: float(signs[0]) for key, signs in CORNERS.items()})
        world.advance(20.0)
        speeds.append(rov.twist.linear[0])
    assert speeds == pytest.approx([2.56, 0.83], abs=0.01)


# holds an attitude and does nothing else; by its printed coefficients REMUS does not keep a straight course by itself
HELD = {"held": {"kind": "damping", "link": "base_link", "linear": [0, 0, 0, 1e6, 1e6, 1e6]}}


def remus_speed(drag, rpm, density=1030.0):
    """Return the speed at which X_uu u² = 0.9 T(u), T = ρ D⁴ (K_T0 n² − 0.944 (K_T0 − K_Tmax)/J_max u n/D)."""
    n, diameter = rpm / 60, 0.14
    bollard = 0.9 * density * diameter**4 * 0.4566 * n**2
    loss = 0.9 * density * diameter**3 * 0.944 * (0.4566 - 0.1798) / 0.6632 * n
    return (-loss + np.sqrt(loss**2 + 4 * drag * bollard)) / (2 * drag)


@pytest.mark.parametrize("rpm", [500.0, 900.0, 1525.0])
def test_remus_reaches_the_speed_of_its_propeller_and_drag(launch, rpm):
    """The vehicle is held on its course; 1e-3."""
    world, auv = launch("remus100", overrides={"forces": HELD | {"buoyancy": {"volume": "neutral"}}})
    command(auv, {"propeller": rpm})
    world.advance(60.0)
    expected = np.array([remus_speed(0.5 * 1030 * 0.2 * 0.0285, rpm), 0, 0, 0, 0, 0])
    assert velocity(auv) == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_remus_with_fossens_hull_drag_reaches_his_speed(launch):
    """2.5 m/s at 1525 rpm with C_D = 0.42 of Allen et al. 2000, 6.11 N s²/m²; his thrust is 7 % above the drag."""
    drag = {"surge_drag": {"quadratic": [6.11, 0, 0, 0, 0, 0]}, "buoyancy": {"volume": "neutral"}}
    world, auv = launch("remus100", overrides={"forces": HELD | drag})
    command(auv, {"propeller": 1525.0})
    world.advance(60.0)
    assert auv.twist.linear[0] == pytest.approx(remus_speed(6.11, 1525.0), rel=1e-3)
    assert auv.twist.linear[0] == pytest.approx(2.5, rel=0.03)


def test_lolo_reaches_the_speed_of_its_thrust_and_damping(launch):
    """2 × 0.5 N/rpm × 1200 rpm against 750 kg × 1.02/s: 1.569 m/s. Lighter than water, it makes 0.5 % more nose up."""
    world, auv = launch("lolo")
    command(auv, {"thruster_port": 1200.0, "thruster_starboard": 1200.0})
    world.advance(60.0)
    assert auv.twist.linear[0] == pytest.approx(1200.0 / (750.0 * 1.02), rel=0.01)
    assert np.abs(auv.twist.angular).max() < 0.001
    assert np.degrees(np.abs(rpy(auv)[1:])).max() < 4.0


def test_lolo_holds_its_course_after_a_turn(launch):
    """A rudder turns it at 2° a second, to starboard for positive angles; back amidships, it runs straight again."""
    world, auv = launch("lolo")
    command(auv, {"thruster_port": 1200.0, "thruster_starboard": 1200.0, "rudder_port": 0.2, "rudder_starboard": 0.2})
    world.advance(30.0)
    assert -4.0 < np.degrees(auv.twist.angular[2]) < -1.0
    command(auv, {"rudder_port": 0.0, "rudder_starboard": 0.0})
    world.advance(30.0)
    assert abs(np.degrees(auv.twist.angular[2])) < 0.001


def test_otter_reaches_six_knots(launch):
    """24.4 kgf on both propellers, X_u = 24.4 × 9.81/(6 × 0.5144): 6 knots by construction of Fossen's model; 1e-3."""
    world, boat = launch("otter")
    command(boat, {"propeller_port": 992.47, "propeller_starboard": 992.47})
    world.advance(60.0)
    assert boat.twist.linear == pytest.approx([6 * 0.5144, 0.0, 0.0], abs=3e-3)
    assert sum(boat.actuators[f"propeller_{side}"].thrust for side in ("port", "starboard")) == pytest.approx(
        24.4 * G, rel=1e-3
    )


def test_otter_turns_at_the_rate_of_fossens_yaw_damping(launch):
    """Turning in place: 0.395 m (T + T′) = N_r r + N_rr r², one propeller ahead, one astern; 5 %, as it drifts."""
    world, boat = launch("otter")
    command(boat, {"propeller_port": -600.0, "propeller_starboard": 600.0 * np.sqrt(0.58168)})
    world.advance(40.0)
    thrust = 0.01108 * 0.58168 * (600.0 * np.pi / 30) ** 2
    moment, d, q = 0.395 * 2 * thrust, 41.445, 414.45 + 50.0
    assert boat.twist.angular[2] == pytest.approx((-d + np.sqrt(d * d + 4 * q * moment)) / (2 * q), rel=0.05)


# ------------------------------------------------------------------------------------------------ motion


def coriolis(mass, nu):
    """C(ν) ν for any symmetric mass matrix (Fossen 2021, eq. 3.63)."""
    momentum = mass @ nu
    return np.concatenate(
        [np.cross(nu[3:], momentum[:3]), np.cross(nu[3:], momentum[3:]) + np.cross(nu[:3], momentum[:3])]
    )


def restoring(up, weight, center, buoyancy, lifted):
    """The wrench of weight and buoyancy, `up` being the vertical in the body's axes."""
    pull, push = -weight * up, buoyancy * up
    return np.concatenate([pull + push, np.cross(center, pull) + np.cross(lifted, push)])


def integrate(mass, wrench, seconds, rigid=None):
    """ν and the vertical after a time from rest and level, by `wrench(t, ν, up)` and the Coriolis forces of `rigid`."""

    def slope(t, state):
        nu, up = state[:6], state[6:]
        force = wrench(t, nu, up) - coriolis(mass if rigid is None else rigid, nu)
        return np.concatenate([np.linalg.solve(mass, force), -np.cross(nu[3:], up)])

    start = np.concatenate([np.zeros(6), [0.0, 0.0, 1.0]])
    return solve_ivp(slope, (0.0, seconds), start, rtol=1e-9, atol=1e-11, max_step=0.05).y[:, -1]


def vertical(robot):
    return quaternion_to_matrix(robot.pose.orientation)[2]


@pytest.mark.parametrize("munk", [False, True])
def test_heavy_bluerov_at_full_thrust_moves_as_the_published_equations_say(launch, spatial, munk):
    """Fossen's equation with von Benzon's numbers, integrated on its own, with the Munk moment v × A v and without it.

    With it, A₃₃ − A₁₁ = 12.3 kg beats 1.3 N m of restoring, and the vehicle pitches over. 4 cm/s or 2 °/s.
    """
    added = np.diag([6.36, 7.12, 18.68, 0.189, 0.135, 0.222])
    mass = spatial(13.5, [0, 0, 0], [0.26, 0.23, 0.37]) + added
    linear, quadratic = (np.array(values) for values in BENZON_DRAG)

    def wrench(t, nu, up):
        u = 1.0 - np.exp(-t / 0.0287)
        thrust = np.array([4 * S * (80.0 / (1.0 + np.exp(-4.0 * u**3)) - 40.0), 0, 0, 0, 0, 0])
        floating = restoring(up, 13.5 * G, np.zeros(3), 13.4 * G, np.array([0.0, 0.0, 0.01]))
        turning = np.zeros(6) if munk else np.concatenate([np.zeros(3), np.cross(nu[:3], (added @ nu)[:3])])
        return thrust + floating + turning - (linear + quadratic * np.abs(nu)) * nu

    world, rov = launch("bluerov2_heavy", step="1/1000", overrides={"forces": {"added_mass": {"munk_moment": munk}}})
    command(rov, {key: float(signs[0]) for key, signs in CORNERS.items()})
    for seconds in (1.0, 2.0):
        world.advance(1.0)
        expected = integrate(mass, wrench, seconds)
        assert velocity(rov) == pytest.approx(expected[:6], abs=0.04)
        assert vertical(rov) == pytest.approx(expected[6:], abs=0.02)
    assert (abs(rpy(rov)[1]) > np.radians(30.0)) == munk


OKONS = {
    # inertia by the frame's script; centre of mass, of volume; K1rot, K2rot; places and directions of what is driven
    "okon": ([0, 0, 0], [0, 0, 0.03], 1.0, 2.0, [([-0.034, y, 0.056], [1, 0, 0], 0.5) for y in (0.178, -0.178)]),
    "okon2": (
        [0.0119, 0, 0.081],
        [0.0119, 0, 0.083],
        1.5,
        3.0,
        [([0.2389, y, 0.0937], [np.cos(np.pi / 6), -np.sign(y) * 0.5, 0], 0.25) for y in (0.193, -0.193)],
    ),
}


def okon_thrust(name, fill):
    """kgf over fill: the cubic of the description, and the upper parabola of the second robot."""
    x = 1500.0 + 400.0 * fill
    if name == "okon":
        return 1.66352902e-8 * x**3 - 0.00003994119 * x**2 + 0.00752234546 * x + 22.4126993334
    return 2.81376e-5 * x**2 - 0.0799177935 * x + 56.449759077


@pytest.mark.parametrize("name", OKONS)
def test_okon_moves_ahead_as_its_own_simulators_equations_say(launch, spatial, name):
    """Thrust, buoyancy and a drag that is linear or quadratic at the centre of volume, integrated alone; 1 cm/s."""
    center, lifted, slow, fast, thrusters = OKONS[name]
    center, lifted = np.array(center, np.float64), np.array(lifted, np.float64)
    mass = spatial(12.55, center, [0.1676429515, 0.3599021563, 0.3760753497])

    def wrench(t, nu, up):
        total = restoring(up, 12.55 * G, center, 0.0126 * 997.0 * G, lifted)
        flow = nu[:3] + np.cross(nu[3:], lifted)
        drag = -max(3.0, 44.0 * np.linalg.norm(flow)) * flow
        total += np.concatenate([drag, np.cross(lifted, drag) - max(slow, fast * np.linalg.norm(nu[3:])) * nu[3:]])
        for place, direction, fill in thrusters:
            push = okon_thrust(name, fill) * KGF * np.array(direction)
            total += np.concatenate([push, np.cross(place, push)])
        return total

    world, okon = launch(name)
    command(okon, {"ML": 0.5, "MR": 0.5} if name == "okon" else {"FLH": 0.25, "FRH": 0.25})
    for seconds in (1.4, 4.2, 9.8):
        world.advance(seconds - world.time)
        expected = integrate(mass, wrench, seconds)
        assert velocity(okon) == pytest.approx(expected[:6], abs=0.01)
        assert vertical(okon) == pytest.approx(expected[6:], abs=0.01)


@pytest.mark.parametrize("fill", [-1.0, -0.5, -0.1, -0.069, 0.0, 0.069, 0.1, 0.5, 0.88, 1.0])
def test_okons_thrusters_have_the_curve_of_its_description(launch, fill):
    """f(1) = 6.619, f(0.88) = 5.02, f(−1) = −4.5 kgf; none within 0.07."""
    world, okon = launch("okon")
    command(okon, {"FL": fill})
    world.advance(0.07)
    expected = np.sign(fill) * max(okon_thrust("okon", fill), 0.0) * KGF
    assert okon.actuators["FL"].thrust == pytest.approx(expected, abs=1e-3)


# REMUS in forward-right-down axes, as Prestero 2001 and Sgarioto 2007 print it: sums of lift, fins and added mass
REMUS = {
    "X": {"uu": -0.5 * 1030 * 0.2 * 0.0285, "wq": -35.5, "q*q": -1.93, "vr": 35.5, "r*r": -1.93},
    "Y": {"vv": -1310.0, "rr": 0.632, "uv": -28.6, "wp": 35.5, "ur": 5.22, "pq": 1.93},
    "Z": {"ww": -1310.0, "uw": -28.6, "uq": -5.22, "vp": -35.5, "rp": 1.93},
    "K": {"pp": -0.130},
    "M": {"ww": 3.18, "qq": -188.0, "rp": 4.86, "uq": -2.0, "uw": 24.0, "vp": -1.93},
    "N": {"vv": -3.18, "rr": -94.0, "uv": -24.0, "pq": -4.86, "wp": -1.93, "ur": -2.0},
}
REMUS_ADDED = np.diag([0.93, 35.5, 35.5, 0.0704, 4.88, 4.88])
REMUS_ADDED[1, 5] = REMUS_ADDED[5, 1] = -1.93
REMUS_ADDED[2, 4] = REMUS_ADDED[4, 2] = 1.93


def remus_wrench(nu):
    """Hydrodynamic forces by the printed coefficients; a double letter is x |x|, with a star x²."""
    values = dict(zip("uvwpqr", nu, strict=True))
    total = []
    for row in REMUS.values():
        force = 0.0
        for term, coefficient in row.items():
            first, second = values[term[0]], values[term[-1]]
            force += coefficient * first * (abs(second) if len(term) == 2 and term[0] == term[1] else second)
        total.append(force)
    return np.array(total)


@pytest.mark.parametrize(("rudder", "planes"), [(0.1, 0.0), (-0.06, 0.04), (0.0, -0.05)])
def test_remus_moves_as_the_printed_equations_say(launch, spatial, rudder, planes):
    """15 s from rest at 900 rpm with rudder and stern planes set, all six axes, weight and shaft torque included.

    The printed coefficients are sums, which the vehicle takes apart into hull, fins and added mass. Its fins meet the
    flow at its true angle and speed, and drag when they lift, the printed ones do not: 4 cm/s and 1.5 °/s.
    """
    flip = np.array([1.0, -1, -1, 1, -1, -1])
    rigid = spatial(30.48, [0, 0, 0.0196], [0.177, 3.45, 3.45])
    buoyancy = 302.336

    def wrench(t, nu, up):
        u = nu[0]
        n = 15.0 * (1.0 - np.exp(-t))
        inflow = 0.944 * max(u, 0.0)
        thrust = 0.9 * 1030 * 0.14**4 * (0.4566 * n * n - (0.4566 - 0.1798) / 0.6632 * inflow / 0.14 * n)
        torque = 1030 * 0.14**5 * (0.07 * n * n - (0.07 - 0.0312) / 0.6632 * inflow / 0.14 * n)
        turn, dive = -rudder, -planes  # positive angles turn about z and y, which point the other way here
        fins = u * u * np.array([0, 9.64 * turn, -9.64 * dive, 0, -6.15 * dive, -6.15 * turn])
        floating = restoring(-up, 30.48 * G, np.array([0, 0, 0.0196]), buoyancy, np.zeros(3))
        return remus_wrench(nu) + fins + floating + np.array([thrust, 0, 0, -torque, 0, 0])

    # `up` here is down, z's direction: the vertical of these axes
    expected = integrate(rigid + REMUS_ADDED, wrench, 15.0, rigid)
    world, auv = launch("remus100")
    command(auv, {"propeller": 900.0, "rudder": rudder, "stern_planes": planes})
    world.advance(15.0)
    found = velocity(auv)
    assert found[:3] == pytest.approx((flip * expected[:6])[:3], abs=0.04)
    assert found[3:] == pytest.approx((flip * expected[:6])[3:], abs=0.026)


@EVERY
def test_port_and_starboard_are_mirror_images(launch, name):
    """Mirrored commands for 10 s: the same places and turns, with y, roll and yaw of the other sign; rounding only."""
    craft = FLEET[name]
    found = []
    for values, overrides in ((craft.port, {}), (craft.starboard, craft.mirrored)):
        world, robot = launch(name, overrides=overrides)
        command(robot, values)
        world.advance(10.0)
        found.append(np.concatenate([robot.pose.position, velocity(robot), vertical(robot)]))
    flip = np.array([1, -1, 1, 1, -1, 1, -1, 1, -1, 1, -1, 1])
    assert found[0] == pytest.approx(flip * found[1], abs=1e-6)
    assert abs(found[0][1]) > 1e-3  # the vehicle does move sideways


# ------------------------------------------------------------------------------------------------ limits


@EVERY
def test_every_actuator_reaches_both_limits_and_the_vehicle_stays_stable(launch, name):
    """Each alone, to its lower limit and to its upper one; commands beyond a limit are the limit; 2 % for lags."""
    world, robot = launch(name)
    start = world.snapshot()
    for actuator in robot.actuators.values():
        world.restore(start)
        for limit, beyond in zip(actuator.limits, (-2.0, 2.0), strict=True):
            actuator.command(**{actuator.keyword: limit + beyond})
            assert actuator.setpoint == limit
            world.advance(6.0)
            assert actuator.feedback == pytest.approx(limit, rel=0.02)
            assert np.isfinite(world._engine.states).all()
            assert np.abs(velocity(robot)).max() < 12.0


@EVERY
def test_all_actuators_at_their_limits_together_keep_it_stable(launch, name):
    world, robot = launch(name)
    for side in (0, 1, 0):
        command(robot, {key: actuator.limits[side] for key, actuator in robot.actuators.items()})
        world.advance(10.0)
        assert np.isfinite(world._engine.states).all()
        assert np.abs(velocity(robot)).max() < 12.0


@EVERY
def test_a_reset_restores_everything(launch, name):
    """Actuators go back to their middles, and a snapshot of the start brings back every byte."""
    world, robot = launch(name)
    start = world.snapshot()
    for actuator in robot.actuators.values():
        actuator.command(**{actuator.keyword: 0.7 * actuator.limits[1]})
    world.advance(3.0)
    assert bytes(world.snapshot()) != bytes(start)
    for actuator in robot.actuators.values():
        actuator.reset()
    world.advance(8.0)
    for key, actuator in robot.actuators.items():
        assert actuator.setpoint == actuator.reset_value, key
        assert actuator.feedback == pytest.approx(actuator.reset_value, abs=0.002 * actuator.limits[1]), key
    world.restore(start)
    assert bytes(world.snapshot()) == bytes(start)
