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
from skerry.rays.tiles import new_tiles

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


def in_tiles(run: Callable[[NDArray[np.float32], NDArray[np.int64]], None]) -> None:
    """Call `run(packet memory, tiles)` once for each processor; it takes one tile after the other natively.

    Were it to come back to Python after each tile, threads of low priority would hold the interpreter some thousand
    times a second, and whoever answers a peer would wait until they run again. It must release the GIL.
    """
    tiles = new_tiles(shared=True)
    threads = pool("rays", processors())
    for job in [threads.submit(run, packet_memory(), tiles) for _ in range(processors())]:
        job.result()
