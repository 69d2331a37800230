"""IMO criteria for ships: MSC.137(76), Standards for Ship Manoeuvrability (2002), section 5.3.

They are for ships of 100 m and more; of smaller craft they say how they compare, no more.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Criterion:
    """Figure with its upper limit."""

    name: str
    value: float
    limit: float

    @property
    def is_met(self) -> bool:
        """Whether the figure is within its limit."""
        return self.value <= self.limit


def of_turning(advance: float, tactical_diameter: float, length: float) -> list[Criterion]:
    """Paragraph 5.3.1: advance at most 4.5 and tactical diameter at most 5 ship lengths."""
    return [
        Criterion("advance, lengths", advance / length, 4.5),
        Criterion("tactical diameter, lengths", tactical_diameter / length, 5.0),
    ]


def of_initial_turning(travelled: float, length: float) -> Criterion:
    """Paragraph 5.3.2: with 10° of helm at most 2.5 ship lengths until the heading has changed by 10°."""
    return Criterion("track at 10° of heading, lengths", travelled / length, 2.5)


def of_zigzag(angle_deg: float, overshoots: list[float], length: float, speed: float) -> list[Criterion]:
    """Paragraph 5.3.3, limits by L/V in s; of the tests 10°/10° and 20°/20°."""
    seconds = length / speed
    if angle_deg == 20.0:
        return [Criterion("first overshoot of 20°/20°, °", overshoots[0], 25.0)]
    if angle_deg != 10.0:
        return []
    first = min(max(5.0 + 0.5 * seconds, 10.0), 20.0)
    second = min(max(17.5 + 0.75 * seconds, 25.0), 40.0)
    return [
        Criterion("first overshoot of 10°/10°, °", overshoots[0], first),
        Criterion("second overshoot of 10°/10°, °", overshoots[1], second),
    ]


def of_stopping(track_reach: float, length: float) -> list[Criterion]:
    """Paragraph 5.3.4: full astern, at most 15 ship lengths of track. No exception for heavy ships."""
    return [Criterion("track reach, lengths", track_reach / length, 15.0)]
