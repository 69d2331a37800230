"""Joint encoder: whole ticks and velocity.

Ticks are ⌊N q / w⌋, with q the joint's position, N the ticks per turn of the disc and w the joint's travel per turn of
the disc.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import tau
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView

POSITION, VELOCITY = range(2)  # noise channels


@dataclass(frozen=True)
class EncoderReading:
    """Ticks, and the joint position that they represent."""

    time: float = unit("s")
    ticks: int = unit("")
    position: float = unit("rad or m")  # joint position at the lower edge of the tick
    velocity: float = unit("rad/s or m/s")


class EncoderSensor(Sensor[EncoderReading]):
    """Encoder that counts the ticks of a joint."""

    execution = "batch"

    def __init__(self, config: Encoder) -> None:
        self._config = config
        self._tick = config.travel_per_turn / config.ticks_per_turn

    def measure(self, view: SensorView, noise: Noise) -> Readings[EncoderReading]:
        config = self._config
        position, velocity = view.joint_position(config.joint), view.joint_velocity(config.joint)
        if config.position_noise > 0.0:
            position = position + config.position_noise * noise.normals(view.ticks, 1, POSITION)[:, 0]
        if config.velocity_noise > 0.0:
            velocity = velocity + config.velocity_noise * noise.normals(view.ticks, 1, VELOCITY)[:, 0]
        ticks = np.floor(position / self._tick).astype(np.int64)
        if not config.multi_turn:
            ticks %= config.ticks_per_turn
        return Readings(
            EncoderReading,
            {"time": view.times, "ticks": ticks, "position": ticks * self._tick, "velocity": velocity},
        )


class Encoder(SensorConfig):
    """Joint encoder."""

    perfect = {"position_noise": 0.0, "velocity_noise": 0.0}

    kind: Literal["encoder"] = "encoder"
    joint: str = Field(min_length=1, description="name of the joint")
    ticks_per_turn: int = Field(4096, ge=1, description="ticks per turn of the disc")
    travel_per_turn: Positive = Field(
        tau, description="joint travel per turn of the disc, rad, or m for a sliding joint; 2π/k with a gear of ratio k"
    )
    multi_turn: bool = Field(True, description="continue counting after a full turn; if false, restart at 0")
    position_noise: NonNegative = Field(0.0, description="standard deviation of the position before counting, rad or m")
    velocity_noise: NonNegative = Field(0.0, description="standard deviation of the velocity, rad/s or m/s")

    @property
    def needs_joints(self) -> tuple[str, ...]:
        return (self.joint,)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"joint": "fin_hinge"} | settings)

    def build(self) -> EncoderSensor:
        return EncoderSensor(self)
