"""Estimates of buoyancy, added mass and drag from the shapes of a vehicle, each with its likely error."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skerry.core.frames import Pose, matrix_to_quaternion, quaternion_to_rpy, rpy_to_quaternion
from skerry.formats.urdf import UrdfRobot, joint_order
from skerry.importers.solids import Floats, Solid
from skerry.importers.vehicle_draft import PartDraft, round_decimals, round_digits
from skerry.physics.shapes import SlenderHull

SEA_WATER = 1025.0
"""Density of sea water, kg/m³; the default of a scenario."""
MIN_VOLUME_SHARE = 0.002
"""Share of the robot's volume below which a body gets no hydrodynamic forces."""
NEARLY_NEUTRAL = (0.6, 1.6)
"""Range of displaced mass over own mass in which a vehicle is assumed to be neutrally buoyant: shapes are inexact."""
MAX_SHIFT = 0.25
"""Largest shift of the buoyancy to trim a hull, as a share of its length or breadth."""
MIN_STABILITY = 0.01
"""Smallest height of the buoyancy above the weight that keeps a hull upright, as a share of its height."""
SLENDER = 4.0
"""Length over breadth from which a hull counts as slender; strip theory then has an error of about 10 % across."""
BLUFF_DRAG = 1.0
"""Drag coefficient on the frontal area.

Square rods along the flow have 1.15 at a length of one side, 0.87 at 2 and 0.95 at 5, a square plate 1.16
(DNVGL-RP-N103, 2017, table B-2); a cube has 1.05, a disc 1.17, a ball 0.5 (Hoerner 1965, ch. 3).
"""
ROLL_DECAY = 1.0
"""Decay rate of the roll of a slender hull, 1/s; a guess, because fins and attachments determine it."""


@dataclass(frozen=True)
class Trim:
    """Correction of the measured buoyancy."""

    scale: float = 1.0
    """Factor on all volumes."""
    shift: tuple[float, float] = (0.0, 0.0)
    """Shift of the root's force points along x and y, m."""
    reason: str = "as measured"


def suggest_hydrodynamics(
    robot: UrdfRobot,
    solids: dict[str, Solid],
    notes: list[str],
    neutral: bool = False,
    floats: dict[str, Solid] | None = None,
) -> list[PartDraft]:
    """Return buoyancy, added mass and damping for each body that is not too small.

    Args:
        robot: Robot with masses.
        solids: Solids that the water flows around, by link.
        notes: List to which a note is added for each guess.
        neutral: Whether to make the vehicle neutrally buoyant, whatever its shapes displace.
        floats: Solids that displace water, by link, if the file distinguishes them from `solids`.
    """
    total = sum(solid.volume for solid in (solids | (floats or {})).values())
    if not total:
        notes.append("no link has a shape with a volume: the vehicle gets no buoyancy, added mass or drag")
        return []
    wet = {carrier: solid for carrier, solid in solids.items() if solid.volume >= MIN_VOLUME_SHARE * total}
    afloat = wet if floats is None else floats
    notes += [
        f"{carrier}: its volume of {1000 * solid.volume:.3g} litres is too small; it gets no hydrodynamic forces"
        for carrier, solid in solids.items()
        if carrier not in wet
    ]
    trim = _trim(robot, afloat, notes, neutral, floats is not None)
    parts: list[PartDraft] = []
    for carrier in robot.links:
        prefix = "" if carrier == robot.root else f"{carrier.removesuffix('_link')}_"
        if carrier in afloat:
            own = trim if carrier == robot.root else replace(trim, shift=(0, 0))
            parts.append(_buoyancy(f"{prefix}buoyancy", carrier, afloat[carrier], own))
        if carrier in wet:
            parts += [
                _added_mass(f"{prefix}added_mass", carrier, wet[carrier], trim.scale if neutral else 1.0),
                _damping(f"{prefix}damping", carrier, wet[carrier], robot),
            ]
    notes.append("buoyancy, added mass and drag are estimated from shapes: vehicle.yaml gives the likely error of each")
    return parts


