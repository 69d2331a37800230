"""A vehicle as an importer drafts it: structure, parts with their reasons, and notes on what was guessed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skerry.formats.urdf import Shape, UrdfRobot


@dataclass(frozen=True)
class Part:
    """A functional part of vehicle.yaml; one that is not in use is written as a comment."""

    group: str  # forces, actuators or sensors
    name: str
    settings: dict[str, Any]
    reason: str = ""  # where its numbers come from, and how far they may be off
    in_use: bool = True


@dataclass(frozen=True)
class Float:
    """What a link displaces, where a file says so; it may be less than its shape encloses."""

    shape: Shape
    volume: float  # m³
    centre: tuple[float, float, float]  # of the volume, in the link's frame, m


@dataclass
class Draft:
    """A robot and what was found out about it."""

    robot: UrdfRobot
    parts: list[Part] = field(default_factory=list)
    floats: dict[str, Float] | None = None  # by link; None if buoyancy is to be measured from all shapes
    notes: list[str] = field(default_factory=list)  # what was guessed, changed or left out, for people to read


def rounded(value: float, digits: int = 4) -> float:
    """A number as an estimate is worth writing."""
    return float(f"{float(value):.{digits}g}")


def tidy(value: float) -> float:
    """A length or an angle in degrees to a tenth of a millimetre or of a millidegree, without a minus on 0."""
    return round(float(value), 4) + 0.0
