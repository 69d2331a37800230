"""Battery that discharges with time and load. Its voltage decreases linearly from full to empty.

Energy is counted at each due tick of the sensor: the load at that tick times the time since the previous one.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Meter, Scalars
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView


@dataclass(frozen=True)
class BatteryReading:
    """State of charge, voltage, current and power."""

    time: float = unit("s")
    percent: float = unit("%")
    voltage: float = unit("V")
    current: float = unit("A")  # positive while it discharges
    power: float = unit("W")  # of the base load and of the actuators that report their power


class BatterySensor(Sensor[BatteryReading]):
    """Battery sensor that integrates the load."""

    execution = "batch"
    needs = frozenset({"power"})

    def __init__(self, config: Battery) -> None:
        self._config = config
        self.is_stateful = config.capacity_wh is not None  # otherwise it only counts time
        self._used = 0.0  # energy used so far, W s
        self._first = self._last = 0  # tick of the start, and tick up to which energy was counted

    def start(self, tick: int) -> None:
        self._first = self._last = tick

    def measure(self, view: SensorView, noise: Noise) -> Readings[BatteryReading]:
        config, load = self._config, self._config.base_load + view.power
        percent = config.start_percent - config.percent_per_minute * (view.times - self._first * view.step) / 60.0
        if config.capacity_wh is not None:
            percent -= self._count_energy(load, view) / (36.0 * config.capacity_wh)
        percent = np.maximum(percent, 0.0)
        voltage = config.min_voltage + (config.max_voltage - config.min_voltage) * percent / 100.0
        power = np.where(percent > 0.0, load, 0.0)
        return Readings(
            BatteryReading,
            {
                "time": view.times,
                "percent": percent,
                "voltage": voltage,
                "current": power / voltage,
                "power": power,
            },
        )

    def _count_energy(self, load: NDArray[np.float64], view: SensorView) -> NDArray[np.float64]:
        """Return the energy used up to each sample, W s, for the load at each sample, W."""
        used = np.empty(len(view))
        for row, (power, tick) in enumerate(zip(load.tolist(), view.ticks.tolist(), strict=True)):
            self._used += power * (tick - self._last) * view.step
            self._last = tick
            used[row] = self._used
        return used

    def state(self) -> bytes:
        return struct.pack("<dqq", self._used, self._first, self._last)

    def set_state(self, state: bytes) -> None:
        self._used, self._first, self._last = struct.unpack("<dqq", state)


class Battery(SensorConfig):
    """Battery. It only reports: when it is empty, the actuators keep running."""

    display = (Scalars(), Meter("percent", low=20))

    kind: Literal["battery"] = "battery"
    start_percent: float = Field(95.0, ge=0, le=100, description="state of charge at the start")
    capacity_wh: Positive | None = Field(
        None, description="energy when full, W h; without it the load does not discharge the battery"
    )
    base_load: NonNegative = Field(0.0, description="power of all consumers except the actuators, W")
    discharge_percent_per_minute: NonNegative | None = Field(
        None, description="discharge in addition to the load; default 1, or 0 if `capacity_wh` is given"
    )
    min_voltage: Positive = Field(21.0, description="voltage when empty, V")
    max_voltage: Positive = Field(25.2, description="voltage when full, V")

    @model_validator(mode="after")
    def _falls(self) -> Battery:
        if self.min_voltage > self.max_voltage:
            raise ValueError(
                f"`min_voltage` ({self.min_voltage:g} V) must not be above `max_voltage` ({self.max_voltage:g} V)"
            )
        return self

    @property
    def percent_per_minute(self) -> float:
        """Discharge with time, percent per minute, without the load."""
        if self.discharge_percent_per_minute is None:
            return 1.0 if self.capacity_wh is None else 0.0
        return self.discharge_percent_per_minute

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"capacity_wh": 50, "base_load": 20} | settings)

    def build(self) -> BatterySensor:
        return BatterySensor(self)
