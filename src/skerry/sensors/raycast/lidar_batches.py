"""Lidar kernels for batches of scans: they run the kernels of `lidar_returns` for one scan after the other.

The first axis of all arrays is the scan, n, except for arrays that describe the device. The kernels are strict, so
that the result of a scan does not depend on the batch.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import strict_kernel
from skerry.core.noise import fill_uniform
from skerry.core.rotations import matrix_of
from skerry.sensors.raycast.lidar_returns import add_range_noise, find_returns, intersect_level_water, lowest_end

# water hits of the rays of a scan
NO_WATER: Final = 0  # no ray hits the water
LEVEL: Final = 1  # the water is level
WAVES: Final = 2  # `water` and `water_cosine` already contain the hits on waves

# noise channels of a lidar
DROPOUT_DRAWS: Final = 0
RANGE_DRAWS: Final = 1


@strict_kernel
def lowest_ray_ends(directions: Any, motions: Any, far: float, lowest: Any) -> None:
    """Write the lowest z (n,) of all ray ends and origins, for the sensor's motions (n, 13)."""
    for k in range(len(motions)):
        rotation = matrix_of(motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6])
        lowest[k] = lowest_end(directions, rotation, motions[k], far)


@strict_kernel
def find_returns_batch(
    motions: Any,
    valid: Any,
    water_modes: Any,
    above: Any,
    directions: Any,
    distance: Any,
    normal: Any,
    material: Any,
    reflectance: Any,
    water: Any,
    water_cosine: Any,
    nearest: float,
    farthest: float,
    threshold: float,
    slope_variance: float,
    power: Any,
    scale: float,
    key0: int,
    key1: int,
    ticks: Any,
    dropout: float,
    sigma: float,
    quantiles: Any,
    draws: Any,
    counts: Any,
    indices: Any,
    found: Any,
    strength: Any,
) -> None:
    """Write the returns of each valid scan: their number (n,), and ray indices, ranges and intensities (n, rays).

    `water_modes` (n,) is NO_WATER, LEVEL or WAVES, and `above` (n,) the height of the sensor above the water, m.
    `draws` (rays,) is scratch memory. Other arguments are those of `find_returns`.
    """
    for k in range(len(valid)):
        if not valid[k]:
            continue
        rotation = matrix_of(motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6])
        if water_modes[k] == LEVEL:
            intersect_level_water(directions, -rotation[2], above[k], water[k], water_cosine[k])
        elif water_modes[k] == NO_WATER:
            water[k, :] = np.inf
            water_cosine[k, :] = 0.0
        count = find_returns(
            directions,
            rotation,
            distance[k],
            normal[k],
            material[k],
            reflectance,
            water[k],
            water_cosine[k],
            nearest,
            farthest,
            threshold,
            slope_variance,
            power[k],
            indices[k],
            found[k],
            strength[k],
        )
        if dropout > 0.0:
            fill_uniform(key0, key1, ticks[k], DROPOUT_DRAWS, 0, draws[:count])
            kept = 0
            for i in range(count):
                if draws[i] >= dropout:
                    indices[k, kept], found[k, kept], strength[k, kept] = indices[k, i], found[k, i], strength[k, i]
                    kept += 1
                else:
                    distance[k, indices[k, i]] = np.inf
            count = kept
        for i in range(count):
            strength[k, i] *= np.float32(scale)
        if sigma > 0.0:
            needed = (count + 2) // 3
            fill_uniform(key0, key1, ticks[k], RANGE_DRAWS, 0, draws[:needed])
            add_range_noise(draws[:needed], quantiles, sigma, found[k, :count])
        counts[k] = count


@strict_kernel
def scatter_returns_batch(counts: Any, indices: Any, found: Any, strength: Any, ranges: Any, intensity: Any) -> None:
    """Write the ranges and intensities of the returns to the columns of their rays, (n, rays)."""
    for k in range(len(counts)):
        for i in range(counts[k]):
            ranges[k, indices[k, i]] = found[k, i]
            intensity[k, indices[k, i]] = strength[k, i]
