"""What flows to the page: each stream looks at the world in the simulator's thread, and is encoded in the server's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skerry.parts.interface import SensorReading
from skerry.ui.protocol import Kind, Payload

SensorName = tuple[str, str]
"""A robot and its sensor."""


@dataclass(frozen=True)
class StreamInput:
    """What a stream may sample at beside the world: readings that it has not sample, and the latest of every sensor."""

    new: Sequence[SensorReading]
    latest: Mapping[SensorName, Any]


@dataclass(frozen=True, eq=False)
class PageStream:
    """One stream. `sample` copies what is to be shown, or gives None if there is nothing new; it must be quick."""

    name: str
    kind: Kind
    title: str
    sample: Callable[[StreamInput], Any]
    encode: Callable[[Any], Payload]
    robot: str | None = None
    sensor: str | None = None
    sensors: frozenset[SensorName] = frozenset()  # whose readings it needs
    details: Mapping[str, Any] = field(default_factory=dict)  # what the page must know of its kind
    is_slow: bool = False  # encoding takes milliseconds, and is done in a thread of its own
    needs_every_reading: bool = False  # it needs every reading, not only the latest
    keeps_every_row: bool = False  # `sample` gives rows, of which none may be left out

    def describe(self, number: int) -> dict[str, Any]:
        """For the scene."""
        found: dict[str, Any] = {"name": self.name, "id": number, "kind": int(self.kind), "title": self.title}
        if self.robot is not None:
            found["robot"] = self.robot
        if self.sensor is not None:
            found["sensor"] = self.sensor
        return found | dict(self.details)
