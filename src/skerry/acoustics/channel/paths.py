"""By which ways a sound comes from one point to others: straight, by the surface, and by the bottom; natively.

The surface echo comes from an image of the source, mirrored at the level that the water has where the echo is thrown
back, at that time. Echoes of the bottom are looked for by a shotgun of rays that is traced once for a sound: a ray that
the ground throws back, and that passes near a hearer at the hearer's depth, makes an echo by that point of the ground.
A way is open where a sphere finds room all along it, past whatever belongs to the two robots at its ends.
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
from skerry.rays.sphere_casts import sweep_past

DIRECT: Final = 0
SURFACE: Final = 1
BOTTOM: Final = 2
PATHS: Final = ("direct", "surface", "bottom")

CLEAR: Final = 0
OCCLUDED: Final = 1
TOO_FAR: Final = 2
STATUSES: Final = ("clear", "occluded", "too far")

# columns of a path that was found
RECEIVER: Final = 0
PATH: Final = 1
STATUS: Final = 2
ORIGIN: Final = 3  # 3: where the last leg seems to come from: the source, its image, or a point of the bottom
EXTRA: Final = 6  # m before that
SPEED: Final = 7  # m/s, the mean along the path
BOUNCE: Final = 8  # 3: of an echo
LENGTH: Final = 11  # m
END: Final = 12  # 3: where the hearer is expected
GRAZING: Final = 15  # sine of the angle between an echo and the surface
CLOSING: Final = 16  # the source's speed along the path's beginning over that of sound
SOURCE: Final = 17  # 3: where it was sent
PATH_COLUMNS: Final = 20

# what the sender's settings are natively
S_SPEED: Final = 0
S_RANGE: Final = 1
S_RADIUS: Final = 2
S_ECHO_RANGE: Final = 3
S_TOLERANCE: Final = 4
S_SINGLE: Final = 5
S_OCCLUSIONS: Final = 6
S_ROUGHNESS: Final = 7  # k σ, of waves that weaken an echo
S_IN_AIR: Final = 8
SETTINGS: Final = 9

# numbers of owners beside those of robots
GROUND: Final = -1
OBJECT: Final = -2  # an object of the world
NO_OWNER: Final = -3
MIN_SLANT: Final = 0.02  # sine of the angle at which a ray must meet the ground to be thrown back
# columns of a ray of the shotgun: the point of the ground, the way to it (0 for none), and where it goes from there
REFLECTION_COLUMNS: Final = 7


@dataclass(frozen=True, eq=False)
class Obstacles:
    """What may stand in the way, for native code: as of a scene, at places that `move` sets.

    What belongs together (the ground, an object, a robot) is a group, with a ball around it.
    """

    words: NDArray[np.int64]
    rows: NDArray[np.int64]  # of each body in the engine's motion; −1 for what never moves
    local_balls: NDArray[np.float64]  # (n, 4), around each body in its own frame: centre and radius
    places: NDArray[np.float64]  # (n, 12)
    firsts: NDArray[np.int64]  # (groups + 1,): the first body of each group
    owners: NDArray[np.int64]  # (groups,)
    balls: NDArray[np.float64]  # (4, groups), in the world
    near: NDArray[np.float64]  # (groups,), to work in

    @classmethod
    def of(cls, scene: RayScene, owners: Mapping[str, int], only_ground: bool = False) -> Obstacles:
        """Of a scene, or of its ground alone; `owners` are the numbers of the robots that carry parts."""
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
            scene.sphere_words[chosen],
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
        """Put the bodies where they are in `motion` (bodies of the engine, 13)."""
        _move(self.rows, motion, self.local_balls, self.firsts, self.places, self.balls)

    @property
    def native(self) -> tuple[Any, ...]:
        """What `sweep_past` takes first."""
        return self.words, self.places, self.firsts, self.owners, self.balls, self.near


@kernel
def _move(rows: Any, motion: Any, local: Any, firsts: Any, places: Any, balls: Any) -> None:
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
        # around the ball of the first body, large enough for those of the others
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
    """The z of the surface; `sea` (3,) are the addresses of the water's function, its table and its state."""
    at = stack_floats(16)
    memory = floats(at, 16)
    memory[0], memory[1], memory[2], memory[3] = x, y, z, time
    call7(sea[0], sea[1], sea[2], at + 24, 0, 1, at, at + 32)
    return memory[4]


