"""The bus: topics, subscriptions, services, actions and parameters of the simulator, independent of any transport.

A message is only made and encoded if its topic has a subscriber. Each subscriber has a queue, which holds at most
`depth` messages of a topic; when it is full, the oldest message is dropped and counted. A slow peer therefore never
delays the simulation.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Condition, Lock
from typing import Any, Final, TypeAlias

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.interfaces.ros.bus.lazy_message import LazyMessage, MessageBatch, MessageEncoder
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.types import full_name

logger = logging.getLogger("skerry")

Parameter: TypeAlias = bool | int | float | str


@dataclass(frozen=True)
class Qos:
    """Quality of service of a topic, in the terms of ROS 2."""

    reliable: bool = True
    transient_local: bool = False  # a late subscriber receives the last message too
    depth: int = 100  # messages that may wait for a slow subscriber


SENSOR: Final = Qos()
LATEST: Final = Qos(depth=1)
"""Quality of service of images and point clouds: a slow subscriber receives the latest message only."""
LATCHED: Final = Qos(transient_local=True, depth=1)

CLOCK, FRAMES, OTHER = range(3)  # ranks of topics: /clock, /tf and all others; messages of one time are in this order


class SubscriberQueue:
    """Messages that wait for one subscriber. The simulation loop fills it; the subscriber's own thread empties it.

    Args:
        on_put: Function that is called after messages were added.
    """

    accepts_batches: bool = False
    """Whether `put` receives a `MessageBatch` as it is; otherwise it receives the messages of the batch one by one."""

    def __init__(self, on_put: Callable[[], None] = lambda: None) -> None:
        self._on_put = on_put
        self.dropped: Counter[str] = Counter()
        """Number of messages that were dropped because the subscriber was too slow, by topic."""
        self._arrived = Condition()
        self._order: deque[str] = deque()
        self._queues: dict[str, deque[LazyMessage]] = {}
        self._woken = False

    def put(self, messages: Sequence[LazyMessage]) -> None:
        """Add messages in order; drop the oldest message of a topic whose depth is exceeded."""
        with self._arrived:
            for message in messages:
                topic = message.topic
                name = topic.name
                queue = self._queues.get(name)
                if queue is None:
                    queue = self._queues[name] = deque()
                if len(queue) >= topic.qos.depth:
                    queue.popleft()
                    self._order.remove(name)
                    self.dropped[name] += 1
                self._order.append(name)
                queue.append(message)
            self._arrived.notify()
        self._on_put()

    def wake(self) -> None:
        """End the wait of `drain`."""
        with self._arrived:
            self._woken = True
            self._arrived.notify()

    def drain(self, timeout: float) -> list[LazyMessage]:
        """Remove and return all messages in order; wait up to `timeout` seconds for the first one."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._order or self._woken, timeout)
            self._woken = False
            drained = [self._queues[name].popleft() for name in self._order]
            self._order.clear()
        return [message for message in drained if message.exists]


