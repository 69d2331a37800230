"""Waves and tides by position and time, compared with the same formulas in numpy; spectra, seeds, error messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

from skerry.core.errors import SkerryError
from skerry.water import Water, WaterConfig
from skerry.water.flow import NEED_ALL, NEED_FLOW, NEED_FLOW_RATE, NEED_SLOPE, SURFACES
from skerry.water.spectrum import Components, jonswap, wavenumber
from skerry.water.trigonometry import TURN, cosine, decay, sine, wrap

Array = NDArray[np.float64]
G = 9.81
USUAL = {"kind": "waves", "height": 2.0, "period": 7.0, "heading_deg": 30.0, "seed": 3}


def sea(**settings: Any) -> Water:
    return WaterConfig.model_validate({"surface": USUAL | settings}).with_seed(7).build(G)


def regular(**settings: Any) -> Water:
    return sea(**{"spectrum": "regular", "heading_deg": 90.0} | settings)


def linear_theory(
    waves: Components, points: Array, time: float, depth: float | None, level: float = 0.0, period: float = 7.0
) -> list[Array]:
    """Height, slope, velocity and acceleration with Wheeler's stretching, written out with numpy's own functions."""
    k = np.hypot(*waves.wavenumber.T)
    along = waves.wavenumber / k[:, None]
    angle = points[:, :2] @ waves.wavenumber.T - waves.frequency * time + waves.phase
    c, s = np.cos(angle), np.sin(angle)
    eta = c @ waves.amplitude
    deep = np.inf if depth is None else depth
    peak = 2 * np.pi / wavenumber(np.array([2 * np.pi / period]), deep, G).item()
    layer = min(peak / 4, deep)
    under = points[:, 2] - level
    stretched = np.minimum(under - eta, 0.0) * layer / (layer + eta)
    below = np.maximum(np.where(under > -layer, stretched, under), -deep)[:, None]
    if depth is None:
        wide = high = np.exp(k * below)
    else:
        wide = np.cosh(k * (below + depth)) / np.sinh(k * depth)
        high = np.sinh(k * (below + depth)) / np.sinh(k * depth)
    speed = waves.amplitude * waves.frequency
    rate = speed * waves.frequency
    velocity = np.column_stack([(speed * wide * c) @ along, (speed * high * s).sum(axis=1)])
    acceleration = np.column_stack([(rate * wide * s) @ along, -(rate * high * c).sum(axis=1)])
    return [level + eta, -(s * waves.amplitude) @ waves.wavenumber, velocity, acceleration]


# ------------------------------------------------------------------------------------------------ functions


def test_sine_and_cosine_are_those_of_numpy_to_1e_12() -> None:
    """The polynomials' own error: 8e-13 for the sine, 8e-14 for the cosine."""
    turns = np.linspace(-0.5, 0.5, 20_001)
    np.testing.assert_allclose(np.array([cosine(q) for q in turns]), np.cos(2 * np.pi * turns), rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.array([sine(q) for q in turns]), np.sin(2 * np.pi * turns), rtol=0, atol=1e-12)


def test_angles_of_any_size_are_wrapped_to_half_a_turn() -> None:
    """cos 2πx = cos 2π(x − n); at 1e5 turns the rounding of an angle is 1e5 · 2e-16 · 2π."""
    for turns in (0.0, 0.49, 0.51, -0.51, 7.25, -1e5 + 0.125, 1e5 + 0.3):
        assert abs(wrap(turns)) <= 0.5
        assert cosine(wrap(turns)) == pytest.approx(np.cos(2 * np.pi * turns), rel=0, abs=1e-10)
    assert pytest.approx(1 / (2 * np.pi), rel=1e-16) == TURN


def test_the_decay_is_numpys_exponential_to_3e_12_however_deep() -> None:
    """Taylor's series of degree 6 of x/64, squared six times; below e^-30 the result is 1e-13."""
    depths = -np.concatenate([np.linspace(0, 1, 2001), np.linspace(0, 60, 6001), [1e3, 1e9, np.inf]])
    found = np.array([decay(x) for x in depths])
    np.testing.assert_allclose(found, np.exp(depths), rtol=0, atol=3e-12)
    assert decay(0.0) == 1.0
    assert found.min() > 0


