"""Streams to the page: each samples the world in the simulator's thread and is encoded in the server's thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skerry.parts.interface import SensorReading
from skerry.ui.protocol import Kind, Payload

SensorName = tuple[str, str]
"""Name of a robot and name of its sensor."""


@dataclass(frozen=True)
class StreamInput:
    """Sensor readings that a stream can sample, besides the world itself."""

    new: Sequence[SensorReading]  # readings since the stream was last sampled
    latest: Mapping[SensorName, Any]  # latest reading of every sensor


@dataclass(frozen=True, eq=False)
class PageStream:
    """Stream of messages to the page.

    `sample` copies the data to be shown, or returns None if there are no new data. It runs in the simulator's thread,
    so it must be fast. `encode` turns the sample into a message and runs in the server's thread.
    """

    name: str
    kind: Kind
    title: str
    sample: Callable[[StreamInput], Any]
    encode: Callable[[Any], Payload]
    robot: str | None = None
    sensor: str | None = None
    sensors: frozenset[SensorName] = frozenset()  # sensors whose readings the stream needs
    details: Mapping[str, Any] = field(default_factory=dict)  # extra fields of its description in the scene
    is_slow: bool = False  # encoding takes milliseconds, so it runs in a worker thread
    needs_every_reading: bool = False  # `sample` gets all new readings instead of the latest one
    keeps_every_row: bool = False  # `sample` returns rows, and the page must receive every row

    def describe(self, number: int) -> dict[str, Any]:
        """Return the description of the stream in the scene.

        Args:
            number: Number of the stream in the headers of its messages.
        """
        found: dict[str, Any] = {"name": self.name, "id": number, "kind": int(self.kind), "title": self.title}
        if self.robot is not None:
            found["robot"] = self.robot
        if self.sensor is not None:
            found["sensor"] = self.sensor
        return found | dict(self.details)
