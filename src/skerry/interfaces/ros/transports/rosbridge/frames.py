"""How rosbridge puts messages into frames of a WebSocket: JSON, JSON in a PNG, CBOR, and fragments of JSON.

https://github.com/RobotWebTools/rosbridge_suite/blob/ros2/ROSBRIDGE_PROTOCOL.md, sections 3.1 and 3.2.
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
from skerry.interfaces.ros.bus.bus import Bus, Outbox
from skerry.interfaces.ros.bus.lazy_message import Outgoing
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.types import FieldType
from skerry.interfaces.ros.transports.rosbridge.cbor import to_cbor
from skerry.interfaces.ros.transports.rosbridge.protocol import Conversation
from skerry.interfaces.ros.transports.rosbridge.rosapi import RosApi
from skerry.interfaces.ros.transports.websocket_server import LONGEST, Frame

MOST_UNFINISHED: Final = 100  # messages of a client of which fragments have come
MOST_FRAGMENTS: Final = 100_000  # of one message


class RosbridgeFrames:
    """A conversation in frames; `send` takes one, from any thread."""

    def __init__(
        self,
        bus: Bus,
        api: RosApi,
        relayed: set[str],
        carries: Callable[[str], bool],
        outbox: Outbox,
        send: Callable[[Frame], None],
    ) -> None:
        self._bus, self._send = bus, send
        self._conversation = Conversation(bus, api, relayed, carries, outbox, self._reply)
        self._fragments = Fragments()
        self._numbers = count(1)

    def begin(self) -> None:
        """Nothing is said first."""

    def receive(self, data: Frame) -> None:
        """Take what a client sent; a fault is told to it, and changes nothing."""
        try:
            if isinstance(data, bytes):
                raise SkerryError(f"{len(data)} bytes came; clients are heard in JSON only")
            whole = self._fragments.join(data)
        except SkerryError as error:
            self._reply({"op": "status", "level": "error", "msg": str(error)})
            return
        if whole is not None:
            self._conversation.receive(whole)

    def frames(self, outgoing: Outgoing) -> list[Frame]:
        """A message of the bus as the client asked for it."""
        form = self._conversation.wants(outgoing)
        if form is None:
            return []
        name = outgoing.topic.name
        if form.compression == "cbor-raw":
            seconds, nanoseconds = divmod(self._bus.now, 1_000_000_000)
            raw = {"secs": seconds, "nsecs": nanoseconds, "bytes": outgoing.cdr}
            return [to_cbor({"op": "publish", "topic": name, "msg": raw})]
        if form.compression == "cbor":
            values = _arrays(outgoing.topic.codec, outgoing.message)
            return [to_cbor({"op": "publish", "topic": name, "msg": values})]
        text = json.dumps({"op": "publish", "topic": name, "msg": outgoing.json})
        if form.compression == "png":
            text = json.dumps({"op": "png", "data": b64encode(png(text.encode())).decode()})
        if form.fragment_size is not None and len(text) > form.fragment_size:
            return [*split(text, form.fragment_size, f"{name}:{next(self._numbers)}")]
        return [text]

    def close(self) -> None:
        """Take nothing any more."""
        self._conversation.close()

    def _reply(self, answer: Any) -> None:
        self._send(json.dumps(answer))


# ------------------------------------------------------------------------------------------------ fragments


def split(text: str, size: int, name: str) -> list[str]:
    """A text as operations `fragment`."""
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return [
        json.dumps({"op": "fragment", "id": name, "data": piece, "num": number, "total": len(pieces)})
        for number, piece in enumerate(pieces)
    ]


class Fragments:
    """Joins what a client sends in fragments."""

    def __init__(self) -> None:
        self._found: dict[str, dict[int, str]] = {}
        self._size = 0

    def join(self, text: str) -> str | None:
        """A whole text: this one, unless it is a fragment, or that whose last fragment it is."""
        if '"fragment"' not in text:
            return text
        try:
            asked = json.loads(text)
        except (ValueError, RecursionError):
            return text  # and let it be told by whoever reads it
        if not isinstance(asked, dict) or asked.get("op") != "fragment":
            return text
        name, data = asked.get("id"), asked.get("data")
        number, total = _whole(asked.get("num")), _whole(asked.get("total"))
        if not isinstance(data, str) or not 0 <= number < total:
            raise SkerryError(f"a fragment needs `id`, `data`, `num` and `total`, not {shorten(asked)}")
        mine = self._found.setdefault(str(name), {})
        mine[number] = data
        self._size += len(data)
        if self._size > LONGEST or len(self._found) > MOST_UNFINISHED or total > MOST_FRAGMENTS:
            self._found.clear()
            self._size = 0
            raise SkerryError(f"too much waits in fragments; a message may have {LONGEST} bytes")
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
    """Bytes as the pixels of an image, red, green, blue, that is nearly square; newlines fill it up."""
    width = max(math.isqrt(len(data) // 3), 1)
    height = -(-len(data) // (3 * width))
    filled = data.ljust(3 * width * height, b"\n")
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with the number of its filter: none
    rows[:, 1:] = np.frombuffer(filled, np.uint8).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)  # 8 bits of each of three colours
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_png_chunk, *zip(*chunks, strict=True)))


def _png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _arrays(codec: Codec, message: Message) -> dict[str, Any]:
    """A message as plain values, but with arrays of numbers as they are."""
    return {
        field.name: _array(codec, field.type, getattr(message, normalize_fieldname(field.name)))
        for field in codec.vocabulary.message(message.__msgtype__).fields
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
