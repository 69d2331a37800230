"""Obstacles of sound: the ground, objects and robots, as arrays for native code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.core.meshes import Mesh
from skerry.rays import RayBody, RayScene
from skerry.rays.bvh import TRIANGLE_SIZE
from skerry.rays.sound_channels import cast_line, is_blocked_by, is_channel_blocked, reaches_into, shape_channel
from skerry.rays.sphere_casts import NODES, TRIANGLES, corners_of

# Owner numbers of obstacles that are not robots
GROUND: Final = -1
OBJECT: Final = -2  # an object of the scenario

GROWTH: Final = 0.1
"""Radius of a channel per distance from an end: the sine of the angle of its cone, 5.7°."""
MARGIN: Final = 0.05
"""Distance from an end of a channel within which nothing blocks it, m; a part may be mounted there."""
MAX_CELLS: Final = 128  # largest number of cells of the map of highest ground along one side
MAX_INDEX: Final = 2048  # largest number of cells of the index of the ground's triangles along one side
TRIANGLES_PER_CELL: Final = 72  # mean number of triangles of the ground in a cell of that map


@dataclass(frozen=True, eq=False)
class TriangleIndex:
    """Triangles of the ground that lie above or below each cell of a horizontal grid.

    For a heightfield the cells are its own, and `heights` is all that is needed.
    """

    heights: NDArray[np.float64]  # (rows, columns), heights of a heightfield, m; empty for other ground
    starts: NDArray[np.int64]  # (cells + 1,), index of the first triangle of each cell, row by row
    triangles: NDArray[np.int64]  # addresses of the triangles
    corner: NDArray[np.float64]  # (4,), corner of the grid with the lowest x and y, and sizes of a cell along x and y
    cells: int  # number of cells along each side

    @classmethod
    def of(cls, scene: RayScene, bodies: list[int]) -> TriangleIndex:
        """Return the index of some bodies of a scene."""
        words = scene.sphere_bodies[bodies]
        sizes = np.array([len(scene.bodies[i].mesh.faces) for i in bodies], np.int64)
        flat, none = np.zeros((0, 0)), np.zeros(0, np.int64)
        if not bodies:
            return cls(flat, np.zeros(2, np.int64), none, np.array([0.0, 0.0, 1.0, 1.0]), 1)
        if len(bodies) == 1 and (found := _as_heightfield(scene.bodies[bodies[0]].mesh)) is not None:
            return cls(found[0], none, none, found[1], 0)
        points = np.concatenate([scene.bodies[i].mesh.vertices[:, :2] for i in bodies])
        low, high = np.nanmin(points, axis=0) - MARGIN, np.nanmax(points, axis=0) + MARGIN
        cells = int(np.clip(np.sqrt(sizes.sum() / 2), 1, MAX_INDEX))
        corner = np.array([*low, *(high - low) / cells])
        counts = np.zeros(cells * cells, np.int64)
        _index_triangles(words, sizes, corner, cells, counts, none)
        starts = np.concatenate([[0], np.cumsum(counts)])
        triangles = np.zeros(starts[-1], np.int64)
        _index_triangles(words, sizes, corner, cells, starts[:-1].copy(), triangles)
        return cls(flat, starts, triangles, corner, cells)


def _as_heightfield(mesh: Mesh) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return the heights of a mesh and the corner of its grid, or None if its triangles are not those of a heightfield.

    In a heightfield, each cell of a regular grid has a south-eastern and a north-western triangle.
    """
    columns = int(mesh.faces[0, 2]) - 1
    if columns < 2 or len(mesh.vertices) % columns or len(mesh.vertices) < 2 * columns:
        return None
    rows = len(mesh.vertices) // columns
    sw = np.arange(rows * columns).reshape(rows, columns)[:-1, :-1].reshape(-1, 1)
    faces = (sw + np.array([0, 1, columns + 1, 0, columns + 1, columns])).reshape(-1, 3)
    grid = mesh.vertices.reshape(rows, columns, 3)
    (west, south), (east, north) = grid[0, 0, :2], grid[-1, -1, :2]
    lattice = np.meshgrid(np.linspace(west, east, columns), np.linspace(south, north, rows))
    if not np.array_equal(mesh.faces, faces) or not np.allclose(grid[..., :2], np.stack(lattice, axis=-1), atol=1e-6):
        return None
    corner = np.array([west, south, (east - west) / (columns - 1), (north - south) / (rows - 1)])
    return np.ascontiguousarray(grid[..., 2], np.float64), corner


