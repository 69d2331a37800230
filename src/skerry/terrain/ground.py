"""The native interface of the ground: what ropes, contacts and sensors call to learn where it is.

A ground is a C function (table, count, rows), all words. `rows` is a block of seven rows of `count` numbers:
x and y come in; height, normal and material go out. Where there is no ground, height and normal are NaN and
the material is −1.
"""

from __future__ import annotations

import math
from typing import Any, Final

from numba import types

from skerry.core.kernels import kernel, native

# rows of the block
POINT: Final = 0  # 2: x and y in the world, m; the caller's
HEIGHT: Final = 2  # z of the ground there, m
NORMAL: Final = 3  # 3: of length 1, upwards
MATERIAL: Final = 6  # its place in the terrain's `materials`
ROWS: Final = 7

GROUND_FUNCTION = types.void(*[types.int64] * 3)
ground = native(GROUND_FUNCTION)
"""Decorator of a ground's native function."""


@kernel
def write_ground(block: Any, count: int, i: int, height: float, gx: float, gy: float, material: float) -> None:
    """Answer for point i: gx and gy are ∂height/∂x and ∂height/∂y."""
    nz = 1.0 / math.sqrt(1.0 + gx * gx + gy * gy)
    block[HEIGHT * count + i] = height
    block[NORMAL * count + i] = -gx * nz
    block[(NORMAL + 1) * count + i] = -gy * nz
    block[(NORMAL + 2) * count + i] = nz
    block[MATERIAL * count + i] = material


@kernel
def write_no_ground(block: Any, count: int, i: int) -> None:
    """Answer for point i, where there is no ground."""
    for row in range(HEIGHT, MATERIAL):
        block[row * count + i] = math.nan
    block[MATERIAL * count + i] = -1.0
