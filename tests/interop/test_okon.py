"""Okoń's clients over real sockets; the client here is written from the protocol's description, and shares no code."""

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
from skerry.interfaces.okon.server import MOST_CLIENTS
from skerry.runner import Runner
from skerry.scenario.loading import load_scenario

SMALL_CAMERA = {"robots": {"okon": {"overrides": {"sensors": {"camera": {"width": 64, "height": 36}}}}}}


class Peer:
    """As the team's programs: it reads a type and a length in one go each, and throws away what it does not expect."""

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
        return kind[0], self.take(int.from_bytes(length, "little", signed=True))

    def take(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            piece = self.socket.recv(count - len(found))
            assert piece, "the simulator went away"
            found += piece
        return found

    def ask(self, packet: int, text: str = "") -> dict:
        self.send(packet, text)
        kind, body = self.receive()
        assert kind == packet
        return json.loads(body)

    def picture(self) -> bytes:
        self.socket.sendall(b"\x69")
        kind, body = self.receive()
        assert kind == 0x69
        return body

    def is_let_go(self) -> bool:
        self.socket.settimeout(120)
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


class Simulation:
    """Okoń's pool at the pace of the wall, in a thread."""

    def __init__(self, runner: Runner, okon: OkonInterface) -> None:
        self.runner, self.okon = runner, okon
        self.thread = threading.Thread(target=runner.run, args=(None,))

    def control(self) -> Peer:
        return Peer(self.okon.control_port)

    def video(self) -> Peer:
        return Peer(self.okon.video_port)

    def goes_on(self) -> bool:
        """Whether the world advances, and answers."""
        before = self.runner.world.time
        wait_for(lambda: self.runner.world.time > before)
        with self.control() as peer:
            return "baro" in peer.ask(0xB0)


def wait_for(true: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen in time"
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


def test_the_teams_program_places_it_reads_it_and_drives_it(simulation: Simulation) -> None:
    with simulation.control() as peer:
        peer.send(0xC3, '{"rot": {"x": 0, "y": 0, "z": 0}, "pos": {"x": -10, "y": -1.2, "z": -5}}')
        first = peer.ask(0xB0)
        assert first["baro"]["pressure"] == pytest.approx(1.2 * 9800, abs=100)
        for _ in range(20):
            sensors = peer.ask(0xB0)
            assert set(sensors) == {"gyro", "rot_speed", "accel", "angular_accel", "baro"}
            peer.send(0xA0, '{"FL": 0.0, "FR": 0.0, "ML": 0.3, "MR": 0.3, "B": 0.0}')
            time.sleep(0.02)
        wait_for(lambda: peer.ask(0xC2)["pos"]["z"] > -4.8)  # yaw 0 is along z
        assert peer.ask(0xC5, '{"timestamp": 0, "ping": 0}')["ping"] > 1_600_000_000_000


def test_nothing_is_said_that_was_not_asked_for(simulation: Simulation) -> None:
    with simulation.control() as peer:
        for packet, text in ((0xA0, '{"ML": 0.2}'), (0xA1, ""), (0xC0, '{"quality": 50}'), (0xD0, ""), (0xD1, "")):
            peer.send(packet, text)
        peer.ask(0xB0)
        peer.socket.settimeout(0.3)
        with pytest.raises(TimeoutError):
            peer.socket.recv(1)


def test_packets_may_come_in_pieces_or_many_in_one(simulation: Simulation) -> None:
    with simulation.control() as peer:
        peer.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in b"\xa0\x0b\x00\x00\x00" + b'{"ML": 0.5}' + b"\xb0\0\0\0\0":
            peer.socket.sendall(bytes([byte]))
            time.sleep(0.001)
        assert peer.receive()[0] == 0xB0
        peer.socket.sendall(b"\xb0\0\0\0\0" * 200 + b"\xc2\0\0\0\0")
        assert [peer.receive()[0] for _ in range(201)] == [0xB0] * 200 + [0xC2]


def test_a_picture_is_there_for_a_byte_and_the_next_is_another(simulation: Simulation) -> None:
    with simulation.video() as peer:
        pictures = [peer.picture() for _ in range(3)]
        for picture in pictures:
            assert simplejpeg.decode_jpeg_header(picture)[:2] == (36, 64)
        with simulation.control() as control:
            fine = len(peer.picture())
            control.send(0xC0, '{"quality": 5}')
            control.ask(0xC2)
            peer.picture()  # may have been on its way
            assert len(peer.picture()) < fine
            assert len(control.ask(0xB1)["depth"]) > 100


def test_a_camera_rests_when_nobody_looks_any_more(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    with simulation.video() as peer:
        peer.picture()
    pictures = simulation.okon.craft.pictures
    assert pictures.wait(0, 0.0) is not None
    monkeypatch.setattr("skerry.interfaces.okon.pictures.LINGER", 0.0)
    wait_for(lambda: pictures._latest is None)


def test_fifty_clients_are_served_at_once(simulation: Simulation) -> None:
    with ExitStack() as stack:
        peers = [stack.enter_context(simulation.control()) for _ in range(50)]
        for _ in range(3):
            for peer in peers:
                peer.send(0xB0)
            for peer in peers:
                assert peer.receive()[0] == 0xB0
        assert "50 clients" in simulation.okon.status


def test_who_comes_when_all_places_are_taken_is_let_go(simulation: Simulation) -> None:
    with ExitStack() as stack:
        peers = [stack.enter_context(simulation.control()) for _ in range(MOST_CLIENTS)]
        for peer in peers:
            peer.ask(0xC1)
        with simulation.control() as late:
            assert late.is_let_go()
        assert peers[0].ask(0xB0)
    wait_for(lambda: "0 clients" in simulation.okon.status)
    assert simulation.goes_on()


GARBAGE = {
    "a length of 2 GB": b"\xa0\xff\xff\xff\x7f",
    "a negative length": b"\xb0\xff\xff\xff\xff",
    "a request of the web": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "noise": bytes(range(1, 255)) * 40,
    "a goodbye": b"\x00",
}


@pytest.mark.parametrize("data", GARBAGE.values(), ids=GARBAGE)
def test_a_client_that_sends_garbage_is_let_go_and_the_others_notice_nothing(
    simulation: Simulation, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), simulation.control() as good, simulation.control() as bad:
        good.ask(0xB0)
        bad.socket.sendall(data)
        assert bad.is_let_go()
        assert good.ask(0xB0)["baro"]
    assert len([record for record in caplog.records if "let go" in record.message]) <= 1
    assert simulation.goes_on()


def test_a_client_that_sends_anything_else_for_a_picture_is_let_go(simulation: Simulation) -> None:
    with simulation.video() as peer:
        peer.socket.sendall(b"\x6a")
        assert peer.is_let_go()
    assert simulation.goes_on()


def test_clients_may_vanish_at_any_moment(simulation: Simulation) -> None:
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
    assert simulation.goes_on()
    wait_for(lambda: "0 clients" in simulation.okon.status)


def test_a_client_that_reads_nothing_holds_up_nobody_and_is_let_go(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skerry.interfaces.okon.server.SLOWEST", 0.5)
    with simulation.control() as slow:
        slow.socket.settimeout(0.5)
        with pytest.raises(OSError, match=r"timed out|reset|pipe"):
            while True:
                slow.socket.sendall(b"\xb0\0\0\0\0" * 10_000)
        assert simulation.goes_on()
        wait_for(lambda: "0 clients" in simulation.okon.status)


def test_a_client_that_floods_commands_holds_up_nobody(simulation: Simulation) -> None:
    text = b'{"FL":0.0,"FR":0.0,"ML":0.1,"MR":0.1,"B":0.0}'
    flood = (b"\xa0" + struct.pack("<i", len(text)) + text) * 2000
    with simulation.control() as rude:
        rude.socket.sendall(flood)
        assert simulation.goes_on()


def test_a_world_that_stands_still_still_answers(simulation: Simulation) -> None:
    with simulation.video() as video, simulation.control() as peer:
        video.picture()
        simulation.runner.pause()
        video.picture()
        assert video.picture()
        peer.send(0xC3, '{"pos": {"x": 3, "y": -1, "z": 2}}')
        assert peer.ask(0xC2)["pos"] == pytest.approx({"x": 3.0, "y": -1.0, "z": 2.0})


def test_who_first_looks_at_a_world_that_stands_still_sees_it(simulation: Simulation) -> None:
    simulation.runner.pause()
    with simulation.video() as video:
        assert simplejpeg.decode_jpeg_header(video.picture())[:2] == (36, 64)


def test_kill_ends_the_simulation(simulation: Simulation) -> None:
    with simulation.control() as peer:
        peer.send(0xC4)
        simulation.thread.join(30)
        assert not simulation.thread.is_alive()


def test_a_client_of_ours_can_measure_it(simulation: Simulation) -> None:
    found = measure("127.0.0.1", simulation.okon.control_port, simulation.okon.video_port, 0.3)
    assert set(found) == {"pair_p50_ms", "pair_p99_ms", "video_fps"}
    assert all(value > 0 for value in found.values())


def test_it_listens_on_this_machine_only_unless_told_otherwise(simulation: Simulation) -> None:
    assert [server._listener.getsockname()[0] for server in simulation.okon._servers] == ["127.0.0.1"] * 2


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        okon = OkonInterface(Okon(control_port=port, video_port=0, settings_file=None))
        with (
            skerry.load("okon_pool") as world,
            Runner(world, None, {"okon": okon}) as runner,
            pytest.raises(SkerryError, match=f"{port}.*give another port"),
        ):
            runner.run(0.1)


# ------------------------------------------------------------------------------------------------ the later dialect


class LaterPeer(Peer):
    """A client of the later dialect: a flag in each header."""

    def send(self, packet: int, text: str = "", flag: int = 0) -> None:
        self.socket.sendall(bytes([packet, flag]) + len(text).to_bytes(4, "little") + text.encode())

    def receive(self) -> tuple[int, bytes]:
        kind, _, length = struct.unpack("<BBi", self.take(6))
        return kind, self.take(length)

    def hear(self, packet: int) -> bytes:
        """Wait for a packet among others."""
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


def test_a_client_of_the_later_dialect_arms_drives_and_looks(later: Simulation) -> None:
    with LaterPeer(later.okon.control_port) as peer:
        peer.send(0xA1)
        peer.send(0xA0, '{"FLH":0.4,"FRH":0.4,"BLH":-0.4,"BRH":-0.4}')
        peer.send(0xB0)
        assert set(json.loads(peer.hear(0xB0))) == {"rot", "rotSpeed", "accel", "angularAccel", "baro"}
        peer.send(0xB3)
        assert simplejpeg.decode_jpeg_header(peer.hear(0xB3))[:2] == (36, 64)
        peer.send(0xDE)
        assert isinstance(json.loads(peer.hear(0xDE)), list)
        before = later.runner.world.robots["okon"].pose.position[0]
        wait_for(lambda: later.runner.world.robots["okon"].pose.position[0] > before + 0.05)


def test_a_silent_client_of_the_later_dialect_hears_a_heartbeat(later: Simulation) -> None:
    with LaterPeer(later.okon.control_port) as peer:
        assert peer.receive() == (0xC1, b"")
        assert peer.receive() == (0xC1, b"")


def test_everybody_hears_of_a_zone_that_ended_a_run(later: Simulation) -> None:
    with LaterPeer(later.okon.control_port) as one, LaterPeer(later.okon.control_port) as other:
        for peer in (one, other):
            peer.send(0xB0)
            peer.hear(0xB0)
        one.send(0xC3, '{"pos":{"x":-11.2,"y":-1.2,"z":1.6},"rot":{"y":90}}')
        assert json.loads(one.hear(0xC7)) == {"id": "orange"}
        assert json.loads(other.hear(0xC7)) == {"id": "orange"}
        one.send(0xC3)
        assert json.loads(one.hear(0xC3))["pos"]["x"] < -18
        other.send(0xC3, '{"pos":{"x":22,"y":-1.2,"z":1.6},"rot":{"y":90}}')
        assert json.loads(one.hear(0xC8)) == {"id": "east"}


def test_the_later_dialect_has_no_video_port(later: Simulation) -> None:
    assert "video" not in later.okon.status


class EarlyPeer(LaterPeer):
    """A client of 2.0: it sends a packet in four pieces, and takes whatever comes for its answer."""

    def send(self, packet: int, text: str = "", flag: int = 0) -> None:
        for piece in (bytes([packet]), bytes([flag]), struct.pack("<I", len(text)), text.encode()):
            self.socket.sendall(piece)


def test_a_client_of_2_0_needs_not_arm_and_hears_nothing_but_answers() -> None:
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
