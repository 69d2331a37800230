"""The connection to a rover server: made again for ever, dropping what cannot be sent, in a thread of its own."""

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

LONGEST: Final = 2**20  # bytes of a message from the server; with a longer one the connection ends
PATIENCE: Final = 5.0  # s that the server has to answer a handshake
STALLED: Final = 10.0  # s after which a server that takes nothing counts as gone
MOST_WAITING: Final = 1000  # reports, two seconds of them; then the oldest go
GOODBYE: Final = 1.0  # s that the server has to answer to the end of a connection


class Link:
    """Sends texts, and lets `hear` have what comes; while there is no connection, what should be sent is dropped.

    `hear` is called from the link's thread and must not raise. Of pictures only the newest of each camera waits.
    """

    def __init__(self, url: str, retry: float, hear: Callable[[str | bytes], None]) -> None:
        self.url = url
        self.connected = False
        self.connections = 0
        self.sent = 0
        self.dropped = 0
        self._retry = retry
        self._hear = hear
        self._trouble = ""
        self._lock = Lock()
        self._reports: deque[str] = deque()
        self._pictures: dict[str, str] = {}
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._something = asyncio.Event()
        self._thread: Thread | None = None

    @property
    def status(self) -> str:
        """Whether there is a connection, and how it does."""
        if not self.connected:
            return f"rover server {self.url} disconnected" + (f" ({self._trouble})" if self._trouble else "")
        text = f"rover server {self.url} connected, {self.sent} sent"
        return text + (f", {self.dropped} dropped" if self.dropped else "")

    def start(self) -> None:
        """Begin to connect; never waits for the server."""
        self._thread = Thread(target=self._run, name="husky", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the connection and the thread; closing twice is harmless."""
        if self._thread is None:
            self._loop.close()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(timeout=10.0)

    def send(self, reports: Iterable[str]) -> None:
        """Send texts, from any thread; returns at once."""
        with self._lock:
            if not self.connected:
                return
            self._reports.extend(reports)
            while len(self._reports) > MOST_WAITING:
                self._reports.popleft()
                self.dropped += 1
        self._wake()

    def send_picture(self, camera: str, text: str) -> None:
        """Send a picture, from any thread, instead of one of this camera that waits still."""
        with self._lock:
            if not self.connected:
                return
            self.dropped += camera in self._pictures
            self._pictures[camera] = text
        self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop may close meanwhile
            self._loop.call_soon_threadsafe(self._something.set)

    # -------------------------------------------------------------------------------------------- in the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._connect_for_ever())
        finally:
            self._loop.close()

    async def _connect_for_ever(self) -> None:
        async with ClientSession(timeout=ClientTimeout(total=None)) as session:
            while not self._over.is_set():
                await self._connect(session)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._over.wait(), self._retry)

    async def _connect(self, session: ClientSession) -> None:
        """Connect and talk until the connection ends; a server that is not there is no fault."""
        attempt = asyncio.create_task(self._handshake(session))
        over = asyncio.create_task(self._over.wait())
        await asyncio.wait({attempt, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if not attempt.done():
            attempt.cancel()
        try:
            opened = await attempt
        except asyncio.CancelledError:
            return
        except (ClientError, OSError, TimeoutError, ValueError) as error:
            self._tell_trouble(_words(error))
            return
        await self._talk(opened)

    async def _handshake(self, session: ClientSession) -> ClientWebSocketResponse:
        async with asyncio.timeout(PATIENCE):
            return await session.ws_connect(self.url, max_msg_size=LONGEST)

    async def _talk(self, opened: ClientWebSocketResponse) -> None:
        logger.info("husky: connected to the rover server at %s", self.url)
        self._trouble = ""
        with self._lock:
            self.connected = True
            self.connections += 1
        work = [self._receive(opened), self._send_on(opened), self._over.wait()]
        tasks = {asyncio.ensure_future(part) for part in work}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            with self._lock:
                self.connected = False
                self._reports.clear()  # who comes next is told nothing old
                self._pictures.clear()
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(TimeoutError, ClientError, OSError):
                await asyncio.wait_for(opened.close(), GOODBYE)
        for result in results:
            if isinstance(result, Exception):
                self._tell_trouble(_words(result))
        logger.info("husky: the connection to %s has ended", self.url)

    async def _receive(self, opened: ClientWebSocketResponse) -> None:
        async for message in opened:
            if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                self._hear(message.data)

    async def _send_on(self, opened: ClientWebSocketResponse) -> None:
        while True:
            await self._something.wait()
            self._something.clear()
            while (text := self._next()) is not None:
                async with asyncio.timeout(STALLED):
                    await opened.send_str(text)
                self.sent += 1

    def _next(self) -> str | None:
        """What goes out next: reports before pictures, and of these the one that waits longest."""
        with self._lock:
            if self._reports:
                return self._reports.popleft()
            if self._pictures:
                return self._pictures.pop(next(iter(self._pictures)))
        return None

    def _tell_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            logger.info("husky: no connection to %s: %s; trying on", self.url, trouble)


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, WSServerHandshakeError):
        return f"the answer is {error.status}; is another simulator connected?"
    if isinstance(error, ClientConnectorError):
        return "cannot connect"
    return type(error).__name__
