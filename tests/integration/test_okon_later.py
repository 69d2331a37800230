"""Okoń's later dialects without a socket: flags, arming, modes, course, detections, torpedo."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
import simplejpeg

import skerry
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.interfaces.okon import Okon
from skerry.interfaces.okon.autopilot import AxisPid, OkonAutopilot
from skerry.interfaces.okon.course import CourseConfig, CourseProgress, ZoneHit
from skerry.interfaces.okon.images import LatestImage
from skerry.interfaces.okon.interface import OkonInterface
from skerry.interfaces.okon.later_session import THRUSTERS, LaterOkonSession, detection_body
from skerry.interfaces.okon.packets import OkonPacket
from skerry.interfaces.okon.robot import OkonRobot
from skerry.interfaces.okon.session import ImageQuality
from skerry.parts.interface import Command
from skerry.rays.detections import ImageDetection
from skerry.runner import Runner

STEP = 0.007
SMALL_CAMERA = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 160, "height": 90}}}}}}


class ImmediateInbox:
    """Inbox that executes a command immediately, as the loop does between two steps."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def put(self, command: Command) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(command.apply(self.runner))
        return future


class FakeClient:
    """Client of a session with the second frame of Okoń, without a socket."""

    def __init__(self, runner: Runner, early: bool = False) -> None:
        self.world = runner.world
        self.okon = self.world.robots["okon"]
        self.robot = OkonRobot(self.world, ImmediateInbox(runner), "okon", THRUSTERS, "camera", LatestImage(20.0, 5))
        self.autopilot = OkonAutopilot(self.robot, armed=early, mode="manual" if early else "stable")
        config = self.world.scenario.interfaces["okon"]
        self.course = CourseProgress(config.course, self.okon.pose, 1)
        self.sent: list[bytes] = []
        self.broadcast: list[bytes] = []
        parts = (ImageQuality(85), self.autopilot, self.course, config.torpedo, early)
        self.session = LaterOkonSession(self.robot, *parts, self.sent.append, self.broadcast.append)

    def send(self, type_: int, body: bytes = b"", flag: int = 0) -> list[OkonPacket]:
        """Send a packet and return the answers, one item per write."""
        self.sent.clear()
        self.session.receive(OkonPacket(type_, body, flag))
        return [parse(write) for write in self.sent]

    def request(self, type_: int, body: bytes = b"") -> Any:
        """Send a packet and return the body of its only answer, which has the same type."""
        (answer,) = self.send(type_, body)
        assert answer.type == type_
        return json.loads(answer.body)

    def setpoints(self) -> dict[str, float]:
        """Return the setpoints of the thrusters."""
        return {name: self.okon.actuators[name].setpoint for name in THRUSTERS}

    def advance(self, seconds: float) -> None:
        """Advance the world and update robot and autopilot at every step."""
        for _ in range(round(seconds / STEP)):
            self.world.advance_steps(1)
            self.robot.update()
            self.autopilot.update(self.robot.state, STEP)


def parse(write: bytes) -> OkonPacket:
    type_, flag, length = struct.unpack_from("<BBi", write)
    assert length == len(write) - 6
    return OkonPacket(type_, write[6:], flag)


@pytest.fixture
def client() -> Iterator[FakeClient]:
    with skerry.load("okon2_pool", overrides=SMALL_CAMERA) as world:
        yield FakeClient(Runner(world, None))


# ------------------------------------------------------------------------------------------------ packets


def test_an_answer_repeats_the_flag_of_its_packet(client: FakeClient) -> None:
    (answer,) = client.send(0xB0, flag=2)
    assert (answer.type, answer.flag) == (0xB0, 2)
    assert list(json.loads(answer.body)) == ["rot", "rotSpeed", "accel", "angularAccel", "baro"]


def test_the_echo_flag_adds_an_ack_with_the_body(client: FakeClient) -> None:
    answer, echo = client.send(0xC5, b"1604.5", flag=1)
    assert answer == OkonPacket(0xC5, b"1604.5", 1)
    assert echo == OkonPacket(0xC1, b'{"fromClient":"1604.5"}')


