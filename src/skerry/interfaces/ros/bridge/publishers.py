"""Outlets: what is said on a topic, and when; readings, the clock, feedback of actuators, and whatever is made."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Protocol

import numpy as np

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.bus.lazy_message import Maker
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import Packed
from skerry.interfaces.ros.messages.encoders import Conversion, SaysMany, Source
from skerry.interfaces.ros.messages.templates import Form, prepare, stamp_of
from skerry.parts.interface import ReadingBatch
from skerry.parts.observer import Observer, PastSamples
from skerry.parts.sensor import ReadingColumns, Readings
from skerry.parts.state_channel import Read, read_now

FEW: Final = 4  # instants that are seen one by one more quickly than they are read together


class Timed(Protocol):
    """Something that is said at a rate of its own, whatever sensors do."""

    topic: Topic
    rate: Rate

    @property
    def looks_back(self) -> bool:
        """Whether it may be said later, of what an onlooker sees of the past; if not, the world must stop for it."""

    def say(self, tick: int) -> None:
        """Say it, at a tick at which it is due."""


class Voice(Protocol):
    """Something that needs no world to be said: whenever the world has gone on, all of it that has come since."""

    topic: Topic
    rate: Rate

    def begin_at(self, tick: int) -> None:
        """The world goes on from there; what was before is not said any more."""

    def say(self, tick: int) -> None:
        """Say all that has come up to this tick, if anybody takes it."""


@dataclass(eq=False)
class TimedTogether(Observer):
    """All that is said at one rate: an onlooker, where it looks back."""

    rate: Rate
    timers: Sequence[Timed] = ()
    noting: Sequence[NotingOutlet] = ()  # those of them that note
    _count: int = -1  # how often it was due up to when it was last said
    _unread: Sequence[NotingOutlet] = ()  # those that must see what they note

    @property
    def needs_replay(self) -> bool:  # type: ignore[override]
        return bool(self._unread)

    def on_samples(self, past: PastSamples) -> None:
        """Note what can be read of the world as it was."""
        ticks = past.ticks
        self._count = self.rate.count(ticks[-1])
        if len(ticks) < FEW:
            self._unread = self.noting
            return
        for timer in self.noting:
            if timer.reads_the_past:
                timer.on_samples(past)
        self._unread = [timer for timer in self.noting if not timer.reads_the_past]

    def on_sample(self, tick: int) -> None:
        """Note the rest, of the world as it was at a tick at which it was due."""
        for timer in self._unread:
            timer.say(tick)

    def speak(self) -> None:
        """Say what was noted."""
        for timer in self.noting:
            timer.speak()

    def say_if_due(self, tick: int) -> None:
        """Say it, unless that was done since it was last due."""
        if (count := self.rate.count(tick)) != self._count:
            self._count = count
            for timer in self.timers:
                timer.say(tick)


class SensorOutlet(Maker):
    """Says readings of one sensor on one topic."""

    def __init__(self, topic: Topic, conversion: Conversion, source: Source, step: Fraction) -> None:
        self.topic = topic
        self.convert = conversion(source)
        self._exact_step, self._step = step, float(step)

    def make(self, tick: int, seen: Any) -> Message | bytes | None:
        return self.convert(seen, tick * self._step)

    def make_all(self, ticks: Sequence[int], seen: Sequence[Any]) -> Packed | None:
        return self.convert.many(seen, ticks, self._step) if isinstance(self.convert, SaysMany) else None

    def warm_up(self) -> None:
        if isinstance(self.convert, SaysMany):
            self.convert.warm_up()


class ReadingOutlet(SensorOutlet):
    """Each reading; of a slower topic than the sensor, the first reading of each period.

    `rate` is the topic's, where it is not the sensor's own.
    """

    def __init__(self, topic: Topic, conversion: Conversion, source: Source, step: Fraction, rate: Rate | None) -> None:
        super().__init__(topic, conversion, source, step)
        self.rate = rate
        self.frequency = source.settings.frequency if rate is None else rate.frequency
        self._last = -1  # the tick of the latest reading

    def take(self, new: ReadingBatch) -> None:
        """Say those readings that are due."""
        ticks, readings = new.ticks, new.readings
        if self.rate is not None:
            rows = self._due(ticks, self.rate)
            ticks = [ticks[row] for row in rows]
            readings = readings.take(rows) if isinstance(readings, Readings) else [readings[row] for row in rows]
        if ticks:
            self.topic.publish_series(self, ticks, readings, self._exact_step)

    def _due(self, ticks: Sequence[int], rate: Rate) -> list[int]:
        """The rows of those that are due."""
        before, self._last = self._last, ticks[-1]
        if len(ticks) == 1:  # as at real time
            return [0] if rate.count(before) != rate.count(ticks[0]) else []
        counts = rate.counts(np.array([before, *ticks]))
        return np.flatnonzero(counts[1:] != counts[:-1]).tolist()


class RepeatingOutlet(SensorOutlet):
    """The last reading, over and over, whether or not there is a new one."""

    def __init__(self, topic: Topic, conversion: Conversion, source: Source, step: Fraction, rate: Rate) -> None:
        super().__init__(topic, conversion, source, step)
        self.rate = rate
        self._last: Any = None
        self._new: deque[tuple[int, Any]] = deque()  # ticks and readings
        self._said = -1  # tick, up to which all is said

    def take(self, new: ReadingBatch) -> None:
        """Keep readings."""
        self._new += zip(new.ticks, new.readings, strict=True)

    def begin_at(self, tick: int) -> None:
        self._said = tick
        self._know_up_to(tick)

    def _know_up_to(self, tick: int) -> None:
        while self._new and self._new[0][0] <= tick:
            _, reading = self._new.popleft()
            self._last = self._last if reading is None else reading

    def say(self, tick: int) -> None:
        """Say all that has become due, each time what was the last reading then."""
        ticks, readings = [], []
        while (due := self.rate.next_due(self._said)) <= tick and self.topic.taken:
            self._said = due
            self._know_up_to(due)
            if self._last is not None:
                ticks.append(due)
                readings.append(self._last)
        if ticks:
            self.topic.publish_series(self, ticks, readings, self._exact_step)


class NotingOutlet(Maker):
    """What is noted whenever it is due, and said when the world has gone on, all that was noted at once."""

    def __init__(self, topic: Topic, rate: Rate, step: Fraction) -> None:
        self.topic, self.rate = topic, rate
        self._exact_step, self._step = step, float(step)
        self._past: list[tuple[list[int], Readings[Any]]] = []  # ticks, and what was read of them
        self._ticks: list[int] = []
        self._seen: list[Any] = []

    @property
    def looks_back(self) -> bool:
        """Whether all that it looks at is in the engine."""
        return True

    @property
    def reads_the_past(self) -> bool:
        """Whether it can note of many instants at once how the world was, by `on_samples`."""
        return False

    def on_samples(self, past: PastSamples) -> None:
        """Note what is read of the world as it was."""
        self._past.append((past.ticks, self.look_at(past)))

    def look_at(self, past: PastSamples) -> Readings[Any]:
        """What is to be noted of it, by instant: for each, what `look` would have given then."""
        raise NotImplementedError

    @abstractmethod
    def look(self, tick: int) -> Any:
        """What is to be noted of the world now."""

    def say(self, tick: int) -> None:
        """Note it."""
        self._seen.append(self.look(tick))
        self._ticks.append(tick)

    def speak(self) -> None:
        """Say all that was noted."""
        for past, rows in self._past:
            self.topic.publish_series(self, past, rows, self._exact_step)
        self._past.clear()
        if ticks := self._ticks:
            seen, self._ticks, self._seen = self._seen, [], []
            self.topic.publish_series(self, ticks, seen, self._exact_step)


class GaugesOutlet(NotingOutlet):
    """Numbers that are read of gauges, for these fields of messages that are else like one."""

    def __init__(
        self,
        topic: Topic,
        rate: Rate,
        step: Fraction,
        like: Message,
        changing: Sequence[str],
        numbers: Callable[[Read], Sequence[Any]],
    ) -> None:
        super().__init__(topic, rate, step)
        self._changing, self._numbers = changing, numbers
        self._form = Form.of(topic.codec, like, changing)

    @property
    def reads_the_past(self) -> bool:
        return True

    def look_at(self, past: PastSamples) -> Readings[Sequence[float]]:
        times, found = past.times, self._numbers(past.read)
        numbers = [column if isinstance(column, np.ndarray) else np.full(len(times), column) for column in found]

        def columns() -> ReadingColumns:
            return ReadingColumns(None, time=times, **dict(zip(self._changing, numbers, strict=True)))

        return Readings(len(times), lambda row: [column.item(row) for column in numbers], columns)

    def look(self, tick: int) -> Sequence[float]:
        return self._numbers(read_now)

    def make(self, tick: int, seen: Sequence[float]) -> bytes:
        return self._form.one(*stamp_of(tick * self._step), *seen)

    def make_all(self, ticks: Sequence[int], seen: Sequence[Sequence[float]]) -> Packed:
        if isinstance(seen, Readings) and seen.columns is not None:
            columns = vars(seen.columns())
            return self._form.many.fill(columns["time"], columns)
        times = [tick * self._step for tick in ticks]
        return self._form.many.fill(times, dict(zip(self._changing, zip(*seen, strict=True), strict=True)))


class ClockOutlet:
    """Simulated time, of every tick at which it is due, if need be of several at once."""

    def __init__(self, topic: Topic, rate: Rate, codec: Codec, step: float) -> None:
        self.topic, self.rate, self._step = topic, rate, step
        self._fill = prepare(codec, codec.make(topic.type), ())
        self._said = -1  # tick, up to which all is said

    def begin_at(self, tick: int) -> None:
        self._said = tick

    def next_publish_tick(self, tick: int) -> int | None:
        """The first tick after this one that it will say, if anybody listens."""
        return self.rate.next_due(tick) if self.topic.taken else None

    def say(self, tick: int) -> None:
        """Say all that has become due."""
        while (due := self.rate.next_due(self._said)) <= tick and self.topic.taken:
            self._said = due
            self.topic.publish(self._fill(*stamp_of(due * self._step)))


@dataclass(eq=False)
class MadeOutlet:
    """A message that is made anew each time, as an object or as CDR; None if there is nothing to say."""

    looks_back: ClassVar[bool] = False

    topic: Topic
    rate: Rate
    make: Callable[[int], Message | bytes | None]

    def say(self, tick: int) -> None:
        """Say it."""
        if (message := self.make(tick)) is not None:
            self.topic.publish(message)


class MadeOfThePast(NotingOutlet):
    """The same of something that is in the engine."""

    def __init__(self, topic: Topic, rate: Rate, step: Fraction, make: Callable[[int], Message | bytes | None]) -> None:
        super().__init__(topic, rate, step)
        self._make = make

    def look(self, tick: int) -> Message | bytes | None:
        return self._make(tick)

    def make(self, tick: int, seen: Message | bytes | None) -> Message | bytes | None:
        return seen


class FieldPath:
    """A number within a message, such as `rpm.rpm`."""

    def __init__(self, codec: Codec, type_name: str, path: str) -> None:
        self.path = path
        *self._way, self._last = path.split(".")
        kind = codec.vocabulary.message(type_name)
        for word in self._way:
            kind = codec.vocabulary.message(self._field(kind, word, type_name, path).base)
        field = self._field(kind, self._last, type_name, path)
        if field.array or not field.is_number:
            raise SkerryError(f"{path!r} of {type_name} is no single number")
        self._is_whole = "int" in field.base
        self._is_truth = field.base == "bool"

    @staticmethod
    def _field(kind: Any, word: str, type_name: str, path: str) -> Any:
        found = next((field.type for field in kind.fields if field.name == word), None)
        if found is None:
            known = ", ".join(field.name for field in kind.fields)
            raise SkerryError(f"{type_name} has no field {path!r}; {kind.name} has: {known}")
        return found

    def get(self, message: Message) -> float:
        """The number."""
        for word in self._way:
            message = getattr(message, word)
        return float(getattr(message, self._last))

    def number(self, value: Any) -> Any:
        """A value, or an array of them, as this number has it: whole, or a truth, if it is one."""
        return rounded(value) if self._is_whole else value > 0.5 if self._is_truth else value


def rounded(value: Any) -> Any:
    """The nearest whole number, or an array of those."""
    return np.rint(value).astype(np.int64) if isinstance(value, np.ndarray) else round(value)
