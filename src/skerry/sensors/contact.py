"""Contact sensor (bumper): contacts of a link or of the whole robot, with positions and forces.

The forces are those of the engine's contact solver for the state of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, ContactPoint, Readings, SensorConfig, SensorView


@dataclass(frozen=True)
class ContactReading:
    """Contacts of a sample; positions and forces in the world (ENU)."""

    time: float
    touching: bool  # whether there is a contact
    force: float  # sum of the magnitudes of the contact forces, N
    contacts: tuple[ContactPoint, ...]


class ContactSensor(BatchSensor[ContactReading]):
    """Contact sensor with a force threshold."""

    needs = frozenset({"contacts"})

    def __init__(self, link: str | None, threshold: float) -> None:
        self._link = link
        self._threshold = threshold

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Sequence[ContactReading]:
        times, found = sensor_view.times, sensor_view.contacts(self._link)
        return Readings(len(times), lambda row: self._make_reading(times[row], found.get(row, [])))

    def _make_reading(self, time: float, contacts: Sequence[ContactPoint]) -> ContactReading:
        kept, total = [], 0.0
        for contact in contacts:
            size = float(np.linalg.norm(contact.force))
            if size >= self._threshold:
                kept.append(contact)
                total += size
        return ContactReading(time, bool(kept), total, tuple(kept))


class Contact(SensorConfig):
    """Contact sensor, for example a bumper."""

    kind: Literal["contact"] = "contact"
    whole_robot: bool = Field(False, description="report contacts of all links of the robot, not only of this link")
    threshold: NonNegative = Field(0.0, description="minimum force of a contact, N")

    def build(self) -> ContactSensor:
        return ContactSensor(None if self.whole_robot else self.link, self.threshold)
