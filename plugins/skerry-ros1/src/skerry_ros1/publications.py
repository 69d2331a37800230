"""Topics that the node publishes, with one connection per subscriber and topic."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from typing import Final

from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue, Topic
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry.interfaces.ros.messages.types import short_name
from skerry_ros1.connections import Connection, Connections, LoopNotifier
from skerry_ros1.protocol import ANY, LENGTH, write_header
from skerry_ros1.types import Ros1Types

BURST: Final = 2**16  # bytes that are sent in one call
HIDDEN: Final = "/_action/"  # namespace of the services and topics of actions in ROS 2


class Publications:
    """Topics of the bus and their subscribers."""

    def __init__(
        self,
        bus: Bus,
        types: Ros1Types,
        carries: Callable[[str], bool],
        connections: Connections,
        notifier: LoopNotifier,
    ) -> None:
        self._bus, self._types, self._carries, self._connections, self._notifier = (
            bus,
            types,
            carries,
            connections,
            notifier,
        )
        self._queues: set[SubscriberQueue] = set()
        self._dropped = 0  # messages of closed connections

    @property
    def dropped(self) -> int:
        """Number of messages that were dropped because subscribers were too slow."""
        return self._dropped + sum(queue.dropped.total() for queue in list(self._queues))

    def types(self) -> dict[str, str]:
        """Return the types of the published topics by name."""
        return {name: short_name(topic.type) for name, topic in self._bus.topics.items() if self._is_carried(topic)}

    def _is_carried(self, topic: Topic) -> bool:
        return HIDDEN not in topic.name and self._carries(topic.name)

    async def serve(self, request: dict[str, str], reader: StreamReader, writer: StreamWriter) -> None:
        """Send a topic to a subscriber until it disconnects; `request` is the header of the connection."""
        topic = self._requested(request)
        own = {
            "callerid": NODE,
            "latching": "1" if topic.qos.transient_local else "0",
            "md5sum": self._types.md5(topic.type),
            "message_definition": self._types.definition(topic.type),
            "topic": topic.name,
            "type": short_name(topic.type),
        }
        writer.write(write_header(own))
        ready = asyncio.Event()
        queue = SubscriberQueue(lambda: self._notifier.notify(ready))
        self._queues.add(queue)
        with self._connections.opened(request.get("callerid", "?")[:200], "o", topic.name, writer) as connection:
            tasks = {
                asyncio.create_task(self._send_messages(topic, queue, ready, connection, writer)),
                asyncio.create_task(_wait_for_end(reader)),
            }
            self._bus.set_subscriptions(queue, [topic.name])
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._bus.set_subscriptions(queue, ())
                self._queues.discard(queue)
                self._dropped += queue.dropped.total()
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _requested(self, request: dict[str, str]) -> Topic:
        name, kind, found = request.get("topic", ""), request.get("type", ANY), request.get("md5sum", "")
        topic = self._bus.topics.get(name)
        if topic is None or not self._is_carried(topic):
            raise ProtocolError(f"{NODE} does not publish {name[:200]!r}")
        own = self._types.md5(topic.type)
        if found not in (ANY, own):
            raise ProtocolError(
                f"{name} has the type {short_name(topic.type)} with MD5 sum {own}, but "
                f"{request.get('callerid', 'the subscriber')[:200]} expects {kind[:200]} with {found[:32]!r}"
            )
        return topic

    async def _send_messages(
        self, topic: Topic, queue: SubscriberQueue, ready: asyncio.Event, connection: Connection, writer: StreamWriter
    ) -> None:
        """Send messages until the task is cancelled; messages for a slow peer wait in the queue, which is bounded."""
        has_header = self._types.has_header(topic.type)
        while True:
            await ready.wait()
            ready.clear()
            pieces: list[bytes | memoryview] = []
            size = 0
            for message in queue.drain(0.0):
                try:
                    data = message.ros1
                except Exception:
                    topic.report_failure()
                    continue
                pieces.append(LENGTH.pack(len(data)))
                if has_header:  # the publisher fills in `seq`; a gap shows that messages were dropped
                    number = connection.messages + queue.dropped.total()
                    pieces += (LENGTH.pack(number % 2**32), memoryview(data)[LENGTH.size :])
                else:
                    pieces.append(data)
                connection.count(len(data))
                self._connections.sent += 1
                size += len(data)
                if size >= BURST:
                    writer.write(b"".join(pieces))
                    pieces, size = [], 0
                    await writer.drain()
            if pieces:
                writer.write(b"".join(pieces))
                await writer.drain()


async def _wait_for_end(reader: StreamReader) -> None:
    """Wait until the subscriber closes the connection; a subscriber sends no data after the header."""
    while await reader.read(4096):
        pass
