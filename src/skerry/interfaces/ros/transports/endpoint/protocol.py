"""The protocol of the ROS-TCP-Endpoint, as bytes and without a socket.

A frame is a name and a payload, each behind its length as a little-endian uint32. Names that begin with two
underscores are commands with JSON as payload, others are topics or services with a message. In ROS 2, our names and
JSON end with a NUL that counts; the endpoint's do not. A request or a response is two frames: the number of the call,
then the message. Written for version 0.7.0 (https://github.com/Unity-Technologies/ROS-TCP-Endpoint).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from struct import Struct
from typing import Any, Final

from skerry.interfaces.ros.bus.transport import ProtocolError
from skerry.interfaces.ros.messages.types import short_name

_LENGTH: Final = Struct("<I")
LONGEST_NAME: Final = 4096
LONGEST_PAYLOAD: Final = 256 * 2**20  # bytes; more than any message that the simulator takes
KEEPALIVE: Final = bytes(8)  # an empty name and an empty payload


class FrameReader:
    """Frames from bytes, however they are cut."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """Take some bytes, and give the frames that are whole by now; those without a name only keep alive."""
        self._bytes += data
        while True:
            found = self._next()
            if found is None:
                return
            if found[0]:
                yield found

    def _next(self) -> tuple[str, bytes] | None:
        have = self._bytes
        if len(have) < 4:
            return None
        name_length = _LENGTH.unpack_from(have)[0]
        if name_length > LONGEST_NAME:
            raise ProtocolError(f"a name of {name_length} bytes; this is no ROS-TCP-Endpoint")
        start = 4 + name_length
        if len(have) < start + 4:
            return None
        length = _LENGTH.unpack_from(have, start)[0]
        if length > LONGEST_PAYLOAD:
            raise ProtocolError(f"a message of {length} bytes, more than the {LONGEST_PAYLOAD} that are taken")
        end = start + 4 + length
        if len(have) < end:
            return None
        name, payload = bytes(have[4:start]), bytes(have[start + 4 : end])
        del have[:end]
        try:
            return name.rstrip(b"\x00").decode(), payload
        except UnicodeDecodeError:
            raise ProtocolError(f"a name that is no text: {name[:40]!r}") from None


def read_parameters(payload: bytes) -> dict[str, Any]:
    """The JSON of a command."""
    try:
        found = json.loads(payload.rstrip(b"\x00").decode())
    except (UnicodeDecodeError, ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ProtocolError(f"a command without its JSON: {payload[:60]!r}")
    return found


def speaks_ros2(handshake: dict[str, Any]) -> bool:
    """Whether the endpoint that sent this handshake is one of ROS 2; its metadata is JSON within JSON."""
    metadata = handshake.get("metadata")
    found = read_parameters(metadata.encode()) if isinstance(metadata, str) else metadata
    return not isinstance(found, dict) or found.get("protocol") != "ROS1"


class FrameWriter:
    """Bytes of frames, for an endpoint of ROS 2 or of ROS 1."""

    def __init__(self, ros2: bool) -> None:
        self.ros2 = ros2
        self._end = b"\x00" if ros2 else b""

    def message(self, name: str, payload: bytes) -> bytes:
        """A message on a topic."""
        return b"".join((self._text(name), _LENGTH.pack(len(payload)), payload))

    def command(self, word: str, **parameters: Any) -> bytes:
        """A command."""
        return self._text(word) + self._text(json.dumps(parameters))

    def publish(self, topic: str, type_name: str, latch: bool) -> bytes:
        """Announce a topic that we will send."""
        return self.command("__publish", topic=topic, message_name=short_name(type_name), queue_size=10, latch=latch)

    def subscribe(self, topic: str, type_name: str) -> bytes:
        """Ask for a topic."""
        return self.command("__subscribe", topic=topic, message_name=short_name(type_name))

    def offer(self, service: str, type_name: str) -> bytes:
        """Announce a service that we answer."""
        return self.command("__unity_service", topic=service, message_name=short_name(type_name))

    def use(self, service: str, type_name: str) -> bytes:
        """Announce a service that we will call."""
        return self.command("__ros_service", topic=service, message_name=short_name(type_name))

    def request(self, number: int, service: str, payload: bytes) -> bytes:
        """Call a service."""
        return self.command("__request", srv_id=number) + self.message(service, payload)

    def response(self, number: int, service: str, payload: bytes) -> bytes:
        """Answer a call."""
        return self.command("__response", srv_id=number) + self.message(service, payload)

    def _text(self, text: str) -> bytes:
        encoded = text.encode() + self._end
        return _LENGTH.pack(len(encoded)) + encoded