@pytest.mark.parametrize("depth", [None, 12.0, 60.0])
@pytest.mark.parametrize("count", [1, 7, 64, 127, 128, 129, 200, 1000])
def test_the_sea_is_linear_theory_to_1e_10(count: int, depth: float | None) -> None:
    """All rows, near and far, at the start and after a day: 1e5 s and 1e4 m are known to 1e-11 of a turn."""
    water = sea(components=count, depth=depth)
    assert water.waves is not None
    assert water.waves.count == count
    random = np.random.default_rng(count)
    for time in (0.0, 12.3, 1e5):
        for away in (0.0, 1e4):
            points = random.uniform([-50, -50, -30], [50, 50, 3], (30, 3)) + np.array([away, -away, 0])
            found = water.sample(points, time)
            expected = linear_theory(water.waves, points, time, depth)
            for name, value in zip(("height", "slope", "velocity", "acceleration"), expected, strict=True):
                np.testing.assert_allclose(
                    getattr(found, name), value, rtol=0, atol=1e-10, err_msg=f"{name} at {time} s, {away} m"
                )


@pytest.mark.parametrize("depth", [None, 12.0])
def test_the_pressure_is_that_of_linear_theory(depth: float | None) -> None:
    """p = ρ g (−z + Σ a (cosh k(z'+d)/cosh kd) cos θ) (Dean & Dalrymple 1991, eq. 4.22), and 0 at the surface.

    To 1e-10 of a head in metres: some 1e-6 Pa.
    """
    water = sea(depth=depth, components=7)
    waves = water.waves
    assert waves is not None
    points = np.random.default_rng(1).uniform([-50, -50, -25 if depth is None else -12], [50, 50, -2], (50, 3))
    k = np.hypot(*waves.wavenumber.T)
    c = np.cos(points[:, :2] @ waves.wavenumber.T - waves.frequency * 5.0 + waves.phase)
    eta = c @ waves.amplitude
    deep = np.inf if depth is None else depth
    layer = min(2 * np.pi / wavenumber(np.array([2 * np.pi / 7.0]), deep, G).item() / 4, deep)
    z = points[:, 2]
    below = np.where(z > -layer, np.minimum(z - eta, 0.0) * layer / (layer + eta), z)[:, None]
    share = np.exp(k * below) if depth is None else np.cosh(k * (below + depth)) / np.cosh(k * depth)
    head = -z + (c * share) @ waves.amplitude
    under = z < eta
    np.testing.assert_allclose(
        water.sample(points, 5.0).pressure[under] / (1025.0 * G), head[under], rtol=0, atol=1e-10
    )
    points[:, 2] = eta
    np.testing.assert_allclose(water.sample(points, 5.0).pressure, np.zeros(50), rtol=0, atol=1e-6)


def test_the_level_lifts_everything() -> None:
    """η, u and u̇ at z + level are those at z without; rounding of z − level."""
    points = np.random.default_rng(1).uniform([-50, -50, -14], [50, 50, 3], (50, 3))
    for depth in (None, 15.0):
        low = sea(depth=depth).sample(points, 5.0)
        high = sea(depth=depth, level=3.25).sample(points + np.array([0, 0, 3.25]), 5.0)
        np.testing.assert_allclose(high.height, low.height + 3.25, rtol=0, atol=1e-13)
        for name in ("slope", "velocity", "acceleration"):
            np.testing.assert_allclose(getattr(high, name), getattr(low, name), rtol=0, atol=1e-12)


def test_what_is_not_needed_is_not_given_and_changes_nothing_else() -> None:
    """Each row is the same, whichever other rows are requested."""
    water, points = sea(), np.random.default_rng(2).uniform(-20, 0, (70, 3))
    whole = water.sample(points, 3.0)
    for need in range(NEED_ALL + 1):
        part = water.sample(points, 3.0, need=need)
        assert np.array_equal(part.height, whole.height)
        if need & NEED_SLOPE:
            assert np.array_equal(part.slope, whole.slope)
        if need & NEED_FLOW:
            assert np.array_equal(part.velocity, whole.velocity)
        if need & NEED_FLOW_RATE:
            assert np.array_equal(part.acceleration, whole.acceleration)


def test_the_height_alone_is_that_of_a_whole_sample() -> None:
    water, points = sea(), np.random.default_rng(2).uniform(-20, 0, (5, 3, 3))
    assert np.array_equal(water.height(points, 3.0), water.sample(points, 3.0).height)
    assert water.height(points[0, 0], 3.0).shape == ()


