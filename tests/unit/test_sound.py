"""Sound in sea water: its speed and its absorption, at published points."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.water.seawater import TO_IPTS_68
from skerry.water.sound import (
    ABSORPTION,
    SPEED_AT_DEPTH,
    ainslie_mccolm,
    del_grosso,
    francois_garrison,
    mackenzie,
    thorp,
    unesco,
)

# ------------------------------------------------------------------------------------------------ speed


def test_mackenzie_is_right_at_the_published_check_value():
    """Mackenzie 1981: 1550.744 m/s at 25 °C, S = 35, 1000 m."""
    assert mackenzie(35, 25, 1000) == pytest.approx(1550.744, abs=5e-4)


def test_the_unesco_equation_is_right_at_its_published_check_value():
    """Fofonoff & Millard 1983, p. 48: 1731.995 m/s at S = 40, t68 = 40 °C, 10 000 dbar.

    The coefficients for ITS-90 are a new fit: within 0.024 m/s of the old ones (Wong & Zhu 1995, abstract).
    """
    assert unesco(40, 40 / TO_IPTS_68, 10_000) == pytest.approx(1731.995, abs=0.024)


@pytest.mark.parametrize(("t68", "expected"), [(0, 1449.1), (10, 1489.8), (20, 1521.5), (30, 1545.6)])
def test_the_unesco_equation_gives_the_published_table(t68, expected):
    """Fofonoff & Millard 1983, table of sound speed: S = 35 at the surface, printed to 0.1 m/s."""
    assert unesco(35, t68 / TO_IPTS_68, 0) == pytest.approx(expected, abs=0.05 + 0.024)


def test_del_grosso_is_right_at_the_value_of_the_national_physical_laboratory():
    """NPL's calculator of Wong & Zhu's form: 1470.807 m/s at 5 °C, S = 35, 100 kPa, which are 10 dbar."""
    assert del_grosso(35, 5, 10) == pytest.approx(1470.80749, abs=1e-5)


def test_in_the_deep_sea_del_grosso_is_slower_than_the_unesco_equation():
    """About 0.6 m/s at 4000 m (Dushaw et al. 1993, J. Acoust. Soc. Am. 93, 255–275), almost 0 at the surface."""
    slower = [float(SPEED_AT_DEPTH["unesco"](35, 2, d) - SPEED_AT_DEPTH["del_grosso"](35, 2, d)) for d in (0, 4000)]
    assert slower[0] == pytest.approx(0.0, abs=0.15)
    assert slower[1] == pytest.approx(0.6, abs=0.15)


def test_the_three_formulas_agree_in_the_common_sea():
    """Within 1 m/s for 2 to 30 °C, S from 33 to 37, down to 4000 m: no pressure is in the wrong unit."""
    s, t, d = np.meshgrid(np.linspace(33, 37, 5), np.linspace(2, 30, 8), np.linspace(0, 4000, 9), indexing="ij")
    cold = (d < 1000) | (t < 15)  # warm water is nowhere deep
    speeds = np.array([formula(s, t, d)[cold] for formula in SPEED_AT_DEPTH.values()])
    assert np.ptp(speeds, axis=0).max() < 1.0


# ------------------------------------------------------------------------------------------------ absorption


@pytest.mark.parametrize(("t", "expected"), [(0, 56.9), (10, 36.1), (20, 25.3), (30, 19.1)])
def test_pure_water_absorbs_as_measured(t, expected):
    """Pinkerton 1949, Proc. Phys. Soc. B 62, 129–141: α/f² in 1e-15 Np s²/m; Francois & Garrison fit it within 1 %."""
    nepers_per_m = francois_garrison(1e6, 0.0, t, 0.0) / (20.0 / np.log(10.0)) / 1e3
    assert nepers_per_m / 1e12 * 1e15 == pytest.approx(expected, rel=0.01)


def test_the_pure_water_term_is_unbroken_where_its_two_polynomials_meet():
    low, high = francois_garrison(1e6, 0.0, np.array([20.0, 20.0 + 1e-9]), 0.0)
    assert low == pytest.approx(high, rel=2e-3)


def test_francois_and_garrison_give_the_relaxations_at_their_frequencies():
    """At S = 35, 10 °C: 1.115 kHz and 75.8 kHz, where each salt takes half of what it takes at most; worked by hand."""
    c = 1412 + 32.1 + 1.19 * 35
    boric_at = 2.8 * 10 ** (4 - 1245 / 283)
    sulphate_at = 8.17 * 10 ** (8 - 1990 / 283)
    assert (boric_at, sulphate_at) == pytest.approx((1.115, 75.8), rel=2e-3)
    boric = 8.86 / c * 10**1.24
    sulphate = 21.44 * 35 / c * 1.25
    for f in (boric_at, sulphate_at):
        own = boric * boric_at * f**2 / (f**2 + boric_at**2) + sulphate * sulphate_at * f**2 / (f**2 + sulphate_at**2)
        assert francois_garrison(1e3 * f, 35, 10, 0) == pytest.approx(own + 3.108e-4 * f**2, rel=1e-9)


@pytest.mark.parametrize(
    ("water", "expected", "last_digit"),
    [
        # Francois & Garrison 1982 part II, table IV; second-hand, quoted in the source of uacpy (surface, pH 8)
        ((1e3, 35, 4, 0, 8.0), 0.063, 1e-3),
        # their formula in the calculator of the National Physical Laboratory; second-hand, from a published result
        ((130e3, 35, 8, 15, 8.0), 38.0, 1.0),
        # another implementation, arlpy.uwa.absorption: the example in its documentation, over 1 km
        ((50e3, 35, 27, 10, 8.1), 10.71, 1e-2),
    ],
)
def test_francois_and_garrison_agree_with_other_implementations(water, expected, last_digit):
    """Cases dominated by boric acid, magnesium sulphate or warm water; to half of the last given digit."""
    assert francois_garrison(*water) == pytest.approx(expected, abs=0.5 * last_digit)


def test_absorption_agrees_with_measured_porpoise_clicks():
    """0.04 dB/m at 130 kHz in coastal water of 16 °C and S = 28 (Malinka et al. 2021, J. Exp. Biol.), to 0.005."""
    assert francois_garrison(130e3, 28, 16, 1) / 1e3 == pytest.approx(0.04, abs=0.005)


@pytest.mark.parametrize(
    ("t", "s", "d"), [(0, 35, 0), (4, 35, 1000), (10, 35, 0), (20, 35, 1000), (10, 8, 0), (4, 34, 5000)]
)
def test_ainslie_and_mccolm_agree_with_francois_and_garrison(t, s, d):
    """Within 10 % from 100 Hz to 1 MHz (Ainslie & McColm 1998, abstract)."""
    f = np.geomspace(100, 1e6, 81)
    assert ainslie_mccolm(f, s, t, d) == pytest.approx(francois_garrison(f, s, t, d), rel=0.10)


def test_thorp_is_right_where_it_can_be_worked_by_hand():
    """At 1 kHz: 0.0033 + 0.055 + 44/4101 + 0.0003; at 50 kHz: 0.0033 + 0.11/1.0004 + 44/2.64 + 0.75 dB/km."""
    assert thorp([1e3, 50e3]) == pytest.approx(
        [0.0033 + 0.055 + 44 / 4101 + 0.0003, 0.0033 + 0.11 / 1.0004 + 44 / 2.64 + 0.75], rel=1e-12
    )


def test_thorp_is_near_the_others_in_its_own_water():
    """4 °C, S = 35, some 1000 m: an old fit, within 30 % from 1 to 40 kHz."""
    f = np.geomspace(1e3, 40e3, 21)
    assert thorp(f) == pytest.approx(francois_garrison(f, 35, 4, 1000), rel=0.31)


@pytest.mark.parametrize("formula", ABSORPTION)
def test_absorption_grows_with_frequency_and_is_finite_in_any_water(formula):
    f = np.geomspace(1, 1e6, 50)[:, None]
    for s, t, d in [(0, -3, 0), (0, 45, 12_000), (45, 45, 0), (35, 4, 6000)]:
        found = ABSORPTION[formula](f, s, t, np.array([float(d)]), 8.0)
        assert found.shape == (50, 1)
        assert np.isfinite(found).all() and (np.diff(found[:, 0]) > 0).all()
    assert ABSORPTION[formula](0.0, 35, 10, 0, 8.0) == pytest.approx(0.0, abs=4e-3)
