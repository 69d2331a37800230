"""A bumper: whether its link, or the whole robot, touches something, with what, where and how hard; now.

The forces are those that the engine's solver finds for the state of this instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, Readings, SensorConfig, SensorView
from skerry.parts.sensor import ContactPoint as Touch


@dataclass(frozen=True)
class ContactReading:
    """What is touched; positions and forces in the world (ENU)."""

    time: float
    touching: bool
    force: float  # N: the sum of the contacts' forces, each by its size
    contacts: tuple[Touch, ...]


class ContactSensor(BatchSensor[ContactReading]):
    """Feels contacts."""

    needs = frozenset({"contacts"})

    def __init__(self, link: str | None, threshold: float) -> None:
        self._link = link
        self._threshold = threshold

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Sequence[ContactReading]:
        times, found = sensor_view.times, sensor_view.contacts(self._link)
        return Readings(len(times), lambda row: self._felt(times[row], found.get(row, [])))

    def _felt(self, time: float, contacts: Sequence[Touch]) -> ContactReading:
        felt, total = [], 0.0
        for contact in contacts:
            size = float(np.linalg.norm(contact.force))
            if size >= self._threshold:
                felt.append(contact)
                total += size
        return ContactReading(time, bool(felt), total, tuple(felt))


class Contact(SensorConfig):
    """A bumper."""

    kind: Literal["contact"] = "contact"
    whole_robot: bool = Field(False, description="feel contacts of all links, not of this one only")
    threshold: NonNegative = Field(0.0, description="N; a weaker contact is not felt")

    def build(self) -> ContactSensor:
        return ContactSensor(None if self.whole_robot else self.link, self.threshold)
