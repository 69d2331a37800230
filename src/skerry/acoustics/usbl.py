"""Ultra-short baseline (USBL): a transceiver that also measures the direction of replies."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from math import asin, atan2, cos, radians, sin
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.acoustics.channel.paths import PATHS
from skerry.acoustics.channel.settings import PERFECT_RECEIVER
from skerry.acoustics.transceiver import ModemSettings, TransceiverPart
from skerry.core.config import NonNegative
from skerry.core.frames import Pose
from skerry.parts.acoustics import AcousticConfig, Arrival, BuildContext


@dataclass(frozen=True)
class UsblFix:
    """Measured position of another part, in the frame of the USBL (x forward, y to port, z up)."""

    time: float  # arrival time, s
    peer: str  # "robot/part"
    range: float  # m
    bearing: float  # rad, from x towards y
    elevation: float  # rad, above the plane of x and y
    path: str  # direct, surface or bottom

    @property
    def position(self) -> NDArray[np.float64]:
        """Position in the frame of the USBL, m, (3,)."""
        flat = self.range * cos(self.elevation)
        return np.array([flat * cos(self.bearing), flat * sin(self.bearing), self.range * sin(self.elevation)])


class UsblPart(TransceiverPart):
    """USBL head; it measures a fix for every reply and, with `one_way`, for every packet."""

    measures_direction = True

    def __init__(self, config: Usbl, context: BuildContext, offset: Pose) -> None:
        super().__init__(config, context, config.link, offset)
        self.accepts_batches = False
        self._usbl = config
        self._fixes: deque[UsblFix] = deque(maxlen=config.inbox_size)

    def read_fix(self) -> UsblFix | None:
        """Remove and return the oldest unread fix; None if there is none."""
        return self._fixes.popleft() if self._fixes else None

    def _store(self, arrival: Arrival) -> None:
        super()._store(arrival)
        if self._usbl.one_way:
            time = self._local(arrival)
            self._fix(
                arrival, time, arrival.signal.source, (time - arrival.signal.stamp) * self.config.known_sound_speed
            )

    def _measure(self, arrival: Arrival, peer: str, asked: float) -> None:
        super()._measure(arrival, peer, asked)
        reading = self._ranges[-1]
        self._fix(arrival, reading.time, peer, reading.range)

    def _fix(self, arrival: Arrival, time: float, peer: str, distance: float) -> None:
        if arrival.direction is None:
            return
        config, number = self._usbl, arrival.signal.number
        x, y, z = arrival.direction
        draws = self._noise.child("fix").normal(number, (3,), channel=PATHS.index(arrival.path)).tolist()
        bearing = atan2(y, x) + radians(config.bearing_noise_deg) * draws[0]
        elevation = asin(min(max(z, -1.0), 1.0)) + radians(config.elevation_noise_deg) * draws[1]
        distance += config.range_noise * draws[2]
        self._fixes.append(UsblFix(time, peer, distance, bearing, elevation, arrival.path))

    def state(self) -> bytes:
        fixes = [list(vars(fix).values()) for fix in self._fixes]
        return json.dumps({"modem": super().state().decode(), "fixes": fixes}).encode()

    def set_state(self, state: bytes) -> None:
        kept: dict[str, Any] = json.loads(state)
        super().set_state(kept["modem"].encode())
        self._fixes = deque((UsblFix(*fix) for fix in kept["fixes"]), self.config.inbox_size)


class Usbl(AcousticConfig, ModemSettings):
    """Settings of a USBL head."""

    perfect: ClassVar[Mapping[str, Any]] = {
        **PERFECT_RECEIVER,
        "range_noise": 0.0,
        "bearing_noise_deg": 0.0,
        "elevation_noise_deg": 0.0,
    }

    kind: Literal["usbl"] = "usbl"
    one_way: bool = Field(
        False, description="whether each packet gives a fix too, from the transmission time that it carries"
    )
    range_noise: NonNegative = Field(0.0, description="standard deviation of the range, m")
    bearing_noise_deg: NonNegative = Field(0.0, description="standard deviation of the bearing, °")
    elevation_noise_deg: NonNegative = Field(0.0, description="standard deviation of the elevation, °")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"range_noise": 0.1} | settings)

    def build(self, context: BuildContext) -> UsblPart:
        return UsblPart(self, context, self.offset())
