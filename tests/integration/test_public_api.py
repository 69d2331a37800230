"""Public API: exported names, types that mypy checks for users, `repr`, and abilities of controllers."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.parts.acoustics import CanWrite
from skerry.parts.controller import CanGoTo, CanHold, CanHoldExternal, CanReachGoal, CanStop
from skerry.world import Robot

PROGRAM = """
from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import skerry
from skerry import Pose, Readings, Robot, Runner, Scenario, SkerryError, Twist, World
from skerry.parts.acoustics import CanWrite
from skerry.parts.actuator import Actuator
from skerry.parts.controller import CanHold, Controller
from skerry.ropes.rope import Rope


def depth_of(robot: Robot) -> float:
    return -float(robot.pose.position[2])


with skerry.load("sam_empty", seed=1) as world:
    assert_type(world, World)
    sam = world.robots["sam"]
    assert_type(sam, Robot)
    assert_type(sam.actuators["thruster1"], Actuator)
    assert_type(sam.controllers["autopilot"], Controller)
    assert_type(sam.pose, Pose)
    assert_type(sam.twist, Twist)
    assert_type(world.scenario, Scenario)
    ropes: dict[str, Rope] = world.ropes
    position: NDArray[np.float64] = world.robots["sam"].link_position("base_link")
    accepted: bool = sam.actuators["thruster1"].command(rpm=500)
    recorded = world.advance(1.0, record=["sam/imu"])
    readings: Readings[object] = recorded["sam/imu"]
    print(len(readings), readings.time, readings[0])
    reading = sam.sensors["imu"].reading
    if reading is not None:
        print(reading.orientation)
    autopilot, modem = sam.controllers["autopilot"], sam.acoustics["modem"]
    if isinstance(autopilot, CanHold):
        autopilot.hold(depth=2.0)
    if isinstance(modem, CanWrite):
        modem.write("hello")
    try:
        sam.actuators["thruster3"]
    except SkerryError as error:
        print(error)
    before = world.snapshot()
    world.advance(1.0)
    world.restore(before)
    world.reset(seed=2)
    with Runner(world, speed=None) as runner:
        print(runner.world.time, depth_of(sam), accepted, position, ropes)
"""

WRONG = """
import skerry

with skerry.load("sam_empty") as world:
    world.robots["sam"].actuators["thruster1"].comand(rpm=500)
    world.robots["sam"].controllers["autopilot"].hold(depth=2.0)
    world.robots["sam"].sensors["dvl"].readin
