"""The interface `waraps` with a real mosquitto and a client of its own: levels 1 and 2, faults, a broker restart."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import skerry
from skerry.core.geo import Projection
from skerry.interfaces.waraps import Waraps
from skerry.interfaces.waraps.interface import WarapsInterface
from skerry.runner import Runner

mqtt = pytest.importorskip("paho.mqtt.client", reason="needs the package paho-mqtt")
MOSQUITTO = shutil.which("mosquitto", path="/usr/sbin:/usr/bin")
pytestmark = pytest.mark.skipif(MOSQUITTO is None, reason="needs the Debian package mosquitto")
BASE = "waraps/unit/surface/simulation/otter"


class Peer:
    """Broker, client and a running world with an Otter."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.start_broker()
        self.messages: list[tuple[str, Any]] = []
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        self.client.reconnect_delay_set(1, 1)
        self.client.on_connect = lambda client, *_: client.subscribe("waraps/#")
        self.client.on_message = lambda client, data, it: self.messages.append((it.topic, it.payload))
        self.client.connect_async("127.0.0.1", self.port)
        self.client.loop_start()

    def start_broker(self) -> None:
        assert MOSQUITTO is not None
        self.broker = subprocess.Popen(
            [MOSQUITTO, "-p", str(self.port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def stop_broker(self) -> None:
        self.broker.terminate()
        self.broker.wait(30)

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()
        self.stop_broker()

    def received(self, topic: str) -> list[Any]:
        return [json.loads(payload) for name, payload in list(self.messages) if name == f"{BASE}/{topic}"]

    def send(self, **command: Any) -> None:
        message = {key.replace("_", "-"): value for key, value in command.items()}
        self.client.publish(f"{BASE}/exec/command", json.dumps(message), 1)

    def wait(self, condition: Callable[[], bool]) -> bool:
        pause = threading.Event()
        for _ in range(1200):
            if condition():
                return True
            pause.wait(0.05)
        return False

    def response(self, com_uuid: str) -> Any:
        def found() -> list[Any]:
            return [each for each in self.received("exec/response") if each["response-to"] == com_uuid]

        assert self.wait(lambda: bool(found())), f"no response to {com_uuid}"
        return found()[0]

    def statuses(self, task: str) -> list[str]:
        return [each["status"] for each in self.received("exec/feedback") if each["task-uuid"] == task]

    def until(self, task: str, status: str) -> None:
        assert self.wait(lambda: status in self.statuses(task)), self.statuses(task)


REFERENCE = {"latitude_deg": 58.8, "longitude_deg": 17.6}


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    peer = Peer()
    scenario = {"robots": {"otter": {"vehicle": "otter"}}, "reference": REFERENCE}
    interface = Waraps(port=peer.port).build()
    assert isinstance(interface, WarapsInterface)
    with skerry.load(scenario) as world, Runner(world, 10.0, {"waraps": interface}) as runner:
        projection = Projection(world.scenario.reference)
        peer.point = lambda east, north: dict(  # type: ignore[attr-defined]
            zip(("latitude", "longitude", "altitude"), projection.to_geodetic([east, north, 0.0]).tolist(), strict=True)
        )
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        try:
            assert peer.wait(lambda: bool(peer.received("heartbeat")))
            yield peer
        finally:
            runner.stop()
            thread.join(60.0)
            peer.close()
    assert not thread.is_alive()


def test_level_1_says_what_the_agent_is_and_where_it_is(peer: Peer) -> None:
    topics = ("sensor_info", "direct_execution_info", "sensor/position", "sensor/heading", "sensor/course")
    assert peer.wait(lambda: all(peer.received(topic) for topic in (*topics, "sensor/speed", "sensor/pitch")))
    heartbeat = peer.received("heartbeat")[0]
    assert heartbeat["type"] == "HeartBeat"
    assert heartbeat["levels"] == ["sensor", "direct_execution"]
    assert {"agent-type", "agent-uuid", "name", "rate", "stamp"} <= heartbeat.keys()
    assert "position" in peer.received("sensor_info")[0]["sensor-data-provided"]
    position = peer.received("sensor/position")[0]
    assert position["latitude"] == pytest.approx(58.8, abs=0.01)
    assert position["type"] == "GeoPoint"
    tasks = peer.received("direct_execution_info")[0]["tasks-available"]
    assert [task["name"] for task in tasks] == ["move-to", "move-path", "search-area"]
    assert tasks[0]["signals"] == ["$abort", "$enough", "$pause", "$continue"]


def test_a_ping_is_answered(peer: Peer) -> None:
    peer.send(command="ping", com_uuid="p1", sender="test")
    assert peer.response("p1")["response"] == "pong"


def test_tasks_run_pause_continue_and_end_by_signals(peer: Peer) -> None:
    far = {"waypoint": peer.point(0, 2000), "speed": "fast"}  # type: ignore[attr-defined]
    peer.send(command="start-task", com_uuid="c1", task_uuid="t1", task={"name": "move-to", "params": far})
    assert peer.response("c1")["response"] == "running"
    peer.send(command="start-task", com_uuid="c2", task_uuid="t2", task={"name": "move-to", "params": far})
    assert "already running" in peer.response("c2")["fail-reason"]
    for number, (signal, status) in enumerate((("$pause", "paused"), ("$continue", "resumed"), ("$abort", "aborted"))):
        peer.send(command="signal-task", com_uuid=f"s{number}", task_uuid="t1", signal=signal)
        assert peer.response(f"s{number}")["response"] == "ok"
        peer.until("t1", status)
    peer.send(command="signal-task", com_uuid="s9", task_uuid="t1", signal="$abort")
    assert peer.response("s9")["response"] == "failed"
    area = [peer.point(*corner) for corner in ((0, 0), (500, 0), (500, 500), (0, 500))]  # type: ignore[attr-defined]
    search = {"name": "search-area", "params": {"area": area, "speed": "standard"}}
    peer.send(command="start-task", com_uuid="c3", task_uuid="t3", task=search)
    assert peer.response("c3")["response"] == "running"
    peer.send(command="signal-task", com_uuid="s10", task_uuid="t3", signal="$enough")
    peer.until("t3", "enough")


def test_a_path_is_followed_to_its_end(peer: Peer) -> None:
    start = Projection(skerry.Scenario.model_validate({"reference": REFERENCE}).reference)
    last = peer.received("sensor/position")[-1]
    east, north, _ = start.from_geodetic([last["latitude"], last["longitude"], 0.0]).tolist()
    points = [peer.point(east, north + 40), peer.point(east, north + 80)]  # type: ignore[attr-defined]
    path = {"name": "move-path", "params": {"waypoints": points, "speed": "fast"}}
    peer.send(command="start-task", com_uuid="m1", task_uuid="path", task=path)
    peer.until("path", "finished")
    assert any(min(course, 360.0 - course) < 20.0 for course in peer.received("sensor/course")), "not to the north"


def test_invalid_commands_and_a_restart_of_the_broker_leave_the_world_running(peer: Peer) -> None:
    for payload in (b"{", b"[]", b"\xff", b"7", b'{"command": 3}', b"[" * 100000):
        peer.client.publish(f"{BASE}/exec/command", payload, 1)
    peer.send(command="start-task", com_uuid="b1", task_uuid="b", task={"name": "fly", "params": {}})
    assert "not supported" in peer.response("b1")["fail-reason"]
    peer.send(command="start-task", com_uuid="b2", task_uuid="b", task={"name": "move-to", "params": {"waypoint": 3}})
    assert peer.response("b2")["response"] == "failed"
    peer.send(command="dance", com_uuid="b3")
    assert peer.response("b3")["response"] == "failed"
    for _ in range(2000):
        peer.client.publish(f"{BASE}/exec/command", b"flood", 0)
    peer.stop_broker()
    assert peer.wait(lambda: not peer.client.is_connected())
    count = len(peer.received("heartbeat"))
    peer.start_broker()
    assert peer.wait(lambda: len(peer.received("heartbeat")) > count)

    def is_answered() -> bool:
        peer.send(command="ping", com_uuid="p2")
        return any(each["response-to"] == "p2" for each in peer.received("exec/response"))

    assert peer.wait(is_answered)
