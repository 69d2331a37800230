"""Rotation kernels: vectors rotated by quaternions, rotation matrices, and motions of frames fixed to a body."""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.core.kernels import kernel, strict_kernel

Vector = tuple[float, float, float]
MOTION = 13  # length of a motion: position, quaternion (x, y, z, w), velocity and angular velocity


@kernel
def rotate_to_world(x: float, y: float, z: float, w: float, a: float, b: float, c: float) -> Vector:
    """Rotate the vector (a, b, c) from a frame to the world; (x, y, z, w) is the frame's orientation."""
    return (
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - z * w) * b + 2 * (x * z + y * w) * c,
        2 * (x * y + z * w) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - x * w) * c,
        2 * (x * z - y * w) * a + 2 * (y * z + x * w) * b + (1 - 2 * (x * x + y * y)) * c,
    )


@kernel
def rotate_to_frame(x: float, y: float, z: float, w: float, a: float, b: float, c: float) -> Vector:
    """Rotate the vector (a, b, c) from the world to a frame; (x, y, z, w) is the frame's orientation."""
    return rotate_to_world(-x, -y, -z, w, a, b, c)


@strict_kernel
def matrix_of(x: float, y: float, z: float, w: float) -> Any:
    """Return the rotation matrix, (3, 3), of a quaternion."""
    R = np.empty((3, 3))
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)
    return R


@strict_kernel
def rotate_each_to_world(motions: Any, vector: Any, turned: Any) -> None:
    """Rotate a vector from a frame to the world, for each of the frame's motions.

    Args:
        motions: Motions of the frame, (n, 13).
        vector: Vector in the frame, (3,).
        turned: Output, (n, 3).
    """
    for k in range(len(motions)):
        x, y, z, w = motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6]
        R = matrix_of(x, y, z, w)
        for row in range(3):
            turned[k, row] = R[row, 0] * vector[0] + R[row, 1] * vector[1] + R[row, 2] * vector[2]


@strict_kernel
def rotate_each_to_frame(motions: Any, vector: Any, turned: Any) -> None:
    """Rotate a vector from the world to a frame, for each of the frame's motions.

    Args:
        motions: Motions of the frame, (n, 13).
        vector: Vector in the world, (3,).
        turned: Output, (n, 3).
    """
    for k in range(len(motions)):
        x, y, z, w = motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6]
        R = matrix_of(-x, -y, -z, w)
        for row in range(3):
            turned[k, row] = R[row, 0] * vector[0] + R[row, 1] * vector[1] + R[row, 2] * vector[2]


@strict_kernel
def motion_of_fixed_frame(row: Any, offset: Any, carried: Any) -> None:
    """Compute the motion of a frame that is fixed to a body.

    Args:
        row: Motion of the body, (13,).
        offset: Pose of the frame in the body: position and quaternion, (7,).
        carried: Output: motion of the frame, (13,).
    """
    x, y, z, w = row[3], row[4], row[5], row[6]
    a, b, c = offset[0], offset[1], offset[2]
    ax = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - z * w) * b + 2.0 * (x * z + y * w) * c
    ay = 2.0 * (x * y + z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - x * w) * c
    az = 2.0 * (x * z - y * w) * a + 2.0 * (y * z + x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c
    carried[0], carried[1], carried[2] = row[0] + ax, row[1] + ay, row[2] + az
    i, j, k, s = offset[3], offset[4], offset[5], offset[6]
    carried[3] = w * i + x * s + y * k - z * j
    carried[4] = w * j - x * k + y * s + z * i
    carried[5] = w * k + x * j - y * i + z * s
    carried[6] = w * s - x * i - y * j - z * k
    p, q, r = row[10], row[11], row[12]
    carried[7] = row[7] + (q * az - r * ay)
    carried[8] = row[8] + (r * ax - p * az)
    carried[9] = row[9] + (p * ay - q * ax)
    carried[10], carried[11], carried[12] = p, q, r
