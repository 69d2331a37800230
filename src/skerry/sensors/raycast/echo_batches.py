"""Native code of sonars for several instants at once: the kernels of `echoes`, one instant after the other.

All arrays begin with the instants, n, but those of the sonar itself. They are strict, so that each instant is worked
out as if it were alone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import strict_kernel
from skerry.core.noise import fill_uniform
from skerry.core.rotations import matrix_of
from skerry.sensors.raycast.echoes import (
    collect,
    finish,
    gather,
    mirror,
    receive,
    sound,
    time_varied_gain,
    time_varied_gains,
)

BUCKET_CHANCES: Final = 0  # channels of a sonar's noise
RAY_CHANCES: Final = 1
RANGE_ERRORS: Final = 2


@strict_kernel
def receive_each(
    places: Any,
    there: Any,
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
    """The echoes of the rays at each instant at which they were sent; none at the others."""
    for k in range(len(there)):
        if not there[k]:
            ranges[k, :] = np.nan
            intensity[k, :] = 0.0
            continue
        receive(
            distance[k],
            normal[k],
            material[k],
            directions,
            tangents,
            weights,
            matrix_of(places[k, 3], places[k, 4], places[k, 5], places[k, 6]),
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
def fill_each(
    places: Any,
    there: Any,
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
    turned: Any,
    key0: int,
    key1: int,
    ticks: Any,
    chances: Any,
    noise: float,
    speckle: bool,
    tvg: bool,
    power: float,
    gains: Any,
    gains_for: Any,
    scale: float,
    out: Any,
    levels: Any,
    angles: Any,
) -> None:
    """Intensities `out` (n, beams, count), bytes and mean codes of the echoes in buckets.

    `buckets`, `turned` and `chances` are memory; the latter, as `turned` and `codes`, is empty where none are wanted.
    `gains` are time-varied if `tvg`, and then those for the absorption `gains_for` (1,). `share` is that of echoes by
    the surface, 0 for none.
    """
    kept = np.empty((2, ranges.shape[1]), np.float32)
    for k in range(len(there)):
        if not there[k]:
            continue
        buckets[:] = 0.0
        turned[:] = 0.0
        gather(ranges[k], starts[k], ends[k], intensity[k], codes, rays, size, buckets, turned)
        if tvg and absorption[k] != gains_for[0]:
            time_varied_gains(size, power, absorption[k], gains)
            gains_for[0] = absorption[k]
        if share > 0.0:
            kept[0], kept[1] = ranges[k], intensity[k]
            turn = matrix_of(places[k, 3], places[k, 4], places[k, 5], places[k, 6])
            mirror(
                distance[k],
                normal[k],
                directions,
                turn,
                above[k],
                far,
                absorption[k],
                share,
                ranges[k],
                starts[k],
                ends[k],
                intensity[k],
            )
            gather(ranges[k], starts[k], ends[k], intensity[k], codes, rays, size, buckets, turned)
            ranges[k], intensity[k] = kept[0], kept[1]
        fill_uniform(key0, key1, ticks[k], BUCKET_CHANCES, 0, chances)
        finish(buckets, chances, noise, speckle, gains, scale, out[k], levels[k])
        for b in range(turned.shape[0]):
            for i in range(turned.shape[1]):
                energy = buckets[b, i]
                angles[k, b, i] = np.uint16(np.rint(turned[b, i] / energy)) if energy > 0.0 else np.uint16(0)


@strict_kernel
def collect_each(
    there: Any,
    ranges: Any,
    intensity: Any,
    material: Any,
    labels: Any,
    directions: Any,
    key0: int,
    key1: int,
    ticks: Any,
    chances: Any,
    noise: float,
    speckle: bool,
    power: float,
    absorption: Any,
    scale: float,
    found: Any,
    ray: Any,
    points: Any,
    lengths: Any,
    out: Any,
    levels: Any,
    classes: Any,
) -> None:
    """The rays that have an echo, how many there are (n,), and what is known of each (n, rays, …).

    `chances` is memory, empty where none are wanted. `power` and `absorption` (n,) are those of the gain.
    """
    for k in range(len(there)):
        if there[k]:
            fill_uniform(key0, key1, ticks[k], RAY_CHANCES, 0, chances)
            found[k] = collect(
                ranges[k],
                intensity[k],
                material[k],
                labels,
                directions,
                chances,
                noise,
                speckle,
                power,
                absorption[k],
                scale,
                ray[k],
                points[k],
                lengths[k],
                out[k],
                levels[k],
                classes[k],
            )


@strict_kernel
def hear_each(
    echoes: Any,
    ranges: Any,
    chances: Any,
    noise: float,
    speckle: bool,
    tvg: bool,
    power: float,
    absorption: Any,
    heard: Any,
) -> None:
    """What is heard of one echo (n,) at each instant, after time-varied gain for its range."""
    for k in range(len(echoes)):
        heard[k] = sound(echoes[k], noise, speckle, chances[k])
        if tvg:
            heard[k] *= time_varied_gain(ranges[k], power, absorption[k])
