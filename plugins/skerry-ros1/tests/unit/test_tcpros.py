"""ROS 1's own wire without sockets: what is sent and understood, what peers may ask, and what junk does."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from xmlrpc.client import Fault, dumps, loads

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.actions import ActionServer
from skerry.interfaces.ros.bus.bus import LATCHED, LATEST, Bus
from skerry.interfaces.ros.bus.transport import ProtocolError
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry_ros1.connections import Connections, LoopNotifier, WarningLog
from skerry_ros1.master import Master, MasterError, NameTaken, NodeEntries, Registration
from skerry_ros1.protocol import (
    read_connection,
    read_header,
    read_message,
    read_response,
    write_failure,
    write_header,
    write_message,
    write_response,
)
from skerry_ros1.publications import Publications
from skerry_ros1.services import Services
from skerry_ros1.slave import SlaveApi
from skerry_ros1.subscriptions import Subscriptions
from skerry_ros1.transport import Tcpros
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import address_of, read_body, read_head, serve

CODEC = Codec(TypeStore(distribution="noetic"))
TYPES = Ros1Types(CODEC.type_store)
IMU, SET = "sensor_msgs/msg/Imu", "std_srvs/srv/SetBool"
OWN = "http://127.0.0.1:5000/"


class Writer:
    """Writer that stores the data of a connection; with `is_slow` it never accepts more."""

    def __init__(self, is_slow: bool = False) -> None:
        self.data = b""
        self._is_slow = is_slow

    def write(self, data: bytes) -> None:
        self.data += data

    async def drain(self) -> None:
        if self._is_slow:
            await asyncio.Event().wait()

    def close(self) -> None:
        pass

    def get_extra_info(self, word: str) -> Any:
        return None if word == "socket" else ("127.0.0.1", 1)


def stream(data: bytes, ends: bool = True) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    if ends:
        reader.feed_eof()
    return reader


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, 10.0))


async def settle() -> None:
    """Let all tasks of the loop come to where they wait."""
    for _ in range(20):
        await asyncio.sleep(0)


def header_in(data: bytes) -> tuple[dict[str, str], bytes]:
    """The header that bytes begin with, and the rest."""
    length = struct.unpack_from("<I", data)[0]
    return read_header(data[4 : 4 + length]), data[4 + length :]


def publications(bus: Bus, links: Connections | None = None) -> Publications:
    bell = LoopNotifier(asyncio.get_running_loop())
    return Publications(bus, TYPES, lambda name: name != "/left_out", links or Connections(), bell)


# ------------------------------------------------------------------------------------------------ bytes


def test_headers_messages_and_answers_are_as_the_documents_say() -> None:
    assert write_header({"a": "1", "md5sum": "*"}) == b"\x13\0\0\0\x03\0\0\0a=1\x08\0\0\0md5sum=*"
    assert write_message(b"xyz") == b"\x03\0\0\0xyz"
    assert write_response(b"xyz") == b"\x01\x03\0\0\0xyz"
    assert write_failure("no") == b"\x00\x02\0\0\0no"


@given(fields=st.dictionaries(st.text(min_size=1).filter(lambda name: "=" not in name), st.text()))
def test_a_header_comes_back(fields: dict[str, str]) -> None:
    fields = {name.encode(errors="replace").decode(): v.encode(errors="replace").decode() for name, v in fields.items()}
    found, rest = header_in(write_header(fields))
    assert (found, rest) == (fields, b"")


def test_definitions_need_not_be_text_that_we_know() -> None:
    found = read_header(write_message(b"message_definition=# 5 \xb0C") + write_message(b"type=my_msgs/A"))
    assert found["type"] == "my_msgs/A"


@pytest.mark.parametrize(
    "data", [b"\x01", b"\xff\xff\xff\x7f", b"\x03\0\0\0abc", b"\x04\0\0\0a=1", b"\x03\0\0\0a=1\x01"]
)
def test_headers_that_cannot_be_are_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_header(data)


@given(junk=st.binary(max_size=300))
def test_junk_is_refused(junk: bytes) -> None:
    with suppress(ProtocolError):
        read_header(junk)
    with suppress(ProtocolError, Fault):
        read_body(junk)
    read_head(junk)

    async def read() -> None:
        for reads in (read_connection, read_message, read_response):
            with suppress(ProtocolError):
                await reads(stream(junk))
        with suppress(ProtocolError):
            await serve(stream(junk), Writer(), lambda method, arguments: 0)  # type: ignore[arg-type]

    run(read())


@pytest.mark.parametrize(
    ("reads", "data", "text"),
    [
        (read_connection, b"\xff\xff\xff\x7f", "2147483647 bytes; the maximum"),
        (read_message, b"\xff\xff\xff\x7f", "2147483647 bytes; the maximum"),
        (read_response, b"\x01\xff\xff\xff\x7f", "2147483647 bytes; the maximum"),
        (read_message, b"\x04\0\0\0abc", "ended after 3 of 4 bytes"),
        (read_message, b"\x04\0", "ended after 2 of 4 bytes"),
        (read_connection, b"", "ended before its header"),
        (read_response, b"\x01", "ended inside a response"),
    ],
)
def test_lengths_are_not_believed_and_halves_are_refused(reads: Any, data: bytes, text: str) -> None:
    async def read() -> None:
        await reads(stream(data))

    with pytest.raises(ProtocolError, match=text):
        run(read())


# ------------------------------------------------------------------------------------------------ XML-RPC


def post(body: bytes, **fields: Any) -> bytes:
    lines = {"Content-Length": len(body), **{name.replace("_", "-"): value for name, value in fields.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST /RPC2 HTTP/1.1\r\n{head}\r\n".encode() + body


def served(data: bytes) -> bytes:
    def answer(method: str, arguments: tuple[Any, ...]) -> Any:
        if method == "add":
            return sum(arguments)
        raise Fault(1, f"no {method}")

    async def talk() -> bytes:
        writer = Writer()
        await serve(stream(data), writer, answer)  # type: ignore[arg-type]
        return writer.data

    found: bytes = run(talk())
    return found


def test_questions_are_answered_one_after_the_other_and_faults_are_told() -> None:
    question = post(dumps((2, 3), "add").encode())
    first, second = served(question + post(dumps((), "subtract").encode())).split(b"HTTP/1.1 200 OK")[1:]
    assert loads(first.partition(b"\r\n\r\n")[2])[0] == (5,)
    with pytest.raises(Fault, match="no subtract"):
        loads(second.partition(b"\r\n\r\n")[2])
    assert served(post(dumps((2, 3), "add").encode(), Connection="close") + question).count(b"200 OK") == 1


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 10\r\n\r\nabc",
        b"POST / HTTP/1.1\r\n",
        b"x" * 200_000,
        post(b"<methodCall><methodName>add</methodName><params><param>"),
        post(b'<!DOCTYPE a [<!ENTITY b "b">]><methodCall><methodName>&b;</methodName></methodCall>'),
    ],
)
def test_what_is_no_xml_rpc_ends_the_connection(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        served(data)


def test_addresses_are_checked() -> None:
    assert address_of("http://robot:11311/") == ("robot", 11311)
    assert address_of("rosrpc://10.0.0.1:5", "rosrpc") == ("10.0.0.1", 5)
    for uri in ("", "robot:11311", "http://robot", "https://robot:1", "http://robot:99999", "http://[", "http://:1"):
        with pytest.raises(ProtocolError):
            address_of(uri)


# ------------------------------------------------------------------------------------------------ topics


def test_a_subscriber_gets_a_whole_header_and_numbered_messages() -> None:
    async def talk() -> None:
        bus, links = Bus(CODEC), Connections()
        topic = bus.advertise("/imu", IMU)
        reader, writer = stream(b"", ends=False), Writer()
        asked = {"callerid": "/a", "topic": "/imu", "md5sum": "*", "type": "*"}
        serving = asyncio.create_task(publications(bus, links).serve(asked, reader, writer))  # type: ignore[arg-type]
        await settle()
        assert topic.has_subscribers
        message = CODEC.make(IMU, header={"frame_id": "a"})
        for _ in range(2):
            topic.publish(message)
        await settle()
        assert links.info() == [
            [1, "/a", "o", "TCPROS", "/imu", 1, "TCPROS connection on port 1 to [127.0.0.1:1 on socket -1]"]
        ]
        size = len(CODEC.to_ros1(message))
        assert links.statistics() == [[["/imu", 2 * size, [[1, 2 * size, 2, True]]]], [], [0, 0, 0]]
        reader.feed_eof()
        await serving
        assert not topic.has_subscribers and not links.info()
        header, rest = header_in(writer.data)
        assert header.pop("message_definition").startswith("std_msgs/Header header\n")
        expected = {"callerid": "/skerry", "latching": "0", "topic": "/imu", "type": "sensor_msgs/Imu"}
        assert header == {**expected, "md5sum": "6a62c6daae103f4ff57a132d6f95cec2"}
        data = CODEC.to_ros1(message)[4:]
        assert rest == b"".join(write_message(struct.pack("<I", number) + data) for number in (0, 1))

    run(talk())


def test_who_comes_late_gets_what_is_latched() -> None:
    async def talk() -> None:
        bus = Bus(CODEC)
        message = CODEC.make("std_msgs/String", data="still")
        bus.advertise("/still", "std_msgs/String", LATCHED).publish(message)
        reader, writer = stream(b"", ends=False), Writer()
        asked = {"topic": "/still", "md5sum": TYPES.md5("std_msgs/msg/String")}
        serving = asyncio.create_task(publications(bus).serve(asked, reader, writer))  # type: ignore[arg-type]
        await settle()
        reader.feed_eof()
        await serving
        header, rest = header_in(writer.data)
        assert header["latching"] == "1"
        assert rest == write_message(CODEC.to_ros1(message))

    run(talk())


def test_who_is_slow_holds_up_nobody_and_finds_the_oldest_gone() -> None:
    async def talk() -> None:
        bus = Bus(CODEC)
        topic = bus.advertise("/picture", "std_msgs/String", LATEST)
        parts, asked = publications(bus), {"topic": "/picture", "md5sum": "*"}
        slow, quick = Writer(is_slow=True), Writer()
        tasks = [
            asyncio.create_task(parts.serve(asked, stream(b"", ends=False), writer))  # type: ignore[arg-type]
            for writer in (slow, quick)
        ]
        await settle()
        for number in range(10):
            topic.publish(CODEC.make("std_msgs/String", data=str(number)))
            await settle()
        assert quick.data.count(b"\x05\0\0\0\x01\0\0\0") == 10
        assert slow.data.count(b"\x05\0\0\0\x01\0\0\0") == 1
        assert parts.dropped == 8  # one was sent, one waits
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert parts.dropped == 8 and not topic.has_subscribers

    run(talk())


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"topic": "/imu", "md5sum": "0" * 32, "type": "a/B", "callerid": "/me"}, "/me expects a/B with '000"),
        ({"topic": "/imu"}, "with MD5 sum"),
        ({"topic": "/other", "md5sum": "*"}, "does not publish '/other'"),
        ({"topic": "/left_out", "md5sum": "*"}, "does not publish"),
        ({}, "does not publish"),
        ({"topic": "/go/_action/status", "md5sum": "*"}, "does not publish"),
    ],
)
def test_what_cannot_be_had_is_refused_in_words(asked: dict[str, str], text: str) -> None:
    async def talk() -> None:
        bus = Bus(CODEC)
        for name in ("/imu", "/left_out"):
            bus.advertise(name, IMU)
        ActionServer(bus, "/go", "smarc_msgs/GotoWaypoint", lambda: CODEC.make("builtin_interfaces/Time"), print, print)
        parts = publications(bus)
        assert parts.types() == {"/imu": "sensor_msgs/Imu"}
        await parts.serve(asked, stream(b""), Writer())  # type: ignore[arg-type]

    with pytest.raises(ProtocolError, match=text):
        run(talk())


# ------------------------------------------------------------------------------------------------ services


def called(bus: Bus, data: bytes, **asked: str) -> tuple[dict[str, str], bytes]:
    async def talk() -> tuple[dict[str, str], bytes]:
        writer = Writer()
        services = Services(bus, TYPES, LoopNotifier(asyncio.get_running_loop()))
        header = {"service": "/pause", "md5sum": "*", "callerid": "/a", **asked}
        await services.serve(header, stream(data), writer)  # type: ignore[arg-type]
        return header_in(writer.data)

    found: tuple[dict[str, str], bytes] = run(talk())
    return found


def pause(request: Any) -> Any:
    if not request.data:
        raise SkerryError("it cannot")
    promise: Future[Any] = Future()
    promise.set_result(CODEC.make(f"{SET}_Response", success=True, message="done"))
    return promise


def test_calls_are_answered_or_told_why_not() -> None:
    bus = Bus(CODEC)
    bus.add_service("/pause", SET, pause)
    on, off = write_message(b"\x01"), write_message(b"\x00")
    answer = write_response(CODEC.to_ros1(CODEC.make(f"{SET}_Response", success=True, message="done")))
    header, rest = called(bus, on + on)
    expected = {"callerid": "/skerry", "type": "std_srvs/SetBool", "md5sum": "09fb03525b03e7ea1fd3992bafd87e16"}
    types = {"request_type": "std_srvs/SetBoolRequest", "response_type": "std_srvs/SetBoolResponse"}
    assert (header, rest) == ({**expected, **types}, answer)  # one, as it does not persist
    assert called(bus, on + off + on, persistent="1")[1] == answer + write_failure("it cannot") + answer
    assert called(bus, b"", probe="1")[1] == b""
    (failure,) = [called(bus, write_message(b"far too long"))[1]]
    assert failure.startswith(b"\x00") and b"are not a valid std_srvs/srv/SetBool_Request" in failure


def test_a_call_of_something_else_is_refused() -> None:
    bus = Bus(CODEC)
    bus.add_service("/pause", SET, pause)
    bus.add_service("/skerry/get_parameters", "rcl_interfaces/GetParameters", pause)
    for asked, text in (
        ({"md5sum": "0" * 32}, "expects"),
        ({"service": "/stop"}, "has no service '/stop'"),
        ({"service": "/skerry/get_parameters"}, "has no service"),
    ):
        with pytest.raises(ProtocolError, match=text):
            called(bus, b"", **asked)


# ------------------------------------------------------------------------------------------------ a node and its master


class StandIn(Master):
    """Fake master that stores its calls."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1")
        self.process, self.exists = 1, True
        self.refused: set[str] = set()
        self.begin()

    def begin(self) -> None:
        self.known: set[tuple[str, str]] = set()
        self.parameters: dict[str, Any] = {}
        self.node = ""

    async def call(self, method: str, *arguments: Any) -> Any:
        if not self.exists:
            raise ConnectionRefusedError("nobody is there")
        if method in self.refused:
            raise MasterError(f"{method}: no")
        if method == "getPid":
            return self.process
        if method == "lookupNode":
            if not self.node:
                raise MasterError("lookupNode: unknown node")
            return self.node
        if method == "hasParam":
            return arguments[0] in self.parameters
        if method == "setParam":
            self.parameters[arguments[0]] = arguments[1]
            return 0
        word = method.removeprefix("un").removeprefix("register")
        if method.startswith("un"):
            self.known.remove((word, arguments[0]))
        else:
            self.known.add((word, arguments[0]))
            self.node = arguments[-1]
        return []


