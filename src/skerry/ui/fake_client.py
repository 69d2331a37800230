"""Fake browser for benchmarks: subscribes to streams and acknowledges messages at the frame rate of a page."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

DRAW_SHARE: Final = 0.9  # fraction of its time in which a slow page draws and does not read its socket
ACKNOWLEDGE_COUNT: Final = 8  # messages drawn after which the page acknowledges, as in the page's net.js
ACKNOWLEDGE_PERIOD: Final = 0.05  # s after which the page acknowledges fewer messages, as in the page's net.js
SLOW_FRAME: Final = 0.1  # s; a page with longer frames is blocked while it draws


class FakeClient:
    """Client of the page's server that draws nothing.

    `ages` has one entry for each frame with new messages: the wall time, s, minus the simulated time of the newest
    message, s. Subtract the wall time at which the world started from it to get the age of that message.
    """

    def __init__(self, rates: Mapping[str, float], frame: float) -> None:
        self.ages: list[float] = []
        self._streams = {name: {"hz": hz} for name, hz in rates.items()}
        self._frame = frame
        self._arrived = self._acknowledged = 0
        self._newest = 0.0  # simulated time of the newest message, s

    async def run(self, port: int) -> None:
        """Connect to a server on this machine and read messages until the server closes."""
        address = f"http://127.0.0.1:{port}/ws"
        async with ClientSession() as session, session.ws_connect(address, max_msg_size=0) as opened:
            drawing = asyncio.create_task(self._draw(opened))
            async for message in opened:
                if message.type is WSMsgType.BINARY:
                    self._arrived += 1
                    self._newest = max(self._newest, struct.unpack_from("<d", message.data, 8)[0])
                elif message.type is WSMsgType.TEXT and json.loads(message.data)["type"] == "scene":
                    await opened.send_json({"op": "sub", "streams": self._streams})
            drawing.cancel()

    async def _draw(self, opened: ClientWebSocketResponse) -> None:
        """Once per frame, acknowledge the messages that have arrived, and block for the time of drawing."""
        busy = DRAW_SHARE * self._frame if self._frame > SLOW_FRAME else 0.0
        drawn, acknowledged_at = 0, 0.0
        while True:
            await asyncio.sleep(self._frame - busy)
            now = time.perf_counter()
            if self._arrived > drawn:
                drawn = self._arrived
                self.ages.append(now - self._newest)
            count = drawn - self._acknowledged
            if count and (count >= ACKNOWLEDGE_COUNT or now - acknowledged_at >= ACKNOWLEDGE_PERIOD):
                self._acknowledged, acknowledged_at = drawn, now
                await opened.send_json({"op": "ack", "n": drawn})
            time.sleep(busy)  # a browser that draws reads no messages


def serve_clients(pipe: Any, rates: Mapping[str, float], frame: float) -> None:
    """Run one client after another in this process.

    Args:
        pipe: Connection to the parent process. Each number that arrives is the port of a server; None ends the
            function. After each server has closed, the list of ages is sent back.
        rates: Rate of each stream, Hz.
        frame: Time between two frames, s.
    """
    pipe.send("ready")
    while (port := pipe.recv()) is not None:
        client = FakeClient(rates, frame)
        asyncio.run(client.run(port))
        pipe.send(client.ages)
