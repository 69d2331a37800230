"""The controllers `hold` and `waypoint`: when they act, whom they command, what they refuse, and their state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError

GOAL = (30.0, 10.0)
SENSORS = ("odometry", "sbg_imu", "depth300", "dvl")


@pytest.fixture
def world() -> Iterator[Any]:
    with skerry.load("sam_empty", overrides={"terrain": {"kind": "flat", "depth": 20}}) as made:
        yield made


@pytest.fixture
def sam(world: Any) -> Any:
    return world.robots["sam"]


@pytest.fixture
def autopilot(sam: Any) -> Any:
    return sam.controllers["autopilot"]


def wanted(robot: Any) -> dict[str, float]:
    return {name: actuator.setpoint for name, actuator in robot.actuators.items()}


def test_it_is_idle_until_it_has_setpoints(world, sam, autopilot) -> None:
    before = wanted(sam)
    world.advance(1.0)
    assert autopilot.idle
    assert (wanted(sam), sam.control) == (before, None)
    assert all(sam.sensors[name].has_new_data for name in SENSORS)  # it has read none of them


def test_it_commands_only_what_its_setpoints_need(world, sam, autopilot) -> None:
    autopilot.hold(heading_deg=90.0)
    world.advance(1.0)
    assert {name for name, part in sam.actuators.items() if part.owner} == {"thrust_vector_yaw"}
    assert sam.control == "controller"
    assert sam.actuators["thrust_vector_yaw"].owner == "controller/autopilot"
    assert sam.actuators["thrust_vector_yaw"].setpoint == pytest.approx(0.122)  # from north to the east, to starboard


def test_rpm_goes_straight_to_the_propellers_and_roll_adds_to_it(world, sam, autopilot) -> None:
    autopilot.hold(rpm=400.0)
    world.advance(0.2)
    assert [sam.actuators[f"thruster{n}"].setpoint for n in (1, 2)] == [400.0, 400.0]
    autopilot.hold(rpm=400.0, roll_deg=5.0)
    world.advance(0.2)
    assert sam.actuators["thruster1"].setpoint < 400.0 < sam.actuators["thruster2"].setpoint


def test_an_actuator_that_is_no_longer_needed_returns_to_its_reset_value(world, sam, autopilot) -> None:
    autopilot.hold(rpm=400.0, heading_deg=90.0)
    world.advance(1.0)
    autopilot.hold(heading_deg=90.0)
    world.advance(0.2)
    assert sam.actuators["thruster1"].setpoint == 0.0
    autopilot.stop()
    world.advance(0.2)
    assert autopilot.idle
    assert sam.actuators["thrust_vector_yaw"].setpoint == 0.0


def test_with_speed_it_dives_by_pitch_and_at_rest_by_buoyancy(world, sam, autopilot) -> None:
    autopilot.hold(depth=4.0)
    world.advance(0.5)
    assert sam.actuators["thrust_vector_pitch"].owner is None
    assert sam.actuators["vbs"].setpoint > 50.0
    autopilot.hold(depth=4.0, rpm=300.0)
    world.advance(0.5)
    assert sam.actuators["thrust_vector_pitch"].setpoint < 0.0  # nose down


def test_it_acts_only_while_it_has_control(world, sam, autopilot, caplog) -> None:
    sam.control = "external"
    autopilot.hold(depth=4.0, rpm=300.0)
    before = wanted(sam)
    world.advance(5.0)
    assert wanted(sam) == before
    assert caplog.text.count("ignored, because") == 1
    sam.control = "controller"
    world.advance(0.2)
    assert sam.actuators["thruster1"].setpoint == 300.0


def test_the_api_may_take_one_actuator_from_it(world, sam, autopilot) -> None:
    autopilot.hold(rpm=300.0, heading_deg=0.0)
    world.advance(1.0)
    sam.actuators["thruster1"].command(rpm=100.0)
    world.advance(1.0)
    assert [sam.actuators[f"thruster{n}"].setpoint for n in (1, 2)] == [100.0, 300.0]
    assert sam.control == "mixed"


def test_without_a_reading_a_loop_keeps_its_output(sam, autopilot) -> None:
    """Without ground in range the DVL has no altitude."""
    with skerry.load("sam_empty") as deep:
        robot = deep.robots["sam"]
        robot.controllers["autopilot"].hold(altitude=5.0)
        deep.advance(2.0)
        assert robot.actuators["vbs"].setpoint == pytest.approx(50.0)


def test_it_uses_the_true_state_if_no_sensor_is_named() -> None:
    null = dict.fromkeys(("position", "attitude", "depth", "altitude", "speed"), "truth")
    controllers = {"autopilot": {"navigation": null, "setpoints": {"altitude": 15.0, "heading_deg": 90, "speed": 0.5}}}
    over = {
        "terrain": {"kind": "flat", "depth": 20},
        "robots": {"sam": {"overrides": {"controllers": controllers}}},
    }
    with skerry.load("sam_empty", overrides=over) as world:
        sam = world.robots["sam"]
        world.advance(60.0)
        assert sam.pose.position[2] == pytest.approx(-5.0, abs=0.2)
        assert sam.twist.linear[0] == pytest.approx(0.5, abs=0.05)
        assert all(sam.sensors[name].has_new_data for name in SENSORS)  # it has read none of them


@pytest.mark.parametrize(
    ("setpoints", "message"),
    [
        ({}, "nothing to hold"),
        ({"dept": 3.0}, "did you mean 'depth'"),
        ({"depth": 3.0, "altitude": 4.0}, "depth or altitude, not both"),
        ({"speed": 1.0, "rpm": 400.0}, "speed or rpm, not both"),
        ({"depth": float("nan")}, "must be a finite number"),
        ({"depth": "deep"}, "must be a finite number"),
    ],
)
def test_setpoints_that_cannot_be_held_are_refused_with_an_explanation(autopilot, setpoints, message) -> None:
    with pytest.raises(SkerryError, match=message):
        autopilot.hold(**setpoints)
    assert autopilot.idle


def with_autopilot(**settings: Any) -> dict[str, Any]:
    return {"robots": {"sam": {"overrides": {"controllers": {"autopilot": settings}}}}}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"setpoints": {"dept": 3}}, "did you mean 'depth'"),
        ({"loops": {"depth": None}, "dive": None, "setpoints": {"depth": 3}}, "depth needs a loop `depth`"),
        ({"loops": {"depth": None}, "setpoints": {"depth": 3}}, "needs speed; give a speed or rpm too"),
        ({"loops": {"depth": {"actuators": None}}}, "needs `actuators` or an `allocation`"),
        ({"loops": {"pitch": None}}, "`dive` needs the loop `pitch`"),
        ({"setpoints": {"east": 3, "north": 3}}, "needs a loop `position`"),
        ({"loops": {"depth": {"actuators": {"vbz": 1}}}}, "no such actuator .*did you mean 'vbs'"),
        ({"navigation": {"depth": "depth21"}}, "no such sensor .*did you mean 'depth20'"),
        ({"link": "base"}, "no such link .*did you mean 'base_link'"),
    ],
)
def test_settings_that_do_not_fit_the_vehicle_are_refused_with_a_guess(settings, message) -> None:
    with pytest.raises(SkerryError, match=message):
        skerry.load("sam_empty", overrides=with_autopilot(**settings))


def test_a_sensor_that_does_not_measure_its_quantity_is_refused_with_an_explanation() -> None:
    for quantity, setpoint in (("depth", "depth"), ("attitude", "pitch_deg"), ("speed", "speed")):
        over = with_autopilot(navigation={quantity: "battery"}, setpoints={setpoint: 1.0})
        with skerry.load("sam_empty", overrides=over) as world, pytest.raises(SkerryError, match="another"):
            world.advance(1.0)


# ------------------------------------------------------------------------------------------------ waypoints


def test_a_goal_is_reached_and_then_all_stops(world, sam, autopilot) -> None:
    autopilot.goal((12.0, 25.0), depth=3.0, rpm=600, tolerance=3.0)
    world.advance(1.0)
    assert autopilot.distance == pytest.approx(np.hypot(12, 25), abs=0.5)
    assert not autopilot.reached
    while not autopilot.reached and world.time < 120.0:
        world.advance(0.1)
    position = sam.pose.position
    assert np.hypot(position[0] - 12.0, position[1] - 25.0) <= 3.1
    assert autopilot.idle
    assert wanted(sam) == pytest.approx({name: part.reset_value for name, part in sam.actuators.items()})
    autopilot.goal(GOAL, rpm=400)
    assert not autopilot.reached


def test_a_goal_by_latitude_and_longitude_is_the_same_position(world, sam, autopilot) -> None:
    latitude, longitude, _ = sam.sensors["gps"].view.projection.to_geodetic([*GOAL, 0.0])
    ends = []
    start = world.snapshot()
    for goal in ({"position": GOAL}, {"latitude_deg": latitude, "longitude_deg": longitude}):
        world.restore(start)
        autopilot.goal(**goal, depth=3.0, rpm=500)
        world.advance(10.0)
        ends.append(sam.pose.position)
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-5)


def test_a_goal_inside_the_turning_circle_is_first_left_behind(world, sam, autopilot) -> None:
    """8 m abeam, where SAM turns with a radius of 20 m: it goes straight ahead instead of circling."""
    autopilot.goal((8.0, 0.0), rpm=500)
    world.advance(5.0)
    assert np.cos(np.radians(autopilot.setpoints["heading_deg"])) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({"position": GOAL}, "needs a speed or rpm"),
        ({"rpm": 400}, "a goal needs either a position"),
        ({"position": GOAL, "latitude_deg": 58.0, "longitude_deg": 17.0, "rpm": 400}, "a goal needs either a position"),
        ({"position": (1.0, 2.0, 3.0), "rpm": 400}, "two numbers"),
        ({"position": (1.0, float("nan")), "rpm": 400}, "two numbers"),
        ({"position": GOAL, "rpm": 400, "heading_deg": 3.0}, "omit heading_deg"),
        ({"position": GOAL, "rpm": 400, "tolerance": 0.0}, "tolerance"),
        ({"position": GOAL, "rpm": 400, "dept": 3.0}, "did you mean 'depth'"),
    ],
)
def test_an_invalid_goal_is_refused_with_an_explanation(autopilot, goal, message) -> None:
    with pytest.raises(SkerryError, match=message):
        autopilot.goal(**goal)
    assert autopilot.idle


def test_a_goal_on_earth_needs_a_reference() -> None:
    robot = {"vehicle": "sam", "overrides": {"sensors": {"gps": None}}}
    with skerry.load({"robots": {"sam": robot}}) as world:
        world.robots["sam"].controllers["autopilot"].goal(latitude_deg=58.0, longitude_deg=17.0, rpm=400)
        with pytest.raises(SkerryError, match="reference"):
            world.advance(1.0)


@pytest.mark.parametrize("command", ["hold", "goal"])
def test_a_restored_world_continues_equally(world, autopilot, command) -> None:
    if command == "hold":
        autopilot.hold(depth=4.0, heading_deg=50.0, speed=0.8, roll_deg=0.0)
    else:
        autopilot.goal(GOAL, depth=4.0, rpm=500)
    world.advance(7.03)
    middle = world.snapshot()
    world.advance(5.0)
    after = bytes(world.snapshot())
    autopilot.stop()
    world.advance(3.0)
    world.restore(middle)
    world.advance(5.0)
    assert bytes(world.snapshot()) == after