def parts_of(bus: Bus) -> SimpleNamespace:
    """Parts of a node, without sockets."""
    links, complaints, left = Connections(), WarningLog(), []
    said = publications(bus, links)
    heard = Subscriptions(bus, TYPES, links, complaints, OWN)
    services = Services(bus, TYPES, LoopNotifier(asyncio.get_running_loop()))
    api = SlaveApi("http://127.0.0.1:1", OWN, ("127.0.0.1", 5001), said, heard, links, left.append)
    master = StandIn()
    lists = NodeEntries(OWN, "rosrpc://127.0.0.1:5001", said, heard, services)
    registration = Registration(master, bus, lists, complaints)
    return SimpleNamespace(api=api, master=master, registration=registration, heard=heard, left=left)


def a_bus() -> Bus:
    bus = Bus(CODEC)
    bus.advertise("/imu", IMU)
    bus.subscribe("/command", "std_msgs/Float64", lambda message: None)
    bus.add_service("/pause", SET, pause)
    bus.parameters |= {"/utm_zone": 33, "/utm_band": "V"}
    return bus


ALL = {("Publisher", "/imu"), ("Subscriber", "/command"), ("Service", "/pause")}


def test_the_master_knows_all_and_is_told_of_what_is_new_and_of_what_went() -> None:
    async def talk() -> None:
        bus = a_bus()
        node = parts_of(bus)
        assert await node.registration.update()
        assert node.master.known == ALL
        assert node.master.parameters == {"/utm_zone": 33, "/utm_band": "V", "/use_sim_time": True}
        assert not await node.registration.update()
        with bus.owned_by("robots/b"):
            bus.subscribe("/b/command", "std_msgs/Float64", lambda message: None)
        bus.parameters["/b/limit"] = 2.5
        assert not await node.registration.update()
        assert node.master.known == {*ALL, ("Subscriber", "/b/command")}
        assert node.master.parameters["/b/limit"] == 2.5
        bus.withdraw("robots/b")
        await node.registration.update()
        assert node.master.known == ALL
        await node.registration.withdraw()
        assert not node.master.known

    run(talk())


