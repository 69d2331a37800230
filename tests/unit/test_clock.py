"""Time without drift: steps, carried remainders, and rates."""

from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.clock import Clock, Rate
from skerry.core.errors import SkerryError

steps = st.fractions(min_value=Fraction(1, 2000), max_value=Fraction(1, 2), max_denominator=2000)
frequencies = st.fractions(min_value=Fraction(1, 50), max_value=2000, max_denominator=50)


def test_time_is_the_float_nearest_to_ticks_times_step() -> None:
    clock = Clock(Fraction(7, 1000))
    clock.advance(123_456_789)
    assert clock.exact_time == Fraction(864_197_523, 1000)
    assert clock.time == 864197.523


def test_a_thousand_tenths_of_a_second_are_a_hundred_seconds_exactly() -> None:
    clock = Clock(Fraction(1, 200))
    for _ in range(1000):
        clock.advance(clock.steps_for(0.1))
    assert clock.time == 100.0
    untouched = Clock(Fraction(1, 200))
    untouched.advance(20_000)
    assert clock.state() == untouched.state(), "0.1 leaves a remainder"


def test_spans_shorter_than_a_step_add_up() -> None:
    clock = Clock(Fraction(1, 200))
    made = [clock.steps_for(0.0033) for _ in range(5000)]
    assert set(made) == {0, 1}
    assert sum(made) == 3300


@given(steps, st.lists(st.floats(0.0, 5.0), max_size=30))
def test_however_time_is_cut_the_clock_is_never_more_than_half_a_step_off(step: Fraction, spans: list[float]) -> None:
    clock = Clock(step)
    asked = Fraction(0)
    for span in spans:
        made = clock.steps_for(span)
        assert made >= 0
        clock.advance(made)
        asked += Fraction(repr(span))
        assert abs(clock.exact_time - asked) <= step / 2


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -0.1])
def test_a_span_that_is_no_span_is_refused_and_changes_nothing(seconds: float) -> None:
    clock = Clock(Fraction(1, 200))
    clock.steps_for(0.001)
    before = clock.state()
    with pytest.raises(SkerryError, match="cannot advance"):
        clock.steps_for(seconds)
    assert clock.state() == before


def test_time_does_not_run_backwards() -> None:
    with pytest.raises(SkerryError, match="at least 0"):
        Clock(Fraction(1, 200)).advance(-1)


@pytest.mark.parametrize("step", [Fraction(0), Fraction(-1, 200)])
def test_a_step_has_a_length(step: Fraction) -> None:
    with pytest.raises(SkerryError, match="longer than 0"):
        Clock(step)


def test_a_restored_clock_goes_on_as_the_first_one_did() -> None:
    clock = Clock(Fraction(1, 300))
    clock.advance(clock.steps_for(0.7512))
    state = clock.state()
    first = [clock.steps_for(0.0017) for _ in range(50)]
    again = Clock(Fraction(1, 300))
    again.set_state(state)
    assert again.state() == state
    assert again.time == clock.time
    assert [again.steps_for(0.0017) for _ in range(50)] == first


def test_ten_hertz_on_a_step_of_a_200th_is_due_every_20_ticks_from_0() -> None:
    rate = Rate.of(Fraction(10), Fraction(1, 200))
    assert [tick for tick in range(61) if rate.is_due(tick)] == [0, 20, 40, 60]
    assert rate.next_due(0) == 20
    assert rate.next_due(19) == 20
    assert rate.count(60) == 3


def test_a_rate_that_fits_no_step_keeps_its_mean() -> None:
    rate = Rate.of(Fraction(30), Fraction(7, 1000))
    a_day = 86_400_000 // 7
    assert rate.count(a_day) == floor(a_day * Fraction(7, 1000) * 30)
    assert {later - tick for tick in range(1000) if (later := rate.next_due(tick)) and rate.is_due(tick)} == {
        4,
        5,
    }


@given(frequencies, steps, st.integers(0, 10**15))
def test_due_is_when_the_whole_part_of_time_times_rate_grows(frequency: Fraction, step: Fraction, tick: int) -> None:
    if frequency * step > 1:
        return
    rate = Rate.of(frequency, step)

    def whole(n: int) -> int:
        return floor(n * step * frequency)

    for n in range(tick, tick + 10):
        assert rate.is_due(n) == (whole(n) > whole(n - 1))
    assert rate.count(tick) == whole(tick)


@given(frequencies, steps, st.integers(-1, 5000))
def test_next_due_is_the_first_due_tick_after(frequency: Fraction, step: Fraction, tick: int) -> None:
    rate = Rate.of(frequency, step, faster_ok=True)
    later = rate.next_due(tick)
    assert later > tick
    assert rate.is_due(later)
    assert not any(rate.is_due(n) for n in range(max(tick + 1, later - 200), later))
    assert rate.count(later) == rate.count(tick) + 1
    assert rate.previous_due(later) == max(rate.last_due(tick), 0)
    assert rate.previous_due(0) == 0


def test_a_rate_faster_than_the_step_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(SkerryError, match="400 Hz is more than one event per step of 1/200 s, which allows 200 Hz"):
        Rate.of(Fraction(400), Fraction(1, 200))


def test_a_rate_that_may_be_faster_than_the_step_is_due_every_tick() -> None:
    rate = Rate.of(Fraction(400), Fraction(1, 200), faster_ok=True)
    assert all(rate.is_due(tick) for tick in range(10))
    assert rate.next_due(7) == 8
    assert rate.frequency == 400


def test_a_rate_of_exactly_one_a_step_is_allowed() -> None:
    assert Rate.of(Fraction(200), Fraction(1, 200)).next_due(3) == 4


@pytest.mark.parametrize("frequency", [Fraction(0), Fraction(-5)])
def test_a_frequency_is_above_zero(frequency: Fraction) -> None:
    with pytest.raises(SkerryError, match="above 0 Hz"):
        Rate.of(frequency, Fraction(1, 200))