def test_an_ack_is_answered_with_the_test_flag(client: FakeClient) -> None:
    assert client.send(0xC1) == [OkonPacket(0xC1, b'{"info":"ack ack"}', 128)]


def test_an_unknown_or_bad_packet_is_answered_by_an_error_with_its_body(client: FakeClient) -> None:
    (error,) = client.send(0x11, b"hello", flag=2)
    assert (error.type, error.flag) == (0xCA, 0)
    assert json.loads(error.body) == {"info": "Unknown packet 11", "fromClient": "hello"}
    for type_ in (0xA0, 0xA4, 0xA5, 0xA6, 0xC0, 0xC3):
        (error,) = client.send(type_, b"{'bad'}\xff")
        assert error.type == 0xCA
        assert json.loads(error.body)["fromClient"].startswith("{'bad'}")


def test_motors_turn_only_when_they_are_armed(client: FakeClient) -> None:
    body = b'{"FLH":0.3,"FRH":0.3,"BLH":-0.3,"BRH":2}'
    assert client.send(0xA0, body) == []
    assert set(client.setpoints().values()) == {0.0}
    client.send(0xA1)
    client.send(0xA0, body)
    expected = dict.fromkeys(THRUSTERS, 0.0) | {"FLH": 0.3, "FRH": 0.3, "BLH": -0.3, "BRH": 1.0}
    assert client.setpoints() == pytest.approx(expected)
    assert client.request(0xA0) == pytest.approx(expected)
    client.send(0xA0, b'{"FLH":0.1}')  # missing keys are 0
    assert client.setpoints() == pytest.approx(dict.fromkeys(THRUSTERS, 0.0) | {"FLH": 0.1})
    client.send(0xA2)
    assert set(client.setpoints().values()) == {0.0}


def test_an_orientation_is_set_and_read_by_one_packet_type(client: FakeClient) -> None:
    client.send(0xC3, b'{"pos":{"x":1,"y":-1,"z":2},"rot":{"y":45}}')
    assert client.request(0xC3)["pos"] == pytest.approx({"x": 1.0, "y": -1.0, "z": 2.0})
    assert client.request(0xC3)["rot"]["y"] == pytest.approx(45.0)
    assert client.request(0xC2) == client.request(0xC3)


def test_images_are_sent_as_bytes_and_as_bare_base64(client: FakeClient) -> None:
    client.robot.images.put(client.okon.sensors["camera"].reading)
    (colour,), (colour_text,) = client.send(0xB3), client.send(0xB4)
    assert simplejpeg.decode_jpeg_header(colour.body)[:2] == (90, 160)
    assert base64.b64decode(colour_text.body) == colour.body
    (depth,), (depth_text,) = client.send(0xB2), client.send(0xB1)
    assert simplejpeg.decode_jpeg_header(depth.body)[:2] == (18, 32)  # every fifth pixel
    assert base64.b64decode(depth_text.body) == depth.body


def test_a_robot_without_a_camera_answers_with_an_error(client: FakeClient) -> None:
    client.robot.has_camera = False
    (error,) = client.send(0xB3)
    assert error.type == 0xCA
    assert b"no camera" in error.body


def test_the_gate_is_detected_ahead_with_its_box_from_the_bottom_up(client: FakeClient) -> None:
    client.robot.images.put(client.okon.sensors["camera"].reading)
    found = {row["className"]: row for row in client.request(0xDE)}
    gate = found["gate"]
    assert list(gate) == ["visibleInFrame", "min", "max", "fill", "className", "distance", "colorPercentVisible"]
    assert gate["distance"] == pytest.approx(5.0 - 0.2854, abs=0.3)
    assert 0 <= gate["min"]["x"] < 0.5 < gate["max"]["x"] <= 1
    assert gate["visibleInFrame"]


def test_a_box_is_in_shares_of_the_image_with_a_margin() -> None:
    found = ImageDetection("a", "gate", 100, 50, 200, 100, 9, 1.0, 3.0, 0.1)
    body = detection_body(found, 400, 200)
    assert body["min"] == pytest.approx({"x": 0.24, "y": 0.24})
    assert body["max"] == pytest.approx({"x": 0.76, "y": 0.76})
    assert body["fill"] == pytest.approx(0.5**2)  # without the margin
    assert not body["visibleInFrame"]  # too faint
    whole = detection_body(ImageDetection("a", "flare_red", 0, 0, 400, 200, 9, 1.0, 3.0, 0.5), 400, 200)
    assert (whole["min"], whole["max"]) == ({"x": 0.0001, "y": 0.0001}, {"x": 0.9999, "y": 0.9999})
    assert whole["className"] == "flareRed"  # as the original spells it


