"""Native tests of straight channels for sound against triangles, and of lines against the ground, through own BVHs.

A channel is the space that a sphere sweeps along a line from one end to the other. The sphere grows from 0 at the first
end to its full radius, and shrinks to 0 at the second end: its radius is a trapezoid over the distance along the line.
A channel is open if no triangle reaches into it. For a triangle T the function g(s) = dist(c(s), T) − ρ(s), with the
centre c(s) and the radius ρ(s) of the sphere at the distance s, is convex, because the distance from a convex set is
convex and ρ is concave. So a search for its minimum decides exactly whether T blocks the channel.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import integer_pointer, kernel, single_pointer, stack_floats
from skerry.rays.bvh import COUNT, FIRST, NODE_SIZE, TRIANGLE_SIZE
from skerry.rays.sphere_casts import (
    NODES,
    TRIANGLES,
    along_line,
    corners_of,
    cross,
    difference,
    dot,
    is_over_face,
    nearest_on_triangle,
    reciprocal,
)

_GOLDEN: Final = 0.6180339887498949
_SEARCH_STEPS: Final = 48


@kernel
def shape_channel(length: float, radius: float, margin: float, growth: float, other_growth: float) -> Any:
    """Return the trapezoid of a channel: the four distances of its corners, and its largest radius, m.

    Args:
        length: Distance of the two ends, m.
        radius: Full radius, m.
        margin: Distance from each end within which the radius is 0, m.
        growth: Radius per distance from the first end, without unit.
        other_growth: The same for the second end.
    """
    near, far = margin, length - margin
    first, last = near + radius / growth, far - radius / other_growth
    if first <= last:
        return near, first, last, far, radius
    top = (growth * near + other_growth * far) / (growth + other_growth)
    return near, top, top, far, growth * (top - near)


@kernel
def _radius_at(channel: Any, s: float) -> float:
    near, first, last, far, peak = channel
    if s < first:
        return peak * (s - near) / (first - near)
    if s > last:
        return peak * (far - s) / (far - last)
    return peak


@kernel
def _clearance(s: float, p: Any, d: Any, a: Any, b: Any, c: Any, channel: Any) -> float:
    """Return g(s): the distance of a triangle from the sphere at the distance s; negative if they overlap."""
    centre = along_line(p, d, s)
    away = difference(centre, nearest_on_triangle(centre, a, b, c))
    return np.sqrt(dot(away, away)) - _radius_at(channel, s)


@kernel
def reaches_into(a: Any, b: Any, c: Any, p: Any, d: Any, channel: Any) -> bool:
    """Return whether the triangle with the corners a, b and c reaches into the channel from p along d."""
    near, first, last, far, peak = channel
    u, v, w = dot(difference(a, p), d), dot(difference(b, p), d), dot(difference(c, p), d)
    # the triangle is further away than the largest radius outside this part of the line
    low, high = max(near, min(u, v, w) - peak), min(far, max(u, v, w) + peak)
    if low > high:
        return False
    normal = cross(difference(b, a), difference(c, a))
    size = np.sqrt(dot(normal, normal))
    if size > 0.0:
        height, slope = dot(difference(p, a), normal) / size, dot(d, normal) / size
        if height + 0.5 * slope * (low + high) < 0.0:
            height, slope = -height, -slope
        room = min(height + slope * low - _radius_at(channel, low), height + slope * high - _radius_at(channel, high))
        if low < first < high:
            room = min(room, height + slope * first - peak)
        if low < last < high:
            room = min(room, height + slope * last - peak)
        if room >= 0.0:
            return False  # the plane of the triangle is outside the channel
        if slope != 0.0:
            s = -height / slope
            if near < s < far and is_over_face(along_line(p, d, s), a, b, c, normal):
                return True
    # golden-section search for the minimum of the convex function g
    steepest = 1.0 + peak / max(min(first - near, far - last), 1e-9)
    s, t = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    g, h = _clearance(s, p, d, a, b, c, channel), _clearance(t, p, d, a, b, c, channel)
    for _ in range(_SEARCH_STEPS):
        if g < 0.0 or h < 0.0:
            return True
        if min(g, h) > steepest * (high - low):
            return False
        if g < h:
            high, t, h = t, s, g
            s = high - _GOLDEN * (high - low)
            g = _clearance(s, p, d, a, b, c, channel)
        else:
            low, s, g = s, t, h
            t = low + _GOLDEN * (high - low)
            h = _clearance(t, p, d, a, b, c, channel)
    return False


@kernel
def _passes(node: Any, p: Any, inverse: Any, radius: float, near: float, far: float) -> bool:
    """Return whether a line comes within `radius` of a box between two distances."""
    for k in range(3):
        s, t = (node[k] - radius - p[k]) * inverse[k], (node[3 + k] + radius - p[k]) * inverse[k]
        near, far = max(near, min(s, t)), min(far, max(s, t))
    return near <= far + 1e-9


@kernel
def is_blocked_by(nodes: int, triangles: int, p: Any, d: Any, channel: Any, low: float, high: float) -> bool:
    """Return whether a body blocks a channel.

    Args:
        nodes: Address of the nodes of the body's BVH.
        triangles: Address of its triangles.
        p: First end of the channel in the frame of the body, m, (3,).
        d: Unit vector to the second end in the frame of the body, (3,).
        channel: Result of `shape_channel`.
        low: Distance from the first end before which the body is known to be clear, m.
        high: Distance after which it is known to be clear, m.
    """
    inverse = (reciprocal(d[0]), reciprocal(d[1]), reciprocal(d[2]))
    stack = integer_pointer(stack_floats(32))
    stack[0] = 0
    pending = 1
    while pending > 0:
        pending -= 1
        here = nodes + 4 * NODE_SIZE * np.int64(stack[pending])
        if not _passes(single_pointer(here), p, inverse, channel[4], low, high):
            continue
        links = integer_pointer(here)
        first, count = np.int64(links[FIRST]), np.int64(links[COUNT])
        if count < 0:
            stack[pending], stack[pending + 1] = first, first + 1
            pending += 2
            continue
        for i in range(first, first + count):
            a, b, c = corners_of(triangles + 4 * TRIANGLE_SIZE * i)
            if reaches_into(a, b, c, p, d, channel):
                return True
    return False


@kernel
def _find_near(balls: Any, start: Any, direction: Any, radius: float, far: float, near: Any) -> None:
    """Write, for each ball, the squared distance from a line minus the squared distance of contact.

    The loop has no branches, so that the compiler vectorises it.
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
def is_channel_blocked(
    bodies: Any,
    transforms: Any,
    firsts: Any,
    owners: Any,
    balls: Any,
    near: Any,
    skipped: int,
    first: int,
    second: int,
    start: Any,
    direction: Any,
    channel: Any,
) -> bool:
    """Return whether a group of bodies blocks a channel, ignoring the groups of three owners.

    Args:
        bodies: Fields of the bodies for sphere casts, (n, BODY_FIELDS), sorted by group.
        transforms: Transforms of the bodies, (n, 12), float64.
        firsts: Index of the first body of each group, (groups + 1,).
        owners: Owner of each group, (groups,).
        balls: Bounding balls of the groups in the world, (4, groups): centre and radius, m.
        near: Scratch memory, (groups,).
        skipped: Owner that is tested elsewhere.
        first: First owner to ignore.
        second: Second owner to ignore.
        start: First end of the channel, (3,), in the world, m.
        direction: Unit vector to the second end, (3,), in the world.
        channel: Result of `shape_channel`.
    """
    far = channel[3]
    _find_near(balls, start, direction, channel[4], far, near)
    for g in range(len(owners)):
        if near[g] > 0.0 or owners[g] == first or owners[g] == second or owners[g] == skipped:
            continue
        for i in range(firsts[g], firsts[g + 1]):
            m = transforms[i]
            x, y, z = start[0] - m[3], start[1] - m[7], start[2] - m[11]
            p = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
            x, y, z = direction[0], direction[1], direction[2]
            d = (m[0] * x + m[4] * y + m[8] * z, m[1] * x + m[5] * y + m[9] * z, m[2] * x + m[6] * y + m[10] * z)
            if is_blocked_by(bodies[i, NODES], bodies[i, TRIANGLES], p, d, channel, 0.0, far):
                return True
    return False


