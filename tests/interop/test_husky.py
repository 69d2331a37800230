"""The interface `husky` with a rover server over a real WebSocket: session, invalid messages, reconnection."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import simplejpeg

import skerry
from skerry.interfaces.husky import Husky, server_connection
from skerry.interfaces.husky.fake_server import SPEC_CAMERAS, FakeRoverServer
from skerry.interfaces.husky.interface import HuskyInterface
from skerry.runner import Runner

SMALL = [{**request, "width": 48, "height": 36, "intrinsics": None} for request in SPEC_CAMERAS]
WHEELS = ("frontLeftWheel", "rearLeftWheel", "frontRightWheel", "rearRightWheel")  # the server's order


@contextmanager
def running(url: str, **settings: Any) -> Iterator[tuple[HuskyInterface, Runner]]:
    """Run a rover on level ground that faces north in real time in a thread."""
    robots = {"husky": {"vehicle": "husky", "pose": {"position": [0, 0, 20.2], "yaw_deg": 90}}}
    scenario = {
        "robots": robots,
        "terrain": {"kind": "flat", "z": 20.0},
        "reference": {"latitude_deg": 0, "longitude_deg": 0},
    }
    interface = Husky.model_validate({"url": url, "retry": 0.05, **settings}).build()
    assert isinstance(interface, HuskyInterface)
    with skerry.load(scenario) as world, Runner(world, 1.0, {"husky": interface}) as runner:
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        try:
            yield interface, runner
        finally:
            runner.stop()
            thread.join(60.0)
    assert not thread.is_alive()


def power(motor: str, value: float) -> dict[str, Any]:
    return {"motor": motor, "power": value, "type": "simMotorPowerRequest"}


def wait_for(interface: HuskyInterface, condition: Callable[[HuskyInterface], bool]) -> bool:
    """Wait until a condition is true; return False after a minute."""
    waiting = threading.Event()
    for _ in range(1200):
        if condition(interface):
            return True
        waiting.wait(0.05)
    return False


def test_the_session_with_the_server_of_2023() -> None:
    """The server first requests three cameras, then repeats power requests for four wheels."""
    with FakeRoverServer(SMALL) as server, running(server.url) as (interface, _):
        kinds = {"MotorStatus", "RoverTruePose", "GpsPosition", "ImuOrientation", "Lidar", "CameraStream"}
        names = [f"sim{kind}Report" for kind in kinds] + [f"camera {name}" for name in ("front", "rear", "upperArm")]
        assert server.wait(lambda it: all(it.counts[name] for name in names))
        assert {report["motor"] for report in server.received("simMotorStatusReport")} == set(interface.motors)
        image = server.received("simCameraStreamReport")[0]
        jpeg = base64.b64decode(image["data"], validate=True)
        assert simplejpeg.decode_jpeg(jpeg).shape == (36, 48, 3)

        start = server.received("simRoverTruePoseReport")[-1]["position"]["x"]

        def has_driven(it: FakeRoverServer) -> bool:
            return any(each["position"]["x"] > start + 0.3 for each in it.received("simRoverTruePoseReport")[-30:])

        for _ in range(100):
            for wheel in WHEELS:
                server.send(power(wheel, 0.5))
            if server.wait(has_driven, 0.333):
                break
        assert server.wait(has_driven, 0.1), "the rover does not drive north"
        assert not server.faults
        assert "connected" in interface.status
        assert "3 cameras" in interface.status


def test_the_session_with_the_server_of_2026() -> None:
    """The server sends nothing first; treads, wrist and cameras have other names; its stop names unknown motors."""
    stop = ("drillActuator", "drillMotor", "fourbar1", "fourbar2", "leftTread", "rightTread", "hand")
    mast = {"camera": "mast", "fps": 30, "height": 36, "intrinsics": None, "width": 64}
    with FakeRoverServer() as server, running(server.url, profile="latest") as (interface, _):
        assert server.wait(lambda it: it.connections == 1)
        server.send(power("leftTread", 0.5))
        server.send(power("rightTread", 1.05e-16))
        server.send({"motor": "shoulder", "position": 122108, "type": "simMotorPositionRequest"})
        server.send({"motor": "elbow", "position": -152782, "type": "simMotorPositionRequest"})
        server.send({**mast, "type": "simCameraStreamOpenRequest"})
        assert server.wait(lambda it: it.counts["camera mast"] > 2)
        for motor in stop:
            server.send(power(motor, 0.0))
        count = server.counts["simMotorStatusReport"]
        assert server.wait(lambda it: it.counts["simMotorStatusReport"] > count + 50)
        last = {report["motor"]: report for report in server.received("simMotorStatusReport")}
        assert last["leftTread"]["power"] == 0.0
        assert not server.counts["simLidarReport"]
        assert not server.faults
        assert len(interface.motors) == 11


def test_invalid_messages_change_nothing_and_the_next_valid_one_is_executed() -> None:
    bad: list[Any] = [
        "",
        "{",
        "[" * 100_000,
        "NaN",
        b"\x00\xff",
        {},
        {"type": None},
        {"type": "simUnknownRequest"},
        {"type": "simMotorPowerRequest", "motor": None, "power": None},
        {"type": "simMotorPowerRequest", "motor": "hand", "power": 7},
        {"type": "simCameraStreamOpenRequest", "camera": None, "fps": None, "width": None, "height": None},
        {"type": "simCameraStreamOpenRequest", "camera": "front", "fps": -1, "width": 10**9, "height": 1},
        {"type": "simCameraStreamCloseRequest", "camera": "front"},
    ]
    with FakeRoverServer() as server, running(server.url) as (interface, _):
        assert server.wait(lambda it: it.connections == 1)
        for message in bad:
            server.send(message)
        server.send(json.dumps(power("hand", 0.25)).encode())  # JSON in a binary frame is accepted too

        def is_done(it: FakeRoverServer) -> bool:
            return any(each["power"] == 0.25 for each in it.received("simMotorStatusReport")[-11:])

        assert server.wait(is_done)
        assert server.connections == 1
        assert not server.faults
        assert len(interface.streams or ()) == 0


def test_a_message_that_is_too_long_ends_the_connection_and_a_new_one_opens() -> None:
    with FakeRoverServer() as server, running(server.url):
        assert server.wait(lambda it: it.connections == 1)
        server.send("x" * (server_connection.MAX_MESSAGE + 1))
        assert server.wait(lambda it: it.connections == 2)


def test_streams_stay_open_across_a_reconnection() -> None:
    """The server does not request cameras again after a simulator has reconnected."""
    with FakeRoverServer(SMALL[:1]) as server, running(server.url) as (interface, _):
        assert server.wait(lambda it: it.counts["camera front"] > 0)
        server.abort()
        assert server.wait(lambda it: it.connections == 2)
        images = server.counts["camera front"]
        assert server.wait(lambda it: it.counts["camera front"] > images + 2)
        assert interface.connection.connections == 2
        assert not server.faults


def test_a_server_may_be_replaced_and_the_new_one_gets_no_old_reports() -> None:
    with FakeRoverServer() as server, running(server.url) as (interface, runner):
        assert server.wait(lambda it: it.counts["simRoverTruePoseReport"] > 0)
        server.close()
        assert wait_for(interface, lambda it: "disconnected" in it.status)
        left = runner.world.time
        assert wait_for(interface, lambda it: runner.world.time > left + 1.0)
        assert not interface.connection._reports  # a second of reports was dropped
        with FakeRoverServer(port=server.port) as other:
            assert other.wait(lambda it: it.counts["simRoverTruePoseReport"] > 5)
            assert "connected" in interface.status


def test_a_second_simulator_is_refused_and_shows_it_in_its_status() -> None:
    with FakeRoverServer() as server, running(server.url):
        assert server.wait(lambda it: it.connections == 1)
        with running(server.url) as (second, _):
            assert wait_for(second, lambda it: "400" in it.status)
            assert "disconnected" in second.status
        assert server.connections == 1


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_server_that_closes_immediately_is_tried_again(listener: socket.socket) -> None:
    url = f"ws://127.0.0.1:{listener.getsockname()[1]}/simulator"
    with running(url) as (interface, runner):
        for _ in range(3):
            accepted, _ = listener.accept()
            accepted.close()
        before = runner.world.time
        assert wait_for(interface, lambda it: runner.world.time > before)
        assert "disconnected" in interface.status


def test_a_server_that_never_answers_delays_nothing(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_connection, "HANDSHAKE_TIMEOUT", 0.2)
    url = f"ws://127.0.0.1:{listener.getsockname()[1]}/simulator"
    with running(url) as (interface, runner):
        kept = [listener.accept()[0] for _ in range(2)]
        assert wait_for(interface, lambda it: "no answer" in it.status)
        assert runner.world.time > 0.0
        for each in kept:
            each.close()


def test_a_server_that_stops_reading_is_disconnected(listener: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server completes the handshake and never reads; reports are dropped, and a new connection is opened."""
    monkeypatch.setattr(server_connection, "SEND_TIMEOUT", 0.3)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    url = f"ws://127.0.0.1:{listener.getsockname()[1]}/simulator"
    with running(url) as (interface, _):
        accepted, _ = listener.accept()
        accepted.sendall(_upgrade(accepted.recv(4096)))
        assert wait_for(interface, lambda it: it.connection.connected)
        interface.connection.send_image("front", "x" * 20_000_000)
        again, _ = listener.accept()
        assert interface.connection.connections == 1
        accepted.close()
        again.close()


