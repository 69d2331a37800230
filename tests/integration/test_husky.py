"""The protocol of Husky Robotics without sockets: reports, requests, profiles, streams and the console."""

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
from skerry.interfaces.husky.cameras import MAX_PENDING, camera_for_request
from skerry.interfaces.husky.console import HuskyConsole
from skerry.interfaces.husky.interface import HuskyInterface
from skerry.interfaces.husky.messages import (
    BadRequest,
    CloseStream,
    MotorPosition,
    MotorPower,
    OpenStream,
    camera_image,
    encode,
    gps_position,
    imu_orientation,
    lidar_points,
    limit_switch,
    motor_status,
    read_request,
    true_pose,
)
from skerry.interfaces.husky.motors import find_motors
from skerry.interfaces.husky.profiles import LATEST, SPEC
from skerry.interfaces.husky.server_connection import MAX_QUEUED, ServerConnection
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
K = (649.36764773277400, 647.76804982533793, 335.46152305967058, 247.85660889077488)  # intrinsics of the team's cameras
EAST, NORTH = np.array([0.0, 0.0, 0.0, 1.0]), rpy_to_quaternion([0.0, 0.0, pi / 2])


# ------------------------------------------------------------------------------------------------ reports


def test_a_motor_reports_its_power_and_millidegrees_rounded_towards_zero() -> None:
    report = encode(motor_status("elbow", -0.25, 12.3459))
    assert report == '{"type":"simMotorStatusReport","motor":"elbow","power":-0.25,"position":12345}'
    assert motor_status("elbow", 0.0, -12.3459)["position"] == -12345


def test_a_motor_without_an_encoder_reports_null() -> None:
    report = encode(motor_status("rearLeftWheel", 1.0, None))
    assert report == '{"type":"simMotorStatusReport","motor":"rearLeftWheel","power":1.0,"position":null}'


@pytest.mark.parametrize(("message", "name"), [("alert", "simLimitSwitchAlert"), ("report", "simLimitSwitchReport")])
def test_a_limit_switch_has_two_message_types(message: str, name: str) -> None:
    report = encode(limit_switch("hand", "minimum", message))
    assert report == f'{{"type":"{name}","motor":"hand","limit":"minimum"}}'


def test_an_image_is_base64_of_its_jpeg() -> None:
    report = encode(camera_image("front", b"\xff\xd8\xff\xe0"))
    assert report == '{"type":"simCameraStreamReport","camera":"front","data":"/9j/4A=="}'


def test_the_true_pose_is_north_west_up_with_no_turn_towards_north() -> None:
    report = true_pose(Pose([2.0, 5.0, 20.0], NORTH))
    assert report["position"] == {"x": 5.0, "y": -2.0, "z": 20.0}
    assert [report["rotation"][axis] for axis in "xyzw"] == pytest.approx([0, 0, 0, 1], abs=1e-15)


def test_a_rover_that_faces_west_has_turned_a_quarter_anticlockwise() -> None:
    rotation = true_pose(Pose([0.0, 0.0, 0.0], rpy_to_quaternion([0.0, 0.0, pi])))["rotation"]
    assert [rotation[axis] for axis in "xyzw"] == pytest.approx([0, 0, 0.5**0.5, 0.5**0.5])


def test_axes_are_converted_as_the_original_converts_those_of_unity() -> None:
    """The original sends position (z, −x, y) and quaternion (−z, x, −y, w) of Unity; q and −q are the same rotation."""
    random = np.random.default_rng(5)
    for _ in range(20):
        pose = Pose(random.normal(size=3), normalise(random.normal(size=4)))
        unity = convert_pose(pose, ENU_TO_UNITY, FLU_TO_UNITY)
        (x, y, z), (i, j, k, w) = unity.position, unity.orientation
        report = true_pose(pose)
        assert [report["position"][axis] for axis in "xyz"] == pytest.approx([z, -x, y])
        ours = np.array([report["rotation"][axis] for axis in "xyzw"])
        assert abs(ours @ np.array([-k, i, -j, w])) == pytest.approx(1.0)


