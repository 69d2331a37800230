"""Acoustic channel of a world: it holds all sound in flight and delivers it to the parts that receive it."""

from __future__ import annotations

import heapq
import json
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.acoustics.channel import arrivals, paths
from skerry.acoustics.channel.bottom_echoes import R_DIRECTION, R_LENGTH, R_POINT
from skerry.acoustics.channel.link_budget import roughness_loss, transmission_loss
from skerry.acoustics.channel.obstacles import Obstacles
from skerry.acoustics.channel.settings import NOMINAL_SOUND_SPEED
from skerry.acoustics.channel.transducers import HISTORY_SIZE, ReceptionInterval, Transducer
from skerry.acoustics.channel.travel_time import speed_table
from skerry.core.clock import Clock
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.core.frames import Pose, inverse, multiply, rotate
from skerry.parts.acoustics import NEVER, AcousticPart, Arrival, ArrivalBatch, Signal
from skerry.parts.component import Component
from skerry.rays import RayScene
from skerry.water import Water

MAX_INTERVAL: Final = 0.1
"""Longest time between two predictions of the arrivals while sound is in flight, s."""
MAX_STORED: Final = 100_000  # stored arrivals after which they are delivered to their parts
MIN_DISTANCE: Final = 1e-9  # m; sound from a nearer origin has no direction

Item = tuple[float, int, int, Arrival]
"""Arrival at a part, for sorting: end time (s), running number, index of the transducer, arrival."""


class StepState(Protocol):
    """State of the world after a step: tick, time, motions and userdata.

    `motions` (2, bodies, 13) are the motions of all bodies after the step and before it.
    """

    @property
    def tick(self) -> int: ...
    @property
    def time(self) -> float: ...
    @property
    def motions(self) -> NDArray[np.float64]: ...
    @property
    def userdata(self) -> NDArray[np.float64]: ...


@dataclass(frozen=True)
class SignalPath:
    """Path that was examined for a sound, with its status; or a ray that searched for the ground."""

    source: str
    receiver: str  # empty for a ray
    path: str  # direct, surface, bottom, or ray
    status: str  # clear, or the reason why no sound takes the path; of a ray, reflected or lost
    length: float  # m
    points: tuple[tuple[float, float, float], ...]  # source, bounce point (only of echoes that have one), receiver


