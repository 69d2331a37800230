"""Kernels that cast a bundle of rays: fill packets, trace them, and read the hits."""

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
    MAX_WIDTH,
    MISS,
    NEAR,
    NORMAL,
    ORIGIN,
    ROPES,
    ROTATIONS,
    ROWS,
    SCENE,
    WIDTH,
    clear_packet,
)
from skerry.rays.rope_hits import intersect_ropes
from skerry.rays.tiles import next_tile

TILE: Final = 4096
"""Rays that a thread claims at a time."""


@kernel
def trace(
    context: Any,
    packet: Any,
    pose: Any,
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
    """Trace the rays of a bundle from one point, tile by tile.

    Args:
        context: Trace context of the frame, (CONTEXT_SIZE,).
        packet: Packet memory of this thread.
        pose: Position and quaternion (x, y, z, w) of the sensor in the world, (≥ 7,).
        directions: Unit vectors in the sensor's frame, (3, n).
        order: Index to which the hit of each ray is written, (n,).
        near: Distance from which hits are found, m.
        far: Distance up to which hits are found, m.
        floor: Height in the world below which hits may be omitted, m.
        mask: Bits of the bodies that the rays can hit.
        first_faces: Index of each body's first face in `face_materials`.
        face_materials: Material index of each face.
        distance: Output (n,), m; infinite for a miss.
        normal: Output (3, n), unit vectors in the world towards the ray's origin; 0 for a miss.
        material: Output (n,); −1 for a miss.
        body: Output (n,); −1 for a miss.
        tiles: Tile counter, shared by the threads.
    """
    w = context[WIDTH]
    tracer, scene, arguments, ropes = context[INTERSECT], context[SCENE], context[ARGUMENTS], context[ROPES]
    # A few rays, such as the beams of a DVL, have very different directions. If Embree treats them as coherent, it
    # loses some rays that are nearly parallel to an axis. Without arguments it treats them as single rays.
    if directions.shape[1] <= w:
        arguments = 0
    bits = packet.view(np.uint32)
    valid = packet[ROWS * MAX_WIDTH :].view(np.int32)
    packet_at, valid_at = packet.ctypes.data, valid.ctypes.data
    clear_packet(context, packet, mask)
    one = np.float32
    x0, y0, z0 = one(pose[0]), one(pose[1]), one(pose[2])
    qx, qy, qz, qw = pose[3], pose[4], pose[5], pose[6]
    r00, r01, r02 = one(1 - 2 * (qy * qy + qz * qz)), one(2 * (qx * qy - qz * qw)), one(2 * (qx * qz + qy * qw))
    r10, r11, r12 = one(2 * (qx * qy + qz * qw)), one(1 - 2 * (qx * qx + qz * qz)), one(2 * (qy * qz - qx * qw))
    r20, r21, r22 = one(2 * (qx * qz - qy * qw)), one(2 * (qy * qz + qx * qw)), one(1 - 2 * (qx * qx + qy * qy))
    start, end, drop = one(near), one(far), one(floor) - z0
    rotations = singles(context[ROTATIONS], 9 * first_faces.size)
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
                intersect_ropes(ropes, valid_at, packet_at, w, False, pose[0], pose[1], pose[2])
            for j in range(n):
                o = order[k + j]
                if bits[GEOMETRY * w + j] == MISS:
                    distance[o] = np.inf
                    normal[0, o] = normal[1, o] = normal[2, o] = 0.0
                    material[o] = body[o] = -1
                    continue
                i = bits[INSTANCE * w + j]
                a, b, c = packet[NORMAL * w + j], packet[(NORMAL + 1) * w + j], packet[(NORMAL + 2) * w + j]
                rotation = rotations[9 * np.int64(i) : 9 * np.int64(i) + 9]
                nx = rotation[0] * a + rotation[1] * b + rotation[2] * c
                ny = rotation[3] * a + rotation[4] * b + rotation[5] * c
                nz = rotation[6] * a + rotation[7] * b + rotation[8] * c
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
def trace_batch(
    contexts: Any,
    packet: Any,
    poses: Any,
    valid: Any,
    directions: Any,
    order: Any,
    with_down_ray: bool,
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
    """Trace a bundle from each pose (n, ≥ 7) where `valid` (n,) is true, each in its own frame.

    Arguments are those of `trace`. `contexts`, `poses`, `valid`, `floors`, `tiles` and the outputs have one row per
    pose. With `with_down_ray` the last direction is replaced by straight down in the world, at any attitude.
    """
    for k in range(len(poses)):
        if not valid[k]:
            continue
        if with_down_ray:
            x, y, z, w = poses[k, 3], poses[k, 4], poses[k, 5], poses[k, 6]
            last = directions.shape[1] - 1
            directions[0, last] = -2 * (x * z - y * w)
            directions[1, last] = -2 * (y * z + x * w)
            directions[2, last] = 2 * (x * x + y * y) - 1
        trace(
            contexts[k],
            packet,
            poses[k],
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
