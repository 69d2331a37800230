"""Camera: an sRGB image of 640 × 480 over a million triangles and five vehicles, with shadows and water optics."""

from __future__ import annotations

import numpy as np

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._seabed import load_seabed
from skerry.benchmarks._timing import best_cpu, best_wall
from skerry.core.frames import OPTICAL_IN_BODY, Pose, multiply, rpy_to_quaternion
from skerry.rays.exposure import encode_srgb, metered_gain
from skerry.rays.renderer import Conditions
from skerry.rays.sea_view import SeaView
from skerry.sensors.camera import Camera
from skerry.water.daylight import SkyConfig
from skerry.water.optics import optics_of

REPEATS = 40
DEPTH = 5.0  # m; the seabed is 20 m below the camera, which points 25° down; water type Jerlov IB
SEABED = {
    "kind": "heightfield",
    "size": [708, 708],
    "resolution": 1.0,
    "level": -25,
    "function": {"kind": "hills", "amplitude": 5, "wavelength": 100, "octaves": 7},
}

GOALS = {
    "camera.640x480.ms": Goal(55),
    "camera.640x480.wall2_ms": Goal(32),
}


def measure() -> dict[str, float]:
    """Return all figures of this part: CPU time on one core, wall time on all cores."""
    camera = Camera(link="base_link", frequency=10).build()
    turn = multiply(rpy_to_quaternion(np.radians([0.0, 25.0, 0.0])), OPTICAL_IN_BODY)
    pose = Pose(np.array([0.0, 0.0, -DEPTH]), turn)
    with load_seabed(terrain=SEABED) as world:
        view = world.ray_scene.view()
        conditions = Conditions(SkyConfig().build(), optics_of("IB"), SeaView.level(0.0))

        def render(threads: int) -> None:
            image = camera.renderer.render(view, pose, conditions, threads=threads)
            encode_srgb(image.light, metered_gain(image.light))

        return {
            "camera.640x480.ms": best_cpu(lambda: render(1), REPEATS) * 1e3,
            "camera.640x480.wall2_ms": best_wall(lambda: render(0), REPEATS) * 1e3,
        }
