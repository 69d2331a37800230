"""How materials vary over their surface: patterns in metres, as factors of their colour, made of smooth value noise.

A pattern fades to its mean where it is finer than a pixel, so that distant ground neither flickers nor costs much.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.kernels import kernel

PLAIN, GRAIN, RIPPLES, ROCK, PLANKS, TILES = range(6)
TEXTURES: Final = {"plain": PLAIN, "grain": GRAIN, "ripples": RIPPLES, "rock": ROCK, "planks": PLANKS, "tiles": TILES}
ONE: Final = np.float32(1.0)
TWO: Final = np.float32(2.0)
THREE: Final = np.float32(3.0)
HALF: Final = np.float32(0.5)
TO_SHARE: Final = np.float32(1.0 / 65535.0)


@kernel
def hashed(i: int, j: int) -> Any:
    """A number between 0 and 1 for a cell of a grid."""
    h = np.uint32(i) * np.uint32(374761393) + np.uint32(j) * np.uint32(668265263)
    h = (h ^ (h >> np.uint32(13))) * np.uint32(1274126177)
    h = h ^ (h >> np.uint32(16))
    return np.float32(h & np.uint32(0xFFFF)) * TO_SHARE


@kernel
def noise(x: Any, y: Any) -> Any:
    """Smooth noise between 0 and 1 with cells of size 1."""
    fx, fy = np.floor(x), np.floor(y)
    i, j = np.int32(fx), np.int32(fy)
    u, v = x - fx, y - fy
    a, b, c, d = hashed(i, j), hashed(i + 1, j), hashed(i, j + 1), hashed(i + 1, j + 1)
    u, v = u * u * (THREE - TWO * u), v * v * (THREE - TWO * v)
    low, high = a + (b - a) * u, c + (d - c) * u
    return low + (high - low) * v


@kernel
def _seen(finest: Any, footprint: Any) -> Any:
    """How much of a pattern is left where a pixel is so wide: all at a quarter of its period, nothing at all of it."""
    share = footprint / finest
    if share >= ONE:
        return np.float32(0.0)
    return min(ONE, np.float32(1.3333) * (ONE - share))


@kernel
def _octaves(x: Any, y: Any, size: Any, footprint: Any) -> Any:
    """Noise of four octaves around 0, most between −1 and 1, the first with cells of that size."""
    total = np.float32(0.0)
    weight = ONE
    scale = ONE / size
    for _ in range(4):
        seen = _seen(size, footprint)
        if seen <= np.float32(0.0):
            break
        total += seen * weight * (TWO * noise(x * scale, y * scale) - ONE)
        size *= np.float32(0.4)
        scale *= np.float32(2.5)
        weight *= np.float32(0.55)
        x, y = x + np.float32(17.3) * size, y - np.float32(9.1) * size
    return total


@kernel
def _wave(turns: Any) -> Any:
    """A smooth wave between −1 and 1 with a period of 1."""
    q = turns - np.floor(turns)
    q = abs(TWO * q - ONE)
    return TWO * q * q * (THREE - TWO * q) - ONE


@kernel
def texture(kind: int, size: Any, x: Any, y: Any, footprint: Any) -> Any:
    """The factor of a material's colour at a place of its surface; `footprint` is the width of a pixel there."""
    one = np.float32
    if kind == GRAIN:
        return ONE + one(0.28) * _octaves(x, y, size, footprint)
    if kind == RIPPLES:
        broad = one(2.0) * noise(x * (one(0.35) / size), y * (one(0.35) / size))
        value = ONE + one(0.10) * (broad - ONE)
        seen = _seen(size, footprint)
        if seen > one(0.0):
            bent = one(0.8) * broad + one(0.35) * noise(x * (one(1.1) / size), y * (one(1.1) / size))
            value += seen * one(0.16) * _wave((x + one(0.3) * y) / size + bent)
            value += one(0.10) * _octaves(x, y, one(0.12) * size, footprint)
        return value
    if kind == ROCK:
        rough = _octaves(x, y, size, footprint)
        ridge = abs(_octaves(y + one(31.7), x, one(0.7) * size, footprint))
        return ONE + one(0.30) * rough - one(0.35) * max(one(0.0), one(0.35) - ridge) / one(0.35) * _seen(
            size, footprint
        )
    if kind == PLANKS:
        row = np.floor(y / size)
        tint = one(0.75) + one(0.35) * hashed(np.int32(row), 7)
        seen = _seen(size, footprint)
        edge = abs(TWO * (y / size - row) - ONE)
        value = ONE + seen * (tint - ONE) + one(0.15) * _octaves(x * one(0.12), y, one(0.25) * size, footprint)
        return value * (one(0.45) if edge > one(0.95) and seen > HALF else ONE)
    if kind == TILES:
        column, row = np.floor(x / size), np.floor(y / size)
        seen = _seen(size, footprint)
        value = ONE + seen * (one(0.15) * hashed(np.int32(column), np.int32(row)) - one(0.10))
        edge = max(abs(TWO * (x / size - column) - ONE), abs(TWO * (y / size - row) - ONE))
        return value + (seen * one(0.25) if edge > one(0.93) else one(0.0))
    return ONE