"""


@pytest.fixture(scope="module")
def mypy_errors(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the errors that `mypy --strict` finds in the programs; one run, because it takes long."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "wrong.py").write_text(WRONG, encoding="utf-8")
    options = ["--strict", "--config-file", "", "--follow-imports", "silent"]
    command = [sys.executable, "-m", "mypy", *options, "program.py", "wrong.py"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert "checked 2 source files" in found.stdout, found.stdout + found.stderr
    return [line for line in found.stdout.splitlines() if ": error: " in line]


def test_a_program_of_a_user_passes_mypy_and_runs(mypy_errors: list[str]) -> None:
    assert [error for error in mypy_errors if not error.startswith("wrong.py")] == []
    exec(compile(PROGRAM, "program.py", "exec"), {"__name__": "program"})


def test_mypy_finds_mistakes_in_a_program_of_a_user(mypy_errors: list[str]) -> None:
    errors = [error for error in mypy_errors if error.startswith("wrong.py")]
    assert len(errors) == 3
    for error, name in zip(errors, ("comand", "hold", "readin"), strict=True):
        assert f'"{name}"' in error


def test_all_exported_names_exist_and_importing_them_is_lazy() -> None:
    code = "import sys, skerry; assert not {'numpy', 'mujoco', 'pydantic'} & sys.modules.keys(); from skerry import *"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
    for name in ("World", "Robot", "Scenario", "Pose", "Twist", "Runner", "Readings", "SkerryError", "FileError"):
        assert name in skerry.__all__
        assert name in dir(skerry)
        assert getattr(skerry, name).__name__ == name
    with pytest.raises(AttributeError, match="Wordl"):
        skerry.Wordl  # noqa: B018


def test_parts_are_described_in_one_line() -> None:
    with skerry.load("sam_empty") as world:
        sam = world.robots["sam"]
        assert repr(sam) == "<Robot sam: at (0.00, 0.00, -2.00) m, vehicle sam, control none>"
        screw, autopilot, modem = sam.actuators["thruster1"], sam.controllers["autopilot"], sam.acoustics["modem"]
        assert repr(screw) == "<PropellerActuator sam/thruster1: rpm=0, owner none>"
        screw.command(rpm=500)
        assert repr(screw) == "<PropellerActuator sam/thruster1: rpm=500, owner api>"
        assert repr(sam.actuators["vbs"]) == "<VbsActuator sam/vbs: percent=50 %, owner none>"
        assert repr(autopilot) == "<WaypointController: idle>"
        assert isinstance(autopilot, CanReachGoal)
        autopilot.hold(depth=2.0)
        assert repr(autopilot) == "<WaypointController: holds depth=2>"
        autopilot.goal((10.0, 20.0), speed=1.0)
        assert repr(autopilot) == "<WaypointController: goal (10, 20) m>"
        assert isinstance(modem, CanWrite)
        modem.write("hello")
        assert repr(modem) == "<TransceiverPart sam/modem: 0 unread packets, 1 to send>"
    assert repr(sam).startswith("<Robot sam: ")  # also after the world was closed
    with skerry.load_batch("sam_empty", seeds=[1, 2]) as batch:
        assert repr(batch) == "<Batch of sam_empty: 2 worlds, t = 0 s>"


def test_everything_in_the_demo_is_described_in_one_short_line() -> None:
    for scenario in ("demo", "drone_recovers_sam", "husky_yard"):
        with skerry.load(scenario) as world:
            robots: Any = [*world.robots.values()]
            parts = [
                *robots,
                *world.objects.values(),
                *world.ropes.values(),
                *(part for robot in robots for part in robot.actuators.values()),
                *(part for robot in robots for part in robot.controllers.values()),
                *(part for robot in robots for part in robot.acoustics.values()),
            ]
            for part in parts:
                assert repr(part).startswith(f"<{type(part).__name__}")
                assert len(repr(part)) < 120 and "\n" not in repr(part)


def test_a_repr_changes_nothing() -> None:
    with skerry.load("demo") as world:
        world.advance(0.5)
        before = world.fingerprint()
        for robot in world.robots.values():
            print(robot, robot.actuators, robot.controllers, robot.acoustics, robot.sensors, robot.ropes)
        assert world.fingerprint() == before


# ------------------------------------------------------------------------------------------------ abilities

ABILITIES = (CanStop, CanGoTo, CanHold, CanHoldExternal, CanReachGoal)


@pytest.mark.parametrize(
    ("scenario", "robot", "controller", "abilities"),
    [
        ("sam_empty", "sam", "autopilot", {CanStop, CanHold, CanHoldExternal, CanReachGoal}),
        ("sam_empty", "sam", "dead_reckoning", set()),
        ("husky_yard", "husky", "drive", {CanStop}),
        ("drone_recovers_sam", "drone", "tracking", {CanGoTo}),
    ],
)
def test_a_controller_has_the_abilities_of_its_kind(
    scenario: str, robot: str, controller: str, abilities: set[type]
) -> None:
    with skerry.load(scenario) as world:
        found = world.robots[robot].controllers[controller]
        assert {ability for ability in ABILITIES if isinstance(found, ability)} == abilities


def test_a_goal_for_a_controller_without_goals_is_refused() -> None:
    from skerry.commands import GiveGoal, SendPacket
    from skerry.runner import Runner

    with skerry.load("sam_empty") as world, Runner(world, None) as runner:
        with pytest.raises(SkerryError, match="sam/dead_reckoning accepts no goals"):
            GiveGoal("sam", "dead_reckoning", {"position": (1.0, 2.0)}).apply(runner)
        with pytest.raises(SkerryError, match="no acoustic part 'modm'; did you mean 'modem'"):
            SendPacket("sam", "modm", "hello").apply(runner)
        sam: Robot = world.robots["sam"]
        assert sam.control is None
