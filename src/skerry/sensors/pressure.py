"""Pressure sensor: pressure of the water above it, with waves and density layers, and optionally of the air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, ReadingColumns, Readings, SensorConfig, SensorView

ATMOSPHERE = 101_325.0  # Pa; the standard atmosphere (ISO 2533)


@dataclass(frozen=True)
class PressureReading:
    """Pressure, and the depth computed from it."""

    time: float
    pressure: float  # Pa
    depth: float  # m below the surface, from the pressure and the local density
    variance: float  # Pa²
    saturated: bool  # whether the sensor is deeper than its maximum depth


class PressureSensor(BatchSensor[PressureReading]):
    """Pressure sensor with noise and a maximum depth."""

    def __init__(self, config: Pressure, offset: Pose) -> None:
        self._config = config
        self._offset = offset

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[PressureReading]:
        config, times = self._config, sensor_view.times
        gauge_pressure, density = sensor_view.water_pressure(sensor_view.motion(config.link, self._offset)[:, :3])
        weight = density * sensor_view.gravity
        saturated = gauge_pressure > weight * config.max_depth
        error = config.noise * noise.normals(sensor_view.ticks, 1)[:, 0]
        gauge_pressure = np.where(saturated, weight * config.max_depth, gauge_pressure + error)
        pressure = gauge_pressure + (ATMOSPHERE if config.include_atmosphere else 0.0)
        depth = gauge_pressure / weight if sensor_view.gravity > 0 else np.zeros_like(gauge_pressure)
        variance = config.noise**2

        def make(k: int) -> PressureReading:
            return PressureReading(times[k], float(pressure[k]), float(depth[k]), variance, bool(saturated[k]))

        def columns() -> ReadingColumns:
            return ReadingColumns(
                {"variance": variance}, time=times, pressure=pressure, depth=depth, saturated=saturated
            )

        return Readings(len(times), make, columns)


class Pressure(SensorConfig):
    """Pressure sensor. Below its maximum depth it reports the pressure at the maximum depth."""

    kind: Literal["pressure"] = "pressure"
    max_depth: Positive = Field(300.0, description="maximum depth, m")
    include_atmosphere: bool = Field(True, description="include the standard atmosphere, 101325 Pa")
    noise: NonNegative = Field(5.0, description="standard deviation, Pa")

    def build(self) -> PressureSensor:
        return PressureSensor(self, self.offset())
