"""Small client of Okoń's documented dialect that measures latency: `python -m skerry.interfaces.okon.client --help`."""

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


class OkonClient:
    """Client that writes header and body separately with default socket options, as the team's own programs do."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_connection((host, port), timeout=60.0)
        self._framing = Framing(flagged=False)

    def send(self, type_: int, body: Any = None) -> None:
        """Send a packet that has no answer."""
        text = b"" if body is None else write_json(body)
        packet = self._framing.encode(type_, text)
        self._socket.sendall(packet[: len(packet) - len(text)])
        if text:
            self._socket.sendall(text)

    def request(self, type_: int, body: Any = None) -> dict[str, Any]:
        """Send a packet and return the body of its answer."""
        self.send(type_, body)
        self._socket.recv(1)
        return read_json(self._receive(int.from_bytes(self._receive(4), "little")))

    def request_image(self) -> bytes:
        """Return a JPEG image; the client must be connected to the video channel."""
        self._socket.sendall(bytes([GET_VIDEO]))
        self._receive(1)
        return self._receive(int.from_bytes(self._receive(4), "little"))

    def _receive(self, count: int) -> bytes:
        found = bytearray()
        while len(found) < count:
            data = self._socket.recv(count - len(found))
            if not data:
                raise ConnectionError("the simulator closed the connection")
            found += data
        return bytes(found)

    def close(self) -> None:
        """Close the connection; a thread that waits for an answer gets an `OSError`."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


def measure(host: str, control_port: int, video_port: int, seconds: float) -> dict[str, float]:
    """Measure the control channel while a second client requests images without pause.

    Args:
        host: Address of the simulator.
        control_port: Port of the control channel.
        video_port: Port of the video channel.
        seconds: Duration of the measurement, s.

    Returns:
        Median and 99th percentile of the time of a SET_MTR and a GET_SENS together, ms, and images per second.
    """
    control, video = OkonClient(host, control_port), OkonClient(host, video_port)
    images = 0

    def request_images() -> None:
        nonlocal images
        with suppress(OSError):
            while video.request_image():
                images += 1

    video.request_image()  # the first image may take long
    thread = Thread(target=request_images, daemon=True)
    thread.start()
    times: list[float] = []
    start, before = time.perf_counter(), images
    while time.perf_counter() - start < seconds:
        sent = time.perf_counter()
        control.send(PacketType.SET_MTR, THROTTLES)
        control.request(PacketType.GET_SENS)
        times.append(time.perf_counter() - sent)
        time.sleep(0.005)
    count, elapsed = images - before, time.perf_counter() - start
    video.close()
    control.close()
    thread.join(10.0)
    times.sort()
    return {
        "pair_p50_ms": 1e3 * times[len(times) // 2],
        "pair_p99_ms": 1e3 * times[min(int(0.99 * len(times)), len(times) - 1)],
        "video_fps": count / elapsed,
    }


def main() -> None:
    """Measure a running simulator and print the result as JSON."""
    parser = argparse.ArgumentParser(description="Measure how fast a running simulator answers Okoń's clients.")
    parser.add_argument("--host", default="127.0.0.1", help="address of the simulator")
    parser.add_argument("--control-port", type=int, default=44210, help="port of the control channel")
    parser.add_argument("--video-port", type=int, default=44209, help="port of the video channel")
    parser.add_argument("--seconds", type=float, default=10.0, help="duration of the measurement, s")
    options = parser.parse_args()
    print(json.dumps(measure(options.host, options.control_port, options.video_port, options.seconds)))


if __name__ == "__main__":
    main()
