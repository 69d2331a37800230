"""Rover on land: speed and turning by its motors, slopes, its arm, and the limits of its joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.frames import rotate
from skerry.formats.urdf_files import read_urdf
from skerry.scenario.vehicle import SHIPPED

MASS, GRAVITY, FRICTION = 15.0, 9.81, 0.6
RADIUS, AHEAD, ASIDE = 0.175, 0.325, 0.385  # of a wheel; and where it stands
STALL, NO_LOAD = 4.0, 16.0  # N m, rad/s
WHEELS = ("frontLeftWheel", "frontRightWheel", "rearLeftWheel", "rearRightWheel")
ARM = ("armBase", "shoulder", "elbow", "forearm", "differentialLeft", "differentialRight", "hand")
JOINTS = read_urdf(SHIPPED / "husky" / "robot.urdf").joints
LIMITED = [name for name, joint in JOINTS.items() if joint.kind == "revolute"]


def rover_on(terrain: dict[str, Any], z: float = 20.2, pitch_deg: float = 0.0) -> Any:
    pose = {"position": [0, 0, z], "pitch_deg": pitch_deg}
    robots = {"husky": {"vehicle": "husky", "pose": pose}}
    reference = {"latitude_deg": 0, "longitude_deg": 0}
    return skerry.load({"terrain": terrain, "robots": robots, "reference": reference})


@pytest.fixture
def world() -> Iterator[Any]:
    """Return a world with the rover at rest on level ground."""
    with rover_on({"kind": "flat", "z": 20.0}) as made:
        made.advance(2.0)
        yield made


def drive(rover: Any, left: float, right: float) -> None:
    for name in WHEELS:
        rover.actuators[name].command(power=left if "Left" in name else right)


def tilt_deg(rover: Any) -> float:
    return float(np.degrees(np.arccos(rotate(rover.pose.orientation, np.array([0.0, 0.0, 1.0]))[2])))


def wheels_on_the_ground(world: Any) -> set[str]:
    return {t.second.split("/")[1] for t in world._engine.contacts(0, "husky") if t.first == "terrain"} & set(WHEELS)


def test_the_rover_has_the_motors_and_sensors_of_its_specification(world: Any) -> None:
    rover = world.robots["husky"]
    assert set(rover.actuators) == {*WHEELS, *ARM}
    assert {"front", "rear", "upperArm", "gps", "imu", "lidar"} <= set(rover.sensors)
    assert all(rover.actuators[name].position is None for name in WHEELS)
    assert all(rover.actuators[name].position is not None for name in ARM)


def test_it_stands_still_with_its_weight_on_its_springs(world: Any) -> None:
    """Each spring of 500 N/m bears a quarter of what is not wheel or carrier, 7 kg: 34 mm; the arm may shift 2 mm."""
    rover = world.robots["husky"]
    world.advance(3.0)
    assert np.linalg.norm(rover.twist.linear) < 1e-3
    assert tilt_deg(rover) < 0.5
    for name in WHEELS:
        assert rover.joint_position(f"{name}Suspension") == pytest.approx(7.0 / 4 * GRAVITY / 500, abs=0.002)


def test_it_drives_straight_at_the_speed_of_its_motors(world: Any) -> None:
    """Without load a wheel turns with ω₀, so that v = ω₀ r = 2.8 m/s; 5 %. After 18 m it is on its line within 1 cm."""
    rover = world.robots["husky"]
    drive(rover, 1.0, 1.0)
    world.advance(8.0)
    assert rover.twist.linear[0] == pytest.approx(NO_LOAD * RADIUS, rel=0.05)
    assert rover.pose.position[0] > 15
    assert abs(rover.pose.position[1]) < 0.01
    drive(rover, -1.0, -1.0)
    world.advance(10.0)
    assert rover.twist.linear[0] == pytest.approx(-NO_LOAD * RADIUS, rel=0.05)


def test_half_the_power_is_half_the_speed(world: Any) -> None:
    """τ = τ_stall (p − ω/ω₀) is nought at p ω₀."""
    rover = world.robots["husky"]
    drive(rover, 0.5, 0.5)
    world.advance(8.0)
    assert rover.twist.linear[0] == pytest.approx(0.5 * NO_LOAD * RADIUS, rel=0.05)


@pytest.mark.parametrize("sense", [1, -1])
def test_it_turns_in_place_as_fast_as_its_motors_and_scrubbing_wheels_allow(world: Any, sense: int) -> None:
    """Skid steering by Coulomb's friction, equal loads N on wheels at (±a, ±b).

    A tyre slips by (ω r − Ω b, Ω a), and friction is opposite to it; the moments about the middle, F_x b and F_y a, are
    equal, so Ω = ω r b/(a² + b²) and F_x = μ N a/√(a² + b²). The motor's line then gives ω = ω₀ (1 − F_x r/τ_stall).
    """
    rover = world.robots["husky"]
    drive(rover, -sense, sense)
    world.advance(4.0)
    start = rover.pose.position.copy()
    rates = []
    for _ in range(40):
        world.advance(0.05)
        rates.append(rover.twist.angular[2])
    drag = FRICTION * MASS * GRAVITY / 4 * AHEAD / np.hypot(AHEAD, ASIDE)
    turning = NO_LOAD * (1 - drag * RADIUS / STALL)
    expected = sense * turning * RADIUS * ASIDE / (AHEAD**2 + ASIDE**2)
    assert np.mean(rates) == pytest.approx(expected, rel=0.05)
    assert np.linalg.norm((rover.pose.position - start)[:2]) < 0.2


def test_it_climbs_a_slope_of_15_degrees_as_fast_as_its_motors_can() -> None:
    """The wheels share m g sin θ: ω = ω₀ (1 − m g sin θ r/(4 τ_stall)), less the creep of tyres; 5 %."""
    slope = {"kind": "slope", "slope_deg": 15, "heading_deg": 90}
    ground = {"kind": "heightfield", "size": [80, 80], "resolution": 1.0, "level": 40, "function": slope}
    with rover_on(ground, z=40.21, pitch_deg=-15) as world:
        rover = world.robots["husky"]
        drive(rover, 1.0, 1.0)
        world.advance(6.0)
        load = MASS * GRAVITY * np.sin(np.radians(15)) * RADIUS / 4
        expected = NO_LOAD * (1 - load / STALL) * RADIUS
        assert rover.twist.linear[0] == pytest.approx(expected, rel=0.05)
        assert rover.pose.position[2] > 42
        assert abs(rover.pose.position[1]) < 0.5  # without steering, the seams of the ground turn it a little
        assert wheels_on_the_ground(world) == set(WHEELS)


def test_it_lifts_its_arm_and_reaches_out_without_tipping(world: Any) -> None:
    """Out to 2.1 m before its shoulder the arm's 2.4 kg are 0.9 m from the front axle; the rest balances it."""
    rover = world.robots["husky"]
    for shoulder_deg, elbow_deg in ((40, 0), (0, 60), (-60, 100), (-125, 130), (-60, 100), (0, 0)):
        rover.actuators["shoulder"].command(angle=np.radians(shoulder_deg))
        rover.actuators["elbow"].command(angle=np.radians(elbow_deg))
        for _ in range(25):
            world.advance(0.2)
            assert tilt_deg(rover) < 9  # the springs yield by 6°
        assert rover.joint_position("shoulder") == pytest.approx(np.radians(shoulder_deg), abs=0.02)
        assert rover.joint_position("elbow") == pytest.approx(np.radians(elbow_deg), abs=0.02)
        assert wheels_on_the_ground(world) == set(WHEELS)


