"""Buffer of the samples that the engine stores while it advances, until all sensors have processed them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Clock, Rate
from skerry.parts.observer import Observer
from skerry.parts.state_channel import StateChannel
from skerry.physics.engine import Engine
from skerry.rays import Frame, RayCaster, RayCasterBatch
from skerry.rays.packets import CONTEXT_SIZE
from skerry.water import Water
from skerry.water.probe import WaterProbe
from skerry.world.ray_scene import RaySceneBuilder
from skerry.world.sampling.sample import SampleCopy, StoredSample

SCAN_LIMIT = 40
"""Number of ticks below which a loop over ticks is faster than an array operation."""

MAX_FRAMES = 256
"""Largest number of samples with a ray frame. A new frame takes 13 µs for each body."""

BEFORE_START = -1
"""Tick before the first tick."""

PLAN_TICKS = 1000
"""Number of ticks for which the sampled ticks are computed in advance."""


@dataclass(frozen=True, eq=False, slots=True)
class DueSamples:
    """Samples at which sensors of one rate were due: ticks, rows of the engine's log, and times in s."""

    ticks: NDArray[np.int64]
    rows: NDArray[np.int64]
    times: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, selected: slice) -> DueSamples:
        return DueSamples(self.ticks[selected], self.rows[selected], self.times[selected])


