"""Integrators: they converge to one solution, each at its order, and an unstable step is refused."""

from __future__ import annotations

import numpy as np
import pytest

import skerry

SKEW = {"position": [1.0, -2.0, -50.0], "roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}
LINKS = {
    "hull": {"mass": 12.0, "inertia": [0.5, 0.9, 1.1], "center": [0.05, -0.02, -0.04]},
    "arm": {"mass": 2.0, "inertia": [0.02, 0.05, 0.04], "center": [0.2, 0.01, 0.0]},
}
JOINTS = {
    "shoulder": {"parent": "hull", "child": "arm", "at": [0.4, 0.1, 0], "rpy": [0.3, -0.2, 0.5], "axis": [0, 1, 0.3]}
    | {"damping": 0.3}
}
START = {"linear": [0.8, -0.5, 0.3], "angular": [0.5, -0.7, 0.9]}
SECONDS = 0.96


@pytest.fixture
def end_of(load, vehicle, set_velocity, motion_of, any_inertia):
    """Return the end position of a body or a chain in the water after 0.96 s, for an integrator and a step.

    The body has added mass, linear drag (smooth where a velocity changes its sign, as quadratic drag is not), buoyancy
    above its centre of mass, and a current.
    """
    forces = {
        "water": {"kind": "added_mass", "link": "hull", "matrix": any_inertia(1, 10.0)},
        "drag": {"kind": "damping", "link": "hull", "linear": any_inertia(2, 8.0)},
        "lift": {"kind": "force_points", "link": "hull", "points": [[0.1, 0, 0.1], [-0.1, 0, 0.1]], "volume": 0.0135},
    }
    more = {"arm_water": {"kind": "added_mass", "link": "arm", "matrix": any_inertia(3, 2.0)}}
    bodies = {
        "body": (vehicle({"hull": LINKS["hull"]}, forces), ()),
        "chain": (vehicle(LINKS, forces | more, JOINTS), (1.1,)),
    }

    def run(kind, integrator, steps):
        path, joints = bodies[kind]
        world = load(
            {
                "robots": {"craft": {"vehicle": path, "pose": SKEW}},
                "integrator": integrator,
                "step": f"{SECONDS}/1" if steps == 1 else f"96/{100 * steps}",
                "water": {"currents": {"stream": {"kind": "uniform", "velocity": [0.3, -0.2, 0.1]}}},
            }
        )
        set_velocity(world, **START, joints=joints)
        world.advance_steps(steps)
        x, turn, v = motion_of(world, "craft")
        return np.concatenate([x - SKEW["position"], turn.ravel(), v])

    return run


@pytest.mark.parametrize("kind", ["body", "chain"])
@pytest.mark.parametrize("integrator, lowest, highest", [("euler", 0.85, 1.3), ("implicitfast", 0.85, 1.3)])
def test_the_first_order_methods_halve_their_error_with_the_step(end_of, kind, integrator, lowest, highest):
    """Global error ∝ h (Hairer, Nørsett & Wanner 1993, §II.3), measured over two halvings against RK4 at 0.6 ms."""
    truth = end_of(kind, "rk4", 1600)
    errors = [np.linalg.norm(end_of(kind, integrator, steps) - truth) for steps in (400, 800, 1600)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > lowest).all() and (orders < highest).all(), (errors, orders)


@pytest.mark.parametrize("kind", ["body", "chain"])
def test_rk4_divides_its_error_by_sixteen_when_the_step_is_halved(end_of, kind):
    """Global error ∝ h⁴ (Hairer, Nørsett & Wanner 1993, §II.1); 3.5 is asked for, over two halvings from 24 ms."""
    truth = end_of(kind, "rk4", 1600)
    errors = [np.linalg.norm(end_of(kind, "rk4", steps) - truth) for steps in (40, 80, 160)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.5).all(), (errors, orders)


@pytest.mark.parametrize("kind", ["body", "chain"])
@pytest.mark.parametrize("integrator", ["euler", "implicitfast"])
def test_all_methods_go_to_one_answer(end_of, kind, integrator):
    """Richardson: 2 x(h/2) − x(h) of a first-order method is of second order, here within 1e-5 of RK4's answer."""
    truth = end_of(kind, "rk4", 1600)
    coarse, fine = end_of(kind, integrator, 1600), end_of(kind, integrator, 3200)
    assert np.linalg.norm(fine - truth) > 1e-5  # otherwise the comparison would prove nothing
    assert 2.0 * fine - coarse == pytest.approx(truth, abs=1e-5)


@pytest.mark.parametrize("integrator", ["euler", "implicitfast", "rk4"])
def test_the_torpedo_comes_to_the_same_place_by_every_method(load, set_velocity, integrator):
    """A coasting, turning vehicle with all its laws after 2 s: RK4 at 0.5 ms is the truth, 1 ms within 3 mm."""
    ends = []
    for method, step in (("rk4", "1/2000"), (integrator, "1/1000")):
        robot = {"vehicle": "torpedo", "pose": {"position": [0.0, 0.0, -10.0]}}
        world = load({"robots": {"it": robot}, "integrator": method, "step": step})
        set_velocity(world, [1.5, 0.3, -0.2], [0.3, 0.2, 0.4])
        world.advance(2.0)
        ends.append(world.robots["it"].pose.position)
    assert ends[1] == pytest.approx(ends[0], abs=3e-3)


# ------------------------------------------------------------------------------------------------ where RK4 is refused


def _ball(**settings):
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 1.0, "volume": 0.0}
    return {"ball": ball | {"pose": {"position": [0.0, 0.0, -20.0]}} | settings}


