"""XML-RPC over HTTP, as ROS 1's master and nodes talk to each other, with bounds on what a peer may send."""

from __future__ import annotations

import asyncio
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit
from xmlrpc.client import Fault, dumps, loads

from skerry.interfaces.ros.bus.transport import ProtocolError

LONGEST_BODY: Final = 2**20  # bytes; those that somebody asks a node are a few hundred
IDLE: Final = 60.0  # s after which a connection is closed on which nothing is asked
PATIENCE: Final = 10.0  # s for one question or answer, once it has begun

Answer = Callable[[str, tuple[Any, ...]], Any]
"""Answers a method with its arguments; raises `Fault` if there is no such method."""


async def call(uri: str, method: str, *arguments: Any) -> Any:
    """Ask somebody; `OSError`, `ProtocolError` or `Fault` if that fails."""
    host, port = address_of(uri)
    body = dumps(arguments, method).encode()
    head = (
        f"POST /RPC2 HTTP/1.0\r\nHost: {host}:{port}\r\nContent-Type: text/xml\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    async with asyncio.timeout(PATIENCE):
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(head.encode() + body)
            first, fields = await _read_head(reader)
            if first.split(" ")[1:2] != ["200"]:
                raise ProtocolError(f"{uri} answers {first[:80]!r}")
            return read_body(await _read_body(reader, fields))[0]
        except EOFError:
            raise ProtocolError(f"{uri} gives no answer") from None
        finally:
            writer.close()


async def serve(reader: StreamReader, writer: StreamWriter, answer: Answer) -> None:
    """Answer what comes over one connection, until it ends or falls silent; `ProtocolError` if it is no XML-RPC."""
    while True:
        try:
            async with asyncio.timeout(IDLE):
                first, fields = await _read_head(reader)
        except (TimeoutError, EOFError):
            return
        if not first.startswith("POST "):
            raise ProtocolError(f"this is the XML-RPC of a ROS node, and was asked {first[:80]!r}")
        async with asyncio.timeout(PATIENCE):
            arguments, method = read_body(await _read_body(reader, fields))
        writer.write(_response(answer, method or "", arguments))
        await writer.drain()
        if first.endswith("HTTP/1.0") or fields.get("connection", "").lower() == "close":
            return


def address_of(uri: str, scheme: str = "http") -> tuple[str, int]:
    """The host and port of a URI."""
    try:
        parts = urlsplit(uri)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port or parts.scheme != scheme:
        raise ProtocolError(f"{uri[:200]!r} is no address such as {scheme}://127.0.0.1:11311")
    return host, port


def read_head(data: bytes) -> tuple[str, dict[str, str]]:
    """The first line of a question or an answer, and its fields by their names in small letters."""
    first, *lines = data.decode("latin-1").strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    return first.strip(), {name.strip().lower(): value.strip() for name, _, value in pairs}


def read_body(body: bytes) -> tuple[Any, str | None]:
    """The values in XML: of a question, all its arguments and the method; of an answer, just the one."""
    if b"<!DOCTYPE" in body:  # entities are how little XML becomes much
        raise ProtocolError("a document with a type of its own is no XML-RPC")
    try:
        values, method = loads(body)
    except Fault:
        raise
    except Exception as error:  # junk lets the parser fail in any way
        raise ProtocolError(f"this is no XML-RPC: {type(error).__name__}: {body[:60]!r}") from None
    return (values[0] if method is None and len(values) == 1 else values), method


def _response(answer: Answer, method: str, arguments: tuple[Any, ...]) -> bytes:
    try:
        body = dumps((answer(method, arguments),), methodresponse=True).encode()
    except Fault as fault:
        body = dumps(fault, methodresponse=True).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: %d\r\n\r\n" % len(body) + body


async def _read_head(reader: StreamReader) -> tuple[str, dict[str, str]]:
    try:
        return read_head(await reader.readuntil(b"\r\n\r\n"))
    except IncompleteReadError as error:
        if not error.partial:
            raise EOFError from None
        raise ProtocolError(f"the connection ended within {error.partial[:60]!r}") from None
    except LimitOverrunError:
        raise ProtocolError("this is no HTTP") from None


async def _read_body(reader: StreamReader, fields: dict[str, str]) -> bytes:
    text = fields.get("content-length", "")
    if not (text.isascii() and text.isdecimal() and len(text) < 12):
        raise ProtocolError("HTTP without the length of what comes")
    if (length := int(text)) > LONGEST_BODY:
        raise ProtocolError(f"{length} bytes of XML-RPC are announced, more than the {LONGEST_BODY} that are taken")
    try:
        return await reader.readexactly(length)
    except IncompleteReadError as error:
        raise ProtocolError(f"the connection ended after {len(error.partial)} of {length} bytes") from None
