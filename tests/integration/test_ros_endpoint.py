"""The ROS-TCP-Endpoint's protocol as bytes: what is sent and understood, and what junk does."""

import json
import struct
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.actions import ActionServer
from skerry.interfaces.ros.bus.bus import LATCHED, Bus
from skerry.interfaces.ros.messages.codec import BadMessage, Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.endpoint import Endpoint, EndpointSession
from skerry.interfaces.ros.transports.endpoint.protocol import FrameDecoder, FrameEncoder, ProtocolError, is_ros2

CODEC = Codec(TypeStore())
LEAK, IMU = "smarc_msgs/Leak", "sensor_msgs/Imu"


def frame(name: bytes, payload: bytes) -> bytes:
    return struct.pack("<I", len(name)) + name + struct.pack("<I", len(payload)) + payload


def frames_in(data: bytes) -> list[tuple[str, bytes]]:
    return list(FrameDecoder().feed(data))


@pytest.fixture(params=[True, False], ids=["ros2", "ros1"])
def session(request: pytest.FixtureRequest) -> Any:
    bus = Bus(CODEC)
    sent: list[bytes] = []
    session = EndpointSession(Endpoint(), bus, request.param, sent.append)
    session.sent = sent  # type: ignore[attr-defined]
    return session


def test_ros_2_wants_a_nul_at_the_end_of_names_and_of_json_and_ros_1_does_not() -> None:
    assert FrameEncoder(True).message("/a", b"xyz") == b"\x03\x00\x00\x00/a\x00\x03\x00\x00\x00xyz"
    assert FrameEncoder(False).message("/a", b"xyz") == b"\x02\x00\x00\x00/a\x03\x00\x00\x00xyz"
    text = b'{"srv_id": 7}'
    assert FrameEncoder(False).command("__response", srv_id=7) == frame(b"__response", text)
    assert FrameEncoder(True).command("__response", srv_id=7) == frame(b"__response\x00", text + b"\x00")


def test_types_are_named_without_msg() -> None:
    (name, payload), *_ = frames_in(FrameEncoder(False).publish("/imu", "sensor_msgs/msg/Imu", False))
    wanted = {"topic": "/imu", "message_name": "sensor_msgs/Imu", "queue_size": 10, "latch": False}
    assert (name, json.loads(payload)) == ("__publish", wanted)


@given(cuts=st.lists(st.integers(1, 40), max_size=30))
def test_frames_are_read_however_they_are_cut(cuts: list[int]) -> None:
    data = frame(b"/a", b"123") + bytes(8) + frame(b"__log", b"{}") + frame(b"/b\x00", b"") + frame(b"/c", b"x" * 100)
    reader, found, place = FrameDecoder(), [], 0
    for cut in [*cuts, len(data)]:
        found += list(reader.feed(data[place : place + cut]))
        place += cut
    assert found == [("/a", b"123"), ("__log", b"{}"), ("/b", b""), ("/c", b"x" * 100)]


@pytest.mark.parametrize(
    "head", [b"\xff\xff\xff\x7f", frame(b"/a", b"")[:-4] + b"\xff\xff\xff\x7f", frame(b"\xff\xfe", b"")]
)
def test_lengths_and_names_that_cannot_be_end_the_connection(head: bytes) -> None:
    with pytest.raises(ProtocolError):
        frames_in(head)


@given(junk=st.binary(max_size=300))
def test_junk_is_refused_or_waits_for_more(junk: bytes) -> None:
    bus = Bus(CODEC)
    bus.subscribe("/a", "std_msgs/String", lambda message: None)
    session = EndpointSession(Endpoint(), bus, True, lambda data: None)
    with suppress(ProtocolError, BadMessage):
        for name, payload in FrameDecoder().feed(junk):
            session.receive(name, payload)
    with suppress(ProtocolError, BadMessage):
        session.receive("/a", junk)
    with suppress(ProtocolError, BadMessage):
        session.receive("__request", junk)


def test_the_handshake_says_which_ros_it_is() -> None:
    assert is_ros2({"version": "v0.7.0", "metadata": '{"protocol":"ROS2"}'})
    assert not is_ros2({"version": "v0.7.0", "metadata": '{"protocol":"ROS1"}'})
    assert is_ros2({})


