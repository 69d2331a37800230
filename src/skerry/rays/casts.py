"""A bundle of rays on its way: packets that are filled, traced, and read."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import call4, kernel, singles
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
    TURNS,
    WIDEST,
    WIDTH,
    clear_packet,
)
from skerry.rays.rope_hits import meet_ropes
from skerry.rays.tiles import next_tile

TILE: Final = 4096
"""Rays that a thread takes at a time."""


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
    tracer, scene, arguments, ropes = words[INTERSECT], words[SCENE], words[ARGUMENTS], words[ROPES]
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
            if ropes != 0:
                meet_ropes(ropes, valid_at, packet_at, w, False, place[0], place[1], place[2])
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
