"""Connected client of the page's server: its subscriptions, its send queues and its flow control.

A slow client must not delay the others, and must not be shown old data. So only the latest message of most streams
waits for it, and at most `MAX_IN_FLIGHT` messages are sent that the client has not acknowledged as drawn. The limit is
needed because browsers read their sockets without limit and queue the messages. Sonar lines, events and replies wait in
queues of limited length.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final

from skerry.ui import protocol
from skerry.ui.frame_writer import WebSocketFrameWriter

MAX_IN_FLIGHT: Final = 24  # binary messages that were sent and not yet acknowledged
MAX_LINES: Final = 256  # queued lines of a sonar; the oldest ones are dropped
MAX_EVENTS: Final = 200  # queued events; the oldest ones are dropped
MAX_REPLIES: Final = 200  # queued replies; the server does not read requests while the queue is full
MAX_WRITE_BYTES: Final = 64 * 1024  # bytes after which no more messages are added to a write
EARLY_MARGIN: Final = 0.5 / 30  # s by which a message may be early: half the sampling period of the page
SEND_TIMEOUT: Final = 20.0  # s that a write may take before the client is disconnected


class PageClient:
    """Client with an open WebSocket: a web page, or a program that uses the same protocol."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.subscriptions: Mapping[str, float] = {}  # rate, Hz, by stream
        self.sent = 0
        self.drawn = 0
        self.dropped = 0  # messages that were replaced before they were sent
        self._due: dict[str, float] = {}  # wall time at which the next message of a stream is due, s
        self._latest: dict[str, bytes] = {}
        self._lines: dict[str, tuple[int, deque[tuple[int, protocol.SonarLine]]]] = {}
        self._replies: deque[dict[str, Any]] = deque()
        self._events: deque[str] = deque(maxlen=MAX_EVENTS)
        self._scene: str | None = None
        self._state: str | None = None
        self._sending_since: float | None = None  # wall time at which the present write started, s
        self._wake = asyncio.Event()
        self._has_room = asyncio.Event()
        self._is_disconnected = False

    # -------------------------------------------------------------------------------------------- subscriptions

    def subscribe(self, rates: Mapping[str, float]) -> None:
        """Replace all subscriptions.

        Args:
            rates: Rate, Hz of wall time, by the name of the stream.
        """
        self.subscriptions = dict(rates)
        self._due = {name: due for name, due in self._due.items() if name in rates}
        self._latest = {name: data for name, data in self._latest.items() if name in rates}
        self._lines = {name: lines for name, lines in self._lines.items() if name in rates}

    def is_due(self, stream: str, now: float) -> bool:
        """Return whether the client is subscribed to the stream and its next message is due."""
        hz = self.subscriptions.get(stream)
        return hz is not None and now >= self._due.get(stream, 0.0) - EARLY_MARGIN

    def acknowledge(self, count: int) -> None:
        """Record how many binary messages the client has drawn since it connected."""
        was_full = self._is_full
        self.drawn = min(max(count, self.drawn), self.sent)
        if was_full:
            self._wake.set()

    # -------------------------------------------------------------------------------------------- queues

    def queue_message(self, stream: str, data: bytes, now: float) -> None:
        """Queue the latest message of a stream, in place of the one that waits."""
        self._due[stream] = max(self._due.get(stream, 0.0) + 1.0 / self.subscriptions[stream], now)
        self.dropped += stream in self._latest
        self._latest[stream] = data
        self._wake.set()

    def queue_line(self, stream: str, number: int, line: protocol.SonarLine, count: int) -> None:
        """Queue a line of a sonar.

        Args:
            stream: Name of the stream.
            number: Number of the stream in the header of the message.
            line: The line. A line of another length or range drops the lines that wait.
            count: Number of lines of this stream so far.
        """
        _, lines = self._lines.setdefault(stream, (number, deque(maxlen=MAX_LINES)))
        if lines and (lines[0][1].range, len(lines[0][1].levels)) != (line.range, len(line.levels)):
            lines.clear()
        lines.append((count, line))
        self._wake.set()

    def queue_reply(self, answer: dict[str, Any]) -> None:
        """Queue the reply to a request."""
        self._replies.append(answer)
        self._wake.set()

    async def wait_for_room(self) -> None:
        """Wait until fewer than `MAX_REPLIES` replies are queued."""
        while len(self._replies) >= MAX_REPLIES and not self._is_disconnected:
            self._has_room.clear()
            await self._has_room.wait()

    def queue_event(self, event: str) -> None:
        """Queue an event, encoded as JSON."""
        self._events.append(event)
        self._wake.set()

    def queue_scene(self, scene: str) -> None:
        """Queue a new scene, encoded as JSON, and drop the messages of the previous one."""
        self._scene = scene
        self._latest.clear()
        self._lines.clear()
        self._wake.set()

    def queue_state(self, state: str) -> None:
        """Queue the latest state, encoded as JSON."""
        self._state = state
        self._wake.set()

    # -------------------------------------------------------------------------------------------- sending

    async def run_sender(self, writer: WebSocketFrameWriter) -> None:
        """Send queued messages until the connection closes."""
        try:
            while not writer.closed:
                await self._wake.wait()
                self._wake.clear()
                while messages := self._next_messages():
                    self._sending_since = time.monotonic()  # a timer for each message would cost more than the message
                    await writer.send(messages)
                    self._sending_since = None
        except ConnectionError:
            pass  # the receiving task ends for the same reason
        finally:
            self._is_disconnected = True
            self._has_room.set()

    @property
    def _is_full(self) -> bool:
        return self.sent - self.drawn >= MAX_IN_FLIGHT

    @property
    def is_stalled(self) -> bool:
        """Whether the present write has taken longer than `SEND_TIMEOUT`."""
        return self._sending_since is not None and time.monotonic() - self._sending_since > SEND_TIMEOUT

    def _next_messages(self) -> list[str | bytes]:
        """Return the messages of the next write."""
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
                count, last = lines[-1]
                del self._lines[
                    stream
                ]  # the next line goes to the end of the dict, so that all streams have their turn
                return protocol.message(protocol.sonar_lines([line for _, line in lines]), number, count, last.time)
        for stream in self._latest:
            return self._latest.pop(stream)
        return None
