"""Noise as a function of seed, component name and tick: the same bytes for every reader, order and machine.

The bits come from Philox4x64-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
SC11). The key is a BLAKE2b hash of seed and name; the counter is (block of four values, tick, channel,
purpose). A uniform value is (k + 1/2) / 2^52 with k the upper 52 bits of a word; a normal value is the normal
quantile of one. The quantile uses nothing but + − × ÷ and square roots, which IEEE 754 rounds alike
everywhere; the logarithms and cosines of other methods differ between processors and libraries.

Few values are made with Python's integers, many with numpy; both give the same bits.
"""

from __future__ import annotations

import math
from functools import lru_cache
from hashlib import blake2b
from typing import Final, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError

Key: TypeAlias = tuple[int, int]
Counter: TypeAlias = tuple[int, int, int, int]
Shape: TypeAlias = int | tuple[int, ...]
Number = TypeVar("Number", float, NDArray[np.float64])

# ------------------------------------------------------------------------------------------------ bits

# Multipliers, key increments and rounds: Salmon et al. (2011), table 2; philox.h of their Random123 library.
_MULTIPLIERS: Final = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_KEY_STEPS: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_ROUNDS: Final = 10

_WORD: Final = (1 << 64) - 1
_HALF: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)
_FEW: Final = 128
"""Up to so many values Python's integers are quicker than numpy, which has a high fixed cost."""


def philox(key: Key, counter: Counter) -> tuple[int, int, int, int]:
    """The four 64-bit words of one block."""
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        first, second = x0 * _MULTIPLIERS[0], x2 * _MULTIPLIERS[1]
        x0, x1, x2, x3 = (second >> 64) ^ x1 ^ k0, second & _WORD, (first >> 64) ^ x3 ^ k1, first & _WORD
        k0, k1 = (k0 + _KEY_STEPS[0]) & _WORD, (k1 + _KEY_STEPS[1]) & _WORD
    return x0, x1, x2, x3


def philox_blocks(key: Key, first: Counter, blocks: int) -> NDArray[np.uint64]:
    """The words of consecutive blocks, shape (blocks, 4): the counter's first word grows by one a block."""
    # `even` holds words 0 and 2 of the counter, which are multiplied; `odd` holds words 1 and 3.
    even, odd, top, bottom, high, part = np.empty((6, 2, blocks), np.uint64)
    even[0] = np.arange(first[0], first[0] + blocks, dtype=np.uint64)
    even[1], odd[0], odd[1] = first[2], first[1], first[3]
    multipliers = np.array(_MULTIPLIERS, np.uint64)[:, None]
    upper, lower = multipliers >> _SHIFT, multipliers & _HALF
    for turn in range(_ROUNDS):
        # The upper word of each 128-bit product, from products of 32-bit halves.
        np.right_shift(even, _SHIFT, out=top)
        np.bitwise_and(even, _HALF, out=bottom)
        np.multiply(top, upper, out=high)
        np.multiply(top, lower, out=top)
        np.multiply(bottom, lower, out=part)
        part >>= _SHIFT
        bottom *= upper
        part += bottom
        np.bitwise_and(top, _HALF, out=bottom)
        part += bottom
        part >>= _SHIFT
        high += part
        top >>= _SHIFT
        high += top

        high[::-1] ^= odd
        keys = [(k + turn * step) & _WORD for k, step in zip(key, _KEY_STEPS, strict=True)]
        high[::-1] ^= np.array(keys, np.uint64)[:, None]
        np.multiply(even[::-1], multipliers[::-1], out=odd)
        even[:] = high[::-1]
    return np.stack((even[0], odd[0], even[1], odd[1]), axis=-1)


# ------------------------------------------------------------------------------------------------ quantile

# Wichura: "Algorithm AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988),
# routine PPND16, relative accuracy about 1e-16. Numerator and denominator, highest power first.
# fmt: off
_CENTRE: Final = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)
_TAIL: Final = (
    (7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.4178072517745061177e-1, 1.27045825245236838258,
     3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2, 1.4810397642748007459e-1,
     6.8976733498510000455e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0),
)
_FAR_TAIL: Final = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.2426609473880784386e-3, 2.6532189526576123093e-2,
     2.9656057182850489123e-1, 1.78482653991729133580, 5.46378491116411436990, 6.65790464350110377720),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4,
     1.48753612908506148525e-2, 1.3692988092273580531e-1, 5.9983220655588793769e-1, 1.0),
)
# fmt: on
_LN_2: Final = 0.6931471805599453
_ATANH: Final = tuple(2.0 / n for n in range(33, 0, -2))
"""ln m = 2 atanh s = 2 (s + s³/3 + …) with s = (m − 1)/(m + 1); for m ≥ 1/2 the rest is below 1e-17."""


def _polynomial(coefficients: tuple[float, ...], x: Number) -> Number:
    result = x * 0.0 + coefficients[0]
    for coefficient in coefficients[1:]:
        result *= x
        result += coefficient
    return result


def _ratio(pair: tuple[tuple[float, ...], tuple[float, ...]], x: Number) -> Number:
    return _polynomial(pair[0], x) / _polynomial(pair[1], x)


def _logarithm(mantissa: Number, exponent: Number) -> Number:
    s = (mantissa - 1.0) / (mantissa + 1.0)
    return exponent * _LN_2 + s * _polynomial(_ATANH, s * s)


