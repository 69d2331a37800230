"""Connections of a ROS 1 node with their statistics, log messages about peers, and notification between threads."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, Literal

logger = logging.getLogger("skerry")

MAX_WARNINGS: Final = 200  # warnings about peers that are logged
MAX_INT: Final = 2**31 - 1  # largest integer of XML-RPC


class WarningLog:
    """Log of warnings about peers; equal warnings are logged once, so that a faulty peer cannot fill the log."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def warn(self, text: str, with_traceback: bool = False) -> None:
        """Log a warning, unless it was logged before; call it in an `except` block if `with_traceback` is True."""
        if text not in self._logged and len(self._logged) < MAX_WARNINGS:
            self._logged.add(text)
            logger.warning("%s", text, exc_info=with_traceback)


class LoopNotifier:
    """Setter of the events of an asyncio loop from other threads; several events need one call of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._events: deque[asyncio.Event] = deque()
        self._is_scheduled = False

    def notify(self, event: asyncio.Event) -> None:
        """Set an event soon; does nothing after the loop has ended."""
        self._events.append(event)
        if (
            not self._is_scheduled
        ):  # checked after the event is added, and cleared before events are set, so none is missed
            self._is_scheduled = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._set_all)

    def _set_all(self) -> None:
        self._is_scheduled = False
        while self._events:
            self._events.popleft().set()


@dataclass(eq=False)
class Connection:
    """Connection that transfers one topic."""

    number: int
    peer: str  # name of the subscriber or address of the publisher
    direction: Literal["i", "o"]
    topic: str
    description: str
    messages: int = 0
    bytes: int = 0

    def count(self, size: int) -> None:
        """Count a message of `size` bytes."""
        self.messages += 1
        self.bytes += size


class Connections:
    """All connections that transfer topics."""

    def __init__(self) -> None:
        self._connections: dict[int, Connection] = {}
        self._numbers = count(1)
        self.sent = 0
        """Number of messages sent over all connections, including closed ones."""

    @contextmanager
    def opened(
        self, peer: str, direction: Literal["i", "o"], topic: str, writer: asyncio.StreamWriter
    ) -> Iterator[Connection]:
        """Add a connection for the duration of the block."""
        here, there = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        # `rosnode info` parses this text
        description = f"TCPROS connection on port {here[1]} to [{there[0]}:{there[1]} on socket {_descriptor(writer)}]"
        connection = Connection(next(self._numbers), peer, direction, topic, description)
        self._connections[connection.number] = connection
        try:
            yield connection
        finally:
            del self._connections[connection.number]

    def count(self, direction: Literal["i", "o"]) -> int:
        """Return the number of connections in a direction: "i" for incoming, "o" for outgoing messages."""
        return sum(connection.direction == direction for connection in list(self._connections.values()))

    def info(self) -> list[list[Any]]:
        """Return the connections in the format of `getBusInfo`."""
        return [
            [
                connection.number,
                connection.peer,
                connection.direction,
                "TCPROS",
                connection.topic,
                1,
                connection.description,
            ]
            for connection in self._connections.values()
        ]

    def statistics(self) -> list[list[Any]]:
        """Return the statistics in the format of `getBusStats`; those of services are zero."""
        published: dict[str, list[Any]] = {}
        subscribed: dict[str, list[Any]] = {}
        for connection in self._connections.values():
            numbers = [connection.number, min(connection.bytes, MAX_INT), min(connection.messages, MAX_INT)]
            if connection.direction == "o":
                published.setdefault(connection.topic, []).append([*numbers, True])
            else:
                subscribed.setdefault(connection.topic, []).append([numbers[0], numbers[2], 0, True])
        sums = [[name, min(sum(row[1] for row in rows), MAX_INT), rows] for name, rows in published.items()]
        return [sums, [[name, rows] for name, rows in subscribed.items()], [0, 0, 0]]


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Enable TCP keep-alive, so that the loss of a peer is detected."""
    if (found := writer.get_extra_info("socket")) is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _descriptor(writer: asyncio.StreamWriter) -> int:
    found = writer.get_extra_info("socket")
    return -1 if found is None else int(found.fileno())
