"""Blocks of pixels for the renderer: their layout in memory, and kernels that set up and trace their rays.

A block has one column per pixel in two arrays: `floats`, rows of single-precision numbers, and `ints`, rows of
integers. Each pixel has one light path. It leads from the camera to a body, or to the water surface and on from there,
refracted or totally reflected, to a body. The colour of a pixel is ADD + FACTOR × the light that the body reflects.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import call4, kernel
from skerry.rays.light import (
    ONE,
    ZERO,
)
from skerry.rays.packets import (
    ARGUMENTS,
    DIRECTION,
    FACE,
    FAR,
    GEOMETRY,
    INSTANCE,
    INTERSECT,
    MAX_WIDTH,
    MISS,
    NEAR,
    NORMAL,
    ORIGIN,
    ROPES,
    ROWS,
    SCENE,
    WIDTH,
    U,
    V,
    clear_packet,
)
from skerry.rays.rope_hits import intersect_ropes
from skerry.rays.sea_view import limit_to_surface
from skerry.rays.surface import HIGH, LOW, surface_height

BLOCK: Final = 512
"""Pixels in a block; its rows fit into the second-level cache."""

# rows of `floats`
DX, DY, DZ, OX, OY, OZ = range(6)  # direction and origin of the ray, in the world
END: Final = 6  # maximum length of the ray, m
HIT: Final = 7  # distance of the hit, m; infinite for a miss
NX, NY, NZ = 8, 9, 10  # unit normal at the hit, in the world, towards the ray
ADD: Final = 11  # 3: light that is added
FACTOR: Final = 14  # 3: factor on the light of the body
ALBEDO: Final = 17  # 3: reflectance of the body
SUNLIT: Final = 20  # cosine of the angle between normal and sun; 0 in shadow
SURFACE_DISTANCE: Final = 21  # length of the path up to the water surface, m
RAW_NORMAL: Final = 22  # 3: normal at the hit as the tracer returns it, in the body's axes
FLOAT_ROWS: Final = 25
# rows of `ints`
BODY, MATERIAL, WET, PATH, INDICES, MAY_BE_SUNLIT = range(6)
INT_ROWS: Final = 6
STRAIGHT, REFRACTED, MIRRORED = range(3)  # values of PATH
# columns of the table of materials
COLOUR: Final = 0  # 3: linear reflectance
TEXTURE: Final = 3  # 3: `texture_parameters`
LABEL: Final = 6
GLOW: Final = 7
MATERIAL_COLUMNS: Final = 8

NOTHING: Final = -1
SURFACE: Final = -2
MAX_DISTANCE: Final = np.float32(1e6)
INFINITE: Final = np.float32(np.inf)
MIN_FACTOR: Final = np.float32(0.004)  # paths with a smaller FACTOR are not continued


@kernel
def _copy(source: Any, target: Any, width: int) -> None:
    """Copy a row of a packet. A loop of constant length compiles to one instruction."""
    if width == 8:
        for j in range(8):
            target[j] = source[j]
    elif width == 4:
        for j in range(4):
            target[j] = source[j]
    else:
        for j in range(width):
            target[j] = source[j]


@kernel
def _interpolate_normals(
    floats: Any, ints: Any, low: int, high: int, rotation: Any, corner: Any, material: int
) -> None:
    """Write the normals of pixels low…high, which hit one face: interpolate between its corners, towards the ray."""
    dx, dy, dz, nx, ny, nz = floats[DX], floats[DY], floats[DZ], floats[NX], floats[NY], floats[NZ]
    a, b, c = floats[RAW_NORMAL, low], floats[RAW_NORMAL + 1, low], floats[RAW_NORMAL + 2, low]
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = (
        rotation[0],
        rotation[1],
        rotation[2],
        rotation[3],
        rotation[4],
        rotation[5],
        rotation[6],
        rotation[7],
        rotation[8],
    )
    away_x, away_y, away_z = r0 * a + r1 * b + r2 * c, r3 * a + r4 * b + r5 * c, r6 * a + r7 * b + r8 * c
    one = np.float32
    x0, y0, z0 = one(corner[0]), one(corner[1]), one(corner[2])
    x1, y1, z1 = one(corner[3]), one(corner[4]), one(corner[5])
    x2, y2, z2 = one(corner[6]), one(corner[7]), one(corner[8])
    materials_hit = ints[MATERIAL]
    for i in range(low, high):
        u, v = nx[i], ny[i]
        rest = ONE - u - v
        x, y, z = rest * x0 + u * x1 + v * x2, rest * y0 + u * y1 + v * y2, rest * z0 + u * z1 + v * z2
        scale = ONE / np.sqrt(x * x + y * y + z * z)
        scale = -scale if away_x * dx[i] + away_y * dy[i] + away_z * dz[i] > ZERO else scale
        nx[i] = (r0 * x + r1 * y + r2 * z) * scale
        ny[i] = (r3 * x + r4 * y + r5 * z) * scale
        nz[i] = (r6 * x + r7 * y + r8 * z) * scale
        materials_hit[i] = material


@kernel
def _copy_normals(floats: Any, ints: Any, low: int, high: int, material: int) -> None:
    """Write the normals of pixels low…high, which hit a rope; its normals are exact and already in the world."""
    for i in range(low, high):
        x, y, z = floats[RAW_NORMAL, i], floats[RAW_NORMAL + 1, i], floats[RAW_NORMAL + 2, i]
        scale = ONE / np.sqrt(x * x + y * y + z * z)
        floats[NX, i], floats[NY, i], floats[NZ, i] = x * scale, y * scale, z * scale
        ints[MATERIAL, i] = material


@kernel
def trace_block(
    context: Any,
    packet: Any,
    mask: int,
    floats: Any,
    ints: Any,
    count: int,
    contiguous: bool,
    origin: Any,
    rotations: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
) -> None:
    """Trace the `count` pixels in the row INDICES or, if `contiguous`, the first `count` pixels of the block.

    The camera is at `origin`. Ropes come after all other bodies, and their faces have no `corners`.
    """
    w = context[WIDTH]
    tracer, scene, arguments, ropes = context[INTERSECT], context[SCENE], context[ARGUMENTS], context[ROPES]
    bits = packet.view(np.uint32)
    numbers = packet.view(np.int32)
    valid = numbers[ROWS * MAX_WIDTH :]
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(context, packet, mask)
    chosen, bodies, faces = ints[INDICES], ints[BODY], ints[MATERIAL]
    for j in range(w):
        packet[NEAR * w + j] = ZERO
    for k in range(0, count, w):
        n = min(w, count - k)
        full_packet = contiguous and n == w
        if full_packet:
            for axis in range(3):
                _copy(floats[OX + axis, k:], packet[(ORIGIN + axis) * w :], w)
                _copy(floats[DX + axis, k:], packet[(DIRECTION + axis) * w :], w)
            _copy(floats[END, k:], packet[FAR * w :], w)
            for j in range(w):
                valid[j] = -1
        else:
            for j in range(w):
                i = min(k + j, count - 1) if contiguous else chosen[min(k + j, count - 1)]
                valid[j] = -1 if j < n else 0
                for axis in range(3):
                    packet[(ORIGIN + axis) * w + j] = floats[OX + axis, i]
                    packet[(DIRECTION + axis) * w + j] = floats[DX + axis, i]
                packet[FAR * w + j] = floats[END, i]
        for j in range(w):
            bits[GEOMETRY * w + j] = MISS
            bits[INSTANCE * w + j] = MISS
            bits[FACE * w + j] = 0
        call4(tracer, valid_at, scene, packet_at, arguments)
        if ropes != 0:
            intersect_ropes(ropes, valid_at, packet_at, w, False, origin[0], origin[1], origin[2])
        if full_packet:
            _copy(packet[FAR * w :], floats[HIT, k:], w)
            _copy(packet[U * w :], floats[NX, k:], w)
            _copy(packet[V * w :], floats[NY, k:], w)
            for axis in range(3):
                _copy(packet[(NORMAL + axis) * w :], floats[RAW_NORMAL + axis, k:], w)
            _copy(numbers[INSTANCE * w :], bodies[k:], w)
            _copy(numbers[FACE * w :], faces[k:], w)
        else:
            for j in range(n):
                i = k + j if contiguous else chosen[k + j]
                floats[HIT, i], floats[NX, i], floats[NY, i] = packet[FAR * w + j], packet[U * w + j], packet[V * w + j]
                for axis in range(3):
                    floats[RAW_NORMAL + axis, i] = packet[(NORMAL + axis) * w + j]
                bodies[i], faces[i] = numbers[INSTANCE * w + j], numbers[FACE * w + j]
    k = 0
    while k < count:
        low = k if contiguous else chosen[k]
        body, face = bodies[low], faces[low]
        high = low + 1
        k += 1
        # runs of pixels that hit the same face are long, and their loop is vectorised
        while k < count and (contiguous or chosen[k] == high) and bodies[high] == body and faces[high] == face:
            high += 1
            k += 1
        if body == NOTHING:
            for i in range(low, high):
                floats[HIT, i] = np.inf
        else:
            number = first_faces[body] + face
            if number < len(corners):
                _interpolate_normals(floats, ints, low, high, rotations[body], corners[number], face_materials[number])
            else:
                _copy_normals(floats, ints, low, high, face_materials[number])


@kernel
def aim_rays(
    floats: Any,
    ints: Any,
    directions: Any,
    low: int,
    n: int,
    origin: Any,
    rotation: Any,
    port: Any,
    numbers: Any,
    heights: Any,
    far: Any,
) -> None:
    """Set up the rays of pixels low…low + n. They start at the camera's port, in air or water."""
    x, y, z = directions[0, low:], directions[1, low:], directions[2, low:]
    for axis in range(3):
        a, b, c = rotation[axis, 0], rotation[axis, 1], rotation[axis, 2]
        start = np.float32(origin[axis])
        ray, begin = floats[DX + axis], floats[OX + axis]
        for i in range(n):
            ray[i] = a * x[i] + b * y[i] + c * z[i]
            begin[i] = start + port * ray[i]
        add, factor, albedo = floats[ADD + axis], floats[FACTOR + axis], floats[ALBEDO + axis]
        for i in range(n):
            add[i] = ZERO
            factor[i] = ONE
            albedo[i] = ZERO
    before, lit, upward = floats[SURFACE_DISTANCE], floats[SUNLIT], floats[NZ]
    for i in range(n):
        before[i] = port
        lit[i] = ZERO
        upward[i] = ZERO
    wet, path = ints[WET], ints[PATH]
    for i in range(n):
        path[i] = STRAIGHT
    ox, oy, oz, dz, end = floats[OX], floats[OY], floats[OZ], floats[DZ], floats[END]
    if origin[2] + port < numbers[LOW]:
        for i in range(n):
            wet[i] = 1
    elif origin[2] - port > numbers[HIGH]:
        for i in range(n):
            wet[i] = 0
    else:
        for i in range(n):
            wet[i] = 1 if oz[i] < surface_height(numbers, heights, ox[i], oy[i]) else 0
    for i in range(n):
        end[i] = limit_to_surface(numbers, oz[i], dz[i], wet[i], far)
