"""A transport that is a node in a graph of ROS 2: what it does whatever the wire, and its settings."""

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
from skerry.interfaces.ros.bus.bus import Bus, Client, Outbox, Service, Topic
from skerry.interfaces.ros.bus.transport import Transport, TransportConfig
from skerry.interfaces.ros.messages.codec import Message

logger = logging.getLogger("skerry")

LOOK: Final = 0.2  # s between looks at who takes what, and at what is new on the bus
MOST_DOMAINS: Final = 232  # the highest domain of DDS whose ports exist; ROS 2 knows no higher ones


class GraphNodeConfig(TransportConfig):
    """Settings of a node."""

    distributions = ("humble", "jazzy")
    domain: int | None = Field(
        None, ge=0, le=MOST_DOMAINS, description="of ROS 2; ROS_DOMAIN_ID of the environment by default, or 0"
    )

    @property
    def number(self) -> int:
        """The domain."""
        if self.domain is not None:
            return self.domain
        text = os.environ.get("ROS_DOMAIN_ID") or "0"
        if not text.isdecimal() or int(text) > MOST_DOMAINS:
            raise SkerryError(f"ROS_DOMAIN_ID is {text!r}; it must be a whole number from 0 to {MOST_DOMAINS}")
        return int(text)


class Writer(Protocol):
    """Carries the messages of a topic to whoever takes them."""

    @property
    def matched(self) -> int:
        """How many take them, or 1 if that cannot be told."""

    def write(self, cdr: bytes) -> None:
        """Send a message; an OSError if it cannot be sent."""


