"""Rays: range, normal, material and body per ray on one core, over a million triangles with five moving vehicles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._seabed import load_seabed
from skerry.benchmarks._timing import best_cpu
from skerry.rays import Bundle
from skerry.sensors.dvl import Dvl

REPEATS = 60
RANGE = 200.0  # m

GOALS = {
    "rays.dvl.us": Goal(12),
    "rays.mbes512.mrays_per_s": Goal(20, at_least=True),
    "rays.fls256x256.mrays_per_s": Goal(9, at_least=True),
    "rays.lidar128x2048.mrays_per_s": Goal(17, at_least=True),
}


def measure() -> dict[str, float]:
    """Return all figures of this part, for the poses of one tick; moving the bodies is not included."""
    fans = {
        "mbes512": _fan(_even(-60, 60, 512)),
        "fls256x256": _grid(_even(60, -60, 256), _even(0, -40, 256)),
        "lidar128x2048": _grid(_even(180, -180, 2049)[:-1], _even(45, -45, 128)),
    }
    with load_seabed() as world:
        world.advance(0.1)
        pose, view = world.robots["sam0"].pose, world.ray_scene.view(own_mask_bit=2)
        values = {}
        ping = Bundle(Dvl(link="dvl_link", frequency=10).directions())
        values["rays.dvl.us"] = best_cpu(lambda: view.cast(ping, pose, RANGE), 20 * REPEATS) * 1e6
        for name, directions in fans.items():
            bundle = Bundle(directions)
            seconds = best_cpu(lambda bundle=bundle: view.cast(bundle, pose, RANGE, threads=1), REPEATS)  # type: ignore[misc]
            values[f"rays.{name}.mrays_per_s"] = len(bundle) / seconds / 1e6
    return values


def _even(first: float, last: float, count: int) -> NDArray[np.float64]:
    return np.linspace(first, last, count, dtype=np.float64)


def _fan(angles_deg: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return directions of a fan that points down, from starboard to port."""
    angle = np.radians(angles_deg)
    return np.stack([np.zeros_like(angle), np.sin(angle), -np.cos(angle)], axis=-1)


def _grid(azimuths_deg: NDArray[np.float64], elevations_deg: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return directions in rows by elevation and columns by azimuth, anticlockwise from forward."""
    azimuth, elevation = np.meshgrid(np.radians(azimuths_deg), np.radians(elevations_deg))
    flat = np.cos(elevation)
    return np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], axis=-1)