def test_a_point_has_the_same_sea_alone_and_among_others() -> None:
    """To rounding: vector code may add up in another order."""
    water, points = sea(components=200), np.random.default_rng(2).uniform(-20, 0, (67, 3))
    together = water.sample(points, 3.0)
    alone = [water.sample(point, 3.0) for point in points]
    np.testing.assert_allclose(together.height, np.array([one.height for one in alone]), rtol=0, atol=1e-13)
    np.testing.assert_allclose(together.velocity, np.array([one.velocity for one in alone]), rtol=0, atol=1e-13)


def test_above_the_surface_is_the_water_right_below() -> None:
    """The relation holds in the crest too, where the stretching ends."""
    water = sea()
    points = np.random.default_rng(2).uniform(-20, 20, (40, 3))
    at = points.copy()
    at[:, 2] = water.sample(points, 3.0).height
    for above in (0.0, 0.1, 50.0):
        found = water.sample(at + np.array([0, 0, above]), 3.0)
        np.testing.assert_allclose(found.velocity, water.sample(at, 3.0).velocity, rtol=0, atol=1e-13)


def test_a_bottom_that_a_trough_lays_bare_still_gives_finite_answers() -> None:
    water = sea(depth=2.0, height=1.5, level=0.3, components=1000)
    points = np.random.default_rng(2).uniform([-200, -200, -9], [200, 200, 2], (5000, 3))
    found = water.sample(points, 3.0)
    for value in (found.height, found.slope, found.velocity, found.acceleration):
        assert np.isfinite(value).all()
    assert np.abs(found.velocity).max() < 20.0  # √(g d) is 4.4 m/s


@pytest.mark.parametrize("spectrum", ["jonswap", "pierson_moskowitz", "regular"])
@pytest.mark.parametrize("depth", [None, 8.0])
def test_waves_of_no_height_are_a_flat_sea_bit_for_bit(spectrum: str, depth: float | None) -> None:
    points = np.random.default_rng(2).uniform(-8, 1, (50, 3))
    still = WaterConfig.model_validate({"surface": {"kind": "flat", "level": 1.5}}).build(G).sample(points, 9.0)
    found = sea(spectrum=spectrum, depth=depth, height=0.0, level=1.5).sample(points, 9.0)
    for name in ("height", "slope", "velocity", "acceleration", "density"):
        assert np.array_equal(getattr(found, name), getattr(still, name)), name


# ------------------------------------------------------------------------------------------------ spectrum


@pytest.mark.parametrize("gamma", [1.0, 3.3, 7.0])
def test_the_components_have_the_spectrums_height_and_zero_crossing_period(gamma: float) -> None:
    """m₀ = H²/16 exactly; m₂ is the integral up to six times the peak, m₁ within the pieces' width.

    The pieces' root-mean-square frequencies keep m₂ of what is integrated to 1e-6 (its sum over 40 000 strips); m₁ is
    larger by a little (a root-mean-square is never below a mean), mostly in the last piece: under 1 % for 64.
    """
    peak = 1 / 7.0
    f = np.linspace(0.2 * peak, 6 * peak, 400_001)
    density = jonswap(f, 2.0, peak, gamma)
    moments = [float(np.trapezoid(density * f**n, f)) for n in range(3)]
    waves = sea(gamma=gamma, components=64).waves
    assert waves is not None
    found = [float((waves.amplitude**2 / 2 * (waves.frequency / (2 * np.pi)) ** n).sum()) for n in range(3)]
    assert found[0] == pytest.approx(2.0**2 / 16, rel=1e-14)
    assert found[2] / found[0] == pytest.approx(moments[2] / moments[0], rel=1e-6)
    assert 1.0 <= (found[1] / found[0]) / (moments[1] / moments[0]) < 1.01
    endless = np.geomspace(0.2 * peak, 60 * peak, 40_001)
    whole = jonswap(endless, 2.0, peak, gamma)
    period = np.sqrt(np.trapezoid(whole, endless) / np.trapezoid(whole * endless**2, endless))
    assert np.sqrt(found[0] / found[2]) == pytest.approx(period, rel=0.025)  # the tail beyond has 4 % of m₂


