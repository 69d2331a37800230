"""State of an RTPS participant without input and output: discovery, reliable writers and reliable readers.

Datagrams go in through `receive`; those to send collect in `outgoing`, samples for the caller in `received`. A writer
sends each sample to one participant or to all. Participants that do not get a sample receive a gap instead.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from skerry.interfaces.ros.bus.transport import ProtocolError
from skerry.interfaces.ros.transports.dds.rtps import wire
from skerry.interfaces.ros.transports.dds.rtps.wire import Data, Description, Identity

Address: TypeAlias = tuple[str, int]

SPDP_WRITER: Final = b"\x00\x01\x00\xc2"  # announces participants
PUBLICATIONS: Final = (b"\x00\x00\x03\xc2", b"\x00\x00\x03\xc7")  # writer and reader that announce writers
SUBSCRIPTIONS: Final = (b"\x00\x00\x04\xc2", b"\x00\x00\x04\xc7")  # writer and reader that announce readers
BUILTIN_ENDPOINTS: Final = 0x3F  # announcers and detectors of participants, writers and readers
WRITER_KIND, READER_KIND = b"\x03", b"\x04"  # last byte of the ids of user endpoints without a key

ANNOUNCE_PERIOD: Final = 0.5  # s between announcements of the participant
LEASE: Final = 30  # s without announcement after which peers remove this participant
HEARTBEAT_PERIOD: Final = 0.1  # s until the first repeated heartbeat; the period doubles up to MAX_HEARTBEAT_PERIOD
MAX_HEARTBEAT_PERIOD: Final = 3.0  # s
DATAGRAM: Final = 1400  # B, submessages are joined up to this size
FRAGMENT: Final = 60_000  # B, larger samples are sent in fragments
MAX_HISTORY: Final = 256  # samples that a writer keeps for a participant
MAX_PENDING: Final = 512  # samples that a reader keeps before the missing ones arrive
MAX_ASSEMBLIES: Final = 4  # fragmented samples that a reader assembles at a time for one writer
MAX_PEERS: Final = 200  # participants
MAX_MATCHES: Final = 10_000  # endpoints of one participant that are matched


@dataclass(frozen=True)
class Sample:
    """Received sample of a user endpoint."""

    writer: bytes  # GUID
    number: int
    vendor: bytes
    payload: bytes
    related: Identity | None


@dataclass
class Peer:
    """Remote participant."""

    prefix: bytes
    vendor: bytes
    metatraffic: Address
    default: Address
    lease: float  # s
    expires: float


@dataclass
class Stream:
    """Samples of a writer for one participant."""

    address: Address
    history: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)  # inline parameters and payload by number
    sent: int = 0  # number of the last sample or gap
    readers: dict[bytes, int] = field(default_factory=dict)  # last confirmed number, by the id of the reader
    count: int = 0
    period: float = HEARTBEAT_PERIOD
    due: float = 0.0


class Writer:
    """Reliable writer. A permanent writer keeps all samples for later readers, as discovery needs it."""

    def __init__(self, entity: bytes, topic: str, type_name: str, *, is_permanent: bool = False) -> None:
        self.entity, self.topic, self.type_name, self.is_permanent = entity, topic, type_name, is_permanent
        self.number = 0
        self.streams: dict[bytes, Stream] = {}
        self.samples: dict[int, tuple[bytes, bytes]] = {}  # of a permanent writer


@dataclass
class WriterProxy:
    """Remote writer, as a reader sees it."""

    address: Address
    expected: int = 1
    pending: dict[int, Data | None] = field(default_factory=dict)  # None is a gap
    parts: dict[int, dict[int, Data]] = field(default_factory=dict)  # fragments of samples, by number and index
    count: int = 0
    has_heartbeat: bool = False
    due: float = 0.0


class Reader:
    """Reliable reader, which passes samples in order to a function."""

    def __init__(self, entity: bytes, topic: str, type_name: str, deliver: Callable[[Data], None]) -> None:
        self.entity, self.topic, self.type_name, self.deliver = entity, topic, type_name, deliver
        self.proxies: dict[bytes, WriterProxy] = {}


class RtpsCore:
    """Participant without sockets.

    Args:
        domain: DDS domain.
        prefix: First 12 bytes of the GUIDs of this participant.
        address: Address and port where peers reach this participant.
        targets: Addresses to which the participant announces itself.
        user_data: User data of the participant.
    """

    def __init__(
        self, domain: int, prefix: bytes, address: Address, targets: Iterable[Address], user_data: bytes
    ) -> None:
        self.prefix = prefix
        self.outgoing: list[tuple[bytes, Address]] = []
        self.received: list[tuple[Callable[[Sample], None], Sample]] = []
        self.peers: dict[bytes, Peer] = {}
        self.user_data_of_endpoints: list[bytes] = []
        """User data of endpoints that were discovered since the caller has cleared the list."""
        self._address, self._targets = address, tuple(targets)
        self._is_loopback = address[0].startswith("127.")
        self._announce_due = 0.0
        self._announced = 0
        self._count = 0  # endpoints
        self._remote: dict[bytes, tuple[bool, Description]] = {}  # matched endpoints: whether a writer, and description
        self._publications = Writer(PUBLICATIONS[0], "", "", is_permanent=True)
        self._subscriptions = Writer(SUBSCRIPTIONS[0], "", "", is_permanent=True)
        self.writers = {writer.entity: writer for writer in (self._publications, self._subscriptions)}
        self.readers = {
            PUBLICATIONS[1]: Reader(PUBLICATIONS[1], "", "", lambda data: self._on_endpoint(data, is_writer=True)),
            SUBSCRIPTIONS[1]: Reader(SUBSCRIPTIONS[1], "", "", lambda data: self._on_endpoint(data, is_writer=False)),
        }
        self._description = wire.parameters(
            [
                (wire.PID_VERSION, wire.VERSION),
                (wire.PID_VENDOR, wire.VENDOR),
                (wire.PID_PARTICIPANT_GUID, prefix + b"\x00\x00\x01\xc1"),
                (wire.PID_DOMAIN, struct.pack("<I", domain)),
                (wire.PID_BUILTIN_ENDPOINTS, struct.pack("<I", BUILTIN_ENDPOINTS)),
                (wire.PID_META_UNICAST, wire.locator(*address)),
                (wire.PID_DEFAULT_UNICAST, wire.locator(*address)),
                (wire.PID_LEASE, struct.pack("<iI", LEASE, 0)),
                (wire.PID_USER_DATA, wire.octets(user_data)),
            ]
        )

    # -------------------------------------------------------------------------------------------- own endpoints

    def add_writer(self, topic: str, type_name: str, user_data: bytes) -> Writer:
        """Add and announce a writer."""
        writer = Writer(self._entity(WRITER_KIND), topic, type_name)
        self.writers[writer.entity] = writer
        self._announce_endpoint(self._publications, writer, user_data)
        for guid, (is_writer, description) in self._remote.items():
            if not is_writer:
                self._match_reader(writer, guid, description)
        return writer

    def add_reader(self, topic: str, type_name: str, user_data: bytes, callback: Callable[[Sample], None]) -> Reader:
        """Add and announce a reader."""

        def deliver(data: Data) -> None:
            if not data.is_disposed:
                source = data.source
                sample = Sample(source.prefix + data.writer, data.number, source.vendor, data.payload, data.related)
                self.received.append((callback, sample))

        reader = Reader(self._entity(READER_KIND), topic, type_name, deliver)
        self.readers[reader.entity] = reader
        self._announce_endpoint(self._subscriptions, reader, user_data)
        for guid, (is_writer, description) in self._remote.items():
            if is_writer:
                self._match_writer(reader, guid, description)
        return reader

    def guid(self, endpoint: Writer | Reader) -> bytes:
        """Return the GUID of an endpoint."""
        return self.prefix + endpoint.entity

    def matched(self, writer: Writer) -> list[Peer]:
        """Return the participants with readers of a writer."""
        return [self.peers[prefix] for prefix, stream in writer.streams.items() if stream.readers]

    def _entity(self, kind: bytes) -> bytes:
        self._count += 1
        return struct.pack(">I", self._count)[1:] + kind

    def _announce_endpoint(self, announcer: Writer, endpoint: Writer | Reader, user_data: bytes) -> None:
        guid = self.guid(endpoint)
        values = [
            (wire.PID_ENDPOINT_GUID, guid),
            (wire.PID_KEY_HASH, guid),
            (wire.PID_PARTICIPANT_GUID, self.prefix + b"\x00\x00\x01\xc1"),
            (wire.PID_TOPIC, wire.text(endpoint.topic)),
            (wire.PID_TYPE, wire.text(endpoint.type_name)),
            (wire.PID_VERSION, wire.VERSION),
            (wire.PID_VENDOR, wire.VENDOR),
            (wire.PID_RELIABILITY, struct.pack("<IiI", 2, 0, 429_496_729)),  # reliable; may block for 0.1 s
            (wire.PID_DURABILITY, struct.pack("<I", 0)),  # volatile
            (wire.PID_HISTORY, struct.pack("<Ii", 0, 10)),  # the last 10 samples
            (wire.PID_UNICAST, wire.locator(*self._address)),
            (wire.PID_USER_DATA, wire.octets(user_data)),
        ]
        payload = b"\x00\x03\x00\x00" + wire.parameters(values)
        announcer.number += 1
        announcer.samples[announcer.number] = (b"", payload)
        for prefix, stream in announcer.streams.items():
            stream.history[announcer.number] = (b"", payload)
            self._send_samples(announcer, prefix, stream)

    def write(self, writer: Writer, payload: bytes, inline: bytes, prefix: bytes, address: Address | None) -> int:
        """Send a sample to the readers of one participant, and return its number.

        Args:
            writer: Writer of the sample.
            payload: CDR of the sample.
            inline: Encoded inline parameters.
            prefix: Prefix of the participant's GUIDs.
            address: Address of the participant if it has no reader yet; it gets the sample when it has one.
        """
        stream = writer.streams.get(prefix)
        if stream is None and address is not None:
            stream = writer.streams[prefix] = Stream(address)
        writer.number += 1
        if stream is not None:
            stream.history[writer.number] = (inline, payload)
            if len(stream.history) > MAX_HISTORY:
                del stream.history[next(iter(stream.history))]
            self._send_samples(writer, prefix, stream)
        return writer.number

    # -------------------------------------------------------------------------------------------- time

    def tick(self, now: float) -> None:
        """Repeat announcements, heartbeats and requests that are due, and remove peers that are silent."""
        if now >= self._announce_due:
            self._announce_due = now + ANNOUNCE_PERIOD
            for target in self._targets:
                self._announce(target)
        for prefix, peer in list(self.peers.items()):
            if now > peer.expires:
                self._remove_peer(prefix)
        for writer in self.writers.values():
            for prefix, stream in writer.streams.items():
                is_open = any(confirmed < stream.sent for confirmed in stream.readers.values())
                if not is_open:
                    stream.period = HEARTBEAT_PERIOD
                elif now >= stream.due:
                    stream.due = now + stream.period
                    stream.period = min(2 * stream.period, MAX_HEARTBEAT_PERIOD)
                    self._send(prefix, stream.address, [self._heartbeat(writer, stream)])
        for reader in self.readers.values():
            for guid, proxy in reader.proxies.items():
                if not proxy.has_heartbeat and now >= proxy.due:
                    proxy.due = now + 1.0
                    self._acknowledge(reader, guid, proxy, (), is_final=False)

    def leave(self) -> None:
        """Tell all peers that this participant ends."""
        key = wire.parameters([(wire.PID_PARTICIPANT_GUID, self.prefix + b"\x00\x00\x01\xc1")])
        inline = wire.parameters([(wire.PID_STATUS, b"\x00\x00\x00\x03")])
        payload = b"\x00\x03\x00\x00" + key
        self._announced += 1
        for peer in self.peers.values():
            end = wire.data(wire.UNKNOWN_ENTITY, SPDP_WRITER, self._announced, payload, inline, is_key=True)
            self.outgoing.append((wire.header(self.prefix) + end, peer.metatraffic))

    # -------------------------------------------------------------------------------------------- incoming data

    def receive(self, datagram: bytes, sender: Address, now: float) -> None:
        """Process a datagram.

        Raises:
            ProtocolError: The datagram is malformed.
        """
        for message in wire.parse(datagram, self.prefix):
            prefix = message.source.prefix
            if prefix == self.prefix:
                continue
            if (peer := self.peers.get(prefix)) is not None:
                peer.expires = now + peer.lease
            if isinstance(message, Data):
                if message.writer == SPDP_WRITER:
                    self._on_participant(message, sender, now)
                else:
                    self._on_data(message)
            elif isinstance(message, wire.Heartbeat):
                self._on_heartbeat(message)
            elif isinstance(message, wire.Gap):
                self._on_gap(message)
            elif isinstance(message, wire.AckNack):
                self._on_acknack(message)
            else:
                self._on_nack_frag(message)

    def _on_participant(self, data: Data, sender: Address, now: float) -> None:
        prefix = data.source.prefix
        if data.is_disposed:
            self._remove_peer(prefix)
            return
        description = Description.of(data.payload)
        prefix = description.raw(wire.PID_PARTICIPANT_GUID, 16)[:12]
        if not prefix or prefix == self.prefix:
            return
        lease = struct.unpack_from(f"{description.order}i", description.raw(wire.PID_LEASE, 8) or bytes(8))[0]
        lease = float(lease) if 0 < lease < 86_400 else 100.0
        if prefix in self.peers:
            self.peers[prefix].expires = now + lease
            return
        metatraffic = self._choose(description.addresses(wire.PID_META_UNICAST), sender)
        default = self._choose(description.addresses(wire.PID_DEFAULT_UNICAST), sender)
        if metatraffic is None or len(self.peers) >= MAX_PEERS:
            return
        vendor = description.raw(wire.PID_VENDOR, 2)[:2] or data.source.vendor
        self.peers[prefix] = Peer(prefix, vendor, metatraffic, default or metatraffic, lease, now + lease)
        self._announce(metatraffic)
        for writer, (_, reader) in ((self._publications, PUBLICATIONS), (self._subscriptions, SUBSCRIPTIONS)):
            stream = writer.streams[prefix] = Stream(metatraffic, dict(writer.samples), readers={reader: 0})
            self._send_samples(writer, prefix, stream)
        for entity, name in PUBLICATIONS, SUBSCRIPTIONS:
            proxy = self.readers[name].proxies[prefix + entity] = WriterProxy(metatraffic, due=now + 0.1)
            self._acknowledge(self.readers[name], prefix + entity, proxy, (), is_final=False)

    def _choose(self, addresses: list[Address], sender: Address) -> Address | None:
        """Return the address of a peer that this participant can reach."""
        if not addresses:
            return None
        if self._is_loopback:
            own = [address for address in addresses if address[0].startswith("127.")]
            return own[0] if own else ("127.0.0.1", addresses[0][1])
        return next((address for address in addresses if address[0] == sender[0]), addresses[0])

    def _remove_peer(self, prefix: bytes) -> None:
        if self.peers.pop(prefix, None) is None:
            return
        for writer in self.writers.values():
            writer.streams.pop(prefix, None)
        for reader in self.readers.values():
            reader.proxies = {guid: proxy for guid, proxy in reader.proxies.items() if guid[:12] != prefix}
        self._remote = {guid: entry for guid, entry in self._remote.items() if guid[:12] != prefix}

    def _on_endpoint(self, data: Data, *, is_writer: bool) -> None:
        if data.is_disposed:
            keys = data.inline.get(wire.PID_KEY_HASH, [])
            if not keys and data.payload:
                keys = [Description.of(data.payload).raw(wire.PID_ENDPOINT_GUID, 16)]
            for key in keys:
                self._remove_endpoint(key[:16])
            return
        description = Description.of(data.payload)
        guid = description.raw(wire.PID_ENDPOINT_GUID, 16)[:16]
        topic = description.text(wire.PID_TOPIC)
        if guid[:12] not in self.peers:
            return
        if user_data := description.octets(wire.PID_USER_DATA):
            self.user_data_of_endpoints.append(user_data)
        # Only endpoints of services are kept; a writer must be reliable for the readers of this participant.
        if not topic.startswith(("rq/", "rr/")) or len(self._remote) >= MAX_MATCHES:
            return
        if is_writer and description.integer(wire.PID_RELIABILITY, 2) < 2:
            return
        self._remote[guid] = (is_writer, description)
        if is_writer:
            for reader in self.readers.values():
                self._match_writer(reader, guid, description)
        else:
            for writer in self.writers.values():
                self._match_reader(writer, guid, description)

    def _remove_endpoint(self, guid: bytes) -> None:
        self._remote.pop(guid, None)
        for reader in self.readers.values():
            reader.proxies.pop(guid, None)
        for writer in self.writers.values():
            stream = writer.streams.get(guid[:12])
            if stream is None or stream.readers.pop(guid[12:], None) is None:
                continue
            if not stream.readers and not writer.is_permanent:
                del writer.streams[guid[:12]]

    def _fits(self, endpoint: Writer | Reader, description: Description) -> bool:
        return bool(endpoint.topic) and (endpoint.topic, endpoint.type_name) == (
            description.text(wire.PID_TOPIC),
            description.text(wire.PID_TYPE),
        )

    def _endpoint_address(self, guid: bytes, description: Description) -> Address:
        default = self.peers[guid[:12]].default
        return self._choose(description.addresses(wire.PID_UNICAST), default) or default

    def _match_writer(self, reader: Reader, guid: bytes, description: Description) -> None:
        if guid not in reader.proxies and self._fits(reader, description):
            proxy = reader.proxies[guid] = WriterProxy(self._endpoint_address(guid, description))
            self._acknowledge(reader, guid, proxy, (), is_final=False)

    def _match_reader(self, writer: Writer, guid: bytes, description: Description) -> None:
        if self._fits(writer, description):
            address = self._endpoint_address(guid, description)
            stream = writer.streams.setdefault(guid[:12], Stream(address))
            if guid[12:] not in stream.readers:
                stream.address = address
                stream.readers[guid[12:]] = 0
                self._send_samples(writer, guid[:12], stream)
                self._send(guid[:12], address, [self._heartbeat(writer, stream)])

    # -------------------------------------------------------------------------------------------- writers

    def _send_samples(self, writer: Writer, prefix: bytes, stream: Stream) -> None:
        """Send the samples of a stream that were not sent yet, once it has a reader."""
        if not stream.readers:
            return
        messages: list[bytes] = []
        for number in [number for number in stream.history if number > stream.sent]:
            if number > stream.sent + 1:
                messages.append(wire.gap(wire.UNKNOWN_ENTITY, writer.entity, stream.sent + 1, number))
            messages += self._encoded(writer, stream, number)
            stream.sent = number
        if messages:
            stream.period, stream.due = HEARTBEAT_PERIOD, 0.0
            self._send(prefix, stream.address, [*messages, self._heartbeat(writer, stream)])

    def _encoded(self, writer: Writer, stream: Stream, number: int, fragments: tuple[int, ...] = ()) -> list[bytes]:
        inline, payload = stream.history[number]
        if len(payload) <= FRAGMENT:
            return [wire.data(wire.UNKNOWN_ENTITY, writer.entity, number, payload, inline)]
        count = -(-len(payload) // FRAGMENT)
        indices = [index for index in fragments if 1 <= index <= count] or range(1, count + 1)
        return [
            wire.fragment(wire.UNKNOWN_ENTITY, writer.entity, number, payload, inline, index, FRAGMENT)
            for index in indices
        ]

    def _heartbeat(self, writer: Writer, stream: Stream, *, is_final: bool = False) -> bytes:
        stream.count += 1
        first = next(iter(stream.history), stream.sent + 1)
        return wire.heartbeat(
            wire.UNKNOWN_ENTITY,
            writer.entity,
            min(first, stream.sent + 1),
            stream.sent,
            stream.count,
            is_final=is_final,
        )

    def _on_acknack(self, message: wire.AckNack) -> None:
        writer, prefix = self.writers.get(message.writer), message.source.prefix
        stream = None if writer is None else writer.streams.get(prefix)
        if writer is None or stream is None or message.reader not in stream.readers:
            return
        stream.readers[message.reader] = min(max(message.base - 1, 0), stream.sent)
        if not writer.is_permanent:
            confirmed = min(stream.readers.values())
            for number in [number for number in stream.history if number <= confirmed]:
                del stream.history[number]
        messages: list[bytes] = []
        for number in message.missing:
            if number in stream.history and number <= stream.sent:
                messages += self._encoded(writer, stream, number)
            elif 0 < number <= stream.sent:
                messages.append(wire.gap(wire.UNKNOWN_ENTITY, writer.entity, number, number + 1))
        if messages or not message.is_final:
            is_final = stream.readers[message.reader] == stream.sent
            messages.append(self._heartbeat(writer, stream, is_final=is_final))
            self._send(prefix, stream.address, messages)

    def _on_nack_frag(self, message: wire.NackFrag) -> None:
        writer, prefix = self.writers.get(message.writer), message.source.prefix
        stream = None if writer is None else writer.streams.get(prefix)
        if writer is not None and stream is not None and message.number in stream.history:
            self._send(prefix, stream.address, self._encoded(writer, stream, message.number, message.fragments))

    # -------------------------------------------------------------------------------------------- readers

    def _readers_of(self, message: Data | wire.Heartbeat | wire.Gap) -> list[tuple[Reader, bytes, WriterProxy]]:
        guid = message.source.prefix + message.writer
        readers = self.readers.values()
        if message.reader != wire.UNKNOWN_ENTITY:
            readers = [self.readers[message.reader]] if message.reader in self.readers else []  # type: ignore[assignment]
        return [(reader, guid, reader.proxies[guid]) for reader in list(readers) if guid in reader.proxies]

    def _on_data(self, data: Data) -> None:
        for reader, _, proxy in self._readers_of(data):
            number = data.number
            if number < proxy.expected or number in proxy.pending or number >= proxy.expected + MAX_PENDING:
                continue
            whole = data if data.fragment == 0 else _assemble(proxy, data)
            if whole is not None:
                proxy.pending[number] = whole
                self._deliver(reader, proxy)

    def _deliver(self, reader: Reader, proxy: WriterProxy) -> None:
        """Pass on all samples without a missing one before them; before the first heartbeat the start is unknown."""
        while proxy.expected in proxy.pending:
            data = proxy.pending.pop(proxy.expected)
            proxy.parts.pop(proxy.expected, None)
            proxy.expected += 1
            if data is not None:
                reader.deliver(data)

    def _skip_to(self, reader: Reader, proxy: WriterProxy, number: int) -> None:
        """Pass on the samples before a number, and wait no longer for those that are missing."""
        for present in sorted(key for key in proxy.pending if key < number):
            proxy.expected = present
            self._deliver(reader, proxy)
        proxy.expected = max(proxy.expected, number)
        proxy.parts = {key: parts for key, parts in proxy.parts.items() if key >= proxy.expected}
        self._deliver(reader, proxy)

    def _on_heartbeat(self, message: wire.Heartbeat) -> None:
        for reader, guid, proxy in self._readers_of(message):
            proxy.has_heartbeat = True
            self._skip_to(reader, proxy, message.first)
            last = min(message.last, proxy.expected + wire.MAX_SET - 1)
            missing = [number for number in range(proxy.expected, last + 1) if number not in proxy.pending]
            if missing or not message.is_final:
                self._acknowledge(reader, guid, proxy, missing, is_final=True)

    def _on_gap(self, message: wire.Gap) -> None:
        for reader, _, proxy in self._readers_of(message):
            if message.start <= proxy.expected:
                self._skip_to(reader, proxy, message.base)
            else:
                end = min(message.base, proxy.expected + MAX_PENDING)
                proxy.pending |= {key: None for key in range(message.start, end) if key not in proxy.pending}
            for number in message.numbers:
                if proxy.expected <= number < proxy.expected + MAX_PENDING:
                    proxy.pending.setdefault(number, None)
            self._deliver(reader, proxy)

    def _acknowledge(
        self, reader: Reader, guid: bytes, proxy: WriterProxy, missing: Iterable[int], *, is_final: bool
    ) -> None:
        proxy.count += 1
        base = proxy.expected
        if not proxy.has_heartbeat and self.peers[guid[:12]].vendor == wire.FAST_DDS:
            base = 0  # only this base makes Fast DDS send a heartbeat immediately; otherwise it takes up to 3 s
        message = wire.acknack(reader.entity, guid[12:], base, missing, proxy.count, is_final=is_final)
        self._send(guid[:12], proxy.address, [message])

    # -------------------------------------------------------------------------------------------- outgoing data

    def _announce(self, target: Address) -> None:
        self._announced = max(self._announced, 1)
        payload = b"\x00\x03\x00\x00" + self._description
        sample = wire.data(wire.UNKNOWN_ENTITY, SPDP_WRITER, self._announced, payload)
        self.outgoing.append((wire.header(self.prefix) + sample, target))

    def _send(self, prefix: bytes, address: Address, messages: Iterable[bytes]) -> None:
        """Send submessages to a participant, several in one datagram while they are short."""
        start = wire.header(self.prefix) + wire.destination(prefix)
        datagram = start
        for message in messages:
            if len(datagram) > len(start) and len(datagram) + len(message) > DATAGRAM:
                self.outgoing.append((datagram, address))
                datagram = start
            datagram += message
        self.outgoing.append((datagram, address))


def _assemble(proxy: WriterProxy, data: Data) -> Data | None:
    """Add a fragment, and return the whole sample if it is complete."""
    parts = proxy.parts.get(data.number)
    if parts is None:
        if len(proxy.parts) >= MAX_ASSEMBLIES:
            del proxy.parts[min(proxy.parts)]
        parts = proxy.parts[data.number] = {}
    if any(part.fragment_size != data.fragment_size or part.sample_size != data.sample_size for part in parts.values()):
        raise ProtocolError(f"the fragments of sample {data.number} have different sizes")
    size = data.fragment_size
    for offset in range(0, max(len(data.payload), 1), size):  # a submessage may have several fragments
        index = data.fragment + offset // size
        parts[index] = Data(
            data.source, data.reader, data.writer, data.number, data.payload[offset : offset + size], data.order,
            data.inline, index, size, data.sample_size,
        )  # fmt: skip
    count = -(-data.sample_size // size)
    if any(index not in parts for index in range(1, count + 1)):
        return None
    payload = b"".join(parts[index].payload for index in range(1, count + 1))[: data.sample_size]
    if len(payload) < data.sample_size:
        del proxy.parts[data.number]
        raise ProtocolError(f"the fragments of sample {data.number} are shorter than the sample")
    return Data(data.source, data.reader, data.writer, data.number, payload, parts[1].order, parts[1].inline)
