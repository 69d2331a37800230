"""Contact under water: as deep, as firm and as rough as for a dry body of the same inertia."""

from __future__ import annotations

import pytest

SPHERE = {"kind": "sphere", "radius": 0.1}
BOX = {"kind": "box", "size": [0.4, 0.3, 0.2]}
MASS, VOLUME = 10.0, 0.004
WEIGHT = (MASS - 1025.0 * VOLUME) * 9.81  # in water, N


@pytest.fixture
def rest(load):
    """Return a function for the depth to which a resting body of 0.2 m height sinks into level ground at 20 m depth."""

    def settle(geometry, mass, volume, added, gravity, integrator="implicitfast"):
        body = {
            "geometry": geometry,
            "motion": "dynamic",
            "mass": mass,
            "volume": volume,
            "added_mass": added,
            "pose": {"position": [0.0, 0.0, -19.9]},
        }
        world = load(
            {
                "objects": {"body": body},
                "terrain": {"kind": "flat", "depth": 20.0},
                "gravity": gravity,
                "integrator": integrator,
            }
        )
        world.advance(5.0)
        assert world.objects["body"].twist.linear == pytest.approx([0.0, 0.0, 0.0], abs=1e-7)
        return -19.9 - world.objects["body"].pose.position[2]

    return settle


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
@pytest.mark.parametrize("geometry", [SPHERE, BOX], ids=["sphere", "box"])
@pytest.mark.parametrize("ratio", [0.0, 0.5, 5.0])
def test_a_wet_body_rests_as_deep_as_a_dry_one_of_the_same_inertia_and_weight(rest, geometry, ratio, integrator):
    """MuJoCo's resting depth is proportional to force times the inverse inertia that it keeps for the body.

    So m with m_a under gravity g must rest as m + m_a under a gravity that gives it the same weight. The solver ends
    at a relative 1e-8; a softness that forgot the added mass would be 1.5 or 6 times as deep.
    """
    total = MASS * (1.0 + ratio)
    wet = rest(geometry, MASS, VOLUME, [ratio * MASS] * 3 + [0.0] * 3, 9.81, integrator)
    dry = rest(geometry, total, 0.0, [0.0] * 6, WEIGHT / total, integrator)
    assert dry > 1e-6
    assert wet == pytest.approx(dry, rel=1e-6)


def test_a_turning_inertia_of_the_water_is_felt_by_a_contact_off_the_centre(rest):
    """The same with added moments of inertia: a box's own are m (b² + c²)/12, so those of a box 6 times as heavy.

    A box with m_a = 5 m in all six directions is, to the ground, a dry box of 6 m. Tolerance as above.
    """
    x, y, z = (side**2 for side in BOX["size"])
    turning = [5.0 * MASS * (a + b) / 12.0 for a, b in ((y, z), (x, z), (x, y))]
    wet = rest(BOX, MASS, VOLUME, [5.0 * MASS] * 3 + turning, 9.81)
    dry = rest(BOX, 6.0 * MASS, 0.0, [0.0] * 6, WEIGHT / (6.0 * MASS))
    assert wet == pytest.approx(dry, rel=1e-6)


@pytest.mark.parametrize("center", [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0]], ids=["balanced", "hanging"])
def test_zero_added_mass_leaves_the_softness_of_contacts_unchanged(load, vehicle, center):
    """MuJoCo's own inverse inertias of a held arm (mj_setConst) come out again where there is nothing to correct."""
    links = {"base": {}, "arm": {"mass": 2.0, "inertia": [0.02, 0.05, 0.05], "center": center}}
    joints = {"hinge": {"parent": "base", "child": "arm", "axis": [0, 1, 0]}}
    nothing = {"water": {"kind": "added_mass", "link": "arm", "matrix": [0.0] * 6}}
    found = []
    for forces in ({}, nothing):
        world = load({"robots": {"arm": {"vehicle": vehicle(links, forces, joints), "anchored": True}}})
        compiled = world._engine.model.compiled
        found.append([*compiled.body_invweight0.ravel(), *compiled.dof_invweight0, compiled.stat.meaninertia])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_a_sliding_box_stops_after_the_distance_that_friction_gives(load, set_velocity, ratio):
    """s = v² / 2a with a = μ W / (m + m_a) (Coulomb), W being the weight in water.

    MuJoCo's friction is soft and the box chatters a little: within 5 %.
    """
    box = {
        "geometry": {"kind": "box", "size": [0.4, 0.3, 0.05]},
        "motion": "dynamic",
        "mass": MASS,
        "volume": VOLUME,
        "added_mass": [ratio * MASS] * 3 + [0.0] * 3,
        "friction": 0.5,
        "pose": {"position": [0.0, 0.0, -19.975]},
    }
    ground = {"kind": "flat", "depth": 20.0, "friction": 0.5}
    world = load({"objects": {"box": box}, "terrain": ground, "step": "1/1000"})
    world.advance(1.0)
    set_velocity(world, [1.5, 0.0, 0.0])
    world.advance(2.0)
    assert world.objects["box"].twist.linear[0] == pytest.approx(0.0, abs=1e-3)
    expected = 1.5**2 / (2.0 * 0.5 * WEIGHT / (MASS * (1.0 + ratio)))
    assert world.objects["box"].pose.position[0] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("ratio", [0.5, 5.0])
def test_a_wet_arm_rests_on_the_limit_of_its_joint_as_a_dry_one_of_the_same_inertia(load, vehicle, ratio):
    """The same rule as for the ground: m with m_a at its centre equals m + m_a under a gravity for the same weight."""
    joints = {"hinge": {"parent": "base", "child": "arm", "axis": [0, 1, 0], "type": "revolute", "range": (-0.5, 0.1)}}
    water = {"kind": "added_mass", "link": "arm", "matrix": [2.0 * ratio] * 3 + [0.0] * 3, "position": [0.3, 0, 0]}
    drag = {"drag": {"kind": "damping", "link": "arm", "linear": [0, 0, 0, 5, 5, 5]}}
    found = []
    for mass, gravity, forces in ((2.0, 9.81, {"water": water}), (2.0 * (1 + ratio), 9.81 / (1 + ratio), {})):
        links = {"base": {}, "arm": {"mass": mass, "inertia": [0.01, 0.02, 0.02], "center": [0.3, 0, 0]}}
        robot = {"vehicle": vehicle(links, forces | drag, joints), "anchored": True}
        robot["pose"] = {"position": [0.0, 0.0, -10.0]}
        world = load({"robots": {"arm": robot}, "gravity": gravity})
        world.advance(5.0)
        found.append(world.robots["arm"].joint_position("hinge") - 0.1)
    assert found[1] > 1e-6
    assert found[0] == pytest.approx(found[1], rel=1e-6)
