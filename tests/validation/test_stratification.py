"""Stratified sea: bodies come to rest at the depth of their density."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.water import seawater

G = 9.81
# a halocline as in the Baltic: fresh above 10 m, salt below 30 m
LAYERS = {"depths": [0, 10, 30], "temperature": 10, "salinity": [5, 5, 25]}
VOLUME = 0.06


def _density(depth):
    salinity = np.interp(depth, LAYERS["depths"], LAYERS["salinity"])
    return float(seawater.density(salinity, LAYERS["temperature"], seawater.depth_to_pressure(depth)))


def _float(depth_of_rest, start, **settings):
    """Return a box with the mass of the water that it displaces at a depth."""
    box = {
        "geometry": {"kind": "box", "size": [0.5, 0.4, 0.3]},
        "motion": "dynamic",
        "mass": _density(depth_of_rest) * VOLUME,
        "pose": {"position": [0.0, 0.0, -start]},
        **settings,
    }
    return {"objects": {"float": box}, "water": {"profile": LAYERS}, "step": "1/50"}


@pytest.mark.parametrize(("rest", "start"), [(15.0, 12.0), (20.0, 24.0), (26.0, 29.0)])
def test_a_float_comes_to_rest_where_the_water_is_as_dense_as_it_is(load, rest, start):
    """m = ρ(d) V. The density is within 1e-4 kg/m³, which is 0.1 mm; the damping is near critical."""
    world = load(_float(rest, start, linear_damping=[10.0, 10.0, 10.0, 5.0, 5.0, 5.0]))
    world.advance(250.0)
    assert -world.objects["float"].pose.position[2] == pytest.approx(rest, abs=2e-4)


def test_a_float_swings_about_that_depth_with_the_buoyancy_frequency(load):
    """N² = (g/ρ) dρ/dz (Gill 1982, Atmosphere–Ocean Dynamics, eq. 3.7.9), for a body of no added mass.

    dρ/dz over the swing of 0.5 m is constant to 1e-3; the period is found within a step: 5e-3 of it.
    """
    rest, swing = 20.0, 0.5
    slope = (_density(rest + swing) - _density(rest - swing)) / (2 * swing)
    period = 2 * np.pi / np.sqrt(G * slope / _density(rest))
    world = load(_float(rest, rest + swing))
    times, offsets = [], []
    for _ in range(int(2.2 * period / 0.1)):
        world.advance(0.1)
        times.append(world.time)
        offsets.append(-world.objects["float"].pose.position[2] - rest)
    values = np.array(offsets)
    at = np.flatnonzero(values[:-1] * values[1:] < 0)
    crossings = np.array(times)[at] + 0.1 * values[at] / (values[at] - values[at + 1])
    assert 2 * np.mean(np.diff(crossings)) == pytest.approx(period, rel=5e-3)


def test_a_body_trimmed_at_the_surface_is_too_light_below_the_halocline(load):
    """a = g (ρ/ρ_b − 1), upwards, at the first step; to rounding and 1e-4 kg/m³."""
    world = load(_float(0.0, 50.0))
    world.advance_steps(1)
    expected = G * (_density(50.0) / _density(0.0) - 1.0)
    assert world.objects["float"].twist.linear[2] * 50.0 == pytest.approx(expected, rel=1e-5)
