"""The protocol of Husky Robotics as data: reports, requests, profiles, streams and the console, without sockets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from math import pi, radians
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import (
    ENU_TO_UNITY,
    FLU_TO_UNITY,
    Pose,
    convert_pose,
    normalise,
    rpy_to_quaternion,
)
from skerry.interfaces.husky import Husky
from skerry.interfaces.husky.cameras import AHEAD, camera_as_asked
from skerry.interfaces.husky.console import Console
from skerry.interfaces.husky.link import MOST_WAITING, Link
from skerry.interfaces.husky.messages import (
    BadRequest,
    CloseStream,
    MotorPosition,
    MotorPower,
    OpenStream,
    camera_picture,
    encode,
    gps_position,
    imu_orientation,
    lidar_points,
    limit_switch,
    motor_status,
    read_request,
    true_pose,
)
from skerry.interfaces.husky.motors import motors_of
from skerry.interfaces.husky.profiles import LATEST, SPEC
from skerry.interfaces.husky.rover import HuskyInterface
from skerry.parts.interface import Command
from skerry.runner import Runner
from skerry.sensors.camera import Camera
from skerry.sensors.gps import GpsReading
from skerry.sensors.imu import ImuReading
from skerry.sensors.lidar import PlanarReading
from skerry.world import World
from skerry.world.sampling.mounted_sensor import MountedSensor

WHEELS = ("frontLeftWheel", "frontRightWheel", "rearLeftWheel", "rearRightWheel")
ARM = ("armBase", "shoulder", "elbow", "forearm", "differentialLeft", "differentialRight", "hand")
K = (649.36764773277400, 647.76804982533793, 335.46152305967058, 247.85660889077488)  # of the team's own cameras
EAST, NORTH = np.array([0.0, 0.0, 0.0, 1.0]), rpy_to_quaternion([0.0, 0.0, pi / 2])


# ------------------------------------------------------------------------------------------------ reports


def test_a_motor_tells_its_power_and_whole_millidegrees_towards_zero() -> None:
    told = encode(motor_status("elbow", -0.25, 12.3459))
    assert told == '{"type":"simMotorStatusReport","motor":"elbow","power":-0.25,"position":12345}'
    assert motor_status("elbow", 0.0, -12.3459)["position"] == -12345


def test_a_motor_without_an_encoder_tells_null() -> None:
    told = encode(motor_status("rearLeftWheel", 1.0, None))
    assert told == '{"type":"simMotorStatusReport","motor":"rearLeftWheel","power":1.0,"position":null}'


@pytest.mark.parametrize(("word", "name"), [("alert", "simLimitSwitchAlert"), ("report", "simLimitSwitchReport")])
def test_a_limit_switch_is_told_in_either_way(word: str, name: str) -> None:
    told = encode(limit_switch("hand", "minimum", word))
    assert told == f'{{"type":"{name}","motor":"hand","limit":"minimum"}}'


def test_a_picture_is_base64_of_its_jpeg() -> None:
    told = encode(camera_picture("front", b"\xff\xd8\xff\xe0"))
    assert told == '{"type":"simCameraStreamReport","camera":"front","data":"/9j/4A=="}'


def test_the_true_pose_is_north_west_up_with_no_turn_towards_north() -> None:
    told = true_pose(Pose([2.0, 5.0, 20.0], NORTH))
    assert told["position"] == {"x": 5.0, "y": -2.0, "z": 20.0}
    assert [told["rotation"][axis] for axis in "xyzw"] == pytest.approx([0, 0, 0, 1], abs=1e-15)


def test_a_rover_that_looks_west_has_turned_a_quarter_anticlockwise() -> None:
    rotation = true_pose(Pose([0.0, 0.0, 0.0], rpy_to_quaternion([0.0, 0.0, pi])))["rotation"]
    assert [rotation[axis] for axis in "xyzw"] == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])


def test_axes_are_those_that_the_original_makes_of_unitys() -> None:
    """Position (z, −x, y) and quaternion (−z, x, −y, w) of Unity's, as the original converts them; q and −q are one."""
    random = np.random.default_rng(5)
    for _ in range(20):
        pose = Pose(random.normal(size=3), normalise(random.normal(size=4)))
        unity = convert_pose(pose, ENU_TO_UNITY, FLU_TO_UNITY)
        (x, y, z), (i, j, k, w) = unity.position, unity.orientation
        told = true_pose(pose)
        assert [told["position"][axis] for axis in "xyz"] == pytest.approx([z, -x, y])
        ours = np.array([told["rotation"][axis] for axis in "xyzw"])
        assert abs(ours @ np.array([-k, i, -j, w])) == pytest.approx(1.0)


