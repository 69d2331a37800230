"""What is on its way from the simulator to its peers: a message, or a series of them, made when somebody takes it."""

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
from skerry.interfaces.ros.messages.encoded_batch import Packed
from skerry.parts.sensor import Readings

if TYPE_CHECKING:
    from skerry.interfaces.ros.bus.bus import Topic

Make: TypeAlias = Callable[[], "Message | bytes | None"]
"""Makes a message, as an object or as CDR, or finds that there is nothing to say."""
SECOND = 1_000_000_000  # ns


def nanoseconds(tick: int, step: Fraction) -> int:
    """Simulated time, ns."""
    return tick * step.numerator * SECOND // step.denominator


class Outgoing:
    """A message on its way: an object, CDR, or what will make one of them.

    It is made, and encoded in each form, at most once, when that is first taken, in the thread of whoever takes it.
    """

    __slots__ = ("_cdr", "_json", "_make", "_message", "_ros1", "topic")

    def __init__(self, topic: Topic, message: Message | bytes | None, make: Make | None = None) -> None:
        self.topic = topic
        self._make = make
        self._cdr: bytes | None = None
        self._message: Message = message
        self._ros1: bytes | None = None
        self._json: dict[str, Any] | None = None
        if type(message) is bytes:
            self._cdr, self._message = message, None

    @property
    def is_there(self) -> bool:
        """Whether there is a message; what was to make it may have found that there is nothing to say."""
        if (make := self._make) is not None:
            made = self._made(make)
            if type(made) is bytes:
                self._cdr = made
            else:
                self._message = made
            self._make = None  # last, as another thread may be here too
        return self._cdr is not None or self._message is not None

    def _made(self, make: Make) -> Message | bytes | None:
        """What is made; a fault of whatever makes it must not end the thread of a peer."""
        try:
            return make()
        except Exception:
            self.topic.fail()
            return None

    @property
    def message(self) -> Message:
        """As an object."""
        if self.is_there and self._message is None:
            self._message = self.topic.codec.from_cdr(self.cdr, self.topic.type)
        return self._message

    @property
    def cdr(self) -> bytes:
        """As ROS 2 has it."""
        if self.is_there and self._cdr is None:
            self._cdr = self.topic.codec.to_cdr(self._message)
        assert self._cdr is not None
        return self._cdr

    @property
    def said(self) -> bytes | None:
        """As ROS 2 has it, if there is anything to say, and it can be encoded."""
        try:
            return self.cdr if self.is_there else None
        except Exception:
            self.topic.fail()
            return None

    @property
    def ros1(self) -> bytes:
        """As ROS 1 has it."""
        if self._ros1 is None:
            self._ros1 = self.topic.codec.cdr_to_ros1(self.cdr, self.topic.type)
        return self._ros1

    @property
    def json(self) -> dict[str, Any]:
        """As rosbridge has it."""
        if self._json is None:
            self._json = self.topic.codec.to_json(self.message)
        return self._json


class Maker(ABC):
    """Makes messages of what was seen at some ticks; what it is made of must not change."""

    @abstractmethod
    def make(self, tick: int, seen: Any) -> Message | bytes | None:
        """The message of a tick, or None if there is nothing to say; in the thread of whoever takes it."""

    def make_all(self, ticks: Sequence[int], seen: Sequence[Any]) -> Packed | None:
        """Those of several at once, if that can be done."""
        return None

    def warm_up(self) -> None:
        """Have what `make_all` needs compiled, so that the first messages need not wait for it."""
        return


class Series:
    """Messages of one topic on their way, of several ticks, and what will make them of what was seen then."""

    __slots__ = ("_each", "_maker", "_seen", "_step", "_ticks", "topic")

    def __init__(self, topic: Topic, maker: Maker, ticks: Sequence[int], seen: Sequence[Any], step: Fraction) -> None:
        self.topic = topic
        self._maker, self._ticks, self._seen, self._step = maker, ticks, seen, step
        self._each: list[Outgoing] | None = None

    def __len__(self) -> int:
        return len(self._ticks)

    @property
    def kin(self) -> Hashable:
        """The same for series that can be joined."""
        taken = self if self._each is not None else None
        rows = self._seen if isinstance(self._seen, Readings) else None
        return self._maker, type(self._seen), rows is not None and (rows.columns is None, rows.batch_key), taken

    @classmethod
    def joined(cls, parts: Sequence[Series]) -> Series:
        """Several that are kin as one."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        ticks = list(chain.from_iterable(part._ticks for part in parts))
        rows = [part._seen for part in parts if isinstance(part._seen, Readings)]
        seen = Readings.concat(rows) if rows else list(chain.from_iterable(part._seen for part in parts))
        return cls(first.topic, first._maker, ticks, seen, first._step)

    def times(self) -> NDArray[np.int64]:
        """Of what they tell of, ns."""
        return np.array(self._ticks, np.int64) * (self._step.numerator * SECOND) // self._step.denominator

    def each(self) -> list[Outgoing]:
        """One by one; the same ones for all who take them."""
        if self._each is None:
            self._each = [Outgoing(self.topic, None, partial(self._make, k)) for k in range(len(self))]
        return self._each

    def _make(self, number: int) -> Message | bytes | None:
        return self._maker.make(self._ticks[number], self._seen[number])

    def all(self) -> Packed:
        """As CDR, all at once."""
        if self._each is None:
            try:
                said = self._maker.make_all(self._ticks, self._seen)
                if said is not None:
                    return said
            except Exception:
                self.topic.fail()
        return Packed.of([outgoing.said for outgoing in self.each()])
