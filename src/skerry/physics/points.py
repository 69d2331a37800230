"""Points on bodies, for ropes that are tied there: motion, inverse inertia and forces at the point.

The table of bodies has for each body the root of its tree, the number of joint axes above it, and the index of the
first of them in the list of axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import floats, integers, kernel, load_word, words
from skerry.physics.mujoco import (
    CDOF,
    CVEL,
    FACTORS,
    INVERSE_DIAGONAL,
    MASS_ROW_SIZES,
    MASS_ROWS,
    QFRC_APPLIED,
    SUBTREE_COM,
    XMAT,
    XPOS,
)

# Columns of the table of bodies, and their number.
ROOT, COUNT, FIRST, BODY_ROW = range(4)

_mj_kinematics = types.ExternalFunction("mj_kinematics", types.void(types.int64, types.int64))
_mj_com_position = types.ExternalFunction("mj_comPos", types.void(types.int64, types.int64))
_mj_com_velocity = types.ExternalFunction("mj_comVel", types.void(types.int64, types.int64))
_mj_mark = types.ExternalFunction("mj_markStack", types.void(types.int64))
_mj_free = types.ExternalFunction("mj_freeStack", types.void(types.int64))
_mj_allocate = types.ExternalFunction("mj_stackAllocNum", types.int64(types.int64, types.int64))
_mj_distance = types.ExternalFunction(
    "mj_geomDistance", types.float64(types.int64, types.int64, types.int32, types.int32, types.float64, types.int64)
)


@kernel
def update_kinematics(model: int, data: int) -> None:
    """Compute poses and velocities of all bodies for the current state; mj_step leaves those of the previous state."""
    _mj_kinematics(model, data)
    _mj_com_position(model, data)
    _mj_com_velocity(model, data)


@kernel
def mark(data: int) -> None:
    """Mark the start of an allocation of scratch memory."""
    _mj_mark(data)


@kernel
def scratch(data: int, count: int) -> int:
    """Allocate `count` floats of scratch memory and return their address; valid until `free`."""
    return _mj_allocate(data, count)


@kernel
def free(data: int) -> None:
    """Free all scratch memory that was allocated since `mark`."""
    _mj_free(data)


@kernel
def distance_to(model: int, data: int, probe: int, geom: int, most: float, line: int) -> float:
    """Return the distance between two geoms, m, at most `most`; write both nearest points to `line`, 6 floats."""
    return _mj_distance(model, data, probe, geom, most, line)


@kernel
def velocity_at(data: int, layout: Any, table: int, body: int, x: float, y: float, z: float, out: Any) -> None:
    """Write the velocity of a body at a world position into `out`."""
    cvel = floats(load_word(data + layout[CVEL]) + 48 * body, 6)
    com = floats(load_word(data + layout[SUBTREE_COM]) + 24 * words(table + 24 * body, BODY_ROW)[ROOT], 3)
    rx, ry, rz = x - com[0], y - com[1], z - com[2]
    out[0] = cvel[3] + cvel[1] * rz - cvel[2] * ry
    out[1] = cvel[4] + cvel[2] * rx - cvel[0] * rz
    out[2] = cvel[5] + cvel[0] * ry - cvel[1] * rx


@kernel
def motion_of_point(data: int, layout: Any, table: int, body: int, x: float, y: float, z: float, out: Any) -> None:
    """Write the world position and velocity of a point of a body into `out` (6,); (x, y, z) is in the body's axes."""
    p = floats(load_word(data + layout[XPOS]) + 24 * body, 3)
    R = floats(load_word(data + layout[XMAT]) + 72 * body, 9)
    out[0] = p[0] + R[0] * x + R[1] * y + R[2] * z
    out[1] = p[1] + R[3] * x + R[4] * y + R[5] * z
    out[2] = p[2] + R[6] * x + R[7] * y + R[8] * z
    velocity_at(data, layout, table, body, out[0], out[1], out[2], out[3:6])


@kernel
def _row(data: int, layout: Any, axis: int, rx: float, ry: float, rz: float) -> tuple[float, float, float]:
    """Return the velocity of a point per unit of a joint axis; r is its position from the tree's centre of mass."""
    c = floats(load_word(data + layout[CDOF]) + 48 * axis, 6)
    return c[3] + c[1] * rz - c[2] * ry, c[4] + c[2] * rx - c[0] * rz, c[5] + c[0] * ry - c[1] * rx


