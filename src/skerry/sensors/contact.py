"""Contact sensor (bumper): contacts of a link or of the whole robot, with positions and forces.

The forces are those of the engine's contact solver for the state of the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Readings
from skerry.parts.sensor import ContactPoint, Sensor, SensorConfig, SensorView


@dataclass(frozen=True)
class ContactReading:
    """Contacts of a sample; positions and forces in the world (ENU)."""

    time: float = unit("s")
    touching: bool = unit("")  # whether there is a contact
    force: float = unit("N")  # sum of the magnitudes of the contact forces
    contacts: tuple[ContactPoint, ...] = unit("")


class ContactSensor(Sensor[ContactReading]):
    """Contact sensor with a force threshold."""

    execution = "batch"
    needs = frozenset({"contacts"})

    def __init__(self, link: str | None, threshold: float) -> None:
        self._link = link
        self._threshold = threshold

    def measure(self, view: SensorView, noise: Noise) -> Readings[ContactReading]:
        found = view.contacts(self._link)
        forces = np.zeros(len(view))
        contacts: list[tuple[ContactPoint, ...]] = [()] * len(view)
        for row in found:
            forces[row], contacts[row] = self._above_threshold(found[row])
        touching = np.array([bool(kept) for kept in contacts])
        return Readings(
            ContactReading, {"time": view.times, "touching": touching, "force": forces, "contacts": contacts}
        )

    def _above_threshold(self, contacts: Sequence[ContactPoint]) -> tuple[float, tuple[ContactPoint, ...]]:
        """Return the total force, N, and the contacts whose force reaches the threshold."""
        kept, total = [], 0.0
        for contact in contacts:
            size = float(np.linalg.norm(contact.force))
            if size >= self._threshold:
                kept.append(contact)
                total += size
        return total, tuple(kept)


class Contact(SensorConfig):
    """Contact sensor, for example a bumper."""

    ros = {"std_msgs/Bool": {"data": "touching"}}

    kind: Literal["contact"] = "contact"
    whole_robot: bool = Field(False, description="report contacts of all links of the robot, not only of this link")
    threshold: NonNegative = Field(0.0, description="minimum force of a contact, N")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"whole_robot": True} | settings)

    def build(self) -> ContactSensor:
        return ContactSensor(None if self.whole_robot else self.link, self.threshold)
