"""Lidar kernels for one scan: returns from bodies and from the water surface.

A beam that meets a surface of reflectance ρ at the angle θ from its normal and at the range r returns the power
ρ cos θ / r², up to a constant of the device (Wagner 2010, ISPRS J. Photogramm. 65, 505, for a diffuse surface larger
than the beam). It is detected if this is at least 0.1 / R², where R is the range at which the device detects a
reflectance of 10 %. The reported intensity is corrected for range, as in calibrated devices: scale × ρ cos θ.

The water surface is a rough mirror with the slopes of Cox and Munk (1954, J. Opt. Soc. Am. 44, 838): normally
distributed, with the mean square s² = 0.003 + 0.00512 U, where U is the wind speed in m/s. Facets that face the beam
have the cross section per area σ = F s⁻² cos⁻⁴θ exp(−tan²θ / s²) (Barrick 1968, IEEE Trans. Antennas Propag. 16, 449),
and a diffuse surface has 4 ρ cos²θ. So F / (4 s² cos⁵θ) · exp(−tan²θ / s²) replaces ρ cos θ. Infrared light that enters
the water does not return. θ is the angle from the normal of the waves in the patch around the sensor; beyond the
patch, and without waves, the water is level.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel
from skerry.core.noise import quantile
from skerry.rays.surface import HIGH, LOW, surface_hit, surface_slope

Singles = NDArray[np.float32]

FRESNEL: Final = 0.02
"""Reflectance of water met head on, ((n − 1)/(n + 1))², n = 1.33 at 0.9 µm (Hale, Querry 1973, Appl. Opt. 12, 555)."""


@kernel
def intersect_level_water(directions: Any, down: Any, height: float, ranges: Any, cosines: Any) -> None:
    """Write the ranges and cosines of incidence of rays on level water.

    Args:
        directions: Unit vectors of the rays in the sensor's frame, (3, n).
        down: The world's −z axis in the sensor's frame, (3,).
        height: Height of the sensor above the water, m.
        ranges: Output (n,), m; infinite for rays that do not point down.
        cosines: Output (n,).
    """
    x, y, z = np.float32(down[0]), np.float32(down[1]), np.float32(down[2])
    h, nothing = np.float32(height), np.float32(np.inf)
    for k in range(ranges.size):
        c = x * directions[0, k] + y * directions[1, k] + z * directions[2, k]
        cosines[k] = c
        ranges[k] = h / c if c > 0.0 else nothing


@kernel
def lowest_end(directions: Any, rotation: Any, origin: Any, far: float) -> float:
    """Return the lowest z of the origin and of the ends of the rays (3, n) with the length `far`."""
    least = 0.0
    for k in range(directions.shape[1]):
        dz = rotation[2, 0] * directions[0, k] + rotation[2, 1] * directions[1, k] + rotation[2, 2] * directions[2, k]
        least = min(least, dz)
    return origin[2] + far * least


@kernel
def intersect_waves(
    numbers: Any,
    heights: Any,
    directions: Any,
    rotation: Any,
    origin: Any,
    distance: Any,
    farthest: float,
    grazing: float,
    ranges: Any,
    cosines: Any,
) -> None:
    """Write the ranges and cosines of incidence of rays on a patch of waves, for the rays where they matter.

    These are rays that hit the water before a body, or steeply. Rays whose cosine with the vertical is below `grazing`
    are too flat for a return from the water.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    for k in range(ranges.size):
        ranges[k], cosines[k] = np.inf, 0.0
        x, y, z = directions[0, k], directions[1, k], directions[2, k]
        dz = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z
        end = oz + min(distance[k], farthest) * dz
        if -dz < grazing and distance[k] == np.inf:
            continue
        if oz > numbers[HIGH] and end > numbers[HIGH]:
            continue
        if -dz < grazing and end < numbers[LOW]:
            ranges[k] = 0.0  # the ray entered the water, so its hit below is not visible
            continue
        dx = rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z
        dy = rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z
        r = surface_hit(numbers, heights, ox, oy, oz, dx, dy, dz, min(distance[k], farthest))
        if r < np.inf:
            sx, sy = surface_slope(numbers, heights, ox + r * dx, oy + r * dy)
            ranges[k] = r
            cosines[k] = (sx * dx + sy * dy - dz) / np.sqrt(1.0 + sx * sx + sy * sy)