def test_all_is_announced_and_then_said(session: Any) -> None:
    bus = session.bus
    imu = bus.advertise("/sam/imu", "sensor_msgs/Imu")
    bus.advertise("/sam/cam/image_raw", "sensor_msgs/Image")
    bus.advertise("/tf_static", "tf2_msgs/TFMessage", LATCHED).publish(CODEC.make("tf2_msgs/TFMessage"))
    bus.subscribe("/sam/cmd", "std_msgs/Float64", lambda message: None)
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: None)
    bus.add_service("/skerry/get_parameters", "rcl_interfaces/GetParameters", lambda request: None)
    bus.service_client("/theirs", "std_srvs/Trigger")
    assert not imu.has_subscribers
    session.open()
    told = [(name, json.loads(payload.rstrip(b"\x00"))["topic"]) for name, payload in frames_in(session.sent[0])]
    assert told == [
        ("__publish", "/sam/imu"),
        ("__publish", "/tf_static"),
        ("__subscribe", "/sam/cmd"),
        ("__unity_service", "/pause"),
        ("__ros_service", "/theirs"),
    ]  # without images, whose subscribers are unknown, and without the services of a node
    assert imu.has_subscribers
    message = CODEC.make("sensor_msgs/Imu")
    imu.publish(message)
    latched, said = session.frames_to_send(0.0)
    assert frames_in(latched)[0][0] == "/tf_static"
    expected = CODEC.to_cdr(message) if session.encoder.ros2 else CODEC.to_ros1(message)
    assert frames_in(said) == [("/sam/imu", expected)]
    assert bool(session.latched()) == session.encoder.ros2
    session.close()
    assert not imu.has_subscribers


def test_what_is_heard_reaches_whoever_listens(session: Any) -> None:
    heard: list[float] = []
    session.bus.subscribe("/sam/cmd", "std_msgs/Float64", lambda message: heard.append(message.data))
    session.receive("/sam/cmd", session._write(CODEC.make("std_msgs/Float64", data=2.5)))
    session.receive("/unknown", b"anything")
    assert heard == [2.5]
    with pytest.raises(BadMessage):
        session.receive("/sam/cmd", b"\x00\x01\x00\x00\x01")


def test_a_call_is_answered_under_its_number_even_if_the_answer_comes_late(session: Any) -> None:
    promise: Future[Any] = Future()
    session.bus.add_service("/pause", "std_srvs/SetBool", lambda request: promise if request.data else None)
    session.receive("__request", b'{"srv_id": 42}')
    session.receive("/pause", session._write(CODEC.make("std_srvs/srv/SetBool_Request", data=True)))
    assert not session.sent
    answer = CODEC.make("std_srvs/srv/SetBool_Response", success=True, message="done")
    promise.set_result(answer)
    (word, number), (name, body) = frames_in(session.sent[0])
    assert (word, json.loads(number.rstrip(b"\x00")), name) == ("__response", {"srv_id": 42}, "/pause")
    assert body == session._write(answer)


def test_a_call_that_fails_gets_no_answer_and_the_next_one_does(session: Any) -> None:
    def answer(request: Any) -> Any:
        if not request.data:
            raise SkerryError("no")
        return CODEC.make("std_srvs/srv/SetBool_Response", success=True)

    session.bus.add_service("/pause", "std_srvs/SetBool", answer)
    for number, data in ((1, False), (2, True)):
        session.receive("__request", b'{"srv_id": %d}' % number)
        session.receive("/pause", session._write(CODEC.make("std_srvs/srv/SetBool_Request", data=data)))
    assert len(session.sent) == 1


def test_a_service_over_there_can_be_called(session: Any) -> None:
    client = session.bus.service_client("/theirs", "std_srvs/Trigger")
    with pytest.raises(SkerryError, match="no transport"):
        client.call(CODEC.make("std_srvs/srv/Trigger_Request")).result()
    session.open()
    promise = client.call(CODEC.make("std_srvs/srv/Trigger_Request"))
    lost = client.call(CODEC.make("std_srvs/srv/Trigger_Request"))
    (word, number), (name, _) = frames_in(session.sent[1])
    assert (word, name) == ("__request", "/theirs")
    session.receive("__response", number)
    session.receive("/theirs", session._write(CODEC.make("std_srvs/srv/Trigger_Response", success=True, message="yes")))
    assert promise.result().message == "yes"
    session.close()
    with pytest.raises(SkerryError, match="disconnected"):
        lost.result()


