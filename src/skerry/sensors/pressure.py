"""A pressure sensor: the weight of the water above it, waves and layers and all, and of the air if asked; now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth

ATMOSPHERE = 101_325.0  # Pa; the standard atmosphere (ISO 2533)


@dataclass(frozen=True)
class PressureReading:
    """Pressure, and the depth that it means."""

    time: float
    pressure: float  # Pa
    depth: float  # m below the surface, as the sensor would work it out
    variance: float  # Pa²
    saturated: bool  # deeper than the sensor can measure


class PressureSensor(Sensor[PressureReading]):
    """Measures pressure."""

    sees_bodies_only = True

    def __init__(self, config: Pressure, offset: Pose) -> None:
        self._config = config
        self._offset = offset

    def measure(self, truth: Truth, noise: Noise) -> PressureReading:
        config = self._config
        gauge, density = truth.water_pressure(truth.motion(config.link, self._offset)[:3])
        weight = density * truth.gravity
        saturated = gauge > weight * config.max_depth
        gauge = min(gauge, weight * config.max_depth)
        if not saturated:
            gauge += config.noise * noise.normal(truth.tick)
        atmosphere = ATMOSPHERE if config.include_atmosphere else 0.0
        known = gauge / weight if weight > 0 else 0.0
        return PressureReading(truth.time, atmosphere + gauge, known, config.noise**2, saturated)


class Pressure(SensorConfig):
    """A pressure sensor that reports its maximum when it is deeper than it can measure."""

    kind: Literal["pressure"] = "pressure"
    max_depth: Positive = Field(300.0, description="m")
    include_atmosphere: bool = Field(True, description="whether 101325 Pa of air are in the reading")
    noise: NonNegative = Field(5.0, description="standard deviation, Pa")

    def build(self) -> PressureSensor:
        return PressureSensor(self, self.offset())
