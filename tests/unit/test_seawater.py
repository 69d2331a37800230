"""Sea water: density, conductivity, salinity and pressure, at the check values of their publications."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.water.seawater import (
    STANDARD_CONDUCTIVITY,
    TO_IPTS_68,
    conductivity,
    density,
    depth_to_pressure,
    pressure_to_depth,
    salinity,
)

# Unesco technical papers in marine science 44 (Fofonoff & Millard 1983) and 36 (1981): S, t68, dbar, kg/m³
DENSITIES = [
    (0, 5, 0, 999.96675),
    (35, 5, 0, 1027.67547),
    (35, 25, 0, 1023.34306),
    (0, 5, 10_000, 1044.12802),
    (0, 25, 10_000, 1037.90204),
    (35, 5, 10_000, 1069.48914),
    (35, 25, 10_000, 1062.53817),
    (40, 40, 10_000, 1059.82037),
]
# paper 44, p. 9 and p. 11: ratio, t68, dbar, S
RATIOS = [(1.0, 15, 0, 35.0), (1.2, 20, 2000, 37.245628), (0.65, 5, 1500, 27.995347), (1.888091, 40, 10_000, 40.0)]


@pytest.mark.parametrize(("s", "t68", "p", "expected"), DENSITIES)
def test_density_is_that_of_the_published_check_values(s, t68, p, expected):
    """EOS-80; printed to 1e-5 kg/m³."""
    assert density(s, t68 / TO_IPTS_68, p) == pytest.approx(expected, abs=1.1e-5)


@pytest.mark.parametrize(("ratio", "t68", "p", "expected"), RATIOS)
def test_salinity_and_conductivity_are_those_of_the_published_check_values(ratio, t68, p, expected):
    """PSS-78, and its inverse; the correction for fresh water adds up to 1.1e-5."""
    measured, t90 = ratio * STANDARD_CONDUCTIVITY, t68 / TO_IPTS_68
    assert salinity(measured, t90, p) == pytest.approx(expected, abs=1.5e-5)
    assert conductivity(expected, t90, p) == pytest.approx(measured, rel=1e-6)


@given(st.floats(0.05, 45), st.floats(-3, 45), st.floats(0, 12_000))
def test_conductivity_is_the_inverse_of_salinity(s, t, p):
    assert salinity(conductivity(s, t, p), t, p) == pytest.approx(s, abs=1e-11)


def test_fresh_water_does_not_conduct_and_has_no_salt():
    assert conductivity(0.0, 20.0, 0.0) == 0.0
    assert salinity([0.0, -0.01], 20.0, 0.0).tolist() == [0.0, 0.0]
    assert salinity(conductivity(np.geomspace(1e-3, 0.05, 9), 8.0), 8.0) == pytest.approx(
        np.geomspace(1e-3, 0.05, 9), abs=1e-6
    )


def test_depth_at_a_pressure_is_that_of_the_published_check_value():
    """Fofonoff & Millard 1983, p. 28: 9712.653 m at 10 000 dbar and 30°."""
    assert pressure_to_depth(10_000, 30) == pytest.approx(9712.653, abs=1e-3)


@pytest.mark.parametrize("latitude", [0, 30, 45, 60, 90])
def test_pressure_and_depth_are_inverse_to_each_other(latitude):
    """Two fits by different authors to the same ocean: 0.1 m each."""
    depths = np.linspace(0, 11_000, 45)
    assert pressure_to_depth(depth_to_pressure(depths, latitude), latitude) == pytest.approx(depths, abs=0.2)


def test_numbers_and_arrays_give_the_same():
    s, t, p = np.array([[0.0, 10.0], [35.0, 40.0]]), np.array([5.0, 25.0]), 100.0
    for function in (density, conductivity):
        together = function(s, t, p)
        assert together.shape == (2, 2)
        assert [[float(function(s[i, k], t[k], p)) for k in range(2)] for i in range(2)] == together.tolist()
