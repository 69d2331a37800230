"""Weight and centre of mass of a body with one or more sets of force points; no weight is counted twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.parts.law import Law, PointSet

ROUNDING = 1e-9  # relative difference up to which the mass of the points equals that of the body


def center_of_points(sets: Sequence[PointSet]) -> NDArray[np.float64] | None:
    """Return the mean of the points of all sets that move the centre of mass, (3,); None without such a set."""
    moving = [points.points for points in sets if points.moves_center]
    return np.concatenate(moving).mean(axis=0) if moving else None


def carried_mass(sets: Sequence[PointSet], mass: float) -> float:
    """Return the mass whose weight the points carry instead of the body, kg; at most the `mass` of the body."""
    carrying = [points for points in sets if points.carries_weight]
    given = sum(points.mass or 0.0 for points in carrying)
    if any(points.mass is None for points in carrying) or abs(given - mass) <= ROUNDING * mass:
        return mass
    return given


def share_weight(acting: Sequence[Law], mass: float, place: str) -> None:
    """Write the mass that each force point of a body carries into the constants of its laws.

    Sets with a mass carry that mass. The other sets share the rest, with the same mass for each of their points.

    Args:
        acting: Laws on the body.
        mass: Mass of the body, kg.
        place: Name of the body, for the message.

    Raises:
        SkerryError: The points would carry more than the mass of the body.
    """
    sets = [(law, law.point_set) for law in acting if law.point_set is not None and law.point_set.carries_weight]
    given = sum(points.mass or 0.0 for _, points in sets)
    if given > mass * (1.0 + ROUNDING):
        raise SkerryError(
            f"{place} has a mass of {mass:g} kg, but its force points with `gravity` carry {given:g} kg, so that its "
            f"weight would be counted {given / mass:.3g} times; give them at most {mass:g} kg in sum as `mass`, or "
            "correct the <inertial> of the link"
        )
    resting = sum(len(points.points) for _, points in sets if points.mass is None)
    for law, points in sets:
        each = (mass - given) / resting if points.mass is None else points.mass / len(points.points)
        law.constants[points.mass_index] = max(each, 0.0)