def _trim(robot: UrdfRobot, solids: dict[str, Solid], notes: list[str], neutral: bool, is_given: bool) -> Trim:
    mass, weight_at = _centre_of_mass(robot)
    volume = sum(solid.volume for solid in solids.values())
    displaced = SEA_WATER * volume
    ratio = displaced / mass
    what = "the file gives it a displacement of" if is_given else "its shapes displace"
    balance = f"{what} {displaced:.4g} kg of sea water and its mass is {mass:.4g} kg"
    if not volume:
        notes.append("no part of the file is buoyant: it sinks")
        return Trim()
    if is_given and not neutral:
        notes.append(f"{balance}: it {'floats' if ratio > 1.0 else 'sinks'}")
        return Trim()
    if not (neutral or NEARLY_NEUTRAL[0] <= ratio <= NEARLY_NEUTRAL[1]):
        if ratio > 1.0:
            hint = "if it should be neutrally buoyant, import it with --neutral"
            notes.append(f"{balance}: it floats with about {100 / ratio:.0f} % of its volume under water; {hint}")
        else:
            notes.append(f"{balance}: it sinks; if it should not, add shapes for its hull, or import it with --neutral")
        return Trim()
    poses = _link_poses(robot)
    centres = [poses[name].transform(solid.centre) for name, solid in solids.items()]
    lift_at = np.average(centres, axis=0, weights=[solid.volume for solid in solids.values()])
    why = "neutral buoyancy is requested" if neutral else "it is assumed to be neutrally buoyant"
    notes.append(f"{balance}: {why}, so all volumes are scaled by {1 / ratio:.4g} [guess]")
    reason = f"scaled by {1 / ratio:.4g} for neutral buoyancy in {SEA_WATER:.0f} kg/m³ [guess]"
    shift = np.zeros(2)
    if robot.root in solids:
        shift = (weight_at - lift_at)[:2] * volume / solids[robot.root].volume
        if (np.abs(shift) > MAX_SHIFT * solids[robot.root].size[:2]).any():
            notes.append("its weight is too far from the centre of its shapes to be trimmed: it will not float level")
            shift = np.zeros(2)
        elif np.abs(shift).max() > 1e-4:
            x, y = shift
            notes.append(
                f"its buoyancy is moved by ({x:.3g}, {y:.3g}) m to above its weight, so that it floats level [guess]"
            )
            reason += f"; moved by ({x:.3g}, {y:.3g}) m so that it floats level [guess]"
    height = max(float(solid.size[2]) for solid in solids.values())
    if lift_at[2] - weight_at[2] < MIN_STABILITY * height:
        notes.append("its weight is not clearly below its buoyancy, so it may capsize; lower its centre of mass")
    return Trim(1 / ratio, (float(shift[0]), float(shift[1])), reason)


def _link_poses(robot: UrdfRobot) -> dict[str, Pose]:
    """Return the poses of all links in the root's frame, with joints at 0."""
    poses = {robot.root: Pose.identity()}
    for joint in joint_order(robot):
        poses[joint.child] = poses[joint.parent] @ Pose(np.array(joint.position), rpy_to_quaternion(joint.rpy))
    return poses


def _centre_of_mass(robot: UrdfRobot) -> tuple[float, Floats]:
    poses = _link_poses(robot)
    parts = [(name, link.inertial) for name, link in robot.links.items() if link.inertial is not None]
    masses = [inertial.mass for _, inertial in parts]
    centres = [poses[name].transform(np.array(inertial.position)) for name, inertial in parts]
    return sum(masses), np.average(centres, axis=0, weights=masses)


# ------------------------------------------------------------------------------------------------ buoyancy


def _buoyancy(name: str, link: str, solid: Solid, trim: Trim) -> PartDraft:
    points, height = _force_points(solid)
    points = points + np.array([*trim.shift, 0.0])
    reason = (
        f"Volume {round_digits(solid.volume)} m³ of {solid.source}; {trim.reason}. Likely error: 2 % for these "
        "shapes, but collision shapes are often 10 to 30 % larger than the hull, and flooded parts displace nothing. "
        f"{len(points)} points for equal parts of the volume, with its centre and its mean squares along x, y and z, "
        "which gives the stiffness at the surface of shapes with vertical sides; likely error 20 %."
    )
    settings = {
        "kind": "force_points",
        "link": link,
        "volume": round_digits(solid.volume * trim.scale, 6),
        "depth_before_submerged": round_digits(height / 2, 3),
        "height_before_dry": round_digits(height / 2, 3),
        "points": [[round_decimals(value) for value in point] for point in points],
    }
    return PartDraft("forces", name, settings, reason)


