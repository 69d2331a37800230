"""Publishers: each one publishes readings, the clock, actuator feedback or other messages on one topic."""

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
from skerry.interfaces.ros.bus.lazy_message import MessageEncoder
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.encoders import EncoderContext, EncoderFactory, ReadingEncoder
from skerry.interfaces.ros.messages.templates import MessageTemplate, compile_template, stamp_of
from skerry.parts.interface import ReadingBatch
from skerry.parts.observer import Observer, PastSamples
from skerry.parts.sensor import ReadingColumns, Readings
from skerry.parts.state_channel import Read, read_now

MIN_BATCH: Final = 4  # samples; fewer samples are read faster one by one than as a batch


class TimedPublisher(Protocol):
    """Publisher with a rate of its own, independent of sensors."""

    topic: Topic
    rate: Rate

    @property
    def uses_samples(self) -> bool:
        """Whether the publisher reads recorded samples of the past; if not, the world must stop at each due tick."""

    def on_due(self, tick: int) -> None:
        """Publish the message of a due tick, or record its data."""


class IntervalPublisher(Protocol):
    """Publisher that needs no state of the world: after each advance it publishes everything that became due."""

    topic: Topic
    rate: Rate

    def start_at(self, tick: int) -> None:
        """Continue from this tick; nothing of earlier ticks is published."""

    def next_publish_tick(self, tick: int) -> int | None:
        """Return the next tick after this one that is published, if it is known in advance."""

    def publish_until(self, tick: int) -> None:
        """Publish everything that is due up to this tick, if the topic has subscribers."""


@dataclass(eq=False)
class PublisherGroup(Observer):
    """All timed publishers of one rate. It is an observer if they use samples."""

    rate: Rate
    publishers: Sequence[TimedPublisher] = ()
    sampled: Sequence[SampledPublisher] = ()  # those of `publishers` that record data
    _count: int = -1  # number of due ticks up to the last publication
    _single: Sequence[SampledPublisher] = ()  # publishers that read the samples one by one

    @property
    def needs_replay(self) -> bool:  # type: ignore[override]
        return bool(self._single)

    def on_samples(self, past: PastSamples) -> None:
        """Record the data of publishers that read samples as a batch."""
        ticks = past.ticks
        self._count = self.rate.count(ticks[-1])
        if len(ticks) < MIN_BATCH:
            self._single = self.sampled
            return
        for publisher in self.sampled:
            if publisher.reads_batches:
                publisher.on_samples(past)
        self._single = [publisher for publisher in self.sampled if not publisher.reads_batches]

    def on_sample(self, tick: int) -> None:
        """Record the data of the other publishers from the sample of one due tick."""
        for publisher in self._single:
            publisher.on_due(tick)

    def publish_recorded(self) -> None:
        """Publish the recorded data."""
        for publisher in self.sampled:
            publisher.publish_recorded()

    def publish_if_due(self, tick: int) -> None:
        """Call the publishers, unless this was done since the last due tick."""
        if (count := self.rate.count(tick)) != self._count:
            self._count = count
            for publisher in self.publishers:
                publisher.on_due(tick)


class SensorPublisher(MessageEncoder):
    """Base of the publishers of one sensor on one topic."""

    def __init__(self, topic: Topic, factory: EncoderFactory, context: EncoderContext, step: Fraction) -> None:
        self.topic = topic
        self.encode_reading = factory(context)
        self._exact_step, self._step = step, float(step)

    def encode(self, tick: int, data: Any) -> Message | bytes | None:
        return self.encode_reading(data, tick * self._step)

    def encode_batch(self, ticks: Sequence[int], data: Sequence[Any]) -> EncodedBatch | None:
        encoder = self.encode_reading
        return encoder.encode_batch(data, ticks, self._step) if isinstance(encoder, ReadingEncoder) else None

    def warm_up(self) -> None:
        if isinstance(self.encode_reading, ReadingEncoder):
            self.encode_reading.warm_up()


