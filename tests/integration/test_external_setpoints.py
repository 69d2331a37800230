"""External setpoints, limits of the autopilot, and aborts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

import skerry
from skerry.commands import Actuate, CallController, SwitchSensor
from skerry.core.errors import SkerryError
from skerry.runner import Runner
from skerry.world import World


def load(vehicle: str = "sam", depth: float = 3.0, ground: float = 20.0, **autopilot: Any) -> World:
    robot = {
        "vehicle": vehicle,
        "pose": {"position": [1.3, 2.7, -depth], "yaw_deg": 0},
        "overrides": {"controllers": {"autopilot": autopilot}} if autopilot else {},
    }
    reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
    return skerry.load({"reference": reference, "terrain": {"kind": "flat", "depth": ground}, "robots": {"it": robot}})


@pytest.fixture
def world() -> Iterator[World]:
    with load() as made:
        yield made


@pytest.fixture
def sam(world: World) -> Any:
    return world.robots["it"]


@pytest.fixture
def autopilot(sam: Any) -> Any:
    return sam.controllers["autopilot"]


def owners(robot: Any) -> dict[str, str | None]:
    return {name: part.owner for name, part in robot.actuators.items()}


def test_an_enabled_setpoint_waits_for_its_value(world: World, sam: Any, autopilot: Any) -> None:
    autopilot.enable("depth")
    world.advance(0.5)
    assert autopilot.idle
    assert sam.actuators["vbs"].owner is None
    autopilot.aim("depth", 4.0)
    world.advance(0.5)
    assert sam.actuators["vbs"].setpoint > 50.0
    autopilot.disable("depth")
    world.advance(0.2)
    assert sam.actuators["vbs"].setpoint == 50.0
    assert autopilot.idle


def test_actuators_are_taken_from_external_and_returned_to_it(world: World, sam: Any, autopilot: Any) -> None:
    sam.control = "external"
    autopilot.enable("heading_deg")
    autopilot.aim("heading_deg", 0.0)
    world.advance(0.3)
    assert sam.actuators["thrust_vector_yaw"].owner == "controller/autopilot"
    assert set(owners(sam).values()) == {"external", "controller/autopilot"}
    assert autopilot.commands_accepted
    autopilot.disable("heading_deg")
    world.advance(0.3)
    assert set(owners(sam).values()) == {"external"}
    assert sam.actuators["thrust_vector_yaw"].setpoint == 0.0


def test_it_takes_no_actuator_from_manual_control(world: World, sam: Any, autopilot: Any) -> None:
    sam.control = "manual"
    autopilot.enable("heading_deg")
    autopilot.aim("heading_deg", 0.0)
    world.advance(0.3)
    assert sam.control == "manual"
    assert not autopilot.commands_accepted


def test_the_second_of_two_exclusive_setpoints_is_refused(autopilot: Any) -> None:
    autopilot.enable("depth")
    with pytest.raises(SkerryError, match="not both"):
        autopilot.enable("altitude")
    autopilot.disable("depth")
    autopilot.enable("altitude")
    with pytest.raises(SkerryError, match="is not enabled"):
        autopilot.aim("depth", 3.0)
    with pytest.raises(SkerryError, match="number"):
        autopilot.aim("altitude", float("nan"))


def test_a_vehicle_that_dives_by_pitch_holds_depth_or_pitch_and_only_with_speed() -> None:
    with load("remus100") as world:
        autopilot = world.robots["it"].controllers["autopilot"]
        with pytest.raises(SkerryError, match="controlled by pitch"):
            autopilot.enable("depth")
        autopilot.enable("speed")
        autopilot.enable("depth")
        with pytest.raises(SkerryError, match="not both"):
            autopilot.enable("pitch_deg")
        with pytest.raises(SkerryError, match="needs a loop `roll`"):
            autopilot.enable("roll_deg")


def test_a_goal_and_enabled_setpoints_can_be_combined_unless_they_overlap(world: World, autopilot: Any) -> None:
    autopilot.enable("depth")
    autopilot.aim("depth", 5.0)
    with pytest.raises(SkerryError, match="the setpoint depth is enabled"):
        autopilot.goal((30, 0), depth=3.0, rpm=500)
    autopilot.goal((30, 0), rpm=500)
    world.advance(0.2)
    with pytest.raises(SkerryError, match="already held"):
        autopilot.enable("heading_deg")
    with pytest.raises(SkerryError, match="speed"):
        autopilot.enable("speed")
    autopilot.give_up()
    world.advance(0.2)
    assert not autopilot.has_goal
    assert autopilot.external_setpoints.setpoints == {"depth": 5.0}
    with pytest.raises(SkerryError, match="speed or rpm"):
        autopilot.goal((30, 0))
    autopilot.enable("speed")
    autopilot.goal((30, 0))


def test_a_repeated_setpoint_ends_without_messages(world: World, sam: Any, autopilot: Any) -> None:
    autopilot.repeat("heading_deg", 0.0, 1.5)
    world.advance(1.4)
    assert sam.actuators["thrust_vector_yaw"].owner == "controller/autopilot"
    autopilot.repeat("heading_deg", 0.0, 1.5)
    world.advance(1.4)
    assert sam.actuators["thrust_vector_yaw"].setpoint != 0.0
    world.advance(0.3)
    assert sam.actuators["thrust_vector_yaw"].setpoint == 0.0
    assert sam.actuators["thrust_vector_yaw"].owner == "external"
    autopilot.enable("heading_deg")
    with pytest.raises(SkerryError, match="is enabled"):
        autopilot.repeat("heading_deg", 0.0, 1.5)


def test_a_restored_world_continues_with_the_enabled_setpoints(world: World, autopilot: Any) -> None:
    autopilot.enable("depth")
    autopilot.aim("depth", 5.0)
    autopilot.repeat("heading_deg", 45.0, 1.0)
    world.advance(0.5)
    middle = world.snapshot()
    world.advance(1.5)
    after = world.fingerprint()
    autopilot.stop()
    world.restore(middle)
    assert autopilot.external_setpoints.setpoints == {"depth": 5.0, "heading_deg": 45.0}
    world.advance(1.5)
    assert world.fingerprint() == after


# ------------------------------------------------------------------------------------------------ abort


def test_after_an_abort_the_vehicle_surfaces_and_refuses_external_commands(
    world: World, sam: Any, autopilot: Any
) -> None:
    with Runner(world, None) as runner:
        runner.inbox.put(Actuate("it", "thruster1", {"rpm": 500.0}))
        runner.run(0.2)
        runner.inbox.put(CallController("it", "autopilot", "abort", {}))
        runner.run(0.3)
        assert set(owners(sam).values()) == {"controller/autopilot"}
        assert sam.actuators["vbs"].setpoint == 0.0
        assert sam.actuators["thruster1"].setpoint == 0.0
        heard = runner.inbox.put(Actuate("it", "thruster1", {"rpm": 500.0}))
        runner.run(60.0)
    assert heard.result() is False
    assert sam.sensors["depth300"].reading.depth < 0.2
    for order in (
        partial(autopilot.enable, "depth"),
        partial(autopilot.goal, (1, 1), rpm=1),
        partial(autopilot.hold, rpm=1),
    ):
        with pytest.raises(SkerryError, match="aborted"):
            order()
    autopilot.recover()
    autopilot.hold(depth=2.0)


@pytest.mark.parametrize("vehicle", ["bluerov2", "lolo", "remus100"])
def test_every_underwater_vehicle_surfaces(vehicle: str) -> None:
    with load(vehicle) as world:
        robot = world.robots["it"]
        robot.controllers["autopilot"].abort()
        world.advance(90.0)
        assert robot.sensors["pressure"].reading.depth < 0.5


# ------------------------------------------------------------------------------------------------ limits


def test_it_goes_no_deeper_than_its_limit(world: World) -> None:
    with load(limits={"depth": 4.0}) as shallow:
        autopilot = shallow.robots["it"].controllers["autopilot"]
        autopilot.hold(depth=10.0)
        shallow.advance(60.0)
        assert shallow.robots["it"].sensors["depth300"].reading.depth == pytest.approx(4.0, abs=0.2)
        autopilot.hold(altitude=5.0)  # would be 15 m deep
        shallow.advance(30.0)
        assert shallow.robots["it"].sensors["depth300"].reading.depth == pytest.approx(4.0, abs=0.2)


def test_it_stays_above_the_ground() -> None:
    with load(ground=8.0, limits={"altitude": 3.0}) as world:
        sam = world.robots["it"]
        sam.controllers["autopilot"].hold(depth=10.0)
        world.advance(60.0)
        assert sam.sensors["dvl"].reading.altitude == pytest.approx(3.0, abs=0.3)
        sam.controllers["autopilot"].hold(altitude=1.0)
        world.advance(30.0)
        assert sam.sensors["dvl"].reading.altitude == pytest.approx(3.0, abs=0.3)


def test_it_pitches_and_rolls_no_further_than_its_limits() -> None:
    with load("bluerov2_heavy", limits={"pitch_deg": 5.0, "roll_deg": 4.0}) as world:
        robot = world.robots["it"]
        robot.controllers["autopilot"].hold(depth=3.0, pitch_deg=20.0, roll_deg=-15.0)
        world.advance(20.0)
        turn = robot.pose.rotation
        assert turn[2, 0] == pytest.approx(-0.0872, abs=0.01)  # −sin of 5°, nose down
        assert turn[2, 1] == pytest.approx(-0.0697, abs=0.01)  # −sin of 4°, port down


def test_a_dive_that_lasts_too_long_is_aborted() -> None:
    with load(limits={"dive_time": 5.0}) as world:
        sam = world.robots["it"]
        sam.control = "external"
        world.advance(4.5)
        assert not sam.controllers["autopilot"].aborted
        world.advance(1.0)
        assert sam.controllers["autopilot"].aborted
        assert sam.control == "controller"
        assert sam.actuators["vbs"].setpoint == 0.0


# ------------------------------------------------------------------------------------------------ sensors switched off


def test_a_sensor_that_is_switched_off_gives_no_reading(world: World, sam: Any) -> None:
    with Runner(world, None) as runner:
        assert sam.sensors["dvl"].reading is not None
        runner.inbox.put(SwitchSensor("it", "dvl", False))
        runner.run(0.5)
        assert sam.sensors["dvl"].reading is None
        off = world.snapshot()
        runner.inbox.put(SwitchSensor("it", "dvl", True))
        runner.run(0.2)
        assert sam.sensors["dvl"].reading.time == pytest.approx(0.7)
        world.restore(off)
        assert sam.sensors["dvl"].reading is None
