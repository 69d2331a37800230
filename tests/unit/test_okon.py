"""Okoń's documented dialect as bytes, without a socket: every packet, and all that may be wrong with one."""

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
from skerry.interfaces.okon.craft import Craft, Recording
from skerry.interfaces.okon.interface import OkonInterface
from skerry.interfaces.okon.packets import LONGEST_BODY, Framing, Packet, ProtocolError
from skerry.interfaces.okon.painter import Painter
from skerry.interfaces.okon.pictures import Picture, Pictures
from skerry.interfaces.okon.robot_state import Instant
from skerry.interfaces.okon.session import THRUSTERS, Dialogue, Quality
from skerry.interfaces.okon.settings_file import read_settings_file
from skerry.interfaces.okon.unity import from_euler, to_euler, to_pose
from skerry.parts.interface import Command
from skerry.runner import Runner
from skerry.sensors.camera import Camera, CameraReading

SMALL_CAMERA = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 64, "height": 36}}}}}}


class AtOnce:
    """An inbox that does a command when it comes, as the loop does between two steps."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.commands: list[Command] = []

    def put(self, command: Command) -> Future[Any]:
        self.commands.append(command)
        promise: Future[Any] = Future()
        promise.set_running_or_notify_cancel()
        promise.set_result(command.apply(self.runner))
        return promise


class Talk:
    """A client's conversation with Okoń in its pool, without the wire."""

    def __init__(self, runner: Runner, acknowledge: bool = False) -> None:
        self.world = runner.world
        self.okon = self.world.robots["okon"]
        self.inbox = AtOnce(runner)
        self.quality = Quality(85)
        self.craft = Craft(self.world, self.inbox, "okon", THRUSTERS, "camera", Pictures(40.0))
        self.sent: list[bytes] = []
        self.dialogue = Dialogue(self.craft, self.quality, acknowledge, self.sent.append)

    def say(self, type_: int, body: bytes = b"") -> list[bytes]:
        """Send a packet; what was written, write by write."""
        self.sent.clear()
        self.dialogue.receive(Packet(type_, body))
        return list(self.sent)

    def ask(self, type_: int, body: bytes = b"") -> Any:
        """Send a packet that has one answer, of its own type."""
        (answer,) = self.say(type_, body)
        kind, length = struct.unpack_from("<Bi", answer)
        assert (kind, length) == (type_, len(answer) - 5)
        return json.loads(answer[5:])

    def advance(self, seconds: float) -> None:
        """Let the world go on, and be seen at every step."""
        for _ in range(round(seconds / 0.007)):
            self.world.advance_steps(1)
            self.craft.see()


@pytest.fixture
def runner() -> Iterator[Runner]:
    with skerry.load("okon_pool", overrides=SMALL_CAMERA) as world:
        yield Runner(world, None)


@pytest.fixture
def talk(runner: Runner) -> Talk:
    return Talk(runner)


def state_of(write: bytes) -> str:
    """The state in an ACK."""
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
def test_packets_are_found_however_they_are_cut(flagged: bool, size: int) -> None:
    framing = Framing(flagged)
    packets = [Packet(0xB0), Packet(0xA0, b'{"FL":0.5}', 3 if flagged else 0), Packet(0xC1), Packet(0xA0, b"x" * 500)]
    stream = b"".join(framing.encode(packet.type, packet.body, packet.flag) for packet in packets)
    reader = framing.reader()
    found = [packet for start in range(0, len(stream), size) for packet in reader.feed(stream[start : start + size])]
    assert found == packets
    assert reader.waiting == 0


@pytest.mark.parametrize("length", [-1, LONGEST_BODY + 1, 2**31 - 1, -(2**31)])
def test_a_length_that_cannot_be_is_refused_before_a_byte_of_it_is_kept(length: int) -> None:
    reader = Framing(flagged=False).reader()
    with pytest.raises(ProtocolError, match=str(LONGEST_BODY)):
        list(reader.feed(struct.pack("<Bi", 0xA0, length)))


@pytest.mark.parametrize("byte", [0x00, 0xFF])
def test_a_client_may_say_goodbye(byte: int) -> None:
    reader = Framing(flagged=False).reader()
    assert list(reader.feed(b"\xb0\0\0\0\0" + bytes([byte]) + b"\xb0\0\0\0\0")) == [Packet(0xB0)]
    assert reader.over


