"""The water's surface as a camera meets it: a patch of heights around the camera, and slopes that go on for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.kernels import kernel
from skerry.rays.surface import HIGH, LEVEL, LOW, SOUTH, SPACING, WEST, SurfacePatch

NODES: Final = 129
ZERO: Final = np.float32(0.0)
ONE: Final = np.float32(1.0)
FURTHEST: Final = np.float32(1e6)
ENDLESS: Final = np.float32(np.inf)
REACH: Final = 60.0  # m from the water's surface beyond which a camera sees no waves


@dataclass(frozen=True, eq=False)
class SeaView:
    """A patch for where rays meet the water; `slopes` (2, n, n) over the same grid, mirrored again and again beyond."""

    patch: SurfacePatch
    slopes: NDArray[np.float32]

    @classmethod
    def level(cls, z: float) -> SeaView:
        """Level water."""
        return cls(SurfacePatch.level(z), np.zeros((2, 1, 1), np.float32))

    @classmethod
    def around(cls, height: Callable[[ArrayLike], NDArray[np.float64]], place: ArrayLike, spacing: float) -> SeaView:
        """The water around a place; `height` gives z of the surface at points (…, 3), `spacing` 0 means no waves."""
        x, y, z = (float(value) for value in np.asarray(place, np.float64))
        here = float(height([[x, y, 0.0]])[0])
        if spacing <= 0 or abs(z - here) > REACH:
            return cls.level(here)
        patch = SurfacePatch.around(height, place, spacing, NODES)
        # the patch fades into level water at its edge; slopes do not, so that the sea is as rough far away
        west, south = (floor(value / spacing) - NODES // 2 for value in (x, y))
        points = np.zeros((NODES, NODES, 3))
        points[..., 0] = spacing * (west + np.arange(NODES))
        points[..., 1] = spacing * (south + np.arange(NODES))[:, None]
        found = height(points)
        rise_y, rise_x = np.gradient(found, spacing)
        return cls(patch, np.stack((rise_x, rise_y)).astype(np.float32))


def wave_spacing(wavelengths: NDArray[np.float64], amplitudes: NDArray[np.float64]) -> float:
    """A spacing that shows the waves that matter: 1/16 of their mean length, weighted by energy; 0 without any."""
    energy = amplitudes**2
    if not energy.sum() > 0.0:
        return 0.0
    return float(np.clip((energy * wavelengths).sum() / (16.0 * energy.sum()), 0.05, 5.0))


@kernel
def _mirrored(place: float, nodes: int) -> tuple[int, float]:
    """A place on a grid that is mirrored at its ends: the node before it, and the share of the way to the next."""
    period = 2.0 * (nodes - 1)
    q = place - period * np.floor(place / period)
    if q > nodes - 1:
        q = period - q
    i = min(int(q), nodes - 2)
    return i, q - i


@kernel
def sea_normal(numbers: Any, slopes: Any, x: float, y: float) -> tuple[Any, Any, Any]:
    """The upward normal of the water, of length 1."""
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
def leave_water(numbers: Any, oz: Any, dz: Any, wet: int, far: Any) -> Any:
    """A distance at which a ray has surely met the surface, if it ever does."""
    rise = numbers[HIGH] - oz if wet else numbers[LOW] - oz
    if rise * dz > 0.0:
        return min(far, np.float32(1.001 * rise / dz + 0.01))
    return far


@kernel
def _height(heights: Any, level: Any, u: Any, v: Any) -> Any:
    """The z of the water at a place on the grid, in cells."""
    last = np.float32(heights.shape[0] - 1)
    if not (u >= ZERO and v >= ZERO and u < last and v < last):
        return level
    i, j = int(u), int(v)
    p, q = u - np.float32(i), v - np.float32(j)
    near = heights[j, i] + p * (heights[j, i + 1] - heights[j, i])
    beyond = heights[j + 1, i] + p * (heights[j + 1, i + 1] - heights[j + 1, i])
    return near + q * (beyond - near)


@kernel
def meet_water(
    numbers: Any, heights: Any, ox: Any, oy: Any, oz: Any, dx: Any, dy: Any, dz: Any, wet: int, hit: Any
) -> Any:
    """How far along a ray the surface is, if that is before `hit`; infinite otherwise.

    In single precision, and by cells of the grid: a picture has too many rays for `surface_hit`.
    """
    low, high, level = np.float32(numbers[LOW]), np.float32(numbers[HIGH]), np.float32(numbers[LEVEL])
    rise = low - oz if wet else high - oz  # up to where there is only one medium
    inside = rise <= ZERO if wet else rise >= ZERO
    if not inside and not (rise * dz > ZERO and rise / dz < hit):
        return ENDLESS
    per_metre = np.float32(1.0 / numbers[SPACING])
    u, v = np.float32(ox - numbers[WEST]) * per_metre, np.float32(oy - numbers[SOUTH]) * per_metre
    du, dv = dx * per_metre, dy * per_metre
    if dz * dz > np.float32(0.5) * (dx * dx + dy * dy):
        # So steep a ray crosses the surface once, and going to and fro between them closes in on where.
        t = (level - oz) / dz
        for _ in range(6):
            t = (_height(heights, level, u + t * du, v + t * dv) - oz) / dz
        return t if ZERO < t < hit else ENDLESS
    # else cell by cell, from where it comes to the height of the crests to where it has left that of the troughs
    flat = (level - oz) / dz if (level - oz) * dz > ZERO else ENDLESS
    begin, end = ZERO, min(hit, FURTHEST)
    if dz != ZERO:
        first, second = (low - oz) / dz, (high - oz) / dz
        begin, end = max(begin, min(first, second)), min(end, max(first, second))
    across = np.sqrt(du * du + dv * dv)
    last = np.float32(heights.shape[0] - 1)
    # no further than where it has left the patch, in whichever direction that is
    for place, rate in ((u, du), (v, dv)):
        if rate != ZERO:
            leave, enter = (last - place) / rate, -place / rate
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
    return ENDLESS