def test_a_fix_always_has_its_altitude() -> None:
    reading = GpsReading(0.0, 1e-5, -2e-5, 20.5, 0.0, 0.0, 31, "N", np.zeros((3, 3)))
    assert encode(gps_position(reading)) == (
        '{"type":"simGpsPositionReport","latitude":1e-05,"longitude":-2e-05,"altitude":20.5}'
    )


def test_the_imu_reports_the_attitude_relative_to_north() -> None:
    none = np.zeros(3)
    reading = ImuReading(0.0, EAST, none, none, *(np.zeros((3, 3)),) * 3, none, none)
    report = imu_orientation(reading)
    assert report["type"] == "simImuOrientationReport"
    assert [report[axis] for axis in "xyzw"] == pytest.approx([0, 0, -(0.5**0.5), 0.5**0.5])


def test_lidar_points_are_anticlockwise_from_the_front_and_without_misses() -> None:
    ranges = np.array([1.0, np.inf, 3.0, 4.5], np.float32)
    reading = PlanarReading(
        0.0, -pi / 2, pi / 2, 0.0, 0.1, 12.0, ranges, ranges, np.zeros((3, 3), np.float32), Pose.identity()
    )
    assert lidar_points(reading) == {
        "type": "simLidarReport",
        "points": [{"r": 1.0, "theta": 1.5 * pi}, {"r": 3.0, "theta": 0.5 * pi}, {"r": 4.5, "theta": pi}],
    }


def test_a_scan_without_hits_is_an_empty_list() -> None:
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


def test_nan_is_never_encoded() -> None:
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
    request = read_request(json.dumps({**message, key: matrix}))
    assert isinstance(request, OpenStream)
    assert request.intrinsics == K


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
def test_an_invalid_message_is_refused_with_a_reason(message: Any) -> None:
    text = message if isinstance(message, str | bytes) else json.dumps(message)
    with pytest.raises(BadRequest, match=r"\w+ \w+"):
        read_request(text)


# ------------------------------------------------------------------------------------------------ a rover


def rover_world(**more: Any) -> World:
    """Return a world with the rover fixed in the air, level, without other objects."""
    robots = {"rover": {"vehicle": "husky", "anchored": True, "pose": {"position": [3, 4, 30], "yaw_deg": 90}}}
    return skerry.load({"robots": robots, "reference": {"latitude_deg": 0, "longitude_deg": 0}, **more})


@pytest.fixture
def world() -> Iterator[World]:
    with rover_world() as world:
        yield world


class FakeConnection:
    """Connection without a socket that keeps the sent messages."""

    def __init__(self) -> None:
        self.connected = True
        self.status = "fake"
        self.reports: list[dict[str, Any]] = []
        self.images: list[str] = []

    def start(self) -> None: ...

    def close(self) -> None: ...

    def send(self, reports: Iterable[str]) -> None:
        self.reports += [json.loads(report) for report in reports]

    def send_image(self, camera: str, text: str) -> None:
        self.images.append(camera)

    def received(self, kind: str, motor: str | None = None) -> list[dict[str, Any]]:
        return [each for each in self.reports if each["type"] == kind and motor in (None, each.get("motor"))]


def make_interface(**settings: Any) -> tuple[HuskyInterface, FakeConnection]:
    interface = Husky.model_validate(settings).build()
    assert isinstance(interface, HuskyInterface)
    connection = FakeConnection()
    interface.connection.close()
    interface.connection = connection  # type: ignore[assignment]
    return interface, connection


def request(interface: HuskyInterface, kind: str, **more: Any) -> None:
    interface.on_message(json.dumps({"type": f"sim{kind}Request", **more}))


def test_every_report_has_the_rate_of_the_original(world: World) -> None:
    """30 Hz of each of 11 motors and of the pose, 20 Hz of GPS and IMU, 10 Hz of the lidar; the first at the start."""
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(2.0)
    counts = Counter(report["type"] for report in connection.reports)
    motors = Counter(report.get("motor") for report in connection.received("simMotorStatusReport"))
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


