"""An acoustic transceiver: a modem that sends and reads packets, and measures how far others are by asking them."""

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
from skerry.acoustics.channel.settings import NOMINAL_SOUND_SPEED, ReceiverSettings, TransmitterSettings
from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError, shorten
from skerry.core.frames import Pose
from skerry.parts.acoustics import NEVER, AcousticConfig, AcousticPart, Arrival, ArrivalBatch, BuildContext, Signal

PING_BITS: Final = 64  # of a request and of a reply
MAX_QUEUE: Final = 10_000  # packets that may wait to be sent


class AcousticPacket(NamedTuple):
    """What was read: times are by the clocks of the sender and of the hearer."""

    data: str | bytes  # as it was written
    sent: float  # s
    received: float  # s, at which its beginning came
    source: str  # "robot/part"
    to: str | None
    path: str  # direct, surface or bottom
    doppler: float  # relative change of the frequency
    level_db: float | None
    snr_db: float | None

    @property
    def text(self) -> str:
        """The data as text."""
        if isinstance(self.data, str):
            return self.data
        try:
            return self.data.decode()
        except UnicodeDecodeError as error:
            raise SkerryError(
                f"the {len(self.data)} bytes from {self.source} are not text (UTF-8): {error.reason} at byte "
                f"{error.start}; take `data`"
            ) from None

    @property
    def travel_time(self) -> float:
        """From the sender to the hearer, s: right if both clocks are."""
        return self.received - self.sent


@dataclass(frozen=True)
class AcousticRange:
    """How far another part is, by its answer."""

    time: float  # s, at which the answer came
    peer: str
    range: float  # m
    round_trip: float  # s, there and back
    path: str  # of the answer