class Calls:
    """Calls of peers' services that wait for their answers, by what tells them apart."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[Hashable, tuple[Client, Future[Message]]] = {}

    def begin(self, key: Hashable, client: Client) -> Future[Message]:
        """Promise an answer."""
        promise: Future[Message] = Future()
        with self._lock:
            self._waiting[key] = (client, promise)
        return promise

    def answer(self, key: Hashable, read: Callable[[], Message]) -> None:
        """Keep the promise by what came, unless it was kept; an answer that cannot be read is an error here too."""
        if (promise := self._end(key)) is None:
            return
        try:
            promise.set_result(read())
        except SkerryError as error:
            promise.set_exception(error)
            raise

    def fail(self, key: Hashable, why: str) -> None:
        """Nobody will answer."""
        with self._lock:
            client, promise = self._waiting.pop(key, (None, None))
        if client is not None and promise is not None:
            promise.set_exception(SkerryError(f"{client.name}: {why}"))

    def fail_all(self, why: str) -> None:
        """Nobody will answer any of them."""
        for key in list(self._waiting):
            self.fail(key, why)

    def _end(self, key: Hashable) -> Future[Message] | None:
        with self._lock:
            return self._waiting.pop(key, (None, None))[1]


class GraphNode(Transport):
    """Looks for itself what comes to the bus and who takes what; one thread sends, another does all else."""

    wire: ClassVar[str]
    """What carries it, in the log."""

    def __init__(self) -> None:
        self.outbox = Outbox()
        self.calls = Calls()
        self._sent = 0
        self._bad: set[str] = set()  # names under which something came that was no message
        self._writers: dict[str, Writer] = {}
        self._heard: set[str] = set()  # topics, and
        self._offered: set[str] = set()  # services that have their readers
        self._clients: dict[str, Client] = {}
        self._carriers: list[tuple[Client, Callable[[Message], Future[Message]]]] = []
        self._bus: Bus
        self._over = Event()
        self._threads: list[Thread] = []
        self._taken: set[str] = set()

    @property
    def _figures(self) -> str:
        dropped = self.outbox.dropped.total()
        text = f"{len(self._taken)} topics taken, {self._sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    # -------------------------------------------------------------------------------------------- what a wire does

    @abstractmethod
    def _carries(self, topic: str) -> bool:
        """Whether a topic is not left out."""

    @abstractmethod
    def _write(self, topic: Topic) -> Writer:
        """Have a topic's messages carried."""

    @abstractmethod
    def _hear(self, name: str, type_name: str) -> None:
        """Hear a topic, and let `_take` take what comes."""

    @abstractmethod
    def _offer(self, service: Service) -> None:
        """Offer a service, and let `_answer` answer."""

    @abstractmethod
    def _use(self, client: Client) -> Callable[[Message], Future[Message]]:
        """What calls a peer's service."""

    @abstractmethod
    def _work(self) -> None:
        """Take what comes and look who is there until it is over, in a thread of its own."""

    # -------------------------------------------------------------------------------------------- beginning and end

    def _begin(self) -> None:
        """Let the threads run."""
        for target in (self._send_on, self._work):
            thread = Thread(target=target, name=f"ros {self.wire} {target.__name__}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _end(self) -> None:
        """End the threads and take nothing any more; `_work` must see that it is over."""
        self.outbox.wake()
        for thread in self._threads:
            thread.join(timeout=5.0)
        self._threads.clear()
        self._bus.takers(self.outbox, ())
        for client, carrier in self._carriers:
            client.carriers.remove(carrier)
        self._carriers.clear()
        self.calls.fail_all("the simulation ended before it was answered")

    # -------------------------------------------------------------------------------------------- what comes

    def _take(self, name: str, type_name: str, cdr: bytes) -> None:
        """Let the bus hear a message."""
        if name in self._bus.subscriptions:  # whoever listened may be gone
            self._bus.hear(name, self._bus.codec.from_cdr(cdr, type_name))

    def _answer(
        self, service: Service, cdr: bytes, reply: Callable[[Message], None], refuse: Callable[[str], None]
    ) -> None:
        """Let a service answer a request, in whatever thread, now or later."""

        def answered(promise: Future[Message]) -> None:
            if promise.cancelled() or promise.exception() is not None:
                why = "cancelled" if promise.cancelled() else promise.exception()
                logger.warning("%s: a call failed, and gets no answer: %s", service.name, why)
                refuse(str(why))
            elif not self._over.is_set():
                reply(promise.result())

        call = self._bus.call(service.name, self._bus.codec.from_cdr(cdr, f"{service.type}_Request"))
        call.add_done_callback(answered)

    # -------------------------------------------------------------------------------------------- what there is

    def _find_what_is_new(self) -> bool:
        """Write topics, hear others, offer and use services that were not on the bus before; whether there were any."""
        found = False
        for name, topic in self._bus.topics.items():
            if name not in self._writers and self._carries(name):
                self._writers[name] = self._write(topic)
                found = True
        for name, heard in self._bus.subscriptions.items():
            if name not in self._heard:
                self._heard.add(name)
                self._hear(name, heard[0].type)
                found = True
        for name, service in self._bus.services.items():
            if name not in self._offered:
                self._offered.add(name)
                self._offer(service)
                found = True
        for name, client in self._bus.clients.items():
            if name not in self._clients:
                self._clients[name] = client
                carrier = self._use(client)
                client.carriers.append(carrier)
                self._carriers.append((client, carrier))
                found = True
        return found

    def _look_who_takes_what(self) -> None:
        topics = self._bus.topics
        taken = {
            name for name, writer in self._writers.items() if topics[name].qos.transient_local or writer.matched > 0
        }
        if taken != self._taken:
            self._taken = taken
            self._bus.takers(self.outbox, taken)

    def _send_on(self) -> None:
        while not self._over.is_set():
            for outgoing in self.outbox.take(1.0):
                try:
                    self._writers[outgoing.topic.name].write(outgoing.cdr)
                    self._sent += 1
                except OSError as error:
                    self._tell_once(outgoing.topic.name, error)

    def _tell_once(self, name: str, error: Exception) -> None:
        if name not in self._bad:
            self._bad.add(name)
            logger.warning("%s over %s: %s", name, self.wire, error)