def test_other_rates_hold_while_three_cameras_exceed_what_the_machine_can_render(world: World) -> None:
    """Rates are in simulated time: nothing waits for images, and no camera exceeds its requested rate."""
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for camera in ("front", "rear", "upperArm"):
            request(interface, "CameraStreamOpen", camera=camera, fps=20, width=320, height=240)
        runner.run(1.95)
        while len(connection.images) < 6:
            runner.run(2.0)
        seconds = round(world.time)
        interface.close()
    counts = Counter(report["type"] for report in connection.reports)
    motors = Counter(report["motor"] for report in connection.received("simMotorStatusReport"))
    assert set(motors.values()) == {30 * seconds + 1}
    assert counts["simRoverTruePoseReport"] == 30 * seconds + 1
    for kind, frequency in (("GpsPosition", 20), ("ImuOrientation", 20), ("Lidar", 10)):
        assert abs(counts[f"sim{kind}Report"] - frequency * seconds) <= 1
    images = Counter(connection.images)
    assert len(images) == 3
    assert max(images.values()) <= 20 * seconds
    # cameras take turns; the machine may delay one of the two render threads for a round
    assert max(images.values()) - min(images.values()) <= 2


def test_sensors_are_warmed_up_before_the_connection_opens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    interface, connection = make_interface()
    order: list[str] = []
    names = {id(part): name for name, part in world.robots["rover"].sensors.items()}
    monkeypatch.setattr(MountedSensor, "warm_up", lambda part: order.append(names[id(part)]))
    monkeypatch.setattr(connection, "start", lambda: order.append("connect"))
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.01)
    assert sorted(order[:-1]) == ["front", "gps", "imu", "lidar"]
    assert order[-1] == "connect"


def test_nothing_is_sent_or_measured_without_a_connection(world: World) -> None:
    interface, connection = make_interface()
    connection.connected = False
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.2)
        request(interface, "CameraStreamOpen", camera="front", fps=20, width=32, height=24)
        runner.run(0.2)
    assert not connection.reports
    assert not connection.images
    assert not interface.subscriptions
    assert interface.next_due(0) is None


def test_the_origin_is_null_island_and_metres_are_those_of_the_ellipsoid(world: World) -> None:
    """At (3, 4) m, 110 574 m to a degree of latitude and 111 319 m to one of longitude (WGS 84 at the equator).

    The noise is 0.15 m, so the mean of 200 fixes is within 5 × 0.15/√200 = 0.053 m; the grid's scale adds 0.1 %.
    """
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(10.0)
    fixes = connection.received("simGpsPositionReport")
    north = np.array([fix["latitude"] * 110_574.28 for fix in fixes])
    east = np.array([fix["longitude"] * 111_319.49 for fix in fixes])
    assert north.mean() == pytest.approx(4.0, abs=0.06)
    assert east.mean() == pytest.approx(3.0, abs=0.06)
    assert north.std() == pytest.approx(0.15, rel=0.25)  # 5 of 1/√(2 × 200)
    assert fixes[0]["altitude"] == pytest.approx(30.0, abs=1.0)


def test_power_turns_wheels_and_holds_without_being_repeated(world: World) -> None:
    """The documented simulator has no watchdog; that of the vehicle, one second, is overridden."""
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        request(interface, "MotorPower", motor="frontLeftWheel", power=0.5)
        runner.run(3.0)
    assert connection.received("simMotorStatusReport", "frontLeftWheel")[-1] == {
        "type": "simMotorStatusReport",
        "motor": "frontLeftWheel",
        "power": 0.5,
        "position": None,
    }
    assert world.robots["rover"].joint_velocity("frontLeftWheelAxle") == pytest.approx(
        8.0, rel=0.01
    )  # half of 16 rad/s
    assert {actuator.owner for actuator in world.robots["rover"].actuators.values()} == {None, "external"}


