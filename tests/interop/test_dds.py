"""DDS with a peer in another process that declares its types in plain IDL, by Cyclone DDS's own, typed interface.

It uses the protocol of rmw_cyclonedds: the header of calls is a part of its types. ROS 2 itself is not tested.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryFile

import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.messages.codec import Message
from skerry.runner import Runner

pytest.importorskip("cyclonedds")

DOMAIN = 20 + os.getpid() % 200  # so that runs beside each other do not meet

LOOPBACK = """<CycloneDDS><Domain Id="any"><General>
<Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces><AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer Address="127.0.0.1"/></Peers></Discovery>
</Domain></CycloneDDS>"""

SCENARIO = {
    "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
    "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}},
}

COMMON = """
import sys, time
from dataclasses import dataclass
from cyclonedds.core import Policy, Qos
from cyclonedds.domain import Domain, DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int8, int32, int64, sequence, uint32, uint64, uint8
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic
from cyclonedds.util import duration

domain = Domain(int(sys.argv[1]), sys.argv[2])
me = DomainParticipant(int(sys.argv[1]))

@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: int32
    nanosec: uint32
@dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str
reliable = Qos(Policy.Reliability.Reliable(duration(seconds=1)), Policy.History.KeepLast(10))
latched = Qos(
    Policy.Reliability.Reliable(duration(seconds=1)), Policy.Durability.TransientLocal, Policy.History.KeepLast(1)
)

def reader(name, kind, qos=reliable):
    return DataReader(me, Topic(me, name, kind), qos=qos)

def first(source, wanted=lambda sample: True, seconds=20):
    for sample in source.take_iter(timeout=duration(seconds=seconds)):
        if wanted(sample):
            return sample
    raise SystemExit(f"nothing came on {source.topic.name}")
"""

PEER = """
@dataclass
class Number(IdlStruct, typename="smarc_msgs.msg.dds_.FloatStamped_"):
    header: Header
    data: float32
@dataclass
class Rpm(IdlStruct, typename="smarc_msgs.msg.dds_.ThrusterRPM_"):
    rpm: int32
@dataclass
class Dc(IdlStruct, typename="smarc_msgs.msg.dds_.ThrusterDC_"):
    dc: float32
@dataclass
class Feedback(IdlStruct, typename="smarc_msgs.msg.dds_.ThrusterFeedback_"):
    header: Header
    rpm: Rpm
    dc: Dc
    current: float32
    torque: float32
@dataclass
class Ask(IdlStruct, typename="std_srvs.srv.dds_.SetBool_Request_"):
    client: uint64
    number: int64
    data: bool
@dataclass
class Answer(IdlStruct, typename="std_srvs.srv.dds_.SetBool_Response_"):
    client: uint64
    number: int64
    success: bool
    message: str
@dataclass
class Gid(IdlStruct, typename="rmw_dds_common.msg.dds_.Gid_"):
    data: array[uint8, 16]
@dataclass
class Node(IdlStruct, typename="rmw_dds_common.msg.dds_.NodeEntitiesInfo_"):
    node_namespace: str
    node_name: str
    reader_gid_seq: sequence[Gid]
    writer_gid_seq: sequence[Gid]
@dataclass
class Info(IdlStruct, typename="rmw_dds_common.msg.dds_.ParticipantEntitiesInfo_"):
    gid: Gid
    node_entities_info_seq: sequence[Node]

info = first(reader("ros_discovery_info", Info, latched))
(node,) = info.node_entities_info_seq
assert (node.node_namespace, node.node_name) == ("/", "skerry"), node
assert len(node.writer_gid_seq) > 20 and len(node.reader_gid_seq) > 10

headings = reader("rt/sam/core/heading", Number)
heading = first(headings)
assert heading.header.frame_id == "sam/base_link_gt" and 0 <= heading.data <= 360, heading

commands = DataWriter(me, Topic(me, "rt/sam/core/thruster1_cmd", Rpm), qos=reliable)
turning = reader("rt/sam/core/thruster1_fb", Feedback)
end = time.monotonic() + 20
while True:
    commands.write(Rpm(700))
    time.sleep(0.1)
    if any(abs(sample.rpm.rpm - 700) < 5 for sample in turning.take(100)):
        break
    assert time.monotonic() < end, "the thruster does not turn"

