"""A watchdog over commands that come from outside: silence sends an actuator back to its reset value.

It knows nothing of commands from the API, of keys or of controllers, which have their own rules; a command of theirs
takes over and ends the watch until the next message from outside.
"""

from __future__ import annotations

import json
from fractions import Fraction

from skerry.core.clock import Clock


class Watchdog:
    """Watches one actuator, on the simulation's clock."""

    def __init__(self, expected_frequency: Fraction | None) -> None:
        self.expected_frequency = expected_frequency
        self.received_first_message = False
        self._clock: Clock | None = None
        self.waits = False
        """Whether a message from outside is awaited."""
        self._last = 0  # the tick of the last message
        self._resetting = False

    def bind(self, clock: Clock) -> None:
        """Take the world's clock."""
        self._clock = clock

    def message(self) -> None:
        """A message has come from outside, now."""
        assert self._clock is not None
        self.received_first_message = True
        self._last = self._clock.tick
        self.waits = True
        self._resetting = False

    def release(self) -> None:
        """Somebody inside commands now."""
        self.waits = False
        self._resetting = False

    def deadline(self) -> int | None:
        """The first tick at which the silence has lasted too long; None if nothing is awaited."""
        if self._clock is None or not self.waits or self.expected_frequency is None or self._resetting:
            return None
        period = 1 / (self.expected_frequency * self._clock.step)
        return self._last + period.__floor__() + 1

    def bites(self) -> bool:
        """Whether the silence has lasted too long just now; says so once."""
        if not self.waits:
            return False
        deadline = self.deadline()
        assert self._clock is not None
        self._resetting = self._resetting or (deadline is not None and self._clock.tick >= deadline)
        return deadline is not None and self._resetting

    @property
    def resetting(self) -> bool:
        """Whether the actuator was sent back for silence, and no message has come since."""
        return self._resetting

    @property
    def received_frequency(self) -> float:
        """One over the time since the last message, Hz; 0 before the first, infinite at its instant."""
        if self._clock is None or not self.waits:
            return 0.0
        waited = (self._clock.tick - self._last) * float(self._clock.step)
        return 1.0 / waited if waited > 0 else float("inf")

    def state(self) -> bytes:
        return json.dumps([self.received_first_message, self.waits, self._last, self._resetting]).encode()

    def set_state(self, state: bytes) -> None:
        self.received_first_message, self.waits, self._last, self._resetting = json.loads(state)