@pytest.mark.parametrize(
    ("motor", "position"),
    [("armBase", 4_500_000), ("shoulder", -1_000_000), ("differentialLeft", 500_000), ("hand", 600_000)],
)
def test_a_position_is_that_of_the_motors_shaft_and_is_reached(world: World, motor: str, position: int) -> None:
    """With gear 54, 54° of the shaft are 1° of the joint; with the arm's weight the error is below 20° of it."""
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        request(interface, "MotorPosition", motor=motor, position=position)
        runner.run(5.0)
    reported = connection.received("simMotorStatusReport", motor)[-1]["position"]
    assert isinstance(reported, int)
    assert reported == pytest.approx(position, abs=20_000)


def test_a_limit_switch_is_reported_once_each_time_it_closes(world: World) -> None:
    """200° at 44.4°/s take 4.5 s; then the power becomes 0. The next report needs the switch to open and close."""
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        ends = []
        for power in (1, -0.2, 1, -1):
            runner.run(0.1)
            request(interface, "MotorPower", motor="armBase", power=power)
            runner.run(10.0 if abs(power) == 1 else 1.0)
            ends.append(connection.received("simMotorStatusReport", "armBase")[-1])
    alerts = connection.received("simLimitSwitchReport")
    assert [alert["limit"] for alert in alerts] == ["maximum", "maximum", "minimum"]
    assert {alert["motor"] for alert in alerts} == {"armBase"}
    assert [end["power"] for end in ends] == [0.0, -0.2, 0.0, 0.0]
    assert ends[0]["position"] == pytest.approx(9_000_000, rel=0.01)
    assert ends[3]["position"] == pytest.approx(-9_000_000, rel=0.01)


def test_the_hand_reports_no_limit_at_its_maximum(world: World) -> None:
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        for power in (1, -1):
            runner.run(0.1)
            request(interface, "MotorPower", motor="hand", power=power)
            runner.run(3.0)
    assert [(alert["motor"], alert["limit"]) for alert in connection.received("simLimitSwitchReport")] == [
        ("hand", "minimum")
    ]


@pytest.mark.parametrize(
    ("settings", "kinds"),
    [
        ({}, {"simLimitSwitchReport"}),
        ({"limit_message": "alert"}, {"simLimitSwitchAlert"}),
        ({"limit_message": "off"}, set()),
        ({"profile": "latest"}, {"simLimitSwitchReport"}),
    ],
)
def test_the_limit_message_is_one_that_servers_survive_unless_set(
    world: World, settings: dict[str, Any], kinds: set[str]
) -> None:
    interface, connection = make_interface(**settings)
    sign = -1 if interface.config.profile == "latest" else 1
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        request(interface, "MotorPower", motor="elbow", power=-sign)  # 35° at 37°/s
        runner.run(0.8)
        request(interface, "MotorPower", motor="elbow", power=-sign)
        runner.run(0.8)
    assert {report["type"] for report in connection.reports if "Limit" in report["type"]} == kinds


@pytest.mark.parametrize(
    ("motor", "minimum", "maximum"),
    [("shoulder", 18.2, 152.5), ("elbow", -169.1, 0.0), ("hand", -15.0, 100.0)],
)
def test_arm_motors_of_the_latest_profile_stop_at_the_limits_of_their_era(
    world: World, motor: str, minimum: float, maximum: float
) -> None:
    """Limit switches close 0.57° before the ends; the arm sags by a fraction of a degree."""
    interface, connection = make_interface(profile="latest")
    ends = []
    with Runner(world, None, {"husky": interface}) as runner:
        for power in (1, -1):  # positive power lowers the position
            for _ in range(10):
                request(interface, "MotorPower", motor=motor, power=power)
                runner.run(0.6)
            ends.append(connection.received("simMotorStatusReport", motor)[-1]["position"] / 1000)
        for position in (-400_000, 400_000):
            request(interface, "MotorPosition", motor=motor, position=position)
            runner.run(8.0)
            ends.append(connection.received("simMotorStatusReport", motor)[-1]["position"] / 1000)
    assert ends == pytest.approx([minimum, maximum, minimum, maximum], abs=1.0)


