"""The channel: who hears what, by which path, and when; it holds all sound that is under way."""

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

from skerry.acoustics.channel import arrivals as flight
from skerry.acoustics.channel import paths as way
from skerry.acoustics.channel.link_budget import roughness_loss, transmission_loss
from skerry.acoustics.channel.members import REMEMBERED, Coming, Member
from skerry.acoustics.channel.settings import USUAL_SOUND_SPEED
from skerry.acoustics.channel.travel_time import speed_table
from skerry.core.clock import Clock
from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.frames import Pose, inverse, multiply, rotate
from skerry.parts.acoustics import NEVER, AcousticPart, Arrival, Batch, Signal
from skerry.parts.component import Component
from skerry.rays import RayScene
from skerry.water import Water

LONGEST_WAIT: Final = 0.1
"""s: while sound is under way, the world looks where the hearers have got to at least so often."""
MOST_KEPT: Final = 100_000  # arrivals that wait to be handed over
ALL_AROUND: Final = 1e-9  # m: nearer than this, a direction means nothing

Item = tuple[float, int, int, Arrival]
"""Sound that comes to a part: when it ends, a number that grows, and the part's number."""


class Instant(Protocol):
    """When it is, where all bodies are, (2, bodies, 13), now and one step before, and the engine's other state."""

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
    """A way that a sound was looked for, and whether it was heard that way; for those who draw it."""

    source: str
    receiver: str
    path: str  # direct, surface or bottom
    status: str  # clear, occluded or too far
    length: float  # m
    points: tuple[tuple[float, float, float], ...]  # source, point of the echo if there is one, hearer


