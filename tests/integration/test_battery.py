"""Batteries under load, and the power that actuators report."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

import skerry
from skerry.sensors.battery import Battery

PROPELLER = {"kind": "propeller", "link": "nose_link", "rpm_to_force": 0.01, "maximum_rpm": 1500}
LOADED = {"kind": "battery", "link": "base_link", "frequency": 10, "start_percent": 80, "capacity_wh": 2.0}


def load(battery=None, propeller=None, **scenario):
    """A torpedo at rest on a stand, under water."""
    parts = {"sensors": {"battery": LOADED | (battery or {})}}
    if propeller is not None:
        parts["actuators"] = {"propeller": PROPELLER | propeller}
    robot = {"vehicle": "torpedo", "anchored": True, "pose": {"position": [0, 0, -5]}, "overrides": parts}
    return skerry.load({"robots": {"auv": robot}} | scenario)


# ------------------------------------------------------------------------------------------------ batteries


def test_a_base_load_takes_its_energy_from_the_capacity():
    """20 W for 36 s are 0.2 W h, 10 % of 2 W h."""
    with load({"base_load": 20}) as world:
        battery = world.robots["auv"].sensors["battery"]
        world.advance(36.0)
        reading = battery.reading
        assert reading.percent == pytest.approx(70.0)
        assert reading.voltage == pytest.approx(21 + 4.2 * 0.7)
        assert reading.power == 20.0
        assert reading.current == pytest.approx(20.0 / reading.voltage)


def test_discharge_with_time_and_with_load_add_up():
    with load({"base_load": 20, "discharge_percent_per_minute": 5}) as world:
        world.advance(36.0)
        assert world.robots["auv"].sensors["battery"].reading.percent == pytest.approx(80 - 10 - 3)


def test_a_battery_with_a_capacity_does_not_discharge_with_time_by_default():
    assert Battery(link="l", frequency=1).percent_per_minute == 1.0
    assert Battery(link="l", frequency=1, capacity_wh=5).percent_per_minute == 0.0
    assert Battery(link="l", frequency=1, discharge_percent_per_minute=0).percent_per_minute == 0.0


def test_the_charge_does_not_depend_on_reads_or_on_how_the_world_is_advanced():
    """The load grows; one battery is read often, one late, one only at the end: the numbers are the same."""
    found = []
    for reads, advances in ((True, 0.05), (False, 0.05), (False, 3.0), (True, 0.3)):
        with load({"base_load": 5}, {"torque_per_thrust": 0.05, "lag": 1.0}) as world:
            auv = world.robots["auv"]
            for _ in range(2):
                for _ in range(round(3.0 / advances)):
                    world.advance(advances)
                    if reads:
                        _ = auv.sensors["battery"].reading
                auv.actuators["propeller"].command(rpm=1000)
            found.append(auv.sensors["battery"].reading)
    assert found[0] == found[1] == found[2] == found[3]


def test_a_propellers_power_is_drawn_from_the_battery():
    """Q ω = c k n · n π/30 at 1000 rpm is 0.05 · 10 N · 104.7 rad/s = 52.36 W; with 80 %, 65.45 W.

    The shaft answers at once, so that the load is the same at all 60 instants of 6 s, and the energy is exact.
    """
    with load(propeller={"torque_per_thrust": 0.05, "efficiency": 0.8}) as world:
        auv = world.robots["auv"]
        auv.actuators["propeller"].command(rpm=1000)
        world.advance(6.0)
        reading = auv.sensors["battery"].reading
        power = 0.5 * 1000 * np.pi / 30 / 0.8
        assert reading.power == pytest.approx(power, rel=1e-12)
        assert reading.percent == pytest.approx(80 - power * 6 / 3600 / 2 * 100, rel=1e-9)


def test_a_battery_survives_snapshot_and_restore_unread():
    with load({"base_load": 20}) as world, load({"base_load": 20}) as other:
        world.advance(5.0)
        other.restore(bytes(world.snapshot()))
        world.advance(5.0)
        other.advance(5.0)
        assert other.robots["auv"].sensors["battery"].reading == world.robots["auv"].sensors["battery"].reading
        assert bytes(world.snapshot()) == bytes(other.snapshot())


def test_a_battery_counts_the_same_tick_again_after_a_restore():
    with load({"base_load": 20}) as world:
        battery = world.robots["auv"].sensors["battery"]
        world.advance(0.9)
        before = world.snapshot()
        world.advance(0.1)
        reading = battery.reading
        world.restore(before)
        world.advance(0.1)
        assert battery.reading == reading


def test_an_empty_battery_supplies_no_power_and_stays_empty():
    with load({"base_load": 5000, "start_percent": 1}) as world:
        battery = world.robots["auv"].sensors["battery"]
        assert battery.reading.power == 5000
        world.advance(10.0)
        assert (battery.reading.percent, battery.reading.voltage) == (0.0, 21.0)
        assert (battery.reading.power, battery.reading.current) == (0.0, 0.0)


@pytest.mark.parametrize("settings", [{"capacity_wh": 0}, {"base_load": -1}, {"discharge_percent_per_minute": -1}])
def test_invalid_settings_are_refused(settings):
    with pytest.raises(ValidationError, match=next(iter(settings))):
        Battery(link="l", frequency=10, **settings)


# ------------------------------------------------------------------------------------------------ actuators


def test_an_open_water_propeller_draws_its_torque_times_its_speed():
    """At the bollard 2π ρ K_Q D⁵ n³ (Fossen 2021, eq. 9.8), either way; in the air nothing."""
    curve = {
        "diameter": 0.14,
        "thrust_at_rest": 0.4566,
        "torque_at_rest": 0.07,
        "thrust_at_most": 0.1798,
        "torque_at_most": 0.0312,
        "largest_advance": 0.6632,
    }
    settings = {"rpm_to_force": None, "open_water": curve}
    with load(propeller=settings) as world:
        propeller = world.robots["auv"].actuators["propeller"]
        for rpm in (1200, -1200):
            propeller.command(rpm=rpm)
            world.advance(0.1)
            assert propeller.power == pytest.approx(2 * np.pi * 1025 * 0.07 * 0.14**5 * 20**3, rel=1e-9)
        propeller.command(rpm=0)
        world.advance(0.1)
        assert propeller.power == 0.0


def test_an_actuator_without_a_power_model_draws_no_power():
    with load({"base_load": 3}, {"torque_per_thrust": 0}) as world:
        auv = world.robots["auv"]
        auv.actuators["propeller"].command(rpm=1000)
        world.advance(1.0)
        assert auv.actuators["propeller"].power is None
        assert auv.sensors["battery"].reading.power == 3.0


def test_a_thruster_draws_the_power_of_its_curve_or_of_its_shaft():
    """The T200 at full throttle and 16 V draws above 300 W by its maker's table; Q ω = 0.02 · 40 N · 100π rad/s."""
    table = {"kind": "table", "throttle": [-1, 0, 1], "force": [-40, 0, 40], "rpm": [-3000, 0, 3000]}
    for model, torque, power in (
        ({"kind": "t200"}, 0.0, None),
        (table, 0.02, 0.02 * 40 * 100 * np.pi),
        (table | {"power": [90, 0, 100]}, 0.02, 100.0),
    ):
        settings = {"kind": "thruster", "link": "nose_link", "model": model, "torque_per_thrust": torque}
        parts = {"actuators": {"it": settings}, "sensors": {"battery": LOADED}}
        robot = {"vehicle": "torpedo", "anchored": True, "pose": {"position": [0, 0, -5]}, "overrides": parts}
        with skerry.load({"robots": {"auv": robot}}) as world:
            auv = world.robots["auv"]
            auv.actuators["it"].command(throttle=1.0)
            world.advance(0.1)
            assert (
                auv.actuators["it"].power > 300.0
                if power is None
                else auv.actuators["it"].power == pytest.approx(power)
            )
            assert auv.sensors["battery"].reading.power == auv.actuators["it"].power