@pytest.mark.parametrize("kind", ["linear_damping", "quadratic_damping"])
def test_rk4_is_refused_with_a_step_too_long_for_the_drag(load, kind):
    """Stable while h D/m < 2.785 (Hairer & Wanner 1996, §IV.2); the message names the body, the step and ways out."""
    scenario = {"objects": _ball(**{kind: [1e4, 0, 0, 0, 0, 0]}), "integrator": "rk4", "step": "1/200"}
    with pytest.raises(skerry.SkerryError, match=r"1/200.*too long for RK4.*ball.*at most.*implicitfast"):
        load(scenario)


def test_the_step_that_the_refusal_names_is_accepted_and_stable(load, set_velocity):
    """Read the step from the message, use it, and check that the body slows down."""
    objects = _ball(linear_damping=[1e4, 0, 0, 0, 0, 0])
    with pytest.raises(skerry.SkerryError) as caught:
        load({"objects": objects, "integrator": "rk4", "step": "1/200"})
    step = float(str(caught.value).split("at most ")[1].split(" s")[0])
    world = load({"objects": objects, "integrator": "rk4", "step": step * 0.99})
    set_velocity(world, [1.0, 0.0, 0.0])
    world.advance_steps(200)
    assert abs(world.objects["ball"].twist.linear[0]) < 1e-3


def test_quadratic_drag_that_is_accepted_is_stable_up_to_five_metres_a_second(load, set_velocity):
    """2 Q v h/m ≤ 2.5 at 5 m/s: right below the limit a body at that speed slows without a change of sign."""
    objects = _ball(quadratic_damping=[49.0, 0, 0, 0, 0, 0])
    world = load({"objects": objects, "integrator": "rk4", "step": "1/200"})
    set_velocity(world, [5.0, 0.0, 0.0])
    before = 5.0
    for _ in range(50):
        world.advance_steps(1)
        now = world.objects["ball"].twist.linear[0]
        assert 0.0 < now < before
        before = now


def test_the_check_of_rk4_includes_added_mass(load):
    """Rate D/(m + m_a): what is refused for the bare body is accepted with the water that it carries."""
    drag = {"linear_damping": [1e3, 1e3, 1e3, 0, 0, 0]}
    with pytest.raises(skerry.SkerryError, match="RK4"):
        load({"objects": _ball(**drag), "integrator": "rk4", "step": "1/200"})
    load({"objects": _ball(**drag, added_mass=[5, 5, 5, 0, 0, 0]), "integrator": "rk4", "step": "1/200"})