@pytest.mark.parametrize("power", [1.0, -1.0])
def test_all_joints_keep_to_their_limits_under_gravity(power: float) -> None:
    """On a stand, so that the ground is not in the way, at 200 Hz, from end to end: within 0.5°, and at rest 0.1°."""
    robots = {"husky": {"vehicle": "husky", "anchored": True, "pose": {"position": [0, 0, 30]}}}
    with skerry.load({"robots": robots, "reference": {"latitude_deg": 0, "longitude_deg": 0}}) as world:
        rover = world.robots["husky"]
        for name in ARM:
            rover.actuators[name].command(power=power)
        for seconds, allowed_deg in ((6.0, 0.5), (2.0, 0.15)):
            for _ in range(round(seconds * 200)):
                world.advance_steps(1)
                for name in LIMITED:
                    joint, angle = JOINTS[name], rover.joint_position(name)
                    beyond = max(joint.lower - angle, angle - joint.upper)
                    assert np.degrees(beyond) < allowed_deg, name
        for name in ARM:
            motor = rover.actuators[name]
            assert motor.at_maximum == (power > 0), name
            assert motor.at_minimum == (power < 0), name
        assert rover.actuators["shoulder"].feedback == 0.0  # the limit switch has cut its power


def test_the_arm_stays_where_it_is_without_power(world: Any) -> None:
    """Behind its gears it gives way by less than 0.2° in half a minute."""
    rover = world.robots["husky"]
    rover.actuators["shoulder"].command(power=-0.5)
    world.advance(2.0)
    rover.actuators["shoulder"].command(power=0.0)
    world.advance(1.0)
    before = [rover.joint_position(name) for name in LIMITED]
    world.advance(30.0)
    after = [rover.joint_position(name) for name in LIMITED]
    np.testing.assert_allclose(after, before, atol=np.radians(0.2))
