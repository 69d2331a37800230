"""Native search for the paths of sound from one point to others: direct, by the surface and by the bottom.

The surface echo comes from the mirror image of the source. The mirror is the level of the water at the bounce point, at
the time of the bounce. Bottom echoes are found with a bundle of rays that is traced once per sound. A ray that the
ground reflects, and that passes near a receiver at the receiver's depth, gives an echo by its point on the ground.
A path is clear if a sphere fits all along it. The two robots at its ends do not block it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.acoustics.channel.travel_time import speed_at, travel_time
from skerry.core.kernels import call7, floats, kernel, stack_floats
from skerry.rays import RayScene
from skerry.rays.sphere_casts import sweep_sphere_past

DIRECT: Final = 0
SURFACE: Final = 1
BOTTOM: Final = 2
PATHS: Final = ("direct", "surface", "bottom")

CLEAR: Final = 0
OCCLUDED: Final = 1
TOO_FAR: Final = 2
STATUSES: Final = ("clear", "occluded", "too far")

# Columns of a path
RECEIVER: Final = 0
PATH: Final = 1
STATUS: Final = 2
ORIGIN: Final = 3  # 3 columns: start of the last leg: the source, its mirror image, or a point on the bottom
EXTRA: Final = 6  # length of the path before ORIGIN, m
SPEED: Final = 7  # mean speed of sound along the path, m/s
BOUNCE: Final = 8  # 3 columns: bounce point of an echo
LENGTH: Final = 11  # length of the whole path, m
END: Final = 12  # 3 columns: expected position of the receiver
GRAZING: Final = 15  # sine of the angle between an echo and the surface
CLOSING: Final = 16  # speed of the source along the first leg, divided by the speed of sound
SOURCE: Final = 17  # 3 columns: position of the source
PATH_COLUMNS: Final = 20

# Settings of a transmitter, as native code reads them
S_SPEED: Final = 0
S_RANGE: Final = 1
S_RADIUS: Final = 2
S_ECHO_RANGE: Final = 3
S_TOLERANCE: Final = 4
S_SINGLE: Final = 5
S_OCCLUSIONS: Final = 6
S_ROUGHNESS: Final = 7  # k σ: wave number of the sound times the standard deviation of the surface height
S_IN_AIR: Final = 8
SETTINGS: Final = 9

# Owner numbers of obstacles that are not robots
GROUND: Final = -1
OBJECT: Final = -2  # an object of the scenario
NO_OWNER: Final = -3
MIN_SLANT: Final = 0.02  # sine of the smallest angle between a ray and the ground at which the ground reflects it
# Columns of a reflected ray: point on the ground (3), distance to it (1, 0 for no reflection), direction after it (3)
REFLECTION_COLUMNS: Final = 7


@dataclass(frozen=True, eq=False)
class Obstacles:
    """Obstacles of a scene as arrays for native code; `move` sets their poses.

    All bodies of one owner (the ground, an object, a robot) form a group with one bounding sphere.
    """

    words: NDArray[np.int64]
    rows: NDArray[np.int64]  # (n,), row of each body in the engine's motions; −1 for a body that never moves
    local_balls: NDArray[np.float64]  # (n, 4), bounding sphere of each body in its own frame: centre and radius
    places: NDArray[np.float64]  # (n, 12), pose of each body as a 3×4 matrix
    firsts: NDArray[np.int64]  # (groups + 1,), index of the first body of each group
    owners: NDArray[np.int64]  # (groups,), owner numbers
    balls: NDArray[np.float64]  # (4, groups), bounding spheres in the world
    near: NDArray[np.float64]  # (groups,), scratch memory

    @classmethod
    def of(cls, scene: RayScene, owners: Mapping[str, int], only_ground: bool = False) -> Obstacles:
        """Return the obstacles of a scene, or of its ground alone.

        Args:
            scene: The scene.
            owners: Owner numbers of the robots that carry acoustic parts, by name.
            only_ground: Whether to leave out objects and robots.
        """
        chosen = [i for i, body in enumerate(scene.bodies) if not (only_ground and body.owner)]
        bodies = [scene.bodies[i] for i in chosen]
        found = np.zeros((len(bodies), 4))
        for ball, body in zip(found, bodies, strict=True):
            low, high = body.mesh.vertices.min(axis=0), body.mesh.vertices.max(axis=0)
            ball[:3] = 0.5 * (low + high)
            ball[3] = np.linalg.norm(body.mesh.vertices - ball[:3], axis=1).max() * (1 + 1e-6)
        names = [body.owner for body in bodies]
        firsts = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
        numbers = [owners.get(names[i], OBJECT) if names[i] else GROUND for i in firsts]
        obstacles = cls(
            scene.sphere_bodies[chosen],
            np.array([body.row for body in bodies], np.int64),
            found,
            np.tile(np.eye(3, 4).ravel(), (len(bodies), 1)),
            np.array([*firsts, len(bodies)], np.int64),
            np.array(numbers, np.int64),
            np.zeros((4, len(firsts))),
            np.zeros(len(firsts)),
        )
        obstacles.move(np.zeros((int(obstacles.rows.max(initial=0)) + 1, 13)))
        return obstacles

    def move(self, motion: NDArray[np.float64]) -> None:
        """Set the poses of the bodies from the motions of the engine's bodies, (bodies, 13)."""
        _move(self.rows, motion, self.local_balls, self.firsts, self.places, self.balls)

    @property
    def native(self) -> tuple[Any, ...]:
        """First arguments of `sweep_sphere_past`."""
        return self.words, self.places, self.firsts, self.owners, self.balls, self.near