def test_a_fix_always_has_its_altitude() -> None:
    reading = GpsReading(0.0, 1e-5, -2e-5, 20.5, 0.0, 0.0, 31, "N", np.zeros((3, 3)))
    assert encode(gps_position(reading)) == (
        '{"type":"simGpsPositionReport","latitude":1e-05,"longitude":-2e-05,"altitude":20.5}'
    )


def test_the_imu_tells_the_attitude_from_north() -> None:
    none = np.zeros(3)
    reading = ImuReading(0.0, EAST, none, none, *(np.zeros((3, 3)),) * 3)
    told = imu_orientation(reading)
    assert told["type"] == "simImuOrientationReport"
    assert [told[axis] for axis in "xyzw"] == pytest.approx([0, 0, -(0.5**0.5), 0.5**0.5])


def test_lidar_points_are_anticlockwise_from_the_front_and_without_misses() -> None:
    ranges = np.array([1.0, np.inf, 3.0, 4.5], np.float32)
    reading = PlanarReading(
        0.0, -pi / 2, pi / 2, 0.0, 0.1, 12.0, ranges, ranges, np.zeros((3, 3), np.float32), Pose.identity()
    )
    assert lidar_points(reading) == {
        "type": "simLidarReport",
        "points": [{"r": 1.0, "theta": 1.5 * pi}, {"r": 3.0, "theta": 0.5 * pi}, {"r": 4.5, "theta": pi}],
    }


def test_a_scan_that_meets_nothing_is_an_empty_list() -> None:
    ranges = np.full(4, np.inf, np.float32)
    reading = PlanarReading(
        0.0, 0.0, pi / 2, 0.0, 0.1, 12.0, ranges, ranges, np.zeros((0, 3), np.float32), Pose.identity()
    )
    assert encode(lidar_points(reading)) == '{"type":"simLidarReport","points":[]}'


def test_an_angle_just_below_zero_is_not_a_whole_turn() -> None:
    ranges = np.ones(1, np.float32)
    reading = PlanarReading(
        0.0, -1e-17, 0.1, 0.0, 0.1, 12.0, ranges, ranges, np.zeros((1, 3), np.float32), Pose.identity()
    )
    assert lidar_points(reading)["points"][0]["theta"] == 0.0


def test_numbers_that_are_none_are_never_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode(motor_status("hand", float("nan"), None))


# ------------------------------------------------------------------------------------------------ requests


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ('{"motor":"hand","power":0.5,"type":"simMotorPowerRequest"}', MotorPower("hand", 0.5)),
        ('{"motor":"hand","power":1.0000001,"type":"simMotorPowerRequest"}', MotorPower("hand", 1.0)),
        (b'{"motor":"hand","power":-1,"type":"simMotorPowerRequest"}', MotorPower("hand", -1.0)),
        ('{"motor":"elbow","position":-140500,"type":"simMotorPositionRequest"}', MotorPosition("elbow", -140.5)),
        ('{"camera":"rear","type":"simCameraStreamCloseRequest"}', CloseStream("rear")),
        (
            '{"camera":"mast","fps":30,"height":720,"intrinsics":null,"type":"simCameraStreamOpenRequest","width":1280}',
            OpenStream("mast", 30.0, 1280, 720, None),
        ),
        (
            '{"type":"simCameraStreamOpenRequest","camera":"rear","fps":20.0,"width":640.0,"height":480}',
            OpenStream("rear", 20.0, 640, 480, None),
        ),
    ],
)
def test_requests_are_read(text: str | bytes, request_: object) -> None:
    assert read_request(text) == request_


@pytest.mark.parametrize("key", ["intrinsics", "intrinsicParameters"])
def test_intrinsics_are_read_by_either_key(key: str) -> None:
    fx, fy, cx, cy = K
    matrix = [fx, 0, cx, 0, fy, cy, 0, 0, 1]
    message = {"type": "simCameraStreamOpenRequest", "camera": "front", "fps": 20, "width": 640, "height": 480}
    asked = read_request(json.dumps({**message, key: matrix}))
    assert isinstance(asked, OpenStream)
    assert asked.intrinsics == K