def test_clients_of_2_0_get_some_answers_in_the_documented_form(client: FakeClient) -> None:
    early = FakeClient(client.robot._inbox.runner, early=True)
    early.robot.images.put(early.okon.sensors["camera"].reading)
    assert list(early.request(0xB0)) == ["gyro", "rot_speed", "accel", "angular_accel", "baro"]
    jpeg = base64.b64decode(early.request(0xB1)["depth"])
    assert simplejpeg.decode_jpeg_header(jpeg)[:2] == (18, 32)
    assert "gate" in [row["className"] for row in early.request(0xDE)["detected"]]
    assert early.request(0xC5, b'{"timestamp":0,"ping":0}')["ping"] > 1_600_000_000_000
    (error,) = early.send(0x11, b"hello")
    assert error.type == 0xC1
    assert json.loads(error.body)["fromClient"] == "hello"


# ------------------------------------------------------------------------------------------------ modes


def test_the_mode_is_a_bare_name_and_an_unknown_name_is_manual(client: FakeClient) -> None:
    assert client.send(0xA3) == [OkonPacket(0xA3, b"stable")]
    for name, mode in ((b"acro", b"acro"), (b"stable", b"stable"), (b"whatever", b"manual")):
        assert client.send(0xA3, name) == []
        assert client.send(0xA3) == [OkonPacket(0xA3, mode)]


def test_the_first_mode_is_stable_at_one_metre_as_missions_without_a_mode_expect(client: FakeClient) -> None:
    none = {"x": 0.0, "y": 0.0, "z": 0.0}
    assert client.request(0xA5) == {"rot": none, "vel": none, "depth": 1.0}
    client.send(0xA5, b'{"rot":{"y":90},"vel":{"x":0,"y":0,"z":0},"depth":1.3}')
    client.send(0xA1)
    client.advance(6.0)
    assert client.robot.state.position[1] == pytest.approx(-1.3, abs=0.02)
    assert client.robot.state.angles[1] == pytest.approx(90.0, abs=1.0)


def test_throttles_before_a_mode_is_set_select_the_mode_manual(client: FakeClient) -> None:
    client.send(0xA1)
    client.send(0xA0, b'{"FLH":0.4}')
    client.advance(0.1)
    assert client.setpoints()["FLH"] == pytest.approx(0.4)
    assert client.send(0xA3) == [OkonPacket(0xA3, b"manual")]


def test_setpoints_of_the_modes_can_be_read_and_both_share_the_velocity(client: FakeClient) -> None:
    client.send(0xA4, b'{"rotSpeed":{"y":0.3},"vel":{"z":0.5}}')
    none = {"x": 0.0, "y": 0.0, "z": 0.0}
    assert client.request(0xA4) == {"rotSpeed": none | {"y": 0.3}, "vel": none | {"z": 0.5}}
    assert client.request(0xA5)["vel"] == none | {"z": 0.5}
    client.send(0xA5, b'{"rot":{"y":90},"vel":{},"depth":1.1}')
    assert client.request(0xA5) == {"rot": none | {"y": 90.0}, "vel": none, "depth": 1.1}


def test_gains_are_read_and_set(client: FakeClient) -> None:
    assert client.request(0xA6)["pitch"] == {"p": 0.7, "i": 0.0, "d": 0.1, "windupCap": 1.0, "gain": 1.0, "limit": 0.5}
    client.send(0xA6, b'{"pitch":{"p":2,"limit":0.2}}')
    assert client.request(0xA6)["pitch"] == {"p": 2.0, "i": 0.0, "d": 0.1, "windupCap": 1.0, "gain": 1.0, "limit": 0.2}
    assert [packet.type for packet in client.send(0xA6, b'{"pitch":{"limit":-1}}')] == [0xCA]


