"""Noise as a function of seed, component name and tick: the same bytes for any order of calls and on any machine.

The random bits come from Philox4x64-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
SC11). The key is a BLAKE2b hash of seed and name; the counter is (block of four values, tick, channel,
purpose). A uniform value is (k + 1/2) / 2^52 with k the upper 52 bits of a word; a normal value is the normal
quantile of one. The quantile uses only + − × ÷ and square roots, which IEEE 754 rounds in the same way on all
machines; the logarithms and cosines of other methods differ between processors and libraries. All computations run
in strict kernels, which do not reorder or fuse operations.

A kernel that generates its own noise calls `fill_uniform` or `fill_normal` with `*noise.key`, the tick, the channel,
the first block and an array of float64 or float32. From block 0 it gets the same values as `Noise.uniform` and
`Noise.normal`; from block b it gets those from index 4 b on, so several threads can each fill a part of one stream.
For single values use `philox_words`, `uniform_of` and `quantile`.
"""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any, Final, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError
from skerry.core.kernels import strict_kernel, wide_product

Key: TypeAlias = tuple[int, int]
Shape: TypeAlias = int | tuple[int, ...]

# ------------------------------------------------------------------------------------------------ bits

# Multipliers, key increments and rounds: Salmon et al. (2011), table 2; philox.h of their Random123 library.
_MULTIPLIER_0: Final = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1: Final = np.uint64(0xCA5A826395121157)
_KEY_STEP_0: Final = np.uint64(0x9E3779B97F4A7C15)
_KEY_STEP_1: Final = np.uint64(0xBB67AE8584CAA73B)
_ROUNDS: Final = 10
_LOWER_BITS: Final = np.uint64(12)
"""Number of low bits of a random word that a uniform value does not use."""

# Purpose of a draw. It is the last word of the counter, so that different purposes never use the same random bits.
_UNIFORM: Final = 0
_NORMAL: Final = 1
_WALK: Final = 2


@strict_kernel
def _round(k0: int, k1: int, x: Any) -> Any:
    upper0, lower0 = wide_product(x[0], _MULTIPLIER_0)
    upper2, lower2 = wide_product(x[2], _MULTIPLIER_1)
    return upper2 ^ x[1] ^ k0, lower2, upper0 ^ x[3] ^ k1, lower0


@strict_kernel
def philox_words(key0: int, key1: int, block: int, tick: int, channel: int, purpose: int) -> Any:
    """Return the four random uint64 of one block; key and counter are int64 of either sign."""
    k0, k1 = np.uint64(key0), np.uint64(key1)
    x = (np.uint64(block), np.uint64(tick), np.uint64(channel), np.uint64(purpose))
    for _ in range(_ROUNDS):
        x = _round(k0, k1, x)
        k0, k1 = k0 + _KEY_STEP_0, k1 + _KEY_STEP_1
    return x


@strict_kernel
def _two_blocks(key0: int, key1: int, block: int, tick: int, channel: int, purpose: int) -> Any:
    """Return the random words of a block and of the next one.

    The two computations are interleaved, so that one continues while the other waits for a product.
    """
    k0, k1 = np.uint64(key0), np.uint64(key1)
    x = (np.uint64(block), np.uint64(tick), np.uint64(channel), np.uint64(purpose))
    y = (np.uint64(block + 1), np.uint64(tick), np.uint64(channel), np.uint64(purpose))
    for _ in range(_ROUNDS):
        x, y = _round(k0, k1, x), _round(k0, k1, y)
        k0, k1 = k0 + _KEY_STEP_0, k1 + _KEY_STEP_1
    return x + y


@strict_kernel
def uniform_of(word: int) -> float:
    """Convert a random word to a uniform value between 0 and 1, both excluded."""
    return (float(np.int64(word >> _LOWER_BITS)) + 0.5) * 2.0**-52


# ------------------------------------------------------------------------------------------------ quantile

