"""A stand-in for a rover server, for tests and figures: it takes reports as the real ones do, and asks what it is told.

It does what was seen of the servers of Husky Robotics (Resurgence of February 2023 and of February 2026): one client on
`/simulator`, and 400 Bad Request for a second one and for any other path; nothing is said first but, in 2023, requests
for three cameras. What would have ended a real server is kept in `faults`.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from threading import Condition, Event, Thread
from typing import Any, Final, Self

from aiohttp import WSMsgType, web

SPEC_CAMERAS: Final = tuple(
    {
        "camera": camera,
        "fps": 20,
        "height": 480,
        "intrinsics": [649.367647732774, 0, 335.4615230596706, 0, 647.7680498253379, 247.8566088907749, 0, 0, 1],
        "type": "simCameraStreamOpenRequest",
        "width": 640,
    }
    for camera in ("front", "rear", "upperArm")
)
"""What the server of 2023 asks for as soon as a simulator connects."""

NEEDED: Final = {
    "simMotorStatusReport": {"motor"},
    "simCameraStreamReport": {"camera", "data"},
    "simRoverTruePoseReport": {"position", "rotation"},
    "simGpsPositionReport": {"latitude", "longitude", "altitude"},
    "simImuOrientationReport": {"x", "y", "z", "w"},
    "simLidarReport": {"points"},
}
"""Keys without which a server ends."""


class RoverServer:
    """Serves in a thread of its own, at a free port unless one is given. `counts` are of types and `camera NAME`."""

    def __init__(self, opens: Iterable[dict[str, Any]] = (), port: int = 0, keep: bool = True) -> None:
        self.port = port
        self.reports: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.connections = 0
        self._opens = tuple(opens)
        self._keep = keep
        self._client: web.WebSocketResponse | None = None
        self._changed = Condition()
        self._ready = Event()
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = Thread(target=self._run, name="rover-server", daemon=True)

    @property
    def url(self) -> str:
        """Where a simulator finds it."""
        return f"ws://127.0.0.1:{self.port}/simulator"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it; closing twice is harmless."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._over.set)
            self._thread.join(timeout=10.0)

    def send(self, message: Any) -> None:
        """Say something to the simulator: text as it is, all else as JSON."""
        text = message if isinstance(message, str | bytes) else json.dumps(message)
        asyncio.run_coroutine_threadsafe(self._send(text), self._loop).result(10.0)

    def cut(self) -> None:
        """End the connection without a word, as a process that dies does."""
        self._loop.call_soon_threadsafe(self._cut)

    def wait(self, until: Callable[[RoverServer], bool], seconds: float = 60.0) -> bool:
        """Wait for something to be true; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: until(self), seconds)

    def said(self, kind: str) -> list[dict[str, Any]]:
        """What it was told of a type."""
        return [report for report in self.reports if report.get("type") == kind]

    # -------------------------------------------------------------------------------------------- in the thread

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        application = web.Application()
        application.router.add_get("/{path:.*}", self._talk)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._over.wait()
        if self._client is not None:
            await self._client.close()
        await runner.cleanup()

    async def _talk(self, request: web.Request) -> web.StreamResponse:
        if request.path != "/simulator" or self._client is not None:
            return web.Response(status=400, text="Bad Request")
        client = self._client = web.WebSocketResponse(max_msg_size=2**26)
        try:
            await client.prepare(request)
            with self._changed:
                self.connections += 1
                self._changed.notify_all()
            for opening in self._opens if self.connections == 1 else ():
                await client.send_str(json.dumps(opening))
            async for message in client:
                if message.type is WSMsgType.TEXT:
                    with self._changed:
                        self._take(message.data)
                        self._changed.notify_all()
        finally:
            self._client = None
        return client

    async def _send(self, text: str | bytes) -> None:
        if self._client is not None:
            with suppress(ConnectionError):  # the simulator may go meanwhile
                await (self._client.send_str(text) if isinstance(text, str) else self._client.send_bytes(text))

    def _cut(self) -> None:
        if self._client is not None and self._client._req is not None and self._client._req.transport is not None:
            self._client._req.transport.abort()

    def _take(self, text: str) -> None:
        try:
            report = json.loads(text, parse_constant=_refuse)
        except ValueError:
            self.faults.append(f"invalid JSON: {text[:60]}")
            return
        kind = str(report.get("type"))
        self.counts[kind] += 1
        if kind == "simCameraStreamReport":
            self.counts[f"camera {report.get('camera')}"] += 1
        missing = NEEDED.get(kind, set()) - {key for key, value in report.items() if value is not None}
        if missing or kind == "simLimitSwitchAlert" or report.get("data") == "":
            self.faults.append(f"{kind}: {', '.join(sorted(missing)) or 'kills the server'}")
        if self._keep:
            self.reports.append(report)


def _refuse(word: str) -> None:
    raise ValueError(word)
