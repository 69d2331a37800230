"""Threads for ray work. The result does not depend on which thread computes which tile."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from skerry.rays.packets import allocate_packet
from skerry.rays.tiles import new_tile_counter

NICENESS: Final = 10  # of 19, so that steps of the world and replies to clients run before images


@cache
def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def pool(name: str, size: int) -> ThreadPoolExecutor:
    """Return the pool of low-priority threads with this name. The pool lives as long as the process."""
    return ThreadPoolExecutor(size, thread_name_prefix=f"skerry-{name}", initializer=lower_priority)


def lower_priority() -> None:
    """Lower the calling thread's priority. Only Linux has a priority per thread; elsewhere do nothing."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


if hasattr(os, "register_at_fork"):  # the threads of a pool do not exist in a forked process
    os.register_at_fork(after_in_child=pool.cache_clear)


def run_on_tiles(run: Callable[[NDArray[np.float32], NDArray[np.int64]], None]) -> None:
    """Call `run(packet memory, tile counter)` once per processor and wait for all calls.

    `run` must release the GIL and claim its tiles natively. If it returned to Python after each tile, threads of low
    priority would hold the interpreter about a thousand times per second and delay replies to clients.
    """
    tiles = new_tile_counter(shared=True)
    threads = pool("rays", processors())
    for job in [threads.submit(run, allocate_packet(), tiles) for _ in range(processors())]:
        job.result()