@dataclass(frozen=True, eq=False, slots=True)
class EngineSamples:
    """`PastSamples` of samples in the engine's log."""

    engine: Engine
    due: DueSamples

    @property
    def ticks(self) -> list[int]:
        return self.due.ticks.tolist()

    @property
    def times(self) -> list[float]:
        return self.due.times.tolist()

    def motions(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.engine.sample_log.motions[self.due.rows, 0]
        return found

    def read(self, state_channel: StateChannel) -> NDArray[np.float64]:
        column = self.engine.sample_log.column_of(state_channel.state)
        found: NDArray[np.float64] = state_channel.value_of(column[self.due.rows])
        return found


class SampleBuffer:
    """Ticks that the engine has stored in its log, and one of them, the selected one, as a `Sample`.

    Attributes:
        ticks: Stored ticks, in order. The samples up to tick `start` are processed. They are kept because they belong
            to the latest due tick of a sensor, whose reading may be requested at any time, or to the due tick before.
        start: Tick up to which all samples are processed.
        rates: Returns the rates of all sensors and observers that need a sample at each due tick.
        sensor_rates: Rates of all sensors; the sample of the latest due tick of each rate is kept.
        previous_rates: Rates of the sensors that need the previous sample; it is kept too.
        plan_is_stale: Whether `rates` may have changed since the sampled ticks were planned.
        generation: Number of times that the buffer was cleared.
    """

    def __init__(self, engine: Engine, clock: Clock, water: Water, ray_scene: RaySceneBuilder) -> None:
        self.ticks: list[int] = []
        self.start = BEFORE_START
        self.rates: Callable[[], Iterable[Rate]] = tuple
        self.sensor_rates: Sequence[Rate] = ()
        self.previous_rates: Sequence[Rate] = ()
        self.plan_is_stale = True
        self.generation = 0
        self._planned = range(0)  # ticks of the present plan
        self._due = np.zeros(0, np.bool_)  # which of the planned ticks are sampled
        self.motions = engine.motions(0)
        self.userdata = np.zeros_like(engine.part("userdata")[0])
        self.positions, self.velocities = engine.part("qpos")[0], engine.part("qvel")[0]
        self.probe = WaterProbe(water, self.userdata)
        self.tick = 0
        self.time = 0.0
        self.engine = engine
        self.clock = clock
        self.water = water
        self._ray_scene = ray_scene
        self._rows: dict[int, int] = {}  # row of the engine's log, by tick
        self._pending: dict[tuple[int, tuple[int, int]], DueSamples] = {}  # by first tick and rate
        self._frames: dict[int, Frame] = {}  # ray frames, by row of the log
        self._words = np.zeros((engine.sample_log.capacity, CONTEXT_SIZE), np.int64)  # ray frames for kernels, by row

    @property
    def free_rows(self) -> int:
        """Number of samples that can still be stored."""
        return self.engine.sample_log.capacity - len(self.ticks)

    @property
    def has_new(self) -> bool:
        """Whether there are samples that are not processed."""
        return bool(self.ticks) and self.ticks[-1] > self.start

    def plan(self, tick: int, stop: int) -> list[int]:
        """Return the ticks after `tick`, up to and with `stop`, that must be sampled.

        These are all due ticks of `rates`, and the ticks that are kept at `stop`.
        """
        if self.plan_is_stale or tick + 1 not in self._planned or stop not in self._planned:
            self._planned, self.plan_is_stale = range(tick + 1, max(stop, tick + PLAN_TICKS) + 1), False
            ticks = np.arange(self._planned.start, self._planned.stop)
            self._due = np.zeros(len(ticks), np.bool_)
            for rate in dict.fromkeys(self.rates()):
                self._due |= rate.are_due(ticks)
            self.complete()
        first = tick + 1 - self._planned.start
        due: list[int] = (np.flatnonzero(self._due[first : stop + 1 - self._planned.start]) + (tick + 1)).tolist()
        return sorted({*due, *(found for found in self.kept_ticks(stop) if found > tick)})

    def complete(self) -> None:
        """Store the live state for ticks that are kept now but have no sample: at the start, or of a loaded state."""
        last = self.ticks[-1] if self.ticks else BEFORE_START
        for tick in sorted(found for found in self.kept_ticks(self.clock.tick) if found > last):
            self.store_live(tick)
            self.start = self.clock.tick

    def store_live(self, tick: int) -> None:
        """Store the live state as the sample of a tick that is later than all stored ticks."""
        self.engine.sample_log.store_live(len(self.ticks))
        self.add([tick])

    def kept_ticks(self, tick: int) -> set[int]:
        """Return the ticks whose samples are kept at a tick: the latest due ones, and those before if needed."""
        kept = {rate.last_due(tick) for rate in self.sensor_rates}
        return kept.union(rate.previous_due(rate.last_due(tick)) for rate in self.previous_rates)

    @property
    def max_kept(self) -> int:
        """Largest number of samples that are kept at any tick."""
        return len(self.sensor_rates) + len(self.previous_rates)

    def _ticks_since(self, tick: int, rate: Rate) -> list[int]:
        """Return the stored ticks after `tick` at which `rate` is due."""
        ticks = self.ticks[bisect_right(self.ticks, tick) :]
        if len(ticks) < SCAN_LIMIT:
            return list(filter(rate.is_due, ticks))
        many = np.array(ticks, np.int64)
        return many[rate.are_due(many)].tolist()

    def pending(self, tick: int, rate: Rate) -> DueSamples:
        """Return the stored samples after `tick` at which `rate` is due."""
        key = tick, rate.ratio  # not the rate itself: hashing a fraction takes microseconds
        due = self._pending.get(key)
        if due is None:
            ticks, rows, time_of = self._ticks_since(tick, rate), self._rows, self.clock.time_of
            numbers = np.array(ticks, np.int64), np.array([rows[tick] for tick in ticks], np.int64)
            due = self._pending[key] = DueSamples(*numbers, np.array([time_of(tick) for tick in ticks]))
        return due

    def add(self, ticks: list[int]) -> None:
        """Register further ticks that the engine is about to store."""
        self._pending.clear()
        first = len(self.ticks)
        self.ticks += ticks
        self._rows.update(zip(ticks, range(first, len(self.ticks)), strict=True))

    def truncate(self, tick: int) -> None:
        """Remove registered ticks after `tick`, which the engine did not reach."""
        self._pending.clear()
        for beyond in self.ticks[bisect_right(self.ticks, tick) :]:
            del self._rows[beyond]
        del self.ticks[bisect_right(self.ticks, tick) :]

    def clear(self) -> None:
        """Remove all samples after they were processed, except those that are kept at the present tick."""
        self.start = self.clock.tick
        kept = sorted(self._rows.keys() & self.kept_ticks(self.start))
        for row, tick in enumerate(kept):  # a row never moves behind one that is still needed
            self.engine.sample_log.copy_row(self._rows[tick], row)
        self._set_ticks(kept)

    def _set_ticks(self, ticks: list[int]) -> None:
        """Register the ticks of the first rows; all other rows are free."""
        self.generation += 1
        self.ticks = ticks
        self._rows = {tick: row for row, tick in enumerate(ticks)}
        self._pending.clear()
        self._release(list(self._frames))

    def state(self) -> tuple[list[int], bytes]:
        """Return the ticks of the kept samples, and their data."""
        return self.ticks, self.engine.sample_log.rows_to_bytes(len(self.ticks))

    def set_state(self, ticks: list[int], data: bytes) -> None:
        """Replace all samples by kept samples that `state` returned."""
        self.engine.sample_log.rows_from_bytes(len(ticks), data)
        self.start = self.clock.tick
        self.plan_is_stale = True
        self._set_ticks(list(ticks))

    def replay(self, observers: Sequence[Observer]) -> None:
        """Call each observer with the stored samples at which its rate is due."""
        due: dict[int, list[Observer]] = {}
        for observer in observers:
            found = self.pending(self.start, observer.rate)
            if len(found):
                observer.on_samples(EngineSamples(self.engine, found))
            if observer.needs_replay:
                for tick in found.ticks.tolist():
                    due.setdefault(tick, []).append(observer)
        if due:
            self._replay_ticks(due)

    def _replay_ticks(self, due: dict[int, list[Observer]]) -> None:
        """Call the observers in the state of each tick."""
        for tick in sorted(due):
            with self.replaying(tick):
                for observer in due[tick]:
                    observer.on_sample(tick)

    @contextmanager
    def replaying(self, tick: int) -> Iterator[None]:
        """Set engine and clock to a stored tick inside this block, for reading only."""
        clock, now, log = self.clock, self.clock.tick, self.engine.sample_log
        log.save_live()
        try:
            log.load_row(self._rows[tick])
            clock.set_tick(tick)
            yield
        finally:
            log.restore_live()
            clock.set_tick(now)

    # -------------------------------------------------------------------------------------------- the selected sample

    def select(self, tick: int) -> None:
        """Select the stored sample of this tick: from now on this object is that `Sample`."""
        row, engine = self._rows[tick], self.engine
        self.motions = engine.sample_log.motions[row]
        if self.water.followed_object is not None:
            self.userdata[:] = engine.sample_log.userdata[row]
        self.positions, self.velocities = engine.sample_log.positions[row], engine.sample_log.velocities[row]
        self.tick = tick
        self.time = self.clock.time_of(tick)

    def has(self, tick: int) -> bool:
        """Return whether the sample of this tick is stored."""
        return tick in self._rows

    def sample_at(self, tick: int) -> DueSamples:
        """Return the stored sample of one tick."""
        return DueSamples(np.array([tick]), np.array([self._rows[tick]]), np.array([self.clock.time_of(tick)]))

    def previous(self, due: DueSamples, rate: Rate) -> DueSamples:
        """Return the samples one period of `rate` before these, which are at consecutive due ticks of `rate`.

        A first sample without a stored one before it, as after a divergence, precedes itself.
        """
        before = rate.previous_due(due.ticks.item(0))
        first = self.sample_at(before) if self.has(before) else due[:1]
        pairs = ((first.ticks, due.ticks), (first.rows, due.rows), (first.times, due.times))
        return DueSamples(*(np.concatenate([earlier, now[:-1]]) for earlier, now in pairs))

    def stored(self, tick: int) -> StoredSample:
        """Return the data that the engine stored at this tick."""
        row, log = self._rows[tick], self.engine.sample_log
        return StoredSample(tick, self.clock.time_of(tick), log.motions[row], log.userdata[row])

    def view(self, own_mask_bit: int) -> RayCaster:
        """Return the world as rays see it in the selected sample, without the robot of `own_mask_bit`."""
        return RayCaster(self._ray_scene.scene, self._frame(), self.motions[0], own_mask_bit)

    def copy(self) -> SampleCopy:
        """Return a copy of the selected sample for a worker thread; the caller must release it."""
        scene = self._ray_scene.scene
        return SampleCopy(self, self.water, scene, scene.hold(self._frame()))

    def _frame(self) -> Frame:
        row = self._rows[self.tick]
        self._make_frames([row])
        return self._frames[row]

    def views(self, rows: NDArray[np.int64], own_mask_bit: int) -> RayCasterBatch:
        """Return the world as rays see it at these rows of the log, without the robot of `own_mask_bit`."""
        self._make_frames(rows.tolist())
        log = self.engine.sample_log.motions[:, 0]
        return RayCasterBatch(self._ray_scene.scene, self._words[rows], log, rows, own_mask_bit)

    def _make_frames(self, rows: list[int]) -> None:
        """Create the missing ray frames of these rows. All sensors share them until the buffer is cleared."""
        frames = self._frames
        new = [row for row in rows if row not in frames]
        if new:
            if len(frames) + len(new) > MAX_FRAMES:
                self._release(set(frames).difference(rows))
            log, ropes = self.engine.sample_log, self._ray_scene.state_of_ropes
            made = self._ray_scene.scene.frames(log.motions[new, 0], log.userdata[new, ropes])
            frames.update(zip(new, made, strict=True))
            self._words[new] = [frame.context for frame in made]

    def _release(self, rows: Iterable[int]) -> None:
        for row in rows:
            self._ray_scene.scene.release(self._frames.pop(row))
