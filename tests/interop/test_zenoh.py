"""Zenoh with peers in other processes: plain Zenoh, which reads keys, tokens and bytes itself, and zenoh-ros2-sdk.

Both are written after rmw_zenoh; neither is it.
"""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import LATCHED, Bus, Topic
from skerry.interfaces.ros.messages import types as definitions
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.zenoh import Zenoh
from skerry.runner import Runner

zenoh = pytest.importorskip("zenoh")
pytest.importorskip("xxhash")

SCENARIO = {
    "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
    "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}},
}
SESSION = {
    "mode": "peer",
    "listen": {"endpoints": ["tcp/127.0.0.1:0"]},
    "scouting": {"multicast": {"enabled": False}},
    "timestamping": {"enabled": True},
}

ENDS = """
import os, sys, traceback
def end(*what):  # whatever threads there are
    if what:
        traceback.print_exception(*what)
    else:
        print("peer is content")
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
sys.excepthook = end
"""

PEER = """
import struct, sys, time
import xxhash
import zenoh
from zenoh.ext import HistoryConfig, RecoveryConfig, declare_advanced_subscriber

me = zenoh.open(zenoh.Config.from_json5(sys.argv[1]))
GID = bytes(range(16))
CDR = bytes([0, 1, 0, 0])

def until(wanted, what, seconds=20):
    end = time.monotonic() + seconds
    while not (found := wanted()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found

def attachment(number):
    return struct.pack("<qqB", number, time.time_ns(), 16) + GID

def tokens():
    return [str(reply.ok.key_expr).split("/") for reply in me.liveliness().get("@ros2_lv/7/**", timeout=5)]

def token_of(kind, name):
    found = [token for token in tokens() if token[5] == kind and token[9:10] == [name.replace("/", "%")]]
    assert len(found) == 1, (name, found)
    return found[0]

def key_of(kind, name):
    token = token_of(kind, name)
    return "/".join(["7", name[1:], token[10], token[11]])

def call(name, body, number, payload=None):
    options = {"target": zenoh.QueryTarget.ALL_COMPLETE, "consolidation": zenoh.ConsolidationMode.NONE}
    replies = list(me.get(key_of("SS", name), payload=CDR + body, attachment=attachment(number), timeout=30, **options))
    assert len(replies) == 1 and replies[0].ok is not None, (name, replies)
    sample = replies[0].ok
    echoed = sample.attachment.to_bytes()
    assert len(echoed) == 33 and struct.unpack_from("<q", echoed)[0] == number and echoed[17:] == GID, echoed
    return sample.payload.to_bytes()[4:]
"""

TOPICS = """
until(lambda: len(tokens()) > 50, "there are no tokens")
node, = [token for token in tokens() if token[5] == "NN"]
assert node[6:] == ["%", "%", "skerry"] and node[3] == node[4] == "0", node
heading = "7/sam/core/heading/smarc_msgs::msg::dds_::FloatStamped_/" + sys.argv[2]
assert key_of("MP", "/sam/core/heading") == heading, key_of("MP", "/sam/core/heading")

samples = []
hearing = me.declare_subscriber(heading, samples.append)
until(lambda: len(samples) > 2, "nothing is said")
data = samples[-1].payload.to_bytes()
length, = struct.unpack_from("<I", data, 12)
assert data[:4] == CDR and data[16 : 16 + length] == b"sam/base_link_gt" + bytes([0]), data
degrees, = struct.unpack_from("<f", data, (16 + length + 3) // 4 * 4)
assert 0 <= degrees <= 360, degrees
numbers = [struct.unpack_from("<q", sample.attachment.to_bytes())[0] for sample in samples]
assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), numbers
gid = xxhash.xxh3_128_digest("/".join(token_of("MP", "/sam/core/heading")).encode())[::-1]
assert {sample.attachment.to_bytes()[17:] for sample in samples} == {gid}
hearing.undeclare()

late = []
frames = declare_advanced_subscriber(
    me, key_of("MP", "/tf_static"), late.append, subscriber_detection=True,
    history=HistoryConfig(detect_late_publishers=True, max_samples=1), recovery=RecoveryConfig(heartbeat=True),
)
until(lambda: late, "who comes late gets no frames")
assert b"utm" in late[0].payload.to_bytes()

turning = []
feedback = me.declare_subscriber(key_of("MP", "/sam/core/thruster1_fb"), turning.append)
command = me.declare_publisher(key_of("MS", "/sam/core/thruster1_cmd"))

def turns():
    command.put(b"junk")
    command.put(CDR + struct.pack("<i", 700), attachment=attachment(1))
    for sample in turning:
        data = sample.payload.to_bytes()
        length, = struct.unpack_from("<I", data, 12)
        rpm, = struct.unpack_from("<i", data, (16 + length + 3) // 4 * 4)
        if abs(rpm - 700) < 5:
            return True
until(turns, "the thruster does not turn")

assert call("/skerry/pause", b"\\1", 1)[0] == 1
assert call("/skerry/pause", b"\\0", 2)[0] == 1
for bad in ({"payload": CDR + b"\\0"}, {"payload": b"", "attachment": attachment(3)}, {"attachment": b"junk"}):
    replies = list(me.get(key_of("SS", "/skerry/pause"), timeout=10, **bad))
    assert [reply.ok for reply in replies] == [None] and replies[0].err.payload.to_bytes() != b"Timeout", replies

asked = []
def open_dock(query):
    asked.append(query.attachment.to_bytes())
    number, = struct.unpack_from("<q", asked[-1])
    answer = CDR + b"\\1" + bytes(3) + struct.pack("<I", 7) + b"docked\\0"
    query.reply(query.key_expr, answer, attachment=asked[-1])
dock = me.declare_queryable(key_of("SC", "/dock/open"), open_dock, complete=True)
until(lambda: asked, "nobody calls")
assert len(asked[0]) == 33 and asked[0][16] == 16
time.sleep(0.2)
me.close()
end()
"""

