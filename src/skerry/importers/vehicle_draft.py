"""Draft of an imported vehicle: structure, parts with the sources of their numbers, and notes on guesses."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skerry.formats.urdf import Shape, UrdfRobot


@dataclass(frozen=True)
class PartDraft:
    """Functional part of vehicle.yaml."""

    group: str
    """Section of vehicle.yaml: `forces`, `actuators` or `sensors`."""
    name: str
    settings: dict[str, Any]
    reason: str = ""
    """Source and likely error of the numbers."""
    in_use: bool = True
    """False for a suggestion, which is written as a comment."""


@dataclass(frozen=True)
class BuoyantShape:
    """Volume that a link displaces according to the file; it may be less than the volume of its shape."""

    shape: Shape
    volume: float
    """Displaced volume, m³."""
    centre: tuple[float, float, float]
    """Centre of the volume in the link's frame, m."""


@dataclass
class VehicleDraft:
    """Robot, functional parts and notes of an import."""

    robot: UrdfRobot
    parts: list[PartDraft] = field(default_factory=list)
    floats: dict[str, BuoyantShape] | None = None
    """Buoyant shapes by link; None if buoyancy is measured from all shapes."""
    notes: list[str] = field(default_factory=list)
    """Guesses, changes and omissions, as text for the user."""


def round_digits(value: float, digits: int = 4) -> float:
    """Return a number rounded to significant digits."""
    return float(f"{float(value):.{digits}g}")


def round_decimals(value: float) -> float:
    """Return a length in m or an angle in degrees rounded to four decimals; -0.0 becomes 0.0."""
    return round(float(value), 4) + 0.0
