"""A leak sensor: says what somebody, or an event, has set, and counts the readings since."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth


@dataclass(frozen=True)
class LeakReading:
    """Whether there is a leak, and how many readings have said so."""

    time: float
    leaked: bool
    count: int


class LeakSensor(Sensor[LeakReading]):
    """Set `leaked`, or `trigger` it, to let it leak."""

    sees_bodies_only = True

    def __init__(self, leaked: bool) -> None:
        self.leaked = leaked
        self.count = 0

    def trigger(self) -> None:
        self.leaked = True

    def measure(self, truth: Truth, noise: Noise) -> LeakReading:
        self.count += self.leaked
        return LeakReading(truth.time, self.leaked, self.count)

    def state(self) -> bytes:
        return json.dumps([self.leaked, self.count]).encode()

    def set_state(self, state: bytes) -> None:
        self.leaked, self.count = json.loads(state)


class Leak(SensorConfig):
    """A leak sensor."""

    kind: Literal["leak"] = "leak"
    leaked: bool = False

    @property
    def can_be_triggered(self) -> bool:
        return True

    def build(self) -> LeakSensor:
        return LeakSensor(self.leaked)
