"""A real ROS 1: Debian's master, rospy, actionlib and tools, over ROS 1's own wire, with nothing between."""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xmlrpc.client import ServerProxy

import pytest

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import LATCHED, Bus
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.runner import Runner
from skerry_ros1.protocol import read_header, write_header
from skerry_ros1.transport import Tcpros, TcprosNode
from skerry_ros1.types import Ros1Types

PYTHON, FOLDER = "/usr/bin/python3", Path(__file__).parent
SHARED = FOLDER.parents[3] / "tests" / "interop" / "ros1"  # programs that the tests of the endpoint use too
PACKAGES = "python3-rosmaster python3-rospy python3-actionlib python3-sensor-msgs python3-std-srvs python3-tf2-msgs"
NEEDED = "import rosmaster, rospy, actionlib, sensor_msgs.msg, std_srvs.srv, tf2_msgs.msg, rosgraph_msgs.msg"
TOOLS = "python3-rostopic python3-rosnode python3-rosservice"
RELAY = "/usr/lib/topic_tools/relay"
CODEC = Codec(TypeStore(distribution="noetic"))


def is_installed() -> bool:
    if not Path(PYTHON).exists() or shutil.which("rosmaster") is None:
        return False
    return subprocess.run([PYTHON, "-c", NEEDED], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(not is_installed(), reason=f"needs ROS 1 of Debian: apt-get install {PACKAGES}")


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until the condition holds."""
    end = time.monotonic() + 20.0
    while not (found := condition()):
        assert time.monotonic() < end, what
        time.sleep(0.02)
    return found


class Graph:
    """A master, and what its peers have in their environment."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.port = int(server.getsockname()[1])
        self.uri = f"http://127.0.0.1:{self.port}"
        self.environment = {name: text for name, text in os.environ.items() if not name.startswith(("ROS", "PYTHON"))}
        self.environment |= {"ROS_MASTER_URI": self.uri, "ROS_IP": "127.0.0.1", "ROS_HOME": str(folder)}
        self.environment["PYTHONUNBUFFERED"] = "1"
        self.folder = folder

    def start(self) -> None:
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self._master = subprocess.Popen(["rosmaster", "--core", "-p", str(self.port)], env=self.environment, **quiet)
        until(self.is_up, "the master does not come")

    def is_up(self) -> bool:
        try:
            return bool(self.ask("getPid")[0] == 1)
        except OSError:
            return False

    def stop(self) -> None:
        self._master.kill()
        self._master.wait()

    def ask(self, method: str, *arguments: Any) -> Any:
        with ServerProxy(self.uri) as master:
            return getattr(master, method)("/test", *arguments)

    def knows(self, node: str = "/skerry") -> set[str]:
        """Topics and services of a node."""
        state = self.ask("getSystemState")[2]
        return {name for group in state for name, nodes in group if node in nodes}

    @contextmanager
    def program(self, *command: str) -> Iterator[subprocess.Popen[str]]:
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        with subprocess.Popen(command, env=self.environment, **pipes) as started:
            try:
                yield started
            finally:
                started.kill()

    def run(self, *command: str) -> str:
        """Return the output of a program."""
        with self.program(*command) as started:
            return started.communicate(timeout=30)[0]


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    made = Graph(tmp_path_factory.mktemp("ros1"))
    made.start()
    yield made
    made.stop()


def pause(request: Any) -> Any:
    if not request.data:
        raise SkerryError("it never goes on")
    return CODEC.make("std_srvs/srv/SetBool_Response", success=True, message="as you wish")


class Node:
    """A bus with little on it, and a node that carries it."""

    def __init__(self, graph: Graph) -> None:
        self.bus = bus = Bus(CODEC)
        self.imu = bus.advertise("/imu", "sensor_msgs/Imu")
        bus.advertise("/mistaken", "sensor_msgs/Imu")
        still = bus.advertise("/still", "std_msgs/String", LATCHED)
        still.publish(CODEC.make("std_msgs/String", data="said before you came"))
        self.over = bus.advertise("/over", "std_msgs/Empty", LATCHED)
        self.heard: list[float] = []
        bus.subscribe("/command", "std_msgs/Float64", lambda message: self.heard.append(message.data))
        bus.subscribe("/strange", "std_msgs/Float64", lambda message: self.heard.append(message.data))
        bus.add_service("/pause", "std_srvs/SetBool", pause)
        bus.parameters |= {"/utm_zone": 33, "/utm_band": "V", "/sam/max_pitch": 0.5}
        self.graph = graph
        self.transport: TcprosNode = Tcpros(master=graph.uri, retry_period=0.2).build()

    def __enter__(self) -> Node:
        self.transport.start(self.bus)
        until(lambda: "/pause" in self.graph.knows(), "the master does not hear of us")
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._say_on)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()
        self.transport.close()
        self.transport.close()

    def _say_on(self) -> None:
        message = CODEC.make("sensor_msgs/Imu", header={"frame_id": "imu_link"})
        while not self._over.wait(0.02):
            if self.imu.has_subscribers:
                self.imu.publish(message)

    @property
    def address(self) -> tuple[str, int]:
        """Address of the topics and services."""
        with ServerProxy(self.graph.ask("lookupNode", "/skerry")[2]) as slave:
            _, host, port = slave.requestTopic("/test", "/imu", [["TCPROS"]])[2]  # type: ignore[index,misc]
        return str(host), int(port)  # type: ignore[arg-type]