GOALS = """
until(lambda: len(tokens()) > 50, "there are no tokens")
name = "/sam/ctrl/goto_waypoint/_action/"
assert call("/skerry/reset", bytes(1), 1)[0] == 1  # whoever commanded before has no control any more
words = []
feedback = me.declare_subscriber(key_of("MP", name + "feedback"), words.append)
frame = struct.pack("<iiI", 0, 0, 7) + b"map_gt\\0" + bytes(5)
pose = struct.pack("<7d", 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
goal = GID + frame + pose + struct.pack("<dB7xddB7xdd", 2.0, 0, 0.0, 0.0, 1, 900.0, 0.0)
assert call(name + "send_goal", goal, 2)[0] == 1
status, = struct.unpack_from("<b", call(name + "get_result", GID, 3))
assert status == 4, status  # STATUS_SUCCEEDED
assert words and words[0].payload.to_bytes()[4:20] == GID
me.close()
end()
"""

SDK = """
import sys, time
from zenoh_ros2_sdk import ROS2Publisher, ROS2ServiceClient, ROS2ServiceServer, ROS2Subscriber
from zenoh_ros2_sdk.message_registry import get_registry

get_registry(sys.argv[2])
where = {"router_ip": "127.0.0.1", "router_port": int(sys.argv[1]), "domain_id": 7}

def until(wanted, what, seconds=20):
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end, what
        time.sleep(0.05)

heard, turning = [], []
imu = ROS2Subscriber("/sam/core/imu", "sensor_msgs/msg/Imu", callback=heard.append, **where)
until(lambda: heard, "nothing is said")
assert heard[0].header.frame_id == "sam/imu_link_gt" and abs(heard[0].linear_acceleration.z) > 5, heard[0]
fb = ROS2Subscriber("/sam/core/thruster2_fb", "smarc_msgs/msg/ThrusterFeedback", callback=turning.append, **where)
command = ROS2Publisher("/sam/core/thruster2_cmd", "smarc_msgs/msg/ThrusterRPM", **where)
def turns():
    command.publish(rpm=500)
    return any(abs(message.rpm.rpm - 500) < 5 for message in turning)
until(turns, "the thruster does not turn")
pause = ROS2ServiceClient("/skerry/pause", "std_srvs/srv/SetBool", **where)
assert pause.call(data=False).success
asked = []
def answer(request):
    asked.append(request.data)
    return dock.response_msg_class(success=request.data, message="docked")
dock = ROS2ServiceServer("/dock/close", "std_srvs/srv/SetBool", answer, **where)
until(lambda: asked, "nobody calls")
time.sleep(0.2)
end()
"""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def session(port: int, **changes: object) -> str:
    return json.dumps({**SESSION, "connect": {"endpoints": [f"tcp/127.0.0.1:{port}"]}, **changes})


