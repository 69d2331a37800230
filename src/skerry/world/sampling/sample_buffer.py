"""The instants on the way that the engine has kept, until all sensors have looked back at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
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
from skerry.world.sampling.sample import Glimpse, SampleCopy

FEW = 40
"""Ticks that are looked through one by one more quickly than all at once."""

MOST_FRAMES = 256
"""Instants of which the bodies are kept for rays: a frame takes 13 µs for each body when it is first made."""

NEVER = -1
"""A tick before the first one."""

PLANNED = 1000
"""Ticks for which it is worked out ahead which of them are kept."""


@dataclass(frozen=True, eq=False, slots=True)
class DueSamples:
    """Instants at which sensors of one rate were due: ticks, rows of the engine's log, and times."""

    ticks: NDArray[np.int64]
    rows: NDArray[np.int64]
    times: list[float]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, some: slice) -> DueSamples:
        return DueSamples(self.ticks[some], self.rows[some], self.times[some])


@dataclass(frozen=True, eq=False, slots=True)
class EngineSamples:
    """A `PastSamples` of what the engine has kept."""

    engine: Engine
    due: DueSamples

    @property
    def ticks(self) -> list[int]:
        return self.due.ticks.tolist()

    @property
    def times(self) -> list[float]:
        return self.due.times

    def motions(self) -> NDArray[np.float64]:
        found: NDArray[np.float64] = self.engine.sample_log.motions[self.due.rows, 0]
        return found

    def read(self, state_channel: StateChannel) -> NDArray[np.float64]:
        column = self.engine.sample_log.column_of(state_channel.state)
        found: NDArray[np.float64] = state_channel.value_of(column[self.due.rows])
        return found