@pytest.mark.parametrize("process", [1, 2], ids=["of the same number", "of another number"])
def test_a_master_that_was_restarted_is_told_all_anew(process: int) -> None:
    async def talk() -> None:
        node = parts_of(a_bus())
        await node.registration.update()
        node.master.exists = False
        with pytest.raises(ConnectionRefusedError):
            await node.registration.update()
        node.master.begin()
        node.master.exists, node.master.process = True, process
        node.master.parameters["/use_sim_time"] = False  # a user has selected the wall clock
        assert await node.registration.update()
        assert node.master.known == ALL
        assert node.master.parameters["/use_sim_time"] is False

    run(talk())


def test_a_node_that_takes_our_name_is_left_alone() -> None:
    async def talk() -> None:
        node = parts_of(a_bus())
        await node.registration.update()
        node.master.node = "http://127.0.0.1:7000/"
        with pytest.raises(NameTaken, match="7000"):
            await node.registration.update()

    run(talk())


def test_what_a_master_refuses_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> None:
        node = parts_of(a_bus())
        node.master.refused = {"registerService"}
        for _ in range(3):
            await node.registration.update()
        assert node.master.known == ALL - {("Service", "/pause")}

    run(talk())
    assert [record.getMessage() for record in caplog.records] == [
        "the ROS master at http://127.0.0.1:1 refuses registerService: no"
    ]


