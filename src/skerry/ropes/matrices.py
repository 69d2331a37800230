"""Kernels for symmetric 3×3 matrices, stored as six numbers (xx, xy, xz, yy, yz, zz)."""

from __future__ import annotations

from typing import Any

from skerry.core.kernels import kernel


@kernel
def invert(m: Any, out: Any) -> None:
    """Write the inverse of a symmetric matrix into `out`, which may be the same array."""
    a, b, c, d, e, f = m[0], m[1], m[2], m[3], m[4], m[5]
    c0, c1, c2 = d * f - e * e, c * e - b * f, b * e - c * d
    q = 1.0 / (a * c0 + b * c1 + c * c2)
    out[0], out[1], out[2] = c0 * q, c1 * q, c2 * q
    out[3], out[4], out[5] = (a * f - c * c) * q, (b * c - a * e) * q, (a * d - b * b) * q


@kernel
def times(m: Any, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a symmetric matrix times a vector."""
    return m[0] * x + m[1] * y + m[2] * z, m[1] * x + m[3] * y + m[4] * z, m[2] * x + m[4] * y + m[5] * z


@kernel
def add_along(m: Any, all_round: float, along: float, x: float, y: float, z: float) -> None:
    """Add `all_round` times the identity and `along` times the projection on the unit vector (x, y, z)."""
    m[0] += all_round + along * x * x
    m[1] += along * x * y
    m[2] += along * x * z
    m[3] += all_round + along * y * y
    m[4] += along * y * z
    m[5] += all_round + along * z * z
