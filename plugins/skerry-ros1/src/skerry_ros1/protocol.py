"""The TCPROS protocol, independent of the socket: connection headers, messages, calls and responses.

All lengths are little-endian uint32. A header is its length, followed by fields `name=value`, each preceded by its
length. A message is its length and its bytes. A response is preceded by the byte 1, or by 0 and an error text
(https://wiki.ros.org/ROS/TCPROS, https://wiki.ros.org/ROS/Connection%20Header).
"""

from __future__ import annotations

from asyncio import IncompleteReadError, StreamReader
from collections.abc import Mapping
from struct import Struct
from typing import Final

from skerry.interfaces.ros.bus.transport import ProtocolError

LENGTH: Final = Struct("<I")
MAX_HEADER: Final = 2**20  # bytes; a header contains the definition of a message
MAX_MESSAGE: Final = 64 * 2**20  # bytes; more than any message that the simulator receives
ANY: Final = "*"
"""MD5 sum and type of a peer that accepts every type."""


def write_header(fields: Mapping[str, str]) -> bytes:
    """Return a header, preceded by its length."""
    return write_message(b"".join(write_message(f"{name}={value}".encode()) for name, value in fields.items()))


def read_header(data: bytes) -> dict[str, str]:
    """Return the fields of a header without its length; the definitions of some packages are not valid UTF-8."""
    found: dict[str, str] = {}
    offset = 0
    while offset < len(data):
        start = offset + LENGTH.size
        if start > len(data) or (end := start + LENGTH.unpack_from(data, offset)[0]) > len(data):
            raise ProtocolError(f"the connection header ends inside a field: {data[:60]!r}")
        name, equals, value = data[start:end].partition(b"=")
        if not equals:
            raise ProtocolError(f"the connection header has a field without `=`: {data[start:end][:60]!r}")
        found[name.decode(errors="replace")] = value.decode(errors="replace")
        offset = end
    return found


def write_message(payload: bytes) -> bytes:
    """Return bytes preceded by their length."""
    return LENGTH.pack(len(payload)) + payload


def write_response(payload: bytes) -> bytes:
    """Return the response to a call."""
    return b"\x01" + write_message(payload)


def write_failure(text: str) -> bytes:
    """Return the response to a failed call."""
    return b"\x00" + write_message(text.encode())


async def read_message(stream: StreamReader, max_length: int = MAX_MESSAGE) -> bytes | None:
    """Read the next message; None if the peer has closed the connection.

    Raises:
        ProtocolError: The message is longer than `max_length`, or the connection ended inside it.
    """
    head = await _exactly(stream, LENGTH.size, may_end=True)
    if not head:
        return None
    length: int = LENGTH.unpack(head)[0]
    if length > max_length:
        raise ProtocolError(f"received a message of {length} bytes; the maximum is {max_length}")
    return await _exactly(stream, length)


async def read_connection(stream: StreamReader) -> dict[str, str]:
    """Read the header at the start of a connection."""
    data = await read_message(stream, MAX_HEADER)
    if data is None:
        raise ProtocolError("the connection ended before its header")
    return read_header(data)


async def read_response(stream: StreamReader) -> tuple[bool, bytes]:
    """Read a response; return whether the call succeeded, and the message or the error text."""
    success = await _exactly(stream, 1)
    data = await read_message(stream)
    if data is None:
        raise ProtocolError("the connection ended inside a response")
    return success != b"\x00", data


async def _exactly(stream: StreamReader, count: int, may_end: bool = False) -> bytes:
    try:
        return await stream.readexactly(count)
    except IncompleteReadError as error:
        if may_end and not error.partial:
            return b""
        raise ProtocolError(f"the connection ended after {len(error.partial)} of {count} bytes") from None
