"""Tiles of a bundle or a picture, as threads take them natively: whoever is free takes the next."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import call0, fetch_add, kernel

# places in the words by which threads share tiles
NEXT: Final = 0  # where the first begins that nobody has taken
YIELD: Final = 1  # address of a native function by which a thread lets others run; 0 for none
WORDS: Final = 8  # a line of the cache


def new_tiles(shared: bool) -> NDArray[np.int64]:
    """Words of which nothing is taken yet; with several threads, each lets others run before it takes a tile."""
    words = np.zeros(WORDS, np.int64)
    words[YIELD] = _yield_address() if shared else 0
    return words


@cache
def _yield_address() -> int:
    if not hasattr(os, "sched_yield"):
        return 0
    return int(ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0)


@kernel
def next_tile(words: Any, size: int) -> int:
    """Where the next tile of that size begins, which is this thread's from now on."""
    if words[YIELD] != 0:
        call0(words[YIELD])  # whoever woke meanwhile need not wait until this thread's slice has ended
    return fetch_add(words.ctypes.data + 8 * NEXT, size)
