"""An acoustic part: it sends sound into the water or hears it; the channel says who hears what, and when."""

from __future__ import annotations

from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Clock
from skerry.core.config import Family
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.component import Component, ComponentConfig, Mount

ACOUSTICS = Family("acoustics", "skerry.acoustics")

NEVER: Final = 2**62
"""A tick that never comes."""


class Signal(NamedTuple):
    """What is sent: a packet of a modem, a ping, a request for an answer, or the reply to one."""

    source: str  # "robot/part"
    purpose: str  # packet, ping, request or reply
    data: bytes
    is_text: bool
    to: str | None  # "robot/part"; None for everybody
    time: float  # at which it begins to leave, s
    stamp: float  # the same by the sender's clock
    duration: float = 0.0  # s
    request: int = -1  # of a reply: the number of what it answers,
    held: float = 0.0  # and how long after the beginning of that it was sent, s
    number: int = -1  # given by the channel

    def to_json(self) -> list[Any]:
        """As JSON can hold it."""
        return [b64encode(self.data).decode(), *self[:2], *self[3:]]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Signal:
        """What `to_json` gave."""
        data, source, purpose, *rest = plain
        return cls(source, purpose, b64decode(data), *rest)


class Arrival(NamedTuple):
    """A signal that has come by one path; as it was, before the part's own errors."""

    signal: Signal
    path: str  # direct, surface or bottom
    time: float  # at which it begins to come, s
    doppler: float  # relative change of the frequency: positive where they approach each other
    level_db: float | None  # dB re 1 µPa; None where the sender's level is not known
    snr_db: float | None  # against noise, and against what else comes at the same time
    direction: tuple[float, float, float] | None  # towards where it seems to come from, in the part's frame
    times: tuple[float, ...]  # at which it begins to come to each hydrophone, s

    def to_json(self) -> list[Any]:
        """As JSON can hold it."""
        return [self.signal.to_json(), *self[1:]]

    @classmethod
    def from_json(cls, plain: list[Any]) -> Arrival:
        """What `to_json` gave."""
        signal, *rest, direction, times = plain
        return cls._make(
            [Signal.from_json(signal), *rest, None if direction is None else tuple(direction), tuple(times)]
        )


class ArrivalBatch(NamedTuple):
    """Packets and pings that have come to one part, of which nothing is known but when, and by which path."""

    rows: NDArray[
        np.float64
    ]  # (n, 5): number of the signal, of the part and of the path; time, change of the frequency
    signals: Mapping[int, Signal]
    paths: tuple[str, ...]

    def unpack(self) -> Iterator[Arrival]:
        """One by one."""
        for number, _, path, time, doppler in self.rows.tolist():
            yield Arrival(self.signals[number], self.paths[int(path)], time, doppler, None, None, None, ())


@dataclass(frozen=True)
class BuildContext:
    """What a part is given when it is built."""

    name: str  # "robot/part"
    noise: Noise
    clock: Clock


class AcousticPart(Component):
    """Sends when the channel asks, at `next_send` at the latest, and is told of what has come.

    `transmitter` and `receiver` are the settings by which it does so; None if it cannot.
    """

    transmitter: Any = None
    receiver: Any = None
    hydrophones: tuple[tuple[float, float, float], ...] = ()  # in its own frame, beside its own place
    measures_direction: bool = False
    half_duplex: bool = False  # it hears nothing while it sends
    accepts_batches: bool = False  # whether `receive_batch` is enough for packets and pings that ask for nothing more

    def __init__(self, context: BuildContext, link: str, offset: Pose) -> None:
        self.name = context.name
        self.link = link
        self.offset = offset
        self.next_send: int = NEVER
        """The tick at which it next has something to send."""
        self.flush_batches: Callable[[], None] = _nothing
        """Set by the channel: hand over the batches that have come."""
        self._noise = context.noise
        self._clock = context.clock

    def send(self, tick: int) -> Iterable[Signal]:
        """What begins to leave since the tick before, up to and with this one."""
        return ()

    @abstractmethod
    def receive(self, arrival: Arrival) -> None:
        """Take what has come."""

    def receive_batch(self, batch: ArrivalBatch) -> None:
        """Take what has come, many at once; before anything that comes later."""
        for arrival in batch.unpack():
            self.receive(arrival)


def _nothing() -> None:
    return


class AcousticConfig(ComponentConfig, Mount):
    """Settings of an acoustic part on a link."""

    def build(self, context: BuildContext) -> AcousticPart:
        """The part."""
        raise NotImplementedError
