"""Sonar kernels for batches of pings: they run the kernels of `echoes` for one ping after the other.

The first axis of all arrays is the ping, n, except for arrays that describe the sonar. The kernels are strict, so that
the result of a ping does not depend on the batch.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import strict_kernel
from skerry.core.noise import fill_uniform
from skerry.core.rotations import matrix_of
from skerry.sensors.raycast.echoes import (
    accumulate_echoes,
    add_noise,
    collect_points,
    compute_echoes,
    reflect_at_surface,
    time_varied_gain,
    time_varied_gains,
    write_buckets,
)

# noise channels of a sonar
BUCKET_DRAWS: Final = 0
RAY_DRAWS: Final = 1
RANGE_ERRORS: Final = 2


@strict_kernel
def compute_echoes_batch(
    motions: Any,
    valid: Any,
    distance: Any,
    normal: Any,
    material: Any,
    directions: Any,
    tangents: Any,
    weights: Any,
    half_step: float,
    above: Any,
    near: float,
    far: float,
    source: float,
    absorption: Any,
    scattering: Any,
    errors: Any,
    ranges: Any,
    starts: Any,
    ends: Any,
    intensity: Any,
) -> None:
    """Compute the echoes of the rays for each valid ping; see `compute_echoes`. Other pings get no echoes."""
    for k in range(len(valid)):
        if not valid[k]:
            ranges[k, :] = np.nan
            intensity[k, :] = 0.0
            continue
        compute_echoes(
            distance[k],
            normal[k],
            material[k],
            directions,
            tangents,
            weights,
            matrix_of(motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6]),
            half_step,
            above[k],
            near,
            far,
            source,
            absorption[k],
            scattering,
            errors[k],
            ranges[k],
            starts[k],
            ends[k],
            intensity[k],
        )


@strict_kernel
def fill_buckets_batch(
    motions: Any,
    valid: Any,
    distance: Any,
    normal: Any,
    directions: Any,
    above: Any,
    far: float,
    absorption: Any,
    share: float,
    ranges: Any,
    starts: Any,
    ends: Any,
    intensity: Any,
    codes: Any,
    rays: int,
    size: float,
    buckets: Any,
    angle_sums: Any,
    key0: int,
    key1: int,
    ticks: Any,
    draws: Any,
    noise: float,
    speckle: bool,
    tvg: bool,
    power: float,
    gain: float,
    gains: Any,
    gains_for: Any,
    scale: float,
    out: Any,
    levels: Any,
    angles: Any,
) -> None:
    """Write the intensities `out` (n, beams, count), bytes and mean angle codes of the echoes in buckets.

    `buckets`, `angle_sums` and `draws` are scratch memory. `draws` is empty for a sonar without noise; `angle_sums` and
    `codes` are empty for a sonar without angles. With `tvg`, `gains` are `gain` times the time-varied gains for the
    absorption in `gains_for` (1,). `share` is the share of energy that echoes by the surface keep; 0 for no such
    echoes.
    """
    kept = np.empty((2, ranges.shape[1]), np.float32)
    for k in range(len(valid)):
        if not valid[k]:
            continue
        buckets[:] = 0.0
        angle_sums[:] = 0.0
        accumulate_echoes(ranges[k], starts[k], ends[k], intensity[k], codes, rays, size, buckets, angle_sums)
        if tvg and absorption[k] != gains_for[0]:
            time_varied_gains(size, power, absorption[k], gain, gains)
            gains_for[0] = absorption[k]
        if share > 0.0:
            kept[0], kept[1] = ranges[k], intensity[k]
            rotation = matrix_of(motions[k, 3], motions[k, 4], motions[k, 5], motions[k, 6])
            reflect_at_surface(
                distance[k],
                normal[k],
                directions,
                rotation,
                above[k],
                far,
                absorption[k],
                share,
                ranges[k],
                starts[k],
                ends[k],
                intensity[k],
            )
            accumulate_echoes(ranges[k], starts[k], ends[k], intensity[k], codes, rays, size, buckets, angle_sums)
            ranges[k], intensity[k] = kept[0], kept[1]
        fill_uniform(key0, key1, ticks[k], BUCKET_DRAWS, 0, draws)
        write_buckets(buckets, draws, noise, speckle, gains, scale, out[k], levels[k])
        for b in range(angle_sums.shape[0]):
            for i in range(angle_sums.shape[1]):
                energy = buckets[b, i]
                angles[k, b, i] = np.uint16(np.rint(angle_sums[b, i] / energy)) if energy > 0.0 else np.uint16(0)


@strict_kernel
def collect_points_batch(
    valid: Any,
    ranges: Any,
    intensity: Any,
    material: Any,
    labels: Any,
    directions: Any,
    key0: int,
    key1: int,
    ticks: Any,
    draws: Any,
    noise: float,
    speckle: bool,
    power: float,
    absorption: Any,
    gain: float,
    scale: float,
    found: Any,
    ray: Any,
    points: Any,
    lengths: Any,
    out: Any,
    levels: Any,
    classes: Any,
) -> None:
    """Write the points of each valid ping; see `collect_points`. `found` (n,) is the number of points.

    `draws` is scratch memory, empty for a sonar without noise. `power` and `absorption` (n,) describe the time-varied
    gain.
    """
    for k in range(len(valid)):
        if valid[k]:
            fill_uniform(key0, key1, ticks[k], RAY_DRAWS, 0, draws)
            found[k] = collect_points(
                ranges[k],
                intensity[k],
                material[k],
                labels,
                directions,
                draws,
                noise,
                speckle,
                power,
                absorption[k],
                gain,
                scale,
                ray[k],
                points[k],
                lengths[k],
                out[k],
                levels[k],
                classes[k],
            )


@strict_kernel
def add_noise_batch(
    echoes: Any,
    ranges: Any,
    draws: Any,
    noise: float,
    speckle: bool,
    tvg: bool,
    power: float,
    absorption: Any,
    gain: float,
    received: Any,
) -> None:
    """Write the received intensity of one echo (n,) per ping, with noise and gain."""
    for k in range(len(echoes)):
        received[k] = add_noise(echoes[k], noise, speckle, draws[k])
        if tvg:
            received[k] *= time_varied_gain(ranges[k], power, absorption[k])
        received[k] *= gain
