"""Connection to an MQTT broker: connects again after a loss, with bounded queues in both directions."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any, Final

from skerry.core.errors import SkerryError

logger = logging.getLogger("skerry")

MAX_INCOMING: Final = 200
"""Number of received messages that wait for the loop; further messages are dropped."""
MAX_OUTGOING: Final = 200
"""Number of responses and feedbacks that wait for the broker."""
MAX_BYTES: Final = 1 << 18
"""Size of the largest message that is read."""
KEEPALIVE: Final = 10
"""Time after which a broker that does not answer is disconnected, s."""


class Broker:
    """Client of one broker. Its thread is paho's; the loop only reads and writes queues."""

    def __init__(self, host: str, port: int, user: str | None, password: str | None) -> None:
        self.address = f"{host}:{port}"
        self._host, self._port, self._user, self._password = host, port, user, password
        self._client: Any = None
        self._topics: frozenset[str] = frozenset()
        self._incoming: deque[tuple[str, bytes]] = deque()
        self._lock = threading.Lock()
        self._warned: set[str] = set()

    def start(self) -> None:
        """Start to connect; attempts are repeated until the broker answers."""
        try:
            from paho.mqtt.client import Client
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise SkerryError(
                "the interface `waraps` needs the package paho-mqtt; pip install 'skerry[waraps]'"
            ) from None
        client = self._client = Client(CallbackAPIVersion.VERSION2)
        client.max_queued_messages_set(MAX_OUTGOING)
        client.reconnect_delay_set(1, 4)
        if self._user is not None or self._password is not None:
            client.username_pw_set(self._user or "", self._password)
        client.on_connect, client.on_disconnect = self._on_connect, self._on_disconnect
        client.on_message = self._on_message
        client.connect_async(self._host, self._port, KEEPALIVE)
        client.loop_start()

    @property
    def connected(self) -> bool:
        """Whether the broker has accepted the connection."""
        return self._client is not None and bool(self._client.is_connected())

    @property
    def status(self) -> str:
        """Short status text."""
        return f"connected to {self.address}" if self.connected else f"no broker at {self.address}"

    def subscribe(self, topics: Iterable[str]) -> None:
        """Subscribe to exactly these topics, now and after each new connection."""
        before, self._topics = self._topics, frozenset(topics)
        if self.connected:
            for topic in before - self._topics:
                self._client.unsubscribe(topic)
            for topic in sorted(self._topics - before):
                self._client.subscribe(topic, 1)

    def publish(self, topic: str, text: str, *, must_arrive: bool = False) -> None:
        """Queue a message; without a connection only messages that must arrive are kept."""
        if must_arrive or self.connected:
            self._client.publish(topic, text, 1 if must_arrive else 0)

    def take(self) -> list[tuple[str, bytes]]:
        """Return the topics and payloads received since the last call, and empty the queue."""
        with self._lock:
            found, self._incoming = list(self._incoming), deque()
        return found

    def warn_once(self, key: str, text: str) -> None:
        """Log a fault unless one with this key was logged."""
        if key not in self._warned:
            self._warned.add(key)
            logger.warning("waraps: %s", text)

    def close(self) -> None:
        """Disconnect and end the thread."""
        client, self._client = self._client, None
        if client is not None:
            client.disconnect()
            client.loop_stop()

    def _on_connect(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self.warn_once(f"refused {reason}", f"broker {self.address} refused the connection: {reason}")
            return
        logger.info("waraps: connected to broker %s", self.address)
        for topic in sorted(self._topics):
            client.subscribe(topic, 1)

    def _on_disconnect(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if self._client is not None and reason.is_failure:
            logger.warning("waraps: connection to broker %s lost (%s); connecting again", self.address, reason)

    def _on_message(self, client: Any, data: Any, message: Any) -> None:
        if len(message.payload) > MAX_BYTES:
            self.warn_once("large", f"a message of {len(message.payload)} bytes on {message.topic} was dropped")
            return
        with self._lock:
            has_room = len(self._incoming) < MAX_INCOMING
            if has_room:
                self._incoming.append((message.topic, message.payload))
        if not has_room:
            self.warn_once("flood", f"more than {MAX_INCOMING} commands wait; further commands are dropped")
