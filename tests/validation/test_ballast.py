"""Ballast: weight, trim and inertia of the water in a tank, and its momentum when it enters or leaves."""

from __future__ import annotations

import numpy as np
import pytest

RHO, G = 1025.0, 9.81
DEEP = {"position": [0.0, 0.0, -50.0]}
LINK = {"mass": 10.0, "inertia": [0.4, 0.9, 1.0], "center": [0.05, 0.0, -0.02]}
PLAIN = {"mass": 10.0, "inertia": [0.4, 0.9, 1.0]}  # its centre of mass at the tank
TANK = {"kind": "ballast", "link": "hull", "volume": 0.004, "fill": 0.0, "rate": 0.002}


@pytest.fixture
def craft(load, vehicle):
    """Return a function that builds a craft with a tank, by default without gravity."""

    def build(tank=TANK, more=None, link=LINK, pose=DEEP, current=(0.0, 0.0, 0.0), hooks=None, **scenario):
        forces = {"tank": tank} | (more or {})
        return load(
            {
                "robots": {"craft": {"vehicle": vehicle({"hull": link}, forces), "pose": pose}},
                "gravity": 0.0,
                "water": {"currents": {"stream": {"kind": "uniform", "velocity": list(current)}}},
            }
            | scenario,
            forces=hooks,
        )

    return build


def _tank(world):
    return world.robots["craft"].forces["tank"]


def test_the_pump_fills_the_tank_at_its_rate_and_stops_at_the_setpoint(craft):
    """m = ρ V̇ t up to the setpoint: 2.05 kg/s, so 1 kg after 0.488 s."""
    world = craft()
    _tank(world).set_target(1.0)
    world.advance(0.4)
    assert _tank(world).mass == pytest.approx(0.4 * RHO * 0.002, rel=1e-12)
    world.advance(1.0)
    assert _tank(world).mass == pytest.approx(1.0, rel=1e-12)


def test_the_mass_in_a_tank_stays_between_empty_and_full(craft):
    """0 ≤ m ≤ ρ V."""
    world = craft()
    _tank(world).set_target(1e9)
    world.advance(5.0)
    assert _tank(world).mass == pytest.approx(RHO * 0.004, rel=1e-12)
    _tank(world).set_target(-1.0)
    world.advance(5.0)
    assert _tank(world).mass == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
@pytest.mark.parametrize("fill", [0.0, 0.25, 1.0])
def test_ballast_has_weight_and_inertia(craft, integrator, fill):
    """a = −g + ρ V_hull g/(m + m_b): weight m_b g and inertia m_b, at the centre of mass; one step, to rounding."""
    lift = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 0.012}
    world = craft(TANK | {"fill": fill}, {"lift": lift}, PLAIN, gravity=G, integrator=integrator)
    world.advance_steps(1)
    held = fill * 0.004 * RHO
    expected = (RHO * 0.012 - 10.0 - held) * G / (10.0 + held)
    assert world.robots["craft"].twist.linear[2] * 200.0 == pytest.approx(expected, rel=1e-12)


def test_a_tank_may_hold_another_fluid(craft):
    """m_b = ρ_tank V: the density given, not the sea's."""
    world = craft(TANK | {"fill": 1.0, "density": 800.0}, link=PLAIN, gravity=G)
    assert _tank(world).mass == pytest.approx(3.2, rel=1e-12)


def test_ballast_adds_its_full_inertia_about_its_position(craft, spatial, motion_of):
    """ν̇ = (M + M_b)⁻¹ τ with M_b of a mass at a place with radii of gyration; a step of 1 µs: 1e-8."""
    place, gyration = [0.4, -0.1, 0.2], [0.05, 0.2, 0.15]
    wrench = np.array([1.0, -2.0, 0.5, 0.3, 0.6, -0.4])
    tank = TANK | {"fill": 0.5, "position": place, "gyration": gyration}
    world = craft(tank, hooks={"craft/hull": lambda state: wrench}, step="1/1000000")
    world.advance_steps(1)
    held = 0.5 * 0.004 * RHO
    total = spatial(10.0, LINK["center"], LINK["inertia"]) + spatial(held, place, held * np.square(gyration))
    assert motion_of(world, "craft")[2] * 1e6 == pytest.approx(np.linalg.solve(total, wrench), rel=1e-8)