def complain(session: Any, text: str) -> None:
    session.receive("__error", json.dumps({"text": text}).encode())


def test_what_the_endpoint_has_no_type_for_is_told_once_and_not_sent_again(
    session: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """The words are those of the endpoint's server.py and client.py, 0.7.0: the second comes for every message."""
    leak, imu = (session.bus.advertise(f"/sam/{name}", kind) for name, kind in (("leak", LEAK), ("imu", IMU)))
    session.open()
    complain(session, "SysCommand.publish - Unknown message class 'smarc_msgs/Leak'")
    assert (leak.has_subscribers, imu.has_subscribers) == (False, True)
    for _ in range(100):
        complain(
            session, "Not registered to publish topic '/sam/leak'! Valid publish topics are: dict_keys(['/sam/imu']) "
        )
    complain(session, "Not registered to publish topic '/sam/imu'! Valid publish topics are: dict_keys([]) ")
    assert not imu.has_subscribers
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 3
    assert "/sam/leak is not sent until the package is installed" in said[0]


def test_an_answer_that_comes_after_the_connection_is_not_sent_on_the_next(session: Any) -> None:
    """An endpoint looks the number up, and ends the connection if it has no such call (tcp_sender.py)."""
    promise: Future[Any] = Future()
    session.bus.add_service("/pause", "std_srvs/SetBool", lambda request: promise)
    session.receive("__request", b'{"srv_id": 1001}')
    session.receive("/pause", session._write(CODEC.make("std_srvs/srv/SetBool_Request", data=True)))
    session.close()
    promise.set_result(CODEC.make("std_srvs/srv/SetBool_Response", success=True))
    assert not session.sent


def test_of_an_action_an_endpoint_of_ros_2_carries_what_it_finds_types_for(session: Any) -> None:
    """The endpoint imports package.msg and package.srv (server.py, resolve_message_name); action_msgs has both."""
    bus = session.bus
    ActionServer(bus, "/go", "smarc_msgs/GotoWaypoint", lambda: CODEC.make("builtin_interfaces/Time"), print, print)
    session.open()
    told = {json.loads(payload.rstrip(b"\x00"))["topic"] for _, payload in frames_in(session.sent[0])}
    assert told == ({"/go/_action/status", "/go/_action/cancel_goal"} if session.encoder.ros2 else set())


@pytest.mark.parametrize(
    ("made", "word", "text"),
    [
        ("subscribe", b"__subscribe", b'{"topic": "/a", "message_name": "std_srvs/Trigger"}'),
        ("add_service", b"__unity_service", b'{"topic": "/a", "message_name": "std_srvs/Trigger"}'),
        ("add_client", b"__ros_service", b'{"topic": "/a", "message_name": "std_srvs/Trigger"}'),
    ],
)
def test_commands_are_what_the_endpoint_has_functions_for(made: str, word: bytes, text: bytes) -> None:
    """The endpoint's server.py calls the function of that name with the JSON as keyword arguments, so the keys must be
    its parameters: `topic` and `message_name`. ROS 2 drops the last byte of the JSON; ROS 1 reads all bytes.
    """
    for ros2, end in ((True, b"\x00"), (False, b"")):
        assert getattr(FrameEncoder(ros2), made)("/a", "std_srvs/srv/Trigger") == frame(word + end, text + end)


def test_a_call_and_its_number_go_out_in_one_piece() -> None:
    """The endpoint takes the very next frame as the body (client.py), so nothing may come between."""
    for word, made in ((b"__request", "request"), (b"__response", "response")):
        expected = frame(word + b"\x00", b'{"srv_id": 7}\x00') + frame(b"/a\x00", b"xyz")
        assert getattr(FrameEncoder(True), made)(7, "/a", b"xyz") == expected
