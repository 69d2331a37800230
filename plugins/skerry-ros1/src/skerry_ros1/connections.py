"""Connections of a node of ROS 1: which there are, how they are told of, and what wakes them from another thread."""

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

MOST_COMPLAINTS: Final = 200  # that are told
LARGEST: Final = 2**31 - 1  # whole number of XML-RPC


class Complaints:
    """Tells what is wrong with peers, each once: one that comes again and again must not fill the log."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def tell(self, text: str, is_ours: bool = False) -> None:
        """Tell it, unless it was told before; in an `except`, with where it came from if the fault is ours."""
        if text not in self._told and len(self._told) < MOST_COMPLAINTS:
            self._told.add(text)
            logger.warning("%s", text, exc_info=is_ours)


class Bell:
    """Sets events of a loop from other threads; many that are rung together cost one call of the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._rung: deque[asyncio.Event] = deque()
        self._is_called = False

    def ring(self, event: asyncio.Event) -> None:
        """Set an event soon; nobody waits for those of a loop that has ended."""
        self._rung.append(event)
        if not self._is_called:  # looked at after the event is there, and unset before events are taken: none is missed
            self._is_called = True
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._set_all)

    def _set_all(self) -> None:
        self._is_called = False
        while self._rung:
            self._rung.popleft().set()


@dataclass(eq=False)
class Link:
    """One connection that carries a topic."""

    number: int
    peer: str  # the name of who subscribes, the address of who publishes
    direction: Literal["i", "o"]
    topic: str
    where: str
    messages: int = 0
    bytes: int = 0

    def count(self, size: int) -> None:
        """A message more, of so many bytes."""
        self.messages += 1
        self.bytes += size


class Links:
    """All connections that carry topics."""

    def __init__(self) -> None:
        self._links: dict[int, Link] = {}
        self._numbers = count(1)
        self.sent = 0
        """Messages, over all connections that there were."""

    @contextmanager
    def opened(
        self, peer: str, direction: Literal["i", "o"], topic: str, writer: asyncio.StreamWriter
    ) -> Iterator[Link]:
        """A new one, while it lasts."""
        here, there = writer.get_extra_info("sockname"), writer.get_extra_info("peername")
        # in the words that `rosnode info` looks for
        where = f"TCPROS connection on port {here[1]} to [{there[0]}:{there[1]} on socket {_descriptor(writer)}]"
        link = Link(next(self._numbers), peer, direction, topic, where)
        self._links[link.number] = link
        try:
            yield link
        finally:
            del self._links[link.number]

    def count(self, direction: Literal["i", "o"]) -> int:
        """How many there are."""
        return sum(link.direction == direction for link in list(self._links.values()))

    def told(self) -> list[list[Any]]:
        """As `getBusInfo` tells of them."""
        return [
            [link.number, link.peer, link.direction, "TCPROS", link.topic, 1, link.where]
            for link in self._links.values()
        ]

    def counted(self) -> list[list[Any]]:
        """As `getBusStats` tells of them: what is published, what is heard, and services, of which none are counted."""
        said: dict[str, list[Any]] = {}
        heard: dict[str, list[Any]] = {}
        for link in self._links.values():
            numbers = [link.number, min(link.bytes, LARGEST), min(link.messages, LARGEST)]
            if link.direction == "o":
                said.setdefault(link.topic, []).append([*numbers, True])
            else:
                heard.setdefault(link.topic, []).append([numbers[0], numbers[2], 0, True])
        sums = [[name, min(sum(row[1] for row in rows), LARGEST), rows] for name, rows in said.items()]
        return [sums, [[name, rows] for name, rows in heard.items()], [0, 0, 0]]


def keep_alive(writer: asyncio.StreamWriter) -> None:
    """Let a peer that has vanished without a word be missed some day."""
    if (found := writer.get_extra_info("socket")) is not None:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)


def _descriptor(writer: asyncio.StreamWriter) -> int:
    found = writer.get_extra_info("socket")
    return -1 if found is None else int(found.fileno())
