"""Okoń's documented dialect without a socket: every packet, and invalid packets."""

from __future__ import annotations

import base64
import json
import logging
import struct
import time
from collections.abc import Iterator
from concurrent.futures import Future
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
import simplejpeg

import skerry
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.core.frames import rotate, rpy_to_quaternion
from skerry.interfaces.okon import Okon
from skerry.interfaces.okon.camera_worker import CameraWorker
from skerry.interfaces.okon.images import LatestImage, OkonImage
from skerry.interfaces.okon.interface import OkonInterface
from skerry.interfaces.okon.packets import MAX_BODY, Framing, OkonPacket, OkonProtocolError
from skerry.interfaces.okon.robot import OkonRobot, TrackRecording
from skerry.interfaces.okon.robot_state import RobotState
from skerry.interfaces.okon.session import THRUSTERS, ImageQuality, OkonSession
from skerry.interfaces.okon.settings_file import read_settings_file
from skerry.interfaces.okon.unity import from_euler, to_euler, to_pose
from skerry.parts.interface import Command
from skerry.runner import Runner
from skerry.sensors.camera import Camera, CameraReading

SMALL_CAMERA = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 64, "height": 36}}}}}}


class ImmediateInbox:
    """Inbox that executes a command immediately, as the loop does between two steps."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.commands: list[Command] = []

    def put(self, command: Command) -> Future[Any]:
        self.commands.append(command)
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        future.set_result(command.apply(self.runner))
        return future


class FakeClient:
    """Client of a session with Okoń in its pool, without a socket."""

    def __init__(self, runner: Runner, acknowledge: bool = False) -> None:
        self.world = runner.world
        self.okon = self.world.robots["okon"]
        self.inbox = ImmediateInbox(runner)
        self.quality = ImageQuality(85)
        self.robot = OkonRobot(self.world, self.inbox, "okon", THRUSTERS, "camera", LatestImage(40.0))
        self.sent: list[bytes] = []
        self.session = OkonSession(self.robot, self.quality, acknowledge, self.sent.append)

    def send(self, type_: int, body: bytes = b"") -> list[bytes]:
        """Send a packet and return the answers, one item per write."""
        self.sent.clear()
        self.session.receive(OkonPacket(type_, body))
        return list(self.sent)

    def request(self, type_: int, body: bytes = b"") -> Any:
        """Send a packet and return the body of its only answer, which has the same type."""
        (answer,) = self.send(type_, body)
        kind, length = struct.unpack_from("<Bi", answer)
        assert (kind, length) == (type_, len(answer) - 5)
        return json.loads(answer[5:])

    def advance(self, seconds: float) -> None:
        """Advance the world and update the robot's state at every step."""
        for _ in range(round(seconds / 0.007)):
            self.world.advance_steps(1)
            self.robot.update()


@pytest.fixture
def runner() -> Iterator[Runner]:
    with skerry.load("okon_pool", overrides=SMALL_CAMERA) as world:
        yield Runner(world, None)


@pytest.fixture
def client(runner: Runner) -> FakeClient:
    return FakeClient(runner)


def state_of(write: bytes) -> str:
    """Return the state in an ACK."""
    assert write[0] == 0xC1
    body = json.loads(write[5:])
    assert list(body) == ["fps", "state"]
    assert isinstance(body["fps"], int)
    state: str = body["state"]
    return state


# ------------------------------------------------------------------------------------------------ framing


def test_a_packet_is_a_type_and_a_length_in_little_endian_and_a_body() -> None:
    assert Framing(flagged=False).encode(0xB0, b"{}") == b"\xb0\x02\x00\x00\x00{}"
    assert Framing(flagged=False).encode(0xA1) == b"\xa1\x00\x00\x00\x00"
    assert Framing(flagged=True).encode(0xB0, b"{}", 2) == b"\xb0\x02\x02\x00\x00\x00{}"


