"""Tiles of a bundle or an image, shared among threads: each thread claims the next free tile natively."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import call0, fetch_add, kernel

# fields of a tile counter
NEXT: Final = 0  # start of the first tile that is still free
YIELD: Final = 1  # address of the native function that yields the processor; 0 to never yield
COUNTER_SIZE: Final = 8  # fields; fills one cache line


def new_tile_counter(shared: bool) -> NDArray[np.int64]:
    """Return a counter with all tiles free. With `shared`, each thread yields before it claims a tile."""
    counter = np.zeros(COUNTER_SIZE, np.int64)
    counter[YIELD] = _yield_address() if shared else 0
    return counter


@cache
def _yield_address() -> int:
    if not hasattr(os, "sched_yield"):
        return 0
    return int(ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0)


@kernel
def next_tile(counter: Any, size: int) -> int:
    """Claim the next free tile of this size for the calling thread and return its start."""
    if counter[YIELD] != 0:
        call0(counter[YIELD])  # so that a thread that became ready need not wait for the end of the time slice
    return fetch_add(counter.ctypes.data + 8 * NEXT, size)
