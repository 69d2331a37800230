"""Rays in packets: the memory that a tracer reads and writes, and the kernel that sends a bundle through it.

A packet of width w is 21 rows of w 32-bit values, as Embree 4 lays out its RTCRayHit4, 8 and 16 (rtcore_ray.h); `valid`
is a row of its own, −1 for each ray that is to be traced. A tracer is a native function (valid, scene, packet,
arguments), so that Embree and Skerry's own tracer are called alike.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import call1, call4, kernel, singles
from skerry.core.kernels import words as words_at
from skerry.rays.tiles import next_tile

# rows of a packet
ORIGIN: Final = 0  # x, y, z in the world, m
NEAR: Final = 3  # where the ray begins, in lengths of its direction
DIRECTION: Final = 4  # x, y, z
TIME: Final = 7
FAR: Final = 8  # where it ends; after tracing, where it hit
MASK: Final = 9  # only geometry that shares a bit with it is seen
NUMBER: Final = 10
FLAGS: Final = 11
NORMAL: Final = 12  # x, y, z of the triangle, in its instance's frame, of any length
U: Final = 15
V: Final = 16
FACE: Final = 17
GEOMETRY: Final = 18  # MISS if nothing was hit
INSTANCE: Final = 19
INSTANCE_PART: Final = 20
ROWS: Final = 21
RAY_ROWS: Final = 12  # those of an occlusion test, which has no hit; FAR becomes −inf where something is in the way
MISS: Final = np.uint32(0xFFFFFFFF)
WIDEST: Final = 16

# places in the words that say what to trace with, and where
INTERSECT: Final = 0  # address of the tracer
OCCLUDED: Final = 1  # address of the one that only says whether anything is in the way
SCENE: Final = 2
ARGUMENTS: Final = 3
WIDTH: Final = 4
GEOMETRIES: Final = 5  # addresses of the scene's instances: their handles (bodies,),
PLACES: Final = 6  # their transforms as they were last (bodies, 12), float32,
TURNS: Final = 7  # and their rotations (bodies, 9), float32
WORDS: Final = 8

EVERYTHING: Final = 0xFFFFFFFF
TILE: Final = 4096
"""Rays that a thread takes at a time."""


def packet_memory() -> NDArray[np.float32]:
    """Memory for a packet of any width and, in its last row, for `valid`; on a 64-byte boundary. One per thread."""
    size = (ROWS + 1) * WIDEST
    raw = np.zeros(size + 16, np.float32)
    skip = (-raw.ctypes.data % 64) // 4
    return raw[skip : skip + size]


@kernel
def clear_packet(words: Any, packet: Any, mask: int) -> None:
    """Set the rows that stay the same for all packets of a bundle."""
    w = words[WIDTH]
    bits = packet.view(np.uint32)
    for j in range(w):
        packet[TIME * w + j] = 0.0
        bits[MASK * w + j] = np.uint32(mask)
        bits[NUMBER * w + j] = 0
        bits[FLAGS * w + j] = 0


@kernel
def trace(
    words: Any,
    packet: Any,
    place: Any,
    directions: Any,
    order: Any,
    near: float,
    far: float,
    floor: float,
    mask: int,
    first_faces: Any,
    face_materials: Any,
    distance: Any,
    normal: Any,
    material: Any,
    body: Any,
    tiles: Any,
) -> None:
    """Trace rays of a bundle from one point, tile by tile; what is below the `floor`, a height, need not be found.

    `directions` (3, n) are of length 1 in the sensor's frame, whose `place` in the world is position and quaternion
    (x, y, z, w). What ray k hits is written at `order[k]`. `distance` is infinite, `body` and `material` −1 and
    `normal` 0 where nothing was hit; the normal (3, n) is in the world, of length 1, towards the ray's origin.
    """
    w = words[WIDTH]
    tracer, scene, arguments = words[INTERSECT], words[SCENE], words[ARGUMENTS]
    # A handful of rays goes all ways. Told that they are coherent, Embree loses some that are nearly along an axis, as
    # the beams of a DVL on a vehicle that heads east; no arguments are those of single rays.
    if directions.shape[1] <= w:
        arguments = 0
    bits = packet.view(np.uint32)
    valid = packet[ROWS * WIDEST :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(words, packet, mask)
    one = np.float32
    x0, y0, z0 = one(place[0]), one(place[1]), one(place[2])
    qx, qy, qz, qw = place[3], place[4], place[5], place[6]
    r00, r01, r02 = one(1 - 2 * (qy * qy + qz * qz)), one(2 * (qx * qy - qz * qw)), one(2 * (qx * qz + qy * qw))
    r10, r11, r12 = one(2 * (qx * qy + qz * qw)), one(1 - 2 * (qx * qx + qz * qz)), one(2 * (qy * qz - qx * qw))
    r20, r21, r22 = one(2 * (qx * qz - qy * qw)), one(2 * (qy * qz + qx * qw)), one(1 - 2 * (qx * qx + qy * qy))
    start, end, drop = one(near), one(far), one(floor) - z0
    turns = singles(words[TURNS], 9 * first_faces.size)
    for j in range(w):
        packet[ORIGIN * w + j] = x0
        packet[(ORIGIN + 1) * w + j] = y0
        packet[(ORIGIN + 2) * w + j] = z0
        packet[NEAR * w + j] = start
        valid[j] = -1
    count = directions.shape[1]
    low = next_tile(tiles, TILE)
    while low < count:
        high = min(low + TILE, count)
        for k in range(low, high, w):
            n = min(w, high - k)
            for j in range(n):
                x, y, z = directions[0, k + j], directions[1, k + j], directions[2, k + j]
                packet[DIRECTION * w + j] = r00 * x + r01 * y + r02 * z
                packet[(DIRECTION + 1) * w + j] = r10 * x + r11 * y + r12 * z
                packet[(DIRECTION + 2) * w + j] = r20 * x + r21 * y + r22 * z
            for j in range(w):
                dz = packet[(DIRECTION + 2) * w + j]
                packet[FAR * w + j] = min(end, drop / dz) if dz < 0.0 else end
                bits[GEOMETRY * w + j] = MISS
            for j in range(n, w):
                valid[j] = 0
            call4(tracer, valid_at, scene, packet_at, arguments)
            for j in range(n):
                o = order[k + j]
                if bits[GEOMETRY * w + j] == MISS:
                    distance[o] = np.inf
                    normal[0, o] = normal[1, o] = normal[2, o] = 0.0
                    material[o] = body[o] = -1
                    continue
                i = bits[INSTANCE * w + j]
                a, b, c = packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j]
                turn = turns[9 * np.int64(i) : 9 * np.int64(i) + 9]
                nx = turn[0] * a + turn[1] * b + turn[2] * c
                ny = turn[3] * a + turn[4] * b + turn[5] * c
                nz = turn[6] * a + turn[7] * b + turn[8] * c
                dx, dy, dz = (
                    packet[DIRECTION * w + j],
                    packet[(DIRECTION + 1) * w + j],
                    packet[(DIRECTION + 2) * w + j],
                )
                scale = one(1.0) / np.sqrt(nx * nx + ny * ny + nz * nz)
                if nx * dx + ny * dy + nz * dz > 0.0:
                    scale = -scale
                distance[o] = packet[FAR * w + j]
                normal[0, o], normal[1, o], normal[2, o] = nx * scale, ny * scale, nz * scale
                material[o] = face_materials[first_faces[i] + bits[FACE * w + j]]
                body[o] = i
        low = next_tile(tiles, TILE)


@kernel
def trace_each(
    words: Any,
    packet: Any,
    places: Any,
    there: Any,
    directions: Any,
    order: Any,
    plumb: bool,
    near: float,
    far: float,
    floors: Any,
    mask: int,
    first_faces: Any,
    face_materials: Any,
    distance: Any,
    normal: Any,
    material: Any,
    body: Any,
    tiles: Any,
) -> None:
    """Trace a bundle once for each of the `places` (n, ≥ 7) at which it is `there` (n,), each in its own scene.

    All but the bundle and the materials have a row for each. Where the bundle is `plumb`, its last ray goes straight
    down in the world, however its sensor is turned.
    """
    for k in range(len(places)):
        if not there[k]:
            continue
        if plumb:
            x, y, z, w = places[k, 3], places[k, 4], places[k, 5], places[k, 6]
            last = directions.shape[1] - 1
            directions[0, last] = -2 * (x * z - y * w)
            directions[1, last] = -2 * (y * z + x * w)
            directions[2, last] = 2 * (x * x + y * y) - 1
        trace(
            words[k],
            packet,
            places[k],
            directions,
            order,
            near,
            far,
            floors[k],
            mask,
            first_faces,
            face_materials,
            distance[k],
            normal[k],
            material[k],
            body[k],
            tiles[k],
        )


# ------------------------------------------------------------------------------------------------ moving bodies

SET_TRANSFORM: Final = 0  # address of the native function (geometry, time step, format, address of 12 floats)
COMMIT_GEOMETRY: Final = 1  # (geometry)
COMMIT_SCENE: Final = 2  # (scene)
MOVING_WORDS: Final = 3
ROW_MAJOR_3X4: Final = 0x9134  # RTC_FORMAT_FLOAT3X4_ROW_MAJOR


@kernel
def move_bodies(functions: Any, words: Any, rows: Any, motions: Any) -> None:
    """Put the instances of each of several scenes, of which these are the words (n, …), where their bodies are.

    `rows` are the bodies in the scene's row of `motions` (n, bodies of the engine, 13: position, quaternion x, y, z, w,
    …), −1 for what never moves. A scene of which nothing has moved stays as it is.
    """
    place = np.empty(12, np.float32)
    count = len(rows)
    for n in range(len(words)):
        geometries = words_at(words[n, GEOMETRIES], count)
        places = singles(words[n, PLACES], 12 * count)
        turns = singles(words[n, TURNS], 9 * count)
        moved = False
        for i in range(count):
            if rows[i] < 0:
                continue
            m = motions[n, rows[i]]
            x, y, z, s = m[3], m[4], m[5], m[6]
            place[0], place[1], place[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)
            place[4], place[5], place[6] = 2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)
            place[8], place[9], place[10] = 2 * (x * z - y * s), 2 * (y * z + x * s), 1 - 2 * (x * x + y * y)
            place[3], place[7], place[11] = m[0], m[1], m[2]
            changed = False
            for k in range(12):
                if places[12 * i + k] != place[k]:
                    changed = True
                places[12 * i + k] = place[k]
            if changed:
                for k in range(3):
                    for j in range(3):
                        turns[9 * i + 3 * k + j] = place[4 * k + j]
                at = words[n, PLACES] + 4 * 12 * i
                call4(functions[SET_TRANSFORM], geometries[i], 0, ROW_MAJOR_3X4, at)
                call1(functions[COMMIT_GEOMETRY], geometries[i])
                moved = True
        if moved:
            call1(functions[COMMIT_SCENE], words[n, SCENE])
