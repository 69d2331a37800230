"""Okoń: wall time of a request pair on the control channel while the video channel streams 1280 × 720."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Thread
from typing import Any

import skerry
from skerry.benchmarks._goal import Goal
from skerry.interfaces.okon import Okon
from skerry.interfaces.okon.interface import OkonInterface
from skerry.runner import Runner

SECONDS = 15.0
OVERRIDES: dict[str, Any] = {}  # scenario overrides, for quick tests
CLIENT = "skerry.interfaces.okon.client"

GOALS = {
    "okon.pair_p99_ms": Goal(3),
    "okon.video_fps": Goal(9, at_least=True),
}


def measure() -> dict[str, float]:
    """Return all figures of this part; the client is a separate process."""
    okon = OkonInterface(Okon(control_port=0, video_port=0, settings_file=None))
    with skerry.load("okon_pool", overrides=OVERRIDES) as world, Runner(world, 1.0, {"okon": okon}) as runner:
        runner.run(0.5)
        thread = Thread(target=runner.run, args=(None,))
        thread.start()
        ports = ("--control-port", str(okon.control_port), "--video-port", str(okon.video_port))
        command = [sys.executable, "-m", CLIENT, *ports, "--seconds", str(SECONDS)]
        try:
            found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
        finally:
            runner.stop()
            thread.join()
    return {key: found[key.removeprefix("okon.")] for key in GOALS}
