"""The protocol of Foxglove's WebSockets as frames: what a client asks for, and gets."""

import json
import struct
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.foxglove.protocol import FoxgloveSession

CODEC = Codec(TypeStore())


class Client:
    """Client side of a session."""

    def __init__(self, bus: Bus, leave_out: str = "") -> None:
        self.bus, self.queue = bus, SubscriberQueue()
        self.answers: list[Any] = []
        self.session = FoxgloveSession(bus, "session", lambda name: name != leave_out, self.queue, self._hear)
        self.session.begin()
        self.began = list(self.answers)
        channels = [item["channels"] for item in self.began if item["op"] == "advertise"]
        self.channels = {channel["topic"]: channel for found in channels for channel in found}
        services = [item["services"] for item in self.began if item["op"] == "advertiseServices"]
        self.services = {service["name"]: service for found in services for service in found}

    def _hear(self, frame: str | bytes) -> None:
        self.answers.append(json.loads(frame) if isinstance(frame, str) else frame)

    def ask(self, **asked: Any) -> list[Any]:
        return self.send(json.dumps(asked))

    def send(self, frame: str | bytes) -> list[Any]:
        self.answers.clear()
        self.session.receive(frame)
        return list(self.answers)

    def take(self, name: str, number: int = 7) -> list[Any]:
        return self.ask(op="subscribe", subscriptions=[{"id": number, "channelId": self.channels[name]["id"]}])

    def frames(self) -> list[str | bytes]:
        return [frame for outgoing in self.queue.drain(0) for frame in self.session.frames(outgoing)]


@pytest.fixture
def bus() -> Bus:
    found = Bus(CODEC)
    found.advertise("/depth", "std_msgs/Float64")
    found.parameters |= {"/utm_zone": 33, "/utm_band": "V", "/speed": 1.0}
    return found


def test_a_client_is_told_what_there_is(bus: Bus) -> None:
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: None)
    bus.add_service("/step", "std_srvs/Trigger", lambda request: None)
    bus.advertise("/secret", "std_msgs/Float64")
    client = Client(bus, leave_out="/secret")
    info = client.began[0]
    assert (info["op"], info["sessionId"], info["supportedEncodings"]) == ("serverInfo", "session", ["cdr", "json"])
    assert {"clientPublish", "services", "parameters", "time", "connectionGraph"} <= set(info["capabilities"])
    assert client.channels.keys() == {"/depth"}
    channel = client.channels["/depth"]
    assert channel["encoding"] == "cdr"
    assert channel["schemaName"] == "std_msgs/msg/Float64"
    assert channel["schemaEncoding"] == "ros2msg"
    assert channel["schema"].strip() == "float64 data"
    pause = client.services["/pause"]
    assert pause["type"] == "std_srvs/srv/SetBool"
    assert pause["request"]["schema"].strip() == "bool data"
    assert pause["response"]["schemaName"] == "std_srvs/srv/SetBool_Response"
    assert client.services["/step"]["request"]["schema"] == ""


def test_messages_come_with_their_time_while_they_are_taken(bus: Bus) -> None:
    client, topic = Client(bus), bus.topics["/depth"]
    assert not topic.has_subscribers
    assert client.take("/depth") == []
    message = CODEC.make("std_msgs/Float64", data=3.5)
    bus.time_ns = 2_500_000_000
    topic.publish(message)
    topic.publish(message)
    data = struct.pack("<BIQ", 1, 7, bus.time_ns) + CODEC.to_cdr(message)
    assert client.frames() == [struct.pack("<BQ", 2, bus.time_ns), data, data]
    client.ask(op="unsubscribe", subscriptionIds=[7])
    assert not topic.has_subscribers
    client.take("/depth")
    client.session.close()
    assert not topic.has_subscribers


def test_topics_and_services_that_come_later_are_told(bus: Bus) -> None:
    client = Client(bus)
    client.take("/depth")
    client.ask(op="subscribeConnectionGraph")
    bus.advertise("/later", "std_msgs/String")
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: None)
    client.answers.clear()
    bus.time_ns = 5
    bus.topics["/depth"].publish(CODEC.make("std_msgs/Float64"))
    client.frames()
    channels, services, graph = client.answers
    assert [channel["topic"] for channel in channels["channels"]] == ["/later"]
    assert channels["channels"][0]["id"] == 2
    assert [service["name"] for service in services["services"]] == ["/pause"]
    assert {"name": "/later", "publisherIds": ["/skerry"]} in graph["publishedTopics"]


@pytest.mark.parametrize("encoding", ["cdr", "json"])
def test_what_a_client_says_is_heard(bus: Bus, encoding: str) -> None:
    heard: list[float] = []
    bus.subscribe("/cmd", "std_msgs/Float64", lambda message: heard.append(message.data))
    client = Client(bus)
    channel = {"id": 3, "topic": "/cmd", "encoding": encoding, "schemaName": "std_msgs/msg/Float64"}
    assert client.ask(op="advertise", channels=[channel]) == []
    said = CODEC.to_cdr(CODEC.make("std_msgs/Float64", data=2.0)) if encoding == "cdr" else b'{"data": 2.0}'
    assert client.send(struct.pack("<BI", 1, 3) + said) == []
    assert heard == [2.0]
    client.ask(op="unadvertise", channelIds=[3])
    assert client.send(struct.pack("<BI", 1, 3) + said)[0]["op"] == "status"