@kernel
def _move(rows: Any, motion: Any, local: Any, firsts: Any, places: Any, balls: Any) -> None:
    """Write the poses of the bodies and the bounding spheres of the groups."""
    for i in range(len(rows)):
        if rows[i] < 0:
            continue
        p, m = motion[rows[i]], places[i]
        x, y, z, w = p[3], p[4], p[5], p[6]
        m[0], m[1], m[2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
        m[4], m[5], m[6] = 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
        m[8], m[9], m[10] = 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)
        m[3], m[7], m[11] = p[0], p[1], p[2]
    centre = np.empty(3)
    for g in range(len(firsts) - 1):
        # centred on the sphere of the first body, large enough for the spheres of the others
        for i in range(firsts[g], firsts[g + 1]):
            m, ball = places[i], local[i]
            for k in range(3):
                row = m[4 * k : 4 * k + 4]
                centre[k] = row[0] * ball[0] + row[1] * ball[1] + row[2] * ball[2] + row[3]
            if i == firsts[g]:
                balls[0, g], balls[1, g], balls[2, g], balls[3, g] = centre[0], centre[1], centre[2], ball[3]
            else:
                x, y, z = centre[0] - balls[0, g], centre[1] - balls[1, g], centre[2] - balls[2, g]
                balls[3, g] = max(balls[3, g], np.sqrt(x * x + y * y + z * z) + ball[3])


@kernel
def surface_height(sea: Any, time: float, x: float, y: float, z: float) -> float:
    """Return the z of the surface at a point.

    Args:
        sea: Addresses of the water's function, its table and its state, (3,).
        time: Time, s.
        x: East, m.
        y: North, m.
        z: Up, m.
    """
    at = stack_floats(16)
    memory = floats(at, 16)
    memory[0], memory[1], memory[2], memory[3] = x, y, z, time
    call7(sea[0], sea[1], sea[2], at + 24, 0, 1, at, at + 32)
    return memory[4]


@kernel
def flight_time(x: float, y: float, z: float, u: float, v: float, w: float, gone: float, c: float) -> float:
    """Return the time until a spherical wave front reaches a point, s; negative if it has passed the point.

    The front has the radius `gone` now and grows with the speed c. The point is at (x, y, z) from the origin of the
    front and has the constant velocity (u, v, w). The time t solves |x + v t| = gone + c t.
    """
    a = c * c - (u * u + v * v + w * w)
    b = gone * c - (x * u + y * v + z * w)
    rest = x * x + y * y + z * z - gone * gone
    return rest / (b + np.sqrt(max(b * b + a * rest, 0.0)))


