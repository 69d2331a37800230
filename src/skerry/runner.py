"""The wall clock: runs a world at some pace, lets interfaces see it and does what they ask, until somebody stops it."""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from math import ceil, inf, isfinite
from threading import Condition, RLock
from typing import Any, Final, Self

from skerry.core.errors import PhysicsDiverged, SkerryError, did_you_mean
from skerry.parts.interface import Command, Interface, ReadingBatch, ReadingBatches
from skerry.scenario import Scenario
from skerry.world import World

logger = logging.getLogger("skerry")

SLICE: Final = 0.05  # s of wall time between looks at the clock, so that the status stays live and a stop is prompt
AHEAD: Final = 0.02  # s by which a world may be ahead of the wall clock: to wake up costs more than a short step
CATCH_UP: Final = 0.5  # s that a slow machine may lag behind before the lag is forgiven
SWITCH: Final = 0.00002  # s after which a peer that asks may speak, and the loop go on after native code; else 5 ms
MakeWorld = Callable[[str | Scenario, int | None], World]
"""Builds a world of a scenario, with a seed, or with the scenario's own."""
MOST_COMMANDS: Final = 10_000  # that wait; who sends more between two steps of the world is not heard


class CommandQueue:
    """Commands from any thread, in the order in which they came."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Command, Future[Any]]] = deque()
        self._arrived = Condition()
        self._woken = False

    def put(self, command: Command) -> Future[Any]:
        """Hand over a command; returns at once with a promise of what the command gives."""
        promise: Future[Any] = Future()
        with self._arrived:
            if len(self._waiting) >= MOST_COMMANDS:
                promise.set_exception(SkerryError(f"{MOST_COMMANDS} commands wait already; send fewer"))
                return promise
            self._waiting.append((command, promise))
            self._arrived.notify()
        return promise

    def wake(self) -> None:
        """End a wait."""
        with self._arrived:
            self._woken = True
            self._arrived.notify()

    def wait(self, seconds: float) -> None:
        """Wait for a command or to be woken."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting or self._woken, seconds)
            self._woken = False

    def obey(self, run: Runner) -> None:
        """Do what waits now, so that nobody who keeps asking holds up the world; one that fails stops nothing."""
        for _ in range(len(self._waiting)):
            command, promise = self._waiting.popleft()
            if promise.set_running_or_notify_cancel():
                for interface in run.interfaces.values():
                    interface.on_command(run.world.tick, command)
                try:
                    result = command.apply(run)
                except SkerryError as error:
                    promise.set_exception(error)
                else:
                    run.notice_changes()  # so that who asked for a robot finds its topics
                    promise.set_result(result)

    def refuse(self) -> None:
        """Tell all who wait that nobody will do it any more."""
        while self._waiting:
            _, promise = self._waiting.popleft()
            promise.cancel()


