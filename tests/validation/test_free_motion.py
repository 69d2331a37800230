"""Motion without water: free fall, momentum, and the tumbling of bodies and chains."""

from __future__ import annotations

import numpy as np
import pytest

INTEGRATORS = ("implicitfast", "euler", "rk4")
LINKS = {
    "hull": {"mass": 12.0, "inertia": [0.5, 0.9, 1.1], "center": [0.05, -0.02, -0.04]},
    "arm": {"mass": 2.0, "inertia": [0.02, 0.05, 0.04], "center": [0.2, 0.01, 0.0]},
    "hand": {"mass": 1.0, "inertia": [0.01, 0.012, 0.008], "center": [0.1, 0.0, 0.03]},
    "weight": {"mass": 3.0, "inertia": [0.02, 0.02, 0.02], "center": [0.0, 0.02, 0.0]},
}
JOINTS = {
    "shoulder": {"parent": "hull", "child": "arm", "at": [0.4, 0.1, 0], "rpy": [0.3, -0.2, 0.5], "axis": [0, 1, 0.3]},
    "wrist": {"parent": "arm", "child": "hand", "at": [0.4, 0, 0], "rpy": [0, 0.4, 0], "axis": [0.2, 0, 1]},
    "rail": {"parent": "hull", "child": "weight", "at": [-0.2, 0, 0], "axis": [1, 0, 0], "type": "prismatic"},
}  # fmt: skip
START = {"linear": [0.4, -0.3, 0.2], "angular": [0.5, -0.7, 0.9], "joints": [1.1, -0.8, 0.1]}
PLACE = np.array([0.0, 0.0, 100.0])


@pytest.fixture
def chain(load, vehicle):
    """Return a chain of four links high above the water."""

    def build(integrator="rk4", gravity=0.0, forces=None, joints=JOINTS, step="1/1000"):
        robot = {"vehicle": vehicle(LINKS, forces, joints), "pose": {"position": PLACE.tolist(), "roll_deg": 30.0}}
        return load({"robots": {"craft": robot}, "gravity": gravity, "integrator": integrator, "step": step})

    return build


@pytest.fixture
def measure(motion_of, spatial):
    """Return kinetic energy, momentum, and angular momentum about the chain's start position."""

    def sums(world):
        energy, linear, angular = 0.0, np.zeros(3), np.zeros(3)
        for name, link in LINKS.items():
            x, turn, v = motion_of(world, "craft", name)
            p, h = np.split(spatial(link["mass"], link["center"], link["inertia"]) @ v, 2)
            energy += 0.5 * (v[:3] @ p + v[3:] @ h)
            linear += turn @ p
            angular += np.cross(x - PLACE, turn @ p) + turn @ h
        return energy, linear, angular

    return sums


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kind", ["object", "dry robot", "wet robot"])
def test_a_body_above_the_water_falls_at_gravity(load, vehicle, integrator, kind):
    """v = −g t with g = 9.81 m/s², to rounding, whatever laws the body has for the water below it."""
    pose = {"position": [0.0, 0.0, 60.0]}
    if kind == "object":
        ball = {"geometry": {"kind": "sphere", "radius": 0.2}, "motion": "dynamic", "mass": 3.0, "pose": pose}
        world = load({"objects": {"it": ball}, "integrator": integrator})
    else:
        law = {"kind": "added_mass", "link": "hull", "matrix": [5.0] * 6}
        path = vehicle({"hull": LINKS["hull"]}, {"water": law} if kind == "wet robot" else {})
        world = load({"robots": {"it": {"vehicle": path, "pose": pose}}, "integrator": integrator})
    world.advance(2.0)
    it = world.objects["it"] if kind == "object" else world.robots["it"]
    assert it.twist.linear == pytest.approx([0.0, 0.0, -19.62], abs=1e-11)
    # z = z₀ − ½ g t², exact for RK4; the others take the velocity at a step's end: ½ g h t more
    late = 0.0 if integrator == "rk4" else 0.5 * 9.81 * 0.005 * 2.0
    assert it.pose.position[2] == pytest.approx(60.0 - 0.5 * 9.81 * 4.0 - late, abs=1e-10)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("wet", [False, True], ids=["dry", "wet"])
def test_the_momentum_of_a_chain_without_outer_forces_stays(chain, measure, set_velocity, integrator, wet):
    """Σ m v is constant (Newton), with damped joints.

    Joint velocities are not momenta: the first-order methods keep it at first order, seen to be 1e-3 at 1 ms in 1 s.
    """
    joints = {name: {**joint, "damping": 0.1} for name, joint in JOINTS.items()}
    forces = {name: {"kind": "added_mass", "link": name, "matrix": [5.0] * 6} for name in LINKS} if wet else {}
    world = chain(integrator, forces=forces, joints=joints)
    set_velocity(world, **START)
    _, linear, angular = measure(world)
    world.advance(1.0)
    _, after, turned = measure(world)
    tolerance = 1e-9 if integrator == "rk4" else 5e-3
    assert after == pytest.approx(linear, abs=tolerance * np.linalg.norm(linear))
    assert turned == pytest.approx(angular, abs=tolerance * np.linalg.norm(angular))


