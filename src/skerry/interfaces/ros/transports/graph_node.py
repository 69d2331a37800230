"""Base class and settings of transports that are nodes of a ROS 2 graph: DDS and Zenoh."""

from __future__ import annotations

import logging
import os
from abc import abstractmethod
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Event, Lock, Thread
from typing import ClassVar, Final, Protocol

from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Service, ServiceClient, SubscriberQueue, Topic
from skerry.interfaces.ros.bus.transport import Transport, TransportConfig
from skerry.interfaces.ros.messages.codec import Message

logger = logging.getLogger("skerry")

POLL_PERIOD: Final = 0.2  # s between checks for new entries of the bus and for subscribers
MAX_DOMAIN: Final = 232  # highest DDS domain with valid port numbers; ROS 2 has the same limit


class GraphNodeConfig(TransportConfig):
    """Settings of a node."""

    distributions = ("humble", "jazzy")
    domain: int | None = Field(
        None, ge=0, le=MAX_DOMAIN, description="ROS 2 domain; by default ROS_DOMAIN_ID of the environment, or 0"
    )

    @property
    def number(self) -> int:
        """Number of the domain."""
        if self.domain is not None:
            return self.domain
        text = os.environ.get("ROS_DOMAIN_ID") or "0"
        if not text.isdecimal() or int(text) > MAX_DOMAIN:
            raise SkerryError(f"ROS_DOMAIN_ID is {text!r}; it must be an integer from 0 to {MAX_DOMAIN}")
        return int(text)


class MessageWriter(Protocol):
    """Writer of the messages of one topic."""

    @property
    def matched(self) -> int:
        """Number of subscribers, or 1 if it is unknown."""

    def write(self, cdr: bytes) -> None:
        """Send a message; raises OSError if it cannot be sent."""