def until(wanted: Callable[[], object], what: str, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Simulation:
    """SAM at three times real time, which is the router of domain 7."""

    def __init__(self) -> None:
        self.port = free_port()
        settings = {"kind": "zenoh", "router": True, "domain": 7, "listen": [f"tcp/127.0.0.1:{self.port}"]}
        ros = Ros(profile="smarc-interface", distribution="jazzy", transports={"zenoh": settings}).build()
        assert isinstance(ros, RosInterface)
        self.ros = ros
        self.codec = ros.bus.codec

    def run_peer(self, program: str, *arguments: str, called: str) -> tuple[str, list[Message]]:
        """Run a peer in Python and return its output."""
        client = self.ros.bus.service_client(called, "std_srvs/SetBool")
        request = self.codec.make("std_srvs/srv/SetBool_Request", data=True)
        answers: list[Message] = []
        peer = subprocess.Popen(
            [sys.executable, "-c", ENDS + program, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        begun = time.monotonic()
        while peer.poll() is None:
            if time.monotonic() - begun > 60:
                peer.kill()
            if client.routes and not answers:
                client.call(request).add_done_callback(lambda done: done.exception() or answers.append(done.result()))
            time.sleep(0.1)
        return peer.communicate(timeout=5)[0], answers


@pytest.fixture(scope="module")
def simulation() -> Iterator[Simulation]:
    found = Simulation()
    with skerry.load(SCENARIO) as world, Runner(world, 3.0, {"ros": found.ros}) as runner:
        thread = threading.Thread(target=runner.run, args=(1000.0,))
        thread.start()
        until(lambda: world.time > 0, "it does not begin", 30.0)
        yield found
        runner.stop()
        thread.join()


def test_a_peer_of_plain_zenoh_hears_commands_and_calls_and_is_called(simulation: Simulation) -> None:
    hash_of_heading = simulation.codec.type_store.hash("smarc_msgs/msg/FloatStamped")
    said, answers = simulation.run_peer(PEER + TOPICS, session(simulation.port), hash_of_heading, called="/dock/open")
    assert "peer is content" in said, said
    assert answers
    assert (answers[0].success, answers[0].message) == (True, "docked")
    assert "sent" in simulation.ros.status


def test_a_peer_of_plain_zenoh_sends_sam_to_a_waypoint_by_an_action(simulation: Simulation) -> None:
    said, _ = simulation.run_peer(PEER + GOALS, session(simulation.port, mode="client"), called="/dock/open")
    assert "peer is content" in said, said


def test_a_peer_of_zenoh_ros2_sdk_hears_commands_and_calls_and_is_called(simulation: Simulation) -> None:
    pytest.importorskip("zenoh_ros2_sdk")
    folder = str(Path(definitions.__file__).parent / "definitions")
    said, answers = simulation.run_peer(SDK, str(simulation.port), folder, called="/dock/close")
    assert "peer is content" in said, said
    assert answers
    assert (answers[0].success, answers[0].message) == (True, "docked")


# ------------------------------------------------------------------------------------------------ without a world


def bus_of(distribution: str) -> Bus:
    return Bus(Codec(TypeStore(distribution=distribution)))  # type: ignore[arg-type]


def router(port: int) -> object:
    listen = {"endpoints": [f"tcp/127.0.0.1:{port}"]}
    changes = {"mode": "router", "listen": listen, "connect": {"endpoints": []}}
    return zenoh.open(zenoh.Config.from_json5(session(port, **changes)))


@pytest.mark.parametrize("mode", ["peer", "client"])
def test_a_router_may_come_late_and_go_and_come_again(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skerry")
    port = free_port()
    bus = bus_of("humble")
    frames = bus.advertise("/tf_static", "tf2_msgs/TFMessage", LATCHED)
    depth = bus.advertise("/depth", "std_msgs/Float32")
    node = Zenoh(mode=mode, domain=3, connect=(f"tcp/127.0.0.1:{port}",)).build()
    before = set(threading.enumerate())
    node.start(bus)
    try:
        assert node.status == f"zenoh domain 3 connecting to tcp/127.0.0.1:{port}"
        frames.publish(bus.codec.make("tf2_msgs/TFMessage"))
        until(lambda: "retrying" in caplog.text, "nobody is missed")
        for _ in range(2):
            caplog.clear()
            here = router(port)
            until(lambda: "connecting" not in node.status, "it does not connect")
            _hears_depth_and_frames(port, depth)
            here.close()  # type: ignore[attr-defined]
            until(lambda: "connecting" in node.status, "that the router has gone is not noticed")
            until(lambda: not depth.has_subscribers, "who has gone takes something")
            assert [record.getMessage().split(": ")[1].split(";")[0] for record in caplog.records] == [
                "connected, domain 3",
                "no router or peer found",
            ]
    finally:
        node.close()
        node.close()
    assert set(threading.enumerate()) == before
    assert not depth.subscribers


def _hears_depth_and_frames(port: int, depth: Topic) -> None:
    """Check that a peer receives new messages, and the latched frames that were published before."""
    peer = zenoh.open(zenoh.Config.from_json5(session(port)))
    heard: list[bytes] = []
    late: list[bytes] = []
    keys = [
        f"3/{name}/{kind}/TypeHashNotSupported"
        for name, kind in (("depth", "std_msgs::msg::dds_::Float32_"), ("tf_static", "tf2_msgs::msg::dds_::TFMessage_"))
    ]
    hearing = peer.declare_subscriber(keys[0], lambda sample: heard.append(sample.payload.to_bytes()))
    history = zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=1)
    coming = zenoh.ext.declare_advanced_subscriber(
        peer, keys[1], lambda sample: late.append(sample.payload.to_bytes()), history=history
    )
    until(lambda: depth.has_subscribers, "nobody takes it")
    depth.publish(depth.codec.make("std_msgs/Float32", data=2.0))
    until(lambda: heard == [bytes.fromhex("0001000000000040")], "nothing is heard")
    until(lambda: late == [bytes.fromhex("0001000000000000")], "who comes late gets no frames")
    hearing.undeclare()
    coming.undeclare()
    peer.close()


def test_what_does_not_meet_is_told_once_and_calls_without_an_answer_fail(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    bus = bus_of("humble")
    for name in ("/a", "/b"):
        bus.advertise(name, "std_msgs/Float32")
    heard: list[Message] = []
    bus.subscribe("/speed", "std_msgs/Float64", heard.append)
    client = bus.service_client("/dock/open", "std_srvs/Trigger")
    node = Zenoh(router=True, domain=3, listen=(f"tcp/127.0.0.1:{port}",)).build()
    node.start(bus)
    try:
        with pytest.raises(
            SkerryError, match=r"cannot start a Zenoh router at .* Address already in use.*; check that no other"
        ):
            Zenoh(router=True, listen=(f"tcp/127.0.0.1:{port}",)).build().start(bus_of("humble"))
        peer = zenoh.open(zenoh.Config.from_json5(session(port)))
        tokens = [
            peer.liveliness().declare_token(
                f"@ros2_lv/3/beef/0/{number}/MS/%/%/rviz/%{name}/{kind}/RIHS01_1/::,:,:,:,,"
            )
            for number, (name, kind) in enumerate(
                [("a", "std_msgs::msg::dds_::Float32_"), ("b", "std_msgs::msg::dds_::Float32_"), ("a", "x")]
            )
        ]
        tokens.append(peer.liveliness().declare_token("@ros2_lv/3/junk"))
        speed = peer.declare_publisher("3/speed/std_msgs::msg::dds_::Float64_/TypeHashNotSupported")
        until(lambda: speed.matching_status.matching, "nobody hears")
        for payload in (b"", b"junk", b"\0\1\0\0", bytes.fromhex("00010000") + b"\0\0\0\0\0\0\xf0\x3f"):
            speed.put(payload)
        until(lambda: len(heard) == 1, "what is sound is not heard")
        until(lambda: len(caplog.records) >= 4, caplog.text)
        promise = client.call(bus.codec.make("std_srvs/srv/Trigger_Request"))
        with pytest.raises(SkerryError, match="/dock/open: no peer responds"):
            promise.result(timeout=5)
        queryable = peer.declare_queryable(
            "3/dock/open/std_srvs::srv::dds_::Trigger_/TypeHashNotSupported", lambda query: None, complete=True
        )
        time.sleep(0.3)
        waiting = client.call(bus.codec.make("std_srvs/srv/Trigger_Request"))
        queryable.undeclare()
        peer.close()
        del tokens
    finally:
        node.close()
    assert waiting.exception(timeout=5)
    assert not client.routes
    said = sorted(record.getMessage() for record in caplog.records)
    assert len(said) == 4, said
    assert "of /rviz over Zenoh: the peer has the type x RIHS01_1" in said[0]
    assert said[1].startswith("/speed over Zenoh: ")
    assert "/rviz has the type hash" in said[2]
    assert "`jazzy`" in said[2]
    assert "is not a ROS 2 liveliness token" in said[3]
