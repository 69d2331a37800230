"""Schedule of publishers: when each one is due, and which sensors and samples they need from the world."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import chain

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.publishers import (
    IntervalPublisher,
    PublisherGroup,
    ReadingPublisher,
    RepeatingPublisher,
    SampledPublisher,
    TimedPublisher,
)
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.lazy_message import MessageEncoder
from skerry.parts.interface import ReadingBatches


class PublisherSchedule:
    """All publishers of a bus. Only publishers whose topic has subscribers are active."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.timed: list[TimedPublisher] = []
        self.interval: list[IntervalPublisher] = []
        self.sensors: dict[tuple[str, str], list[ReadingPublisher | RepeatingPublisher]] = defaultdict(list)
        """Publishers of each sensor, by robot and sensor."""
        self._active: dict[tuple[str, str], list[ReadingPublisher | RepeatingPublisher]] = {}
        self._groups: dict[tuple[Rate, bool], PublisherGroup] = {}  # by rate and `uses_samples`
        self._stopping: list[PublisherGroup] = []  # groups for which the world must stop
        self._known_changes = -1  # value of `subscription_changes` at the last update
        self.cover: Callable[[int], None] = lambda tick: None
        """Function that publishes on /clock the time of a tick, which is that of the latest message."""
        self.observers: tuple[PublisherGroup, ...] = ()
        """Groups that read samples of the past."""

    # -------------------------------------------------------------------------------------------- publishers

    def add_timed(self, publisher: TimedPublisher) -> None:
        """Add a publisher with a rate of its own; it is removed when the current owner withdraws."""
        self.timed.append(publisher)
        self._bus.on_withdraw(lambda: self.timed.remove(publisher))

    def add_interval(self, publisher: IntervalPublisher) -> None:
        """Add a publisher that is called after each advance of the world."""
        self.interval.append(publisher)
        self._bus.on_withdraw(lambda: self.interval.remove(publisher))

    def add_sensor(self, robot: str, sensor: str, publisher: ReadingPublisher | RepeatingPublisher) -> None:
        """Add a publisher of the readings of a sensor."""
        self.sensors[robot, sensor].append(publisher)
        self._bus.on_withdraw(lambda: self.sensors[robot, sensor].remove(publisher))

    # -------------------------------------------------------------------------------------------- subscriptions

    @property
    def subscriptions(self) -> frozenset[tuple[str, str]]:
        """Sensors whose readings are published, by robot and sensor."""
        return frozenset(self._active)

    def invalidate(self) -> None:
        """Request an update, because publishers were added or removed."""
        self._known_changes = -1

    def update(self) -> bool:
        """Select the active publishers, if subscriptions have changed; return whether they have."""
        if self._bus.subscription_changes == self._known_changes:
            return False
        self._known_changes = self._bus.subscription_changes
        active = {key: [item for item in found if item.topic.has_subscribers] for key, found in self.sensors.items()}
        self._active = {key: publishers for key, publishers in active.items() if publishers}
        for timed in self.timed:
            key = (timed.rate, timed.uses_samples)
            if key not in self._groups:
                self._groups[key] = PublisherGroup(timed.rate)
        for (rate, uses_samples), group in self._groups.items():
            group.publishers = [
                timed
                for timed in self.timed
                if timed.topic.has_subscribers and (timed.rate, timed.uses_samples) == (rate, uses_samples)
            ]
            group.sampled = [timed for timed in group.publishers if isinstance(timed, SampledPublisher)]
        used = [(uses_samples, group) for (_, uses_samples), group in self._groups.items() if group.publishers]
        self.observers = tuple(group for uses_samples, group in used if uses_samples)
        self._stopping = [group for uses_samples, group in used if not uses_samples]
        return True

    # -------------------------------------------------------------------------------------------- time

    def next_due(self, tick: int) -> int | None:
        """Return the next tick at which the world must stop for a publisher."""
        return min([group.rate.next_due(tick) for group in self._stopping], default=None)

    def start_at(self, tick: int) -> int | None:
        """Restart the interval publishers at a tick; return the next tick that they publish, if it is known."""
        for publisher in self.interval:
            publisher.start_at(tick)
        ticks = [publisher.next_publish_tick(tick) for publisher in self.interval]
        return min([found for found in ticks if found is not None], default=None)

    def publish(self, tick: int, readings: ReadingBatches) -> None:
        """Publish new readings and everything else that is due up to this tick."""
        with self._bus.dispatcher.hold():
            for new in readings.by_sensor:
                for publisher in self._active.get((new.robot, new.sensor), ()):
                    publisher.on_readings(new)
            for group in self._groups.values():
                group.publish_if_due(tick)
                group.publish_recorded()
            for interval in self.interval:
                interval.publish_until(tick)
            self.cover(self._bus.dispatcher.latest_tick(tick))

    def warm_up(self) -> None:
        """Compile the kernels of all active encoders, so that the first messages are not delayed."""
        for publisher in (*self.timed, *chain.from_iterable(self.sensors.values())):
            if publisher.topic.has_subscribers and isinstance(publisher, MessageEncoder):
                publisher.warm_up()
