"""How materials vary over their surface: patterns drawn once, in ever coarser versions, and looked up by place.

A pattern is a tile of `CELLS` times the material's texture size, as factors of its colour in 1/128. A dot holds its own
factor, its right neighbour's and those below the two, a byte each, as a look-up takes the mean of the four. It takes
the version whose dots are as wide as the pixel that sees them, so that distant ground does not flicker; a second
look-up, of coarse grain at another scale, hides that the tile repeats.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.kernels import kernel

Floats = NDArray[np.float64]

PLAIN, GRAIN, RIPPLES, ROCK, PLANKS, TILES = range(6)
TEXTURES: Final = {"plain": PLAIN, "grain": GRAIN, "ripples": RIPPLES, "rock": ROCK, "planks": PLANKS, "tiles": TILES}
CAUSTICS: Final = len(TEXTURES)  # the pattern of sunlight under waves, in 1/64
SIDE: Final = 512  # dots along a tile
CELLS: Final = 16
LEVELS: Final = 10  # versions: 512, 256, … 1 dots
CAUSTICS_PER_METRE: Final = np.float32(1.0 / 10.0)  # tiles; a web's meshes are 0.6 m wide
BROAD: Final = np.float32(0.0731)  # scale of the second look-up; no simple fraction

ONE: Final = np.float32(1.0)
HALF: Final = np.float32(0.5)
UNIT: Final = np.float32(1.0 / 128.0)


DOTS: Final = (4 * SIDE * SIDE - 1) // 3  # of all versions of a pattern
STARTS: Final = np.array([(SIDE * SIDE - (SIDE >> level) ** 2) * 4 // 3 for level in range(LEVELS)])


@kernel
def version(width: Any) -> int:
    """The version of a pattern for a pixel of a width in dots of the finest."""
    # the exponent of a single-precision number is the logarithm that is needed
    exponent: Any = np.float32(width).view(np.int32)
    return min(max(int(exponent >> 23) - 126, 0), LEVELS - 1)


@kernel
def _look_up(patterns: Any, start: int, side: int, u: Any, v: Any) -> Any:
    """A version of a pattern at a place in tiles."""
    x, y = u * np.float32(side) - HALF, v * np.float32(side) - HALF
    fx, fy = np.floor(x), np.floor(y)
    # 32 bits at each step, whatever numba makes of it, as its loops become vector code
    last = np.int32(side - 1)
    i, j = np.int32(np.int32(fx) & last), np.int32(np.int32(fy) & last)
    # and unsigned, or numba would ask of each place whether it counts from the end
    dots = patterns[np.uint64(start) + np.uint64(np.int32(np.int32(j * np.int32(side)) + i))]
    fx, fy = x - fx, y - fy
    a, b = np.float32(np.int32(dots & 255)), np.float32(np.int32((dots >> 8) & 255))
    c, d = np.float32(np.int32((dots >> 16) & 255)), np.float32(np.int32((dots >> 24) & 255))
    low, high = a + (b - a) * fx, c + (d - c) * fx
    return (low + (high - low) * fy) * UNIT


@kernel
def texture(patterns: Any, first: int, tiles: Any, broad: Any, level: int, coarse: int, x: Any, y: Any) -> Any:
    """The factor of a colour at a place of a surface, m; see `texture_numbers`. `coarse` is the second's version."""
    u, v = x * tiles, y * tiles
    value = _look_up(patterns, first + STARTS[level], SIDE >> level, u, v)
    if not broad > np.float32(0.0):
        return value
    second = _look_up(patterns, DOTS * GRAIN + STARTS[coarse], SIDE >> coarse, v * BROAD, u * BROAD)
    return value * (ONE + broad * (second - ONE))


@kernel
def caustics(patterns: Any, x: Any, y: Any, time: Any, footprint: Any) -> Any:
    """The factor of sunlight under waves where the sun's ray crosses the surface, m: two webs that drift apart, s."""
    u, v, drift = x * CAUSTICS_PER_METRE, y * CAUSTICS_PER_METRE, time * np.float32(0.02)
    level = version(footprint * CAUSTICS_PER_METRE * np.float32(SIDE))
    start, side = DOTS * CAUSTICS + STARTS[level], SIDE >> level
    one = _look_up(patterns, start, side, u + drift, v + np.float32(0.4) * drift)
    other = _look_up(patterns, start, side, np.float32(1.3) * v - drift, np.float32(1.3) * u + drift)
    return one + other


