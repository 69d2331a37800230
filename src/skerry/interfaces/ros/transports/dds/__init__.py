"""ROS 2 over DDS, for peers of every middleware.

Topics use Cyclone DDS. Services, and so actions and parameters, use the participant of `rtps`, because peers of Fast
DDS need an inline parameter in each response that the wheel of Cyclone DDS cannot send.
"""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from itertools import count
from threading import Lock
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
from skerry.interfaces.ros.transports.dds.rtps.core import Sample
from skerry.interfaces.ros.transports.dds.rtps.participant import RtpsParticipant
from skerry.interfaces.ros.transports.dds.rtps.wire import CYCLONE
from skerry.interfaces.ros.transports.graph_node import POLL_PERIOD, GraphNode, GraphNodeConfig

if TYPE_CHECKING:
    from skerry.interfaces.ros.transports.dds.cyclone import DdsReader, DdsWriter, Participant

logger = logging.getLogger("skerry")

MIN_DEPTH: Final = 10  # messages that a reliable writer keeps at least, to resend lost fragments of large messages
UNKNOWN_NUMBER: Final = -1 << 32  # sequence number "unknown" of RTPS


class DdsNode(GraphNode):
    """Node on DDS."""

    protocol_name = "DDS"

    def __init__(self, config: Dds) -> None:
        super().__init__()
        self.config = config
        self._readers: list[tuple[str, DdsReader, Callable[[bytes], None]]] = []
        self._reader_guids: list[bytes] = []
        self._writer_guids: list[bytes] = []
        self._numbers = count(1)
        self._participant: Participant | None = None
        self._services: RtpsParticipant

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
        self._services = RtpsParticipant(self.config.number, self.config.network, cyclone.PARTICIPANT_DATA)
        logger.info(
            "DDS domain %s on %s, for peers of ROS 2 %s", self.config.number, self.config.network, distribution.title()
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
        self._services.close()
        participant.close()

    # -------------------------------------------------------------------------------------------- endpoints

    def _carries(self, topic: str) -> bool:
        return self.config.carries(topic)

    def _add_writer(self, topic: Topic) -> DdsWriter:
        topic_qos = topic.qos
        user_data = f"typehash={self._bus.codec.type_store.hash(topic.type)};".encode()
        depth = topic_qos.depth if topic_qos.transient_local else max(topic_qos.depth, MIN_DEPTH)
        qos = self._cyclone.EndpointQos(topic_qos.reliable, topic_qos.transient_local, depth, user_data)
        assert self._participant is not None
        writer = self._cyclone.DdsWriter(self._participant, topic_of(topic.name), type_of(topic.type), qos)
        self._writer_guids.append(writer.guid)
        return writer

    def _add_subscription(self, name: str, type_name: str) -> None:
        user_data = f"typehash={self._bus.codec.type_store.hash(type_name)};".encode()
        qos = self._cyclone.EndpointQos(depth=100, user_data=user_data, receives_own=False)
        assert self._participant is not None
        reader = self._cyclone.DdsReader(self._participant, topic_of(name), type_of(type_name), qos)
        self._participant.watch(reader)
        self._readers.append((name, reader, lambda cdr: self._on_message(name, type_name, cdr)))
        self._reader_guids.append(reader.guid)

    def _add_service(self, service: Service) -> None:
        codec, services = self._bus.codec, self._services
        user_data = self._service_data(service.type)
        response_type, request_type = type_of(f"{service.type}_Response"), type_of(f"{service.type}_Request")
        replies, guid = services.add_writer(reply_of(service.name), response_type, user_data)
        self._writer_guids.append(guid)

        def on_request(sample: Sample) -> None:
            client, request = sample.writer[:12], sample.payload
            header = b""
            if sample.vendor == CYCLONE:
                header, request = split_call(request)

            def reply(message: Message) -> None:
                cdr = codec.to_cdr(message)
                if sample.vendor == CYCLONE:
                    services.write(replies, join_call(header, cdr), client)
                else:
                    reader = None if sample.related is None else sample.related[0]
                    services.write(replies, cdr, client, related=(reader or sample.writer, sample.number))

            self._on_request(service, request, reply, refuse=lambda reason: None)

        callback = self._checked(service.name, on_request)
        _, guid = services.add_reader(request_of(service.name), request_type, user_data, callback)
        self._reader_guids.append(guid)

    def _add_client(self, client: ServiceClient) -> Callable[[Message], Future[Message]]:
        codec, services = self._bus.codec, self._services
        user_data = self._service_data(client.type)
        response_type, request_type = type_of(f"{client.type}_Response"), type_of(f"{client.type}_Request")

        def on_response(sample: Sample) -> None:
            reply = sample.payload
            key: Hashable = sample.related
            if sample.vendor == CYCLONE:
                key, reply = split_call(reply)
            self.calls.complete(key, lambda: codec.from_cdr(reply, f"{client.type}_Response"))

        callback = self._checked(client.name, on_response)
        _, reader = services.add_reader(reply_of(client.name), response_type, user_data, callback)
        requests, writer = services.add_writer(request_of(client.name), request_type, user_data)
        self._reader_guids.append(reader)
        self._writer_guids.append(writer)
        lock = Lock()

        def call(request: Message) -> Future[Message]:
            cdr = codec.to_cdr(request)
            servers = services.matched(requests)
            if not servers:
                future: Future[Message] = Future()
                future.set_exception(SkerryError(f"{client.name}: no DDS peer has this service"))
                return future
            server = servers[-1]
            with lock:  # the key must be known before the response arrives
                number = requests.number + 1
                header = writer[-8:] + struct.pack("<q", number)
                is_cyclone = server.vendor == CYCLONE
                future = self.calls.add(header if is_cyclone else (reader, number), client)
                if is_cyclone:
                    services.write(requests, join_call(header, cdr), server.prefix)
                else:
                    services.write(requests, cdr, server.prefix, related=(reader, UNKNOWN_NUMBER))
            return future

        return call

    def _checked(self, name: str, callback: Callable[[Sample], None]) -> Callable[[Sample], None]:
        """Return a callback that reports messages which cannot be decoded once, and goes on."""

        def checked(sample: Sample) -> None:
            try:
                callback(sample)
            except (BadMessage, OSError) as error:
                self._warn_once(name, error)

        return checked

    def _service_data(self, type_name: str) -> bytes:
        """Return the user data of both endpoints of a service, which share an id (rmw_cyclonedds needs it)."""
        number = self._services.prefix + struct.pack(">I", next(self._numbers))
        return f"serviceid={number.hex()};typehash={self._bus.codec.type_store.hash(type_name)};".encode()

    def _add_new_entries(self) -> bool:
        """Add new entries, and publish to which node they belong."""
        assert self._participant is not None
        if found := super()._add_new_entries():
            namespace, _, node = NODE.rpartition("/")
            guid = self._participant.guid
            gids = self._reader_guids, self._writer_guids
            self._discovery.write(participant_info(guid, namespace or "/", node, *gids, self._gid_bytes))
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
