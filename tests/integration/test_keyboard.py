"""Keys: every key acts as its settings say, release and silence stop it, and only manual control accepts it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import quaternion_to_rpy
from skerry.parts.controller import Setpoint
from skerry.scenario.vehicle import shipped_vehicles

SPECIFIED = {
    "up": {"thruster1": 800, "thruster2": 800},
    "down": {"thruster1": -800, "thruster2": -800},
    "a": {"thrust_vector_yaw": -0.122},
    "d": {"thrust_vector_yaw": 0.122},
    "w": {"thrust_vector_pitch": -0.122},
    "s": {"thrust_vector_pitch": 0.122},
    "r": {"vbs": 0},
    "f": {"vbs": 50},
    "c": {"vbs": 100},
    "t": {"lcg": 0},
    "g": {"lcg": 50},
    "v": {"lcg": 100},
}


@pytest.fixture
def world() -> Iterator[Any]:
    with skerry.load("sam_empty") as made:
        yield made


@pytest.fixture
def sam(world: Any) -> Any:
    return world.robots["sam"]


def wanted(robot: Any) -> dict[str, float]:
    return {name: target.setpoint for name, target in {**robot.actuators, **robot.keyboard.targets}.items()}


def hold(world: Any, *keys: str, seconds: float) -> None:
    for _ in range(round(seconds / 0.1)):
        for key in keys:
            world.robots["sam"].keyboard.press(key)
        world.advance(0.1)


@pytest.mark.parametrize("key", SPECIFIED)
def test_sam_has_the_keys_of_its_specification(sam, key) -> None:
    sam.keyboard.press(key)
    for name, value in SPECIFIED[key].items():
        assert sam.actuators[name].setpoint == pytest.approx(value)
    assert sam.control == "manual"


@pytest.mark.parametrize("vehicle", shipped_vehicles())
def test_every_key_of_every_vehicle_does_what_its_map_says_and_nothing_else(vehicle) -> None:
    with skerry.load({"robots": {"it": {"vehicle": vehicle, "pose": {"position": [0, 0, -5]}}}, **REFERENCE}) as world:
        robot = world.robots["it"]
        start, before = world.snapshot(), wanted(robot)
        for key, does in robot.keys.items():
            world.restore(start)
            assert does.does
            robot.keyboard.press(key)
            after = wanted(robot)
            for name, target in {**robot.actuators, **robot.keyboard.targets}.items():
                value = does.commands.get(name)
                if value is None:
                    assert after[name] == before[name]
                elif does.mode == "step" and isinstance(target, Setpoint):
                    assert (after[name] - before[name]) * value > 0.0
                else:
                    base = {"hold": target.reset_value, "step": before[name]}.get(does.mode, 0.0)
                    assert after[name] == pytest.approx(np.clip(base + value, *target.limits))
            robot.keyboard.release(key)
            kept = before if does.mode == "hold" else after
            assert wanted(robot) == pytest.approx(kept)


REFERENCE = {"reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}}


@pytest.mark.parametrize(
    ("keys", "axis", "sign"),
    [(("up", "a"), 2, 1), (("up", "d"), 2, -1), (("up", "w"), 1, 1), (("up", "s"), 1, -1), (("q",), 0, -1)],
    ids=["port", "starboard", "nose down", "nose up", "roll to port"],
)
def test_sam_turns_the_way_its_keys_say(world, sam, keys, axis, sign) -> None:
    start = quaternion_to_rpy(sam.pose.orientation)[axis]
    hold(world, *keys, seconds=2.0)
    assert sign * (quaternion_to_rpy(sam.pose.orientation)[axis] - start) > np.radians(1.0)


def test_keys_held_together_add_up_and_each_release_removes_its_own_value(sam) -> None:
    screws = (sam.actuators["thruster1"], sam.actuators["thruster2"])
    sam.keyboard.press("up")
    sam.keyboard.press("q")
    assert [screw.setpoint for screw in screws] == [1100.0, 500.0]
    sam.keyboard.press("down")
    assert [screw.setpoint for screw in screws] == [300.0, -300.0]
    sam.keyboard.release("down")
    sam.keyboard.release("up")
    assert [screw.setpoint for screw in screws] == [300.0, -300.0]
    sam.keyboard.release_all()
    assert [screw.setpoint for screw in screws] == [0.0, 0.0]
    assert sam.keyboard.down == ()


def test_silence_releases_all_keys_after_half_a_second(world, sam) -> None:
    hold(world, "up", seconds=2.0)
    assert sam.actuators["thruster1"].setpoint == 800.0
    world.advance(0.4)
    assert sam.actuators["thruster1"].setpoint == 800.0
    world.advance(0.005)
    assert (sam.actuators["thruster1"].setpoint, sam.keyboard.down) == (0.0, ())


def test_a_press_may_give_the_watchdog_another_time_which_a_snapshot_keeps(world, sam) -> None:
    sam.keyboard.press("up", timeout=2.0)
    before = world.snapshot()
    for _ in range(2):
        world.advance(1.9)
        assert sam.keyboard.down == ("up",)
        world.advance(0.2)
        assert sam.keyboard.down == ()
        sam.keyboard.press("up")
        world.restore(before)


def test_a_value_set_by_a_key_of_mode_set_outlasts_silence(world, sam) -> None:
    sam.keyboard.press("c")
    world.advance(2.0)
    assert sam.actuators["vbs"].setpoint == 100.0


def test_keys_are_ignored_unless_control_is_manual(sam) -> None:
    sam.control = "controller"
    sam.keyboard.press("up")
    assert sam.actuators["thruster1"].setpoint == 0.0
    sam.keyboard.release_all()
    sam.control = "manual"
    sam.keyboard.press("up")
    assert sam.actuators["thruster1"].setpoint == 800.0


def test_a_key_held_before_manual_control_acts_when_it_is_pressed_again(world, sam) -> None:
    sam.control = "external"
    before = sam.actuators["thruster1"].setpoint
    sam.keyboard.press("up")
    assert sam.actuators["thruster1"].setpoint == before
    sam.control = "manual"
    hold(world, "up", seconds=0.1)
    assert sam.actuators["thruster1"].setpoint == 800


def test_held_keys_are_released_when_the_owner_changes(sam) -> None:
    sam.keyboard.press("up")
    sam.control = "external"
    assert (sam.actuators["thruster1"].setpoint, sam.keyboard.down) == (0.0, ())


def with_keys(**keys: Any) -> dict[str, Any]:
    return {"robots": {"sam": {"overrides": {"keys": keys}}}}


def test_a_key_may_step_or_toggle() -> None:
    keys = {
        "plus": {"mode": "step", "commands": {"thruster1": 100}},
        "x": {"mode": "toggle", "commands": {"lcg": 120}},
    }
    with skerry.load("sam_empty", overrides=with_keys(**keys)) as world:
        sam = world.robots["sam"]
        for number in range(1, 18):
            sam.keyboard.press("plus")
            sam.keyboard.press("plus")  # a key that is down cannot be pressed again
            sam.keyboard.release("plus")
            assert sam.actuators["thruster1"].setpoint == min(100.0 * number, 1525.0)
        for percent in (100.0, 50.0, 100.0):
            sam.keyboard.press("x")
            sam.keyboard.release("x")
            assert sam.actuators["lcg"].setpoint == pytest.approx(percent)


def test_keys_that_are_down_are_part_of_a_snapshot(world, sam) -> None:
    sam.keyboard.press("up")
    world.advance(0.2)
    before = world.snapshot()
    world.advance(1.0)
    after = bytes(world.snapshot())
    sam.keyboard.press("down")
    world.restore(before)
    assert sam.keyboard.down == ("up",)
    world.advance(1.0)
    assert bytes(world.snapshot()) == after


def test_an_unknown_key_is_refused_with_a_guess(sam) -> None:
    with pytest.raises(SkerryError, match="there is no key 'upp'; did you mean 'up'"):
        sam.keyboard.press("upp")


def test_a_key_for_an_unknown_actuator_is_refused_with_a_guess() -> None:
    keys = with_keys(x={"commands": {"thruster9": 1}})
    with pytest.raises(SkerryError, match=r"keys\.x\.commands: there is no such actuator .*did you mean 'thruster"):
        skerry.load("sam_empty", overrides=keys)


def test_removing_a_part_removes_its_keys() -> None:
    over = {"actuators": {"thruster1": None, "vbs": None}, "controllers": {"autopilot": None}}
    with skerry.load("sam_empty", overrides={"robots": {"sam": {"overrides": over}}}) as world:
        keys = world.robots["sam"].keys
        assert keys["up"].commands == {"thruster2": 800}
        assert not {"r", "f", "c"} & keys.keys()
    drone = {"vehicle": "quadrotor", "overrides": {"controllers": {"tracking": None}}}
    with skerry.load({"robots": {"it": drone}, **REFERENCE}) as world:
        assert not world.robots["it"].keys


def test_a_key_for_an_unknown_setpoint_is_refused_with_a_guess() -> None:
    drone = {"vehicle": "quadrotor", "overrides": {"keys": {"x": {"commands": {"tracking.ahaed": 1}}}}}
    with pytest.raises(SkerryError, match=r"no such actuator or setpoint .*did you mean 'tracking.ahead'"):
        skerry.load({"robots": {"it": drone}, **REFERENCE})