def test_base_and_forearm_of_the_latest_profile_turn_practically_without_end(world: World) -> None:
    """20 s at 44 and 37 °/s, far beyond the ±200° and ±180° of the first version."""
    interface, connection = make_interface(profile="latest")
    with Runner(world, None, {"husky": interface}) as runner:
        for _ in range(25):
            for motor in ("armBase", "forearm"):
                request(interface, "MotorPower", motor=motor, power=1)
            runner.run(0.8)
    turned = [connection.received("simMotorStatusReport", motor)[-1]["position"] for motor in ("armBase", "forearm")]
    assert turned[0] < -800_000
    assert turned[1] < -700_000
    assert not connection.received("simLimitSwitchReport")


def test_unknown_motors_and_cameras_are_logged_once_each(world: World, caplog: pytest.LogCaptureFixture) -> None:
    interface, _ = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for _ in range(3):
            for motor in ("drillMotor", "fourbar1"):
                request(interface, "MotorPower", motor=motor, power=0)
            request(interface, "MotorPosition", motor="rearLeftWheel", position=1000)
            request(interface, "CameraStreamOpen", camera="mast", fps=30, width=1280, height=720)
            request(interface, "CameraStreamClose", camera="nowhere")
            interface.on_message("{")
    logged = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert len(logged) == 5
    assert all(text in "\n".join(logged) for text in ("drillMotor", "fourbar1", "rearLeftWheel", "mast", "not JSON"))


def test_endless_faults_do_not_fill_the_log(world: World, caplog: pytest.LogCaptureFixture) -> None:
    interface, _ = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for number in range(500):
            request(interface, "MotorPower", motor=f"motor{number}", power=0)
    assert len([record for record in caplog.records if record.levelname == "WARNING"]) == 100


# ------------------------------------------------------------------------------------------------ the latest profile


def test_the_latest_profile_has_treads_and_no_lidar(world: World) -> None:
    interface, connection = make_interface(profile="latest")
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        request(interface, "MotorPower", motor="leftTread", power=0.5)
        runner.run(0.5)
    rover = world.robots["rover"]
    assert [rover.actuators[wheel].setpoint for wheel in WHEELS] == [0.5, 0.0, 0.5, 0.0]
    assert {report["motor"] for report in connection.received("simMotorStatusReport")} == set(LATEST.motors)
    assert not connection.received("simLidarReport")
    assert connection.received("simMotorStatusReport", "rearLeftWheel")[-1]["power"] == 0.5


def test_the_latest_profile_stops_motors_after_a_second_without_requests(world: World) -> None:
    interface, _ = make_interface(profile="latest")
    rover = world.robots["rover"]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for motor in ("leftTread", "hand"):
            request(interface, "MotorPower", motor=motor, power=0.2)
        runner.run(0.9)
        assert rover.actuators["rearLeftWheel"].setpoint == 0.2
        assert rover.actuators["hand"].running_power == -0.2
        runner.run(0.3)
        assert rover.actuators["rearLeftWheel"].setpoint == 0.0
        assert rover.actuators["hand"].running_power == 0.0


def test_positive_power_lowers_the_position_of_every_motor_in_the_latest_profile(world: World) -> None:
    """The simulator of 2025 negates positions in messages but not powers."""
    interface, connection = make_interface(profile="latest")
    arm = [name for name in LATEST.motors if "Wheel" not in name and "Tread" not in name]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.2)
        before = {name: connection.received("simMotorStatusReport", name)[-1]["position"] for name in arm}
        for name in arm:
            request(interface, "MotorPower", motor=name, power=0.3)
        runner.run(0.7)
        after = {name: connection.received("simMotorStatusReport", name)[-1] for name in arm}
    assert all(after[name]["position"] < before[name] - 500 for name in arm)
    assert {after[name]["power"] for name in arm} == {0.3}