def test_zeros_for_the_loops_of_acro_are_ignored_because_the_original_reports_zeros(client: FakeClient) -> None:
    before = client.request(0xA6)
    zeros = dict.fromkeys(("p", "i", "d", "windupCap", "gain", "limit"), 0.0)
    client.send(0xA6, json.dumps(before | {f"{axis}Speed": zeros for axis in ("roll", "pitch", "yaw")}).encode())
    assert client.request(0xA6) == before


def test_a_loop_is_proportional_integral_and_derivative_within_its_limits() -> None:
    assert AxisPid(p=0.2).step(1.0, 0.1) == pytest.approx(0.2)
    assert AxisPid(p=0.2, gain=2.0).step(1.0, 0.1) == pytest.approx(0.4)
    assert AxisPid(p=9.0).step(1.0, 0.1) == 0.5
    loop = AxisPid(i=0.4, windupCap=1.0)
    assert [loop.step(5.0, 0.1) for _ in range(3)] == pytest.approx([0.2, 0.4, 0.4])
    loop = AxisPid(d=0.01)
    assert loop.step(1.0, 0.1) == 0.0
    assert loop.step(2.0, 0.1) == pytest.approx(0.01 * 10 * 0.1 / 0.11)  # smoothed over 0.01 s
    loop = AxisPid(d=0.01)
    loop.step(1.0, 0.1, derive=5.0)
    assert loop.step(2.0, 0.1, derive=5.0) == 0.0


def test_outputs_are_mixed_as_in_the_original(client: FakeClient) -> None:
    """Outputs are pitch, yaw, roll, right, up, forward; a thruster gives 9.505 N at an output of 1.

    The limits of a thruster of the original are -4.752 N and 6.183 N; the tolerance is the step of the thrust table.
    """

    def forces(*outputs: float) -> dict[str, float]:
        throttles = client.autopilot._mix(list(outputs))
        client.autopilot.armed = True
        client.autopilot._drive(throttles)
        client.world.advance_steps(1)
        return {name: client.okon.actuators[name].thrust for name in THRUSTERS}

    horizontal, vertical = ("FLH", "FRH", "BLH", "BRH"), ("FLV", "FRV", "BLV", "BRV")
    ahead = forces(0, 0, 0, 0, 0, 0.3)
    assert [ahead[name] for name in horizontal] == pytest.approx([2.851, 2.851, -2.851, -2.851], rel=0.02)
    aside = forces(0, 0, 0, 0.3, 0, 0)
    assert [aside[name] for name in horizontal] == pytest.approx([2.851, -2.851, 2.851, -2.851], rel=0.02)
    turned = forces(0, 0.3, 0, 0, 0, 0)
    assert [turned[name] for name in horizontal] == pytest.approx([-2.851, 2.851, 2.851, -2.851], rel=0.02)
    raised = forces(0.1, 0, 0.1, 0, 0.2, 0)
    assert [raised[name] for name in vertical] == pytest.approx([3.802, 1.901, 1.901, 0.0], rel=0.02, abs=0.01)
    most = forces(0, 0, 0, 1, 0, 1)  # 2 and 0: scaled down by the same factor, then limited to the range of a thruster
    assert [most[name] for name in horizontal] == pytest.approx([6.183, 0.0, 0.0, -4.752], rel=0.02, abs=0.01)


def test_stable_holds_attitude_and_depth_while_moving_forward(client: FakeClient) -> None:
    client.send(0xA1)
    client.send(0xA5, b'{"rot":{"y":180},"vel":{"z":0.5},"depth":1.1}')
    client.send(0xA3, b"stable")
    client.advance(8.0)
    x, y, z = client.robot.state.angles
    assert [(angle + 180) % 360 - 180 for angle in (x, y - 180, z)] == pytest.approx([0, 0, 0], abs=1.0)
    assert client.robot.state.position[1] == pytest.approx(-1.1, abs=0.02)
    # √(4 · 0.866 · 0.5 · 9.505 N / 44), where a thruster backwards gives 4.752 N at most, as it does just here
    assert client.okon.twist.linear[0] == pytest.approx(0.61, abs=0.03)
    client.send(0xA0, b'{"FLH":1}')  # ignored, because the mode is not manual
    assert client.okon.actuators["FLH"].setpoint < 0.5


