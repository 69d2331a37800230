"""Limits that a controller keeps to, whatever it is asked for: depth, altitude, pitch, roll and the time of a dive."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees
from typing import Final

from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive

SUBMERGED: Final = 0.5  # m; a pressure sensor deeper than this is not on a vehicle that floats


class LimitsConfig(Config):
    """What a controller keeps to; none by default."""

    depth: Positive | None = Field(None, description="m; it goes no deeper")
    altitude: NonNegative | None = Field(None, description="m above the ground, where that is measured; no lower")
    pitch_deg: Positive | None = Field(None, description="either way")
    roll_deg: Positive | None = Field(None, description="either way")
    dive_time: Positive | None = Field(None, description="s under water without a break; then it aborts")


def keep_within(limits: LimitsConfig, setpoints: Mapping[str, float], column: float | None) -> dict[str, float]:
    """The set-points, as far as the limits allow them.

    Depth and altitude bound each other by the height of the water column, which is their sum, as far as it is known.
    """
    found = dict(setpoints)
    if "depth" in found:
        found["depth"] = min([found["depth"], *_bounds(limits.depth, limits.altitude, column)])
    if "altitude" in found:
        found["altitude"] = max([found["altitude"], *_bounds(limits.altitude, limits.depth, column)])
    for name, most in (("pitch_deg", limits.pitch_deg), ("roll_deg", limits.roll_deg)):
        if name in found and most is not None:
            found[name] = min(max(found[name], -most), most)
    return found


def _bounds(own: float | None, other: float | None, column: float | None) -> list[float]:
    """Of a depth or an altitude, by its own limit and by the other's."""
    return [*([] if own is None else [own]), *([] if other is None or column is None else [column - other])]


def pitch_within(limits: LimitsConfig, pitch: float) -> float:
    """A pitch, rad, as far as the limits allow it."""
    if limits.pitch_deg is None or abs(degrees(pitch)) <= limits.pitch_deg:
        return pitch
    return pitch * limits.pitch_deg / abs(degrees(pitch))
