"""The client against an endpoint over a real socket. The endpoint is a small one of our own, written from the protocol
of version 0.7.0, and no ROS stands behind it: what it proves is the bytes and the life of a connection."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

import skerry
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.messages.codec import Codec
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.runner import Runner

CODEC = Codec(TypeStore())
PATIENCE = 120.0  # s to wait for what must come


class FakeEndpoint:
    """Fake endpoint of ROS 2 or ROS 1 with one client at a time, whose frames it stores."""

    def __init__(self, ros2: bool, port: int = 0) -> None:
        self.ros2 = ros2
        self.frames: list[tuple[str, bytes]] = []
        self.empty = 0
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = self._listener.getsockname()[1]
        self._client: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            while True:
                client, _ = self._listener.accept()
                self._client = client
                metadata = json.dumps({"protocol": "ROS2" if self.ros2 else "ROS1"})
                with client, suppress(OSError, EOFError):
                    self.send("__handshake", json.dumps({"version": "v0.7.0", "metadata": metadata}).encode())
                    self._read(client)
        except OSError:
            pass

    def _read(self, client: socket.socket) -> None:
        def take(count: int) -> bytes:
            data = b""
            while len(data) < count:
                piece = client.recv(count - len(data))
                if not piece:
                    raise EOFError
                data += piece
            return data

        while True:
            name = take(struct.unpack("<I", take(4))[0])
            payload = take(struct.unpack("<I", take(4))[0])
            if not name and not payload:
                self.empty += 1
                continue
            if self.ros2:  # as the endpoint does: names lose their NUL, and JSON its last byte, whatever it is
                name = name.rstrip(b"\x00")
                payload = payload[:-1] if name.startswith(b"__") else payload
            self.frames.append((name.decode(), payload))

    def send(self, name: str, payload: bytes) -> None:
        assert self._client is not None
        text = name.encode()
        self._client.sendall(struct.pack("<I", len(text)) + text + struct.pack("<I", len(payload)) + payload)

    def announced(self, word: str) -> dict[str, str]:
        found = [json.loads(payload) for name, payload in list(self.frames) if name == word]
        return {item["topic"]: item["message_name"] for item in found}

    def messages(self, topic: str) -> list[bytes]:
        return [payload for name, payload in list(self.frames) if name == topic]

    def drop(self) -> None:
        """Let the client go, and forget what it sent."""
        assert self._client is not None
        self._client.shutdown(socket.SHUT_RDWR)
        self.frames = []

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(PATIENCE)


class Simulation:
    """SAM with a client, running in a thread."""

    def __init__(self, port: int, **settings: Any) -> None:
        transport = {"kind": "endpoint", "port": port, "retry_period": 0.05, **settings}
        self.world = skerry.load("sam_in_the_bay")
        built = Ros.model_validate({"transports": {"endpoint": transport}}).build()
        assert isinstance(built, RosInterface)
        self.ros = built
        self.runner = Runner(self.world, 5.0, {"ros": built})
        self.thread = threading.Thread(target=self.runner.run, args=(None,), daemon=True)

    def close(self) -> None:
        self.runner.stop()
        self.thread.join(PATIENCE)
        self.runner.close()
        self.world.close()
        assert not self.thread.is_alive()


def wait_for(what: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.01)
    pytest.fail("it did not come")


@pytest.fixture(params=[True, False], ids=["ros2", "ros1"])
def both(request: pytest.FixtureRequest) -> Iterator[tuple[FakeEndpoint, Simulation]]:
    endpoint = FakeEndpoint(request.param)
    simulation = Simulation(endpoint.port)
    simulation.ros.bus.service_client("/theirs", "std_srvs/Trigger")
    simulation.thread.start()
    yield endpoint, simulation
    simulation.close()
    endpoint.close()


def encode(endpoint: FakeEndpoint, type_name: str, **values: Any) -> bytes:
    message = CODEC.make(type_name, **values)
    return CODEC.to_cdr(message) if endpoint.ros2 else CODEC.to_ros1(message)


def decode(endpoint: FakeEndpoint, type_name: str, data: bytes) -> Any:
    return CODEC.from_cdr(data, type_name) if endpoint.ros2 else CODEC.from_ros1(data, type_name)


def test_a_fake_endpoint_gets_topics_and_commands_sam(both: tuple[FakeEndpoint, Simulation]) -> None:
    endpoint, simulation = both
    wait_for(lambda: len(endpoint.messages("/sam/core/imu")) > 5 and endpoint.messages("/tf_static"))
    assert endpoint.announced("__publish")["/sam/core/imu"] == "sensor_msgs/Imu"
    assert endpoint.announced("__subscribe")["/sam/core/thruster1_cmd"] == "smarc_msgs/ThrusterRPM"
    assert endpoint.announced("__unity_service")["/skerry/pause"] == "std_srvs/SetBool"
    imu = decode(endpoint, "sensor_msgs/Imu", endpoint.messages("/sam/core/imu")[-1])
    assert imu.header.frame_id == "sam/imu_link_gt"
    assert not endpoint.messages("/sam/payload/cam_front/image_raw")
    thruster = simulation.world.robots["sam"].actuators["thruster1"]

    def is_heard() -> bool:
        endpoint.send("/sam/core/thruster1_cmd", encode(endpoint, "smarc_msgs/ThrusterRPM", rpm=321))
        return bool(thruster.setpoint == 321)

    wait_for(is_heard)
    assert "ROS 2" in simulation.ros.status if endpoint.ros2 else "ROS 1" in simulation.ros.status


def test_services_work_both_ways(both: tuple[FakeEndpoint, Simulation]) -> None:
    endpoint, simulation = both
    wait_for(lambda: endpoint.messages("/sam/core/imu"))
    assert endpoint.announced("__ros_service") == {"/theirs": "std_srvs/Trigger"}
    endpoint.send("__request", b'{"srv_id": 9}')
    endpoint.send("/skerry/pause", encode(endpoint, "std_srvs/srv/SetBool_Request", data=True))
    (body,) = wait_for(lambda: endpoint.messages("/skerry/pause"))
    assert decode(endpoint, "std_srvs/srv/SetBool_Response", body).success
    assert [json.loads(payload) for name, payload in endpoint.frames if name == "__response"] == [{"srv_id": 9}]
    assert simulation.runner.paused
    client = simulation.ros.bus.clients["/theirs"]
    promise = client.call(CODEC.make("std_srvs/srv/Trigger_Request"))
    wait_for(lambda: endpoint.messages("/theirs"))
    number = next(payload for name, payload in endpoint.frames if name == "__request")
    endpoint.send("__response", number)
    endpoint.send("/theirs", encode(endpoint, "std_srvs/srv/Trigger_Response", success=True, message="here"))
    assert promise.result(PATIENCE).message == "here"


def test_after_a_break_all_is_announced_anew(both: tuple[FakeEndpoint, Simulation]) -> None:
    endpoint, _ = both
    wait_for(lambda: endpoint.messages("/sam/core/imu"))
    endpoint.drop()
    wait_for(lambda: endpoint.announced("__subscribe") and endpoint.messages("/sam/core/imu"))
    assert endpoint.announced("__publish")["/sam/core/imu"] == "sensor_msgs/Imu"
    endpoint.send("/sam/core/thruster1_cmd", b"\xff" * 3)  # no such message: the client gives up, and comes again
    endpoint.frames = []
    wait_for(lambda: endpoint.announced("__subscribe"))


def test_the_simulation_runs_before_there_is_an_endpoint_and_finds_it_later() -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    simulation = Simulation(port)
    simulation.thread.start()
    wait_for(lambda: simulation.world.time > 0.5)
    assert "connecting to" in simulation.ros.status
    assert simulation.ros.subscriptions == frozenset()  # without a peer no sensor is measured
    endpoint = FakeEndpoint(True, port)
    wait_for(lambda: endpoint.messages("/sam/core/imu"))
    simulation.close()
    endpoint.close()


def test_a_quiet_connection_is_kept_alive() -> None:
    endpoint = FakeEndpoint(True)
    simulation = Simulation(endpoint.port, leave_out=["*"])
    simulation.thread.start()
    wait_for(lambda: endpoint.empty > 0)
    simulation.close()
    endpoint.close()


def test_an_endpoint_that_takes_nothing_holds_nothing_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        others = ["*cam_down*", "*cam_port*", "*cam_starboard*"]  # pictures of one camera fill the socket soon enough
        simulation = Simulation(deaf.getsockname()[1], protocol="ros2", leave_out=others)
        simulation.thread.start()
        peer, _ = deaf.accept()
        try:
            wait_for(lambda: "dropped" in simulation.ros.status)
            before = simulation.world.time
            wait_for(lambda: simulation.world.time > before + 1.0)
        finally:
            peer.close()
            simulation.close()
