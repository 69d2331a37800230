"""The surface: the part of a body above the water feels no force of the water."""

from __future__ import annotations

import numpy as np
import pytest

G = 9.81
WET = {
    "linear_damping": [50.0] * 6,
    "quadratic_damping": [80.0] * 6,
    "added_mass": [30.0, 30.0, 30.0, 1.0, 1.0, 1.0],
}
INTEGRATORS = ("implicitfast", "euler", "rk4")


def _scenario(z, integrator="implicitfast", **settings):
    box = {
        "geometry": {"kind": "box", "size": [0.5, 0.4, 0.3]},
        "motion": "dynamic",
        "mass": 25.0,
        "pose": {"position": [0.0, 0.0, z], "roll_deg": 20.0, "pitch_deg": 10.0},
        **settings,
    }
    return {
        "objects": {"box": box},
        "integrator": integrator,
        "step": "1/1000",
        "water": {"currents": {"stream": {"kind": "uniform", "velocity": [1.0, -0.5, 0.0]}}},
    }


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_lifted_out_body_falls_and_spins_as_if_there_were_no_water(load, set_velocity, integrator):
    """v = v₀ − g t and the spin of a free body: no added mass, drag, lift or current above the surface; rounding."""
    wet, dry = load(_scenario(6.0, integrator, **WET)), load(_scenario(6.0, integrator, volume=0.0))
    for world in (wet, dry):
        set_velocity(world, [2.0, -1.0, 1.0], [1.0, -2.0, 0.5])
        world.advance(1.0)
    found, free = wet.objects["box"], dry.objects["box"]
    velocity = found.pose.rotation @ found.twist.linear
    assert velocity == pytest.approx([2.0, -1.0, 1.0 - G], abs=1e-11)
    assert found.pose.rotation == pytest.approx(free.pose.rotation, abs=1e-12)
    assert found.twist.angular == pytest.approx(free.twist.angular, abs=1e-12)


def test_a_link_without_points_is_wet_while_its_origin_is(load, vehicle, motion_of):
    """a = F/(m + m_a) with the origin just below the surface and F/m just above it."""
    law = {"kind": "added_mass", "link": "hull", "matrix": [15.0] * 3 + [0.0] * 3}
    path = vehicle({"hull": {"mass": 5.0, "inertia": [1, 1, 1]}}, {"water": law})
    for z, mass in ((-0.001, 20.0), (0.001, 5.0)):
        robot = {"vehicle": path, "pose": {"position": [0.0, 0.0, z]}}
        world = load(
            {"robots": {"craft": robot}, "gravity": 0.0},
            forces={"craft/hull": lambda state: [7.0, 0, 0, 0, 0, 0]},
        )
        world.advance_steps(1)
        assert motion_of(world, "craft")[2][0] * 200.0 == pytest.approx(7.0 / mass, rel=1e-12)


def test_of_a_body_that_stands_out_of_the_water_only_the_wet_link_carries_water(load, vehicle, motion_of):
    """a = F/(m + m_a of the lower link): each link has its own share under water."""
    links = {"low": {"mass": 5.0, "inertia": [1, 1, 1]}, "high": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]}}
    joints = {"mast": {"parent": "low", "child": "high", "at": [0, 0, 2.0], "axis": [0, 0, 1]}}
    forces = {
        "low_water": {"kind": "added_mass", "link": "low", "matrix": [0, 0, 11.0, 0, 0, 0]},
        "high_water": {"kind": "added_mass", "link": "high", "matrix": [0, 0, 100.0, 0, 0, 0]},
        "high_drag": {"kind": "damping", "link": "high", "linear": [1e3] * 6},
    }
    robot = {"vehicle": vehicle(links, forces, joints), "pose": {"position": [0.0, 0.0, -1.0]}}
    world = load({"robots": {"craft": robot}})
    world.advance_steps(1)
    assert motion_of(world, "craft")[2][2] * 200.0 == pytest.approx(-7.0 * G / (7.0 + 11.0), rel=1e-12)


def test_the_water_may_stand_at_another_level(load):
    """With the surface at −5 m, a body at −4 m is dry: it falls at g."""
    scenario = _scenario(-4.0, **WET)
    scenario["water"]["surface"] = {"kind": "flat", "level": -5.0}
    world = load(scenario)
    world.advance(0.1)
    box = world.objects["box"]
    assert (box.pose.rotation @ box.twist.linear)[2] == pytest.approx(-0.981, rel=1e-10)


def test_a_body_dropped_into_the_water_conserves_energy_without_drag(load):
    """Weight and buoyancy of a box that stays upright are conservative: E = ½ m v² + m g z + potential of the water.

    Below the surface by d, keel at z − ½ H, the water's potential is ρ g A (d²/2) until it is under, then linear.
    RK4 at 1 ms; the force has corners where keel and deck cross: 2e-6 of the energy was observed.
    """
    size, mass = [0.5, 0.4, 0.3], 25.0
    scenario = _scenario(0.6, "rk4")
    scenario["objects"]["box"]["pose"] = {"position": [0.0, 0.0, 0.6]}
    world = load(scenario)
    spring = 1025.0 * G * size[0] * size[1]

    def energy():
        box = world.objects["box"]
        z = box.pose.position[2]
        depth = np.clip(0.5 * size[2] - z, 0.0, size[2])
        beyond = max(-z - 0.5 * size[2], 0.0)
        water = 0.5 * spring * depth**2 + spring * size[2] * beyond
        return 0.5 * mass * box.twist.linear[2] ** 2 + mass * G * z + water

    before = energy()
    lowest = 0.0
    for _ in range(300):
        world.advance(0.01)
        lowest = min(lowest, world.objects["box"].pose.position[2])
        assert energy() == pytest.approx(before, rel=1e-5)
    assert lowest < -0.15
