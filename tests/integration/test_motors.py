"""Motors: the line of torque and speed, brake and friction, gears, encoders, limit switches, the wrist, the gripper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import skerry
from skerry.core.errors import SkerryError

INERTIAL = '<inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
STAND = f"""
<robot name="stand">
  <link name="base">{INERTIAL}</link>
  <link name="wheel">{INERTIAL}</link>
  <joint name="axle" type="continuous"><parent link="base"/><child link="wheel"/><axis xyz="0 1 0"/></joint>
  <link name="lever"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="revolute"><parent link="base"/><child link="lever"/><axis xyz="0 -1 0"/>
    <limit lower="-1" upper="0.5" effort="20"/></joint>
  <link name="wrist">{INERTIAL}</link>
  <joint name="pitch" type="revolute"><parent link="base"/><child link="wrist"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="1" effort="30"/></joint>
  <link name="hand">{INERTIAL}</link>
  <joint name="roll" type="revolute"><parent link="wrist"/><child link="hand"/><axis xyz="1 0 0"/>
    <limit lower="-1.5" upper="1.5" effort="30"/></joint>
  <link name="left">{INERTIAL}</link>
  <joint name="left_finger" type="revolute"><parent link="base"/><child link="left"/><axis xyz="0 0 1"/>
    <limit lower="-0.2" upper="0.4" effort="5"/></joint>
  <link name="right">{INERTIAL}</link>
  <joint name="right_finger" type="revolute"><parent link="base"/><child link="right"/><axis xyz="0 0 -1"/>
    <limit lower="-0.2" upper="0.4" effort="5"/><mimic joint="left_finger"/></joint>