@kernel
def _is_open(obstacles: Any, first: int, second: int, radius: float, a: Any, b: Any, contact: Any) -> bool:
    """Return whether a sphere can move from `a` to `b` without touching an obstacle of a third owner."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    length = np.sqrt(x * x + y * y + z * z)
    if length <= radius:
        return True
    d = (x / length, y / length, z / length)
    start = (a[0] + radius * d[0], a[1] + radius * d[1], a[2] + radius * d[2])
    words, places, firsts, owners, balls, near = obstacles
    far = length - radius
    return (
        sweep_sphere_past(words, places, firsts, owners, balls, near, first, second, start, d, radius, far, contact) < 0
    )


@kernel
def _distance(a: Any, b: Any) -> float:
    """Return the distance of two points, m."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return np.sqrt(x * x + y * y + z * z)


@kernel
def _leg_time(table: Any, level: float, a: Any, b: Any) -> float:
    """Return the travel time of sound between two points below a surface at the height `level`, s."""
    across = np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2)
    return travel_time(table, across, level - a[2], level - b[2])


@kernel
def _trace_reflections(
    obstacles: Any, own: int, settings: Any, source: Any, directions: Any, reflections: Any, contact: Any
) -> None:
    """Trace the echo rays to the ground and write where and in which direction each is reflected."""
    words, places, firsts, owners, balls, near = obstacles
    radius, far = settings[S_RADIUS], settings[S_ECHO_RANGE]
    for k in range(len(directions)):
        reflections[k, 3] = 0.0
        d = (directions[k, 0], directions[k, 1], directions[k, 2])
        start = (source[0] + radius * d[0], source[1] + radius * d[1], source[2] + radius * d[2])
        group = sweep_sphere_past(
            words, places, firsts, owners, balls, near, own, NO_OWNER, start, d, radius, far - radius, contact
        )
        if group < 0 or owners[group] != GROUND or contact[0] <= 0.0:
            continue
        n = (contact[1], contact[2], contact[3])
        slant = d[0] * n[0] + d[1] * n[1] + d[2] * n[2]
        if slant > -MIN_SLANT:
            continue
        # from the centre of the touching sphere on to the ground itself, which is taken as flat there
        length = radius + contact[0] + radius / -slant
        for i in range(3):
            reflections[k, i] = source[i] + length * d[i]
            reflections[k, 4 + i] = d[i] - 2.0 * slant * n[i]
        reflections[k, 3] = length


@kernel
def _meeting_point(s: Any, target: Any, c: float) -> Any:
    """Return where sound that leaves `s` now meets a target (6,) that keeps its velocity."""
    p = target
    ahead = flight_time(p[0] - s[0], p[1] - s[1], p[2] - s[2], p[3], p[4], p[5], 0.0, c)
    return (p[0] + ahead * p[3], p[1] + ahead * p[4], p[2] + ahead * p[5])


@kernel
def _is_blocked(line_of_sight: Any, a: Any, b: Any) -> bool:
    """Return whether an obstacle blocks the straight line between two points."""
    obstacles, occlusions, own, other, radius, contact = line_of_sight
    return occlusions and not _is_open(obstacles, own, other, radius, a, b, contact)


@kernel
def _write_path(
    row: Any, receiver: int, kind: int, origin: Any, extra: float, c: float, length: float, bounce: Any, end: Any
) -> None:
    """Write the columns that all kinds of path have; the status is CLEAR and the grazing angle 0."""
    row[RECEIVER], row[PATH], row[STATUS] = receiver, kind, CLEAR
    row[EXTRA], row[SPEED], row[LENGTH], row[GRAZING] = extra, c, length, 0.0
    for i in range(3):
        row[ORIGIN + i], row[BOUNCE + i], row[END + i] = origin[i], bounce[i], end[i]


@kernel
def _write_direct(row: Any, receiver: int, s: Any, t: Any, medium: Any, line_of_sight: Any) -> None:
    """Write the straight path from `s` to `t`."""
    c, level, table = medium
    straight = _distance(s, t)
    _write_path(row, receiver, DIRECT, s, 0.0, c, straight, (np.nan, np.nan, np.nan), t)
    if _is_blocked(line_of_sight, s, t):
        row[STATUS] = OCCLUDED
    elif len(table) > 0 and straight > 0.0:
        row[SPEED] = straight / _leg_time(table, level, s, t)