def test_rk4_is_refused_where_the_drag_of_several_links_is_too_much_together(load, vehicle):
    """Two links each with h D/m = 2.2 slow the whole with 4.4 > 2.785: it would explode, so it must be refused."""
    links = {"hull": {"mass": 1.0, "inertia": [1, 1, 1]}, "pod": {"mass": 1e-3, "inertia": [1, 1, 1]}}
    joints = {"hinge": {"parent": "hull", "child": "pod", "axis": [0, 0, 1]}}
    forces = {
        name: {"kind": "damping", "link": name, "linear": [440.0, 440.0, 440.0, 0, 0, 0]} for name in ("hull", "pod")
    }
    robot = {"vehicle": vehicle(links, forces, joints), "pose": {"position": [0.0, 0.0, -20.0]}}
    with pytest.raises(skerry.SkerryError, match="RK4"):
        load({"robots": {"craft": robot}, "integrator": "rk4", "step": "1/200"})


def test_rk4_is_refused_where_the_damping_of_a_joint_is_too_much_for_the_step(load, vehicle):
    """h c/I = 5 > 2.785 for a joint's own damping, which RK4 takes explicitly too: it would explode."""
    links = {"base": {}, "arm": {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}}
    joints = {"hinge": {"parent": "base", "child": "arm", "axis": [0, 0, 1], "damping": 10.0}}
    robot = {"vehicle": vehicle(links, {}, joints), "anchored": True}
    with pytest.raises(skerry.SkerryError, match="RK4"):
        load({"robots": {"arm": robot}, "integrator": "rk4", "step": "1/200"})


@pytest.mark.parametrize("medium", ["air", "underwater"])
def test_rk4_is_refused_where_a_body_without_its_water_would_be_damped_too_fast(load, vehicle, medium):
    """h d = 5 > 2.785 for the bare body: what is judged must not lean on water that may not be there.

    In air added mass is gone. At the surface a body that is just touched by water has nearly none of it, but already
    the whole damping of water.
    """
    forces = {
        "water": {"kind": "added_mass", "link": "hull", "matrix": [9.0] * 6},
        "plain": {"kind": "immersion_damping", "link": "hull", f"{medium}_linear": 1000.0, f"{medium}_angular": 1000.0},
    }
    robot = {"vehicle": vehicle({"hull": {"mass": 1.0, "inertia": [1, 1, 1]}}, forces)}
    with pytest.raises(skerry.SkerryError, match="RK4"):
        load({"robots": {"craft": robot}, "integrator": "rk4", "step": "1/200"})


def test_the_torpedo_is_stable_or_refused_under_rk4(load, set_velocity):
    """At 5 ms its hinges are damped with h c/I = 4: a vehicle at rest in its joints must not begin to rattle."""
    try:
        world = load(
            {
                "robots": {"it": {"vehicle": "torpedo", "pose": {"position": [0.0, 0.0, -10.0]}}},
                "integrator": "rk4",
                "step": "1/200",
            }
        )
    except skerry.SkerryError as error:
        assert "RK4" in str(error)
        return
    set_velocity(world, [0.5, 0.1, 0.0], [0.1, 0.1, 0.1])
    world.advance(5.0)
    for joint in ("yaw_hinge", "pitch_hinge"):
        assert abs(world.robots["it"].joint_velocity(joint)) < 0.1


@pytest.mark.parametrize("integrator", ["euler", "implicitfast"])
def test_the_other_methods_take_any_step_with_any_joint_damping(load, vehicle, set_velocity, integrator):
    """Joint damping is implicit there: h c/I = 500 slows the hinge within a step."""
    links = {"base": {}, "arm": {"mass": 1.0, "inertia": [0.01, 0.01, 0.01]}}
    joints = {"hinge": {"parent": "base", "child": "arm", "axis": [0, 0, 1], "damping": 1000.0}}
    law = {"water": {"kind": "added_mass", "link": "arm", "matrix": [0.01] * 6}}
    robot = {"vehicle": vehicle(links, law, joints), "anchored": True, "pose": {"position": [0.0, 0.0, -5.0]}}
    world = load({"robots": {"arm": robot}, "integrator": integrator, "step": "1/200"})
    set_velocity(world, [], [], [3.0])
    world.advance_steps(2)
    # ω⁺ = ω / (1 + h c/(I + I_a)) at every step
    assert world.robots["arm"].joint_velocity("hinge") == pytest.approx(3.0 / (1.0 + 5.0 / 0.02) ** 2, rel=1e-9)