def test_the_latest_arm_starts_within_the_limits_of_its_server(world: World) -> None:
    """The server's inverse kinematics accepts a shoulder from 18.2° to 152.5° and an elbow from −169.1° to 0°."""
    interface, connection = make_interface(profile="latest")
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        shoulder, elbow = (
            connection.received("simMotorStatusReport", name)[-1]["position"] for name in ("shoulder", "elbow")
        )
        assert 18_200 < shoulder < 152_500
        assert -169_100 < elbow < 0
        for _ in range(60):
            request(interface, "MotorPosition", motor="shoulder", position=122_108)
            request(interface, "MotorPosition", motor="elbow", position=-152_782)
            runner.run(0.05)
        shoulder, elbow = (
            connection.received("simMotorStatusReport", name)[-1]["position"] for name in ("shoulder", "elbow")
        )
    assert shoulder == pytest.approx(122_108, abs=500)
    assert elbow == pytest.approx(-152_782, abs=500)


def test_a_wheel_that_follows_another_accepts_no_commands(world: World) -> None:
    motors = find_motors(world.robots["rover"], LATEST)
    with pytest.raises(BadRequest, match="follows"):
        motors["rearLeftWheel"].run(1.0)


def test_the_documented_profile_has_the_documented_names() -> None:
    assert set(SPEC.motors) == {*WHEELS, *ARM}
    assert set(SPEC.cameras) == {"front", "rear", "upperArm"}


# ------------------------------------------------------------------------------------------------ 2023 and 2024


@pytest.mark.parametrize(
    ("profile", "wrist"),
    [("2023", ["wrist"]), ("2024", ["wristDiffLeft", "wristDiffRight"]), (2024, ["wristDiffLeft"])],
)
def test_servers_of_2023_and_2024_drive_four_wheels_and_their_own_wrist(
    world: World, profile: Any, wrist: list[str]
) -> None:
    """Requests have the form of those servers: keys in alphabetical order, floats with all digits."""
    interface, connection = make_interface(profile=profile)
    rover = world.robots["rover"]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.1)
        for wheel, power in zip(WHEELS, (0.5, -0.25, 0.5, -0.25), strict=True):
            interface.on_message(f'{{"motor":"{wheel}","power":{power},"type":"simMotorPowerRequest"}}')
        before = {name: connection.received("simMotorStatusReport", name)[-1]["position"] for name in wrist}
        for name in wrist:
            interface.on_message(f'{{"motor":"{name}","power":0.4000000059604645,"type":"simMotorPowerRequest"}}')
        runner.run(0.5)
        after = {name: connection.received("simMotorStatusReport", name)[-1] for name in wrist}
        assert [rover.actuators[wheel].setpoint for wheel in WHEELS] == [0.5, -0.25, 0.5, -0.25]
        assert all(after[name]["position"] < before[name] - 500 for name in wrist)
        interface.on_message(f'{{"motor":"{wrist[0]}","position":-9000,"type":"simMotorPositionRequest"}}')
        runner.run(2.0)
        held = connection.received("simMotorStatusReport", wrist[0])[-1]["position"]
    assert held == pytest.approx(-9000, abs=500)  # the weight bends it by less than half a degree
    assert set(connection.received("simMotorStatusReport")[-1]) == {"type", "motor", "power", "position"}


def test_one_wrist_bends_the_hand_and_does_not_roll_it(world: World) -> None:
    interface, _ = make_interface(profile="2023")
    rover = world.robots["rover"]
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        request(interface, "MotorPower", motor="wrist", power=0.5)
        runner.run(0.5)
    left, right = (rover.actuators[name].position for name in ("differentialLeft", "differentialRight"))
    assert abs(left) > 0.05
    assert left == pytest.approx(right, abs=0.01)


@pytest.mark.parametrize(("profile", "has_lidar"), [("2023", True), ("2024", False)])
def test_servers_of_2023_and_2024_may_open_cameras_by_either_name(world: World, profile: str, has_lidar: bool) -> None:
    interface, connection = make_interface(profile=profile)
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.3)
        assert bool(connection.received("simLidarReport")) == has_lidar
        for camera in ("front", "rear", "upperArm", "mast", "hand", "wrist"):
            request(interface, "CameraStreamOpen", camera=camera, fps=20, width=16, height=12, intrinsics=None)
        assert interface.streams is not None
        assert len(interface.streams) == 6