def test_pierson_moskowitzs_spectrum_is_jonswaps_without_the_peak() -> None:
    """γ = 1; and both have their mode at the peak frequency. PM's own: T_z = 0.710 T_p (DNV-RP-C205, §3.5.5)."""
    plain, same = sea(spectrum="pierson_moskowitz", gamma=5.0).waves, sea(gamma=1.0).waves
    assert plain is not None
    assert same is not None
    assert np.array_equal(plain.frequency, same.frequency)
    assert np.array_equal(plain.phase, same.phase)
    f = np.linspace(0.02, 2.0, 200_001)
    for gamma in (1.0, 3.3, 10.0):
        density = jonswap(f, 2.0, 0.14, gamma)
        assert f[np.argmax(density)] == pytest.approx(0.14, abs=1e-4)
    density = jonswap(f, 2.0, 0.14, 1.0)
    assert np.trapezoid(density, f) == pytest.approx(2.0**2 / 16, rel=1e-3)  # what lies beyond 2 Hz is 4e-5
    ratio = np.sqrt(np.trapezoid(density, f) / np.trapezoid(density * f**2, f)) * 0.14
    assert ratio == pytest.approx(0.710, abs=0.005)


def test_jonswap_is_more_peaked_than_pierson_moskowitz_by_gamma() -> None:
    """S_J(f_p)/S_PM(f_p) = γ (1 − 0.287 ln γ); and more of its waves are near the peak."""
    peak = np.array([0.14])
    ratio = (jonswap(peak, 2.0, 0.14, 3.3) / jonswap(peak, 2.0, 0.14, 1.0)).item()
    assert ratio == pytest.approx(3.3 * (1 - 0.287 * np.log(3.3)), rel=1e-12)
    near = []
    for spectrum in ("jonswap", "pierson_moskowitz"):
        waves = sea(spectrum=spectrum, components=500).waves
        assert waves is not None
        near.append(int((np.abs(waves.frequency * 7.0 / (2 * np.pi) - 1) < 0.1).sum()))
    assert near[0] > 1.5 * near[1]


@pytest.mark.parametrize("depth", [0.5, 3.0, 10.0, 50.0, 500.0, np.inf])
@pytest.mark.parametrize("period", [1.0, 5.0, 12.0, 200.0])
def test_wavenumbers_obey_the_dispersion_relation(depth: float, period: float) -> None:
    """ω² = g k tanh kd, to rounding."""
    omega = np.array([2 * np.pi / period])
    k = wavenumber(omega, depth, G)
    tanh = np.ones(1) if np.isinf(depth) else np.tanh(k * depth)
    assert G * k * tanh == pytest.approx(omega**2, rel=1e-12)


def test_long_waves_in_shallow_water_all_run_at_the_square_root_of_g_d() -> None:
    """ω = k √(g d) (1 − (kd)²/6 + …)."""
    omega = 2 * np.pi / np.array([60.0, 120.0, 600.0])
    k = wavenumber(omega, 2.0, G)
    assert omega / k == pytest.approx(np.sqrt(G * 2.0) * (1 - (k * 2.0) ** 2 / 6), rel=1e-5)


@pytest.mark.parametrize("s", [1.0, 4.0, 10.0, 75.0])
def test_directions_have_the_mean_and_spread_of_the_cosine_law(s: float) -> None:
    """For cos^(2s)(θ/2): E cos θ = s/(s+1), E sin θ = 0, E cos 2θ = s(s−1)/((s+1)(s+2)).

    (Mardia & Jupp 2000, §3.5; the circular spread √(2(1 − E cos θ)) is Kuik et al.'s, 1988.) 2000 draws: a mean has a
    standard error of at most σ/√2000; four of them are allowed.
    """
    waves = sea(spreading=s, heading_deg=30.0, components=2000).waves
    assert waves is not None
    angle = np.arctan2(waves.wavenumber[:, 1], waves.wavenumber[:, 0]) - np.radians(60.0)
    spread = np.sqrt(2 * (1 - s / (s + 1)))
    assert np.sin(angle).mean() == pytest.approx(0.0, abs=4 * spread / np.sqrt(2000))
    assert np.cos(angle).mean() == pytest.approx(s / (s + 1), abs=4 * np.cos(angle).std() / np.sqrt(2000))
    found = np.sqrt(2 * (1 - np.cos(angle).mean()))
    assert found == pytest.approx(spread, rel=0.08)
    twice = s * (s - 1) / ((s + 1) * (s + 2))
    assert np.cos(2 * angle).mean() == pytest.approx(twice, abs=4 * np.cos(2 * angle).std() / np.sqrt(2000))


