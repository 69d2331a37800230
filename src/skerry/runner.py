"""Runner: advances a world at a given speed, publishes to interfaces and executes their commands."""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial
from math import ceil, inf, isfinite
from threading import Condition, RLock
from typing import Any, Final, Self

from skerry.core.errors import PhysicsDiverged, SkerryError, did_you_mean
from skerry.parts.interface import Command, Interface, ReadingBatch, ReadingBatches
from skerry.parts.readings import Readings
from skerry.scenario import Scenario
from skerry.world import World

logger = logging.getLogger("skerry")

TIME_SLICE: Final = 0.05
"""Wall time between two checks of the clock and the inbox, s, so that the status is live and a stop is prompt."""

LEAD: Final = 0.02
"""Time by which the world may be ahead of the wall clock, s. Waking up costs more than a short step."""

MAX_LAG: Final = 0.5
"""Lag behind the wall clock, s, above which the clock is set again instead of catching up."""

SWITCH_INTERVAL: Final = 0.00002
"""Switch interval of Python threads, s, so that interface threads and the loop wait little for each other."""

MAX_COMMANDS: Final = 10_000
"""Largest number of waiting commands; further commands are refused."""

MakeWorld = Callable[[str | Scenario, int | None], World]
"""Function that builds a world from a scenario and a seed; None for the seed of the scenario."""


class CommandQueue:
    """Queue of commands from any thread, executed in order."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Command, Future[Any]]] = deque()
        self._arrived = Condition()
        self._woken = False

    def put(self, command: Command) -> Future[Any]:
        """Queue a command and return a future for its result without waiting."""
        future: Future[Any] = Future()
        with self._arrived:
            if len(self._waiting) >= MAX_COMMANDS:
                future.set_exception(SkerryError(f"{MAX_COMMANDS} commands are waiting; command refused, send fewer"))
                return future
            self._waiting.append((command, future))
            self._arrived.notify()
        return future

    def wake(self) -> None:
        """End a call of `wait`, from any thread."""
        with self._arrived:
            self._woken = True
            self._arrived.notify()

    def wait(self, seconds: float) -> None:
        """Wait for a command or for `wake`, at most `seconds`."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._waiting or self._woken, seconds)
            self._woken = False

    def execute(self, run: Runner) -> None:
        """Execute the commands that wait now, not those that arrive meanwhile; a failed command stops nothing."""
        for _ in range(len(self._waiting)):
            command, future = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                for interface in run.interfaces.values():
                    interface.on_command(run.world.tick, command)
                try:
                    result = command.apply(run)
                except SkerryError as error:
                    future.set_exception(error)
                else:
                    run.notify_changes()  # before the result, so that a client finds the topics of a new robot
                    future.set_result(result)

    def cancel(self) -> None:
        """Cancel all waiting commands, because the run has ended."""
        while self._waiting:
            _, future = self._waiting.popleft()
            future.cancel()


