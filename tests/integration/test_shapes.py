"""Parameters estimated from shapes, against closed forms and limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import elliprd

import skerry
from skerry.physics.shapes import Ellipsoid, SlenderHull, carlson_rd
from skerry.world.check import check_file


def test_carlsons_integral_is_that_of_scipy() -> None:
    random = np.random.default_rng(0)
    for x, y, z in 10 ** random.uniform(-4, 4, (300, 3)):
        assert carlson_rd(x, y, z) == pytest.approx(float(elliprd(x, y, z)), rel=1e-13)


def test_the_added_mass_of_a_sphere_is_half_its_displaced_mass() -> None:
    """½ ρ V (Lamb 1932, §92) for translation, 0 for rotation."""
    added = np.diag(Ellipsoid(length=2, width=2, height=2).added_mass(1000.0, 0.0))
    assert added == pytest.approx([1000 * 4 / 3 * np.pi * 0.5] * 3 + [0, 0, 0], rel=1e-9)


def test_a_prolate_spheroid_has_lambs_closed_form() -> None:
    """Fossen 2021, eq. 8.106 to 8.112, for a hull of 1.3 m by 0.19 m."""
    a, b, rho = 0.65, 0.095, 1025.0
    e = np.sqrt(1 - (b / a) ** 2)
    log = np.log((1 + e) / (1 - e))
    alpha = 2 * (1 - e**2) / e**3 * (0.5 * log - e)
    beta = 1 / e**2 - (1 - e**2) / (2 * e**3) * log
    mass = rho * 4 / 3 * np.pi * a * b**2
    turning = e**4 * (beta - alpha) / ((2 - e**2) * (2 * e**2 - (2 - e**2) * (beta - alpha)))
    turning *= mass * (a**2 + b**2) / 5
    found = np.diag(Ellipsoid(length=1.3, width=0.19, height=0.19).added_mass(rho, 0.0))
    wanted = [mass * alpha / (2 - alpha), mass * beta / (2 - beta), mass * beta / (2 - beta), 0.0, turning, turning]
    assert found == pytest.approx(wanted, rel=1e-8, abs=1e-12)


def test_axes_may_be_given_in_any_order() -> None:
    found = np.diag(Ellipsoid(length=1.0, width=0.6, height=0.3).added_mass(1000.0, 0.0))
    turned = np.diag(Ellipsoid(length=0.3, width=1.0, height=0.6).added_mass(1000.0, 0.0))
    assert turned[[1, 2, 0, 4, 5, 3]] == pytest.approx(found, rel=1e-9)


def test_a_long_ellipsoid_approaches_strip_theory() -> None:
    """Every slice of a needle is a cylinder with ρ π r² per metre; the taper makes the sum 2/3 of a cylinder's."""
    needle = np.diag(Ellipsoid(length=100.0, width=1.0, height=1.0).added_mass(1000.0, 0.0))
    cylinder = np.diag(SlenderHull(length=100.0, diameter=1.0).added_mass(1000.0, 0.0))
    assert needle[1] == pytest.approx(2 / 3 * cylinder[1], rel=0.01)
    assert needle[0] < 0.01 * needle[1]


def test_strip_theory_of_drag_is_the_sum_of_its_slices() -> None:
    hull = SlenderHull(length=1.6, diameter=0.2)
    x = np.linspace(-0.8, 0.8, 200_001)
    line = 0.5 * 1025 * 1.1 * 0.2
    drag = hull.quadratic_damping(1025.0)
    assert drag[1] == pytest.approx(line * 1.6)
    assert drag[4] == pytest.approx(np.trapezoid(line * np.abs(x) ** 3, x), rel=1e-6)
    assert drag[0] == pytest.approx(0.5 * 1025 * 0.2 * np.pi * 0.01)


def test_check_names_the_method_and_its_error() -> None:
    told = check_file("sam_empty")
    assert "sam.forces.added_mass: estimated: added mass of an ellipsoid by Lamb's integrals" in told
    assert "15 %" in told


def test_added_mass_has_exactly_one_source() -> None:
    both = {"ellipsoid": {"length": 1, "width": 1, "height": 1}, "matrix": [1, 1, 1, 0, 0, 0]}
    forces = {"forces": {"added_mass": both}}
    with pytest.raises(skerry.SkerryError, match="exactly one of `matrix`, `ellipsoid` and `slender`"):
        skerry.load("sam_empty", overrides={"robots": {"sam": {"overrides": forces}}})
