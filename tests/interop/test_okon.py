"""Okoń's clients over real sockets; the client here is written from the protocol's description and shares no code."""

from __future__ import annotations

import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import simplejpeg

import skerry
from skerry.core.errors import SkerryError
from skerry.interfaces.okon import Okon
from skerry.interfaces.okon.client import measure
from skerry.interfaces.okon.interface import OkonInterface
from skerry.interfaces.okon.server import MAX_CLIENTS
from skerry.runner import Runner
from skerry.scenario.loading import load_scenario

SMALL_CAMERA = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 64, "height": 36}}}}}}


class Peer:
    """Client that reads type and length with one call each, as the team's programs do."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, packet: int, text: str = "") -> None:
        self.socket.sendall(packet.to_bytes(1, "big") + len(text).to_bytes(4, "little"))
        if text:
            self.socket.sendall(text.encode("ascii"))

    def receive(self) -> tuple[int, bytes]:
        kind = self.socket.recv(1)
        length = self.socket.recv(4)
        assert len(kind) == 1
        assert len(length) == 4, "the header must come in one piece"
        return kind[0], self.receive_bytes(int.from_bytes(length, "little", signed=True))

    def receive_bytes(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            data = self.socket.recv(count - len(found))
            assert data, "the simulator closed the connection"
            found += data
        return found

    def request(self, packet: int, text: str = "") -> dict:
        self.send(packet, text)
        kind, body = self.receive()
        assert kind == packet
        return json.loads(body)

    def image(self) -> bytes:
        self.socket.sendall(b"\x69")
        kind, body = self.receive()
        assert kind == 0x69
        return body

    def is_disconnected(self) -> bool:
        self.socket.settimeout(120)
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


class Simulation:
    """Okoń's pool, run in real time in a thread."""

    def __init__(self, runner: Runner, okon: OkonInterface) -> None:
        self.runner, self.okon = runner, okon
        self.thread = threading.Thread(target=runner.run, args=(None,))

    def control(self) -> Peer:
        return Peer(self.okon.control_port)

    def video(self) -> Peer:
        return Peer(self.okon.video_port)

    def is_running(self) -> bool:
        """Return whether the world advances and answers."""
        before = self.runner.world.time
        wait_for(lambda: self.runner.world.time > before)
        with self.control() as peer:
            return "baro" in peer.request(0xB0)


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition was not met in time"
        time.sleep(0.005)


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    okon = OkonInterface(Okon(control_port=0, video_port=0, settings_file=None))
    with skerry.load("okon_pool", overrides=SMALL_CAMERA) as world, Runner(world, 1.0, {"okon": okon}) as runner:
        runner.run(0.01)
        simulation = Simulation(runner, okon)
        simulation.thread.start()
        yield simulation
        runner.stop()
        simulation.thread.join(30)


def test_the_teams_program_sets_the_pose_reads_sensors_and_drives(simulation: Simulation) -> None:
    with simulation.control() as peer:
        peer.send(0xC3, '{"rot": {"x": 0, "y": 0, "z": 0}, "pos": {"x": -10, "y": -1.2, "z": -5}}')
        first = peer.request(0xB0)
        assert first["baro"]["pressure"] == pytest.approx(1.2 * 9800, abs=100)
        for _ in range(20):
            sensors = peer.request(0xB0)
            assert set(sensors) == {"gyro", "rot_speed", "accel", "angular_accel", "baro"}
            peer.send(0xA0, '{"FL": 0.0, "FR": 0.0, "ML": 0.3, "MR": 0.3, "B": 0.0}')
            time.sleep(0.02)
        wait_for(lambda: peer.request(0xC2)["pos"]["z"] > -4.8)  # yaw 0 is along z
        assert peer.request(0xC5, '{"timestamp": 0, "ping": 0}')["ping"] > 1_600_000_000_000


