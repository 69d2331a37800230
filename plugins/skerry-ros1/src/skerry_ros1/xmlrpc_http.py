"""XML-RPC over HTTP, the protocol of the ROS 1 master and nodes, with limits on the data of a peer."""

from __future__ import annotations

import asyncio
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit
from xmlrpc.client import Fault, dumps, loads

from skerry.interfaces.ros.bus.transport import ProtocolError

MAX_BODY: Final = 2**20  # bytes; usual calls of a node have a few hundred
IDLE_TIMEOUT: Final = 60.0  # s without a call after which a connection is closed
CALL_TIMEOUT: Final = 10.0  # s for one request or response after its start

MethodHandler = Callable[[str, tuple[Any, ...]], Any]
"""Function that returns the result of a method, given its arguments; raises `Fault` for an unknown method."""


async def call(uri: str, method: str, *arguments: Any) -> Any:
    """Call a method of a server.

    Raises:
        OSError, ProtocolError: The server cannot be reached, or its response is invalid.
        Fault: The server reports an error.
    """
    host, port = address_of(uri)
    body = dumps(arguments, method).encode()
    head = (
        f"POST /RPC2 HTTP/1.0\r\nHost: {host}:{port}\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    async with asyncio.timeout(CALL_TIMEOUT):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(head.encode() + body)
            first, fields = await _read_head(reader)
            if first.split(" ")[1:2] != ["200"]:
                raise ProtocolError(f"{uri} responded {first[:80]!r}")
            return read_body(await _read_body(reader, fields))[0]
        except EOFError:
            raise ProtocolError(f"{uri} closed the connection without a response") from None
        finally:
            writer.close()


async def serve(reader: StreamReader, writer: StreamWriter, handle: MethodHandler) -> None:
    """Answer the calls of one connection, until it ends or is idle; `ProtocolError` if the data is not XML-RPC."""
    while True:
        try:
            async with asyncio.timeout(IDLE_TIMEOUT):
                first, fields = await _read_head(reader)
        except (TimeoutError, EOFError):
            return
        if not first.startswith("POST "):
            raise ProtocolError(f"expected an XML-RPC call with POST, not {first[:80]!r}")
        async with asyncio.timeout(CALL_TIMEOUT):
            arguments, method = read_body(await _read_body(reader, fields))
        writer.write(_response(handle, method or "", arguments))
        await writer.drain()
        if first.endswith("HTTP/1.0") or fields.get("connection", "").lower() == "close":
            return


def address_of(uri: str, scheme: str = "http") -> tuple[str, int]:
    """Return the host and port of a URI."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port or parts.scheme != scheme:
        raise ProtocolError(f"{uri[:200]!r} is not an address such as {scheme}://127.0.0.1:11311")
    return host, port


def read_head(data: bytes) -> tuple[str, dict[str, str]]:
    """Return the first line of a request or response, and its header fields by lower-case name."""
    first, *lines = data.decode("latin-1").strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return first.strip(), {name.strip().lower(): value.strip() for name, _, value in pairs}


def read_body(body: bytes) -> tuple[Any, str | None]:
    """Return the arguments and the method of a call, or the value of a response and None."""
    if b"<!DOCTYPE" in body:  # entities could expand to very large documents
        raise ProtocolError("the XML has a DOCTYPE, which XML-RPC does not allow")
    try:
        values, method = loads(body)
    except Fault:
        raise
    except Exception as error:  # invalid data may raise any error in the parser
        raise ProtocolError(f"the data is not XML-RPC: {type(error).__name__}: {body[:60]!r}") from None
    return (values[0] if method is None and len(values) == 1 else values), method


def _response(handle: MethodHandler, method: str, arguments: tuple[Any, ...]) -> bytes:
    try:
        body = dumps((handle(method, arguments),), methodresponse=True).encode()
    except Fault as fault:
        body = dumps(fault, methodresponse=True).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n" % len(body) + body


async def _read_head(reader: StreamReader) -> tuple[str, dict[str, str]]:
    try:
        return read_head(await reader.readuntil(b"\r\n\r\n"))
    except IncompleteReadError as error:
        if not error.partial:
            raise EOFError from None
        raise ProtocolError(f"the connection ended inside an HTTP header: {error.partial[:60]!r}") from None
    except LimitOverrunError:
        raise ProtocolError("the data is not HTTP") from None


async def _read_body(reader: StreamReader, fields: dict[str, str]) -> bytes:
    text = fields.get("content-length", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise ProtocolError("the HTTP header has no valid Content-Length")
    if (length := int(text)) > MAX_BODY:
        raise ProtocolError(f"received an XML-RPC body of {length} bytes; the maximum is {MAX_BODY}")
    try:
        return await reader.readexactly(length)
    except IncompleteReadError as error:
        raise ProtocolError(f"the connection ended after {len(error.partial)} of {length} bytes") from None
