"""Exact sphere casts: a sphere moves along a line to its first contact, through Skerry's own BVHs. Used for sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import integer_pointer, kernel, single_pointer, stack_floats
from skerry.rays.bvh import COUNT, FIRST, NODE_SIZE, TRIANGLE_SIZE

# fields of a body for sphere casts, int64
NODES: Final = 0
TRIANGLES: Final = 1
MASK: Final = 2
BODY_FIELDS: Final = 3

_SMALLEST: Final = 1e-30


@dataclass(frozen=True, eq=False)
class SphereHit:
    """First contact of a swept sphere."""

    distance: float  # distance moved by the centre, m; infinite without a contact
    normal: NDArray[np.float64]  # (3,), in the world, of length 1, from the contact to the centre; 0 without a contact
    material: int  # index into the scene's materials, or −1
    body: int  # index into the scene's bodies, or −1


@kernel
def corners_of(triangle: int) -> Any:
    """Return the corners of a triangle as three triples of float64."""
    p = single_pointer(triangle)
    a = (np.float64(p[0]), np.float64(p[1]), np.float64(p[2]))
    b = (np.float64(p[3]), np.float64(p[4]), np.float64(p[5]))
    c = (np.float64(p[6]), np.float64(p[7]), np.float64(p[8]))
    return a, b, c


@kernel
def difference(a: Any, b: Any) -> Any:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def along_line(a: Any, b: Any, s: float) -> Any:
    """Return a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Any, b: Any) -> Any:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def is_over_face(p: Any, a: Any, b: Any, c: Any, normal: Any) -> bool:
    """Return whether the projection of a point on the triangle's plane lies inside the triangle."""
    return (
        dot(normal, normal) > 0.0
        and dot(cross(difference(b, a), difference(p, a)), normal) >= 0.0
        and dot(cross(difference(c, b), difference(p, b)), normal) >= 0.0
        and dot(cross(difference(a, c), difference(p, c)), normal) >= 0.0
    )


@kernel
def _nearest_on_edge(p: Any, a: Any, b: Any) -> Any:
    e = difference(b, a)
    length = dot(e, e)
    if not length > 0.0:
        return a
    return along_line(a, e, min(max(dot(difference(p, a), e) / length, 0.0), 1.0))


@kernel
def nearest_on_triangle(p: Any, a: Any, b: Any, c: Any) -> Any:
    """Return the point of a triangle that is nearest to p."""
    normal = cross(difference(b, a), difference(c, a))
    if is_over_face(p, a, b, c, normal):
        return along_line(p, normal, -dot(difference(p, a), normal) / dot(normal, normal))
    best = _nearest_on_edge(p, a, b)
    gap = dot(difference(p, best), difference(p, best))
    for q in (_nearest_on_edge(p, b, c), _nearest_on_edge(p, c, a)):
        away = difference(p, q)
        if dot(away, away) < gap:
            best, gap = q, dot(away, away)
    return best


@kernel
def _distance_to_ball(p: Any, d: Any, centre: Any, radius: float) -> float:
    """Return the distance from p along d to a ball; p is outside the ball."""
    m = difference(p, centre)
    b = dot(m, d)
    across = along_line(m, d, -b)  # closest approach; loses less precision than b² − |m|² + r²
    room = radius * radius - dot(across, across)
    if b >= 0.0 or room < 0.0:
        return np.inf
    return max(-b - np.sqrt(room), 0.0)


@kernel
def _distance_to_capsule(p: Any, d: Any, a: Any, b: Any, radius: float) -> float:
    """Return the distance from p along d to the points within `radius` of an edge; p is not one of them."""
    e, m = difference(b, a), difference(p, a)
    length = dot(e, e)
    if length > 0.0:
        # m and d without their components along the edge
        me, de = dot(m, e) / length, dot(d, e) / length
        mp, dp = along_line(m, e, -me), along_line(d, e, -de)
        across = dot(dp, dp)
        if across > 1e-18:
            t = -dot(mp, dp) / across
            miss = along_line(mp, dp, t)
            room = (radius * radius - dot(miss, miss)) / across
            if room < 0.0:
                return np.inf
            t -= np.sqrt(room)
            if t >= 0.0 and 0.0 <= me + t * de <= 1.0:
                return t
    return min(_distance_to_ball(p, d, a, radius), _distance_to_ball(p, d, b, radius))


