"""The protocol of rosbridge as JSON: what a client asks for, and gets."""

import json
import struct
import zlib
from base64 import b64decode
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.rosbridge.cbor import to_cbor
from skerry.interfaces.ros.transports.rosbridge.frames import MAX_FRAME, Fragments, RosbridgeFrameSession, png, split
from skerry.interfaces.ros.transports.rosbridge.rosapi import RosApi

CODEC = Codec(TypeStore())


class Client:
    """Client side of a session."""

    def __init__(self, bus: Bus, relayed: set[str], leave_out: str = "") -> None:
        self.answers: list[Any] = []
        carries = lambda name: name != leave_out  # noqa: E731
        self.queue = SubscriberQueue()
        self.session = RosbridgeFrameSession(
            bus, RosApi(bus), relayed, carries, self.queue, lambda frame: self.answers.append(json.loads(frame))
        )

    def ask(self, **asked: Any) -> list[Any]:
        self.answers.clear()
        self.session.receive(json.dumps(asked))
        return list(self.answers)

    def frames(self) -> list[str | bytes]:
        return [frame for outgoing in self.queue.drain(0) for frame in self.session.frames(outgoing)]

    def received(self) -> list[Any]:
        return [json.loads(frame) for frame in self.frames()]


@pytest.fixture
def bus() -> Bus:
    found = Bus(CODEC)
    found.advertise("/depth", "std_msgs/Float64")
    return found


@pytest.fixture
def client(bus: Bus) -> Client:
    return Client(bus, set())


def test_a_topic_is_taken_while_somebody_subscribes(bus: Bus, client: Client) -> None:
    topic = bus.topics["/depth"]
    assert not topic.has_subscribers
    assert client.ask(op="subscribe", topic="/depth", type="std_msgs/Float64", id="a") == []
    client.ask(op="subscribe", topic="/depth", id="b")
    topic.publish(CODEC.make("std_msgs/Float64", data=3.5))
    assert client.received() == [{"op": "publish", "topic": "/depth", "msg": {"data": 3.5}}]
    client.ask(op="unsubscribe", topic="/depth", id="a")
    assert topic.has_subscribers
    client.ask(op="unsubscribe", topic="/depth", id="b")
    assert not topic.has_subscribers


def test_a_throttle_leaves_messages_out(bus: Bus, client: Client) -> None:
    client.ask(op="subscribe", topic="/depth", throttle_rate=3_600_000)
    for value in range(5):
        bus.topics["/depth"].publish(CODEC.make("std_msgs/Float64", data=value))
    assert [item["msg"]["data"] for item in client.received()] == [0]


def test_what_a_client_says_is_heard_by_the_simulator_or_by_other_clients(bus: Bus) -> None:
    heard: list[float] = []
    bus.subscribe("/cmd", "std_msgs/Float64", lambda message: heard.append(message.data))
    relayed: set[str] = set()
    one, other = Client(bus, relayed), Client(bus, relayed)
    one.ask(op="advertise", topic="/cmd", type="std_msgs/msg/Float64")
    one.ask(op="publish", topic="/cmd", msg={"data": 2})
    assert heard == [2]
    one.ask(op="advertise", topic="/chat", type="std_msgs/String")
    other.ask(op="subscribe", topic="/chat")
    assert one.ask(op="publish", topic="/chat", msg={"data": "hi"}) == []
    assert other.received() == [{"op": "publish", "topic": "/chat", "msg": {"data": "hi"}}]


