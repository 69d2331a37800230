"""Okoń's packets as bytes: a type, in the later dialect a flag, a length and a body of JSON; no socket in here."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

from skerry.core.errors import SkerryError, shorten

LONGEST_BODY: Final = 65_536  # bytes; the longest that a real client sends has some 1000
GET_VIDEO: Final = 0x69
"""The one packet of the video channel; a client sends it without a length."""


class PacketType(IntEnum):
    """Types of packets of the documented dialect; the later one adds its own."""

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


GOODBYES: Final = (0x00, 0xFF)
"""Types by which a client takes its leave."""


class ProtocolError(SkerryError):
    """Bytes after which there is no telling where the next packet begins."""


class BadBody(SkerryError):
    """A packet whose body is not what it should be; the next one may be better."""


class Packet(NamedTuple):
    """A packet as it came."""

    type: int
    body: bytes = b""
    flag: int = 0


class Framing:
    """How packets follow each other on the wire; with a flag in the later dialect."""

    def __init__(self, flagged: bool) -> None:
        self.flagged = flagged
        self._header = struct.Struct("<BBi" if flagged else "<Bi")

    def encode(self, type_: int, body: bytes = b"", flag: int = 0) -> bytes:
        """A packet, to be written in one piece: real clients do not wait for a second."""
        start = (type_, flag, len(body)) if self.flagged else (type_, len(body))
        return self._header.pack(*start) + body

    def reader(self) -> PacketReader:
        """Something that finds packets in what comes in."""
        return PacketReader(self._header)


class PacketReader:
    """Finds packets in bytes that come in pieces of any size."""

    def __init__(self, header: struct.Struct) -> None:
        self._header = header
        self._bytes = bytearray()
        self.over = False
        """Whether the peer has said goodbye."""

    @property
    def waiting(self) -> int:
        """Bytes of a packet that is not there yet."""
        return len(self._bytes)

    def feed(self, data: bytes) -> Iterator[Packet]:
        """Take bytes and give the packets that are complete."""
        self._bytes += data
        while self._bytes and not self.over:
            if self._bytes[0] in GOODBYES:
                self.over = True
                self._bytes.clear()
                return
            packet = self._next()
            if packet is None:
                return
            yield packet

    def _next(self) -> Packet | None:
        size = self._header.size
        if len(self._bytes) < size:
            return None
        type_, *flag, length = self._header.unpack_from(self._bytes)
        if not 0 <= length <= LONGEST_BODY:
            raise ProtocolError(f"packet {type_:02X} says that it has {length} bytes; 0 to {LONGEST_BODY} are taken")
        if len(self._bytes) < size + length:
            return None
        body = bytes(self._bytes[size : size + length])
        del self._bytes[: size + length]
        return Packet(type_, body, flag[0] if flag else 0)


# ------------------------------------------------------------------------------------------------ bodies


def write_json(value: Any) -> bytes:
    """JSON without spaces, as the original writes it."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no number")


def read_json(body: bytes) -> dict[str, Any]:
    """The object that a body holds."""
    try:
        found = json.loads(body.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadBody(f"not JSON: {error or 'nested too deeply'}, in {shorten(body)}") from None
    if not isinstance(found, dict):
        raise BadBody(f"needs a JSON object, not {shorten(found)}")
    return found


def number(body: dict[str, Any], key: str, otherwise: float) -> float:
    """A number of a body; another one where the key is missing."""
    value = body.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise BadBody(f"{key} must be a number, not {shorten(value)}")
    return float(value)


def vector(body: dict[str, Any], key: str, otherwise: tuple[float, float, float]) -> tuple[float, float, float]:
    """An {x, y, z} of a body; parts that are missing are those of another."""
    value = body.get(key, {})
    if not isinstance(value, dict):
        raise BadBody(f"{key} must be an object of x, y and z, not {shorten(value)}")
    x, y, z = (number(value, axis, kept) for axis, kept in zip("xyz", otherwise, strict=True))
    return x, y, z


def xyz(values: Any) -> dict[str, float]:
    """Three numbers as the protocol names them."""
    x, y, z = (float(value) for value in values)
    return {"x": x, "y": y, "z": z}
