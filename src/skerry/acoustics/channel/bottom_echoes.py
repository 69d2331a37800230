"""Native search for the points of the bottom by which sound reaches a receiver.

A bundle of rays is traced from the source to the ground once per sound. From the rays whose mirror reflections pass
nearest to a receiver, the bounce point is refined on the ground's triangles until the path closes. By Fermat's
principle the bounce point is a point p of the ground where the length |s − p| + |p − t| of the path is stationary. On
the plane of a triangle the shortest path is that by the mirror image of the source, in closed form: the foot points of
s and t on the plane, divided in the ratio of their heights. On an edge it is the same with the distances from the edge.

The search jumps to the mirror point of the plane that it has reached, as long as the path gets shorter. It then walks
from triangle to triangle, each time to the point of the triangle with the shortest path. It ends at a mirror point of a
triangle, or at a crest: an edge or corner between triangles that slope away from each other.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.acoustics.channel.obstacles import cast_to_ground, find_ground, ground_at, mean_ground
from skerry.core.kernels import kernel
from skerry.rays.sphere_casts import along_line, corners_of, cross, difference, dot

# Columns of a reflected ray
R_POINT: Final = 0  # 3 columns: point on the ground
R_LENGTH: Final = 3  # distance of that point from the source, m; 0 for a ray that is not reflected
R_DIRECTION: Final = 4  # 3 columns: direction after the reflection
R_NORMAL: Final = 7  # 3 columns: normal of the ground, towards the source
REFLECTION_COLUMNS: Final = 10

MIN_SLANT: Final = 0.02  # sine of the smallest angle between a ray and the ground at which the ground reflects it
MAX_JUMPS: Final = 6  # largest number of jumps from plane to plane
MAX_TRIANGLES: Final = 32  # largest number of triangles on the way to a bounce point
MAX_MEAN_STEPS: Final = 12  # largest number of steps on the mean ground
GAIN: Final = 1e-6  # smallest difference of two lengths that counts, m
BEYOND: Final = 1e-4  # distance beyond an edge at which the next triangle is looked for, m
CLEARLY: Final = 0.05  # difference of a cosine, or share of a length, by which a point is clearly not the one sought
FLAT: Final = 1e-7  # smallest decrease of the length of a path per metre of ground that counts
MIN_GRAZING: Final = 1e-4  # sine of the smallest angle between an echo and the ground
FAR: Final = 1e9  # coordinate of rays that are not reflected, m
AROUND: Final = tuple((float(np.cos(a)), float(np.sin(a))) for a in (np.arange(8) + 0.5) * np.pi / 4)
"""Unit vectors in eight horizontal directions."""
STEEP: Final = 0.1  # vertical part of the normal below which the ground is a wall


@kernel
def trace_reflections(obstacles: Any, far: float, source: Any, directions: Any, reflections: Any) -> None:
    """Trace rays to the ground and write where and in which direction each is reflected.

    Args:
        obstacles: `Obstacles.native`.
        far: Distance up to which the ground is searched, m.
        source: Start of the rays, m, (3,).
        directions: Unit vectors, (n, 3).
        reflections: Output, (n, REFLECTION_COLUMNS).
    """
    for k in range(len(directions)):
        d = (directions[k, 0], directions[k, 1], directions[k, 2])
        length, n = cast_to_ground(obstacles, source, d, far)
        slant = dot(d, n)
        reflections[k, R_LENGTH] = 0.0
        if slant > -MIN_SLANT:
            continue
        reflections[k, R_LENGTH] = length
        for i in range(3):
            reflections[k, R_POINT + i] = source[i] + length * d[i]
            reflections[k, R_DIRECTION + i] = d[i] - 2.0 * slant * n[i]
            reflections[k, R_NORMAL + i] = n[i]


@kernel
def _miss(p: Any, r: Any, t: Any) -> float:
    """Return how far from `t` a ray from p along r passes at the height of `t`, m; infinity if it never gets there."""
    up = (t[2] - p[2]) / r[2] if r[2] != 0.0 else -1.0
    if not up > 0.0:
        return np.inf
    x, y = p[0] + up * r[0] - t[0], p[1] + up * r[1] - t[1]
    return np.sqrt(x * x + y * y)


@kernel
def line_up(reflections: Any, lines: Any) -> None:
    """Write where each reflected ray is as a function of the height z, for `measure_misses`.

    Args:
        reflections: Rows of `trace_reflections`.
        lines: Output, (4, n): x and y at z = 0, and their changes per metre of height. A ray that is not reflected
            upwards stays at the far point x = y = FAR.
    """
    for k in range(len(reflections)):
        row = reflections[k]
        lines[0, k], lines[1, k], lines[2, k], lines[3, k] = FAR, FAR, 0.0, 0.0
        if row[R_LENGTH] > 0.0:
            lines[0, k] = 0.5 * FAR + row[R_LENGTH]
            if row[R_DIRECTION + 2] > 0.0:
                u, v = row[R_DIRECTION] / row[R_DIRECTION + 2], row[R_DIRECTION + 1] / row[R_DIRECTION + 2]
                lines[0, k], lines[1, k], lines[2, k], lines[3, k] = row[0] - row[2] * u, row[1] - row[2] * v, u, v


@kernel
def measure_misses(lines: Any, t: Any, misses: Any) -> None:
    """Write the squared distance from `t` at which each reflected ray passes at the height of `t`, m²."""
    a, b, u, v = lines[0], lines[1], lines[2], lines[3]
    for k in range(len(misses)):
        x, y = a[k] + t[2] * u[k] - t[0], b[k] + t[2] * v[k] - t[1]
        misses[k] = x * x + y * y


@kernel
def _gap(a: Any, b: Any) -> float:
    """Return the distance of two points, m."""
    c = difference(a, b)
    return np.sqrt(dot(c, c))


@kernel
def _path_length(s: Any, p: Any, t: Any) -> float:
    a, b = difference(p, s), difference(t, p)
    return np.sqrt(dot(a, a)) + np.sqrt(dot(b, b))


@kernel
def _mirror_point(s: Any, t: Any, p: Any, n: Any) -> Any:
    """Return the point of the plane through p with the normal n by which the path from s to t is shortest.

    If s and t are on different sides of the plane, this is the point at which the line from s to t crosses it.
    """
    height, other_height = dot(difference(s, p), n), dot(difference(t, p), n)
    share = abs(height) / max(abs(height) + abs(other_height), 1e-300)
    foot, other_foot = along_line(s, n, -height), along_line(t, n, -other_height)
    return along_line(foot, difference(other_foot, foot), share)


@kernel
def _edge_point(s: Any, t: Any, a: Any, b: Any) -> float:
    """Return the share of the way from a to b at which the path from s by the line of a and b to t is shortest."""
    e, u, v = difference(b, a), difference(s, a), difference(t, a)
    size = dot(e, e)
    along, other_along = dot(u, e) / size, dot(v, e) / size
    u, v = along_line(u, e, -along), along_line(v, e, -other_along)
    away, other_away = np.sqrt(dot(u, u)), np.sqrt(dot(v, v))
    return (along * other_away + other_along * away) / (away + other_away)


@kernel
def _locate(obstacles: Any, s: Any, aim: Any, by_ray: bool) -> Any:
    """Return the ground at a point: point (3,), normal towards the source, corners and number of the triangle.

    Args:
        obstacles: `Obstacles.native`.
        s: Source, m, (3,).
        aim: Point near the ground, m, (3,).
        by_ray: Whether the ground is searched on the line from the source instead of above and below the point.

    Returns:
        The number is 0 if there is no ground.
    """
    if by_ray:
        d = difference(aim, s)
        reach = np.sqrt(dot(d, d))
        d = (d[0] / reach, d[1] / reach, d[2] / reach)
        hit, _, triangle = find_ground(obstacles, s, d, 0.0, 2.0 * reach)
        p = along_line(s, d, min(hit, reach)) if triangle == 0 else along_line(s, d, hit)
        none = (0.0, 0.0, 0.0)
        corners = corners_of(triangle) if triangle != 0 else (none, none, none)
    else:
        height, corners, triangle = ground_at(obstacles, aim)
        p = (aim[0], aim[1], height)
    a, b, c = corners
    n = cross(difference(b, a), difference(c, a))
    scale = 1.0 / np.sqrt(max(dot(n, n), 1e-300))
    if dot(n, difference(s, p)) < 0.0:
        scale = -scale
    return p, (scale * n[0], scale * n[1], scale * n[2]), corners, triangle


@kernel
def _sides(p: Any, corners: Any) -> Any:
    """Return on which side of each edge of a triangle a point of its plane lies: negative outside the triangle."""
    a, b, c = corners
    n = cross(difference(b, a), difference(c, a))
    return (
        dot(cross(difference(b, a), difference(p, a)), n),
        dot(cross(difference(c, b), difference(p, b)), n),
        dot(cross(difference(a, c), difference(p, c)), n),
    )


@kernel
def _shortest_on_edges(s: Any, t: Any, corners: Any, sides: Any) -> Any:
    """Return the point of a triangle's edges by which the path from s to t is shortest, and the length of the path.

    The length is a convex function on the plane of the triangle. So the point lies on an edge that has the mirror point
    of the plane outside; other edges are not searched.

    Args:
        s: Source, m, (3,).
        t: Receiver, m, (3,).
        corners: Corners of the triangle.
        sides: `_sides` of the mirror point.
    """
    best, point = np.inf, corners[0]
    for k in range(3):
        if sides[k] >= 0.0:
            continue
        a, b = corners[k], corners[(k + 1) % 3]
        q = along_line(a, difference(b, a), min(max(_edge_point(s, t, a, b), 0.0), 1.0))
        length = _path_length(s, q, t)
        if length < best:
            best, point = length, q
    return point, best


@kernel
def _gradient(s: Any, p: Any, t: Any) -> Any:
    """Return the gradient of the length of the path by p: the sum of the unit vectors from s and from t to p.

    Half its size is the sine of the angle between the path and the plane that reflects it at p.
    """
    u, v = difference(p, s), difference(p, t)
    share, other_share = 1.0 / max(np.sqrt(dot(u, u)), 1e-9), 1.0 / max(np.sqrt(dot(v, v)), 1e-9)
    return (share * u[0] + other_share * v[0], share * u[1] + other_share * v[1], share * u[2] + other_share * v[2])


@kernel
def _decrease(g: Any, p: Any, corners: Any) -> float:
    """Return how fast the length of the path decreases from a corner p of a triangle along its two edges.

    Within a triangle the length is linear to first order, so it decreases in no direction if not along an edge.

    Args:
        g: `_gradient` at p.
        p: Corner, m, (3,).
        corners: Corners of the triangle.

    Returns:
        The larger decrease per metre, plus a small part of the other one; 0 if p is not a corner.
    """
    for k in range(3):
        if _gap(corners[k], p) < 1e-6:
            e, f = difference(corners[(k + 1) % 3], p), difference(corners[(k + 2) % 3], p)
            x, y = -dot(g, e) / np.sqrt(dot(e, e)), -dot(g, f) / np.sqrt(dot(f, f))
            return max(x, y) + 0.01 * min(x, y)
    return 0.0


@kernel
def _decrease_along(heights: Any, corner: Any, i: int, j: int, x: int, y: int, g: Any) -> float:
    """Return how fast the length of the path decreases from corner (i, j) of a heightfield to a neighbour, per metre.

    Args:
        heights: Heights of the corners, m.
        corner: Corner of the grid and sizes of a cell, (4,).
        i: Column of the corner.
        j: Row of the corner.
        x: Columns from the corner to the neighbour.
        y: Rows from the corner to the neighbour.
        g: `_gradient` at the corner.

    Returns:
        0 if there is no such neighbour.
    """
    if not (0 <= i + x < heights.shape[1] and 0 <= j + y < heights.shape[0]):
        return 0.0
    e = (x * corner[2], y * corner[3], heights[j + y, i + x] - heights[j, i])
    return -dot(g, e) / np.sqrt(dot(e, e))


@kernel
def _way_from_corner(heights: Any, corner: Any, p: Any, g: Any) -> Any:
    """Return the horizontal direction to the triangle of a heightfield on which the path gets shorter most.

    Six triangles lie around a corner p. Within a triangle the length is linear to first order, so it decreases in no
    direction if not along an edge.

    Returns:
        East and north, without unit; 0 and 0 if the path gets longer along all edges.
    """
    i = min(max(int(np.rint((p[0] - corner[0]) / corner[2])), 0), heights.shape[1] - 1)
    j = min(max(int(np.rint((p[1] - corner[1]) / corner[3])), 0), heights.shape[0] - 1)
    east = _decrease_along(heights, corner, i, j, 1, 0, g)
    north_east = _decrease_along(heights, corner, i, j, 1, 1, g)
    north = _decrease_along(heights, corner, i, j, 0, 1, g)
    west = _decrease_along(heights, corner, i, j, -1, 0, g)
    south_west = _decrease_along(heights, corner, i, j, -1, -1, g)
    south = _decrease_along(heights, corner, i, j, 0, -1, g)
    best = max(max(east, north_east, north), max(west, south_west, south))
    if not best > FLAT:
        return 0.0, 0.0
    if best == east:
        return (1.0, 0.5) if north_east > south else (0.5, -0.5)
    if best == north_east:
        return (1.0, 0.5) if east > north else (0.5, 1.0)
    if best == north:
        return (0.5, 1.0) if north_east > west else (-0.5, 0.5)
    if best == west:
        return (-0.5, 0.5) if north > south_west else (-1.0, -0.5)
    if best == south_west:
        return (-1.0, -0.5) if west > south else (-0.5, -1.0)
    return (-0.5, -1.0) if south_west > east else (0.5, -0.5)


@kernel
def _leave_corner(obstacles: Any, s: Any, t: Any, p: Any, by_ray: bool) -> Any:
    """Return the triangle around a corner p on which the path gets shorter most, as `_locate` does.

    Args:
        obstacles: `Obstacles.native`.
        s: Source, m, (3,).
        t: Receiver, m, (3,).
        p: Corner, m, (3,).
        by_ray: As in `_locate`.

    Returns:
        As of `_locate`. The number is 0 if the path gets longer on all triangles around p.
    """
    g = _gradient(s, p, t)
    heights, corner = obstacles[5][0], obstacles[5][3]
    if len(heights) > 0 and not by_ray:
        x, y = _way_from_corner(heights, corner, p, g)
        if x == 0.0:
            return p, p, (p, p, p), np.int64(0)
        aim = (p[0] + BEYOND * x * corner[2], p[1] + BEYOND * y * corner[3], p[2])
        return _locate(obstacles, s, aim, by_ray)
    best, result, last = FLAT, (p, p, (p, p, p), np.int64(0)), np.int64(0)
    for k in range(8):
        x, y = AROUND[k]
        q, n, corners, found = _locate(obstacles, s, (p[0] + BEYOND * x, p[1] + BEYOND * y, p[2]), by_ray)
        if found == 0 or found == last:
            continue
        last = found
        decrease = _decrease(g, p, corners)
        if decrease > best:
            best, result = decrease, (q, n, corners, found)
    return result


@kernel
def _refine(obstacles: Any, s: Any, t: Any, start: Any, by_ray: bool) -> Any:
    """Jump and walk from a point on the ground to a point by which the path from s to t is stationary.

    Returns:
        Point, normal, and whether the path closes there.
    """
    p, n, corners, triangle = _locate(obstacles, s, start, by_ray)
    if triangle == 0:
        return start, (0.0, 0.0, 1.0), False
    length, jumps = _path_length(s, p, t), 0
    for _ in range(MAX_TRIANGLES):
        mirror = _mirror_point(s, t, p, n)
        sides = _sides(mirror, corners)
        if min(sides) >= 0.0:
            return mirror, n, True
        is_jump = jumps < MAX_JUMPS
        if is_jump:
            jumps += 1
            aim, edge, best = mirror, mirror, np.inf
        else:
            # the point of the triangle with the shortest path lies on one of its edges
            edge, best = _shortest_on_edges(s, t, corners, sides)
            if best > length - GAIN and _gap(p, edge) < 2.0 * BEYOND:
                return p, n, True  # neither triangle at this edge has a shorter path
            a, b, c = corners
            if min(_gap(edge, a), _gap(edge, b), _gap(edge, c)) < 1e-9:
                _, m, new_corners, found = _leave_corner(obstacles, s, t, edge, by_ray)
                p, length = edge, best
                if found == 0:
                    return p, n, True  # no triangle around this corner has a shorter path
                n, corners, triangle = m, new_corners, found
                continue
            # beyond the edge, as seen from the centre of the triangle
            centre = along_line(along_line(a, difference(b, a), 1.0 / 3.0), difference(c, a), 1.0 / 3.0)
            away = difference(edge, centre)
            aim = along_line(edge, away, BEYOND / max(np.sqrt(dot(away, away)), BEYOND))
        q, m, new_corners, found = _locate(obstacles, s, aim, by_ray)
        if is_jump:
            new = _path_length(s, q, t)
            same_plane = new < length + GAIN and dot(n, m) > 1.0 - 1e-6
            if found == 0 or found == triangle or not (new < length - GAIN or same_plane):
                jumps = MAX_JUMPS
                continue
            p, length = q, new
        else:
            p, length = edge, min(best, length)
            if found == 0:
                break
            if found == triangle:
                return p, n, True
        n, corners, triangle = m, new_corners, found
    return p, n, False


@kernel
def _descend_mean_ground(obstacles: Any, s: Any, t: Any, p: Any) -> Any:
    """Return the point of the mean ground by which the path is shortest, from p on; p if there is no such ground."""
    best, length, share = p, np.inf, 1.0
    height, along_x, along_y = mean_ground(obstacles, p[0], p[1])
    q = (p[0], p[1], height)
    for _ in range(MAX_MEAN_STEPS):
        scale = 1.0 / np.sqrt(1.0 + along_x * along_x + along_y * along_y)
        n = (-along_x * scale, -along_y * scale, scale)
        new = _path_length(s, q, t)
        if not new < np.inf:
            break  # the mean ground is not known here
        if new < length:
            gain = length - new
            best, length, share = q, new, min(2.0 * share, 1.0)
            step = difference(_mirror_point(s, t, q, n), q)
            if gain < 0.001 * new:
                break
        else:
            share *= 0.5
        q = along_line(best, step, share)
        height, along_x, along_y = mean_ground(obstacles, q[0], q[1])
        q = (q[0], q[1], height)
    return best


@kernel
def find_bounce(obstacles: Any, s: Any, t: Any, reflection: Any, from_mean: bool, cone: float, far: float) -> Any:
    """Refine the point of a reflected ray until the path from s by the ground to t closes.

    Args:
        obstacles: `Obstacles.native`.
        s: Source, m, (3,).
        t: Receiver, m, (3,).
        reflection: Row of `trace_reflections`.
        from_mean: Whether to go first to the point with the shortest path on the mean ground, so that the echo is that
            of the shape of the ground at large.
        cone: Cosine of the largest angle between straight down and the first leg; a point clearly outside the cone is
            not refined.
        far: Largest length of the path; a point with a clearly longer path is not refined, m.

    Returns:
        Bounce point, m, (3,); sine of the angle between the path and the ground there; distance at which the ray that
        is reflected there passes the receiver, m: 0 if the path closes.
    """
    p = (reflection[0], reflection[1], reflection[2])
    by_ray = reflection[R_NORMAL + 2] < STEEP
    if not by_ray:
        height, _, _ = ground_at(obstacles, p)
        by_ray = not abs(height - p[2]) < 0.01
    if from_mean and not by_ray:
        p = _descend_mean_ground(obstacles, s, t, p)
        d = difference(p, s)
        if -d[2] < (cone - CLEARLY) * np.sqrt(dot(d, d)) or _path_length(s, p, t) > (1.0 + CLEARLY) * far:
            return p, 1.0, 0.0
    p, n, is_closed = _refine(obstacles, s, t, p, by_ray)
    g = _gradient(s, p, t)
    grazing = 0.5 * np.sqrt(dot(g, g))
    if grazing < MIN_GRAZING:
        return p, grazing, np.inf  # the line from s to t meets the ground
    d = difference(p, s)
    return p, grazing, 0.0 if is_closed else _miss(p, along_line(d, n, -2.0 * dot(d, n)), t)
