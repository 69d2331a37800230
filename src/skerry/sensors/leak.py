"""Leak sensor: reports a leak after it was triggered, and counts the readings since."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Alarm, Scalars
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorConfig, SensorView


@dataclass(frozen=True)
class LeakReading:
    """State of the leak sensor."""

    time: float = unit("s")
    leaked: bool = unit("")  # whether a leak was triggered
    leak_count: int = unit("")  # readings with a leak so far


class LeakSensor(Sensor[LeakReading]):
    """Leak sensor. Call `trigger` or set `leaked` to simulate a leak."""

    execution = "batch"
    is_stateful = True  # it counts its readings

    def __init__(self, leaked: bool) -> None:
        self.leaked = leaked
        self.count = 0

    def trigger(self) -> None:
        self.leaked = True

    def measure(self, view: SensorView, noise: Noise) -> Readings[LeakReading]:
        counts = self.count + self.leaked * np.arange(1, len(view) + 1)
        self.count = counts.item(-1)
        leaked = np.full(len(view), self.leaked)
        return Readings(LeakReading, {"time": view.times, "leaked": leaked, "leak_count": counts})

    def state(self) -> bytes:
        return json.dumps([self.leaked, self.count]).encode()

    def set_state(self, state: bytes) -> None:
        self.leaked, self.count = json.loads(state)


class Leak(SensorConfig):
    """Leak sensor."""

    display = (Scalars(), Alarm("leaked", on="Leak!", off="Dry"))
    ros = {"smarc_msgs/Leak": {"value": "leaked", "leak_counter": "leak_count"}}

    kind: Literal["leak"] = "leak"
    leaked: bool = Field(False, description="start with a leak")

    @property
    def can_be_triggered(self) -> bool:
        return True

    def build(self) -> LeakSensor:
        return LeakSensor(self.leaked)