class TransceiverPart(AcousticPart):
    """Sends what is written, in its order and at most one packet in a step; keeps what has come until it is read."""

    def __init__(self, config: ModemSettings, context: BuildContext, link: str, offset: Pose) -> None:
        super().__init__(context, link, offset)
        self.config = self.transmitter = self.receiver = config
        self.half_duplex = config.half_duplex
        self.missed = 0
        """Of what came, the number that nobody read before the inbox was full."""
        self._step = float(context.clock.step)
        self._is_exact = config.timing_noise == config.clock_offset == config.clock_drift_ppm == 0.0
        self._queue: deque[tuple[str, bytes, bool, str | None]] = deque()  # purpose, data, is text, to
        self._replies: list[Signal] = []
        self._inbox: deque[Arrival] = deque()
        self._gone = 0  # packets that were in the inbox once and are no more
        self._batches: list[ArrivalBatch] = []
        self.accepts_batches = config.multipath and config.bit_rate is None
        self._ranges: deque[AcousticRange] = deque(maxlen=config.inbox_size)
        self._asked: dict[int, tuple[str, float]] = {}  # of requests that are not answered: to whom, and when
        self._requests = 0
        self._latest: dict[str, int] = {}  # the number of what was last heard of each sender
        self._busy_until = 0.0
        self._last_tick = -1

    # -------------------------------------------------------------------------------------------- using it

    def write(self, data: str | bytes, to: str | None = None) -> None:
        """Send text or bytes to "robot/part", or to everybody, as soon as what was written before has been sent."""
        if not isinstance(data, str | bytes | bytearray | memoryview):
            raise SkerryError(f"{self.name}: a packet must be text or bytes, not {type(data).__name__}")
        try:
            raw = data.encode() if isinstance(data, str) else bytes(data)
        except UnicodeEncodeError as error:
            raise SkerryError(f"{self.name}: this text cannot be sent as UTF-8: {error.reason}; write bytes") from None
        most = self.config.max_packet_bytes
        if len(raw) > most:
            raise SkerryError(
                f"{self.name}: a packet of {len(raw)} bytes is too long; at most {most} (`max_packet_bytes`), so send "
                "it in pieces"
            )
        self._enqueue(("packet", raw, isinstance(data, str), to))

    def read(self) -> AcousticPacket | None:
        """What came first of all that was not read; None if there is nothing."""
        if not self._inbox:
            self._unpack()
            if not self._inbox:
                return None
        self._gone += 1
        return self._packet(self._inbox.popleft())

    @property
    def packets_received(self) -> int:
        """How many have come, read or not."""
        self._unpack()
        return self._gone + len(self._inbox)

    def peek(self, after: int) -> list[AcousticPacket]:
        """What has come since so many packets had, as far as it was not read; it can still be."""
        if after >= self.packets_received:
            return []
        return [self._packet(arrival) for arrival in islice(self._inbox, max(after - self._gone, 0), None)]

    def _packet(self, arrival: Arrival) -> AcousticPacket:
        signal, path, _, doppler, level_db, snr_db, _, _ = arrival
        data = signal.data.decode() if signal.is_text else signal.data
        received = self._local(arrival)
        return AcousticPacket(data, signal.stamp, received, signal.source, signal.to, path, doppler, level_db, snr_db)

    def ping(self, peer: str) -> None:
        """Ask "robot/part" to answer, for `read_range`."""
        if peer is None:
            raise SkerryError(f'{self.name}: a range is asked of one part; give its name, "robot/part"')
        self._enqueue(("request", b"", False, peer))

    def read_range(self) -> AcousticRange | None:
        """What was measured first of all that was not read; None if there is nothing."""
        return self._ranges.popleft() if self._ranges else None

    @property
    def waiting(self) -> int:
        """Packets that are written and not yet sent."""
        return len(self._queue)

    # -------------------------------------------------------------------------------------------- sending

    def _enqueue(self, item: tuple[str, bytes, bool, str | None]) -> None:
        if not isinstance(item[-1], str | None):
            raise SkerryError(f'{self.name}: whom it is for must be a name, "robot/part", not {shorten(item[-1])}')
        if len(self._queue) >= MAX_QUEUE:
            raise SkerryError(f"{self.name}: {MAX_QUEUE} packets wait to be sent; write slower")
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
            if reply.time >= self._busy_until:  # else it is sending, and cannot
                yield self._stamped(reply)
        if self._queue and tick > self._last_tick and time >= self._busy_until:
            purpose, data, is_text, to = self._queue.popleft()
            bits = 8 * len(data) if purpose == "packet" else PING_BITS
            request = -1
            if purpose == "request":
                assert to is not None
                request, self._requests = self._requests, self._requests + 1
                self._asked[request] = (to, self.config.local_time(time))
                if len(self._asked) > MAX_QUEUE:
                    del self._asked[next(iter(self._asked))]
            yield self._stamped(Signal(self.name, purpose, data, is_text, to, time, 0.0, self._duration(bits), request))
            self._last_tick = tick
        self._plan()

    def _stamped(self, signal: Signal) -> Signal:
        self._busy_until = signal.time + signal.duration
        return signal._replace(stamp=self.config.local_time(signal.time))

    def _duration(self, bits: int) -> float:
        return 0.0 if self.config.bit_rate is None else bits / self.config.bit_rate

    # -------------------------------------------------------------------------------------------- hearing

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
                self._answer(arrival)
        elif signal.purpose == "reply":
            if first and signal.request in self._asked:
                self._measure(arrival, *self._asked.pop(signal.request))
        elif first or self.config.multipath:
            self._keep(arrival)

    def receive_batch(self, batch: ArrivalBatch) -> None:
        self._batches.append(batch)
        if sum(len(batch.rows) for batch in self._batches) > self.config.inbox_size:
            self._unpack()

    def _keep(self, arrival: Arrival) -> None:
        if self._batches:
            self._unpack()
        self._inbox.append(arrival)
        self._make_room()

    def _unpack(self) -> None:
        """Put what came in batches into the inbox."""
        self.flush_batches()
        batches, self._batches = self._batches, []
        for batch in batches:
            self._inbox.extend(batch.unpack())
        self._make_room()

    def _make_room(self) -> None:
        while len(self._inbox) > self.config.inbox_size:
            self._inbox.popleft()
            self._gone += 1
            self.missed += 1

    def _is_unreadable(self, arrival: Arrival, snr_db: float) -> bool:
        config, signal = self.config, arrival.signal
        if config.bit_rate is None or signal.purpose == "ping":
            return snr_db < config.detection_threshold_db
        bits = 8 * len(signal.data) if signal.purpose == "packet" else PING_BITS
        chance = packet_error(snr_db, 1e3 * config.bandwidth_khz, config.bit_rate, bits, config.modulation)
        return is_lost(self._noise, signal.number, PATHS.index(arrival.path), chance)

    def _answer(self, arrival: Arrival) -> None:
        request = arrival.signal
        held = request.duration + self.config.turnaround
        reply = Signal(self.name, "reply", b"", False, request.source, arrival.time + held, 0.0)
        self._replies.append(reply._replace(duration=self._duration(PING_BITS), request=request.request, held=held))
        self._plan()

    def _measure(self, arrival: Arrival, peer: str, asked: float) -> None:
        """Take the answer to a request that was sent then, by the own clock."""
        time = self._local(arrival)
        round_trip = time - asked - arrival.signal.held
        self._ranges.append(
            AcousticRange(time, peer, 0.5 * round_trip * self.config.known_sound_speed, round_trip, arrival.path)
        )

    def _local(self, arrival: Arrival) -> float:
        """When something came, as the part measures it."""
        return arrival.time if self._is_exact else self.config.measured_time(self._noise, arrival, arrival.time)

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        self._unpack()
        kept: dict[str, Any] = {
            "queue": [[purpose, b64encode(data).decode(), *rest] for purpose, data, *rest in self._queue],
            "replies": [reply.to_json() for reply in self._replies],
            "gone": self._gone,
            "inbox": [arrival.to_json() for arrival in self._inbox],
            "ranges": [list(vars(reading).values()) for reading in self._ranges],
            "asked": [[number, *rest] for number, rest in self._asked.items()],
            "requests": self._requests,
            "latest": self._latest,
            "busy_until": self._busy_until,
            "last_tick": self._last_tick,
            "next_send": self.next_send,
            "missed": self.missed,
        }
        return json.dumps(kept).encode()

    def set_state(self, state: bytes) -> None:
        kept = json.loads(state)
        self._queue = deque((purpose, b64decode(data), *rest) for purpose, data, *rest in kept["queue"])
        self._replies = [Signal.from_json(reply) for reply in kept["replies"]]
        self._gone = kept["gone"]
        self._inbox, self._batches = deque(Arrival.from_json(arrival) for arrival in kept["inbox"]), []
        self._ranges = deque((AcousticRange(*reading) for reading in kept["ranges"]), self.config.inbox_size)
        self._asked = {number: (peer, time) for number, peer, time in kept["asked"]}
        self._requests, self._latest = kept["requests"], kept["latest"]
        self._busy_until, self._last_tick = kept["busy_until"], kept["last_tick"]
        self.next_send, self.missed = kept["next_send"], kept["missed"]


