"""Thrusters with a curve: measured points of the T200, its voltages, lag, torque, and the surface."""

from __future__ import annotations

import numpy as np
import pytest

KGF = 9.80665
LINK = {"mass": 10.0, "inertia": [0.5, 1.0, 1.5]}
GAIN = {"kind": "polynomial", "coefficients": [0.0, 40.0]}
# Blue Robotics' public data of September 2019: V, µs, kgf, rpm, W
POINTS = [
    (10, 1100, -2.31, 2662, 136.2),
    (10, 1900, 2.93, None, None),
    (12, 1100, -2.90, 2976, 204.4),
    (12, 1540, 0.04, 342, 0.6),
    (16, 1100, -4.07, 3465, 388.8),
    (16, 1452, -0.10, 578, 1.6),
    (16, 1900, 5.25, None, None),
    (18, 1104, -4.54, 3643, 502.4),
    (18, 1876, 5.60, 3619, 436.1),
    (18, 1900, 6.02, 3742, 496.3),
]


@pytest.fixture
def craft(load, vehicle):
    """Return a function that builds a weightless free body with a thruster, by default far under water."""

    def build(depth=50.0, scenario=None, **settings):
        part = {"kind": "thruster", "link": "hull", "model": GAIN} | settings
        robot = {
            "vehicle": vehicle({"hull": LINK}),
            "pose": {"position": [0, 0, -depth]},
            "overrides": {"actuators": {"it": part}},
        }
        world = load({"gravity": 0.0, "robots": {"craft": robot}} | (scenario or {}))
        return world, world.robots["craft"], world.robots["craft"].actuators["it"]

    return build


def _t200(voltage):
    return {"model": {"kind": "t200", "voltage": float(voltage)}, "command": "pulse_width"}


def _thrust(craft, voltage, pulse):
    world, _, it = craft(**_t200(voltage))
    it.command(pulse_width=float(pulse))
    world.advance_steps(1)
    return it.thrust


@pytest.mark.parametrize(("voltage", "pulse", "force", "rpm", "power"), POINTS)
def test_the_t200_gives_what_was_measured(craft, voltage, pulse, force, rpm, power):
    """At measured points the curve has nodes of its own: equal to rounding; the rpm has the sign of the thrust."""
    world, robot, it = craft(**_t200(voltage))
    it.command(pulse_width=float(pulse))
    world.advance(1.0)
    assert it.thrust == pytest.approx(force * KGF, rel=1e-9)
    assert robot.twist.linear[0] == pytest.approx(force * KGF / 10.0, rel=1e-9)
    if rpm is not None:
        assert it.rpm == pytest.approx(np.sign(force) * rpm, rel=1e-9)
        assert it.power == pytest.approx(power, rel=1e-9)


@pytest.mark.parametrize(("voltage", "half"), [(10, 40), (12, 36), (16, 28), (18, 28)])
def test_the_t200_has_its_measured_dead_band(craft, voltage, half):
    """No force out to the last pulse width without one, and some at the next one measured, 4 µs on."""
    for sign in (-1, 1):
        assert _thrust(craft, voltage, 1500 + sign * half) == pytest.approx(0.0, abs=1e-12)
        assert sign * _thrust(craft, voltage, 1500 + sign * (half + 4)) > 0.2


def test_between_voltages_and_pulse_widths_it_is_linear(craft):
    """14 V: the mean of 12 V and 16 V; 1102 µs: the mean of 1100 µs and 1104 µs."""
    assert _thrust(craft, 14, 1100) == pytest.approx(-(2.90 + 4.07) / 2 * KGF, rel=1e-9)
    assert _thrust(craft, 15, 1100) == pytest.approx(-(0.25 * 2.90 + 0.75 * 4.07) * KGF, rel=1e-9)
    assert _thrust(craft, 16, 1102) == pytest.approx(-(4.07 + 4.05) / 2 * KGF, rel=1e-9)


def test_up_to_20_volts_it_is_extrapolated_from_16_and_18(craft):
    """2 × 6.02 − 5.25 = 6.79 kgf, and never a force against the command."""
    assert _thrust(craft, 20, 1900) == pytest.approx((2 * 6.02 - 5.25) * KGF, rel=1e-9)
    for pulse in range(1100, 1901, 50):
        assert (pulse - 1500) * _thrust(craft, 20, pulse) >= 0.0


