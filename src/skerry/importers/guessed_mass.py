"""Mass for bodies that move but are given none: a solid of sea water, or a gram where there is no shape either."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.formats.urdf import Inertial, UrdfRobot
from skerry.importers.draft import rounded
from skerry.importers.hydrodynamics import SEA_WATER
from skerry.importers.solids import Solid
from skerry.physics.tree import Body, carriers

LEAST_MASS = 1e-3  # kg, of a body without any shape
LEAST_INERTIA = 1e-6  # kg m²; a ball of a gram and 5 cm


def with_guessed_mass(robot: UrdfRobot, solids: dict[str, Solid], notes: list[str]) -> UrdfRobot:
    """The robot, with an inertial on every link that carries a body without mass."""
    places = carriers(Body(robot.name, robot, Pose.identity()))
    links = dict(robot.links)
    for carrier in dict.fromkeys(owner for owner, _ in places.values()):
        members = [link for link, (owner, _) in places.items() if owner == carrier]
        if any(robot.links[link].inertial is not None for link in members):
            continue
        inertial = _of_shape(solids.get(carrier))
        how = "of its shape, filled with sea water" if carrier in solids else "since it has no shape either"
        notes.append(f"{carrier} moves but has no <inertial>: given {inertial.mass:g} kg, {how} [guess]")
        links[carrier] = replace(links[carrier], inertial=inertial)
    return replace(robot, links=links)


def _of_shape(solid: Solid | None) -> Inertial:
    mass = LEAST_MASS
    centre: NDArray[np.float64] = np.zeros(3)
    spread: NDArray[np.float64] = np.zeros((3, 3))
    if solid is not None:
        mass, centre, spread = max(SEA_WATER * solid.volume, LEAST_MASS), solid.centre, solid.covariance
    inertia = mass * (np.trace(spread) * np.eye(3) - spread) + LEAST_INERTIA * np.eye(3)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = ([rounded(value, 6) for value in row] for row in inertia)
    x, y, z = (rounded(value) for value in centre)
    return Inertial(rounded(mass), (x, y, z), (0.0, 0.0, 0.0), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
