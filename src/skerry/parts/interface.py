"""An interface: a peer at the border, such as a ROS graph, a browser, a TCP client or a log file."""

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

INTERFACES = Family("interfaces", "skerry.interfaces", folders=True)


@dataclass(frozen=True)
class SensorReading:
    """What a sensor of a robot gave at a tick; None if there was nothing to measure."""

    robot: str
    sensor: str
    tick: int
    reading: Any


@dataclass(frozen=True, slots=True)
class ReadingBatch:
    """What a sensor of a robot gave at some ticks, in their order; None where there was nothing to measure."""

    robot: str
    sensor: str
    ticks: Sequence[int]
    readings: Sequence[Any]


class ReadingBatches(Sequence[SensorReading]):
    """What sensors have given since an interface last saw the world: one by one in the order of time, or by sensor."""

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

    def __getitem__(self, number: Any) -> Any:
        return self._each[number]


def _tick_of(new: SensorReading) -> int:
    return new.tick


class Command(ABC):
    """Something that a peer asks for, as data. `run` is the `Runner`, which has the `world`."""

    changes_world: ClassVar[bool] = True
    """Whether the world goes on differently after it; if not, it only changes how the world is run or looked at."""

    @abstractmethod
    def apply(self, run: Any) -> Any:
        """Do it, between two steps of the world; what it gives, who asked for it gets."""


class Inbox(Protocol):
    """Where commands from all interfaces enter the loop."""

    def put(self, command: Command) -> Future[Any]:
        """Hand over a command, from any thread; returns at once with a promise of what the command gives."""


class Interface(Component):
    """Runs its own threads and meets the loop in two places: the inbox, and `publish`.

    `subscriptions` are the sensors whose readings it receives, as (robot, sensor) pairs. An interface may assign a new
    set at any time from any thread; it must not modify the existing set.

    `observers` are shown how the world was on the way, before `publish`; what must see the present says so by
    `next_due`.
    """

    subscriptions: frozenset[tuple[str, str]] = frozenset()
    observers: tuple[Observer, ...] = ()

    def check(self, world: Any) -> None:
        """Raise an error if it could not start with this world; opens nothing."""
        return

    @abstractmethod
    def start(self, world: Any, inbox: Inbox) -> None:
        """Open its sockets or files; the world stands still meanwhile and may be looked at."""

    def on_all_started(self, others: Mapping[str, Interface]) -> None:
        """See all interfaces of this run, itself too, when all have started."""
        return

    def next_due(self, tick: int) -> int | None:
        """The first tick after this one at which it must see the world, if it must at all."""
        return None

    def next_publish_tick(self, tick: int) -> int | None:
        """The first tick after this one, from which the world goes on, that it will speak of without having seen it.

        At a pace, it may be said a little later, by as much as the world may be ahead of the wall clock anyway.
        """
        return None

    @abstractmethod
    def publish(self, readings: ReadingBatches) -> None:
        """See the world as it is now, and take what has been measured since; never blocks the loop."""

    def on_idle(self, readings: ReadingBatches) -> None:
        """See the world now and then while it stands still; commands may have changed it, and the sensors wanted."""
        return

    def on_command(self, tick: int, command: Command) -> None:
        """See a command, of whatever interface, that is about to be done at this tick."""
        return

    def world_changed(self) -> None:
        """Robots or objects have come or gone; called by the loop, between two steps, as `publish` is.

        What it holds of those that stay is still good.
        """
        return

    @property
    def status(self) -> str:
        """How it does, in a few words for the terminal."""
        return ""

    @abstractmethod
    def close(self) -> None:
        """End its threads; closing twice is harmless."""


class InterfaceConfig(ComponentConfig):
    """Settings of an interface."""

    def build(self) -> Interface:
        """The interface."""
        raise NotImplementedError