def test_nothing_is_sent_without_a_request(simulation: Simulation) -> None:
    with simulation.control() as peer:
        for packet, text in ((0xA0, '{"ML": 0.2}'), (0xA1, ""), (0xC0, '{"quality": 50}'), (0xD0, ""), (0xD1, "")):
            peer.send(packet, text)
        peer.request(0xB0)
        peer.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            peer.socket.recv(1)


def test_packets_may_arrive_in_parts_or_many_together(simulation: Simulation) -> None:
    with simulation.control() as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"\xa0\x0b\x00\x00\x00" + b'{"ML": 0.5}' + b"\xb0\0\0\0\0":
            peer.socket.sendall(bytes([byte]))
            time.sleep(0.001)
        assert peer.receive()[0] == 0xB0
        peer.socket.sendall(b"\xb0\0\0\0\0" * 200 + b"\xc2\0\0\0\0")
        assert [peer.receive()[0] for _ in range(201)] == [0xB0] * 200 + [0xC2]


def test_a_byte_requests_an_image_and_the_next_image_is_new(simulation: Simulation) -> None:
    with simulation.video() as peer:
        images = [peer.image() for _ in range(3)]
        for image in images:
            assert simplejpeg.decode_jpeg_header(image)[:2] == (36, 64)
        with simulation.control() as control:
            fine = len(peer.image())
            control.send(0xC0, '{"quality": 5}')
            control.request(0xC2)
            peer.image()  # may have been encoded before
            assert len(peer.image()) < fine
            assert len(control.request(0xB1)["depth"]) > 100


def test_the_camera_stops_without_requests(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with simulation.video() as peer:
        peer.image()
    images = simulation.okon.robot.images
    assert images.wait(0, 0.0) is not None
    monkeypatch.setattr("skerry.interfaces.okon.images.REQUEST_TIMEOUT", 0.0)
    wait_for(lambda: images._latest is None)


def test_fifty_clients_are_served_together(simulation: Simulation) -> None:
    with ExitStack() as stack:
        peers = [stack.enter_context(simulation.control()) for _ in range(50)]
        for _ in range(3):
            for peer in peers:
                peer.send(0xB0)
            for peer in peers:
                assert peer.receive()[0] == 0xB0
        assert "50 clients" in simulation.okon.status


def test_a_client_beyond_the_maximum_is_disconnected(simulation: Simulation) -> None:
    with ExitStack() as stack:
        peers = [stack.enter_context(simulation.control()) for _ in range(MAX_CLIENTS)]
        for peer in peers:
            peer.request(0xC1)
        with simulation.control() as late:
            assert late.is_disconnected()
        assert peers[0].request(0xB0)
    wait_for(lambda: "0 clients" in simulation.okon.status)
    assert simulation.is_running()


GARBAGE = {
    "a length of 2 GB": b"\xa0\xff\xff\xff\x7f",
    "a negative length": b"\xb0\xff\xff\xff\xff",
    "a request of the web": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "noise": bytes(range(1, 255)) * 40,
    "a goodbye": b"\x00",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_a_client_that_sends_garbage_is_disconnected_and_others_are_not_affected(
    simulation: Simulation, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), simulation.control() as good, simulation.control() as bad:
        good.request(0xB0)
        bad.socket.sendall(data)
        assert bad.is_disconnected()
        assert good.request(0xB0)["baro"]
    assert len([record for record in caplog.records if "disconnected" in record.message]) <= 1
    assert simulation.is_running()


def test_a_client_that_sends_another_byte_on_the_video_channel_is_disconnected(simulation: Simulation) -> None:
    with simulation.video() as peer:
        peer.socket.sendall(b"\x6a")
        assert peer.is_disconnected()
    assert simulation.is_running()


def test_clients_may_disconnect_at_any_moment(simulation: Simulation) -> None:
    abrupt = struct.pack("ii", 1, 0)  # a reset instead of a goodbye
    for data in (b"", b"\xa0", b"\xa0\x20\x00\x00\x00", b'\xa0\x20\x00\x00\x00{"FL', b"\xb0\0\0\0\0" * 5000):
        peer = simulation.control()
        peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, abrupt)
        peer.socket.sendall(data)
        peer.socket.close()
    peer = simulation.video()
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, abrupt)
    peer.socket.sendall(b"\x69" * 10)
    peer.socket.close()
    assert simulation.is_running()
    wait_for(lambda: "0 clients" in simulation.okon.status)


