"""Connection to a rover server, in its own thread: it reconnects without end and drops reports that cannot be sent."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Lock, Thread
from typing import Final

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientSession,
    ClientTimeout,
    ClientWebSocketResponse,
    WSMsgType,
    WSServerHandshakeError,
)

logger = logging.getLogger("skerry")

MAX_MESSAGE: Final = 2**20
"""Largest message from the server, bytes; a longer message ends the connection."""
HANDSHAKE_TIMEOUT: Final = 5.0
"""Time that the server has to answer a handshake, s."""
SEND_TIMEOUT: Final = 10.0
"""Time after which the connection to a server that stopped reading is closed, s."""
MAX_QUEUED: Final = 1000
"""Number of reports that may wait, about two seconds of them; further reports drop the oldest."""
CLOSE_TIMEOUT: Final = 1.0
"""Time that the server has to answer the closing handshake, s."""


class ServerConnection:
    """WebSocket connection that sends texts and passes received messages to a callback.

    Without a connection, messages to send are dropped. Only the newest image of each camera waits to be sent.
    """

    def __init__(self, url: str, retry: float, on_message: Callable[[str | bytes], None]) -> None:
        """Create a connection, which `start` opens.

        Args:
            url: Address of the server.
            retry: Time between two attempts to connect, s.
            on_message: Callback for received messages; called in the connection's thread, must not raise.
        """
        self.url = url
        self.connected = False
        self.connections = 0
        self.sent = 0
        self.dropped = 0
        self._retry = retry
        self._on_message = on_message
        self._failure = ""
        self._lock = Lock()
        self._reports: deque[str] = deque()
        self._images: dict[str, str] = {}
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._queued = asyncio.Event()
        self._thread: Thread | None = None

    @property
    def status(self) -> str:
        """State of the connection as text."""
        if not self.connected:
            return f"rover server {self.url} disconnected" + (f" ({self._failure})" if self._failure else "")
        text = f"rover server {self.url} connected, {self.sent} sent"
        return text + (f", {self.dropped} dropped" if self.dropped else "")

    def start(self) -> None:
        """Start the thread that connects; does not wait for the server."""
        self._thread = Thread(target=self._run, name="husky", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Close the connection and end the thread; a second call has no effect."""
        if self._thread is None:
            self._loop.close()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join(timeout=10.0)

    def send(self, reports: Iterable[str]) -> None:
        """Queue texts to send; any thread may call this, and it does not block."""
        with self._lock:
            if not self.connected:
                return
            self._reports.extend(reports)
            while len(self._reports) > MAX_QUEUED:
                self._reports.popleft()
                self.dropped += 1
        self._wake()

    def send_image(self, camera: str, text: str) -> None:
        """Queue an image to send instead of an older one of the same camera; any thread may call this."""
        with self._lock:
            if not self.connected:
                return
            self.dropped += camera in self._images
            self._images[camera] = text
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop may close meanwhile
            self._loop.call_soon_threadsafe(self._queued.set)

    # -------------------------------------------------------------------------------------------- in the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._keep_connected())
        finally:
            self._loop.close()

    async def _keep_connected(self) -> None:
        async with ClientSession(timeout=ClientTimeout(total=None)) as session:
            while not self._closing.is_set():
                await self._connect(session)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._closing.wait(), self._retry)

    async def _connect(self, session: ClientSession) -> None:
        """Connect once and exchange messages until the connection ends; a failed attempt is only logged."""
        attempt = asyncio.create_task(self._handshake(session))
        closing = asyncio.create_task(self._closing.wait())
        await asyncio.wait({attempt, closing}, return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
        if not attempt.done():
            attempt.cancel()
        try:
            opened = await attempt
        except asyncio.CancelledError:
            return
        except (ClientError, OSError, TimeoutError, ValueError) as error:
            self._log_failure(_describe(error))
            return
        await self._exchange(opened)

    async def _handshake(self, session: ClientSession) -> ClientWebSocketResponse:
        async with asyncio.timeout(HANDSHAKE_TIMEOUT):
            return await session.ws_connect(self.url, max_msg_size=MAX_MESSAGE)

    async def _exchange(self, opened: ClientWebSocketResponse) -> None:
        logger.info("husky: connected to the rover server at %s", self.url)
        self._failure = ""
        with self._lock:
            self.connected = True
            self.connections += 1
        work = [self._receive(opened), self._send_queued(opened), self._closing.wait()]
        tasks = {asyncio.ensure_future(part) for part in work}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            with self._lock:
                self.connected = False
                self._reports.clear()  # the next server must not get outdated reports
                self._images.clear()
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(TimeoutError, ClientError, OSError):
                await asyncio.wait_for(opened.close(), CLOSE_TIMEOUT)
        for result in results:
            if isinstance(result, Exception):
                self._log_failure(_describe(result))
        logger.info("husky: disconnected from the rover server at %s", self.url)

    async def _receive(self, opened: ClientWebSocketResponse) -> None:
        async for message in opened:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._on_message(message.data)

    async def _send_queued(self, opened: ClientWebSocketResponse) -> None:
        while True:
            await self._queued.wait()
            self._queued.clear()
            while (text := self._next()) is not None:
                async with asyncio.timeout(SEND_TIMEOUT):
                    await opened.send_str(text)
                self.sent += 1

    def _next(self) -> str | None:
        """Return the next text to send: reports before images, and the oldest image first."""
        with self._lock:
            if self._reports:
                return self._reports.popleft()
            if self._images:
                return self._images.pop(next(iter(self._images)))
        return None

    def _log_failure(self, failure: str) -> None:
        if failure != self._failure:
            self._failure = failure
            logger.info("husky: no connection to %s: %s; retrying every %g s", self.url, failure, self._retry)


def _describe(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, WSServerHandshakeError):
        return f"the server answered {error.status}; is another simulator connected?"
    if isinstance(error, ClientConnectorError):
        return "cannot connect"
    return type(error).__name__
