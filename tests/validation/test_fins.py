"""Fins: their force in closed form, in any flow, at the surface, in a propeller's wash; and what a rudder does."""

from __future__ import annotations

import numpy as np
import pytest

RHO = 1025.0
MASS, INERTIA = 8.0, [0.4, 0.5, 0.6]
LINK = {"mass": MASS, "inertia": INERTIA}
AREA, RATIO = 0.02, 3.0
SLOPE = 2 * np.pi * RATIO / (RATIO + 2)
FIN = {"kind": "fin", "link": "hull", "area": AREA, "aspect_ratio": RATIO}
STEP = 1e-6  # s: what the force changes by in it is v̇ h/v < 1e-4 of itself
DEEP = {"position": [0, 0, -50]}
RUDDER = {"kind": "control_surface", "link": "rudder", "roll_deg": 90.0, "area": AREA, "aspect_ratio": RATIO}
SCREW = {"kind": "propeller", "link": "hull", "rpm_to_force": 0.05, "maximum_rpm": 2000.0, "diameter": 0.2}


@pytest.fixture
def craft(load, vehicle):
    """A free body with fins, without weight, by default far under water."""

    def build(forces=None, actuators=None, pose=DEEP, **scenario):
        robot = {
            "vehicle": vehicle({"hull": LINK}, {"fin": FIN} if forces is None else forces),
            "pose": pose,
            "overrides": {"actuators": actuators or {}},
        }
        return load({"gravity": 0.0, "step": "1/1000000", "robots": {"craft": robot}} | scenario)

    return build


@pytest.fixture
def force_on(craft, set_velocity):
    """The force and torque on the body, in its axes, at a velocity: Δv m/h and Δω I/h of one short step."""

    def measure(velocity, angular=(0, 0, 0), **settings):
        world = craft(**settings)
        set_velocity(world, velocity, angular)
        before = world.robots["craft"].twist
        world.advance_steps(1)
        after = world.robots["craft"].twist
        spin = np.array(angular, np.float64)
        gyroscopic = np.cross(spin, np.array(INERTIA) * spin)
        transported = MASS * np.cross(spin, before.linear)  # the body's axes turn under the velocity
        return (
            (after.linear - before.linear) / STEP * MASS + transported,
            (after.angular - before.angular) / STEP * np.array(INERTIA) + gyroscopic,
        )

    return measure


def _flow(speed, degrees):
    """The velocity of a fin that meets the water at an angle of attack."""
    angle = np.radians(degrees)
    return np.array([speed * np.cos(angle), 0.0, -speed * np.sin(angle)])


def _lift_and_drag(force, velocity):
    """Components across and along the flow of a force in the x-z plane."""
    along = velocity / np.linalg.norm(velocity)
    across = np.array([-along[2], 0.0, along[0]])
    return force @ across, -force @ along


@pytest.mark.parametrize("degrees", [-14.0, -5.0, 0.0, 2.0, 10.0])
@pytest.mark.parametrize("speed", [0.5, 3.0])
def test_lift_and_drag_are_those_of_a_finite_wing(force_on, speed, degrees):
    """½ ρ A V² with C_L = 2 π Λ/(Λ + 2) α and C_D = 0.01 + C_L²/(0.9 π Λ). One explicit step of 1 µs: 1e-4."""
    velocity = _flow(speed, degrees)
    lift, drag = _lift_and_drag(force_on(velocity)[0], velocity)
    pressure = 0.5 * RHO * AREA * speed**2
    expected = SLOPE * np.radians(degrees)
    assert lift == pytest.approx(pressure * expected, rel=1e-3, abs=1e-6)
    assert drag == pytest.approx(pressure * (0.01 + expected**2 / (0.9 * np.pi * RATIO)), rel=1e-3)


