"""Drag through the water: terminal speeds, time histories in closed form, currents, and drag of any stiffness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import skerry

DEEP = {"position": [0.0, 0.0, -500.0]}
BALL = {"kind": "sphere", "radius": 0.1}
SKEW = {"position": [1.0, -2.0, -50.0], "roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}


@pytest.fixture
def ball(load):
    """Return a world with one ball deep under water, by default without weight or buoyancy."""

    def build(integrator="rk4", step="1/200", gravity=0.0, current=(0.0, 0.0, 0.0), pose=DEEP, **settings):
        body = {"geometry": BALL, "motion": "dynamic", "mass": 4.0, "volume": 0.0, "pose": pose} | settings
        return load(
            {
                "objects": {"ball": body},
                "integrator": integrator,
                "step": step,
                "gravity": gravity,
                "water": {"currents": {"stream": {"kind": "uniform", "velocity": list(current)}}},
            }
        )

    return build


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
@pytest.mark.parametrize("linear, quadratic", [(8.0, 0.0), (0.0, 12.0), (8.0, 12.0)])
@pytest.mark.parametrize("added", [0.0, 8.0])
def test_a_sinking_ball_reaches_the_speed_at_which_drag_carries_its_weight(ball, integrator, linear, quadratic, added):
    """D v + Q v² = m g, so v = (−D + √(D² + 4 Q m g)) / 2Q, by any method; after 60 s only rounding."""
    world = ball(
        integrator,
        gravity=9.81,
        linear_damping=[linear] * 3 + [0.0] * 3,
        quadratic_damping=[quadratic] * 3 + [0.0] * 3,
        added_mass=[added] * 3 + [0.0] * 3,
    )
    world.advance(60.0)
    weight = 4.0 * 9.81
    if quadratic == 0.0:
        expected = weight / linear
    else:
        expected = (-linear + np.sqrt(linear**2 + 4 * quadratic * weight)) / (2 * quadratic)
    assert -world.objects["ball"].twist.linear[2] == pytest.approx(expected, rel=1e-10)


def test_a_falling_ball_with_quadratic_drag_follows_the_hyperbolic_tangent(ball):
    """v = v∞ tanh(g t/v∞), v∞ = √(m g/Q) (Clift, Grace & Weber 1978, ch. 11). RK4 at 1 ms: (h g/v∞)⁴/120 < 1e-11."""
    world = ball(gravity=9.81, step="1/1000", quadratic_damping=[12.0] * 3 + [0.0] * 3)
    limit = np.sqrt(4.0 * 9.81 / 12.0)
    for instant in np.arange(1, 11) * 0.1:
        world.advance(0.1)
        found = -world.objects["ball"].twist.linear[2]
        assert found == pytest.approx(limit * np.tanh(9.81 * instant / limit), rel=1e-9)


def test_a_coasting_body_with_linear_drag_slows_exponentially(ball, set_velocity):
    """v = v₀ exp(−D t/(m + m_a)), and ω = ω₀ exp(−D t/(I + I_a)). RK4 at 5 ms: (h D/I)⁴/120 < 1e-8."""
    turning = 0.4 * 4.0 * 0.1**2
    world = ball(linear_damping=[6.0] * 3 + [0.05] * 3, added_mass=[2.0] * 3 + [0.01] * 3)
    set_velocity(world, [1.0, -2.0, 0.5], [0.0, 0.0, 3.0])
    world.advance(1.0)
    twist = world.objects["ball"].twist
    turned = world.objects["ball"].pose.rotation
    assert turned @ twist.linear == pytest.approx(np.array([1.0, -2.0, 0.5]) * np.exp(-1.0), rel=1e-8)
    assert twist.angular[2] == pytest.approx(3.0 * np.exp(-0.05 / (turning + 0.01)), rel=1e-8)


def test_a_coasting_body_with_quadratic_drag_slows_hyperbolically(ball, set_velocity):
    """v = v₀ / (1 + Q v₀ t/m) along an axis; RK4 at 5 ms with Q v₀ h/m = 0.015: 1e-8."""
    world = ball(quadratic_damping=[6.0] * 3 + [0.0] * 3)
    set_velocity(world, [2.0, 0.0, 0.0])
    world.advance(2.0)
    assert world.objects["ball"].twist.linear[0] == pytest.approx(2.0 / (1.0 + 6.0 * 2.0 * 2.0 / 4.0), rel=1e-7)
    assert world.objects["ball"].pose.position[0] == pytest.approx(4.0 / 6.0 * np.log(7.0), rel=1e-7)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_linear_drag_is_stepped_by_the_implicit_euler_method(ball, set_velocity, integrator):
    """v⁺ = v / (1 + h D/m) at every step (Hairer & Wanner 1996, §IV.3); to rounding."""
    world = ball(integrator, step="1/50", linear_damping=[30.0] * 3 + [0.0] * 3)
    set_velocity(world, [1.0, 0.0, 0.0])
    world.advance_steps(20)
    assert world.objects["ball"].twist.linear[0] == pytest.approx((1.0 + 30.0 / 50.0 / 4.0) ** -20, rel=1e-12)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
@pytest.mark.parametrize("kind", ["linear_damping", "quadratic_damping"])
def test_drag_that_would_explode_explicitly_slows_the_body_steadily(ball, set_velocity, integrator, kind):
    """With h D/m = 2500 the explicit step multiplies v by −2499; the implicit one goes down and never past zero."""
    world = ball(integrator, step="1/100", **{kind: [1e6] * 6})
    set_velocity(world, [1.0, -2.0, 3.0], [5.0, -4.0, 3.0])
    before = np.abs(np.concatenate([world.objects["ball"].twist.linear, world.objects["ball"].twist.angular]))
    signs = np.array([1, -1, 1, 1, -1, 1])
    for _ in range(50):
        world.advance_steps(1)
        twist = world.objects["ball"].twist
        now = signs * np.concatenate([twist.linear, twist.angular])
        assert (now >= -1e-12).all()
        assert (now <= before * (1 + 1e-12)).all()
        before = now
    assert before.max() < 1e-3


def _energy(twist, mass, inertia):
    return 0.5 * mass * twist.linear @ twist.linear + 0.5 * twist.angular @ (inertia * twist.angular)


def test_a_full_matrix_of_stiff_linear_drag_takes_energy_at_every_step(ball, set_velocity, any_inertia):
    """−½ vᵀ D v ≤ 0 for a positive D with couplings, however stiff (here h D/m up to 1e4)."""
    world = ball("implicitfast", step="1/100", linear_damping=any_inertia(5, 1e6).tolist())
    set_velocity(world, [1.0, -2.0, 3.0], [0.5, -0.4, 0.3])
    inertia = 0.4 * 4.0 * 0.1**2 * np.ones(3)
    before = _energy(world.objects["ball"].twist, 4.0, inertia)
    for _ in range(50):
        world.advance_steps(1)
        now = _energy(world.objects["ball"].twist, 4.0, inertia)
        assert now <= before
        before = now
    assert before < 1e-6


@pytest.mark.parametrize("stiffness", [5e2, 5e3, 5e4, 1e6])
def test_stiff_quadratic_drag_with_couplings_does_not_explode(ball, set_velocity, stiffness):
    """Drag Q |v| v with Q = q (1, ½; ½, 1) in surge and sway only takes energy: q (a + b)(a² ± 3ab/2 + b²) ≥ 0.

    So a body may not end faster than it began, at any step: drag is promised to be stable however stiff it is. An exact
    solution never speeds up; a linearised step may, for a moment, hence the factor of 4.
    """
    coupled = np.zeros((6, 6))
    coupled[:2, :2] = stiffness * np.array([[1.0, 0.5], [0.5, 1.0]])
    world = ball("implicitfast", step="1/100", quadratic_damping=coupled.tolist())
    set_velocity(world, [2.0, 0.0, 0.0])
    for _ in range(50):
        world.advance_steps(1)
        assert np.linalg.norm(world.objects["ball"].twist.linear) < 4.0 * 2.0
    assert np.linalg.norm(world.objects["ball"].twist.linear) < 2.0


@pytest.mark.parametrize("stiffness", [1e2, 1e3, 1e5])
@pytest.mark.parametrize("shape", [[[1.0, 1.5], [0.0, 1.0]], [[1.0, 3.0], [-3.0, 1.0]]], ids=["one-sided", "skew"])
def test_stiff_linear_drag_that_is_not_symmetric_is_stable_or_refused(ball, set_velocity, shape, stiffness):
    """−vᵀ D v depends on the symmetric part alone, which is positive here: such drag only takes energy.

    Coefficients as Y_r and N_v need not be equal. A step must not make them a source of energy, however stiff; if it
    cannot be helped, the matrix must be refused with a message.
    """
    drag = np.zeros((6, 6))
    drag[:2, :2] = stiffness * np.array(shape)
    try:
        world = ball("implicitfast", step="1/100", linear_damping=drag.tolist())
    except skerry.SkerryError as error:
        assert "symmetric" in str(error)
        return
    set_velocity(world, [1.0, -1.0, 0.0])
    for _ in range(200):
        world.advance_steps(1)
        assert np.linalg.norm(world.objects["ball"].twist.linear) < 4.0 * np.sqrt(2.0)
    assert np.linalg.norm(world.objects["ball"].twist.linear) < 0.01


def test_stiff_drag_leaves_the_terminal_speed_what_it_is(ball):
    """The implicit part changes how fast, not whereto: v = m g/D with h D/m = 25."""
    world = ball("implicitfast", step="1/100", gravity=9.81, linear_damping=[1e4] * 3 + [0.0] * 3)
    world.advance(1.0)
    assert -world.objects["ball"].twist.linear[2] == pytest.approx(4.0 * 9.81 / 1e4, rel=1e-10)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_a_body_released_in_a_current_ends_with_its_velocity_and_feels_nothing_more(ball, integrator):
    """τ = −D ν_r − Q |ν_r| ν_r with ν_r → 0; the linear part wins in the end: exp(−D t/m) after 40 s is 0."""
    u = (0.5, -0.3, 0.1)
    world = ball(
        integrator, current=u, linear_damping=[4.0] * 3 + [0.02] * 3, quadratic_damping=[20.0] * 3 + [0.01] * 3
    )
    world.advance(40.0)
    moving = world.objects["ball"]
    assert moving.pose.rotation @ moving.twist.linear == pytest.approx(u, abs=1e-12)
    before = moving.pose.position
    world.advance(10.0)
    assert moving.pose.position - before == pytest.approx(10.0 * np.array(u), abs=1e-10)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler", "rk4"])
def test_a_body_that_moves_with_the_current_feels_no_force(ball, set_velocity, integrator):
    """ν_r = 0 from the start: no drag and no added mass, so no acceleration at all; 1e-12."""
    u = (0.5, -0.3, 0.1)
    world = ball(
        integrator,
        step="1/100",
        current=u,
        linear_damping=[40.0] * 3 + [0.5] * 3,
        quadratic_damping=[50.0] * 3 + [0.1] * 3,
        added_mass=[3.0, 5.0, 7.0, 0.1, 0.1, 0.1],
        pose=SKEW,
    )
    set_velocity(world, u)
    world.advance(10.0)
    moving = world.objects["ball"]
    assert moving.pose.rotation @ moving.twist.linear == pytest.approx(u, abs=1e-12)
    assert moving.twist.angular == pytest.approx(np.zeros(3), abs=1e-12)


def test_drag_acts_at_the_point_and_in_the_axes_it_is_given_for(load, vehicle, set_velocity, motion_of, spatial):
    """τ = Hᵀ f(H ν), f_i = −Σ (D_ij + Q_ij |v_j|) v_j (Fossen 2021, ch. 6), H the turned shift to the point.

    The acceleration is the change in a step of 1 µs, within which it changes itself by some 100/s: 1e-4.
    """
    random = np.random.default_rng(7)
    linear = random.normal(size=(6, 6)) + 8 * np.eye(6)
    quadratic = random.normal(size=(6, 6)) + 8 * np.eye(6)
    place, rpy = np.array([0.3, -0.2, 0.1]), [30.0, -20.0, 50.0]
    link = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4], "center": [0.1, 0.0, -0.05]}
    law = {
        "kind": "damping",
        "link": "hull",
        "linear": linear,
        "quadratic": quadratic,
        "position": place,
        "roll_deg": rpy[0],
        "pitch_deg": rpy[1],
        "yaw_deg": rpy[2],
    }
    world = load(
        {
            "robots": {"craft": {"vehicle": vehicle({"hull": link}, {"drag": law}), "pose": SKEW}},
            "gravity": 0.0,
            "integrator": "rk4",
            "step": "1/1000000",
        }
    )
    set_velocity(world, [0.5, -0.3, 0.4], [0.8, -0.6, 1.0])
    before = motion_of(world, "craft")[2]
    world.advance_steps(1)
    found = (motion_of(world, "craft")[2] - before) * 1e6
    turn = np.kron(np.eye(2), Rotation.from_euler("xyz", rpy, degrees=True).as_matrix().T)
    shift = np.eye(6)
    shift[:3, 3:] = np.column_stack([np.cross(axis, place) for axis in np.eye(3)])
    there = turn @ shift @ before
    drag = (turn @ shift).T @ -(linear @ there + quadratic @ (np.abs(there) * there))
    rigid = spatial(5.0, link["center"], link["inertia"])
    p, h = np.split(rigid @ before, 2)
    v, w = np.split(before, 2)
    gyroscopic = np.concatenate([np.cross(w, p), np.cross(w, h) + np.cross(v, p)])
    assert found == pytest.approx(np.linalg.solve(rigid, drag - gyroscopic), rel=2e-4, abs=2e-4)


def test_drag_on_an_arm_brakes_its_hinge(load, vehicle, set_velocity):
    """I ω̇ = −Q L³ ω², so ω = ω₀ / (1 + Q L³ ω₀ t/I), for drag Q at the arm's end; RK4 at 5 ms: 1e-7."""
    links = {"base": {}, "arm": {"mass": 2.0, "inertia": [0.2, 0.2, 0.3]}}
    joints = {"hinge": {"parent": "base", "child": "arm", "axis": [0, 0, 1]}}
    drag = {"kind": "damping", "link": "arm", "quadratic": [0, 6.0, 0, 0, 0, 0], "position": [0.5, 0, 0]}
    world = load(
        {
            "robots": {"arm": {"vehicle": vehicle(links, {"drag": drag}, joints), "anchored": True, "pose": SKEW}},
            "gravity": 0.0,
            "integrator": "rk4",
        }
    )
    set_velocity(world, [], [], [2.0])
    world.advance(2.0)
    expected = 2.0 / (1.0 + 6.0 * 0.5**3 * 2.0 * 2.0 / 0.3)
    assert world.robots["arm"].joint_velocity("hinge") == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("integrator", ["implicitfast", "euler"])
