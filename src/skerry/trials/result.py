"""What a trial gives: figures, how they compare with the IMO's standards, and charts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skerry.formats.chart import Chart
from skerry.trials.criteria import Criterion


@dataclass(frozen=True)
class Result:
    """Figures by name, with their unit in it; those of no unit are lengths of the vehicle, ratios or counts."""

    manoeuvre: str
    vehicle: str
    length: float  # m
    figures: dict[str, float]
    criteria: list[Criterion] = field(default_factory=list)
    charts: list[Chart] = field(default_factory=list)
    curves: dict[str, list[float]] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
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
