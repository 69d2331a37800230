"""Husky: images per second (wall time) of each of three cameras, opened as the rover server of 2023 does."""

from __future__ import annotations

from threading import Timer
from time import perf_counter

import skerry
from skerry.benchmarks._goal import Goal
from skerry.interfaces.husky import Husky
from skerry.interfaces.husky.fake_server import SPEC_CAMERAS, FakeRoverServer
from skerry.runner import Runner

SECONDS = 10.0  # measured time, after all cameras have sent an image
TIMEOUT = 120.0  # s for the first images

GOALS = {"husky.camera_fps_each": Goal(8, at_least=True)}


def measure() -> dict[str, float]:
    """Return images per second of the slowest camera, at real time and with all other reports."""
    with FakeRoverServer(SPEC_CAMERAS, keep=False) as server:
        interface = Husky(url=server.url).build()
        with skerry.load("husky_yard") as world, Runner(world, 1.0, {"husky": interface}) as runner:
            cameras = [f"camera {request['camera']}" for request in SPEC_CAMERAS]
            for _ in range(int(TIMEOUT)):
                runner.run(1.0)
                if all(server.counts[camera] for camera in cameras):
                    break
            before, start = server.counts.copy(), perf_counter()
            Timer(SECONDS, runner.stop).start()
            runner.run(None)
            spent = perf_counter() - start
            return {"husky.camera_fps_each": min(server.counts[name] - before[name] for name in cameras) / spent}
