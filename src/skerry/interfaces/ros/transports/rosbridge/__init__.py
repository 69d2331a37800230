"""Server of the rosbridge protocol, version 2, for roslibjs, roslibpy and other clients with JSON over WebSockets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import Field

from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.transports.rosbridge.frames import RosbridgeFrameSession
from skerry.interfaces.ros.transports.rosbridge.rosapi import RosApi
from skerry.interfaces.ros.transports.websocket_server import ClientSession, Frame, WebSocketConfig, WebSocketServer


class RosbridgeServer(WebSocketServer):
    """Server of rosbridge clients."""

    name = "rosbridge"

    def __init__(self, config: Rosbridge) -> None:
        super().__init__(config)
        self.relayed: set[str] = set()  # topics of clients that the server passes on to other clients

    def start(self, bus: Bus) -> None:
        self.api = RosApi(bus)
        super().start(bus)

    def new_session(self, bus: Bus, queue: SubscriberQueue, send: Callable[[Frame], None]) -> ClientSession:
        return RosbridgeFrameSession(bus, self.api, self.relayed, self.config.carries, queue, send)


class Rosbridge(WebSocketConfig):
    """Settings of a rosbridge server."""

    kind: Literal["rosbridge"] = "rosbridge"
    port: int = Field(9090, ge=1, le=65535)

    def build(self) -> RosbridgeServer:
        return RosbridgeServer(self)