@pytest.mark.parametrize(
    "asked",
    [
        {"op": "publish", "topic": "/depth", "msg": {"data": 1}},
        {"op": "advertise", "topic": "/depth", "type": "std_msgs/Float64"},
        {"op": "advertise", "topic": "/x", "type": "std_msgs/Nothing"},
        {"op": "subscribe", "topic": "/nobody"},
        {"op": "subscribe", "topic": "/depth", "type": "std_msgs/String"},
        {"op": "subscribe", "topic": "/depth", "compression": "zip"},
        {"op": "subscribe", "topic": "/depth", "fragment_size": 3},
        {"op": "fragment", "id": "x", "num": 2, "total": 2, "data": ""},
        {"op": "fragment", "id": "x", "num": 0, "total": 10**9, "data": ""},
        {"op": "subscribe", "topic": "/depth", "throttle_rate": "x"},
        {"op": "subscribe", "topic": 5},
        {"op": "dance"},
        {"topic": "/depth"},
        {"op": "service_response", "id": "x"},
        {"op": "advertise_service", "service": "/rosapi/topics", "type": "std_srvs/Trigger"},
    ],
)
def test_what_cannot_be_done_is_told(client: Client, asked: dict[str, Any]) -> None:
    (answer,) = client.ask(**asked)
    assert answer["op"] == "status"
    assert answer["level"] == "error"


def test_a_topic_that_is_left_out_is_refused(bus: Bus) -> None:
    (answer,) = Client(bus, set(), leave_out="/depth").ask(op="subscribe", topic="/depth")
    assert "leave_out" in answer["msg"]


@given(
    st.one_of(
        st.text(max_size=50), st.recursive(st.none() | st.text(max_size=5), st.lists, max_leaves=5).map(json.dumps)
    )
)
def test_junk_is_answered_in_words(text: str) -> None:
    client = Client(Bus(CODEC), set())
    client.session.receive(text)
    client.session.receive("[" * 100_000)
    assert all(answer["op"] == "status" for answer in client.answers)


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["/depth", "/cmd", "/pause", "std_msgs/Float64", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["data", "name", "topic"]), inner, max_size=3)
    ),
    max_leaves=6,
)
WORDS = (
    *("topic", "type", "msg", "id", "service", "args", "compression", "throttle_rate", "fragment_size", "values"),
    *("result", "action", "num", "total", "data"),
)
OPERATIONS = (
    "subscribe",
    "unsubscribe",
    "advertise",
    "publish",
    "call_service",
    "advertise_service",
    "service_response",
)
OTHERS = ("fragment", "unadvertise_service", "send_action_goal", "cancel_action_goal", "set_level")
ALL = st.sampled_from([*OPERATIONS, *OTHERS])


@given(asked=st.lists(st.tuples(ALL, st.dictionaries(st.sampled_from(WORDS), ANYTHING, max_size=5)), max_size=4))
def test_no_request_however_odd_brings_the_server_down(asked: list[tuple[str, dict[str, Any]]]) -> None:
    bus = Bus(CODEC)
    bus.advertise("/depth", "std_msgs/Float64")
    bus.subscribe("/cmd", "std_msgs/Float64", lambda message: None)
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: CODEC.make("std_srvs/srv/SetBool_Response"))
    client = Client(bus, set())
    for operation, values in asked:
        client.session.receive(json.dumps({"op": operation, **values}))
    client.session.close()


def test_a_service_of_the_simulator_is_called(bus: Bus, client: Client) -> None:
    promise: Future[Any] = Future()
    bus.add_service(
        "/pause",
        "std_srvs/SetBool",
        lambda request: promise if request.data else CODEC.make("std_srvs/srv/SetBool_Response"),
    )
    answer = client.ask(op="call_service", id="1", service="/pause", args={"data": False})
    values = {"success": False, "message": ""}
    assert answer == [{"op": "service_response", "service": "/pause", "values": values, "result": True, "id": "1"}]
    assert client.ask(op="call_service", id="2", service="/pause", args=[True]) == []
    promise.set_exception(SkerryError("it cannot"))
    assert client.answers[0]["result"] is False
    assert client.answers[0]["values"] == "it cannot"
    for wrong in ({"service": "/nothing"}, {"service": "/pause", "args": {"date": 1}}, {"service": "/rosapi/nothing"}):
        assert client.ask(op="call_service", **wrong)[0]["result"] is False