# ------------------------------------------------------------------------------------------------ axes


@pytest.mark.parametrize(
    ("rpy_deg", "euler"),
    [
        ((0, 0, 90), (0, 0, 0)),  # to the north, which is z
        ((0, 0, 0), (0, 90, 0)),  # to the east: clockwise from above
        ((0, 0, -90), (0, 180, 0)),
        ((0, 10, 90), (10, 0, 0)),  # nose down is positive, for us and for Unity
        ((0, -10, 90), (350, 0, 0)),
        ((20, 0, 90), (0, 0, 340)),  # our roll is positive with the right side down, Unity's with it up
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
def test_an_orientation_comes_back_from_its_angles(angles: tuple[float, float, float]) -> None:
    orientation = from_euler(angles)
    again = from_euler(to_euler(orientation))
    assert abs(float(orientation @ again)) == pytest.approx(1.0, abs=1e-12)


def test_a_position_is_x_east_y_up_z_north() -> None:
    assert to_pose((1.0, 2.0, 3.0), (0.0, 0.0, 0.0)).position == pytest.approx([1, 3, 2])


def test_what_is_told_of_an_instant_is_in_the_worlds_axes_and_without_gravity() -> None:
    turn = rpy_to_quaternion([0.0, 0.0, np.pi / 2])
    now = np.array([1.0, 2.0, -3.0, *turn, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    before = np.array([1.0, 2.0, -3.0, *turn, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    body = Instant(1, 0.1, now, before).sensors(("gyro", "rot_speed", "accel", "angular_accel"))
    assert body["gyro"]["y"] == pytest.approx(0.0, abs=1e-9)
    assert list(body["accel"].values()) == pytest.approx([1, 3, 2])
    assert list(body["rot_speed"].values()) == pytest.approx([-0.4, -0.6, -0.5])
    assert list(body["angular_accel"].values()) == pytest.approx([-4, -6, -5])
    assert body["baro"]["pressure"] == pytest.approx(3.0 * 9800.0)


# ------------------------------------------------------------------------------------------------ packets


def test_set_mtr_sets_thrusters_and_has_no_answer(talk: Talk) -> None:
    assert talk.say(0xA0, b'{"FL":0.1,"FR":-1.0,"ML":0.1,"MR":0.0,"B":0.008}') == []
    wanted = {name: talk.okon.actuators[name].wanted for name in THRUSTERS}
    assert wanted == pytest.approx({"FL": 0.1, "FR": -1.0, "ML": 0.1, "MR": 0.0, "B": 0.008})


def test_a_key_that_set_mtr_lacks_keeps_its_value_and_too_much_is_full(talk: Talk) -> None:
    talk.say(0xA0, b'{"FL":0.1,"B":0.2}')
    talk.say(0xA0, b'{"FL":7,"ML":-3.5,"other":true}')
    wanted = {name: talk.okon.actuators[name].wanted for name in THRUSTERS}
    assert wanted == pytest.approx({"FL": 1.0, "FR": 0.0, "ML": -1.0, "MR": 0.0, "B": 0.2})


def test_a_command_is_held_for_ever(talk: Talk) -> None:
    talk.say(0xA0, b'{"ML":0.5}')
    talk.advance(5.0)
    assert talk.okon.actuators["ML"].feedback == 0.5


def test_arm_mtr_is_taken_and_motors_work_without_it(talk: Talk) -> None:
    assert talk.say(0xA1) == []


def test_get_sens_has_five_groups_in_the_documented_order(talk: Talk) -> None:
    (answer,) = talk.say(0xB0)
    body = json.loads(answer[5:])
    assert list(body) == ["gyro", "rot_speed", "accel", "angular_accel", "baro"]
    for group in ("gyro", "rot_speed", "accel", "angular_accel"):
        assert list(body[group]) == ["x", "y", "z"]
    assert list(body["baro"]) == ["pressure"]
    assert body["gyro"]["y"] == pytest.approx(90.0)
    assert body["baro"]["pressure"] == pytest.approx(1.55 * 9800)
    assert b" " not in answer[5:]


def test_accel_is_the_change_of_velocity_over_a_step(talk: Talk) -> None:
    talk.say(0xA0, b'{"ML":1,"MR":1}')
    talk.advance(0.5)
    before = talk.okon.engine.motion(0, talk.okon.root)[7:10].copy()
    talk.advance(0.007)
    after = talk.okon.engine.motion(0, talk.okon.root)[7:10]
    east, north, up = (after - before) / 0.007
    assert list(talk.ask(0xB0)["accel"].values()) == pytest.approx([east, up, north])


def test_get_depth_is_a_jpeg_in_base64_that_is_bright_where_things_are_near(talk: Talk) -> None:
    reading = talk.okon.sensors["camera"].reading
    talk.craft.pictures.put(reading)
    jpeg = base64.b64decode(talk.ask(0xB1)["depth"], validate=True)
    grey = simplejpeg.decode_jpeg(jpeg, colorspace="GRAY")[..., 0]
    assert grey.shape == (36, 64)
    expected = 255 * (1 - np.clip(reading.depth / 40.0, 0, 1))
    assert np.median(np.abs(grey - expected)) < 4  # JPEG at its best quality


def test_set_sim_sets_the_quality_within_its_range(talk: Talk) -> None:
    for asked, expected in ((66, 66), (-3, 0), (1000, 100)):
        assert talk.say(0xC0, json.dumps({"quality": asked}).encode()) == []
        assert talk.quality.value == expected
    (ack,) = talk.say(0xC0, b"{}")
    assert "quality" in state_of(ack)


def test_ack_tells_frames_per_second_and_that_all_is_well(talk: Talk) -> None:
    (ack,) = talk.say(0xC1)
    assert state_of(ack) == "none"


def test_get_orien_tells_rotation_and_position(talk: Talk) -> None:
    (answer,) = talk.say(0xC2)
    assert answer[5:].startswith(b'{"rot":{"x":')
    body = json.loads(answer[5:])
    assert list(body) == ["rot", "pos"]
    assert body["pos"] == pytest.approx({"x": -20.0, "y": -1.55, "z": 0.0})


def test_set_orien_puts_it_there_at_rest_and_who_asks_next_is_told_so(talk: Talk) -> None:
    talk.say(0xA0, b'{"ML":1,"MR":1}')
    talk.advance(1.0)
    body = {"rot": {"x": 10.0, "y": 200.0, "z": 350.0}, "pos": {"x": -10.0, "y": -0.2, "z": -5.0}}
    assert talk.say(0xC3, json.dumps(body).encode()) == []
    found = talk.ask(0xC2)
    assert found["pos"] == pytest.approx(body["pos"])
    assert found["rot"] == pytest.approx(body["rot"])
    assert talk.okon.pose.position == pytest.approx([-10.0, -5.0, -0.2])
    assert talk.ask(0xB0)["accel"] == {"x": 0.0, "y": 0.0, "z": 0.0}
    talk.say(0xC3, b'{"pos":{"y":-1}}')
    found = talk.ask(0xC2)
    assert found["pos"] == pytest.approx({"x": -10.0, "y": -1.0, "z": -5.0})
    assert found["rot"] == pytest.approx(body["rot"])


def test_ping_tells_how_long_ago_it_was_sent(talk: Talk) -> None:
    before = time.time_ns() // 1_000_000
    found = talk.ask(0xC5, json.dumps({"timestamp": before - 11, "ping": 0}).encode())
    assert list(found) == ["timestamp", "ping"]
    assert found["timestamp"] >= before
    assert found["ping"] == found["timestamp"] - before + 11


def test_a_run_is_recorded_stopped_reset_and_told(talk: Talk) -> None:
    assert talk.ask(0xD3) == []
    talk.advance(0.5)
    assert talk.ask(0xD3) == []
    talk.say(0xA0, b'{"ML":0.4,"MR":0.4}')
    assert talk.say(0xD0) == []
    talk.advance(2.0)
    assert talk.say(0xD1) == []
    rows = talk.ask(0xD3)
    talk.advance(1.0)
    assert talk.ask(0xD3) == rows
    assert 19 <= len(rows) <= 21  # at 10 Hz
    assert list(rows[0]) == ["pos", "dir"]
    east = [row["pos"]["x"] for row in rows]
    assert east == sorted(east)
    assert east[-1] - east[0] > 0.5
    assert rows[0]["dir"] == pytest.approx({"x": 1.0, "y": 0.0, "z": 0.0}, abs=1e-3)
    assert talk.say(0xD2) == []
    assert talk.ask(0xD3) == []


def test_a_recording_ends_when_it_is_full(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("skerry.interfaces.okon.craft.MOST_RECORDED", 5)
    recording = Recording(Fraction(7, 1000))
    recording.start()
    row = np.array([0.0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0])
    for tick in range(1000):
        recording.see(Instant(tick, 0.007, row, row))
    assert len(recording.rows()) == 5
    assert caplog.text.count("recording is full") == 1


def test_kill_ends_the_simulation(talk: Talk, runner: Runner) -> None:
    assert talk.say(0xC4) == []
    runner.run(10.0)
    assert runner.world.time == 0.0


def test_an_unknown_packet_is_answered_by_an_ack_that_says_so(talk: Talk) -> None:
    (ack,) = talk.say(0x5A, b"whatever")
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
def test_a_bad_body_is_answered_by_an_ack_and_changes_nothing(talk: Talk, type_: int, body: bytes) -> None:
    before = bytes(talk.world.snapshot())
    (ack,) = talk.say(type_, body)
    assert state_of(ack) != "none"
    assert bytes(talk.world.snapshot()) == before
    assert talk.ask(0xC2)["pos"]["x"] == -20.0


def test_what_a_client_keeps_doing_wrong_is_logged_once(talk: Talk, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(20):
            talk.say(0xA0, b"nonsense")
    assert len(caplog.records) == 1


def test_an_ack_after_every_request_comes_in_one_write_with_the_answer(runner: Runner) -> None:
    """The team's client of 11 February 2020 takes all that is there with an answer and drops what is behind it, but
    waits for an ACK after SET_MTR: one that came later than its answer would be taken for that.
    """
    talk = Talk(runner, acknowledge=True)
    (ack,) = talk.say(0xA0, b'{"FL":0.1}')
    assert state_of(ack) == "none"
    (write,) = talk.say(0xB0)
    end = 5 + struct.unpack_from("<i", write, 1)[0]
    assert write[0] == 0xB0
    assert list(json.loads(write[5:end])) == ["gyro", "rot_speed", "accel", "angular_accel", "baro"]
    assert state_of(write[end:]) == "none"
    (ack,) = talk.say(0xC1)
    assert state_of(ack) == "none"


def test_of_commands_that_come_faster_than_the_world_steps_the_latest_counts(runner: Runner) -> None:
    craft = Craft(runner.world, runner.inbox, "okon", THRUSTERS, "camera", Pictures(40.0))
    for k in range(1000):
        craft.drive({"FL": k / 1000, "FR": -k / 1000})
    craft.drive({"B": 0.25})
    runner.inbox.obey(runner)
    okon = runner.world.robots["okon"]
    assert okon.actuators["FL"].wanted == 0.0
    craft.see()
    runner.inbox.obey(runner)
    assert {name: okon.actuators[name].wanted for name in ("FL", "FR", "B")} == pytest.approx(
        {"FL": 0.999, "FR": -0.999, "B": 0.25}
    )


# ------------------------------------------------------------------------------------------------ pictures


def picture_of(value: int, depth: float) -> CameraReading:
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
    picture = Picture(1, picture_of(9, depth), 40.0, 1)
    found = simplejpeg.decode_jpeg(picture.depth, colorspace="GRAY")
    assert np.abs(found.astype(int) - grey).max() <= 1


def test_a_picture_is_encoded_once_for_each_quality_and_zero_is_the_worst() -> None:
    picture = Picture(1, picture_of(90, 1.0), 40.0, 1)
    assert picture.colour(85) is picture.colour(85)
    assert picture.colour(0)[:2] == b"\xff\xd8"
    assert simplejpeg.decode_jpeg_header(picture.colour(100))[:2] == (36, 64)


def test_a_camera_works_only_while_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = Pictures(40.0)
    assert not pictures.asked_for
    pictures.ask()
    assert pictures.asked_for
    monkeypatch.setattr("skerry.interfaces.okon.pictures.LINGER", 0.0)
    assert not pictures.asked_for


def test_pictures_are_taken_when_due_and_asked_for_and_not_by_stopping_the_world() -> None:
    with skerry.load("okon_pool", overrides=SMALL_CAMERA) as world:
        okon, pictures = world.robots["okon"], Pictures(40.0)
        config = okon.vehicle.config.sensors["camera"]
        assert isinstance(config, Camera)
        rate = Rate.of(Fraction(12), world.scenario.step)
        painter = Painter(okon.sensors["camera"], config, rate, pictures)
        painter.look(world.tick)
        assert pictures._latest is None  # as nobody has asked
        pictures.ask()
        painter.look(world.tick)
        first = pictures.wait(0, 60.0)
        assert first is not None
        assert first.reading.time == world.time
        painter.look(world.tick)
        world.advance(0.07)  # less than a twelfth of a second
        painter.look(world.tick)
        assert pictures.wait(first.number, 0.05) is first
        world.advance(0.035)
        painter.look(world.tick)
        second = pictures.wait(first.number, 60.0)
        assert second is not None
        assert second.reading.time == pytest.approx(0.105)
        assert not okon.sensors["camera"].is_looked_at
        painter.close()
        painter.close()


def test_who_waits_for_a_picture_gets_a_newer_one_or_the_latest_again() -> None:
    pictures = Pictures(40.0)
    assert pictures.wait(0, 0.0) is None
    pictures.put(picture_of(1, 1.0))
    first = pictures.wait(0, 0.0)
    assert first is not None
    assert pictures.wait(first.number, 0.0) is first
    pictures.put(picture_of(2, 1.0))
    second = pictures.wait(first.number, 0.0)
    assert second is not None
    assert second.number > first.number


# ------------------------------------------------------------------------------------------------ settings.json

DEFAULTS = {"video_port": 44209, "control_port": 44210, "quality": 85}


def test_settings_json_says_ports_and_quality(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{\n"videoPort": 44208,\n"jsonPort": 44211,\n"quality": 66\n}')
    assert read_settings_file(path, DEFAULTS) == {"video_port": 44208, "control_port": 44211, "quality": 66}


def test_without_settings_json_the_defaults_hold() -> None:
    assert read_settings_file(Path("there_is_no_such_file.json"), DEFAULTS) == {}
    assert (Okon().control_port, Okon().video_port, Okon().quality) == (44210, 44209, 85)


def test_a_key_that_settings_json_lacks_keeps_its_default_and_that_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"jsonPort": 44211, "colour": "red"}')
    with caplog.at_level(logging.WARNING):
        assert read_settings_file(path, DEFAULTS) == {"control_port": 44211}
    assert "`videoPort` is missing; it stays 44209" in caplog.text
    assert "`quality` is missing; it stays 85" in caplog.text
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


def test_settings_json_in_the_working_folder_is_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, runner: Runner
) -> None:
    (tmp_path / "settings.json").write_text('{"videoPort": 0, "jsonPort": 1, "quality": 1}')
    monkeypatch.chdir(tmp_path)
    okon = OkonInterface(Okon(control_port=0, video_port=0))
    with pytest.raises(SkerryError, match=r"settings\.json: `videoPort`"):
        okon.start(runner.world, runner.inbox)
    okon.close()


class Drowsy(Future[Any]):
    """A promise that wakes whoever waits for it long before it calls back, as busy machines make of any."""

    def _invoke_callbacks(self) -> None:
        time.sleep(0.2)
        super()._invoke_callbacks()


def test_who_was_placed_is_found_there_however_late_the_promise_calls_back(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(command: Command) -> Future[Any]:
        promise = Drowsy()
        Thread(target=lambda: promise.set_result(command.apply(talk.inbox.runner))).start()
        return promise

    monkeypatch.setattr(talk.inbox, "put", put)
    assert talk.say(0xC3, b'{"pos": {"x": 3, "y": -1, "z": 2}}') == []
    assert talk.ask(0xC2)["pos"] == pytest.approx({"x": 3.0, "y": -1.0, "z": 2.0})


def test_a_command_that_is_refused_is_told_and_one_that_is_given_up_too(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: Future[Any] = Future()
    failed.set_exception(SkerryError("not now"))
    given_up: Future[Any] = Future()
    given_up.cancel()
    for promise, words in ((failed, "not now"), (given_up, "ended, or is too busy")):
        monkeypatch.setattr(talk.inbox, "put", lambda _, promise=promise: promise)
        (answer,) = talk.say(0xC3, b"{}")
        assert words in state_of(answer)
