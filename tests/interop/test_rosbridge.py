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
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.transports.rosbridge import Rosbridge
from skerry.runner import Runner

pytest.importorskip("roslibpy")

# In a process of its own, as its reactor can be started only once.
CLIENT = """
import sys, threading, time
import roslibpy

ros = roslibpy.Ros("127.0.0.1", int(sys.argv[1]))
ros.run(timeout=120)
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
assert pause.call(roslibpy.ServiceRequest({"data": True}), timeout=120)["success"] is True
assert pause.call(roslibpy.ServiceRequest({"data": False}), timeout=120)["success"] is True

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


# The SMaRC AUV interface, as a mission would use it.
PILOT = """
import math, sys, threading
import roslibpy

ros = roslibpy.Ros("127.0.0.1", int(sys.argv[1]))
ros.run(timeout=120)

def call(name, kind, **values):
    service = roslibpy.Service(ros, name, kind)
    return service.call(roslibpy.ServiceRequest(values), timeout=120)

def switch(name, on):
    return call(name, "std_srvs/SetBool", data=on)

def wait_for(topic, kind, fits, say=None):
    found, seen = threading.Event(), []
    def listen(message):
        seen.append(message)
        if fits(message):
            found.set()
    listener = roslibpy.Topic(ros, topic, kind)
    listener.subscribe(listen)
    for _ in range(400):
        if say is not None:
            say()
        if found.wait(0.1):
            break
    listener.unsubscribe()
    assert found.is_set(), (topic, seen[-1:])
    return seen[-1]

assert ros.get_param("/sam/max_dive_depth") == 15.0
yaw = roslibpy.Topic(ros, "/sam/ctrl/yaw_setpoint", "std_msgs/Float64")
assert switch("/sam/ctrl/toggle_heading_ctrl", True)["success"]
status = "/sam/ctrl/yaw_controller_status"
wait_for(status, "smarc_msgs/ControllerStatus", lambda m: "waiting" in m["diagnostics_message"])
say_yaw = lambda: yaw.publish(roslibpy.Message({"data": 0.5}))
wait_for(status, "smarc_msgs/ControllerStatus", lambda m: m["control_status"] == 1, say_yaw)
assert switch("/sam/ctrl/toggle_depth_ctrl", True)["success"]
refused = switch("/sam/ctrl/toggle_altitude_ctrl", True)
assert not refused["success"] and "not both" in refused["message"], refused

assert switch("/sam/core/toggle_dvl", False)["success"]
wait_for("/sam/core/dvl_status", "smarc_msgs/SensorStatus", lambda m: m["sensor_status"] == 0)

odom = wait_for("/sam/dr/odom", "nav_msgs/Odometry", lambda m: m["pose"]["covariance"][0] > 0)
assert odom["header"]["frame_id"] == "sam/odom"
place = wait_for("/sam/dr/lat_lon", "geographic_msgs/GeoPoint", lambda m: m["latitude"] > 58)
utm = call("/sam/dr/lat_lon_to_utm", "smarc_msgs/LatLonToUTM", lat_lon_point=place)["utm_point"]
back = call("/sam/dr/utm_to_lat_lon", "smarc_msgs/UTMToLatLon", utm_point=utm)["lat_lon_point"]
assert abs(back["latitude"] - place["latitude"]) < 1e-9, (back, place)

frames = roslibpy.Topic(ros, "/tf", "tf2_msgs/TFMessage")
frames.advertise()
pose = {"translation": {"x": 1.0, "y": 2.0, "z": 3.0}, "rotation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}}
frame = {"header": {"frame_id": "map"}, "child_frame_id": "theirs", "transform": pose}
frames.publish(roslibpy.Message({"transforms": [frame]}))

abort = roslibpy.Topic(ros, "/sam/core/abort", "std_msgs/Empty")
abort.publish(roslibpy.Message({}))
wait_for(status, "smarc_msgs/ControllerStatus", lambda m: m["control_status"] == 2)
assert not switch("/sam/ctrl/toggle_speed_ctrl", True)["success"]
wait_for("/sam/core/vbs_fb", "smarc_msgs/PercentStamped", lambda m: m["value"] < 0.02)
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
            codec = Codec(TypeStore())
            client = simulation.bus.service_client("/theirs", "std_srvs/SetBool")
            answer = client.call(codec.make("std_srvs/srv/SetBool_Request", data=True)).result(30)
            assert (answer.success, answer.message) == (True, "from roslibpy")
            assert "1 clients" in simulation.status
        _, errors = process.communicate("\n", timeout=300)
    assert process.returncode == 0, errors
    assert told == "offered\n", errors


def test_roslibpy_flies_a_mission_by_the_smarc_auv_interface(port: int) -> None:
    settings = {"profile": "smarc-interface", "transports": {"bridge": {"kind": "rosbridge", "port": port}}}
    ros = Ros.model_validate(settings).build()
    assert isinstance(ros, RosInterface)
    limits = {"controllers": {"autopilot": {"limits": {"depth": 15.0}}}}
    over = {"robots": {"sam": {"overrides": limits}}}
    with skerry.load("sam_in_the_bay", overrides=over) as world, Runner(world, 2.0, {"ros": ros}) as runner:
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        try:
            arguments = [sys.executable, "-c", PILOT, str(port)]
            result = subprocess.run(arguments, capture_output=True, text=True, timeout=600, check=False)
        finally:
            runner.stop()
            thread.join(30)
        assert result.returncode == 0, result.stderr
        assert [frame["name"] for frame in ros.external_frames] == ["theirs"]
        assert world.robots["sam"].controllers["autopilot"].aborted
        assert world.robots["sam"].control == "controller"


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