# Wichura: "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988),
# routine PPND16, relative accuracy about 1e-16. Coefficients of numerator and denominator, highest power first.
# fmt: off
_CENTRE: Final = np.array((
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
))
_TAIL: Final = np.array((
    (7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.4178072517745061177e-1, 1.27045825245236838258,
     3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.4810397642748007459e-1,
     6.8976733498510000455e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0),
))
_FAR_TAIL: Final = np.array((
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.2426609473880784386e-3, 2.6532189526576123093e-2,
     2.9656057182850489123e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     1.48753612908506148525e-2, 1.3692988092273580531e-1, 5.9983220655588793769e-1, 1.0),
))
# fmt: on
_LN_2: Final = 0.6931471805599453
_ATANH: Final = np.array([2.0 / n for n in range(33, 0, -2)])
"""Coefficients of ln m = 2 atanh s = 2 (s + s³/3 + …), s = (m − 1)/(m + 1); for m ≥ 1/2 the error is below 1e-17."""


@strict_kernel
def _polynomial(coefficients: Any, x: float) -> float:
    result = coefficients[0]
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


@strict_kernel
def _ratio(pair: Any, x: float) -> float:
    return _polynomial(pair[0], x) / _polynomial(pair[1], x)


@strict_kernel
def quantile(u: float) -> float:
    """Return the quantile of the standard normal distribution at probability u."""
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(_CENTRE, 0.180625 - q * q)
    mantissa, exponent = math.frexp(min(u, 1.0 - u))
    s = (mantissa - 1.0) / (mantissa + 1.0)
    r = math.sqrt(-(exponent * _LN_2 + s * _polynomial(_ATANH, s * s)))
    return math.copysign(_ratio(_TAIL, r - 1.6) if r <= 5.0 else _ratio(_FAR_TAIL, r - 5.0), q)


# ------------------------------------------------------------------------------------------------ streams


