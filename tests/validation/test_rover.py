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

MASS, GRAVITY = 15.0, 9.81
RADIUS, AHEAD, ASIDE = 0.175, 0.325, 0.385  # of a wheel; and where it stands
STALL, NO_LOAD = 4.0, 16.0  # N m, rad/s
SLIP_STIFFNESS, SLIP_SPEED = 4.7, 3.0  # of a tyre; and m/s
SERVER_TURN_RATE = 2 * 0.75 / 1.40  # rad/s at ±1: the drive model of the team's server, v = 0.75 m/s, base 1.40 m
REFERENCE = {"latitude_deg": 0, "longitude_deg": 0}
WHEELS = ("frontLeftWheel", "frontRightWheel", "rearLeftWheel", "rearRightWheel")
ARM = ("armBase", "shoulder", "elbow", "forearm", "differentialLeft", "differentialRight", "hand")
JOINTS = read_urdf(SHIPPED / "husky" / "robot.urdf").joints
# Limits of motors that are narrower than the range of the joint. The hand rolls by half the range of the gears.
LIMITS_DEG = {"armBase": (-200, 200), "elbow": (-35, 150), "forearmRoll": (-180, 180), "wristRoll": (-83.4, 83.4)}
LIMITS_DEG |= {"leftFingerHinge": (-12.04, 25), "rightFingerHinge": (-12.04, 25)}
LIMITED = [name for name, joint in JOINTS.items() if joint.kind == "revolute"]


def rover_on(terrain: dict[str, Any], z: float = 20.2, pitch_deg: float = 0.0) -> Any:
    pose = {"position": [0, 0, z], "pitch_deg": pitch_deg}
    robots = {"husky": {"vehicle": "husky", "pose": pose}}
    return skerry.load({"terrain": terrain, "robots": robots, "reference": REFERENCE})


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


def settled(world: Any, left: float, right: float) -> tuple[float, float, float, float]:
    """Return speed, rate of turn, and the speeds of the left and right treads, as means over 2 s after 4 s."""
    rover, rows = world.robots["husky"], []
    drive(rover, left, right)
    world.advance(4.0)
    angles = [[rover.joint_position(f"{name}Axle") for name in WHEELS]]
    for _ in range(40):
        world.advance(0.05)
        rows.append([rover.twist.linear[0], rover.twist.angular[2]])
    angles.append([rover.joint_position(f"{name}Axle") for name in WHEELS])
    treads = (np.array(angles[1]) - angles[0]) * RADIUS / 2.0
    speed, rate = np.mean(rows, axis=0)
    return float(speed), float(rate), float(treads[[0, 2]].mean()), float(treads[[1, 3]].mean())


@pytest.mark.parametrize("power", [0.2, -0.3, 0.5, 0.7, -1.0])
def test_it_turns_in_place_as_fast_as_its_motors_and_slipping_tyres_allow(world: Any, power: float) -> None:
    """Skid steering with F = −c s, c = μ N B/V₀, equal loads N on wheels at (±a, ±b).

    A tyre slips by (V − Ω b, Ω a); the moments about the middle, F_x b and F_y a, are equal, so Ω = V b/(a² + b²) and
    F_x = c V a²/(a² + b²). The motor's line gives τ_stall (p − V/(r ω₀)) = F_x r. The tyre's curve is up to 7 % above
    its slope at full power: 8 %.
    """
    start = world.robots["husky"].pose.position.copy()
    _, rate, _, _ = settled(world, -power, power)
    spread = AHEAD**2 + ASIDE**2
    slope = MASS * GRAVITY / 4 * SLIP_STIFFNESS / SLIP_SPEED * AHEAD**2 / spread
    tread = power * STALL / (STALL / (NO_LOAD * RADIUS) + slope * RADIUS)
    assert rate == pytest.approx(tread * ASIDE / spread, rel=0.08)
    assert rate == pytest.approx(power * SERVER_TURN_RATE, rel=0.08)
    assert np.linalg.norm((world.robots["husky"].pose.position - start)[:2]) < 0.2


@pytest.mark.parametrize(
    ("left", "right"), [(1.0, 0.0), (0.2, 0.0), (0.75, 0.25), (0.4, 0.2), (0.2, 1.0), (-1.0, -0.6), (-0.2, 0.2)]
)
def test_turns_follow_constant_instantaneous_centres_of_rotation(world: Any, left: float, right: float) -> None:
    """v = (V_l + V_r)/2 and Ω = (V_r − V_l)/B (Mandow et al. 2007), B = 2 (a² + b²)/b of equal linear tyres.

    By power, the server's drive model expects Ω = 61.4 °/s (p_r − p_l)/2, and 2.8 m/s are the motors' no-load speed.
    The load on the wheels shifts in a turn, and tyres are not quite linear: 8 %.
    """
    speed, rate, tread_left, tread_right = settled(world, left, right)
    assert rate == pytest.approx((tread_right - tread_left) * ASIDE / (2 * (AHEAD**2 + ASIDE**2)), rel=0.08)
    assert speed == pytest.approx((tread_left + tread_right) / 2, rel=0.08, abs=0.01)
    assert rate == pytest.approx(SERVER_TURN_RATE * (right - left) / 2, rel=0.08)
    assert speed == pytest.approx(NO_LOAD * RADIUS * (left + right) / 2, rel=0.08, abs=0.01)


