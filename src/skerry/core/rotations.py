"""Vectors turned by quaternions, for kernels."""

from __future__ import annotations

from skerry.core.kernels import kernel

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
