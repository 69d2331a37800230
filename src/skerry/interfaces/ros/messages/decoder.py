"""Decoder of messages from CDR or from the encoding of ROS 1.

Peers may send any bytes, so every length is checked against the remaining bytes. Malformed data raises ValueError.
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
    """Return the numpy dtype of a primitive type."""
    return {"bool": "bool_", "byte": "uint8", "char": "uint8"}.get(base, base)


class ByteReader:
    """Reader of encoded values, with the offset of the next value."""

    def __init__(self, data: Bytes, order: str, is_ros1: bool) -> None:
        self.data = memoryview(data)
        self.offset = 0
        self.order = order
        self.is_ros1 = is_ros1

    @classmethod
    def of_cdr(cls, data: Bytes) -> ByteReader:
        """Return a reader of CDR. Its first four bytes give the byte order, and offsets count from their end."""
        order = {_LITTLE: "<", _BIG: ">"}.get(bytes(data[:2]))
        if order is None or len(data) < 4:
            raise ValueError("the first bytes are not those of plain CDR")
        return cls(memoryview(data)[4:], order, is_ros1=False)

    @property
    def left(self) -> int:
        """Number of bytes that have not been read."""
        return len(self.data) - self.offset

    def number(self, letter: str, size: int) -> Any:
        """Return the next number; CDR aligns it to a multiple of its size."""
        if not self.is_ros1:
            self.offset += -self.offset % size
        start = self.offset
        self.offset += size
        if self.left < 0:
            raise ValueError("the data ends too soon")
        return struct.unpack_from(self.order + letter, self.data, start)[0]

    def count(self, smallest: int) -> int:
        """Return the length of a sequence; `smallest` is the least size of an item, bytes."""
        count: int = self.number("I", 4)
        if count * smallest > self.left:
            raise ValueError(f"a sequence has {count} items, but only {self.left} bytes remain")
        return count

    def text(self) -> str:
        """Return the next string; in CDR its length includes the zero byte at its end."""
        length = self.count(1)
        raw = bytes(self.data[self.offset : self.offset + length])
        self.offset += length
        if not self.is_ros1:
            if raw[-1:] != b"\x00":
                raise ValueError("a string does not end with a zero byte")
            raw = raw[:-1]
        return raw.decode()

    def numbers(self, base: str, count: int) -> Any:
        """Return the next `count` numbers as an array."""
        size = NUMBERS[base]
        if count and not self.is_ros1:
            self.offset += -self.offset % size
        if self.offset + count * size > len(self.data):
            raise ValueError(f"an array has {count} numbers, but only {max(self.left, 0)} bytes remain")
        order = np.dtype(dtype_of(base)).newbyteorder(self.order)  # type: ignore[arg-type]
        found = np.frombuffer(self.data[: self.offset + count * size], order, count, self.offset if count else 0)
        self.offset += count * size
        return found.astype(dtype_of(base), copy=False)

    def end(self) -> None:
        """Raise ValueError if bytes remain after the message; CDR may have up to three padding bytes."""
        if self.left > (0 if self.is_ros1 else 3):
            raise ValueError(f"{self.left} bytes remain after the message")


Read = Callable[[ByteReader], Any]


def message_reader(name: str, make: Callable[..., Any], fields: list[Read]) -> Read:
    """Return the decoder of a message; a message without fields has one byte in CDR and none in ROS 1."""

    def read(reader: ByteReader) -> Any:
        return make(*[field(reader) for field in fields])

    def read_header(reader: ByteReader) -> Any:
        if reader.is_ros1:
            reader.number("I", 4)  # `seq`, which ROS 2 has removed
        return read(reader)

    def read_empty(reader: ByteReader) -> Any:
        return make(0 if reader.is_ros1 else reader.number("B", 1))

    return read_empty if not fields else read_header if name == _HEADER else read


def field_reader(kind: FieldType, message: Callable[[str], Read]) -> Read:
    """Return the decoder of a field; `message` returns the decoder of a message type."""
    if kind.array and kind.is_number:
        return _number_array_reader(kind)
    if kind.is_message:
        one, smallest = message(kind.base), 1
    elif kind.is_number:
        letter, size = _LETTERS[kind.base], NUMBERS[kind.base]
        return lambda reader: reader.number(letter, size)
    else:
        one, smallest = ByteReader.text, 4
    if not kind.array:
        return one
    if kind.array == "fixed":
        return lambda reader: [one(reader) for _ in range(kind.size)]
    return lambda reader: [one(reader) for _ in range(_bounded(kind, reader.count(smallest)))]


def _number_array_reader(kind: FieldType) -> Read:
    base, size = kind.base, NUMBERS[kind.base]
    if kind.array == "fixed":
        return lambda reader: reader.numbers(base, kind.size)
    return lambda reader: reader.numbers(base, _bounded(kind, reader.count(size)))


def _bounded(kind: FieldType, count: int) -> int:
    if kind.array == "bounded" and count > kind.size:
        raise ValueError(f"{kind.base}[<={kind.size}] was expected, not {count} items")
    return count