class Dispatcher:
    """Passes published messages to the queues of the subscribers: immediately, or together at the end of `hold`.

    Another thread may publish during `hold`. It first adds its message and then checks the flag; `hold` first clears
    the flag and then delivers all messages. No message is left over.
    """

    def __init__(self) -> None:
        self._held = False
        self._waiting: deque[LazyMessage | MessageBatch] = deque()
        self._lock = Lock()

    def put(self, message: LazyMessage | MessageBatch) -> None:
        """Pass on a message, now or at the end of `hold`."""
        self._waiting.append(message)
        if not self._held:
            self._deliver()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Deliver all messages of this block at its end, so that each subscriber is notified once.

        Each subscriber gets them in the order of time: first the message on /clock, then /tf, then all messages that
        are not later than that clock.
        """
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._deliver(in_order=True)

    def latest_tick(self, now: int) -> int:
        """Return the latest tick of the messages that wait for the end of `hold`, without /clock; −1 if there is none.

        Args:
            now: Present tick.
        """
        ticks = [
            message.ticks[-1] if isinstance(message, MessageBatch) else now
            for message in self._waiting
            if message.topic.rank != CLOCK
        ]
        return max(ticks, default=-1)

    def _deliver(self, in_order: bool = False) -> None:
        with self._lock:
            waiting = self._waiting
            shares: dict[SubscriberQueue, list[Any]] = {}
            while waiting:
                message = waiting.popleft()
                for queue in message.topic.subscribers:
                    share = shares.get(queue)
                    if share is None:
                        share = shares[queue] = []
                    if queue.accepts_batches:
                        if isinstance(message, LazyMessage) or not message.live_only:
                            share.append(message)
                    elif isinstance(message, MessageBatch):
                        share += message.messages()
                    else:
                        share.append(message)
            for queue, share in shares.items():
                if in_order and len(share) > 1 and not queue.accepts_batches:
                    self._sort(share)
                queue.put(share)

    @staticmethod
    def _sort(messages: list[LazyMessage]) -> None:
        """Sort messages by the clock that covers them, the rank of their topic, and their own tick."""
        clocks = sorted(
            {message.tick for message in messages if message.topic.rank == CLOCK and message.tick is not None}
        )
        last = max((message.tick for message in messages if message.tick is not None), default=0)

        def key(message: LazyMessage) -> tuple[int, int, int]:
            tick = last if message.tick is None else message.tick
            index = bisect_left(clocks, tick)
            return clocks[index] if index < len(clocks) else tick, message.topic.rank, tick

        messages.sort(key=key)


@dataclass(eq=False)
class Topic:
    """Topic that the simulator publishes."""

    name: str
    type: str
    qos: Qos
    codec: Codec
    dispatcher: Dispatcher = field(default_factory=Dispatcher, repr=False)
    sent: int = 0
    failed: bool = False  # a message could not be made
    last: LazyMessage | None = None  # of a latched topic
    subscribers: tuple[SubscriberQueue, ...] = ()
    rank: int = OTHER
    _lock: Lock = field(default_factory=Lock, repr=False)  # of `subscribers`, which change in threads of transports

    def __post_init__(self) -> None:
        self.has_subscribers = self.qos.transient_local
        """Whether messages are needed; always True for a latched topic, because of late subscribers."""

    def publish(self, message: Message | bytes) -> None:
        """Publish a message, given as an object or as CDR; never blocks."""
        lazy = LazyMessage(self, message)
        if self.qos.transient_local:
            self.last = lazy
        self.sent += 1
        self.dispatcher.put(lazy)

    def publish_batch(
        self, encoder: MessageEncoder, ticks: Sequence[int], data: Any, step: Fraction, *, live_only: bool = False
    ) -> None:
        """Publish the messages of several ticks; the first subscriber that reads them encodes them, in its own thread.

        Args:
            encoder: Encoder of the data.
            ticks: Tick of each message.
            data: Data that was recorded, with one row per tick: `Readings`, an array or a list.
            step: Length of a tick, s.
            live_only: Whether the messages are not recorded.
        """
        self.sent += len(ticks)
        self.dispatcher.put(MessageBatch(self, encoder, ticks, data, step, live_only=live_only))

    def report_failure(self) -> None:
        """Log that a message could not be made, once per topic. Call it in an `except` block."""
        if not self.failed:
            logger.exception(
                "%s: a message could not be encoded; it is skipped, and later failures are not logged", self.name
            )
        self.failed = True

    def add_subscriber(self, queue: SubscriberQueue) -> None:
        """Pass messages to a queue from now on."""
        with self._lock:
            if queue in self.subscribers:
                return
            self.subscribers = (*self.subscribers, queue)
            self.has_subscribers = True
        if self.last is not None:
            queue.put([self.last])

    def remove_subscriber(self, queue: SubscriberQueue) -> None:
        """Stop passing messages to a queue."""
        with self._lock:
            self.subscribers = tuple(other for other in self.subscribers if other is not queue)
            self.has_subscribers = bool(self.subscribers) or self.qos.transient_local


@dataclass(frozen=True, eq=False)
class Subscription:
    """Topic that the simulator subscribes to; `callback` is called in the thread of a transport."""

    name: str
    type: str
    callback: Callable[[Message], None]


Response: TypeAlias = "Message | Future[Message]"


@dataclass(frozen=True, eq=False)
class Service:
    """Service of the simulator; `handle` is called in the thread of a transport and may return a future."""

    name: str
    type: str
    handle: Callable[[Message], Response]


@dataclass(eq=False)
class ServiceClient:
    """Client of a peer's service, which is called through the transport that reaches it."""

    name: str
    type: str
    routes: list[Callable[[Message], Future[Message]]] = field(default_factory=list)
    """Functions that call the service, one per transport; the last one is used."""

    def call(self, request: Message) -> Future[Message]:
        """Call the service; the future fails if no transport is connected."""
        if not self.routes:
            future: Future[Message] = Future()
            future.set_exception(SkerryError(f"{self.name} cannot be called: no transport is connected to a peer"))
            return future
        return self.routes[-1](request)