def quantile(u: float) -> float:
    """The number below which a standard normal value lies with probability u."""
    q = u - 0.5
    if abs(q) <= 0.425:
        return q * _ratio(_CENTRE, 0.180625 - q * q)
    r = math.sqrt(-_logarithm(*math.frexp(min(u, 1.0 - u))))
    return math.copysign(_ratio(_TAIL, r - 1.6) if r <= 5.0 else _ratio(_FAR_TAIL, r - 5.0), q)


def quantiles(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """`quantile` of each element."""
    q = u - 0.5
    z = q * _ratio(_CENTRE, 0.180625 - q * q)
    outer = np.abs(q) > 0.425
    u = u[outer]
    mantissa, exponent = np.frexp(np.minimum(u, 1.0 - u))
    r = np.sqrt(-_logarithm(mantissa, exponent.astype(np.float64)))
    tail = _ratio(_TAIL, r - 1.6)
    far = r > 5.0
    tail[far] = _ratio(_FAR_TAIL, r[far] - 5.0)
    z[outer] = np.copysign(tail, q[outer])
    return z


# ------------------------------------------------------------------------------------------------ streams

# What a draw is for is the last word of the counter, so that no two kinds of draw share bits.
_UNIFORM: Final = 0
_NORMAL: Final = 1
_WALK: Final = 2


class Noise:
    """The noise of one component; a value depends on seed, name, tick, channel and place in the shape alone.

    Channels are independent streams of one component. A longer shape begins with the values of a shorter one.
    """

    __slots__ = ("_key", "name", "seed")

    def __init__(self, seed: int, name: str) -> None:
        digest = blake2b(f"{seed}\n{name}".encode(), digest_size=16).digest()
        self.seed = seed
        self.name = name
        self._key: Key = (int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little"))

    def child(self, name: str) -> Noise:
        """The independent noise of a part of this component."""
        return Noise(self.seed, f"{self.name}/{name}")

    @overload
    def uniform(self, tick: int, shape: tuple[()] = (), channel: int = 0) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def uniform(self, tick: int, shape: Shape, channel: int = 0) -> NDArray[np.float64]: ...
    def uniform(self, tick: int, shape: Shape = (), channel: int = 0) -> float | NDArray[np.float64]:
        """Values spread evenly between 0 and 1, neither of which ever comes."""
        counter, count = _counter(tick, channel, _UNIFORM), _count(shape)
        if shape == ():
            return _few(self._key, counter, 1)[0]
        if count <= _FEW:
            return np.array(_few(self._key, counter, count)).reshape(shape)
        return _many(self._key, counter, count).reshape(shape)

    @overload
    def normal(self, tick: int, shape: tuple[()] = (), channel: int = 0) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def normal(self, tick: int, shape: Shape, channel: int = 0) -> NDArray[np.float64]: ...
    def normal(self, tick: int, shape: Shape = (), channel: int = 0) -> float | NDArray[np.float64]:
        """Values of mean 0 and standard deviation 1."""
        counter, count = _counter(tick, channel, _NORMAL), _count(shape)
        if shape == ():
            return quantile(_few(self._key, counter, 1)[0])
        if count <= _FEW:
            return np.array([quantile(u) for u in _few(self._key, counter, count)]).reshape(shape)
        return quantiles(_many(self._key, counter, count)).reshape(shape)

    def walk(self, tick: int, sigma: float, channel: int = 0) -> float:
        """A random walk: 0 at tick 0, then with each tick a normal step of standard deviation sigma."""
        _, tick, channel, _ = _counter(tick, channel, _WALK)
        return sigma * _walk(self._key, channel // 4, tick)[channel % 4]


def _counter(tick: int, channel: int, purpose: int) -> Counter:
    if tick < 0 or channel < 0:
        raise SkerryError(f"noise has no tick or channel below 0 (found tick {tick}, channel {channel})")
    return 0, int(tick), int(channel), purpose


def _count(shape: Shape) -> int:
    return shape if isinstance(shape, int) else math.prod(shape)


def _few(key: Key, counter: Counter, count: int) -> list[float]:
    words = [word for block in range((count + 3) // 4) for word in philox(key, (block, *counter[1:]))]
    return [((word >> 12) + 0.5) * 2.0**-52 for word in words[:count]]


def _many(key: Key, counter: Counter, count: int) -> NDArray[np.float64]:
    words = philox_blocks(key, counter, (count + 3) // 4).ravel()[:count]
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


@lru_cache(maxsize=8192)
def _walk(key: Key, group: int, tick: int) -> tuple[float, ...]:
    """Four walks of unit steps at a tick, each tick from the ticks around it and one normal value of its own.

    A power of two is reached from the one before by one long step. Between two powers a tick is the middle
    of the interval that its lowest set bit spans to both sides: a Brownian bridge, whose middle has a
    variance of a quarter of its length. So W(tick) takes some 2 log2(tick) normal values, but mostly one or
    two where ticks come in order, as neighbours share intervals. The cache keeps pure values only.
    """
    if tick == 0:
        return 0.0, 0.0, 0.0, 0.0
    normals = [quantile(u) for u in _few(key, (0, tick, group, _WALK), 4)]
    half = tick & -tick
    if half == tick:
        before = _walk(key, group, tick // 2)
        spread = math.sqrt(tick - tick // 2)
        return tuple(b + spread * z for b, z in zip(before, normals, strict=True))
    before, after = _walk(key, group, tick - half), _walk(key, group, tick + half)
    spread = math.sqrt(half / 2)
    return tuple((b + a) / 2 + spread * z for b, a, z in zip(before, after, normals, strict=True))
