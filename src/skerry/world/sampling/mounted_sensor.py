"""Sensor of a robot in a world: schedule, measurement, latest reading and delivery."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.parts.component import Component, Mount
from skerry.parts.readings import Readings
from skerry.parts.sensor import Sensor, SensorView, SingleSensorView
from skerry.rays.threads import processors
from skerry.sensors.raycast.ray_sensor import RaySensor
from skerry.world.sampling.ray_trail import RayTrail
from skerry.world.sampling.reading_state import load_state
from skerry.world.sampling.sample import SampleCopy
from skerry.world.sampling.sample_buffer import SampleBuffer
from skerry.world.sampling.sample_view import RobotSampleView
from skerry.world.sampling.sensor_jobs import SensorJobs, WarmUp
from skerry.world.sampling.sensor_schedule import SensorSchedule
from skerry.world.sampling.sensor_view import RobotSensorView

R = TypeVar("R")

Deliver: TypeAlias = Callable[[list[int], Readings[Any]], None]
"""Callback with the ticks of due samples, in order, and their readings."""


class MountedSensor(Component, Generic[R]):
    """Sensor of a robot, with its rate and its noise stream.

    The sensor samples at its due ticks from the start; see `Sensor`. Readings are computed only where they are used:
    at every due tick while `deliver` is set or if the sensor is stateful, otherwise when `reading` is accessed.
    Accessing `reading` has no effect on later readings, on the world, or on the speed of later advances.

    A sensor with `execution` "now" that delivers is measured when the world stops at its due tick. All other
    measurements use samples of the buffer; see `docs/adr/0022-batch-sensors.md`.

    Args:
        name: Name of the robot and of the sensor, "robot/sensor".
        sensor: The sensor.
        rate: When the sensor is due.
        noise: Noise stream of the sensor.
        view: View of the live state for its robot.
        mount: Mounting of the sensor on the robot.
        buffer: Buffer of past samples.
    """

    def __init__(
        self,
        name: str,
        sensor: Sensor[R],
        rate: Rate,
        noise: Noise,
        view: RobotSampleView,
        mount: Mount,
        buffer: SampleBuffer,
    ) -> None:
        self.name = name
        self.sensor = sensor
        self.mount = mount
        self.rate = rate
        """Rate of the sensor."""
        self.load = 0.0
        """Wall time of the latest measurement divided by the period of the sensor. For display only.

        It does not include the compilation of kernels: the first measurement of a sensor with a slow start is repeated,
        and the repetition is timed.
        """
        self._deliver: Deliver | None = None
        self._on = True
        self.alternatives: tuple[MountedSensor[Any], ...] = ()
        """Sensors that are switched off when this one is switched on."""
        self._frequency = float(rate.frequency)
        self._noise = noise
        self._latest: Readings[R] | None = None
        self._reading: R | None = None  # latest reading, built when it is requested
        self._is_built = False
        self._jobs = SensorJobs(self._measure_copy, self._store)
        self._warm_up = WarmUp()
        self._is_compiled = not self.has_slow_start  # whether the time of a measurement tells the load
        self._trail: RayTrail | None = None
        self._measured = -1  # number of the due tick of the latest reading
        self._read = -1  # number of the due tick of the reading that was accessed last
        self.bind(view, buffer)

    def bind(self, view: RobotSampleView, buffer: SampleBuffer) -> None:
        """Measure in this world from now on. All samples of a former world must have been measured.

        Args:
            view: View of the live state for its robot.
            buffer: Buffer of past samples.
        """
        self.view = view
        self._buffer = buffer
        self._schedule = SensorSchedule(self.rate, buffer)
        self._replan()

    # -------------------------------------------------------------------------------------------- readings

    @property
    def reading(self) -> R | None:
        """Latest due reading; None if nothing was measured, or if the sensor is off."""
        self.measure_latest()
        self._read = self.rate.count(self.view.tick)
        return self._last_reading() if self._on else None

    def _last_reading(self) -> R | None:
        if not self._is_built:
            self._is_built, self._reading = True, None if self._latest is None else self._latest[-1]
        return self._reading

    def _set_latest(self, readings: Readings[R] | None) -> None:
        self._latest, self._reading, self._is_built = readings, None, False

    @property
    def has_new_data(self) -> bool:
        """Whether `reading` is a reading that was not accessed yet.

        It becomes true at each due tick at which something was measured, and false when `reading` is accessed. A GPS
        under water has no new data.
        """
        if not self._on or self._read == self.rate.count(self.view.tick):
            return False
        self.measure_latest()
        return self._last_reading() is not None

    @property
    def deliver(self) -> Deliver | None:
        """Callback with the ticks and readings of all due samples; None if the readings are not used."""
        return self._deliver

    @deliver.setter
    def deliver(self, deliver: Deliver | None) -> None:
        self.finish()
        self._deliver = deliver
        self._replan()

    @property
    def is_active(self) -> bool:
        """Whether the sensor is measured at every due tick."""
        return self._deliver is not None or self.sensor.is_stateful

    @property
    def on(self) -> bool:
        """Whether the sensor is switched on. A sensor that is off gives no readings and calls no callback."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self.finish()
        self._on = on
        for other in self.alternatives if on else ():
            other.on = False

    def trigger(self) -> None:
        """Trigger the alarm of the sensor, for example a leak, from the present tick on."""
        self.finish()
        self.sensor.trigger()

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

    def __repr__(self) -> str:
        kind = getattr(self.mount, "kind", type(self.sensor).__name__)
        return f"<Sensor {self.name}: {kind}, {self._frequency:g} Hz{'' if self._on else ', off'}>"

    # -------------------------------------------------------------------------------------------- schedule

    @property
    def next_tick(self) -> int:
        """Next tick at which the world must stop for the sensor."""
        return self._schedule.next_tick

    @property
    def needs_stop(self) -> bool:
        """Whether the world must stop at the due ticks while the sensor is active."""
        return self.sensor.execution == "now"

    def plan(self, tick: int) -> None:
        """Plan the next stop after `tick`. All samples up to `tick` count as processed."""
        self._schedule.restart(tick, self.is_active)

    def _replan(self) -> None:
        self.plan(self.view.tick)
        self._buffer.plan_is_stale = True

    def process_live(self) -> None:
        """Measure the live state of a due tick, and plan the next stop."""
        self._measured = self.rate.count(self.view.tick)
        self._store([self.view.tick], self._measure(SingleSensorView(self.view, self._previous(self.view.tick))))
        self._schedule.next_tick = self.rate.next_due(self.view.tick)

    def process_pending(self) -> None:
        """Measure all pending samples of the buffer, or give them to worker threads."""
        if not self.is_active or self.needs_stop or not self._schedule.has_pending:
            return
        due = self._schedule.take_pending()
        if not due or not (self._on or self.sensor.is_stateful):
            return
        self._warm_up.wait()
        self._measured = self.rate.count(due.ticks.item(-1))
        if self.sensor.execution == "thread" and processors() > 1:
            for tick in due.ticks.tolist():
                self._buffer.select(tick)
                self._jobs.submit(self._buffer, self._buffer.generation, must_wait=self._trail is not None)
            return
        for first in range(0, len(due), self.sensor.max_batch):
            part = due[first : first + self.sensor.max_batch]
            self._store(part.ticks.tolist(), self._measure(RobotSensorView(self.view, self._buffer, part, self.rate)))

    # -------------------------------------------------------------------------------------------- measurements

    def measure_latest(self) -> None:
        """Measure the sample of the latest due tick, unless that was done."""
        self.finish()
        tick = self.view.tick
        number = self.rate.count(tick)
        if number == self._measured or not (self._on or self.sensor.is_stateful):
            return
        self._warm_up.wait()
        due, buffer = self.rate.last_due(tick), self._buffer
        if not buffer.has(due):
            found = self._measure(SingleSensorView(self.view))
        elif self.needs_stop:
            with buffer.replaying(due):
                found = self._measure(SingleSensorView(self.view, self._previous(due)))
        else:
            found = self._measure(RobotSensorView(self.view, buffer, buffer.sample_at(due), self.rate))
        self._measured = number
        self._store([due], found)

    def _previous(self, due: int) -> SensorView | None:
        """Return a view of the sample before a stored one, if the sensor needs it."""
        buffer = self._buffer
        if "previous" not in self.sensor.needs:
            return None
        return RobotSensorView(self.view, buffer, buffer.sample_at(due), self.rate).previous

    def _store(self, ticks: list[int], readings: Readings[R]) -> None:
        if not self._on:
            return
        self._set_latest(readings)
        if self._deliver is not None:
            self._deliver(ticks, readings)
        if self._trail is not None:
            self._trail.add()

    def _measure(self, view: SensorView) -> Readings[R]:
        if not self._is_compiled:
            self._measure_once(view)
        start = perf_counter()
        readings = self.sensor.measure(view, self._noise)
        if len(readings) != len(view):
            raise SkerryError(
                f"{self.name}: `{type(self.sensor).__name__}.measure` returned {len(readings)} readings for "
                f"{len(view)} samples; return one reading per sample"
            )
        self.load = (perf_counter() - start) / len(view) * self._frequency
        return readings

    def _measure_copy(self, copy: SampleCopy) -> Readings[R]:
        with self.view.using(copy) as view:
            return self._measure(SingleSensorView(view))

    def measure_with(self, sensor: Sensor[Any]) -> Callable[[], Any]:
        """Return a job that measures the present sample with another sensor, such as a camera with another lens.

        The job may run in any thread. It must run exactly once, because it holds a copy of the sample. The readings of
        this sensor do not change. The job returns a reading, or None if nothing was measured.
        """
        live = self.view
        copy = live.sample.copy()

        def measure() -> Any:
            with live.using(copy) as view:
                return sensor.measure(SingleSensorView(view), self._noise)[0]

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
        self._measure_once(SingleSensorView(self.view))

    def _measure_once(self, view: SensorView) -> None:
        """Measure and discard the readings."""
        kept = self.sensor.state()
        self.sensor.measure(view, self._noise)
        self.sensor.set_state(kept)
        self._is_compiled = True

    def check(self) -> None:
        """Measure once if the sensor is of another package, so that its mistakes are errors when the world is built.

        Raises:
            SkerryError: `measure` fails, or returns a wrong number of readings.
        """
        kind = type(self.sensor)
        if kind.__module__.partition(".")[0] == "skerry":
            return
        kept = self.sensor.state()
        try:
            self._measure(SingleSensorView(self.view))
        except SkerryError:
            raise
        except Exception as error:
            raise SkerryError(f"{self.name}: `{kind.__name__}.measure` failed: {error!r}") from error
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

    def start(self) -> None:
        """Plan the next stop and measure the first sample of a stateful sensor, at the start of a run or a robot."""
        self._replan()
        self.sensor.start(self.rate.last_due(self.view.tick))
        if self.sensor.is_stateful:
            self.measure_latest()

    def state(self) -> bytes:
        self.finish()
        kept = (self._measured, self._last_reading()) if self.sensor.is_stateful else None
        return pickle.dumps((self._on, kept, self.sensor.state()), protocol=5)

    def fingerprint_state(self) -> bytes:
        """Return the state of the sensor itself, without the settings of its use."""
        self.finish()
        return self.sensor.state() if self.sensor.is_stateful else b""

    def set_state(self, state: bytes) -> None:
        self._jobs.drop()
        if self._trail is not None:
            self._trail.clear()
        self._on, kept, inner = load_state(state)
        self.sensor.set_state(inner)
        self._measured, self._read = -1, -1
        self._set_latest(None)
        if kept is not None:
            self._measured, reading = kept
            if reading is not None:
                self._set_latest(Readings.of(self.sensor.reading_type(), [reading]))
        self._replan()
