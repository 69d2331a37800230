"""RTPS messages as bytes: parser and encoder of submessages and parameter lists (RTPS 2.3, sections 9.4 and 9.6)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from skerry.interfaces.ros.bus.transport import ProtocolError

MAGIC: Final = b"RTPS"
VERSION: Final = b"\x02\x03"
VENDOR: Final = b"\x00\x00"  # "unknown" of the specification, because Skerry has no vendor id
CYCLONE: Final = b"\x01\x10"  # vendor id of Eclipse Cyclone DDS
FAST_DDS: Final = b"\x01\x0f"  # vendor id of eProsima Fast DDS
UNKNOWN_ENTITY: Final = bytes(4)
MAX_SET: Final = 256  # largest number of bits in a set of sequence numbers
MAX_SAMPLE: Final = 4_000_000  # B, largest sample that is assembled from fragments

ACKNACK, HEARTBEAT, GAP, INFO_SRC, INFO_DST, NACK_FRAG, DATA, DATA_FRAG = 0x06, 0x07, 0x08, 0x0C, 0x0E, 0x12, 0x15, 0x16
LITTLE: Final = 1  # flag of all submessages: little endian
SECOND_FLAG, THIRD_FLAG, FOURTH_FLAG = 2, 4, 8

PID_SENTINEL, PID_LEASE, PID_TOPIC, PID_TYPE, PID_DOMAIN = 0x01, 0x02, 0x05, 0x07, 0x0F
PID_VERSION, PID_VENDOR, PID_RELIABILITY, PID_DURABILITY, PID_USER_DATA = 0x15, 0x16, 0x1A, 0x1D, 0x2C
PID_UNICAST, PID_DEFAULT_UNICAST, PID_META_UNICAST, PID_HISTORY = 0x2F, 0x31, 0x32, 0x40
PID_PARTICIPANT_GUID, PID_BUILTIN_ENDPOINTS, PID_ENDPOINT_GUID, PID_NAME = 0x50, 0x58, 0x5A, 0x62
PID_KEY_HASH, PID_STATUS, PID_RELATED, PID_RELATED_FAST_DDS = 0x70, 0x71, 0x83, 0x800F

Identity: TypeAlias = tuple[bytes, int]
"""GUID of an endpoint and sequence number, which together identify a sample."""
Parameters: TypeAlias = dict[int, list[bytes]]


@dataclass(frozen=True)
class Source:
    """Sender of a message: its vendor id and the prefix of its GUIDs."""

    vendor: bytes
    prefix: bytes


@dataclass(frozen=True)
class Data:
    """Sample of a writer, or one part of it if `fragment` is not 0."""

    source: Source
    reader: bytes
    writer: bytes
    number: int
    payload: bytes
    order: str  # byte order of `inline`, as in `struct`
    inline: Parameters
    fragment: int = 0  # number of the first fragment, from 1
    fragment_size: int = 0
    sample_size: int = 0

    @property
    def related(self) -> Identity | None:
        """Identity of the related sample: of the request in a response, of the response's reader in a request."""
        for pid in (PID_RELATED, PID_RELATED_FAST_DDS):
            for value in self.inline.get(pid, ()):
                if len(value) >= 24:
                    high, low = struct.unpack(f"{self.order}iI", value[16:24])
                    return value[:16], (high << 32) + low
        return None

    @property
    def is_disposed(self) -> bool:
        """Whether the sample tells that its instance was disposed or unregistered."""
        return any(len(value) >= 4 and value[3] & 3 for value in self.inline.get(PID_STATUS, ()))


@dataclass(frozen=True)
class Heartbeat:
    """Range of the samples that a writer has; `is_final` tells that no response is required."""

    source: Source
    reader: bytes
    writer: bytes
    first: int
    last: int
    is_final: bool


@dataclass(frozen=True)
class AckNack:
    """Confirmation of all samples before `base`, and the numbers of the samples that a reader lacks."""

    source: Source
    reader: bytes
    writer: bytes
    base: int
    missing: tuple[int, ...]
    is_final: bool