class SampleBuffer:
    """Ticks and what the engine has kept of them, in its log; and one of them as an instant, the one that it is at.

    Those are kept at which sensors that look back are due.
    """

    def __init__(self, engine: Engine, clock: Clock, water: Water, surroundings: RaySceneBuilder) -> None:
        self.ticks: list[int] = []
        self.rates: Callable[[], Iterable[Rate]] = tuple
        """Gives the rates of the sensors that look back and are wanted."""
        self.stale = True
        """Whether they may be others than they were."""
        self.must_keep_userdata = True
        """Whether userdata is needed of the instants, by those who look back."""
        self._planned = range(0)  # the ticks that are planned, and
        self._due = np.zeros(0, np.bool_)  # which of them are to be kept
        self.motions = engine.motions(0)
        self.userdata = np.zeros_like(engine.part("userdata")[0])
        self.positions, self.velocities = engine.part("qpos")[0], engine.part("qvel")[0]
        self.probe = WaterProbe(water, self.userdata)
        self.stretch = 0
        """The number of times that it has begun anew."""
        self.tick = 0
        self.time = 0.0
        self.engine = engine
        self.clock = clock
        self.water = water
        self._surroundings = surroundings
        self._rows: dict[int, int] = {}
        self._waiting: dict[
            tuple[int, tuple[int, int]], DueSamples
        ] = {}  # what was due since some tick, by a rate's words
        self._frames: dict[int, Frame] = {}  # of those rows of the log at which rays were sent, and
        self._words = np.zeros(
            (engine.sample_log.capacity, CONTEXT_SIZE), np.int64
        )  # what kernels need of them, by row

    @property
    def room(self) -> int:
        """How many more instants there is room for."""
        return self.engine.sample_log.capacity - len(self.ticks)

    def looks_after(self, tick: int, stop: int) -> list[int]:
        """The ticks after one, up to a stop, that are to be kept for the sensors."""
        if self.stale or tick + 1 not in self._planned or stop not in self._planned:
            self._planned, self.stale = range(tick + 1, max(stop, tick + PLANNED) + 1), False
            ticks = np.arange(self._planned.start, self._planned.stop)
            self._due = np.zeros(len(ticks), np.bool_)
            for rate in dict.fromkeys(self.rates()):
                self._due |= rate.are_due(ticks)
        first = tick + 1 - self._planned.start
        return (np.flatnonzero(self._due[first : stop + 1 - self._planned.start]) + (tick + 1)).tolist()

    def due_since(self, tick: int, rate: Rate) -> list[int]:
        """The ticks after one that it has kept at which a sensor of that rate was due."""
        ticks = self.ticks[bisect_right(self.ticks, tick) :]
        if len(ticks) < FEW:
            return list(filter(rate.is_due, ticks))
        many = np.array(ticks, np.int64)
        return many[rate.are_due(many)].tolist()

    def waiting(self, tick: int, rate: Rate) -> DueSamples:
        """The instants after a tick that it has kept at which sensors of that rate were due."""
        place = tick, rate.ratio  # as the hash of a fraction takes microseconds
        due = self._waiting.get(place)
        if due is None:
            ticks, rows, time_of = self.due_since(tick, rate), self._rows, self.clock.time_of
            numbers = np.array(ticks, np.int64), np.array([rows[tick] for tick in ticks], np.int64)
            due = self._waiting[place] = DueSamples(*numbers, [time_of(tick) for tick in ticks])
        return due

    def keep(self, ticks: list[int]) -> None:
        """Be told which ticks, after those that it has, the engine is about to keep."""
        self._waiting.clear()
        first = len(self.ticks)
        self.ticks += ticks
        self._rows.update(zip(ticks, range(first, len(self.ticks)), strict=True))

    def end_at(self, tick: int) -> None:
        """Forget what did not come to be."""
        self._waiting.clear()
        del self.ticks[bisect_right(self.ticks, tick) :]

    def clear(self) -> None:
        """Begin anew, when all have looked."""
        self.stretch += 1
        self.ticks.clear()
        self._rows.clear()
        self._waiting.clear()
        self._release(list(self._frames))

    def replay(self, observers: Sequence[Observer]) -> None:
        """Let each onlooker see the world as it was at the ticks that it has kept at which its rate was due."""
        due: dict[int, list[Observer]] = {}
        for observer in observers:
            found = self.waiting(NEVER, observer.rate)
            if len(found):
                observer.on_samples(EngineSamples(self.engine, found))
            if observer.needs_replay:
                for tick in found.ticks.tolist():
                    due.setdefault(tick, []).append(observer)
        if due:
            self._show(due)

    def _show(self, due: dict[int, list[Observer]]) -> None:
        clock, now = self.clock, self.clock.tick
        self.engine.sample_log.save_live()
        try:
            for tick in sorted(due):
                self.engine.sample_log.load_row(self._rows[tick])
                clock.set_tick(tick)
                for observer in due[tick]:
                    observer.on_sample(tick)
        finally:
            self.engine.sample_log.restore_live()
            clock.set_tick(now)

    # -------------------------------------------------------------------------------------------- as an instant

    def go(self, tick: int) -> None:
        """Be at that tick."""
        row, engine = self._rows[tick], self.engine
        self.motions = engine.sample_log.motions[row]
        if self.water.followed_object is not None:
            self.userdata[:] = engine.sample_log.userdata[row]
        self.positions, self.velocities = engine.sample_log.positions[row], engine.sample_log.velocities[row]
        self.tick = tick
        self.time = self.clock.time_of(tick)

    def glimpse(self, tick: int) -> Glimpse:
        """What the engine has kept at that tick."""
        row, engine = self._rows[tick], self.engine
        return Glimpse(tick, self.clock.time_of(tick), engine.sample_log.motions[row], engine.sample_log.userdata[row])

    def view(self, own_mask_bit: int) -> RayCaster:
        return RayCaster(self._surroundings.scene, self._frame(), self.motions[0], own_mask_bit)

    def hold(self) -> SampleCopy:
        scene = self._surroundings.scene
        return SampleCopy(self, self.water, scene, scene.hold(self._frame()))

    def _frame(self) -> Frame:
        row = self._rows[self.tick]
        self._make_frames([row])
        return self._frames[row]

    def views(self, rows: NDArray[np.int64], own_mask_bit: int) -> RayCasterBatch:
        """The world by rays at these rows of the log."""
        self._make_frames(rows.tolist())
        log = self.engine.sample_log.motions[:, 0]
        return RayCasterBatch(self._surroundings.scene, self._words[rows], log, rows, own_mask_bit)

    def _make_frames(self, rows: list[int]) -> None:
        """See to it that there are frames of these rows, which all sensors share until all have looked."""
        frames = self._frames
        new = [row for row in rows if row not in frames]
        if new:
            if len(frames) + len(new) > MOST_FRAMES:
                self._release(set(frames).difference(rows))
            log, ropes = self.engine.sample_log, self._surroundings.state_of_ropes
            made = self._surroundings.scene.frames(log.motions[new, 0], log.userdata[new, ropes])
            frames.update(zip(new, made, strict=True))
            self._words[new] = [frame.context for frame in made]

    def _release(self, rows: Iterable[int]) -> None:
        for row in rows:
            self._surroundings.scene.release(self._frames.pop(row))
