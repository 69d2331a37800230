"""Server of the Foxglove WebSocket protocol, for Foxglove, Lichtblick and similar programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal
from uuid import uuid4

from pydantic import Field

from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.transports.foxglove.protocol import SUBPROTOCOL, FoxgloveSession
from skerry.interfaces.ros.transports.websocket_server import ClientSession, Frame, WebSocketConfig, WebSocketServer


class FoxgloveServer(WebSocketServer):
    """Server of Foxglove clients."""

    name = "foxglove"
    subprotocols = (SUBPROTOCOL,)

    def __init__(self, config: Foxglove) -> None:
        super().__init__(config)
        self._session_id = str(uuid4())  # tells a client that reconnects whether this is the same run

    def new_session(self, bus: Bus, queue: SubscriberQueue, send: Callable[[Frame], None]) -> ClientSession:
        return FoxgloveSession(bus, self._session_id, self.config.carries, queue, send)


class Foxglove(WebSocketConfig):
    """Settings of a server of the Foxglove WebSocket protocol."""

    kind: Literal["foxglove"] = "foxglove"
    port: int = Field(8765, ge=1, le=65535)

    def build(self) -> FoxgloveServer:
        return FoxgloveServer(self)