OPEN = {"type": "simCameraStreamOpenRequest", "camera": "front", "fps": 20, "width": 640, "height": 480}
BAD: list[Any] = [
    "",
    "{",
    "NaN",
    "[" * 100_000,
    '{"type":' + "[" * 900 + "]" * 900 + "}",
    b"\xff\xfe\x00",
    "[1, 2]",
    "null",
    '"simMotorPowerRequest"',
    {},
    {"type": None},
    {"type": 7},
    {"type": ["simMotorPowerRequest"]},
    {"type": "simServoPositionRequest", "servo": "x", "position": 3},
    {"type": "simMotorPowerRequest"},
    {"type": "simMotorPowerRequest", "motor": None, "power": 0.5},
    {"type": "simMotorPowerRequest", "motor": "hand", "power": None},
    {"type": "simMotorPowerRequest", "motor": "hand", "power": "0.5"},
    {"type": "simMotorPowerRequest", "motor": "hand", "power": True},
    {"type": "simMotorPowerRequest", "motor": "hand", "power": 1.5},
    {"type": "simMotorPowerRequest", "motor": "hand", "power": float("nan")},
    {"type": "simMotorPowerRequest", "motor": "hand", "power": float("inf")},
    {"type": "simMotorPositionRequest", "motor": "hand", "position": 10**400},
    {"type": "simMotorPositionRequest", "motor": "hand", "position": []},
    OPEN | {"fps": 0},
    OPEN | {"fps": None},
    OPEN | {"width": 0},
    OPEN | {"width": 640.5},
    OPEN | {"height": 1e9},
    OPEN | {"width": 4096, "height": 4096},
    OPEN | {"intrinsics": [1, 2, 3]},
    OPEN | {"intrinsics": [0, 0, 320, 0, 0, 240, 0, 0, 1]},
    OPEN | {"intrinsics": [600, 0, None, 0, 600, 240, 0, 0, 1]},
    OPEN | {"intrinsics": [1e-9, 0, 320, 0, 600, 240, 0, 0, 1]},
    OPEN | {"intrinsics": [600, 0, 320, 0, 600, 1e200, 0, 0, 1]},
    OPEN | {"intrinsics": {"fx": 600}},
    {"type": "simCameraStreamCloseRequest"},
]


@pytest.mark.parametrize("message", BAD, ids=lambda message: str(message)[:50])
def test_what_is_no_request_is_refused_in_words(message: Any) -> None:
    text = message if isinstance(message, str | bytes) else json.dumps(message)
    with pytest.raises(BadRequest, match=r"\w+ \w+"):
        read_request(text)


# ------------------------------------------------------------------------------------------------ a rover


def rover_world(**more: Any) -> World:
    """The rover held in the air, level, in front of nothing."""
    robots = {"rover": {"vehicle": "husky", "anchored": True, "pose": {"position": [3, 4, 30], "yaw_deg": 90}}}
    return skerry.load({"robots": robots, "reference": {"latitude_deg": 0, "longitude_deg": 0}, **more})


@pytest.fixture
def world() -> Iterator[World]:
    with rover_world() as made:
        yield made


class Wire:
    """Where a socket would be: keeps what is sent."""

    def __init__(self) -> None:
        self.connected = True
        self.status = "wire"
        self.reports: list[dict[str, Any]] = []
        self.pictures: list[str] = []

    def start(self) -> None: ...

    def close(self) -> None: ...

    def send(self, reports: Iterable[str]) -> None:
        self.reports += [json.loads(report) for report in reports]

    def send_picture(self, camera: str, text: str) -> None:
        self.pictures.append(camera)

    def said(self, kind: str, motor: str | None = None) -> list[dict[str, Any]]:
        return [each for each in self.reports if each["type"] == kind and motor in (None, each.get("motor"))]


def wired(**settings: Any) -> tuple[HuskyInterface, Wire]:
    interface = Husky.model_validate(settings).build()
    assert isinstance(interface, HuskyInterface)
    wire = Wire()
    interface.link.close()
    interface.link = wire  # type: ignore[assignment]
    return interface, wire


def ask(interface: HuskyInterface, kind: str, **more: Any) -> None:
    interface.hear(json.dumps({"type": f"sim{kind}Request", **more}))