def test_a_service_of_a_client_is_called_and_goes_with_it(bus: Bus, client: Client) -> None:
    client.ask(op="advertise_service", service="/theirs", type="std_srvs/SetBool")
    there = bus.clients["/theirs"]
    promise = there.call(CODEC.make("std_srvs/srv/SetBool_Request", data=True))
    asked = client.answers[-1]
    assert (asked["op"], asked["service"], asked["args"]) == ("call_service", "/theirs", {"data": True})
    client.ask(op="service_response", id=asked["id"], service="/theirs", values={"success": True}, result=True)
    assert promise.result().success
    refused = there.call(CODEC.make("std_srvs/srv/SetBool_Request"))
    client.ask(op="service_response", id=client.answers[-1]["id"], values="no", result=False)
    with pytest.raises(SkerryError):
        refused.result()
    lost = there.call(CODEC.make("std_srvs/srv/SetBool_Request"))
    client.session.close()
    with pytest.raises(SkerryError, match="disconnected"):
        lost.result()
    assert not there.routes


def test_rosapi_tells_what_there_is(bus: Bus, client: Client) -> None:
    bus.subscribe("/cmd", "std_msgs/Float64", lambda message: None)
    bus.add_service("/pause", "std_srvs/SetBool", lambda request: None)
    bus.parameters["/utm_zone"] = 33

    def api(name: str, /, **ask: Any) -> Any:
        (answer,) = client.ask(op="call_service", service=f"/rosapi/{name}", args=ask)
        assert answer["result"], answer
        return answer["values"]

    assert api("topics")["topics"] == ["/cmd", "/depth"]
    assert api("topics")["types"] == ["std_msgs/msg/Float64"] * 2
    assert api("topic_type", topic="/depth") == {"type": "std_msgs/msg/Float64"}
    assert api("topics_for_type", type="std_msgs/Float64") == {"topics": ["/cmd", "/depth"]}
    assert api("services") == {"services": ["/pause"]}
    assert api("service_type", service="/pause") == {"type": "std_srvs/srv/SetBool"}
    assert api("services_for_type", type="std_srvs/SetBool") == {"services": ["/pause"]}
    assert api("nodes") == {"nodes": ["/skerry"]}
    assert api("node_details", node="/skerry")["publishing"] == ["/depth"]
    assert api("get_param_names") == {"names": ["/utm_zone"]}
    assert api("get_param", name="/utm_zone") == {"value": "33"}
    assert api("get_param", name="/other") == {"value": "null"}
    assert api("set_param", name="/other", value='"text"') == {}
    assert api("get_param", name="/other") == {"value": '"text"'}
    for name, value, reason in (("/utm_zone", "34", "read-only"), ("/other", "text", "not JSON")):
        (answer,) = client.ask(op="call_service", service="/rosapi/set_param", args={"name": name, "value": value})
        assert answer["result"] is False
        assert reason in str(answer["values"])
    assert api("delete_param", name="/other") == {}
    assert api("has_param", name="/other") == {"exists": False}
    bus.time_ns = 2_000_000_005
    assert api("get_time") == {"time": {"sec": 2, "nanosec": 5}}
    found = api("message_details", type="geometry_msgs/Pose")["typedefs"]
    assert [item["type"] for item in found] == [f"geometry_msgs/msg/{word}" for word in ("Pose", "Point", "Quaternion")]
    assert api("service_request_details", type="std_srvs/SetBool")["typedefs"][0]["fieldnames"] == ["data"]
    (answer,) = client.ask(op="call_service", service="/rosapi/topic_type", args={})
    assert answer["result"] is False
    (answer,) = client.ask(op="call_service", service="rosapi/topics", args={})  # as roslibjs 2 calls it
    assert answer["values"]["topics"] == ["/cmd", "/depth"]


def test_json_in_a_png_is_what_its_pixels_say(bus: Bus, client: Client) -> None:
    client.ask(op="subscribe", topic="/depth", compression="png")
    bus.topics["/depth"].publish(CODEC.make("std_msgs/Float64", data=2.5))
    (received,) = client.received()
    assert received["op"] == "png"
    pixels = simplepng(b64decode(received["data"]))
    assert json.loads(pixels) == {"op": "publish", "topic": "/depth", "msg": {"data": 2.5}}


