"""Simulated time as a whole number of steps of rational length, and rates that never drift against it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError


class Clock:
    """Counter of steps of rational length. All arithmetic is exact; only `time` is rounded, to the nearest float."""

    __slots__ = ("_carry", "_denominator", "_numerator", "_step", "tick", "time")

    def __init__(self, step: Fraction) -> None:
        if step <= 0:
            raise SkerryError(f"the step must be longer than 0 s (found {step}); a typical step is 1/200 s")
        self._step = step
        self._numerator, self._denominator = step.numerator, step.denominator
        self.tick = 0
        """Number of steps since the start."""
        self.time = 0.0
        """Time since the start, s: the float nearest to the exact time."""
        self._carry = Fraction(0)

    @property
    def step(self) -> Fraction:
        """Length of one step, s."""
        return self._step

    @property
    def exact_time(self) -> Fraction:
        """Exact time since the start, s."""
        return self.tick * self._step

    def time_of(self, tick: int) -> float:
        """Return the time of a tick, s."""
        return tick * self._numerator / self._denominator

    def steps_for(self, seconds: float) -> int:
        """Return the number of steps nearest to a duration. The remainder is carried over to the next call.

        The duration is read as its shortest decimal form: 0.0033 is exactly 33/10000, not the nearest binary number.

        Args:
            seconds: Duration, s; finite and at least 0.
        """
        if not (math.isfinite(seconds) and seconds >= 0):
            raise SkerryError(f"cannot advance by {seconds} s; the duration must be finite and at least 0 s")
        requested = self._carry + Fraction(repr(float(seconds)))
        steps = round(requested / self._step)
        self._carry = requested - steps * self._step
        return steps

    def advance(self, steps: int) -> None:
        """Move the time forward by a number of steps."""
        if steps < 0:
            raise SkerryError(f"cannot advance by {steps} steps; the number must be at least 0")
        self.tick += steps
        self.time = self.time_of(self.tick)

    def set_tick(self, tick: int) -> None:
        """Set the time to a tick."""
        self.tick, self.time = tick, self.time_of(tick)

    def state(self) -> bytes:
        """Return the tick and the carried remainder, exactly, as bytes for `set_state`."""
        return json.dumps([self.tick, self._carry.numerator, self._carry.denominator]).encode()

    def set_state(self, state: bytes) -> None:
        """Restore a state that `state` returned."""
        tick, numerator, denominator = json.loads(state)
        self.tick, self._carry = tick, Fraction(numerator, denominator)
        self.time = self.time_of(tick)


@dataclass(frozen=True, slots=True)
class Rate:
    """Schedule of a fixed frequency: an event is due at tick 0 and at each tick where ⌊time × frequency⌋ increases.

    Create it with `Rate.of`. `_numerator / _denominator` is frequency × step, at most 1.
    """

    frequency: Fraction
    _numerator: int
    _denominator: int

    @classmethod
    def of(cls, frequency: Fraction, step: Fraction, faster_ok: bool = False) -> Self:
        """Return the rate of a frequency.

        Args:
            frequency: Frequency, Hz; above 0.
            step: Length of a step, s.
            faster_ok: Accept a frequency above one per step; the event is then due at every tick.

        Raises:
            SkerryError: The frequency is above one per step, and `faster_ok` is False.
        """
        if frequency <= 0:
            raise SkerryError(f"the frequency must be above 0 Hz (found {frequency})")
        per_step = frequency * step
        if per_step > 1:
            if not faster_ok:
                raise SkerryError(
                    f"{frequency} Hz is more than one event per step of {step} s, which allows {1 / step} Hz; "
                    f"lower the frequency, or shorten the step to {1 / frequency} s"
                )
            per_step = Fraction(1)
        return cls(frequency, per_step.numerator, per_step.denominator)

    @property
    def ratio(self) -> tuple[int, int]:
        """Frequency × step as (numerator, denominator), for native code: due where tick × n mod d < n."""
        return self._numerator, self._denominator

    def is_due(self, tick: int) -> bool:
        """Return whether the event is due at a tick."""
        return tick * self._numerator % self._denominator < self._numerator

    def are_due(self, ticks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each tick whether the event is due there."""
        due: NDArray[np.bool_] = ticks * self._numerator % self._denominator < self._numerator
        return due

    def next_due(self, tick: int) -> int:
        """Return the first tick after this one at which the event is due."""
        return -(-(self.count(tick) + 1) * self._denominator // self._numerator)

    def last_due(self, tick: int) -> int:
        """Return the last tick, up to and including this one, at which the event is due."""
        return -(-self.count(tick) * self._denominator // self._numerator)

    def previous_due(self, tick: int) -> int:
        """Return the last tick before this one at which the event is due; 0 for tick 0."""
        return self.last_due(tick - 1) if tick > 0 else 0

    def count(self, tick: int) -> int:
        """Return how often the event was due up to and including this tick, without the one at tick 0."""
        return tick * self._numerator // self._denominator

    def counts(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return `count` for each of these ticks."""
        counts: NDArray[np.int64] = ticks * self._numerator // self._denominator
        return counts
