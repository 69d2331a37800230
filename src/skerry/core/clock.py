"""Time as a whole number of steps of a rational length, and rates that are due on it without drift."""

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
    """How many steps have been made, and how long that is; nothing here is ever rounded but what is shown."""

    __slots__ = ("_carry", "_denominator", "_numerator", "_step", "tick", "time")

    def __init__(self, step: Fraction) -> None:
        if step <= 0:
            raise SkerryError(f"the step must be longer than 0 s (found {step}); 1/200 is a usual one")
        self._step = step
        self._numerator, self._denominator = step.numerator, step.denominator
        self.tick = 0
        """The number of steps made so far."""
        self.time = 0.0
        """The time since the start, s: the float nearest to the exact time."""
        self._carry = Fraction(0)

    @property
    def step(self) -> Fraction:
        """The length of one step, s."""
        return self._step

    @property
    def exact_time(self) -> Fraction:
        """The time since the start, s."""
        return self.tick * self._step

    def time_of(self, tick: int) -> float:
        """The time of a tick, s."""
        return tick * self._numerator / self._denominator

    def steps_for(self, seconds: float) -> int:
        """The steps nearest to a span of time; what is left over or borrowed counts towards the next call.

        The span is taken as it is written: 0.0033 is 33/10000, not the binary number beside it.
        """
        if not (math.isfinite(seconds) and seconds >= 0):
            raise SkerryError(f"cannot advance by {seconds} s; give a finite span of 0 s or more")
        wanted = self._carry + Fraction(repr(float(seconds)))
        steps = round(wanted / self._step)
        self._carry = wanted - steps * self._step
        return steps

    def advance(self, steps: int) -> None:
        """Count steps that were made."""
        if steps < 0:
            raise SkerryError(f"time does not run backwards (found {steps} steps)")
        self.tick += steps
        self.time = self.time_of(self.tick)

    def set_tick(self, tick: int) -> None:
        """Be at that tick, whatever has been advanced."""
        self.tick, self.time = tick, self.time_of(tick)

    def state(self) -> bytes:
        """The tick and the carried remainder, exactly."""
        return json.dumps([self.tick, self._carry.numerator, self._carry.denominator]).encode()

    def set_state(self, state: bytes) -> None:
        """Go to a state that `state` gave."""
        tick, numerator, denominator = json.loads(state)
        self.tick, self._carry = tick, Fraction(numerator, denominator)
        self.time = self.time_of(tick)


@dataclass(frozen=True, slots=True)
class Rate:
    """When a thing of some frequency is due: at every tick where the whole part of time × frequency grows.

    The first time is tick 0. Make one with `Rate.of`; `_numerator / _ticks` is frequency × step, at most 1.
    """

    frequency: Fraction
    _numerator: int
    _ticks: int

    @classmethod
    def of(cls, frequency: Fraction, step: Fraction, faster_ok: bool = False) -> Self:
        """The rate of a frequency in Hz; where one may be faster than the step, it is due at every tick."""
        if frequency <= 0:
            raise SkerryError(f"a frequency must be above 0 Hz (found {frequency})")
        per_step = frequency * step
        if per_step > 1:
            if not faster_ok:
                raise SkerryError(
                    f"{frequency} Hz is faster than the step of {step} s, which allows {1 / step} Hz; "
                    f"lower the frequency, or shorten the step to {1 / frequency} s"
                )
            per_step = Fraction(1)
        return cls(frequency, per_step.numerator, per_step.denominator)

    @property
    def ratio(self) -> tuple[int, int]:
        """For native code: it is due where tick × the first mod the second is less than the first."""
        return self._numerator, self._ticks

    def is_due(self, tick: int) -> bool:
        """Whether it is due at this tick."""
        return tick * self._numerator % self._ticks < self._numerator

    def are_due(self, ticks: NDArray[np.int64]) -> NDArray[np.bool_]:
        """At which of these ticks it is due."""
        due: NDArray[np.bool_] = ticks * self._numerator % self._ticks < self._numerator
        return due

    def next_due(self, tick: int) -> int:
        """The first tick after this one at which it is due."""
        return -(-(self.count(tick) + 1) * self._ticks // self._numerator)

    def count(self, tick: int) -> int:
        """How often it was due up to and with this tick, the one at tick 0 not counted."""
        return tick * self._numerator // self._ticks

    def counts(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same, up to and with each of these ticks."""
        counts: NDArray[np.int64] = ticks * self._numerator // self._ticks
        return counts
