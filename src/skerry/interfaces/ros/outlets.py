"""Outlets: what is said on a topic, and when; readings, the clock, feedback of actuators, and whatever is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus import Topic
from skerry.interfaces.ros.codec import Codec, Message
from skerry.interfaces.ros.conversions import Conversion, Source
from skerry.interfaces.ros.prepared import prepare, stamp_of
from skerry.parts.interface import NewReading


class Timed(Protocol):
    """Something that is said at a rate of its own, whatever sensors do."""

    topic: Topic
    rate: Rate

    def say(self, tick: int) -> None:
        """Say it, at a tick at which it is due."""


class ReadingOutlet:
    """Readings of one sensor on one topic; of a slower topic than the sensor, the first reading of each period.

    `rate` is the topic's, where it is not the sensor's own.
    """

    def __init__(self, topic: Topic, conversion: Conversion, source: Source, step: float, rate: Rate | None) -> None:
        self.topic, self.rate = topic, rate
        self.convert = conversion(source)
        self.frequency = source.settings.frequency if rate is None else rate.frequency
        self._step = step
        self._said, self._next = -1, -1  # ticks

    def take(self, new: NewReading) -> None:
        """Say a reading, if it is due."""
        tick = new.tick
        if self._said <= tick < self._next:
            return
        if self.rate is not None:
            self._said, self._next = tick, self.rate.next_due(tick)
        self.topic.publish_when_taken(partial(self.convert, new.reading, tick * self._step))


class RepeatingOutlet:
    """The last reading of one sensor, over and over, whether or not there is a new one."""

    def __init__(self, topic: Topic, conversion: Conversion, source: Source, step: float, rate: Rate) -> None:
        self.topic, self.rate = topic, rate
        self.convert = conversion(source)
        self._step = step
        self._last: Any = None

    def take(self, new: NewReading) -> None:
        """Keep a reading."""
        if new.reading is not None:
            self._last = new.reading

    def say(self, tick: int) -> None:
        """Say the last one."""
        if self._last is not None:
            message = self.convert(self._last, tick * self._step)
            if message is not None:
                self.topic.publish(message)


class FeedbackOutlet:
    """What an actuator really does, in one field of a message; a header, if the message has one, is in this frame."""

    def __init__(
        self,
        topic: Topic,
        rate: Rate,
        codec: Codec,
        frame: str,
        step: float,
        field: FieldPath,
        read: Callable[[], float],
    ) -> None:
        self.topic, self.rate = topic, rate
        self._step, self._field, self._read = step, field, read
        message = codec.make(topic.type)
        if hasattr(message, "header"):
            message.header.frame_id = frame
        self._fill = prepare(codec, message, [field.path])

    def say(self, tick: int) -> None:
        """Say what it is now."""
        self.topic.publish(self._fill(*stamp_of(tick * self._step), self._field.number(self._read())))


class ClockOutlet:
    """Simulated time, of every tick at which it is due, if need be of several at once."""

    def __init__(self, topic: Topic, rate: Rate, codec: Codec, step: float) -> None:
        self.topic, self.rate, self._step = topic, rate, step
        self._fill = prepare(codec, codec.make(topic.type), ())
        self._said = -1  # tick, up to which all is said

    def next_word(self, tick: int) -> int | None:
        """The first tick after this one that it will say, if anybody listens; what was before is not said any more."""
        self._said = tick
        return self.rate.next_due(tick) if self.topic.taken else None

    def say(self, tick: int) -> None:
        """Say all that has become due."""
        while (due := self.rate.next_due(self._said)) <= tick and self.topic.taken:
            self._said = due
            self.topic.publish(self._fill(*stamp_of(due * self._step)))


@dataclass(eq=False)
class MadeOutlet:
    """A message that is made anew each time, as an object or as CDR; None if there is nothing to say."""

    topic: Topic
    rate: Rate
    make: Callable[[int], Message | bytes | None]

    def say(self, tick: int) -> None:
        """Say it."""
        if (message := self.make(tick)) is not None:
            self.topic.publish(message)


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

    def number(self, value: float) -> float:
        """A value as this number has it: whole, or a truth, if it is one."""
        return round(value) if self._is_whole else value > 0.5 if self._is_truth else value
