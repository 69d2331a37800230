"""Force points, added mass and drag suggested for a vehicle from its shapes, each with its likely error."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skerry.core.frames import Pose, matrix_to_quaternion, quaternion_to_rpy, rpy_to_quaternion
from skerry.formats.urdf import UrdfRobot, joint_order
from skerry.importers.draft import Part, rounded, tidy
from skerry.importers.solids import Floats, Solid
from skerry.physics.shapes import SlenderHull

SEA_WATER = 1025.0  # kg/m³, Skerry's own default
SMALL = 0.002
"""Of the robot's volume: smaller bodies feel the water too little to be worth laws of their own."""
NEARLY_NEUTRAL = (0.6, 1.6)
"""Displaced over own mass: between these a vehicle is taken for one that floats freely; shapes are only so good."""
MOST_SHIFT = 0.25
"""Of a hull's length or breadth: its buoyancy is not moved by more for the sake of trim."""
LEAST_STABLE = 0.01
"""Of a hull's height: buoyancy that is less above the weight than that hardly rights it."""
SLENDER = 4.0
"""Length over breadth from which a hull is taken for slender: strip theory is then right to some 10 % across."""
BLUFF_DRAG = 1.0
"""On the frontal area. Square rods along the flow have 1.15 at a length of one side, 0.87 at 2 and 0.95 at 5, a square
plate 1.16 (DNVGL-RP-N103, 2017, table B-2); a cube 1.05, a disc 1.17, a ball 0.5 (Hoerner 1965, ch. 3)."""
ROLL_DECAY = 1.0
"""1/s: a slender hull's roll loses its momentum in about a second; a guess, since fins and fittings decide it."""


@dataclass(frozen=True)
class Trim:
    """How a vehicle is made to float: a factor on all volumes, a shift of the root's points, and why."""

    scale: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)  # m, along x and y
    reason: str = "as measured"


def suggest_hydrodynamics(
    robot: UrdfRobot,
    solids: dict[str, Solid],
    notes: list[str],
    neutral: bool = False,
    floats: dict[str, Solid] | None = None,
) -> list[Part]:
    """Laws of the water for each body that is not too small; what was guessed goes into the notes.

    A vehicle that is `neutral` is made to float freely, however large its shapes are. `floats` are the solids that
    displace water, where the file tells them from the `solids` that the water flows around.
    """
    total = sum(solid.volume for solid in (solids | (floats or {})).values())
    if not total:
        notes.append("no link has a shape that encloses a volume: the vehicle has no buoyancy, added mass or drag")
        return []
    wet = {carrier: solid for carrier, solid in solids.items() if solid.volume >= SMALL * total}
    afloat = wet if floats is None else floats
    notes += [
        f"{carrier}: {1000 * solid.volume:.3g} litres are too little for laws of the water; it has none"
        for carrier, solid in solids.items()
        if carrier not in wet
    ]
    trim = _trim(robot, afloat, notes, neutral, floats is not None)
    parts: list[Part] = []
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
    notes.append(
        "buoyancy, added mass and drag are estimates from shapes: vehicle.yaml says beside each how far it may be off"
    )
    return parts


def _trim(robot: UrdfRobot, solids: dict[str, Solid], notes: list[str], neutral: bool, is_given: bool) -> Trim:
    mass, weight_at = _centre_of_mass(robot)
    volume = sum(solid.volume for solid in solids.values())
    displaced = SEA_WATER * volume
    ratio = displaced / mass
    whose = "by the file it displaces" if is_given else "its shapes displace"
    says = f"{whose} {displaced:.4g} kg of sea water and it weighs {mass:.4g} kg"
    if not volume:
        notes.append("nothing in the file is buoyant: it sinks")
        return Trim()
    if is_given and not neutral:
        notes.append(f"{says}: it {'floats' if ratio > 1.0 else 'sinks'}")
        return Trim()
    if not (neutral or NEARLY_NEUTRAL[0] <= ratio <= NEARLY_NEUTRAL[1]):
        if ratio > 1.0:
            hint = "if it should float freely, import it with --neutral"
            notes.append(f"{says}: it floats with some {100 / ratio:.0f} % of its volume under water; {hint}")
        else:
            notes.append(
                f"{says}: it sinks; if it should not, its shapes leave out its hull, or import it with --neutral"
            )
        return Trim()
    poses = _link_poses(robot)
    centres = [poses[name].transform(solid.centre) for name, solid in solids.items()]
    lift_at = np.average(centres, axis=0, weights=[solid.volume for solid in solids.values()])
    why = "a vehicle that floats freely" if neutral else "taken for a vehicle that floats freely"
    notes.append(f"{says}: {why}, and all volumes are scaled by {1 / ratio:.4g} so that it does [guess]")
    reason = f"scaled by {1 / ratio:.4g} so that the vehicle floats freely in {SEA_WATER:.0f} kg/m³ [guess]"
    shift = np.zeros(2)
    if robot.root in solids:
        shift = (weight_at - lift_at)[:2] * volume / solids[robot.root].volume
        if (np.abs(shift) > MOST_SHIFT * solids[robot.root].size[:2]).any():
            notes.append("its weight is too far from the middle of its shapes to be trimmed: it will not lie level")
            shift = np.zeros(2)
        elif np.abs(shift).max() > 1e-4:
            x, y = shift
            notes.append(
                f"its buoyancy is moved by ({x:.3g}, {y:.3g}) m to over its weight, so that it lies level [guess]"
            )
            reason += f"; moved by ({x:.3g}, {y:.3g}) m so that it lies level [guess]"
    height = max(float(solid.size[2]) for solid in solids.values())
    if lift_at[2] - weight_at[2] < LEAST_STABLE * height:
        notes.append("its weight is not clearly below its buoyancy: nothing keeps it upright; lower its centre of mass")
    return Trim(1 / ratio, (float(shift[0]), float(shift[1])), reason)


