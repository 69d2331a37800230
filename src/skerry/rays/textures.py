"""Textures of materials: patterns that are drawn once, in versions of decreasing resolution (mipmaps).

A pattern is a tile with sides of `CELLS` times the material's texture size. Its texels are factors of the material's
colour, in units of 1/128. A texel holds four bytes: its own factor and those of its neighbours to the right, below,
and below right, because a look-up interpolates between the four. The look-up uses the version whose texels are as wide
as the pixel, so that distant ground does not flicker. A second look-up at another scale hides the repetition of the
tile.
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
SIDE: Final = 512  # texels along a tile
CELLS: Final = 16  # cells of the pattern along a tile
LEVELS: Final = 10  # versions: 512, 256, … 1 texels along a tile
CAUSTICS_PER_METRE: Final = np.float32(1.0 / 10.0)  # tiles per metre; a mesh of the caustics is 0.6 m wide
BROAD: Final = np.float32(0.0731)  # scale of the second look-up; not a simple fraction, so that it does not repeat

ONE: Final = np.float32(1.0)
HALF: Final = np.float32(0.5)
UNIT: Final = np.float32(1.0 / 128.0)


TEXELS: Final = (4 * SIDE * SIDE - 1) // 3  # texels of all versions of a pattern
STARTS: Final = np.array(  # first texel of each version
    [(SIDE * SIDE - (SIDE >> level) ** 2) * 4 // 3 for level in range(LEVELS)]
)


@kernel
def version(width: Any) -> int:
    """Return the version of a pattern for a pixel width, given in texels of the finest version."""
    # the exponent of a single-precision number is its binary logarithm
    exponent: Any = np.float32(width).view(np.int32)
    return min(max(int(exponent >> 23) - 126, 0), LEVELS - 1)


@kernel
def _look_up(patterns: Any, start: int, side: int, u: Any, v: Any) -> Any:
    """Return the interpolated factor of a version of a pattern at (u, v), in tiles."""
    x, y = u * np.float32(side) - HALF, v * np.float32(side) - HALF
    fx, fy = np.floor(x), np.floor(y)
    # 32-bit integers at each step, so that the loops are vectorised
    last = np.int32(side - 1)
    i, j = np.int32(np.int32(fx) & last), np.int32(np.int32(fy) & last)
    # unsigned index, so that numba does not test for negative indices
    texels = patterns[np.uint64(start) + np.uint64(np.int32(np.int32(j * np.int32(side)) + i))]
    fx, fy = x - fx, y - fy
    a, b = np.float32(np.int32(texels & 255)), np.float32(np.int32((texels >> 8) & 255))
    c, d = np.float32(np.int32((texels >> 16) & 255)), np.float32(np.int32((texels >> 24) & 255))
    low, high = a + (b - a) * fx, c + (d - c) * fx
    return (low + (high - low) * fy) * UNIT


@kernel
def texture(patterns: Any, first: int, tiles: Any, broad: Any, level: int, coarse: int, x: Any, y: Any) -> Any:
    """Return the factor of a colour at (x, y) on a surface, m.

    `first`, `tiles` and `broad` are from `texture_parameters`; `level` and `coarse` are the versions of the two
    look-ups.
    """
    u, v = x * tiles, y * tiles
    value = _look_up(patterns, first + STARTS[level], SIDE >> level, u, v)
    if not broad > np.float32(0.0):
        return value
    second = _look_up(patterns, TEXELS * GRAIN + STARTS[coarse], SIDE >> coarse, v * BROAD, u * BROAD)
    return value * (ONE + broad * (second - ONE))


@kernel
def caustics(patterns: Any, x: Any, y: Any, time: Any, footprint: Any) -> Any:
    """Return the factor of sunlight under waves: the sum of two patterns that drift apart with time.

    Args:
        patterns: All patterns.
        x: Position at which the sun's ray crosses the surface, m, with `y`.
        y: See `x`.
        time: Time, s.
        footprint: Width of the pixel, m.
    """
    u, v, drift = x * CAUSTICS_PER_METRE, y * CAUSTICS_PER_METRE, time * np.float32(0.02)
    level = version(footprint * CAUSTICS_PER_METRE * np.float32(SIDE))
    start, side = TEXELS * CAUSTICS + STARTS[level], SIDE >> level
    one = _look_up(patterns, start, side, u + drift, v + np.float32(0.4) * drift)
    other = _look_up(patterns, start, side, np.float32(1.3) * v - drift, np.float32(1.3) * u + drift)
    return one + other


def texture_parameters(name: str, size: float) -> tuple[float, float, float]:
    """Return the first texel of a texture's pattern, its tiles per metre, and the weight of the second look-up."""
    kind = TEXTURES[name]
    return float(TEXELS * kind), 1.0 / (CELLS * size), float(PLAIN < kind < PLANKS)


# ------------------------------------------------------------------------------------------------ drawing


def _noise(random: np.random.Generator, cells: int, rows: int = 0) -> Floats:
    """Return smooth noise from −1 to 1 over a repeating tile, with `cells` along it and `rows` (or `cells`) across."""
    values = random.uniform(-1.0, 1.0, (rows or cells, cells))
    for axis in (0, 1):
        count = values.shape[axis]
        position = np.arange(SIDE) * count / SIDE
        cell = np.floor(position).astype(int)
        share = position - cell
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
    """Return a wave with round troughs and sharper crests, from −1 to 1."""
    return 1.0 - 2.0 * np.sqrt(np.abs(np.sin(np.pi * turns)))


def _draw(kind: int) -> Floats:
    """Draw the tile of a pattern, (SIDE, SIDE), with a mean near 1."""
    random = np.random.default_rng(kind)
    position = np.arange(SIDE) * CELLS / SIDE
    x, y = np.meshgrid(position, position)
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
    """Return all patterns in all versions as one array of texels."""
    drawn = []
    for kind in (*TEXTURES.values(), CAUSTICS):
        tile = _draw(kind)
        drawn.append(_with_neighbours(tile))
        while len(tile) > 1:
            tile = 0.25 * (tile[::2, ::2] + tile[1::2, ::2] + tile[::2, 1::2] + tile[1::2, 1::2])
            drawn.append(_with_neighbours(tile))
    return np.concatenate(drawn)


def _with_neighbours(tile: Floats) -> NDArray[np.int32]:
    """Return the texels of a tile, each packed with its neighbours; the tile repeats at its edges."""
    texels = np.clip(np.round(128.0 * tile), 0, 255).astype(np.uint32)
    right, below = np.roll(texels, -1, axis=1), np.roll(texels, -1, axis=0)
    both = texels | right << 8 | below << 16 | np.roll(right, -1, axis=0) << 24
    return both.ravel().view(np.int32)
