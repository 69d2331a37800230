"""A sensor in the world: when it is due, its noise, and its latest reading."""

from __future__ import annotations

import io
import pickle
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import is_dataclass, replace
from fractions import Fraction
from time import perf_counter
from typing import Any, Final, TypeAlias, cast

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.parts.component import Component, Mount
from skerry.parts.sensor import BatchSensor, Sensor
from skerry.rays.threads import pool, processors
from skerry.sensors.raycast.ray_sensor import RaySensor
from skerry.world.sampling.ray_trail import RayTrail
from skerry.world.sampling.sample import SampleCopy
from skerry.world.sampling.sample_buffer import DueSamples, SampleBuffer
from skerry.world.sampling.sensor_view import RobotSampleView
from skerry.world.sampling.sensor_views import RobotSensorView

Deliver: TypeAlias = Callable[[Sequence[int], Sequence[Any]], None]
"""Takes the ticks of some due instants, in their order, and the reading of each, or None."""

NEVER: Final = 2**62
"""A tick that never comes."""

MOST_JOBS: Final = 8
"""Readings of a heavy sensor that may wait until they are taken: a picture takes some megabytes."""


class MountedSensor(Component):
    """A sensor with its rate and its noise stream.

    Nothing is measured that nobody wants: from the first time that its reading is asked for, it is measured whenever it
    is due. A sensor that watches sees every due instant all the same. A heavy one is measured in a thread of its own,
    from the instant at which it is due; whoever asks for its reading waits until it is there. So what is read does
    not depend on how long it takes.

    Unless it stops the world, it looks back: instants at which it is due wait in the history until somebody asks for
    its reading, or the world has it catch up; see `docs/adr/0022-batch-sensors.md`.
    """

    def __init__(
        self,
        sensor: Sensor[Any],
        rate: Rate,
        noise: Noise,
        sample: RobotSampleView,
        mount: Mount,
        history: SampleBuffer | None = None,
    ) -> None:
        self.sensor = sensor
        self.rate = rate
        self.mount = mount
        """Where it sits on the robot."""
        self._subscribed = False
        self._deliver: Deliver | None = None
        self.load = 0.0
        """The time that the latest reading took over the time there is for one; on the wall, for the eye only."""
        self.next_look = NEVER
        """The next tick at which the world must come back to it."""
        self._seen = 0  # the tick up to which it has looked at the history
        self._on = True
        self._history = history
        self._frequency = float(rate.frequency)
        self._noise = noise
        self._truth = sample
        self._reading: Any = None
        self._rows: Sequence[Any] | None = None  # the latest of which is the reading, which nobody has looked at yet
        self._jobs: deque[tuple[int, Future[Any]]] = deque()  # ticks of readings that are being measured
        self._stretch = -1  # that of the history in which they are
        self._rehearsal: Future[Any] | None = None
        self._past: RobotSampleView | None = None
        self._trail: RayTrail | None = None
        self._measured = -1  # the number of the due instant that the reading is of
        self._watched = -1  # and of the last one that the sensor has seen

    @property
    def sample(self) -> RobotSampleView:
        """What it looks at."""
        return self._truth

    @property
    def reading(self) -> Any:
        """The latest due reading, measured now if nobody had asked before; None if there is none."""
        if not self._subscribed:
            self.subscribed = True
        self.finish()
        self.measure_if_due()
        self.finish()
        return self._latest() if self._on else None

    def _latest(self) -> Any:
        if self._rows is not None:
            self._reading, self._rows = self._rows[len(self._rows) - 1], None
        return self._reading

    @property
    def subscribed(self) -> bool:
        """Whether somebody has asked for its reading, so that it is measured whenever it is due."""
        return self._subscribed

    @subscribed.setter
    def subscribed(self, subscribed: bool) -> None:
        self._change_whether_looked_at(subscribed, self._deliver)

    @property
    def deliver(self) -> Deliver | None:
        """Is told ticks and readings, or None, of all due instants; while it is there, the sensor is wanted."""
        return self._deliver

    @deliver.setter
    def deliver(self, deliver: Deliver | None) -> None:
        self._change_whether_looked_at(self._subscribed, deliver)

    def _change_whether_looked_at(self, subscribed: bool, deliver: Deliver | None) -> None:
        self.finish()
        self._subscribed, self._deliver = subscribed, deliver
        self.plan(self._truth.tick)
        if self._history is not None:
            self._history.stale = True

    @property
    def is_looked_at(self) -> bool:
        """Whether somebody wants its readings."""
        return self._subscribed or self._deliver is not None

    @property
    def on(self) -> bool:
        """Whether it is switched on; off, it gives no reading, and nobody is told of its due instants."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self.finish()
        self._on = on

    @property
    def has_new_data(self) -> bool:
        """Whether the latest due instant gave a reading."""
        self.finish()
        return self._measured == self.rate.count(self._truth.tick) and self._latest() is not None

    @property
    def trail(self) -> RayTrail:
        """What is shown of its rays, from now on."""
        self.finish()
        if self._trail is None:
            if not isinstance(self.sensor, RaySensor):
                raise SkerryError(f"{type(self.sensor).__name__} sends no rays that could be shown")
            self._trail = RayTrail(self.sensor, self.sensor.viewer)
        return self._trail

    def plan(self, tick: int) -> None:
        """Work out when the world must come back to it, after that tick; it has seen all up to it."""
        self.next_look = self.rate.next_due(tick) if self.is_looked_at or self.sensor.is_stateful else NEVER
        self._seen = tick

    @property
    def stops_the_world(self) -> bool:
        """Whether it can be measured at the present only, so that the world must stop when it is due."""
        return self.sensor.is_stateful or self.sensor.execution == "now"

    @property
    def is_batch(self) -> bool:
        """Whether all pending samples are measured in one call."""
        return self.sensor.execution == "batch" and isinstance(self.sensor, BatchSensor)

    def look(self) -> None:
        """Measure or watch, as it is due now, and plan on."""
        if self.is_looked_at:
            self.measure_if_due()
        else:
            self.watch_if_due()
        self.next_look = self.rate.next_due(self._truth.tick)

    def take_what_waits(self) -> list[int]:
        """The ticks of the history at which it was due since it last looked; from now on it has."""
        due = self._take_due()
        return [] if due is None else due.ticks.tolist()

    def _take_due(self) -> DueSamples | None:
        history = self._history
        if history is None or not history.ticks or history.ticks[-1] <= self._seen or not self.is_looked_at:
            return None
        if self.stops_the_world:  # it has seen each at its time
            return None
        due = history.waiting(self._seen, self.rate)
        self._seen = history.ticks[-1]
        return due

    def look_at_history(self) -> None:
        """Measure the instant that the history is at."""
        if self._past is None:
            assert self._history is not None
            self._past = replace(self._truth, instant=self._history)
        self.measure_if_due(self._past)

    def catch_up(self) -> None:
        """Measure all that waits in the history."""
        due = self._take_due()
        if not due or not self._on:
            return
        assert self._history is not None
        if not self.is_batch:
            for tick in due.ticks.tolist():
                self._history.go(tick)
                self.look_at_history()
            return
        self._end_warm_up()
        sensor = cast("BatchSensor[Any]", self.sensor)
        for first in range(0, len(due), sensor.max_batch):
            some = due[first : first + sensor.max_batch]
            start = perf_counter()
            rows = sensor.measure_batch(RobotSensorView(self._truth, self._history, some), self._noise)
            self.load = (perf_counter() - start) / len(some) * self._frequency
            self._measured = self.rate.count(some.ticks.item(-1))
            self._rows = rows
            if self._deliver is not None:
                self._deliver(some.ticks.tolist(), rows)
            if self._trail is not None:
                self._trail.add()

    def measure_if_due(self, sample: RobotSampleView | None = None) -> bool:
        """Measure if an instant has become due since the last reading; say whether it did."""
        if self.sensor.is_stateful:
            self.watch_if_due()
        sample = self._truth if sample is None else sample
        tick = sample.tick
        due = self.rate.count(tick)
        if due == self._measured or not self._on:
            return False
        self._end_warm_up()
        self._measured = due
        if self.sensor.execution == "thread" and processors() > 1:
            self._measure_in_thread(sample)
        else:
            self._take(tick, self._measure(sample))
        return True

    def _measure_in_thread(self, sample: RobotSampleView) -> None:
        """Begin to measure, after what is being measured already: of one stretch of the history, that is waited for.

        Were instants of several stretches to wait, readings of a sensor that is too slow would come ever later.
        """
        history = self._history
        stretch = history.stretch if history is not None and sample.instant is history else -1
        if stretch != self._stretch or stretch < 0 or self._trail is not None:
            self._wait_for_jobs()
        self._stretch = stretch
        if len(self._jobs) >= MOST_JOBS:
            self._wait_for_jobs(MOST_JOBS // 2)
        before = self._jobs[-1][1] if self._jobs else None
        threads = pool("sensors", max(processors() - 1, 1))
        self._jobs.append((sample.tick, threads.submit(self._measure_held, sample.instant.hold(), before)))

    def finish(self) -> None:
        """Look at all instants that wait, and wait for a reading that is being measured."""
        self.catch_up()
        self._wait_for_jobs()

    def _wait_for_jobs(self, count: int = 0) -> None:
        """Wait for so many of the readings that are being measured, or all, and take them."""
        if self._jobs:
            self._jobs[count - 1][1].exception()  # once, for all before it
        self.poll()

    def poll(self) -> None:
        """Take readings that were being measured, if they are there by now."""
        while self._jobs and self._jobs[0][1].done():
            tick, job = self._jobs.popleft()
            self._take(tick, job.result())

    def warm_up(self) -> None:
        """Measure once and forget it, so that what takes long the first time is done; no reading to come is changed."""
        kept = self.sensor.state()
        self.sensor.measure(self._truth, self._noise)
        self.sensor.set_state(kept)

    @property
    def takes_long_at_first(self) -> bool:
        """Whether there is much to compile for it: all that has to do with rays."""
        return self.sensor.execution == "thread" or isinstance(self.sensor, RaySensor)

    def is_warm(self) -> bool:
        """Whether it has measured once; if not, it does so in a thread of its own, while the world goes on.

        For whoever can wait: the first time, kernels of rays may have to be compiled for many seconds.
        """
        if self._measured >= 0 or not self.takes_long_at_first:
            return True
        if self._rehearsal is None:
            self._rehearsal = pool("rehearsals", 1).submit(self.look_through(self.sensor))
        return self._rehearsal.done()

    def _end_warm_up(self) -> None:
        """Wait for a rehearsal: a sensor measures one thing at a time."""
        if self._rehearsal is not None:
            self._rehearsal.exception()  # what goes wrong, goes wrong again where it is told

    def drop(self) -> None:
        """Wait for readings that are being measured, and forget them."""
        self._end_warm_up()
        while self._jobs:
            self._jobs.popleft()[1].exception()

    def _take(self, tick: int, reading: Any) -> None:
        self._reading, self._rows = reading, None
        if self._deliver is not None:
            self._deliver([tick], [reading])
        if self._trail is not None and reading is not None:
            self._trail.add()

    def _measure(self, sample: RobotSampleView) -> Any:
        start = perf_counter()
        reading = self.sensor.measure(sample, self._noise)
        self.load = (perf_counter() - start) * self._frequency
        return reading

    def _measure_held(self, instant: SampleCopy, before: Future[Any] | None) -> Any:
        with self._truth.at(instant) as sample:
            if before is not None:
                before.exception()  # a sensor measures one thing at a time; that one began earlier
            return self._measure(sample)

    def look_through(self, sensor: Sensor[Any]) -> Callable[[], Any]:
        """What another sensor in its place, such as a camera with another lens, sees now: a job for any thread.

        It must be done, and once, as it holds the instant until then. The sensor's own readings know nothing of it.
        """
        instant = self._truth.instant.hold()

        def measure() -> Any:
            with self._truth.at(instant) as sample:
                return sensor.measure(sample, self._noise)

        return measure

    def watch_if_due(self) -> None:
        """Let a sensor that watches see an instant that has become due."""
        if self.sensor.is_stateful:
            due = self.rate.count(self._truth.tick)
            if due != self._watched:
                self.sensor.update(self._truth)
                self._watched = due

    def state(self) -> bytes:
        self.finish()
        kept = (self._on, self._subscribed, self._measured, self._watched, self._latest(), self.sensor.state())
        return pickle.dumps(kept, protocol=5)

    def watched_state(self) -> bytes:
        """What the sensor keeps of the instants that it sees whether or not anybody wants its readings."""
        return self.sensor.state() if self.sensor.is_stateful else b""

    def set_state(self, state: bytes) -> None:
        self.finish()
        if self._trail is not None:
            self._trail.clear()
        self._on, subscribed, self._measured, self._watched, *rest = _ReadingsOnly(io.BytesIO(state)).load()
        self._reading, inner = rest
        self._rows = None
        self.sensor.set_state(inner)
        self._subscribed = subscribed
        self.plan(self._truth.tick)
        if self._history is not None:
            self._history.stale = True


# what numpy names when it pickles an array or a number
_NUMPY = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class _ReadingsOnly(pickle.Unpickler):
    """Reads back readings, which are dataclasses, and nothing else: a snapshot is data, and runs no code."""

    def find_class(self, module: str, name: str) -> Any:
        found = getattr(sys.modules.get(module), name, None)
        if (module, name) in _NUMPY or (isinstance(found, type) and (is_dataclass(found) or found is Fraction)):
            return found
        raise pickle.UnpicklingError(f"a snapshot must not name {module}.{name}")