class ReadingPublisher(SensorPublisher):
    """Publisher of each reading or, with a `rate` slower than the sensor, of the first reading of each period."""

    def __init__(
        self, topic: Topic, factory: EncoderFactory, context: EncoderContext, step: Fraction, rate: Rate | None
    ) -> None:
        super().__init__(topic, factory, context, step)
        self.rate = rate
        self.frequency = context.settings.frequency if rate is None else rate.frequency
        self._last = -1  # tick of the latest reading

    def on_readings(self, new: ReadingBatch) -> None:
        """Publish the new readings that are due."""
        ticks, readings = new.ticks, new.readings
        if self.rate is not None:
            rows = self._due(ticks, self.rate)
            ticks = [ticks[row] for row in rows]
            readings = readings.take(rows) if isinstance(readings, Readings) else [readings[row] for row in rows]
        if ticks:
            self.topic.publish_batch(self, ticks, readings, self._exact_step)

    def _due(self, ticks: Sequence[int], rate: Rate) -> list[int]:
        """Return the indices of the ticks that are due."""
        before, self._last = self._last, ticks[-1]
        if len(ticks) == 1:  # the usual case at real time
            return [0] if rate.count(before) != rate.count(ticks[0]) else []
        counts = rate.counts(np.array([before, *ticks]))
        return np.flatnonzero(counts[1:] != counts[:-1]).tolist()


class RepeatingPublisher(SensorPublisher):
    """Publisher of the last reading at a rate of its own, whether or not there is a new reading."""

    def __init__(
        self, topic: Topic, factory: EncoderFactory, context: EncoderContext, step: Fraction, rate: Rate
    ) -> None:
        super().__init__(topic, factory, context, step)
        self.rate = rate
        self._last: Any = None
        self._new: deque[tuple[int, Any]] = deque()  # ticks and readings that are not yet used
        self._published = -1  # tick up to which everything is published

    def on_readings(self, new: ReadingBatch) -> None:
        """Store new readings."""
        self._new += zip(new.ticks, new.readings, strict=True)

    def start_at(self, tick: int) -> None:
        self._published = tick
        self._use_readings_until(tick)

    def next_publish_tick(self, tick: int) -> int | None:
        return None

    def _use_readings_until(self, tick: int) -> None:
        while self._new and self._new[0][0] <= tick:
            _, reading = self._new.popleft()
            self._last = self._last if reading is None else reading

    def publish_until(self, tick: int) -> None:
        """Publish, for each due tick, the last reading at that tick."""
        ticks, readings = [], []
        while (due := self.rate.next_due(self._published)) <= tick and self.topic.has_subscribers:
            self._published = due
            self._use_readings_until(due)
            if self._last is not None:
                ticks.append(due)
                readings.append(self._last)
        if ticks:
            self.topic.publish_batch(self, ticks, readings, self._exact_step)


class SampledPublisher(MessageEncoder):
    """Publisher that records data at each due tick, and publishes it as a batch after the world has advanced."""

    def __init__(self, topic: Topic, rate: Rate, step: Fraction) -> None:
        self.topic, self.rate = topic, rate
        self._exact_step, self._step = step, float(step)
        self._batches: list[tuple[list[int], Readings[Any]]] = []  # ticks and data that were read as batches
        self._ticks: list[int] = []
        self._data: list[Any] = []

    @property
    def uses_samples(self) -> bool:
        """Whether the engine holds all data that is read."""
        return True

    @property
    def reads_batches(self) -> bool:
        """Whether `read_samples` is implemented."""
        return False

    def on_samples(self, past: PastSamples) -> None:
        """Record the data of many samples."""
        self._batches.append((past.ticks, self.read_samples(past)))

    def read_samples(self, past: PastSamples) -> Readings[Any]:
        """Return for each sample the value that `read_sample` would have returned then."""
        raise NotImplementedError

    @abstractmethod
    def read_sample(self, tick: int) -> Any:
        """Return the data of the world at the current tick."""

    def on_due(self, tick: int) -> None:
        """Record the data of a tick."""
        self._data.append(self.read_sample(tick))
        self._ticks.append(tick)

    def publish_recorded(self) -> None:
        """Publish all recorded data."""
        for past, rows in self._batches:
            self.topic.publish_batch(self, past, rows, self._exact_step)
        self._batches.clear()
        if ticks := self._ticks:
            data, self._ticks, self._data = self._data, [], []
            self.topic.publish_batch(self, ticks, data, self._exact_step)


