"""What a node of ROS 1 subscribes to: topics that the bus hears, over one connection to each who publishes one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any, Final
from xmlrpc.client import Fault

from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry.interfaces.ros.messages.codec import BadMessage
from skerry.interfaces.ros.messages.types import short_name
from skerry_ros1.connections import Complaints, Links, keep_alive
from skerry_ros1.protocol import ANY, read_connection, read_message, write_header
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import call

CONNECT: Final = 5.0  # s to reach whoever publishes a topic
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 16.0  # s before one is tried again; twice as long each time, unless it has lasted
MOST_PUBLISHERS: Final = 100  # of one topic that are listened to


class Subscriptions:
    """Topics that are heard, and those who publish them."""

    def __init__(self, bus: Bus, types: Ros1Types, links: Links, complaints: Complaints, own: str) -> None:
        self._bus, self._types, self._links, self._complaints = bus, types, links, complaints
        self._own = own  # our own address, as we do not listen to ourselves
        self._listed: dict[str, list[str]] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def types(self) -> dict[str, str]:
        """The topics that are heard, and their types."""
        return {name: short_name(heard[0].type) for name, heard in self._bus.subscriptions.items()}

    def update(self, topic: str, publishers: Iterable[str]) -> None:
        """Listen to exactly these publishers of a topic."""
        self._listed.pop(topic, None)
        if topic in self._bus.subscriptions:
            self.join(topic, publishers)
        listed = self._listed.get(topic, ())
        for key in [key for key in self._tasks if key[0] == topic and key[1] not in listed]:
            self._tasks.pop(key).cancel()

    def join(self, topic: str, publishers: Iterable[str]) -> None:
        """Listen to these publishers of a topic too."""
        found = [uri for uri in publishers if uri != self._own]
        listed = self._listed[topic] = list(dict.fromkeys([*self._listed.get(topic, ()), *found]))
        if len(listed) > MOST_PUBLISHERS:
            self._complaints.tell(f"{topic} has too many publishers: {MOST_PUBLISHERS} of them are listened to")
            del listed[MOST_PUBLISHERS:]
        for uri in listed:
            if (topic, uri) not in self._tasks:
                task = self._tasks[topic, uri] = asyncio.create_task(self._follow(topic, uri))
                task.add_done_callback(partial(self._forget, (topic, uri)))

    def forget(self) -> None:
        """Those who are listened to may be gone; their connections stay for as long as they keep them.

        A master that was restarted knows only who has registered since, and most nodes of ROS 1 never do again.
        """
        self._listed.clear()

    def close(self) -> None:
        """Listen to nobody any more."""
        self._listed.clear()
        for task in self._tasks.values():
            task.cancel()

    def _forget(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _follow(self, topic: str, uri: str) -> None:
        """Listen to a publisher, again and again while it is said to be there."""
        pause, loop = FIRST_PAUSE, asyncio.get_running_loop()
        while uri in self._listed.get(topic, ()):
            begun = loop.time()
            try:
                await self._listen(topic, uri)
            except (OSError, ProtocolError, BadMessage, Fault) as error:
                self._complaints.tell(f"{topic} from {uri}: {error or type(error).__name__}; trying on")
            except Exception as error:  # of whoever hears it, who must not end what others say
                self._complaints.tell(f"{topic} from {uri}: {error!r}", is_ours=True)
            await asyncio.sleep(pause)
            pause = FIRST_PAUSE if loop.time() - begun > 2 * LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)

    async def _listen(self, topic: str, uri: str) -> None:
        """One connection to a publisher, until it ends."""
        kind = self._bus.type_heard(topic)
        host, port = _address(await call(uri, "requestTopic", NODE, topic, [["TCPROS"]]))
        async with asyncio.timeout(CONNECT):
            reader, writer = await asyncio.open_connection(host, port)
        try:
            keep_alive(writer)
            own = {
                "callerid": NODE,
                "md5sum": self._types.sum(kind),
                "message_definition": self._types.text(kind),
                "tcp_nodelay": "1",
                "topic": topic,
                "type": short_name(kind),
            }
            writer.write(write_header(own))
            async with asyncio.timeout(CONNECT):
                told = await read_connection(reader)
            if "error" in told:
                raise ProtocolError(f"it refuses: {told['error'][:500]}")
            if (found := told.get("md5sum", "")) not in (ANY, own["md5sum"]):
                raise ProtocolError(
                    f"it is {told.get('type', '?')[:200]} with the sum {found[:32]!r} there, "
                    f"and {own['type']} with {own['md5sum']} here"
                )
            with self._links.opened(uri, "i", topic, writer) as link:
                while (data := await read_message(reader)) is not None:
                    if topic in self._bus.subscriptions:  # whoever listened may be gone
                        self._bus.hear(topic, self._bus.codec.from_ros1(data, kind))
                    link.count(len(data))
                    await asyncio.sleep(0)  # who says much at once lets others have their turn
        finally:
            writer.close()


def _address(answer: Any) -> tuple[str, int]:
    """Where a publisher sends a topic, as its node answers `requestTopic`."""
    match answer:
        case [1, _, ["TCPROS", str(host), int(port), *_]] if 0 < port < 2**16:
            return host, port
        case [_, str(text), *_]:
            raise ProtocolError(f"it does not publish it over TCPROS: {text[:200]}")
    raise ProtocolError(f"it answers {str(answer)[:200]}")