class Runner:
    """Advances a world. `speed` is simulated seconds per second of wall time; None is as fast as it goes.

    `stop` and `inbox.put` may be called from any thread, all else from the one that runs, or by commands. Close it, or
    use it in a `with` block, if it has interfaces. `make_world` makes another world when a command asks for one.
    """

    def __init__(
        self,
        world: World,
        speed: float | None = 1.0,
        interfaces: Mapping[str, Interface] | None = None,
        make_world: MakeWorld | None = None,
    ) -> None:
        self.world = world
        self.successor: World | None = None
        """The world that is to be run after this one, once somebody has asked for it; whoever runs it closes it."""
        self._make_world = make_world
        self.interfaces = dict(interfaces or {})
        self.inbox = CommandQueue()
        self.paused = False
        self._speed = speed
        self._steps = 0  # that may be made while it is paused
        self._stopped = False
        self._started = False
        self._running = RLock()  # held by whoever runs it or closes it
        self._switch_before: float | None = None  # s, what it was before this runner had peers
        self._first = world.snapshot()
        self._piece = SLICE  # s that it simulates at once as fast as it goes, so that it looks up as often as it should
        self._anchor = (0.0, 0.0)  # wall time and simulated time from which the pace is counted
        self._new: list[ReadingBatch] = []
        self._one_by_one: dict[tuple[str, str], tuple[list[int], list[Any]]] = {}  # of those that come so
        self._wants: list[frozenset[tuple[str, str]]] = []
        self._delivering: frozenset[tuple[str, str]] = frozenset()
        self._changes = world.changes

    # -------------------------------------------------------------------------------------------- control

    @property
    def speed(self) -> float | None:
        """Simulated seconds per second of wall time; None is as fast as it goes."""
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        if speed is not None and not (isfinite(speed) and speed > 0):
            raise SkerryError(f"a speed must be above 0, not {speed}; 1 is real time")
        self._speed = speed
        self._set_anchor()

    def stop(self) -> None:
        """End the run soon; may be called from any thread."""
        self._stopped = True
        self.inbox.wake()

    def pause(self) -> None:
        """Stand still; commands are still heard."""
        self.paused = True

    def resume(self) -> None:
        """Go on after a pause."""
        self.paused = False
        self._steps = 0
        self._set_anchor()

    def step(self, steps: int = 1) -> None:
        """Pause, and make so many steps."""
        if steps < 1:
            raise SkerryError(f"cannot make {steps} steps; give 1 or more")
        self.paused = True
        self._steps += steps

    def reset(self) -> None:
        """Go back to how the world was when this runner got it."""
        self.restore(self._first)

    def restore(self, snapshot: Any) -> None:
        """Go to a snapshot; the pace is counted from there."""
        self.world.restore(snapshot)
        self._news()  # which is of what did not come to be
        self._set_anchor()

    def skip(self, steps: int) -> None:
        """Make so many steps at once; no interface sees them, nor gets the readings on the way."""
        self._deliver_to_nobody()
        self.world.advance_steps(steps)
        self._set_anchor()

    def load(self, scenario: str | None = None, seed: int | None = None) -> None:
        """Build another world, of a scenario or of this one's, and end the run; if it cannot be built, this goes on."""
        if self._make_world is None:
            raise SkerryError("this run cannot be exchanged for another; start one with `skerry run`")
        world = self._make_world(self.world.scenario if scenario is None else scenario, seed)
        if self.successor is not None:
            self.successor.close()
        self.successor = world
        self.stop()

    def add_interface(self, name: str, interface: Interface) -> None:
        """Let another interface see the world from now on."""
        if name in self.interfaces:
            raise SkerryError(f"there is an interface {name!r} already; remove it first")
        interface.check(self.world)
        interface.start(self.world, self.inbox)
        self.interfaces = {**self.interfaces, name: interface}
        interface.on_all_started(self.interfaces)

    def remove_interface(self, name: str) -> None:
        """Close an interface, and go on without it."""
        if name not in self.interfaces:
            raise SkerryError(f"there is no interface {name!r}; {did_you_mean(name, self.interfaces)}")
        rest = dict(self.interfaces)
        rest.pop(name).close()
        self.interfaces = rest

    # -------------------------------------------------------------------------------------------- the loop

    def run(self, duration: float | None, watch: Callable[[float], None] = lambda factor: None) -> None:
        """Simulate so many seconds (None: until stopped); `watch` is told the real-time factor now and then."""
        with self._running:
            self._run(duration, watch)

    def _run(self, duration: float | None, watch: Callable[[float], None]) -> None:
        self._start()
        step = float(self.world.scenario.step)
        end = None if duration is None else self.world.tick + round(duration / step)
        self._set_anchor()
        told, told_time = time.perf_counter(), self.world.time
        while not self._stopped and (end is None or self.world.tick < end):
            self.inbox.obey(self)
            if self.paused and not self._steps:
                self._stand_by()
                self.inbox.wait(SLICE)
                told, told_time = time.perf_counter(), self.world.time
                continue
            before, simulated = time.perf_counter(), self.world.time
            piece = self._piece if self._speed is None else SLICE * self._speed
            try:
                self._advance(self._stop_after(piece, end))
            except PhysicsDiverged as error:
                if end is not None or not self.interfaces:
                    raise
                self._wait_for_help(error)
                continue
            if self._speed is None:
                spent = (time.perf_counter() - before) * piece / max(self.world.time - simulated, step)
                self._piece = max(piece * min(2.0, SLICE / max(spent, 1e-6)), step)
            else:
                self._keep_pace(0.0 if self.world.tick == end else AHEAD)
            if (now := time.perf_counter()) - told >= SLICE:
                watch(max(self.world.time - told_time, 0.0) / (now - told))
                told, told_time = now, self.world.time

    def _stop_after(self, piece: float, end: int | None) -> int:
        """The next tick at which the loop must look up, at the latest after so many seconds."""
        tick, step = self.world.tick, float(self.world.scenario.step)
        stops = [tick + max(round(piece / step), 1)]
        if end is not None:
            stops.append(end)
        if self.paused:
            stops.append(tick + self._steps)
        # a step more than the world may be ahead of the wall clock, so that it waits after each stop
        late = 1 if self._speed is None else 1 + ceil(AHEAD * self._speed / step)
        for interface in self.interfaces.values():
            if (due := interface.next_due(tick)) is not None:
                stops.append(max(due, tick + 1))
            if (word := interface.next_publish_tick(tick)) is not None:
                stops.append(max(word, tick + late))
        return min(stops)

    def _advance(self, stop: int) -> None:
        self._deliver_what_is_wanted()
        steps = stop - self.world.tick
        observers = [observer for interface in self.interfaces.values() for observer in interface.observers]
        self.world.advance_steps(steps, observers)
        self._steps = max(self._steps - steps, 0)
        self._publish()

    def _wait_for_help(self, error: PhysicsDiverged) -> None:
        """Pause where a world cannot go on, so that a peer may reset it, restore a snapshot or load another."""
        logger.error("%s; it is paused until somebody resets it or restores a snapshot", error)
        self.paused = True
        self._steps = 0
        self._news()  # which is of what did not come to be

    def _publish(self) -> None:
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].poll()
        news = self._news()
        for interface in self.interfaces.values():
            interface.publish(news)

    def _publish_the_rest(self) -> None:
        """Wait for readings that are being measured, such as the last pictures, so that nobody misses them."""
        self.notice_changes()
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].finish()
        if self._new:
            self._publish()

    def _stand_by(self) -> None:
        """Let those who newly want a sensor have its reading of now, and show the world as commands have left it."""
        self._deliver_what_is_wanted()
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].measure_if_due()
            self.world.robots[robot].sensors[sensor].poll()
        news = self._news()
        for interface in self.interfaces.values():
            interface.on_idle(news)

    def notice_changes(self) -> None:
        """Tell the interfaces if robots or objects have come or gone."""
        if self.world.changes is not self._changes:
            self._changes = self.world.changes
            self._delivering, self._wants = frozenset(), []  # its sensors are new
            for interface in self.interfaces.values():
                interface.world_changed()

    def _deliver_what_is_wanted(self) -> None:
        self.notice_changes()
        wants = [interface.subscriptions for interface in self.interfaces.values()]
        if all(map(_is, wants, self._wants)) and len(wants) == len(self._wants):
            return
        self._wants = wants
        wanted = frozenset(
            (robot, sensor)
            for robot, sensor in frozenset[tuple[str, str]]().union(*wants)
            if robot in self.world.robots and sensor in self.world.robots[robot].sensors  # it may be gone
        )
        for robot, sensor in wanted ^ self._delivering:
            part = self.world.robots[robot].sensors[sensor]
            part.deliver = partial(self._take, robot, sensor) if (robot, sensor) in wanted else None
        self._delivering = wanted

    def _deliver_to_nobody(self) -> None:
        self.notice_changes()
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].deliver = None
        self._delivering, self._wants = frozenset(), []

    def _take(self, robot: str, sensor: str, ticks: Sequence[int], readings: Sequence[Any]) -> None:
        if len(ticks) > 1:
            self._one_by_one.pop((robot, sensor), None)
            self._new.append(ReadingBatch(robot, sensor, ticks, readings))
            return
        gathered = self._one_by_one.get((robot, sensor))
        if gathered is None:
            gathered = self._one_by_one[robot, sensor] = ([], [])
            self._new.append(ReadingBatch(robot, sensor, *gathered))
        gathered[0].append(ticks[0])
        gathered[1].append(readings[0])

    def _news(self) -> ReadingBatches:
        """What was measured, for the interfaces; from now on for the next time."""
        news, self._new, self._one_by_one = ReadingBatches(self._new), [], {}
        return news

    def _set_anchor(self) -> None:
        self._anchor = (time.perf_counter(), self.world.time)

    def _keep_pace(self, ahead: float) -> None:
        """If the world is so far ahead, s, wait until the wall clock has come as far; commands are done meanwhile."""
        while not self._stopped and not self.paused:
            wall, simulated = self._anchor
            due = wall + (self.world.time - simulated) / (self._speed or inf)
            late = time.perf_counter() - due
            if late >= -ahead:
                if late > CATCH_UP:
                    self._set_anchor()
                return
            ahead = 0.0
            self.inbox.wait(min(-late, SLICE))
            self.inbox.obey(self)

    # -------------------------------------------------------------------------------------------- beginning and end

    def _start(self) -> None:
        if not self._started:
            self._started = True
            if self.interfaces:
                self._switch_before = sys.getswitchinterval()
                sys.setswitchinterval(SWITCH)
                gc.freeze()  # what is there now stays, and to look through it again and again would hold up all peers
            for name, interface in self.interfaces.items():
                logger.info("interface %s starts", name)
                interface.start(self.world, self.inbox)
            for interface in self.interfaces.values():
                interface.on_all_started(self.interfaces)
            self._publish()

    def close(self) -> None:
        """End a run in another thread, give the interfaces what is still being measured, and close them.

        Closing twice is harmless.
        """
        self.stop()
        with self._running:
            self._close()

    def _close(self) -> None:
        self.inbox.refuse()
        self._publish_the_rest()
        for interface in self.interfaces.values():
            interface.close()
        if self._switch_before is not None:
            sys.setswitchinterval(self._switch_before)
            gc.unfreeze()
            self._switch_before = None
        self._deliver_to_nobody()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is(one: object, other: object) -> bool:
    return one is other
