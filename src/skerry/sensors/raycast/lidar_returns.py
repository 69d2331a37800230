"""What comes back of a lidar's light: from things, and from the water's surface; the kernels of a scan.

A beam that meets a surface of reflectance ρ at the angle θ from its normal and at the range r returns the power
ρ cos θ / r², up to a constant of the device (Wagner 2010, ISPRS J. Photogramm. 65, 505, for a diffuse surface larger
than the beam). It is seen if this is at least 0.1 / R², where R is the range at which the device sees 10 %. Intensity
is the power freed of the range, as devices calibrate it: the scale × ρ cos θ.

The water's surface is a mirror with the slopes of Cox and Munk (1954, J. Opt. Soc. Am. 44, 838): they are normal, with
the mean square s² = 0.003 + 0.00512 U, U being the wind's speed in m/s. Facets that face the beam send back (Barrick
1968, IEEE Trans. Antennas Propag. 16, 449) the cross section per area σ = F s⁻² cos⁻⁴θ exp(−tan²θ / s²), where a
diffuse surface has 4 ρ cos²θ. So in the place of ρ cos θ stands F / (4 s² cos⁵θ) · exp(−tan²θ / s²). What enters the
water is lost: infrared light does not come back from below. θ is the angle from the normal of the waves that the patch
around the sensor has; beyond it, and without waves, the water is level.
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
    """Where rays meet a level surface this far below them; `down` is the world's −z in the sensor's frame."""
    x, y, z = np.float32(down[0]), np.float32(down[1]), np.float32(down[2])
    h, nothing = np.float32(height), np.float32(np.inf)
    for k in range(ranges.size):
        c = x * directions[0, k] + y * directions[1, k] + z * directions[2, k]
        cosines[k] = c
        ranges[k] = h / c if c > 0.0 else nothing


@kernel
def lowest_end(directions: Any, turn: Any, origin: Any, far: float) -> float:
    """The lowest z at which one of the rays (3, n) of this length ends, or begins."""
    least = 0.0
    for k in range(directions.shape[1]):
        dz = turn[2, 0] * directions[0, k] + turn[2, 1] * directions[1, k] + turn[2, 2] * directions[2, k]
        least = min(least, dz)
    return origin[2] + far * least


@kernel
def intersect_waves(
    numbers: Any,
    heights: Any,
    directions: Any,
    turn: Any,
    origin: Any,
    distance: Any,
    farthest: float,
    grazing: float,
    ranges: Any,
    cosines: Any,
) -> None:
    """Where rays meet a patch of waves, as far as it matters: before they hit anything, or steeply.

    Rays whose cosine with the vertical is below `grazing` are too flat for the water to send anything back.
    """
    ox, oy, oz = origin[0], origin[1], origin[2]
    for k in range(ranges.size):
        ranges[k], cosines[k] = np.inf, 0.0
        x, y, z = directions[0, k], directions[1, k], directions[2, k]
        dz = turn[2, 0] * x + turn[2, 1] * y + turn[2, 2] * z
        end = oz + min(distance[k], farthest) * dz
        if -dz < grazing and distance[k] == np.inf:
            continue
        if oz > numbers[HIGH] and end > numbers[HIGH]:
            continue
        if -dz < grazing and end < numbers[LOW]:
            ranges[k] = 0.0  # it went into the water somewhere, and what lies below is not seen
            continue
        dx = turn[0, 0] * x + turn[0, 1] * y + turn[0, 2] * z
        dy = turn[1, 0] * x + turn[1, 1] * y + turn[1, 2] * z
        r = surface_hit(numbers, heights, ox, oy, oz, dx, dy, dz, min(distance[k], farthest))
        if r < np.inf:
            sx, sy = surface_slope(numbers, heights, ox + r * dx, oy + r * dy)
            ranges[k] = r
            cosines[k] = (sx * dx + sy * dy - dz) / np.sqrt(1.0 + sx * sx + sy * sy)


@kernel
def find_returns(
    directions: Any,
    turn: Any,
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
    """Which rays (3, n) come back, and how strong: their places, ranges and ρ cos θ; returns their number.

    `turn` (3, 3) leads from the sensor's frame into the world, where normals are. `distance` becomes the return's,
    infinite where there is none. Short loops, each of one kind of work, so that the compiler makes vectors of them.
    """
    one = np.float32
    near, far, least, nothing, zero = one(nearest), one(farthest), one(threshold), one(np.inf), one(0.0)
    r00, r01, r02 = one(turn[0, 0]), one(turn[0, 1]), one(turn[0, 2])
    r10, r11, r12 = one(turn[1, 0]), one(turn[1, 1]), one(turn[1, 2])
    r20, r21, r22 = one(turn[2, 0]), one(turn[2, 1]), one(turn[2, 2])
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
    """Write what came back as points, and into the image of ranges; places rise."""
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
    """Add normal noise to ranges, three for each uniform draw: its leading 48 bits are three places in a table."""
    one, zero = np.float32(sigma), np.float32(0.0)
    for i in range(draws.size):
        bits = np.uint64(draws[i] * 2.0**48)
        for k in range(3 * i, min(3 * i + 3, ranges.size)):
            ranges[k] = max(ranges[k] + one * quantiles[bits & np.uint64(0xFFFF)], zero)
            bits >>= np.uint64(16)


@cache
def normal_table() -> Singles:
    """Normal quantiles of 65 536 equal parts of probability: 4.3 σ at the most, and a variance of 1 to 1e-4.

    A scan has some hundred thousand ranges, and a draw of its own for each would take a quarter of the time of all.
    """
    return np.array([quantile((i + 0.5) / 65536) for i in range(65536)], np.float32)
