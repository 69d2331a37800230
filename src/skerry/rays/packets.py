"""Ray packets: the memory that a tracer reads and writes, and the kernel that moves the bodies of a scene.

A packet of width w is 21 rows of w 32-bit values, with the layout of RTCRayHit4, 8 and 16 of Embree 4 (rtcore_ray.h).
`valid` is a separate row with −1 for each ray to trace. Embree and Skerry's own tracer are native functions with the
same signature (valid, scene, packet, arguments).

A trace context is a row of int64 fields with the addresses that kernels need to trace in one frame.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import call1, call4, kernel, singles
from skerry.core.kernels import words as words_at

# rows of a packet
ORIGIN: Final = 0  # x, y, z in the world, m
NEAR: Final = 3  # start of the ray, in lengths of its direction
DIRECTION: Final = 4  # x, y, z
TIME: Final = 7
FAR: Final = 8  # end of the ray; after tracing, the distance of the hit
MASK: Final = 9  # the ray can hit geometry whose mask shares a bit with it
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
MISS: Final = np.uint32(0xFFFFFFFF)
MAX_WIDTH: Final = 16  # rays in the widest packet

# fields of a trace context
INTERSECT: Final = 0  # address of the function that finds nearest hits
OCCLUDED: Final = 1  # address of the function that finds whether a ray hits anything; it sets FAR to −inf if so
SCENE: Final = 2  # handle of the scene
ARGUMENTS: Final = 3  # address of the last argument of both functions, or 0
WIDTH: Final = 4  # rays in a packet
GEOMETRIES: Final = 5  # address of the handles of the instances, (bodies,) int64
TRANSFORMS: Final = 6  # address of the current transforms of the instances, (bodies, 12) float32
ROTATIONS: Final = 7  # address of the current rotations of the instances, (bodies, 9) float32
ROPES: Final = 8  # address of the rope memory described in `rays/ropes.py`; 0 without ropes
CONTEXT_SIZE: Final = 9

EVERYTHING: Final = 0xFFFFFFFF


def allocate_packet() -> NDArray[np.float32]:
    """Return 64-byte aligned memory for a packet of any width, with `valid` in the last row. Each thread needs one."""
    size = (ROWS + 1) * MAX_WIDTH
    raw = np.zeros(size + 16, np.float32)
    skip = (-raw.ctypes.data % 64) // 4
    return raw[skip : skip + size]


@kernel
def clear_packet(context: Any, packet: Any, mask: int) -> None:
    """Set the rows that are the same for all packets of a bundle."""
    w = context[WIDTH]
    bits = packet.view(np.uint32)
    for j in range(w):
        packet[TIME * w + j] = 0.0
        bits[MASK * w + j] = np.uint32(mask)
        bits[NUMBER * w + j] = 0
        bits[FLAGS * w + j] = 0


# ------------------------------------------------------------------------------------------------ moving bodies

# fields of `Tracer.move_functions`: addresses of native functions
SET_TRANSFORM: Final = 0  # (geometry, time step, format, address of 12 floats)
COMMIT_GEOMETRY: Final = 1  # (geometry)
COMMIT_SCENE: Final = 2  # (scene)
ROW_MAJOR_3X4: Final = 0x9134  # RTC_FORMAT_FLOAT3X4_ROW_MAJOR


@kernel
def move_bodies(functions: Any, contexts: Any, rows: Any, motions: Any) -> None:
    """Move the instances of several frames to the poses of their bodies. Skip frames in which nothing moved.

    Args:
        functions: `Tracer.move_functions`.
        contexts: Trace contexts of the frames, (n, CONTEXT_SIZE).
        rows: Row of each instance in `motions`; −1 for a body that never moves.
        motions: (n, bodies of the engine, 13): position, quaternion (x, y, z, w), velocities.
    """
    transform = np.empty(12, np.float32)
    count = len(rows)
    for n in range(len(contexts)):
        geometries = words_at(contexts[n, GEOMETRIES], count)
        transforms = singles(contexts[n, TRANSFORMS], 12 * count)
        rotations = singles(contexts[n, ROTATIONS], 9 * count)
        moved = False
        for i in range(count):
            if rows[i] < 0:
                continue
            m = motions[n, rows[i]]
            x, y, z, s = m[3], m[4], m[5], m[6]
            transform[0], transform[1], transform[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * s), 2 * (x * z + y * s)
            transform[4], transform[5], transform[6] = 2 * (x * y + z * s), 1 - 2 * (x * x + z * z), 2 * (y * z - x * s)
            transform[8], transform[9], transform[10] = (
                2 * (x * z - y * s),
                2 * (y * z + x * s),
                1 - 2 * (x * x + y * y),
            )
            transform[3], transform[7], transform[11] = m[0], m[1], m[2]
            changed = False
            for k in range(12):
                if transforms[12 * i + k] != transform[k]:
                    changed = True
                transforms[12 * i + k] = transform[k]
            if changed:
                for k in range(3):
                    for j in range(3):
                        rotations[9 * i + 3 * k + j] = transform[4 * k + j]
                at = contexts[n, TRANSFORMS] + 4 * 12 * i
                call4(functions[SET_TRANSFORM], geometries[i], 0, ROW_MAJOR_3X4, at)
                call1(functions[COMMIT_GEOMETRY], geometries[i])
                moved = True
        if moved:
            call1(functions[COMMIT_SCENE], contexts[n, SCENE])
