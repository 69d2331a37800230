"""ROS 2 over DDS, with Cyclone DDS: topics with all peers, services and actions with peers of rmw_cyclonedds."""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Service, ServiceClient, Topic
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
from skerry.interfaces.ros.transports.graph_node import POLL_PERIOD, GraphNode, GraphNodeConfig

if TYPE_CHECKING:
    from skerry.interfaces.ros.transports.dds.cyclone import DdsReader, DdsWriter, EndpointQos, Participant

logger = logging.getLogger("skerry")

MIN_DEPTH: Final = 10  # messages that a reliable writer keeps at least, to resend lost fragments of large messages


class DdsNode(GraphNode):
    """Node on DDS."""

    protocol_name = "DDS"

    def __init__(self, config: Dds) -> None:
        super().__init__()
        self.config = config
        self._endpoints: list[DdsWriter] = []  # writers of topics, requests and responses
        self._readers: list[tuple[str, DdsReader, Callable[[bytes], None]]] = []
        self._numbers = count(1)
        self._participant: Participant | None = None

    @property
    def status(self) -> str:
        return f"dds domain {self.config.number}, {self._counters}"

    # -------------------------------------------------------------------------------------------- start and end

    def start(self, bus: Bus) -> None:
        from skerry.interfaces.ros.transports.dds import cyclone

        distribution = bus.codec.type_store.distribution
        if distribution not in GID_BYTES:
            raise SkerryError(
                f"DDS is a transport of ROS 2, but `distribution` is {distribution!r}; for ROS 1 use `endpoint`"
            )
        self._gid_bytes = GID_BYTES[distribution]
        self._cyclone = cyclone
        self._participant = participant = cyclone.Participant(self.config.number, self.config.network)
        cyclone.self_test(participant)
        logger.info(
            "DDS domain %s on %s; topics work with all peers, services and actions with peers of rmw_cyclonedds only",
            self.config.number,
            self.config.network,
        )
        discovery_qos = cyclone.EndpointQos(
            transient_local=True, depth=1, user_data=f"typehash={DISCOVERY_HASH};".encode()
        )
        self._discovery = cyclone.DdsWriter(participant, DISCOVERY, DISCOVERY_TYPE, discovery_qos)
        self._bus = bus
        self._add_new_entries()
        self._start_threads()

    def close(self) -> None:
        if (participant := self._participant) is None:
            return
        self._over.set()
        participant.wake()
        self._stop_threads()
        self._participant = None
        participant.close()

    # -------------------------------------------------------------------------------------------- endpoints

    def _carries(self, topic: str) -> bool:
        return self.config.carries(topic)

    def _add_writer(self, topic: Topic) -> DdsWriter:
        topic_qos = topic.qos
        user_data = f"typehash={self._bus.codec.type_store.hash(topic.type)};".encode()
        depth = topic_qos.depth if topic_qos.transient_local else max(topic_qos.depth, MIN_DEPTH)
        qos = self._cyclone.EndpointQos(topic_qos.reliable, topic_qos.transient_local, depth, user_data)
        return self._new_writer(topic_of(topic.name), topic.type, qos)

    def _add_subscription(self, name: str, type_name: str) -> None:
        user_data = f"typehash={self._bus.codec.type_store.hash(type_name)};".encode()
        qos = self._cyclone.EndpointQos(depth=100, user_data=user_data, receives_own=False)
        self._new_reader(name, topic_of(name), type_name, qos, lambda cdr: self._on_message(name, type_name, cdr))

    def _new_writer(self, topic: str, type_name: str, qos: EndpointQos) -> DdsWriter:
        assert self._participant is not None
        writer = self._cyclone.DdsWriter(self._participant, topic, type_of(type_name), qos)
        self._endpoints.append(writer)
        return writer

    def _new_reader(
        self, name: str, topic: str, type_name: str, qos: EndpointQos, callback: Callable[[bytes], None]
    ) -> None:
        assert self._participant is not None
        reader = self._cyclone.DdsReader(self._participant, topic, type_of(type_name), qos)
        self._participant.watch(reader)
        self._readers.append((name, reader, callback))

    def _add_service(self, service: Service) -> None:
        qos = self._service_qos()
        replies = self._new_writer(reply_of(service.name), f"{service.type}_Response", qos)
        codec = self._bus.codec

        def on_request(cdr: bytes) -> None:
            header, request = split_call(cdr)

            def reply(message: Message) -> None:
                replies.write(join_call(header, codec.to_cdr(message)))

            self._on_request(service, request, reply, refuse=lambda reason: None)

        self._new_reader(service.name, request_of(service.name), f"{service.type}_Request", qos, on_request)

    def _add_client(self, client: ServiceClient) -> Callable[[Message], Future[Message]]:
        qos = self._service_qos()
        requests = self._new_writer(request_of(client.name), f"{client.type}_Request", qos)
        codec = self._bus.codec

        def call(request: Message) -> Future[Message]:
            header = requests.guid[-8:] + struct.pack("<q", next(self._numbers))
            future = self.calls.add(header, client)
            requests.write(join_call(header, codec.to_cdr(request)))
            return future

        def on_response(cdr: bytes) -> None:
            header, reply = split_call(cdr)
            self.calls.complete(header, lambda: codec.from_cdr(reply, f"{client.type}_Response"))

        self._new_reader(client.name, reply_of(client.name), f"{client.type}_Response", qos, on_response)
        return call

    def _service_qos(self) -> EndpointQos:
        """Return the quality of service of both endpoints of a service, which share a number."""
        assert self._participant is not None
        number = self._participant.guid[:12] + struct.pack(">I", len(self._readers) + 1)
        return self._cyclone.EndpointQos(user_data=b"serviceid=" + number.hex().encode() + b";")

    def _add_new_entries(self) -> bool:
        """Add new entries, and publish to which node they belong."""
        assert self._participant is not None
        if found := super()._add_new_entries():
            readers = [reader.guid for _, reader, _ in self._readers]
            writers = [writer.guid for writer in self._endpoints]
            namespace, _, node = NODE.rpartition("/")
            guid = self._participant.guid
            self._discovery.write(participant_info(guid, namespace or "/", node, readers, writers, self._gid_bytes))
        return found

    # -------------------------------------------------------------------------------------------- incoming data

    def _work(self) -> None:
        participant = self._participant
        assert participant is not None
        last_poll = 0.0
        while not self._over.is_set():
            participant.wait(POLL_PERIOD)
            for name, reader, callback in self._readers:
                for cdr in reader.take():
                    try:
                        callback(cdr)
                    except (BadMessage, OSError) as error:
                        self._warn_once(name, error)
            if (now := time.monotonic()) - last_poll >= POLL_PERIOD:
                last_poll = now
                self._add_new_entries()
                self._update_subscriptions()


class Dds(GraphNodeConfig):
    """Settings of ROS 2 over DDS."""

    kind: Literal["dds"] = "dds"
    extra: ClassVar[str] = "ros"
    network: str = Field(
        "loopback",
        pattern=r"^[\w.:-]+$",
        description="`loopback` is this machine only, `any` is the choice of Cyclone DDS, or the name of an interface",
    )

    def build(self) -> DdsNode:
        return DdsNode(self)
