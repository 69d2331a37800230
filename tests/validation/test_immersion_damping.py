"""Plain damping in water and in air: a share of momentum lost per second, about the centre of mass."""

from __future__ import annotations

import numpy as np
import pytest

LINK = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4], "center": [0.1, -0.05, 0.07]}
RATES = {"underwater_linear": 1.2, "underwater_angular": 2.0, "air_linear": 0.15, "air_angular": 0.4}


@pytest.fixture
def craft(load, vehicle):
    """Return a craft with this damping at a height, by default without gravity."""

    def build(z, rates=RATES, integrator="rk4", link=LINK, more=None, current=(0.0, 0.0, 0.0), **scenario):
        forces = {"damping": {"kind": "immersion_damping", "link": "hull", **rates}} | (more or {})
        return load(
            {
                "robots": {"craft": {"vehicle": vehicle({"hull": link}, forces), "pose": {"position": [0, 0, z]}}},
                "integrator": integrator,
                "gravity": 0.0,
                "water": {"currents": {"stream": {"kind": "uniform", "velocity": list(current)}}},
            }
            | scenario
        )

    return build


@pytest.mark.parametrize("medium, z", [("underwater", -20.0), ("air", 20.0)])
def test_speed_decays_exponentially(craft, set_velocity, motion_of, medium, z):
    """v = v₀ exp(−d t), without any turning, though the centre of mass is not the origin; RK4 at 5 ms: 1e-10."""
    world = craft(z)
    set_velocity(world, [1.0, -0.5, 0.2])
    world.advance(2.0)
    found = motion_of(world, "craft")[2]
    expected = np.array([1.0, -0.5, 0.2]) * np.exp(-2.0 * RATES[f"{medium}_linear"])
    assert found == pytest.approx([*expected, 0.0, 0.0, 0.0], abs=1e-9)


@pytest.mark.parametrize("medium, z", [("underwater", -20.0), ("air", 20.0)])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_spin_about_a_principal_axis_through_the_centre_of_mass_decays_exponentially(
    craft, set_velocity, motion_of, medium, z, axis
):
    """ω = ω₀ exp(−d t), the centre of mass at rest; RK4 at 5 ms: 1e-9."""
    world = craft(z)
    spin = 1.5 * np.eye(3)[axis]
    set_velocity(world, -np.cross(spin, LINK["center"]), spin)
    center = world.robots["craft"].pose.transform(LINK["center"])
    world.advance(1.0)
    found = motion_of(world, "craft")[2]
    assert found[3:] == pytest.approx(spin * np.exp(-RATES[f"{medium}_angular"]), abs=1e-9)
    assert world.robots["craft"].pose.transform(LINK["center"]) == pytest.approx(center, abs=1e-9)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_the_damping_is_implicit_in_the_step(craft, set_velocity, motion_of, integrator):
    """v⁺ = v / (1 + h d): 10⁴ per second is slowed within one step and does not explode; to rounding."""
    world = craft(-20.0, RATES | {"underwater_linear": 1e4}, integrator)
    set_velocity(world, [1.0, 0.0, 0.0])
    world.advance_steps(3)
    assert motion_of(world, "craft")[2][0] == pytest.approx((1.0 + 1e4 / 200.0) ** -3, rel=1e-9)


def test_a_body_that_leaves_the_water_changes_its_damping_at_the_surface(craft, set_velocity):
    """dv/dz = −d, so v falls by d_water per metre below the surface and by d_air per metre above it.

    The step in which it crosses may count for either side: h v (d_water − d_air) = 2e-3 m/s at 1 ms.
    """
    world = craft(-1.0, step="1/1000")
    set_velocity(world, [0.0, 0.0, 3.0])
    world.advance(1.5)
    height = world.robots["craft"].pose.position[2]
    assert height > 0.5
    expected = 3.0 - 1.2 * 1.0 - 0.15 * height
    assert world.robots["craft"].twist.linear[2] == pytest.approx(expected, abs=2e-3)


def test_a_body_counts_as_wet_while_any_of_its_points_is(craft, set_velocity):
    """With one point of four under water, the rate of water applies in full, as in game engines."""
    more = {
        "points": {
            "kind": "force_points",
            "link": "hull",
            "points": [[0, 0, 0.5], [0, 0, 0.4], [0, 0, 0.3], [0, 0, -0.5]],
            "volume": 0.001,
        }
    }
    world = craft(0.3, more=more)
    set_velocity(world, [1.0, 0.0, 0.0])
    world.advance(0.5)
    assert world.robots["craft"].twist.linear[0] == pytest.approx(np.exp(-0.5 * 1.2), rel=1e-6)


def test_in_water_it_drags_along_with_the_current_and_in_air_it_does_not(craft):
    """v = u (1 − exp(−d t)) from rest in water; 0 in the air, which is still."""
    under, over = craft(-20.0, current=(0.4, 0.0, 0.0)), craft(20.0, current=(0.4, 0.0, 0.0))
    for world in (under, over):
        world.advance(1.0)
    assert under.robots["craft"].twist.linear[0] == pytest.approx(0.4 * (1.0 - np.exp(-1.2)), rel=1e-9)
    assert over.robots["craft"].twist.linear == pytest.approx([0.0, 0.0, 0.0], abs=1e-15)


def test_the_damping_acts_at_the_centre_of_mass_that_the_points_set(craft, set_velocity, motion_of):
    """With `automatic_center_of_gravity` the mean of the points is the centre of mass, hence of the damping too.

    A body that moves without turning then slows without turning; RK4: 1e-9.
    """
    more = {
        "points": {
            "kind": "force_points",
            "link": "hull",
            "points": [[0.5, 0.3, 0.0], [0.3, 0.1, 0.2]],
            "volume": 0.001,
            "automatic_center_of_gravity": True,
        }
    }
    world = craft(-20.0, more=more)
    set_velocity(world, [1.0, -0.5, 0.2])
    world.advance(1.0)
    expected = np.array([1.0, -0.5, 0.2]) * np.exp(-1.2)
    assert motion_of(world, "craft")[2] == pytest.approx([*expected, 0.0, 0.0, 0.0], abs=1e-9)
