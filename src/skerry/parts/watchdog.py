"""Watchdog over commands from external interfaces: after a silence the actuator is set to its reset value.

Commands from the API, keys and controllers have other rules. Such a command stops the watchdog until the next message
from an external interface.
"""

from __future__ import annotations

import json
from fractions import Fraction

from skerry.core.clock import Clock


class Watchdog:
    """Watchdog of one actuator, on simulation time."""

    def __init__(self, expected_frequency: Fraction | None) -> None:
        self.expected_frequency = expected_frequency
        self.received_first_message = False
        self._clock: Clock | None = None
        self.is_active = False
        """Whether the next message is expected within the period."""
        self._last = 0  # tick of the last message
        self._resetting = False

    def bind(self, clock: Clock) -> None:
        """Set the world's clock."""
        self._clock = clock

    def on_message(self) -> None:
        """Restart the timeout: a message from an external interface arrived now."""
        assert self._clock is not None
        self.received_first_message = True
        self._last = self._clock.tick
        self.is_active = True
        self._resetting = False

    def release(self) -> None:
        """Stop the watchdog until the next message."""
        self.is_active = False
        self._resetting = False

    def deadline(self) -> int | None:
        """Return the first tick after the timeout; None if no message is expected."""
        if self._clock is None or not self.is_active or self.expected_frequency is None or self._resetting:
            return None
        period = 1 / (self.expected_frequency * self._clock.step)
        return self._last + period.__floor__() + 1

    def check_timeout(self) -> bool:
        """Return whether the timeout has just expired; true only once per silence."""
        if not self.is_active:
            return False
        deadline = self.deadline()
        assert self._clock is not None
        self._resetting = self._resetting or (deadline is not None and self._clock.tick >= deadline)
        return deadline is not None and self._resetting

    @property
    def resetting(self) -> bool:
        """Whether the actuator was reset after a timeout and no message has arrived since."""
        return self._resetting

    @property
    def received_frequency(self) -> float:
        """Inverse of the time since the last message, Hz; 0 before the first message, infinite at its tick."""
        if self._clock is None or not self.is_active:
            return 0.0
        elapsed = (self._clock.tick - self._last) * float(self._clock.step)
        return 1.0 / elapsed if elapsed > 0 else float("inf")

    def state(self) -> bytes:
        return json.dumps([self.received_first_message, self.is_active, self._last, self._resetting]).encode()

    def set_state(self, state: bytes) -> None:
        self.received_first_message, self.is_active, self._last, self._resetting = json.loads(state)