@kernel
def _distance_to_triangle(p: Any, d: Any, triangle: int, radius: float, best: float) -> Any:
    """Return the distance that a sphere moves from p along d to a triangle, and the squared gap at the start.

    The points within `radius` of a triangle form a convex body of faces, cylinders and balls. A sphere that moves away
    from the triangle does not hit it, even if it touches it at the start. Distances beyond `best` may be inexact. The
    gap is infinite where it is not needed.
    """
    a, b, c = corners_of(triangle)
    normal = cross(difference(b, a), difference(c, a))
    size = np.sqrt(dot(normal, normal))
    if size > 0.0:
        height, sinking = dot(difference(p, a), normal) / size, dot(d, normal) / size
        if height < 0.0:
            height, sinking = -height, -sinking
        if height > radius:
            if sinking >= 0.0:
                return np.inf, np.inf
            t = (radius - height) / sinking  # contact with the plane; contact with the triangle is not earlier
            if t > best or is_over_face(along_line(p, d, t), a, b, c, normal):
                return t, np.inf
            t = min(
                _distance_to_capsule(p, d, a, b, radius),
                _distance_to_capsule(p, d, b, c, radius),
                _distance_to_capsule(p, d, c, a, radius),
            )
            return t, np.inf
    away = difference(p, nearest_on_triangle(p, a, b, c))
    gap = dot(away, away)
    if dot(away, d) > 0.0:
        return np.inf, gap
    if gap <= radius * radius:
        return 0.0, gap
    t = min(
        _distance_to_capsule(p, d, a, b, radius),
        _distance_to_capsule(p, d, b, c, radius),
        _distance_to_capsule(p, d, c, a, radius),
    )
    return t, gap


@kernel
def _passes_box(node: Any, p: Any, inverse: Any, radius: float, far: float) -> bool:
    """Return whether the centre of a sphere comes within `radius` of a box."""
    near = 0.0
    for k in range(3):
        s, t = (node[k] - radius - p[k]) * inverse[k], (node[3 + k] + radius - p[k]) * inverse[k]
        near, far = max(near, min(s, t)), min(far, max(s, t))
    return near <= far * (1.0 + 1e-12)


@kernel
def reciprocal(x: float) -> float:
    return 1.0 / (x if abs(x) > _SMALLEST else _SMALLEST)


@kernel
def _sweep_body(nodes: int, triangles: int, p: Any, d: Any, radius: float, best: float, best_gap: float) -> Any:
    """Return the first triangle that a sphere hits before `best`, as its index in the BVH or −1, and the new bests."""
    inverse = (reciprocal(d[0]), reciprocal(d[1]), reciprocal(d[2]))
    stack = integer_pointer(stack_floats(32))
    stack[0] = 0
    pending, found = 1, -1
    while pending > 0:
        pending -= 1
        here = nodes + 4 * NODE_SIZE * np.int64(stack[pending])
        if not _passes_box(single_pointer(here), p, inverse, radius, best):
            continue
        links = integer_pointer(here)
        first, count = np.int64(links[FIRST]), np.int64(links[COUNT])
        if count < 0:
            upwards = np.int64(d[-1 - count] >= 0.0)
            stack[pending] = first + upwards
            stack[pending + 1] = first + 1 - upwards
            pending += 2
            continue
        for i in range(first, first + count):
            t, gap = _distance_to_triangle(p, d, triangles + 4 * TRIANGLE_SIZE * i, radius, best)
            if t < best or (t == 0.0 and best == 0.0 and gap < best_gap):
                best, best_gap, found = t, gap, i
    return found, best, best_gap


@kernel
def _write_normal(triangle: int, p: Any, d: Any, distance: float, m: Any, hit: Any) -> None:
    """Write the normal of a contact in the world to `hit[1:4]`; m is the body's transform."""
    a, b, c = corners_of(triangle)
    centre = along_line(p, d, distance)
    n = difference(centre, nearest_on_triangle(centre, a, b, c))
    if not dot(n, n) > 0.0:  # the centre lies on the triangle
        n = cross(difference(b, a), difference(c, a))
        if dot(n, d) > 0.0:
            n = (-n[0], -n[1], -n[2])
    scale = 1.0 / np.sqrt(max(dot(n, n), 1e-300))
    for k in range(3):
        hit[1 + k] = scale * (m[4 * k] * n[0] + m[4 * k + 1] * n[1] + m[4 * k + 2] * n[2])


@kernel
def sweep_sphere(
    bodies: Any, transforms: Any, mask: int, start: Any, direction: Any, radius: float, far: float, hit: Any
) -> Any:
    """Return the body and the face that a sphere touches first, or −1 and −1.

    Args:
        bodies: Fields of the bodies, (n, BODY_FIELDS).
        transforms: Transforms of the bodies, (n, 12).
        mask: Bits of the bodies that the sphere can touch.
        start: Centre of the sphere at the start, (3,), in the world, m.
        direction: Unit vector of the motion, (3,), in the world.
        radius: Radius of the sphere, m.
        far: Distance that the centre moves at most, m.
        hit: Output (4,): distance moved by the centre, m, and normal in the world.
    """
    best, best_gap, body, face = np.nextafter(far, np.inf), np.inf, -1, -1
    for i in range(len(bodies)):
        if bodies[i, MASK] & mask == 0:
            continue
        m = transforms[i].astype(np.float64)
        x, y, z = start[0] - m[3], start[1] - m[7], start[2] - m[11]
        p = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
        x, y, z = direction[0], direction[1], direction[2]
        d = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
        found, best, best_gap = _sweep_body(bodies[i, NODES], bodies[i, TRIANGLES], p, d, radius, best, best_gap)
        if found < 0:
            continue
        triangle = bodies[i, TRIANGLES] + 4 * TRIANGLE_SIZE * found
        body, face = i, integer_pointer(triangle)[9]
        hit[0] = best
        _write_normal(triangle, p, d, best, m, hit)
    return body, face
