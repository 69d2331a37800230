"""A range receiver: how far some senders are, through whatever is between; infinite beyond its range; now.

Each range is r (1 + n), with n normal: its noise grows with the distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import dist, inf
from typing import Literal

from pydantic import Field, field_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import SampleView, Sensor, SensorConfig


@dataclass(frozen=True)
class RangeReceiverReading:
    """Distances in the order of the senders."""

    time: float
    senders: tuple[str, ...]
    ranges: tuple[float, ...]  # m; infinite if a sender is out of range

    @property
    def range(self) -> float:
        """To the nearest sender; infinite if none is heard."""
        return min(self.ranges, default=inf)


class RangeReceiverSensor(Sensor[RangeReceiverReading]):
    """Measures distances."""

    def __init__(self, config: RangeReceiver, offset: Pose) -> None:
        self._config = config
        self._offset = offset.position

    def measure(self, sample: SampleView, noise: Noise) -> RangeReceiverReading:
        config = self._config
        here = sample.pose(config.link).transform(self._offset).tolist()
        draws = noise.normal(sample.tick, (len(config.senders),)).tolist() if config.noise_sigma > 0.0 else None
        ranges = []
        for number, sender in enumerate(config.senders):
            distance = dist(here, sample.position_of(sender).tolist())
            error = config.noise_mean + (config.noise_sigma * draws[number] if draws is not None else 0.0)
            ranges.append(max(distance * (1.0 + error), 0.0) if distance < config.range else inf)
        return RangeReceiverReading(sample.time, config.senders, tuple(ranges))


class RangeReceiver(SensorConfig):
    """A receiver of ranges to robots, their links, or objects."""

    kind: Literal["range_receiver"] = "range_receiver"
    senders: tuple[str, ...] = Field((), description="names of robots or objects, or robot/link")
    range: Positive = Field(10.0, description="m, within which a sender is heard")
    noise_mean: float = Field(0.0, description="mean of n in r (1 + n)")
    noise_sigma: NonNegative = Field(0.1, description="standard deviation of n")

    @field_validator("senders")
    @classmethod
    def _named_once(cls, senders: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(senders)) < len(senders):
            raise ValueError("a sender is named twice")
        return senders

    @property
    def needs_bodies(self) -> tuple[str, ...]:
        return self.senders

    def build(self) -> RangeReceiverSensor:
        return RangeReceiverSensor(self, self.offset())
