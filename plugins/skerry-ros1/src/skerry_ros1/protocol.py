"""TCPROS as bytes and without a socket: headers of connections, messages, calls and answers.

A header is fields, `name=value`, each behind its length as a little-endian uint32, all behind their length; a message
is bytes behind their length; an answer has a byte before it, 1 or, with a text, 0
(https://wiki.ros.org/ROS/TCPROS, https://wiki.ros.org/ROS/Connection%20Header).
"""

from __future__ import annotations

from asyncio import IncompleteReadError, StreamReader
from collections.abc import Mapping
from struct import Struct
from typing import Final

from skerry.interfaces.ros.bus.transport import ProtocolError

LENGTH: Final = Struct("<I")
LONGEST_HEADER: Final = 2**20  # bytes; a definition of a message is in it
LONGEST_MESSAGE: Final = 64 * 2**20  # bytes; more than any message that the simulator hears
ANY: Final = "*"
"""The sum, and the type, of a peer that takes whatever comes."""


def write_header(fields: Mapping[str, str]) -> bytes:
    """A header, behind its length."""
    return write_message(b"".join(write_message(f"{name}={value}".encode()) for name, value in fields.items()))


def read_header(data: bytes) -> dict[str, str]:
    """The fields of a header, without its length; definitions need not be UTF-8, and of some packages are not."""
    found: dict[str, str] = {}
    place = 0
    while place < len(data):
        start = place + LENGTH.size
        if start > len(data) or (end := start + LENGTH.unpack_from(data, place)[0]) > len(data):
            raise ProtocolError(f"the header of a connection ends within a field: {data[:60]!r}")
        name, equals, value = data[start:end].partition(b"=")
        if not equals:
            raise ProtocolError(f"the header of a connection has a field without `=`: {data[start:end][:60]!r}")
        found[name.decode(errors="replace")] = value.decode(errors="replace")
        place = end
    return found


def write_message(payload: bytes) -> bytes:
    """Bytes behind their length."""
    return LENGTH.pack(len(payload)) + payload


def write_answer(payload: bytes) -> bytes:
    """The answer to a call."""
    return b"\x01" + write_message(payload)


def write_failure(text: str) -> bytes:
    """What a call that failed gets instead of an answer."""
    return b"\x00" + write_message(text.encode())


async def read_message(stream: StreamReader, longest: int = LONGEST_MESSAGE) -> bytes | None:
    """The next bytes that are behind their length; None, if the peer has ended."""
    head = await _exactly(stream, LENGTH.size, may_end=True)
    if not head:
        return None
    length: int = LENGTH.unpack(head)[0]
    if length > longest:
        raise ProtocolError(f"{length} bytes are announced, more than the {longest} that are taken")
    return await _exactly(stream, length)


async def read_connection(stream: StreamReader) -> dict[str, str]:
    """The header that a connection begins with."""
    data = await read_message(stream, LONGEST_HEADER)
    if data is None:
        raise ProtocolError("the connection ended before its header")
    return read_header(data)


async def read_answer(stream: StreamReader) -> tuple[bool, bytes]:
    """Whether a call succeeded, and the answer, or else the text that says why."""
    sound = await _exactly(stream, 1)
    data = await read_message(stream)
    if data is None:
        raise ProtocolError("the connection ended within an answer")
    return sound != b"\x00", data


async def _exactly(stream: StreamReader, count: int, may_end: bool = False) -> bytes:
    try:
        return await stream.readexactly(count)
    except IncompleteReadError as error:
        if may_end and not error.partial:
            return b""
        raise ProtocolError(f"the connection ended after {len(error.partial)} of {count} bytes") from None
