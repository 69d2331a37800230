"""Acoustic transceiver: a modem that transmits and receives packets, and measures ranges by request and reply."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import ceil
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field

from skerry.acoustics.channel.link_budget import Modulation, is_lost, packet_error
from skerry.acoustics.channel.paths import PATHS
from skerry.acoustics.channel.settings import (
    NOMINAL_SOUND_SPEED,
    PERFECT_RECEIVER,
    ReceiverSettings,
    TransmitterSettings,
)
from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError, shorten
from skerry.core.frames import Pose
from skerry.parts.acoustics import NEVER, AcousticConfig, AcousticPart, Arrival, ArrivalBatch, BuildContext, Signal

PING_BITS: Final = 64  # length of a range request and of its reply
MAX_QUEUE: Final = 10_000  # largest number of packets that wait to be transmitted


class AcousticPacket(NamedTuple):
    """Received packet; `sent` is by the clock of the transmitter, `received` by the clock of the receiver."""

    data: str | bytes  # of the type that was written
    sent: float  # start of the transmission, s
    received: float  # start of the reception, s
    source: str  # "robot/part"
    to: str | None
    path: str  # direct, surface or bottom
    doppler: float  # relative change of the frequency
    level_db: float | None
    snr_db: float | None

    @property
    def text(self) -> str:
        """Data as text.

        Raises:
            SkerryError: If the data are not UTF-8.
        """
        if isinstance(self.data, str):
            return self.data
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            raise SkerryError(
                f"the {len(self.data)} bytes from {self.source} are not text (UTF-8): {error.reason} at byte "
                f"{error.start}; use `data` instead of `text`"
            ) from None

    @property
    def travel_time(self) -> float:
        """Travel time from the transmitter to the receiver, s; correct if both clocks are."""
        return self.received - self.sent


@dataclass(frozen=True)
class AcousticRange:
    """Range to another part, measured by its reply."""

    time: float  # arrival time of the reply, s
    peer: str  # "robot/part"
    range: float  # m
    round_trip: float  # travel time to the peer and back, s
    path: str  # path of the reply: direct, surface or bottom


class TransceiverPart(AcousticPart):
    """Modem; it transmits written packets in order, at most one per step, and stores received ones until read."""

    def __init__(self, config: ModemSettings, context: BuildContext, link: str, offset: Pose) -> None:
        super().__init__(context, link, offset)
        self.config = self.transmitter = self.receiver = config
        self.half_duplex = config.half_duplex
        self.dropped = 0
        """Number of received packets that were dropped unread because the inbox was full."""
        self._step = float(context.clock.step)
        self._is_exact = config.timing_noise == config.clock_offset == config.clock_drift_ppm == 0.0
        self._queue: deque[tuple[str, bytes, bool, str | None]] = deque()  # purpose, data, is text, to
        self._replies: list[Signal] = []
        self._inbox: deque[Arrival] = deque()
        self._removed = 0  # packets that were removed from the inbox, by reading or dropping
        self._batches: list[ArrivalBatch] = []
        self.accepts_batches = config.multipath and config.bit_rate is None
        self._ranges: deque[AcousticRange] = deque(maxlen=config.inbox_size)
        self._open_requests: dict[int, tuple[str, float]] = {}  # open requests: peer and time of the request
        self._requests = 0
        self._latest: dict[str, int] = {}  # number of the last signal from each source
        self._busy_until = 0.0
        self._last_tick = -1

    # -------------------------------------------------------------------------------------------- public methods

    def write(self, data: str | bytes, to: str | None = None) -> None:
        """Queue a packet for transmission.

        Args:
            data: Text or bytes.
            to: Receiver, "robot/part"; None for all.

        Raises:
            SkerryError: If the packet is too long, the queue is full, an argument has a wrong type, or there is no
                such receiver.
        """
        if not isinstance(data, str | bytes | bytearray | memoryview):
            raise SkerryError(f"{self.name}: a packet must be text or bytes, not {type(data).__name__}")
        try:
            raw = data.encode() if isinstance(data, str) else bytes(data)
        except UnicodeEncodeError as error:
            raise SkerryError(
                f"{self.name}: the text cannot be encoded as UTF-8 ({error.reason}); write bytes instead"
            ) from None
        most = self.config.max_packet_bytes
        if len(raw) > most:
            raise SkerryError(
                f"{self.name}: the packet has {len(raw)} bytes, but `max_packet_bytes` is {most}; split the data into "
                "several packets"
            )
        self._enqueue(("packet", raw, isinstance(data, str), to))

    def read(self) -> AcousticPacket | None:
        """Remove and return the oldest unread packet; None if there is none."""
        if not self._inbox:
            self._unpack()
            if not self._inbox:
                return None
        self._removed += 1
        return self._packet(self._inbox.popleft())

    @property
    def packets_received(self) -> int:
        """Number of packets received so far, read or not."""
        self._unpack()
        return self._removed + len(self._inbox)

    def peek(self, after: int) -> list[AcousticPacket]:
        """Return the unread packets after the first `after` received ones, without removing them."""
        if after >= self.packets_received:
            return []
        return [self._packet(arrival) for arrival in islice(self._inbox, max(after - self._removed, 0), None)]

    def _packet(self, arrival: Arrival) -> AcousticPacket:
        signal, path, _, doppler, level_db, snr_db, _, _ = arrival
        data = signal.data.decode() if signal.is_text else signal.data
        received = self._local(arrival)
        return AcousticPacket(data, signal.stamp, received, signal.source, signal.to, path, doppler, level_db, snr_db)

    def ping(self, peer: str) -> None:
        """Request a reply from "robot/part"; `read_range` then returns the range.

        Raises:
            SkerryError: If there is no such part, it is this one, or it cannot receive.
        """
        if peer is None:
            raise SkerryError(f'{self.name}: ping needs the name of one part, "robot/part"')
        self._enqueue(("request", b"", False, peer))

    def read_range(self) -> AcousticRange | None:
        """Remove and return the oldest unread range; None if there is none."""
        return self._ranges.popleft() if self._ranges else None

    @property
    def waiting(self) -> int:
        """Number of packets that wait to be transmitted."""
        return len(self._queue)

    @property
    def status(self) -> str:
        self._unpack()
        return f"{len(self._inbox)} unread packets, {self.waiting} to send"

    # -------------------------------------------------------------------------------------------- transmission

    def _enqueue(self, item: tuple[str, bytes, bool, str | None]) -> None:
        if not isinstance(item[-1], str | None):
            raise SkerryError(f'{self.name}: the receiver must be a name, "robot/part", not {shorten(item[-1])}')
        if item[-1] == self.name:
            raise SkerryError(f"{self.name}: it cannot send to itself; give the name of another part")
        if item[-1] is not None:
            try:
                self.check_receiver(item[-1])
            except SkerryError as error:
                raise type(error)(f"{self.name}: {error}") from None
        if len(self._queue) >= MAX_QUEUE:
            raise SkerryError(
                f"{self.name}: the queue is full ({MAX_QUEUE} packets wait to be transmitted); write more slowly"
            )
        self._queue.append(item)
        self._plan()

    def _plan(self) -> None:
        due = [ceil(reply.time / self._step) for reply in self._replies]
        if self._queue:
            due.append(max(self._last_tick + 1, ceil(self._busy_until / self._step), self._clock.tick))
        self.next_send = min(due, default=NEVER)

    def send(self, tick: int) -> Iterator[Signal]:
        time = self._clock.time_of(tick)
        replies = [reply for reply in self._replies if reply.time <= time]
        self._replies = [reply for reply in self._replies if reply.time > time]
        for reply in replies:
            if reply.time >= self._busy_until:  # otherwise it is transmitting and drops the reply
                yield self._stamped(reply)
        if self._queue and tick > self._last_tick and time >= self._busy_until:
            purpose, data, is_text, to = self._queue.popleft()
            bits = 8 * len(data) if purpose == "packet" else PING_BITS
            request = -1
            if purpose == "request":
                assert to is not None
                request, self._requests = self._requests, self._requests + 1
                self._open_requests[request] = (to, self.config.local_time(time))
                if len(self._open_requests) > MAX_QUEUE:
                    del self._open_requests[next(iter(self._open_requests))]
            yield self._stamped(Signal(self.name, purpose, data, is_text, to, time, 0.0, self._duration(bits), request))
            self._last_tick = tick
        self._plan()

    def _stamped(self, signal: Signal) -> Signal:
        self._busy_until = signal.time + signal.duration
        return signal._replace(stamp=self.config.local_time(signal.time))

    def _duration(self, bits: int) -> float:
        return 0.0 if self.config.bit_rate is None else bits / self.config.bit_rate

    # -------------------------------------------------------------------------------------------- reception

    def receive(self, arrival: Arrival) -> None:
        signal = arrival.signal
        if signal.to is not None and signal.to != self.name:
            return
        if arrival.snr_db is not None and self._is_unreadable(arrival, arrival.snr_db):
            return
        first = self._latest.get(signal.source, -1) < signal.number
        if first:
            self._latest[signal.source] = signal.number
        if signal.purpose == "request":
            if first and self.config.answers:
                self._reply(arrival)
        elif signal.purpose == "reply":
            if first and signal.request in self._open_requests:
                self._measure(arrival, *self._open_requests.pop(signal.request))
        elif first or self.config.multipath:
            self._store(arrival)

    def receive_batch(self, batch: ArrivalBatch) -> None:
        self._batches.append(batch)
        if sum(len(batch.rows) for batch in self._batches) > self.config.inbox_size:
            self._unpack()

    def _store(self, arrival: Arrival) -> None:
        if self._batches:
            self._unpack()
        self._inbox.append(arrival)
        self._make_room()

    def _unpack(self) -> None:
        """Move the batches from the channel into the inbox."""
        self.flush_batches()
        batches, self._batches = self._batches, []
        for batch in batches:
            self._inbox.extend(batch.unpack())
        self._make_room()

    def _make_room(self) -> None:
        while len(self._inbox) > self.config.inbox_size:
            self._inbox.popleft()
            self._removed += 1
            self.dropped += 1

    def _is_unreadable(self, arrival: Arrival, snr_db: float) -> bool:
        config, signal = self.config, arrival.signal
        if config.bit_rate is None or signal.purpose == "ping":
            return snr_db < config.detection_threshold_db
        bits = 8 * len(signal.data) if signal.purpose == "packet" else PING_BITS
        chance = packet_error(snr_db, 1e3 * config.bandwidth_khz, config.bit_rate, bits, config.modulation)
        return is_lost(self._noise, signal.number, PATHS.index(arrival.path), chance)

    def _reply(self, arrival: Arrival) -> None:
        request = arrival.signal
        held = request.duration + self.config.turnaround
        reply = Signal(self.name, "reply", b"", False, request.source, arrival.time + held, 0.0)
        self._replies.append(reply._replace(duration=self._duration(PING_BITS), request=request.request, held=held))
        self._plan()

    def _measure(self, arrival: Arrival, peer: str, asked: float) -> None:
        """Store the range to `peer` from the reply to a request sent at `asked`, s by the own clock."""
        time = self._local(arrival)
        round_trip = time - asked - arrival.signal.held
        self._ranges.append(
            AcousticRange(time, peer, 0.5 * round_trip * self.config.known_sound_speed, round_trip, arrival.path)
        )

    def _local(self, arrival: Arrival) -> float:
        """Return the measured time of an arrival, s by the own clock."""
        return arrival.time if self._is_exact else self.config.measured_time(self._noise, arrival, arrival.time)

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        self._unpack()
        kept: dict[str, Any] = {
            "queue": [[purpose, b64encode(data).decode(), *rest] for purpose, data, *rest in self._queue],
            "replies": [reply.to_json() for reply in self._replies],
            "gone": self._removed,
            "inbox": [arrival.to_json() for arrival in self._inbox],
            "ranges": [list(vars(reading).values()) for reading in self._ranges],
            "asked": [[number, *rest] for number, rest in self._open_requests.items()],
            "requests": self._requests,
            "latest": self._latest,
            "busy_until": self._busy_until,
            "last_tick": self._last_tick,
            "next_send": self.next_send,
            "missed": self.dropped,
        }
        return json.dumps(kept).encode()

    def set_state(self, state: bytes) -> None:
        kept = json.loads(state)
        self._queue = deque((purpose, b64decode(data), *rest) for purpose, data, *rest in kept["queue"])
        self._replies = [Signal.from_json(reply) for reply in kept["replies"]]
        self._removed = kept["gone"]
        self._inbox, self._batches = deque(Arrival.from_json(arrival) for arrival in kept["inbox"]), []
        self._ranges = deque((AcousticRange(*reading) for reading in kept["ranges"]), self.config.inbox_size)
        self._open_requests = {number: (peer, time) for number, peer, time in kept["asked"]}
        self._requests, self._latest = kept["requests"], kept["latest"]
        self._busy_until, self._last_tick = kept["busy_until"], kept["last_tick"]
        self.next_send, self.dropped = kept["next_send"], kept["missed"]


class ModemSettings(TransmitterSettings, ReceiverSettings):
    """Settings of parts that transmit and receive packets."""

    bit_rate: Positive | None = Field(
        None, description="bit/s, from which the duration of packets follows; null: they have no duration"
    )
    half_duplex: bool = Field(True, description="whether signals that arrive during a transmission are lost")
    multipath: bool = Field(
        True, description="whether each path delivers a packet; otherwise only the first arrival does"
    )
    modulation: Modulation = Field(
        "bpsk", description="coherent `bpsk` or non-coherent `bfsk`; decides the bit error rate"
    )
    max_packet_bytes: int = Field(65_536, ge=1, le=1_000_000, description="largest size of a packet")
    answers: bool = Field(True, description="whether it replies to range requests")
    turnaround: NonNegative = Field(0.1, description="s from the end of a request to the start of the reply")
    assumed_sound_speed: Positive | None = Field(
        None, description="m/s for ranges from travel times; by default `sound_speed`, or 1500 if that is `water`"
    )

    @property
    def known_sound_speed(self) -> float:
        """Speed of sound for ranges from travel times, m/s."""
        if self.assumed_sound_speed is not None:
            return self.assumed_sound_speed
        return NOMINAL_SOUND_SPEED if isinstance(self.sound_speed, str) else self.sound_speed


class Transceiver(AcousticConfig, ModemSettings):
    """Settings of an acoustic modem."""

    perfect = PERFECT_RECEIVER

    kind: Literal["transceiver"] = "transceiver"

    def build(self, context: BuildContext) -> TransceiverPart:
        return TransceiverPart(self, context, self.link, self.offset())