def test_every_report_comes_at_the_rate_of_the_original(world: World) -> None:
    """30 Hz of each of 11 motors and of the pose, 20 Hz of GPS and IMU, 10 Hz of the lidar; the first at the start."""
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(2.0)
    counts = Counter(report["type"] for report in wire.reports)
    motors = Counter(report.get("motor") for report in wire.said("simMotorStatusReport"))
    assert set(motors) == {*WHEELS, *ARM}
    assert set(motors.values()) == {61}
    assert counts["simRoverTruePoseReport"] == 61
    assert abs(counts["simGpsPositionReport"] - 40) <= 1
    assert abs(counts["simImuOrientationReport"] - 40) <= 1
    assert abs(counts["simLidarReport"] - 20) <= 1
    assert set(counts) == {
        "simMotorStatusReport",
        "simRoverTruePoseReport",
        "simGpsPositionReport",
        "simImuOrientationReport",
        "simLidarReport",
    }


def test_all_other_rates_hold_while_three_cameras_ask_for_more_than_the_machine_gives(world: World) -> None:
    """Counted in simulated time: nothing waits for pictures, and no camera gives more of them than was asked for."""
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for camera in ("front", "rear", "upperArm"):
            ask(interface, "CameraStreamOpen", camera=camera, fps=20, width=320, height=240)
        runner.run(1.95)
        while len(wire.pictures) < 6:
            runner.run(2.0)
        seconds = round(world.time)
        interface.close()
    counts = Counter(report["type"] for report in wire.reports)
    motors = Counter(report["motor"] for report in wire.said("simMotorStatusReport"))
    assert set(motors.values()) == {30 * seconds + 1}
    assert counts["simRoverTruePoseReport"] == 30 * seconds + 1
    for kind, frequency in (("GpsPosition", 20), ("ImuOrientation", 20), ("Lidar", 10)):
        assert abs(counts[f"sim{kind}Report"] - frequency * seconds) <= 1
    pictures = Counter(wire.pictures)
    assert len(pictures) == 3
    assert max(pictures.values()) <= 20 * seconds
    # they are begun in turn; of two threads that take them, one may be held up by the machine for a round
    assert max(pictures.values()) - min(pictures.values()) <= 2


def test_what_takes_long_the_first_time_is_done_before_there_is_a_connection(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    interface, wire = wired()
    order: list[str] = []
    names = {id(part): name for name, part in world.robots["rover"].sensors.items()}
    monkeypatch.setattr(MountedSensor, "rehearse", lambda part: order.append(names[id(part)]))
    monkeypatch.setattr(wire, "start", lambda: order.append("connect"))
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.01)
    assert sorted(order[:-1]) == ["front", "gps", "imu", "lidar"]
    assert order[-1] == "connect"


def test_nothing_is_said_or_measured_without_a_connection(world: World) -> None:
    interface, wire = wired()
    wire.connected = False
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.2)
        ask(interface, "CameraStreamOpen", camera="front", fps=20, width=32, height=24)
        runner.run(0.2)
    assert not wire.reports
    assert not wire.pictures
    assert not interface.wanted
    assert interface.next_due(0) is None


def test_the_origin_is_null_island_and_metres_are_those_of_the_ellipsoid(world: World) -> None:
    """At (3, 4) m, 110 574 m to a degree of latitude and 111 319 m to one of longitude (WGS 84 at the equator).

    The noise is 0.15 m, so the mean of 200 fixes is within 5 × 0.15/√200 = 0.053 m; the grid's scale adds 0.1 %.
    """
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(10.0)
    fixes = wire.said("simGpsPositionReport")
    north = np.array([fix["latitude"] * 110_574.28 for fix in fixes])
    east = np.array([fix["longitude"] * 111_319.49 for fix in fixes])
    assert north.mean() == pytest.approx(4.0, abs=0.06)
    assert east.mean() == pytest.approx(3.0, abs=0.06)
    assert north.std() == pytest.approx(0.15, rel=0.25)  # 5 of 1/√(2 × 200)
    assert fixes[0]["altitude"] == pytest.approx(30.0, abs=1.0)


def test_power_turns_wheels_and_holds_without_being_repeated(world: World) -> None:
    """The documented simulator has no watchdog, while the vehicle's own would bite after a second."""
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        ask(interface, "MotorPower", motor="frontLeftWheel", power=0.5)
        runner.run(3.0)
    assert wire.said("simMotorStatusReport", "frontLeftWheel")[-1] == {
        "type": "simMotorStatusReport",
        "motor": "frontLeftWheel",
        "power": 0.5,
        "position": None,
    }
    assert world.robots["rover"].joint_velocity("frontLeftWheelAxle") == pytest.approx(8.0, rel=0.01)  # half of 16


