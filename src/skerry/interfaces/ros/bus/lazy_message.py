"""Messages between the simulator and its subscribers, which are encoded only when a subscriber reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.parts.readings import Readings

if TYPE_CHECKING:
    from skerry.interfaces.ros.bus.bus import Topic

SECOND = 1_000_000_000  # ns


def nanoseconds(tick: int, step: Fraction) -> int:
    """Return the simulated time of a tick, ns; `step` is the length of a step, s."""
    return tick * step.numerator * SECOND // step.denominator


class LazyMessage:
    """Message that is given as an object, as CDR, or as a row of a batch.

    It is encoded at most once in each format, in the thread of the subscriber that reads it first.
    """

    __slots__ = ("_batch", "_cdr", "_json", "_message", "_ros1", "_row", "tick", "topic")

    def __init__(
        self, topic: Topic, message: Message | bytes | None, batch: MessageBatch | None = None, row: int = 0
    ) -> None:
        self.topic = topic
        self.tick = None if batch is None else batch.ticks[row]
        """Tick of the message; None for the present tick."""
        self._batch, self._row = batch, row
        self._cdr: bytes | None = None
        self._message: Message = message
        self._ros1: bytes | None = None
        self._json: dict[str, Any] | None = None
        if type(message) is bytes:
            self._cdr, self._message = message, None

    @property
    def exists(self) -> bool:
        """Whether there is a message; a row of a batch may have none."""
        if (batch := self._batch) is not None:
            self._cdr = batch.encode().message(self._row)
            self._batch = None  # last, because another thread may run this at the same time
        return self._cdr is not None or self._message is not None

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
    """Encoder of the data that was recorded at some ticks. The data must not change after it was recorded.

    The data of n ticks is `Readings`, an array (n, …) or a list, with one row per tick.
    """

    @abstractmethod
    def encode(self, ticks: Sequence[int], data: Any) -> EncodedBatch:
        """Return the messages of n ≥ 1 ticks. Called in the thread of a subscriber."""

    def warm_up(self) -> None:
        """Compile the kernels that `encode` needs, so that the first messages are not delayed."""
        return


def join_rows(parts: Sequence[Any]) -> Any:
    """Return the rows of all parts, which are `Readings`, arrays or lists."""
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], Readings):
        return Readings.concat(parts)
    return np.concatenate(parts) if isinstance(parts[0], np.ndarray) else list(chain.from_iterable(parts))


class MessageBatch:
    """Messages of one topic at several ticks, with the encoder and the data that they are made of.

    The batch is encoded once, in the thread of the subscriber that reads it first.
    """

    __slots__ = ("_data", "_encoded", "_encoder", "_lock", "_messages", "_step", "live_only", "ticks", "topic")

    def __init__(
        self,
        topic: Topic,
        encoder: MessageEncoder,
        ticks: Sequence[int],
        data: Any,
        step: Fraction,
        *,
        live_only: bool = False,
    ) -> None:
        self.topic = topic
        self.ticks = ticks
        self.live_only = live_only
        """Whether the messages are not recorded, because they depend on how the run is divided into advances."""
        self._encoder, self._data, self._step = encoder, data, step
        self._messages: list[LazyMessage] | None = None
        self._encoded: EncodedBatch | None = None
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self.ticks)

    @property
    def batch_key(self) -> Hashable:
        """Key that is equal for batches which `joined` can join; other subscribers do not read these batches."""
        return self._encoder, None if self._messages is None else self

    @classmethod
    def joined(cls, parts: Sequence[MessageBatch]) -> MessageBatch:
        """Return several batches with the same `batch_key` as one batch."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        ticks = list(chain.from_iterable(part.ticks for part in parts))
        return cls(first.topic, first._encoder, ticks, join_rows([part._data for part in parts]), first._step)

    def times(self) -> NDArray[np.int64]:
        """Return the simulated times of the messages, ns."""
        return np.array(self.ticks, np.int64) * (self._step.numerator * SECOND) // self._step.denominator

    def messages(self) -> list[LazyMessage]:
        """Return the messages one by one; all subscribers share the same objects."""
        if self._messages is None:
            self._messages = [LazyMessage(self.topic, None, self, row) for row in range(len(self))]
        return self._messages

    def encode(self) -> EncodedBatch:
        """Return all messages as CDR; messages that cannot be encoded are absent."""
        with self._lock:
            if self._encoded is None:
                self._encoded = self._encode(self.ticks, self._data)
            return self._encoded

    def _encode(self, ticks: Sequence[int], data: Any) -> EncodedBatch:
        """Return the messages of some rows; if they cannot be encoded together, encode each row that can be."""
        try:
            return self._encoder.encode(ticks, data)
        except Exception:  # it must not end the thread of a transport
            self.topic.report_failure()
        if len(ticks) == 1:
            return EncodedBatch.absent(1)
        rows = [slice(row, row + 1) for row in range(len(ticks))]
        return EncodedBatch.concat([self._encode(ticks[row], data[row]) for row in rows])
