"""Queues of a client, drive locks and requests, without a socket."""

import asyncio
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from skerry.core.errors import SkerryError
from skerry.ui import protocol
from skerry.ui.drive_lock import DriveLockHeld, DriveLocks
from skerry.ui.frame_writer import frames
from skerry.ui.requests import REQUESTS, KeysRequest, RateRequest, WaypointRequest, parse_request
from skerry.ui.session import MAX_EVENTS, MAX_IN_FLIGHT, MAX_LINES, MAX_REPLIES, PageClient
from skerry.ui.settings import PageSettings
from skerry.ui.state import plain


class Socket:
    """Fake writer that keeps the messages."""

    def __init__(self) -> None:
        self.texts: list[dict[str, Any]] = []
        self.messages: list[bytes] = []
        self.closed = False

    async def send(self, messages: Sequence[str | bytes]) -> None:
        for message in messages:
            if isinstance(message, str):
                self.texts.append(json.loads(message))
            else:
                self.messages.append(message)


def sent(client: PageClient, socket: Socket | None = None) -> Socket:
    """Return all messages that the server sends to a client that does not acknowledge."""
    socket = socket or Socket()

    async def run() -> None:
        task = asyncio.create_task(client.run_sender(socket))  # type: ignore[arg-type]
        for _ in range(2000):
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(run())
    return socket


def line(*levels: int, time: float = 0.0, range_m: float = 50.0) -> protocol.SonarLine:
    return protocol.SonarLine(float(time), range_m, np.array(levels, np.uint8))


def test_of_a_stream_only_the_latest_message_waits() -> None:
    client = PageClient("c1")
    client.subscribe({"pose": 30.0, "tf": 5.0})
    for number in range(5):
        client.queue_message("pose", bytes([number]), float(number))
    client.queue_message("tf", b"tf", 0.0)
    assert sent(client).messages == [b"\x04", b"tf"]
    assert client.dropped == 4


def test_a_stream_is_not_sent_more_often_than_subscribed() -> None:
    client = PageClient("c1")
    client.subscribe({"pose": 10.0})
    came = 0
    for tick in range(300):  # ten seconds of a page's ticks
        if client.is_due("pose", tick / 30):
            client.queue_message("pose", b"", tick / 30)
            came += 1
    assert 98 <= came <= 102
    assert not client.is_due("tf", 1e9)


def test_messages_in_flight_are_limited_and_an_acknowledgement_makes_room() -> None:
    client = PageClient("c1")
    names = [f"s{number}" for number in range(MAX_IN_FLIGHT + 10)]
    client.subscribe(dict.fromkeys(names, 30.0))
    for name in names:
        client.queue_message(name, name.encode(), 0.0)
    assert len(sent(client).messages) == MAX_IN_FLIGHT
    client.acknowledge(10**9)
    assert client.drawn == MAX_IN_FLIGHT  # it cannot have drawn more
    client.acknowledge(-3)
    assert client.drawn == MAX_IN_FLIGHT
    assert len(sent(client).messages) == 10


def test_lines_are_queued_in_order_up_to_a_limit() -> None:
    client = PageClient("c1")
    client.subscribe({"sonar": 30.0})
    for number in range(MAX_LINES + 5):
        client.queue_line("sonar", 7, line(number % 256, 1, time=number), number + 1)
    (data,) = sent(client).messages
    kind, _, stream, last, time, payload = protocol.decode(data)
    assert (kind, stream, last, time) == (protocol.Kind.SONAR_LINES, 7, MAX_LINES + 5, MAX_LINES + 4)
    assert struct.unpack_from("<HHf", payload) == (MAX_LINES, 2, 50.0)
    assert payload[8] == 5  # the first five are gone
    for other in (line(0, 0, 0), line(0, 0, range_m=20.0)):  # of another width, and of another range
        client.queue_line("sonar", 7, line(0, 0), 1)
        client.queue_line("sonar", 7, other, 2)  # drops the queued lines
        assert struct.unpack_from("<HHf", sent(client).messages[0], 16) == (1, len(other.levels), other.range)


@pytest.mark.parametrize(
    ("message", "head"),
    [
        ("hé", b"\x81\x03"),
        (b"\x00\x01", b"\x82\x02"),
        (bytes(125), b"\x82\x7d"),
        (bytes(126), b"\x82\x7e\x00\x7e"),
        (bytes(65_536), b"\x82\x7f\x00\x00\x00\x00\x00\x01\x00\x00"),
    ],
)
def test_frames_are_those_of_a_websocket_server(message: str | bytes, head: bytes) -> None:
    """RFC 6455, section 5.2 and the examples of 5.7: no mask, and the shortest length that holds it."""
    data = message.encode() if isinstance(message, str) else message
    assert frames([message, b""]) == head + data + b"\x82\x00"


