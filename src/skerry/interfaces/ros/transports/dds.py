"""ROS 2's own wire, DDS, by Cyclone DDS: topics with all peers, services and actions with those of rmw_cyclonedds."""

from __future__ import annotations

import logging
import os
import struct
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus import Bus, Client, Outbox, Service, Topic
from skerry.interfaces.ros.codec import BadMessage, Message
from skerry.interfaces.ros.dds_names import (
    DISCOVERY,
    DISCOVERY_HASH,
    DISCOVERY_TYPE,
    GID_BYTES,
    join_call,
    participant_info,
    reply_of,
    request_of,
    split_call,
    topic_of,
    type_of,
)
from skerry.interfaces.ros.transport import NODE, Transport, TransportConfig

if TYPE_CHECKING:
    from skerry.interfaces.ros.cyclone import Participant, Quality, RawReader, RawWriter

logger = logging.getLogger("skerry")

LOOK: Final = 0.2  # s between looks at who takes what, and at what is new on the bus
KEPT: Final = 10  # messages at least that a reliable writer keeps, to send lost parts of large ones again
MOST_DOMAINS: Final = 232  # the highest domain of DDS whose ports exist


class DdsNode(Transport):
    """A node on DDS: one thread sends, another takes what comes and looks who is there."""

    def __init__(self, config: Dds) -> None:
        self.config = config
        self.outbox = Outbox()
        self._sent = 0
        self._bad: set[str] = set()  # topics on which something came that was no message
        self._writers: dict[str, RawWriter] = {}
        self._replies: list[RawWriter] = []
        self._readers: list[tuple[str, RawReader, Callable[[bytes], None]]] = []
        self._clients: dict[str, Client] = {}
        self._carriers: list[tuple[Client, Callable[[Message], Future[Message]]]] = []
        self._asked: dict[bytes, tuple[Client, Future[Message]]] = {}
        self._numbers = count(1)
        self._lock = Lock()  # of the calls that wait for answers
        self._over = Event()
        self._threads: list[Thread] = []
        self._participant: Participant | None = None
        self._taken: set[str] = set()
        self._heard: set[str] = set()  # topics, and
        self._offered: set[str] = set()  # services that have their readers

    @property
    def status(self) -> str:
        dropped = self.outbox.dropped.total()
        text = f"dds domain {self.config.number}, {len(self._taken)} topics taken, {self._sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    # -------------------------------------------------------------------------------------------- beginning and end

    def start(self, bus: Bus) -> None:
        from skerry.interfaces.ros import cyclone

        distribution = bus.codec.vocabulary.distribution
        if distribution not in GID_BYTES:
            raise SkerryError(f"DDS is of ROS 2, and `distribution` is {distribution!r}; use `endpoint` for ROS 1")
        self._bus, self._gid_bytes = bus, GID_BYTES[distribution]
        self._cyclone = cyclone
        self._participant = participant = cyclone.Participant(self.config.number, self.config.network)
        cyclone.self_test(participant)
        logger.info(
            "DDS domain %s on %s; services and actions reach peers of rmw_cyclonedds only, topics all",
            self.config.number,
            self.config.network,
        )
        about = cyclone.Quality(transient_local=True, depth=1, user_data=f"typehash={DISCOVERY_HASH};".encode())
        self._about = cyclone.RawWriter(participant, DISCOVERY, DISCOVERY_TYPE, about)
        self._find_what_is_new()
        for target in (self._send_on, self._take_on):
            thread = Thread(target=target, name=f"ros dds {target.__name__}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        if (participant := self._participant) is None:
            return
        self._over.set()
        self.outbox.wake()
        participant.wake()
        for thread in self._threads:
            thread.join(timeout=5.0)
        self._bus.takers(self.outbox, ())
        for client, carrier in self._carriers:
            client.carriers.remove(carrier)
        with self._lock:
            for client, promise in self._asked.values():
                promise.set_exception(SkerryError(f"{client.name}: the simulation ended before it was answered"))
            self._asked.clear()
        self._participant = None
        participant.close()

    # -------------------------------------------------------------------------------------------- endpoints

    def _quality(self, topic: Topic) -> Quality:
        qos = topic.qos
        user_data = f"typehash={self._bus.codec.vocabulary.hash(topic.type)};".encode()
        depth = qos.depth if qos.transient_local else max(qos.depth, KEPT)
        return self._cyclone.Quality(qos.reliable, qos.transient_local, depth, user_data)

    def _hear(self, name: str, type_name: str) -> None:
        codec = self._bus.codec
        user_data = f"typehash={codec.vocabulary.hash(type_name)};".encode()
        quality = self._cyclone.Quality(depth=100, user_data=user_data, hears_itself=False)

        def take(cdr: bytes) -> None:
            if name in self._bus.subscriptions:  # whoever listened may be gone
                self._bus.hear(name, codec.from_cdr(cdr, type_name))

        self._read(name, topic_of(name), type_name, quality, take)

    def _read(self, name: str, topic: str, type_name: str, quality: Quality, take: Callable[[bytes], None]) -> None:
        assert self._participant is not None
        reader = self._cyclone.RawReader(self._participant, topic, type_of(type_name), quality)
        self._participant.watch(reader)
        self._readers.append((name, reader, take))

    def _offer(self, service: Service) -> None:
        assert self._participant is not None
        quality = self._call_quality()
        replies = self._cyclone.RawWriter(
            self._participant, reply_of(service.name), type_of(f"{service.type}_Response"), quality
        )
        self._replies.append(replies)
        codec = self._bus.codec

        def answer(header: bytes, promise: Future[Message]) -> None:
            if promise.cancelled() or promise.exception() is not None:
                why = "cancelled" if promise.cancelled() else promise.exception()
                logger.warning("%s: a call failed, and gets no answer: %s", service.name, why)
            elif not self._over.is_set():
                replies.write(join_call(header, codec.to_cdr(promise.result())))

        def take(cdr: bytes) -> None:
            header, request = split_call(cdr)
            call = self._bus.call(service.name, codec.from_cdr(request, f"{service.type}_Request"))
            call.add_done_callback(partial(answer, header))

        self._read(service.name, request_of(service.name), f"{service.type}_Request", quality, take)

    def _use(self, client: Client) -> None:
        """Carry calls of a peer's service."""
        assert self._participant is not None
        quality = self._call_quality()
        requests = self._cyclone.RawWriter(
            self._participant, request_of(client.name), type_of(f"{client.type}_Request"), quality
        )
        self._replies.append(requests)
        codec = self._bus.codec

        def ask(request: Message) -> Future[Message]:
            promise: Future[Message] = Future()
            header = requests.guid[-8:] + struct.pack("<q", next(self._numbers))
            with self._lock:
                self._asked[header] = (client, promise)
            requests.write(join_call(header, codec.to_cdr(request)))
            return promise

        def take(cdr: bytes) -> None:
            header, reply = split_call(cdr)
            with self._lock:
                asked = self._asked.pop(header, None)
            if asked is not None:
                asked[1].set_result(codec.from_cdr(reply, f"{client.type}_Response"))

        self._read(client.name, reply_of(client.name), f"{client.type}_Response", quality, take)
        client.carriers.append(ask)
        self._carriers.append((client, ask))

    def _call_quality(self) -> Quality:
        """Of both ends of a service, which have the same number."""
        assert self._participant is not None
        number = self._participant.guid[:12] + struct.pack(">I", len(self._readers) + 1)
        return self._cyclone.Quality(user_data=b"serviceid=" + number.hex().encode() + b";")

    def _find_what_is_new(self) -> None:
        """Write topics, hear others, offer and use services that were not on the bus before; say whose they are."""
        assert self._participant is not None
        before = (len(self._writers), len(self._readers), len(self._replies))
        for name, topic in self._bus.topics.items():
            if name not in self._writers and self.config.carries(name):
                self._writers[name] = self._cyclone.RawWriter(
                    self._participant, topic_of(name), type_of(topic.type), self._quality(topic)
                )
        for name, heard in self._bus.subscriptions.items():
            if name not in self._heard:
                self._heard.add(name)
                self._hear(name, heard[0].type)
        for name, service in self._bus.services.items():
            if name not in self._offered:
                self._offered.add(name)
                self._offer(service)
        for name, client in self._bus.clients.items():
            if name not in self._clients:
                self._clients[name] = client
                self._use(client)
        if (len(self._writers), len(self._readers), len(self._replies)) != before:
            readers = [reader.guid for _, reader, _ in self._readers]
            writers = [writer.guid for writer in (*self._writers.values(), *self._replies)]
            namespace, _, node = NODE.rpartition("/")
            guid = self._participant.guid
            self._about.write(participant_info(guid, namespace or "/", node, readers, writers, self._gid_bytes))

    # -------------------------------------------------------------------------------------------- threads

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

    def _take_on(self) -> None:
        participant = self._participant
        assert participant is not None
        looked = 0.0
        while not self._over.is_set():
            participant.wait(LOOK)
            for name, reader, take in self._readers:
                for cdr in reader.take():
                    try:
                        take(cdr)
                    except (BadMessage, OSError) as error:
                        self._tell_once(name, error)
            if (now := time.monotonic()) - looked >= LOOK:
                looked = now
                self._find_what_is_new()
                self._look_who_takes_what()

    def _tell_once(self, name: str, error: Exception) -> None:
        if name not in self._bad:
            self._bad.add(name)
            logger.warning("%s over DDS: %s", name, error)


class Dds(TransportConfig):
    """ROS 2's own wire, DDS."""

    kind: Literal["dds"] = "dds"
    domain: int | None = Field(
        None, ge=0, le=MOST_DOMAINS, description="of DDS; ROS_DOMAIN_ID of the environment by default, or 0"
    )
    network: str = Field(
        "loopback",
        pattern=r"^[\w.:-]+$",
        description="`loopback` is this machine only, `any` what Cyclone DDS chooses, else the name of an interface",
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

    def build(self) -> DdsNode:
        return DdsNode(self)