@pytest.mark.parametrize(
    ("motor", "position"),
    [("armBase", 4_500_000), ("shoulder", -1_000_000), ("differentialLeft", 500_000), ("hand", 600_000)],
)
def test_a_position_is_one_of_the_motors_shaft_and_is_reached(world: World, motor: str, position: int) -> None:
    """Gear 54: 54° of the shaft are a degree of the joint; within 20° of the shaft under the arm's weight, and held."""
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        ask(interface, "MotorPosition", motor=motor, position=position)
        runner.run(5.0)
    told = wire.said("simMotorStatusReport", motor)[-1]["position"]
    assert isinstance(told, int)
    assert told == pytest.approx(position, abs=20_000)


def test_a_limit_switch_is_told_once_each_time_that_it_closes(world: World) -> None:
    """200° at 44.4°/s are 4.5 s; the power is then taken, and it is told again only after leaving and coming back."""
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        ends = []
        for power in (1, -0.2, 1, -1):
            runner.run(0.1)
            ask(interface, "MotorPower", motor="armBase", power=power)
            runner.run(10.0 if abs(power) == 1 else 1.0)
            ends.append(wire.said("simMotorStatusReport", "armBase")[-1])
    told = wire.said("simLimitSwitchAlert")
    assert [alert["limit"] for alert in told] == ["maximum", "maximum", "minimum"]
    assert {alert["motor"] for alert in told} == {"armBase"}
    assert [end["power"] for end in ends] == [0.0, -0.2, 0.0, 0.0]
    assert ends[0]["position"] == pytest.approx(9_000_000, rel=0.01)
    assert ends[3]["position"] == pytest.approx(-9_000_000, rel=0.01)


def test_the_hand_says_nothing_at_its_maximum(world: World) -> None:
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        for power in (1, -1):
            runner.run(0.1)
            ask(interface, "MotorPower", motor="hand", power=power)
            runner.run(3.0)
    assert [(alert["motor"], alert["limit"]) for alert in wire.said("simLimitSwitchAlert")] == [("hand", "minimum")]


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ({}, {"simLimitSwitchAlert"}),
        ({"limit_message": "report"}, {"simLimitSwitchReport"}),
        ({"limit_message": "off"}, set()),
        ({"profile": "latest"}, {"simLimitSwitchReport"}),
    ],
)
def test_how_a_limit_is_told_is_the_profiles_or_the_settings(
    world: World, settings: dict[str, Any], kinds: set[str]
) -> None:
    interface, wire = wired(**settings)
    sign = -1 if interface.config.profile == "latest" else 1
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        ask(interface, "MotorPower", motor="elbow", power=-sign)  # 35° at 37°/s
        runner.run(0.8)
        ask(interface, "MotorPower", motor="elbow", power=-sign)
        runner.run(0.8)
    assert {report["type"] for report in wire.reports if "Limit" in report["type"]} == kinds


def test_unknown_motors_and_cameras_are_told_of_once_each(world: World, caplog: pytest.LogCaptureFixture) -> None:
    interface, _ = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for _ in range(3):
            for motor in ("drillMotor", "fourbar1"):
                ask(interface, "MotorPower", motor=motor, power=0)
            ask(interface, "MotorPosition", motor="rearLeftWheel", position=1000)
            ask(interface, "CameraStreamOpen", camera="mast", fps=30, width=1280, height=720)
            ask(interface, "CameraStreamClose", camera="nowhere")
            interface.hear("{")
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(told) == 5
    assert all(word in "\n".join(told) for word in ("drillMotor", "fourbar1", "rearLeftWheel", "mast", "no JSON"))


def test_faults_without_end_do_not_fill_the_log(world: World, caplog: pytest.LogCaptureFixture) -> None:
    interface, _ = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for number in range(500):
            ask(interface, "MotorPower", motor=f"motor{number}", power=0)
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 100


# ------------------------------------------------------------------------------------------------ the latest profile


def test_the_latest_profile_has_treads_and_no_lidar(world: World) -> None:
    interface, wire = wired(profile="latest")
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        ask(interface, "MotorPower", motor="leftTread", power=0.5)
        runner.run(0.5)
    rover = world.robots["rover"]
    assert [rover.actuators[wheel].wanted for wheel in WHEELS] == [0.5, 0.0, 0.5, 0.0]
    assert {report["motor"] for report in wire.said("simMotorStatusReport")} == set(LATEST.motors)
    assert not wire.said("simLidarReport")
    assert wire.said("simMotorStatusReport", "rearLeftWheel")[-1]["power"] == 0.5


