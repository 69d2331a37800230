"""CTD probe: conductivity, temperature and depth of the water at its position. No reading in air."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView
from skerry.water import seawater, sound


@dataclass(frozen=True)
class CtdReading:
    """Measured values. Derived values are computed on access."""

    time: float = unit("s")
    conductivity: float = unit("mS/cm")
    temperature: float = unit("°C")
    depth: float = unit("m")

    @property
    def salinity(self) -> float:
        """Practical salinity by PSS-78, about g/kg."""
        pressure = seawater.depth_to_pressure(max(self.depth, 0.0))
        return float(seawater.salinity(self.conductivity, self.temperature, pressure))

    @property
    def sound_speed(self) -> float:
        """Speed of sound by the UNESCO equation, m/s."""
        pressure = seawater.depth_to_pressure(max(self.depth, 0.0))
        return float(sound.unesco(self.salinity, self.temperature, pressure))


class CtdSensor(Sensor[CtdReading]):
    """CTD probe that measures the water at its position."""

    execution = "batch"

    def __init__(self, config: Ctd, offset: Pose) -> None:
        self._config = config
        self._offset = offset

    def measure(self, view: SensorView, noise: Noise) -> Readings[CtdReading]:
        config, column = self._config, view.water.column
        depth = view.depth(view.motion(config.link, self._offset)[:, :3])
        errors = noise.normals(view.ticks, 3)
        conductivity = np.maximum(column.conductivity(depth) + config.conductivity_noise * errors[:, 0], 0.0)
        return Readings(
            CtdReading,
            {
                "time": view.times,
                "conductivity": conductivity,
                "temperature": column.temperature(depth) + config.temperature_noise * errors[:, 1],
                "depth": depth + config.depth_noise * errors[:, 2],
            },
            depth >= 0.0,
        )


class Ctd(SensorConfig):
    """CTD probe. The default noise is that of a small probe for vehicles; 0 gives exact values."""

    ros = {"smarc_msgs/CTD": {"conductivity": "conductivity", "temperature": "temperature", "depth": "depth"}}

    perfect = {"conductivity_noise": 0.0, "temperature_noise": 0.0, "depth_noise": 0.0}

    kind: Literal["ctd"] = "ctd"
    conductivity_noise: NonNegative = Field(0.003, description="standard deviation, mS/cm")
    temperature_noise: NonNegative = Field(0.002, description="standard deviation, °C")
    depth_noise: NonNegative = Field(0.01, description="standard deviation, m")

    def build(self) -> CtdSensor:
        return CtdSensor(self, self.offset())