def test_stable_rights_the_robot_by_the_shorter_rotation(client: FakeClient) -> None:
    client.send(0xC3, b'{"pos":{"x":-20,"y":-1,"z":0},"rot":{"x":20,"y":350,"z":70}}')
    client.send(0xA5, b'{"rot":{"x":0,"y":10,"z":0},"vel":{},"depth":1}')
    client.send(0xA1)
    turned = []
    for _ in range(80):
        client.advance(0.07)
        turned.append((client.robot.state.angles[1] + 180) % 360 - 180)
    angles = [(angle + 180) % 360 - 180 for angle in client.robot.state.angles]
    assert angles == pytest.approx([0, 10, 0], abs=1.0)
    assert max(map(abs, turned)) < 60
    assert client.robot.state.position[1] == pytest.approx(-1.0, abs=0.05)


def test_acro_turns_at_about_its_setpoint(client: FakeClient) -> None:
    client.send(0xA1)
    client.send(0xA4, b'{"rotSpeed":{"y":0.3},"vel":{}}')
    client.send(0xA3, b"acro")
    client.advance(6.0)
    # drag 1.5 N m s against 10.9 N m of an output: 0.3 · (1 - 0.12) and the integral's share, which grows slowly
    assert client.robot.state.body_rates == pytest.approx((0.0, 0.28, 0.0), abs=0.03)
    assert client.send(0xA3, b"manual") == []
    assert set(client.setpoints().values()) == {0.0}


def test_a_robot_without_the_needed_thrusters_refuses_modes() -> None:
    with skerry.load("okon_pool") as world:
        robot = OkonRobot(
            world, ImmediateInbox(Runner(world, None)), "okon", ("FL", "FR", "ML", "MR", "B"), "camera", LatestImage(20)
        )
        autopilot = OkonAutopilot(robot)
        assert autopilot.mode == "manual"
        with pytest.raises(SkerryError, match="only SET_MTR"):
            autopilot.set_mode("stable")
        autopilot.set_mode("manual")


# ------------------------------------------------------------------------------------------------ course

COURSE = CourseConfig.model_validate(
    {
        "start_zones": {"a": {"position": [0, 0, -1], "size": [2, 2, 1], "heading_deg": 270, "spread_deg": 20}},
        "checkpoints": {"1": {"position": [5, 0, -1]}, "2": {"position": [9, 0, -1]}},
        "no_go_zones": {"wall": {"position": [0, 9, -1], "size": [20, 1, 2]}},
        "finish_zones": {"end": {"position": [20, 0, -1], "size": [1, 9, 9]}},
        "action_points": {"drop": {"position": [5, 0, -1], "size": [4, 4, 4]}},
    }
)


def test_a_checkpoint_stays_reached_until_the_next_run() -> None:
    course = CourseProgress(COURSE, Pose.identity(), 1)
    assert course.update(np.array([5.4, 0.4, -1.4])) is None
    assert course.update(np.array([0.0, 0.0, -1.0])) is None
    assert course.reached == {"1": True, "2": False}
    course.start_run()
    assert course.reached == {"1": False, "2": False}


def test_an_action_point_is_active_while_the_robot_is_there() -> None:
    course = CourseProgress(COURSE, Pose.identity(), 1)
    course.update(np.array([6.5, 0.0, -1.0]))
    assert course.active == {"drop"}
    course.update(np.array([8.0, 0.0, -1.0]))
    assert not course.active


def test_a_no_go_zone_and_a_finish_end_a_run() -> None:
    course = CourseProgress(COURSE, Pose.identity(), 1)
    assert course.update(np.array([3.0, 9.2, -1.0])) == ZoneHit("wall", finish=False)
    assert course.update(np.array([20.0, 2.0, -1.0])) == ZoneHit("end", finish=True)


