"""Hydrophone array: arrival times of a sound at each hydrophone, from which its direction follows."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.acoustics.channel.settings import PERFECT_RECEIVER, ReceiverSettings
from skerry.core.config import Vector3
from skerry.core.frames import Pose
from skerry.parts.acoustics import AcousticConfig, AcousticPart, Arrival, BuildContext


@dataclass(frozen=True)
class HydrophoneDetection:
    """Sound that a hydrophone array received; times are by the array's clock."""

    source: str  # "robot/part"
    sent: float  # start of the transmission by the clock of the transmitter, s
    times: tuple[float, ...]  # arrival time at each hydrophone, s
    path: str  # direct, surface or bottom
    doppler: float  # relative change of the frequency
    level_db: float | None
    snr_db: float | None

    @property
    def differences(self) -> NDArray[np.float64]:
        """Arrival time at each hydrophone relative to the first hydrophone, s, (n,)."""
        return np.array(self.times) - self.times[0]


class HydrophoneArrayPart(AcousticPart):
    """Hydrophone array; it receives all signals, including those addressed to other parts."""

    def __init__(self, config: HydrophoneArray, context: BuildContext, offset: Pose) -> None:
        super().__init__(context, config.link, offset)
        self.config = self.receiver = config
        self.hydrophones = config.hydrophones
        self._inbox: deque[Arrival] = deque(maxlen=config.inbox_size)

    def read(self) -> HydrophoneDetection | None:
        """Remove and return the oldest unread detection; None if there is none."""
        if not self._inbox:
            return None
        arrival = self._inbox.popleft()
        times = tuple(
            self.config.measured_time(self._noise, arrival, time, number) for number, time in enumerate(arrival.times)
        )
        rest = (arrival.path, arrival.doppler, arrival.level_db, arrival.snr_db)
        return HydrophoneDetection(arrival.signal.source, arrival.signal.stamp, times, *rest)

    @property
    def status(self) -> str:
        return f"{len(self.hydrophones)} hydrophones, {len(self._inbox)} unread detections"

    def receive(self, arrival: Arrival) -> None:
        if arrival.snr_db is None or arrival.snr_db >= self.config.detection_threshold_db:
            self._inbox.append(arrival)

    def state(self) -> bytes:
        return json.dumps([arrival.to_json() for arrival in self._inbox]).encode()

    def set_state(self, state: bytes) -> None:
        self._inbox = deque(map(Arrival.from_json, json.loads(state)), self.config.inbox_size)


class HydrophoneArray(AcousticConfig, ReceiverSettings):
    """Settings of a hydrophone array."""

    perfect = PERFECT_RECEIVER

    kind: Literal["hydrophone_array"] = "hydrophone_array"
    hydrophones: Annotated[tuple[Vector3, ...], Field(min_length=1, max_length=256)] = Field(
        description="positions of the hydrophones in the array's frame, m"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"hydrophones": [[0, 0, 0], [0.3, 0, 0]]} | settings)

    def build(self, context: BuildContext) -> HydrophoneArrayPart:
        return HydrophoneArrayPart(self, context, self.offset())
