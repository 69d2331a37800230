"""A server of rosbridge, version 2: for roslibjs, roslibpy, and whatever else speaks JSON over a WebSocket."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
from threading import Thread
from typing import Any, Final, Literal

from aiohttp import WSMsgType, web
from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus import Bus, Outbox
from skerry.interfaces.ros.rosapi import RosApi
from skerry.interfaces.ros.rosbridge_protocol import Conversation
from skerry.interfaces.ros.transport import Transport, TransportConfig

logger = logging.getLogger("skerry")

LONGEST: Final = 16 * 2**20  # bytes of one message from a client
HEARTBEAT: Final = 30.0  # s after which a client that says nothing is asked whether it is there
MOST_REPLIES: Final = 10_000  # that wait for a client; one that takes none is let go


class Peer:
    """A client: its conversation, and what waits for it."""

    def __init__(self, server: RosbridgeServer, bus: Bus) -> None:
        self._loop = asyncio.get_running_loop()
        self._something = asyncio.Event()
        self.replies: list[Any] = []
        self.outbox = Outbox(self._wake)
        self.conversation = Conversation(
            bus, server.api, server.relayed, server.config.carries, self.outbox, self._reply
        )

    def _wake(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._something.set)

    def _reply(self, answer: Any) -> None:
        self.replies.append(answer)
        self._wake()

    async def send_on(self, opened: web.WebSocketResponse, server: RosbridgeServer) -> None:
        """Send what there is; a client that is slow finds the oldest gone."""
        while not opened.closed:
            await self._something.wait()
            self._something.clear()
            if len(self.replies) > MOST_REPLIES:
                await opened.close()
                return
            replies, self.replies = self.replies, []
            for reply in replies:
                await opened.send_str(json.dumps(reply))
            for outgoing in self.outbox.take(0.0):
                if (said := self.conversation.says(outgoing)) is not None:
                    server.sent += 1
                    await opened.send_str(json.dumps(said))


class RosbridgeServer(Transport):
    """Serves in a thread of its own."""

    def __init__(self, config: Rosbridge) -> None:
        self.config = config
        self.sent = 0
        self.relayed: set[str] = set()
        self._peers: set[Peer] = set()
        self._dropped = 0
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread: Thread | None = None

    @property
    def status(self) -> str:
        dropped = self._dropped + sum(peer.outbox.dropped.total() for peer in list(self._peers))
        text = f"rosbridge ws://{self.config.host}:{self.config.port}, {len(self._peers)} clients, {self.sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    def start(self, bus: Bus) -> None:
        self.api = RosApi(bus)
        try:
            listener = socket.create_server((self.config.host, self.config.port))
        except OSError as error:
            where = f"{self.config.host}:{self.config.port}"
            raise SkerryError(f"rosbridge cannot listen at {where}: {error}; give another `port` or `host`") from None
        self._thread = Thread(target=self._run, args=(bus, listener), name="rosbridge", daemon=True)
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
        async def talk(request: web.Request) -> web.WebSocketResponse:
            return await self._talk(bus, request)

        application = web.Application()
        application.router.add_get("/", talk)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        await self._over.wait()
        await runner.cleanup()

    async def _talk(self, bus: Bus, request: web.Request) -> web.WebSocketResponse:
        opened = web.WebSocketResponse(max_msg_size=LONGEST, heartbeat=HEARTBEAT)
        await opened.prepare(request)
        peer = Peer(self, bus)
        self._peers.add(peer)
        logger.info("rosbridge: a client came from %s", request.remote)
        sender = asyncio.create_task(peer.send_on(opened, self))
        over = asyncio.create_task(self._close_at_the_end(opened))
        try:
            async for message in opened:
                if message.type is WSMsgType.TEXT:
                    peer.conversation.receive(message.data)
        finally:
            sender.cancel()
            over.cancel()
            self._peers.discard(peer)
            self._dropped += peer.outbox.dropped.total()
            peer.conversation.close()
            logger.info("rosbridge: a client went")
        return opened

    async def _close_at_the_end(self, opened: web.WebSocketResponse) -> None:
        await self._over.wait()
        await opened.close()


class Rosbridge(TransportConfig):
    """A server of rosbridge, version 2."""

    kind: Literal["rosbridge"] = "rosbridge"
    host: str = Field("127.0.0.1", min_length=1, description="where it listens; 0.0.0.0 is every network")
    port: int = Field(9090, ge=1, le=65535)

    def build(self) -> RosbridgeServer:
        return RosbridgeServer(self)
