"""The wall clock: runs a world at some pace until it has lasted long enough, or somebody stops it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

from skerry.world import World

SLICE = 0.05  # s of wall time between looks at the clock, so that the status stays live and a stop is prompt
CATCH_UP = 0.5  # s that a slow machine may lag behind before the lag is forgiven


@dataclass
class Runner:
    """Advances a world. `speed` is simulated seconds per second of wall time; None is as fast as it goes."""

    world: World
    speed: float | None = 1.0
    _stop: Event = field(default_factory=Event, repr=False)

    def stop(self) -> None:
        """End the run soon; may be called from any thread."""
        self._stop.set()

    def run(self, duration: float | None, watch: Callable[[float], None] = lambda factor: None) -> None:
        """Simulate so many seconds (None: until stopped); `watch` is told the real-time factor now and then."""
        start = self.world.time
        end = None if duration is None else start + duration
        piece = SLICE if self.speed is None else SLICE * self.speed
        began, origin = time.perf_counter(), self.world.time
        while not self._stop.is_set() and (
            end is None or self.world.time < end - 0.5 * float(self.world.scenario.step)
        ):
            before, simulated = time.perf_counter(), self.world.time
            self.world.advance(piece if end is None else min(piece, end - self.world.time))
            if self.speed is None:
                spent = time.perf_counter() - before
                piece = max(piece * min(2.0, SLICE / max(spent, 1e-6)), float(self.world.scenario.step))
            else:
                due = began + (self.world.time - origin) / self.speed
                if due > time.perf_counter():
                    self._stop.wait(due - time.perf_counter())
                elif time.perf_counter() - due > CATCH_UP:
                    began, origin = time.perf_counter(), self.world.time
            watch((self.world.time - simulated) / max(time.perf_counter() - before, 1e-9))
