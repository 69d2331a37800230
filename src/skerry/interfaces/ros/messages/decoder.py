"""Messages from bytes, as CDR or as ROS 1 writes them: every length is held against the bytes that are left.

Peers may send anything, and no length is believed. What is wrong raises ValueError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from skerry.interfaces.ros.messages.types import NUMBERS, FieldType

Bytes = bytes | bytearray | memoryview

_LETTERS: Final = {
    **{"int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B", "uint16": "H", "uint32": "I"},
    **{"uint64": "Q", "float32": "f", "float64": "d", "bool": "?", "byte": "B", "char": "B"},
}
_HEADER: Final = "std_msgs/msg/Header"
_LITTLE, _BIG = b"\x00\x01", b"\x00\x00"  # OMG DDSI-RTPS 2.5, table 10.3: CDR_LE and CDR_BE


def dtype_of(base: str) -> str:
    """The type of numpy's numbers for a primitive type."""
    return {"bool": "bool_", "byte": "uint8", "char": "uint8"}.get(base, base)


class Source:
    """Bytes with a place in them, up to which they have been read."""

    def __init__(self, data: Bytes, order: str, is_ros1: bool) -> None:
        self.data = memoryview(data)
        self.at = 0
        self.order = order
        self.is_ros1 = is_ros1

    @classmethod
    def of_cdr(cls, data: Bytes) -> Source:
        """Bytes of ROS 2, whose first four tell their form; places are counted from behind them."""
        order = {_LITTLE: "<", _BIG: ">"}.get(bytes(data[:2]))
        if order is None or len(data) < 4:
            raise ValueError("they do not begin as plain CDR does")
        return cls(memoryview(data)[4:], order, is_ros1=False)

    @property
    def left(self) -> int:
        """How many bytes have not been read."""
        return len(self.data) - self.at

    def number(self, letter: str, size: int) -> Any:
        """The next number; in CDR it stands at a multiple of its size."""
        if not self.is_ros1:
            self.at += -self.at % size
        start = self.at
        self.at += size
        if self.left < 0:
            raise ValueError("they end too soon")
        return struct.unpack_from(self.order + letter, self.data, start)[0]

    def count(self, smallest: int) -> int:
        """The length of a sequence whose items have at least so many bytes each."""
        count: int = self.number("I", 4)
        if count * smallest > self.left:
            raise ValueError(f"{count} items were announced, and {self.left} bytes are left")
        return count

    def text(self) -> str:
        """The next string; in CDR its length counts the zero at its end."""
        length = self.count(1)
        raw = bytes(self.data[self.at : self.at + length])
        self.at += length
        if not self.is_ros1:
            if raw[-1:] != b"\x00":
                raise ValueError("a string does not end with a zero")
            raw = raw[:-1]
        return raw.decode()

    def numbers(self, base: str, count: int) -> Any:
        """So many numbers, as an array."""
        size = NUMBERS[base]
        if count and not self.is_ros1:
            self.at += -self.at % size
        if self.at + count * size > len(self.data):
            raise ValueError(f"{count} numbers were announced, and {max(self.left, 0)} bytes are left")
        order = np.dtype(dtype_of(base)).newbyteorder(self.order)  # type: ignore[arg-type]
        found = np.frombuffer(self.data[: self.at + count * size], order, count, self.at if count else 0)
        self.at += count * size
        return found.astype(dtype_of(base), copy=False)

    def end(self) -> None:
        """Refuse bytes behind the message; in CDR up to three may fill it up."""
        if self.left > (0 if self.is_ros1 else 3):
            raise ValueError(f"{self.left} bytes are left over")


Read = Callable[[Source], Any]


def message_reader(name: str, make: Callable[..., Any], fields: list[Read]) -> Read:
    """How a message is read of its fields, in order; one without fields has a byte in CDR, and none in ROS 1."""

    def read(source: Source) -> Any:
        return make(*[field(source) for field in fields])

    def read_header(source: Source) -> Any:
        if source.is_ros1:
            source.number("I", 4)  # `seq`, which ROS 2 has no more
        return read(source)

    def read_empty(source: Source) -> Any:
        return make(0 if source.is_ros1 else source.number("B", 1))

    return read_empty if not fields else read_header if name == _HEADER else read


def field_reader(kind: FieldType, message: Callable[[str], Read]) -> Read:
    """How a field is read; `message` says it of the messages in it."""
    if kind.array and kind.is_number:
        return _number_array_reader(kind)
    if kind.is_message:
        one, smallest = message(kind.base), 1
    elif kind.is_number:
        letter, size = _LETTERS[kind.base], NUMBERS[kind.base]
        return lambda source: source.number(letter, size)
    else:
        one, smallest = Source.text, 4
    if not kind.array:
        return one
    if kind.array == "fixed":
        return lambda source: [one(source) for _ in range(kind.size)]
    return lambda source: [one(source) for _ in range(_bounded(kind, source.count(smallest)))]


def _number_array_reader(kind: FieldType) -> Read:
    base, size = kind.base, NUMBERS[kind.base]
    if kind.array == "fixed":
        return lambda source: source.numbers(base, kind.size)
    return lambda source: source.numbers(base, _bounded(kind, source.count(size)))


def _bounded(kind: FieldType, count: int) -> int:
    if kind.array == "bounded" and count > kind.size:
        raise ValueError(f"{kind.base}[<={kind.size}] was expected, not {count} of them")
    return count
