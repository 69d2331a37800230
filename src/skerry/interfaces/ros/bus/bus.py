"""The bus: what the simulator says, hears and offers, and who takes it; transports carry it as bytes.

Nothing is made or encoded that nobody takes. What a peer cannot take in time waits in its outbox, at most as many
messages of a topic as the topic's depth; the oldest is dropped and counted, so that no peer ever holds up the world.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Condition, Lock
from typing import Any, Final, TypeAlias

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.interfaces.ros.bus.lazy_message import Maker, Outgoing, Series
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.types import full_name

logger = logging.getLogger("skerry")

Parameter: TypeAlias = bool | int | float | str


@dataclass(frozen=True)
class Qos:
    """Quality of service, in the words of ROS 2; `depth` messages may wait for a peer that is slow."""

    reliable: bool = True
    transient_local: bool = False  # who comes late gets the last message too
    depth: int = 100


SENSOR: Final = Qos()
LATEST: Final = Qos(depth=1)
"""For pictures and clouds: who is slow gets the latest one."""
LATCHED: Final = Qos(transient_local=True, depth=1)


class Outbox:
    """What waits to be carried to one peer; filled by the loop, emptied by the peer's own thread.

    `arrived` is called when something waits. One that `takes_series` is given them as they are, others one by one.
    """

    takes_series: bool = False

    def __init__(self, arrived: Callable[[], None] = lambda: None) -> None:
        self._tell = arrived
        self.dropped: Counter[str] = Counter()
        """Messages that the peer was too slow for, by topic."""
        self._arrived = Condition()
        self._order: deque[str] = deque()
        self._queues: dict[str, deque[Outgoing]] = {}
        self._woken = False

    def put(self, messages: Sequence[Outgoing]) -> None:
        """Add messages, in order; a topic's oldest goes if there are too many of it."""
        with self._arrived:
            for outgoing in messages:
                topic = outgoing.topic
                name = topic.name
                queue = self._queues.get(name)
                if queue is None:
                    queue = self._queues[name] = deque()
                if len(queue) >= topic.qos.depth:
                    queue.popleft()
                    self._order.remove(name)
                    self.dropped[name] += 1
                self._order.append(name)
                queue.append(outgoing)
            self._arrived.notify()
        self._tell()

    def wake(self) -> None:
        """End a wait."""
        with self._arrived:
            self._woken = True
            self._arrived.notify()

    def take(self, timeout: float) -> list[Outgoing]:
        """All that waits, in order, and there is; waits for something so many seconds."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._order or self._woken, timeout)
            self._woken = False
            taken = [self._queues[name].popleft() for name in self._order]
            self._order.clear()
        return [outgoing for outgoing in taken if outgoing.is_there]


class Post:
    """Hands over what is said to the outboxes of those who take it: at once, or, while it is held, all together later.

    Who says something in another thread while it is held first adds it and then looks whether it still is; whoever
    holds it first lets go, and then hands over all there is. So nothing is left waiting.
    """

    def __init__(self) -> None:
        self._held = False
        self._waiting: deque[Outgoing | Series] = deque()
        self._lock = Lock()

    def put(self, outgoing: Outgoing | Series) -> None:
        """Hand over a message, now or soon."""
        self._waiting.append(outgoing)
        if not self._held:
            self._deliver()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hand over what is said meanwhile at the end, so that each who takes some of it is woken once."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._deliver()

    def _deliver(self) -> None:
        with self._lock:
            waiting = self._waiting
            shares: dict[Outbox, list[Any]] = {}
            while waiting:
                outgoing = waiting.popleft()
                for outbox in outgoing.topic.takers:
                    share = shares.get(outbox)
                    if share is None:
                        share = shares[outbox] = []
                    if isinstance(outgoing, Series) and not outbox.takes_series:
                        share += outgoing.each()
                    else:
                        share.append(outgoing)
            for outbox, share in shares.items():
                outbox.put(share)


@dataclass(eq=False)
class Topic:
    """What the simulator says."""

    name: str
    type: str
    qos: Qos
    codec: Codec
    post: Post = field(default_factory=Post, repr=False)
    sent: int = 0
    failed: bool = False  # a message could not be made
    last: Outgoing | None = None
    takers: tuple[Outbox, ...] = ()
    _lock: Lock = field(default_factory=Lock, repr=False)  # of those who take; peers come and go in their own threads

    def __post_init__(self) -> None:
        self.taken = self.qos.transient_local
        """Whether anybody takes it, so that it is worth saying; who comes late to a latched one will."""

    def publish(self, message: Message | bytes) -> None:
        """Give a message, an object or CDR, to all who take it; returns at once."""
        outgoing = Outgoing(self, message)
        if self.qos.transient_local:
            self.last = outgoing
        self.sent += 1
        self.post.put(outgoing)

    def publish_series(self, maker: Maker, ticks: Sequence[int], seen: Sequence[Any], step: Fraction) -> None:
        """Let messages of what was seen at ticks of this step be made by whoever takes them first, in their thread."""
        self.sent += len(ticks)
        self.post.put(Series(self, maker, ticks, seen, step))

    def fail(self) -> None:
        """Say that a message could not be made, in an `except`, once."""
        if not self.failed:
            logger.exception("%s: a message cannot be made, and is left out", self.name)
        self.failed = True

    def take(self, outbox: Outbox) -> None:
        """Let messages go to an outbox from now on."""
        with self._lock:
            if outbox in self.takers:
                return
            self.takers = (*self.takers, outbox)
            self.taken = True
        if self.last is not None:
            outbox.put([self.last])

    def leave(self, outbox: Outbox) -> None:
        """No longer."""
        with self._lock:
            self.takers = tuple(taker for taker in self.takers if taker is not outbox)
            self.taken = bool(self.takers) or self.qos.transient_local


@dataclass(frozen=True, eq=False)
class Subscription:
    """What the simulator hears; `hear` is called by the peer's thread."""

    name: str
    type: str
    hear: Callable[[Message], None]


