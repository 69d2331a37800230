"""Native code of sonars: what each ray brings back, and how echoes gather in buckets of range, images and clouds.

Intensities are mean squares of the sound's pressure, µPa², so that 10 log of one is a level in dB re 1 µPa.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import kernel
from skerry.core.rotations import rotate_to_world

MIN_SPREADING_RANGE: Final = 0.01  # m; nearer, spherical spreading says nothing, and would grow without bounds
LN_2: Final = 0.6931471805599453
MAX_INTENSITY: Final = 3e38  # µPa²; readings are float32
MAX_LOG_GAIN: Final = 46.05170185988092  # ln of 200 dB; far beyond, gain on absorption alone would have no bounds


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
    """The echo of each ray: S μ w sin(g) exp(−k r) / r², which is the sonar equation in linear numbers.

    `distance` (n,), `normal` (3, n) in the world and `material` (n,) are what the rays hit; `directions` (3, n) are
    theirs and `tangents` (3, n) those along their fan, of length 1, in the sensor's frame, which `rotation` (3, 3)
    leads into the world. `weights` w (n,) are beam pattern times solid angle, sr. `above` is the height of the surface
    above the sensor, m: there rays end. `source` S is in µPa² at 1 m, `absorption` k in 1/m over the way out and back,
    `scattering` μ by material, 1/m² of 1 m². `errors` (n,) or empty are added to the ranges. `ranges` become NaN where
    there is no echo; `starts` and `ends` are the ranges between which the ray's share of the fan meets the plane that
    it hit.
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
    """Turn echoes into those that went one way by the surface, as from the sensor's mirror image above it.

    Such an echo has half the sum of both ways as its range; there are two of each, as either way may be the longer.
    `share` is what the surface and the beam leave of it.
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
    """Add the echoes to the buckets (beams, count) of their ranges; all that comes in is there in the end.

    An echo is spread evenly between its start and its end. `angle_sums` (beams, count) adds up intensity times `codes`
    (n,); both are empty where angles are not wanted.
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
    """−ln u, a value of mean 1 if u is even between 0 and 1; right to 1e-9, and far quicker than a library's.

    With m from 1 to 2 and the exponent e, ln u = e ln 2 + 2 (s + s³/3 + …), s = (m − √2)/(m + √2), and ½ ln 2.
    """
    bits = np.float64(u).view(np.int64)
    exponent = np.int32(bits >> 52) - np.int32(1023)  # of 32 bits, as there is vector code to convert those
    m = np.int64((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000).view(np.float64)
    s = (m - 1.4142135623730951) / (m + 1.4142135623730951)
    q = s * s
    series = 2.0 + q * (2.0 / 3 + q * (2.0 / 5 + q * (2.0 / 7 + q * (2.0 / 9 + q * (2.0 / 11)))))
    return -((exponent + 0.5) * LN_2 + s * series)


@kernel
def add_noise(echo: float, noise: float, speckle: bool, draw: float) -> float:
    """What is heard of an echo amid noise.

    Echo and noise are sums of many small waves of any phase, so that intensities are exponential: together, or the
    noise alone where the echo is to be free of speckle.
    """
    return (echo + noise) * draw if speckle else echo + noise * draw


@kernel
def to_byte(intensity: float, scale: float) -> Any:
    """255 times the amplitude over that of full scale; more than that stays 255."""
    return np.uint8(np.int32(min(scale * np.sqrt(intensity) + 0.5, 255.0)))


@kernel
def time_varied_gain(r: float, power: float, absorption: float) -> float:
    """r^power · exp(k r), up to 200 dB."""
    distance = max(r, MIN_SPREADING_RANGE)
    return np.exp(min(power * np.log(distance) + absorption * distance, MAX_LOG_GAIN))


@kernel
def time_varied_gains(size: float, power: float, absorption: float, gains: Any) -> None:
    """The gain at the middle of each bucket."""
    for k in range(len(gains)):
        gains[k] = time_varied_gain((k + 0.5) * size, power, absorption)


@kernel
def write_buckets(
    buckets: Any, draws: Any, noise: float, speckle: bool, gains: Any, scale: float, out: Any, levels: Any
) -> None:
    """What is heard in each bucket (beams, count): intensities (float32), and bytes."""
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
    scale: float,
    ray: Any,
    points: Any,
    lengths: Any,
    out: Any,
    levels: Any,
    classes: Any,
) -> int:
    """The rays that have an echo, one after the other, with their points in the sensor's frame; how many there are."""
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
    """Points (n, 3) of a frame in the world, by the frame's place there."""
    px, py, pz = position
    x, y, z, w = orientation
    for i in range(len(points)):
        a, b, c = rotate_to_world(
            x, y, z, w, np.float64(points[i, 0]), np.float64(points[i, 1]), np.float64(points[i, 2])
        )
        found[i, 0], found[i, 1], found[i, 2] = px + a, py + b, pz + c
