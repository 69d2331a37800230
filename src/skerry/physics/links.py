"""Laws before and after the laws of a link: write the link's motion into its block, and apply the sum to the joints.

MuJoCo's velocities are spatial vectors (angular, linear) about the centre of mass of the whole tree. Skerry's are
(linear, angular) in the link's axes at the link's origin. With J the 6×n Jacobian of the latter, a wrench F gives Jᵀ F,
and an inertia A gives M += Jᵀ A J (Fossen 2021, §3.3; Featherstone 2008, §2). The joints' part of the acceleration,
J̇ q̇, is the block's BIAS.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numba import types
from numpy.typing import NDArray

from skerry.core.kernels import call7, floats, load_word, stack_floats, words
from skerry.parts.law import (
    APPLY,
    BIAS,
    BLOCK,
    BODY,
    DENSITY,
    FINISH,
    FLOW_RATE,
    GATHER,
    GRAVITY,
    HEADER,
    INERTIA,
    LAYOUT,
    POSITION,
    RELATIVE,
    ROTATION,
    STEP,
    SUBMERGED,
    SURFACE,
    TIME,
    TIME_OFFSET,
    TOUCHING,
    USERDATA_OFFSET,
    VELOCITY,
    WATER,
    WATER_TABLE,
    WRENCH,
    Law,
    block_of,
    law,
    time_of,
)
from skerry.physics.mujoco import CDOF, CDOF_DOT, CVEL, LAYOUT_SIZE, MASS, QFRC_PASSIVE, QVEL, SUBTREE_COM, XMAT, XPOS
from skerry.water import flow

# Offsets in the constants of both laws. The first are 64-bit integers: the root body of the tree, the number of joint
# axes above the link, MuJoCo's number of each axis, and the start of its row in the sparse mass matrix. Then follow, as
# floats, the step length of the implicit part and gravity.
ROOT: Final = 0
AXES: Final = 1
FIRST: Final = 2

_mj_factor = types.ExternalFunction("mj_factorM", types.void(types.int64, types.int64))


@law
def gather_motion(model: int, data: int, table: int) -> None:
    """Write the link's pose, velocity and bias acceleration, and the water at its origin, into its block."""
    block = block_of(data, table)
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    constants = table + 8 * HEADER
    root = load_word(constants + 8 * ROOT)
    axes = load_word(constants + 8 * AXES)
    axis = words(constants + 8 * FIRST, axes)
    settings = floats(constants + 8 * (FIRST + 2 * axes), 2)
    body = header[BODY]
    p = floats(load_word(data + layout[XPOS]) + 24 * body, 3)
    R = floats(load_word(data + layout[XMAT]) + 72 * body, 9)
    cvel = floats(load_word(data + layout[CVEL]) + 48 * body, 6)
    com = floats(load_word(data + layout[SUBTREE_COM]) + 24 * root, 3)
    cdof_dot = load_word(data + layout[CDOF_DOT])
    qvel = load_word(data + layout[QVEL])
    rx, ry, rz = p[0] - com[0], p[1] - com[1], p[2] - com[2]
    for i in range(3):
        block[POSITION + i] = p[i]
    for i in range(9):
        block[ROTATION + i] = R[i]

    vx = cvel[3] + cvel[1] * rz - cvel[2] * ry
    vy = cvel[4] + cvel[2] * rx - cvel[0] * rz
    vz = cvel[5] + cvel[0] * ry - cvel[1] * rx
    a0 = a1 = a2 = a3 = a4 = a5 = 0.0
    for k in range(axes):
        rate = floats(qvel + 8 * axis[k], 1)[0]
        change = floats(cdof_dot + 48 * axis[k], 6)
        a0 += change[0] * rate
        a1 += change[1] * rate
        a2 += change[2] * rate
        a3 += change[3] * rate
        a4 += change[4] * rate
        a5 += change[5] * rate
    bx, by, bz = a3 + a1 * rz - a2 * ry, a4 + a2 * rx - a0 * rz, a5 + a0 * ry - a1 * rx

    sample = floats(stack_floats(10), 10)
    point = stack_floats(3)
    where = floats(point, 3)
    for i in range(3):
        where[i] = p[i]
    userdata = load_word(data + header[USERDATA_OFFSET])
    need = flow.NEED_FLOW | flow.NEED_FLOW_RATE
    call7(
        header[WATER],
        header[WATER_TABLE],
        userdata,
        data + header[TIME_OFFSET],
        need,
        1,
        point,
        sample.ctypes.data,
    )
    ux, uy, uz = sample[flow.FLOW], sample[flow.FLOW + 1], sample[flow.FLOW + 2]
    dx, dy, dz = sample[flow.FLOW_RATE], sample[flow.FLOW_RATE + 1], sample[flow.FLOW_RATE + 2]
    for i in range(3):
        x, y, z = R[i], R[3 + i], R[6 + i]
        block[VELOCITY + i] = x * vx + y * vy + z * vz
        block[VELOCITY + 3 + i] = x * cvel[0] + y * cvel[1] + z * cvel[2]
        block[RELATIVE + i] = x * (vx - ux) + y * (vy - uy) + z * (vz - uz)
        block[RELATIVE + 3 + i] = block[VELOCITY + 3 + i]
        block[BIAS + i] = x * bx + y * by + z * bz
        block[BIAS + 3 + i] = x * a0 + y * a1 + z * a2
        block[FLOW_RATE + i] = x * dx + y * dy + z * dz
    block[SURFACE] = sample[flow.HEIGHT]
    block[DENSITY] = sample[flow.DENSITY]
    under = 1.0 if p[2] < sample[flow.HEIGHT] else 0.0
    block[SUBMERGED] = under
    block[TOUCHING] = under
    block[STEP] = settings[0]
    block[GRAVITY] = settings[1]
    block[TIME] = time_of(data, table)
    for i in range(WRENCH, BLOCK):
        block[i] = 0.0


