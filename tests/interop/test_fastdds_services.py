"""Services and parameters over DDS with rclpy on rmw_fastrtps_cpp, the default of ROS 2.

SKERRY_ROS2_PYTHON names the interpreter of an environment with rclpy; by default it is build/ros2/bin/python.
"""

from __future__ import annotations

import os
import subprocess
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

PYTHON = Path(os.environ.get("SKERRY_ROS2_PYTHON") or Path(__file__).parents[2] / "build/ros2/bin/python")
DOMAIN = 20 + (os.getpid() + 50) % 200  # differs between runs at the same time
SCENARIO = {
    "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
    "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}},
}

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason=f"needs Python with rclpy at {PYTHON}; SKERRY_ROS2_PYTHON names another one"
)

PEER = """
import time
import rclpy
from rclpy.node import Node
from rclpy.parameter_client import AsyncParameterClient
from std_srvs.srv import SetBool

rclpy.init()
node = Node("peer")
opened = []

def on_open(request, response):
    opened.append(request.data)
    response.success, response.message = request.data, "docked"
    return response

def wait(future):
    rclpy.spin_until_future_complete(node, future, timeout_sec=20)
    assert future.done(), "no response"
    return future.result()

node.create_service(SetBool, "/dock/open", on_open)
pause = node.create_client(SetBool, "/skerry/pause")
assert pause.wait_for_service(30)
for paused in (True, False):
    assert wait(pause.call_async(SetBool.Request(data=paused))).success

parameters = AsyncParameterClient(node, "/skerry")
assert parameters.wait_for_services(20)
names = wait(parameters.list_parameters()).result.names
assert "utm_zone" in names, names
assert wait(parameters.get_parameters(["utm_zone"])).values[0].integer_value == 33
assert list(wait(parameters.get_parameter_types(["utm_zone"])).types) == [2]
assert wait(parameters.describe_parameters(["utm_zone"])).descriptors[0].read_only
refused = wait(parameters.set_parameters([rclpy.Parameter("utm_zone", value=1)])).results[0]
assert not refused.successful and "read-only" in refused.reason, refused

end = time.monotonic() + 20
services = []
while "/skerry/pause" not in services and time.monotonic() < end:
    services = [name for name, _ in node.get_service_names_and_types_by_node("skerry", "/")]
    rclpy.spin_once(node, timeout_sec=0.1)
assert {"/skerry/pause", "/skerry/list_parameters"} <= set(services), services
while not opened and time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
assert opened, "the service was not called"
end = time.monotonic() + 2
while time.monotonic() < end:
    rclpy.spin_once(node, timeout_sec=0.1)
print("peer is content")
"""


def test_a_node_on_fast_dds_calls_services_reads_parameters_and_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CYCLONEDDS_URI", raising=False)
    monkeypatch.delenv("ROS_DISTRO", raising=False)
    settings = Ros(transports={"dds": {"kind": "dds", "domain": DOMAIN}})
    assert settings.distribution == "jazzy"
    ros = settings.build()
    assert isinstance(ros, RosInterface)
    client = ros.bus.service_client("/dock/open", "std_srvs/SetBool")
    answers: list[Message] = []
    over = threading.Event()

    def keep_calling() -> None:  # until the peer has the service
        while not over.wait(0.5):
            if client.routes and not answers:
                request = ros.bus.codec.make("std_srvs/srv/SetBool_Request", data=True)
                client.call(request).add_done_callback(lambda done: done.exception() or answers.append(done.result()))

    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RMW_IMPLEMENTATION")
    }
    environment |= {"ROS_DOMAIN_ID": str(DOMAIN), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    with TemporaryFile("w+") as output, skerry.load(SCENARIO) as world, Runner(world, 1.0, {"ros": ros}) as runner:
        peer = subprocess.Popen(
            [str(PYTHON), "-c", PEER], stdout=output, stderr=subprocess.STDOUT, text=True, env=environment
        )

        def wait() -> None:
            peer.wait(timeout=120)
            over.set()
            runner.stop()

        threads = [threading.Thread(target=target) for target in (wait, keep_calling)]
        for thread in threads:
            thread.start()
        runner.run(150.0)
        for thread in threads:
            thread.join()
        output.seek(0)
        text = output.read()
    assert "peer is content" in text, text
    assert answers
    assert (answers[0].success, answers[0].message) == (True, "docked")
