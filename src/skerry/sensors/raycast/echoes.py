"""Sonar kernels for one ping: the echo of each ray, and its conversion to range buckets, images and point clouds.

Intensities are mean squares of the sound pressure, µPa², so that 10 log₁₀ of an intensity is a level in dB re 1 µPa.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import kernel
from skerry.core.rotations import rotate_to_world

MIN_SPREADING_RANGE: Final = 0.01  # m; spreading loss is constant below this range, so that it stays finite
LN_2: Final = 0.6931471805599453
MAX_INTENSITY: Final = 3e38  # µPa²; close to the largest float32, the type of readings
MAX_LOG_GAIN: Final = 46.05170185988092  # ln of 200 dB; bound on the gain, which grows exponentially with range


@kernel
def compute_echoes(
    distance: Any,
    normal: Any,
    material: Any,
    directions: Any,
    tangents: Any,
    weights: Any,
    rotation: Any,
    half_step: float,
    above: float,
    near: float,
    far: float,
    source: float,
    absorption: float,
    scattering: Any,
    errors: Any,
    ranges: Any,
    starts: Any,
    ends: Any,
    intensity: Any,
) -> None:
    """Compute the echo of each ray, S μ w sin(g) exp(−k r) / r²: the sonar equation in linear units.

    Args:
        distance: Distance of each ray's hit, (n,), m. Set to infinity for hits above the surface.
        normal: Normals at the hits in the world, (3, n).
        material: Material index of the hits, (n,).
        directions: Unit vectors of the rays in the sensor's frame, (3, n).
        tangents: Unit vectors along the fan of rays in the sensor's frame, (3, n).
        weights: Beam pattern times solid angle w of each ray, (n,), sr.
        rotation: Rotation from the sensor's frame to the world, (3, 3).
        half_step: Half the angle between neighbouring rays, rad.
        above: Height of the water surface above the sensor, m; rays end there.
        near: Minimum range, m.
        far: Maximum range, m.
        source: Source intensity S at 1 m, µPa².
        absorption: Absorption k over the two-way path, 1/m.
        scattering: Backscatter μ by material, per m² of seabed.
        errors: Errors added to the ranges, (n,), m, or empty.
        ranges: Output (n,), m; NaN without an echo.
        starts: Output (n,), m: range at which the echo starts. A ray represents a strip of its fan; the echo lasts
            from the nearest to the farthest point at which the strip meets the plane of the hit.
        ends: Output (n,), m: range at which the echo ends.
        intensity: Output (n,), µPa².
    """
    cosine, sine = np.cos(half_step), np.sin(half_step)
    t00, t01, t02 = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    t10, t11, t12 = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    t20, t21, t22 = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    has_errors = len(errors) > 0
    for i in range(len(distance)):
        ranges[i] = np.nan
        starts[i] = ends[i] = intensity[i] = 0.0
        r = np.float64(distance[i])
        if not r <= far:
            continue
        x, y, z = directions[0, i], directions[1, i], directions[2, i]
        if (t20 * x + t21 * y + t22 * z) * r > above:
            distance[i] = np.inf
            continue
        measured = r + errors[i] if has_errors else r
        if measured < near or measured > far or r < near:
            continue
        a, b, c = normal[0, i], normal[1, i], normal[2, i]
        nx, ny, nz = t00 * a + t10 * b + t20 * c, t01 * a + t11 * b + t21 * c, t02 * a + t12 * b + t22 * c
        graze = max(-(x * nx + y * ny + z * nz), 1e-6)
        spread = max(r, MIN_SPREADING_RANGE)
        ranges[i] = measured
        intensity[i] = source * scattering[material[i]] * weights[i] * graze * np.exp(-absorption * r) / spread**2
        along = abs(tangents[0, i] * nx + tangents[1, i] * ny + tangents[2, i] * nz) * sine
        nearer, farther = graze * cosine + along, graze * cosine - along
        starts[i] = max(measured - r + r * graze / nearer, near)
        ends[i] = min(measured - r + r * graze / farther, far) if farther > 0.0 else far


@kernel
def reflect_at_surface(
    distance: Any,
    normal: Any,
    directions: Any,
    rotation: Any,
    above: float,
    far: float,
    absorption: float,
    share: float,
    ranges: Any,
    starts: Any,
    ends: Any,
    intensity: Any,
) -> None:
    """Replace direct echoes by surface multipath: echoes that are reflected at the surface on the way out or back.

    The reflected path is straight from the sensor's mirror image above the surface. The range of such an echo is half
    the sum of the direct and the reflected path. Each echo occurs twice, because the reflection may be on the way out
    or on the way back. `share` is the share of energy that the reflection keeps. Other arguments are those of
    `compute_echoes`.
    """
    for i in range(len(distance)):
        if np.isnan(ranges[i]):
            continue
        r = max(np.float64(distance[i]), MIN_SPREADING_RANGE)
        x, y, z = directions[0, i], directions[1, i], directions[2, i]
        wx = (rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z) * r
        wy = (rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z) * r
        wz = (rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z) * r
        up = 2.0 * above - wz
        other = np.sqrt(wx * wx + wy * wy + up * up)
        graze = max(-(wx * normal[0, i] + wy * normal[1, i] + wz * normal[2, i]) / r, 1e-6)
        graze_other = (up * normal[2, i] - wx * normal[0, i] - wy * normal[1, i]) / other
        later = 0.5 * (other - r)
        if graze_other <= 0.0 or ranges[i] + later > far:
            ranges[i] = np.nan
            intensity[i] = 0.0
            continue
        loss = (r / other) ** 2 * np.exp(-absorption * later) * graze_other / graze
        intensity[i] *= 2.0 * share * loss
        ranges[i] += later
        starts[i] += later
        ends[i] = min(ends[i] + later, far)


@kernel
def accumulate_echoes(
    ranges: Any,
    starts: Any,
    ends: Any,
    intensity: Any,
    codes: Any,
    rays: int,
    size: float,
    buckets: Any,
    angle_sums: Any,
) -> None:
    """Add the echoes to the range buckets (beams, count). The total energy is preserved.

    An echo is spread evenly between its start and its end. `angle_sums` (beams, count) accumulates intensity times
    `codes` (n,); both are empty if angles are not needed. `rays` is the number of rays per beam, `size` the length of a
    bucket in m.
    """
    count = buckets.shape[1]
    angles = len(codes) > 0
    for i in range(len(ranges)):
        if np.isnan(ranges[i]):
            continue
        beam = i // rays
        energy = np.float64(intensity[i])
        low, high = starts[i] / size, ends[i] / size
        high = min(high, np.float64(count))
        first, last = int(low), min(int(high), count - 1)
        if last <= first or high - low < 1e-9:
            only = min(int(ranges[i] / size), count - 1)
            buckets[beam, only] += energy
            if angles:
                angle_sums[beam, only] += energy * codes[i]
            continue
        density = energy / (high - low)
        for k in range(first, last + 1):
            part = density * (min(high, k + 1.0) - max(low, np.float64(k)))
            buckets[beam, k] += part
            if angles:
                angle_sums[beam, k] += part * codes[i]


@kernel
def exponential(u: Any) -> float:
    """Return −ln u, an exponential variate of mean 1 if u is uniform between 0 and 1.

    The error is 1e-9, and it is much faster than the library's logarithm. With the mantissa m from 1 to 2 and the
    exponent e, ln u = (e + ½) ln 2 + 2 (s + s³/3 + …), s = (m − √2)/(m + √2).
    """
    bits = np.float64(u).view(np.int64)
    exponent = np.int32(bits >> 52) - np.int32(1023)  # 32 bits, because their conversion is vectorised
    m = np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
    s = (m - 1.4142135623730951) / (m + 1.4142135623730951)
    q = s * s
    series = 2.0 + q * (2.0 / 3 + q * (2.0 / 5 + q * (2.0 / 7 + q * (2.0 / 9 + q * (2.0 / 11)))))
    return -((exponent + 0.5) * LN_2 + s * series)


@kernel
def add_noise(echo: float, noise: float, speckle: bool, draw: float) -> float:
    """Return the received intensity of an echo with noise.

    Echo and noise are sums of many small waves of random phase, so that intensities are exponentially distributed. With
    `speckle` this applies to the sum of echo and noise, otherwise to the noise only. `draw` is an exponential variate
    of mean 1.
    """
    return (echo + noise) * draw if speckle else echo + noise * draw


@kernel
def to_byte(intensity: float, scale: float) -> Any:
    """Return `scale` times the amplitude as a byte, limited to 255."""
    return np.uint8(np.int32(min(scale * np.sqrt(intensity) + 0.5, 255.0)))


@kernel
def time_varied_gain(r: float, power: float, absorption: float) -> float:
    """Return r^power · exp(k r), limited to 200 dB."""
    distance = max(r, MIN_SPREADING_RANGE)
    return np.exp(min(power * np.log(distance) + absorption * distance, MAX_LOG_GAIN))


@kernel
def time_varied_gains(size: float, power: float, absorption: float, gain: float, gains: Any) -> None:
    """Write `gain` times the time-varied gain at the middle of each bucket of length `size`, m."""
    for k in range(len(gains)):
        gains[k] = gain * time_varied_gain((k + 0.5) * size, power, absorption)


@kernel
def write_buckets(
    buckets: Any, draws: Any, noise: float, speckle: bool, gains: Any, scale: float, out: Any, levels: Any
) -> None:
    """Write the received intensities of the buckets (beams, count), with noise and gain, and their bytes.

    `draws` are uniform numbers, one per bucket, or empty for a sonar without noise.
    """
    beams, count = buckets.shape
    drawn = len(draws) > 0
    for b in range(beams):
        echoes, received, level, draw = buckets[b], out[b], levels[b], draws[b * count : (b + 1) * count]
        for k in range(count):
            value = add_noise(echoes[k], noise, speckle, exponential(draw[k]) if drawn else 1.0) * gains[k]
            received[k] = min(value, MAX_INTENSITY)
            level[k] = to_byte(min(value, MAX_INTENSITY), scale)


@kernel
def collect_points(
    ranges: Any,
    intensity: Any,
    material: Any,
    labels: Any,
    directions: Any,
    draws: Any,
    noise: float,
    speckle: bool,
    power: float,
    absorption: float,
    gain: float,
    scale: float,
    ray: Any,
    points: Any,
    lengths: Any,
    out: Any,
    levels: Any,
    classes: Any,
) -> int:
    """Write the rays with an echo as points in the sensor's frame, and return their number.

    Args:
        ranges: Ranges of the rays, (n,), m; NaN without an echo.
        intensity: Intensities of the echoes, (n,), µPa².
        material: Material index of each ray's hit, (n,).
        labels: Label of each material.
        directions: Unit vectors of the rays in the sensor's frame, (3, n).
        draws: Uniform numbers, (n,), or empty for a sonar without noise.
        noise: Mean intensity of the noise, µPa².
        speckle: Whether echoes have speckle.
        power: Exponent of the range in the time-varied gain.
        absorption: Absorption in the time-varied gain, 1/m.
        gain: Factor on the intensities.
        scale: Byte value of an amplitude of 1 µPa after gain.
        ray: Output: index of each point's ray.
        points: Output (…, 3), m, in the sensor's frame.
        lengths: Output: ranges, m.
        out: Output: received intensities, µPa².
        levels: Output: amplitudes as bytes.
        classes: Output: labels of the materials.
    """
    drawn = len(draws) > 0
    found = 0
    for i in range(len(ranges)):
        r = np.float64(ranges[i])
        if np.isnan(r):
            continue
        draw = exponential(draws[i]) if drawn else 1.0
        value = add_noise(intensity[i], noise, speckle, draw)
        if power != 0.0 or absorption != 0.0:
            value *= time_varied_gain(r, power, absorption)
        value *= gain
        ray[found] = i
        for k in range(3):
            points[found, k] = r * directions[k, i]
        lengths[found] = r
        value = min(value, MAX_INTENSITY)
        out[found] = value
        levels[found] = to_byte(value, scale)
        classes[found] = labels[material[i]]
        found += 1
    return found


@kernel
def transform_points(points: Any, position: Any, orientation: Any, found: Any) -> None:
    """Transform points (n, 3) from a frame to the world, given the frame's position and orientation."""
    px, py, pz = position
    x, y, z, w = orientation
    for i in range(len(points)):
        a, b, c = rotate_to_world(
            x, y, z, w, np.float64(points[i, 0]), np.float64(points[i, 1]), np.float64(points[i, 2])
        )
        found[i, 0], found[i, 1], found[i, 2] = px + a, py + b, pz + c