def test_peers_ask_a_node_what_it_is() -> None:
    async def talk() -> None:
        node = parts_of(a_bus())
        ask = node.api.answer
        assert ask("getPublications", ("/a",)) == [1, "", [["/imu", "sensor_msgs/Imu"]]]
        assert ask("getSubscriptions", ("/a",)) == [1, "", [["/command", "std_msgs/Float64"]]]
        assert ask("requestTopic", ("/a", "/imu", [["UDPROS"], ["TCPROS"]])) == [
            1,
            "ready on 127.0.0.1:5001",
            ["TCPROS", "127.0.0.1", 5001],
        ]
        assert ask("requestTopic", ("/a", "/imu", [["UDPROS"]]))[0] == 0
        assert ask("requestTopic", ("/a", "/other", [["TCPROS"]]))[0] == 0
        assert ask("getBusInfo", ("/a",)) == [1, "", []]
        assert ask("getBusStats", ("/a",)) == [1, "", [[], [], [0, 0, 0]]]
        assert ask("getMasterUri", ("/a",)) == [1, "", "http://127.0.0.1:1"]
        assert ask("getPid", ("/a",))[2] > 0
        assert ask("paramUpdate", ("/a", "/b", 1))[0] == -1
        assert ask("publisherUpdate", ("/a", "/not_heard", ["http://127.0.0.1:1/"])) == [1, "", 0]
        assert ask("publisherUpdate", ("/a", "/command", [OWN])) == [1, "", 0]  # who does not listen to itself
        assert not node.heard._tasks
        assert ask("shutdown", ("/a", "enough")) == [1, "", 0]
        assert node.left == ["enough"]

    run(talk())


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)
METHODS = ("getBusInfo", "getPid", "paramUpdate", "publisherUpdate", "requestTopic", "shutdown", "other")