def test_without_spreading_all_waves_travel_towards_the_heading() -> None:
    """Heading 120° is east-south-east: yaw −30°."""
    waves = sea(spreading=None, heading_deg=120.0).waves
    assert waves is not None
    angle = np.arctan2(waves.wavenumber[:, 1], waves.wavenumber[:, 0])
    np.testing.assert_allclose(angle, np.full(64, np.radians(-30.0)), rtol=0, atol=1e-12)


def test_a_regular_wave_has_its_height_period_heading_and_phase() -> None:
    """From trough to crest; a crest at the origin at the start unless a phase says otherwise; it runs north."""
    length = G * 8.0**2 / (2 * np.pi)
    water = regular(height=1.2, period=8.0, heading_deg=0.0)

    def at(y: float, t: float) -> float:
        return float(water.sample([3.0, y, 0.0], t).height)

    assert at(0.0, 0.0) == pytest.approx(0.6, rel=1e-11)
    assert at(0.5 * length, 0.0) == pytest.approx(-0.6, rel=1e-11)
    assert at(0.0, 4.0) == pytest.approx(-0.6, rel=1e-11)
    assert at(0.25 * length, 2.0) == pytest.approx(0.6, rel=1e-11)
    assert float(regular(height=1.2, phase_deg=180.0).sample([0.0, 0.0, 0.0], 0.0).height) == pytest.approx(-0.6)
    assert water.waves is not None
    assert water.waves.count == 1


# ------------------------------------------------------------------------------------------------ drawing and seeds


def test_the_components_alone_draw_the_sea() -> None:
    """η = Σ a cos(k·x − ω t + φ) from `water.waves`, as a page would; 1e-12 is the polynomial's error."""
    water = sea(components=64)
    waves = water.waves
    assert waves is not None
    points = np.random.default_rng(5).uniform(-300, 300, (400, 3))
    for time in (0.0, 71.3):
        angle = points[:, :2] @ waves.wavenumber.T - waves.frequency * time + waves.phase
        np.testing.assert_allclose(
            water.sample(points, time).height, np.cos(angle) @ waves.amplitude, rtol=0, atol=1e-12
        )


def test_a_flat_sea_has_no_waves_to_draw() -> None:
    assert WaterConfig().build(G).waves is None


def test_the_same_seed_is_the_same_sea_and_another_seed_another() -> None:
    first, again, other = (sea(seed=seed).waves for seed in (5, 5, 6))
    assert first is not None
    assert again is not None
    assert other is not None
    assert np.array_equal(first.phase, again.phase)
    assert np.array_equal(first.wavenumber, again.wavenumber)
    assert np.abs(first.phase - other.phase).max() > 1
    assert np.array_equal(first.frequency, other.frequency)  # the spectrum is the same


def test_a_seed_that_is_left_out_is_the_scenarios() -> None:
    settings = {key: value for key, value in USUAL.items() if key != "seed"}
    config = WaterConfig.model_validate({"surface": settings})
    waves = [config.with_seed(seed).build(G).waves for seed in (7, 7, 8)]
    assert np.array_equal(waves[0].phase, waves[1].phase)
    assert not np.array_equal(waves[0].phase, waves[2].phase)
    given = [WaterConfig.model_validate({"surface": USUAL}).with_seed(seed).build(G).waves for seed in (7, 8)]
    assert np.array_equal(given[0].phase, given[1].phase)


# ------------------------------------------------------------------------------------------------ tide


def test_a_tide_is_the_sum_of_its_constituents_everywhere() -> None:
    """z = level + Σ A cos(2π t/T − φ), flat and at rest; at 1e7 s the phase is known to 1e-12 of a turn."""
    parts = [(0.8, 12.42, 40.0), (0.3, 12.0, -100.0), (0.1, 23.93, 0.0)]
    constituents = [{"amplitude": a, "period_hours": t, "phase_deg": p} for a, t, p in parts]
    config = {"surface": {"kind": "tide", "level": 0.25, "constituents": constituents}}
    water = WaterConfig.model_validate(config).build(G)
    points = np.random.default_rng(2).uniform(-50, 50, (20, 3))
    for time in (0.0, 3600.0, 1e5, 1e7):
        found = water.sample(points, time)
        turns = [(a, time / (t * 3600.0) - p / 360.0) for a, t, p in parts]
        expected = 0.25 + sum(a * np.cos(2 * np.pi * q) for a, q in turns)
        np.testing.assert_allclose(found.height, np.full(20, expected), rtol=0, atol=1e-11)
        for value in (found.slope, found.velocity, found.acceleration):
            assert not value.any()
    assert water.waves is None


