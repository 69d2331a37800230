"""Prepared messages: bytes of which only some numbers change, put together from those numbers by one call.

What a sensor says has the same texts and lengths every time, so all of it but the measured numbers is encoded once,
which takes a tenth of the time of making message objects and encoding them; and many messages at once take hardly
longer than one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from rosbags.typesys.base import normalize_fieldname

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import Packed
from skerry.interfaces.ros.messages.fast_encoders import LITTLE_ENDIAN
from skerry.interfaces.ros.messages.type_hash import EMPTY
from skerry.interfaces.ros.messages.types import NUMBERS, FieldType

Fill: TypeAlias = Callable[..., bytes]
"""Takes the stamp's seconds and nanoseconds, then the numbers that change, and gives the message as CDR."""

TIME: Final = "builtin_interfaces/msg/Time"
STAMP: Final = ("sec", "nanosec")

_LETTERS: Final = {
    **{"bool": "?", "byte": "B", "char": "B", "float32": "f", "float64": "d"},
    **{"int8": "b", "int16": "h", "int32": "i", "int64": "q"},
    **{"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q"},
}
_OF_STAMP: Final = "@"  # begins the path of a stamp's number, wherever the stamp is; no field can be called so
_TEXT: Final = "string"
_BYTES: Final = "bytes"  # not a type of ROS: those of an array of them, which are written as one piece


def stamp_of(time: float) -> tuple[int, int]:
    """Simulated time, s, as whole seconds and nanoseconds."""
    return divmod(round(time * 1e9), 1_000_000_000)


def prepare(codec: Codec, message: Message, changing: Sequence[str]) -> Fill:
    """How messages like this one are written, of which the stamps and the named fields change.

    A field is named by its path, such as `status.service` or `beams.0.range`. It may be a number, or an array or a
    message of numbers, which `Fill` then takes one after the other; an array of bytes it takes as one `bytes`, which
    must be as long. All stamps of the message are the same.
    """
    layout = _Layout.of(codec, message, changing)
    letters, arguments = ["<"], ["constant_0"]
    constants: dict[str, bytes] = {}
    place = 0
    for slot in layout.slots:
        constants[f"constant_{len(constants)}"] = layout.template[place : slot.place]
        letters += f"{slot.place - place}s", slot.letter
        arguments += [slot.word, f"constant_{len(constants)}"]
        place = slot.place + slot.size
    constants[f"constant_{len(constants)}"] = layout.template[place:]
    letters.append(f"{len(layout.template) - place}s")
    parameters = [*STAMP, *(word for found in layout.words.values() for word in found)]
    # Written out, as `collections.namedtuple` does: one call of `pack`, and nothing to loop over.
    text = f"lambda {', '.join(parameters)}: pack({', '.join(arguments)})"
    fill: Fill = eval(text, {"pack": struct.Struct("".join(letters)).pack, **constants})
    return fill


@dataclass(frozen=True, eq=False)
class Form:
    """How messages like one are written, of which the stamps and some fields change: one by one, or many at once."""

    one: Fill
    many: RowsForm

    @classmethod
    def of(cls, codec: Codec, message: Message, changing: Sequence[str]) -> Form:
        """See `prepare`."""
        return cls(prepare(codec, message, changing), RowsForm(codec, message, changing))


class RowsForm:
    """How many messages like one are written at once, of which the stamps and the named fields change; see `prepare`.

    Fields are numbers, or arrays or messages of numbers; the bytes of an array are so many numbers.
    """

    def __init__(self, codec: Codec, message: Message, changing: Sequence[str]) -> None:
        layout = _Layout.of(codec, message, changing)
        self._template = np.frombuffer(layout.template, np.uint8)
        slots = {slot.word: slot for slot in layout.slots}
        fields: dict[str, tuple[Any, int]] = {}  # with their places
        self._stamps: dict[str, list[str]] = {word: [] for word in STAMP}
        for slot in layout.slots:
            if slot.word in self._stamps:
                self._stamps[slot.word].append(f"{slot.word} {slot.place}")
                fields[self._stamps[slot.word][-1]] = (f"<{slot.letter}", slot.place)
        self._parts: list[tuple[str, list[str], int]] = []  # a path, the fields of its numbers, and how many they are
        for path, words in layout.words.items():
            found = [slots[word] for word in words]
            size, letter = found[0].size, found[0].letter
            numbers = len(words)
            if letter.endswith("s"):
                names, numbers = [path], size
                fields[path] = (("u1", (size,)), found[0].place)
            elif all(slot == _Slot(found[0].place + size * k, size, letter, slot.word) for k, slot in enumerate(found)):
                names = [path]
                fields[path] = ((f"<{letter}", (numbers,)), found[0].place)
            else:
                names = [f"{path} {number}" for number in range(numbers)]
                fields |= {name: (f"<{slot.letter}", slot.place) for name, slot in zip(names, found, strict=True)}
            self._parts.append((path, names, numbers))
        self._type = np.dtype(
            {
                "names": list(fields),
                "formats": [form for form, _ in fields.values()],
                "offsets": [place for _, place in fields.values()],
                "itemsize": len(layout.template),
            }
        )

    def fill(self, times: Sequence[float], columns: Mapping[str, ArrayLike]) -> Packed:
        """The messages of these times, s, and numbers: for each field as many as it has for each message, or once."""
        count, size = len(times), len(self._template)
        data = np.empty((count, size), np.uint8)
        data[:] = self._template
        rows = data.view(self._type)[:, 0]
        if self._stamps[STAMP[0]]:
            stamps = np.divmod(np.rint(np.multiply(times, 1e9)).astype(np.int64), 1_000_000_000)
            for word, values in zip(STAMP, stamps, strict=True):
                for name in self._stamps[word]:
                    rows[name] = values
        for path, names, numbers in self._parts:
            found = np.asarray(columns[path])
            many = found.reshape(count if found.size == count * numbers else 1, numbers)
            if len(names) == 1:
                rows[names[0]] = many
            else:
                for number, name in enumerate(names):
                    rows[name] = many[:, number]
        return Packed(data.ravel(), np.arange(0, count * size, size), np.full(count, size))


