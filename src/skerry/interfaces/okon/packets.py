"""Encoding of Okoń's packets: type, flag (later dialects only), length and JSON body; contains no socket code."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

from skerry.core.errors import SkerryError, shorten

MAX_BODY: Final = 65_536
"""Largest accepted body, bytes; the longest body of a real client has about 1000."""
GET_VIDEO: Final = 0x69
"""Type of the only packet of the video channel; a client sends it without a length."""


class PacketType(IntEnum):
    """Packet types of the documented dialect."""

    SET_MTR = 0xA0
    ARM_MTR = 0xA1
    GET_SENS = 0xB0
    GET_DEPTH = 0xB1
    SET_SIM = 0xC0
    ACK = 0xC1
    GET_ORIEN = 0xC2
    SET_ORIEN = 0xC3
    KILL = 0xC4
    PING = 0xC5
    REC_STRT = 0xD0
    REC_ST = 0xD1
    REC_RST = 0xD2
    GET_REC = 0xD3


CLOSE_TYPES: Final = (0x00, 0xFF)
"""Types by which a client closes the session."""


class OkonProtocolError(SkerryError):
    """Invalid bytes after which the start of the next packet is unknown."""


class BadBody(SkerryError):
    """Invalid body of a packet; the packets after it can be read."""


class OkonPacket(NamedTuple):
    """Packet as it was received."""

    type: int
    body: bytes = b""
    flag: int = 0


class Framing:
    """Header format of a dialect; the headers of the later dialects contain a flag."""

    def __init__(self, flagged: bool) -> None:
        self.flagged = flagged
        self._header = struct.Struct("<BBi" if flagged else "<Bi")

    def encode(self, type_: int, body: bytes = b"", flag: int = 0) -> bytes:
        """Return a packet; it must be sent in one write, because real clients do not wait for a second one."""
        start = (type_, flag, len(body)) if self.flagged else (type_, len(body))
        return self._header.pack(*start) + body

    def reader(self) -> PacketReader:
        """Return a new reader for one connection."""
        return PacketReader(self._header)


class PacketReader:
    """Parser that finds packets in a byte stream that arrives in chunks of any size."""

    def __init__(self, header: struct.Struct) -> None:
        self._header = header
        self._bytes = bytearray()
        self.closed = False
        """Whether the client has closed the session."""

    @property
    def buffered(self) -> int:
        """Number of bytes of an incomplete packet."""
        return len(self._bytes)

    def feed(self, data: bytes) -> Iterator[OkonPacket]:
        """Add bytes and yield the packets that are complete.

        Raises:
            OkonProtocolError: The length of a packet is out of range.
        """
        self._bytes += data
        while self._bytes and not self.closed:
            if self._bytes[0] in CLOSE_TYPES:
                self.closed = True
                self._bytes.clear()
                return
            packet = self._next()
            if packet is None:
                return
            yield packet

    def _next(self) -> OkonPacket | None:
        size = self._header.size
        if len(self._bytes) < size:
            return None
        type_, *flag, length = self._header.unpack_from(self._bytes)
        if not 0 <= length <= MAX_BODY:
            raise OkonProtocolError(f"packet {type_:02X} has a length of {length} bytes; expected 0 to {MAX_BODY}")
        if len(self._bytes) < size + length:
            return None
        body = bytes(self._bytes[size : size + length])
        del self._bytes[: size + length]
        return OkonPacket(type_, body, flag[0] if flag else 0)


# ------------------------------------------------------------------------------------------------ bodies


def write_json(value: Any) -> bytes:
    """Encode a value as JSON without spaces, as the original does."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def read_json(body: bytes) -> dict[str, Any]:
    """Decode a body that holds a JSON object; raise `BadBody` otherwise."""
    try:
        found = json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadBody(f"not JSON: {error or 'nested too deeply'}, in {shorten(body)}") from None
    if not isinstance(found, dict):
        raise BadBody(f"expected a JSON object; found {shorten(found)}")
    return found


def read_number(body: dict[str, Any], key: str, default: float) -> float:
    """Return the number at a key of a body; a missing key gives the default."""
    value = body.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise BadBody(f"{key} must be a number; found {shorten(value)}")
    return float(value)


def read_vector(body: dict[str, Any], key: str, default: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return the object {x, y, z} at a key of a body; missing components are those of the default."""
    value = body.get(key, {})
    if not isinstance(value, dict):
        raise BadBody(f"{key} must be an object of x, y and z; found {shorten(value)}")
    x, y, z = (read_number(value, axis, missing) for axis, missing in zip("xyz", default, strict=True))
    return x, y, z


def xyz(values: Any) -> dict[str, float]:
    """Return three numbers as an object {x, y, z}."""
    x, y, z = (float(value) for value in values)
    return {"x": x, "y": y, "z": z}
