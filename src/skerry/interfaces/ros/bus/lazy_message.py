"""Messages between the simulator and its subscribers, which are encoded only when a subscriber reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.parts.sensor import Readings

if TYPE_CHECKING:
    from skerry.interfaces.ros.bus.bus import Topic

MessageFactory: TypeAlias = Callable[[], "Message | bytes | None"]
"""Function that returns a message as an object or as CDR, or None if there is no message."""
SECOND = 1_000_000_000  # ns


def nanoseconds(tick: int, step: Fraction) -> int:
    """Return the simulated time of a tick, ns; `step` is the length of a step, s."""
    return tick * step.numerator * SECOND // step.denominator


class LazyMessage:
    """Message that is given as an object, as CDR, or as a function that makes it.

    The message is made once, and encoded at most once in each format. This happens in the thread of the subscriber that
    reads it first.
    """

    __slots__ = ("_cdr", "_json", "_make", "_message", "_ros1", "topic")

    def __init__(self, topic: Topic, message: Message | bytes | None, make: MessageFactory | None = None) -> None:
        self.topic = topic
        self._make = make
        self._cdr: bytes | None = None
        self._message: Message = message
        self._ros1: bytes | None = None
        self._json: dict[str, Any] | None = None
        if type(message) is bytes:
            self._cdr, self._message = message, None

    @property
    def exists(self) -> bool:
        """Whether there is a message; the function that makes it may have returned None or failed."""
        if (make := self._make) is not None:
            made = self._made(make)
            if type(made) is bytes:
                self._cdr = made
            else:
                self._message = made
            self._make = None  # last, because another thread may run this at the same time
        return self._cdr is not None or self._message is not None

    def _made(self, make: MessageFactory) -> Message | bytes | None:
        """Return the result of `make`, or None if it fails; a failure must not end the thread of a transport."""
        try:
            return make()
        except Exception:
            self.topic.report_failure()
            return None

    @property
    def message(self) -> Message:
        """Message as an object."""
        if self.exists and self._message is None:
            self._message = self.topic.codec.from_cdr(self.cdr, self.topic.type)
        return self._message

    @property
    def cdr(self) -> bytes:
        """Message as CDR, the encoding of ROS 2."""
        if self.exists and self._cdr is None:
            self._cdr = self.topic.codec.to_cdr(self._message)
        assert self._cdr is not None
        return self._cdr

    @property
    def cdr_or_none(self) -> bytes | None:
        """Message as CDR; None if there is no message or it cannot be encoded."""
        try:
            return self.cdr if self.exists else None
        except Exception:
            self.topic.report_failure()
            return None

    @property
    def ros1(self) -> bytes:
        """Message in the encoding of ROS 1."""
        if self._ros1 is None:
            self._ros1 = self.topic.codec.cdr_to_ros1(self.cdr, self.topic.type)
        return self._ros1

    @property
    def json(self) -> dict[str, Any]:
        """Message as JSON values, in the format of rosbridge."""
        if self._json is None:
            self._json = self.topic.codec.to_json(self.message)
        return self._json


class MessageEncoder(ABC):
    """Encoder of the data that was recorded at some ticks. The data must not change after it was recorded."""

    @abstractmethod
    def encode(self, tick: int, data: Any) -> Message | bytes | None:
        """Return the message of one tick, or None if there is none. Called in the thread of a subscriber."""

    def encode_batch(self, ticks: Sequence[int], data: Sequence[Any]) -> EncodedBatch | None:
        """Return the messages of several ticks, or None if this encoder has no batch encoding."""
        return None

    def warm_up(self) -> None:
        """Compile the kernels that `encode_batch` needs, so that the first messages are not delayed."""
        return


class MessageBatch:
    """Messages of one topic at several ticks, with the encoder and the data that they are made of."""

    __slots__ = ("_data", "_encoder", "_messages", "_step", "_ticks", "topic")

    def __init__(
        self, topic: Topic, encoder: MessageEncoder, ticks: Sequence[int], data: Sequence[Any], step: Fraction
    ) -> None:
        self.topic = topic
        self._encoder, self._ticks, self._data, self._step = encoder, ticks, data, step
        self._messages: list[LazyMessage] | None = None

    def __len__(self) -> int:
        return len(self._ticks)

    @property
    def batch_key(self) -> Hashable:
        """Key that is equal for batches which `joined` can join."""
        separate = self if self._messages is not None else None
        rows = self._data if isinstance(self._data, Readings) else None
        return self._encoder, type(self._data), rows is not None and (rows.columns is None, rows.batch_key), separate

    @classmethod
    def joined(cls, parts: Sequence[MessageBatch]) -> MessageBatch:
        """Return several batches with the same `batch_key` as one batch."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        ticks = list(chain.from_iterable(part._ticks for part in parts))
        rows = [part._data for part in parts if isinstance(part._data, Readings)]
        data = Readings.concat(rows) if rows else list(chain.from_iterable(part._data for part in parts))
        return cls(first.topic, first._encoder, ticks, data, first._step)

    def times(self) -> NDArray[np.int64]:
        """Return the simulated times of the messages, ns."""
        return np.array(self._ticks, np.int64) * (self._step.numerator * SECOND) // self._step.denominator

    def messages(self) -> list[LazyMessage]:
        """Return the messages one by one; all subscribers share the same objects."""
        if self._messages is None:
            self._messages = [LazyMessage(self.topic, None, partial(self._make, k)) for k in range(len(self))]
        return self._messages

    def _make(self, index: int) -> Message | bytes | None:
        return self._encoder.encode(self._ticks[index], self._data[index])

    def encode(self) -> EncodedBatch:
        """Return all messages as CDR."""
        if self._messages is None:
            try:
                encoded = self._encoder.encode_batch(self._ticks, self._data)
                if encoded is not None:
                    return encoded
            except Exception:
                self.topic.report_failure()
        return EncodedBatch.from_messages([message.cdr_or_none for message in self.messages()])