@dataclass(frozen=True)
class Gap:
    """Samples that a reader will not receive: from `start` to before `base`, and those of `numbers`."""

    source: Source
    reader: bytes
    writer: bytes
    start: int
    base: int
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class NackFrag:
    """Fragments of a sample that a reader lacks."""

    source: Source
    reader: bytes
    writer: bytes
    number: int
    fragments: tuple[int, ...]


Submessage: TypeAlias = Data | Heartbeat | AckNack | Gap | NackFrag


# ------------------------------------------------------------------------------------------------ parser


class _Cursor:
    """Reader of numbers and bytes, which raises ProtocolError at the end of the data."""

    def __init__(self, data: bytes, order: str) -> None:
        self.data, self.order, self.position = data, order, 0

    def bytes(self, count: int) -> bytes:
        end = self.position + count
        if end > len(self.data):
            raise ProtocolError(f"a submessage of {len(self.data)} bytes ends too early")
        self.position, start = end, self.position
        return self.data[start:end]

    def unpack(self, layout: str) -> tuple[int, ...]:
        return struct.unpack(self.order + layout, self.bytes(struct.calcsize("=" + layout)))

    def number(self) -> int:
        high, low = self.unpack("iI")
        return (high << 32) + low

    def set(self, base: int) -> tuple[int, ...]:
        (count,) = self.unpack("I")
        if count > MAX_SET:
            raise ProtocolError(f"a set of {count} numbers is larger than {MAX_SET}")
        words = self.unpack(f"{(count + 31) // 32}I")
        return tuple(base + bit for bit in range(count) if words[bit // 32] >> (31 - bit % 32) & 1)


def parse(datagram: bytes, own_prefix: bytes) -> Iterator[Submessage]:
    """Yield the submessages for this participant; submessages of other kinds are skipped.

    Raises:
        ProtocolError: The datagram is malformed; submessages before the fault have been yielded.
    """
    if len(datagram) < 20 or datagram[:4] != MAGIC:
        raise ProtocolError("a datagram is not a message of RTPS")
    source = Source(datagram[6:8], datagram[8:20])
    is_for_us = True
    position = 20
    while position < len(datagram):
        if position + 4 > len(datagram):
            raise ProtocolError("a submessage has no complete header")
        kind, flags = datagram[position], datagram[position + 1]
        order = "<" if flags & LITTLE else ">"
        (length,) = struct.unpack_from(f"{order}H", datagram, position + 2)
        position += 4
        end = position + length if length or kind in (0x01, 0x09) else len(datagram)
        if end > len(datagram):
            raise ProtocolError(f"a submessage of {length} bytes is longer than its datagram")
        cursor = _Cursor(datagram[position:end], order)
        if kind == INFO_DST:
            is_for_us = cursor.bytes(12) in (own_prefix, bytes(12))
        elif kind == INFO_SRC:
            cursor.bytes(6)
            vendor = cursor.bytes(2)
            source = Source(vendor, cursor.bytes(12))
        elif is_for_us and (found := _submessage(kind, flags, cursor, source)) is not None:
            yield found
        position = end


def _submessage(kind: int, flags: int, cursor: _Cursor, source: Source) -> Submessage | None:
    if kind in (DATA, DATA_FRAG):
        return _data(kind, flags, cursor, source)
    if kind not in (HEARTBEAT, ACKNACK, GAP, NACK_FRAG):
        return None
    reader, writer = cursor.bytes(4), cursor.bytes(4)
    number = cursor.number()
    if kind == HEARTBEAT:
        last = cursor.number()
        if number < 1 or last < number - 1:
            raise ProtocolError(f"a heartbeat has the range {number} to {last}")
        return Heartbeat(source, reader, writer, number, last, bool(flags & SECOND_FLAG))
    if kind == ACKNACK:
        return AckNack(source, reader, writer, number, cursor.set(number), bool(flags & SECOND_FLAG))
    if kind == GAP:
        base = cursor.number()
        if number < 1 or base < number:
            raise ProtocolError(f"a gap has the range {number} to {base}")
        return Gap(source, reader, writer, number, base, cursor.set(base))
    (first,) = cursor.unpack("I")
    return NackFrag(source, reader, writer, number, cursor.set(first))


def _data(kind: int, flags: int, cursor: _Cursor, source: Source) -> Data:
    _, offset = cursor.unpack("HH")
    start = cursor.position + offset
    reader, writer, number = cursor.bytes(4), cursor.bytes(4), cursor.number()
    fragment = size = total = 0
    if kind == DATA_FRAG:
        fragment, _, size, total = cursor.unpack("IHHI")
        if fragment < 1 or size < 1 or not 0 < total <= MAX_SAMPLE or (fragment - 1) * size >= total:
            raise ProtocolError(f"fragment {fragment} of {size} bytes is not part of a sample of {total} bytes")
    if number < 1 or start < cursor.position:
        raise ProtocolError(f"a sample with the number {number} is malformed")
    cursor.bytes(start - cursor.position)
    inline: Parameters = {}
    if flags & SECOND_FLAG:
        inline, used = parse_parameters(cursor.data[cursor.position :], cursor.order)
        cursor.bytes(used)
    has_payload = kind == DATA_FRAG or flags & (THIRD_FLAG | FOURTH_FLAG)
    payload = cursor.data[cursor.position :] if has_payload else b""
    return Data(source, reader, writer, number, payload, cursor.order, inline, fragment, size, total)


def parse_parameters(data: bytes, order: str) -> tuple[Parameters, int]:
    """Return the values of a parameter list by their id, and the number of bytes used.

    Raises:
        ProtocolError: The list has no end.
    """
    found: Parameters = {}
    position = 0
    while position + 4 <= len(data):
        pid, length = struct.unpack_from(f"{order}HH", data, position)
        position += 4
        if pid == PID_SENTINEL:
            return found, position
        if position + length > len(data):
            break
        found.setdefault(pid, []).append(data[position : position + length])
        position += length
    raise ProtocolError("a parameter list has no end")


@dataclass(frozen=True)
class Description:
    """Parameters of a participant or endpoint in discovery."""

    order: str
    parameters: Parameters

    @classmethod
    def of(cls, payload: bytes) -> Description:
        """Return the parameters in the payload of a sample."""
        if len(payload) < 4 or payload[0] != 0 or payload[1] not in (2, 3):
            raise ProtocolError("a sample of discovery is not a parameter list")
        order = "<" if payload[1] == 3 else ">"
        return cls(order, parse_parameters(payload[4:], order)[0])

    def raw(self, pid: int, size: int = 0) -> bytes:
        """Return the first value with at least `size` bytes; empty bytes if there is none."""
        return next((value for value in self.parameters.get(pid, ()) if len(value) >= size), b"")

    def integer(self, pid: int, default: int) -> int:
        """Return a 32-bit integer."""
        value = self.raw(pid, 4)
        return int(struct.unpack_from(f"{self.order}I", value)[0]) if value else default

    def text(self, pid: int) -> str:
        """Return a string without its final null character."""
        return self.octets(pid).rstrip(b"\0").decode("utf-8", "replace")

    def octets(self, pid: int) -> bytes:
        """Return a sequence of bytes."""
        value = self.raw(pid, 4)
        size = struct.unpack_from(f"{self.order}I", value)[0] if value else 0
        return value[4 : 4 + size]

    def addresses(self, pid: int) -> list[tuple[str, int]]:
        """Return the addresses and ports of UDP over IPv4."""
        found = []
        for value in self.parameters.get(pid, ()):
            if len(value) >= 24:
                kind, port = struct.unpack_from(f"{self.order}iI", value)
                if kind == 1 and 0 < port < 65536:
                    found.append((".".join(str(part) for part in value[20:24]), port))
        return found


# ------------------------------------------------------------------------------------------------ encoder


def header(prefix: bytes) -> bytes:
    """Return the header of a message."""
    return MAGIC + VERSION + VENDOR + prefix


def _encode(kind: int, flags: int, body: bytes) -> bytes:
    return struct.pack("<BBH", kind, flags | LITTLE, len(body)) + body


def _number(value: int) -> bytes:
    return struct.pack("<iI", value >> 32, value & 0xFFFFFFFF)


def destination(prefix: bytes) -> bytes:
    """Return a submessage that addresses the following ones to one participant."""
    return _encode(INFO_DST, 0, prefix)


def heartbeat(reader: bytes, writer: bytes, first: int, last: int, count: int, *, is_final: bool) -> bytes:
    """Return a heartbeat."""
    flags = SECOND_FLAG if is_final else 0
    return _encode(HEARTBEAT, flags, reader + writer + _number(first) + _number(last) + struct.pack("<i", count))


def acknack(reader: bytes, writer: bytes, base: int, missing: Iterable[int], count: int, *, is_final: bool) -> bytes:
    """Return a confirmation of all samples before `base`, and a request for the missing ones."""
    offsets = [number - base for number in missing if number - base < MAX_SET]
    bits = max(offsets, default=-1) + 1
    words = [0] * ((bits + 31) // 32)
    for offset in offsets:
        words[offset // 32] |= 1 << (31 - offset % 32)
    numbers = _number(base) + struct.pack(f"<I{len(words)}I", bits, *words)
    return _encode(ACKNACK, SECOND_FLAG if is_final else 0, reader + writer + numbers + struct.pack("<i", count))


def gap(reader: bytes, writer: bytes, start: int, end: int) -> bytes:
    """Return a submessage which tells that the samples from `start` to before `end` will not be sent."""
    return _encode(GAP, 0, reader + writer + _number(start) + _number(end) + struct.pack("<I", 0))


def data(
    reader: bytes, writer: bytes, number: int, payload: bytes, inline: bytes = b"", *, is_key: bool = False
) -> bytes:
    """Return a sample; `inline` is an encoded parameter list."""
    flags = (SECOND_FLAG if inline else 0) | (FOURTH_FLAG if is_key else THIRD_FLAG)
    start = struct.pack("<HH", 0, 16) + reader + writer + _number(number)
    return _encode(DATA, flags, start + inline + payload + bytes(-len(payload) % 4))


def fragment(reader: bytes, writer: bytes, number: int, payload: bytes, inline: bytes, index: int, size: int) -> bytes:
    """Return fragment `index` (from 1) of a sample that is split into fragments of `size` bytes."""
    start = struct.pack("<HH", 0, 28) + reader + writer + _number(number)
    start += struct.pack("<IHHI", index, 1, size, len(payload))
    part = payload[(index - 1) * size : index * size]
    return _encode(DATA_FRAG, SECOND_FLAG if inline else 0, start + inline + part + bytes(-len(part) % 4))


def parameters(entries: Iterable[tuple[int, bytes]]) -> bytes:
    """Return a parameter list."""
    found = bytearray()
    for pid, value in entries:
        found += struct.pack("<HH", pid, len(value) + -len(value) % 4) + value + bytes(-len(value) % 4)
    return bytes(found) + struct.pack("<HH", PID_SENTINEL, 0)


def related_inline(identity: Identity) -> bytes:
    """Return the inline parameters of a sample that is related to another one, in the standard id and Fast DDS's."""
    value = identity[0] + _number(identity[1])
    return parameters([(PID_RELATED_FAST_DDS, value), (PID_RELATED, value)])


def octets(value: bytes) -> bytes:
    """Return a sequence of bytes as the value of a parameter."""
    return struct.pack("<I", len(value)) + value


def text(value: str) -> bytes:
    """Return a string as the value of a parameter."""
    return octets(value.encode() + b"\0")


def locator(address: str, port: int) -> bytes:
    """Return the locator of a UDP socket over IPv4."""
    return struct.pack("<iI", 1, port) + bytes(12) + bytes(int(part) for part in address.split("."))
