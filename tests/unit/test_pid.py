"""PID loop: its three parts, angles along the shorter arc, limits, and an integral that does not wind up."""

from __future__ import annotations

import pytest

from skerry.control.loops.pid import Pid, PidConfig, wrapped

STEP = 0.1


def pid(is_angle: bool = False, **settings: float) -> Pid:
    return Pid(PidConfig(**{"limit": 10.0, **settings}), is_angle)


def test_each_part_does_what_its_gain_says() -> None:
    assert pid(proportional=2.0).step(3.0, 1.0, STEP) == pytest.approx(4.0)
    summing = pid(integral=0.5)
    assert [summing.step(3.0, 1.0, STEP) for _ in range(3)] == pytest.approx([0.1, 0.2, 0.3])
    rates = pid(derivative=0.5)
    assert [rates.step(0.0, value, STEP) for value in (5.0, 5.2, 5.2)] == pytest.approx([0.0, -1.0, 0.0])


def test_a_jump_of_the_setpoint_does_not_affect_the_derivative() -> None:
    loop = pid(derivative=5.0)
    assert [loop.step(wanted, 1.0, STEP) for wanted in (0.0, 100.0, -100.0)] == [0.0, 0.0, 0.0]


def test_the_derivative_is_smoothed_with_its_time_constant() -> None:
    """A ramp of 1/s: after n steps 1 − (T/(T + h))ⁿ of its rate."""
    loop = pid(derivative=1.0, smoothing=0.4)
    outputs = [loop.step(0.0, STEP * number, STEP) for number in range(30)]
    assert outputs[5] == pytest.approx(-(1.0 - 0.8**5))


def test_an_angle_follows_the_shorter_arc() -> None:
    loop = pid(is_angle=True, proportional=1.0)
    assert loop.step(3.1, -3.1, STEP) == pytest.approx(wrapped(6.2))
    turning = pid(is_angle=True, derivative=1.0)
    turning.step(0.0, 3.1, STEP)
    assert turning.step(0.0, -3.1, STEP) == pytest.approx(-wrapped(-6.2) / STEP)
    assert [wrapped(angle) for angle in (3.5, -3.5, 0.5)] == pytest.approx([-2.7832, 2.7832, 0.5], abs=1e-4)


def test_the_output_stays_within_its_limit_and_the_integral_does_not_wind_up() -> None:
    loop = pid(proportional=1.0, integral=1.0, limit=2.0)
    for _ in range(1000):
        assert loop.step(5.0, 0.0, STEP) == 2.0
    assert loop.step(0.0, 0.5, STEP) < 0.0  # immediately; a wound-up integral would stay at the limit


def test_errors_beyond_the_integrals_range_are_not_integrated() -> None:
    loop = pid(integral=1.0, integral_within=0.5)
    assert loop.step(1.0, 0.0, STEP) == 0.0
    assert loop.step(0.4, 0.0, STEP) == pytest.approx(0.04)


def test_its_state_is_complete() -> None:
    settings = {"proportional": 1.0, "integral": 0.3, "derivative": 0.2, "smoothing": 0.1}
    one, other = pid(**settings), pid(**settings)
    for number in range(7):
        one.step(1.0, 0.1 * number, STEP)
    other.set_state(one.state())
    assert [one.step(1.0, 0.9, STEP), one.output] == [other.step(1.0, 0.9, STEP), other.output]
    one.reset()
    assert one.state() == pid().state()
