"""Topics that the node subscribes to, with one connection per publisher and topic."""

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
from skerry_ros1.connections import Connections, WarningLog, keep_alive
from skerry_ros1.protocol import ANY, read_connection, read_message, write_header
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import call

CONNECT_TIMEOUT: Final = 5.0  # s to connect to a publisher
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 16.0  # s before a reconnection; doubled each time, unless the connection lasted long
MAX_PUBLISHERS: Final = 100  # publishers of one topic that the node connects to


class Subscriptions:
    """Topics that the bus subscribes to, and their publishers."""

    def __init__(self, bus: Bus, types: Ros1Types, connections: Connections, warning_log: WarningLog, own: str) -> None:
        self._bus, self._types, self._connections, self._warning_log = bus, types, connections, warning_log
        self._own = own  # address of this node, to which it does not subscribe
        self._listed: dict[str, list[str]] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def types(self) -> dict[str, str]:
        """Return the types of the subscribed topics by name."""
        return {name: short_name(found[0].type) for name, found in self._bus.subscriptions.items()}

    def update(self, topic: str, publishers: Iterable[str]) -> None:
        """Connect to exactly these publishers of a topic."""
        self._listed.pop(topic, None)
        if topic in self._bus.subscriptions:
            self.join(topic, publishers)
        listed = self._listed.get(topic, ())
        for key in [key for key in self._tasks if key[0] == topic and key[1] not in listed]:
            self._tasks.pop(key).cancel()

    def join(self, topic: str, publishers: Iterable[str]) -> None:
        """Connect to these publishers of a topic, in addition to the present ones."""
        found = [uri for uri in publishers if uri != self._own]
        listed = self._listed[topic] = list(dict.fromkeys([*self._listed.get(topic, ()), *found]))
        if len(listed) > MAX_PUBLISHERS:
            self._warning_log.warn(f"{topic} has more than {MAX_PUBLISHERS} publishers; the others are ignored")
            del listed[MAX_PUBLISHERS:]
        for uri in listed:
            if (topic, uri) not in self._tasks:
                task = self._tasks[topic, uri] = asyncio.create_task(self._follow(topic, uri))
                task.add_done_callback(partial(self._forget, (topic, uri)))

    def forget(self) -> None:
        """Clear the lists of publishers, but keep the open connections.

        A restarted master knows only the nodes that have registered since, and most nodes do not register again.
        """
        self._listed.clear()

    def close(self) -> None:
        """Close all connections."""
        self._listed.clear()
        for task in self._tasks.values():
            task.cancel()

    def _forget(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _follow(self, topic: str, uri: str) -> None:
        """Connect to a publisher, and reconnect as long as it is in the list."""
        pause, loop = FIRST_PAUSE, asyncio.get_running_loop()
        while uri in self._listed.get(topic, ()):
            begun = loop.time()
            try:
                await self._receive(topic, uri)
            except (OSError, ProtocolError, BadMessage, Fault) as error:
                self._warning_log.warn(f"{topic} from {uri}: {error or type(error).__name__}; retrying")
            except Exception as error:  # an error of a callback must not end the subscription
                self._warning_log.warn(f"{topic} from {uri}: {error!r}", with_traceback=True)
            await asyncio.sleep(pause)
            pause = FIRST_PAUSE if loop.time() - begun > 2 * LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)

    async def _receive(self, topic: str, uri: str) -> None:
        """Receive messages over one connection until it ends."""
        kind = self._bus.subscribed_type(topic)
        host, port = _address(await call(uri, "requestTopic", NODE, topic, [["TCPROS"]]))
        async with asyncio.timeout(CONNECT_TIMEOUT):
            reader, writer = await asyncio.open_connection(host, port)
        try:
            keep_alive(writer)
            own = {
                "callerid": NODE,
                "md5sum": self._types.md5(kind),
                "message_definition": self._types.definition(kind),
                "tcp_nodelay": "1",
                "topic": topic,
                "type": short_name(kind),
            }
            writer.write(write_header(own))
            async with asyncio.timeout(CONNECT_TIMEOUT):
                header = await read_connection(reader)
            if "error" in header:
                raise ProtocolError(f"the publisher refuses: {header['error'][:500]}")
            if (found := header.get("md5sum", "")) not in (ANY, own["md5sum"]):
                raise ProtocolError(
                    f"the publisher has the type {header.get('type', '?')[:200]} with MD5 sum {found[:32]!r}, but the "
                    f"simulator has {own['type']} with {own['md5sum']}"
                )
            with self._connections.opened(uri, "i", topic, writer) as connection:
                while (data := await read_message(reader)) is not None:
                    if topic in self._bus.subscriptions:  # the subscription may have been removed
                        self._bus.on_message(topic, self._bus.codec.from_ros1(data, kind))
                    connection.count(len(data))
                    await asyncio.sleep(0)  # lets other connections run between the messages of a fast publisher
        finally:
            writer.close()


def _address(answer: Any) -> tuple[str, int]:
    """Return host and port of a topic from the response to `requestTopic`."""
    match answer:
        case [1, _, ["TCPROS", str(host), int(port), *_]] if 0 < port < 2**16:
            return host, port
        case [_, str(text), *_]:
            raise ProtocolError(f"the node does not publish the topic over TCPROS: {text[:200]}")
    raise ProtocolError(f"invalid response to requestTopic: {str(answer)[:200]}")
