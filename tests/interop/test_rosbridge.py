"""The server of rosbridge with roslibpy, a client that others wrote, over a real WebSocket."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.codec import Codec
from skerry.interfaces.ros.node import RosInterface
from skerry.interfaces.ros.transports.rosbridge import Rosbridge
from skerry.interfaces.ros.vocabulary import Vocabulary
from skerry.runner import Runner

pytest.importorskip("roslibpy")

# In a process of its own, as its reactor can be started only once.
CLIENT = """
import sys, threading, time
import roslibpy

ros = roslibpy.Ros("127.0.0.1", int(sys.argv[1]))
ros.run(timeout=20)
assert ros.is_connected

topics = ros.get_topics()
assert "/sam/core/imu" in topics and "/sam/core/thruster1_cmd" in topics, topics
assert ros.get_topic_type("/sam/core/imu") == "sensor_msgs/msg/Imu"
assert "/skerry/pause" in ros.get_services()
assert ros.get_service_type("/skerry/pause") == "std_srvs/srv/SetBool"
assert ros.get_param("/utm_zone") == 33

came, enough = [], threading.Event()
def listen(message):
    came.append(message)
    if len(came) >= 5:
        enough.set()
imu = roslibpy.Topic(ros, "/sam/core/imu", "sensor_msgs/Imu")
imu.subscribe(listen)
assert enough.wait(30), "no messages"
assert came[0]["header"]["frame_id"] == "sam/imu_link_gt"
assert abs(came[-1]["linear_acceleration"]["z"] - 9.8) < 2
imu.unsubscribe()

turning = threading.Event()
feedback = roslibpy.Topic(ros, "/sam/core/thruster1_fb", "smarc_msgs/ThrusterFeedback")
feedback.subscribe(lambda message: turning.set() if abs(message["rpm"]["rpm"] - 700) < 5 else None)
command = roslibpy.Topic(ros, "/sam/core/thruster1_cmd", "smarc_msgs/ThrusterRPM")
command.advertise()
for _ in range(300):
    command.publish(roslibpy.Message({"rpm": 700}))
    if turning.wait(0.1):
        break
assert turning.is_set(), "the thruster does not turn"

pause = roslibpy.Service(ros, "/skerry/pause", "std_srvs/SetBool")
assert pause.call(roslibpy.ServiceRequest({"data": True}), timeout=20)["success"] is True
assert pause.call(roslibpy.ServiceRequest({"data": False}), timeout=20)["success"] is True

def answer(request, response):
    response["success"] = request["data"]
    response["message"] = "from roslibpy"
    return True
mine = roslibpy.Service(ros, "/theirs", "std_srvs/SetBool")
mine.advertise(answer)
print("offered", flush=True)
sys.stdin.readline()
ros.terminate()
"""


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        found: int = reserved.getsockname()[1]
    return found


@pytest.fixture
def simulation(port: int) -> Iterator[RosInterface]:
    ros = Ros.model_validate({"transports": {"bridge": {"kind": "rosbridge", "port": port}}}).build()
    assert isinstance(ros, RosInterface)
    with skerry.load("sam_in_the_bay") as world, Runner(world, 2.0, {"ros": ros}) as runner:
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        yield ros
        runner.stop()
        thread.join(30)


def test_roslibpy_sees_and_commands_sam_and_is_asked(simulation: RosInterface, port: int) -> None:
    arguments = [sys.executable, "-c", CLIENT, str(port)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(arguments, text=True, **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout is not None
        told = process.stdout.readline()
        if told:
            codec = Codec(Vocabulary())
            client = simulation.bus.client("/theirs", "std_srvs/SetBool")
            answer = client.call(codec.make("std_srvs/srv/SetBool_Request", data=True)).result(30)
            assert (answer.success, answer.message) == (True, "from roslibpy")
            assert "1 clients" in simulation.status
        _, errors = process.communicate("\n", timeout=60)
    assert process.returncode == 0, errors
    assert told == "offered\n", errors


def test_a_port_that_is_taken_is_told(port: int) -> None:
    ros = Ros.model_validate({"transports": {"bridge": {"kind": "rosbridge", "port": port}}}).build()
    with (
        socket.create_server(("127.0.0.1", port)),
        skerry.load("sam_empty") as world,
        Runner(world, None, {"ros": ros}) as runner,
        pytest.raises(SkerryError, match="another `port`"),
    ):
        runner.run(0.1)


def test_it_may_be_closed_before_anybody_came(port: int) -> None:
    server = Rosbridge(port=port).build()
    server.close()
    server.close()
