"""Range receiver: distances to named senders, unaffected by obstacles; infinite beyond its range.

The error is normal with the given mean and the standard deviation √(σ² + (p r)²) at the range r.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import dist, hypot, inf
from typing import Any, Literal, Self

from pydantic import Field, field_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.sensor import SampleView, SensorConfig, SimpleSensor


@dataclass(frozen=True)
class RangeReceiverReading:
    """Distances in the order of the senders."""

    time: float = unit("s")
    senders: tuple[str, ...] = unit("")
    ranges: tuple[float, ...] = unit("m")  # infinite if a sender is out of range

    @property
    def range(self) -> float:
        """Distance to the nearest sender, m; infinite if all are out of range."""
        return min(self.ranges, default=inf)


class RangeReceiverSensor(SimpleSensor[RangeReceiverReading]):
    """Receiver that measures the distances to senders."""

    def __init__(self, config: RangeReceiver, offset: Pose) -> None:
        self._config = config
        self._offset = offset.position

    def measure_one(self, sample: SampleView, noise: Noise) -> RangeReceiverReading:
        config = self._config
        here = sample.pose(config.link).transform(self._offset).tolist()
        draws = noise.normal(sample.tick, (len(config.senders),)).tolist()
        ranges = []
        for sender, draw in zip(config.senders, draws, strict=True):
            distance = dist(here, sample.position_of(sender).tolist())
            error = config.noise_mean + hypot(config.noise_sigma, config.noise_proportional * distance) * draw
            ranges.append(max(distance + error, 0.0) if distance < config.range else inf)
        return RangeReceiverReading(sample.time, config.senders, tuple(ranges))


class RangeReceiver(SensorConfig):
    """Receiver of ranges to robots, links or objects.

    The default noise is the ±10 cm of ultra-wideband radio (Decawave DWM1000 data sheet).
    """

    ros = {"smarc_msgs/FloatStamped": {"data": "range"}}

    perfect = {"noise_mean": 0.0, "noise_sigma": 0.0, "noise_proportional": 0.0}

    kind: Literal["range_receiver"] = "range_receiver"
    senders: tuple[str, ...] = Field((), description="names of robots, objects, or links as robot/link")
    range: Positive = Field(10.0, description="distance within which a sender is received, m")
    noise_mean: float = Field(0.0, description="mean of the error, m")
    noise_sigma: NonNegative = Field(0.1, description="standard deviation of the error at short range, m")
    noise_proportional: NonNegative = Field(
        0.0, description="standard deviation that grows with the range, as a share of it"
    )

    @field_validator("senders")
    @classmethod
    def _named_once(cls, senders: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(senders)) < len(senders):
            raise ValueError(f"`senders` contains a name twice: {', '.join(senders)}")
        return senders

    @property
    def needs_bodies(self) -> tuple[str, ...]:
        return self.senders

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"senders": ["rig/fin"]} | settings)

    def build(self) -> RangeReceiverSensor:
        return RangeReceiverSensor(self, self.offset())