def test_lift_peaks_at_the_stall(force_on):
    """The greatest lift of all angles up to 60° is at the stall angle."""
    angles = [10.0, 14.0, 15.0, 16.0, 20.0, 30.0, 45.0, 60.0]
    lifts = [_lift_and_drag(force_on(_flow(2.0, a))[0], _flow(2.0, a))[0] for a in angles]
    assert angles[int(np.argmax(lifts))] == 15.0
    assert lifts[4] < 0.95 * lifts[2]


def test_broadside_it_is_a_plate(force_on):
    """C_D = 1.11 + 0.018 Λ, no lift (Viterna & Corrigan 1982)."""
    force, _ = force_on((0, 0, -2.0))
    assert force == pytest.approx([0, 0, 0.5 * RHO * AREA * 4.0 * (1.11 + 0.018 * RATIO)], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("degrees", [6.0, 15.0, 50.0, 100.0, 175.0])
def test_both_faces_are_alike(force_on, degrees):
    """Mirrored in its own plane the flow gives the mirrored force; to the rounding of a difference over 1 µs."""
    up, down = (force_on(_flow(1.5, sign * degrees))[0] for sign in (1, -1))
    assert down == pytest.approx(up * [1, 1, -1], rel=1e-6, abs=1e-6)


def test_flow_along_the_span_does_nothing(force_on):
    assert force_on((0, 3.0, 0))[0] == pytest.approx([0, 0, 0], abs=1e-9)
    straight, slipping = (force_on((2.0, side, -0.2))[0] for side in (0.0, 3.0))
    assert slipping == pytest.approx(straight, rel=1e-6, abs=1e-6)


def test_the_flow_is_that_at_the_position_of_the_fin(force_on):
    """A fin 2 m behind a body that pitches at q meets w = −q x more, and its force has that arm."""
    fin = {"fin": FIN | {"position": [-2.0, 0.0, 0.0]}}
    u, q = 3.0, 0.1
    force, torque = force_on((u, 0, 0), (0, q, 0), forces=fin)
    w = 2.0 * q  # ω × r
    at_place, _ = force_on((u, 0, w))
    assert force == pytest.approx(at_place, rel=1e-3, abs=1e-3)
    assert torque == pytest.approx([0, 2.0 * force[2], 0], rel=1e-3, abs=1e-3)
    assert torque[1] < 0.0  # against the turn


def test_a_turned_mount_turns_the_fin(force_on):
    """A fin set at any angle feels in its own axes what one that is not turned feels in that flow."""
    angles = {"roll_deg": 40.0, "pitch_deg": -12.0, "yaw_deg": 25.0}
    roll, pitch, yaw = np.radians(list(angles.values()))
    about_x = np.array([[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]])
    about_y = np.array([[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]])
    about_z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    turn = about_z @ about_y @ about_x
    velocity = np.array([2.0, 0.4, -0.3])
    force, _ = force_on(velocity, forces={"fin": FIN | angles})
    assert force == pytest.approx(turn @ force_on(turn.T @ velocity)[0], rel=1e-6, abs=1e-6)


def test_a_current_is_flow_like_any_other(force_on):
    """At rest in a current as when moving against it through still water."""
    water = {"currents": {"tide": {"kind": "uniform", "velocity": [-2.0, 0.0, 0.3]}}}
    assert force_on((0, 0, 0), water=water)[0] == pytest.approx(force_on((2.0, 0, -0.3))[0], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("height", "share"), [(-1.0, 1.0), (-0.25, 0.75), (0.0, 0.5), (0.25, 0.25), (0.6, 0.0)])
def test_lift_falls_with_the_share_that_is_in_the_water(force_on, height, share):
    """½ − z/√A over the height √A of the fin; heights in units of it."""
    z = height * np.sqrt(AREA)
    full = force_on((2.0, 0, -0.2))[0]
    here = force_on((2.0, 0, -0.2), pose={"position": [0, 0, z]})[0]
    assert here == pytest.approx(share * full, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("speed", [0.0, 2.0])
def test_in_a_wash_the_flow_is_that_of_momentum_theory(craft, set_velocity, force_on, speed):
    """u_w² = u² + 2 T/(ρ A_p) along the shaft; the fin's lift and drag are those of that flow.

    The propeller's own thrust is taken off. Two steps: the fin knows the thrust of the pass before.
    """
    thrust, w = 50.0, -0.2
    washed = {"fin": FIN | {"in_wash_of": "screw"}}
    world = craft(washed, {"screw": SCREW})
    set_velocity(world, (speed, 0, w))
    world.robots["craft"].actuators["screw"].command(rpm=1000.0)
    world.advance_steps(1)
    before = world.robots["craft"].twist.linear
    world.advance_steps(1)
    force = (world.robots["craft"].twist.linear - before) / STEP * MASS - [thrust, 0, 0]
    inflow = np.sqrt(speed**2 + 2 * thrust / (RHO * np.pi * 0.1**2))
    assert force == pytest.approx(force_on((inflow, 0, w))[0], rel=1e-3, abs=1e-3)
    assert inflow > speed + 0.5


def test_a_propeller_that_backs_washes_no_fin_behind_it(craft, set_velocity):
    falls = []
    for wash in (None, "screw"):
        world = craft({"fin": FIN | {"in_wash_of": wash}}, {"screw": SCREW}, step="1/1000")
        world.robots["craft"].actuators["screw"].command(rpm=-500.0)
        set_velocity(world, (1.0, 0, -0.1))
        world.advance(0.1)
        falls.append(world.robots["craft"].twist.linear)
    assert (falls[0] == falls[1]).all()


# ------------------------------------------------------------------------------------------------ a boat with a rudder


@pytest.fixture
def boat(load, vehicle):
    """A hull with damping and a keel, a propeller, and a rudder on a hinge 1 m behind its middle."""

    def build(rudder=None, pose=DEEP, **scenario):
        links = {
            "hull": {"mass": 40.0, "inertia": [1.0, 8.0, 8.0]},
            "rudder": {"mass": 0.5, "inertia": [0.002, 0.002, 0.002]},
        }
        stock = {
            **{"type": "revolute", "parent": "hull", "child": "rudder"},
            **{"at": (-1.0, 0, 0), "axis": (0, 0, 1), "range": (-0.6, 0.6)},
        }
        drag = {
            "kind": "damping",
            "link": "hull",
            "quadratic": [12, 150, 150, 5, 60, 60],
            "linear": [2, 20, 20, 5, 20, 20],
        }
        robot = {
            "vehicle": vehicle(links, {"drag": drag}, {"stock": stock}),
            "pose": pose,
            "overrides": {"actuators": {"screw": SCREW, "rudder": RUDDER | (rudder or {})}},
        }
        return load({"gravity": 0.0, "step": "1/200", "robots": {"boat": robot}} | scenario)

    return build


def _turn(world, angle, seconds=15.0):
    robot = world.robots["boat"]
    robot.actuators["screw"].command(rpm=1000.0)
    robot.actuators["rudder"].command(angle=angle)
    world.advance(seconds)
    return robot.twist


def test_a_rudder_turns_a_boat(boat):
    """Rudder to port (a positive angle about z): the lift pushes the stern to port and the bow turns to starboard."""
    straight, port, starboard = (_turn(boat(), angle) for angle in (0.0, 0.15, -0.15))
    assert np.abs(straight.angular).max() < 1e-9
    assert port.angular[2] < -0.05
    # the same turn to the other side: mirrored, to rounding that 15 s of turning let grow
    assert starboard.angular[2] == pytest.approx(-port.angular[2], rel=1e-6)
    assert starboard.linear[:2] == pytest.approx(port.linear[:2] * [1, -1], rel=1e-6)
    assert port.linear[0] < straight.linear[0]


def test_a_larger_angle_turns_faster_until_the_stall(boat):
    rates = [-_turn(boat(), angle).angular[2] for angle in (0.05, 0.1, 0.15, 0.2)]
    assert (np.diff(rates) > 0).all()


def test_in_the_wash_a_rudder_turns_a_boat_faster(boat):
    plain, washed = (-_turn(boat({"in_wash_of": wash}), 0.1).angular[2] for wash in (None, "screw"))
    assert washed > 1.3 * plain


def test_a_wash_goes_where_its_propeller_points_whatever_the_heading(boat):
    """Without weight, in water at rest, no direction is special: the same motion in the body's axes, to rounding."""
    ways = [{}, {"yaw_deg": 130.0}, {"yaw_deg": -40.0, "pitch_deg": 35.0, "roll_deg": 20.0}]
    turns = [_turn(boat({"in_wash_of": "screw"}, pose=DEEP | way), 0.2, 3.0) for way in ways]
    for turn in turns[1:]:
        assert turn.linear == pytest.approx(turns[0].linear, rel=1e-6, abs=1e-9)
        assert turn.angular == pytest.approx(turns[0].angular, rel=1e-6, abs=1e-9)


def test_in_the_wash_a_rudder_turns_a_boat_at_rest(boat):
    """The first half second: without the wash there is next to no flow."""
    plain, washed = (-_turn(boat({"in_wash_of": wash}), 0.2, 0.5).angular[2] for wash in (None, "screw"))
    assert washed > 5.0 * abs(plain)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_a_fin_on_a_light_body_is_stable_at_long_steps(load, vehicle, set_velocity, integrator):
    """½ ρ A V C h/m = 20: explicit steps would explode; here the cross flow dies out and never changes sign much."""
    link = {"mass": 0.1, "inertia": [0.01, 0.01, 0.01]}
    fin = FIN | {"area": 0.1, "drag": 0.0}
    robot = {"vehicle": vehicle({"hull": link}, {"fin": fin}), "pose": DEEP}
    world = load({"gravity": 0.0, "step": "1/50", "integrator": integrator, "robots": {"craft": robot}})
    set_velocity(world, (0.5, 0, 0.1))
    for _ in range(50):
        world.advance_steps(1)
        assert abs(world.robots["craft"].twist.linear[2]) <= 0.1
    assert abs(world.robots["craft"].twist.linear[2]) < 1e-6


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_a_fin_of_much_drag_is_stable_at_long_steps(load, vehicle, set_velocity, integrator):
    """½ ρ A V C_D h/m = 20 at first: explicit steps would explode; here the speed falls from step to step."""
    link = {"mass": 0.1, "inertia": [0.01, 0.01, 0.01]}
    robot = {"vehicle": vehicle({"hull": link}, {"fin": FIN | {"area": 0.1, "drag": 1.0}}), "pose": DEEP}
    world = load({"gravity": 0.0, "step": "1/50", "integrator": integrator, "robots": {"craft": robot}})
    set_velocity(world, (2.0, 0, 0))
    speeds = [2.0]
    for _ in range(20):
        world.advance_steps(1)
        speeds.append(world.robots["craft"].twist.linear[0])
    assert (np.diff(speeds) < 0).all()
    assert speeds[-1] > 0.0


def test_rk4_and_the_implicit_step_turn_alike(boat):
    """At 5 ms both are close to the true turn: 1 %."""
    rates = [_turn(boat(integrator=name), 0.15, 5.0).angular[2] for name in ("implicitfast", "rk4")]
    assert rates[0] == pytest.approx(rates[1], rel=0.01)


def test_a_turning_boat_restores_to_the_same_bits(boat):
    world = boat({"in_wash_of": "screw"})
    _turn(world, 0.2, 1.0)
    middle = world.snapshot()
    world.advance(1.0)
    after = bytes(world.snapshot())
    world.restore(middle)
    world.advance(1.0)
    assert bytes(world.snapshot()) == after