def texture_numbers(name: str, size: float) -> tuple[float, float, float]:
    """Of a texture: the first dot of its pattern, tiles in a metre, and how much the second look-up counts."""
    kind = TEXTURES[name]
    return float(DOTS * kind), 1.0 / (CELLS * size), float(PLAIN < kind < PLANKS)


# ------------------------------------------------------------------------------------------------ drawing


def _noise(random: np.random.Generator, cells: int, rows: int = 0) -> Floats:
    """Smooth noise from −1 to 1 over a tile that repeats, with so many cells along it and across."""
    values = random.uniform(-1.0, 1.0, (rows or cells, cells))
    for axis in (0, 1):
        count = values.shape[axis]
        place = np.arange(SIDE) * count / SIDE
        cell = np.floor(place).astype(int)
        share = place - cell
        share = share * share * (3.0 - 2.0 * share)
        share = share[:, None] if axis == 0 else share
        values = np.take(values, cell, axis) * (1.0 - share) + np.take(values, (cell + 1) % count, axis) * share
    return values


def _octaves(random: np.random.Generator, cells: int, count: int, fall: float = 0.6) -> Floats:
    total = np.zeros((SIDE, SIDE))
    for k in range(count):
        total += fall**k * _noise(random, min(cells << k, SIDE))
    return total


def _wave(turns: Floats) -> Floats:
    """Round troughs and sharper crests, from −1 to 1."""
    return 1.0 - 2.0 * np.sqrt(np.abs(np.sin(np.pi * turns)))


def _draw(kind: int) -> Floats:
    """A tile, (SIDE, SIDE), its mean near 1."""
    random = np.random.default_rng(kind)
    place = np.arange(SIDE) * CELLS / SIDE
    x, y = np.meshgrid(place, place)
    if kind == GRAIN:
        return 1.0 + 0.26 * _octaves(random, CELLS, 5)
    if kind == RIPPLES:
        bend = 0.9 * _noise(random, 4) + 0.35 * _noise(random, 11)
        crests = _wave(x + 4 / 16 * y + bend)
        return 1.0 + 0.17 * crests + 0.05 * _octaves(random, 64, 3) + 0.05 * _noise(random, 5)
    if kind == ROCK:
        rough = _octaves(random, CELLS, 5, 0.65)
        cracks = np.maximum(0.0, 0.12 - np.abs(_octaves(random, CELLS // 2, 4))) / 0.12
        return 1.0 + 0.28 * rough - 0.35 * cracks
    if kind == PLANKS:
        tint = random.uniform(0.75, 1.15, CELLS)[np.floor(y).astype(int)]
        grain = 0.12 * _noise(random, 8, 256) + 0.08 * _noise(random, 4, 128)
        return (tint + grain) * np.where(np.abs(2.0 * (y % 1.0) - 1.0) > 0.93, 0.45, 1.0)
    if kind == TILES:
        tint = random.uniform(0.92, 1.04, (CELLS, CELLS))[np.floor(y).astype(int), np.floor(x).astype(int)]
        edge = np.maximum(np.abs(2.0 * (x % 1.0) - 1.0), np.abs(2.0 * (y % 1.0) - 1.0)) > 0.93
        return np.where(edge, 1.3, tint)
    if kind == CAUSTICS:
        web = 1.0 - np.abs(_octaves(random, CELLS, 2, 0.5)) / 0.75
        bright = np.maximum(web, 0.0) ** 5 + 0.15
        return 0.5 * bright / bright.mean()
    return np.ones((SIDE, SIDE))


@cache
def draw_patterns() -> NDArray[np.int32]:
    """All patterns in all versions, one after the other."""
    drawn = []
    for kind in (*TEXTURES.values(), CAUSTICS):
        tile = _draw(kind)
        drawn.append(_with_neighbours(tile))
        while len(tile) > 1:
            tile = 0.25 * (tile[::2, ::2] + tile[1::2, ::2] + tile[::2, 1::2] + tile[1::2, 1::2])
            drawn.append(_with_neighbours(tile))
    return np.concatenate(drawn)


def _with_neighbours(tile: Floats) -> NDArray[np.int32]:
    """A tile's dots, each with those to its right and below, as the tile repeats."""
    dots = np.clip(np.round(128.0 * tile), 0, 255).astype(np.uint32)
    right, below = np.roll(dots, -1, axis=1), np.roll(dots, -1, axis=0)
    both = dots | right << 8 | below << 16 | np.roll(right, -1, axis=0) << 24
    return both.ravel().view(np.int32)
