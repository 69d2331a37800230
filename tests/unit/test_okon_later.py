"""Okoń's later dialect as bytes, without a socket: flags, arming, modes, course, detections, torpedo."""

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
from skerry.interfaces.okon.course import Course, CourseConfig, Hit
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.interface import OkonInterface
from skerry.interfaces.okon.later_session import THRUSTERS, LaterDialogue, detection_body
from skerry.interfaces.okon.packets import Packet
from skerry.interfaces.okon.pictures import Pictures
from skerry.interfaces.okon.pilot import Loop, Pilot
from skerry.interfaces.okon.session import Quality
from skerry.parts.interface import Command
from skerry.rays.detections import Detection
from skerry.runner import Runner

STEP = 0.007
SMALL_CAMERA = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 160, "height": 90}}}}}}


class AtOnce:
    """An inbox that does a command when it comes, as the loop does between two steps."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner

    def put(self, command: Command) -> Future[Any]:
        promise: Future[Any] = Future()
        promise.set_running_or_notify_cancel()
        promise.set_result(command.apply(self.runner))
        return promise


class Talk:
    """A client's conversation with Okoń's second frame, without the wire."""

    def __init__(self, runner: Runner, early: bool = False) -> None:
        self.world = runner.world
        self.okon = self.world.robots["okon"]
        self.craft = Craft(self.world, AtOnce(runner), "okon", THRUSTERS, "camera", Pictures(20.0, 5))
        self.pilot = Pilot(self.craft, armed=early, mode="manual" if early else "stable")
        config = self.world.scenario.interfaces["okon"]
        self.course = Course(config.course, self.okon.pose, 1)
        self.sent: list[bytes] = []
        self.told: list[bytes] = []
        parts = (Quality(85), self.pilot, self.course, config.torpedo, early)
        self.dialogue = LaterDialogue(self.craft, *parts, self.sent.append, self.told.append)

    def say(self, type_: int, body: bytes = b"", flag: int = 0) -> list[Packet]:
        """Send a packet; what was written, write by write."""
        self.sent.clear()
        self.dialogue.receive(Packet(type_, body, flag))
        return [parse(write) for write in self.sent]

    def ask(self, type_: int, body: bytes = b"") -> Any:
        """Send a packet that has one answer, of its own type."""
        (answer,) = self.say(type_, body)
        assert answer.type == type_
        return json.loads(answer.body)

    def wanted(self) -> dict[str, float]:
        """What the thrusters are commanded."""
        return {name: self.okon.actuators[name].wanted for name in THRUSTERS}

    def advance(self, seconds: float) -> None:
        """Let the world go on, and be seen at every step."""
        for _ in range(round(seconds / STEP)):
            self.world.advance_steps(1)
            self.craft.see()
            self.pilot.see(self.craft.instant, STEP)


def parse(write: bytes) -> Packet:
    type_, flag, length = struct.unpack_from("<BBi", write)
    assert length == len(write) - 6
    return Packet(type_, write[6:], flag)


@pytest.fixture
def talk() -> Iterator[Talk]:
    with skerry.load("okon2_pool", overrides=SMALL_CAMERA) as world:
        yield Talk(Runner(world, None))


# ------------------------------------------------------------------------------------------------ packets


def test_an_answer_carries_the_flag_of_what_it_answers(talk: Talk) -> None:
    (answer,) = talk.say(0xB0, flag=2)
    assert (answer.type, answer.flag) == (0xB0, 2)
    assert list(json.loads(answer.body)) == ["rot", "rotSpeed", "accel", "angularAccel", "baro"]


def test_the_flag_of_an_echo_brings_an_ack_with_the_body_besides(talk: Talk) -> None:
    answer, echo = talk.say(0xC5, b"1604.5", flag=1)
    assert answer == Packet(0xC5, b"1604.5", 1)
    assert echo == Packet(0xC1, b'{"fromClient":"1604.5"}')


def test_an_ack_is_acknowledged_with_the_flag_of_a_test(talk: Talk) -> None:
    assert talk.say(0xC1) == [Packet(0xC1, b'{"info":"ack ack"}', 128)]


def test_an_unknown_or_bad_packet_is_answered_by_an_error_with_what_came(talk: Talk) -> None:
    (error,) = talk.say(0x11, b"hello", flag=2)
    assert (error.type, error.flag) == (0xCA, 0)
    assert json.loads(error.body) == {"info": "Unknown packet 11", "fromClient": "hello"}
    for type_ in (0xA0, 0xA4, 0xA5, 0xA6, 0xC0, 0xC3):
        (error,) = talk.say(type_, b"{'bad'}\xff")
        assert error.type == 0xCA
        assert json.loads(error.body)["fromClient"].startswith("{'bad'}")


def test_motors_turn_only_when_they_are_armed(talk: Talk) -> None:
    body = b'{"FLH":0.3,"FRH":0.3,"BLH":-0.3,"BRH":2}'
    assert talk.say(0xA0, body) == []
    assert set(talk.wanted().values()) == {0.0}
    talk.say(0xA1)
    talk.say(0xA0, body)
    expected = dict.fromkeys(THRUSTERS, 0.0) | {"FLH": 0.3, "FRH": 0.3, "BLH": -0.3, "BRH": 1.0}
    assert talk.wanted() == pytest.approx(expected)
    assert talk.ask(0xA0) == pytest.approx(expected)
    talk.say(0xA0, b'{"FLH":0.1}')  # what is missing is 0
    assert talk.wanted() == pytest.approx(dict.fromkeys(THRUSTERS, 0.0) | {"FLH": 0.1})
    talk.say(0xA2)
    assert set(talk.wanted().values()) == {0.0}


def test_an_orientation_is_set_and_asked_for_by_one_packet(talk: Talk) -> None:
    talk.say(0xC3, b'{"pos":{"x":1,"y":-1,"z":2},"rot":{"y":45}}')
    assert talk.ask(0xC3)["pos"] == pytest.approx({"x": 1.0, "y": -1.0, "z": 2.0})
    assert talk.ask(0xC3)["rot"]["y"] == pytest.approx(45.0)
    assert talk.ask(0xC2) == talk.ask(0xC3)


def test_pictures_come_as_bytes_and_as_bare_base64(talk: Talk) -> None:
    talk.craft.pictures.put(talk.okon.sensors["camera"].reading)
    (colour,), (colour_text,) = talk.say(0xB3), talk.say(0xB4)
    assert simplejpeg.decode_jpeg_header(colour.body)[:2] == (90, 160)
    assert base64.b64decode(colour_text.body) == colour.body
    (depth,), (depth_text,) = talk.say(0xB2), talk.say(0xB1)
    assert simplejpeg.decode_jpeg_header(depth.body)[:2] == (18, 32)  # every fifth pixel
    assert base64.b64decode(depth_text.body) == depth.body


def test_a_robot_without_a_camera_says_so(talk: Talk) -> None:
    talk.craft.has_camera = False
    (error,) = talk.say(0xB3)
    assert error.type == 0xCA
    assert b"no camera" in error.body


def test_the_gate_is_detected_ahead_with_its_box_from_the_bottom_up(talk: Talk) -> None:
    talk.craft.pictures.put(talk.okon.sensors["camera"].reading)
    found = {row["className"]: row for row in talk.ask(0xDE)}
    gate = found["gate"]
    assert list(gate) == ["visibleInFrame", "min", "max", "fill", "className", "distance", "colorPercentVisible"]
    assert gate["distance"] == pytest.approx(5.0 - 0.2854, abs=0.3)
    assert 0 <= gate["min"]["x"] < 0.5 < gate["max"]["x"] <= 1
    assert gate["visibleInFrame"]


def test_a_box_is_in_shares_of_the_picture_with_a_margin() -> None:
    found = Detection("a", "gate", 100, 50, 200, 100, 9, 1.0, 3.0, 0.1)
    body = detection_body(found, 400, 200)
    assert body["min"] == pytest.approx({"x": 0.24, "y": 0.24})
    assert body["max"] == pytest.approx({"x": 0.76, "y": 0.76})
    assert body["fill"] == pytest.approx(0.5**2)  # without the margin
    assert not body["visibleInFrame"]  # too faint
    whole = detection_body(Detection("a", "flare_red", 0, 0, 400, 200, 9, 1.0, 3.0, 0.5), 400, 200)
    assert (whole["min"], whole["max"]) == ({"x": 0.0001, "y": 0.0001}, {"x": 0.9999, "y": 0.9999})
    assert whole["className"] == "flareRed"  # as the original spells it


def test_clients_of_2_0_get_some_answers_as_they_were_before(talk: Talk) -> None:
    early = Talk(talk.craft._inbox.runner, early=True)
    early.craft.pictures.put(early.okon.sensors["camera"].reading)
    assert list(early.ask(0xB0)) == ["gyro", "rot_speed", "accel", "angular_accel", "baro"]
    jpeg = base64.b64decode(early.ask(0xB1)["depth"])
    assert simplejpeg.decode_jpeg_header(jpeg)[:2] == (18, 32)
    assert "gate" in [row["className"] for row in early.ask(0xDE)["detected"]]
    assert early.ask(0xC5, b'{"timestamp":0,"ping":0}')["ping"] > 1_600_000_000_000
    (error,) = early.say(0x11, b"hello")
    assert error.type == 0xC1
    assert json.loads(error.body)["fromClient"] == "hello"


# ------------------------------------------------------------------------------------------------ modes


def test_the_mode_is_a_bare_word_and_any_other_word_is_by_hand(talk: Talk) -> None:
    assert talk.say(0xA3) == [Packet(0xA3, b"stable")]
    for said, mode in ((b"acro", b"acro"), (b"stable", b"stable"), (b"whatever", b"manual")):
        assert talk.say(0xA3, said) == []
        assert talk.say(0xA3) == [Packet(0xA3, mode)]


def test_it_begins_in_the_mode_stable_at_one_metre_as_missions_expect_that_name_no_mode(talk: Talk) -> None:
    none = {"x": 0.0, "y": 0.0, "z": 0.0}
    assert talk.ask(0xA5) == {"rot": none, "vel": none, "depth": 1.0}
    talk.say(0xA5, b'{"rot":{"y":90},"vel":{"x":0,"y":0,"z":0},"depth":1.3}')
    talk.say(0xA1)
    talk.advance(6.0)
    assert talk.craft.instant.position[1] == pytest.approx(-1.3, abs=0.02)
    assert talk.craft.instant.angles[1] == pytest.approx(90.0, abs=1.0)


def test_throttles_before_anybody_has_named_a_mode_are_by_hand(talk: Talk) -> None:
    talk.say(0xA1)
    talk.say(0xA0, b'{"FLH":0.4}')
    talk.advance(0.1)
    assert talk.wanted()["FLH"] == pytest.approx(0.4)
    assert talk.say(0xA3) == [Packet(0xA3, b"manual")]


def test_what_a_mode_is_told_can_be_asked_for_and_both_share_the_velocity(talk: Talk) -> None:
    talk.say(0xA4, b'{"rotSpeed":{"y":0.3},"vel":{"z":0.5}}')
    none = {"x": 0.0, "y": 0.0, "z": 0.0}
    assert talk.ask(0xA4) == {"rotSpeed": none | {"y": 0.3}, "vel": none | {"z": 0.5}}
    assert talk.ask(0xA5)["vel"] == none | {"z": 0.5}
    talk.say(0xA5, b'{"rot":{"y":90},"vel":{},"depth":1.1}')
    assert talk.ask(0xA5) == {"rot": none | {"y": 90.0}, "vel": none, "depth": 1.1}


def test_gains_are_told_and_set(talk: Talk) -> None:
    assert talk.ask(0xA6)["pitch"] == {"p": 0.7, "i": 0.0, "d": 0.1, "windupCap": 1.0, "gain": 1.0, "limit": 0.5}
    talk.say(0xA6, b'{"pitch":{"p":2,"limit":0.2}}')
    assert talk.ask(0xA6)["pitch"] == {"p": 2.0, "i": 0.0, "d": 0.1, "windupCap": 1.0, "gain": 1.0, "limit": 0.2}
    assert [packet.type for packet in talk.say(0xA6, b'{"pitch":{"limit":-1}}')] == [0xCA]


def test_noughts_for_the_loops_of_acro_are_passed_over_as_the_original_tells_noughts(talk: Talk) -> None:
    before = talk.ask(0xA6)
    noughts = dict.fromkeys(("p", "i", "d", "windupCap", "gain", "limit"), 0.0)
    talk.say(0xA6, json.dumps(before | {f"{axis}Speed": noughts for axis in ("roll", "pitch", "yaw")}).encode())
    assert talk.ask(0xA6) == before


def test_a_loop_is_proportional_integral_and_derivative_within_its_limits() -> None:
    assert Loop(p=0.2).step(1.0, 0.1) == pytest.approx(0.2)
    assert Loop(p=0.2, gain=2.0).step(1.0, 0.1) == pytest.approx(0.4)
    assert Loop(p=9.0).step(1.0, 0.1) == 0.5
    loop = Loop(i=0.4, windupCap=1.0)
    assert [loop.step(5.0, 0.1) for _ in range(3)] == pytest.approx([0.2, 0.4, 0.4])
    loop = Loop(d=0.01)
    assert loop.step(1.0, 0.1) == 0.0
    assert loop.step(2.0, 0.1) == pytest.approx(0.01 * 10 * 0.1 / 0.11)  # smoothed over 0.01 s
    loop = Loop(d=0.01)
    loop.step(1.0, 0.1, slope_of=5.0)
    assert loop.step(2.0, 0.1, slope_of=5.0) == 0.0


def test_outputs_are_mixed_as_in_the_original(talk: Talk) -> None:
    """Forces of thrusters by outputs about pitch, yaw, roll and along right, up, forward: 9.505 N at an output of 1.

    Between 0 and the limits of a thruster of the original, -4.752 N and 6.183 N, a curve is right to its table's step.
    """

    def forces(*outputs: float) -> dict[str, float]:
        throttles = talk.pilot._mix(list(outputs))
        talk.pilot.armed = True
        talk.pilot._drive(throttles)
        talk.world.advance_steps(1)
        return {name: talk.okon.actuators[name].thrust for name in THRUSTERS}

    horizontal, vertical = ("FLH", "FRH", "BLH", "BRH"), ("FLV", "FRV", "BLV", "BRV")
    ahead = forces(0, 0, 0, 0, 0, 0.3)
    assert [ahead[name] for name in horizontal] == pytest.approx([2.851, 2.851, -2.851, -2.851], rel=0.02)
    aside = forces(0, 0, 0, 0.3, 0, 0)
    assert [aside[name] for name in horizontal] == pytest.approx([2.851, -2.851, 2.851, -2.851], rel=0.02)
    turned = forces(0, 0.3, 0, 0, 0, 0)
    assert [turned[name] for name in horizontal] == pytest.approx([-2.851, 2.851, 2.851, -2.851], rel=0.02)
    raised = forces(0.1, 0, 0.1, 0, 0.2, 0)
    assert [raised[name] for name in vertical] == pytest.approx([3.802, 1.901, 1.901, 0.0], rel=0.02, abs=0.01)
    most = forces(0, 0, 0, 1, 0, 1)  # 2 and 0: made smaller alike, and then cut where a thruster ends
    assert [most[name] for name in horizontal] == pytest.approx([6.183, 0.0, 0.0, -4.752], rel=0.02, abs=0.01)


def test_stable_holds_attitude_and_depth_while_it_goes_ahead(talk: Talk) -> None:
    talk.say(0xA1)
    talk.say(0xA5, b'{"rot":{"y":180},"vel":{"z":0.5},"depth":1.1}')
    talk.say(0xA3, b"stable")
    talk.advance(8.0)
    x, y, z = talk.craft.instant.angles
    assert [(angle + 180) % 360 - 180 for angle in (x, y - 180, z)] == pytest.approx([0, 0, 0], abs=1.0)
    assert talk.craft.instant.position[1] == pytest.approx(-1.1, abs=0.02)
    # √(4 · 0.866 · 0.5 · 9.505 N / 44), where a thruster backwards gives 4.752 N at most, as it does just here
    assert talk.okon.twist.linear[0] == pytest.approx(0.61, abs=0.03)
    talk.say(0xA0, b'{"FLH":1}')  # by hand, which is not the mode
    assert talk.okon.actuators["FLH"].wanted < 0.5


def test_stable_comes_back_from_lying_on_its_side_by_the_shorter_way(talk: Talk) -> None:
    talk.say(0xC3, b'{"pos":{"x":-20,"y":-1,"z":0},"rot":{"x":20,"y":350,"z":70}}')
    talk.say(0xA5, b'{"rot":{"x":0,"y":10,"z":0},"vel":{},"depth":1}')
    talk.say(0xA1)
    turned = []
    for _ in range(80):
        talk.advance(0.07)
        turned.append((talk.craft.instant.angles[1] + 180) % 360 - 180)
    angles = [(angle + 180) % 360 - 180 for angle in talk.craft.instant.angles]
    assert angles == pytest.approx([0, 10, 0], abs=1.0)
    assert max(map(abs, turned)) < 60
    assert talk.craft.instant.position[1] == pytest.approx(-1.0, abs=0.05)


def test_acro_turns_at_about_the_rate_that_it_is_told(talk: Talk) -> None:
    talk.say(0xA1)
    talk.say(0xA4, b'{"rotSpeed":{"y":0.3},"vel":{}}')
    talk.say(0xA3, b"acro")
    talk.advance(6.0)
    # drag 1.5 N m s against 10.9 N m of an output: 0.3 · (1 - 0.12) and the integral's share, which grows slowly
    assert talk.craft.instant.body_rates == pytest.approx((0.0, 0.28, 0.0), abs=0.03)
    assert talk.say(0xA3, b"manual") == []
    assert set(talk.wanted().values()) == {0.0}


def test_a_frame_that_modes_cannot_steer_says_so() -> None:
    with skerry.load("okon_pool") as world:
        craft = Craft(world, AtOnce(Runner(world, None)), "okon", ("FL", "FR", "ML", "MR", "B"), "camera", Pictures(20))
        pilot = Pilot(craft)
        assert pilot.mode == "manual"
        with pytest.raises(SkerryError, match="SET_MTR alone"):
            pilot.set_mode("stable")
        pilot.set_mode("manual")


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
    course = Course(COURSE, Pose.identity(), 1)
    assert course.see(np.array([5.4, 0.4, -1.4])) is None
    assert course.see(np.array([0.0, 0.0, -1.0])) is None
    assert course.reached == {"1": True, "2": False}
    course.begin()
    assert course.reached == {"1": False, "2": False}


def test_an_action_point_is_active_while_the_robot_is_there() -> None:
    course = Course(COURSE, Pose.identity(), 1)
    course.see(np.array([6.5, 0.0, -1.0]))
    assert course.active == {"drop"}
    course.see(np.array([8.0, 0.0, -1.0]))
    assert not course.active


def test_a_no_go_zone_and_a_finish_end_a_run() -> None:
    course = Course(COURSE, Pose.identity(), 1)
    assert course.see(np.array([3.0, 9.2, -1.0])) == Hit("wall", finish=False)
    assert course.see(np.array([20.0, 2.0, -1.0])) == Hit("end", finish=True)


def test_runs_start_in_a_zone_each_elsewhere_and_the_same_for_a_seed() -> None:
    poses = [Course(COURSE, Pose.identity(), seed).begin() for seed in (1, 1, 2)]
    assert np.array_equal(poses[0].position, poses[1].position)
    assert not np.array_equal(poses[0].position, poses[2].position)
    course = Course(COURSE, Pose.identity(), 1)
    zone = COURSE.start_zones["a"]
    for _ in range(50):
        pose = course.begin()
        assert zone.holds(pose.position)
        assert pose.rotation[0, 0] < -np.cos(np.radians(20.1))  # headed west, 20° either way
    assert Course(CourseConfig(), Pose.identity(), 1).begin() is not None


def test_a_reset_begins_anew_and_tells_everybody(talk: Talk) -> None:
    talk.course.reached["gate"] = True
    assert talk.ask(0xC6) == [{"id": "gate", "reached": True}, {"id": "red", "reached": False}]
    talk.say(0xC3, b'{"pos":{"x":9,"y":-1,"z":2}}')
    assert talk.say(0xC4) == []
    assert talk.told == [b"\xc4\x00\x00\x00\x00\x00"]
    assert talk.ask(0xC6) == [{"id": "gate", "reached": False}, {"id": "red", "reached": False}]
    assert talk.course.config.start_zones["west"].holds(talk.okon.pose.position)


def test_action_points_are_asked_for_one_by_one_or_all(talk: Talk) -> None:
    assert talk.ask(0xC9, b"drums") is False
    talk.course.see(np.array([-7.0, -2.6, -1.0]))
    assert talk.ask(0xC9, b"drums") is True
    assert talk.ask(0xC9) == ["drums"]
    talk.course.see(np.array([0.0, 0.0, -1.0]))
    assert talk.ask(0xC9) == ["drums"]  # all that there are, active or not
    assert talk.say(0xC9, b"drums", flag=2) == [Packet(0xC9, b"false")]  # without its flag, as in the original


def test_a_torpedo_leaves_ahead_at_ten_metres_a_second_and_slows_down(talk: Talk) -> None:
    torpedo = talk.world.objects["torpedo"]
    assert talk.say(0xE0) == []
    assert torpedo.pose.position == pytest.approx([-19.4, 0.0, -1.59])
    assert torpedo.twist.linear == pytest.approx([10.0, 0.0, 0.0], abs=1e-9)
    talk.advance(0.3)
    # m dv/dt = −v² with m = 0.997: v = v₀ / (1 + v₀ t / m), x = m ln(1 + v₀ t / m); its own depth changes little
    seconds = round(0.3 / STEP) * STEP
    assert torpedo.twist.linear[0] == pytest.approx(10 / (1 + 10 * seconds / 0.997), rel=0.05)
    assert torpedo.pose.position[0] + 19.4 == pytest.approx(0.997 * np.log(1 + 10 * seconds / 0.997), rel=0.05)
    assert talk.okon.pose.position[0] == pytest.approx(-20.0, abs=0.01)  # it does not touch its own hull


def test_without_a_torpedo_that_is_told(talk: Talk) -> None:
    talk.dialogue._torpedo = None
    assert [packet.type for packet in talk.say(0xE0)] == [0xCA]


@pytest.mark.parametrize(
    ("settings", "armed", "mode"),
    [
        ({"dialect": "2"}, False, "stable"),
        ({"dialect": "2", "armed": True}, True, "stable"),
        ({"dialect": "2.0"}, True, "manual"),
        ({"dialect": 2.0}, True, "manual"),  # as YAML reads it without quotes
    ],
)
def test_a_dialect_begins_armed_or_not_and_in_its_mode(settings: dict[str, Any], armed: bool, mode: str) -> None:
    okon = OkonInterface(Okon.model_validate({"control_port": 0, "settings_file": None, **settings}))
    with skerry.load("okon2_pool", overrides=SMALL_CAMERA) as world, Runner(world, None, {"okon": okon}) as runner:
        runner.run(STEP)
        assert okon._later is not None
        assert (okon._later.pilot.armed, okon._later.pilot.mode) == (armed, mode)


def test_a_torpedo_that_is_no_dynamic_object_is_refused() -> None:
    okon = OkonInterface(Okon(dialect="2", control_port=0, settings_file=None, torpedo="gate"))
    with skerry.load("okon2_pool") as world, pytest.raises(SkerryError, match="no dynamic object 'gate'"):
        okon.start(world, Runner(world, None).inbox)
