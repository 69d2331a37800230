"""Vectors turned by quaternions, and their matrices, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.core.kernels import kernel, strict_kernel

Vector = tuple[float, float, float]


@kernel
def turn(x: float, y: float, z: float, w: float, a: float, b: float, c: float) -> Vector:
    """The vector (a, b, c) of a frame in the world, by the frame's attitude (x, y, z, w)."""
    return (
        (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - z * w) * b + 2 * (x * z + y * w) * c,
        2 * (x * y + z * w) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - x * w) * c,
        2 * (x * z - y * w) * a + 2 * (y * z + x * w) * b + (1 - 2 * (x * x + y * y)) * c,
    )


@kernel
def turn_back(x: float, y: float, z: float, w: float, a: float, b: float, c: float) -> Vector:
    """A vector of the world in the axes of a frame."""
    return turn(-x, -y, -z, w, a, b, c)


@strict_kernel
def matrix_of(x: float, y: float, z: float, w: float) -> Any:
    """The rotation matrix, (3, 3)."""
    R = np.empty((3, 3))
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)
    R[1, 0], R[1, 1], R[1, 2] = 2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)
    R[2, 0], R[2, 1], R[2, 2] = 2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)
    return R


@strict_kernel
def turn_each(motions: Any, vector: Any, turned: Any) -> None:
    """A vector of a frame in the world, (n, 3), by each of the frame's motions, (n, 13)."""
    for k in range(len(motions)):
        x, y, z, w = motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6]
        R = matrix_of(x, y, z, w)
        for row in range(3):
            turned[k, row] = R[row, 0] * vector[0] + R[row, 1] * vector[1] + R[row, 2] * vector[2]


@strict_kernel
def turn_each_back(motions: Any, vector: Any, turned: Any) -> None:
    """A vector of the world in the axes of a frame, (n, 3), by each of the frame's motions, (n, 13)."""
    for k in range(len(motions)):
        x, y, z, w = motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6]
        R = matrix_of(-x, -y, -z, w)
        for row in range(3):
            turned[k, row] = R[row, 0] * vector[0] + R[row, 1] * vector[1] + R[row, 2] * vector[2]