@kernel
def _crossing(triangle: int, p: Any, d: Any) -> float:
    """Return the distance at which a line meets a triangle, or infinity (Möller & Trumbore 1997)."""
    a, b, c = corners_of(triangle)
    e, f, m = difference(b, a), difference(c, a), difference(p, a)
    h = cross(d, f)
    size = dot(e, h)
    if size == 0.0:
        return np.inf
    u = dot(m, h) / size
    k = cross(m, e)
    v = dot(d, k) / size
    if u < -1e-9 or v < -1e-9 or u + v > 1.0 + 1e-9:
        return np.inf
    return dot(f, k) / size


@kernel
def cast_line(nodes: int, triangles: int, p: Any, d: Any, near: float, far: float) -> Any:
    """Return the distance at which a line first meets a body, the unit normal there, and the triangle.

    Args:
        nodes: Address of the nodes of the body's BVH.
        triangles: Address of its triangles.
        p: Start of the line in the frame of the body, m, (3,).
        d: Unit vector of the line in the frame of the body, (3,).
        near: Distance from which the body is searched, m.
        far: Distance up to which it is searched, m.

    Returns:
        Distance, infinite if the line misses the body; normal towards the start (3,); address of the triangle, or 0.
    """
    inverse = (reciprocal(d[0]), reciprocal(d[1]), reciprocal(d[2]))
    stack = integer_pointer(stack_floats(32))
    stack[0] = 0
    pending, best = 1, np.inf
    found: Any = np.int64(0)
    while pending > 0:
        pending -= 1
        here = nodes + 4 * NODE_SIZE * np.int64(stack[pending])
        if not _passes(single_pointer(here), p, inverse, 0.0, near, min(far, best)):
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
            triangle = triangles + 4 * TRIANGLE_SIZE * i
            s = _crossing(triangle, p, d)
            if near <= s <= far and s < best:
                best, found = s, triangle
    if found == 0:
        return np.inf, (0.0, 0.0, 0.0), found
    a, b, c = corners_of(found)
    n = cross(difference(b, a), difference(c, a))
    scale = 1.0 / np.sqrt(dot(n, n))
    if dot(n, d) > 0.0:
        scale = -scale
    return best, (scale * n[0], scale * n[1], scale * n[2]), found
