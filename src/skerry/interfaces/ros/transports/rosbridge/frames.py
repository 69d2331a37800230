"""WebSocket frames of rosbridge: JSON, JSON in a PNG, CBOR, and fragments of JSON.

The specification is https://github.com/RobotWebTools/rosbridge_suite/blob/ros2/ROSBRIDGE_PROTOCOL.md, sections 3.1
and 3.2.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Callable
from itertools import count
from typing import Any, Final

import numpy as np
from rosbags.typesys.base import normalize_fieldname

from skerry.core.errors import SkerryError, shorten
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.types import FieldType
from skerry.interfaces.ros.transports.rosbridge.cbor import to_cbor
from skerry.interfaces.ros.transports.rosbridge.protocol import RosbridgeSession
from skerry.interfaces.ros.transports.rosbridge.rosapi import RosApi
from skerry.interfaces.ros.transports.websocket_server import MAX_FRAME, Frame

MAX_INCOMPLETE: Final = 100  # messages of a client of which only some fragments have arrived
MAX_FRAGMENTS: Final = 100_000  # fragments of one message


class RosbridgeFrameSession:
    """Session of a client in frames; `send` sends one frame and may be called from any thread."""

    def __init__(
        self,
        bus: Bus,
        api: RosApi,
        relayed: set[str],
        carries: Callable[[str], bool],
        queue: SubscriberQueue,
        send: Callable[[Frame], None],
    ) -> None:
        self._bus, self._send = bus, send
        self._session = RosbridgeSession(bus, api, relayed, carries, queue, self._reply)
        self._fragments = Fragments()
        self._numbers = count(1)

    def begin(self) -> None:
        """Do nothing, because the client sends the first message."""

    def receive(self, data: Frame) -> None:
        """Handle data of the client; invalid data is answered with an error status."""
        try:
            if isinstance(data, bytes):
                raise SkerryError(f"received {len(data)} binary bytes; clients must send JSON text")
            whole = self._fragments.join(data)
        except SkerryError as error:
            self._reply({"op": "status", "level": "error", "msg": str(error)})
            return
        if whole is not None:
            self._session.receive(whole)

    def frames(self, message: LazyMessage) -> list[Frame]:
        """Return a message of the bus in the format that the client has requested."""
        options = self._session.options_for(message)
        if options is None:
            return []
        name = message.topic.name
        if options.compression == "cbor-raw":
            seconds, nanoseconds = divmod(self._bus.time_ns, 1_000_000_000)
            raw = {"secs": seconds, "nsecs": nanoseconds, "bytes": message.cdr}
            return [to_cbor({"op": "publish", "topic": name, "msg": raw})]
        if options.compression == "cbor":
            values = _arrays(message.topic.codec, message.message)
            return [to_cbor({"op": "publish", "topic": name, "msg": values})]
        text = json.dumps({"op": "publish", "topic": name, "msg": message.json})
        if options.compression == "png":
            text = json.dumps({"op": "png", "data": b64encode(png(text.encode())).decode()})
        if options.fragment_size is not None and len(text) > options.fragment_size:
            return [*split(text, options.fragment_size, f"{name}:{next(self._numbers)}")]
        return [text]

    def close(self) -> None:
        """End all subscriptions."""
        self._session.close()

    def _reply(self, answer: Any) -> None:
        self._send(json.dumps(answer))


# ------------------------------------------------------------------------------------------------ fragments


def split(text: str, size: int, name: str) -> list[str]:
    """Return a text as a list of `fragment` operations."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [
        json.dumps({"op": "fragment", "id": name, "data": piece, "num": number, "total": len(pieces)})
        for number, piece in enumerate(pieces)
    ]


class Fragments:
    """Fragments of the messages of a client, until they are complete."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, str]] = {}
        self._size = 0

    def join(self, text: str) -> str | None:
        """Return a complete message: the given text, or the message that its fragment completes; otherwise None."""
        if '"fragment"' not in text:
            return text
        try:
            request = json.loads(text)
        except (ValueError, RecursionError):
            return text  # the session reports the error
        if not isinstance(request, dict) or request.get("op") != "fragment":
            return text
        name, data = request.get("id"), request.get("data")
        number, total = _whole(request.get("num")), _whole(request.get("total"))
        if not isinstance(data, str) or not 0 <= number < total:
            raise SkerryError(f"a fragment needs `id`, `data`, `num` and `total`, not {shorten(request)}")
        mine = self._found.setdefault(str(name), {})
        mine[number] = data
        self._size += len(data)
        if self._size > MAX_FRAME or len(self._found) > MAX_INCOMPLETE or total > MAX_FRAGMENTS:
            self._found.clear()
            self._size = 0
            raise SkerryError(f"too many incomplete fragments; a message may have at most {MAX_FRAME} bytes")
        if len(mine) < total:
            return None
        del self._found[str(name)]
        whole = "".join(mine[number] for number in sorted(mine))
        self._size -= len(whole)
        return whole


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else -1


# ------------------------------------------------------------------------------------------------ compression


def png(data: bytes) -> bytes:
    """Return bytes as the RGB pixels of a nearly square PNG image; newlines fill the rest."""
    width = max(math.isqrt(len(data) // 3), 1)
    height = -(-len(data) // (3 * width))
    filled = data.ljust(3 * width * height, b"\n")
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with the number of its filter: 0 for none
    rows[:, 1:] = np.frombuffer(filled, np.uint8).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits for each of three colours
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, *zip(*chunks, strict=True)))


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _arrays(codec: Codec, message: Message) -> dict[str, Any]:
    """Return a message as plain values, with arrays of numbers as numpy arrays."""
    return {
        field.name: _array(codec, field.type, getattr(message, normalize_fieldname(field.name)))
        for field in codec.type_store.message(message.__msgtype__).fields
    }


def _array(codec: Codec, kind: FieldType, value: Any) -> Any:
    if kind.array:
        if isinstance(value, np.ndarray) and kind.base != "bool":
            return value
        return [_array(codec, FieldType(kind.base), item) for item in value]
    if kind.is_message:
        return _arrays(codec, value)
    if kind.base.startswith("float"):
        return float(value)
    return value if kind.base == "string" else bool(value) if kind.base == "bool" else int(value)