</robot>
"""
WHEEL = {"kind": "wheel_motor", "link": "wheel", "stall_torque": 2.0, "no_load_rpm": 30 / np.pi * 10}
GEARED = {"kind": "joint_motor", "link": "lever", "maximum_rpm": 100.0, "gear": 20.0}
SPEED = 100 * np.pi / 30 / 20  # rad/s of the joint


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    made: list[Any] = []

    def build(actuators: Mapping[str, Any], gravity: float = 9.81) -> Any:
        (tmp_path / "robot.urdf").write_text(STAND)
        (tmp_path / "vehicle.yaml").write_text(yaml.safe_dump({"actuators": dict(actuators)}))
        robot = {"vehicle": str(tmp_path), "anchored": True, "pose": {"position": [0.0, 0.0, 50.0]}}
        made.append(skerry.load({"gravity": gravity, "robots": {"stand": robot}}))
        return made[-1].robots["stand"], made[-1]

    yield build
    for world in made:
        world.close()


# ------------------------------------------------------------------------------------------------ wheels


def test_a_wheel_runs_up_along_the_line_of_its_motor(stand: Callable[..., Any]) -> None:
    """I ω̇ = τ (1 − ω/ω₀): ω = ω₀ (1 − exp(−t τ/(I ω₀))), the time constant being 0.5 s here."""
    robot, world = stand({"motor": WHEEL})
    motor = robot.actuators["motor"]
    motor.command(power=1)
    world.advance(0.5)
    assert robot.joint_velocity("axle") == pytest.approx(10 * (1 - np.exp(-1)), rel=0.01)
    world.advance(10)
    assert robot.joint_velocity("axle") == pytest.approx(10, rel=1e-3)
    assert motor.torque == pytest.approx(0, abs=0.01)
    assert motor.position == pytest.approx(robot.joint_position("axle"))


def test_a_wheel_without_power_is_slowed_by_its_own_motor(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": WHEEL})
    robot.actuators["motor"].command(power=-1)
    world.advance(5)
    robot.actuators["motor"].command(power=0)
    world.advance(0.5)
    assert robot.joint_velocity("axle") == pytest.approx(-10 * np.exp(-1), rel=0.02)


def test_a_commanded_torque_is_limited_by_the_line(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": WHEEL | {"command": "torque"}})
    motor = robot.actuators["motor"]
    assert motor.limits == (-2.0, 2.0)
    motor.command(torque=0.5)
    world.advance(1)
    assert robot.joint_velocity("axle") == pytest.approx(0.5 / 0.1, rel=1e-6)
    assert motor.feedback == pytest.approx(0.5)
    world.advance(10)
    assert robot.joint_velocity("axle") == pytest.approx(10, rel=0.01)


def test_friction_takes_its_part_of_the_torque_and_holds_against_less(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": WHEEL | {"friction": 0.5}})
    motor = robot.actuators["motor"]
    motor.command(power=0.2)
    world.advance(5)
    assert abs(robot.joint_velocity("axle")) < 1e-6
    motor.command(power=1)
    world.advance(10)
    assert robot.joint_velocity("axle") == pytest.approx(10 * (1 - 0.5 / 2), rel=0.01)


def test_a_brake_stops_the_wheel_and_releases_it(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": WHEEL | {"brake": 20}})
    motor = robot.actuators["motor"]
    motor.command(power=1)
    world.advance(5)
    assert robot.joint_velocity("axle") == pytest.approx(10, rel=0.01)
    motor.command(power=0.04)
    world.advance(0.3)
    assert abs(robot.joint_velocity("axle")) < 1e-3
    motor.command(power=-1)
    world.advance(5)
    assert robot.joint_velocity("axle") == pytest.approx(-10, rel=0.01)


def test_a_wheel_may_have_no_encoder_and_turn_the_other_way(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": WHEEL | {"encoder": False, "reverse": True}})
    robot.actuators["motor"].command(power=1)
    world.advance(5)
    assert robot.actuators["motor"].position is None
    assert robot.actuators["motor"].feedback == 1
    assert robot.joint_velocity("axle") == pytest.approx(-10, rel=0.01)


# ------------------------------------------------------------------------------------------------ joints


@pytest.mark.parametrize("reverse", [False, True])
def test_power_is_speed_behind_the_gear_and_the_encoder_is_before_it(stand: Callable[..., Any], reverse: bool) -> None:
    robot, world = stand({"motor": GEARED | {"reverse": reverse}})
    motor = robot.actuators["motor"]
    motor.command(power=-0.5 if not reverse else 0.5)
    world.advance(0.5)
    start = robot.joint_position("elbow")
    world.advance(1)
    assert robot.joint_position("elbow") - start == pytest.approx(-0.5 * SPEED, rel=0.01)
    assert motor.position == pytest.approx((-20 if reverse else 20) * robot.joint_position("elbow"))


def test_limit_switches_cut_the_power_at_both_ends_and_allow_the_way_back(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": GEARED})
    motor = robot.actuators["motor"]
    for power, end, at in ((1.0, 0.5, (False, True)), (-1.0, -1.0, (True, False))):
        motor.command(power=power)
        world.advance(0.1)
        assert motor.feedback == power
        world.advance(6)
        assert (motor.at_minimum, motor.at_maximum) == at
        assert (motor.setpoint, motor.feedback) == (power, 0.0)
        assert robot.joint_position("elbow") == pytest.approx(end, abs=0.011)


def test_a_motor_goes_to_an_angle_and_stays_there(stand: Callable[..., Any]) -> None:
    robot, world = stand({"motor": GEARED | {"rotor_inertia": 1e-3}})
    motor = robot.actuators["motor"]
    motor.command(angle=-0.7)
    world.advance(6)
    assert robot.joint_position("elbow") == pytest.approx(-0.7, abs=1e-3)
    middle = world.snapshot()
    motor.command(angle=9)
    world.advance(6)
    assert robot.joint_position("elbow") == pytest.approx(0.5, abs=0.01)
    world.restore(middle)
    world.advance(2)
    assert robot.joint_position("elbow") == pytest.approx(-0.7, abs=1e-3)
    for value in ({"angle": float("nan")}, {"angles": 1.0}, {"angle": 1.0, "power": 1.0}):
        with pytest.raises(SkerryError, match=r"angle|power"):
            motor.command(**value)
        with pytest.raises(SkerryError, match=r"angle|power"):
            motor.check(**value)
    motor.check(angle=0.1)


def test_a_motor_too_weak_for_its_load_slips_and_does_not_catch_up(stand: Callable[..., Any]) -> None:
    """The arm weighs 1 kg at 0.5 m: 4.9 N m; at ten times the gravity 20 N m do not hold it."""
    robot, world = stand({"motor": GEARED}, gravity=98.1)
    robot.actuators["motor"].command(power=1)
    world.advance(3)
    assert robot.joint_position("elbow") < -0.9


# ------------------------------------------------------------------------------------------------ wrist and gripper


def wrist() -> dict[str, Any]:
    motor = {"kind": "wrist_pair", "link": "hand", "maximum_rpm": 100.0, "gear": 20.0, "rotor_inertia": 1e-4}
    return {"a": motor | {"side": "left"}, "b": motor | {"side": "right"}}


def test_the_pitch_is_half_the_sum_of_the_gears_and_the_roll_half_their_difference(stand: Callable[..., Any]) -> None:
    robot, world = stand(wrist())
    a, b = robot.actuators["a"], robot.actuators["b"]
    for left, right in ((0.6, 0.6), (0.5, -0.5), (-0.8, 0.1)):
        a.command(angle=left)
        b.command(angle=right)
        world.advance(5)
        assert robot.joint_position("pitch") == pytest.approx((left + right) / 2, abs=2e-3)
        assert robot.joint_position("roll") == pytest.approx((left - right) / 2, abs=2e-3)
        assert (a.position, b.position) == pytest.approx((20 * left, 20 * right), abs=0.05)


def test_equal_power_pitches_and_opposite_power_rolls(stand: Callable[..., Any]) -> None:
    robot, world = stand(wrist())
    for left, right in ((-1, -1), (1, -1)):
        before = robot.joint_position("pitch"), robot.joint_position("roll")
        robot.actuators["a"].command(power=left)
        robot.actuators["b"].command(power=right)
        world.advance(1)
        after = robot.joint_position("pitch"), robot.joint_position("roll")
        expected = SPEED * (left + right) / 2, SPEED * (left - right) / 2
        assert np.subtract(after, before) == pytest.approx(expected, abs=0.05)


def test_a_wrist_needs_its_limits_in_order(stand: Callable[..., Any]) -> None:
    with pytest.raises(SkerryError, match="minimum_angle"):
        stand({"a": wrist()["a"] | {"minimum_angle": 2.0}})


def test_a_gripper_opens_and_closes_both_fingers(stand: Callable[..., Any]) -> None:
    settings = {"kind": "gripper", "link": "left", "maximum_rpm": 100.0, "gear": 20.0, "rotor_inertia": 1e-3}
    robot, world = stand({"grip": settings})
    grip = robot.actuators["grip"]
    assert grip.setpoint == pytest.approx(1 / 3)
    for opening, angle in ((1.0, 0.4), (0.0, -0.2), (0.5, 0.1)):
        grip.command(opening=opening)
        world.advance(4)
        assert grip.feedback == pytest.approx(opening, abs=0.02)
        assert robot.joint_position("left_finger") == pytest.approx(angle, abs=0.01)
        assert robot.joint_position("right_finger") == pytest.approx(angle, abs=0.02)
    grip.command(power=1)
    world.advance(4)
    assert grip.at_maximum
    assert grip.setpoint == pytest.approx(1.0, abs=0.03)
    grip.check(power=1)
    with pytest.raises(SkerryError, match="opening"):
        grip.check(pwoer=1)


def test_a_gripper_presses_no_harder_than_its_force(stand: Callable[..., Any]) -> None:
    """2 N at 0.1 m are 0.2 N m: that much moves the finger's 0.1 kg m² and what follows it by 1 rad/s² at most."""
    settings = {"kind": "gripper", "link": "left", "maximum_rpm": 1000.0, "force": 2.0, "finger_length": 0.1}
    robot, world = stand({"grip": settings})
    robot.actuators["grip"].command(opening=1)
    world.advance(0.1)
    assert 0.5 * 0.1 < robot.joint_velocity("left_finger") < 2.0 * 0.1


# ------------------------------------------------------------------------------------------------ tyres


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"forces": {"frontLeftTyre": {"link": "frontLeftWeel"}}}, "did you mean 'frontLeftWheel'"),
        ({"forces": {"frontLeftTyre": {"motor": "frontLeftWeel"}}}, "did you mean 'frontLeftWheel'"),
        ({"forces": {"frontLeftTyre": {"motor": "shoulder"}}}, "with the state 'braked' was not found"),
        ({"forces": {"frontLeftTyre": {"link": "turret"}}}, "a tyre needs a continuous joint above its link"),
        ({"actuators": {"rearLeftWheel": {"brake_with": ["frontLeftWeel"]}}}, "did you mean 'frontLeftWheel'"),
    ],
)
def test_a_wrong_tyre_is_refused_with_a_guess(overrides: dict[str, Any], message: str) -> None:
    robot = {"vehicle": "husky", "overrides": overrides}
    with pytest.raises(SkerryError, match=message):
        skerry.load({"robots": {"rover": robot}, "reference": {"latitude_deg": 0, "longitude_deg": 0}})