def simplepng(data: bytes) -> bytes:
    """The pixels of a PNG of one chunk of data, without filters."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, *kind = struct.unpack(">IIBBBBB", data[16:29])
    assert kind == [8, 2, 0, 0, 0]
    (length,) = struct.unpack(">I", data[33:37])
    rows = np.frombuffer(zlib.decompress(data[41 : 41 + length]), np.uint8).reshape(height, 1 + 3 * width)
    assert not rows[:, 0].any()
    return rows[:, 1:].tobytes()


@given(st.binary(min_size=1, max_size=500))
def test_a_png_holds_any_bytes_and_newlines(data: bytes) -> None:
    pixels = simplepng(png(data))
    assert pixels[: len(data)] == data
    assert not pixels[len(data) :].strip(b"\n")


def test_cbor_has_arrays_of_numbers_as_they_are(bus: Bus, client: Client) -> None:
    """Expected bytes are derived by hand from RFC 8949 and, for tag 85 of little-endian floats, from RFC 8746."""
    topic = bus.advertise("/numbers", "std_msgs/Float32MultiArray")
    client.ask(op="subscribe", topic="/numbers", compression="cbor")
    topic.publish(CODEC.make("std_msgs/Float32MultiArray", data=[1.5, -2.0]))
    (frame,) = client.frames()
    head = b"\xa3\x62op\x67publish\x65topic\x68/numbers\x63msg\xa2"
    layout = b"\x66layout\xa2\x63dim\x80\x6bdata_offset\x00"
    assert frame == head + layout + b"\x64data\xd8\x55\x48" + struct.pack("<2f", 1.5, -2.0)


def test_raw_cbor_has_the_bytes_of_ros_2(bus: Bus, client: Client) -> None:
    client.ask(op="subscribe", topic="/depth", compression="cbor-raw")
    bus.time_ns = 3_000_000_007
    bus.topics["/depth"].publish(message := CODEC.make("std_msgs/Float64", data=2.5))
    (frame,) = client.frames()
    assert isinstance(frame, bytes)
    assert frame.endswith(b"\x64secs\x03\x65nsecs\x07\x65bytes\x4c" + CODEC.to_cdr(message))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "00"),
        (24, "1818"),
        (1000, "1903e8"),
        (1000000, "1a000f4240"),
        (18446744073709551615, "1bffffffffffffffff"),
        (-1, "20"),
        (-1000, "3903e7"),
        (1.1, "fb3ff199999999999a"),
        (False, "f4"),
        (True, "f5"),
        (None, "f6"),
        ("\u00fc", "62c3bc"),
        (b"\x01\x02\x03\x04", "4401020304"),
        ([1, [2, 3]], "8201820203"),
        ({"a": 1, "b": [2, 3]}, "a26161016162820203"),
    ],
)
def test_cbor_is_as_in_the_examples_of_its_standard(value: Any, written: str) -> None:
    """RFC 8949, appendix A."""
    assert to_cbor(value).hex() == written


def test_long_messages_come_in_fragments_and_are_heard_in_fragments(bus: Bus, client: Client) -> None:
    heard: list[str] = []
    bus.subscribe("/hear", "std_msgs/String", lambda message: heard.append(message.data))
    topic = bus.advertise("/say", "std_msgs/String")
    client.ask(op="subscribe", topic="/say", fragment_size=100)
    topic.publish(CODEC.make("std_msgs/String", data="ä" * 500))
    received = client.received()
    assert {item["op"] for item in received} == {"fragment"}
    assert [item["num"] for item in received] == list(range(received[0]["total"]))
    whole = json.loads("".join(item["data"] for item in received))
    assert whole["msg"]["data"] == "ä" * 500
    said = json.dumps({"op": "publish", "topic": "/hear", "msg": whole["msg"]})
    for piece in reversed(split(said, 64, "mine")):
        client.session.receive(piece)
    assert heard == ["ä" * 500]


def test_fragments_that_never_end_are_forgotten() -> None:
    fragments = Fragments()
    half = "x" * (MAX_FRAME // 2)
    piece = [json.dumps({"op": "fragment", "id": number, "num": 0, "total": 2, "data": half}) for number in range(3)]
    assert fragments.join(piece[0]) is None
    assert fragments.join(piece[1]) is None
    with pytest.raises(SkerryError, match="too many"):
        fragments.join(piece[2])
    assert fragments.join(piece[0]) is None