def test_a_full_tank_moves_as_a_heavier_body_does(craft, set_velocity, motion_of, spatial):
    """A tank that is not pumped is a rigid body: the same motion as with its mass in the link, with spin and weight."""
    place, held = np.array([0.4, -0.1, 0.2]), 0.004 * RHO
    mass = 10.0 + held
    center = (10.0 * np.array(LINK["center"]) + held * place) / mass
    both = spatial(10.0, LINK["center"], LINK["inertia"]) + spatial(held, place, [0.0] * 3)
    own = (both - spatial(mass, center, [0.0] * 3))[3:, 3:]
    worlds = [
        craft(TANK | {"fill": 1.0, "position": place}, gravity=1.0, integrator="rk4"),
        craft(link={"mass": mass, "inertia": own, "center": center}, gravity=1.0, integrator="rk4"),
    ]
    found = []
    for world in worlds:
        set_velocity(world, [0.3, 0.2, -0.1], [1.0, -2.0, 1.5])
        world.advance(2.0)
        found.append(np.concatenate([part.ravel() for part in motion_of(world, "craft")]))
    assert found[0] == pytest.approx(found[1], abs=1e-10)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_still_water_taken_in_slows_a_coasting_body_so_that_momentum_stays(craft, set_velocity, integrator):
    """(m + m_b) v is constant while water at rest comes in, at every step: both methods conserve it to rounding."""
    world = craft(link=PLAIN, integrator=integrator)
    set_velocity(world, [1.5, 0.0, 0.0])
    _tank(world).set_target(4.0)
    for _ in range(100):
        world.advance(0.025)
        momentum = (10.0 + _tank(world).mass) * world.robots["craft"].twist.linear[0]
        assert momentum == pytest.approx(15.0, rel=1e-12)
    assert _tank(world).mass == pytest.approx(4.0)


def test_momentum_stays_under_rk4_as_the_step_allows(craft, set_velocity):
    """The tank's mass is fixed within a step, so each one errs by ½ (ṁ h/m)²: 1.3e-4 of the speed in all at 2.5 ms."""
    world = craft(link=PLAIN, integrator="rk4", step="1/400")
    set_velocity(world, [1.5, 0.0, 0.0])
    _tank(world).set_target(4.0)
    world.advance(2.5)
    assert 14.0 * world.robots["craft"].twist.linear[0] == pytest.approx(15.0, rel=3e-4)


@pytest.mark.parametrize("integrator", ["implicitfast", "rk4"])
def test_momentum_and_angular_momentum_stay_with_a_tank_off_the_centre(
    craft, set_velocity, motion_of, spatial, integrator
):
    """Water at rest brings neither, so R p and x × R p + R h of body and tank stay, at first order in the step.

    The error at 0.5 ms was observed to be about 1e-4 of the whole; without the incoming water's share it would be 0.2.
    """
    place = [0.4, -0.1, 0.2]
    world = craft(TANK | {"position": place}, integrator=integrator, step="1/2000")
    set_velocity(world, [0.8, -0.3, 0.2], [0.3, -0.5, 0.9])

    def impulse():
        x, turn, v = motion_of(world, "craft")
        held = _tank(world).mass
        total = spatial(10.0, LINK["center"], LINK["inertia"]) + spatial(held, place, [0.0] * 3)
        p, h = np.split(total @ v, 2)
        return np.concatenate([turn @ p, np.cross(x - [0, 0, -50], turn @ p) + turn @ h])

    before = impulse()
    _tank(world).set_target(4.0)
    world.advance(2.5)
    assert impulse() == pytest.approx(before, abs=1e-3 * np.linalg.norm(before))


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_water_that_is_expelled_leaves_the_speed_as_it_is(craft, set_velocity, integrator):
    """Tsiolkovsky with no exhaust speed: what leaves takes its own momentum along; v is unchanged, to rounding."""
    world = craft(TANK | {"fill": 1.0}, integrator=integrator)
    set_velocity(world, [1.5, -0.4, 0.2])
    _tank(world).set_target(0.0)
    world.advance(3.0)
    assert _tank(world).mass == pytest.approx(0.0, abs=1e-12)
    found = world.robots["craft"].pose.rotation @ world.robots["craft"].twist.linear
    assert found == pytest.approx([1.5, -0.4, 0.2], abs=1e-12)


