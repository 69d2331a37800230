"""Water surface for cameras: a patch of heights around the camera, and slopes that repeat without end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.kernels import kernel
from skerry.rays.surface import HIGH, LEVEL, LOW, SOUTH, SPACING, WEST, SurfacePatch

NODES: Final = 129  # along each side of the patch
ZERO: Final = np.float32(0.0)
ONE: Final = np.float32(1.0)
MAX_DISTANCE: Final = np.float32(1e6)  # m
INFINITE: Final = np.float32(np.inf)
WAVE_VISIBILITY: Final = 60.0  # m; a camera further than this from the surface sees level water


@dataclass(frozen=True, eq=False)
class SeaView:
    """Patch of heights for intersections, and `slopes` (2, n, n) on the same grid, which are mirrored beyond it."""

    patch: SurfacePatch
    slopes: NDArray[np.float32]

    @classmethod
    def level(cls, z: float) -> SeaView:
        """Return level water at this z, m."""
        return cls(SurfacePatch.level(z), np.zeros((2, 1, 1), np.float32))

    @classmethod
    def around(cls, height: Callable[[ArrayLike], NDArray[np.float64]], position: ArrayLike, spacing: float) -> SeaView:
        """Return the water around a position.

        Args:
            height: Function that returns z of the surface at points (…, 3).
            position: Position of the camera in the world, (3,), m.
            spacing: Distance between nodes, m; 0 for level water.
        """
        x, y, z = (float(value) for value in np.asarray(position, np.float64))
        here = float(height([[x, y, 0.0]])[0])
        if spacing <= 0 or abs(z - here) > WAVE_VISIBILITY:
            return cls.level(here)
        patch = SurfacePatch.around(height, position, spacing, NODES)
        # the patch blends into level water at its edge; slopes do not, so that the sea looks as rough far away
        west, south = (floor(value / spacing) - NODES // 2 for value in (x, y))
        points = np.zeros((NODES, NODES, 3))
        points[..., 0] = spacing * (west + np.arange(NODES))
        points[..., 1] = spacing * (south + np.arange(NODES))[:, None]
        found = height(points)
        rise_y, rise_x = np.gradient(found, spacing)
        return cls(patch, np.stack((rise_x, rise_y)).astype(np.float32))


def wave_spacing(wavelengths: NDArray[np.float64], amplitudes: NDArray[np.float64]) -> float:
    """Return a grid spacing for waves: 1/16 of their energy-weighted mean length; 0 without waves."""
    energy = amplitudes**2
    if not energy.sum() > 0.0:
        return 0.0
    return float(np.clip((energy * wavelengths).sum() / (16.0 * energy.sum()), 0.05, 5.0))


@kernel
def _mirrored(coordinate: float, nodes: int) -> tuple[int, float]:
    """Return the node before a coordinate on a grid that is mirrored at its ends, and the fraction to the next."""
    period = 2.0 * (nodes - 1)
    q = coordinate - period * np.floor(coordinate / period)
    if q > nodes - 1:
        q = period - q
    i = min(int(q), nodes - 2)
    return i, q - i


@kernel
def sea_normal(numbers: Any, slopes: Any, x: float, y: float) -> tuple[Any, Any, Any]:
    """Return the upward unit normal of the water at (x, y)."""
    nodes = slopes.shape[1]
    if nodes == 1:
        return np.float32(0.0), np.float32(0.0), np.float32(1.0)
    i, u = _mirrored((x - numbers[WEST]) / numbers[SPACING], nodes)
    j, v = _mirrored((y - numbers[SOUTH]) / numbers[SPACING], nodes)
    a, b = slopes[0], slopes[1]
    sx = (a[j, i] * (1 - u) + a[j, i + 1] * u) * (1 - v) + (a[j + 1, i] * (1 - u) + a[j + 1, i + 1] * u) * v
    sy = (b[j, i] * (1 - u) + b[j, i + 1] * u) * (1 - v) + (b[j + 1, i] * (1 - u) + b[j + 1, i + 1] * u) * v
    nz = 1.0 / np.sqrt(1.0 + sx * sx + sy * sy)
    return np.float32(-sx * nz), np.float32(-sy * nz), np.float32(nz)


@kernel
def limit_to_surface(numbers: Any, oz: Any, dz: Any, wet: int, far: Any) -> Any:
    """Return a distance by which a ray has hit the surface, if it hits it at all; at most `far`."""
    rise = numbers[HIGH] - oz if wet else numbers[LOW] - oz
    if rise * dz > 0.0:
        return min(far, np.float32(1.001 * rise / dz + 0.01))
    return far


@kernel
def _height(heights: Any, level: Any, u: Any, v: Any) -> Any:
    """Return z of the water at a position on the grid, given in cells."""
    last = np.float32(heights.shape[0] - 1)
    if not (u >= ZERO and v >= ZERO and u < last and v < last):
        return level
    i, j = int(u), int(v)
    p, q = u - np.float32(i), v - np.float32(j)
    near = heights[j, i] + p * (heights[j, i + 1] - heights[j, i])
    beyond = heights[j + 1, i] + p * (heights[j + 1, i + 1] - heights[j + 1, i])
    return near + q * (beyond - near)


@kernel
def intersect_water(
    numbers: Any, heights: Any, ox: Any, oy: Any, oz: Any, dx: Any, dy: Any, dz: Any, wet: int, hit: Any
) -> Any:
    """Return the distance along a ray to the surface, if that is below `hit`; infinite otherwise.

    Faster than `surface_hit`, for the many rays of an image: single precision, and steps of one cell.
    """
    low, high, level = np.float32(numbers[LOW]), np.float32(numbers[HIGH]), np.float32(numbers[LEVEL])
    rise = low - oz if wet else high - oz  # up to the heights at which there is only one medium
    inside = rise <= ZERO if wet else rise >= ZERO
    if not inside and not (rise * dz > ZERO and rise / dz < hit):
        return INFINITE
    per_metre = np.float32(1.0 / numbers[SPACING])
    u, v = np.float32(ox - numbers[WEST]) * per_metre, np.float32(oy - numbers[SOUTH]) * per_metre
    du, dv = dx * per_metre, dy * per_metre
    if dz * dz > np.float32(0.5) * (dx * dx + dy * dy):
        # a ray this steep crosses the surface once, and fixed-point iteration converges to the crossing
        t = (level - oz) / dz
        for _ in range(6):
            t = (_height(heights, level, u + t * du, v + t * dv) - oz) / dz
        return t if ZERO < t < hit else INFINITE
    # otherwise step by cells between the height of the crests and the height of the troughs
    flat = (level - oz) / dz if (level - oz) * dz > ZERO else INFINITE
    begin, end = ZERO, min(hit, MAX_DISTANCE)
    if dz != ZERO:
        first, second = (low - oz) / dz, (high - oz) / dz
        begin, end = max(begin, min(first, second)), min(end, max(first, second))
    across = np.sqrt(du * du + dv * dv)
    last = np.float32(heights.shape[0] - 1)
    # clip to the patch
    for coordinate, rate in ((u, du), (v, dv)):
        if rate != ZERO:
            leave, enter = (last - coordinate) / rate, -coordinate / rate
            begin, end = max(begin, min(leave, enter)), min(end, max(leave, enter))
    if begin < end:
        step = ONE / across
        t = begin
        gap = oz + t * dz - _height(heights, level, u + t * du, v + t * dv)
        while t < end:
            following = min(t + step, end)
            after = oz + following * dz - _height(heights, level, u + following * du, v + following * dv)
            if (gap > ZERO) != (after > ZERO):
                for _ in range(3):  # regula falsi
                    middle = t + (following - t) * gap / (gap - after)
                    between = oz + middle * dz - _height(heights, level, u + middle * du, v + middle * dv)
                    if (gap > ZERO) != (between > ZERO):
                        following, after = middle, between
                    else:
                        t, gap = middle, between
                return t + (following - t) * gap / (gap - after)
            t, gap = following, after
    x, y = u + flat * du, v + flat * dv
    if flat < hit and not (x >= ZERO and y >= ZERO and x <= last and y <= last):
        return flat
    return INFINITE
