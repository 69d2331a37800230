"""Publishers: each one publishes readings, the clock, actuator feedback or other messages on one topic."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.bus.lazy_message import MessageEncoder, join_rows
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.encoders import Encoder
from skerry.interfaces.ros.messages.templates import MessageTemplate
from skerry.parts.interface import ReadingBatch
from skerry.parts.observer import Observer, PastSamples
from skerry.parts.readings import Readings
from skerry.parts.state_channel import Read, read_now
from skerry.world.sampling.mounted_sensor import MountedSensor


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

    @property
    def needs_replay(self) -> bool:  # type: ignore[override]
        return not all(publisher.reads_batches for publisher in self.sampled)

    def on_samples(self, past: PastSamples) -> None:
        """Record the data of publishers that read samples as a batch."""
        ticks = past.ticks
        self._count = self.rate.count(ticks[-1])
        for publisher in self.sampled:
            if publisher.reads_batches:
                publisher.record(ticks, publisher.read_samples(past))

    def on_sample(self, tick: int) -> None:
        """Record the data of the other publishers from the sample of one due tick."""
        for publisher in self.sampled:
            if not publisher.reads_batches:
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

    def __init__(self, topic: Topic, encoder: Encoder, step: Fraction) -> None:
        self.topic = topic
        self.encoder = encoder
        self._exact_step, self._step = step, float(step)

    def encode(self, ticks: Sequence[int], data: Readings[Any]) -> EncodedBatch:
        return self.encoder.encode(data, np.array(ticks) * self._step)

    def warm_up(self) -> None:
        self.encoder.warm_up()


class ReadingPublisher(SensorPublisher):
    """Publisher of each reading or, with a `rate` slower than the sensor, of the first reading of each period."""

    def __init__(self, topic: Topic, encoder: Encoder, step: Fraction, rate: Rate | None) -> None:
        super().__init__(topic, encoder, step)
        self.rate = rate
        self._last = -1  # tick of the latest reading

    def on_readings(self, new: ReadingBatch) -> None:
        """Publish the new readings that are due."""
        ticks, readings = new.ticks, new.readings
        if self.rate is not None:
            rows = self._due(ticks, self.rate)
            if len(rows) == 1 < len(ticks):  # the usual case of a slower topic
                ticks, readings = [ticks[rows[0]]], readings[rows[0] : rows[0] + 1]
            elif len(rows) < len(ticks):
                ticks, readings = [ticks[row] for row in rows], readings.take(rows)
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

    def __init__(self, topic: Topic, encoder: Encoder, step: Fraction, rate: Rate) -> None:
        super().__init__(topic, encoder, step)
        self.rate = rate
        self._last: Readings[Any] | None = None  # one reading
        self._new: deque[tuple[int, Readings[Any]]] = deque()  # ticks and single readings that are not yet used
        self._published = -1  # tick up to which everything is published

    def on_readings(self, new: ReadingBatch) -> None:
        """Store new readings."""
        valid = new.readings.valid
        rows = range(len(new.ticks)) if valid is None else np.flatnonzero(valid).tolist()
        self._new += ((new.ticks[row], new.readings.take([row])) for row in rows)

    def start_at(self, tick: int) -> None:
        self._published = tick
        self._use_readings_until(tick)

    def next_publish_tick(self, tick: int) -> int | None:
        return None

    def _use_readings_until(self, tick: int) -> None:
        while self._new and self._new[0][0] <= tick:
            _, self._last = self._new.popleft()

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
            self.topic.publish_batch(self, ticks, Readings.concat(readings), self._exact_step)


class SampledPublisher(MessageEncoder):
    """Publisher that records data at each due tick, and publishes it as a batch after the world has advanced."""

    def __init__(self, topic: Topic, rate: Rate, step: Fraction) -> None:
        self.topic, self.rate = topic, rate
        self._exact_step, self._step = step, float(step)
        self._ticks: list[int] = []
        self._data: list[Any] = []  # batches of the data of these ticks

    @property
    def uses_samples(self) -> bool:
        """Whether the engine holds all data that is read."""
        return True

    @property
    def reads_batches(self) -> bool:
        """Whether `read_samples` is implemented."""
        return False

    def read_samples(self, past: PastSamples) -> Any:
        """Return the data of n past samples: an array (n, …) or a list."""
        raise NotImplementedError

    @abstractmethod
    def read_now(self, tick: int) -> Any:
        """Return the data of the world at the current tick, as a batch of one row."""

    def record(self, ticks: list[int], data: Any) -> None:
        """Record the data of some ticks."""
        self._ticks += ticks
        self._data.append(data)

    def on_due(self, tick: int) -> None:
        """Record the data of the current tick."""
        self.record([tick], self.read_now(tick))

    def publish_recorded(self) -> None:
        """Publish all recorded data."""
        if ticks := self._ticks:
            data, self._ticks, self._data = self._data, [], []
            self.topic.publish_batch(self, ticks, join_rows(data), self._exact_step)


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
        self._template = MessageTemplate(topic.codec, example, changing)

    @property
    def reads_batches(self) -> bool:
        return True

    def read_samples(self, past: PastSamples) -> NDArray[np.float64]:
        return np.stack(np.broadcast_arrays(*self._numbers(past.read), np.array(past.times)), axis=-1)[:, :-1]

    def read_now(self, tick: int) -> NDArray[np.float64]:
        return np.array([self._numbers(read_now)], np.float64)

    def encode(self, ticks: Sequence[int], data: NDArray[np.float64]) -> EncodedBatch:
        columns = {path: data[:, number] for number, path in enumerate(self._changing)}
        return self._template.fill(np.array(ticks) * self._step, columns)


class StampPublisher(MessageEncoder):
    """Publisher of messages of which only the stamp changes, such as the clock or the calibration of a camera.

    Args:
        topic: Topic of the messages.
        template: Template of the messages.
        step: Length of a step, s.
        rate: Rate of the messages.
        sensor: Sensor at whose due ticks messages are published, while it is on; the first one of each period of
            `rate`. None for a message at each due tick of `rate`.
    """

    def __init__(
        self,
        topic: Topic,
        template: MessageTemplate,
        step: Fraction,
        rate: Rate,
        sensor: MountedSensor[Any] | None = None,
    ) -> None:
        self.topic, self.rate = topic, rate
        self._template, self._sensor = template, sensor
        self._exact_step, self._step = step, float(step)
        # tick up to which everything is published; sensors do not measure at tick 0
        self._published = -1 if sensor is None else 0

    def start_at(self, tick: int) -> None:
        self._published = tick

    def next_publish_tick(self, tick: int) -> int | None:
        return self.rate.next_due(tick) if self.topic.has_subscribers and self._sensor is None else None

    def publish_until(self, tick: int) -> None:
        """Publish the messages of all due ticks."""
        sensor = self._sensor
        rate, ticks = self.rate if sensor is None else sensor.rate, []
        while (due := rate.next_due(self._published)) <= tick and self.topic.has_subscribers:
            self._published = due
            if sensor is None or (sensor.on and self.rate.count(due) != self.rate.count(rate.last_due(due - 1))):
                ticks.append(due)
        if ticks:
            self.topic.publish_batch(self, ticks, ticks, self._exact_step)

    def encode(self, ticks: Sequence[int], data: Sequence[int]) -> EncodedBatch:
        return self._template.fill(np.array(ticks) * self._step, {})


@dataclass(eq=False)
class FunctionPublisher:
    """Publisher of the message that `make` returns for each due tick; None is not published."""

    uses_samples: ClassVar[bool] = False

    topic: Topic
    rate: Rate
    make: Callable[[int], Message | None]

    def on_due(self, tick: int) -> None:
        """Publish the message of a tick."""
        if (message := self.make(tick)) is not None:
            self.topic.publish(message)


class SampledFunctionPublisher(SampledPublisher):
    """Publisher of the message that a function returns, whose data is all in the engine."""

    def __init__(self, topic: Topic, rate: Rate, step: Fraction, make: Callable[[int], Message]) -> None:
        super().__init__(topic, rate, step)
        self._make = make

    def read_now(self, tick: int) -> list[Message]:
        return [self._make(tick)]

    def encode(self, ticks: Sequence[int], data: list[Message]) -> EncodedBatch:
        return EncodedBatch.from_messages([self.topic.codec.to_cdr(message) for message in data])


class FieldPath:
    """Path of a number inside a message, such as `rpm.rpm`."""

    def __init__(self, codec: Codec, type_name: str, path: str) -> None:
        self.path = path
        *self._parents, self._last = path.split(".")
        field = codec.type_store.field(type_name, path)
        if field.array or not field.is_number:
            raise SkerryError(f"{path!r} of {type_name} is not a single number")
        self._is_integer = "int" in field.base
        self._is_bool = field.base == "bool"

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