def test_water_that_is_expelled_leaves_the_spin_as_it_is(craft, set_velocity):
    """Each drop leaves with the velocity of its point and exerts no force: a spin about a principal axis stays."""
    world = craft(TANK | {"fill": 1.0, "position": [0.4, 0.0, 0.0]}, link=PLAIN, integrator="rk4")
    set_velocity(world, [0.2, 0.0, 0.0], [0.0, 0.0, 1.2])
    _tank(world).set_target(0.0)
    world.advance(3.0)
    assert world.robots["craft"].twist.angular == pytest.approx([0.0, 0.0, 1.2], abs=1e-9)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_a_body_that_drifts_with_the_current_keeps_its_speed_while_it_fills(craft, set_velocity, integrator):
    """The water that comes in has the body's own velocity already; v is unchanged, to rounding."""
    u = [0.7, -0.4, 0.1]
    world = craft(current=u, integrator=integrator)
    set_velocity(world, u)
    _tank(world).set_target(4.0)
    world.advance(3.0)
    found = world.robots["craft"].pose.rotation @ world.robots["craft"].twist.linear
    assert found == pytest.approx(u, abs=1e-12)


def test_water_from_a_current_speeds_a_resting_body_up(craft):
    """(m + m_b) v = m_b u: inelastic, like rain into a cart; implicitfast conserves it to rounding."""
    world = craft(link=PLAIN, current=[0.5, 0.0, 0.0])
    _tank(world).set_target(4.0)
    world.advance(3.0)
    assert world.robots["craft"].twist.linear[0] == pytest.approx(4.0 * 0.5 / 14.0, rel=1e-12)


def test_a_neutral_body_sinks_with_the_weight_of_what_it_takes_in(craft):
    """v∞ = m_b g/D with linear drag D, from neutral; after 30 time constants only rounding."""
    more = {
        "lift": {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 10.0 / RHO},
        "drag": {"kind": "damping", "link": "hull", "linear": [30.0] * 6},
    }
    world = craft(more=more, link=PLAIN, gravity=G, pose={"position": [0.0, 0.0, -5000.0]})
    _tank(world).set_target(0.5)
    world.advance(30.0)
    assert -world.robots["craft"].twist.linear[2] == pytest.approx(0.5 * G / 30.0, rel=1e-9)


def test_a_tank_in_the_bow_trims_a_submerged_body_by_the_shift_of_its_centre_of_mass(craft):
    """tan θ = x_G/(z_B − z_G), G of hull and tank, B the centre of buoyancy (Fossen 2021, ch. 4); nose down."""
    hull = {"mass": 10.0, "inertia": [0.4, 0.9, 1.0], "center": [0.0, 0.0, -0.05]}
    more = {
        "lift": {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 12.0 / RHO},
        "drag": {"kind": "damping", "link": "hull", "linear": [30, 30, 30, 3, 3, 3]},
    }
    tank = TANK | {"position": [0.3, 0.0, 0.02]}
    world = craft(tank, more, hull, gravity=G, pose={"position": [0.0, 0.0, -500.0]})
    _tank(world).set_target(0.8)
    world.advance(60.0)
    mass = 10.8
    along, up = 0.8 * 0.3 / mass, (10.0 * -0.05 + 0.8 * 0.02) / mass
    # Lift and drag both act at the origin, so the slow rise of the not quite neutral craft does not turn it.
    turn = world.robots["craft"].pose.rotation
    assert -turn[2, 0] / turn[2, 2] == pytest.approx(along / -up, rel=1e-6)
