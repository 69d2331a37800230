"""A helm: set-points that somebody outside switches on and off one by one, or repeats for as long as they are to hold.

These are the two ways of the SMaRC AUV interface: a controller that is switched on waits for its set-point and holds it
until it is switched off; one that is told its set-point over and over holds it while it is told.
"""

from __future__ import annotations

from typing import Any


class Setpoints:
    """What is switched on, and what is repeated; times are counted in acts of the controller."""

    def __init__(self) -> None:
        self.enabled: dict[str, float | None] = {}
        """What is switched on, with its set-point; None as long as there is none."""
        self._repeated: dict[str, tuple[float, int]] = {}  # set-point, and acts that it still holds for

    @property
    def names(self) -> set[str]:
        """Of all set-points that are spoken for."""
        return {*self.enabled, *self._repeated}

    @property
    def setpoints(self) -> dict[str, float]:
        """Those that are to be held now."""
        repeated = {name: value for name, (value, _) in self._repeated.items()}
        return repeated | {name: value for name, value in self.enabled.items() if value is not None}

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be held now; asked at every stop of the world."""
        return not self._repeated and (not self.enabled or not self.setpoints)

    @property
    def reserved(self) -> dict[str, float]:
        """All that are spoken for; zero stands for those that wait for a value."""
        return dict.fromkeys(self.names, 0.0) | self.setpoints

    def repeat(self, name: str, value: float, acts: int) -> None:
        """Hold a set-point for so many acts."""
        self._repeated[name] = (value, acts)

    def count_down(self) -> None:
        """Let go of what was not repeated in time."""
        self._repeated = {name: (value, left - 1) for name, (value, left) in self._repeated.items() if left > 0}

    def drop(self, name: str) -> None:
        """Hold this no longer."""
        self.enabled.pop(name, None)
        self._repeated.pop(name, None)

    def clear(self) -> None:
        """Hold nothing."""
        self.enabled.clear()
        self._repeated.clear()

    def state(self) -> list[Any]:
        """All that it remembers."""
        return [self.enabled, self._repeated]

    def set_state(self, state: list[Any]) -> None:
        self.enabled, repeated = state
        self._repeated = {name: (value, left) for name, (value, left) in repeated.items()}
