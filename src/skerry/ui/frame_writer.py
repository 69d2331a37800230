"""Writer of WebSocket frames that sends several messages in one write, because a write costs more than a message."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Sequence
from typing import Final

from aiohttp import web

# Header of a frame: RFC 6455, section 5.2. Every message is one frame.
FIN: Final = 0x80  # flag of the last frame of a message
TEXT: Final = 0x1  # opcode of a text frame
BINARY: Final = 0x2  # opcode of a binary frame
TWO_BYTES, EIGHT_BYTES = 126, 127  # values of the length byte if two or eight bytes of length follow it
MAX_UNSENT: Final = 64 * 1024  # bytes in the transport's buffer above which `send` waits
POLL_PERIOD: Final = 0.005  # s between two checks of the transport's buffer


class WebSocketFrameWriter:
    """Writes messages directly to the transport of a WebSocket.

    The writer of aiohttp would make one write for each message.
    """

    def __init__(self, socket: web.WebSocketResponse, transport: asyncio.Transport) -> None:
        self._socket, self._transport = socket, transport

    @property
    def closed(self) -> bool:
        """Whether the connection is closed or closing."""
        return self._socket.closed or self._transport.is_closing()

    async def send(self, messages: Sequence[str | bytes]) -> None:
        """Send messages in order, and wait while the peer reads more slowly than they are written.

        Raises:
            ConnectionResetError: The connection is closed.
        """
        if self.closed:
            raise ConnectionResetError("the page has closed the connection")
        self._transport.write(frames(messages))
        while self._transport.get_write_buffer_size() > MAX_UNSENT and not self.closed:
            await asyncio.sleep(POLL_PERIOD)


def frames(messages: Sequence[str | bytes]) -> bytes:
    """Encode messages as unmasked WebSocket frames, as a server sends them."""
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
