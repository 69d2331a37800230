"""The way out to one page: messages that leave together go in one write, as a write costs more than a message."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from typing import Final

from aiohttp import web

FIN: Final = 0x80  # a message is one frame; with what follows, RFC 6455, section 5.2
TEXT: Final = 0x1
BINARY: Final = 0x2
TWO_BYTES, EIGHT_BYTES = 126, 127  # of length that follow the first, where one is too few
MAX_UNSENT: Final = 64 * 1024  # bytes that may wait here for the socket to take them
POLL_PERIOD: Final = 0.005  # s until it is seen whether it has


class WebSocketFrameWriter:
    """Writes to the transport of a WebSocket, past its own writer, which would write every message by itself."""

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        self._socket, self._transport = socket, transport

    @property
    def closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self._socket.closed or self._transport.is_closing()

    async def send(self, messages: Sequence[str | bytes]) -> None:
        """Send some messages, in order; takes as long as the other end needs to take them."""
        if self.closed:
            raise ConnectionResetError("the page has gone")
        self._transport.write(frames(messages))
        while self._transport.get_write_buffer_size() > MAX_UNSENT and not self.closed:
            await asyncio.sleep(POLL_PERIOD)


def frames(messages: Sequence[str | bytes]) -> bytes:
    """WebSocket frames as a server sends them, which is without a mask."""
    parts = []
    for message in messages:
        first = FIN | (TEXT if isinstance(message, str) else BINARY)
        data = message.encode() if isinstance(message, str) else message
        size = len(data)
        if size < TWO_BYTES:
            parts.append(struct.pack("!BB", first, size))
        elif size < 1 << 16:
            parts.append(struct.pack("!BBH", first, TWO_BYTES, size))
        else:
            parts.append(struct.pack("!BBQ", first, EIGHT_BYTES, size))
        parts.append(data)
    return b"".join(parts)
