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
    ROWS,
    SCENE,
    WIDEST,
    WIDTH,
    U,
    V,
    clear_packet,
)
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
LANE_ROWS: Final = 22
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
def trace_lanes(
    words: Any,
    packet: Any,
    mask: int,
    lane: Any,
    whole: Any,
    count: int,
    all_lanes: bool,
    turns: Any,
    first_faces: Any,
    face_materials: Any,
    corners: Any,
) -> None:
    """Trace the pixels that LIST names, or the first `count` if they are all lanes."""
    w = words[WIDTH]
    tracer, scene, arguments = words[INTERSECT], words[SCENE], words[ARGUMENTS]
    bits = packet.view(np.uint32)
    valid = packet[ROWS * WIDEST :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(words, packet, mask)
    chosen = whole[LIST]
    for j in range(w):
        packet[NEAR * w + j] = ZERO
    for k in range(0, count, w):
        n = min(w, count - k)
        if all_lanes and n == w:
            for axis in range(3):
                to, ray = packet[(ORIGIN + axis) * w :], lane[OX + axis, k:]
                for j in range(w):
                    to[j] = ray[j]
                to, ray = packet[(DIRECTION + axis) * w :], lane[DX + axis, k:]
                for j in range(w):
                    to[j] = ray[j]
            to, ray = packet[FAR * w :], lane[END, k:]
            for j in range(w):
                to[j] = ray[j]
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
        call4(tracer, valid_at, scene, packet_at, arguments)
        for j in range(n):
            i = k + j if all_lanes else chosen[k + j]
            if bits[GEOMETRY * w + j] == MISS:
                lane[HIT, i] = np.inf
                whole[BODY, i] = NOTHING
                continue
            body = bits[INSTANCE * w + j]
            face = first_faces[body] + bits[FACE * w + j]
            u, v = packet[U * w + j], packet[V * w + j]
            a, b, c = packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j]
            rest = ONE - u - v
            x = rest * corners[face, 0] + u * corners[face, 3] + v * corners[face, 6]
            y = rest * corners[face, 1] + u * corners[face, 4] + v * corners[face, 7]
            z = rest * corners[face, 2] + u * corners[face, 5] + v * corners[face, 8]
            dx, dy, dz = lane[DX, i], lane[DY, i], lane[DZ, i]
            away = (
                (turns[body, 0] * a + turns[body, 1] * b + turns[body, 2] * c) * dx
                + (turns[body, 3] * a + turns[body, 4] * b + turns[body, 5] * c) * dy
                + (turns[body, 6] * a + turns[body, 7] * b + turns[body, 8] * c) * dz
            )
            scale = ONE / np.sqrt(x * x + y * y + z * z)
            if away > ZERO:
                scale = -scale
            lane[HIT, i] = packet[FAR * w + j]
            lane[NX, i] = (turns[body, 0] * x + turns[body, 1] * y + turns[body, 2] * z) * scale
            lane[NY, i] = (turns[body, 3] * x + turns[body, 4] * y + turns[body, 5] * z) * scale
            lane[NZ, i] = (turns[body, 6] * x + turns[body, 7] * y + turns[body, 8] * z) * scale
            whole[BODY, i] = body
            whole[MATERIAL, i] = face_materials[face]


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
