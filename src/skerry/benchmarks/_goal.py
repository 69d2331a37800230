"""Goal of a figure: an upper or lower bound, absolute or relative to another figure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """Upper bound, or lower bound if `at_least`; with `times`, multiplied by another figure of the same run."""

    bound: float
    at_least: bool = False
    times: str = ""

    def is_reached(self, value: float, values: Mapping[str, float]) -> bool:
        """Return whether a value is within the bound."""
        bound = self.bound * (values[self.times] if self.times else 1.0)
        return value >= bound if self.at_least else value <= bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}" + (f" × {self.times}" if self.times else "")
