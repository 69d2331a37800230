"""A block of pixels on its way through the renderer, in rows, and its rays: aimed from a camera, traced in packets.

A block is `lane`, rows of single-precision numbers, and `whole`, rows of integers, one column per pixel. Each pixel's
light comes by one path: from the camera to a thing, or to the water's surface and from there, refracted or totally
reflected, to a thing. Its colour is ADD + FACTOR × what the thing at the path's end sends back.
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
    MISS,
    NEAR,
    NORMAL,
    ORIGIN,
    ROPES,
    ROWS,
    SCENE,
    WIDEST,
    WIDTH,
    U,
    V,
    clear_packet,
)
from skerry.rays.rope_hits import meet_ropes
from skerry.rays.sea_view import leave_water
from skerry.rays.surface import HIGH, LOW, surface_height

BLOCK: Final = 512
"""Pixels that are worked on at once: their rows stay in the second cache."""

# rows of `lane`
DX, DY, DZ, OX, OY, OZ = range(6)  # the ray, in the world
END: Final = 6  # how far it may go, m
HIT: Final = 7  # how far it went, m; infinite if it hit nothing
NX, NY, NZ = 8, 9, 10  # of what it hit, of length 1, towards the ray
ADD: Final = 11  # 3
FACTOR: Final = 14  # 3
ALBEDO: Final = 17  # 3
SUNLIT: Final = 20  # cosine between normal and sun, 0 in shadow
BEFORE: Final = 21  # length of the path up to the surface, m
RAW: Final = 22  # 3: the normal of what it hit as the tracer gives it, in the body's axes
LANE_ROWS: Final = 25
# rows of `whole`
BODY, MATERIAL, WET, PATH, LIST, WANT = range(6)  # WANT: whether the sun may shine there
WHOLE_ROWS: Final = 6
STRAIGHT, REFRACTED, MIRRORED = range(3)  # values of PATH
# columns of the materials' table
COLOUR: Final = 0  # 3: linear reflectance
TEXTURE: Final = 3  # 3: `texture_numbers`
LABEL: Final = 6
GLOW: Final = 7
MATERIAL_COLUMNS: Final = 8

NOTHING: Final = -1
SURFACE: Final = -2
FURTHEST: Final = np.float32(1e6)
ENDLESS: Final = np.float32(np.inf)
FAINT: Final = np.float32(0.004)  # light of which less than this is left is not followed


@kernel
def _copy(source: Any, target: Any, width: int) -> None:
    """A row of a packet; the widths by name, as a loop of known length is one instruction."""
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
def _face_rays(lane: Any, whole: Any, low: int, high: int, turn: Any, corner: Any, material: int) -> None:
    """The normals of pixels low…high, which hit one face: between those of its corners, and towards the ray."""
    dx, dy, dz, nx, ny, nz = lane[DX], lane[DY], lane[DZ], lane[NX], lane[NY], lane[NZ]
    a, b, c = lane[RAW, low], lane[RAW + 1, low], lane[RAW + 2, low]
    r0, r1, r2, r3, r4, r5, r6, r7, r8 = turn[0], turn[1], turn[2], turn[3], turn[4], turn[5], turn[6], turn[7], turn[8]
    away_x, away_y, away_z = r0 * a + r1 * b + r2 * c, r3 * a + r4 * b + r5 * c, r6 * a + r7 * b + r8 * c
    one = np.float32
    x0, y0, z0 = one(corner[0]), one(corner[1]), one(corner[2])
    x1, y1, z1 = one(corner[3]), one(corner[4]), one(corner[5])
    x2, y2, z2 = one(corner[6]), one(corner[7]), one(corner[8])
    made_of = whole[MATERIAL]
    for i in range(low, high):
        u, v = nx[i], ny[i]
        rest = ONE - u - v
        x, y, z = rest * x0 + u * x1 + v * x2, rest * y0 + u * y1 + v * y2, rest * z0 + u * z1 + v * z2
        scale = ONE / np.sqrt(x * x + y * y + z * z)
        scale = -scale if away_x * dx[i] + away_y * dy[i] + away_z * dz[i] > ZERO else scale
        nx[i] = (r0 * x + r1 * y + r2 * z) * scale
        ny[i] = (r3 * x + r4 * y + r5 * z) * scale
        nz[i] = (r6 * x + r7 * y + r8 * z) * scale
        made_of[i] = material


@kernel
def _take_normals(lane: Any, whole: Any, low: int, high: int, material: int) -> None:
    """The normals of pixels low…high, which hit something round: they are exact, in the world, and towards the ray."""
    for i in range(low, high):
        x, y, z = lane[RAW, i], lane[RAW + 1, i], lane[RAW + 2, i]
        scale = ONE / np.sqrt(x * x + y * y + z * z)
        lane[NX, i], lane[NY, i], lane[NZ, i] = x * scale, y * scale, z * scale
        whole[MATERIAL, i] = material


@kernel
def trace_lanes(
    words: Any,
    packet: Any,
    mask: int,
    lane: Any,
    whole: Any,
    count: int,
    all_lanes: bool,
    origin: Any,
    turns: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
) -> None:
    """Trace the pixels that LIST names, or the first `count` if they are all lanes; the camera is at the `origin`.

    Ropes are numbered behind all other bodies, and their faces have no `corners`.
    """
    w = words[WIDTH]
    tracer, scene, arguments, ropes = words[INTERSECT], words[SCENE], words[ARGUMENTS], words[ROPES]
    bits = packet.view(np.uint32)
    numbers = packet.view(np.int32)
    valid = numbers[ROWS * WIDEST :]
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(words, packet, mask)
    chosen, bodies, faces = whole[LIST], whole[BODY], whole[MATERIAL]
    for j in range(w):
        packet[NEAR * w + j] = ZERO
    for k in range(0, count, w):
        n = min(w, count - k)
        whole_packet = all_lanes and n == w
        if whole_packet:
            for axis in range(3):
                _copy(lane[OX + axis, k:], packet[(ORIGIN + axis) * w :], w)
                _copy(lane[DX + axis, k:], packet[(DIRECTION + axis) * w :], w)
            _copy(lane[END, k:], packet[FAR * w :], w)
            for j in range(w):
                valid[j] = -1
        else:
            for j in range(w):
                i = min(k + j, count - 1) if all_lanes else chosen[min(k + j, count - 1)]
                valid[j] = -1 if j < n else 0
                for axis in range(3):
                    packet[(ORIGIN + axis) * w + j] = lane[OX + axis, i]
                    packet[(DIRECTION + axis) * w + j] = lane[DX + axis, i]
                packet[FAR * w + j] = lane[END, i]
        for j in range(w):
            bits[GEOMETRY * w + j] = MISS
            bits[INSTANCE * w + j] = MISS
            bits[FACE * w + j] = 0
        call4(tracer, valid_at, scene, packet_at, arguments)
        if ropes != 0:
            meet_ropes(ropes, valid_at, packet_at, w, False, origin[0], origin[1], origin[2])
        if whole_packet:
            _copy(packet[FAR * w :], lane[HIT, k:], w)
            _copy(packet[U * w :], lane[NX, k:], w)
            _copy(packet[V * w :], lane[NY, k:], w)
            for axis in range(3):
                _copy(packet[(NORMAL + axis) * w :], lane[RAW + axis, k:], w)
            _copy(numbers[INSTANCE * w :], bodies[k:], w)
            _copy(numbers[FACE * w :], faces[k:], w)
        else:
            for j in range(n):
                i = k + j if all_lanes else chosen[k + j]
                lane[HIT, i], lane[NX, i], lane[NY, i] = packet[FAR * w + j], packet[U * w + j], packet[V * w + j]
                for axis in range(3):
                    lane[RAW + axis, i] = packet[(NORMAL + axis) * w + j]
                bodies[i], faces[i] = numbers[INSTANCE * w + j], numbers[FACE * w + j]
    k = 0
    while k < count:
        low = k if all_lanes else chosen[k]
        body, face = bodies[low], faces[low]
        high = low + 1
        k += 1
        # a stretch that sees the same face: most have many, and its loop becomes vector code
        while k < count and (all_lanes or chosen[k] == high) and bodies[high] == body and faces[high] == face:
            high += 1
            k += 1
        if body == NOTHING:
            for i in range(low, high):
                lane[HIT, i] = np.inf
        else:
            number = first_faces[body] + face
            if number < len(corners):
                _face_rays(lane, whole, low, high, turns[body], corners[number], face_materials[number])
            else:
                _take_normals(lane, whole, low, high, face_materials[number])


@kernel
def aim(
    lane: Any,
    whole: Any,
    directions: Any,
    low: int,
    n: int,
    origin: Any,
    turn: Any,
    port: Any,
    numbers: Any,
    heights: Any,
    far: Any,
) -> None:
    """Set up the rays of pixels low…low + n: from the camera's port, in the medium that is there."""
    x, y, z = directions[0, low:], directions[1, low:], directions[2, low:]
    for axis in range(3):
        a, b, c = turn[axis, 0], turn[axis, 1], turn[axis, 2]
        start = np.float32(origin[axis])
        ray, begin = lane[DX + axis], lane[OX + axis]
        for i in range(n):
            ray[i] = a * x[i] + b * y[i] + c * z[i]
            begin[i] = start + port * ray[i]
        add, factor, albedo = lane[ADD + axis], lane[FACTOR + axis], lane[ALBEDO + axis]
        for i in range(n):
            add[i] = ZERO
            factor[i] = ONE
            albedo[i] = ZERO
    before, lit, upward = lane[BEFORE], lane[SUNLIT], lane[NZ]
    for i in range(n):
        before[i] = port
        lit[i] = ZERO
        upward[i] = ZERO
    wet, path = whole[WET], whole[PATH]
    for i in range(n):
        path[i] = STRAIGHT
    ox, oy, oz, dz, end = lane[OX], lane[OY], lane[OZ], lane[DZ], lane[END]
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
        end[i] = leave_water(numbers, oz[i], dz[i], wet[i], far)