asks = DataWriter(me, Topic(me, "rq/skerry/pauseRequest", Ask), qos=reliable)
answers = reader("rr/skerry/pauseReply", Answer)
time.sleep(0.5)
for number, paused in enumerate((True, False), 1):
    asks.write(Ask(1234567890123456789, number, paused))
    answer = first(answers)
    assert (answer.client, answer.number, answer.success) == (1234567890123456789, number, True), answer

mine = reader("rq/dock/openRequest", Ask)
replies = DataWriter(me, Topic(me, "rr/dock/openReply", Answer), qos=reliable)
call = first(mine)
replies.write(Answer(call.client, call.number, call.data, "docked"))
replies.wait_for_acks(duration(seconds=5))
print("peer is content")
"""


GOAL_GIVER = """
@dataclass
class Point(IdlStruct, typename="geometry_msgs.msg.dds_.Point_"):
    x: float64
    y: float64
    z: float64
@dataclass
class Quaternion(IdlStruct, typename="geometry_msgs.msg.dds_.Quaternion_"):
    x: float64
    y: float64
    z: float64
    w: float64
@dataclass
class Pose(IdlStruct, typename="geometry_msgs.msg.dds_.Pose_"):
    position: Point
    orientation: Quaternion
@dataclass
class PoseStamped(IdlStruct, typename="geometry_msgs.msg.dds_.PoseStamped_"):
    header: Header
    pose: Pose
@dataclass
class Uuid(IdlStruct, typename="unique_identifier_msgs.msg.dds_.UUID_"):
    uuid: array[uint8, 16]
@dataclass
class Goal(IdlStruct, typename="smarc_msgs.action.dds_.GotoWaypoint_Goal_"):
    waypoint_pose: PoseStamped
    goal_tolerance: float64
    z_control_mode: uint8
    travel_altitude: float64
    travel_depth: float64
    speed_control_mode: uint8
    travel_rpm: float64
    travel_speed: float64
@dataclass
class Send(IdlStruct, typename="smarc_msgs.action.dds_.GotoWaypoint_SendGoal_Request_"):
    client: uint64
    number: int64
    goal_id: Uuid
    goal: Goal
@dataclass
class Sent(IdlStruct, typename="smarc_msgs.action.dds_.GotoWaypoint_SendGoal_Response_"):
    client: uint64
    number: int64
    accepted: bool
    stamp: Time
@dataclass
class Get(IdlStruct, typename="smarc_msgs.action.dds_.GotoWaypoint_GetResult_Request_"):
    client: uint64
    number: int64
    goal_id: Uuid
@dataclass
class Result(IdlStruct, typename="smarc_msgs.action.dds_.GotoWaypoint_Result_"):
    reached_waypoint: bool
@dataclass
class Got(IdlStruct, typename="smarc_msgs.action.dds_.GotoWaypoint_GetResult_Response_"):
    client: uint64
    number: int64
    status: int8
    result: Result