@dataclass(frozen=True)
class _Slot:
    """A number of a message that changes: where it is, its letter for `struct`, and what stands for it."""

    place: int
    size: int
    letter: str
    word: str


@dataclass(frozen=True)
class _Layout:
    """A message as bytes, and the numbers in them that change; `words` stand for those of each field that is named."""

    template: bytes
    slots: list[_Slot]
    words: dict[str, list[str]]

    @classmethod
    def of(cls, codec: Codec, message: Message, changing: Sequence[str]) -> _Layout:
        words: dict[str, list[str]] = {path: [] for path in changing}
        slots: list[_Slot] = []
        template = bytearray(LITTLE_ENDIAN)
        for path, base, value in _leaves(codec, message.__msgtype__, message, ""):
            template += bytes((len(LITTLE_ENDIAN) - len(template)) % (4 if base == _TEXT else NUMBERS.get(base, 1)))
            word = _word(path, words)
            encoded = _encoded(base, value)
            if word is not None:
                if base == _TEXT:
                    raise SkerryError(f"{path!r} of {message.__msgtype__} is a text, and cannot change")
                letter = f"{len(value)}s" if base == _BYTES else _LETTERS[base]
                slots.append(_Slot(len(template), len(encoded), letter, word))
            template += encoded
        for path, found in words.items():
            if not found:
                raise SkerryError(f"{message.__msgtype__} has no numbers {path!r} that could change")
        return cls(bytes(template), slots, words)


def _word(path: str, names: dict[str, list[str]]) -> str | None:
    """What stands for a number that changes: its parameter."""
    if path.startswith(_OF_STAMP):
        return path.removeprefix(_OF_STAMP)
    for number, (wanted, found) in enumerate(names.items()):
        if path == wanted or path.startswith(f"{wanted}."):
            found.append(f"value_{number}_{len(found)}")
            return found[-1]
    return None


def _leaves(codec: Codec, name: str, message: Message, path: str) -> Iterator[tuple[str, str, Any]]:
    """All values of a message in order: path, primitive type, value; the lengths of sequences have no path."""
    for field in codec.vocabulary.message(name).fields or (EMPTY,):
        value = getattr(message, normalize_fieldname(field.name))
        yield from _values(codec, field.type, value, f"{path}{field.name}")


def _values(codec: Codec, kind: FieldType, value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    if kind.array:
        if kind.array != "fixed":
            yield "", "uint32", len(value)
        if kind.is_number and NUMBERS[kind.base] == 1:
            yield path, _BYTES, value.tobytes()
            return
        items = value.tolist() if kind.is_number else value
        single = FieldType(kind.base, limit=kind.limit)
        for number, item in enumerate(items):
            yield from _values(codec, single, item, f"{path}.{number}")
    elif kind.base == TIME:
        for word, base in zip(STAMP, ("int32", "uint32"), strict=True):
            yield f"{_OF_STAMP}{word}", base, getattr(value, word)
    elif kind.is_message:
        yield from _leaves(codec, kind.base, value, f"{path}.")
    else:
        yield path, kind.base, value


def _encoded(base: str, value: Any) -> bytes:
    if base == _BYTES:
        return bytes(value)
    if base == _TEXT:
        encoded = value.encode()
        return struct.pack("<I", len(encoded) + 1) + encoded + b"\x00"
    return struct.pack(f"<{_LETTERS[base]}", value)
