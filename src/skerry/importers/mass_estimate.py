"""Masses for moving bodies without one: that of their shape filled with sea water, or a gram without a shape."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.formats.urdf import Inertial, UrdfRobot
from skerry.importers.hydrodynamics import SEA_WATER
from skerry.importers.solids import Solid
from skerry.importers.vehicle_draft import round_digits
from skerry.physics.tree import Body, carriers

MIN_MASS = 1e-3
"""Mass of a body without a shape, kg."""
MIN_INERTIA = 1e-6
"""Moment of inertia that is added to every estimate, kg m²: that of a ball of a gram and 5 cm."""


def add_missing_masses(robot: UrdfRobot, solids: dict[str, Solid], notes: list[str]) -> UrdfRobot:
    """Return the robot with an estimated inertial for each moving body that has none.

    Args:
        robot: Robot of the file.
        solids: Measured solids by the link that carries them.
        notes: List to which a note is added for each estimate.
    """
    owners = carriers(Body(robot.name, robot, Pose.identity()))
    links = dict(robot.links)
    for carrier in dict.fromkeys(owner for owner, _ in owners.values()):
        members = [link for link, (owner, _) in owners.items() if owner == carrier]
        if any(robot.links[link].inertial is not None for link in members):
            continue
        inertial = _estimate_inertial(solids.get(carrier))
        source = "that of its shape filled with sea water" if carrier in solids else "because it has no shape"
        notes.append(
            f"{carrier} moves but has no <inertial>: its mass is set to {inertial.mass:g} kg, {source} [guess]"
        )
        links[carrier] = replace(links[carrier], inertial=inertial)
    return replace(robot, links=links)


def _estimate_inertial(solid: Solid | None) -> Inertial:
    mass = MIN_MASS
    centre: NDArray[np.float64] = np.zeros(3)
    spread: NDArray[np.float64] = np.zeros((3, 3))
    if solid is not None:
        mass, centre, spread = max(SEA_WATER * solid.volume, MIN_MASS), solid.centre, solid.covariance
    inertia = mass * (np.trace(spread) * np.eye(3) - spread) + MIN_INERTIA * np.eye(3)
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = ([round_digits(value, 6) for value in row] for row in inertia)
    x, y, z = (round_digits(value) for value in centre)
    return Inertial(round_digits(mass), (x, y, z), (0.0, 0.0, 0.0), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