class ChannelPublisher(SampledPublisher):
    """Publisher of numbers that are read from state channels.

    Args:
        topic: Topic of the messages.
        rate: Rate of the messages.
        step: Length of a step, s.
        example: Message that gives all values except the numbers.
        changing: Paths of the fields of the numbers.
        numbers: Function that returns the numbers, given a function that reads a state channel.
    """

    def __init__(
        self,
        topic: Topic,
        rate: Rate,
        step: Fraction,
        example: Message,
        changing: Sequence[str],
        numbers: Callable[[Read], Sequence[Any]],
    ) -> None:
        super().__init__(topic, rate, step)
        self._changing, self._numbers = changing, numbers
        self._template = MessageTemplate.of(topic.codec, example, changing)

    @property
    def reads_batches(self) -> bool:
        return True

    def read_samples(self, past: PastSamples) -> Readings[Sequence[float]]:
        times, found = past.times, self._numbers(past.read)
        numbers = [column if isinstance(column, np.ndarray) else np.full(len(times), column) for column in found]

        def columns() -> ReadingColumns:
            return ReadingColumns(None, time=times, **dict(zip(self._changing, numbers, strict=True)))

        return Readings(len(times), lambda row: [column.item(row) for column in numbers], columns)

    def read_sample(self, tick: int) -> Sequence[float]:
        return self._numbers(read_now)

    def encode(self, tick: int, data: Sequence[float]) -> bytes:
        return self._template.pack(*stamp_of(tick * self._step), *data)

    def encode_batch(self, ticks: Sequence[int], data: Sequence[Sequence[float]]) -> EncodedBatch:
        if isinstance(data, Readings) and data.columns is not None:
            columns = vars(data.columns())
            return self._template.batch.fill(columns["time"], columns)
        times = [tick * self._step for tick in ticks]
        return self._template.batch.fill(times, dict(zip(self._changing, zip(*data, strict=True), strict=True)))


class ClockPublisher:
    """Publisher of simulated time at each due tick."""

    def __init__(self, topic: Topic, rate: Rate, codec: Codec, step: float) -> None:
        self.topic, self.rate, self._step = topic, rate, step
        self._pack = compile_template(codec, codec.make(topic.type), ())
        self._published = -1  # tick up to which everything is published

    def start_at(self, tick: int) -> None:
        self._published = tick

    def next_publish_tick(self, tick: int) -> int | None:
        return self.rate.next_due(tick) if self.topic.has_subscribers else None

    def publish_until(self, tick: int) -> None:
        """Publish the time of all due ticks."""
        while (due := self.rate.next_due(self._published)) <= tick and self.topic.has_subscribers:
            self._published = due
            self.topic.publish(self._pack(*stamp_of(due * self._step)))


@dataclass(eq=False)
class FunctionPublisher:
    """Publisher of the message that `make` returns for each due tick, as an object or as CDR; None is not published."""

    uses_samples: ClassVar[bool] = False

    topic: Topic
    rate: Rate
    make: Callable[[int], Message | bytes | None]

    def on_due(self, tick: int) -> None:
        """Publish the message of a tick."""
        if (message := self.make(tick)) is not None:
            self.topic.publish(message)


class SampledFunctionPublisher(SampledPublisher):
    """Publisher of the message that a function returns, whose data is all in the engine."""

    def __init__(self, topic: Topic, rate: Rate, step: Fraction, make: Callable[[int], Message | bytes | None]) -> None:
        super().__init__(topic, rate, step)
        self._make = make

    def read_sample(self, tick: int) -> Message | bytes | None:
        return self._make(tick)

    def encode(self, tick: int, data: Message | bytes | None) -> Message | bytes | None:
        return data


class FieldPath:
    """Path of a number inside a message, such as `rpm.rpm`."""

    def __init__(self, codec: Codec, type_name: str, path: str) -> None:
        self.path = path
        *self._parents, self._last = path.split(".")
        kind = codec.type_store.message(type_name)
        for name in self._parents:
            kind = codec.type_store.message(self._field(kind, name, type_name, path).base)
        field = self._field(kind, self._last, type_name, path)
        if field.array or not field.is_number:
            raise SkerryError(f"{path!r} of {type_name} is not a single number")
        self._is_integer = "int" in field.base
        self._is_bool = field.base == "bool"

    @staticmethod
    def _field(kind: Any, name: str, type_name: str, path: str) -> Any:
        found = next((field.type for field in kind.fields if field.name == name), None)
        if found is None:
            known = ", ".join(field.name for field in kind.fields)
            raise SkerryError(f"{type_name} has no field {path!r}; {kind.name} has: {known}")
        return found

    def get(self, message: Message) -> float:
        """Return the number in a message."""
        for name in self._parents:
            message = getattr(message, name)
        return float(getattr(message, self._last))

    def convert(self, value: Any) -> Any:
        """Convert a value, or an array of values, to the type of the field: float, integer or boolean."""
        return rounded(value) if self._is_integer else value > 0.5 if self._is_bool else value


def rounded(value: Any) -> Any:
    """Return the nearest integer of a number or of each number of an array."""
    return np.rint(value).astype(np.int64) if isinstance(value, np.ndarray) else round(value)