@given(method=st.sampled_from(METHODS), arguments=st.lists(VALUES, min_size=1, max_size=3))
def test_whatever_a_node_is_asked_it_answers(method: str, arguments: list[Any]) -> None:
    async def talk() -> None:
        node = parts_of(a_bus())
        try:
            code, text, _ = node.api.answer(method, tuple(arguments))
        except Fault:
            assert method == "other"
        else:
            assert code in (1, 0, -1) and isinstance(text, str)

    run(talk())


# ------------------------------------------------------------------------------------------------ settings


def test_where_the_master_is_and_where_we_are_is_set_or_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ROS_MASTER_URI", "ROS_HOSTNAME", "ROS_IP"):
        monkeypatch.delenv(name, raising=False)
    assert (Tcpros().master_uri, Tcpros().own_host) == ("http://127.0.0.1:11311", "127.0.0.1")
    monkeypatch.setenv("ROS_MASTER_URI", "http://robot:11311")
    monkeypatch.setenv("ROS_IP", "10.0.0.5")
    assert (Tcpros().master_uri, Tcpros().own_host) == ("http://robot:11311", "10.0.0.5")
    monkeypatch.setenv("ROS_HOSTNAME", "laptop")
    assert Tcpros().own_host == "laptop"
    assert Tcpros(host="10.0.0.6").own_host == "10.0.0.6"
    assert Tcpros(master="http://other:1").master_uri == "http://other:1"
    monkeypatch.setenv("ROS_MASTER_URI", "robot")
    with pytest.raises(SkerryError, match="ROS_MASTER_URI: 'robot' is not an address"):
        Tcpros().build().start(Bus(CODEC))


def test_ros_2_is_refused_in_words_that_say_what_to_do() -> None:
    transport = Tcpros().build()
    with pytest.raises(SkerryError, match="`distribution` is 'humble'; remove `distribution`"):
        transport.start(Bus(Codec(TypeStore())))
    transport.close()
