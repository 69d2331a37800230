"""Limits of a controller: depth, altitude, pitch, roll and dive time."""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees
from typing import Final

from pydantic import Field

from skerry.core.config import Config, NonNegative, Positive

SUBMERGED: Final = 0.5  # depth from which a vehicle counts as submerged, m


class LimitsConfig(Config):
    """Limits of a controller; no limits by default."""

    depth: Positive | None = Field(None, description="largest depth, m")
    altitude: NonNegative | None = Field(
        None, description="smallest altitude above the ground, m, if the altitude is measured"
    )
    pitch_deg: Positive | None = Field(None, description="largest pitch in both directions")
    roll_deg: Positive | None = Field(None, description="largest roll in both directions")
    dive_time: Positive | None = Field(
        None, description="largest uninterrupted time under water, s; after it the controller aborts"
    )


def clamp_setpoints(limits: LimitsConfig, setpoints: Mapping[str, float], column: float | None) -> dict[str, float]:
    """Return the setpoints, clamped to the limits.

    Args:
        limits: The limits.
        setpoints: Setpoints by name.
        column: Height of the water column, m, or None if it is unknown. It is the sum of depth and altitude, so the
            limit of the altitude also limits the depth, and the reverse.
    """
    found = dict(setpoints)
    if "depth" in found:
        found["depth"] = min([found["depth"], *_bounds(limits.depth, limits.altitude, column)])
    if "altitude" in found:
        found["altitude"] = max([found["altitude"], *_bounds(limits.altitude, limits.depth, column)])
    for name, largest in (("pitch_deg", limits.pitch_deg), ("roll_deg", limits.roll_deg)):
        if name in found and largest is not None:
            found[name] = min(max(found[name], -largest), largest)
    return found


def _bounds(own: float | None, other: float | None, column: float | None) -> list[float]:
    """Return the bounds of a depth or altitude: by its own limit, and by the limit of the other."""
    return [*([] if own is None else [own]), *([] if other is None or column is None else [column - other])]


def clamp_pitch(limits: LimitsConfig, pitch: float) -> float:
    """Return a pitch, clamped to the limit, rad."""
    if limits.pitch_deg is None or abs(degrees(pitch)) <= limits.pitch_deg:
        return pitch
    return pitch * limits.pitch_deg / abs(degrees(pitch))
