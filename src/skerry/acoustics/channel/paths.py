"""Native search for the paths of sound from one point to others: direct, by the surface and by the bottom.

The surface echo comes from the mirror image of the source. The mirror is the level of the water at the bounce point, at
the time of the bounce. Bottom echoes are found by `bottom_echoes`. A path is clear if a channel all along it is free of
obstacles; see `obstacles`. The two robots at its ends do not block it.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.acoustics.channel.bottom_echoes import (
    FAR,
    R_LENGTH,
    find_bounce,
    line_up,
    measure_misses,
    trace_reflections,
)
from skerry.acoustics.channel.obstacles import GROWTH, is_open
from skerry.acoustics.channel.travel_time import speed_at, travel_time
from skerry.core.kernels import call7, floats, kernel, stack_floats

DIRECT: Final = 0
SURFACE: Final = 1
BOTTOM: Final = 2
PATHS: Final = ("direct", "surface", "bottom")

CLEAR: Final = 0
OCCLUDED: Final = 1
TOO_FAR: Final = 2
IN_AIR: Final = 3
NO_GROUND: Final = 4
MISSES: Final = 5
OUTSIDE_CONE: Final = 6
STATUSES: Final = ("clear", "occluded", "too far", "in air", "no ground", "misses the receiver", "outside the cone")
"""Results of the search for a path, by number. All but the first are reasons why a path carries no sound."""

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
S_CONE: Final = 9  # cosine of the largest angle between straight down and the first leg of a bottom echo
SETTINGS: Final = 10

MAX_CANDIDATES: Final = 3
"""Largest number of rays from which the only bottom echo to a receiver is searched."""
SAME_BOUNCE: Final = 0.2  # two bottom echoes whose bounce points are nearer than this are the same, m


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
def _meeting_point(s: Any, target: Any, c: float) -> Any:
    """Return where sound that leaves `s` now meets a target (6,) that keeps its velocity."""
    p = target
    ahead = flight_time(p[0] - s[0], p[1] - s[1], p[2] - s[2], p[3], p[4], p[5], 0.0, c)
    return (p[0] + ahead * p[3], p[1] + ahead * p[4], p[2] + ahead * p[5])


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
def _write_surface_echo(row: Any, receiver: int, s: Any, t: Any, sea: Any, time: float, medium: Any, k: Any) -> bool:
    """Write the echo of the surface, from the mirror image of the source; return False if there is none."""
    c, level, _ = medium
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
    if length > np.exp(-2.0 * (k[S_ROUGHNESS] * grazing) ** 2) * k[S_ECHO_RANGE]:
        row[STATUS] = TOO_FAR
    return True


@kernel
def _write_bottom_echo(
    row: Any,
    receiver: int,
    s: Any,
    t: Any,
    obstacles: Any,
    reflection: Any,
    from_mean: bool,
    c: float,
    settings: Any,
) -> None:
    """Write the echo of the bottom whose bounce point is found from one reflected ray.

    The column GRAZING is the sine of the angle between the path and the ground, unlike in the finished row.
    """
    echo_range = settings[S_ECHO_RANGE]
    if _distance(s, t) > echo_range:
        p = (reflection[0], reflection[1], reflection[2])
        _write_path(row, receiver, BOTTOM, p, reflection[R_LENGTH], c, reflection[R_LENGTH] + _distance(p, t), p, t)
        row[STATUS] = TOO_FAR
        return
    p, grazing, miss = find_bounce(obstacles, s, t, reflection, from_mean, settings[S_CONE], echo_range)
    first = _distance(s, p)
    length = first + _distance(p, t)
    _write_path(row, receiver, BOTTOM, p, first, c, length, p, t)
    row[GRAZING] = grazing
    if miss > settings[S_TOLERANCE]:
        row[STATUS] = MISSES
    elif s[2] - p[2] < settings[S_CONE] * first:
        row[STATUS] = OUTSIDE_CONE
    elif length > echo_range:
        row[STATUS] = TOO_FAR


@kernel
def _has_same_bounce(out: Any, first: int, row: int) -> bool:
    """Return whether one of the rows from `first` to `row` − 1 has the same bounce point as `row`."""
    b = (out[row, BOUNCE], out[row, BOUNCE + 1], out[row, BOUNCE + 2])
    for i in range(first, row):
        if _distance((out[i, BOUNCE], out[i, BOUNCE + 1], out[i, BOUNCE + 2]), b) < SAME_BOUNCE:
            return True
    return False


@kernel
def _check_legs(row: Any, s: Any, t: Any, medium: Any, obstacles: Any, own: int, other: int, settings: Any) -> None:
    """Search obstacles along a path, and find its mean speed of sound if it is clear."""
    _, level, table = medium
    bounce = (row[BOUNCE], row[BOUNCE + 1], row[BOUNCE + 2])
    # the channel must be thinner than the wedge between the path and the ground
    at_bounce = min(GROWTH, 0.5 * row[GRAZING]) if row[PATH] == BOTTOM else GROWTH
    legs = 1 if row[PATH] == DIRECT else 2
    seconds = 0.0
    for leg in range(legs):
        a = s if leg == 0 else bounce
        b = t if leg == legs - 1 else bounce
        growth = (GROWTH if leg == 0 else at_bounce, GROWTH if leg == legs - 1 else at_bounce)
        if settings[S_OCCLUSIONS] > 0.0 and not is_open(obstacles, own, other, settings[S_RADIUS], growth, a, b):
            row[STATUS] = OCCLUDED
            return
        if len(table) > 0:
            top = bounce[2] if row[PATH] == SURFACE else level
            seconds += _leg_time(table, top, a, b)
    if seconds > 0.0:
        row[SPEED] = row[LENGTH] / seconds


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
    """Find all paths from a source to the targets and write them, clear or not, as rows of `out`.

    A source above the surface has no paths but direct ones that are IN_AIR, unless its settings let it work in air.

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
        reflections: Receives the traced rays, (m, REFLECTION_COLUMNS).
        out: Rows of PATH_COLUMNS, at least n (m + 3).

    Returns:
        The number of rows. With `single_bottom_echo` there is one bottom echo per target: the first clear one, or
        the first one if none is clear.
    """
    c, single = settings[S_SPEED], settings[S_SINGLE] > 0.0
    s = (source[0], source[1], source[2])
    level = surface_height(sea, time, s[0], s[1], s[2])
    is_wet = s[2] <= level or settings[S_IN_AIR] > 0.0
    if len(table) > 0:
        c, _ = speed_at(table, level - s[2])
    medium = (c, level, table)
    nowhere = (np.nan, np.nan, np.nan)
    rays = len(directions) if is_wet and len(obstacles[1]) > 0 else 0
    trace_reflections(obstacles, 10.0 * settings[S_ECHO_RANGE], s, directions[:rays], reflections)
    misses, lines = np.empty(rays), np.empty((4, rays))
    line_up(reflections[:rays], lines)
    most = min(MAX_CANDIDATES, rays) if single else rays
    count = 0
    for j in range(len(targets)):
        if skips[j]:
            continue
        t = _meeting_point(s, targets[j], c)
        straight = _distance(s, t)
        first_bottom = -1
        for stage in range(2 + max(most, 1)):
            row = out[count]
            if stage == 0:
                _write_path(row, j, DIRECT, s, 0.0, c, straight, nowhere, t)
                if not is_wet:
                    row[STATUS] = IN_AIR
                elif straight > settings[S_RANGE]:
                    row[STATUS] = TOO_FAR
            elif stage == 1:
                if not _write_surface_echo(row, j, s, t, sea, time, medium, settings):
                    continue
            elif rays == 0:
                break
            else:
                if stage == 2:
                    first_bottom = count
                    measure_misses(lines, t, misses)
                k = int(np.argmin(misses))
                if misses[k] < FAR * FAR:
                    _write_bottom_echo(row, j, s, t, obstacles, reflections[k], stage == 2, c, settings)
                    misses[k] = np.inf
                    if _has_same_bounce(out, first_bottom, count):
                        continue
                elif stage == 2:
                    _write_path(row, j, BOTTOM, s, 0.0, c, straight, nowhere, t)
                    row[STATUS] = NO_GROUND
                else:
                    break
            if row[STATUS] == CLEAR:
                _check_legs(row, s, t, medium, obstacles, own, target_owners[j], settings)
            if row[PATH] == BOTTOM:
                row[GRAZING] = 0.0
            count += 1
            if stage == 0 and (not is_wet or row[STATUS] == TOO_FAR or not settings[S_ECHO_RANGE] > 0.0):
                break
            if stage >= 2 and single and row[STATUS] == CLEAR:
                out[first_bottom] = row
            if stage >= 2 and (row[STATUS] == NO_GROUND or straight > settings[S_ECHO_RANGE]):
                break
            if stage >= 2 and single and row[STATUS] != OCCLUDED and row[STATUS] != MISSES:
                break
        if single and first_bottom >= 0:
            count = first_bottom + 1
    _write_source(out, count, source)
    return count
