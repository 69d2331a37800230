"""Fake rover server for tests and benchmarks: checks reports as the real servers do, and sends given requests.

It behaves like the servers of Husky Robotics (Resurgence of February 2023 and of February 2026). It accepts one client
at `/simulator` and answers 400 Bad Request to a second client and to any other path. The server of 2023 first requests
three cameras. Reports that would have crashed a real server are kept in `faults`.
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
"""Requests that the server of 2023 sends as soon as a simulator connects."""

REQUIRED_KEYS: Final = {
    "simMotorStatusReport": {"motor"},
    "simCameraStreamReport": {"camera", "data"},
    "simRoverTruePoseReport": {"position", "rotation"},
    "simGpsPositionReport": {"latitude", "longitude", "altitude"},
    "simImuOrientationReport": {"x", "y", "z", "w"},
    "simLidarReport": {"points"},
}
"""Keys of each report without which a real server crashes."""


class FakeRoverServer:
    """Rover server in its own thread. `counts` holds the number of reports by type and by `camera NAME`."""

    def __init__(self, opens: Iterable[dict[str, Any]] = (), port: int = 0, keep: bool = True) -> None:
        """Create a server that starts when its `with` block is entered.

        Args:
            opens: Requests that are sent to the first client.
            port: Port to listen at; 0 is any free port.
            keep: Whether to keep all reports in `reports`.
        """
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
        self._closing = asyncio.Event()
        self._thread = Thread(target=self._run, name="rover-server", daemon=True)

    @property
    def url(self) -> str:
        """Address for a simulator."""
        return f"ws://127.0.0.1:{self.port}/simulator"

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and end the thread; a second call has no effect."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join(timeout=10.0)

    def send(self, message: Any) -> None:
        """Send a message to the simulator: text and bytes unchanged, other values as JSON."""
        text = message if isinstance(message, str | bytes) else json.dumps(message)
        asyncio.run_coroutine_threadsafe(self._send(text), self._loop).result(10.0)

    def abort(self) -> None:
        """Abort the connection without a closing handshake, as a process that dies does."""
        self._loop.call_soon_threadsafe(self._abort)

    def wait(self, until: Callable[[FakeRoverServer], bool], seconds: float = 60.0) -> bool:
        """Wait until a condition is true; return False after `seconds`."""
        with self._changed:
            return self._changed.wait_for(lambda: until(self), seconds)

    def received(self, kind: str) -> list[dict[str, Any]]:
        """Return the received reports of a type."""
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
        application.router.add_get("/{path:.*}", self._serve_client)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await self._closing.wait()
        if self._client is not None:
            await self._client.close()
        await runner.cleanup()

    async def _serve_client(self, request: web.Request) -> web.StreamResponse:
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
                        self._add_report(message.data)
                        self._changed.notify_all()
        finally:
            self._client = None
        return client

    async def _send(self, text: str | bytes) -> None:
        if self._client is not None:
            with suppress(ConnectionError):  # the simulator may disconnect meanwhile
                await (self._client.send_str(text) if isinstance(text, str) else self._client.send_bytes(text))

    def _abort(self) -> None:
        if self._client is not None and self._client._req is not None and self._client._req.transport is not None:
            self._client._req.transport.abort()

    def _add_report(self, text: str) -> None:
        try:
            report = json.loads(text, parse_constant=_refuse_constant)
        except ValueError:
            self.faults.append(f"invalid JSON: {text[:60]}")
            return
        kind = str(report.get("type"))
        self.counts[kind] += 1
        if kind == "simCameraStreamReport":
            self.counts[f"camera {report.get('camera')}"] += 1
        missing = REQUIRED_KEYS.get(kind, set()) - {key for key, value in report.items() if value is not None}
        if missing or kind == "simLimitSwitchAlert" or report.get("data") == "":
            self.faults.append(f"{kind}: {', '.join(sorted(missing)) or 'crashes the server'}")
        if self._keep:
            self.reports.append(report)


def _refuse_constant(text: str) -> None:
    raise ValueError(text)
