"""Forces in Python are called at the same times as native laws, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

LINK = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4], "center": [0.1, -0.05, 0.07]}
SKEW = {"position": [1.0, -2.0, -50.0], "roll_deg": 25.0, "pitch_deg": -40.0, "yaw_deg": 70.0}
INTEGRATORS = ("implicitfast", "euler", "rk4")


@pytest.fixture
def craft(load, vehicle, set_velocity):
    """Return a builder of a moving craft with native and Python forces on its hull."""

    def build(forces, hook=None, integrator="rk4", current=(0.3, -0.2, 0.1), pose=SKEW, **scenario):
        world = load(
            {
                "robots": {"craft": {"vehicle": vehicle({"hull": LINK}, forces), "pose": pose}},
                "integrator": integrator,
                "gravity": 0.0,
                "water": {"currents": {"stream": {"kind": "uniform", "velocity": list(current)}}},
            }
            | scenario,
            forces=None if hook is None else {"craft/hull": hook},
        )
        set_velocity(world, [0.5, -0.3, 0.4], [0.8, -0.6, 1.0])
        return world

    return build


def _end(world, motion_of, seconds=2.0):
    world.advance(seconds)
    return np.concatenate([part.ravel() for part in motion_of(world, "craft")])


def test_linear_drag_in_python_moves_a_body_as_the_native_law_does(craft, motion_of, any_inertia):
    """τ = −D ν_r under RK4, where the native law is explicit too; 1600 evaluations differ by rounding only: 1e-12."""
    drag = any_inertia(8, 6.0)
    law = {"kind": "damping", "link": "hull", "linear": drag}
    native = _end(craft({"drag": law}), motion_of)
    python = _end(craft({}, lambda state: -drag @ state.relative_velocity), motion_of)
    assert python == pytest.approx(native, abs=1e-12)


def test_drag_in_python_with_native_added_mass_sees_the_same_states(craft, motion_of, any_inertia):
    """Both in one pass of the integrator; 1e-12."""
    water = {"kind": "added_mass", "link": "hull", "matrix": any_inertia(9, 8.0)}
    drag = np.diag([3.0, 9.0, 8.0, 0.3, 0.4, 0.2])

    def resist(state):
        v = state.relative_velocity
        return -drag @ (np.abs(v) * v)

    law = {"kind": "damping", "link": "hull", "quadratic": drag.diagonal()}
    native = _end(craft({"water": water, "drag": law}), motion_of)
    python = _end(craft({"water": water}, resist), motion_of)
    assert python == pytest.approx(native, abs=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_constant_force_in_python_is_bit_equal_to_the_native_one(load, vehicle, integrator):
    """A push along x through the centre of mass of a body that does not turn: the very same additions."""
    link = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4]}
    push = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 1e-3, "custom_force": [3.0, 0, 0]}
    still = {**push, "custom_force": [0.0, 0.0, 0.0]}
    states = []
    for law, hooks in ((push, None), (still, {"craft/hull": lambda state: [3.0, 0, 0, 0, 0, 0]})):
        robot = {"vehicle": vehicle({"hull": link}, {"push": law}), "pose": {"position": [0.0, 0.0, -20.0]}}
        scenario = {"robots": {"craft": robot}, "gravity": 0.0, "integrator": integrator}
        world = load(scenario, forces=hooks)
        world.advance(2.0)
        states.append(world._engine.part("qpos").tobytes() + world._engine.part("qvel").tobytes())
    assert states[0] == states[1]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_python_force_accelerates_a_body_at_force_over_mass_in_its_own_axes(load, vehicle, motion_of, integrator):
    """ν̇ = (F/m, τ/I) in the link's axes; one step from rest, to rounding."""
    link = {"mass": 5.0, "inertia": [0.3, 0.5, 0.4]}
    robot = {"vehicle": vehicle({"hull": link}), "pose": SKEW}
    world = load(
        {"robots": {"craft": robot}, "gravity": 0.0, "integrator": integrator, "step": "1/1000000"},
        forces={"craft/hull": lambda state: [3.0, -1.0, 2.0, 0.3, 0.2, -0.1]},
    )
    world.advance_steps(1)
    expected = np.array([3.0, -1.0, 2.0, 0.3, 0.2, -0.1]) / [5.0, 5.0, 5.0, 0.3, 0.5, 0.4]
    assert motion_of(world, "craft")[2] * 1e6 == pytest.approx(expected, rel=1e-9)