def test_a_motor_may_be_spelt_with_other_capitals(world: World) -> None:
    """Public versions of the rover server of 2022 send `rearLeftwheel`."""
    interface, _ = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        request(interface, "MotorPower", motor="rearLeftwheel", power=0.5)
        runner.run(0.05)
    assert world.robots["rover"].actuators["rearLeftWheel"].setpoint == 0.5


# ------------------------------------------------------------------------------------------------ cameras


def camera_of(world: World, name: str = "front") -> Camera:
    config = world.robots["rover"].vehicle.config.sensors[name]
    assert isinstance(config, Camera)
    return config


def test_the_default_lens_has_a_vertical_view_of_60_degrees_at_any_size(world: World) -> None:
    for width, height in ((640, 480), (1280, 720), (33, 21)):
        lens = camera_for_request(camera_of(world), OpenStream("front", 20, width, height, None)).lens()
        assert (lens.width, lens.height) == (width, height)
        assert lens.fx == lens.fy == pytest.approx(0.5 * height / np.tan(radians(30)))
        assert (lens.cx, lens.cy) == ((width - 1) / 2, (height - 1) / 2)


def test_intrinsics_place_known_points_in_the_image() -> None:
    """A ball of 0.1 m in front of the camera is where K puts it; the centre of its disc is exact to half a pixel.

    The camera is at (0.4, 0, 0.2) of the rover, which faces north at (3, 4, 30).
    """
    fx, fy, cx, cy = (value / 4 for value in K)
    right, down, ahead = 0.5, -0.3, 3.0
    ball = {
        "geometry": {"kind": "sphere", "radius": 0.1},
        "pose": {"position": [3 + right, 4 + 0.4 + ahead, 30 + 0.2 - down]},
        "motion": "static",
    }
    with rover_world(objects={"ball": ball}) as world:
        sensor = camera_for_request(camera_of(world), OpenStream("front", 20, 160, 120, (fx, fy, cx, cy))).build()
        reading = world.robots["rover"].sensors["front"].measure_with(sensor)()
    rows, columns = np.nonzero(reading.bodies == reading.body_names.index("objects/ball"))
    assert len(rows) > 50
    assert columns.mean() == pytest.approx(cx + fx * right / ahead, abs=0.5)
    assert rows.mean() == pytest.approx(cy + fy * down / ahead, abs=0.5)


def test_a_stream_sends_images_until_it_is_closed(world: World) -> None:
    interface, connection = make_interface()
    with Runner(world, 1.0, {"husky": interface}) as runner:
        runner.run(0.05)
        request(interface, "CameraStreamOpen", camera="front", fps=200, width=32, height=24, intrinsics=None)
        while not connection.images:
            runner.run(0.05)
        request(interface, "CameraStreamClose", camera="front")
        assert interface.streams is not None
        for _ in range(MAX_PENDING):
            interface.streams._pending.acquire()  # waits for the images in progress
        images = len(connection.images)
        runner.run(0.1)
    assert connection.images == ["front"] * images