@kernel
def _index_triangles(words: Any, sizes: Any, corner: Any, cells: int, places: Any, triangles: Any) -> None:
    """Write the address of each triangle to the cells that its bounding box meets, or count them if there is no room.

    Args:
        words: Fields of the bodies, (n, BODY_FIELDS).
        sizes: Largest number of triangles of each body, (n,).
        corner: Corner of the grid and sizes of a cell, (4,).
        cells: Number of cells along each side.
        places: Next place of each cell in `triangles`, or its count.
        triangles: Output; empty to count.
    """
    for body in range(len(words)):
        for k in range(sizes[body]):
            address = words[body, TRIANGLES] + 4 * TRIANGLE_SIZE * k
            a, b, c = corners_of(address)
            if (b[0] - a[0]) * (c[1] - a[1]) == (b[1] - a[1]) * (c[0] - a[0]):
                continue
            first = max(int((min(a[0], b[0], c[0]) - corner[0]) / corner[2]), 0)
            last = min(int((max(a[0], b[0], c[0]) - corner[0]) / corner[2]), cells - 1)
            low = max(int((min(a[1], b[1], c[1]) - corner[1]) / corner[3]), 0)
            high = min(int((max(a[1], b[1], c[1]) - corner[1]) / corner[3]), cells - 1)
            for i in range(first, last + 1):
                for j in range(low, high + 1):
                    if len(triangles) > 0:
                        triangles[places[i * cells + j]] = address
                    places[i * cells + j] += 1


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
    ground: NDArray[np.int64]  # (bodies of the ground, BODY_FIELDS); the ground never moves
    tops: NDArray[np.float64]  # (cells along x, cells along y), map of the highest ground in each cell, m
    corner: NDArray[np.float64]  # (4,), corner of the maps with the lowest x and y, and sizes of a cell along x and y
    means: NDArray[np.float64]  # the same cells, map of the mean height of the ground, m; NaN in cells without corners
    index: TriangleIndex

    @classmethod
    def of(cls, scene: RayScene, owners: Mapping[str, int], radius: float) -> Obstacles:
        """Return the obstacles of a scene.

        Args:
            scene: The scene.
            owners: Owner numbers of the robots that carry acoustic parts, by name.
            radius: Largest radius of the channels that will be tested, m.
        """
        bodies = scene.bodies
        found = np.zeros((len(bodies), 4))
        for ball, body in zip(found, bodies, strict=True):
            low, high = body.mesh.vertices.min(axis=0), body.mesh.vertices.max(axis=0)
            ball[:3] = 0.5 * (low + high)
            ball[3] = np.linalg.norm(body.mesh.vertices - ball[:3], axis=1).max() * (1 + 1e-6)
        names = [body.owner for body in bodies]
        firsts = [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]
        numbers = [owners.get(names[i], OBJECT) if names[i] else GROUND for i in firsts]
        obstacles = cls(
            scene.sphere_bodies,
            np.array([body.row for body in bodies], np.int64),
            found,
            np.tile(np.eye(3, 4).ravel(), (len(bodies), 1)),
            np.array([*firsts, len(bodies)], np.int64),
            np.array(numbers, np.int64),
            np.zeros((4, len(firsts))),
            np.zeros(len(firsts)),
            scene.sphere_bodies[[i for i, body in enumerate(bodies) if not body.owner]],
            *_map_ground([body for body in bodies if not body.owner], radius + MARGIN),
            TriangleIndex.of(scene, [i for i, body in enumerate(bodies) if not body.owner]),
        )
        obstacles.move(np.zeros((int(obstacles.rows.max(initial=0)) + 1, 13)))
        return obstacles

    def move(self, motion: NDArray[np.float64]) -> None:
        """Set the poses of the bodies from the motions of the engine's bodies, (bodies, 13)."""
        _move(self.rows, motion, self.local_balls, self.firsts, self.places, self.balls)

    @cached_property
    def native(self) -> tuple[Any, ...]:
        """Obstacles as the kernels of this module expect them."""
        groups = self.words, self.places, self.firsts, self.owners, self.balls, self.near
        index = self.index.heights, self.index.starts, self.index.triangles, self.index.corner, self.index.cells
        return groups, self.ground, self.tops, self.corner, self.means, index, float(self.tops.max())