class PendingCalls:
    """Calls of peers' services that wait for their response, by a key of the transport."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[Hashable, tuple[ServiceClient, Future[Message]]] = {}

    def add(self, key: Hashable, client: ServiceClient) -> Future[Message]:
        """Add a call and return the future of its response."""
        future: Future[Message] = Future()
        with self._lock:
            self._waiting[key] = (client, future)
        return future

    def complete(self, key: Hashable, decode: Callable[[], Message]) -> None:
        """Complete a call with the decoded response, unless it has ended.

        Raises:
            SkerryError: The response cannot be decoded; the call fails with the same error.
        """
        with self._lock:
            future = self._waiting.pop(key, (None, None))[1]
        if future is None:
            return
        try:
            future.set_result(decode())
        except SkerryError as error:
            future.set_exception(error)
            raise

    def fail(self, key: Hashable, reason: str) -> None:
        """Let a call fail, unless it has ended."""
        with self._lock:
            client, future = self._waiting.pop(key, (None, None))
        if client is not None and future is not None:
            future.set_exception(SkerryError(f"{client.name}: {reason}"))

    def fail_all(self, reason: str) -> None:
        """Let all calls fail."""
        for key in list(self._waiting):
            self.fail(key, reason)


class GraphNode(Transport):
    """Node of a ROS 2 graph. One thread sends messages; another thread polls the bus and handles incoming data."""

    protocol_name: ClassVar[str]
    """Name of the protocol in log messages."""

    def __init__(self) -> None:
        self.queue = SubscriberQueue()
        self.calls = PendingCalls()
        self._sent = 0
        self._warned: set[str] = set()  # names for which a warning was logged
        self._writers: dict[str, MessageWriter] = {}
        self._subscribed: set[str] = set()  # topics that have a reader
        self._served: set[str] = set()  # services that have a reader
        self._clients: dict[str, ServiceClient] = {}
        self._routes: list[tuple[ServiceClient, Callable[[Message], Future[Message]]]] = []
        self._bus: Bus
        self._over = Event()
        self._threads: list[Thread] = []
        self._matched: set[str] = set()  # topics with subscribers

    @property
    def _counters(self) -> str:
        dropped = self.queue.dropped.total()
        text = f"{len(self._matched)} topics subscribed, {self._sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    # -------------------------------------------------------------------------------------------- of the protocol

    @abstractmethod
    def _carries(self, topic: str) -> bool:
        """Return whether a topic is sent."""

    @abstractmethod
    def _add_writer(self, topic: Topic) -> MessageWriter:
        """Return a new writer of a topic."""

    @abstractmethod
    def _add_subscription(self, name: str, type_name: str) -> None:
        """Subscribe to a topic, and pass its messages to `_on_message`."""

    @abstractmethod
    def _add_service(self, service: Service) -> None:
        """Add a service, and pass its requests to `_on_request`."""

    @abstractmethod
    def _add_client(self, client: ServiceClient) -> Callable[[Message], Future[Message]]:
        """Return a function that calls a peer's service."""

    @abstractmethod
    def _work(self) -> None:
        """Handle incoming data and poll the bus until `_over` is set, in a thread of its own."""

    # -------------------------------------------------------------------------------------------- start and end

    def _start_threads(self) -> None:
        for target in (self._send_messages, self._work):
            thread = Thread(target=target, name=f"ros {self.protocol_name} {target.__name__}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _stop_threads(self) -> None:
        """End the threads and all subscriptions; the caller has set `_over` and woken `_work`."""
        self.queue.wake()
        for thread in self._threads:
            thread.join(timeout=5.0)
        self._threads.clear()
        self._bus.set_subscriptions(self.queue, ())
        for client, route in self._routes:
            client.routes.remove(route)
        self._routes.clear()
        self.calls.fail_all("the simulation ended before the response")

    # -------------------------------------------------------------------------------------------- incoming data

    def _on_message(self, name: str, type_name: str, cdr: bytes) -> None:
        """Pass a message to the bus."""
        if name in self._bus.subscriptions:  # the subscription may have been removed
            self._bus.on_message(name, self._bus.codec.from_cdr(cdr, type_name))

    def _on_request(
        self, service: Service, cdr: bytes, reply: Callable[[Message], None], refuse: Callable[[str], None]
    ) -> None:
        """Call a service; `reply` or `refuse` is called now or later, in any thread."""

        def on_done(future: Future[Message]) -> None:
            if future.cancelled() or future.exception() is not None:
                reason = "cancelled" if future.cancelled() else future.exception()
                logger.warning("%s: call failed, no response is sent: %s", service.name, reason)
                refuse(str(reason))
            elif not self._over.is_set():
                reply(future.result())

        call = self._bus.call(service.name, self._bus.codec.from_cdr(cdr, f"{service.type}_Request"))
        call.add_done_callback(on_done)

    # -------------------------------------------------------------------------------------------- entries of the bus

    def _add_new_entries(self) -> bool:
        """Add topics, subscriptions, services and clients that are new on the bus; return whether there were any."""
        found = False
        for name, topic in self._bus.topics.items():
            if name not in self._writers and self._carries(name):
                self._writers[name] = self._add_writer(topic)
                found = True
        for name, subscriptions in self._bus.subscriptions.items():
            if name not in self._subscribed:
                self._subscribed.add(name)
                self._add_subscription(name, subscriptions[0].type)
                found = True
        for name, service in self._bus.services.items():
            if name not in self._served:
                self._served.add(name)
                self._add_service(service)
                found = True
        for name, client in self._bus.clients.items():
            if name not in self._clients:
                self._clients[name] = client
                route = self._add_client(client)
                client.routes.append(route)
                self._routes.append((client, route))
                found = True
        return found

    def _update_subscriptions(self) -> None:
        """Subscribe the queue to the topics that have subscribers."""
        topics = self._bus.topics
        matched = {
            name for name, writer in self._writers.items() if topics[name].qos.transient_local or writer.matched > 0
        }
        if matched != self._matched:
            self._matched = matched
            self._bus.set_subscriptions(self.queue, matched)

    def _send_messages(self) -> None:
        while not self._over.is_set():
            for message in self.queue.drain(1.0):
                try:
                    self._writers[message.topic.name].write(message.cdr)
                    self._sent += 1
                except OSError as error:
                    self._warn_once(message.topic.name, error)

    def _warn_once(self, name: str, error: Exception) -> None:
        if name not in self._warned:
            self._warned.add(name)
            logger.warning("%s over %s: %s", name, self.protocol_name, error)
