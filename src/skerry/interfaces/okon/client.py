"""A small client of Okoń's documented dialect, and a measurement: `python -m skerry.interfaces.okon.client --help`."""

from __future__ import annotations

import argparse
import json
import socket
import time
from contextlib import suppress
from threading import Thread
from typing import Any

from skerry.interfaces.okon.packets import GET_VIDEO, Framing, PacketType, read_json, write_json

THROTTLES = {"FL": 0.1, "FR": 0.1, "ML": 0.2, "MR": 0.2, "B": 0.1}


class Client:
    """Speaks as the team's own programs do: a header, then a body, with the socket's options as they come."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=60.0)
        self._framing = Framing(flagged=False)

    def tell(self, type_: int, body: Any = None) -> None:
        """Send a packet that has no answer."""
        text = b"" if body is None else write_json(body)
        packet = self._framing.encode(type_, text)
        self._socket.sendall(packet[: len(packet) - len(text)])
        if text:
            self._socket.sendall(text)

    def ask(self, type_: int, body: Any = None) -> dict[str, Any]:
        """Send a packet and wait for its answer."""
        self.tell(type_, body)
        self._socket.recv(1)
        return read_json(self._take(int.from_bytes(self._take(4), "little")))

    def picture(self) -> bytes:
        """A picture as JPEG, of a client of the video channel."""
        self._socket.sendall(bytes([GET_VIDEO]))
        self._take(1)
        return self._take(int.from_bytes(self._take(4), "little"))

    def _take(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            piece = self._socket.recv(count - len(found))
            if not piece:
                raise ConnectionError("the simulator went away")
            found += piece
        return bytes(found)

    def close(self) -> None:
        """Leave; who waits for an answer hears of it."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def measure(host: str, control_port: int, video_port: int, seconds: float) -> dict[str, float]:
    """How long SET_MTR and GET_SENS take together while pictures are shown, and how many pictures there are."""
    control, video = Client(host, control_port), Client(host, video_port)
    pictures = 0

    def watch() -> None:
        nonlocal pictures
        with suppress(OSError):
            while video.picture():
                pictures += 1

    video.picture()  # the first one may take long
    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    spans: list[float] = []
    start, before = time.perf_counter(), pictures
    while time.perf_counter() - start < seconds:
        begun = time.perf_counter()
        control.tell(PacketType.SET_MTR, THROTTLES)
        control.ask(PacketType.GET_SENS)
        spans.append(time.perf_counter() - begun)
        time.sleep(0.005)
    shown, lasted = pictures - before, time.perf_counter() - start
    video.close()
    control.close()
    watcher.join(10.0)
    spans.sort()
    return {
        "pair_p50_ms": 1e3 * spans[len(spans) // 2],
        "pair_p99_ms": 1e3 * spans[min(int(0.99 * len(spans)), len(spans) - 1)],
        "video_fps": shown / lasted,
    }


def main() -> None:
    """Measure a simulator that runs, and print JSON."""
    parser = argparse.ArgumentParser(description="Measure how a simulator answers Okoń's clients.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--control-port", type=int, default=44210)
    parser.add_argument("--video-port", type=int, default=44209)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    print(json.dumps(measure(given.host, given.control_port, given.video_port, given.seconds)))


if __name__ == "__main__":
    main()