@strict_kernel
def fill_uniform(key0: int, key1: int, tick: int, channel: int, block: int, out: Any) -> None:
    """Fill `out` with the uniform values of a stream, starting at a block of four values."""
    whole = out.size - out.size % 8
    for i in range(0, whole, 8):
        a, b, c, d, e, f, g, h = _two_blocks(key0, key1, block + i // 4, tick, channel, _UNIFORM)
        out[i], out[i + 1], out[i + 2], out[i + 3] = uniform_of(a), uniform_of(b), uniform_of(c), uniform_of(d)
        out[i + 4], out[i + 5], out[i + 6], out[i + 7] = uniform_of(e), uniform_of(f), uniform_of(g), uniform_of(h)
    for i in range(whole, out.size, 4):
        words = philox_words(key0, key1, block + i // 4, tick, channel, _UNIFORM)
        for k in range(min(4, out.size - i)):
            out[i + k] = uniform_of(words[k])


@strict_kernel
def fill_normal(key0: int, key1: int, tick: int, channel: int, block: int, out: Any) -> None:
    """Fill `out` with the normal values of a stream, starting at a block of four values."""
    for i in range(0, out.size, 4):
        words = philox_words(key0, key1, block + i // 4, tick, channel, _NORMAL)
        for k in range(min(4, out.size - i)):
            out[i + k] = quantile(uniform_of(words[k]))


@strict_kernel
def _fill_rows(key0: int, key1: int, ticks: Any, channel: int, purpose: int, out: Any) -> None:
    """Fill each row of `out` with the first values of a stream at one of the ticks."""
    for i in range(ticks.size):
        if purpose == _NORMAL:
            fill_normal(key0, key1, ticks[i], channel, 0, out[i])
        else:
            fill_uniform(key0, key1, ticks[i], channel, 0, out[i])


@strict_kernel
def _first_value(key0: int, key1: int, tick: int, channel: int, purpose: int) -> float:
    """Return the first value of a stream."""
    u = uniform_of(philox_words(key0, key1, 0, tick, channel, purpose)[0])
    return quantile(u) if purpose == _NORMAL else u


@strict_kernel
def _walk_step(key0: int, key1: int, tick: int, channel: int) -> float:
    return quantile(uniform_of(philox_words(key0, key1, 0, tick, channel // 4, _WALK)[channel % 4]))


@strict_kernel
def _walk(key0: int, key1: int, tick: int, channel: int) -> float:
    """Return a random walk with unit steps at a tick, from about 2 log2(tick) normal values.

    One long step leads from a power of two to the next. Values between two powers come from bisection: each is the
    middle of a Brownian bridge, whose variance is a quarter of the length of the interval.
    """
    if tick == 0:
        return 0.0
    start, before = 0, 0.0
    end, after = 1, _walk_step(key0, key1, 1, channel)
    while end < tick:
        start, before = end, after
        end = 2 * start
        after = before + math.sqrt(start) * _walk_step(key0, key1, end, channel)
    while tick < end:
        half = (end - start) // 2
        middle = start + half
        value = (before + after) / 2.0 + math.sqrt(half / 2.0) * _walk_step(key0, key1, middle, channel)
        if tick <= middle:
            end, after = middle, value
        else:
            start, before = middle, value
    return after


class Noise:
    """Noise of one component. A value depends only on seed, name, tick, channel and its index in the array.

    Channels are independent streams of one component. A longer array begins with the values of a shorter one.
    """

    __slots__ = ("key", "name", "seed")

    def __init__(self, seed: int, name: str) -> None:
        self.name = name
        self.reseed(seed)

    def reseed(self, seed: int) -> None:
        """Change the seed; all holders of this object get the noise of the new seed."""
        digest = blake2b(f"{seed}\n{self.name}".encode(), digest_size=16).digest()
        self.seed = seed
        # Signed, because numba would compile the kernels again for numbers that do not fit into int64.
        self.key: Key = (
            int.from_bytes(digest[:8], "little", signed=True),
            int.from_bytes(digest[8:], "little", signed=True),
        )

    def child(self, name: str) -> Noise:
        """Return the independent noise of a part of this component."""
        return Noise(self.seed, f"{self.name}/{name}")

    @overload
    def uniform(self, tick: int, shape: tuple[()] = (), channel: int = 0) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def uniform(self, tick: int, shape: Shape, channel: int = 0) -> NDArray[np.float64]: ...
    def uniform(self, tick: int, shape: Shape = (), channel: int = 0) -> float | NDArray[np.float64]:
        """Return uniformly distributed values between 0 and 1, both excluded."""
        tick, channel = _check_counter(tick, channel)
        if shape == ():
            return _first_value(*self.key, tick, channel, _UNIFORM)
        values = np.empty(shape)
        fill_uniform(*self.key, tick, channel, 0, values if values.ndim == 1 else values.reshape(-1))
        return values

    @overload
    def normal(self, tick: int, shape: tuple[()] = (), channel: int = 0) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def normal(self, tick: int, shape: Shape, channel: int = 0) -> NDArray[np.float64]: ...
    def normal(self, tick: int, shape: Shape = (), channel: int = 0) -> float | NDArray[np.float64]:
        """Return normally distributed values of mean 0 and standard deviation 1."""
        tick, channel = _check_counter(tick, channel)
        if shape == ():
            return _first_value(*self.key, tick, channel, _NORMAL)
        values = np.empty(shape)
        fill_normal(*self.key, tick, channel, 0, values if values.ndim == 1 else values.reshape(-1))
        return values

    def normals(self, ticks: NDArray[np.int64], count: int, channel: int = 0) -> NDArray[np.float64]:
        """Return the values of `normal` at each of several ascending ticks, shape (ticks, count)."""
        return self._rows(ticks, count, channel, _NORMAL)

    def uniforms(self, ticks: NDArray[np.int64], count: int, channel: int = 0) -> NDArray[np.float64]:
        """Return the values of `uniform` at each of several ascending ticks, shape (ticks, count)."""
        return self._rows(ticks, count, channel, _UNIFORM)

    def _rows(self, ticks: NDArray[np.int64], count: int, channel: int, purpose: int) -> NDArray[np.float64]:
        values = np.empty((len(ticks), count))
        if len(ticks):
            _check_counter(ticks.item(0), channel)
            _check_counter(ticks.item(-1), channel)
        _fill_rows(*self.key, ticks, int(channel), purpose, values)
        return values

    def walk(self, tick: int, sigma: float, channel: int = 0) -> float:
        """Return a random walk at a tick: 0 at tick 0, and a normal step of standard deviation `sigma` per tick."""
        tick, channel = _check_counter(tick, channel)
        return sigma * _walk(*self.key, tick, channel)


MAX_COUNTER: Final = 2**62
"""Upper bound of ticks and channels; twice this value still fits into an int64."""


def _check_counter(tick: int, channel: int) -> tuple[int, int]:
    if not (0 <= tick < MAX_COUNTER and 0 <= channel < MAX_COUNTER):
        raise SkerryError(f"ticks and channels of noise must be from 0 to 2^62 (found tick {tick}, channel {channel})")
    return int(tick), int(channel)
