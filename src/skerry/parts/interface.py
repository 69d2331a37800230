"""Base classes of interfaces: connections to a ROS graph, a browser, a TCP client or a log file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

from skerry.core.config import Family
from skerry.parts.component import Component, ComponentConfig
from skerry.parts.observer import Observer
from skerry.parts.readings import Readings

INTERFACES = Family("interfaces", "skerry.interfaces", folders=True)


@dataclass(frozen=True)
class SensorReading:
    """Reading of one sensor at one tick; `reading` is None if nothing was measured."""

    robot: str
    sensor: str
    tick: int
    reading: Any


@dataclass(frozen=True, slots=True)
class ReadingBatch:
    """Readings of one sensor at several ticks, in order."""

    robot: str
    sensor: str
    ticks: Sequence[int]
    readings: Readings[Any]


class ReadingBatches(Sequence[SensorReading]):
    """All readings since the last `publish`: as a sequence in the order of time, or grouped in `by_sensor`."""

    def __init__(self, by_sensor: Sequence[ReadingBatch]) -> None:
        self.by_sensor = by_sensor

    @cached_property
    def _each(self) -> list[SensorReading]:
        found = [
            SensorReading(new.robot, new.sensor, tick, reading)
            for new in self.by_sensor
            for tick, reading in zip(new.ticks, new.readings, strict=True)
        ]
        found.sort(key=_tick_of)
        return found

    def __len__(self) -> int:
        return len(self._each)

    def __getitem__(self, index: Any) -> Any:
        return self._each[index]


def _tick_of(new: SensorReading) -> int:
    return new.tick


class Command(ABC):
    """Request from an interface, as data. It is executed by the runner between two physics steps."""

    changes_world: ClassVar[bool] = True
    """Whether the command changes the state of the world; if not, it changes only how the world is run or shown."""

    @abstractmethod
    def apply(self, run: Any) -> Any:
        """Execute the command.

        Args:
            run: The `Runner`, with its `world`.

        Returns:
            The result of the future that `Inbox.put` returned.
        """


class Inbox(Protocol):
    """Queue through which commands of all interfaces enter the loop."""

    def put(self, command: Command) -> Future[Any]:
        """Queue a command, from any thread, and return a future for its result without waiting."""


class Interface(Component):
    """Base class of interfaces. An interface runs its own threads and exchanges data with the loop in two places.

    Commands go in through the inbox; readings come out through `publish`.

    Attributes:
        subscriptions: Sensors whose readings the interface receives, as (robot, sensor) pairs. An interface may assign
            a new set at any time from any thread; it must not modify the existing set.
        observers: Observers of past samples, called before `publish`. An interface that needs the live state at
            certain ticks returns them from `next_due` instead.
    """

    subscriptions: frozenset[tuple[str, str]] = frozenset()
    observers: tuple[Observer, ...] = ()

    def check(self, world: Any) -> None:
        """Raise an error if the interface could not start with this world; open nothing."""
        return

    @abstractmethod
    def start(self, world: Any, inbox: Inbox) -> None:
        """Open sockets or files. The world does not advance during this call and may be read."""

    def on_all_started(self, others: Mapping[str, Interface]) -> None:
        """React after all interfaces of the run, including this one, have started."""
        return

    def next_due(self, tick: int) -> int | None:
        """Return the first tick after `tick` at which `publish` must see the live state; None if there is none."""
        return None

    def next_publish_tick(self, tick: int) -> int | None:
        """Return the next tick at which the interface publishes something independent of the state, such as /clock.

        When the run is paced, this message may be late by the lead that the world may have over the wall clock.
        """
        return None

    @abstractmethod
    def publish(self, readings: ReadingBatches) -> None:
        """Publish the readings since the last call, and the live state. This call must not block the loop."""

    def on_idle(self, readings: ReadingBatches) -> None:
        """Publish while the run is paused, at intervals; commands may have changed the world."""
        return

    def on_command(self, tick: int, command: Command) -> None:
        """Observe a command, of any interface, that is about to be executed at this tick."""
        return

    def world_changed(self) -> None:
        """Update after robots or objects were added or removed; called by the loop, as `publish` is.

        References to robots and parts that still exist stay valid.
        """
        return

    @property
    def status(self) -> str:
        """Short status text for the terminal."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """Stop the threads and close sockets and files; closing twice is harmless."""


class RecordingInterface(Interface):
    """Interface that records the run to a file."""

    @abstractmethod
    def start_from(self, snapshot: Any) -> None:
        """Record a snapshot of the world, from which a replay starts instead of the scenario's initial state."""


class ReplayInterface(Interface):
    """Interface that replays a recording."""

    @abstractmethod
    def seek(self, run: Any, seconds: float) -> None:
        """Go to a time of the recording, s; `run` is the `Runner`."""


class InterfaceConfig(ComponentConfig):
    """Settings of an interface."""

    def build(self) -> Interface:
        """Return a new interface with these settings."""
        raise NotImplementedError