def test_queued_messages_are_sent_in_one_write() -> None:
    client = PageClient("c1")
    client.subscribe({"pose": 30.0, "tf": 5.0})
    client.queue_message("pose", b"pose", 0.0)
    client.queue_message("tf", b"tf", 0.0)
    client.queue_event("{}")
    writes: list[list[str | bytes]] = []

    class Together(Socket):
        async def send(self, messages: Sequence[str | bytes]) -> None:
            writes.append(list(messages))

    sent(client, Together())
    assert writes == [["{}", b"pose", b"tf"]]


def test_messages_of_ended_subscriptions_are_not_sent() -> None:
    client = PageClient("c1")
    client.subscribe({"pose": 30.0, "sonar": 30.0})
    client.queue_message("pose", b"pose", 0.0)
    client.queue_line("sonar", 1, line(0, 0), 1)
    client.subscribe({})
    assert sent(client).messages == []


def test_queued_events_are_limited_and_a_client_with_too_many_replies_is_not_read() -> None:
    client = PageClient("c1")
    for number in range(MAX_EVENTS + 50):
        client.queue_event(json.dumps({"type": "event", "number": number}))
    texts = sent(client).texts
    assert [text["number"] for text in texts] == list(range(50, MAX_EVENTS + 50))

    async def listen() -> None:
        client = PageClient("c2")
        await client.wait_for_room()
        for _ in range(MAX_REPLIES):
            client.queue_reply({"type": "pong"})
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.wait_for_room(), 0.01)
        task = asyncio.create_task(client.run_sender(Socket()))  # type: ignore[arg-type]
        await client.wait_for_room()
        task.cancel()

    asyncio.run(listen())


def test_answers_come_first_then_the_scene_the_latest_state_and_events() -> None:
    client = PageClient("c1")
    client.queue_event('{"type": "event"}')
    client.queue_state('{"time": 1}')
    client.queue_state('{"time": 2}')
    client.queue_scene('{"type": "scene"}')
    client.queue_reply({"type": "hello"})
    texts = sent(client).texts
    assert [text["type"] for text in texts] == ["hello", "scene", "state", "event"]
    assert texts[2] == {"type": "state", "you": "c1", "time": 2}


def test_a_new_scene_drops_the_queued_messages_of_the_previous_one() -> None:
    client = PageClient("c1")
    client.subscribe({"pose": 30.0})
    client.queue_message("pose", b"old", 0.0)
    client.queue_scene('{"type": "scene"}')
    assert sent(client).messages == []


def test_a_robot_has_one_driver() -> None:
    drive_locks = DriveLocks()
    drive_locks.acquire("sam", "c1")
    drive_locks.acquire("sam", "c1")
    with pytest.raises(DriveLockHeld, match="c1 drives 'sam'"):
        drive_locks.acquire("sam", "c2")
    drive_locks.acquire("lolo", "c2")
    assert not drive_locks.release("sam", "c2")
    assert drive_locks.held_by("c1") == ["sam"]
    assert drive_locks.release("sam", "c1")
    drive_locks.acquire("sam", "c2")
    assert drive_locks.held_by("c2") == ["lolo", "sam"]
    assert drive_locks.holder("sam") == "c2"


def test_requests_are_parsed_with_their_defaults() -> None:
    assert parse_request({"op": "keys", "robot": "sam", "held": ["w"], "seq": 3}) == KeysRequest(
        op="keys", robot="sam", held=("w",), seq=3
    )
    assert parse_request({"op": "rate", "x": None}) == RateRequest(op="rate", x=None)
    goal = parse_request({"op": "waypoint", "robot": "sam", "position": [1, 2, -3]})
    assert isinstance(goal, WaypointRequest)
    assert (goal.position, goal.speed, goal.tolerance) == ((1, 2, -3), 1.0, None)
    with pytest.raises(SkerryError, match="`x`"):
        parse_request({"op": "rate"})


def test_every_request_of_the_protocol_exists() -> None:
    expected = (
        "lease keys source actuate pause resume step rate reset scenario rec snapshot restore winch leak teleport"
    )
    assert set(REQUESTS) == {*expected.split(), "waypoint", "stop", "acoustic", "seek", "spawn", "delete"}


def test_numbers_that_json_does_not_know_become_null() -> None:
    given = {"a": [1.5, float("nan")], "b": (float("inf"), np.float64(2)), "c": np.array([1.0, np.nan]), "d": "x"}
    assert plain(given) == {"a": [1.5, None], "b": [None, 2.0], "c": [1.0, None], "d": "x"}
    json.dumps(plain(given), allow_nan=False)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("127.0.0.9", True), ("0.0.0.0", False), ("boat", False)],
)
def test_loopback_hosts_are_recognised(host: str, is_local: bool) -> None:
    assert PageSettings(host=host).is_local is is_local


@pytest.mark.parametrize(
    "settings",
    [{"port": 70000}, {"token": "short"}, {"token": "with space here"}, {"origins": ["example.org"]}, {"hots": "x"}],
)
def test_wrong_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        PageSettings.model_validate(settings)
