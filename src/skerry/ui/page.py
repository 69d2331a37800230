"""The page as an interface of a world: copies what pages want to see, and hands over what they ask for."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from skerry.commands import HoldKeys
from skerry.interfaces.recorder.player import Player
from skerry.parts.interface import Command, Inbox, Interface, SensorReading
from skerry.runner import Runner
from skerry.ui.events import Event, EventWatch
from skerry.ui.scalars import ScalarFields
from skerry.ui.scene import water_level
from skerry.ui.session import MOST_LINES
from skerry.ui.state import StateReader, interface_states, recording_state
from skerry.ui.streams import ReadingBatches, SensorName, Stream
from skerry.ui.world_streams import Frames, streams_of
from skerry.world import Snapshot, World

if TYPE_CHECKING:
    from skerry.ui.server import PageServer

FASTEST: Final = 30.0  # Hz of wall time at which pages see the world
STATE_PERIOD: Final = 0.2  # s of wall time between two states
PRESS_AGAIN: Final = 0.25  # s of simulated time after which held keys are pressed again; half of the dead man's
MOST_SNAPSHOTS: Final = 16  # by name
RTF_WINDOW: Final = 0.5  # s of wall time over which the pace is measured


@dataclass
class Sight:
    """What was seen of the world and has not been shown yet."""

    time: float
    seen: dict[str, tuple[float, Any]] = field(default_factory=dict)  # by stream, with the time of each
    rows: dict[str, deque[Any]] = field(default_factory=dict)  # of streams that append
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=200))
    state: dict[str, Any] | None = None


class Page(Interface):
    """Shows one world to a server that may outlive it.

    `publish` and what it calls run in the simulator's thread; `want`, `hold`, `take` and `put` in the server's.
    """

    def __init__(self, server: PageServer) -> None:
        self._server = server
        self._runner: Runner | None = None
        self._player: Player | None = None
        self._lock = Lock()
        self._sight: Sight | None = None
        self._needs: Mapping[str, float] = {}  # streams that somebody wants, with the highest rate
        self._is_watched = False
        self._asked: frozenset[SensorName] = frozenset()  # sensors whose readings they need
        self._due: dict[str, float] = {}
        self._news: dict[str, deque[SensorReading]] = {}
        self._latest: dict[SensorName, Any] = {}
        self._next_state = 0.0
        self._last_look = 0.0
        self._pace = (0.0, 0.0, 0.0)  # wall time and simulated time of the last measurement, and the factor
        self._pressed: dict[str, int] = {}  # ticks at which held keys were last pressed
        self.held: Mapping[str, tuple[str, ...]] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self.is_closed = False

    def watch(self, runner: Runner) -> None:
        """Know who runs the world: its pace, and its other interfaces."""
        self._runner = runner
        self._player = next((each for each in runner.interfaces.values() if isinstance(each, Player)), None)

    @property
    def is_replay(self) -> bool:
        """Whether it shows a recording."""
        return self._player is not None

    # -------------------------------------------------------------------------------------------- of an interface

    def start(self, world: World, inbox: Inbox) -> None:
        self.world, self.inbox = world, inbox
        self.fields = {name: ScalarFields(world, robot) for name, robot in world.robots.items()}
        self.frames = Frames(world)
        self.streams: dict[str, Stream] = {
            stream.name: stream for stream in streams_of(world, self.fields, self.frames)
        }
        self.numbers = {name: number for number, name in enumerate(self.streams)}
        self._readers: dict[SensorName, list[Stream]] = {}
        for stream in self.streams.values():
            for sensor in stream.sensors:
                self._readers.setdefault(sensor, []).append(stream)
        self._reader = StateReader(world, self.fields)
        self._events = EventWatch(world)
        scenario = world.scenario
        self._events.add("scenario", f"{scenario.name or 'a world'} with seed {scenario.seed}")
        self._pace = (time.perf_counter(), world.time, 1.0)
        self._rehearse()
        self._server.show(self)

    def _rehearse(self) -> None:
        """Do once what an open page asks of this thread, so that kernels are compiled before the world runs."""
        self._state()
        for stream in self.streams.values():
            if not stream.sensors:
                stream.look(ReadingBatches((), {}))
        parts = [part for robot in self.world.robots.values() for part in robot.sensors.values()]
        for part in parts[:1]:
            part.truth.instant.hold().release()
        for part in parts:
            if not part.takes_long_at_first:
                part.warm_up()
        self.world.warm_up_acoustics()

    def next_due(self, tick: int) -> int | None:
        step = float(self.world.scenario.step)
        due = []
        speed = None if self._runner is None else self._runner.speed
        if self._is_watched and speed is not None:
            due.append(tick + max(round(speed / FASTEST / step), 1))
        if self.held:
            due.append(tick + max(int(PRESS_AGAIN / step), 1))
        return min(due, default=None)

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self._press_again()
        self.on_idle(readings)

    def on_idle(self, readings: Sequence[SensorReading]) -> None:
        self._admit()
        for new in readings:
            if new.reading is not None:
                self._latest[new.robot, new.sensor] = new.reading
            for stream in self._readers.get((new.robot, new.sensor), ()):
                if stream.name in self._needs:
                    most = MOST_LINES if stream.gathers else 1
                    self._news.setdefault(stream.name, deque(maxlen=most)).append(new)
        self._look()

    def _admit(self) -> None:
        """Want what is asked for, each sensor once it is rehearsed: whoever opens a page must not hold up the world."""
        asked, robots = self._asked, self.world.robots
        if asked == self.subscriptions:
            return
        ready = frozenset(
            (robot, sensor)
            for robot, sensor in asked
            if (robot, sensor) in self.subscriptions
            or (robot in robots and sensor in robots[robot].sensors and robots[robot].sensors[sensor].is_warm())
        )
        if ready != self.subscriptions:
            self.subscriptions = ready

    def on_command(self, tick: int, command: Command) -> None:
        self._next_state = 0.0

    def world_changed(self) -> None:
        """Show it as another world, with streams of its own; nobody drives until keys are pressed anew."""
        self._events.close()
        with self._lock:
            self._sight = None
        self._news.clear()
        self._latest = {
            (robot, sensor): kept for (robot, sensor), kept in self._latest.items() if robot in self.world.robots
        }
        self.held = {}
        self.start(self.world, self.inbox)
        self.want(self._needs, self._is_watched)

    @property
    def status(self) -> str:
        return self._server.status

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            if hasattr(self, "_events"):
                self._events.close()
            self._server.hide(self)

    # -------------------------------------------------------------------------------------------- looking

    def _look(self) -> None:
        now = time.perf_counter()
        if not self._is_watched or now - self._last_look < 0.8 / FASTEST:
            return
        self._last_look = now
        self._measure_pace(now)
        seen = {}
        needs = self._needs
        for name in self._news.keys() - needs.keys():
            del self._news[name]
        for name, hz in needs.items():
            stream = self.streams[name]
            if now >= self._due.get(name, 0.0) - 0.5 / FASTEST:
                found = stream.look(ReadingBatches(self._news.pop(name, ()), self._latest))
                if found is not None:
                    self._due[name] = max(self._due.get(name, 0.0) + 1.0 / hz, now)
                    seen[name] = found
        state = None
        if now >= self._next_state:
            self._next_state = now + STATE_PERIOD
            self._events.look(self._latest)
            state = self._state()
        self._hand_over(seen, state)

    def _hand_over(self, seen: Mapping[str, Any], state: dict[str, Any] | None) -> None:
        events = self._events.take()
        if not seen and state is None and not events:
            return
        when = self.world.time
        with self._lock:
            is_first = self._sight is None
            sight = self._sight = self._sight or Sight(when)
            sight.time = when
            for name, found in seen.items():
                if self.streams[name].appends:
                    sight.rows.setdefault(name, deque(maxlen=MOST_LINES)).extend(found)
                else:
                    sight.seen[name] = (when, found)
            sight.events.extend(events)
            sight.state = state or sight.state
        if is_first:
            self._server.notice(self)

    def _measure_pace(self, now: float) -> None:
        wall, simulated, _ = self._pace
        if now - wall >= RTF_WINDOW:
            self._pace = (now, self.world.time, max(self.world.time - simulated, 0.0) / (now - wall))

    def _state(self) -> dict[str, Any]:
        world, runner, player = self.world, self._runner, self._player
        interfaces = {} if runner is None else runner.interfaces
        paused = runner is not None and runner.paused
        return {
            "time": world.time,
            "tick": world.tick,
            "paused": paused,
            "rate": None if runner is None else runner.speed,
            "rtf": 0.0 if paused else self._pace[2],
            "mode": "live" if player is None else "replay",
            "replay": None if player is None else {"start": 0.0, "end": player.end, "t": player.now},
            "recording": recording_state(world, interfaces),
            "water_level": water_level(world),
            "scenario": world.scenario.name,
            "seed": world.scenario.seed,
            "snapshots": list(self.snapshots),
            "interfaces": interface_states(world, interfaces),
            "robots": self._reader.robots(self._latest),
        }

    def _press_again(self) -> None:
        tick = self.world.tick
        wait = max(int(PRESS_AGAIN / float(self.world.scenario.step)), 1)
        for robot, keys in self.held.items():
            if abs(tick - self._pressed.get(robot, -wait)) >= wait:
                self._pressed[robot] = tick
                self.inbox.put(HoldKeys(robot, keys))

    # -------------------------------------------------------------------------------------------- of the server

    def want(self, needs: Mapping[str, float], is_watched: bool) -> None:
        """Take what the pages want from now on."""
        self._needs = {name: hz for name, hz in needs.items() if name in self.streams}
        self._is_watched = is_watched
        sensors = [self.streams[name].sensors for name in self._needs]
        self._asked = frozenset().union(self._reader.sensors, *sensors) if is_watched else frozenset()

    def take(self) -> Sight | None:
        """What was seen since."""
        with self._lock:
            sight, self._sight = self._sight, None
        return sight

    def hold(self, robot: str, keys: tuple[str, ...]) -> Future[Any]:
        """Hold keys down, or let go."""
        held = {name: each for name, each in self.held.items() if name != robot}
        self.held = held | {robot: keys} if keys else held
        return self.inbox.put(HoldKeys(robot, keys))