class ModemSettings(TransmitterSettings, ReceiverSettings):
    """What all have that send packets and hear them."""

    bit_rate: Positive | None = Field(None, description="bit/s; then packets last, and may collide; null is at once")
    half_duplex: bool = Field(True, description="what comes while it sends is lost")
    multipath: bool = Field(True, description="each path gives a packet of its own; else only the first to come does")
    modulation: Modulation = Field("bpsk", description="bpsk, coherent, or bfsk, without a phase: for bit errors")
    max_packet_bytes: int = Field(65_536, ge=1, le=1_000_000, description="longest packet")
    answers: bool = Field(True, description="answer when asked for a range")
    turnaround: NonNegative = Field(0.1, description="s from the end of a request to the answer")
    assumed_sound_speed: Positive | None = Field(
        None, description="m/s by which times become ranges; `sound_speed` by default, 1500 where that is the water's"
    )

    @property
    def known_sound_speed(self) -> float:
        """By which it makes ranges of times, m/s."""
        if self.assumed_sound_speed is not None:
            return self.assumed_sound_speed
        return NOMINAL_SOUND_SPEED if isinstance(self.sound_speed, str) else self.sound_speed


class Transceiver(AcousticConfig, ModemSettings):
    """An acoustic modem."""

    kind: Literal["transceiver"] = "transceiver"

    def build(self, context: BuildContext) -> TransceiverPart:
        return TransceiverPart(self, context, self.link, self.offset())
