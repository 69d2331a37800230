"""Leak sensor: reports a leak after it was triggered, and counts the readings since."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, ReadingColumns, Readings, SensorConfig, SensorView


@dataclass(frozen=True)
class LeakReading:
    """State of the leak sensor."""

    time: float
    leaked: bool  # whether a leak was triggered
    count: int  # readings with a leak so far


class LeakSensor(BatchSensor[LeakReading]):
    """Leak sensor. Call `trigger` or set `leaked` to simulate a leak."""

    def __init__(self, leaked: bool) -> None:
        self.leaked = leaked
        self.count = 0

    def trigger(self) -> None:
        self.leaked = True

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[LeakReading]:
        times, leaked = sensor_view.times, self.leaked
        counts = self.count + leaked * np.arange(1, len(times) + 1)
        self.count = counts.item(-1)

        def make(k: int) -> LeakReading:
            return LeakReading(times[k], leaked, counts.item(k))

        return Readings(
            len(times), make, lambda: ReadingColumns(time=times, leaked=np.full(len(times), leaked), count=counts)
        )

    def state(self) -> bytes:
        return json.dumps([self.leaked, self.count]).encode()

    def set_state(self, state: bytes) -> None:
        self.leaked, self.count = json.loads(state)


class Leak(SensorConfig):
    """Leak sensor."""

    kind: Literal["leak"] = "leak"
    leaked: bool = Field(False, description="start with a leak")

    @property
    def can_be_triggered(self) -> bool:
        return True

    def build(self) -> LeakSensor:
        return LeakSensor(self.leaked)
