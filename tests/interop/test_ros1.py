"""A real ROS 1: Debian's master, rospy and actionlib, over the endpoint's protocol.

No package contains the endpoint, so a fake endpoint, which implements its protocol, is used.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import skerry
from skerry.interfaces import ros
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import Bus
from skerry.runner import Runner

PYTHON, FOLDER = "/usr/bin/python3", Path(__file__).parent / "ros1"
PACKAGES = "python3-rosmaster python3-rospy python3-actionlib python3-sensor-msgs python3-std-srvs python3-tf2-msgs"
NEEDED = "import rosmaster, rospy, actionlib, sensor_msgs.msg, std_srvs.srv, tf2_msgs.msg, rosgraph_msgs.msg"
ACTION = "smarc_msgs/msg/GotoWaypointAction"
OWN = ("smarc_msgs", "sam_msgs", "geographic_msgs", "smarc_mission_msgs")


def is_installed() -> bool:
    if not Path(PYTHON).exists() or shutil.which("rosmaster") is None:
        return False
    return subprocess.run([PYTHON, "-c", NEEDED], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not is_installed(), reason=f"needs ROS 1 of Debian: apt-get install {PACKAGES}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def wait_for(port: int) -> None:
    """Wait until a server listens on the port."""
    end = time.monotonic() + 60.0
    while True:
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            return
        assert time.monotonic() < end, "nobody listens"
        time.sleep(0.1)


def definitions_of(bus: Bus) -> dict[str, str]:
    """The definitions of all messages that ROS 1 of Debian lacks, as ROS 1 writes them."""
    types = {topic.type for topic in bus.topics.values()} | {heard[0].type for heard in bus.subscriptions.values()}
    store = bus.codec._store

    def text(name: str) -> str:
        assert bus.codec.make(name) is not None  # which makes it known
        return store.generate_msgdef(name, ros_version=1)[0]

    def beside(name: str, fields: str) -> str:
        return f"\n{'=' * 80}\nMSG: {name}\n{fields}"

    found = {name: text(name) for name in types if name.startswith(OWN) and "/msg/" in name and ACTION not in name}
    # of an action, as actionlib makes them of its file
    file = ros.__path__[0] + "/messages/definitions/smarc_msgs/action/GotoWaypoint.action"
    parts = Path(file).read_text(encoding="utf-8").replace("builtin_interfaces/Time", "time").split("\n---\n")
    ids = beside("std_msgs/Header", text("std_msgs/msg/Header")) + beside(
        "actionlib_msgs/GoalID", "time stamp\nstring id"
    )
    status = beside("actionlib_msgs/GoalStatus", "actionlib_msgs/GoalID goal_id\nuint8 status\nstring text")
    pose = beside("geometry_msgs/PoseStamped", text("geometry_msgs/msg/PoseStamped"))
    for word, fields in zip(("Goal", "Result", "Feedback"), parts, strict=True):
        state = "actionlib_msgs/GoalID goal_id" if word == "Goal" else "actionlib_msgs/GoalStatus status"
        whole = f"std_msgs/Header header\n{state}\nsmarc_msgs/GotoWaypoint{word} {word.lower()}"
        found[f"{ACTION}{word}"] = whole + beside(f"smarc_msgs/GotoWaypoint{word}", fields) + ids + status + pose
    header = "MSG: std_msgs/Header\n"  # which has a number in ROS 1
    return {name.replace("/msg/", "/"): t.replace(header, f"{header}uint32 seq\n") for name, t in found.items()}


def test_a_user_of_ros_1_hears_commands_calls_and_sends_sam_to_a_waypoint(tmp_path: Path) -> None:
    port, master = free_port(), free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ROS", "PYTHON"))}
    environment |= {"ROS_MASTER_URI": f"http://127.0.0.1:{master}", "ROS_IP": "127.0.0.1", "ROS_HOME": str(tmp_path)}
    interface = Ros(
        profile="smarc-interface", distribution="noetic", transports={"endpoint": {"kind": "endpoint", "port": port}}
    ).build()
    assert isinstance(interface, RosInterface)
    scenario = {
        "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
        "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}},
    }
    definitions, log = tmp_path / "definitions.json", tmp_path / "told.txt"
    with log.open("w") as told, skerry.load(scenario) as world, Runner(world, 1.0, {"ros": interface}) as runner:
        runner.run(0.0)
        definitions.write_text(json.dumps(definitions_of(interface.bus)), encoding="utf-8")
        quiet: dict[str, Any] = {"env": environment, "stdout": told, "stderr": told}
        programs = [subprocess.Popen(["rosmaster", "--core", "-p", str(master)], **quiet)]
        wait_for(master)
        fake_endpoint = [PYTHON, str(FOLDER / "fake_endpoint.py"), str(port), str(definitions)]
        programs.append(subprocess.Popen(fake_endpoint, **quiet))
        client = subprocess.Popen(
            [PYTHON, str(FOLDER / "client.py"), str(definitions)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

        def wait() -> None:
            try:
                said.append(client.communicate(timeout=200)[0])
            finally:
                runner.stop()

        said: list[str] = []
        waiting = threading.Thread(target=wait)
        waiting.start()
        try:
            runner.run(240.0)
            waiting.join()
        finally:
            for program in (client, *programs):
                program.kill()
                program.wait()
    assert "peer is content" in said[0], said[0] + log.read_text(encoding="utf-8")
