"""Work on rays shared among the processors, tile by tile; what comes out does not depend on who did what."""

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

from skerry.rays.packets import packet_memory

NICENESS: Final = 10  # of 19; a picture may come later, an answer to a peer or a step of the world may not


@cache
def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def pool(name: str, size: int) -> ThreadPoolExecutor:
    """Threads that are kept for one purpose, and give way to the loop and to those who talk with peers."""
    return ThreadPoolExecutor(size, thread_name_prefix=f"skerry-{name}", initializer=give_way)


def give_way() -> None:
    """Lower this thread's priority; only Linux has one for each thread, elsewhere it would be the whole process's."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


if hasattr(os, "register_at_fork"):  # a forked process has none of the threads that its pools count on
    os.register_at_fork(after_in_child=pool.cache_clear)


def in_tiles(run: Callable[[NDArray[np.float32], int, int], None], count: int, tile: int) -> None:
    """Call `run(packet memory, low, high)` for all tiles of 0…count; it must release the GIL to be worth it."""
    tiles = iter(range(0, count, tile))

    def work() -> None:
        packet = packet_memory()
        for low in tiles:  # whoever is free takes the next; one job for each thread, as handing over jobs takes time
            run(packet, low, min(low + tile, count))
            if hasattr(os, "sched_yield"):
                os.sched_yield()  # whoever woke meanwhile need not wait until this thread's slice has ended

    threads = pool("rays", processors())
    jobs = [threads.submit(work) for _ in range(processors())]
    for job in jobs:
        job.result()