@kernel
def flight_time(x: float, y: float, z: float, u: float, v: float, w: float, gone: float, c: float) -> float:
    """Until a front that has gone so far from its origin reaches a point at (x, y, z) from it that moves steadily.

    |x + v t| = gone + c t; negative if it has passed.
    """
    a = c * c - (u * u + v * v + w * w)
    b = gone * c - (x * u + y * v + z * w)
    rest = x * x + y * y + z * z - gone * gone
    return rest / (b + np.sqrt(max(b * b + a * rest, 0.0)))


@kernel
def _is_open(obstacles: Any, first: int, second: int, radius: float, a: Any, b: Any, contact: Any) -> bool:
    """Whether a sphere finds room from one point to another."""
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    length = np.sqrt(x * x + y * y + z * z)
    if length <= radius:
        return True
    d = (x / length, y / length, z / length)
    start = (a[0] + radius * d[0], a[1] + radius * d[1], a[2] + radius * d[2])
    words, places, firsts, owners, balls, near = obstacles
    far = length - radius
    return sweep_past(words, places, firsts, owners, balls, near, first, second, start, d, radius, far, contact) < 0


@kernel
def _distance(a: Any, b: Any) -> float:
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return np.sqrt(x * x + y * y + z * z)


@kernel
def _leg_time(table: Any, level: float, a: Any, b: Any) -> float:
    across = np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2)
    return travel_time(table, across, level - a[2], level - b[2])