class Channel(Component):
    """All acoustic parts of a world; they may join at any time. No part at all is fine, and so is no ground.

    Sound leaves at ticks, or between two of them where a reply is held for an exact time; it comes whenever it comes.
    """

    def __init__(self, water: Water, clock: Clock, scene: Callable[[], RayScene]) -> None:
        self._water = water
        self._step = float(clock.step)
        self._scene = scene
        self._members: list[Member] = []
        self._names: dict[str, int] = {}  # of the members, with their numbers
        self._robots: dict[str, int] = {}
        self._bodies: NDArray[np.int64] = np.zeros(0, np.int64)
        self._offsets: NDArray[np.float64] = np.zeros((0, 3))
        self._table: NDArray[np.float64] = np.zeros(0)
        self._none = np.zeros(0)
        self._due: NDArray[np.float64] = np.zeros(256)
        self._flights: NDArray[np.float64] = np.zeros((256, flight.FLIGHT_COLUMNS))
        self._count = 0
        self._came = np.zeros((256, flight.ARRIVAL_COLUMNS))
        self._plain = np.zeros((256, flight.PLAIN_COLUMNS))
        self._kept: list[NDArray[np.float64]] = []  # what is plain and was not handed over
        self._found = np.zeros((256, way.PATH_COLUMNS))
        self._signals: dict[int, Signal] = {}
        self._number = 0
        self._pending: list[Item] = []  # what is coming and has not ended; a heap
        self._order = 0
        self._absorptions: dict[tuple[float, int], float] = {}
        self.on_command: Callable[[Signal], None] | None = None
        """Is told of every signal that leaves, when its paths are known; for those who show it."""

    def join(self, part: AcousticPart, robot: str, body: int, place: Pose) -> None:
        """Take in a part that sits on a body of the engine, at this place on it."""
        number = self._robots.setdefault(robot, len(self._robots))
        self._members.append(Member(part, number, place, self._water))
        self._names[part.name] = len(self._names)
        self._bodies = np.append(self._bodies, body)
        self._offsets = np.concatenate([self._offsets, [place.position]])
        self._now, self._before = np.zeros((2, len(self._members), 6))
        self._owners = np.array([member.robot for member in self._members], np.int64)
        self._deaf = np.array([member.hearing is None for member in self._members])
        self._hearers = len(self._members) - int(self._deaf.sum())
        self._in_air = np.array([member.in_air for member in self._members])
        self._simple = np.array([member.is_simple for member in self._members])
        for name in ("_obstacles", "_ground"):  # whose they are is known anew
            self.__dict__.pop(name, None)
        part.fetch = self.hand_over
        if self._members[-1].part.sending is not None and self._members[-1].layered and not len(self._table):
            self._table = speed_table(self._water.column)

    # -------------------------------------------------------------------------------------------- when

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is under way."""
        return not self._count and not self._pending

    def stops_after(self, tick: int) -> Iterator[int]:
        """The ticks at which the world must stop: somebody sends or answers, or hearers may have got elsewhere."""
        if not self._members:
            return
        if (due := min(member.part.next_send for member in self._members)) < NEVER:
            yield max(due, tick + 1)
        if not self.is_quiet:
            yield tick + max(int(LONGEST_WAIT / self._step), 1)
        if any(signal.purpose == "request" for signal in self._signals.values()):
            asked = flight.next_asking(self._due, self._flights, self._count)
            if asked < np.inf:
                yield max(int(asked), tick + 1)
        for end, _, _, arrival in self._pending:
            if arrival.signal.purpose == "request":
                yield max(int(np.ceil(end / self._step)), tick + 1)

    def looks_before(self, tick: int, stop: int) -> list[int]:
        """The ticks before a stop at which sound comes."""
        if not self._count:
            return []
        marks = np.zeros(stop - tick - 1, np.uint8)
        flight.mark_due(self._due, self._count, tick, marks)
        return (np.flatnonzero(marks) + tick + 1).tolist()

    # -------------------------------------------------------------------------------------------- sending

    def send(self, instant: Instant) -> None:
        """Let the parts send that have something to send by now."""
        tick, sea = instant.tick, None
        for number, member in enumerate(self._members):
            if member.part.next_send > tick:
                continue
            for signal in member.part.send(tick):
                if self._hearers != (member.hearing is not None):  # else there is nobody else to hear it
                    if sea is None:
                        sea = self._sea(instant)
                        self._place(instant)
                        self._obstacles.move(instant.motions[0])
                    self._emit(number, signal, instant.time, sea)
                if self.on_command is not None:
                    self.on_command(signal)

    def _place(self, instant: Instant) -> None:
        flight.place_parts(instant.motions[0], self._bodies, self._offsets, self._now)
        flight.place_parts(instant.motions[1], self._bodies, self._offsets, self._before)

    @cached_property
    def _obstacles(self) -> way.Obstacles:
        return way.Obstacles.of(self._scene(), self._robots)

    @cached_property
    def _ground(self) -> way.Obstacles:
        return way.Obstacles.of(self._scene(), self._robots, only_ground=True)

    def _emit(self, number: int, signal: Signal, time: float, sea: NDArray[np.int64]) -> None:
        """Find the paths of a signal, and put it under way."""
        member, source = self._members[number], np.empty(6)
        flight.motion_at(self._before[number], self._now[number], self._step, signal.time - time, source)
        skips = self._deaf.copy()
        skips[number] = True
        most = len(self._members) * (2 + len(member.rays))
        if len(self._found) < most:
            self._found = np.zeros((most, way.PATH_COLUMNS))
        count = way.find_paths(
            (self._ground if member.sending.ignore_occlusions else self._obstacles).native,
            member.settings,
            member.rays,
            source,
            member.robot,
            self._now,
            self._owners,
            skips,
            sea,
            signal.time,
            self._table if member.layered else self._none,
            member.shots,
            self._found,
        )
        member.found = self._found[:count].copy()
        if signal.duration > 0.0:
            member.sent.append((signal.time, signal.time + signal.duration))
            self._simple[number] = False
        self._start(member, signal, time)

    def _start(self, member: Member, signal: Signal, time: float) -> None:
        """Put a signal under way, by the paths that were found."""
        first = self._count
        while first + len(member.found) > len(self._flights):
            self._flights = np.concatenate([self._flights, np.zeros_like(self._flights)])
            self._due = np.concatenate([self._due, np.zeros_like(self._due)])
        to = -1 if signal.to is None else self._names.get(signal.to, -2)
        is_plain = signal.duration == 0.0 and member.sending.source_level_db is None
        self._count = flight.start(
            *(member.found, self._number, signal.time, to if signal.purpose == "request" else -1),
            *(to if is_plain and signal.purpose in {"packet", "ping"} else -2, self._due, self._flights, first),
        )
        flight.expect(self._due, self._flights, first, self._count, time, self._step, self._now)
        self._signals[self._number] = signal._replace(number=self._number)
        self._number += 1

    def _sea(self, instant: Instant) -> NDArray[np.int64]:
        state = instant.userdata if instant.userdata.size else self._none_at_all
        return np.array([self._water.address, self._water.table_address, state.ctypes.data], np.int64)

    _none_at_all = np.zeros(1)

    def warm_up(self, instant: Instant) -> None:
        """Let a sound leave, look whether it has come and forget it, so that all kernels of the way are compiled.

        No part notices; for those who must not be held up by the first sound.
        """
        number = next((n for n, member in enumerate(self._members) if member.part.sending is not None), None)
        if number is None or self._hearers == (self._members[number].hearing is not None):
            return
        kept, sea = self.state(), self._sea(instant)
        self._place(instant)
        self._obstacles.move(instant.motions[0])
        name = self._members[number].part.name
        self._emit(number, Signal(name, "ping", b"", False, None, instant.time, instant.time), instant.time, sea)
        flight.mark_due(self._due, self._count, instant.tick, np.zeros(1, np.uint8))
        flight.next_asking(self._due, self._flights, self._count)
        came, plain = np.zeros((self._count, flight.ARRIVAL_COLUMNS)), np.zeros((self._count, flight.PLAIN_COLUMNS))
        flight.collect(
            *(self._due, self._flights, self._count, instant.tick, instant.time, self._step, self._before, self._now),
            *(self._in_air, self._simple, sea, came, plain),
        )
        flight.sort_plain(plain[:0], np.zeros(len(self._members) + 1, np.int64), plain[:0].copy())
        row = [0.0] * flight.ARRIVAL_COLUMNS
        row[flight.A_SENT], row[flight.A_SPEED] = instant.time, USUAL_SOUND_SPEED
        for receiver, member in enumerate(self._members):
            if member.part.hydrophones:
                self._times(receiver, row, instant)
        self.set_state(kept)

    # -------------------------------------------------------------------------------------------- hearing

    def hear(self, instant: Instant, is_present: bool) -> None:
        """Let the parts hear what has come by now; where the world has stopped, look again when the rest will come."""
        if self.is_quiet:
            return
        time, ready = instant.time, self._ripe(instant.time)
        if self._count:
            self._place(instant)
            if len(self._came) < self._count:
                self._came = np.zeros((len(self._flights), flight.ARRIVAL_COLUMNS))
                self._plain = np.zeros((len(self._flights), flight.PLAIN_COLUMNS))
            self._count, found, plain = flight.collect(
                *(self._due, self._flights, self._count, instant.tick, time, self._step, self._before, self._now),
                *(self._in_air, self._simple, self._sea(instant), self._came, self._plain),
            )
            if is_present:
                flight.expect(self._due, self._flights, 0, self._count, time, self._step, self._now)
            if plain:
                self._kept.append(self._plain[:plain].copy())
            if found:
                ready += self._heard(self._came[:found].tolist(), instant)
        if ready:
            self.hand_over()
            for _, _, receiver, arrival in sorted(ready):
                self._members[receiver].decide(arrival)
        if is_present:
            self._tidy()

    def hand_over(self) -> None:
        """Give the parts what they only keep, in the order in which it came."""
        if not self._kept:
            return
        rows = np.concatenate(self._kept)
        self._kept.clear()
        ordered, starts = np.empty_like(rows), np.zeros(len(self._members) + 1, np.int64)
        flight.sort_plain(rows, starts, ordered)
        signals = self._signals.copy()
        for member, (first, end) in zip(self._members, pairwise(starts.tolist()), strict=True):
            if end > first:
                member.part.hear_all(Batch(ordered[first:end], signals, way.PATHS))

    def _heard(self, rows: list[list[float]], instant: Instant) -> list[Item]:
        """What has begun to come: give what has ended too, and keep the rest."""
        ready = []
        time = instant.time
        for row in rows:
            number, receiver, path = int(row[0]), int(row[1]), int(row[2])
            member, signal = self._members[receiver], self._signals[number]
            part = member.part
            level = self._level(signal, row)
            direction = self._direction(receiver, row, instant) if part.finds_directions else None
            times = self._times(receiver, row, instant) if part.hydrophones else ()
            start = row[flight.A_TIME]
            arrival = Arrival(signal, way.PATHS[path], start, row[flight.A_DOPPLER], level, None, direction, times)
            self._order += 1
            end = start
            if signal.duration > 0.0:
                end = start + signal.duration / (1.0 + row[flight.A_DOPPLER])
                member.coming.append(Coming(start, end, number, level))
                self._simple[receiver] = False
            item = (end, self._order, receiver, arrival)
            if end <= time:
                ready.append(item)
            else:
                heapq.heappush(self._pending, item)
        return ready

    def _ripe(self, time: float) -> list[Item]:
        """What was coming and has ended by now."""
        ready = []
        while self._pending and self._pending[0][0] <= time:
            ready.append(heapq.heappop(self._pending))
        return ready

    def _level(self, signal: Signal, row: list[float]) -> float | None:
        """How strong it comes, dB re 1 µPa."""
        source = self._members[self._names[signal.source]]
        sending = source.sending
        if sending.source_level_db is None:
            return None
        absorption = self._absorption(sending.frequency_khz, round(max(row[flight.A_DEPTH], 0.0)))
        loss = transmission_loss(row[flight.A_LENGTH], sending.spreading_db, absorption)
        if row[flight.A_PATH] != way.DIRECT:
            # An echo goes as far as if it had come from further away by the ratio.
            loss += sending.spreading_db * -np.log10(sending.remaining_range_ratio_after_echo)
        if row[flight.A_PATH] == way.SURFACE and source.settings[way.S_ROUGHNESS] > 0.0:
            loss += roughness_loss(sending.frequency_khz, row[flight.A_SPEED], source.height_rms, row[flight.A_GRAZING])
        return float(sending.source_level_db - loss)

    def _absorption(self, frequency_khz: float, depth: int) -> float:
        """At the hearer's depth to the metre, dB/km."""
        known = self._absorptions.get((frequency_khz, depth))
        if known is None:
            known = float(self._water.column.absorption_db_per_km(1e3 * frequency_khz, float(depth)))
            self._absorptions[frequency_khz, depth] = known
        return known

    def _direction(self, receiver: int, row: list[float], instant: Instant) -> tuple[float, float, float] | None:
        """Towards where sound seems to come from, in the axes that the part has when it comes."""
        at, since = np.empty(6), row[flight.A_TIME] - instant.time
        flight.motion_at(self._before[receiver], self._now[receiver], self._step, since, at)
        away = np.array(row[flight.A_ORIGIN : flight.A_ORIGIN + 3]) - at[:3]
        length = float(np.linalg.norm(away))
        if length < ALL_AROUND:
            return None
        motion = instant.motions[0, self._bodies[receiver]]
        turned = _turned(away / length, motion[10:13] * -since)
        x, y, z = rotate(inverse(multiply(motion[3:7], self._members[receiver].turn)), turned).tolist()
        return x, y, z

    def _times(self, receiver: int, row: list[float], instant: Instant) -> tuple[float, ...]:
        """When sound comes to each hydrophone of a part."""
        member = self._members[receiver]
        places = self._offsets[receiver] + rotate(member.turn, np.array(member.part.hydrophones))
        bodies = np.full(len(places), self._bodies[receiver])
        now, before = np.empty((2, len(places), 6))
        flight.place_parts(instant.motions[0], bodies, places, now)
        flight.place_parts(instant.motions[1], bodies, places, before)
        origin, at = np.array(row[flight.A_ORIGIN : flight.A_ORIGIN + 3]), np.empty(6)
        head = (origin, row[flight.A_EXTRA], row[flight.A_SPEED], instant.time - row[flight.A_SENT])
        return tuple(
            instant.time + flight.meeting(*head, b, n, self._step, at) for b, n in zip(before, now, strict=True)
        )

    def _tidy(self) -> None:
        """Let go of signals of which nothing is under way any more."""
        if sum(map(len, self._kept)) > MOST_KEPT:
            self.hand_over()
        if not self._kept:
            oldest = self._number if not self._count else int(self._flights[: self._count, flight.SIGNAL].min())
            while self._signals and (first := next(iter(self._signals))) < oldest:
                del self._signals[first]

    # -------------------------------------------------------------------------------------------- looking

    def paths(self, name: str) -> list[SignalPath]:
        """The ways that were looked for when "robot/part" last sent: those that were open, and those that were not."""
        if name not in self._names:
            raise UnknownName(f"there is no acoustic part {name!r}; {did_you_mean(name, self._names)}")
        return [self._shown(name, row) for row in self._members[self._names[name]].found.tolist()]

    def signal_lines(self) -> list[SignalPath]:
        """The same of all parts whose lines are to be drawn."""
        drawn = [member for member in self._members if member.part.sending and member.sending.draw_signal_lines]
        return [path for member in drawn for path in self.paths(member.part.name)]

    def _shown(self, name: str, row: list[float]) -> SignalPath:
        source, bounce, end = ((row[k], row[k + 1], row[k + 2]) for k in (way.SOURCE, way.BOUNCE, way.END))
        points = (source, end) if row[way.PATH] == way.DIRECT else (source, bounce, end)
        kind, status = way.PATHS[int(row[way.PATH])], way.STATUSES[int(row[way.STATUS])]
        receiver = self._members[int(row[way.RECEIVER])].part.name
        return SignalPath(name, receiver, kind, status, row[way.LENGTH], points)

    # -------------------------------------------------------------------------------------------- state

    def state(self) -> bytes:
        self.hand_over()
        self._tidy()
        kept: dict[str, Any] = {
            "number": self._number,
            "order": self._order,
            "flights": b64encode(self._flights[: self._count].tobytes()).decode(),
            "signals": [signal.plain() for signal in self._signals.values()],
            "pending": [[*item, arrival.plain()] for *item, arrival in sorted(self._pending)],
            "coming": [list(member.coming) for member in self._members],
            "sent": [list(member.sent) for member in self._members],
            "found": [b64encode(member.found.tobytes()).decode() for member in self._members],
        }
        return json.dumps(kept).encode()

    def set_state(self, state: bytes) -> None:
        kept = json.loads(state)
        self._kept.clear()
        self._number, self._order = kept["number"], kept["order"]
        flights = np.frombuffer(b64decode(kept["flights"])).reshape(-1, flight.FLIGHT_COLUMNS)
        self._count = len(flights)
        self._flights = np.concatenate([flights, np.zeros((256, flight.FLIGHT_COLUMNS))])
        self._due = np.zeros(len(self._flights))  # to be looked for at every tick until it is expected anew
        self._signals = {signal.number: signal for signal in map(Signal.of, kept["signals"])}
        self._pending = [(*item, Arrival.of(arrival)) for *item, arrival in kept["pending"]]
        for member, coming, sent, found in zip(self._members, kept["coming"], kept["sent"], kept["found"], strict=True):
            member.coming = deque((Coming(*item) for item in coming), REMEMBERED)
            member.sent = deque(((a, b) for a, b in sent), REMEMBERED)
            member.found = np.frombuffer(b64decode(found)).reshape(-1, way.PATH_COLUMNS)
        self._simple = np.array([member.is_simple for member in self._members], bool)

    def take_over(self, former: Channel) -> None:
        """Go on from where another channel is, which had other parts; sound from or to one that is gone is gone too."""
        kept = json.loads(former.state())
        numbers = {old: self._names[name] for name, old in former._names.items() if name in self._names}
        signals = [signal for signal in map(Signal.of, kept["signals"]) if signal.source in self._names]
        known = {signal.number for signal in signals}
        flights = np.frombuffer(b64decode(kept["flights"])).reshape(-1, flight.FLIGHT_COLUMNS)
        left = [row for row in flights if row[flight.SIGNAL] in known and row[flight.RECEIVER] in numbers]
        flights = np.array(left).reshape(-1, flight.FLIGHT_COLUMNS)
        flights[:, flight.RECEIVER] = [numbers[int(old)] for old in flights[:, flight.RECEIVER]]
        kept["signals"] = [signal.plain() for signal in signals]
        kept["flights"] = b64encode(flights.tobytes()).decode()
        kept["pending"] = [
            [end, order, numbers[receiver], arrival.plain()]
            for end, order, receiver, arrival in sorted(former._pending)
            if receiver in numbers and arrival.signal.source in self._names
        ]
        for word, nothing in (("coming", []), ("sent", []), ("found", "")):
            rows: list[Any] = [nothing] * len(self._members)
            for old, new in numbers.items():
                rows[new] = kept[word][old]
            kept[word] = rows
        self.set_state(json.dumps(kept).encode())
        for member in self._members:
            shown = [row for row in member.found if row[way.RECEIVER] in numbers]
            member.found = np.array(shown).reshape(-1, way.PATH_COLUMNS)
            member.found[:, way.RECEIVER] = [numbers[int(old)] for old in member.found[:, way.RECEIVER]]


def _turned(vector: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector turned by a rotation vector (Rodrigues)."""
    angle = float(np.linalg.norm(by))
    if angle < 1e-12:
        return vector
    axis = by / angle
    turned = vector * np.cos(angle) + np.cross(axis, vector) * np.sin(angle)
    return np.asarray(turned + axis * (axis @ vector) * (1.0 - np.cos(angle)))