@kernel
def _bounce_height(sea: Any, time: float, c: float, level: float, across: float, s: Any, t: Any) -> float:
    """Return the z of the surface where the surface echo bounces, at the time of the bounce.

    The bounce point depends on the height and the height on the bounce point, so the height is iterated.
    """
    height, share, length = level, 0.0, 0.0
    for _ in range(4):
        below, other_below = height - s[2], height - t[2]
        if below <= 0.0 or other_below <= 0.0:
            break
        share = below / (below + other_below)
        length = np.sqrt(across * across + (below + other_below) ** 2)
        x, y = s[0] + share * (t[0] - s[0]), s[1] + share * (t[1] - s[1])
        before, height = height, surface_height(sea, time + share * length / c, x, y, s[2])
        if abs(height - before) < 1e-9:
            break
    return height


@kernel
def _write_surface_echo(
    row: Any, receiver: int, s: Any, t: Any, sea: Any, time: float, medium: Any, settings: Any, line_of_sight: Any
) -> bool:
    """Write the echo of the surface, from the mirror image of the source; return False if there is none."""
    c, level, table = medium
    across = np.sqrt((t[0] - s[0]) ** 2 + (t[1] - s[1]) ** 2)
    height = _bounce_height(sea, time, c, level, across, s, t)
    below, other_below = height - s[2], height - t[2]
    if not (below > 0.0 and other_below > 0.0):
        return False
    length = np.sqrt(across * across + (below + other_below) ** 2)
    share = below / (below + other_below)
    grazing = (below + other_below) / length
    bounce = (s[0] + share * (t[0] - s[0]), s[1] + share * (t[1] - s[1]), height)
    _write_path(row, receiver, SURFACE, (s[0], s[1], 2.0 * height - s[2]), 0.0, c, length, bounce, t)
    row[GRAZING] = grazing
    weaker = np.exp(-2.0 * (settings[S_ROUGHNESS] * grazing) ** 2)
    if length > weaker * settings[S_ECHO_RANGE]:
        row[STATUS] = TOO_FAR
    elif _is_blocked(line_of_sight, s, bounce) or _is_blocked(line_of_sight, bounce, t):
        row[STATUS] = OCCLUDED
    elif len(table) > 0:
        seconds = _leg_time(table, height, s, bounce) + _leg_time(table, height, bounce, t)
        row[SPEED] = length / seconds
    return True


@kernel
def _measure_misses(reflections: Any, t: Any, misses: Any) -> None:
    """Write how far from `t` each reflected ray passes at the depth of `t`, m; infinity if it never gets there."""
    for k in range(len(misses)):
        misses[k] = np.inf
        if reflections[k, 3] > 0.0 and reflections[k, 6] != 0.0:
            up = (t[2] - reflections[k, 2]) / reflections[k, 6]
            if up > 0.0:
                x = reflections[k, 0] + up * reflections[k, 4] - t[0]
                y = reflections[k, 1] + up * reflections[k, 5] - t[1]
                misses[k] = np.sqrt(x * x + y * y)


@kernel
def _write_bottom_echo(
    row: Any, receiver: int, s: Any, t: Any, reflection: Any, medium: Any, settings: Any, line_of_sight: Any
) -> None:
    """Write the echo by the point of the bottom that one ray has met."""
    c, level, table = medium
    bounce = (reflection[0], reflection[1], reflection[2])
    length = reflection[3] + _distance(bounce, t)
    _write_path(row, receiver, BOTTOM, bounce, reflection[3], c, length, bounce, t)
    if length > settings[S_ECHO_RANGE]:
        row[STATUS] = TOO_FAR
    elif _is_blocked(line_of_sight, bounce, t):
        row[STATUS] = OCCLUDED
    elif len(table) > 0:
        row[SPEED] = length / (_leg_time(table, level, s, bounce) + _leg_time(table, level, bounce, t))