def test_a_python_force_sees_the_pose_velocity_and_water_of_its_link(craft, motion_of):
    """At the first call: the state that the world was left in, and u = (0.3, −0.2, 0.1) around it."""
    seen = []
    world = craft({}, lambda state: seen.append(state) or np.zeros(6), integrator="implicitfast")
    x, turn, v = motion_of(world, "craft")
    world.advance_steps(1)
    state = seen[0]
    assert state.time == 0.0
    assert state.position == pytest.approx(x, abs=1e-15)
    assert state.rotation == pytest.approx(turn, abs=1e-14)
    assert state.velocity == pytest.approx(v, abs=1e-13)
    assert state.relative_velocity == pytest.approx(v - [*(turn.T @ [0.3, -0.2, 0.1]), 0, 0, 0], abs=1e-13)
    assert (state.surface, state.density, state.submerged) == (0.0, 1025.0, 1.0)


def test_rk4_calls_a_python_force_four_times_per_step_at_the_right_times(craft):
    """Times t, t + h/2, t + h/2, t + h of the classical method (Hairer, Nørsett & Wanner 1993, §II.1)."""
    seen = []
    world = craft({}, lambda state: seen.append(state.time) or np.zeros(6), step="1/100")
    world.advance_steps(2)
    assert seen == pytest.approx([0.0, 0.005, 0.005, 0.01, 0.01, 0.015, 0.015, 0.02], abs=1e-15)


def test_a_python_force_that_varies_with_time_is_integrated_at_fourth_order(load, vehicle):
    """v = (F/m)(1 − cos ωt)/ω for F sin ωt; RK4 is Simpson's rule here, with ωh = 0.1 right to (ωh)⁴/2880 = 3e-8."""
    robot = {"vehicle": vehicle({"hull": {"mass": 5.0, "inertia": [0.3, 0.5, 0.4]}})}
    world = load(
        {"robots": {"craft": robot}, "gravity": 0.0, "integrator": "rk4", "step": "1/100"},
        forces={"craft/hull": lambda state: [5.0 * np.sin(10.0 * state.time), 0, 0, 0, 0, 0]},
    )
    world.advance(0.5)
    expected = (1.0 - np.cos(5.0)) / 10.0
    assert world.robots["craft"].twist.linear[0] == pytest.approx(expected, rel=1e-7)


def test_an_exception_in_a_python_force_reaches_the_caller(craft):
    """The original exception is raised, with a note that names the link; the world can then continue."""
    calls = []

    def fail(state):
        calls.append(state.time)
        if len(calls) == 3:
            raise ZeroDivisionError("on purpose")
        return np.zeros(6)

    world = craft({}, fail, integrator="implicitfast")
    with pytest.raises(ZeroDivisionError, match="on purpose") as caught:
        world.advance(1.0)
    assert any("craft/hull" in note for note in caught.value.__notes__)
    assert len(calls) == 3
    world.advance(0.1)
    assert len(calls) == 3 + 20


def test_an_exception_in_a_python_force_under_rk4_reaches_the_caller(craft):
    """RK4 calls the force several times per step: there is no further call after the failed one."""
    calls = []

    def fail(state):
        calls.append(state.time)
        if len(calls) == 6:
            raise KeyError("on purpose")
        return np.zeros(6)

    world = craft({}, fail)
    with pytest.raises(KeyError, match="on purpose"):
        world.advance(1.0)
    assert len(calls) == 6


def test_a_failed_python_force_leaves_the_world_at_the_step_before(craft, motion_of):
    """A step that lacks a force is undone: neither time nor motion may change."""
    calls = []

    def fail(state):
        calls.append(state.time)
        if len(calls) == 3:
            raise ValueError("on purpose")
        return np.array([100.0, 0, 0, 0, 0, 0])

    world = craft({}, fail, integrator="implicitfast")
    world.advance_steps(2)
    before, tick = np.concatenate([part.ravel() for part in motion_of(world, "craft")]), world.tick
    with pytest.raises(ValueError, match="on purpose"):
        world.advance_steps(1)
    assert world.tick == tick
    assert np.array_equal(np.concatenate([part.ravel() for part in motion_of(world, "craft")]), before)


def test_a_python_force_with_a_wrong_result_shape_is_an_error(craft):
    """The function must return six numbers."""
    world = craft({}, lambda state: [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="6 numbers"):
        world.advance(0.1)
