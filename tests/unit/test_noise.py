"""Counter-based noise: published values, distributions, and dependence on seed, name and tick only."""

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special

from skerry.core import noise as module
from skerry.core.errors import SkerryError
from skerry.core.kernels import kernel
from skerry.core.noise import Noise, fill_normal, fill_uniform, philox_words, quantile

FULL = (1 << 64) - 1
words = st.integers(0, FULL)

# Random123, tests/kat_vectors, philox4x64 10: counter, key, answer.
KNOWN = [
    (
        (0, 0, 0, 0),
        (0, 0),
        (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B),
    ),
    (
        (FULL, FULL, FULL, FULL),
        (FULL, FULL),
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0),
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
        (0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6),
    ),
]


def signed(word: int) -> int:
    """Return a 64-bit word as the signed integer that kernels expect."""
    return word - (1 << 64) if word >> 63 else word


def quantiles(u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([quantile(value) for value in u.tolist()])


def kolmogorov_smirnov(probabilities: NDArray[np.float64]) -> float:
    """Return the p-value of samples, given the distribution's probability below each of them."""
    size = len(probabilities)
    steps = np.arange(size + 1) / size
    ranked = np.sort(probabilities)
    farthest = max((steps[1:] - ranked).max(), (ranked - steps[:-1]).max())
    return float(special.kolmogorov(math.sqrt(size) * farthest))


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_philox_gives_the_published_answers(
    counter: tuple[int, int, int, int], key: tuple[int, int], answer: tuple[int, ...]
) -> None:
    assert philox_words(*map(signed, key), *map(signed, counter)) == answer


@given(words, words, words, words, st.integers(1, FULL - 20), words)
def test_philox_agrees_with_numpys_own(k0: int, k1: int, c1: int, c2: int, c0: int, c3: int) -> None:
    # numpy raises its counter before it makes the first block.
    state = {"counter": np.array([c0 - 1, c1, c2, c3], np.uint64), "key": np.array([k0, k1], np.uint64)}
    theirs = np.random.Philox(**state).random_raw(40).reshape(10, 4)
    rest = [signed(word) for word in (c1, c2, c3)]
    ours = [philox_words(signed(k0), signed(k1), signed(c0 + block), *rest) for block in range(10)]
    assert ours == [tuple(row) for row in theirs.tolist()]


def test_the_quantile_is_right_to_the_last_digits_far_into_the_tails() -> None:
    tails = 2.0 ** -np.arange(1.5, 53.5, 0.25)
    u = np.concatenate([tails, np.linspace(0.001, 0.999, 5001), 1.0 - tails[tails > 1e-12]])
    np.testing.assert_allclose(quantiles(u), special.ndtri(u), rtol=5e-15, atol=1e-15)


# The plain arithmetic of the quantile, one rounding after another, which a kernel must not fuse or reorder.
COEFFICIENTS = [
    [[float(value) for value in row] for row in table] for table in (module._CENTRE, module._TAIL, module._FAR_TAIL)
]


def plain_quantile(u: float) -> float:
    def polynomial(coefficients: list[float], x: float) -> float:
        result = coefficients[0]
        for coefficient in coefficients[1:]:
            result = result * x
            result = result + coefficient
        return result

    q = u - 0.5
    r = 0.180625 - q * q
    table = COEFFICIENTS[0]
    if abs(q) > 0.425:
        mantissa, exponent = math.frexp(min(u, 1.0 - u))
        s = (mantissa - 1.0) / (mantissa + 1.0)
        log = exponent * math.log(2.0) + s * polynomial([2.0 / n for n in range(33, 0, -2)], s * s)
        root = math.sqrt(-log)
        r, table = (root - 1.6, COEFFICIENTS[1]) if root <= 5.0 else (root - 5.0, COEFFICIENTS[2])
    ratio = polynomial(table[0], r) / polynomial(table[1], r)
    return q * ratio if abs(q) <= 0.425 else math.copysign(ratio, q)


@settings(max_examples=50)
@given(st.lists(st.floats(2.0**-53, 1.0 - 2.0**-53), min_size=1, max_size=50))
def test_the_quantile_is_rounded_as_it_is_written(u: list[float]) -> None:
    assert [quantile(value) for value in u] == [plain_quantile(value) for value in u]


@kernel
def normals_of_a_fast_kernel(key0: int, key1: int, out: Any) -> None:
    fill_normal(key0, key1, 17, 2, 0, out)


def test_kernels_draw_the_same_bits_as_python_whole_or_in_parts() -> None:
    noise = Noise(5, "sam/sonar")
    for fill, expected in ((fill_uniform, noise.uniform(17, 1003, 2)), (fill_normal, noise.normal(17, 1003, 2))):
        for kind in (np.float64, np.float32):
            out = np.empty(1003, kind)
            fill(*noise.key, 17, 2, 0, out[:400])
            fill(*noise.key, 17, 2, 100, out[400:])
            assert np.array_equal(out, expected.astype(kind))
    normals_of_a_fast_kernel(*noise.key, out := np.empty(1003))
    assert np.array_equal(out, noise.normal(17, 1003, 2))


def test_rows_of_values_are_those_of_their_ticks() -> None:
    noise, ticks = Noise(5, "sam/imu"), np.array([0, 7, 8, 10**12])
    for rows, draw in ((noise.normals, noise.normal), (noise.uniforms, noise.uniform)):
        for count in (1, 7, 8, 19):
            assert rows(ticks, count, 3).tolist() == [draw(tick, count, 3).tolist() for tick in ticks.tolist()]


def test_few_values_and_many_are_the_same_bits() -> None:
    noise = Noise(5, "sam/imu")
    for draw in (noise.normal, noise.uniform):
        many = draw(17, 5000, channel=2)
        assert draw(17, channel=2) == many[0]
        assert np.array_equal(draw(17, 3, channel=2), many[:3])
        assert np.array_equal(draw(17, (5, 25), channel=2), many[:125].reshape(5, 25))
        assert np.array_equal(draw(17, (2, 100), channel=2), many[:200].reshape(2, 100))


def test_the_bytes_stay_the_same_from_release_to_release_and_machine_to_machine() -> None:
    noise = Noise(1, "sam/imu")
    assert [value.hex() for value in noise.uniform(3, 3)] == [
        "0x1.c50a0e471d2d6p-2",
        "0x1.128ee98d57ae3p-1",
        "0x1.99a7af08555d5p-1",
    ]
    assert [value.hex() for value in noise.normal(3, 3)] == [
        "-0x1.90ab7a15f62ddp-2",
        "-0x1.bde35a909b413p-3",
        "-0x1.69bb9fdbfff0ep+0",
    ]
    assert noise.walk(1000, 1.0).hex() == "0x1.21bde48547fd0p+3"


def test_uniform_values_are_uniform_and_never_0_or_1() -> None:
    values = Noise(2, "dvl").uniform(0, 100_000)
    assert 0.0 < values.min() < 1e-4
    assert 1.0 - 1e-4 < values.max() < 1.0
    assert kolmogorov_smirnov(values) > 0.001


def test_normal_values_are_normal() -> None:
    values = Noise(2, "dvl").normal(0, 100_000)
    assert kolmogorov_smirnov(special.ndtr(values)) > 0.001
    assert abs(values.mean()) < 4 / math.sqrt(100_000)
    assert abs(values.var() - 1.0) < 4 * math.sqrt(2 / 100_000)
    assert abs((values**4).mean() - 3.0) < 4 * math.sqrt(96 / 100_000)


def test_values_from_tick_to_tick_are_normal_and_independent() -> None:
    noise = Noise(3, "pressure")
    values = np.array([noise.normal(tick) for tick in range(20_000)])
    assert kolmogorov_smirnov(special.ndtr(values)) > 0.001
    for lag in (1, 2, 20):
        assert abs(np.corrcoef(values[lag:], values[:-lag])[0, 1]) < 4 / math.sqrt(20_000)


def test_seeds_names_ticks_channels_and_purposes_have_streams_of_their_own() -> None:
    base = Noise(1, "imu")
    streams = [
        base.normal(0, 10_000),
        base.normal(1, 10_000),
        base.normal(0, 10_000, channel=1),
        Noise(2, "imu").normal(0, 10_000),
        Noise(1, "imu2").normal(0, 10_000),
        base.child("gyroscope").normal(0, 10_000),
        quantiles(base.uniform(0, 10_000)),
    ]
    correlations = np.corrcoef(streams) - np.eye(len(streams))
    assert np.abs(correlations).max() < 5 / math.sqrt(10_000)


def test_a_seed_and_a_name_do_not_run_into_each_other() -> None:
    assert Noise(1, "2imu").normal(0) != Noise(12, "imu").normal(0)


def test_a_value_does_not_depend_on_what_was_read_before() -> None:
    ticks = list(range(0, 3000, 7))
    in_order = {tick: Noise(4, "gps").normal(tick, 3).tobytes() for tick in ticks}
    random.Random(0).shuffle(ticks)
    noise = Noise(4, "gps")
    assert {tick: noise.normal(tick, 3).tobytes() for tick in ticks} == in_order


def test_a_part_of_a_component_has_its_name_below_the_components() -> None:
    child = Noise(7, "sam").child("imu")
    assert child.name == "sam/imu"
    assert child.normal(9) == Noise(7, "sam/imu").normal(9)


def test_there_is_no_noise_before_the_start() -> None:
    noise = Noise(0, "x")
    with pytest.raises(SkerryError, match="found tick -1"):
        noise.normal(-1)
    with pytest.raises(SkerryError, match="found tick -1"):
        noise.walk(-1, 1.0)
    with pytest.raises(SkerryError, match="channel -1"):
        noise.uniform(0, channel=-1)
    with pytest.raises(SkerryError, match="found tick 4611686018427387904"):
        noise.walk(2**62, 1.0)


def test_a_tick_may_be_numpys_integer() -> None:
    int64: Any = np.int64(2**40)
    assert Noise(0, "x").normal(int64) == Noise(0, "x").normal(2**40)


# ------------------------------------------------------------------------------------------------ walks


def test_a_walk_starts_at_0_and_scales_with_sigma() -> None:
    noise = Noise(1, "imu")
    assert noise.walk(0, 2.0) == 0.0
    assert noise.walk(777, 3.0) == 3.0 * noise.walk(777, 1.0)


def test_a_walk_is_the_same_bytes_in_any_order() -> None:
    ticks = [*range(600), 10**6, 10**6 + 1, 10**9, 2**40, 2**40 - 1]
    noise = Noise(1, "imu")
    in_order = {tick: noise.walk(tick, 0.1, channel=2).hex() for tick in ticks}
    for seed in range(3):
        random.Random(seed).shuffle(ticks)
        assert {tick: noise.walk(tick, 0.1, channel=2).hex() for tick in ticks} == in_order


def test_the_steps_of_a_walk_are_normal_and_independent() -> None:
    noise = Noise(6, "imu")
    walk = np.array([noise.walk(tick, 0.5) for tick in range(20_001)])
    increments = np.diff(walk) / 0.5
    assert kolmogorov_smirnov(special.ndtr(increments)) > 0.001
    assert abs(increments.var() - 1.0) < 4 * math.sqrt(2 / 20_000)
    for lag in (1, 2, 3, 4, 8, 16):
        assert abs(np.corrcoef(increments[lag:], increments[:-lag])[0, 1]) < 4 / math.sqrt(20_000)


def test_two_ticks_of_a_walk_share_the_variance_of_the_earlier_one() -> None:
    """A random walk of unit steps has E[W(m) W(n)] = min(m, n)."""
    ticks = [1, 2, 3, 5, 7, 8, 11, 16, 21, 1000]
    noise = Noise(8, "imu")
    size = 2000
    walks = np.array([[noise.walk(tick, 1.0, channel) for channel in range(size)] for tick in ticks])
    expected = np.minimum.outer(ticks, ticks)
    spread = np.sqrt((expected**2 + np.outer(ticks, ticks)) / size)
    assert np.abs((walks @ walks.T / size - expected) / spread).max() < 4.5