@kernel
def _trace_reflections(
    obstacles: Any, own: int, settings: Any, source: Any, directions: Any, reflections: Any, contact: Any
) -> None:
    """Where rays of the shotgun meet the ground, and how they are thrown back."""
    words, places, firsts, owners, balls, near = obstacles
    radius, far = settings[S_RADIUS], settings[S_ECHO_RANGE]
    for k in range(len(directions)):
        reflections[k, 3] = 0.0
        d = (directions[k, 0], directions[k, 1], directions[k, 2])
        start = (source[0] + radius * d[0], source[1] + radius * d[1], source[2] + radius * d[2])
        group = sweep_past(
            words, places, firsts, owners, balls, near, own, NO_OWNER, start, d, radius, far - radius, contact
        )
        if group < 0 or owners[group] != GROUND or contact[0] <= 0.0:
            continue
        n = (contact[1], contact[2], contact[3])
        slant = d[0] * n[0] + d[1] * n[1] + d[2] * n[2]
        if slant > -MIN_SLANT:
            continue
        # from where the sphere touches on to the ground itself, as far as that is flat
        length = radius + contact[0] + radius / -slant
        for i in range(3):
            reflections[k, i] = source[i] + length * d[i]
            reflections[k, 4 + i] = d[i] - 2.0 * slant * n[i]
        reflections[k, 3] = length


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
    """All paths from a source (position and velocity, 6) to targets (n, 6), as rows of `out`; how many there are.

    There are none from a source that is not in the water and needs it. `skips` (n,) are the targets that hear nothing.
    `table` is the speed of sound by depth, empty where it is the same everywhere. Of the bottom, only paths that are
    open are told where a single one is wanted.
    """
    contact = np.zeros(4)
    c, radius, echo_range = settings[S_SPEED], settings[S_RADIUS], settings[S_ECHO_RANGE]
    occlusions, single = settings[S_OCCLUSIONS] > 0.0, settings[S_SINGLE] > 0.0
    layered = len(table) > 0
    s = (source[0], source[1], source[2])
    level = surface_height(sea, time, s[0], s[1], s[2])
    if s[2] > level and not settings[S_IN_AIR] > 0.0:
        return 0
    if layered:
        c, _ = speed_at(table, level - s[2])
    _trace_reflections(obstacles, own, settings, s, directions, reflections, contact)
    misses = np.empty(len(directions))
    count = 0
    for j in range(len(targets)):
        if skips[j]:
            continue
        p = targets[j]
        ahead = flight_time(p[0] - s[0], p[1] - s[1], p[2] - s[2], p[3], p[4], p[5], 0.0, c)
        t = (p[0] + ahead * p[3], p[1] + ahead * p[4], p[2] + ahead * p[5])
        straight = _distance(s, t)
        if straight > settings[S_RANGE]:
            continue
        other = target_owners[j]

        row = out[count]
        row[RECEIVER], row[PATH], row[STATUS] = j, DIRECT, CLEAR
        row[EXTRA], row[SPEED], row[LENGTH], row[GRAZING] = 0.0, c, straight, 0.0
        for i in range(3):
            row[ORIGIN + i], row[BOUNCE + i], row[END + i] = s[i], np.nan, t[i]
        if occlusions and not _is_open(obstacles, own, other, radius, s, t, contact):
            row[STATUS] = OCCLUDED
        elif layered and straight > 0.0:
            row[SPEED] = straight / _leg_time(table, level, s, t)
        count += 1
        if not echo_range > 0.0:
            continue

        height, share, length = level, 0.0, 0.0
        across = np.sqrt((t[0] - s[0]) ** 2 + (t[1] - s[1]) ** 2)
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
        below, other_below = height - s[2], height - t[2]
        if below > 0.0 and other_below > 0.0:
            length = np.sqrt(across * across + (below + other_below) ** 2)
            share = below / (below + other_below)
            grazing = (below + other_below) / length
            bounce = (s[0] + share * (t[0] - s[0]), s[1] + share * (t[1] - s[1]), height)
            row = out[count]
            row[RECEIVER], row[PATH], row[STATUS] = j, SURFACE, CLEAR
            row[EXTRA], row[SPEED], row[LENGTH], row[GRAZING] = 0.0, c, length, grazing
            row[ORIGIN], row[ORIGIN + 1], row[ORIGIN + 2] = s[0], s[1], 2.0 * height - s[2]
            for i in range(3):
                row[BOUNCE + i], row[END + i] = bounce[i], t[i]
            weaker = np.exp(-2.0 * (settings[S_ROUGHNESS] * grazing) ** 2)
            if length > weaker * echo_range:
                row[STATUS] = TOO_FAR
            elif occlusions and not (
                _is_open(obstacles, own, other, radius, s, bounce, contact)
                and _is_open(obstacles, own, other, radius, bounce, t, contact)
            ):
                row[STATUS] = OCCLUDED
            elif layered:
                seconds = _leg_time(table, height, s, bounce) + _leg_time(table, height, bounce, t)
                row[SPEED] = length / seconds
            count += 1

        for k in range(len(directions)):
            misses[k] = np.inf
            if reflections[k, 3] > 0.0 and reflections[k, 6] != 0.0:
                up = (t[2] - reflections[k, 2]) / reflections[k, 6]
                if up > 0.0:
                    x, y = (
                        reflections[k, 0] + up * reflections[k, 4] - t[0],
                        reflections[k, 1] + up * reflections[k, 5] - t[1],
                    )
                    misses[k] = np.sqrt(x * x + y * y)
        for _ in range(len(directions)):
            k = int(np.argmin(misses))
            if not misses[k] <= settings[S_TOLERANCE]:
                break
            misses[k] = np.inf
            bounce = (reflections[k, 0], reflections[k, 1], reflections[k, 2])
            length = reflections[k, 3] + _distance(bounce, t)
            row = out[count]
            row[RECEIVER], row[PATH], row[STATUS] = j, BOTTOM, CLEAR
            row[EXTRA], row[SPEED], row[LENGTH], row[GRAZING] = reflections[k, 3], c, length, 0.0
            for i in range(3):
                row[ORIGIN + i], row[BOUNCE + i], row[END + i] = bounce[i], bounce[i], t[i]
            if length > echo_range:
                row[STATUS] = TOO_FAR
            elif occlusions and not _is_open(obstacles, own, other, radius, bounce, t, contact):
                row[STATUS] = OCCLUDED
            elif layered:
                row[SPEED] = length / (_leg_time(table, level, s, bounce) + _leg_time(table, level, bounce, t))
            if row[STATUS] == CLEAR or not single:
                count += 1
            if row[STATUS] == CLEAR and single:
                break

    for i in range(count):
        row = out[i]
        first = END if row[PATH] == DIRECT else BOUNCE
        away = (row[first] - s[0], row[first + 1] - s[1], row[first + 2] - s[2])
        length = np.sqrt(away[0] ** 2 + away[1] ** 2 + away[2] ** 2)
        closing = source[3] * away[0] + source[4] * away[1] + source[5] * away[2]
        row[CLOSING] = closing / (length * row[SPEED]) if length > 0.0 else 0.0
        row[SOURCE], row[SOURCE + 1], row[SOURCE + 2] = s
    return count