def test_a_tides_phase_is_0_at_high_water_and_90_as_it_rises() -> None:
    def level(phase: float, time: float) -> float:
        one = {"amplitude": 2.0, "period_hours": 1.0, "phase_deg": phase}
        config = {"surface": {"kind": "tide", "constituents": [one]}}
        return float(WaterConfig.model_validate(config).build(G).sample([0.0, 0.0, 0.0], time).height)

    assert level(0.0, 0.0) == pytest.approx(2.0)
    assert level(0.0, 1800.0) == pytest.approx(-2.0)
    assert level(90.0, 0.0) == pytest.approx(0.0, abs=1e-11)
    assert level(90.0, 900.0) == pytest.approx(2.0)


# ------------------------------------------------------------------------------------------------ faults


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"period": 0.0}, "greater than 0"),
        ({"period": -3.0}, "greater than 0"),
        ({"height": -1.0}, "greater than or equal to 0"),
        ({"height": float("nan")}, "finite"),
        ({"height": 12.0}, "such waves break above 11 m"),
        ({"height": 2.0, "depth": 1.0}, r"too high for a period of 7 s in a depth of 1 m: such waves break above 0\.8"),
        ({"depth": 0.0}, "greater than 0"),
        ({"components": 0}, "greater than or equal to 1"),
        ({"components": 2001}, "less than or equal to 2000"),
        ({"gamma": 0.5}, "greater than or equal to 1"),
        ({"spreading": 0.0}, "greater than 0"),
        ({"spectrum": "jonswop"}, "jonswap"),
        ({"seed": -1}, "greater than or equal to 0"),
        ({"hight": 1.0}, "hight"),
    ],
)
def test_waves_that_are_impossible_are_refused_with_a_message(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        SURFACES.find("waves").model_validate(USUAL | settings)


@pytest.mark.parametrize("missing", ["height", "period", "heading_deg"])
def test_waves_need_height_period_and_heading(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        SURFACES.find("waves").model_validate({key: value for key, value in USUAL.items() if key != missing})


def test_there_is_one_surface_only() -> None:
    """`surface` is one mapping: a list of them, or a mapping of names to them, is not a surface."""
    for two in ([{"kind": "flat"}, USUAL], {"calm": {"kind": "flat"}, "rough": USUAL}):
        with pytest.raises(ValidationError, match=r"surface"):
            WaterConfig.model_validate({"surface": two})


def test_there_are_no_waves_without_gravity() -> None:
    with pytest.raises(SkerryError, match="gravity"):
        WaterConfig.model_validate({"surface": USUAL}).build(0.0)


@pytest.mark.parametrize(
    ("constituents", "words"),
    [
        ([], "at least 1"),
        ([{"amplitude": -1.0, "period_hours": 12.0}], "greater than or equal to 0"),
        ([{"amplitude": 1.0, "period_hours": 0.0}], "greater than 0"),
        ([{"amplitude": 1.0}], "period_hours"),
    ],
)
def test_tides_that_are_impossible_are_refused_with_a_message(constituents: list[dict[str, float]], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        SURFACES.find("tide").model_validate({"kind": "tide", "constituents": constituents})


@pytest.mark.parametrize(
    "surface",
    [
        USUAL,
        USUAL | {"components": 1, "level": 3.0},
        {"kind": "tide", "level": -1.0, "constituents": [{"amplitude": 2, "period_hours": 12.4}]},
        {"kind": "flat", "level": 0.5},
    ],
)
def test_a_surface_stays_between_its_heights(surface: dict[str, Any]) -> None:
    part = WaterConfig.model_validate({"surface": surface}).with_seed(7).surface.build(G)
    water = WaterConfig.model_validate({"surface": surface}).with_seed(7).build(G)
    points = np.random.default_rng(1).uniform(-500.0, 500.0, (4000, 3))
    heights = np.concatenate([water.sample(points, time, need=0).height for time in (0.0, 1234.5, 44_640.0)])
    low, high = part.heights
    assert low <= heights.min() and heights.max() <= high
    assert part.deep <= low
