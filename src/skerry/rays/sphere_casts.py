"""Spheres swept along a line to their first contact, exactly, through Skerry's own trees; for sound that needs room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import integer_pointer, kernel, single_pointer, stack_floats
from skerry.rays.bvh import COUNT, FIRST, NODE_SIZE, TRIANGLE_SIZE

# places in the words that say what body a sphere may meet
NODES: Final = 0
TRIANGLES: Final = 1
MASK: Final = 2
BODY_WORDS: Final = 3

_SMALLEST: Final = 1e-30


@dataclass(frozen=True, eq=False)
class Contact:
    """Where a swept sphere first touches anything."""

    distance: float  # that its centre has gone, m; infinite where it touches nothing
    normal: NDArray[np.float64]  # in the world, of length 1, from what is touched to the centre; 0 where there is none
    material: int  # place in the scene's materials, or −1
    body: int  # place in the scene's bodies, or −1


@kernel
def _corners(triangle: int) -> Any:
    """The corners of a triangle, as three triples of float64."""
    p = single_pointer(triangle)
    a = (np.float64(p[0]), np.float64(p[1]), np.float64(p[2]))
    b = (np.float64(p[3]), np.float64(p[4]), np.float64(p[5]))
    c = (np.float64(p[6]), np.float64(p[7]), np.float64(p[8]))
    return a, b, c


@kernel
def _minus(a: Any, b: Any) -> Any:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def _along(a: Any, b: Any, s: float) -> Any:
    """a + s b"""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def _dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def _cross(a: Any, b: Any) -> Any:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def _over_face(p: Any, a: Any, b: Any, c: Any, normal: Any) -> bool:
    """Whether a point lies straight above or below the inside of a triangle."""
    return (
        _dot(normal, normal) > 0.0
        and _dot(_cross(_minus(b, a), _minus(p, a)), normal) >= 0.0
        and _dot(_cross(_minus(c, b), _minus(p, b)), normal) >= 0.0
        and _dot(_cross(_minus(a, c), _minus(p, c)), normal) >= 0.0
    )


@kernel
def _nearest_on_edge(p: Any, a: Any, b: Any) -> Any:
    e = _minus(b, a)
    length = _dot(e, e)
    if not length > 0.0:
        return a
    return _along(a, e, min(max(_dot(_minus(p, a), e) / length, 0.0), 1.0))


@kernel
def nearest_on_triangle(p: Any, a: Any, b: Any, c: Any) -> Any:
    """The point of a triangle that is nearest to p."""
    normal = _cross(_minus(b, a), _minus(c, a))
    if _over_face(p, a, b, c, normal):
        return _along(p, normal, -_dot(_minus(p, a), normal) / _dot(normal, normal))
    best = _nearest_on_edge(p, a, b)
    gap = _dot(_minus(p, best), _minus(p, best))
    for q in (_nearest_on_edge(p, b, c), _nearest_on_edge(p, c, a)):
        away = _minus(p, q)
        if _dot(away, away) < gap:
            best, gap = q, _dot(away, away)
    return best


@kernel
def _to_ball(p: Any, d: Any, centre: Any, radius: float) -> float:
    """How far from p along d a ball begins; p is outside it."""
    m = _minus(p, centre)
    b = _dot(m, d)
    across = _along(m, d, -b)  # their nearest approach: less is lost so than in b² − |m|² + r²
    room = radius * radius - _dot(across, across)
    if b >= 0.0 or room < 0.0:
        return np.inf
    return max(-b - np.sqrt(room), 0.0)


@kernel
def _to_capsule(p: Any, d: Any, a: Any, b: Any, radius: float) -> float:
    """How far from p along d the points begin that are within `radius` of an edge; p is not one of them."""
    e, m = _minus(b, a), _minus(p, a)
    length = _dot(e, e)
    if length > 0.0:
        # The line as seen along the edge: m and d without their parts along it.
        me, de = _dot(m, e) / length, _dot(d, e) / length
        mp, dp = _along(m, e, -me), _along(d, e, -de)
        across = _dot(dp, dp)
        if across > 1e-18:
            t = -_dot(mp, dp) / across
            miss = _along(mp, dp, t)
            room = (radius * radius - _dot(miss, miss)) / across
            if room < 0.0:
                return np.inf
            t -= np.sqrt(room)
            if t >= 0.0 and 0.0 <= me + t * de <= 1.0:
                return t
    return min(_to_ball(p, d, a, radius), _to_ball(p, d, b, radius))


@kernel
def _to_triangle(p: Any, d: Any, triangle: int, radius: float, best: float) -> Any:
    """How far a sphere goes from p along d to a triangle, and the square of its distance from it where that is 0.

    The points within `radius` of a triangle are a convex body of faces, cylinders and balls. A sphere that moves away
    from the triangle at the start will not meet it, even if it touches it there. Beyond `best` nobody asks.
    """
    a, b, c = _corners(triangle)
    normal = _cross(_minus(b, a), _minus(c, a))
    size = np.sqrt(_dot(normal, normal))
    if size > 0.0:
        height, sinking = _dot(_minus(p, a), normal) / size, _dot(d, normal) / size
        if height < 0.0:
            height, sinking = -height, -sinking
        if height > radius:
            if sinking >= 0.0:
                return np.inf, np.inf
            t = (radius - height) / sinking  # at which it touches the plane, and so at the earliest the triangle
            if t > best or _over_face(_along(p, d, t), a, b, c, normal):
                return t, np.inf
            t = min(_to_capsule(p, d, a, b, radius), _to_capsule(p, d, b, c, radius), _to_capsule(p, d, c, a, radius))
            return t, np.inf
    away = _minus(p, nearest_on_triangle(p, a, b, c))
    gap = _dot(away, away)
    if _dot(away, d) > 0.0:
        return np.inf, gap
    if gap <= radius * radius:
        return 0.0, gap
    t = min(_to_capsule(p, d, a, b, radius), _to_capsule(p, d, b, c, radius), _to_capsule(p, d, c, a, radius))
    return t, gap


@kernel
def _meets(node: Any, p: Any, inverse: Any, radius: float, far: float) -> bool:
    """Whether the centre of a sphere comes near a box."""
    near = 0.0
    for k in range(3):
        s, t = (node[k] - radius - p[k]) * inverse[k], (node[3 + k] + radius - p[k]) * inverse[k]
        near, far = max(near, min(s, t)), min(far, max(s, t))
    return near <= far * (1.0 + 1e-12)


@kernel
def _one_over(x: float) -> float:
    return 1.0 / (x if abs(x) > _SMALLEST else _SMALLEST)


@kernel
def _sweep_body(nodes: int, triangles: int, p: Any, d: Any, radius: float, best: float, best_gap: float) -> Any:
    """The first triangle of a body that a sphere meets before `best`, as its place in the tree, or −1."""
    inverse = (_one_over(d[0]), _one_over(d[1]), _one_over(d[2]))
    stack = integer_pointer(stack_floats(32))
    stack[0] = 0
    waiting, found = 1, -1
    while waiting > 0:
        waiting -= 1
        here = nodes + 4 * NODE_SIZE * np.int64(stack[waiting])
        if not _meets(single_pointer(here), p, inverse, radius, best):
            continue
        links = integer_pointer(here)
        first, count = np.int64(links[FIRST]), np.int64(links[COUNT])
        if count < 0:
            upwards = np.int64(d[-1 - count] >= 0.0)
            stack[waiting] = first + upwards
            stack[waiting + 1] = first + 1 - upwards
            waiting += 2
            continue
        for i in range(first, first + count):
            t, gap = _to_triangle(p, d, triangles + 4 * TRIANGLE_SIZE * i, radius, best)
            if t < best or (t == 0.0 and best == 0.0 and gap < best_gap):
                best, best_gap, found = t, gap, i
    return found, best, best_gap


@kernel
def _write_normal(triangle: int, p: Any, d: Any, distance: float, m: Any, contact: Any) -> None:
    """The normal of a contact, in the world, after the distance in `contact`; m is the body's place."""
    a, b, c = _corners(triangle)
    centre = _along(p, d, distance)
    n = _minus(centre, nearest_on_triangle(centre, a, b, c))
    if not _dot(n, n) > 0.0:  # the centre lies on the triangle
        n = _cross(_minus(b, a), _minus(c, a))
        if _dot(n, d) > 0.0:
            n = (-n[0], -n[1], -n[2])
    scale = 1.0 / np.sqrt(max(_dot(n, n), 1e-300))
    for k in range(3):
        contact[1 + k] = scale * (m[4 * k] * n[0] + m[4 * k + 1] * n[1] + m[4 * k + 2] * n[2])