def test_more_voltage_is_more_thrust(craft):
    for pulse in (1150, 1300, 1700, 1900):
        forces = [abs(_thrust(craft, volts, pulse)) for volts in (10, 11, 12, 14, 16, 17, 18, 20)]
        assert (np.diff(forces) > 0).all()


def test_the_throttle_lags_as_a_first_order_system(craft):
    """1 − exp(−t/τ), exactly at every step as the command holds; the thrust of a gain follows it."""
    world, _, it = craft(lag=0.2)
    it.command(throttle=0.6)
    for k in range(1, 6):
        world.advance(0.1)
        expected = 0.6 * (1 - np.exp(-0.1 * k / 0.2))
        assert it.feedback == pytest.approx(expected, rel=1e-9)
        assert it.thrust == pytest.approx(40.0 * expected, rel=1e-9)


@pytest.mark.parametrize(
    ("height", "share"), [(-0.1, 1.0), (-0.05, 1.0), (-0.025, 0.75), (0.0, 0.5), (0.05, 0.0), (2.0, 0.0)]
)
def test_thrust_falls_with_the_share_of_the_disc_in_the_water(craft, height, share):
    """½ − z/D for a disc of D = 0.1 m at height z."""
    world, _, it = craft(depth=-height, diameter=0.1)
    it.command(throttle=1.0)
    world.advance_steps(1)
    assert it.thrust == pytest.approx(40.0 * share, abs=1e-9)


@pytest.mark.parametrize(("reverse", "sign"), [(False, -1.0), (True, 1.0)])
def test_the_reaction_torque_on_the_body_opposes_the_shaft(craft, reverse, sign):
    """Q = c T about the shaft: p = ∓c T t/I_x; to rounding, as nothing else acts."""
    world, robot, it = craft(torque_per_thrust=0.02, reverse=reverse)
    it.command(throttle=0.5)
    world.advance(1.0)
    assert it.torque == pytest.approx(0.4)
    assert robot.twist.angular == pytest.approx([sign * 0.4 / 0.5, 0.0, 0.0], rel=1e-9, abs=1e-12)


def test_it_pushes_at_its_position_along_its_mount(craft):
    """r × F for a thruster that pushes to port 0.3 m ahead: yaw at 0.3 T/I_z; one step of 1 ms."""
    world, robot, it = craft(position=[0.3, 0.0, 0.0], yaw_deg=90.0, scenario={"step": "1/1000"})
    it.command(throttle=0.25)
    world.advance_steps(1)
    assert robot.twist.linear == pytest.approx([0.0, 10.0 / 10.0 * 1e-3, 0.0], rel=1e-6, abs=1e-8)
    assert robot.twist.angular == pytest.approx([0.0, 0.0, 0.3 * 10.0 / 1.5 * 1e-3], rel=1e-6, abs=1e-8)


def test_its_wash_pushes_others(load, vehicle, craft):
    """A float of one point without weight 1 m behind the thruster feels min(T/r, cap), backwards."""
    points = {"kind": "force_points", "link": "hull", "points": [[0, 0, 0]], "volume": 1e-9}
    field = {"model": "cone", "force_magnitude_cap": 5}
    robots = {
        "tug": {
            "vehicle": vehicle({"hull": LINK}),
            "pose": {"position": [0, 0, -50]},
            "overrides": {"actuators": {"it": {"kind": "thruster", "link": "hull", "model": GAIN, "field": field}}},
        },
        "float": {"vehicle": vehicle({"hull": LINK}, {"p": points}), "pose": {"position": [-1, 0, -50]}},
    }
    world = load({"gravity": 0.0, "step": "1/1000", "robots": robots})
    world.robots["tug"].actuators["it"].command(throttle=0.05)
    world.advance_steps(100)
    # 2 N at 1 m on 10 kg for 0.1 s; the two drift 1 mm apart meanwhile, and the first step has no thrust yet
    assert world.robots["float"].twist.linear[0] == pytest.approx(-0.02, rel=0.02)