@pytest.fixture
def node(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    monkeypatch.delenv("ROS_IP", raising=False)
    with Node(graph) as made:
        yield made


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


# ------------------------------------------------------------------------------------------------ peers


def test_rospy_hears_commands_calls_and_is_called(graph: Graph, node: Node, caplog: pytest.LogCaptureFixture) -> None:
    trigger = CODEC.make("std_srvs/srv/Trigger_Request")
    clients = {
        name: node.bus.service_client(f"/{name}", "std_srvs/Trigger") for name in ("theirs", "failing", "mistyped")
    }
    nobody = node.bus.service_client("/nobody", "std_srvs/Trigger")
    with graph.program(PYTHON, str(FOLDER / "peer.py")) as peer:
        assert peer.stdout is not None
        said = ""
        while (line := peer.stdout.readline()) and line != "ready\n":
            said += line
        assert line == "ready\n", said
        until(lambda: node.heard == [2.5], "the command, which was said before we came, is not heard")
        until(lambda: all(client.routes for client in (*clients.values(), nobody)), "calls are not carried")
        assert clients["theirs"].call(trigger).result(10).message == "from rospy"
        with pytest.raises(SkerryError, match=r"/failing: .*not today"):
            clients["failing"].call(trigger).result(10)
        with pytest.raises(SkerryError, match=r"/mistyped: .*md5"):
            clients["mistyped"].call(trigger).result(10)
        with pytest.raises(SkerryError, match="/nobody: lookupService: no provider"):
            nobody.call(trigger).result(10)
        assert "1 publishers" in node.transport.status
        node.over.publish(CODEC.make("std_msgs/Empty"))
        assert "peer is content" in peer.communicate(timeout=20)[0]
    told = warnings_in(caplog)
    assert sum("/mistaken has the type sensor_msgs/Imu with MD5 sum" in text for text in told) == 1
    assert sum(text.startswith("/strange from http://127.0.0.1:") for text in told) == 1
    until(lambda: not node.imu.has_subscribers, "who has gone takes messages")
    assert not node.bus.topics["/imu"].subscribers


@pytest.mark.skipif(shutil.which("rosnode") is None, reason=f"needs tools of ROS 1: apt-get install {TOOLS}")
def test_the_tools_show_all_and_may_end_the_node(graph: Graph, node: Node, caplog: pytest.LogCaptureFixture) -> None:
    assert {"/imu", "/still", "/command"} <= set(graph.run("rostopic", "list").split())
    assert " * /skerry (http://127.0.0.1:" in graph.run("rostopic", "info", "/imu")
    assert 'frame_id: "imu_link"' in graph.run("rostopic", "echo", "-n", "1", "/imu")
    assert "said before you came" in graph.run("rostopic", "echo", "-n", "1", "/still")
    assert "as you wish" in graph.run("rosservice", "call", "/pause", "true")
    assert "it never goes on" in graph.run("rosservice", "call", "/pause", "false")
    assert "xmlrpc reply from" in graph.run("rosnode", "ping", "-c", "1", "/skerry")
    with graph.program("rostopic", "hz", "--wall-time", "/imu") as rate:
        assert rate.stdout is not None
        lines = iter(rate.stdout.readline, "")
        assert any("average rate: " in line for line in lines)
        shown = graph.run("rosnode", "info", "/skerry")
        assert " * /imu [sensor_msgs/Imu]" in shown
        assert " * /command [" in shown
        assert " * topic: /imu\n    * to: /rostopic_" in shown
        assert "* direction: outbound (" in shown
        assert "1 subscribers" in node.transport.status
    assert "killed" in graph.run("rosnode", "kill", "/skerry")
    until(lambda: not graph.knows(), "it is still in the lists")
    assert "has left" in node.transport.status
    assert sum("has left the graph of the ROS master" in text for text in warnings_in(caplog)) == 1
    node.bus.topics["/imu"].publish(CODEC.make("sensor_msgs/Imu"))  # the world goes on


@pytest.mark.skipif(not Path(RELAY).exists(), reason="needs a node of roscpp: apt-get install topic-tools")
def test_roscpp_hears_us_and_we_hear_it_with_whatever_master(graph: Graph, node: Node) -> None:
    source = node.bus.advertise("/source", "std_msgs/Float64")
    node.transport.refresh()
    with graph.program(RELAY, "/source", "/command"):
        until(lambda: source.has_subscribers, "it does not subscribe")
        source.publish(CODEC.make("std_msgs/Float64", data=1.5))  # before it has advertised what it relays
        until(lambda: "1 publishers" in node.transport.status, "we do not subscribe")
        source.publish(CODEC.make("std_msgs/Float64", data=2.5))
        until(lambda: node.heard[-1:] == [2.5], "it is not relayed")
        graph.stop()  # roscpp does not register again, and what is connected stays
        graph.start()
        until(lambda: "/pause" in graph.knows(), "the master does not hear of us again")
        source.publish(CODEC.make("std_msgs/Float64", data=3.5))
        until(lambda: node.heard[-1:] == [3.5], "it is not relayed any more")
    until(lambda: not source.has_subscribers, "who has gone takes messages")


def test_a_master_that_is_restarted_finds_us_again(graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skerry")
    with Node(graph) as node:
        graph.stop()
        until(lambda: "waiting for" in node.transport.status, "it does not see that the master is gone")
        time.sleep(0.5)  # some attempts
        graph.start()
        until(lambda: "/pause" in graph.knows(), "the master does not hear of us again")
        assert graph.ask("getParam", "/utm_zone")[2] == 33
        until(lambda: "waiting for" not in node.transport.status, "it waits")
    assert not graph.knows()  # as it has been closed
    told = [text for record in caplog.records if (text := record.getMessage()).startswith("ROS master at ")]
    assert [text.endswith("retrying") for text in told] == [False, True, False], told


def test_of_two_of_one_name_the_first_leaves_and_the_second_stays(graph: Graph, node: Node) -> None:
    with Node(graph) as second:
        until(lambda: "has left" in node.transport.status, "the first stays")
        until(lambda: "waiting for" not in second.transport.status, "the second does not come")
        node.transport.close()
        assert {"/imu", "/command", "/pause"} <= graph.knows()
        assert second.address[0] == "127.0.0.1"


def subscribe(node: Node, topic: str) -> socket.socket:
    opened = socket.create_connection(node.address, timeout=10)
    opened.sendall(write_header({"callerid": "/test", "topic": topic, "md5sum": "*", "type": "*"}))
    return opened


def test_who_takes_nothing_holds_up_nobody(graph: Graph, node: Node) -> None:
    large = node.bus.advertise("/large", "std_msgs/String")
    node.transport.refresh()
    until(lambda: "/large" in graph.knows(), "the master is not told of a new topic")
    message = CODEC.make("std_msgs/String", data="x" * 10**6)
    with subscribe(node, "/large"), subscribe(node, "/imu") as other:
        until(lambda: large.has_subscribers and node.imu.has_subscribers, "nobody takes it")
        begun = time.monotonic()
        for _ in range(300):
            large.publish(message)
        assert time.monotonic() - begun < 2.0
        until(lambda: "dropped" in node.transport.status, "nothing is dropped")
        for _ in range(20):
            length = struct.unpack("<I", other.recv(4, socket.MSG_WAITALL))[0]
            assert len(other.recv(length, socket.MSG_WAITALL)) == length
    until(lambda: not large.has_subscribers, "who has gone takes messages")


def test_peers_that_speak_nonsense_are_dropped_and_others_served(
    graph: Graph, node: Node, caplog: pytest.LogCaptureFixture
) -> None:
    slave = graph.ask("lookupNode", "/skerry")[2]
    asked = ("127.0.0.1", int(slave.rstrip("/").rpartition(":")[2]))
    for where in (node.address, asked):
        for junk in (b"\xff\xff\xff\x7f", b"\x04\0\0\0\xff\xfe\xfd\xfc", b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 70000):
            for _ in range(3):
                with socket.create_connection(where, timeout=10) as opened:
                    opened.sendall(junk)
                    opened.shutdown(socket.SHUT_WR)
                    try:
                        while opened.recv(4096):
                            pass
                    except ConnectionResetError:
                        pass
    told = warnings_in(caplog)
    assert told and len(told) == len(set(told))
    with subscribe(node, "/imu") as opened:
        length = struct.unpack("<I", opened.recv(4, socket.MSG_WAITALL))[0]
        assert read_header(opened.recv(length, socket.MSG_WAITALL))["type"] == "sensor_msgs/Imu"
    with subscribe(node, "/other") as opened:
        length = struct.unpack("<I", opened.recv(4, socket.MSG_WAITALL))[0]
        assert read_header(opened.recv(length, socket.MSG_WAITALL)) == {"error": "/skerry does not publish '/other'"}


# ------------------------------------------------------------------------------------------------ a world


def test_a_user_of_ros_1_hears_commands_calls_and_sends_sam_to_a_waypoint(graph: Graph) -> None:
    transports = {"tcpros": {"kind": "tcpros", "master": graph.uri}}
    interface = Ros(profile="smarc-interface", distribution="noetic", transports=transports).build()
    assert isinstance(interface, RosInterface)
    scenario = {
        "reference": {"latitude_deg": 58.823332, "longitude_deg": 17.635227},
        "robots": {"sam": {"vehicle": "sam", "pose": {"position": [0, 0, -2]}}},
    }
    definitions, said = graph.folder / "definitions.json", []
    with skerry.load(scenario) as world, Runner(world, 2.0, {"ros": interface}) as runner:
        runner.run(0.0)
        bus = interface.bus
        types = Ros1Types(bus.codec.type_store)
        names = {topic.type for topic in bus.topics.values()} | {heard[0].type for heard in bus.subscriptions.values()}
        texts = {name.replace("/msg/", "/"): types.definition(name) for name in names if "/msg/" in name}
        definitions.write_text(json.dumps(texts), encoding="utf-8")

        def wait() -> None:
            try:
                said.append(client.communicate(timeout=100)[0])
            finally:
                runner.stop()

        with graph.program(PYTHON, str(SHARED / "client.py"), str(definitions)) as client:
            waiting = threading.Thread(target=wait)
            waiting.start()
            runner.run(240.0)
            waiting.join()
    assert "peer is content" in said[0], said[0]
    assert not graph.knows()
