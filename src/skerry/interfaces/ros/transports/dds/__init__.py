"""ROS 2's own wire, DDS, by Cyclone DDS: topics with all peers, services and actions with those of rmw_cyclonedds."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Client, Service, Topic
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.transports.dds.names import (
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
from skerry.interfaces.ros.transports.graph_node import LOOK, GraphNode, GraphNodeConfig

if TYPE_CHECKING:
    from skerry.interfaces.ros.transports.dds.cyclone import Participant, Quality, RawReader, RawWriter

logger = logging.getLogger("skerry")

KEPT: Final = 10  # messages at least that a reliable writer keeps, to send lost parts of large ones again


class DdsNode(GraphNode):
    """A node on DDS."""

    wire = "DDS"

    def __init__(self, config: Dds) -> None:
        super().__init__()
        self.config = config
        self._endpoints: list[RawWriter] = []  # that write, of topics and of calls
        self._readers: list[tuple[str, RawReader, Callable[[bytes], None]]] = []
        self._numbers = count(1)
        self._participant: Participant | None = None

    @property
    def status(self) -> str:
        return f"dds domain {self.config.number}, {self._figures}"

    # -------------------------------------------------------------------------------------------- beginning and end

    def start(self, bus: Bus) -> None:
        from skerry.interfaces.ros.transports.dds import cyclone

        distribution = bus.codec.vocabulary.distribution
        if distribution not in GID_BYTES:
            raise SkerryError(f"DDS is of ROS 2, and `distribution` is {distribution!r}; use `endpoint` for ROS 1")
        self._gid_bytes = GID_BYTES[distribution]
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
        self._bus = bus
        self._find_what_is_new()
        self._begin()

    def close(self) -> None:
        if (participant := self._participant) is None:
            return
        self._over.set()
        participant.wake()
        self._end()
        self._participant = None
        participant.close()

    # -------------------------------------------------------------------------------------------- endpoints

    def _carries(self, topic: str) -> bool:
        return self.config.carries(topic)

    def _write(self, topic: Topic) -> RawWriter:
        qos = topic.qos
        user_data = f"typehash={self._bus.codec.vocabulary.hash(topic.type)};".encode()
        depth = qos.depth if qos.transient_local else max(qos.depth, KEPT)
        quality = self._cyclone.Quality(qos.reliable, qos.transient_local, depth, user_data)
        return self._writer(topic_of(topic.name), topic.type, quality)

    def _hear(self, name: str, type_name: str) -> None:
        user_data = f"typehash={self._bus.codec.vocabulary.hash(type_name)};".encode()
        quality = self._cyclone.Quality(depth=100, user_data=user_data, hears_itself=False)
        self._read(name, topic_of(name), type_name, quality, lambda cdr: self._take(name, type_name, cdr))

    def _writer(self, topic: str, type_name: str, quality: Quality) -> RawWriter:
        assert self._participant is not None
        writer = self._cyclone.RawWriter(self._participant, topic, type_of(type_name), quality)
        self._endpoints.append(writer)
        return writer

    def _read(self, name: str, topic: str, type_name: str, quality: Quality, take: Callable[[bytes], None]) -> None:
        assert self._participant is not None
        reader = self._cyclone.RawReader(self._participant, topic, type_of(type_name), quality)
        self._participant.watch(reader)
        self._readers.append((name, reader, take))

    def _offer(self, service: Service) -> None:
        quality = self._call_quality()
        replies = self._writer(reply_of(service.name), f"{service.type}_Response", quality)
        codec = self._bus.codec

        def take(cdr: bytes) -> None:
            header, request = split_call(cdr)

            def reply(message: Message) -> None:
                replies.write(join_call(header, codec.to_cdr(message)))

            self._answer(service, request, reply, refuse=lambda why: None)

        self._read(service.name, request_of(service.name), f"{service.type}_Request", quality, take)

    def _use(self, client: Client) -> Callable[[Message], Future[Message]]:
        quality = self._call_quality()
        requests = self._writer(request_of(client.name), f"{client.type}_Request", quality)
        codec = self._bus.codec

        def ask(request: Message) -> Future[Message]:
            header = requests.guid[-8:] + struct.pack("<q", next(self._numbers))
            promise = self.calls.begin(header, client)
            requests.write(join_call(header, codec.to_cdr(request)))
            return promise

        def take(cdr: bytes) -> None:
            header, reply = split_call(cdr)
            self.calls.answer(header, lambda: codec.from_cdr(reply, f"{client.type}_Response"))

        self._read(client.name, reply_of(client.name), f"{client.type}_Response", quality, take)
        return ask

    def _call_quality(self) -> Quality:
        """Of both ends of a service, which have the same number."""
        assert self._participant is not None
        number = self._participant.guid[:12] + struct.pack(">I", len(self._readers) + 1)
        return self._cyclone.Quality(user_data=b"serviceid=" + number.hex().encode() + b";")

    def _find_what_is_new(self) -> bool:
        """What there is, and say whose it is."""
        assert self._participant is not None
        if found := super()._find_what_is_new():
            readers = [reader.guid for _, reader, _ in self._readers]
            writers = [writer.guid for writer in self._endpoints]
            namespace, _, node = NODE.rpartition("/")
            guid = self._participant.guid
            self._about.write(participant_info(guid, namespace or "/", node, readers, writers, self._gid_bytes))
        return found

    # -------------------------------------------------------------------------------------------- what comes

    def _work(self) -> None:
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


class Dds(GraphNodeConfig):
    """ROS 2's own wire, DDS."""

    kind: Literal["dds"] = "dds"
    network: str = Field(
        "loopback",
        pattern=r"^[\w.:-]+$",
        description="`loopback` is this machine only, `any` what Cyclone DDS chooses, else the name of an interface",
    )

    def build(self) -> DdsNode:
        return DdsNode(self)