@law
def apply_sum(model: int, data: int, table: int) -> None:
    """Add the summed wrench and inertia of a link to the forces and the mass matrix of the joints."""
    block = block_of(data, table)
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    constants = table + 8 * HEADER
    root = load_word(constants + 8 * ROOT)
    axes = load_word(constants + 8 * AXES)
    axis = words(constants + 8 * FIRST, axes)
    row = words(constants + 8 * (FIRST + axes), axes)
    com = floats(load_word(data + layout[SUBTREE_COM]) + 24 * root, 3)
    cdof = load_word(data + layout[CDOF])
    M = load_word(data + layout[MASS])
    force = load_word(data + layout[QFRC_PASSIVE])
    R = block[ROTATION : ROTATION + 9]
    A = block[INERTIA : INERTIA + 36]
    rx, ry, rz = block[POSITION] - com[0], block[POSITION + 1] - com[1], block[POSITION + 2] - com[2]
    # J, column by column. It has room for MAX_AXES; links with more axes above them are refused at build time.
    J = floats(stack_floats(6 * 64), 6 * axes)
    y = floats(stack_floats(6), 6)
    for k in range(axes):
        c = floats(cdof + 48 * axis[k], 6)
        vx = c[3] + c[1] * rz - c[2] * ry
        vy = c[4] + c[2] * rx - c[0] * rz
        vz = c[5] + c[0] * ry - c[1] * rx
        total = 0.0
        for i in range(3):
            J[6 * k + i] = R[i] * vx + R[3 + i] * vy + R[6 + i] * vz
            J[6 * k + 3 + i] = R[i] * c[0] + R[3 + i] * c[1] + R[6 + i] * c[2]
            total += J[6 * k + i] * block[WRENCH + i] + J[6 * k + 3 + i] * block[WRENCH + 3 + i]
        target = floats(force + 8 * axis[k], 1)
        target[0] += total
        for i in range(6):
            y[i] = 0.0
        for j in range(6):
            factor = J[6 * k + j]
            for i in range(6):
                y[i] += A[6 * i + j] * factor
        entries = floats(M + 8 * row[k], k + 1)
        for j in range(k + 1):
            entries[j] += (
                J[6 * j] * y[0]
                + J[6 * j + 1] * y[1]
                + J[6 * j + 2] * y[2]
                + J[6 * j + 3] * y[3]
                + J[6 * j + 4] * y[4]
                + J[6 * j + 5] * y[5]
            )


@law
def factor_mass(model: int, data: int, table: int) -> None:
    """Factor the changed mass matrix, once per evaluation, after the last law."""
    _mj_factor(model, data)


MAX_AXES: Final = 64  # joint axes between the world and a link with laws


def link_constants(
    root: int, axis: list[int], row: list[int], implicit_step: float, gravity: float
) -> NDArray[np.float64]:
    """Return the constants of `gather_motion` and `apply_sum`.

    Args:
        root: body number of the tree's root.
        axis: MuJoCo's number of each joint axis above the link.
        row: start of each axis' row in the sparse mass matrix.
        implicit_step: step length of the implicit part of the laws, s.
        gravity: gravity, m/s².
    """
    constants = np.zeros(FIRST + 2 * len(axis) + 2)
    constants.view(np.int64)[: FIRST + 2 * len(axis)] = [root, len(axis), *axis, *row]
    constants[-2:] = implicit_step, gravity
    return constants


def link_laws(constants: NDArray[np.float64]) -> list[Law]:
    """Return the two laws that run before and after the laws of a link."""
    return [
        Law(constants, force=gather_motion, phase=GATHER),
        Law(constants, force=apply_sum, phase=APPLY),
    ]


def finish_law() -> Law:
    """Return the last law of a program."""
    return Law(np.zeros(0), force=factor_mass, phase=FINISH)