def test_a_client_that_stops_reading_delays_no_other_and_is_disconnected(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skerry.interfaces.okon.server.SEND_TIMEOUT", 0.5)
    with simulation.control() as slow:
        slow.socket.settimeout(0.5)
        with pytest.raises(OSError, match=r"timed out|reset|pipe"):
            while True:
                slow.socket.sendall(b"\xb0\0\0\0\0" * 10_000)
        assert simulation.is_running()
        wait_for(lambda: "0 clients" in simulation.okon.status)


def test_a_client_that_floods_commands_delays_no_other(simulation: Simulation) -> None:
    text = b'{"FL":0.0,"FR":0.0,"ML":0.1,"MR":0.1,"B":0.0}'
    flood = (b"\xa0" + struct.pack("<i", len(text)) + text) * 2000
    with simulation.control() as flooder:
        flooder.socket.sendall(flood)
        assert simulation.is_running()


def test_a_paused_world_still_answers(simulation: Simulation) -> None:
    with simulation.video() as video, simulation.control() as peer:
        video.image()
        simulation.runner.pause()
        video.image()
        assert video.image()
        peer.send(0xC3, '{"pos": {"x": 3, "y": -1, "z": 2}}')
        assert peer.request(0xC2)["pos"] == pytest.approx({"x": 3.0, "y": -1.0, "z": 2.0})


def test_the_first_image_of_a_paused_world_is_rendered(simulation: Simulation) -> None:
    simulation.runner.pause()
    with simulation.video() as video:
        assert simplejpeg.decode_jpeg_header(video.image())[:2] == (36, 64)


def test_kill_ends_the_simulation(simulation: Simulation) -> None:
    with simulation.control() as peer:
        peer.send(0xC4)
        simulation.thread.join(30)
        assert not simulation.thread.is_alive()


def test_the_measuring_client_works(simulation: Simulation) -> None:
    found = measure("127.0.0.1", simulation.okon.control_port, simulation.okon.video_port, 0.3)
    assert set(found) == {"pair_p50_ms", "pair_p99_ms", "video_fps"}
    assert all(value > 0 for value in found.values())


def test_it_listens_only_on_the_loopback_address_by_default(simulation: Simulation) -> None:
    assert [server._listener.getsockname()[0] for server in simulation.okon._servers] == ["127.0.0.1"] * 2


def test_a_port_in_use_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        okon = OkonInterface(Okon(control_port=port, video_port=0, settings_file=None))
        with (
            skerry.load("okon_pool") as world,
            Runner(world, None, {"okon": okon}) as runner,
            pytest.raises(SkerryError, match=f"{port}.*set another `control_port`"),
        ):
            runner.run(0.1)


# ------------------------------------------------------------------------------------------------ the later dialect


class LaterPeer(Peer):
    """Client of the later dialect, which has a flag in each header."""

    def send(self, packet: int, text: str = "", flag: int = 0) -> None:
        self.socket.sendall(bytes([packet, flag]) + len(text).to_bytes(4, "little") + text.encode())

    def receive(self) -> tuple[int, bytes]:
        kind, _, length = struct.unpack("<BBi", self.receive_bytes(6))
        return kind, self.receive_bytes(length)

    def receive_type(self, packet: int) -> bytes:
        """Wait for a packet of a type and drop all others."""
        while True:
            kind, body = self.receive()
            if kind == packet:
                return body


@pytest.fixture
def later() -> Iterator[Simulation]:
    okon = OkonInterface(load_scenario("okon2_pool").scenario.interfaces["okon"].model_copy(update={"control_port": 0}))
    with skerry.load("okon2_pool", overrides=SMALL_CAMERA) as world, Runner(world, 1.0, {"okon": okon}) as runner:
        runner.run(0.01)
        simulation = Simulation(runner, okon)
        simulation.thread.start()
        yield simulation
        runner.stop()
        simulation.thread.join(30)


def test_a_client_of_the_later_dialect_arms_drives_and_gets_images(later: Simulation) -> None:
    with LaterPeer(later.okon.control_port) as peer:
        peer.send(0xA1)
        peer.send(0xA0, '{"FLH":0.4,"FRH":0.4,"BLH":-0.4,"BRH":-0.4}')
        peer.send(0xB0)
        assert set(json.loads(peer.receive_type(0xB0))) == {"rot", "rotSpeed", "accel", "angularAccel", "baro"}
        peer.send(0xB3)
        assert simplejpeg.decode_jpeg_header(peer.receive_type(0xB3))[:2] == (36, 64)
        peer.send(0xDE)
        assert isinstance(json.loads(peer.receive_type(0xDE)), list)
        before = later.runner.world.robots["okon"].pose.position[0]
        wait_for(lambda: later.runner.world.robots["okon"].pose.position[0] > before + 0.05)


def test_a_silent_client_of_the_later_dialect_receives_a_heartbeat(later: Simulation) -> None:
    with LaterPeer(later.okon.control_port) as peer:
        assert peer.receive() == (0xC1, b"")
        assert peer.receive() == (0xC1, b"")


def test_all_clients_are_notified_of_a_zone_that_ended_a_run(later: Simulation) -> None:
    with LaterPeer(later.okon.control_port) as one, LaterPeer(later.okon.control_port) as other:
        for peer in (one, other):
            peer.send(0xB0)
            peer.receive_type(0xB0)
        one.send(0xC3, '{"pos":{"x":-11.2,"y":-1.2,"z":1.6},"rot":{"y":90}}')
        assert json.loads(one.receive_type(0xC7)) == {"id": "orange"}
        assert json.loads(other.receive_type(0xC7)) == {"id": "orange"}
        one.send(0xC3)
        assert json.loads(one.receive_type(0xC3))["pos"]["x"] < -18
        other.send(0xC3, '{"pos":{"x":22,"y":-1.2,"z":1.6},"rot":{"y":90}}')
        assert json.loads(one.receive_type(0xC8)) == {"id": "east"}


def test_the_later_dialect_has_no_video_port(later: Simulation) -> None:
    assert "video" not in later.okon.status


class EarlyPeer(LaterPeer):
    """Client of 2.0, which sends a packet in four writes and treats the next packet as its answer."""

    def send(self, packet: int, text: str = "", flag: int = 0) -> None:
        for part in (bytes([packet]), bytes([flag]), struct.pack("<I", len(text)), text.encode()):
            self.socket.sendall(part)


def test_a_client_of_2_0_need_not_arm_and_receives_only_answers() -> None:
    okon = OkonInterface(Okon(dialect="2.0", control_port=0, settings_file=None))
    with skerry.load("okon_pool", overrides=SMALL_CAMERA) as world, Runner(world, 1.0, {"okon": okon}) as runner:
        runner.run(0.01)
        thread = threading.Thread(target=runner.run, args=(None,))
        thread.start()
        with EarlyPeer(okon.control_port) as peer:
            peer.send(0xA0, '{"FL": 0.0, "FR": 0.0, "ML": 0.4, "MR": 0.4, "B": 0.0}')
            time.sleep(0.7)  # longer than a heartbeat
            peer.send(0xB0)
            kind, body = peer.receive()
            assert kind == 0xB0
            assert json.loads(body)["rot_speed"]
            peer.send(0xC2)
            assert json.loads(peer.receive()[1])["pos"]["x"] > -20.0
        runner.stop()
        thread.join(30)
