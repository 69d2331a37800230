"""Timing: CPU time of the calling thread, or wall time, best of several repeats."""

from __future__ import annotations

import time
from collections.abc import Callable

REPEATS = 9


def best_cpu(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return CPU time of this thread, s, best of several repeats after one warm-up."""
    return _best(action, repeats, time.thread_time)


def best_wall(action: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return wall time, s, best of several repeats after one warm-up."""
    return _best(action, repeats, time.perf_counter)


def _best(action: Callable[[], object], repeats: int, clock: Callable[[], float]) -> float:
    action()
    best = float("inf")
    for _ in range(repeats):
        start = clock()
        action()
        best = min(best, clock() - start)
    return best
