"""Pinger: a beacon that transmits its name at a constant rate and receives nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import Any, Literal, Self

from pydantic import Field

from skerry.acoustics.channel.settings import TransmitterSettings
from skerry.core.clock import Rate
from skerry.core.config import NonNegative, Rational
from skerry.core.frames import Pose
from skerry.parts.acoustics import NEVER, AcousticConfig, AcousticPart, Arrival, BuildContext, Signal


class PingerPart(AcousticPart):
    """Pinger; it transmits a ping at each due tick while it is active."""

    def __init__(self, config: Pinger, context: BuildContext, offset: Pose) -> None:
        super().__init__(context, config.link, offset)
        self.config = self.transmitter = config
        self._rate = Rate.of(config.frequency, context.clock.step)
        self._start = ceil(config.delay / float(context.clock.step))
        self._active = True
        self._last = -1
        self._plan()

    @property
    def active(self) -> bool:
        """Whether it pings."""
        return self._active

    @active.setter
    def active(self, active: bool) -> None:
        self._active = bool(active)
        self._plan()

    @property
    def status(self) -> str:
        return f"{float(self.config.frequency):g} Hz{'' if self._active else ', off'}"

    def _plan(self) -> None:
        earliest = max(self._clock.tick, self._last + 1) - self._start
        due = 0 if earliest <= 0 else self._rate.next_due(earliest - 1)
        self.next_send = due + self._start if self._active else NEVER

    def send(self, tick: int) -> Iterator[Signal]:
        self._last = tick
        self._plan()
        time = self._clock.time_of(tick)
        yield Signal(self.name, "ping", self.name.encode(), True, None, time, time, self.config.ping_length)

    def receive(self, arrival: Arrival) -> None:
        return

    def state(self) -> bytes:
        return json.dumps([self._active, self._last]).encode()

    def set_state(self, state: bytes) -> None:
        self._active, self._last = json.loads(state)
        self._plan()


class Pinger(AcousticConfig, TransmitterSettings):
    """Settings of a pinger."""

    kind: Literal["pinger"] = "pinger"
    frequency: Rational = Field(gt=0, description="pings per second, Hz; at most one a step")
    delay: NonNegative = Field(
        0.0, description="s before the first ping, so that several pingers do not transmit at the same time"
    )
    ping_length: NonNegative = Field(
        0.0, description="duration of a ping, s; signals that overlap it at a receiver are lost"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"frequency": 10} | settings)

    def build(self, context: BuildContext) -> PingerPart:
        return PingerPart(self, context, self.offset())