@kernel
def _write_bottom_echoes(
    out: Any,
    count: int,
    receiver: int,
    s: Any,
    t: Any,
    reflections: Any,
    misses: Any,
    medium: Any,
    settings: Any,
    line_of_sight: Any,
) -> int:
    """Write the echoes of the bottom after the first `count` rows, closest ray first; return the new count."""
    single = settings[S_SINGLE] > 0.0
    _measure_misses(reflections, t, misses)
    for _ in range(len(misses)):
        k = int(np.argmin(misses))
        if not misses[k] <= settings[S_TOLERANCE]:
            break
        misses[k] = np.inf
        row = out[count]
        _write_bottom_echo(row, receiver, s, t, reflections[k], medium, settings, line_of_sight)
        if row[STATUS] == CLEAR or not single:
            count += 1
        if row[STATUS] == CLEAR and single:
            break
    return count


@kernel
def _write_source(out: Any, count: int, source: Any) -> None:
    """Write the position of the source and its speed along each path into the first `count` rows."""
    s = (source[0], source[1], source[2])
    for i in range(count):
        row = out[i]
        first = END if row[PATH] == DIRECT else BOUNCE
        away = (row[first] - s[0], row[first + 1] - s[1], row[first + 2] - s[2])
        length = np.sqrt(away[0] ** 2 + away[1] ** 2 + away[2] ** 2)
        closing = source[3] * away[0] + source[4] * away[1] + source[5] * away[2]
        row[CLOSING] = closing / (length * row[SPEED]) if length > 0.0 else 0.0
        row[SOURCE], row[SOURCE + 1], row[SOURCE + 2] = s


@kernel
def find_paths(
    obstacles: Any,
    settings: Any,
    directions: Any,
    source: Any,
    own: int,
    targets: Any,
    target_owners: Any,
    skips: Any,
    sea: Any,
    time: float,
    table: Any,
    reflections: Any,
    out: Any,
) -> int:
    """Find all paths from a source to the targets and write them as rows of `out`.

    A source above the surface has no paths, unless its settings let it work in air.

    Args:
        obstacles: `Obstacles.native`.
        settings: Settings of the transmitter, (SETTINGS,).
        directions: Unit vectors of the rays that search for bottom echoes, (m, 3).
        source: Position and velocity of the source, (6,).
        own: Owner number of the source.
        targets: Positions and velocities of the possible receivers, (n, 6).
        target_owners: Owner numbers of the targets, (n,).
        skips: True for targets that cannot receive, (n,).
        sea: Addresses of the water's function, its table and its state, (3,).
        time: Time of the transmission, s.
        table: Speed of sound at every metre of depth; empty if it is the same everywhere.
        reflections: Scratch memory, (m, REFLECTION_COLUMNS).
        out: Rows of PATH_COLUMNS.

    Returns:
        The number of rows. If `single_bottom_echo` is set, blocked and too long bottom echoes are left out.
    """
    contact = np.zeros(4)
    c, occlusions = settings[S_SPEED], settings[S_OCCLUSIONS] > 0.0
    s = (source[0], source[1], source[2])
    level = surface_height(sea, time, s[0], s[1], s[2])
    if s[2] > level and not settings[S_IN_AIR] > 0.0:
        return 0
    if len(table) > 0:
        c, _ = speed_at(table, level - s[2])
    medium = (c, level, table)
    _trace_reflections(obstacles, own, settings, s, directions, reflections, contact)
    misses = np.empty(len(directions))
    count = 0
    for j in range(len(targets)):
        if skips[j]:
            continue
        t = _meeting_point(s, targets[j], c)
        if _distance(s, t) > settings[S_RANGE]:
            continue
        line_of_sight = (obstacles, occlusions, own, target_owners[j], settings[S_RADIUS], contact)
        _write_direct(out[count], j, s, t, medium, line_of_sight)
        count += 1
        if not settings[S_ECHO_RANGE] > 0.0:
            continue
        if _write_surface_echo(out[count], j, s, t, sea, time, medium, settings, line_of_sight):
            count += 1
        count = _write_bottom_echoes(out, count, j, s, t, reflections, misses, medium, settings, line_of_sight)
    _write_source(out, count, source)
    return count