@pytest.mark.parametrize("flagged", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_packets_are_found_in_chunks_of_any_size(flagged: bool, size: int) -> None:
    framing = Framing(flagged)
    packets = [
        OkonPacket(0xB0),
        OkonPacket(0xA0, b'{"FL":0.5}', 3 if flagged else 0),
        OkonPacket(0xC1),
        OkonPacket(0xA0, b"x" * 500),
    ]
    stream = b"".join(framing.encode(packet.type, packet.body, packet.flag) for packet in packets)
    reader = framing.reader()
    found = [packet for start in range(0, len(stream), size) for packet in reader.feed(stream[start : start + size])]
    assert found == packets
    assert reader.buffered == 0


@pytest.mark.parametrize("length", [-1, MAX_BODY + 1, 2**31 - 1, -(2**31)])
def test_an_invalid_length_is_refused_before_the_body_is_buffered(length: int) -> None:
    reader = Framing(flagged=False).reader()
    with pytest.raises(OkonProtocolError, match=str(MAX_BODY)):
        list(reader.feed(struct.pack("<Bi", 0xA0, length)))


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_a_client_may_close_the_session(byte: int) -> None:
    reader = Framing(flagged=False).reader()
    assert list(reader.feed(b"\xb0\0\0\0\0" + bytes([byte]) + b"\xb0\0\0\0\0")) == [OkonPacket(0xB0)]
    assert reader.closed


# ------------------------------------------------------------------------------------------------ axes


@pytest.mark.parametrize(
    ("rpy_deg", "euler"),
    [
        ((0, 0, 90), (0, 0, 0)),  # to the north, which is z
        ((0, 0, 0), (0, 90, 0)),  # to the east: clockwise from above
        ((0, 0, -90), (0, 180, 0)),
        ((0, 10, 90), (10, 0, 0)),  # nose down is positive in both conventions
        ((0, -10, 90), (350, 0, 0)),
        ((20, 0, 90), (0, 0, 340)),  # Skerry's roll is positive with the right side down, Unity's with it up
    ],
)
def test_euler_angles_are_unitys(rpy_deg: tuple[float, ...], euler: tuple[float, ...]) -> None:
    found = to_euler(rpy_to_quaternion(np.radians(rpy_deg)))
    assert (np.array(found) - euler + 180) % 360 - 180 == pytest.approx([0, 0, 0], abs=1e-9)
    assert all(0 <= angle < 360 for angle in found)


def test_euler_angles_turn_about_z_then_x_then_y() -> None:
    """Unity: R = Ry Rx Rz. Its axes as columns, written out for x = 30°, y = 40°, z = 50°."""
    orientation = from_euler((30.0, 40.0, 50.0))
    (sx, sy, sz), (cx, cy, cz) = (f(np.radians([30.0, 40.0, 50.0])) for f in (np.sin, np.cos))
    right = np.array([cy * cz + sy * sx * sz, cx * sz, -sy * cz + cy * sx * sz])
    forward = np.array([cx * sy, -sx, cx * cy])
    unity = [0, 2, 1]  # east, up, north
    assert rotate(orientation, [0, -1, 0])[unity] == pytest.approx(right)
    assert rotate(orientation, [1, 0, 0])[unity] == pytest.approx(forward)


@pytest.mark.parametrize("angles", [(30, 40, 50), (350, 200, 10), (89.9, 300, 200), (90, 30, 0), (270, 30, 45)])
def test_an_orientation_survives_conversion_to_angles_and_back(angles: tuple[float, float, float]) -> None:
    orientation = from_euler(angles)
    again = from_euler(to_euler(orientation))
    assert abs(float(orientation @ again)) == pytest.approx(1.0, abs=1e-12)


def test_a_position_is_x_east_y_up_z_north() -> None:
    assert to_pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.0)).position == pytest.approx([1, 3, 2])


