"""Thrusters: their curves, commands, limits and faults."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from pydantic import ValidationError

import skerry
from skerry.actuators.drives.thrust_curves import THROTTLES, Polynomial, ThrustTable, t200_curve
from skerry.actuators.thruster import Thruster
from skerry.core.errors import FileError, SkerryError

KGF = 9.80665
HULL = (
    '<link name="hull"><inertial><mass value="10"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
GAIN = {"kind": "polynomial", "coefficients": [0.0, 40.0]}


@pytest.fixture
def thruster(tmp_path):
    """Return a function that builds a world of one hull with a thruster, and returns the world and the thruster."""
    (tmp_path / "robot.urdf").write_text(f'<robot name="craft">{HULL}</robot>')
    (tmp_path / "vehicle.yaml").write_text("{}")
    made = []

    def build(**settings):
        part = {"kind": "thruster", "link": "hull", "model": GAIN} | settings
        robot = {
            "vehicle": str(tmp_path),
            "pose": {"position": [0, 0, -50]},
            "overrides": {"actuators": {"it": part}},
        }
        made.append(skerry.load({"gravity": 0.0, "robots": {"craft": robot}}))
        return made[-1], made[-1].robots["craft"].actuators["it"]

    yield build
    for world in made:
        world.close()


# ------------------------------------------------------------------------------------------------ curves


def at(curve, throttle):
    return np.interp(throttle, THROTTLES, curve.force)


def test_a_polynomial_in_throttle_gives_its_value():
    """Cubic between nodes 0.0025 apart: off by h² f''/8 = 4e-6 of some 6 N at most."""
    curve = Polynomial(coefficients=(0.0, 1.0, 2.0, 3.0)).curve()
    for x in (-1.0, -0.3333, 0.0, 0.51234, 1.0):
        assert at(curve, x) == pytest.approx(x + 2 * x**2 + 3 * x**3, abs=3e-5)


def test_an_odd_polynomial_is_equal_in_both_directions():
    curve = Polynomial(coefficients=(0.0, 1.0, 5.0), odd=True).curve()
    assert curve.force == pytest.approx(-curve.force[::-1])
    assert at(curve, -0.5) == pytest.approx(-(0.5 + 5 * 0.25))


def test_a_polynomial_of_pulse_width_may_be_the_magnitude_of_the_force():
    """The cubic through 4.5 kgf at 1100 µs, 0 at 1472 µs and at 1528 µs, and 5.02 kgf at 1852 µs.

    Okoń's T200: 6.619 kgf at full throttle and 1.239 kgf at half throttle backwards, as printed to 1e-3.
    """
    points = np.array([1100.0, 1472.0, 1528.0, 1852.0])
    cubic = np.linalg.solve(np.vander(points, 4, increasing=True), [4.5, 0.0, 0.0, 5.02])
    curve = Polynomial(coefficients=tuple(cubic), of="pulse_width", unit="kgf", magnitude=True).curve()
    # terms of 1e2 kgf in the sum, and in the solution for the coefficients: 1e-9
    assert at(curve, -1.0) == pytest.approx(-4.5 * KGF, rel=1e-8)
    assert at(curve, 0.88) == pytest.approx(5.02 * KGF, rel=1e-8)
    assert [at(curve, x) / KGF for x in (1.0, -0.5, 0.25)] == pytest.approx([6.619, -1.239, 0.337], abs=6e-4)
    assert (curve.force[np.abs(THROTTLES) < 0.069] == 0).all()


def test_a_dead_zone_is_open_at_its_edge():
    curve = Polynomial(coefficients=(0.0, 10.0), dead_zone=0.1).curve()
    assert at(curve, 0.0975) == pytest.approx(0.0, abs=1e-12)
    assert at(curve, 0.1) == pytest.approx(1.0)
    assert at(curve, -0.1) == pytest.approx(-1.0)


def test_kilogram_force_is_newton_times_standard_gravity():
    assert Polynomial(coefficients=(0.0, 1.0), unit="kgf").curve().force[-1] == pytest.approx(KGF)
    assert ThrustTable(throttle=(-1.0, 1.0), force=(-1.0, 1.0), unit="kgf").curve().force[-1] == pytest.approx(KGF)


def test_a_table_is_linear_between_its_points():
    curve = ThrustTable(throttle=(-1.0, 0.0, 0.5, 1.0), force=(-2.0, 0.0, 4.0, 5.0), rpm=(-9.0, 0.0, 8.0, 10.0)).curve()
    assert [at(curve, x) for x in (-1, -0.5, 0.25, 0.75, 1)] == pytest.approx([-2, -1, 2, 4.5, 5])
    assert curve.rpm is not None
    assert curve.rpm[-1] == 10.0
    assert curve.power is None


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"kind": "t200", "voltage": 20.1}, "10 to 20"),
        ({"kind": "t200", "voltage": 9.9}, "10 to 20"),
        ({"kind": "polynomial", "coefficients": []}, "at least 1"),
        ({"kind": "polynomial", "coefficients": [0, 1], "odd": True, "of": "pulse_width"}, "odd"),
        ({"kind": "polynomial", "coefficients": [0, 1], "odd": True, "magnitude": True}, "not both"),
        ({"kind": "polynomial", "coefficients": [0, 1], "dead_zone": 1.0}, "less than 1"),
        ({"kind": "table", "throttle": [0, 1], "force": [0, 1]}, "ascending order from -1 to 1"),
        ({"kind": "table", "throttle": [-1, 0, 0, 1], "force": [0, 1, 2, 3]}, "ascending order from -1 to 1"),
        ({"kind": "table", "throttle": [-1, 1], "force": [0, 1, 2]}, "3 values"),
        ({"kind": "table", "throttle": [-1, 1], "force": [0, 1], "power": [1]}, "1 values"),
        ({"kind": "t100"}, "t200"),
    ],
)
def test_a_wrong_curve_is_refused_with_an_explanation(model, words):
    with pytest.raises(ValidationError, match=words):
        Thruster.model_validate({"link": "hull", "model": model})


def test_a_wrong_voltage_is_found_in_its_file(thruster):
    with pytest.raises(FileError, match="`voltage` is 24; it must be 10 to 20"):
        thruster(model={"kind": "t200", "voltage": 24.0})


def test_a_voltage_above_the_measured_ones_is_logged_once(caplog):
    t200_curve.cache_clear()
    with caplog.at_level(logging.INFO, "skerry"):
        for voltage in (10.0, 14.0, 18.0):
            t200_curve(voltage)
        assert not caplog.records
        for _ in range(3):
            t200_curve(19.0)
    assert [record.getMessage() for record in caplog.records] == [
        "T200 at 19 V: the curve is extrapolated; it was measured only up to 18 V"
    ]


# ------------------------------------------------------------------------------------------------ commands


@pytest.mark.parametrize(("keyword", "middle", "half"), [("throttle", 0.0, 1.0), ("pulse_width", 1500.0, 400.0)])
def test_it_is_commanded_by_the_keyword_of_its_settings(thruster, keyword, middle, half):
    world, it = thruster(command=keyword)
    assert (it.keyword, it.limits) == (keyword, (middle - half, middle + half))
    assert (it.setpoint, it.feedback, it.reset_value) == (middle, middle, middle)
    it.command(**{keyword: middle + 0.25 * half})
    world.advance(0.1)
    assert (it.setpoint, it.feedback) == pytest.approx((middle + 0.25 * half,) * 2)
    assert it.thrust == pytest.approx(10.0)
    it.command(**{keyword: 1e9})
    assert it.setpoint == middle + half
    it.reset()
    world.advance(0.1)
    assert it.thrust == 0.0


def test_another_keyword_is_refused_with_a_guess(thruster):
    _, it = thruster(command="pulse_width")
    with pytest.raises(SkerryError, match="pulse_width"):
        it.command(throttle=0.5)


def test_rpm_and_power_are_known_if_the_curve_has_them(thruster):
    _, plain = thruster()
    assert (plain.rpm, plain.power) == (None, None)
    world, it = thruster(model={"kind": "t200", "voltage": 16.0}, command="pulse_width")
    it.command(pulse_width=1100)
    world.advance(0.1)
    assert (it.rpm, it.power) == pytest.approx((-3465.0, 388.8))


def test_its_displayed_angle_follows_its_rpm(thruster):
    """60 rpm for 0.75 s is three quarters of a turn; with `reverse` it turns the other way."""
    table = {"kind": "table", "throttle": [-1, 1], "force": [-1, 1], "rpm": [-60, 60]}
    for reverse, quarters in ((False, 3), (True, 1)):
        world, it = thruster(model=table, reverse=reverse)
        it.command(throttle=1.0)
        world.advance(0.75)
        assert it.angle == pytest.approx(quarters * np.pi / 2, rel=1e-9)


def test_it_survives_snapshot_and_restore(thruster):
    world, it = thruster(lag=0.3)
    it.command(throttle=0.8)
    world.advance(0.2)
    before, seen = world.snapshot(), it.feedback
    world.advance(0.2)
    after = world.snapshot()
    world.restore(before)
    assert it.feedback == seen
    world.advance(0.2)
    assert bytes(world.snapshot()) == bytes(after)
