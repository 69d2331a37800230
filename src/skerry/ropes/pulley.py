"""Pulley in the public API: the two sides of a rope that runs over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skerry.ropes import layout as at

Pair = tuple[float, float]


@dataclass(frozen=True)
class Pulley:
    """Both sides of a rope over a pulley: that of load one, at its start, and that of load two, at its end.

    The rope runs to the side with the larger tension: m ṡ = T₁ − T₂ − c s, with the inertia m of the pulley over its
    radius squared, and its drag c. A side never gets longer than its limit, except by its stretch.
    """

    limits: Pair  # rope on either side, m; their sum is the length of the rope
    distances: Pair  # distances of the loads from the pulley, m
    tensions: Pair  # tensions next to the pulley, N
    speed: float  # speed of the rope towards load one, m/s

    @property
    def taut(self) -> tuple[bool, bool]:
        """Whether each side is tense; otherwise it is slack."""
        return self.tensions[0] > 0.0, self.tensions[1] > 0.0

    @property
    def limit_sum(self) -> float:
        """Sum of both limits, m: the length of the rope."""
        return sum(self.limits)

    @classmethod
    def of(cls, one: NDArray[np.float64], two: NDArray[np.float64]) -> Pulley:
        """Return the present state of a pulley from the states of its two sides."""
        limits, distances, tensions = zip(*(_side(row) for row in (one, two)), strict=True)
        return cls(limits, distances, tensions, float(one[at.PAYOUT_SPEED]))


def _side(row: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the length at rest, the distance of the load from the pulley, and the tension next to it."""
    capacity, count = (row.size - at.NODES) // at.PER_NODE, int(row[at.COUNT])
    nodes = row[at.NODES :]
    distance = np.linalg.norm(nodes[3 * (count - 1) : 3 * count] - nodes[:3])
    rest, tension = nodes[6 * capacity : 6 * capacity + count - 1], nodes[7 * capacity : 7 * capacity + count - 1]
    return float(rest.sum()), float(distance), float(tension[-1])
