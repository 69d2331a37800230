"""Pressure sensor: pressure of the water above it, with waves and density layers, and optionally of the air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Scalars
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView

ATMOSPHERE = 101_325.0  # Pa; the standard atmosphere (ISO 2533)


@dataclass(frozen=True)
class PressureReading:
    """Pressure, and the depth computed from it."""

    time: float = unit("s")
    pressure: float = unit("Pa")
    depth: float = unit("m")  # below the surface, from the pressure and the local density
    variance: float = unit("Pa²")
    saturated: bool = unit("")  # whether the sensor is deeper than its maximum depth


class PressureSensor(Sensor[PressureReading]):
    """Pressure sensor with noise and a maximum depth."""

    execution = "batch"

    def __init__(self, config: Pressure, offset: Pose) -> None:
        self._config = config
        self._offset = offset

    def measure(self, view: SensorView, noise: Noise) -> Readings[PressureReading]:
        config = self._config
        gauge_pressure, density = view.water_pressure(view.motion(config.link, self._offset)[:, :3])
        weight = density * view.gravity
        saturated = gauge_pressure > weight * config.max_depth
        error = config.noise * noise.normals(view.ticks, 1)[:, 0]
        gauge_pressure = np.where(saturated, weight * config.max_depth, gauge_pressure + error)
        return Readings(
            PressureReading,
            {
                "time": view.times,
                "pressure": gauge_pressure + (ATMOSPHERE if config.include_atmosphere else 0.0),
                "depth": gauge_pressure / weight if view.gravity > 0 else np.zeros_like(gauge_pressure),
                "variance": np.full(len(view), config.noise**2),
                "saturated": saturated,
            },
        )


class Pressure(SensorConfig):
    """Pressure sensor. Below its maximum depth it reports the pressure at the maximum depth."""

    display = (Scalars(("pressure", "depth", "saturated")),)

    perfect = {"noise": 0.0}

    kind: Literal["pressure"] = "pressure"
    max_depth: Positive = Field(300.0, description="maximum depth, m")
    include_atmosphere: bool = Field(True, description="include the standard atmosphere, 101325 Pa")
    noise: NonNegative = Field(5.0, description="standard deviation, Pa")

    def build(self) -> PressureSensor:
        return PressureSensor(self, self.offset())
