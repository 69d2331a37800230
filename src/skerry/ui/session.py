"""A page that is connected: what it wants, what waits for it, and how much it has drawn.

A slow page must neither hold up others nor see what is long past. So of most streams only the latest message waits for
it, and no more than `MAX_IN_FLIGHT` messages are under way that it has not drawn yet: browsers read sockets eagerly
and queue without end. Lines of sonars, events and answers wait in queues that have an end.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.ui import protocol
from skerry.ui.frame_writer import WebSocketFrameWriter

MAX_IN_FLIGHT: Final = 24  # binary messages that were sent and not drawn
MAX_LINES: Final = 256  # of a sonar that wait; the oldest go
MAX_EVENTS: Final = 200  # that wait; the oldest go
MAX_REPLIES: Final = 200  # that wait; a client that does not take them is not listened to
MAX_WRITE_BYTES: Final = 64 * 1024  # bytes after which a write has enough messages
EARLY_MARGIN: Final = 0.5 / 30  # s by which a message may be early: half a tick of the page
SEND_TIMEOUT: Final = 20.0  # s that a message may take to leave; a client that takes longer is let go


class PageClient:
    """One page, or whoever speaks as one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.subscriptions: Mapping[str, float] = {}  # streams, with the Hz at which they are rates
        self.sent = 0
        self.drawn = 0
        self.dropped = 0  # messages that were replaced before they left
        self._due: dict[str, float] = {}  # the wall time at which each stream is next due
        self._latest: dict[str, bytes] = {}
        self._lines: dict[str, tuple[int, deque[tuple[int, float, NDArray[np.uint8]]]]] = {}
        self._replies: deque[dict[str, Any]] = deque()
        self._events: deque[str] = deque(maxlen=MAX_EVENTS)
        self._scene: str | None = None
        self._state: str | None = None
        self._sending_since: float | None = None  # when the message that is leaving began to
        self._wake = asyncio.Event()
        self._has_room = asyncio.Event()
        self._is_disconnected = False

    # -------------------------------------------------------------------------------------------- what it wants

    def subscribe(self, rates: Mapping[str, float]) -> None:
        """Take the full set of streams that it wants from now on."""
        self.subscriptions = dict(rates)
        self._due = {name: due for name, due in self._due.items() if name in rates}
        self._latest = {name: data for name, data in self._latest.items() if name in rates}
        self._lines = {name: lines for name, lines in self._lines.items() if name in rates}

    def is_due(self, stream: str, now: float) -> bool:
        """Whether it wants this stream again by now."""
        hz = self.subscriptions.get(stream)
        return hz is not None and now >= self._due.get(stream, 0.0) - EARLY_MARGIN

    def acknowledge(self, count: int) -> None:
        """It has drawn so many binary messages since it connected."""
        was_full = self._is_full
        self.drawn = min(max(count, self.drawn), self.sent)
        if was_full:
            self._wake.set()

    # -------------------------------------------------------------------------------------------- what waits for it

    def queue_message(self, stream: str, data: bytes, now: float) -> None:
        """The latest message of a stream."""
        self._due[stream] = max(self._due.get(stream, 0.0) + 1.0 / self.subscriptions[stream], now)
        self.dropped += stream in self._latest
        self._latest[stream] = data
        self._wake.set()

    def queue_line(self, stream: str, number: int, time: float, row: NDArray[np.uint8], count: int) -> None:
        """A line of a sonar: the stream's number, when, the line, and how many there were of this stream."""
        _, lines = self._lines.setdefault(stream, (number, deque(maxlen=MAX_LINES)))
        if lines and len(lines[0][2]) != len(row):
            lines.clear()
        lines.append((count, time, row))
        self._wake.set()

    def queue_reply(self, answer: dict[str, Any]) -> None:
        """An answer to what it asked."""
        self._replies.append(answer)
        self._wake.set()

    async def wait_for_room(self) -> None:
        """Wait until it has taken some of the answers that wait for it."""
        while len(self._replies) >= MAX_REPLIES and not self._is_disconnected:
            self._has_room.clear()
            await self._has_room.wait()

    def queue_event(self, event: str) -> None:
        """Something that happened, as JSON."""
        self._events.append(event)
        self._wake.set()

    def queue_scene(self, scene: str) -> None:
        """Another scene, as JSON: what waited of the one before is of no use."""
        self._scene = scene
        self._latest.clear()
        self._lines.clear()
        self._wake.set()

    def queue_state(self, state: str) -> None:
        """The latest state, as JSON."""
        self._state = state
        self._wake.set()

    # -------------------------------------------------------------------------------------------- sending

    async def run_sender(self, writer: WebSocketFrameWriter) -> None:
        """Send what waits, for as long as it is connected."""
        try:
            while not writer.closed:
                await self._wake.wait()
                self._wake.clear()
                while messages := self._next_messages():
                    self._sending_since = time.monotonic()  # a timer for each message would cost more than the message
                    await writer.send(messages)
                    self._sending_since = None
        except ConnectionError:
            pass  # whoever listens to it notices too
        finally:
            self._is_disconnected = True
            self._has_room.set()

    @property
    def _is_full(self) -> bool:
        return self.sent - self.drawn >= MAX_IN_FLIGHT

    @property
    def is_stalled(self) -> bool:
        """Whether a message has been leaving for too long."""
        return self._sending_since is not None and time.monotonic() - self._sending_since > SEND_TIMEOUT

    def _next_messages(self) -> list[str | bytes]:
        """What is to leave together."""
        messages: list[str | bytes] = []
        size = 0
        while size < MAX_WRITE_BYTES and (message := self._next_message()) is not None:
            messages.append(message)
            size += len(message)
        return messages

    def _next_message(self) -> str | bytes | None:
        text = self._next_text()
        if text is not None:
            return text
        if self._is_full:
            return None
        data = self._next_data()
        self.sent += data is not None
        return data

    def _next_text(self) -> str | None:
        if self._replies:
            self._has_room.set()
            return json.dumps(self._replies.popleft())
        if self._scene is not None:
            text, self._scene = self._scene, None
            return text
        if self._state is not None:
            state, self._state = self._state, None
            return f'{{"type": "state", "you": "{self.name}", {state[1:]}'
        return self._events.popleft() if self._events else None

    def _next_data(self) -> bytes | None:
        for stream, (number, lines) in self._lines.items():
            if lines:
                rows = [row for _, _, row in lines]
                count, time, _ = lines[-1]
                del self._lines[stream]  # to the end, so that all have their turn
                return protocol.message(protocol.sonar_lines(rows), number, count, time)
        for stream in self._latest:
            return self._latest.pop(stream)
        return None
