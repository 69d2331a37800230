"""Interface between one world and the page's server: samples the streams and puts commands into the inbox."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from skerry.interfaces.recorder.player import Player
from skerry.parts.interface import Command, Inbox, Interface, SensorReading
from skerry.runner import Runner
from skerry.ui.events import Event, EventDetector
from skerry.ui.scalars import ScalarFields
from skerry.ui.scene import water_level
from skerry.ui.session import MAX_LINES
from skerry.ui.state import StateReader, interface_states, recording_state
from skerry.ui.streams import PageStream, SensorName, StreamInput
from skerry.ui.world_streams import Frames, streams_of
from skerry.world import Snapshot, World

if TYPE_CHECKING:
    from skerry.ui.server import PageServer

MAX_RATE: Final = 30.0  # Hz of wall time at which the world is sampled
STATE_PERIOD: Final = 0.2  # s of wall time between two states
KEY_TIMEOUT: Final = 0.5  # s without a message after which the keyboard of a robot releases all keys
MAX_SNAPSHOTS: Final = 16  # snapshots that are kept by name
MIN_SPEED_WINDOW: Final = 0.05  # s of wall time over which the present real-time factor can be estimated
SPEED_WINDOW: Final = 0.5  # s of wall time over which the real-time factor is measured


@dataclass
class PageUpdate:
    """Samples, events and state that wait for the server's thread."""

    time: float
    samples: dict[str, tuple[float, Any]] = field(default_factory=dict)  # simulated time and latest sample, by stream
    rows: dict[str, deque[Any]] = field(default_factory=dict)  # rows of the streams that keep every row
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=200))
    state: dict[str, Any] | None = None