name = "/sam/ctrl/goto_waypoint/_action/"
sends = DataWriter(me, Topic(me, f"rq{name}send_goalRequest", Send), qos=reliable)
sent = reader(f"rr{name}send_goalReply", Sent)
gets = DataWriter(me, Topic(me, f"rq{name}get_resultRequest", Get), qos=reliable)
got = reader(f"rr{name}get_resultReply", Got)
time.sleep(2.0)
number = Uuid(list(range(16)))
pose = PoseStamped(Header(Time(0, 0), "map_gt"), Pose(Point(4.0, 0.0, 0.0), Quaternion(0.0, 0.0, 0.0, 1.0)))
sends.write(Send(1, 1, number, Goal(pose, 2.0, 0, 0.0, 0.0, 1, 900.0, 0.0)))
answer = first(sent)
assert answer.accepted, answer
gets.write(Get(1, 2, number))
end = first(got, seconds=60)
assert (end.number, end.status, end.result.reached_waypoint) == (2, 4, True), end  # 4 is STATUS_SUCCEEDED
print("peer is content")
"""


def run_with_peer(ros: RosInterface, peer: str, then: threading.Event) -> str:
    """Run SAM at real time until a peer in Python has ended; what the peer said."""
    environment = {name: value for name, value in os.environ.items() if name != "CYCLONEDDS_URI"}
    return run_with_process(ros, [sys.executable, "-c", COMMON + peer, str(DOMAIN), LOOPBACK], environment, then)


def run_with_process(
    ros: RosInterface, arguments: list[str], environment: dict[str, str], then: threading.Event
) -> str:
    with (
        TemporaryFile("w+") as said,
        skerry.load(SCENARIO) as world,
        Runner(world, 1.0, {"ros": ros}) as runner,
    ):
        process = subprocess.Popen(arguments, stdout=said, stderr=subprocess.STDOUT, text=True, env=environment)

        def wait() -> None:
            process.wait(timeout=120)
            then.set()
            runner.stop()

        thread = threading.Thread(target=wait)
        thread.start()
        runner.run(100.0)
        thread.join()
        said.seek(0)
        return said.read()


def test_a_typed_peer_hears_commands_and_calls_and_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CYCLONEDDS_URI", raising=False)
    ros = Ros(transports={"dds": {"kind": "dds", "domain": DOMAIN}}).build()
    assert isinstance(ros, RosInterface)
    client = ros.bus.service_client("/dock/open", "std_srvs/SetBool")
    answers: list[Message] = []
    over = threading.Event()

    def keep_asking() -> None:  # until the peer is there
        while not over.wait(1.0):
            if client.routes and not answers:
                request = ros.bus.codec.make("std_srvs/srv/SetBool_Request", data=True)
                client.call(request).add_done_callback(lambda done: done.exception() or answers.append(done.result()))

    asking = threading.Thread(target=keep_asking)
    asking.start()
    try:
        said = run_with_peer(ros, PEER, over)
    finally:
        over.set()
        asking.join()
    assert "peer is content" in said, said
    assert answers
    assert (answers[0].success, answers[0].message) == (True, "docked")
    assert "sent" in ros.status


def test_a_typed_peer_sends_sam_to_a_waypoint_by_an_action(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CYCLONEDDS_URI", raising=False)
    ros = Ros(profile="smarc-interface", transports={"dds": {"kind": "dds", "domain": DOMAIN}}).build()
    assert isinstance(ros, RosInterface)
    said = run_with_peer(ros, GOAL_GIVER, threading.Event())
    assert "peer is content" in said, said


def test_the_command_line_of_cyclone_dds_lists_our_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = shutil.which("cyclonedds", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if tool is None:
        pytest.skip("needs the program `cyclonedds` of the package of that name")
    monkeypatch.delenv("CYCLONEDDS_URI", raising=False)
    ros = Ros(transports={"dds": {"kind": "dds", "domain": DOMAIN}}).build()
    assert isinstance(ros, RosInterface)
    arguments = [tool, "ls", "--id", str(DOMAIN), "--runtime", "5s", "--suppress-progress-bar", "--color", "none"]
    environment = {**os.environ, "CYCLONEDDS_URI": LOOPBACK, "COLUMNS": "200"}
    said = run_with_process(ros, arguments, environment, threading.Event())
    for word in ("rt/sam/core/imu", "sensor_msgs::msg::dds_::Imu_", "rt/clock", "rq/skerry/pauseRequest"):
        assert word in said, said


FLEET = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000,) * 2)  # so that what grows without end fails
from skerry.interfaces.ros.transports.dds.cyclone import Participant, EndpointQos, DdsReader, DdsWriter
ours, peers = Participant(int(sys.argv[1]), "loopback"), Participant(int(sys.argv[1]), "loopback")
kind, sent = "std_msgs::msg::dds_::Float64_", bytes([0, 1, 0, 0, *range(8)])
writers = [DdsWriter(ours, f"rt/robot_{number}/depth", kind, EndpointQos()) for number in range(200)]
readers = [DdsReader(peers, f"rt/robot_{number}/depth", kind, EndpointQos()) for number in range(200)]
end = time.monotonic() + 30.0
while not all(writer.matched for writer in writers) and time.monotonic() < end:
    time.sleep(0.01)
for writer in writers:
    writer.write(sent)
came = [[] for _ in readers]
while not all(came) and time.monotonic() < end:
    for reader, found in zip(readers, came):
        found += reader.take()
assert came == [[sent]] * 200, came
print("peer is content")
"""


def test_a_fleet_may_have_hundreds_of_topics_of_one_type() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CYCLONEDDS_URI"}
    arguments = [sys.executable, "-c", FLEET, str(DOMAIN)]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=120)
    assert "peer is content" in done.stdout, done.stderr