def _upgrade(request: bytes) -> bytes:
    """Return the answer to a handshake (RFC 6455, 4.2.2)."""
    from hashlib import sha1

    key = next(
        line.split(b":")[1].strip() for line in request.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key")
    )
    accept = base64.b64encode(sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
    return head + accept + b"\r\n\r\n"


def test_the_shipped_yard_starts_the_interface_and_shows_its_status() -> None:
    with FakeRoverServer() as server:
        setting = f"interfaces.husky.url={server.url}"
        command = [
            sys.executable,
            "-W",
            "error",
            "-m",
            "skerry",
            "run",
            "husky_yard",
            "--duration",
            "1",
            "--set",
            setting,
        ]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
        assert result.returncode == 0, result.stderr
        assert result.stderr.count(f"husky: rover server {server.url}") == 2  # at the start and at the end
        assert f"husky: rover server {server.url} connected" in result.stderr
        assert server.counts["simMotorStatusReport"] > 100
        assert not server.faults


def test_the_console_reads_lines_from_the_standard_input() -> None:
    settings = ["--set", "interfaces.husky.console=true", "--set", "interfaces.husky.url=ws://127.0.0.1:1/simulator"]
    command = [sys.executable, "-m", "skerry", "run", "husky_yard", "--duration", "1", *settings]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("waypoint North\nrun frontLeftWheel 0.5\n")
        process.stdin.flush()
        assert process.wait(300) == 0  # although its input is still open
        printed = process.stderr.read()
    assert "North: latitude 0.0002258" in printed
    assert "frontLeftWheel runs with 0.5" in printed