class Runner:
    """Runs a world against the wall clock.

    `stop` and `inbox.put` may be called from any thread. Call everything else from the thread that runs, or from
    commands. Close a runner that has interfaces, or use it in a `with` block.

    Args:
        world: The world.
        speed: Simulated seconds per second of wall time; None for as fast as possible.
        interfaces: Interfaces by name.
        make_world: Builds another world when a command requests it; see `load`.

    Attributes:
        successor: World that is to run after this one; None unless `load` was called. The caller closes it.
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
        self._make_world = make_world
        self.interfaces = dict(interfaces or {})
        self.inbox = CommandQueue()
        self.paused = False
        self._speed = speed
        self._steps = 0  # steps to make while the run is paused
        self._stopped = False
        self._started = False
        self._running = RLock()  # held during `run` and `close`
        self._old_switch_interval: float | None = None  # s, restored by `close`
        self._initial_snapshot = world.snapshot()
        self._slice = TIME_SLICE  # simulated time per loop, s, at full speed; adapted to take TIME_SLICE of wall time
        self._anchor = (0.0, 0.0)  # wall time and simulated time at which the pacing started
        self._new_readings: dict[tuple[str, str], tuple[list[int], list[Readings[Any]]]] = {}  # by (robot, sensor)
        self._subscriptions: list[frozenset[tuple[str, str]]] = []
        self._delivering: frozenset[tuple[str, str]] = frozenset()
        self._changes = world.changes

    # -------------------------------------------------------------------------------------------- control

    @property
    def speed(self) -> float | None:
        """Simulated seconds per second of wall time; None for as fast as possible."""
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        if speed is not None and not (isfinite(speed) and speed > 0):
            raise SkerryError(f"the speed must be a number above 0, not {speed}; 1 is real time")
        self._speed = speed
        self._set_anchor()

    def stop(self) -> None:
        """End the run within a time slice; may be called from any thread."""
        self._stopped = True
        self.inbox.wake()

    def pause(self) -> None:
        """Pause the run; commands are still executed."""
        self.paused = True

    def resume(self) -> None:
        """Resume after a pause."""
        self.paused = False
        self._steps = 0
        self._set_anchor()

    def step(self, steps: int = 1) -> None:
        """Make this number of steps, then pause."""
        if steps < 1:
            raise SkerryError(f"cannot make {steps} steps; give 1 or more")
        self.paused = True
        self._steps += steps

    def reset(self) -> None:
        """Restore the state that the world had when the runner was created."""
        self.restore(self._initial_snapshot)

    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot and restart the pacing from there."""
        self.world.restore(snapshot)
        self._take_readings()  # discard readings of the abandoned time
        self._set_anchor()

    def skip(self, steps: int) -> None:
        """Make steps as fast as possible; interfaces get no readings of them."""
        self._clear_subscriptions()
        self.world.advance_steps(steps)
        self._set_anchor()

    def load(self, scenario: str | None = None, seed: int | None = None) -> None:
        """Build another world as `successor` and end the run. If it cannot be built, this run continues.

        Args:
            scenario: Name or path of a scenario; None for the present scenario.
            seed: Seed; None for the seed of the scenario.
        """
        if self._make_world is None:
            raise SkerryError("this run cannot load another world; start it with `skerry run`")
        world = self._make_world(self.world.scenario if scenario is None else scenario, seed)
        if self.successor is not None:
            self.successor.close()
        self.successor = world
        self.stop()

    def add_interface(self, name: str, interface: Interface) -> None:
        """Start another interface during the run."""
        if name in self.interfaces:
            raise SkerryError(f"there is already an interface {name!r}; remove it first")
        interface.check(self.world)
        interface.start(self.world, self.inbox)
        self.interfaces = {**self.interfaces, name: interface}
        interface.on_all_started(self.interfaces)

    def remove_interface(self, name: str) -> None:
        """Close an interface and continue without it."""
        if name not in self.interfaces:
            raise SkerryError(f"there is no interface {name!r}; {did_you_mean(name, self.interfaces)}")
        rest = dict(self.interfaces)
        rest.pop(name).close()
        self.interfaces = rest

    # -------------------------------------------------------------------------------------------- the loop

    def run(self, duration: float | None, watch: Callable[[float], None] = lambda factor: None) -> None:
        """Run the loop until the duration has passed or `stop` is called.

        Args:
            duration: Simulated time, s; None for no limit.
            watch: Called about every `TIME_SLICE` with the real-time factor.
        """
        with self._running:
            self._run(duration, watch)

    def _run(self, duration: float | None, watch: Callable[[float], None]) -> None:
        self._start()
        step = float(self.world.scenario.step)
        end = None if duration is None else self.world.tick + round(duration / step)
        self._set_anchor()
        reported, reported_time = time.perf_counter(), self.world.time
        while not self._stopped and (end is None or self.world.tick < end):
            self.inbox.execute(self)
            if self.paused and not self._steps:
                self._idle()
                self.inbox.wait(TIME_SLICE)
                reported, reported_time = time.perf_counter(), self.world.time
                continue
            before, simulated = time.perf_counter(), self.world.time
            seconds = self._slice if self._speed is None else TIME_SLICE * self._speed
            try:
                self._advance(self._next_stop(seconds, end))
            except PhysicsDiverged as error:
                if end is not None or not self.interfaces:
                    raise
                self._pause_after_error(error)
                continue
            if self._speed is None:
                spent = (time.perf_counter() - before) * seconds / max(self.world.time - simulated, step)
                self._slice = max(seconds * min(2.0, TIME_SLICE / max(spent, 1e-6)), step)
            else:
                self._wait_for_clock(0.0 if self.world.tick == end else LEAD)
            if (now := time.perf_counter()) - reported >= TIME_SLICE:
                watch(max(self.world.time - reported_time, 0.0) / (now - reported))
                reported, reported_time = now, self.world.time

    def _next_stop(self, seconds: float, end: int | None) -> int:
        """Return the next tick at which the loop must run, at most `seconds` of simulated time ahead."""
        tick, step = self.world.tick, float(self.world.scenario.step)
        stops = [tick + max(round(seconds / step), 1)]
        if end is not None:
            stops.append(end)
        if self.paused:
            stops.append(tick + self._steps)
        # One step more than the permitted lead, so that the loop waits for the clock after each stop.
        late = 1 if self._speed is None else 1 + ceil(LEAD * self._speed / step)
        for interface in self.interfaces.values():
            if (due := interface.next_due(tick)) is not None:
                stops.append(max(due, tick + 1))
            if (publish_tick := interface.next_publish_tick(tick)) is not None:
                stops.append(max(publish_tick, tick + late))
        return min(stops)

    def _advance(self, stop: int) -> None:
        self._update_subscriptions()
        steps = stop - self.world.tick
        observers = [observer for interface in self.interfaces.values() for observer in interface.observers]
        self.world.advance_steps(steps, observers)
        self._steps = max(self._steps - steps, 0)
        self._publish()

    def _pause_after_error(self, error: PhysicsDiverged) -> None:
        """Pause after the physics diverged, so that a client can reset, restore a snapshot or load another world."""
        logger.error("%s; paused: reset the world, restore a snapshot or load another scenario", error)
        self.paused = True
        self._steps = 0
        self._take_readings()  # discard readings of the abandoned time

    def _publish(self) -> None:
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].poll()
        readings = self._take_readings()
        for interface in self.interfaces.values():
            interface.publish(readings)

    def _publish_pending(self) -> None:
        """Wait for readings that worker threads are measuring, such as the last pictures, and publish them."""
        self.notify_changes()
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].finish()
        if self._new_readings:
            self._publish()

    def _idle(self) -> None:
        """Serve the interfaces while the run is paused: readings for new subscriptions, and the changed world."""
        self._update_subscriptions()
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].measure_latest()
            self.world.robots[robot].sensors[sensor].poll()
        readings = self._take_readings()
        for interface in self.interfaces.values():
            interface.on_idle(readings)

    def notify_changes(self) -> None:
        """Notify the interfaces if robots or objects were added or removed."""
        if self.world.changes is not self._changes:
            self._changes = self.world.changes
            self._delivering &= {  # others were removed; a new sensor may have the name of a removed one
                (name, part)
                for name, robot in self.world.robots.items()
                for part, sensor in robot.sensors.items()
                if sensor.deliver is not None
            }
            self._subscriptions = []
            for interface in self.interfaces.values():
                interface.world_changed()

    def _update_subscriptions(self) -> None:
        self.notify_changes()
        subscriptions = [interface.subscriptions for interface in self.interfaces.values()]
        if all(map(_is, subscriptions, self._subscriptions)) and len(subscriptions) == len(self._subscriptions):
            return
        self._subscriptions = subscriptions
        subscribed = frozenset(
            (robot, sensor)
            for robot, sensor in frozenset[tuple[str, str]]().union(*subscriptions)
            if robot in self.world.robots and sensor in self.world.robots[robot].sensors  # it may have been removed
        )
        for robot, sensor in subscribed ^ self._delivering:
            part = self.world.robots[robot].sensors[sensor]
            part.deliver = partial(self._collect, robot, sensor) if (robot, sensor) in subscribed else None
        self._delivering = subscribed

    def _clear_subscriptions(self) -> None:
        self.notify_changes()
        for robot, sensor in self._delivering:
            self.world.robots[robot].sensors[sensor].deliver = None
        self._delivering, self._subscriptions = frozenset(), []

    def _collect(self, robot: str, sensor: str, ticks: list[int], readings: Readings[Any]) -> None:
        known, parts = self._new_readings.setdefault((robot, sensor), ([], []))
        known += ticks
        parts.append(readings)

    def _take_readings(self) -> ReadingBatches:
        """Return the readings since the last call, and start a new collection."""
        collected, self._new_readings = self._new_readings, {}
        return ReadingBatches(
            [
                ReadingBatch(robot, sensor, ticks, Readings.concat(parts))
                for (robot, sensor), (ticks, parts) in collected.items()
            ]
        )

    def _set_anchor(self) -> None:
        self._anchor = (time.perf_counter(), self.world.time)

    def _wait_for_clock(self, lead: float) -> None:
        """Wait for the wall clock if the world is ahead by more than `lead`, s; execute commands meanwhile."""
        while not self._stopped and not self.paused:
            wall, simulated = self._anchor
            due = wall + (self.world.time - simulated) / (self._speed or inf)
            late = time.perf_counter() - due
            if late >= -lead:
                if late > MAX_LAG:
                    self._set_anchor()
                return
            lead = 0.0
            self.inbox.wait(min(-late, TIME_SLICE))
            self.inbox.execute(self)

    # -------------------------------------------------------------------------------------------- start and close

    def _start(self) -> None:
        if not self._started:
            self._started = True
            if self.interfaces:
                self._old_switch_interval = sys.getswitchinterval()
                sys.setswitchinterval(SWITCH_INTERVAL)
                gc.freeze()  # the world stays alive; repeated scans of it would delay all interfaces
            for name, interface in self.interfaces.items():
                logger.info("interface %s: starting", name)
                interface.start(self.world, self.inbox)
            for interface in self.interfaces.values():
                interface.on_all_started(self.interfaces)
            self._publish()

    def close(self) -> None:
        """End a run in another thread, publish pending readings, and close the interfaces.

        Closing twice is harmless.
        """
        self.stop()
        with self._running:
            self._close()

    def _close(self) -> None:
        self.inbox.cancel()
        self._publish_pending()
        for interface in self.interfaces.values():
            interface.close()
        if self._old_switch_interval is not None:
            sys.setswitchinterval(self._old_switch_interval)
            gc.unfreeze()
            self._old_switch_interval = None
        self._clear_subscriptions()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is(one: object, other: object) -> bool:
    return one is other
