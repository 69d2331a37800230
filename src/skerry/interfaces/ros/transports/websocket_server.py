"""Base class of transports that serve clients over WebSockets; a `ClientSession` implements the protocol."""

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
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage
from skerry.interfaces.ros.bus.transport import Transport, TransportConfig

logger = logging.getLogger("skerry")

Frame = str | bytes
"""WebSocket message: text or binary."""

MAX_FRAME: Final = 16 * 2**20  # bytes of a message of a client
HEARTBEAT: Final = 30.0  # s without data after which a client is sent a ping
MAX_REPLIES: Final = 10_000  # replies in the queue of a client; a client that exceeds this is disconnected


class ClientSession(Protocol):
    """Protocol of the session with one client, independent of the socket."""

    def begin(self) -> None:
        """Send the first messages."""

    def receive(self, data: Frame) -> None:
        """Handle data of the client; the client receives an error message if the data is invalid."""

    def frames(self, message: LazyMessage) -> list[Frame]:
        """Return a message of the bus in the format of the client; empty if the client has limited the rate."""

    def close(self) -> None:
        """End the session after the client has disconnected."""


class WebSocketClient:
    """Connected client, with its session and the queues of data to send."""

    def __init__(self, server: WebSocketServer, bus: Bus) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready = asyncio.Event()
        self._replies: list[Frame] = []
        self.queue = SubscriberQueue(self._wake)
        self.session = server.new_session(bus, self.queue, self._reply)

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ready.set)

    def _reply(self, frame: Frame) -> None:
        self._replies.append(frame)
        self._wake()

    async def send_data(self, opened: web.WebSocketResponse, server: WebSocketServer) -> None:
        """Send replies and messages until the socket is closed; the oldest messages of a slow client are dropped."""
        while not opened.closed:
            await self._ready.wait()
            self._ready.clear()
            if len(self._replies) > MAX_REPLIES:
                logger.warning("%s: a client has %s unread replies; disconnected", server.name, len(self._replies))
                await opened.close()
                return
            replies, self._replies = self._replies, []
            for frame in replies:
                await _send(opened, frame)
            for message in self.queue.drain(0.0):
                frames = self.session.frames(message)
                server.sent += bool(frames)
                for frame in frames:
                    await _send(opened, frame)


async def _send(opened: web.WebSocketResponse, frame: Frame) -> None:
    if isinstance(frame, str):
        await opened.send_str(frame)
    else:
        await opened.send_bytes(frame)


class WebSocketServer(Transport):
    """WebSocket server in a thread of its own."""

    name: str
    """Name of the protocol in the status and in log messages."""
    subprotocols: tuple[str, ...] = ()

    def __init__(self, config: WebSocketConfig) -> None:
        self.config = config
        self.sent = 0
        self._clients: set[WebSocketClient] = set()
        self._dropped = 0
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread: Thread | None = None

    @abstractmethod
    def new_session(self, bus: Bus, queue: SubscriberQueue, send: Callable[[Frame], None]) -> ClientSession:
        """Return the session of a new client.

        Args:
            bus: Bus of the simulator.
            queue: Queue that the session subscribes to topics.
            send: Function that sends a frame; it may be called from any thread.
        """

    @property
    def status(self) -> str:
        dropped = self._dropped + sum(client.queue.dropped.total() for client in list(self._clients))
        where = f"{self.name} ws://{self.config.host}:{self.config.port}"
        text = f"{where}, {len(self._clients)} clients, {self.sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    def start(self, bus: Bus) -> None:
        try:
            listener = socket.create_server((self.config.host, self.config.port))
        except OSError as error:
            where = f"{self.config.host}:{self.config.port}"
            raise SkerryError(
                f"{self.name} cannot listen at {where}: {error}; choose another `port` or `host`"
            ) from None
        self._thread = Thread(target=self._run, args=(bus, listener), name=self.name, daemon=True)
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
        async def handle(request: web.Request) -> web.StreamResponse:
            return await self._serve_client(bus, request)

        application = web.Application()
        application.router.add_get("/", handle)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        await self._over.wait()
        await runner.cleanup()

    async def _serve_client(self, bus: Bus, request: web.Request) -> web.StreamResponse:
        opened = web.WebSocketResponse(max_msg_size=MAX_FRAME, heartbeat=HEARTBEAT, protocols=self.subprotocols)
        if self.subprotocols and not opened.can_prepare(request).protocol:
            known = ", ".join(self.subprotocols)
            raise web.HTTPBadRequest(text=f"{self.name} requires one of the WebSocket subprotocols: {known}")
        await opened.prepare(request)
        client = WebSocketClient(self, bus)
        self._clients.add(client)
        logger.info("%s: client %s connected", self.name, request.remote)
        client.session.begin()
        sender = asyncio.create_task(client.send_data(opened, self))
        over = asyncio.create_task(self._close_at_end(opened))
        try:
            async for message in opened:
                if message.type in (WSMsgType.TEXT, WSMsgType.BINARY):
                    client.session.receive(message.data)
        finally:
            sender.cancel()
            over.cancel()
            self._clients.discard(client)
            self._dropped += client.queue.dropped.total()
            client.session.close()
            logger.info("%s: client %s disconnected", self.name, request.remote)
        return opened

    async def _close_at_end(self, opened: web.WebSocketResponse) -> None:
        await self._over.wait()
        await opened.close()


class WebSocketConfig(TransportConfig):
    """Settings of a WebSocket server."""

    host: str = Field("127.0.0.1", min_length=1, description="address to listen on; 0.0.0.0 is every network")
    port: int = Field(ge=1, le=65535)

    def build(self) -> WebSocketServer:
        raise NotImplementedError