def test_stiff_drag_on_an_arm_slows_its_hinge_steadily(load, vehicle, set_velocity, integrator):
    """Implicit in the joint's own inertia: ω⁺ = ω / (1 + h D L²/I); an explicit step would grow by 400 each time."""
    links = {"base": {}, "arm": {"mass": 2.0, "inertia": [0.2, 0.2, 0.3]}}
    joints = {"hinge": {"parent": "base", "child": "arm", "axis": [0, 0, 1]}}
    drag = {"kind": "damping", "link": "arm", "linear": [0, 1e5, 0, 0, 0, 0], "position": [0.5, 0, 0]}
    robot = {"vehicle": vehicle(links, {"drag": drag}, joints), "anchored": True, "pose": SKEW}
    world = load({"robots": {"arm": robot}, "gravity": 0.0, "integrator": integrator})
    set_velocity(world, [], [], [2.0])
    world.advance_steps(3)
    expected = 2.0 / (1.0 + 0.005 * 1e5 * 0.5**2 / 0.3) ** 3
    assert world.robots["arm"].joint_velocity("hinge") == pytest.approx(expected, rel=1e-9)


def test_a_half_immersed_body_feels_half_the_drag(load, set_velocity):
    """v̇ = −½ D v/m with the middle of a floating box at the surface; RK4 at 1 ms over one step: (h D/m)⁵."""
    box = {
        "geometry": {"kind": "box", "size": [0.6, 0.6, 0.6]},
        "motion": "dynamic",
        "mass": 0.5 * 1025.0 * 0.216,
        "linear_damping": [90.0, 0, 0, 0, 0, 0],
    }
    world = load({"objects": {"box": box}, "integrator": "rk4", "step": "1/1000"})
    set_velocity(world, [1.0, 0.0, 0.0])
    world.advance(0.5)
    expected = np.exp(-0.5 * 90.0 * 0.5 / box["mass"])
    assert world.objects["box"].twist.linear[0] == pytest.approx(expected, rel=1e-9)