class Bus:
    """Topics, subscriptions, services, clients, actions and parameters by name.

    Transports may add topics and clients from their own threads. Each change replaces the mapping, so that a loop over
    the earlier mapping is not disturbed.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.topics: dict[str, Topic] = {}
        self.subscriptions: dict[str, list[Subscription]] = {}
        self.services: dict[str, Service] = {}
        self.clients: dict[str, ServiceClient] = {}
        self.actions: dict[str, Any] = {}
        """Action servers by name. Their ROS 2 services and topics are also in `services` and `topics`."""
        self.parameters: dict[str, Parameter] = {}
        self.subscription_changes = 0
        """Number of times that a subscriber has changed its topics."""
        self.time_ns = 0
        """Simulated time of the current publication, ns."""
        self._undo: dict[str, list[Callable[[], None]]] = {}  # functions that remove the entries of an owner
        self._owner = ""
        self.dispatcher = Dispatcher()
        self._lock = Lock()

    # -------------------------------------------------------------------------------------------- entries of the bus

    def advertise(self, name: str, type_name: str, qos: Qos = SENSOR) -> Topic:
        """Return the topic of this name; create it if it does not exist.

        Raises:
            SkerryError: The topic exists with another type.
        """
        type_name = self._message(type_name)
        with self._lock:
            if name not in self.topics:
                self.topics = {**self.topics, name: Topic(name, type_name, qos, self.codec, self.dispatcher)}
        known = self.topics[name]
        if known.type != type_name:
            raise SkerryError(f"the topic {name} already has the type {known.type}; it cannot be {type_name} too")
        return known

    def subscribe(self, name: str, type_name: str, callback: Callable[[Message], None]) -> None:
        """Subscribe to a topic; a topic may have several subscriptions of the same type.

        Raises:
            SkerryError: There is a subscription to the topic with another type.
        """
        type_name = self._message(type_name)
        known = self.subscriptions.get(name, [])
        if known and known[0].type != type_name:
            raise SkerryError(
                f"the topic {name} is already subscribed with the type {known[0].type}; it cannot be {type_name} too"
            )
        subscription = Subscription(name, type_name, callback)
        self.subscriptions = {**self.subscriptions, name: [*known, subscription]}

        def undo() -> None:
            rest = [other for other in self.subscriptions[name] if other is not subscription]
            self.subscriptions = {**self.subscriptions, name: rest} if rest else _without(self.subscriptions, name)

        self.on_withdraw(undo)

    def add_service(self, name: str, type_name: str, handle: Callable[[Message], Response]) -> None:
        """Add a service."""
        if name in self.services:
            raise SkerryError(f"the service {name} exists already")
        service = Service(name, self.codec.type_store.service(type_name).name, handle)
        self.services = {**self.services, name: service}

        def undo() -> None:
            self.services = _without(self.services, name)

        self.on_withdraw(undo)

    def add_action(self, name: str, server: Any) -> None:
        """Add the server of an action."""
        self.actions = {**self.actions, name: server}

        def undo() -> None:
            self.actions = _without(self.actions, name)

        self.on_withdraw(undo)

    def service_client(self, name: str, type_name: str) -> ServiceClient:
        """Return the client of a peer's service; create it if it does not exist."""
        type_name = self.codec.type_store.service(type_name).name
        with self._lock:
            if name not in self.clients:
                self.clients = {**self.clients, name: ServiceClient(name, type_name)}
        return self.clients[name]

    def _message(self, type_name: str) -> str:
        return self.codec.type_store.message(full_name(type_name)).name

    # -------------------------------------------------------------------------------------------- owners

    @contextmanager
    def owned_by(self, owner: str) -> Iterator[None]:
        """Record the entries that are added in this block as those of `owner`, so that `withdraw` can remove them."""
        before, self._owner = self._owner, owner
        try:
            yield
        finally:
            self._owner = before

    def on_withdraw(self, undo: Callable[[], None]) -> None:
        """Call `undo` when the current owner withdraws; without a current owner it is never called."""
        if self._owner:
            self._undo.setdefault(self._owner, []).append(undo)

    def withdraw(self, owner: str) -> None:
        """Remove all entries of an owner. Topics stay, but nothing is published on them."""
        for undo in reversed(self._undo.pop(owner, [])):
            undo()

    # -------------------------------------------------------------------------------------------- calls of transports

    def on_message(self, name: str, message: Message) -> None:
        """Pass the message of a peer to the subscriptions of a topic."""
        for subscription in self._known(self.subscriptions, name, "subscribed topic"):
            try:
                subscription.callback(message)
            except SkerryError as error:
                logger.warning("%s: %s", name, error)

    def subscribed_type(self, name: str) -> str:
        """Return the type of a topic that the simulator subscribes to."""
        found: str = self._known(self.subscriptions, name, "subscribed topic")[0].type
        return found

    def call(self, name: str, request: Message) -> Future[Message]:
        """Call a service of the simulator for a peer."""
        future: Future[Message] = Future()
        try:
            response = self._known(self.services, name, "service").handle(request)
        except SkerryError as error:
            future.set_exception(error)
            return future
        if isinstance(response, Future):
            return response
        future.set_result(response)
        return future

    def _known(self, entries: dict[str, Any], name: str, what: str) -> Any:
        if name not in entries:
            raise UnknownName(f"there is no {what} {name!r}; {did_you_mean(name, entries)}")
        return entries[name]

    def set_subscriptions(self, queue: SubscriberQueue, names: Iterable[str]) -> None:
        """Subscribe a queue to exactly these topics."""
        chosen = set(names)
        for name, topic in self.topics.items():
            if name in chosen:
                topic.add_subscriber(queue)
            else:
                topic.remove_subscriber(queue)
        self.subscription_changes += 1


def _without(entries: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: entry for key, entry in entries.items() if key != name}