def _link_poses(robot: UrdfRobot) -> dict[str, Pose]:
    """Of all links in the root's frame, with joints at 0."""
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


def _buoyancy(name: str, link: str, solid: Solid, trim: Trim) -> Part:
    points, height = _points_of(solid)
    points = points + np.array([*trim.shift, 0.0])
    reason = (
        f"Volume {rounded(solid.volume)} m³ of {solid.source}; {trim.reason}. Likely error: 2 % of these shapes "
        "themselves, but collision shapes are often 10 to 30 % larger than the hull, and flooded parts displace "
        "nothing. "
        f"{len(points)} points for equal parts of the volume, with its centre and its mean squares along x, y and z, "
        "so that it is as stiff at the surface as its shapes are with upright sides; likely error 20 %."
    )
    settings = {
        "kind": "force_points",
        "link": link,
        "volume": rounded(solid.volume * trim.scale, 6),
        "depth_before_submerged": rounded(height / 2, 3),
        "height_before_dry": rounded(height / 2, 3),
        "points": [[tidy(value) for value in point] for point in points],
    }
    return Part("forces", name, settings, reason)


def _points_of(solid: Solid) -> tuple[Floats, float]:
    """Points for equal parts of the volume, halved across y, z and then its longest sides; and their height."""
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
    # Middles of parts lie nearer to the centre than the parts themselves: spread them, so that mean squares are right.
    found, true = (points**2).mean(axis=0), np.diag(solid.covariance)
    points *= np.sqrt(np.where(found > 0.1 * true, true / np.maximum(found, 1e-300), 1.0))
    return points + solid.centre, max(height, 0.1 * float(solid.size[2]))


# ------------------------------------------------------------------------------------------------ added mass and drag


def _added_mass(name: str, link: str, solid: Solid, scale: float) -> Part:
    axes, spread = _principal_axes(solid)
    length, width, height = 2.0 * np.sqrt(5.0 * spread)
    reason = (
        "Of the ellipsoid with the same spread of volume. Likely error: 15 % across and 50 % along for a torpedo; of "
        "boxes 25 % too little across and 30 to 60 % along (a cube has 0.68 of what it displaces, a ball 0.5: "
        "DNVGL-RP-N103, table A-2). Without the Munk moment: nothing here stands for the lift that balances it "
        "on a real hull [guess]."
    )
    settings = {
        "kind": "added_mass",
        "link": link,
        **_mount(solid.centre, axes),
        "munk_moment": False,
        "ellipsoid": {
            "length": rounded(length),
            "width": rounded(width),
            "height": rounded(height),
            "volume": rounded(solid.volume * scale),
        },
    }
    return Part("forces", name, settings, reason)


def _damping(name: str, link: str, solid: Solid, robot: UrdfRobot) -> Part:
    axes, spread = _principal_axes(solid)
    longest = int(np.argmax(spread))
    others = np.delete(spread, longest)
    # Of a cylinder across its axis the mean of y² is r²/4, along it L²/12.
    length, breadth = float(np.sqrt(12.0 * spread[longest])), 4.0 * float(np.sqrt(others.max()))
    if length < SLENDER * breadth:
        numbers = 0.5 * SEA_WATER * BLUFF_DRAG * np.concatenate([solid.shadows, solid.sweeps])
        reason = (
            f"Quadratic: ½ ρ C A with C = {BLUFF_DRAG:g} (DNVGL-RP-N103, table B-2) on its shadows, and ½ ρ C ∫|r|³ dA "
            f"turning, in {SEA_WATER:.0f} kg/m³. Likely error: 50 % along and across, a factor of 2 to 3 turning. "
            "No linear part."
        )
        quadratic = [rounded(number) for number in numbers]
        settings = {"kind": "damping", "link": link, **_mount(solid.centre, np.eye(3)), "quadratic": quadratic}
        return Part("forces", name, settings, reason)
    forward = np.roll(axes, -longest, axis=1)  # the longest axis as x
    inertia = robot.links[link].inertial
    roll = ROLL_DECAY * (min(np.linalg.eigvalsh(inertia.inertia)) if inertia is not None else 0.0)
    hull = SlenderHull(length=rounded(length), diameter=rounded(breadth))
    reason = (
        f"A slender hull along its longest axis by strip theory, with C = {hull.axial_drag_coefficient} along and "
        f"{hull.cross_drag_coefficient} across it (Hoerner 1965, ch. 3 and 6). Likely error: 30 %, and a factor of 2 "
        "along a hull with fittings. Roll [guess]."
    )
    settings = {
        "kind": "damping",
        "link": link,
        **_mount(solid.centre, forward),
        "linear": [0.0, 0.0, 0.0, rounded(roll), 0.0, 0.0],
        "slender": {"length": hull.length, "diameter": hull.diameter},
    }
    return Part("forces", name, settings, reason)


def _principal_axes(solid: Solid) -> tuple[Floats, Floats]:
    """Axes of the volume as columns, each for the link's axis that it is nearest to, and the spread along them, m²."""
    spread, vectors = np.linalg.eigh(solid.covariance)
    link_axes = np.diag(solid.covariance)
    off = solid.covariance - np.diag(link_axes)
    # Cells make a body a little crooked, and axes of equal spread have no direction of their own.
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
    """Where a law sits on its link."""
    place: dict[str, object] = {"position": [tidy(value) for value in centre]}
    if not np.allclose(axes, np.eye(3)):
        rpy = np.degrees(quaternion_to_rpy(matrix_to_quaternion(axes)))
        place |= dict(zip(("roll_deg", "pitch_deg", "yaw_deg"), map(tidy, rpy), strict=True))
    return place
