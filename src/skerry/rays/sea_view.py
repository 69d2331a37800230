"""The water's surface as a camera meets it: a patch of heights around the camera, and slopes that go on for ever."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.kernels import kernel
from skerry.rays.surface import HIGH, LOW, SOUTH, SPACING, WEST, SurfacePatch, surface_hit

NODES: Final = 129
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
def meet_water(
    numbers: Any, heights: Any, ox: Any, oy: Any, oz: Any, dx: Any, dy: Any, dz: Any, wet: int, hit: Any
) -> Any:
    """How far along a ray the surface is, if that is before `hit`; infinite otherwise."""
    rise = numbers[LOW] - oz if wet else numbers[HIGH] - oz  # up to where there is only one medium
    inside = rise <= 0.0 if wet else rise >= 0.0
    if not inside and not (rise * dz > 0.0 and rise / dz < hit):
        return np.float32(np.inf)
    return np.float32(surface_hit(numbers, heights, ox, oy, oz, dx, dy, dz, hit))