def test_runs_start_at_random_poses_of_a_zone_that_depend_only_on_the_seed() -> None:
    poses = [CourseProgress(COURSE, Pose.identity(), seed).start_run() for seed in (1, 1, 2)]
    assert np.array_equal(poses[0].position, poses[1].position)
    assert not np.array_equal(poses[0].position, poses[2].position)
    course = CourseProgress(COURSE, Pose.identity(), 1)
    zone = COURSE.start_zones["a"]
    for _ in range(50):
        pose = course.start_run()
        assert zone.contains(pose.position)
        assert pose.rotation[0, 0] < -np.cos(np.radians(20.1))  # headed west, 20° either way
    assert CourseProgress(CourseConfig(), Pose.identity(), 1).start_run() is not None


def test_a_reset_starts_a_new_run_and_notifies_all_clients(client: FakeClient) -> None:
    client.course.reached["gate"] = True
    assert client.request(0xC6) == [{"id": "gate", "reached": True}, {"id": "red", "reached": False}]
    client.send(0xC3, b'{"pos":{"x":9,"y":-1,"z":2}}')
    assert client.send(0xC4) == []
    assert client.broadcast == [b"\xc4\x00\x00\x00\x00\x00"]
    assert client.request(0xC6) == [{"id": "gate", "reached": False}, {"id": "red", "reached": False}]
    assert client.course.config.start_zones["west"].contains(client.okon.pose.position)


def test_action_points_are_checked_one_by_one_or_listed(client: FakeClient) -> None:
    assert client.request(0xC9, b"drums") is False
    client.course.update(np.array([-7.0, -2.6, -1.0]))
    assert client.request(0xC9, b"drums") is True
    assert client.request(0xC9) == ["drums"]
    client.course.update(np.array([0.0, 0.0, -1.0]))
    assert client.request(0xC9) == ["drums"]  # all action points, active or not
    assert client.send(0xC9, b"drums", flag=2) == [OkonPacket(0xC9, b"false")]  # without its flag, as in the original


def test_a_torpedo_leaves_ahead_at_ten_metres_a_second_and_slows_down(client: FakeClient) -> None:
    torpedo = client.world.objects["torpedo"]
    assert client.send(0xE0) == []
    assert torpedo.pose.position == pytest.approx([-19.4, 0.0, -1.59])
    assert torpedo.twist.linear == pytest.approx([10.0, 0.0, 0.0], abs=1e-9)
    client.advance(0.3)
    # m dv/dt = −v² with m = 0.997: v = v₀ / (1 + v₀ t / m), x = m ln(1 + v₀ t / m); its depth changes little
    seconds = round(0.3 / STEP) * STEP
    assert torpedo.twist.linear[0] == pytest.approx(10 / (1 + 10 * seconds / 0.997), rel=0.05)
    assert torpedo.pose.position[0] + 19.4 == pytest.approx(0.997 * np.log(1 + 10 * seconds / 0.997), rel=0.05)
    assert client.okon.pose.position[0] == pytest.approx(-20.0, abs=0.01)  # the torpedo does not touch the hull


def test_torpedo_without_an_object_is_answered_by_an_error(client: FakeClient) -> None:
    client.session._torpedo = None
    assert [packet.type for packet in client.send(0xE0)] == [0xCA]


@pytest.mark.parametrize(
    ("settings", "armed", "mode"),
    [
        ({"dialect": "2"}, False, "stable"),
        ({"dialect": "2", "armed": True}, True, "stable"),
        ({"dialect": "2.0"}, True, "manual"),
        ({"dialect": 2.0}, True, "manual"),  # as YAML reads it without quotes
    ],
)
def test_each_dialect_has_its_initial_arming_and_mode(settings: dict[str, Any], armed: bool, mode: str) -> None:
    okon = OkonInterface(Okon.model_validate({"control_port": 0, "settings_file": None, **settings}))
    with skerry.load("okon2_pool", overrides=SMALL_CAMERA) as world, Runner(world, None, {"okon": okon}) as runner:
        runner.run(STEP)
        assert okon._later is not None
        assert (okon._later.autopilot.armed, okon._later.autopilot.mode) == (armed, mode)


def test_a_torpedo_that_is_not_a_dynamic_object_is_refused() -> None:
    okon = OkonInterface(Okon(dialect="2", control_port=0, settings_file=None, torpedo="gate"))
    with skerry.load("okon2_pool") as world, pytest.raises(SkerryError, match="no dynamic object 'gate'"):
        okon.start(world, Runner(world, None).inbox)
