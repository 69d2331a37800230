"""Keys of the whole fleet: every key does to its robot what its `does` says, in water, in the air or on the ground."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.control.loops.pid import wrapped
from skerry.core.frames import inverse, multiply, quaternion_to_matrix, quaternion_to_rpy, rotate
from skerry.scenario.loading import load_scenario
from skerry.scenario.vehicle import shipped_vehicles

HOLD = 2.0  # s that each key is held
FAR, TURNED = 0.05, np.radians(1.0)  # what counts as a motion in that time: m and rad more than without the key

STARTS = {"otter": 0.0, "obstacle_boat": 0.0, "evolo": 0.408, "quadrotor": 10.0, "husky": 20.2}  # z; all others dive
OVERRIDES = {"obstacle_boat": {"controllers": {"wander": None}}}  # otherwise it would move
GROUND = {"husky": {"kind": "flat", "z": 20.0}}

# The key that is held besides, and before: surfaces need way, and `faster` a direction.
UNDER_WAY = {
    **{("sam", key): "up" for key in "adws"},
    **{("remus100", key): "w" for key in ("left", "right", "up", "down")},
    **{("lolo", key): "w" for key in ("up", "down")},
    **{("evolo", key): "up" for key in ("left", "right", "down")},
    ("quadrotor", "space"): "i",
}
BEFORE = {"evolo": 8.0, "lolo": 3.0}  # s of that key alone, where it is not the usual second


def vehicles_with_keys() -> dict[str, list[str]]:
    found = {}
    for name in shipped_vehicles():
        reference = {"latitude_deg": 58.8, "longitude_deg": 17.6}
        loaded = load_scenario({"reference": reference, "robots": {"it": {"vehicle": name}}})
        found[name] = list(loaded.vehicles["it"].config.keys)
    return found


KEYS = vehicles_with_keys()
CASES = [(name, key) for name, keys in KEYS.items() for key in keys]


class Placement:
    """Position and orientation of a robot, and positions of its parts."""

    def __init__(self, robot: Any) -> None:
        pose = robot.pose
        self.place, self.turn = pose.position.copy(), pose.orientation.copy()
        self.roll, self.pitch, self.yaw = quaternion_to_rpy(pose.orientation)
        self.speed = robot.twist.linear[0]
        self.hands = {}
        for link in ("forearm", "hand", "leftFinger"):
            if link in robot.links:
                at = robot.link_pose(link)
                turn = quaternion_to_matrix(multiply(inverse(pose.orientation), at.orientation))
                self.hands[link] = (rotate(inverse(pose.orientation), at.position - pose.position), turn)
        self.tanks = {name: robot.actuators[name].feedback for name in ("vbs", "lcg") if name in robot.actuators}


Change = Callable[[Placement, Placement, Placement], float]  # (start, with key, without key)


def moved(axis: int, sign: int) -> Change:
    def change(start: Placement, by: Placement, without: Placement) -> float:
        return float(sign * rotate(inverse(start.turn), by.place - without.place)[axis]) / FAR

    return change


def turned(name: str, sign: int) -> Change:
    return lambda start, by, without: float(sign * wrapped(getattr(by, name) - getattr(without, name))) / TURNED


def sped(sign: int) -> Change:
    return lambda start, by, without: float(sign * (by.speed - without.speed)) / FAR


def carried(link: str, axis: int, sign: int) -> Change:
    return lambda start, by, without: float(sign * (by.hands[link][0] - without.hands[link][0])[axis]) / FAR


def rolled(link: str, sign: int) -> Change:
    """Return the change of roll, from the height of the left side of the link."""
    return lambda start, by, without: float(sign * (by.hands[link][1] - without.hands[link][1])[2, 1]) / TURNED


def opened(sign: int) -> Change:
    return lambda start, by, without: float(sign * (by.hands["leftFinger"][1] - by.hands["hand"][1])[1, 0]) / TURNED


def filled(tank: str, percent: float) -> Change:
    """Nearer to a level than it was, which it may be from the start."""

    def change(start: Placement, by: Placement, without: Placement) -> float:
        left, at_first = abs(by.tanks[tank] - percent), abs(start.tanks[tank] - percent)
        return 2.0 if left < max(at_first - 5.0, 1.0) else 0.0

    return change


DOES: dict[str, Change] = {
    "forwards": moved(0, 1),
    "backwards": moved(0, -1),
    "to port": moved(1, 1),
    "to starboard": moved(1, -1),
    "up": moved(2, 1),
    "down": moved(2, -1),
    "turn to port": turned("yaw", 1),
    "turn to starboard": turned("yaw", -1),
    "nose down": turned("pitch", 1),
    "nose up": turned("pitch", -1),
    "nose down at rest": turned("pitch", 1),
    "nose up at rest": turned("pitch", -1),
    "roll to starboard": turned("roll", 1),
    "roll to port": turned("roll", -1),
    "faster": sped(1),
    "slower": sped(-1),
    "arm to port": carried("hand", 1, 1),
    "arm to starboard": carried("hand", 1, -1),
    "raise the arm at the shoulder": carried("hand", 2, 1),
    "lower the arm at the shoulder": carried("hand", 2, -1),
    "raise the arm at the elbow": carried("hand", 2, 1),
    "lower the arm at the elbow": carried("hand", 2, -1),
    "roll the forearm to port": rolled("forearm", -1),
    "roll the forearm to starboard": rolled("forearm", 1),
    "raise the hand": carried("hand", 2, 1),
    "lower the hand": carried("hand", 2, -1),
    "roll the hand to port": rolled("hand", -1),
    "roll the hand to starboard": rolled("hand", 1),
    "open the hand": opened(1),
    "close the hand": opened(-1),
    "empty the buoyancy system": filled("vbs", 0.0),
    "fill the buoyancy system half": filled("vbs", 50.0),
    "fill the buoyancy system": filled("vbs", 100.0),
    "batteries aft": filled("lcg", 0.0),
    "batteries in the middle": filled("lcg", 50.0),
    "batteries forward": filled("lcg", 100.0),
}


@pytest.fixture(scope="module")
def worlds() -> Iterator[Callable[[str], tuple[Any, Any]]]:
    """A world for each vehicle, at rest in its element, and its snapshot."""
    made: dict[str, tuple[Any, Any]] = {}

    def world_of(name: str) -> tuple[Any, Any]:
        if name not in made:
            world = skerry.load(
                {
                    "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
                    "terrain": GROUND.get(name, {"kind": "flat", "depth": 40}),
                    "robots": {
                        "it": {
                            "vehicle": name,
                            "pose": {"position": [0, 0, STARTS.get(name, -12.0)]},
                            "overrides": OVERRIDES.get(name, {}),
                        }
                    },
                }
            )
            world.advance(2.0)
            world.robots["it"].control = "manual"
            made[name] = (world, world.snapshot())
        world, start = made[name]
        world.restore(start)
        return world, start

    yield world_of
    for world, _ in made.values():
        world.close()


def hold(world: Any, seconds: float, *keys: str) -> None:
    for _ in range(round(seconds / 0.1)):
        for key in keys:
            world.robots["it"].keyboard.press(key)
        world.advance(0.1)


@pytest.mark.parametrize(("name", "key"), CASES, ids=[f"{name}-{key}" for name, key in CASES])
def test_a_key_does_what_it_says(worlds, name, key) -> None:
    """Held for 2 s: its robot moves by 5 cm, 5 cm/s or 1° more than without the key, the way that `does` says."""
    world, _ = worlds(name)
    robot = world.robots["it"]
    besides = [UNDER_WAY[name, key]] if (name, key) in UNDER_WAY else []
    hold(world, BEFORE.get(name, 1.0) if besides else 0.0, *besides)
    start, middle = Placement(robot), world.snapshot()
    hold(world, HOLD, *besides)
    without = Placement(robot)
    world.restore(middle)
    hold(world, HOLD, *besides, key)
    assert DOES[robot.keys[key].does](start, Placement(robot), without) > 1.0
    assert robot.control == "manual"


@pytest.mark.parametrize("name", [name for name, keys in KEYS.items() if keys])
def test_released_keys_leave_every_actuator_and_setpoint_at_its_old_value(worlds, name) -> None:
    """Keys of mode `set` and `step` are excepted; 0.5 s of silence has the same effect as a release."""
    world, start = worlds(name)
    robot = world.robots["it"]
    targets = robot.keyboard.targets
    for key, does in robot.keys.items():
        world.restore(start)
        robot.keyboard.press(key)
        world.advance(0.6)
        assert robot.keyboard.down == ()
        if does.mode == "hold":
            assert all(targets[part].setpoint == pytest.approx(targets[part].reset_value) for part in does.commands)


def test_every_vehicle_that_has_actuators_has_keys() -> None:
    """The torpedo is a bare hull, for tests and tutorials."""
    assert [name for name, keys in KEYS.items() if not keys] == ["torpedo"]


def test_the_page_of_vehicles_names_every_key() -> None:
    lines = (Path(__file__).parents[2] / "docs" / "vehicles.md").read_text(encoding="utf-8").splitlines()
    section = lines[lines.index("## Keys") : lines.index("## bluerov2")]
    start = next(number for number, line in enumerate(section) if line.startswith("Keys of the rover's arm"))
    arm = section[start : start + 2]
    for name, keys in KEYS.items():
        row = [line for line in section if line.startswith(f"| `{name}` ")] + (arm if name == "husky" else [])
        assert set(keys) <= set(re.findall(r"\w+", " ".join(row))), name


def test_the_quadrotor_stays_where_its_keys_left_it(worlds) -> None:
    """2 s ahead at about 8/5.6 m/s, then 6 s to come to rest within 0.5 m of where the key was released."""
    world, _ = worlds("quadrotor")
    drone = world.robots["it"]
    hold(world, 2.0, "i")
    assert drone.twist.linear[0] == pytest.approx(8.0 / 5.6, rel=0.25)
    drone.keyboard.release("i")
    left = drone.pose.position.copy()
    world.advance(6.0)
    assert np.linalg.norm(drone.pose.position - left) < 0.5
    assert np.linalg.norm(drone.twist.linear) < 0.02


def test_a_press_takes_evolo_from_rest_to_8_knots_and_on_and_back(worlds) -> None:
    """Speeds are −3 to 0 and 8 to 13 kn: steps lead through both ranges, and never between them."""
    world, _ = worlds("evolo")
    boat = world.robots["it"]
    wished = []
    for key in ("up", "up", "up", "down", "down", "down", "down", "down", "up", "up"):
        boat.keyboard.press(key)
        boat.keyboard.release(key)
        wished.append(boat.controllers["flight"].speed_kn)
    assert wished == pytest.approx([8, 9, 10, 9, 8, 0, -1, -2, -1, 0])


@pytest.mark.parametrize(("name", "keys"), [("quadrotor", ("i", "space")), ("evolo", ("up", "left")), ("husky", "wa")])
def test_manual_setpoints_of_a_snapshot_continue_bit_identically(worlds, name, keys) -> None:
    world, _ = worlds(name)
    hold(world, 1.0, *keys)
    middle, ends = world.snapshot(), []
    for _ in range(2):
        world.restore(middle)
        world.advance(2.0)  # silence releases the keys in this time
        ends.append(bytes(world.snapshot()))
        world.robots["it"].control = "api"
        hold(world, 0.5, *keys)
    assert ends[0] == ends[1]


def test_a_setpoint_resets_when_its_key_is_released_for_any_owner(worlds) -> None:
    world, _ = worlds("quadrotor")
    drone = world.robots["it"]
    drone.keyboard.press("i")
    drone.actuators["front"].command(rpm=2000)  # the API takes one of four
    drone.keyboard.release("i")
    assert drone.keyboard.targets["tracking.ahead"].setpoint == 0.0


def test_setpoints_change_only_while_manual_has_control(worlds, caplog) -> None:
    world, _ = worlds("evolo")
    boat = world.robots["it"]
    boat.control = "controller"
    boat.keyboard.press("up")
    assert boat.controllers["flight"].speed_kn == 0.0
    assert "command from manual ignored" in caplog.text
    boat.keyboard.release_all()
    boat.control = "manual"
    boat.keyboard.press("up")
    world.advance(6.0)
    assert boat.twist.linear[0] > 3.9  # 8 kn are 4.1 m/s: the flight continues under manual control
    assert boat.control == "manual"