@kernel
def sweep(
    bodies: Any, places: Any, mask: int, start: Any, direction: Any, radius: float, far: float, contact: Any
) -> Any:
    """The body and the face that a sphere touches first, or −1; `contact` gets the distance and the normal.

    `bodies` (n, 3) are words, `places` (n, 12) the bodies' transforms; the direction has length 1.
    """
    best, best_gap, body, face = np.nextafter(far, np.inf), np.inf, -1, -1
    for i in range(len(bodies)):
        if bodies[i, MASK] & mask == 0:
            continue
        m = places[i].astype(np.float64)
        x, y, z = start[0] - m[3], start[1] - m[7], start[2] - m[11]
        p = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
        x, y, z = direction[0], direction[1], direction[2]
        d = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
        found, best, best_gap = _sweep_body(bodies[i, NODES], bodies[i, TRIANGLES], p, d, radius, best, best_gap)
        if found < 0:
            continue
        triangle = bodies[i, TRIANGLES] + 4 * TRIANGLE_SIZE * found
        body, face = i, integer_pointer(triangle)[9]
        contact[0] = best
        _write_normal(triangle, p, d, best, m, contact)
    return body, face


@kernel
def _find_near(balls: Any, start: Any, direction: Any, radius: float, far: float, near: Any) -> None:
    """By how much the square of a sphere's distance from each ball exceeds what it takes to meet it.

    Without a branch, so that it is done for several balls at once.
    """
    px, py, pz = start[0], start[1], start[2]
    dx, dy, dz = direction[0], direction[1], direction[2]
    bx, by, bz, size = balls[0], balls[1], balls[2], balls[3]
    for i in range(len(near)):
        x, y, z = bx[i] - px, by[i] - py, bz[i] - pz
        along = x * dx + y * dy + z * dz
        along = along if along > 0.0 else 0.0
        along = along if along < far else far
        x, y, z = x - along * dx, y - along * dy, z - along * dz
        reach = size[i] + radius
        near[i] = x * x + y * y + z * z - reach * reach


