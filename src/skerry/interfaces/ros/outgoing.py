"""What is on its way from the simulator to its peers: a message, or a series of them, made when somebody takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skerry.interfaces.ros.codec import Message
from skerry.interfaces.ros.packed import Packed

if TYPE_CHECKING:
    from skerry.interfaces.ros.bus import Topic

Make: TypeAlias = Callable[[], "Message | bytes | None"]
"""Makes a message, as an object or as CDR, or finds that there is nothing to say."""
MakeOne: TypeAlias = Callable[[int], "Message | bytes | None"]
"""The same, of the message of some number."""
MakeAll: TypeAlias = Callable[[], "Packed | None"]
"""Makes all of several messages, or finds that they can only be made one by one."""

SECOND = 1_000_000_000  # ns


def nanoseconds(tick: int, step: Fraction) -> int:
    """Simulated time, ns."""
    return tick * step.numerator * SECOND // step.denominator


def all_nanoseconds(ticks: Sequence[int], step: Fraction) -> NDArray[np.int64]:
    """The same of many ticks; whole seconds apart from the rest, so that no product is too large for 64 bits."""
    seconds, rest = np.divmod(np.asarray(ticks, np.int64) * step.numerator, step.denominator)
    found: NDArray[np.int64] = seconds * SECOND + rest * SECOND // step.denominator
    return found


class Outgoing:
    """A message on its way: an object, CDR, or what will make one of them.

    It is made, and encoded in each form, at most once, when that is first taken, in the thread of whoever takes it.
    `time`, ns, is that of what it tells of, if that is not the time at which it is said.
    """

    __slots__ = ("_cdr", "_json", "_make", "_message", "_ros1", "time", "topic")

    def __init__(
        self, topic: Topic, message: Message | bytes | None, make: Make | None = None, time: int | None = None
    ) -> None:
        self.topic = topic
        self.time = time
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


class Series:
    """Messages of one topic on their way, of several ticks; what makes them makes one of them, or all at once."""

    __slots__ = ("_each", "_make_all", "_make_one", "_step", "_ticks", "topic")

    def __init__(
        self, topic: Topic, ticks: Sequence[int], step: Fraction, make_one: MakeOne, make_all: MakeAll
    ) -> None:
        self.topic = topic
        self._ticks, self._step = ticks, step
        self._make_one, self._make_all = make_one, make_all
        self._each: list[Outgoing] | None = None

    def __len__(self) -> int:
        return len(self._ticks)

    def times(self) -> NDArray[np.int64]:
        """Of what they tell of, ns."""
        return all_nanoseconds(self._ticks, self._step)

    def each(self) -> list[Outgoing]:
        """One by one; the same ones for all who take them."""
        if self._each is None:
            self._each = [Outgoing(self.topic, None, partial(self._make_one, k)) for k in range(len(self))]
        return self._each

    def all(self) -> Packed:
        """As CDR, all at once."""
        if self._each is None:
            try:
                said = self._make_all()
                if said is not None:
                    return said
            except Exception:
                self.topic.fail()
        return Packed.of([outgoing.said for outgoing in self.each()])
