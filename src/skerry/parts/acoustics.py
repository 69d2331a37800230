"""Base classes of acoustic parts: they transmit signals into the water or receive them.

The acoustic channel decides which part receives which signal, and when.
"""

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Clock
from skerry.core.config import Family
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.component import Component, MeasuringConfig

ACOUSTICS = Family("acoustics", "skerry.acoustics")

NEVER: Final = 2**62
"""Tick that is never reached."""


class Signal(NamedTuple):
    """Transmitted signal: a packet of a modem, a ping, a request for a reply, or a reply."""

    source: str  # "robot/part"
    purpose: str  # packet, ping, request or reply
    data: bytes
    is_text: bool
    to: str | None  # "robot/part"; None for a broadcast
    time: float  # start of the transmission, s
    stamp: float  # start of the transmission on the clock of the sender, s
    duration: float = 0.0  # s
    request: int = -1  # number of the request that a reply answers
    held: float = 0.0  # delay of a reply after the start of the request, s
    number: int = -1  # assigned by the channel

    def to_json(self) -> list[Any]:
        """Return the fields as JSON values."""
        return [b64encode(self.data).decode(), *self[:2], *self[3:]]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Signal:
        """Rebuild the object that `to_json` returned."""
        data, source, purpose, *rest = plain
        return cls(source, purpose, b64decode(data), *rest)


class Arrival(NamedTuple):
    """Signal that arrived along one path, without measurement errors of the receiver."""

    signal: Signal
    path: str  # direct, surface or bottom
    time: float  # start of the arrival, s
    doppler: float  # relative frequency shift; positive if sender and receiver approach each other
    level_db: float | None  # dB re 1 µPa; None if the level of the sender is unknown
    snr_db: float | None  # signal to noise and interference; None if the level is unknown
    direction: tuple[float, float, float] | None  # unit vector to the apparent source, in the frame of the part
    times: tuple[float, ...]  # start of the arrival at each hydrophone, s

    def to_json(self) -> list[Any]:
        """Return the fields as JSON values."""
        return [self.signal.to_json(), *self[1:]]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Arrival:
        """Rebuild the object that `to_json` returned."""
        signal, *rest, direction, times = plain
        return cls._make(
            [Signal.from_json(signal), *rest, None if direction is None else tuple(direction), tuple(times)]
        )


class ArrivalBatch(NamedTuple):
    """Packets and pings that arrived at one part, with time, path and Doppler shift only."""

    rows: NDArray[np.float64]  # (n, 5): number of the signal, of the part, of the path; time, s; frequency shift
    signals: Mapping[int, Signal]
    paths: tuple[str, ...]

    def unpack(self) -> Iterator[Arrival]:
        """Yield each arrival."""
        for number, _, path, time, doppler in self.rows.tolist():
            yield Arrival(self.signals[number], self.paths[int(path)], time, doppler, None, None, None, ())


@dataclass(frozen=True)
class BuildContext:
    """Data that an acoustic part gets when it is built."""

    name: str  # "robot/part"
    noise: Noise
    clock: Clock


class AcousticPart(Component):
    """Base class of acoustic parts.

    Attributes:
        transmitter: Settings for transmission; None if the part cannot transmit.
        receiver: Settings for reception; None if the part cannot receive.
        hydrophones: Positions of further hydrophones in the frame of the part, m.
        measures_direction: Whether arrivals need a direction.
        half_duplex: Whether the part receives nothing while it transmits.
        accepts_batches: Whether packets and pings may be delivered later, by `receive_batch`.
        next_send: Tick of the next transmission.
        flush_batches: Function of the channel that delivers pending batches to the part.
        check_receiver: Function of the channel that raises an error if a part cannot be addressed.
    """

    transmitter: Any = None
    receiver: Any = None
    hydrophones: tuple[tuple[float, float, float], ...] = ()
    measures_direction: bool = False
    half_duplex: bool = False
    accepts_batches: bool = False

    def __init__(self, context: BuildContext, link: str, offset: Pose) -> None:
        self.name = context.name
        self.link = link
        self.offset = offset
        self.next_send: int = NEVER
        self.flush_batches: Callable[[], None] = _nothing
        self.check_receiver: Callable[[str], None] = _accept
        self._noise = context.noise
        self._clock = context.clock

    def bind(self, clock: Clock, flush_batches: Callable[[], None], check_receiver: Callable[[str], None]) -> None:
        """Connect the part to the clock and the acoustic channel of a world."""
        self._clock = clock
        self.flush_batches = flush_batches
        self.check_receiver = check_receiver

    def send(self, tick: int) -> Iterable[Signal]:
        """Return the signals whose transmission starts after the previous tick and not after this tick."""
        return ()

    @abstractmethod
    def receive(self, arrival: Arrival) -> None:
        """Process one arrival."""

    def receive_batch(self, batch: ArrivalBatch) -> None:
        """Process a batch of arrivals; called before any later arrival is delivered."""
        for arrival in batch.unpack():
            self.receive(arrival)

    @property
    def status(self) -> str:
        """State in a few words, for `repr`."""
        return f"on {self.link}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {self.status}>"


def _nothing() -> None:
    return


def _accept(name: str) -> None:
    return


@runtime_checkable
class CanWrite(Protocol):
    """Ability to send packets, as acoustic modems do."""

    def write(self, data: str | bytes, to: str | None = None) -> None:
        """Queue a packet for transmission to "robot/part", or to all."""


class AcousticConfig(MeasuringConfig):
    """Settings of an acoustic part on a link."""

    def build(self, context: BuildContext) -> AcousticPart:
        """Return a new part with these settings."""
        raise NotImplementedError
