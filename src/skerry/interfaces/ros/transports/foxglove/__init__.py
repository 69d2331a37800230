"""A server of Foxglove's WebSockets: for Foxglove, Lichtblick and their kin, which show messages and say some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal
from uuid import uuid4

from pydantic import Field

from skerry.interfaces.ros.bus.bus import Bus, Outbox
from skerry.interfaces.ros.transports.foxglove.protocol import SUBPROTOCOL, FoxgloveConversation
from skerry.interfaces.ros.transports.websocket_server import Conversation, Frame, WebSocketConfig, WebSocketServer


class FoxgloveServer(WebSocketServer):
    """Serves in a thread of its own."""

    word = "foxglove"
    subprotocols = (SUBPROTOCOL,)

    def __init__(self, config: Foxglove) -> None:
        super().__init__(config)
        self._session = str(uuid4())  # by which a client knows whether it has come back to the same run

    def converse(self, bus: Bus, outbox: Outbox, send: Callable[[Frame], None]) -> Conversation:
        return FoxgloveConversation(bus, self._session, self.config.carries, outbox, send)


class Foxglove(WebSocketConfig):
    """A server of Foxglove's WebSockets."""

    kind: Literal["foxglove"] = "foxglove"
    port: int = Field(8765, ge=1, le=65535)

    def build(self) -> FoxgloveServer:
        return FoxgloveServer(self)