@kernel
def sweep_past(
    bodies: Any,
    places: Any,
    firsts: Any,
    owners: Any,
    balls: Any,
    near: Any,
    first: int,
    second: int,
    start: Any,
    direction: Any,
    radius: float,
    far: float,
    contact: Any,
) -> int:
    """The group of bodies that a sphere touches first, or −1, past those that belong to one of two owners.

    `places` (n, 12) are of float64. Bodies are in groups: `firsts` (groups + 1,) are their first bodies, `owners`
    (groups,) the numbers of whom they belong to, `balls` (4, groups) lie around them in the world, centre and radius,
    and `near` (groups,) is memory to work in. Otherwise as `sweep`; for many sweeps among many bodies.
    """
    best, best_gap, group = np.nextafter(far, np.inf), np.inf, -1
    _find_near(balls, start, direction, radius, far, near)
    for g in range(len(owners)):
        if near[g] > 0.0 or owners[g] == first or owners[g] == second:
            continue
        for i in range(firsts[g], firsts[g + 1]):
            m = places[i]
            x, y, z = start[0] - m[3], start[1] - m[7], start[2] - m[11]
            p = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
            x, y, z = direction[0], direction[1], direction[2]
            d = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
            found, best, best_gap = _sweep_body(bodies[i, NODES], bodies[i, TRIANGLES], p, d, radius, best, best_gap)
            if found >= 0:
                group = g
                contact[0] = best
                _write_normal(bodies[i, TRIANGLES] + 4 * TRIANGLE_SIZE * found, p, d, best, m, contact)
    return group