class AcousticChannel(Component):
    """Channel between all acoustic parts of a world.

    Parts may be added at any time. Transmissions start at ticks; replies start at exact times between ticks. Arrival
    times are not rounded to ticks. A world without acoustic parts, or without ground, is allowed.
    """

    def __init__(self, water: Water, clock: Clock, scene: Callable[[], RayScene]) -> None:
        self._water = water
        self._clock = clock
        self._step = float(clock.step)
        self._scene = scene
        self._transducers: list[Transducer] = []
        self._names: dict[str, int] = {}  # index of each transducer, by name
        self._robots: dict[str, int] = {}
        self._bodies: NDArray[np.int64] = np.zeros(0, np.int64)
        self._offsets: NDArray[np.float64] = np.zeros((0, 3))
        self._table: NDArray[np.float64] = np.zeros(0)
        self._no_table = np.zeros(0)
        self._due: NDArray[np.float64] = np.zeros(256)
        self._in_flight: NDArray[np.float64] = np.zeros((256, arrivals.IN_FLIGHT_COLUMNS))
        self._count = 0
        self._arrived = np.zeros((256, arrivals.ARRIVAL_COLUMNS))
        self._arrived_stored = np.zeros((256, arrivals.STORED_COLUMNS))
        self._stored: list[NDArray[np.float64]] = []  # arrivals that were not yet delivered to their parts
        self._paths_found = np.zeros((256, paths.PATH_COLUMNS))
        self._signals: dict[int, Signal] = {}
        self._number = 0
        self._pending: list[Item] = []  # heap of arrivals that have begun and not ended
        self._order = 0
        self._absorptions: dict[tuple[float, int], float] = {}
        self.on_signal: Callable[[Signal], None] | None = None
        """Callback for each transmitted signal; it runs after the paths of the signal were found."""

    def join(self, part: AcousticPart, robot: str, body: int, pose: Pose) -> None:
        """Add a part that is fixed to a body of the engine.

        Args:
            part: The part.
            robot: Name of the robot that carries it.
            body: Number of the body.
            pose: Pose of the part on the body.
        """
        number = self._robots.setdefault(robot, len(self._robots))
        self._transducers.append(Transducer(part, number, pose, self._water))
        self._names[part.name] = len(self._names)
        self._bodies = np.append(self._bodies, body)
        self._offsets = np.concatenate([self._offsets, [pose.position]])
        self._now, self._before = np.zeros((2, len(self._transducers), 6))
        self._owners = np.array([transducer.robot for transducer in self._transducers], np.int64)
        self._cannot_receive = np.array([transducer.receiver is None for transducer in self._transducers])
        self._receiver_count = len(self._transducers) - int(self._cannot_receive.sum())
        self._in_air = np.array([transducer.in_air for transducer in self._transducers])
        self._simple = np.array([transducer.is_simple for transducer in self._transducers])
        self.__dict__.pop("_obstacles", None)  # their owner numbers have changed
        if part.transmitter is not None and self._transducers[-1].layered and not len(self._table):
            self._table = speed_table(self._water.column)

    def bind_parts(self) -> None:
        """Connect all parts to this channel and its clock; parts of a former world leave the former channel."""
        for transducer in self._transducers:
            transducer.part.bind(self._clock, self.deliver_batches, self.check_receiver)

    def check_receiver(self, name: str) -> None:
        """Check that a part can be addressed.

        Raises:
            UnknownName: If there is no such part.
            SkerryError: If the part cannot receive.
        """
        if name not in self._names:
            raise UnknownName(f"there is no acoustic part {name!r}; {did_you_mean(name, self._names)}")
        if self._transducers[self._names[name]].receiver is None:
            raise SkerryError(f"{name} only transmits; it receives nothing")

    # -------------------------------------------------------------------------------------------- timing

    @property
    def is_silent(self) -> bool:
        """Whether no sound is in flight or being received."""
        return not self._count and not self._pending

    def next_stop_ticks(self, tick: int) -> Iterator[int]:
        """Yield the ticks after `tick` at which the world must stop.

        The world stops for a transmission, for an arrival that needs a reply, and to predict the arrivals again.
        """
        if not self._transducers:
            return
        if (due := min(transducer.part.next_send for transducer in self._transducers)) < NEVER:
            yield max(due, tick + 1)
        if not self.is_silent:
            yield tick + max(int(MAX_INTERVAL / self._step), 1)
        if any(signal.purpose == "request" for signal in self._signals.values()):
            asked = arrivals.next_reply_tick(self._due, self._in_flight, self._count)
            if asked < np.inf:
                yield max(int(asked), tick + 1)
        for end, _, _, arrival in self._pending:
            if arrival.signal.purpose == "request":
                yield max(int(np.ceil(end / self._step)), tick + 1)

    def arrival_ticks(self, tick: int, stop: int) -> list[int]:
        """Return the ticks between `tick` and `stop` at which sound may arrive."""
        if not self._count:
            return []
        marks = np.zeros(stop - tick - 1, np.uint8)
        arrivals.mark_due(self._due, self._count, tick, marks)
        return (np.flatnonzero(marks) + tick + 1).tolist()

    # -------------------------------------------------------------------------------------------- transmission

    def send(self, state: StepState) -> None:
        """Transmit the signals of all parts whose `next_send` tick is due."""
        tick, sea = state.tick, None
        for number, transducer in enumerate(self._transducers):
            if transducer.part.next_send > tick:
                continue
            for signal in transducer.part.send(tick):
                if self._receiver_count != (transducer.receiver is not None):  # at least one other part can receive it
                    if sea is None:
                        sea = self._sea(state)
                        self._update_motions(state)
                        self._obstacles.move(state.motions[0])
                    self._transmit(number, signal, state.time, sea)
                if self.on_signal is not None:
                    self.on_signal(signal)

    def _update_motions(self, state: StepState) -> None:
        """Compute the positions and velocities of all parts at both ends of the step."""
        arrivals.part_motions(state.motions[0], self._bodies, self._offsets, self._now)
        arrivals.part_motions(state.motions[1], self._bodies, self._offsets, self._before)

    @cached_property
    def _obstacles(self) -> Obstacles:
        transmitters = [each.transmitter for each in self._transducers if each.part.transmitter is not None]
        radius = max((each.min_channel_radius for each in transmitters), default=0.0)
        return Obstacles.of(self._scene(), self._robots, radius)

    def _transmit(self, number: int, signal: Signal, time: float, sea: NDArray[np.int64]) -> None:
        """Find the paths of a signal and add it to the sound in flight."""
        transducer, source = self._transducers[number], np.empty(6)
        arrivals.motion_at(self._before[number], self._now[number], self._step, signal.time - time, source)
        skips = self._cannot_receive.copy()
        skips[number] = True
        most = len(self._transducers) * (3 + len(transducer.rays))
        if len(self._paths_found) < most:
            self._paths_found = np.zeros((most, paths.PATH_COLUMNS))
        count = paths.find_paths(
            self._obstacles.native,
            transducer.settings,
            transducer.rays,
            source,
            transducer.robot,
            self._now,
            self._owners,
            skips,
            sea,
            signal.time,
            self._table if transducer.layered else self._no_table,
            transducer.reflections,
            self._paths_found,
        )
        transducer.found = self._paths_found[:count].copy()
        if signal.duration > 0.0:
            transducer.sent.append((signal.time, signal.time + signal.duration))
            self._simple[number] = False
        self._add_in_flight(transducer, signal, time)

    def _add_in_flight(self, transducer: Transducer, signal: Signal, time: float) -> None:
        """Add a signal to the sound in flight, on the clear paths among `transducer.found`."""
        first = self._count
        while first + len(transducer.found) > len(self._in_flight):
            self._in_flight = np.concatenate([self._in_flight, np.zeros_like(self._in_flight)])
            self._due = np.concatenate([self._due, np.zeros_like(self._due)])
        to = -1 if signal.to is None else self._names.get(signal.to, -2)
        is_only_stored = signal.duration == 0.0 and transducer.transmitter.source_level_db is None
        self._count = arrivals.add_in_flight(
            *(transducer.found, self._number, signal.time, to if signal.purpose == "request" else -1),
            *(to if is_only_stored and signal.purpose in {"packet", "ping"} else -2, self._in_flight, first),
        )
        arrivals.predict_due(self._due, self._in_flight, first, self._count, time, self._step, self._now)
        self._signals[self._number] = signal._replace(number=self._number)
        self._number += 1

    def _sea(self, state: StepState) -> NDArray[np.int64]:
        userdata = state.userdata if state.userdata.size else self._EMPTY_USERDATA
        return np.array([self._water.address, self._water.table_address, userdata.ctypes.data], np.int64)

    _EMPTY_USERDATA = np.zeros(1)

    def warm_up(self, state: StepState) -> None:
        """Compile all kernels of the channel, so that the first sound of a run does not wait for the compiler.

        A signal is transmitted and collected, and the state is restored after it. No part receives anything.
        """
        number = next(
            (n for n, transducer in enumerate(self._transducers) if transducer.part.transmitter is not None), None
        )
        if number is None or self._receiver_count == (self._transducers[number].receiver is not None):
            return
        kept, sea = self.state(), self._sea(state)
        self._update_motions(state)
        self._obstacles.move(state.motions[0])
        name = self._transducers[number].part.name
        self._transmit(number, Signal(name, "ping", b"", False, None, state.time, state.time), state.time, sea)
        arrivals.mark_due(self._due, self._count, state.tick, np.zeros(1, np.uint8))
        arrivals.next_reply_tick(self._due, self._in_flight, self._count)
        came, stored = (
            np.zeros((self._count, arrivals.ARRIVAL_COLUMNS)),
            np.zeros((self._count, arrivals.STORED_COLUMNS)),
        )
        arrivals.collect_arrivals(
            *(self._due, self._in_flight, self._count, state.tick, state.time, self._step, self._before, self._now),
            *(self._in_air, self._simple, sea, came, stored),
        )
        arrivals.sort_stored(stored[:0], np.zeros(len(self._transducers) + 1, np.int64), stored[:0].copy())
        row = [0.0] * arrivals.ARRIVAL_COLUMNS
        row[arrivals.A_SENT], row[arrivals.A_SPEED] = state.time, NOMINAL_SOUND_SPEED
        for receiver, transducer in enumerate(self._transducers):
            if transducer.part.hydrophones:
                self._times(receiver, row, state)
        self.set_state(kept)

    # -------------------------------------------------------------------------------------------- reception

    def receive(self, state: StepState, is_present: bool) -> None:
        """Deliver the sound that has arrived to the parts.

        Args:
            state: State of the world after a step.
            is_present: Whether the world has stopped at this step. Then the remaining arrivals are predicted again.
        """
        if self.is_silent:
            return
        time, ready = state.time, self._pop_finished(state.time)
        if self._count:
            self._update_motions(state)
            if len(self._arrived) < self._count:
                self._arrived = np.zeros((len(self._in_flight), arrivals.ARRIVAL_COLUMNS))
                self._arrived_stored = np.zeros((len(self._in_flight), arrivals.STORED_COLUMNS))
            self._count, found, stored = arrivals.collect_arrivals(
                *(self._due, self._in_flight, self._count, state.tick, time, self._step, self._before, self._now),
                *(self._in_air, self._simple, self._sea(state), self._arrived, self._arrived_stored),
            )
            if is_present:
                arrivals.predict_due(self._due, self._in_flight, 0, self._count, time, self._step, self._now)
            if stored:
                self._stored.append(self._arrived_stored[:stored].copy())
            if found:
                ready += self._process_arrivals(self._arrived[:found].tolist(), state)
        if ready:
            self.deliver_batches()
            for _, _, receiver, arrival in sorted(ready):
                self._transducers[receiver].deliver(arrival)
        if is_present:
            self._drop_old_signals()

    def deliver_batches(self) -> None:
        """Deliver the stored arrivals to their parts, in order of arrival."""
        if not self._stored:
            return
        rows = np.concatenate(self._stored)
        self._stored.clear()
        ordered, starts = np.empty_like(rows), np.zeros(len(self._transducers) + 1, np.int64)
        arrivals.sort_stored(rows, starts, ordered)
        signals = self._signals.copy()
        for transducer, (first, end) in zip(self._transducers, pairwise(starts.tolist()), strict=True):
            if end > first:
                transducer.part.receive_batch(ArrivalBatch(ordered[first:end], signals, paths.PATHS))

    def _process_arrivals(self, rows: list[list[float]], state: StepState) -> list[Item]:
        """Return the arrivals that have ended; keep those that are still being received in `_pending`."""
        ready = []
        time = state.time
        for row in rows:
            number, receiver, path = int(row[0]), int(row[1]), int(row[2])
            transducer, signal = self._transducers[receiver], self._signals[number]
            part = transducer.part
            level = self._level(signal, row)
            direction = self._direction(receiver, row, state) if part.measures_direction else None
            times = self._times(receiver, row, state) if part.hydrophones else ()
            start = row[arrivals.A_TIME]
            arrival = Arrival(signal, paths.PATHS[path], start, row[arrivals.A_DOPPLER], level, None, direction, times)
            self._order += 1
            end = start
            if signal.duration > 0.0:
                end = start + signal.duration / (1.0 + row[arrivals.A_DOPPLER])
                transducer.recent.append(ReceptionInterval(start, end, number, level))
                self._simple[receiver] = False
            item = (end, self._order, receiver, arrival)
            if end <= time:
                ready.append(item)
            else:
                heapq.heappush(self._pending, item)
        return ready

    def _pop_finished(self, time: float) -> list[Item]:
        """Remove and return the pending arrivals that ended at or before `time`."""
        ready = []
        while self._pending and self._pending[0][0] <= time:
            ready.append(heapq.heappop(self._pending))
        return ready

    def _level(self, signal: Signal, row: list[float]) -> float | None:
        """Return the received level, dB re 1 µPa; None if the source level is not given."""
        source = self._transducers[self._names[signal.source]]
        transmitter = source.transmitter
        if transmitter.source_level_db is None:
            return None
        absorption = self._absorption(transmitter.frequency_khz, round(max(row[arrivals.A_DEPTH], 0.0)))
        loss = transmission_loss(row[arrivals.A_LENGTH], transmitter.spreading_db, absorption)
        if row[arrivals.A_PATH] != paths.DIRECT:
            # The additional loss is the spreading loss over a distance that is longer by 1/ratio.
            loss += transmitter.spreading_db * -np.log10(transmitter.remaining_range_ratio_after_echo)
        if row[arrivals.A_PATH] == paths.SURFACE and source.settings[paths.S_ROUGHNESS] > 0.0:
            loss += roughness_loss(
                transmitter.frequency_khz, row[arrivals.A_SPEED], source.height_rms, row[arrivals.A_GRAZING]
            )
        return float(transmitter.source_level_db - loss)

    def _absorption(self, frequency_khz: float, depth: int) -> float:
        """Return the absorption at a depth in whole metres, dB/km."""
        known = self._absorptions.get((frequency_khz, depth))
        if known is None:
            known = float(self._water.column.absorption_db_per_km(1e3 * frequency_khz, float(depth)))
            self._absorptions[frequency_khz, depth] = known
        return known

    def _direction(self, receiver: int, row: list[float], state: StepState) -> tuple[float, float, float] | None:
        """Return the unit vector towards the apparent source, in the axes of the part at the arrival time."""
        at, since = np.empty(6), row[arrivals.A_TIME] - state.time
        arrivals.motion_at(self._before[receiver], self._now[receiver], self._step, since, at)
        away = np.array(row[arrivals.A_ORIGIN : arrivals.A_ORIGIN + 3]) - at[:3]
        length = float(np.linalg.norm(away))
        if length < MIN_DISTANCE:
            return None
        motion = state.motions[0, self._bodies[receiver]]
        turned = _turned(away / length, motion[10:13] * -since)
        x, y, z = rotate(inverse(multiply(motion[3:7], self._transducers[receiver].turn)), turned).tolist()
        return x, y, z

    def _times(self, receiver: int, row: list[float], state: StepState) -> tuple[float, ...]:
        """Return the arrival time at each hydrophone of a part, s."""
        transducer = self._transducers[receiver]
        points = self._offsets[receiver] + rotate(transducer.turn, np.array(transducer.part.hydrophones))
        bodies = np.full(len(points), self._bodies[receiver])
        now, before = np.empty((2, len(points), 6))
        arrivals.part_motions(state.motions[0], bodies, points, now)
        arrivals.part_motions(state.motions[1], bodies, points, before)
        origin, at = np.array(row[arrivals.A_ORIGIN : arrivals.A_ORIGIN + 3]), np.empty(6)
        head = (origin, row[arrivals.A_EXTRA], row[arrivals.A_SPEED], state.time - row[arrivals.A_SENT])
        return tuple(
            state.time + arrivals.meeting_time(*head, b, n, self._step, at) for b, n in zip(before, now, strict=True)
        )

    def _drop_old_signals(self) -> None:
        """Forget the signals that are no longer in flight."""
        if sum(map(len, self._stored)) > MAX_STORED:
            self.deliver_batches()
        if not self._stored:
            oldest = self._number if not self._count else int(self._in_flight[: self._count, arrivals.SIGNAL].min())
            while self._signals and (first := next(iter(self._signals))) < oldest:
                del self._signals[first]

    # -------------------------------------------------------------------------------------------- paths

    def paths(self, name: str) -> list[SignalPath]:
        """Return all paths, clear or not, that were examined for the last transmission of "robot/part".

        Raises:
            UnknownName: If there is no such part.
        """
        if name not in self._names:
            raise UnknownName(f"there is no acoustic part {name!r}; {did_you_mean(name, self._names)}")
        return [self._signal_path(name, row) for row in self._transducers[self._names[name]].found.tolist()]

    def signal_lines(self) -> list[SignalPath]:
        """Return all rays and paths of the last transmissions of all parts with `draw_signal_lines`."""
        transmitters = [transducer for transducer in self._transducers if transducer.part.transmitter]
        drawn = [each for each in transmitters if each.transmitter.draw_signal_lines]
        return [line for each in drawn for line in [*self._rays(each), *self.paths(each.part.name)]]

    def _rays(self, transducer: Transducer) -> Iterator[SignalPath]:
        """Yield the rays that searched for bottom echoes in the last transmission of a part, with their reflections."""
        if not (transducer.found[:, paths.PATH] == paths.BOTTOM).any():
            return
        name, source = transducer.part.name, transducer.found[0, paths.SOURCE : paths.SOURCE + 3]
        reach = float(transducer.settings[paths.S_ECHO_RANGE])
        for direction, row in zip(transducer.rays, transducer.reflections, strict=True):
            length = float(row[R_LENGTH])
            if 0.0 < length < reach:
                turn = row[R_POINT : R_POINT + 3]
                points = [source, turn, turn + (reach - length) * row[R_DIRECTION : R_DIRECTION + 3]]
            else:
                points = [source, source + reach * direction]
            status = "reflected" if len(points) > 2 else "lost"
            yield SignalPath(name, "", "ray", status, reach, tuple((x, y, z) for x, y, z in np.array(points).tolist()))

    def _signal_path(self, name: str, row: list[float]) -> SignalPath:
        source, bounce, end = ((row[k], row[k + 1], row[k + 2]) for k in (paths.SOURCE, paths.BOUNCE, paths.END))
        points = (source, end) if np.isnan(bounce[0]) else (source, bounce, end)
        kind, status = paths.PATHS[int(row[paths.PATH])], paths.STATUSES[int(row[paths.STATUS])]
        receiver = self._transducers[int(row[paths.RECEIVER])].part.name
        return SignalPath(name, receiver, kind, status, row[paths.LENGTH], points)

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        self.deliver_batches()
        self._drop_old_signals()
        kept: dict[str, Any] = {
            "number": self._number,
            "order": self._order,
            "flights": b64encode(self._in_flight[: self._count].tobytes()).decode(),
            "signals": [signal.to_json() for signal in self._signals.values()],
            "pending": [[*item, arrival.to_json()] for *item, arrival in sorted(self._pending)],
            "coming": [list(transducer.recent) for transducer in self._transducers],
            "sent": [list(transducer.sent) for transducer in self._transducers],
            "found": [b64encode(transducer.found.tobytes()).decode() for transducer in self._transducers],
        }
        return json.dumps(kept).encode()

    def set_state(self, state: bytes) -> None:
        kept = json.loads(state)
        self._stored.clear()
        self._number, self._order = kept["number"], kept["order"]
        in_flight = np.frombuffer(b64decode(kept["flights"])).reshape(-1, arrivals.IN_FLIGHT_COLUMNS)
        self._count = len(in_flight)
        self._in_flight = np.concatenate([in_flight, np.zeros((256, arrivals.IN_FLIGHT_COLUMNS))])
        self._due = np.zeros(len(self._in_flight))  # checked at every tick until predicted again
        self._signals = {signal.number: signal for signal in map(Signal.from_json, kept["signals"])}
        self._pending = [(*item, Arrival.from_json(arrival)) for *item, arrival in kept["pending"]]
        for transducer, recent, sent, found in zip(
            self._transducers, kept["coming"], kept["sent"], kept["found"], strict=True
        ):
            transducer.recent = deque((ReceptionInterval(*item) for item in recent), HISTORY_SIZE)
            transducer.sent = deque(((a, b) for a, b in sent), HISTORY_SIZE)
            transducer.found = np.frombuffer(b64decode(found)).reshape(-1, paths.PATH_COLUMNS)
            transducer.forget_rays()
        self._simple = np.array([transducer.is_simple for transducer in self._transducers], bool)

    def copy_from(self, former: AcousticChannel) -> None:
        """Copy the sound in flight from another channel, whose parts may differ.

        Sound from or to a part that this channel does not have is dropped.
        """
        kept = json.loads(former.state())
        numbers = {old: self._names[name] for name, old in former._names.items() if name in self._names}
        signals = [signal for signal in map(Signal.from_json, kept["signals"]) if signal.source in self._names]
        known = {signal.number for signal in signals}
        in_flight = np.frombuffer(b64decode(kept["flights"])).reshape(-1, arrivals.IN_FLIGHT_COLUMNS)
        left = [row for row in in_flight if row[arrivals.SIGNAL] in known and row[arrivals.RECEIVER] in numbers]
        in_flight = np.array(left).reshape(-1, arrivals.IN_FLIGHT_COLUMNS)
        in_flight[:, arrivals.RECEIVER] = [numbers[int(old)] for old in in_flight[:, arrivals.RECEIVER]]
        kept["signals"] = [signal.to_json() for signal in signals]
        kept["flights"] = b64encode(in_flight.tobytes()).decode()
        kept["pending"] = [
            [end, order, numbers[receiver], arrival.to_json()]
            for end, order, receiver, arrival in sorted(former._pending)
            if receiver in numbers and arrival.signal.source in self._names
        ]
        for key, nothing in (("coming", []), ("sent", []), ("found", "")):
            rows: list[Any] = [nothing] * len(self._transducers)
            for old, new in numbers.items():
                rows[new] = kept[key][old]
            kept[key] = rows
        self.set_state(json.dumps(kept).encode())
        for transducer in self._transducers:
            shown = [row for row in transducer.found if row[paths.RECEIVER] in numbers]
            transducer.found = np.array(shown).reshape(-1, paths.PATH_COLUMNS)
            transducer.found[:, paths.RECEIVER] = [numbers[int(old)] for old in transducer.found[:, paths.RECEIVER]]


def _turned(vector: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a vector rotated by a rotation vector (Rodrigues)."""
    angle = float(np.linalg.norm(by))
    if angle < 1e-12:
        return vector
    axis = by / angle
    turned = vector * np.cos(angle) + np.cross(axis, vector) * np.sin(angle)
    return np.asarray(turned + axis * (axis @ vector) * (1.0 - np.cos(angle)))