def test_the_latest_profile_drops_power_after_a_second_of_silence(world: World) -> None:
    interface, _ = wired(profile="latest")
    rover = world.robots["rover"]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for motor in ("leftTread", "hand"):
            ask(interface, "MotorPower", motor=motor, power=0.2)
        runner.run(0.9)
        assert rover.actuators["rearLeftWheel"].wanted == 0.2
        assert rover.actuators["hand"].running_power == -0.2
        runner.run(0.3)
        assert rover.actuators["rearLeftWheel"].wanted == 0.0
        assert rover.actuators["hand"].running_power == 0.0


def test_positive_power_lowers_the_position_of_every_motor_in_the_latest_profile(world: World) -> None:
    """Positions are negated on the wire and powers are not, as the simulator of 2025 has it."""
    interface, wire = wired(profile="latest")
    arm = [name for name in LATEST.motors if "Wheel" not in name and "Tread" not in name]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.2)
        before = {name: wire.said("simMotorStatusReport", name)[-1]["position"] for name in arm}
        for name in arm:
            ask(interface, "MotorPower", motor=name, power=0.3)
        runner.run(0.7)
        after = {name: wire.said("simMotorStatusReport", name)[-1] for name in arm}
    assert all(after[name]["position"] < before[name] - 500 for name in arm)
    assert {after[name]["power"] for name in arm} == {0.3}


def test_the_latest_arm_begins_within_the_limits_of_its_server(world: World) -> None:
    """Its inverse kinematics takes a shoulder from 18.2° to 152.5° and an elbow from −169.1° to 0°; so it can move."""
    interface, wire = wired(profile="latest")
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        shoulder, elbow = (wire.said("simMotorStatusReport", name)[-1]["position"] for name in ("shoulder", "elbow"))
        assert 18_200 < shoulder < 152_500
        assert -169_100 < elbow < 0
        for _ in range(60):
            ask(interface, "MotorPosition", motor="shoulder", position=122_108)
            ask(interface, "MotorPosition", motor="elbow", position=-152_782)
            runner.run(0.05)
        shoulder, elbow = (wire.said("simMotorStatusReport", name)[-1]["position"] for name in ("shoulder", "elbow"))
    assert shoulder == pytest.approx(122_108, abs=500)
    assert elbow == pytest.approx(-152_782, abs=500)


def test_a_wheel_that_follows_takes_no_commands(world: World) -> None:
    motors = motors_of(world.robots["rover"], LATEST)
    with pytest.raises(BadRequest, match="follows"):
        motors["rearLeftWheel"].run(1.0)


def test_the_documented_profile_has_the_documented_names() -> None:
    assert set(SPEC.motors) == {*WHEELS, *ARM}
    assert set(SPEC.cameras) == {"front", "rear", "upperArm"}


# ------------------------------------------------------------------------------------------------ between the two


@pytest.mark.parametrize(
    ("profile", "wrist"),
    [("2023", ["wrist"]), ("2024", ["wristDiffLeft", "wristDiffRight"]), (2024, ["wristDiffLeft"])],
)
def test_servers_between_drive_four_wheels_and_their_own_wrist(world: World, profile: Any, wrist: list[str]) -> None:
    """Requests as the rover server of those years writes them: keys in alphabetical order, floats as they are."""
    interface, wire = wired(profile=profile)
    rover = world.robots["rover"]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        for wheel, power in zip(WHEELS, (0.5, -0.25, 0.5, -0.25), strict=True):
            interface.hear(f'{{"motor":"{wheel}","power":{power},"type":"simMotorPowerRequest"}}')
        before = {name: wire.said("simMotorStatusReport", name)[-1]["position"] for name in wrist}
        for name in wrist:
            interface.hear(f'{{"motor":"{name}","power":0.4000000059604645,"type":"simMotorPowerRequest"}}')
        runner.run(0.5)
        after = {name: wire.said("simMotorStatusReport", name)[-1] for name in wrist}
        assert [rover.actuators[wheel].wanted for wheel in WHEELS] == [0.5, -0.25, 0.5, -0.25]
        assert all(after[name]["position"] < before[name] - 500 for name in wrist)
        interface.hear(f'{{"motor":"{wrist[0]}","position":-9000,"type":"simMotorPositionRequest"}}')
        runner.run(2.0)
        held = wire.said("simMotorStatusReport", wrist[0])[-1]["position"]
    assert held == pytest.approx(-9000, abs=500)  # it hangs through by less than half a degree
    assert set(wire.said("simMotorStatusReport")[-1]) == {"type", "motor", "power", "position"}


