"""A server of rosbridge, version 2: for roslibjs, roslibpy, and whatever else speaks JSON over a WebSocket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from skerry.interfaces.ros.bus.bus import Bus, Outbox
from skerry.interfaces.ros.transports.rosbridge.frames import RosbridgeFrames
from skerry.interfaces.ros.transports.rosbridge.rosapi import RosApi
from skerry.interfaces.ros.transports.websocket_server import Conversation, Frame, WebSocketConfig, WebSocketServer


class RosbridgeServer(WebSocketServer):
    """Serves in a thread of its own."""

    word = "rosbridge"

    def __init__(self, config: Rosbridge) -> None:
        super().__init__(config)
        self.relayed: set[str] = set()

    def start(self, bus: Bus) -> None:
        self.api = RosApi(bus)
        super().start(bus)

    def converse(self, bus: Bus, outbox: Outbox, send: Callable[[Frame], None]) -> Conversation:
        return RosbridgeFrames(bus, self.api, self.relayed, self.config.carries, outbox, send)


class Rosbridge(WebSocketConfig):
    """A server of rosbridge, version 2."""

    kind: Literal["rosbridge"] = "rosbridge"
    port: int = Field(9090, ge=1, le=65535)

    def build(self) -> RosbridgeServer:
        return RosbridgeServer(self)
