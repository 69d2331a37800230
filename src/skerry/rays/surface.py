"""Water surface for rays: a patch of heights around a sensor at one sample, and its intersection with rays.

A sum of many waves is too expensive to evaluate along each ray. So the heights are evaluated once, on a grid around
the sensor, and interpolated bilinearly; beyond the grid the water is level. The spacing of the grid should be about a
tenth of the wavelengths that matter; much shorter waves are not resolved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.kernels import kernel

# fields of `SurfacePatch.numbers`, m
LEVEL: Final = 0  # z of the level water beyond the patch
LOW: Final = 1  # z of the lowest water
HIGH: Final = 2  # z of the highest water
WEST: Final = 3  # x of the grid's first node
SOUTH: Final = 4  # y of the grid's first node
SPACING: Final = 5  # distance between nodes

FADE: Final = 0.2
"""Share of the distance from the centre to the edge over which the patch blends into level water."""
NODES: Final = 128
"""Nodes along each side of a patch."""
STEPS: Final = 64
"""Maximum number of steps along a ray; a grazing ray may miss a crest that is shorter than a step."""


@dataclass(frozen=True, eq=False)
class SurfacePatch:
    """Heights of the water on a square grid, rows northwards and columns eastwards; one height for level water."""

    numbers: NDArray[np.float64]
    heights: NDArray[np.float32]

    @classmethod
    def around(
        cls, height: Callable[[ArrayLike], NDArray[np.float64]], position: ArrayLike, spacing: float, nodes: int = NODES
    ) -> SurfacePatch:
        """Return the patch around a position.

        Args:
            height: Function that returns z of the surface at points (…, 3).
            position: Centre of the patch in the world, (≥ 2,), m.
            spacing: Distance between nodes, m; 0 for level water.
            nodes: Nodes along each side. They lie at multiples of the spacing, so that the patches of a moving sensor
                agree where they overlap.
        """
        x, y = (float(value) for value in np.asarray(position, np.float64)[:2])
        level = float(height([[x, y, 0.0]])[0])
        if spacing <= 0 or nodes < 2:
            return cls.level(level)
        west = (math.floor(x / spacing) - nodes // 2) * spacing
        south = (math.floor(y / spacing) - nodes // 2) * spacing
        points = np.zeros((nodes, nodes, 3))
        points[..., 0] = west + spacing * np.arange(nodes)
        points[..., 1] = (south + spacing * np.arange(nodes))[:, None]
        found = height(points)
        mean = float(found.mean())
        away = np.abs(np.linspace(-1.0, 1.0, nodes))
        edge = np.clip((1.0 - np.maximum(away, away[:, None])) / FADE, 0.0, 1.0)
        shaped = (mean + (found - mean) * edge).astype(np.float32)
        return cls(np.array([mean, shaped.min(), shaped.max(), west, south, spacing]), shaped)

    @classmethod
    def level(cls, z: float) -> SurfacePatch:
        """Return a patch of level water at this z, m."""
        return cls(np.array([z, z, z, 0.0, 0.0, 1.0]), np.full((1, 1), z, np.float32))


@kernel
def surface_height(numbers: Any, heights: Any, x: float, y: float) -> float:
    """Return z of the water at (x, y), m."""
    nodes = heights.shape[0]
    u, v = (x - numbers[WEST]) / numbers[SPACING], (y - numbers[SOUTH]) / numbers[SPACING]
    if not (0.0 <= u < nodes - 1 and 0.0 <= v < nodes - 1):
        return numbers[LEVEL]
    i, j = int(u), int(v)
    u, v = u - i, v - j
    near = heights[j, i] + u * (heights[j, i + 1] - heights[j, i])
    beyond = heights[j + 1, i] + u * (heights[j + 1, i + 1] - heights[j + 1, i])
    return near + v * (beyond - near)


@kernel
def surface_slope(numbers: Any, heights: Any, x: float, y: float) -> tuple[float, float]:
    """Return ∂z/∂x and ∂z/∂y of the water at (x, y), by central differences over half a cell to each side."""
    if heights.shape[0] == 1:
        return 0.0, 0.0
    h = 0.5 * numbers[SPACING]
    dx = surface_height(numbers, heights, x + h, y) - surface_height(numbers, heights, x - h, y)
    dy = surface_height(numbers, heights, x, y + h) - surface_height(numbers, heights, x, y - h)
    return dx / (2 * h), dy / (2 * h)


@kernel
def _clip(begin: float, end: float, o: float, d: float, least: float, most: float) -> tuple[float, float]:
    """Return the part begin…end of a ray that lies between two planes; `end` is below `begin` if it is empty."""
    if d != 0.0:
        first, second = (least - o) / d, (most - o) / d
        return max(begin, min(first, second)), min(end, max(first, second))
    return begin, (end if least <= o <= most else begin - 1.0)


@kernel
def surface_hit(
    numbers: Any, heights: Any, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, far: float
) -> float:
    """Return the distance along a ray to the surface, from above or below; infinite if it is beyond `far`."""
    low, high, level = numbers[LOW], numbers[HIGH], numbers[LEVEL]
    flat = np.inf  # distance to the level
    if dz != 0.0 and (level - oz) / dz > 0.0:
        flat = (level - oz) / dz
    nodes = heights.shape[0]
    if nodes == 1:
        return flat if flat < far else np.inf
    # the part of the ray that lies over the patch, between the lowest and the highest water
    begin, end = 0.0, far
    west, south, side = numbers[WEST], numbers[SOUTH], (nodes - 1) * numbers[SPACING]
    begin, end = _clip(begin, end, ox, dx, west, west + side)
    begin, end = _clip(begin, end, oy, dy, south, south + side)
    begin, end = _clip(begin, end, oz, dz, low, high)
    if begin < end:
        across = math.sqrt(dx * dx + dy * dy)
        count = 1 + int(min((end - begin) * across / numbers[SPACING], STEPS - 1.0))
        step = (end - begin) / count
        t = begin
        gap = oz + t * dz - surface_height(numbers, heights, ox + t * dx, oy + t * dy)
        for _ in range(count):
            following = t + step
            x, y = ox + following * dx, oy + following * dy
            after = oz + following * dz - surface_height(numbers, heights, x, y)
            if (gap > 0.0) != (after > 0.0):
                for _ in range(4):  # regula falsi; 4 rounds reach a millimetre on a grid of half a metre
                    middle = t + (following - t) * gap / (gap - after)
                    x, y = ox + middle * dx, oy + middle * dy
                    between = oz + middle * dz - surface_height(numbers, heights, x, y)
                    if (gap > 0.0) != (between > 0.0):
                        following, after = middle, between
                    else:
                        t, gap = middle, between
                return t + (following - t) * gap / (gap - after)
            t, gap = following, after
    if flat < far:
        x, y = ox + flat * dx - west, oy + flat * dy - south
        if not (0.0 <= x <= side and 0.0 <= y <= side):
            return flat
    return np.inf
