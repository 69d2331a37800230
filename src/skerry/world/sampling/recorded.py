"""Readings of an interval: collected while the world advances, and returned as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from skerry.core.errors import UnknownName, did_you_mean
from skerry.parts.readings import Readings
from skerry.world.sampling.mounted_sensor import Deliver, MountedSensor


class Recorded(Mapping[str, Readings[Any]]):
    """Readings by "robot/sensor": `recorded["sam/dvl"].velocity` is an array."""

    def __init__(self) -> None:
        self._readings: dict[str, Readings[Any]] = {}

    def __getitem__(self, name: str) -> Readings[Any]:
        if name not in self._readings:
            raise UnknownName(f"{name!r} was not recorded; {did_you_mean(name, self._readings)}")
        return self._readings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._readings)

    def __len__(self) -> int:
        return len(self._readings)

    def __repr__(self) -> str:
        found = [f"{name} ({len(readings)})" for name, readings in self._readings.items()]
        return f"<Recorded: {', '.join(found) or 'nothing'}>"

    def to_pandas(self) -> dict[str, Any]:
        """Return a pandas `DataFrame` per sensor; see `Readings.to_pandas`."""
        return {name: readings.to_pandas() for name, readings in self._readings.items()}


@contextmanager
def recording(sensors: Sequence[MountedSensor[Any]]) -> Iterator[Recorded]:
    """Collect the readings of sensors inside this block, in addition to their present delivery."""
    recorded = Recorded()
    parts: dict[str, list[Readings[Any]]] = {sensor.name: [] for sensor in sensors}
    before = {sensor.name: sensor.deliver for sensor in sensors}
    for sensor in sensors:
        sensor.deliver = _collector(parts[sensor.name], sensor.deliver)
    try:
        yield recorded
        for sensor in sensors:
            sensor.finish()
            found = parts[sensor.name]
            empty: Readings[Any] = Readings.none(sensor.sensor.reading_type(), 0)
            recorded._readings[sensor.name] = Readings.concat(found) if found else empty
    finally:
        for sensor in sensors:
            sensor.deliver = before[sensor.name]


def _collector(parts: list[Readings[Any]], also: Deliver | None) -> Deliver:
    def collect(ticks: list[int], readings: Readings[Any]) -> None:
        parts.append(readings)
        if also is not None:
            also(ticks, readings)

    return collect