def test_the_robot_state_is_in_the_worlds_axes_and_without_gravity() -> None:
    turn = rpy_to_quaternion([0.0, 0.0, np.pi / 2])
    now = np.array([1.0, 2.0, -3.0, *turn, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    before = np.array([1.0, 2.0, -3.0, *turn, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    body = RobotState(1, 0.1, now, before).sensors(("gyro", "rot_speed", "accel", "angular_accel"))
    assert body["gyro"]["y"] == pytest.approx(0.0, abs=1e-9)
    assert list(body["accel"].values()) == pytest.approx([1, 3, 2])
    assert list(body["rot_speed"].values()) == pytest.approx([-0.4, -0.6, -0.5])
    assert list(body["angular_accel"].values()) == pytest.approx([-4, -6, -5])
    assert body["baro"]["pressure"] == pytest.approx(3.0 * 9800.0)


# ------------------------------------------------------------------------------------------------ packets


def test_set_mtr_sets_thrusters_and_has_no_answer(client: FakeClient) -> None:
    assert client.send(0xA0, b'{"FL":0.1,"FR":-1.0,"ML":0.1,"MR":0.0,"B":0.008}') == []
    setpoints = {name: client.okon.actuators[name].setpoint for name in THRUSTERS}
    assert setpoints == pytest.approx({"FL": 0.1, "FR": -1.0, "ML": 0.1, "MR": 0.0, "B": 0.008})
    assert {client.okon.actuators[name].owner for name in THRUSTERS} == {"external"}


def test_a_key_that_set_mtr_lacks_keeps_its_value_and_throttles_are_limited(client: FakeClient) -> None:
    client.send(0xA0, b'{"FL":0.1,"B":0.2}')
    client.send(0xA0, b'{"FL":7,"ML":-3.5,"other":true}')
    setpoints = {name: client.okon.actuators[name].setpoint for name in THRUSTERS}
    assert setpoints == pytest.approx({"FL": 1.0, "FR": 0.0, "ML": -1.0, "MR": 0.0, "B": 0.2})


def test_a_command_is_held_until_the_next(client: FakeClient) -> None:
    client.send(0xA0, b'{"ML":0.5}')
    client.advance(5.0)
    assert client.okon.actuators["ML"].feedback == 0.5


def test_arm_mtr_is_accepted_and_motors_work_without_it(client: FakeClient) -> None:
    assert client.send(0xA1) == []


def test_get_sens_has_five_groups_in_the_documented_order(client: FakeClient) -> None:
    (answer,) = client.send(0xB0)
    body = json.loads(answer[5:])
    assert list(body) == ["gyro", "rot_speed", "accel", "angular_accel", "baro"]
    for group in ("gyro", "rot_speed", "accel", "angular_accel"):
        assert list(body[group]) == ["x", "y", "z"]
    assert list(body["baro"]) == ["pressure"]
    assert body["gyro"]["y"] == pytest.approx(90.0)
    assert body["baro"]["pressure"] == pytest.approx(1.55 * 9800)
    assert b" " not in answer[5:]


def test_accel_is_the_change_of_velocity_over_a_step(client: FakeClient) -> None:
    client.send(0xA0, b'{"ML":1,"MR":1}')
    client.advance(0.5)
    before = client.okon.engine.motion(0, client.okon.root)[7:10].copy()
    client.advance(0.007)
    after = client.okon.engine.motion(0, client.okon.root)[7:10]
    east, north, up = (after - before) / 0.007
    assert list(client.request(0xB0)["accel"].values()) == pytest.approx([east, up, north])


def test_get_depth_is_a_jpeg_in_base64_that_is_bright_where_things_are_near(client: FakeClient) -> None:
    reading = client.okon.sensors["camera"].reading
    client.robot.images.put(reading)
    jpeg = base64.b64decode(client.request(0xB1)["depth"], validate=True)
    grey = simplejpeg.decode_jpeg(jpeg, colorspace="GRAY")[..., 0]
    assert grey.shape == (36, 64)
    expected = 255 * (1 - np.clip(reading.depth / 40.0, 0, 1))
    assert np.median(np.abs(grey - expected)) < 4  # JPEG at its best quality


def test_set_sim_sets_the_quality_within_its_range(client: FakeClient) -> None:
    for asked, expected in ((66, 66), (-3, 0), (1000, 100)):
        assert client.send(0xC0, json.dumps({"quality": asked}).encode()) == []
        assert client.quality.value == expected
    (ack,) = client.send(0xC0, b"{}")
    assert "quality" in state_of(ack)


def test_ack_contains_frames_per_second_and_no_error(client: FakeClient) -> None:
    (ack,) = client.send(0xC1)
    assert state_of(ack) == "none"


def test_get_orien_contains_rotation_and_position(client: FakeClient) -> None:
    (answer,) = client.send(0xC2)
    assert answer[5:].startswith(b'{"rot":{"x":')
    body = json.loads(answer[5:])
    assert list(body) == ["rot", "pos"]
    assert body["pos"] == pytest.approx({"x": -20.0, "y": -1.55, "z": 0.0})


def test_set_orien_moves_the_robot_at_rest_and_the_next_answer_has_the_new_pose(client: FakeClient) -> None:
    client.send(0xA0, b'{"ML":1,"MR":1}')
    client.advance(1.0)
    body = {"rot": {"x": 10.0, "y": 200.0, "z": 350.0}, "pos": {"x": -10.0, "y": -0.2, "z": -5.0}}
    assert client.send(0xC3, json.dumps(body).encode()) == []
    found = client.request(0xC2)
    assert found["pos"] == pytest.approx(body["pos"])
    assert found["rot"] == pytest.approx(body["rot"])
    assert client.okon.pose.position == pytest.approx([-10.0, -5.0, -0.2])
    assert client.request(0xB0)["accel"] == {"x": 0.0, "y": 0.0, "z": 0.0}
    client.send(0xC3, b'{"pos":{"y":-1}}')
    found = client.request(0xC2)
    assert found["pos"] == pytest.approx({"x": -10.0, "y": -1.0, "z": -5.0})
    assert found["rot"] == pytest.approx(body["rot"])


def test_ping_contains_the_time_since_it_was_sent(client: FakeClient) -> None:
    before = time.time_ns() // 1_000_000
    found = client.request(0xC5, json.dumps({"timestamp": before - 11, "ping": 0}).encode())
    assert list(found) == ["timestamp", "ping"]
    assert found["timestamp"] >= before
    assert found["ping"] == found["timestamp"] - before + 11


def test_a_track_is_recorded_stopped_read_and_reset(client: FakeClient) -> None:
    assert client.request(0xD3) == []
    client.advance(0.5)
    assert client.request(0xD3) == []
    client.send(0xA0, b'{"ML":0.4,"MR":0.4}')
    assert client.send(0xD0) == []
    client.advance(2.0)
    assert client.send(0xD1) == []
    rows = client.request(0xD3)
    client.advance(1.0)
    assert client.request(0xD3) == rows
    assert 19 <= len(rows) <= 21  # at 10 Hz
    assert list(rows[0]) == ["pos", "dir"]
    east = [row["pos"]["x"] for row in rows]
    assert east == sorted(east)
    assert east[-1] - east[0] > 0.5
    assert rows[0]["dir"] == pytest.approx({"x": 1.0, "y": 0.0, "z": 0.0}, abs=1e-3)
    assert client.send(0xD2) == []
    assert client.request(0xD3) == []


def test_a_recording_ends_when_it_is_full(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("skerry.interfaces.okon.robot.MAX_RECORDED", 5)
    recording = TrackRecording(Fraction(7, 1000))
    recording.start()
    row = np.array([0.0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    for tick in range(1000):
        recording.update(RobotState(tick, 0.007, row, row))
    assert len(recording.rows()) == 5
    assert caplog.text.count("recording is full") == 1


def test_kill_ends_the_simulation(client: FakeClient, runner: Runner) -> None:
    assert client.send(0xC4) == []
    runner.run(10.0)
    assert runner.world.time == 0.0


def test_an_unknown_packet_is_answered_by_an_ack_with_an_error(client: FakeClient) -> None:
    (ack,) = client.send(0x5A, b"whatever")
    assert state_of(ack) == "Unsupported packet 5A"


@pytest.mark.parametrize(
    ("type_", "body"),
    [
        (0xA0, b""),
        (0xA0, b"{'FL':1}"),
        (0xA0, b"[1,2]"),
        (0xA0, b'{"FL":"1"}'),
        (0xA0, b'{"FL":true}'),
        (0xA0, b'{"FL":NaN}'),
        (0xA0, b'{"FL":1e999}'),
        (0xA0, b'{"FL":' + b"9" * 5000 + b"}"),
        (0xA0, b"[" * 60_000),
        (0xA0, b"\xff\xfe\x00"),
        (0xC0, b'{"quality":"high"}'),
        (0xC3, b'{"pos":[1,2,3]}'),
        (0xC3, b'{"pos":{"x":null}}'),
        (0xC3, b'{"pos":{"x":1e6}}'),
        (0xC5, b'{"timestamp":"now"}'),
    ],
)
def test_a_bad_body_is_answered_by_an_ack_and_changes_nothing(client: FakeClient, type_: int, body: bytes) -> None:
    before = bytes(client.world.snapshot())
    (ack,) = client.send(type_, body)
    assert state_of(ack) != "none"
    assert bytes(client.world.snapshot()) == before
    assert client.request(0xC2)["pos"]["x"] == -20.0


def test_a_repeated_error_of_a_client_is_logged_once(client: FakeClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(20):
            client.send(0xA0, b"nonsense")
    assert len(caplog.records) == 1


def test_an_ack_after_every_request_comes_in_one_write_with_the_answer(runner: Runner) -> None:
    """The team's client of 11 February 2020 reads an answer together with all received bytes and drops the rest.

    It waits for an ACK only after SET_MTR, so it would take a late ACK of another packet for that one.
    """
    client = FakeClient(runner, acknowledge=True)
    (ack,) = client.send(0xA0, b'{"FL":0.1}')
    assert state_of(ack) == "none"
    (write,) = client.send(0xB0)
    end = 5 + struct.unpack_from("<i", write, 1)[0]
    assert write[0] == 0xB0
    assert list(json.loads(write[5:end])) == ["gyro", "rot_speed", "accel", "angular_accel", "baro"]
    assert state_of(write[end:]) == "none"
    (ack,) = client.send(0xC1)
    assert state_of(ack) == "none"


def test_only_the_latest_of_commands_that_arrive_within_a_step_is_executed(runner: Runner) -> None:
    robot = OkonRobot(runner.world, runner.inbox, "okon", THRUSTERS, "camera", LatestImage(40.0))
    for k in range(1000):
        robot.drive({"FL": k / 1000, "FR": -k / 1000})
    robot.drive({"B": 0.25})
    runner.inbox.execute(runner)
    okon = runner.world.robots["okon"]
    assert okon.actuators["FL"].setpoint == 0.0
    robot.update()
    runner.inbox.execute(runner)
    assert {name: okon.actuators[name].setpoint for name in ("FL", "FR", "B")} == pytest.approx(
        {"FL": 0.999, "FR": -0.999, "B": 0.25}
    )


# ------------------------------------------------------------------------------------------------ images


def camera_reading(value: int, depth: float) -> CameraReading:
    shape = (36, 64)
    return CameraReading(
        0.0,
        np.full((*shape, 3), value, np.uint8),
        np.full(shape, depth, np.float32),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.uint8),
        (),
        np.eye(3),
        np.zeros(5),
        1.0,
        (),
        75,
    )


@pytest.mark.parametrize(("depth", "grey"), [(0.0, 255), (10.0, 191), (20.0, 128), (40.0, 0), (np.inf, 0)])
def test_depth_is_white_at_the_lens_and_black_at_the_end_of_its_range(depth: float, grey: int) -> None:
    image = OkonImage(1, camera_reading(9, depth), 40.0, 1)
    found = simplejpeg.decode_jpeg(image.depth_jpeg, colorspace="GRAY")
    assert np.abs(found.astype(int) - grey).max() <= 1


def test_an_image_is_encoded_once_for_each_quality_and_zero_is_the_worst() -> None:
    image = OkonImage(1, camera_reading(90, 1.0), 40.0, 1)
    assert image.jpeg(85) is image.jpeg(85)
    assert image.jpeg(0)[:2] == b"\xff\xd8"
    assert simplejpeg.decode_jpeg_header(image.jpeg(100))[:2] == (36, 64)


def test_a_camera_works_only_while_images_are_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    images = LatestImage(40.0)
    assert not images.requested_recently
    images.request()
    assert images.requested_recently
    monkeypatch.setattr("skerry.interfaces.okon.images.REQUEST_TIMEOUT", 0.0)
    assert not images.requested_recently


def test_images_are_rendered_when_due_and_requested_without_stopping_the_world() -> None:
    with skerry.load("okon_pool", overrides=SMALL_CAMERA) as world:
        okon, images = world.robots["okon"], LatestImage(40.0)
        config = okon.vehicle.config.sensors["camera"]
        assert isinstance(config, Camera)
        rate = Rate.of(Fraction(12), world.scenario.step)
        camera_worker = CameraWorker(okon.sensors["camera"], config, rate, images)
        camera_worker.start_if_due(world.tick)
        assert images._latest is None  # because no image was requested
        images.request()
        camera_worker.start_if_due(world.tick)
        first = images.wait(0, 60.0)
        assert first is not None
        assert first.reading.time == world.time
        camera_worker.start_if_due(world.tick)
        world.advance(0.07)  # less than a twelfth of a second
        camera_worker.start_if_due(world.tick)
        assert images.wait(first.number, 0.05) is first
        world.advance(0.035)
        camera_worker.start_if_due(world.tick)
        second = images.wait(first.number, 60.0)
        assert second is not None
        assert second.reading.time == pytest.approx(0.105)
        assert not okon.sensors["camera"].is_active
        camera_worker.close()
        camera_worker.close()


def test_a_client_that_waits_gets_a_newer_image_or_the_latest_again() -> None:
    images = LatestImage(40.0)
    assert images.wait(0, 0.0) is None
    images.put(camera_reading(1, 1.0))
    first = images.wait(0, 0.0)
    assert first is not None
    assert images.wait(first.number, 0.0) is first
    images.put(camera_reading(2, 1.0))
    second = images.wait(first.number, 0.0)
    assert second is not None
    assert second.number > first.number


# ------------------------------------------------------------------------------------------------ settings.json

DEFAULTS = {"video_port": 44209, "control_port": 44210, "quality": 85}


def test_settings_json_sets_ports_and_quality(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n"videoPort": 44208,\n"jsonPort": 44211,\n"quality": 66\n}')
    assert read_settings_file(path, DEFAULTS) == {"video_port": 44208, "control_port": 44211, "quality": 66}


def test_without_settings_json_the_defaults_hold() -> None:
    assert read_settings_file(Path("there_is_no_such_file.json"), DEFAULTS) == {}
    assert (Okon().control_port, Okon().video_port, Okon().quality) == (44210, 44209, 85)


def test_a_key_that_settings_json_lacks_keeps_its_default_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"jsonPort": 44211, "colour": "red"}')
    with caplog.at_level(logging.WARNING):
        assert read_settings_file(path, DEFAULTS) == {"control_port": 44211}
    assert "`videoPort` is missing; the default 44209 is used" in caplog.text
    assert "`quality` is missing; the default 85 is used" in caplog.text
    assert "colour" in caplog.text


@pytest.mark.parametrize(
    "text",
    ["", "[1]", "{'quality': 1}", '{"quality": 101}', '{"jsonPort": "44210"}', '{"videoPort": 0}', '{"quality": true}'],
)
def test_a_bad_settings_json_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(text)
    with pytest.raises(SkerryError, match=r"settings\.json"):
        read_settings_file(path, DEFAULTS)


def test_settings_json_in_the_working_folder_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    (tmp_path / "settings.json").write_text('{"videoPort": 0, "jsonPort": 1, "quality": 1}')
    monkeypatch.chdir(tmp_path)
    okon = OkonInterface(Okon(control_port=0, video_port=0))
    with pytest.raises(SkerryError, match=r"settings\.json: `videoPort`"):
        okon.start(runner.world, runner.inbox)
    okon.close()


class SlowCallbackFuture(Future[Any]):
    """Future that wakes waiting threads long before it runs its callbacks, as happens on a busy machine."""

    def _invoke_callbacks(self) -> None:
        time.sleep(0.2)
        super()._invoke_callbacks()


def test_a_new_pose_is_visible_even_if_the_callbacks_of_the_future_run_late(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(command: Command) -> Future[Any]:
        future = SlowCallbackFuture()
        Thread(target=lambda: future.set_result(command.apply(client.inbox.runner))).start()
        return future

    monkeypatch.setattr(client.inbox, "put", put)
    assert client.send(0xC3, b'{"pos": {"x": 3, "y": -1, "z": 2}}') == []
    assert client.request(0xC2)["pos"] == pytest.approx({"x": 3.0, "y": -1.0, "z": 2.0})


def test_a_refused_command_and_a_cancelled_command_are_reported(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: Future[Any] = Future()
    failed.set_exception(SkerryError("not now"))
    cancelled: Future[Any] = Future()
    cancelled.cancel()
    for future, words in ((failed, "not now"), (cancelled, "ended, or is too busy")):
        monkeypatch.setattr(client.inbox, "put", lambda _, future=future: future)
        (answer,) = client.send(0xC3, b"{}")
        assert words in state_of(answer)