@pytest.mark.parametrize("encoding", ["cdr", "json"])
def test_a_service_is_called(bus: Bus, encoding: str) -> None:
    promise: Future[Any] = Future()
    answer = CODEC.make("std_srvs/srv/SetBool_Response", success=True, message="yes")
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: promise if request.data else answer)
    client = Client(bus)
    number, word = client.services["/pause"]["id"], encoding.encode()

    def call(data: bool, which: int) -> list[Any]:
        request = CODEC.make("std_srvs/srv/SetBool_Request", data=data)
        body = CODEC.to_cdr(request) if encoding == "cdr" else json.dumps({"data": data}).encode()
        return client.send(struct.pack("<BIII", 2, number, which, len(word)) + word + body)

    (found,) = call(False, 11)
    assert found[: 13 + len(word)] == struct.pack("<BIII", 3, number, 11, len(word)) + word
    body = found[13 + len(word) :]
    assert body == CODEC.to_cdr(answer) if encoding == "cdr" else json.loads(body)["message"] == "yes"
    assert call(True, 12) == []
    promise.set_exception(SkerryError("it cannot"))
    assert client.answers == [{"op": "serviceCallFailure", "serviceId": number, "callId": 12, "message": "it cannot"}]


def test_a_call_that_makes_no_sense_fails_in_words(bus: Bus) -> None:
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: None)
    client = Client(bus)
    for frame in (
        struct.pack("<BIII", 2, 99, 1, 3) + b"cdr",
        struct.pack("<BIII", 2, 1, 1, 4) + b"ros1",
        struct.pack("<BIII", 2, 1, 1, 0xFFFFFFFF) + b"cdr",
        struct.pack("<BIII", 2, 1, 1, 3) + b"cdr",
        struct.pack("<BIII", 2, 1, 1, 4) + b"json{",
    ):
        assert [answer["op"] for answer in client.send(frame)] == ["serviceCallFailure"]


def test_parameters_are_read_and_stay(bus: Bus) -> None:
    client = Client(bus)
    (found,) = client.ask(op="getParameters", parameterNames=["/utm_zone", "/none"], id="a")
    assert found == {"op": "parameterValues", "parameters": [{"name": "/utm_zone", "value": 33}], "id": "a"}
    (found,) = client.ask(op="getParameters", parameterNames=[])
    assert {"name": "/speed", "value": 1.0, "type": "float64"} in found["parameters"]
    assert len(found["parameters"]) == 3
    (warned, found) = client.ask(op="setParameters", parameters=[{"name": "/utm_zone", "value": 5}], id="b")
    assert warned["op"] == "status"
    assert found["parameters"] == [{"name": "/utm_zone", "value": 33}]
    (found,) = client.ask(op="subscribeParameterUpdates", parameterNames=["/utm_band"])
    assert found["parameters"] == [{"name": "/utm_band", "value": "V"}]


@pytest.mark.parametrize(
    "asked",
    [
        {"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 9}]},
        {"op": "subscribe", "subscriptions": [{"id": -1, "channelId": 1}]},
        {"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 1}, {"id": 2, "channelId": 1}]},
        {"op": "subscribe", "subscriptions": 5},
        {"op": "advertise", "channels": [{"id": 1, "topic": "/x", "encoding": "cdr", "schemaName": "std_msgs/Bool"}]},
        {"op": "advertise", "channels": [{"id": 1}]},
        {"op": "unsubscribe"},
        {"op": "getParameters"},
        {"op": "fetchAsset", "uri": "x"},
        {"op": ["x"]},
        {},
    ],
)
def test_what_cannot_be_done_is_told(bus: Bus, asked: dict[str, Any]) -> None:
    answers = Client(bus).ask(**asked)
    assert [(answer["op"], answer["level"]) for answer in answers] == [("status", 2)]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["/depth", "/cmd", "cdr", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "channelId", "topic", "encoding", "schemaName", "name"]), inner)
    ),
    max_leaves=8,
)
WORDS = ("subscriptions", "subscriptionIds", "channels", "channelIds", "parameterNames", "parameters", "id")
OPERATIONS = (
    *("subscribe", "unsubscribe", "advertise", "unadvertise", "getParameters", "setParameters"),
    *("subscribeParameterUpdates", "subscribeConnectionGraph", "unsubscribeConnectionGraph"),
)
ASKED = st.tuples(st.sampled_from(OPERATIONS), st.dictionaries(st.sampled_from(WORDS), ANYTHING, max_size=4))
FRAMES = (
    ASKED.map(lambda asked: json.dumps({"op": asked[0], **asked[1]}))
    | st.text(max_size=40)
    | st.binary(max_size=40)
    | st.binary(max_size=40).map(lambda tail: b"\x01\x03\x00\x00\x00" + tail)
    | st.binary(max_size=40).map(lambda tail: struct.pack("<BIII", 2, 1, 1, 3) + b"cdr" + tail)
    | st.just("[" * 100_000)
    | st.just(struct.pack("<BIII", 2, 1, 1, 0x7FFFFFFF))
)


@given(frames=st.lists(FRAMES, max_size=5))
def test_no_frame_however_odd_brings_the_server_down(frames: list[str | bytes]) -> None:
    bus = Bus(CODEC)
    bus.advertise("/depth", "std_msgs/Float64")
    bus.subscribe("/cmd", "std_msgs/Float64", lambda message: None)
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: CODEC.make("std_srvs/srv/SetBool_Response"))
    client = Client(bus)
    channel = {"id": 3, "topic": "/cmd", "encoding": "cdr", "schemaName": "std_msgs/Float64"}
    client.ask(op="advertise", channels=[channel])
    for frame in frames:
        client.send(frame)
    client.session.close()