@kernel
def find_returns(
    directions: Any,
    rotation: Any,
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
    indices: Any,
    found: Any,
    strength: Any,
) -> int:
    """Find the rays with a return, write their indices, ranges and ρ cos θ, and return their number.

    The work is split into short loops that the compiler vectorises.

    Args:
        directions: Unit vectors of the rays in the sensor's frame, (3, n).
        rotation: Rotation from the sensor's frame to the world, (3, 3).
        distance: Distance of each hit, (n,), m. Changed to the range of the return; infinite without a return.
        normal: Normals at the hits in the world, (3, n).
        material: Material index of each hit, (n,).
        reflectance: Reflectance of each material.
        water: Range of the water along each ray, (n,), m.
        water_cosine: Cosine of incidence on the water, (n,).
        nearest: Minimum range, m.
        farthest: Maximum range, m.
        threshold: Minimum detected power, 0.1 / R², 1/m².
        slope_variance: Mean square slope s² of the water.
        power: Scratch memory, (n,).
        indices: Output: index of each return's ray.
        found: Output: ranges of the returns, m.
        strength: Output: ρ cos θ of the returns.
    """
    one = np.float32
    near, far, least, nothing, zero = one(nearest), one(farthest), one(threshold), one(np.inf), one(0.0)
    r00, r01, r02 = one(rotation[0, 0]), one(rotation[0, 1]), one(rotation[0, 2])
    r10, r11, r12 = one(rotation[1, 0]), one(rotation[1, 1]), one(rotation[1, 2])
    r20, r21, r22 = one(rotation[2, 0]), one(rotation[2, 1]), one(rotation[2, 2])
    dx, dy, dz, nx, ny, nz = directions[0], directions[1], directions[2], normal[0], normal[1], normal[2]
    for k in range(power.size):
        a, b, c = nx[k], ny[k], nz[k]
        power[k] = -(
            (r00 * a + r10 * b + r20 * c) * dx[k]
            + (r01 * a + r11 * b + r21 * c) * dy[k]
            + (r02 * a + r12 * b + r22 * c) * dz[k]
        )
    for k in range(power.size):
        r = distance[k]
        p = reflectance[np.uint32(max(material[k], 0))] * power[k]
        power[k] = p if (r >= near) & (r <= far) & (r <= water[k]) & (p >= least * r * r) else zero

    s2 = one(slope_variance)
    mirror = one(FRESNEL / (4.0 * slope_variance))
    steepest = one(1.0 / np.sqrt(1.0 + 40.0 * slope_variance))  # beyond, the exponential is below 1e-17
    wet = np.uint64(0)
    for k in range(np.uint64(power.size)):
        if water[k] < distance[k]:
            distance[k] = nothing
            if water_cosine[k] > steepest:
                indices[wet] = k
                wet += np.uint64(1)
    for i in range(wet):
        k = indices[i]
        r, c = water[k], water_cosine[k]
        p = mirror / (c * c * c * c * c) * np.exp((one(1.0) - one(1.0) / (c * c)) / s2)
        power[k] = p if (r >= near) & (r <= far) & (p >= least * r * r) else zero
        distance[k] = r

    count = np.uint64(0)
    for k in range(np.uint64(power.size)):
        if power[k] > zero:
            indices[count] = k
            found[count] = distance[k]
            strength[count] = power[k]
            count += np.uint64(1)
        else:
            distance[k] = nothing
    return int(count)


@kernel
def write_points(
    directions: Any,
    indices: Any,
    found: Any,
    columns: int,
    period: float,
    points: Any,
    ring: Any,
    offset: Any,
    ranges: Any,
) -> None:
    """Write the returns as points, rings and time offsets, and into the range image. `indices` are ascending."""
    step = np.float32(period)
    dx, dy, dz = directions[0], directions[1], directions[2]
    channel, first = 0, 0
    for i in range(indices.size):
        k, r = np.uint32(indices[i]), found[i]
        while k >= first + columns:
            channel, first = channel + 1, first + columns
        points[i, 0], points[i, 1], points[i, 2] = r * dx[k], r * dy[k], r * dz[k]
        ring[i] = channel
        offset[i] = np.float32(k - first) * step
        ranges[k] = r


@kernel
def add_range_noise(draws: Any, quantiles: Any, sigma: float, ranges: Any) -> None:
    """Add normal noise to ranges, three per uniform draw: its leading 48 bits are three indices into a table."""
    one, zero = np.float32(sigma), np.float32(0.0)
    for i in range(draws.size):
        bits = np.uint64(draws[i] * 2.0**48)
        for k in range(3 * i, min(3 * i + 3, ranges.size)):
            ranges[k] = max(ranges[k] + one * quantiles[bits & np.uint64(0xFFFF)], zero)
            bits >>= np.uint64(16)


@cache
def normal_table() -> Singles:
    """Return the normal quantiles of 65 536 equal parts of probability, up to 4.3 σ; the variance is 1 to 1e-4.

    A scan has about a hundred thousand ranges. One draw per range would take a quarter of the scan's computing time.
    """
    return np.array([quantile((i + 0.5) / 65536) for i in range(65536)], np.float32)
