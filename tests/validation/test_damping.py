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


# ------------------------------------------------------------------------------------------------ objects


@pytest.mark.parametrize("tilt", [(0, 0), (45, 0), (45, 35.264), (10, 70)])
def test_an_object_sinks_as_fast_however_it_is_turned(load, tilt):
    """v = √(W/c) with the drag c |v| v of a ball: by the components of its own axes it would be up to 32 % faster."""
    ball = {"geometry": BALL, "motion": "dynamic", "mass": 20.0, "volume": 0.004, "quadratic_damping": [30.0] * 6}
    ball["pose"] = {"position": [0, 0, -50], "roll_deg": tilt[0], "pitch_deg": tilt[1]}
    world = load({"objects": {"ball": ball}})
    world.advance(15.0)
    weight = (20.0 - 1025.0 * 0.004) * 9.81
    assert np.linalg.norm(world.objects["ball"].twist.linear) == pytest.approx(np.sqrt(weight / 30.0), rel=1e-9)


@pytest.mark.parametrize("quadratic_speed", ["component", "total"])
def test_the_quadratic_drag_of_a_law_may_use_the_whole_speed(load, vehicle, set_velocity, motion_of, quadratic_speed):
    """F_i = −c_i |v_i| v_i or −c_i |v| v_i at (3, 4, 0) m/s, in a short first step; τ likewise with ω."""
    c, v, w = np.array([2.0, 5.0, 9.0, 1.0, 2.0, 3.0]), np.array([3.0, 4.0, 0.0]), np.array([0.0, 0.6, 0.8])
    law = {"kind": "damping", "link": "hull", "quadratic": c, "quadratic_speed": quadratic_speed}
    path = vehicle({"hull": {"mass": 10.0, "inertia": [4.0, 4.0, 4.0]}}, {"drag": law})
    robot = {"vehicle": path, "pose": {"position": [0, 0, -50]}}
    step = 1e-6
    world = load({"robots": {"craft": robot}, "gravity": 0.0, "step": "1/1000000"})
    set_velocity(world, v, w)
    world.advance_steps(1)
    total = quadratic_speed == "total"
    force = -c[:3] * (5.0 if total else np.abs(v)) * v
    torque = -c[3:] * (1.0 if total else np.abs(w)) * w
    found = motion_of(world, "craft")[2]
    moved = (found[:3] - v) / step + np.cross(w, v)  # in the axes of the body
    assert 10.0 * moved == pytest.approx(force, abs=1e-3)
    assert 4.0 * (found[3:] - w) / step == pytest.approx(torque, abs=1e-3)


@pytest.mark.parametrize("stiff", [1e3, 1e6])
def test_any_drag_by_the_whole_speed_is_stable(load, set_velocity, stiff):
    """Linearly implicit with a bound on the slope: the energy falls in every step."""
    matrix = np.diag([1.0, 20.0, 300.0, 1.0, 5.0, 40.0]) * stiff
    body = {"geometry": BALL, "motion": "dynamic", "mass": 4.0, "volume": 0.0, "quadratic_damping": matrix.tolist()}
    world = load({"objects": {"body": {**body, "pose": {"position": [0, 0, -50]}}}, "gravity": 0.0})
    set_velocity(world, [3.0, -2.0, 1.0], [4.0, 5.0, -6.0])
    before = np.inf
    for _ in range(200):
        world.advance_steps(1)
        speed = float(np.linalg.norm(world.objects["body"].twist.linear))
        assert speed <= before * (1 + 1e-12)
        before = speed
    assert before < 0.1


@pytest.mark.parametrize(
    ("geometry", "area", "coefficient"),
    [
        ({"kind": "sphere", "radius": 0.1}, np.pi * 0.01, 0.47),
        ({"kind": "box", "size": [0.4, 0.3, 0.2]}, 0.12, 1.05),
        ({"kind": "cylinder", "radius": 0.2, "length": 0.2}, np.pi * 0.04, 0.9),
    ],
)
def test_the_drag_of_an_object_may_be_estimated_from_its_shape(load, geometry, area, coefficient):
    """v = √(2 W/(ρ C A)) with the coefficient of Hoerner 1965, ch. 3; it falls flat; after 10 s 2e-9 is left."""
    thing = {"geometry": geometry, "motion": "dynamic", "mass": 60.0, "pose": {"position": [0, 0, -50]}}
    world = load({"objects": {"thing": {**thing, "quadratic_damping": "shape", "added_mass": "shape"}}})
    world.advance(10.0)
    law = world.objects["thing"].forces["buoyancy"]
    weight = 60.0 * 9.81 - law.buoyancy[:, 2].sum()
    expected = np.sqrt(2 * weight / (1025.0 * coefficient * area))
    assert -world.objects["thing"].twist.linear[2] == pytest.approx(expected, rel=1e-6)


def test_the_estimated_added_mass_of_a_ball_is_half_of_the_water_that_it_displaces(load):
    """½ ρ V (Lamb 1932, §92), so that a = (W − ρ g V)/(m + ½ ρ V) in the first step; rounding."""
    ball = {"geometry": {"kind": "sphere", "radius": 0.1}, "motion": "dynamic", "mass": 8.0}
    world = load({"objects": {"ball": {**ball, "pose": {"position": [0, 0, -50]}, "added_mass": "shape"}}})
    world.advance_steps(1)
    water = 1025.0 * 4 / 3 * np.pi * 1e-3
    expected = (8.0 - water) * 9.81 / (8.0 + 0.5 * water)
    assert -world.objects["ball"].twist.linear[2] / world.time == pytest.approx(expected, rel=1e-9)


def test_an_object_without_drag_and_added_mass_is_reported(load, caplog):
    """Not if one of them is given, even as 0, and not if the object displaces no water."""
    ball = {"geometry": BALL, "motion": "dynamic", "mass": 4.0}
    objects = {
        "bare": ball,
        "dragged": {**ball, "quadratic_damping": "shape"},
        "told": {**ball, "linear_damping": [0.0] * 6},
        "dry": {**ball, "volume": 0.0},
        "rock": {"geometry": BALL},
    }
    places = {name: {**thing, "pose": {"position": [3 * k, 0, -9]}} for k, (name, thing) in enumerate(objects.items())}
    load({"objects": places})
    assert len(caplog.messages) == 1
    assert "objects.bare: has neither drag nor added mass" in caplog.text
    assert "`quadratic_damping: shape`" in caplog.text
