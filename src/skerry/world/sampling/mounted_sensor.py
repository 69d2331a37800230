"""Sensors in the world: each with its schedule, its noise stream and its latest reading."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeAlias, cast

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.parts.component import Component, Mount
from skerry.parts.sensor import BatchSensor, Sensor
from skerry.rays.threads import processors
from skerry.sensors.raycast.ray_sensor import RaySensor
from skerry.world.sampling.ray_trail import RayTrail
from skerry.world.sampling.reading_state import LatestReading, load_state
from skerry.world.sampling.sample import SampleCopy
from skerry.world.sampling.sample_buffer import DueSamples, SampleBuffer
from skerry.world.sampling.sample_view import RobotSampleView
from skerry.world.sampling.sensor_jobs import NO_GENERATION, SensorJobs, WarmUp
from skerry.world.sampling.sensor_schedule import SensorSchedule
from skerry.world.sampling.sensor_view import RobotSensorView

Deliver: TypeAlias = Callable[[Sequence[int], Sequence[Any]], None]
"""Callback with the ticks of due samples, in order, and the reading of each, or None."""


class MountedSensor(Component):
    """Sensor of a robot, with its rate and its noise stream.

    A sensor is measured at its due ticks only while it is active: from the first access to `reading`, or while
    `deliver` is set. A stateful sensor is updated at every due tick.

    A sensor with `execution` "now" is measured when the world stops at its due tick. Other sensors are measured later,
    from the sample buffer: when a reading is requested, or when the world processes the buffer; see
    `docs/adr/0022-batch-sensors.md`. A "thread" sensor is measured in a worker thread; a request for its reading
    waits for the thread. A reading therefore does not depend on how long a measurement takes.

    Args:
        sensor: The sensor.
        rate: When the sensor is due.
        noise: Noise stream of the sensor.
        view: View of the live state for its robot.
        mount: Mounting of the sensor on the robot.
        buffer: Buffer of past samples; None for a sensor that is measured only by hand.
    """

    def __init__(
        self,
        sensor: Sensor[Any],
        rate: Rate,
        noise: Noise,
        view: RobotSampleView,
        mount: Mount,
        buffer: SampleBuffer | None = None,
    ) -> None:
        self.sensor = sensor
        self.mount = mount
        self.rate = rate
        """Rate of the sensor."""
        self.load = 0.0
        """Wall time of the latest measurement divided by the period of the sensor. For display only."""
        self._subscribed = False
        self._deliver: Deliver | None = None
        self._on = True
        self._frequency = float(rate.frequency)
        self._noise = noise
        self._latest = LatestReading()
        self._jobs = SensorJobs(self._measure_copy, self._store)
        self._warm_up = WarmUp()
        self._trail: RayTrail | None = None
        self._measured = -1  # number of the due tick of the latest reading
        self._updated = -1  # number of the due tick of the latest update of a stateful sensor
        self.bind(view, buffer)

    def bind(self, view: RobotSampleView, buffer: SampleBuffer | None) -> None:
        """Measure in this world from now on. All samples of a former world must have been measured.

        Args:
            view: View of the live state for its robot.
            buffer: Buffer of past samples; None for a sensor that is measured only by hand.
        """
        self.view = view
        self._buffer = buffer
        self._buffer_view: RobotSampleView | None = None
        self._schedule = SensorSchedule(self.rate, buffer)
        self.plan(view.tick)

    # -------------------------------------------------------------------------------------------- readings

    @property
    def reading(self) -> Any:
        """Latest due reading; None if nothing was measured. The first access subscribes to the sensor."""
        if not self._subscribed:
            self.subscribed = True
        self.finish()
        self.measure_if_due()
        self.finish()
        return self._latest.get() if self._on else None

    @property
    def has_new_data(self) -> bool:
        """Whether the latest due tick gave a reading."""
        self.finish()
        return self._measured == self.rate.count(self.view.tick) and self._latest.get() is not None

    @property
    def subscribed(self) -> bool:
        """Whether the sensor is measured at every due tick, even without `deliver`."""
        return self._subscribed

    @subscribed.setter
    def subscribed(self, subscribed: bool) -> None:
        self._set_subscribers(subscribed, self._deliver)

    @property
    def deliver(self) -> Deliver | None:
        """Callback with the ticks and readings of all due samples; the sensor is active while it is set."""
        return self._deliver

    @deliver.setter
    def deliver(self, deliver: Deliver | None) -> None:
        self._set_subscribers(self._subscribed, deliver)

    def _set_subscribers(self, subscribed: bool, deliver: Deliver | None) -> None:
        self.finish()
        self._subscribed, self._deliver = subscribed, deliver
        self.plan(self.view.tick)
        self._schedule.mark_stale()

    @property
    def is_active(self) -> bool:
        """Whether readings are needed at the due ticks."""
        return self._subscribed or self._deliver is not None

    @property
    def on(self) -> bool:
        """Whether the sensor is switched on. A sensor that is off gives no readings and calls no callback."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self.finish()
        self._on = on

    @property
    def trail(self) -> RayTrail:
        """Rays and hits for display, recorded from the first access on.

        Raises:
            SkerryError: The sensor casts no rays.
        """
        self.finish()
        if self._trail is None:
            if not isinstance(self.sensor, RaySensor):
                raise SkerryError(f"{type(self.sensor).__name__} casts no rays; there is nothing to show")
            self._trail = RayTrail(self.sensor, self.sensor.viewer)
        return self._trail

    # -------------------------------------------------------------------------------------------- schedule

    @property
    def next_tick(self) -> int:
        """Next tick at which the world must stop for the sensor."""
        return self._schedule.next_tick

    @property
    def needs_stop(self) -> bool:
        """Whether the world must stop at the due ticks, because the sensor needs the live state."""
        return self.sensor.is_stateful or self.sensor.execution == "now"

    @property
    def is_batch(self) -> bool:
        """Whether all pending samples are measured in one call."""
        return self.sensor.execution == "batch" and isinstance(self.sensor, BatchSensor)

    def plan(self, tick: int) -> None:
        """Plan the next stop after `tick`. All samples up to `tick` count as processed."""
        self._schedule.restart(tick, self.is_active or self.sensor.is_stateful)

    def process_live(self) -> None:
        """Measure or update the sensor with the live state, and plan the next stop."""
        if self.is_active:
            self.measure_if_due()
        else:
            self.update_if_due()
        self._schedule.next_tick = self.rate.next_due(self.view.tick)

    def pending_ticks(self) -> list[int]:
        """Return the ticks of the pending samples, and mark them as processed."""
        due = self._take_pending()
        return [] if due is None else due.ticks.tolist()

    def _take_pending(self) -> DueSamples | None:
        if not self._schedule.has_pending or not self.is_active:
            return None
        if self.needs_stop:  # each sample was measured live
            return None
        return self._schedule.take_pending()

    # -------------------------------------------------------------------------------------------- measurements

    def measure_selected(self) -> None:
        """Measure the selected sample of the buffer."""
        if self._buffer_view is None:
            assert self._buffer is not None
            self._buffer_view = replace(self.view, sample=self._buffer)
        self.measure_if_due(self._buffer_view)

    def process_pending(self) -> None:
        """Measure all pending samples of the buffer."""
        due = self._take_pending()
        if not due or not self._on:
            return
        assert self._buffer is not None
        if self.is_batch:
            self._measure_batch(self._buffer, due)
            return
        for tick in due.ticks.tolist():
            self._buffer.select(tick)
            self.measure_selected()

    def _measure_batch(self, buffer: SampleBuffer, due: DueSamples) -> None:
        self._warm_up.wait()
        sensor = cast("BatchSensor[Any]", self.sensor)
        for first in range(0, len(due), sensor.max_batch):
            part = due[first : first + sensor.max_batch]
            start = perf_counter()
            readings = sensor.measure_batch(RobotSensorView(self.view, buffer, part), self._noise)
            self.load = (perf_counter() - start) / len(part) * self._frequency
            self._measured = self.rate.count(part.ticks.item(-1))
            self._latest.set_batch(readings)
            if self._deliver is not None:
                self._deliver(part.ticks.tolist(), readings)
            if self._trail is not None:
                self._trail.add()

    def measure_if_due(self, view: RobotSampleView | None = None) -> bool:
        """Measure if the sensor has become due since the last reading.

        Args:
            view: Sample to measure; the live state by default.

        Returns:
            Whether a measurement was made or started.
        """
        if self.sensor.is_stateful:
            self.update_if_due()
        view = self.view if view is None else view
        tick = view.tick
        due = self.rate.count(tick)
        if due == self._measured or not self._on:
            return False
        self._warm_up.wait()
        self._measured = due
        if self.sensor.execution == "thread" and processors() > 1:
            buffer = self._buffer
            generation = buffer.generation if buffer is not None and view.sample is buffer else NO_GENERATION
            self._jobs.submit(view.sample, generation, must_wait=self._trail is not None)
        else:
            self._store(tick, self._measure(view))
        return True

    def update_if_due(self) -> None:
        """Update a stateful sensor if it has become due since the last update."""
        if self.sensor.is_stateful:
            due = self.rate.count(self.view.tick)
            if due != self._updated:
                self.sensor.update(self.view)
                self._updated = due

    def _store(self, tick: int, reading: Any) -> None:
        self._latest.set(reading)
        if self._deliver is not None:
            self._deliver([tick], [reading])
        if self._trail is not None and reading is not None:
            self._trail.add()

    def _measure(self, view: RobotSampleView) -> Any:
        start = perf_counter()
        reading = self.sensor.measure(view, self._noise)
        self.load = (perf_counter() - start) * self._frequency
        return reading

    def _measure_copy(self, copy: SampleCopy) -> Any:
        with self.view.using(copy) as view:
            return self._measure(view)

    def measure_with(self, sensor: Sensor[Any]) -> Callable[[], Any]:
        """Return a job that measures the present sample with another sensor, such as a camera with another lens.

        The job may run in any thread. It must run exactly once, because it holds a copy of the sample. The readings of
        this sensor do not change.
        """
        live = self.view
        copy = live.sample.copy()

        def measure() -> Any:
            with live.using(copy) as view:
                return sensor.measure(view, self._noise)

        return measure

    # -------------------------------------------------------------------------------------------- threads and warm-up

    def finish(self) -> None:
        """Measure all pending samples, and wait for readings that worker threads are measuring."""
        self.process_pending()
        self._jobs.wait()

    def settle(self) -> None:
        """Finish all measurements, also the warm-up, so that the sensor can be bound to another world."""
        self._warm_up.wait()
        self.finish()

    def poll(self) -> None:
        """Deliver readings that worker threads have finished, without waiting."""
        self._jobs.poll()

    def drop(self) -> None:
        """Wait for worker threads, and discard their readings."""
        self._warm_up.wait()
        self._jobs.drop()

    def warm_up(self) -> None:
        """Measure once and discard the reading, so that kernels are compiled. Later readings do not change."""
        kept = self.sensor.state()
        self.sensor.measure(self.view, self._noise)
        self.sensor.set_state(kept)

    @property
    def has_slow_start(self) -> bool:
        """Whether the first measurement may compile kernels for many seconds, as for all sensors with rays."""
        return self.sensor.execution == "thread" or isinstance(self.sensor, RaySensor)

    def is_warm(self) -> bool:
        """Return whether the sensor has measured once; if not, start a warm-up in a thread."""
        if self._measured >= 0 or not self.has_slow_start:
            return True
        return self._warm_up.start(lambda: self.measure_with(self.sensor))

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        self.finish()
        kept = (self._on, self._subscribed, self._measured, self._updated, self._latest.get(), self.sensor.state())
        return pickle.dumps(kept, protocol=5)

    def fingerprint_state(self) -> bytes:
        """Return the part of the state that does not depend on subscribers."""
        return self.sensor.state() if self.sensor.is_stateful else b""

    def set_state(self, state: bytes) -> None:
        self.finish()
        if self._trail is not None:
            self._trail.clear()
        self._on, subscribed, self._measured, self._updated, reading, inner = load_state(state)
        self._latest.set(reading)
        self.sensor.set_state(inner)
        self._subscribed = subscribed
        self.plan(self.view.tick)
        self._schedule.mark_stale()
