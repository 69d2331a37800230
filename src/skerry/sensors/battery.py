"""A battery that runs down with time, its voltage falling in a straight line from full to empty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth


@dataclass(frozen=True)
class BatteryReading:
    """Charge and voltage."""

    time: float
    percent: float
    voltage: float


class BatterySensor(Sensor[BatteryReading]):
    """Measures the charge."""

    def __init__(self, config: Battery) -> None:
        self._config = config

    def measure(self, truth: Truth, noise: Noise) -> BatteryReading:
        config = self._config
        percent = max(config.start_percent - config.discharge_percent_per_minute * truth.time / 60.0, 0.0)
        voltage = config.min_voltage + (config.max_voltage - config.min_voltage) * percent / 100.0
        return BatteryReading(truth.time, percent, voltage)


class Battery(SensorConfig):
    """A battery."""

    kind: Literal["battery"] = "battery"
    start_percent: float = Field(95.0, ge=0, le=100)
    discharge_percent_per_minute: NonNegative = 1.0
    min_voltage: Positive = Field(21.0, description="V when empty")
    max_voltage: Positive = Field(25.2, description="V when full")

    @model_validator(mode="after")
    def _falls(self) -> Battery:
        if self.min_voltage > self.max_voltage:
            raise ValueError("`min_voltage` must not be above `max_voltage`")
        return self

    def build(self) -> BatterySensor:
        return BatterySensor(self)