def test_one_wrist_bends_the_hand_and_does_not_roll_it(world: World) -> None:
    interface, _ = wired(profile="2023")
    rover = world.robots["rover"]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        ask(interface, "MotorPower", motor="wrist", power=0.5)
        runner.run(0.5)
    left, right = (rover.actuators[name].position for name in ("differentialLeft", "differentialRight"))
    assert abs(left) > 0.05
    assert left == pytest.approx(right, abs=0.01)


@pytest.mark.parametrize(("profile", "has_lidar"), [("2023", True), ("2024", False)])
def test_servers_between_may_open_cameras_by_either_name(world: World, profile: str, has_lidar: bool) -> None:
    interface, wire = wired(profile=profile)
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.3)
        assert bool(wire.said("simLidarReport")) == has_lidar
        for camera in ("front", "rear", "upperArm", "mast", "hand", "wrist"):
            ask(interface, "CameraStreamOpen", camera=camera, fps=20, width=16, height=12, intrinsics=None)
        assert interface.streams is not None
        assert len(interface.streams) == 6


def test_a_motor_may_be_spelt_with_other_capitals(world: World) -> None:
    """Public versions of the rover server of 2022 say `rearLeftwheel`."""
    interface, _ = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        ask(interface, "MotorPower", motor="rearLeftwheel", power=0.5)
        runner.run(0.05)
    assert world.robots["rover"].actuators["rearLeftWheel"].wanted == 0.5


# ------------------------------------------------------------------------------------------------ cameras


def camera_of(world: World, name: str = "front") -> Camera:
    config = world.robots["rover"].vehicle.config.sensors[name]
    assert isinstance(config, Camera)
    return config


def test_the_usual_lens_sees_60_degrees_up_and_down_at_any_size(world: World) -> None:
    for width, height in ((640, 480), (1280, 720), (33, 21)):
        lens = camera_as_asked(camera_of(world), OpenStream("front", 20, width, height, None)).lens()
        assert (lens.width, lens.height) == (width, height)
        assert lens.fx == lens.fy == pytest.approx(0.5 * height / np.tan(radians(30)))
        assert (lens.cx, lens.cy) == ((width - 1) / 2, (height - 1) / 2)


def test_intrinsics_place_known_points_in_the_picture() -> None:
    """A ball of 0.1 m in front of the camera is where K puts it; the middle of its disc is right to half a pixel.

    The camera is at (0.4, 0, 0.2) of the rover, which looks north from (3, 4, 30).
    """
    fx, fy, cx, cy = (value / 4 for value in K)
    right, down, ahead = 0.5, -0.3, 3.0
    ball = {
        "geometry": {"kind": "sphere", "radius": 0.1},
        "pose": {"position": [3 + right, 4 + 0.4 + ahead, 30 + 0.2 - down]},
        "motion": "static",
    }
    with rover_world(objects={"ball": ball}) as world:
        sensor = camera_as_asked(camera_of(world), OpenStream("front", 20, 160, 120, (fx, fy, cx, cy))).build()
        reading = world.robots["rover"].sensors["front"].look_through(sensor)()
    rows, columns = np.nonzero(reading.bodies == reading.body_names.index("objects/ball"))
    assert len(rows) > 50
    assert columns.mean() == pytest.approx(cx + fx * right / ahead, abs=0.5)
    assert rows.mean() == pytest.approx(cy + fy * down / ahead, abs=0.5)


def test_a_stream_gives_pictures_until_it_is_closed(world: World) -> None:
    interface, wire = wired()
    with Runner(world, 1.0, {"husky": interface}) as runner:
        runner.run(0.05)
        ask(interface, "CameraStreamOpen", camera="front", fps=200, width=32, height=24, intrinsics=None)
        while not wire.pictures:
            runner.run(0.05)
        ask(interface, "CameraStreamClose", camera="front")
        assert interface.streams is not None
        for _ in range(AHEAD):
            interface.streams._begun.acquire()  # what was begun is done
        pictures = len(wire.pictures)
        runner.run(0.1)
    assert wire.pictures == ["front"] * pictures


