"""A battery that runs down with time and with load, its voltage falling in a straight line from full to empty.

Energy is counted at the sensor's own rate, whether or not anybody reads it: at each due instant the load of that
instant times the time since the last one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, ReadingColumns, Readings, SampleView, SensorConfig, SensorView


@dataclass(frozen=True)
class BatteryReading:
    """Charge and voltage, and what is drawn."""

    time: float
    percent: float
    voltage: float
    current: float  # A, positive while it discharges
    power: float  # W, of the base load and of the actuators as far as they know theirs


class BatterySensor(BatchSensor[BatteryReading]):
    """Measures the charge."""

    needs = frozenset({"power"})

    def __init__(self, config: Battery) -> None:
        self._config = config
        self.is_stateful = config.capacity_wh is not None
        self._used = 0.0  # W s
        self._tick = 0  # up to which that was counted

    def update(self, sample: SampleView) -> None:
        self._used += (self._config.base_load + sample.power) * (sample.tick - self._tick) * sample.step
        self._tick = sample.tick

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[BatteryReading]:
        config, times = self._config, sensor_view.times
        percent = config.start_percent - config.percent_per_minute * np.array(times) / 60.0
        if config.capacity_wh is not None:  # then it watches, and is measured as soon as it has seen an instant
            percent -= self._used / (36.0 * config.capacity_wh)
        percent = np.maximum(percent, 0.0)
        voltage = config.min_voltage + (config.max_voltage - config.min_voltage) * percent / 100.0
        power = np.where(percent > 0.0, config.base_load + sensor_view.power, 0.0)
        found = {"percent": percent, "voltage": voltage, "current": power / voltage, "power": power}

        def make(k: int) -> BatteryReading:
            return BatteryReading(times[k], *(column.item(k) for column in found.values()))

        return Readings(len(times), make, lambda: ReadingColumns(None, time=times, **found))

    def state(self) -> bytes:
        return struct.pack("<dq", self._used, self._tick)

    def set_state(self, state: bytes) -> None:
        self._used, self._tick = struct.unpack("<dq", state)


class Battery(SensorConfig):
    """A battery. It powers nothing: when it is empty, it says so, and the actuators go on."""

    kind: Literal["battery"] = "battery"
    start_percent: float = Field(95.0, ge=0, le=100)
    capacity_wh: Positive | None = Field(None, description="W h when full; without it no load discharges it")
    base_load: NonNegative = Field(0.0, description="W that all but the actuators draw")
    discharge_percent_per_minute: NonNegative | None = Field(
        None, description="beside the load; 1 by default, or 0 with a `capacity_wh`"
    )
    min_voltage: Positive = Field(21.0, description="V when empty")
    max_voltage: Positive = Field(25.2, description="V when full")

    @model_validator(mode="after")
    def _falls(self) -> Battery:
        if self.min_voltage > self.max_voltage:
            raise ValueError("`min_voltage` must not be above `max_voltage`")
        return self

    @property
    def percent_per_minute(self) -> float:
        """What goes with time alone."""
        if self.discharge_percent_per_minute is None:
            return 1.0 if self.capacity_wh is None else 0.0
        return self.discharge_percent_per_minute

    def build(self) -> BatterySensor:
        return BatterySensor(self)
