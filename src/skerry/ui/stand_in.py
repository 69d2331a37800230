"""A stand-in for a browser: takes the streams that it is told to, and acknowledges them as often as a page draws."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

from aiohttp import ClientSession, WSMsgType


async def look_on(port: int, rates: Mapping[str, float], frame: float) -> int:
    """Look at a server of this machine until it ends; `frame` is the time between two frames, s.

    `rates` are the streams wanted, Hz. Gives the number of binary messages that came.
    """
    streams = {name: {"hz": hz} for name, hz in rates.items()}
    drawn, last = 0, 0.0
    async with ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{port}/ws", max_msg_size=0) as opened:
        async for message in opened:
            if message.type is WSMsgType.BINARY:
                drawn += 1
                if (now := time.perf_counter()) - last >= frame:
                    last = now
                    await opened.send_json({"op": "ack", "n": drawn})
            elif message.type is WSMsgType.TEXT and json.loads(message.data)["type"] == "scene":
                await opened.send_json({"op": "sub", "streams": streams})
    return drawn


def serve_pipe(pipe: Any, rates: Mapping[str, float], frame: float) -> None:
    """Be a process: look at each server whose port comes through the pipe, and say how many messages came."""
    pipe.send("ready")
    while (port := pipe.recv()) is not None:
        pipe.send(asyncio.run(look_on(port, rates, frame)))
