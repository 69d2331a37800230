"""Contact filter: reject pairs of geoms that cannot touch before MuJoCo tests them; the contacts stay the same.

The ground is divided into blocks with a known highest point. A shape whose bounding sphere is above all blocks below it
does not touch the ground. This costs a few nanoseconds; MuJoCo tests every cell below the shape. Two other shapes are
apart if the bounding sphere of one is outside the box of the other, so MuJoCo's trees of boxes are not needed.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import address_of, floats, integers, kernel, load_word, native
from skerry.physics.mujoco import (
    CONTACT_AFFINITIES,
    CONTACT_TYPES,
    DATA_OFFSETS,
    GEOM_BOXES,
    GEOM_RADII,
    GEOM_XMAT,
    GEOM_XPOS,
    mujoco,
)
from skerry.physics.program import NO_PROGRAM, ground_of
from skerry.terrain import ContactHeightfield

MAX_BLOCKS: Final = 128  # along each side of the ground
SLACK: Final = 1e-4  # m, allowance for rounding errors
# Offsets in the ground table: geom number of the ground, x and y of its south-west corner, blocks per metre along x and
# y, number of blocks along x and y, highest z of all, lowest z of all, cells per metre along x and y, number of nodes
# along x and y, address of the heights of the nodes (float32, above the lowest). Then follows the highest z of each
# block, rows northwards.
(
    GEOM, WEST, SOUTH, PER_X, PER_Y, COLUMNS, ROWS, HIGHEST, LOWEST, CELLS_X, CELLS_Y, COLUMNS_OF_NODES, ROWS_OF_NODES,
    HEIGHTS, SETTINGS,
) = range(15)  # fmt: skip
POSITIONS: Final = int(DATA_OFFSETS[GEOM_XPOS])
ROTATIONS: Final = int(DATA_OFFSETS[GEOM_XMAT])


@kernel
def _is_outside(model: int, data: int, box: int, ball: int) -> bool:
    """Return whether the bounding sphere of geom `ball` is outside the bounding box of geom `box`; margins are 0."""
    radius = floats(load_word(model + GEOM_RADII) + 8 * ball, 1)[0]
    if radius == 0.0:  # a plane has no bounding sphere
        return False
    radius += SLACK
    middle, half = floats(load_word(model + GEOM_BOXES) + 48 * box, 3), load_word(model + GEOM_BOXES) + 48 * box + 24
    position, other = (
        floats(load_word(data + POSITIONS) + 24 * box, 3),
        floats(load_word(data + POSITIONS) + 24 * ball, 3),
    )
    R, sides = floats(load_word(data + ROTATIONS) + 72 * box, 9), floats(half, 3)
    dx, dy, dz = other[0] - position[0], other[1] - position[1], other[2] - position[2]
    square = 0.0
    for i in range(3):
        beyond = max(abs(R[i] * dx + R[3 + i] * dy + R[6 + i] * dz - middle[i]) - sides[i], 0.0)
        square += beyond * beyond
    return square > radius * radius


@kernel
def _is_over(model: int, data: int, table: int, geom: int) -> bool:
    """Return whether the bounding sphere of a geom is above all blocks of the ground below it."""
    t = floats(table, SETTINGS)
    position = floats(load_word(data + POSITIONS) + 24 * geom, 3)
    radius = floats(load_word(model + GEOM_RADII) + 8 * geom, 1)[0]
    bottom = position[2] - radius
    if bottom > t[HIGHEST]:
        return True
    columns, rows = int(t[COLUMNS]), int(t[ROWS])
    west, east = (position[0] - radius - t[WEST]) * t[PER_X], (position[0] + radius - t[WEST]) * t[PER_X]
    south, north = (position[1] - radius - t[SOUTH]) * t[PER_Y], (position[1] + radius - t[SOUTH]) * t[PER_Y]
    if not (east >= 0.0 and north >= 0.0 and west < columns and south < rows):
        return False
    blocks = floats(table + 8 * SETTINGS, rows * columns)
    for row in range(max(int(south), 0), min(int(north), rows - 1) + 1):
        for column in range(max(int(west), 0), min(int(east), columns - 1) + 1):
            if bottom <= blocks[row * columns + column]:
                return False
    return True


@native(types.int32(types.voidptr, types.voidptr, types.int32, types.int32))
def reject_pair(model: Any, data: Any, first: int, second: int) -> int:
    """Return 1 for a pair of geoms that cannot touch; MuJoCo's `mjcb_contactfilter`.

    The callback replaces MuJoCo's filter by contact types, so it repeats that test first.
    """
    m, d = address_of(model), address_of(data)
    kinds, affinities = load_word(m + CONTACT_TYPES), load_word(m + CONTACT_AFFINITIES)
    kind_1, kind_2 = integers(kinds + 4 * first, 1)[0], integers(kinds + 4 * second, 1)[0]
    affinity_1, affinity_2 = integers(affinities + 4 * first, 1)[0], integers(affinities + 4 * second, 1)[0]
    if not (kind_1 & affinity_2) and not (kind_2 & affinity_1):
        return 1
    table = ground_of(m)
    if table == NO_PROGRAM:
        return 0
    ground = int(floats(table, 1)[0]) if table != 0 else -1
    if first == ground or second == ground:
        return 1 if _is_over(m, d, table, first + second - ground) else 0
    return 1 if _is_outside(m, d, first, second) or _is_outside(m, d, second, first) else 0


def ground_table(geom: int, contact: ContactHeightfield) -> NDArray[np.float64]:
    """Return the ground table; `geom` is the geom number of the ground. The table refers to `contact.heights`."""
    nodes = np.array(contact.heights.shape) - 1
    side = np.maximum(1, -(-nodes // MAX_BLOCKS))  # cells along a block
    rows, columns = (-(-count // cells) for count, cells in zip(nodes, side, strict=True))
    slack = SLACK + 1e-6 * float(
        contact.heights.max()
    )  # MuJoCo stores heights as fractions of the highest in single precision
    highest = np.empty((rows, columns))
    for row in range(rows):
        band = contact.heights[row * side[0] : (row + 1) * side[0] + 1].max(axis=0)
        for column in range(columns):
            highest[row, column] = band[column * side[1] : (column + 1) * side[1] + 1].max()
    highest += contact.lowest + slack
    cell = 2.0 * np.array(contact.half_size) / nodes[::-1]  # along x and y
    corner = np.array(contact.center) - contact.half_size
    settings = [geom, *corner, *(1.0 / (cell * side[::-1])), columns, rows, highest.max(), contact.lowest]
    settings += [*(1.0 / cell), *contact.heights.shape[::-1], float(contact.heights.ctypes.data)]
    return np.concatenate([settings, highest.ravel()])


_filter: Any = None


def install_filter() -> None:
    """Set `reject_pair` as MuJoCo's contact filter, unless another library has set one.

    Without the filter contacts are the same, but slower.
    """
    global _filter
    if _filter is None:
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
        _filter = prototype(reject_pair.address)
    if mujoco.get_mjcb_contactfilter() is None:
        mujoco.set_mjcb_contactfilter(_filter)
