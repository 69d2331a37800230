"""A stand-in for a browser: takes the streams that it is told to, and acknowledges them as often as a page draws."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Mapping
from typing import Any, Final

from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

DRAW_SHARE: Final = 0.9  # share of a slow page's time in which it draws, and hears nothing
ACKNOWLEDGE_COUNT: Final = 8  # messages; this and what follows as in the page's net.js
ACKNOWLEDGE_PERIOD: Final = 0.05  # s
SLOW_FRAME: Final = 0.1  # s; a page whose frames take longer does nothing else


class FakeClient:
    """Somebody who looks on; `ages` are how old the newest message was when a frame was begun.

    They are seconds of wall time less the message's simulated time: whoever knows when the world began knows the age.
    """

    def __init__(self, rates: Mapping[str, float], frame: float) -> None:
        self.ages: list[float] = []
        self._streams = {name: {"hz": hz} for name, hz in rates.items()}
        self._frame = frame
        self._arrived = self._acknowledged = 0
        self._newest = 0.0  # simulated time, s

    async def run(self, port: int) -> None:
        """Look at a server of this machine until it ends."""
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
        """Frame by frame: acknowledge what has come, as the page does, and draw it."""
        busy = DRAW_SHARE * self._frame if self._frame > SLOW_FRAME else 0.0
        drawn, told = 0, 0.0
        while True:
            await asyncio.sleep(self._frame - busy)
            now = time.perf_counter()
            if self._arrived > drawn:
                drawn = self._arrived
                self.ages.append(now - self._newest)
            count = drawn - self._acknowledged
            if count and (count >= ACKNOWLEDGE_COUNT or now - told >= ACKNOWLEDGE_PERIOD):
                self._acknowledged, told = drawn, now
                await opened.send_json({"op": "ack", "n": drawn})
            time.sleep(busy)  # a browser that draws reads no messages


def serve_clients(pipe: Any, rates: Mapping[str, float], frame: float) -> None:
    """Be a process: look at each server whose port comes through the pipe, and give the ages of what was seen."""
    pipe.send("ready")
    while (port := pipe.recv()) is not None:
        client = FakeClient(rates, frame)
        asyncio.run(client.run(port))
        pipe.send(client.ages)
