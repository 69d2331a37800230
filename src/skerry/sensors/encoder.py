"""An encoder on a joint: whole ticks, as a disc of marks counts them, and the speed; now.

Ticks are ⌊N q / w⌋, with q the joint's position, N the ticks of a turn of the disc and w the joint's travel in such a
turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, tau
from typing import Literal

from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, Readings, SensorConfig, SensorView

POSITION, VELOCITY = range(2)  # channels of the noise


@dataclass(frozen=True)
class EncoderReading:
    """What was counted, and what it means."""

    time: float
    ticks: int
    position: float  # rad or m, at the beginning of the tick
    velocity: float  # rad/s or m/s


class EncoderSensor(BatchSensor[EncoderReading]):
    """Counts ticks."""

    def __init__(self, config: Encoder) -> None:
        self._config = config
        self._tick = config.travel_per_turn / config.ticks_per_turn

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[EncoderReading]:
        config, times = self._config, sensor_view.times
        position, velocity = sensor_view.joint_position(config.joint), sensor_view.joint_velocity(config.joint)
        if config.position_noise > 0.0:
            position = position + config.position_noise * noise.normals(sensor_view.ticks, 1, POSITION)[:, 0]
        if config.velocity_noise > 0.0:
            velocity = velocity + config.velocity_noise * noise.normals(sensor_view.ticks, 1, VELOCITY)[:, 0]

        def make(k: int) -> EncoderReading:
            ticks = floor(position[k] / self._tick)
            if not config.multi_turn:
                ticks %= config.ticks_per_turn
            return EncoderReading(times[k], ticks, ticks * self._tick, float(velocity[k]))

        return Readings(len(times), make)


class Encoder(SensorConfig):
    """An encoder."""

    kind: Literal["encoder"] = "encoder"
    joint: str = Field(min_length=1, description="that it is on")
    ticks_per_turn: int = Field(4096, ge=1, description="of its disc")
    travel_per_turn: Positive = Field(
        tau, description="of the joint in a turn of the disc: rad, or m of a slide; behind a gear of ratio k it is 2π/k"
    )
    multi_turn: bool = Field(True, description="go on counting after a turn, rather than begin anew at 0")
    position_noise: NonNegative = Field(0.0, description="standard deviation before it is counted, rad or m")
    velocity_noise: NonNegative = Field(0.0, description="standard deviation, rad/s or m/s")

    @property
    def needs_joints(self) -> tuple[str, ...]:
        return (self.joint,)

    def build(self) -> EncoderSensor:
        return EncoderSensor(self)