def test_cameras_take_turns_when_pictures_take_too_long(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """At more steps a second than pictures can be made, none of three cameras is more than one ahead of another."""
    interface, wire = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for camera in ("front", "rear", "upperArm"):
            ask(interface, "CameraStreamOpen", camera=camera, fps=200, width=128, height=96)
        while len(wire.pictures) < 12:
            runner.run(0.5)
        interface.close()
    counts = Counter(wire.pictures)
    assert len(counts) == 3
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len([record for record in caplog.records if "too slow" in record.getMessage()]) == 1


def test_a_stream_that_is_open_already_stays_unless_something_else_is_asked_for(world: World) -> None:
    interface, _ = wired()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        streams = interface.streams
        assert streams is not None
        asked = {"camera": "rear", "fps": 5, "width": 32, "height": 24}
        ask(interface, "CameraStreamOpen", **asked)
        first = streams._open["rear"]
        ask(interface, "CameraStreamOpen", **asked)
        assert streams._open["rear"] is first
        ask(interface, "CameraStreamOpen", **asked | {"width": 16})
        assert streams._open["rear"].sensor.lens.width == 16
        ask(interface, "CameraStreamOpen", **asked | {"fps": 1e-30})
        assert streams.next_due(10) > 1e30
        ask(interface, "CameraStreamOpen", **asked | {"fps": 1e30})
        assert streams.next_due(10) == 11
        assert len(streams) == 1


# ------------------------------------------------------------------------------------------------ the rest


def test_what_a_slow_server_does_not_take_is_dropped_the_oldest_first() -> None:
    link = Link("ws://127.0.0.1:1/simulator", 1.0, lambda text: None)
    link.send(["lost"])
    assert not link._reports
    link.connected = True
    link.send(str(number) for number in range(MOST_WAITING + 5))
    link.send_picture("front", "old")
    link.send_picture("front", "new")
    assert link._reports[0] == "5"
    assert link._pictures == {"front": "new"}
    assert link.dropped == 6
    assert "connected" in link.status
    assert "6 dropped" in link.status
    link.close()


def test_two_rovers_need_a_name() -> None:
    rover = {"vehicle": "husky", "anchored": True}
    robots = {"one": {**rover, "pose": {"position": [0, 0, 30]}}, "two": {**rover, "pose": {"position": [5, 0, 30]}}}
    reference = {"latitude_deg": 0, "longitude_deg": 0}
    interface, wire = wired()
    with (
        skerry.load({"robots": robots, "reference": reference}) as world,
        Runner(world, None, {"husky": interface}) as runner,
        pytest.raises(SkerryError, match="one, two; give its `robot`"),
    ):
        runner.run(0.1)
    interface, wire = wired(robot="two")
    with (
        skerry.load({"robots": robots, "reference": reference}) as world,
        Runner(world, None, {"husky": interface}) as runner,
    ):
        runner.run(0.1)
    assert wire.said("simRoverTruePoseReport")[0]["position"]["y"] == pytest.approx(-5.0, abs=0.01)


class Listed:
    """An inbox that keeps what is put into it."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def put(self, command: Command) -> Future[Any]:
        self.commands.append(command)
        return Future()


def test_the_console_resets_runs_motors_and_knows_waypoints(world: World) -> None:
    interface, _ = wired()
    inbox = Listed()
    interface.start(world, inbox)
    console = Console(interface, world, inbox)
    assert console.answer("reset") == "reset"
    assert console.answer("run leftWheel 0.5") == "there is no motor 'leftWheel'; did you mean 'rearLeftWheel'?"
    assert console.answer("run elbow 0.5") == "elbow runs with 0.5"
    assert console.answer("run elbow to 540") == "elbow runs to 540°"
    assert console.answer("run elbow 2") == "a power is from -1 to 1, not 2"
    assert console.answer("run elbow fast") == "'fast' is no number"
    assert console.answer("waypoint North") == "North: latitude 0.00022587, longitude 0.00000000"
    assert len(console.answer("waypoints").splitlines()) == 5
    assert "did you mean 'North'" in console.answer("waypoint Nort")
    assert "run MOTOR POWER" in console.answer("help")
    assert "unknown" in console.answer("fly")
    values = [getattr(command, "value", None) for command in inbox.commands]
    assert values == [None, {"power": 0.5}, {"angle": pytest.approx(radians(10))}]
    interface.close()


def test_a_bad_url_is_refused() -> None:
    with pytest.raises(ValueError, match="url"):
        Husky(url="localhost:3001")
