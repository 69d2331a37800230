"""Bytes of ROS 1 in ROS 1's own code: the message classes that Debian packages, in Debian's own Python.

No ROS master stands behind it: what it proves is that they read what Skerry writes, byte for byte, and the other way.
"""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from pathlib import Path

import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import SubscriberQueue
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.runner import Runner
from skerry_ros1.types import Ros1Types

PYTHON = "/usr/bin/python3"
PACKAGES = "python3-sensor-msgs python3-nav-msgs python3-tf2-msgs python3-rosgraph-msgs"

READ = """
import base64, importlib, json, sys
from io import BytesIO
for line in sys.stdin:
    said = json.loads(line)
    package, name = said["type"].split("/")
    kind = getattr(importlib.import_module(package + ".msg"), name)
    message, data = kind(), base64.b64decode(said["data"])
    message.deserialize(data)
    again = BytesIO()
    message.serialize(again)
    octets = again.getvalue()
    told = {"same": octets == data, "again": base64.b64encode(octets).decode(), "text": str(message)}
    print(json.dumps(told))
"""


def is_installed() -> bool:
    if not Path(PYTHON).exists():
        return False
    code = "import sensor_msgs.msg, nav_msgs.msg, tf2_msgs.msg, rosgraph_msgs.msg"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not is_installed(), reason=f"needs ROS 1 of Debian: apt-get install {PACKAGES}")

TOPICS = {
    "/clock": "rosgraph_msgs/Clock",
    "/tf": "tf2_msgs/TFMessage",
    "/sam/core/imu": "sensor_msgs/Imu",
    "/sam/core/gps": "sensor_msgs/NavSatFix",
    "/sam/core/battery": "sensor_msgs/BatteryState",
    "/sam/core/depth20_pressure": "sensor_msgs/FluidPressure",
    "/sam/core/odom_gt": "nav_msgs/Odometry",
    "/sam/mbes/map_gt/bathy_points": "sensor_msgs/PointCloud2",
}


def test_the_messages_of_a_run_are_read_by_ros_1_and_come_back() -> None:
    ros = Ros(distribution="noetic").build()
    assert isinstance(ros, RosInterface)
    box = SubscriberQueue()
    with skerry.load("sam_in_the_bay") as world, Runner(world, None, {"ros": ros}) as runner:
        runner.run(0.0)
        ros.bus.set_subscriptions(box, TOPICS)
        runner.run(0.3)
        sent = box.drain(0)
    assert {outgoing.topic.name for outgoing in sent} == TOPICS.keys()
    lines = [
        json.dumps({"type": TOPICS[outgoing.topic.name], "data": b64encode(outgoing.ros1).decode()})
        for outgoing in sent
    ]
    done = subprocess.run([PYTHON, "-c", READ], input="\n".join(lines), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == len(sent)
    codec = ros.bus.codec
    for outgoing, found in zip(sent, told, strict=True):
        assert found["same"], outgoing.topic.name
        message = codec.from_ros1(b64decode(found["again"]), outgoing.topic.type)
        assert codec.to_cdr(message) == outgoing.cdr
        if outgoing.topic.name == "/sam/core/imu":
            assert 'frame_id: "sam/imu_link_gt"' in found["text"]


SUMS = """
import importlib, json, sys
told = {}
for line in sys.stdin:
    package, folder, name = line.strip().split("/")
    try:
        kind = getattr(importlib.import_module(package + "." + folder), name)
    except (ImportError, AttributeError):
        continue
    told[line.strip()] = kind._md5sum
print(json.dumps(told))
"""


def test_every_type_that_debian_has_too_has_the_same_sum() -> None:
    type_store = TypeStore(distribution="noetic")
    types = Ros1Types(type_store)
    names = [*type_store.names("msg"), *type_store.names("srv")]
    done = subprocess.run([PYTHON, "-c", SUMS], input="\n".join(names), capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    assert len(told) > 80
    own = {name: types.md5(name) if "/msg/" in name else types.service_md5(name) for name in told}
    assert own == told
