"""Native interface of the ground, for ropes, contacts and sensors.

A ground is a C function (table, count, rows) with int64 arguments. `rows` is the address of seven rows of `count`
numbers: x and y are inputs; height, normal and material are outputs. Where there is no ground, height and normal
are NaN and the material is −1.
"""

from __future__ import annotations

import math
from typing import Any, Final

from numba import types

from skerry.core.kernels import kernel, native

# Indices of the rows
POINT: Final = 0  # 2 rows: x and y in the world, m; set by the caller
HEIGHT: Final = 2  # z of the ground, m
NORMAL: Final = 3  # 3 rows: upward unit normal
MATERIAL: Final = 6  # index into the terrain's `materials`
ROWS: Final = 7

GROUND_FUNCTION = types.void(*[types.int64] * 3)
ground = native(GROUND_FUNCTION)
"""Decorator of the native function of a ground."""


@kernel
def write_ground(block: Any, count: int, i: int, height: float, gx: float, gy: float, material: float) -> None:
    """Write the result for point i; gx and gy are ∂height/∂x and ∂height/∂y."""
    nz = 1.0 / math.sqrt(1.0 + gx * gx + gy * gy)
    block[HEIGHT * count + i] = height
    block[NORMAL * count + i] = -gx * nz
    block[(NORMAL + 1) * count + i] = -gy * nz
    block[(NORMAL + 2) * count + i] = nz
    block[MATERIAL * count + i] = material


@kernel
def write_no_ground(block: Any, count: int, i: int) -> None:
    """Write the result for point i, where there is no ground."""
    for row in range(HEIGHT, MATERIAL):
        block[row * count + i] = math.nan
    block[MATERIAL * count + i] = -1.0