def _map_ground(
    bodies: list[RayBody], reach: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the map of the highest ground, the corner of the maps, and the map of the mean height.

    Args:
        bodies: Bodies of the ground.
        reach: Horizontal distance beyond its edges at which a triangle counts, m.
    """
    if not bodies:
        return np.full((1, 1), -np.inf), np.array([0.0, 0.0, 1.0, 1.0]), np.full((1, 1), np.nan)
    points = np.concatenate([body.mesh.vertices[:, :2] for body in bodies])
    low, high = np.nanmin(points, axis=0) - reach, np.nanmax(points, axis=0) + reach
    side = np.sqrt(sum(len(body.mesh.faces) for body in bodies) / TRIANGLES_PER_CELL)
    cells = int(np.clip(side, 1, MAX_CELLS))
    tops, corner = np.full((cells, cells), -np.inf), np.array([*low, *(high - low) / cells])
    sums, counts = np.zeros((2, cells, cells))
    for body in bodies:
        _raise_map(body.mesh.vertices.astype(np.float64), body.mesh.faces, reach, corner, tops)
        _sum_heights(body.mesh.vertices.astype(np.float64), corner, sums, counts)
    return tops, corner, np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@kernel
def _sum_heights(vertices: Any, corner: Any, sums: Any, counts: Any) -> None:
    """Add the heights of all vertices to their cells, and count them."""
    for k in range(len(vertices)):
        v = vertices[k]
        if np.isfinite(v.sum()):
            i, j = int((v[0] - corner[0]) / corner[2]), int((v[1] - corner[1]) / corner[3])
            sums[i, j] += v[2]
            counts[i, j] += 1.0


@kernel
def _raise_map(vertices: Any, faces: Any, reach: float, corner: Any, tops: Any) -> None:
    """Write the highest point of each triangle to the cells within `reach` of it."""
    for k in range(len(faces)):
        a, b, c = vertices[faces[k, 0]], vertices[faces[k, 1]], vertices[faces[k, 2]]
        top = max(a[2], b[2], c[2])
        if not np.isfinite(a.sum() + b.sum() + c.sum()):
            continue
        first = int((min(a[0], b[0], c[0]) - reach - corner[0]) / corner[2])
        last = min(int((max(a[0], b[0], c[0]) + reach - corner[0]) / corner[2]), tops.shape[0] - 1)
        low = int((min(a[1], b[1], c[1]) - reach - corner[1]) / corner[3])
        high = min(int((max(a[1], b[1], c[1]) + reach - corner[1]) / corner[3]), tops.shape[1] - 1)
        for i in range(max(first, 0), last + 1):
            for j in range(max(low, 0), high + 1):
                tops[i, j] = max(tops[i, j], top)


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
def _near_ground(tops: Any, corner: Any, a: Any, d: Any, length: float, radius: float) -> Any:
    """Return the part of a line outside which the ground is further than `radius` below it, by the map of the ground.

    Returns:
        Distances from the start of the line, m: the first and the last. The first is larger if there is no such part.
    """
    enter, leave = 0.0, length
    for k in range(2):
        side = corner[k] + tops.shape[k] * corner[2 + k]
        if d[k] == 0.0:
            if a[k] < corner[k] or a[k] > side:
                return np.inf, -np.inf
        else:
            s, t = (corner[k] - a[k]) / d[k], (side - a[k]) / d[k]
            enter, leave = max(enter, min(s, t)), min(leave, max(s, t))
    low, high = np.inf, -np.inf
    if enter >= leave:
        return low, high
    i = min(max(int((a[0] + enter * d[0] - corner[0]) / corner[2]), 0), tops.shape[0] - 1)
    j = min(max(int((a[1] + enter * d[1] - corner[1]) / corner[3]), 0), tops.shape[1] - 1)
    right, up = int(d[0] > 0.0), int(d[1] > 0.0)
    next_x = (corner[0] + (i + right) * corner[2] - a[0]) / d[0] if d[0] != 0.0 else np.inf
    next_y = (corner[1] + (j + up) * corner[3] - a[1]) / d[1] if d[1] != 0.0 else np.inf
    step_x, step_y = corner[2] / abs(d[0]), corner[3] / abs(d[1])
    here = enter
    while here < leave and 0 <= i < tops.shape[0] and 0 <= j < tops.shape[1]:
        there = min(next_x, next_y, leave)
        if a[2] + min(d[2] * here, d[2] * there) - radius <= tops[i, j]:
            low, high = min(low, here), there
        if next_x < next_y:
            i += 2 * right - 1
            next_x += step_x
        else:
            j += 2 * up - 1
            next_y += step_y
        here = max(there, here)
    return low, high


@kernel
def _cells(corner: float, size: float, count: int, low: float, high: float) -> Any:
    """Return the first and the last of `count` cells along an axis that meet the interval from `low` to `high`."""
    return max(int(np.floor((low - corner) / size)), 0), min(int(np.floor((high - corner) / size)), count - 1)


@kernel
def _is_blocked_by_heightfield(
    heights: Any, corner: Any, start: Any, d: Any, channel: Any, low: float, high: float
) -> bool:
    """Return whether a heightfield blocks a channel; arguments as of `is_blocked_by`.

    The line is divided at the cells along x or y, whichever it crosses more of. In each part, all cells within the
    largest radius of the line are tested.
    """
    peak = channel[4]
    main = 0 if abs(d[0]) * corner[3] >= abs(d[1]) * corner[2] else 1
    side = 1 - main
    counts = (heights.shape[1] - 1, heights.shape[0] - 1)
    a, b = start[main] + low * d[main], start[main] + high * d[main]
    first, last = _cells(corner[main], corner[2 + main], counts[main], min(a, b) - peak, max(a, b) + peak)
    for k in range(first, last + 1):
        s, t = low, high  # part of the line within the radius of these cells
        if d[main] != 0.0:
            west = corner[main] + k * corner[2 + main]
            u, v = (west - peak - start[main]) / d[main], (west + corner[2 + main] + peak - start[main]) / d[main]
            s, t = max(s, min(u, v)), min(t, max(u, v))
        if s > t:
            continue
        below = start[2] + min(s * d[2], t * d[2]) - peak
        a, b = start[side] + s * d[side], start[side] + t * d[side]
        other, end = _cells(corner[side], corner[2 + side], counts[side], min(a, b) - peak, max(a, b) + peak)
        for m in range(other, end + 1):
            i, j = (k, m) if main == 0 else (m, k)
            sw, se, nw, ne = heights[j, i], heights[j, i + 1], heights[j + 1, i], heights[j + 1, i + 1]
            if max(sw, se, nw, ne) < below and np.isfinite(sw + se + nw + ne):
                continue
            x, y = corner[0] + i * corner[2], corner[1] + j * corner[3]
            p, q = (x, y, sw), (x + corner[2], y + corner[3], ne)
            if np.isfinite(sw + se + ne) and reaches_into(p, (x + corner[2], y, se), q, start, d, channel):
                return True
            if np.isfinite(sw + ne + nw) and reaches_into(p, q, (x, y + corner[3], nw), start, d, channel):
                return True
    return False


@kernel
def is_open(obstacles: Any, first: int, second: int, radius: float, growth: Any, a: Any, b: Any) -> bool:
    """Return whether sound can travel between `a` and `b` through a channel that no obstacle of a third owner enters.

    The result is the same, to the last bit, if `a` and `b` are exchanged.

    Args:
        obstacles: `Obstacles.native`.
        first: Owner of one end.
        second: Owner of the other end.
        radius: Radius of the channel, m.
        growth: Radius per distance from `a`, and from `b`.
        a: One end, m, (3,).
        b: Other end, m, (3,).
    """
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    if x < 0.0 or (x == 0.0 and (y < 0.0 or (y == 0.0 and z < 0.0))):
        x, y, z = -x, -y, -z
        start, near_growth, far_growth = b, growth[1], growth[0]
    else:
        start, near_growth, far_growth = a, growth[0], growth[1]
    length = np.sqrt(x * x + y * y + z * z)
    if length <= 2.0 * MARGIN:
        return True
    d = (x / length, y / length, z / length)
    channel = shape_channel(length, radius, MARGIN, near_growth, far_growth)
    groups, ground, tops, corner, _, index, highest = obstacles
    low, high = np.inf, -np.inf
    if min(a[2], b[2]) - radius - MARGIN <= highest:
        low, high = _near_ground(tops, corner, start, d, length, radius + MARGIN)
    if low <= high and len(index[0]) > 0:
        if _is_blocked_by_heightfield(index[0], index[3], start, d, channel, low, high):
            return False
    elif low <= high:
        for i in range(len(ground)):
            if is_blocked_by(ground[i, NODES], ground[i, TRIANGLES], start, d, channel, low, high):
                return False
    words, places, firsts, owners, balls, near = groups
    return not is_channel_blocked(words, places, firsts, owners, balls, near, GROUND, first, second, start, d, channel)


@kernel
def _cast_to_heightfield(heights: Any, corner: Any, start: Any, d: Any, low: float, high: float) -> Any:
    """Return what `cast_to_ground` returns, for a heightfield, between two distances from the start.

    The line is followed from cell to cell. In a cell, its height above the ground is linear on either side of the
    diagonal, so a change of sign is a crossing.
    """
    columns, rows = heights.shape[1] - 1, heights.shape[0] - 1
    size_x, size_y = corner[2], corner[3]
    i, j = (
        int(np.floor((start[0] + low * d[0] - corner[0]) / size_x)),
        int(np.floor((start[1] + low * d[1] - corner[1]) / size_y)),
    )
    right, up = int(d[0] > 0.0), int(d[1] > 0.0)
    next_x = (corner[0] + (i + right) * size_x - start[0]) / d[0] if d[0] != 0.0 else np.inf
    next_y = (corner[1] + (j + up) * size_y - start[1]) / d[1] if d[1] != 0.0 else np.inf
    step_x = size_x / abs(d[0]) if d[0] != 0.0 else np.inf
    step_y = size_y / abs(d[1]) if d[1] != 0.0 else np.inf
    here = low
    while here < high:
        there = max(min(next_x, next_y, high), here)
        if 0 <= i < columns and 0 <= j < rows:
            sw, se, nw, ne = heights[j, i], heights[j, i + 1], heights[j + 1, i], heights[j + 1, i + 1]
            # place in the cell, from 0 to 1, at the start of the line, and its change along the line
            x, y = (start[0] - corner[0]) / size_x - i, (start[1] - corner[1]) / size_y - j
            across, along = d[0] / size_x, d[1] / size_y
            diagonal = (y - x) / (across - along) if across != along else there
            middle = min(max(diagonal, here), there)
            for part in range(2):
                s, t = (here, middle) if part == 0 else (middle, there)
                if t <= s and not (here == there and part == 0):
                    continue
                inside = 0.5 * (s + t)
                if y + inside * along <= x + inside * across:  # south-eastern triangle
                    slope_x, slope_y = se - sw, ne - se
                else:
                    slope_x, slope_y = ne - nw, nw - sw
                first = start[2] + s * d[2] - (sw + (x + s * across) * slope_x + (y + s * along) * slope_y)
                last = start[2] + t * d[2] - (sw + (x + t * across) * slope_x + (y + t * along) * slope_y)
                if first * last <= 0.0 and first != last:
                    n = (-slope_x / size_x, -slope_y / size_y, 1.0)
                    scale = 1.0 / np.sqrt(n[0] * n[0] + n[1] * n[1] + 1.0)
                    if first < 0.0:
                        scale = -scale  # from below
                    return s + (t - s) * first / (first - last), (scale * n[0], scale * n[1], scale)
        elif (i < 0 and right == 0) or (i >= columns and right == 1) or (j < 0 and up == 0) or (j >= rows and up == 1):
            break
        if next_x < next_y:
            i += 2 * right - 1
            next_x += step_x
        else:
            j += 2 * up - 1
            next_y += step_y
        here = there
        if next_x == np.inf and next_y == np.inf:
            break
    return np.inf, (0.0, 0.0, 0.0)


@kernel
def find_ground(obstacles: Any, start: Any, d: Any, near: float, far: float) -> Any:
    """Return where a line first meets the ground.

    Args:
        obstacles: `Obstacles.native`.
        start: Start of the line, m, (3,).
        d: Unit vector of the line, (3,).
        near: Distance from which the ground is searched, m.
        far: Distance up to which it is searched, m.

    Returns:
        Distance, m, infinite if the line misses the ground; unit normal towards the start; address of the triangle.
    """
    ground = obstacles[1]
    best, normal, triangle = np.inf, (0.0, 0.0, 0.0), np.int64(0)
    for i in range(len(ground)):
        distance, n, found = cast_line(ground[i, NODES], ground[i, TRIANGLES], start, d, near, min(far, best))
        if distance < best:
            best, normal, triangle = distance, n, found
    return best, normal, triangle


@kernel
def cast_to_ground(obstacles: Any, start: Any, d: Any, far: float) -> Any:
    """Return where a line first meets the ground: distance, m, infinite if it misses; unit normal towards the start.

    Args:
        obstacles: `Obstacles.native`.
        start: Start of the line, m, (3,).
        d: Unit vector of the line, (3,).
        far: Distance up to which the ground is searched, m.
    """
    heights, corner = obstacles[5][0], obstacles[5][3]
    if len(heights) == 0:
        distance, normal, _ = find_ground(obstacles, start, d, 0.0, far)
        return distance, normal
    low, high = _near_ground(obstacles[2], obstacles[3], start, d, far, MARGIN)
    if low > high:
        return np.inf, (0.0, 0.0, 0.0)
    return _cast_to_heightfield(heights, corner, start, d, low, high)


@kernel
def _heightfield_at(heights: Any, corner: Any, p: Any) -> Any:
    """Return what `ground_at` returns, for a heightfield."""
    u, v = (p[0] - corner[0]) / corner[2], (p[1] - corner[1]) / corner[3]
    i, j = int(np.floor(u)), int(np.floor(v))
    none = (0.0, 0.0, 0.0)
    if i < 0 or j < 0 or i + 1 >= heights.shape[1] or j + 1 >= heights.shape[0]:
        return np.nan, (none, none, none), np.int64(0)
    west, south = corner[0] + i * corner[2], corner[1] + j * corner[3]
    east, north = west + corner[2], south + corner[3]
    u, v = u - i, v - j
    a, c = (west, south, heights[j, i]), (east, north, heights[j + 1, i + 1])
    number = 2 * (j * heights.shape[1] + i) + 1
    if v <= u:
        b = (east, south, heights[j, i + 1])
        return a[2] + u * (b[2] - a[2]) + v * (c[2] - b[2]), (a, b, c), np.int64(number)
    b = (west, north, heights[j + 1, i])
    return a[2] + v * (b[2] - a[2]) + u * (c[2] - b[2]), (a, c, b), np.int64(number + 1)


@kernel
def ground_at(obstacles: Any, p: Any) -> Any:
    """Return the ground above or below a point.

    Returns:
        Height, m; corners of the triangle; number of the triangle, 0 if there is no ground. Where the ground has
        several heights, this is the one that is nearest to the point.
    """
    heights, starts, triangles, corner, cells = obstacles[5]
    if len(heights) > 0:
        return _heightfield_at(heights, corner, p)
    i, j = int(np.floor((p[0] - corner[0]) / corner[2])), int(np.floor((p[1] - corner[1]) / corner[3]))
    height, found = np.nan, np.int64(0)
    none = (0.0, 0.0, 0.0)
    corners = (none, none, none)
    if i < 0 or j < 0 or i >= cells or j >= cells:
        return height, corners, found
    for k in range(starts[i * cells + j], starts[i * cells + j + 1]):
        a, b, c = corners_of(triangles[k])
        e, f, x, y = (b[0] - a[0], b[1] - a[1]), (c[0] - a[0], c[1] - a[1]), p[0] - a[0], p[1] - a[1]
        size = e[0] * f[1] - e[1] * f[0]
        u, v = (x * f[1] - y * f[0]) / size, (e[0] * y - e[1] * x) / size
        if u < -1e-9 or v < -1e-9 or u + v > 1.0 + 1e-9:
            continue
        z = a[2] + u * (b[2] - a[2]) + v * (c[2] - a[2])
        if found == 0 or abs(z - p[2]) < abs(height - p[2]):
            height, corners, found = z, (a, b, c), triangles[k]
    return height, corners, found


@kernel
def mean_ground(obstacles: Any, x: float, y: float) -> Any:
    """Return the mean height of the ground around a point, m, and its slopes along x and y; NaN if it is not known."""
    corner, means = obstacles[3], obstacles[4]
    u, v = (x - corner[0]) / corner[2] - 0.5, (y - corner[1]) / corner[3] - 0.5
    i, j = int(np.floor(u)), int(np.floor(v))
    if i < 0 or j < 0 or i + 1 >= means.shape[0] or j + 1 >= means.shape[1]:
        return np.nan, 0.0, 0.0
    u, v = u - i, v - j
    a, b, c, d = means[i, j], means[i + 1, j], means[i, j + 1], means[i + 1, j + 1]
    along_x = ((b - a) * (1.0 - v) + (d - c) * v) / corner[2]
    along_y = ((c - a) * (1.0 - u) + (d - b) * u) / corner[3]
    return (a * (1.0 - u) + b * u) * (1.0 - v) + (c * (1.0 - u) + d * u) * v, along_x, along_y