def test_the_energy_of_a_free_chain_stays(chain, measure, set_velocity):
    """Σ ½ νᵀ M ν is constant with undamped joints; RK4 at 1 ms: 1e-10."""
    world = chain()
    set_velocity(world, **START)
    before = measure(world)[0]
    world.advance(2.0)
    assert measure(world)[0] == pytest.approx(before, rel=1e-9)


def test_a_chain_falls_as_a_whole(chain, measure, set_velocity):
    """The centre of mass of all links falls at g, whatever they do among themselves; RK4."""
    world = chain(gravity=9.81)
    set_velocity(world, **START)
    before = measure(world)[1]
    world.advance(1.0)
    assert measure(world)[1] - before == pytest.approx([0.0, 0.0, -18.0 * 9.81], abs=1e-6)


def test_joints_without_damping_or_load_keep_their_rate(load, vehicle, set_velocity):
    """A balanced wheel on a fixed axle keeps turning: ω constant to rounding."""
    links = {"base": {}, "wheel": {"mass": 2.0, "inertia": [0.02, 0.01, 0.01]}}
    joints = {"axle": {"parent": "base", "child": "wheel", "axis": [1, 0, 0]}}
    world = load({"robots": {"stand": {"vehicle": vehicle(links, {}, joints), "anchored": True}}})
    set_velocity(world, [], [], [7.0])
    world.advance(10.0)
    assert world.robots["stand"].joint_velocity("axle") == pytest.approx(7.0, rel=1e-12)
    assert world.robots["stand"].joint_position("axle") == pytest.approx(70.0, rel=1e-12)


def test_a_pendulum_swings_with_its_period(load, vehicle, set_velocity):
    """T = 2π √(I/m g l) (1 + θ²/16) with I about the hinge (Kater); 0.02 rad, RK4: 1e-6."""
    links = {"base": {}, "rod": {"mass": 2.0, "inertia": [0.05, 0.05, 0.01], "center": [0, 0, -0.6]}}
    joints = {"hinge": {"parent": "base", "child": "rod", "axis": [0, 1, 0]}}
    robot = {"vehicle": vehicle(links, {}, joints), "anchored": True, "pose": {"position": [0.0, 0.0, 5.0]}}
    world = load({"robots": {"stand": robot}, "integrator": "rk4"})
    inertia = 0.05 + 2.0 * 0.6**2
    rate = np.sqrt(2.0 * 9.81 * 0.6 / inertia)
    set_velocity(world, [], [], [0.02 * rate])
    angles = [0.0]
    for _ in range(2000):
        world.advance_steps(1)
        angles.append(world.robots["stand"].joint_position("hinge"))
    angles = np.array(angles)
    up = np.flatnonzero((angles[:-1] < 0) & (angles[1:] >= 0))
    crossings = (up + angles[up] / (angles[up] - angles[up + 1])) * 0.005
    found = (crossings[-1] - crossings[0]) / (len(crossings) - 1)
    assert found == pytest.approx(2 * np.pi / rate * (1 + 0.02**2 / 16), rel=1e-6)


def test_a_body_turned_about_its_middle_axis_tumbles_as_eulers_equations_say(load, vehicle, set_velocity, motion_of):
    """2T = Σ I ω² and |L|² = Σ I² ω² stay though ω turns over (Landau & Lifshitz, Mechanics, §37); RK4: 1e-8."""
    inertia = np.array([0.3, 0.5, 0.7])
    path = vehicle({"hull": {"mass": 5.0, "inertia": inertia}})
    robot = {"vehicle": path, "pose": {"position": [0.0, 0.0, 50.0]}}
    world = load({"robots": {"craft": robot}, "gravity": 0.0, "integrator": "rk4"})
    set_velocity(world, [0, 0, 0], [0.01, 3.0, 0.02])
    turned_over = False
    for _ in range(20):
        world.advance(0.5)
        spin = motion_of(world, "craft")[2][3:]
        turned_over |= spin[1] < -2.5
        assert inertia @ spin**2 == pytest.approx(inertia @ np.square([0.01, 3.0, 0.02]), rel=1e-7)
        assert inertia**2 @ spin**2 == pytest.approx(inertia**2 @ np.square([0.01, 3.0, 0.02]), rel=1e-7)
    assert turned_over
