"""Start-up: wall time of `skerry run` without steps, with a full and an empty kernel cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from skerry.benchmarks._goal import Goal
from skerry.benchmarks._timing import best_wall

COMMAND = [sys.executable, "-m", "skerry", "run", "--headless", "--duration", "0"]

GOALS = {"startup.warm_s": Goal(3), "startup.cold_s": Goal(40)}


def measure() -> dict[str, float]:
    """Return all figures of this part."""
    with tempfile.TemporaryDirectory() as empty:
        # the warm-up of `best_wall` would fill the cache, so the cold start is timed separately
        cold = _once(empty)
        warm = best_wall(lambda: _run(empty), repeats=3)
    return {"startup.warm_s": warm, "startup.cold_s": cold}


def _once(cache: str) -> float:
    start = time.perf_counter()
    _run(cache)
    return time.perf_counter() - start


def _run(cache: str) -> None:
    # as for users: Python writes its bytecode, which a test environment may forbid
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(COMMAND, env={**environment, "SKERRY_CACHE_DIR": cache}, check=True, capture_output=True)
