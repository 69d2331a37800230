"""Rays in packets: the memory that a tracer reads and writes, and the kernel that moves what they are traced through.

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
ROPES: Final = 8  # address of the ropes, as `rays/ropes.py` has them; 0 if there are none
WORDS: Final = 9

EVERYTHING: Final = 0xFFFFFFFF


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
