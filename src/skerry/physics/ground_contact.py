"""Contacts of bodies whose centre is inside a heightfield, which MuJoCo does not push out.

MuJoCo tests a shape against the prisms of a heightfield one by one. A shape whose centre is below the surface is pushed
sideways from one prism to the next and stays inside, or falls through. Such a shape gets one contact instead, along the
normal of the triangle above or below its centre, as deep as its lowest point, as on a plane. All other contacts are
MuJoCo's own. MuJoCo calls the function of this file through its table of collision functions.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

import llvmlite.binding
import numpy as np
from numba import types

from skerry.core.kernels import address_of, floats, kernel, load_word, native, singles
from skerry.physics.contact_filter import (
    CELLS_X,
    CELLS_Y,
    COLUMNS_OF_NODES,
    GEOM,
    HEIGHTS,
    LOWEST,
    POSITIONS,
    ROTATIONS,
    ROWS_OF_NODES,
    SETTINGS,
    SOUTH,
    WEST,
)
from skerry.physics.mujoco import GEOM_BOXES, GEOM_RADII, library, mujoco
from skerry.physics.program import NO_PROGRAM, ground_of

KINDS: Final = int(mujoco.mjtGeom.mjNGEOMTYPES)
HEIGHTFIELD: Final = int(mujoco.mjtGeom.mjGEOM_HFIELD)
SHAPES: Final = range(int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_MESH) + 1)
CONTACT: Final = 10  # numbers of MuJoCo's mjPreContact: distance, position (3), normal (3), tangent (3)


def _functions() -> Any:
    """Return MuJoCo's table of collision functions, [kind of the first geom × KINDS + kind of the second]."""
    return (ctypes.c_void_p * (KINDS * KINDS)).in_dll(library(), "mjCOLLISIONFUNC")


# MuJoCo's own function for a heightfield and a convex shape, under a name that native code can link to.
_ORIGINAL: Final = int(_functions()[HEIGHTFIELD * KINDS + SHAPES[0]])
llvmlite.binding.add_symbol("skerry_mujoco_heightfield", _ORIGINAL)
_collide = types.ExternalFunction(
    "skerry_mujoco_heightfield",
    types.int32(types.int64, types.int64, types.int64, types.int32, types.int32, types.float64),
)


@kernel
def _push_out(model: int, data: int, table: int, geom: int, contact: Any) -> bool:
    """Write the contact of a geom whose centre is inside the ground; return whether it is."""
    t = floats(table, SETTINGS)
    position = floats(load_word(data + POSITIONS) + 24 * geom, 3)
    u, v = (position[0] - t[WEST]) * t[CELLS_X], (position[1] - t[SOUTH]) * t[CELLS_Y]
    nx, ny = int(t[COLUMNS_OF_NODES]), int(t[ROWS_OF_NODES])
    if not (0.0 <= u <= nx - 1 and 0.0 <= v <= ny - 1):
        return False
    heights = singles(int(t[HEIGHTS]), nx * ny)
    column, row = min(int(u), nx - 2), min(int(v), ny - 2)
    u, v = u - column, v - row
    sw = row * nx + column
    # cells are split from south-west to north-east
    h0, h1, h2, h3 = float(heights[sw]), float(heights[sw + 1]), float(heights[sw + nx]), float(heights[sw + nx + 1])
    gx, gy = (h1 - h0, h3 - h1) if u >= v else (h3 - h2, h2 - h0)
    below = t[LOWEST] + h0 + u * gx + v * gy - position[2]
    if not below > 0.0:
        return False
    gx, gy = gx * t[CELLS_X], gy * t[CELLS_Y]
    nz = 1.0 / np.sqrt(1.0 + gx * gx + gy * gy)
    normal = contact[4:7]
    normal[0], normal[1], normal[2] = -gx * nz, -gy * nz, nz
    # distance from the centre to the lowest point along the normal, by the bounding box or sphere
    R = floats(load_word(data + ROTATIONS) + 72 * geom, 9)
    half = floats(load_word(model + GEOM_BOXES) + 48 * geom + 24, 3)
    reach = 0.0
    for i in range(3):
        reach += half[i] * abs(R[i] * normal[0] + R[3 + i] * normal[1] + R[6 + i] * normal[2])
    reach = min(reach, floats(load_word(model + GEOM_RADII) + 8 * geom, 1)[0])
    depth = below * nz
    contact[0] = -(depth + reach)
    for i in range(3):
        contact[1 + i] = position[i] + 0.5 * (depth - reach) * normal[i]
        contact[7 + i] = 0.0
    return True


@native(
    types.int32(types.voidptr, types.voidptr, types.voidptr, types.int32, types.int32, types.float64),
)
def collide_with_ground(model: Any, data: Any, contacts: Any, first: int, second: int, margin: float) -> int:
    """Write the contacts of a heightfield and a shape and return their number; MuJoCo's `mjfCollision`."""
    m, d, c = address_of(model), address_of(data), address_of(contacts)
    table = ground_of(m)
    is_ground = table != NO_PROGRAM and table != 0 and first == int(floats(table, 1)[GEOM])
    if is_ground and _push_out(m, d, table, second, floats(c, CONTACT)):
        return 1
    return _collide(m, d, c, first, second, margin)


def install_ground_contacts() -> None:
    """Set `collide_with_ground` in MuJoCo's table, where no other library has set a function of its own."""
    functions = _functions()
    for shape in SHAPES:
        if functions[HEIGHTFIELD * KINDS + shape] == _ORIGINAL:
            functions[HEIGHTFIELD * KINDS + shape] = collide_with_ground.address
