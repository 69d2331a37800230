"""Proximity check: whether a robot or object may touch anything, by bounding boxes of its shapes.

The check costs a few microseconds, collision detection about a hundred. The check may report a contact where there is
none, but it never misses one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.core.rotations import rotate_to_world
from skerry.physics.mujoco import mujoco

# Offsets in the row of a shape: body number; position and quaternion (x, y, z, w) of its box on the body; half sizes of
# the box; contact margin; distance from the body's origin to the farthest corner; size of the row
BODY, POSITION, QUATERNION, HALF_SIZE, MARGIN, REACH, SHAPE = 0, 1, 4, 8, 11, 12, 13
# Offset of the axes (3×3, row by row, world frame) in a frame, behind the centre of the box; size of a frame
AXES, FRAME = 3, 12
# Kinds of the second shape of a pair. A pair is (own shape, other shape, kind of the other shape).
BOX, PLANE, HEIGHTS = range(3)
KINDS: Final = {int(mujoco.mjtGeom.mjGEOM_PLANE): PLANE, int(mujoco.mjtGeom.mjGEOM_HFIELD): HEIGHTS}
SLACK: Final = 1e-4  # m, allowance for rounding errors


@kernel
def _pose_box(motion: Any, shape: Any, frame: Any) -> None:
    """Write the world pose of a shape's box into `frame`; `motion` (13,) is that of its body."""
    x, y, z, w = motion[3], motion[4], motion[5], motion[6]
    a, b, c = rotate_to_world(x, y, z, w, shape[POSITION], shape[POSITION + 1], shape[POSITION + 2])
    frame[0], frame[1], frame[2] = motion[0] + a, motion[1] + b, motion[2] + c
    i, j, k, s = shape[QUATERNION], shape[QUATERNION + 1], shape[QUATERNION + 2], shape[QUATERNION + 3]
    x, y, z, w = (
        w * i + x * s + y * k - z * j,
        w * j - x * k + y * s + z * i,
        w * k + x * j - y * i + z * s,
        w * s - x * i - y * j - z * k,
    )
    R = frame[AXES:]
    R[0], R[1], R[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)
    R[3], R[4], R[5] = 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    R[6], R[7], R[8] = 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)


@kernel
def _is_near_ground(frame: Any, half: Any, margin: float, ground: Any, sides: Any, heights: Any) -> bool:
    """Return whether a box reaches down to a heightfield; `sides`: half sizes in x and y, height scale."""
    R = frame[AXES:]
    wide = abs(R[0]) * half[0] + abs(R[1]) * half[1] + abs(R[2]) * half[2] + margin
    long = abs(R[3]) * half[0] + abs(R[4]) * half[1] + abs(R[5]) * half[2] + margin
    tall = abs(R[6]) * half[0] + abs(R[7]) * half[1] + abs(R[8]) * half[2] + margin
    rows, columns = heights.shape
    x, y = frame[0] - ground[0] + sides[0], frame[1] - ground[1] + sides[1]
    per_x, per_y = (columns - 1) / (2.0 * sides[0]), (rows - 1) / (2.0 * sides[1])
    first_column, last_column = int(np.floor((x - wide) * per_x)), int(np.ceil((x + wide) * per_x))
    first_row, last_row = int(np.floor((y - long) * per_y)), int(np.ceil((y + long) * per_y))
    bottom = frame[2] - tall - ground[2]
    for i in range(max(first_row, 0), min(last_row, rows - 1) + 1):
        for j in range(max(first_column, 0), min(last_column, columns - 1) + 1):
            if heights[i, j] * sides[2] >= bottom:
                return True
    return False


@kernel
def is_near(motions: Any, shapes: Any, pairs: Any, sides: Any, heights: Any, frames: Any) -> bool:
    """Return whether any pair of shapes may touch.

    The bounding sphere of the first shape is tested against the box, plane or heightfield of the second shape.

    Args:
        motions: motions of all bodies, (n, 13).
        shapes: table of shapes, (shapes, SHAPE).
        pairs: pairs of shapes, (pairs, 3), sorted by the first shape.
        sides: half sizes in x and y and height scale of the heightfield, (3,).
        heights: heights of the heightfield, (rows, columns).
        frames: scratch memory, (2, FRAME).
    """
    own, other = frames[0], frames[1]
    placed = -1
    for n in range(len(pairs)):
        first, second = shapes[pairs[n, 0]], shapes[pairs[n, 1]]
        if pairs[n, 0] != placed:
            placed = pairs[n, 0]
            _pose_box(motions[int(first[BODY])], first, own)
        half = first[HALF_SIZE : HALF_SIZE + 3]
        margin = first[MARGIN] + second[MARGIN] + SLACK
        reach = np.sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]) + margin
        m = motions[int(second[BODY])]
        x, y, z = own[0] - m[0], own[1] - m[1], own[2] - m[2]
        most = reach + second[REACH]
        if x * x + y * y + z * z > most * most:
            continue
        _pose_box(m, second, other)
        if pairs[n, 2] == HEIGHTS:
            if _is_near_ground(own, half, margin, other, sides, heights):
                return True
            continue
        half = second[HALF_SIZE : HALF_SIZE + 3]
        R = other[AXES:]
        x, y, z = own[0] - other[0], own[1] - other[1], own[2] - other[2]
        up = R[2] * x + R[5] * y + R[8] * z
        if pairs[n, 2] == PLANE:
            if up <= reach:
                return True
            continue
        away = max(abs(up) - half[2], 0.0) ** 2
        away += max(abs(R[0] * x + R[3] * y + R[6] * z) - half[0], 0.0) ** 2
        away += max(abs(R[1] * x + R[4] * y + R[7] * z) - half[1], 0.0) ** 2
        if away <= reach * reach:
            return True
    return False


