"""Result of a trial: figures, comparison with the IMO criteria, and charts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skerry.formats.chart import Chart
from skerry.trials.criteria import Criterion


@dataclass(frozen=True)
class Result:
    """Figures by name; a name includes its unit, otherwise the figure is in vehicle lengths, a ratio or a count."""

    manoeuvre: str
    vehicle: str
    length: float  # m
    figures: dict[str, float]
    criteria: list[Criterion] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the result as data for JSON."""
        return {
            "manoeuvre": self.manoeuvre,
            "vehicle": self.vehicle,
            "length_m": self.length,
            "figures": self.figures,
            "imo": [
                {"name": each.name, "value": each.value, "limit": each.limit, "met": each.is_met}
                for each in self.criteria
            ],
            "curves": self.curves,
        }