Answer: TypeAlias = "Message | Future[Message]"


@dataclass(frozen=True, eq=False)
class Service:
    """What the simulator answers; `answer` is called by the peer's thread, and may promise an answer."""

    name: str
    type: str
    answer: Callable[[Message], Answer]


@dataclass(eq=False)
class Client:
    """A service of a peer that the simulator may call, through whichever transport reaches one."""

    name: str
    type: str
    carriers: list[Callable[[Message], Future[Message]]] = field(default_factory=list)

    def call(self, request: Message) -> Future[Message]:
        """Ask; the promise fails if nobody is connected who could carry it."""
        if not self.carriers:
            promise: Future[Message] = Future()
            promise.set_exception(SkerryError(f"nobody is connected who could carry a call of {self.name}"))
            return promise
        return self.carriers[-1](request)


class Bus:
    """Topics, subscriptions, services, clients, actions and parameters by name.

    Peers may add topics and clients from their own threads: then there is a new mapping, so that whoever goes through
    the one before is not disturbed.
    """

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.topics: dict[str, Topic] = {}
        self.subscriptions: dict[str, list[Subscription]] = {}
        self.services: dict[str, Service] = {}
        self.clients: dict[str, Client] = {}
        self.actions: dict[str, Any] = {}
        """Servers of actions; what carries them in ROS 2 is among the services and topics too."""
        self.parameters: dict[str, Parameter] = {}
        self.changes = 0
        """How often somebody has taken or left topics."""
        self.now = 0
        """Simulated time, ns, at which things are being said."""
        self._undo: dict[str, list[Callable[[], None]]] = {}  # what takes away all that is somebody's
        self._owner = ""
        self.post = Post()
        self._lock = Lock()

    # -------------------------------------------------------------------------------------------- what there is

    def advertise(self, name: str, type_name: str, qos: Qos = SENSOR) -> Topic:
        """A topic to say something on; two that say the same thing under one name share it."""
        type_name = self._message(type_name)
        with self._lock:
            if name not in self.topics:
                self.topics = {**self.topics, name: Topic(name, type_name, qos, self.codec, self.post)}
        known = self.topics[name]
        if known.type != type_name:
            raise SkerryError(f"the topic {name} is {known.type} already, and cannot be {type_name} too")
        return known

    def subscribe(self, name: str, type_name: str, hear: Callable[[Message], None]) -> None:
        """Listen to a topic; several may, if they expect the same type."""
        type_name = self._message(type_name)
        known = self.subscriptions.get(name, [])
        if known and known[0].type != type_name:
            raise SkerryError(f"the topic {name} is heard as {known[0].type} already, and cannot be {type_name} too")
        subscription = Subscription(name, type_name, hear)
        self.subscriptions = {**self.subscriptions, name: [*known, subscription]}

        def undo() -> None:
            rest = [other for other in self.subscriptions[name] if other is not subscription]
            self.subscriptions = {**self.subscriptions, name: rest} if rest else _without(self.subscriptions, name)

        self.when_withdrawn(undo)

    def offer(self, name: str, type_name: str, answer: Callable[[Message], Answer]) -> None:
        """Answer a service."""
        if name in self.services:
            raise SkerryError(f"the service {name} is offered already")
        service = Service(name, self.codec.vocabulary.service(type_name).name, answer)
        self.services = {**self.services, name: service}

        def undo() -> None:
            self.services = _without(self.services, name)

        self.when_withdrawn(undo)

    def act(self, name: str, server: Any) -> None:
        """Serve an action."""
        self.actions = {**self.actions, name: server}

        def undo() -> None:
            self.actions = _without(self.actions, name)

        self.when_withdrawn(undo)

    def client(self, name: str, type_name: str) -> Client:
        """A service of a peer's, to call."""
        type_name = self.codec.vocabulary.service(type_name).name
        with self._lock:
            if name not in self.clients:
                self.clients = {**self.clients, name: Client(name, type_name)}
        return self.clients[name]

    def _message(self, type_name: str) -> str:
        return self.codec.vocabulary.message(full_name(type_name)).name

    # -------------------------------------------------------------------------------------------- coming and going

    @contextmanager
    def owned_by(self, owner: str) -> Iterator[None]:
        """Let what is heard, offered and served meanwhile be somebody's, who may `withdraw` it."""
        before, self._owner = self._owner, owner
        try:
            yield
        finally:
            self._owner = before

    def when_withdrawn(self, undo: Callable[[], None]) -> None:
        """Let something be undone when the present owner withdraws; what is nobody's stays."""
        if self._owner:
            self._undo.setdefault(self._owner, []).append(undo)

    def withdraw(self, owner: str) -> None:
        """Take away all that is somebody's; topics stay, and are silent."""
        for undo in reversed(self._undo.pop(owner, [])):
            undo()

    # -------------------------------------------------------------------------------------------- what peers do

    def hear(self, name: str, message: Message) -> None:
        """Pass on what a peer said."""
        for subscription in self._known(self.subscriptions, name, "topic that is heard"):
            try:
                subscription.hear(message)
            except SkerryError as error:
                logger.warning("%s: %s", name, error)

    def type_heard(self, name: str) -> str:
        """The type that a topic is heard as."""
        found: str = self._known(self.subscriptions, name, "topic that is heard")[0].type
        return found

    def call(self, name: str, request: Message) -> Future[Message]:
        """Let a service answer a peer."""
        promise: Future[Message] = Future()
        try:
            answer = self._known(self.services, name, "service").answer(request)
        except SkerryError as error:
            promise.set_exception(error)
            return promise
        if isinstance(answer, Future):
            return answer
        promise.set_result(answer)
        return promise

    def _known(self, things: dict[str, Any], name: str, what: str) -> Any:
        if name not in things:
            raise UnknownName(f"there is no {what} {name!r}; {did_you_mean(name, things)}")
        return things[name]

    def takers(self, outbox: Outbox, names: Iterable[str]) -> None:
        """Let an outbox take exactly these topics."""
        chosen = set(names)
        for name, topic in self.topics.items():
            if name in chosen:
                topic.take(outbox)
            else:
                topic.leave(outbox)
        self.changes += 1


def _without(things: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: thing for key, thing in things.items() if key != name}