def test_cameras_take_turns_when_rendering_is_too_slow(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The world steps faster than images are rendered; the counts of three cameras differ by at most one."""
    interface, connection = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        for camera in ("front", "rear", "upperArm"):
            request(interface, "CameraStreamOpen", camera=camera, fps=200, width=128, height=96)
        while len(connection.images) < 12:
            runner.run(0.5)
        interface.close()
    counts = Counter(connection.images)
    assert len(counts) == 3
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len([record for record in caplog.records if "too slow" in record.getMessage()]) == 1


def test_an_open_stream_is_replaced_only_by_a_different_request(world: World) -> None:
    interface, _ = make_interface()
    with Runner(world, None, {"husky": interface}) as runner:
        runner.run(0.05)
        streams = interface.streams
        assert streams is not None
        stream = {"camera": "rear", "fps": 5, "width": 32, "height": 24}
        request(interface, "CameraStreamOpen", **stream)
        first = streams._open["rear"]
        request(interface, "CameraStreamOpen", **stream)
        assert streams._open["rear"] is first
        request(interface, "CameraStreamOpen", **stream | {"width": 16})
        assert streams._open["rear"].sensor.lens.width == 16
        request(interface, "CameraStreamOpen", **stream | {"fps": 1e-30})
        assert streams.next_due(10) > 1e30
        request(interface, "CameraStreamOpen", **stream | {"fps": 1e30})
        assert streams.next_due(10) == 11
        assert len(streams) == 1


# ------------------------------------------------------------------------------------------------ connection, console


def test_reports_to_a_slow_server_are_dropped_oldest_first() -> None:
    connection = ServerConnection("ws://127.0.0.1:1/simulator", 1.0, lambda text: None)
    connection.send(["lost"])
    assert not connection._reports
    connection.connected = True
    connection.send(str(number) for number in range(MAX_QUEUED + 5))
    connection.send_image("front", "old")
    connection.send_image("front", "new")
    assert connection._reports[0] == "5"
    assert connection._images == {"front": "new"}
    assert connection.dropped == 6
    assert "connected" in connection.status
    assert "6 dropped" in connection.status
    connection.close()


def test_two_rovers_need_a_name() -> None:
    rover = {"vehicle": "husky", "anchored": True}
    robots = {"one": {**rover, "pose": {"position": [0, 0, 30]}}, "two": {**rover, "pose": {"position": [5, 0, 30]}}}
    reference = {"latitude_deg": 0, "longitude_deg": 0}
    interface, connection = make_interface()
    with (
        skerry.load({"robots": robots, "reference": reference}) as world,
        Runner(world, None, {"husky": interface}) as runner,
        pytest.raises(SkerryError, match="one, two; set its `robot`"),
    ):
        runner.run(0.1)
    interface, connection = make_interface(robot="two")
    with (
        skerry.load({"robots": robots, "reference": reference}) as world,
        Runner(world, None, {"husky": interface}) as runner,
    ):
        runner.run(0.1)
    assert connection.received("simRoverTruePoseReport")[0]["position"]["y"] == pytest.approx(-5.0, abs=0.01)


class FakeInbox:
    """Inbox that keeps its commands."""

    def __init__(self) -> None:
        self.commands: list[Command] = []

    def put(self, command: Command) -> Future[Any]:
        self.commands.append(command)
        return Future()


def test_the_console_resets_runs_motors_and_knows_waypoints(world: World) -> None:
    interface, _ = make_interface()
    inbox = FakeInbox()
    interface.start(world, inbox)
    console = HuskyConsole(interface, world, inbox)
    assert console.execute("reset") == "reset"
    assert console.execute("run leftWheel 0.5") == "there is no motor 'leftWheel'; did you mean 'rearLeftWheel'?"
    assert console.execute("run elbow 0.5") == "elbow runs with 0.5"
    assert console.execute("run elbow to 540") == "elbow runs to 540°"
    assert console.execute("run elbow 2") == "the power is 2; expected -1 to 1"
    assert console.execute("run elbow fast") == "'fast' is not a number"
    assert console.execute("waypoint North") == "North: latitude 0.00022587, longitude 0.00000000"
    assert len(console.execute("waypoints").splitlines()) == 5
    assert "did you mean 'North'" in console.execute("waypoint Nort")
    assert "run MOTOR POWER" in console.execute("help")
    assert "unknown" in console.execute("fly")
    values = [getattr(command, "value", None) for command in inbox.commands]
    assert values == [None, {"power": 0.5}, {"angle": pytest.approx(radians(10))}]
    interface.close()


def test_a_bad_url_is_refused() -> None:
    with pytest.raises(ValueError, match="url"):
        Husky(url="localhost:3001")
