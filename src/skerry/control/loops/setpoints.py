"""Setpoints that an external interface enables one by one, or repeats for as long as they shall hold.

These are the two modes of the SMaRC AUV interface. An enabled setpoint waits for its value and holds until it is
disabled. A repeated setpoint holds as long as messages with its value keep arriving.
"""

from __future__ import annotations

from typing import Any


class Setpoints:
    """Enabled and repeated setpoints. Durations are counted in calls of the controller's `act`."""

    def __init__(self) -> None:
        self.enabled: dict[str, float | None] = {}
        """Enabled setpoints by name; the value is None until it is set."""
        self._repeated: dict[str, tuple[float, int]] = {}  # value, and number of acts for which it still holds

    @property
    def names(self) -> set[str]:
        """Names of all enabled and repeated setpoints."""
        return {*self.enabled, *self._repeated}

    @property
    def setpoints(self) -> dict[str, float]:
        """Setpoints that have a value now."""
        repeated = {name: value for name, (value, _) in self._repeated.items()}
        return repeated | {name: value for name, value in self.enabled.items() if value is not None}

    @property
    def is_empty(self) -> bool:
        """Whether no setpoint has a value now. It is read at every stop of the world, so it must be fast."""
        return not self._repeated and (not self.enabled or not self.setpoints)

    @property
    def reserved(self) -> dict[str, float]:
        """All enabled and repeated setpoints; the value is 0 if it is not set yet."""
        return dict.fromkeys(self.names, 0.0) | self.setpoints

    def repeat(self, name: str, value: float, acts: int) -> None:
        """Hold a setpoint for a number of acts."""
        self._repeated[name] = (value, acts)

    def count_down(self) -> None:
        """Remove the repeated setpoints whose time is over, and count one act for the others."""
        self._repeated = {name: (value, left - 1) for name, (value, left) in self._repeated.items() if left > 0}

    def drop(self, name: str) -> None:
        """Remove a setpoint."""
        self.enabled.pop(name, None)
        self._repeated.pop(name, None)

    def clear(self) -> None:
        """Remove all setpoints."""
        self.enabled.clear()
        self._repeated.clear()

    def state(self) -> list[Any]:
        """Return the state for a snapshot."""
        return [self.enabled, self._repeated]

    def set_state(self, state: list[Any]) -> None:
        self.enabled, repeated = state
        self._repeated = {name: (value, left) for name, (value, left) in repeated.items()}