@kernel
def are_near(log: Any, rows: Any, shapes: Any, pairs: Any, sides: Any, heights: Any, frames: Any, found: Any) -> None:
    """Write `is_near` of each row of a log of motions, (all rows, 2, n, 13), into `found`."""
    for k in range(rows.size):
        found[k] = is_near(log[rows[k], 0], shapes, pairs, sides, heights, frames)


class ProximityCheck:
    """Bounding boxes of the shapes of a compiled model.

    Args:
        compiled: the compiled model.
        owners: robot or object of each shape.
    """

    def __init__(self, compiled: Any, owners: list[str]) -> None:
        self._compiled = compiled
        self._owners = owners
        self._shapes = np.zeros((compiled.ngeom, SHAPE))
        self._frames = np.zeros((2, FRAME))
        self._pairs: dict[str, NDArray[np.int64]] = {}
        self._sides, self._heights = np.ones(3), np.zeros((2, 2), np.float32)
        for number, shape in enumerate(self._shapes):
            w, x, y, z = compiled.geom_quat[number]
            axes = np.zeros(9)
            mujoco.mju_quat2Mat(axes, compiled.geom_quat[number])
            middle, half = compiled.geom_aabb[number, :3], compiled.geom_aabb[number, 3:]
            kind = KINDS.get(int(compiled.geom_type[number]), BOX)
            if kind != BOX:
                middle, half = np.zeros(3), np.zeros(3)
            shape[BODY], shape[QUATERNION : QUATERNION + 4] = compiled.geom_bodyid[number], (x, y, z, w)
            shape[HALF_SIZE : HALF_SIZE + 3] = half
            shape[POSITION : POSITION + 3] = compiled.geom_pos[number] + axes.reshape(3, 3) @ middle
            shape[MARGIN] = compiled.geom_margin[number]
            distance = np.linalg.norm(shape[POSITION : POSITION + 3]) + np.linalg.norm(half)
            shape[REACH] = distance if kind == BOX else np.inf
            if kind == HEIGHTS:  # at most one, the terrain
                field = int(compiled.geom_dataid[number])
                rows, columns = int(compiled.hfield_nrow[field]), int(compiled.hfield_ncol[field])
                start = int(compiled.hfield_adr[field])
                self._sides = compiled.hfield_size[field, :3].copy()
                self._heights = compiled.hfield_data[start : start + rows * columns].reshape(rows, columns)

    def may_touch(self, motions: NDArray[np.float64], owner: str) -> bool:
        """Return whether a robot or object may touch anything; `motions` (n, 13) are those of all bodies."""
        return bool(is_near(motions, self._shapes, self._pairs_of(owner), self._sides, self._heights, self._frames))

    def may_have_touched(self, log: NDArray[np.float64], rows: NDArray[np.int64], owner: str) -> NDArray[np.bool_]:
        """Return `may_touch` for each of the given rows of a log of motions, (all rows, 2, n, 13)."""
        found = np.empty(len(rows), np.bool_)
        are_near(log, rows, self._shapes, self._pairs_of(owner), self._sides, self._heights, self._frames, found)
        return found

    def _pairs_of(self, owner: str) -> NDArray[np.int64]:
        if owner not in self._pairs:
            self._pairs[owner] = self._find_pairs(owner)
        return self._pairs[owner]

    def _find_pairs(self, owner: str) -> NDArray[np.int64]:
        """Return the pairs that MuJoCo's filter accepts: not welded, not parent and child, not excluded."""
        m = self._compiled
        excluded = {int(signature) for signature in m.exclude_signature}
        welded = m.body_weldid
        above = welded[m.body_parentid[welded]]
        found = []
        for own in (number for number, name in enumerate(self._owners) if name == owner):
            for other in range(m.ngeom):
                first, second = int(m.geom_bodyid[own]), int(m.geom_bodyid[other])
                collide = (m.geom_contype[own] & m.geom_conaffinity[other]) or (
                    m.geom_contype[other] & m.geom_conaffinity[own]
                )
                hinged = 0 not in (welded[first], welded[second]) and (
                    above[first] == welded[second] or above[second] == welded[first]
                )
                apart = {(first << 16) + second, (second << 16) + first} & excluded
                if collide and welded[first] != welded[second] and not hinged and not apart:
                    found.append((own, other, KINDS.get(int(m.geom_type[other]), BOX)))
        return np.array(found, np.int64).reshape(-1, 3)
