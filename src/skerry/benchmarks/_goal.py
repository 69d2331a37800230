"""A goal: a bound on a figure, or on its ratio to another one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """At most or at least a number; with `times`, that number times another figure of the same run."""

    bound: float
    at_least: bool = False
    times: str = ""

    def is_reached(self, value: float, values: Mapping[str, float]) -> bool:
        """Whether a value is within the bound."""
        bound = self.bound * (values[self.times] if self.times else 1.0)
        return value >= bound if self.at_least else value <= bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}" + (f" × {self.times}" if self.times else "")