@kernel
def push_at(
    data: int,
    layout: Any,
    table: int,
    axes: int,
    body: int,
    x: float,
    y: float,
    z: float,
    fx: float,
    fy: float,
    fz: float,
) -> None:
    """Add a force at a point of a body, both in the world frame, to the applied forces of the next step."""
    row = words(table + 24 * body, BODY_ROW)
    com = floats(load_word(data + layout[SUBTREE_COM]) + 24 * row[ROOT], 3)
    applied = load_word(data + layout[QFRC_APPLIED])
    rx, ry, rz = x - com[0], y - com[1], z - com[2]
    listed = words(axes, row[FIRST] + row[COUNT])
    for k in range(row[FIRST], row[FIRST] + row[COUNT]):
        u, v, w = _row(data, layout, listed[k], rx, ry, rz)
        floats(applied + 8 * listed[k], 1)[0] += u * fx + v * fy + w * fz


@kernel
def inverse_inertia_of(model: int, data: int, layout: Any, table: int, axes: int, body: int, out: Any) -> None:
    """Write J M⁻¹ Jᵀ of a body (6×6, row by row) into `out`, with M as it was factored last.

    The matrix gives the linear and angular acceleration of the body's origin for a force and a torque there, in the
    world frame. M = Lᵀ D L, so it equals Yᵀ D⁻¹ Y with Y = L⁻ᵀ Jᵀ. The row of an axis in L contains only the axes
    above it (Featherstone 2008, §6.5), so only the axes above the body are needed.
    """
    row = words(table + 24 * body, BODY_ROW)
    p = floats(load_word(data + layout[XPOS]) + 24 * body, 3)
    com = floats(load_word(data + layout[SUBTREE_COM]) + 24 * row[ROOT], 3)
    factors, diagonal = load_word(data + layout[FACTORS]), load_word(data + layout[INVERSE_DIAGONAL])
    rows, sizes = load_word(model + MASS_ROWS), load_word(model + MASS_ROW_SIZES)
    rx, ry, rz = p[0] - com[0], p[1] - com[1], p[2] - com[2]
    listed = words(axes + 8 * row[FIRST], row[COUNT])
    _mj_mark(data)
    Y = floats(_mj_allocate(data, 6 * row[COUNT] + 1), 6 * row[COUNT])
    for k in range(row[COUNT]):
        c = floats(load_word(data + layout[CDOF]) + 48 * listed[k], 6)
        y = Y[6 * k : 6 * k + 6]
        y[0], y[1], y[2] = _row(data, layout, listed[k], rx, ry, rz)
        y[3], y[4], y[5] = c[0], c[1], c[2]
    for i in range(36):
        out[i] = 0.0
    for k in range(row[COUNT] - 1, -1, -1):
        others = integers(sizes + 4 * listed[k], 1)[0] - 1  # none, where M is diagonal
        L = floats(factors + 8 * np.int64(integers(rows + 4 * listed[k], 1)[0]), others)
        y = Y[6 * k : 6 * k + 6]
        for j in range(others):
            for i in range(6):
                Y[6 * j + i] -= L[j] * y[i]
        share = floats(diagonal + 8 * listed[k], 1)[0]
        for i in range(6):
            for j in range(6):
                out[6 * i + j] += share * y[i] * y[j]
    _mj_free(data)


def body_table(compiled: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the table of bodies of a compiled model, (bodies, BODY_ROW), and the list of axes."""
    rows: list[tuple[int, int, int]] = []
    axes: list[int] = []
    for body in range(compiled.nbody):
        above = axes_above(compiled, body)
        rows.append((int(compiled.body_rootid[body]), len(above), len(axes)))
        axes += above
    return np.array(rows, np.int64), np.array([*axes, 0], np.int64)


def axes_above(compiled: Any, body: int) -> list[int]:
    """Return the joint axes (MuJoCo's dofs) that move a body, from the root down."""
    current = body
    while current and compiled.body_dofnum[current] == 0:
        current = int(compiled.body_parentid[current])
    axes: list[int] = []
    dof = int(compiled.body_dofadr[current] + compiled.body_dofnum[current] - 1) if current else -1
    while dof >= 0:
        axes.insert(0, dof)
        dof = int(compiled.dof_parentid[dof])
    return axes