SLOPE = {"kind": "slope", "slope_deg": 15, "heading_deg": 90}
SLOPING = {"kind": "heightfield", "size": [80, 80], "resolution": 1.0, "level": 40, "function": SLOPE}


@pytest.mark.parametrize("power", [0.0, 0.05, -0.05])
@pytest.mark.parametrize("yaw_deg", [0.0, 90.0])
def test_parked_on_a_slope_of_15_degrees_it_stays_where_it_is(yaw_deg: float, power: float) -> None:
    """Friction angle 45°, brakes that hold more than the tyres: no creep, only the spring of the tread, < 1 mm."""
    tilt = {"pitch_deg": -15.0} if yaw_deg == 0.0 else {"roll_deg": -15.0}
    robots = {"husky": {"vehicle": "husky", "pose": {"position": [0, 0, 40.21], "yaw_deg": yaw_deg, **tilt}}}
    with skerry.load({"terrain": SLOPING, "robots": robots, "reference": REFERENCE}) as world:
        rover = world.robots["husky"]
        drive(rover, power, power)
        world.advance(2.0)
        before = rover.pose.position.copy()
        world.advance(60.0)
        assert np.linalg.norm(rover.pose.position - before) < 1e-3


def test_it_stops_and_holds_on_a_slope_when_its_powers_go_to_zero() -> None:
    """Downhill at 1.4 m/s and more, locked wheels brake with up to μ g cos θ − g sin θ = 6.9 m/s²: within 1 m."""
    with rover_on(SLOPING, z=40.21, pitch_deg=-15) as world:
        rover = world.robots["husky"]
        drive(rover, -0.5, -0.5)
        world.advance(4.0)
        assert rover.twist.linear[0] < -1.4
        stopping = rover.pose.position.copy()
        drive(rover, 0.0, 0.0)
        world.advance(2.0)
        stopped = rover.pose.position.copy()
        assert np.linalg.norm(stopped - stopping) < 1.0
        world.advance(60.0)
        assert np.linalg.norm(rover.pose.position - stopped) < 1e-3


def test_a_tyre_pushes_the_body_below_it_as_much_as_itself() -> None:
    """On a plate of 200 kg on ice, 15 kg that reach 2.8 m/s over it leave the momentum of both at 0, within 2 %."""
    plate = {"geometry": {"kind": "box", "size": [12, 3, 0.2]}, "motion": "dynamic", "mass": 200, "friction": 0}
    plate |= {"pose": {"position": [0, 0, 20.1]}, "volume": 0.0, "added_mass": [0.0] * 6}
    robots = {"husky": {"vehicle": "husky", "pose": {"position": [-4, 0, 20.42]}}}
    ground = {"kind": "flat", "z": 20.0, "friction": 0.0}
    source = {"terrain": ground, "objects": {"plate": plate}, "robots": robots, "reference": REFERENCE}
    with skerry.load(source) as world:
        rover, under = world.robots["husky"], world.objects["plate"]
        world.advance(2.0)
        drive(rover, 1.0, 1.0)
        world.advance(2.0)
        assert rover.twist.linear[0] > 2.0
        assert 200 * under.twist.linear[0] == pytest.approx(-MASS * rover.twist.linear[0], rel=0.02)


def test_it_climbs_a_slope_of_15_degrees_as_fast_as_its_motors_can() -> None:
    """The wheels share m g sin θ: ω = ω₀ (1 − m g sin θ r/(4 τ_stall)), and slip by V₀ tan θ/B m/s; 5 %."""
    with rover_on(SLOPING, z=40.21, pitch_deg=-15) as world:
        rover = world.robots["husky"]
        drive(rover, 1.0, 1.0)
        world.advance(6.0)
        load = MASS * GRAVITY * np.sin(np.radians(15)) * RADIUS / 4
        expected = NO_LOAD * (1 - load / STALL) * RADIUS - SLIP_SPEED * np.tan(np.radians(15)) / SLIP_STIFFNESS
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
                    low, high = LIMITS_DEG.get(name, np.degrees([JOINTS[name].lower, JOINTS[name].upper]))
                    angle = np.degrees(rover.joint_position(name))
                    beyond = max(low - angle, angle - high)
                    assert beyond < allowed_deg, name
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