def _force_points(solid: Solid) -> tuple[Floats, float]:
    """Return force points (n, 3), m, for equal parts of the volume, and the mean height of the parts, m.

    The volume is halved across y, then z, then across the longest side of each part.
    """
    parts = [solid.samples]
    for axis in (1, 2, None, None, None):
        if min(map(len, parts)) < 4:
            break
        halves: list[Floats] = []
        for part in parts:
            across = int(np.argmax(np.ptp(part, axis=0))) if axis is None else axis
            order = part[np.argsort(part[:, across], kind="stable")]
            halves += [order[: len(order) // 2], order[len(order) // 2 :]]
        parts = halves
    height = float(np.mean([np.ptp(part[:, 2]) for part in parts]))
    points = np.array([part.mean(axis=0) for part in parts])
    points -= points.mean(axis=0)
    # The means of parts are nearer to the centre than the parts: spread them to obtain the true mean squares.
    found, true = (points**2).mean(axis=0), np.diag(solid.covariance)
    points *= np.sqrt(np.where(found > 0.1 * true, true / np.maximum(found, 1e-300), 1.0))
    return points + solid.centre, max(height, 0.1 * float(solid.size[2]))


# ------------------------------------------------------------------------------------------------ added mass and drag


def _added_mass(name: str, link: str, solid: Solid, scale: float) -> PartDraft:
    axes, spread = _principal_axes(solid)
    length, width, height = 2.0 * np.sqrt(5.0 * spread)
    reason = (
        "That of the ellipsoid with the same covariance of volume. Likely error: 15 % across and 50 % along for a "
        "torpedo; for boxes 25 % too little across and 30 to 60 % along (a cube has 0.68 of the mass that it "
        "displaces, a ball 0.5: DNVGL-RP-N103, table A-2). Without the Munk moment, because the lift that balances "
        "it on a real hull is not modelled here [guess]."
    )
    settings = {
        "kind": "added_mass",
        "link": link,
        **_mount(solid.centre, axes),
        "munk_moment": False,
        "ellipsoid": {
            "length": round_digits(length),
            "width": round_digits(width),
            "height": round_digits(height),
            "volume": round_digits(solid.volume * scale),
        },
    }
    return PartDraft("forces", name, settings, reason)


def _damping(name: str, link: str, solid: Solid, robot: UrdfRobot) -> PartDraft:
    axes, spread = _principal_axes(solid)
    longest = int(np.argmax(spread))
    others = np.delete(spread, longest)
    # For a cylinder the mean of y² is r²/4 across its axis and L²/12 along it.
    length, breadth = float(np.sqrt(12.0 * spread[longest])), 4.0 * float(np.sqrt(others.max()))
    if length < SLENDER * breadth:
        numbers = 0.5 * SEA_WATER * BLUFF_DRAG * np.concatenate([solid.projected_areas, solid.turning_integrals])
        reason = (
            f"Quadratic: ½ ρ C A with C = {BLUFF_DRAG:g} (DNVGL-RP-N103, table B-2) on its projected areas, and "
            f"½ ρ C ∫|r|³ dA for rotation, in {SEA_WATER:.0f} kg/m³. Likely error: 50 % along and across, a "
            "factor of 2 to 3 for rotation. No linear part."
        )
        quadratic = [round_digits(number) for number in numbers]
        settings = {"kind": "damping", "link": link, **_mount(solid.centre, np.eye(3)), "quadratic": quadratic}
        return PartDraft("forces", name, settings, reason)
    forward = np.roll(axes, -longest, axis=1)  # the longest axis as x
    inertia = robot.links[link].inertial
    roll = ROLL_DECAY * (min(np.linalg.eigvalsh(inertia.inertia)) if inertia is not None else 0.0)
    hull = SlenderHull(length=round_digits(length), diameter=round_digits(breadth))
    reason = (
        f"Strip theory of a slender hull along its longest axis, with C = {hull.axial_drag_coefficient} along and "
        f"{hull.cross_drag_coefficient} across it (Hoerner 1965, ch. 3 and 6). Likely error: 30 %, and a factor of 2 "
        "along a hull with attachments. Roll [guess]."
    )
    settings = {
        "kind": "damping",
        "link": link,
        **_mount(solid.centre, forward),
        "linear": [0.0, 0.0, 0.0, round_digits(roll), 0.0, 0.0],
        "slender": {"length": hull.length, "diameter": hull.diameter},
    }
    return PartDraft("forces", name, settings, reason)


def _principal_axes(solid: Solid) -> tuple[Floats, Floats]:
    """Return the principal axes of the volume as columns, and the mean squares along them, m².

    Each axis is in the column of the link's axis that is nearest to it.
    """
    spread, vectors = np.linalg.eigh(solid.covariance)
    link_axes = np.diag(solid.covariance)
    off = solid.covariance - np.diag(link_axes)
    # Sampling by cells tilts the axes slightly, and axes with equal mean squares have no defined direction.
    if np.abs(off).max() < 0.02 * link_axes.max():
        return np.eye(3), link_axes
    order = [-1, -1, -1]
    for k in np.argsort(-np.abs(vectors).max(axis=0)):
        free = [axis for axis in range(3) if order[axis] < 0]
        order[max(free, key=lambda axis: abs(vectors[axis, k]))] = int(k)
    axes = vectors[:, order] * np.sign(np.diag(vectors[:, order]) + 1e-300)
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    return axes, spread[order]


def _mount(centre: Floats, axes: Floats) -> dict[str, object]:
    """Return the mount settings of a law on its link."""
    settings: dict[str, object] = {"position": [round_decimals(value) for value in centre]}
    if not np.allclose(axes, np.eye(3)):
        rpy = np.degrees(quaternion_to_rpy(matrix_to_quaternion(axes)))
        settings |= dict(zip(("roll_deg", "pitch_deg", "yaw_deg"), map(round_decimals, rpy), strict=True))
    return settings
