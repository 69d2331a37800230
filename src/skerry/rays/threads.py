"""Work on rays shared among the processors, tile by tile; what comes out does not depend on who did what."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from skerry.rays.packets import packet_memory


@cache
def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def pool(name: str, size: int) -> ThreadPoolExecutor:
    """Threads that are kept for one purpose."""
    return ThreadPoolExecutor(size, thread_name_prefix=f"skerry-{name}")


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads that its pools count on
    os.register_at_fork(after_in_child=pool.cache_clear)


def in_tiles(run: Callable[[NDArray[np.float32], int, int], None], count: int, tile: int) -> None:
    """Call `run(packet memory, low, high)` for all tiles of 0…count; it must release the GIL to be worth it."""
    tiles = iter(range(0, count, tile))

    def work() -> None:
        packet = packet_memory()
        for low in tiles:  # whoever is free takes the next; one job for each thread, as handing over jobs takes time
            run(packet, low, min(low + tile, count))

    threads = pool("rays", processors())
    jobs = [threads.submit(work) for _ in range(processors())]
    for job in jobs:
        job.result()
