"""The protocol of the ROS-TCP-Endpoint, independent of the socket.

A frame is a name and a payload, each preceded by its length as a little-endian uint32. A name that begins with two
underscores is a command with JSON as payload; other names are topics or services with a message. In ROS 2, names and
JSON of the client end with a NUL byte that is part of the length; those of the endpoint do not. A request or a response
has two frames: the number of the call, then the message. Written for version 0.7.0 (https://github.com/Unity-Technologies/ROS-TCP-Endpoint).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from struct import Struct
from typing import Any, Final

from skerry.interfaces.ros.bus.transport import ProtocolError
from skerry.interfaces.ros.messages.types import short_name

_LENGTH: Final = Struct("<I")
MAX_NAME: Final = 4096  # bytes
MAX_PAYLOAD: Final = 256 * 2**20  # bytes; more than any message of the simulator needs
KEEPALIVE: Final = bytes(8)  # an empty name and an empty payload


class FrameDecoder:
    """Decoder of frames from a stream of bytes, received in chunks of any size."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """Add bytes and yield the complete frames; keep-alive frames, which have no name, are skipped."""
        self._bytes += data
        while True:
            found = self._next()
            if found is None:
                return
            if found[0]:
                yield found

    def _next(self) -> tuple[str, bytes] | None:
        data = self._bytes
        if len(data) < 4:
            return None
        name_length = _LENGTH.unpack_from(data)[0]
        if name_length > MAX_NAME:
            raise ProtocolError(f"received a name of {name_length} bytes; the peer is not a ROS-TCP-Endpoint")
        start = 4 + name_length
        if len(data) < start + 4:
            return None
        length = _LENGTH.unpack_from(data, start)[0]
        if length > MAX_PAYLOAD:
            raise ProtocolError(f"received a message of {length} bytes; the maximum is {MAX_PAYLOAD}")
        end = start + 4 + length
        if len(data) < end:
            return None
        name, payload = bytes(data[4:start]), bytes(data[start + 4 : end])
        del data[:end]
        try:
            return name.rstrip(b"\x00").decode(), payload
        except UnicodeDecodeError:
            raise ProtocolError(f"received a name that is not valid UTF-8: {name[:40]!r}") from None


def read_parameters(payload: bytes) -> dict[str, Any]:
    """Return the JSON object of a command."""
    try:
        found = json.loads(payload.rstrip(b"\x00").decode())
    except (UnicodeDecodeError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProtocolError(f"received a command without a JSON object: {payload[:60]!r}")
    return found


def is_ros2(handshake: dict[str, Any]) -> bool:
    """Return whether the handshake is that of an endpoint of ROS 2; its metadata is JSON inside JSON."""
    metadata = handshake.get("metadata")
    found = read_parameters(metadata.encode()) if isinstance(metadata, str) else metadata
    return not isinstance(found, dict) or found.get("protocol") != "ROS1"


class FrameEncoder:
    """Encoder of frames for an endpoint of ROS 2 or ROS 1."""

    def __init__(self, ros2: bool) -> None:
        self.ros2 = ros2
        self._end = b"\x00" if ros2 else b""

    def message(self, name: str, payload: bytes) -> bytes:
        """Return the frame of a message on a topic."""
        return b"".join((self._text(name), _LENGTH.pack(len(payload)), payload))

    def command(self, name: str, **parameters: Any) -> bytes:
        """Return the frame of a command."""
        return self._text(name) + self._text(json.dumps(parameters))

    def publish(self, topic: str, type_name: str, latch: bool) -> bytes:
        """Return the frame that announces a topic of the simulator."""
        return self.command("__publish", topic=topic, message_name=short_name(type_name), queue_size=10, latch=latch)

    def subscribe(self, topic: str, type_name: str) -> bytes:
        """Return the frame that subscribes to a topic."""
        return self.command("__subscribe", topic=topic, message_name=short_name(type_name))

    def add_service(self, service: str, type_name: str) -> bytes:
        """Return the frame that announces a service of the simulator."""
        return self.command("__unity_service", topic=service, message_name=short_name(type_name))

    def add_client(self, service: str, type_name: str) -> bytes:
        """Return the frame that announces a service which the simulator calls."""
        return self.command("__ros_service", topic=service, message_name=short_name(type_name))

    def request(self, number: int, service: str, payload: bytes) -> bytes:
        """Return the frames of a call."""
        return self.command("__request", srv_id=number) + self.message(service, payload)

    def response(self, number: int, service: str, payload: bytes) -> bytes:
        """Return the frames of a response."""
        return self.command("__response", srv_id=number) + self.message(service, payload)

    def _text(self, text: str) -> bytes:
        encoded = text.encode() + self._end
        return _LENGTH.pack(len(encoded)) + encoded