class Page(Interface):
    """Shows one world on the page's server. The server may show several worlds, one after another.

    The methods of `Interface` run in the simulator's thread. `set_subscriptions`, `take_update` and `key_timeout` are
    used in the server's thread.
    """

    def __init__(self, server: PageServer) -> None:
        self._server = server
        self._runner: Runner | None = None
        self._player: Player | None = None
        self._lock = Lock()
        self._update: PageUpdate | None = None
        self._rates: Mapping[str, float] = {}  # highest rate that any client wants, Hz, by stream
        self._has_clients = False
        self._requested_sensors: frozenset[SensorName] = (
            frozenset()
        )  # sensors that the subscribed streams and the state need
        self._due: dict[str, float] = {}
        self._new_readings: dict[str, deque[SensorReading]] = {}
        self._latest: dict[SensorName, Any] = {}
        self._next_state = 0.0
        self._last_sample = 0.0
        self._speed = (
            0.0,
            0.0,
            0.0,
        )  # wall time and simulated time of the last measurement, s, and the real-time factor
        self.snapshots: dict[str, Snapshot] = {}
        self.is_closed = False

    def attach_runner(self, runner: Runner) -> None:
        """Set the runner of the world, from which the page reads the speed and the other interfaces."""
        self._runner = runner
        self._player = next((each for each in runner.interfaces.values() if isinstance(each, Player)), None)

    @property
    def is_replay(self) -> bool:
        """Whether the world is a replay of a recording."""
        return self._player is not None

    # -------------------------------------------------------------------------------------------- Interface

    def start(self, world: World, inbox: Inbox) -> None:
        self.world, self.inbox = world, inbox
        self.fields = {name: ScalarFields(world, robot) for name, robot in world.robots.items()}
        self.frames = Frames(world)
        self.streams: dict[str, PageStream] = {
            stream.name: stream for stream in streams_of(world, self.fields, self.frames)
        }
        self.numbers = {name: number for number, name in enumerate(self.streams)}
        self._sensor_streams: dict[SensorName, list[PageStream]] = {}
        for stream in self.streams.values():
            for sensor in stream.sensors:
                self._sensor_streams.setdefault(sensor, []).append(stream)
        self._state_reader = StateReader(world)
        self._events = EventDetector(world)
        scenario = world.scenario
        self._events.add("scenario", f"{scenario.name or 'a world'} with seed {scenario.seed}")
        self._speed = (time.perf_counter(), world.time, 1.0)
        self._warm_up()
        self._server.show(self)

    def _warm_up(self) -> None:
        """Sample everything once, so that kernels are compiled before the world runs."""
        self._state()
        for stream in self.streams.values():
            if not stream.sensors:
                stream.sample(StreamInput((), {}))
        parts = [part for robot in self.world.robots.values() for part in robot.sensors.values()]
        for part in parts[:1]:
            part.view.sample.copy().release()
        for part in parts:
            if not part.has_slow_start:
                part.warm_up()
        self.world.warm_up_acoustics()

    def next_due(self, tick: int) -> int | None:
        speed = None if self._runner is None else self._runner.speed
        if not self._has_clients or speed is None:
            return None
        return tick + max(round(speed / MAX_RATE / float(self.world.scenario.step)), 1)

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self.on_idle(readings)

    def on_idle(self, readings: Sequence[SensorReading]) -> None:
        self._update_subscriptions()
        for new in readings:
            if new.reading is not None:
                self._latest[new.robot, new.sensor] = new.reading
            for stream in self._sensor_streams.get((new.robot, new.sensor), ()):
                if stream.name in self._rates:
                    length = MAX_LINES if stream.needs_every_reading else 1
                    self._new_readings.setdefault(stream.name, deque(maxlen=length)).append(new)
        self._sample()

    def _update_subscriptions(self) -> None:
        """Subscribe to the requested sensors that are warm.

        A sensor that is not warm yet is warmed up in a worker thread, so that a new page does not stop the world.
        """
        asked, robots = self._requested_sensors, self.world.robots
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
        """Restart with the streams of the changed world. All keys are released."""
        self._events.close()
        with self._lock:
            self._update = None
        self._new_readings.clear()
        self._latest = {
            (robot, sensor): kept for (robot, sensor), kept in self._latest.items() if robot in self.world.robots
        }
        self.start(self.world, self.inbox)
        self.set_subscriptions(self._rates, self._has_clients)

    @property
    def status(self) -> str:
        return self._server.status

    def close(self) -> None:
        if not self.is_closed:
            self.is_closed = True
            if hasattr(self, "_events"):
                self._events.close()
            self._server.hide(self)

    # -------------------------------------------------------------------------------------------- sampling

    def _sample(self) -> None:
        now = time.perf_counter()
        if not self._has_clients or now - self._last_sample < 0.8 / MAX_RATE:
            return
        self._last_sample = now
        self._measure_speed(now)
        samples = {}
        rates = self._rates
        for name in self._new_readings.keys() - rates.keys():
            del self._new_readings[name]
        for name, hz in rates.items():
            stream = self.streams[name]
            if now >= self._due.get(name, 0.0) - 0.5 / MAX_RATE:
                found = stream.sample(StreamInput(self._new_readings.pop(name, ()), self._latest))
                if found is not None:
                    self._due[name] = max(self._due.get(name, 0.0) + 1.0 / hz, now)
                    samples[name] = found
        state = None
        if now >= self._next_state:
            self._next_state = now + STATE_PERIOD
            self._events.update(self._latest)
            state = self._state()
        self._queue_update(samples, state)

    def _queue_update(self, samples: Mapping[str, Any], state: dict[str, Any] | None) -> None:
        events = self._events.drain()
        if not samples and state is None and not events:
            return
        when = self.world.time
        with self._lock:
            is_first = self._update is None
            update = self._update = self._update or PageUpdate(when)
            update.time = when
            for name, found in samples.items():
                if self.streams[name].keeps_every_row:
                    update.rows.setdefault(name, deque(maxlen=MAX_LINES)).extend(found)
                else:
                    update.samples[name] = (when, found)
            update.events.extend(events)
            update.state = state or update.state
        if is_first:
            self._server.notify(self)

    def _measure_speed(self, now: float) -> None:
        wall, simulated, _ = self._speed
        if now - wall >= SPEED_WINDOW:
            self._speed = (now, self.world.time, max(self.world.time - simulated, 0.0) / (now - wall))

    def _state(self) -> dict[str, Any]:
        world, runner, player = self.world, self._runner, self._player
        interfaces = {} if runner is None else runner.interfaces
        paused = runner is not None and runner.paused
        return {
            "time": world.time,
            "tick": world.tick,
            "paused": paused,
            "rate": None if runner is None else runner.speed,
            "rtf": 0.0 if paused else self._speed[2],
            "mode": "live" if player is None else "replay",
            "replay": None if player is None else {"start": 0.0, "end": player.end, "t": player.now},
            "recording": recording_state(world, interfaces),
            "water_level": water_level(world),
            "scenario": world.scenario.name,
            "seed": world.scenario.seed,
            "snapshots": list(self.snapshots),
            "interfaces": interface_states(world, interfaces),
            "robots": self._state_reader.robots(self._latest),
        }

    # -------------------------------------------------------------------------------------------- server's thread

    def set_subscriptions(self, rates: Mapping[str, float], has_clients: bool) -> None:
        """Set the streams that are sampled from now on.

        Args:
            rates: Rate, Hz of wall time, by the name of the stream. Unknown names are ignored.
            has_clients: Whether any client is connected. Without one, nothing is sampled.
        """
        self._rates = {name: hz for name, hz in rates.items() if name in self.streams}
        self._has_clients = has_clients
        sensors = [self.streams[name].sensors for name in self._rates]
        self._requested_sensors = (
            frozenset().union(self._state_reader.sensors, *sensors) if has_clients else frozenset()
        )

    def take_update(self) -> PageUpdate | None:
        """Return the data that were sampled since the last call, or None."""
        with self._lock:
            update, self._update = self._update, None
        return update

    @property
    def key_timeout(self) -> float:
        """Simulated time without a message after which held keys are released, s.

        It is `KEY_TIMEOUT`, or as much time as passes in `KEY_TIMEOUT` of wall time if the run is faster than that.
        """
        requested = None if self._runner is None else self._runner.speed
        wall, simulated, measured = self._speed
        elapsed = time.perf_counter() - wall
        now = (self.world.time - simulated) / elapsed if elapsed > MIN_SPEED_WINDOW else 0.0
        return KEY_TIMEOUT * max(1.0, requested or 0.0, measured, now)
