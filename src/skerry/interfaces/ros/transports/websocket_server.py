"""A transport that serves clients over WebSockets, in a thread of its own; what is said there is its conversation's."""

from __future__ import annotations

import asyncio
import logging
import socket
from abc import abstractmethod
from collections.abc import Callable
from threading import Thread
from typing import Final, Protocol

from aiohttp import WSMsgType, web
from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Outbox
from skerry.interfaces.ros.bus.lazy_message import Outgoing
from skerry.interfaces.ros.bus.transport import Transport, TransportConfig

logger = logging.getLogger("skerry")

Frame = str | bytes
"""A message of a WebSocket: text or binary."""

LONGEST: Final = 16 * 2**20  # bytes of one message from a client
HEARTBEAT: Final = 30.0  # s after which a client that says nothing is asked whether it is there
MOST_REPLIES: Final = 10_000  # that wait for a client; one that takes none is let go


class Conversation(Protocol):
    """What is said with one client, without a socket."""

    def begin(self) -> None:
        """Say what is said first."""

    def receive(self, data: Frame) -> None:
        """Take what the client sent; a fault is told to it, and changes nothing."""

    def frames(self, outgoing: Outgoing) -> list[Frame]:
        """A message of the bus as the client wants it; nothing, if it wants fewer of them."""

    def close(self) -> None:
        """The client is gone."""


class Peer:
    """A client, and what waits for it."""

    def __init__(self, server: WebSocketServer, bus: Bus) -> None:
        self._loop = asyncio.get_running_loop()
        self._something = asyncio.Event()
        self._replies: list[Frame] = []
        self.outbox = Outbox(self._wake)
        self.conversation = server.converse(bus, self.outbox, self._reply)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._something.set)

    def _reply(self, frame: Frame) -> None:
        self._replies.append(frame)
        self._wake()

    async def send_on(self, opened: web.WebSocketResponse, server: WebSocketServer) -> None:
        """Send what there is; a client that is slow finds the oldest gone."""
        while not opened.closed:
            await self._something.wait()
            self._something.clear()
            if len(self._replies) > MOST_REPLIES:
                await opened.close()
                return
            replies, self._replies = self._replies, []
            for frame in replies:
                await _send(opened, frame)
            for outgoing in self.outbox.take(0.0):
                frames = self.conversation.frames(outgoing)
                server.sent += bool(frames)
                for frame in frames:
                    await _send(opened, frame)


async def _send(opened: web.WebSocketResponse, frame: Frame) -> None:
    if isinstance(frame, str):
        await opened.send_str(frame)
    else:
        await opened.send_bytes(frame)


class WebSocketServer(Transport):
    """Serves in a thread of its own."""

    word: str
    """What it is called in the status and the log."""
    subprotocols: tuple[str, ...] = ()

    def __init__(self, config: WebSocketConfig) -> None:
        self.config = config
        self.sent = 0
        self._peers: set[Peer] = set()
        self._dropped = 0
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread: Thread | None = None

    @abstractmethod
    def converse(self, bus: Bus, outbox: Outbox, send: Callable[[Frame], None]) -> Conversation:
        """A conversation with a new client, which takes from this outbox; `send` may be called from any thread."""

    @property
    def status(self) -> str:
        dropped = self._dropped + sum(peer.outbox.dropped.total() for peer in list(self._peers))
        where = f"{self.word} ws://{self.config.host}:{self.config.port}"
        text = f"{where}, {len(self._peers)} clients, {self.sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    def start(self, bus: Bus) -> None:
        try:
            listener = socket.create_server((self.config.host, self.config.port))
        except OSError as error:
            where = f"{self.config.host}:{self.config.port}"
            raise SkerryError(f"{self.word} cannot listen at {where}: {error}; give another `port` or `host`") from None
        self._thread = Thread(target=self._run, args=(bus, listener), name=self.word, daemon=True)
        self._thread.start()

    def close(self) -> None:
        if self._thread is None:
            self._loop.close()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(timeout=10.0)

    def _run(self, bus: Bus, listener: socket.socket) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            with listener:
                self._loop.run_until_complete(self._serve(bus, listener))
        finally:
            self._loop.close()

    async def _serve(self, bus: Bus, listener: socket.socket) -> None:
        async def talk(request: web.Request) -> web.StreamResponse:
            return await self._talk(bus, request)

        application = web.Application()
        application.router.add_get("/", talk)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        await self._over.wait()
        await runner.cleanup()

    async def _talk(self, bus: Bus, request: web.Request) -> web.StreamResponse:
        opened = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=HEARTBEAT, protocols=self.subprotocols)
        if self.subprotocols and not opened.can_prepare(request).protocol:
            known = ", ".join(self.subprotocols)
            raise web.HTTPBadRequest(text=f"this is a WebSocket of {self.word}; ask for its subprotocol: {known}")
        await opened.prepare(request)
        peer = Peer(self, bus)
        self._peers.add(peer)
        logger.info("%s: a client came from %s", self.word, request.remote)
        peer.conversation.begin()
        sender = asyncio.create_task(peer.send_on(opened, self))
        over = asyncio.create_task(self._close_at_the_end(opened))
        try:
            async for message in opened:
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    peer.conversation.receive(message.data)
        finally:
            sender.cancel()
            over.cancel()
            self._peers.discard(peer)
            self._dropped += peer.outbox.dropped.total()
            peer.conversation.close()
            logger.info("%s: a client went", self.word)
        return opened

    async def _close_at_the_end(self, opened: web.WebSocketResponse) -> None:
        await self._over.wait()
        await opened.close()


class WebSocketConfig(TransportConfig):
    """Settings of a server for WebSockets."""

    host: str = Field("127.0.0.1", min_length=1, description="where it listens; 0.0.0.0 is every network")
    port: int = Field(ge=1, le=65535)

    def build(self) -> WebSocketServer:
        raise NotImplementedError
