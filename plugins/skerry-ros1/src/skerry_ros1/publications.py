"""What a node of ROS 1 publishes: topics of the bus, over one connection for each who subscribes to one."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from typing import Final

from skerry.interfaces.ros.bus.bus import Bus, Outbox, Topic
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry.interfaces.ros.messages.types import short_name
from skerry_ros1.connections import Bell, Link, Links
from skerry_ros1.protocol import ANY, LENGTH, write_header
from skerry_ros1.types import Ros1Types

BURST: Final = 2**16  # bytes that go out in one piece
HIDDEN: Final = "/_action/"  # what carries actions in ROS 2


class Publications:
    """Topics, and those who have subscribed to them."""

    def __init__(self, bus: Bus, types: Ros1Types, carries: Callable[[str], bool], links: Links, bell: Bell) -> None:
        self._bus, self._types, self._carries, self._links, self._bell = bus, types, carries, links, bell
        self._outboxes: set[Outbox] = set()
        self._dropped = 0  # of those who are gone

    @property
    def dropped(self) -> int:
        """Messages that peers were too slow for."""
        return self._dropped + sum(outbox.dropped.total() for outbox in list(self._outboxes))

    def types(self) -> dict[str, str]:
        """The topics that are published, and their types."""
        return {name: short_name(topic.type) for name, topic in self._bus.topics.items() if self._is_carried(topic)}

    def _is_carried(self, topic: Topic) -> bool:
        return HIDDEN not in topic.name and self._carries(topic.name)

    async def serve(self, asked: dict[str, str], reader: StreamReader, writer: StreamWriter) -> None:
        """Send a topic to who asks for it, until they go."""
        topic = self._asked(asked)
        own = {
            "callerid": NODE,
            "latching": "1" if topic.qos.transient_local else "0",
            "md5sum": self._types.sum(topic.type),
            "message_definition": self._types.text(topic.type),
            "topic": topic.name,
            "type": short_name(topic.type),
        }
        writer.write(write_header(own))
        ready = asyncio.Event()
        outbox = Outbox(lambda: self._bell.ring(ready))
        self._outboxes.add(outbox)
        with self._links.opened(asked.get("callerid", "?")[:200], "o", topic.name, writer) as link:
            tasks = {
                asyncio.create_task(self._send_on(topic, outbox, ready, link, writer)),
                asyncio.create_task(_gone(reader)),
            }
            self._bus.takers(outbox, [topic.name])
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._bus.takers(outbox, ())
                self._outboxes.discard(outbox)
                self._dropped += outbox.dropped.total()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _asked(self, asked: dict[str, str]) -> Topic:
        name, kind, found = asked.get("topic", ""), asked.get("type", ANY), asked.get("md5sum", "")
        topic = self._bus.topics.get(name)
        if topic is None or not self._is_carried(topic):
            raise ProtocolError(f"{NODE} does not publish {name[:200]!r}")
        own = self._types.sum(topic.type)
        if found not in (ANY, own):
            raise ProtocolError(
                f"{name} is {short_name(topic.type)} with the sum {own}, and {asked.get('callerid', 'somebody')[:200]} "
                f"wants {kind[:200]} with {found[:32]!r}"
            )
        return topic

    async def _send_on(
        self, topic: Topic, outbox: Outbox, ready: asyncio.Event, link: Link, writer: StreamWriter
    ) -> None:
        """Send what there is; what comes while the peer is slow waits in the outbox, which is bounded."""
        has_header = self._types.has_header(topic.type)
        while True:
            await ready.wait()
            ready.clear()
            pieces: list[bytes | memoryview] = []
            size = 0
            for outgoing in outbox.take(0.0):
                try:
                    data = outgoing.ros1
                except Exception:
                    topic.fail()
                    continue
                pieces.append(LENGTH.pack(len(data)))
                if has_header:  # its number is the publisher's to fill in, and a gap tells that messages were dropped
                    number = link.messages + outbox.dropped.total()
                    pieces += (LENGTH.pack(number % 2**32), memoryview(data)[LENGTH.size :])
                else:
                    pieces.append(data)
                link.count(len(data))
                self._links.sent += 1
                size += len(data)
                if size >= BURST:
                    writer.write(b"".join(pieces))
                    pieces, size = [], 0
                    await writer.drain()
            if pieces:
                writer.write(b"".join(pieces))
                await writer.drain()


async def _gone(reader: StreamReader) -> None:
    """Until the peer ends the connection; who subscribes has nothing more to say."""
    while await reader.read(4096):
        pass
