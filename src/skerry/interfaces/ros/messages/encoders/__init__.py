"""From readings to messages: one function for each kind of sensor and type of message that it is spoken in.

A module of this package, or of another one, registers its functions by `speaks`; a profile names the type. What is said
often has its bytes prepared, and registers by `prepares`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import Pose, Twist
from skerry.core.geo import Projection
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import Packed
from skerry.interfaces.ros.messages.templates import Fill, Form, RowsForm, prepare, stamp_of
from skerry.interfaces.ros.messages.types import full_name
from skerry.parts.sensor import Readings, Sensor, SensorConfig


@dataclass(frozen=True)
class Source:
    """What a conversion may know beside the reading: whose it is, and in which frames."""

    codec: Codec
    settings: SensorConfig
    frame: str  # of the sensor
    link_frame: str  # of the link that carries it
    map_frame: str
    projection: Projection | None

    def form(self, type_name: str, *changing: str, **values: Any) -> Fill:
        """How messages are written of which the stamp and the named fields change, and which else have these values.

        A header is in the sensor's frame if none is given.
        """
        return prepare(self.codec, self._like(type_name, values), changing)

    def rows(self, type_name: str, changing: Sequence[str], **values: Any) -> RowsForm:
        """The same, of many messages at once."""
        return RowsForm(self.codec, self._like(type_name, values), changing)

    def both(self, type_name: str, changing: Sequence[str], **values: Any) -> Form:
        """One by one, or many at once."""
        return Form.of(self.codec, self._like(type_name, values), changing)

    def numbers(
        self,
        type_name: str,
        numbers: Callable[[Any], Mapping[str, Any]],
        changing: Sequence[str],
        missing: Form | None = None,
        unless: Callable[[Any], Any] | None = None,
        **values: Any,
    ) -> Numbers:
        """How readings are said in messages of which the stamp and some fields change; else they have these values.

        `numbers` gives what a reading has for these fields, in their order: of one reading, or of many at once by its
        columns. What an array of bytes is to have is an array of them.
        """
        return Numbers(self.both(type_name, changing, **values), numbers, missing, unless)

    def _like(self, type_name: str, values: Mapping[str, Any]) -> Message:
        message = self.codec.make(type_name, **values)
        if hasattr(message, "header") and "header" not in values:
            message.header = self.header(0.0)
        return message

    def header(self, time: float, frame: str | None = None) -> Message:
        """A header with simulated time, in the sensor's frame if no other is given."""
        return self.codec.type("std_msgs/msg/Header")(self.stamp(time), self.frame if frame is None else frame)

    def stamp(self, time: float) -> Message:
        """Simulated time."""
        return stamp(self.codec, time)

    def quaternion(self, values: NDArray[np.float64]) -> Message:
        """A geometry_msgs/Quaternion."""
        return self.codec.type("geometry_msgs/msg/Quaternion")(*values.tolist())


def stamp(codec: Codec, time: float) -> Message:
    """Simulated time, s, as builtin_interfaces/Time."""
    return codec.type("builtin_interfaces/msg/Time")(*stamp_of(time))


Say = Callable[[Any, float], "Message | bytes | None"]
"""From a reading, which may be None, and the time, to a message or its CDR, or to None if there is nothing to say."""


class SaysMany(ABC):
    """A `Say` that can write the messages of many readings at once."""

    @abstractmethod
    def __call__(self, reading: Any, time: float) -> bytes | None: ...

    @abstractmethod
    def many(self, readings: Sequence[Any], ticks: Sequence[int], step: float) -> Packed:
        """Of all readings, at these ticks of this step, s."""

    def warm_up(self) -> None:
        """Have what `many` needs compiled."""
        return


@dataclass(frozen=True, eq=False)
class Numbers(SaysMany):
    """What is said of readings that are numbers, which are written one by one, or many at once.

    Without a reading it says what is `missing`, if there is anything to be said then; nothing is said of a reading
    for which `unless` holds.
    """

    form: Form
    numbers: Callable[[Any], Mapping[str, Any]]
    missing: Form | None = None
    unless: Callable[[Any], Any] | None = None

    def __call__(self, reading: Any, time: float) -> bytes | None:
        if reading is None:
            return None if self.missing is None else self.missing.one(*stamp_of(time))
        if self.unless is not None and self.unless(reading):
            return None
        values: list[Any] = []
        for number in self.numbers(reading).values():
            if not isinstance(number, np.ndarray):
                values.append(number)
            elif number.dtype == np.uint8:
                values.append(number.tobytes())
            else:
                values += number.ravel().tolist()
        return self.form.one(*stamp_of(reading.time), *values)

    def many(self, readings: Sequence[Any], ticks: Sequence[int], step: float) -> Packed:
        there = _there(readings)
        if there is not None and not there.any():
            return self._many_missing(ticks, step)
        columns: Any
        if isinstance(readings, Readings) and readings.columns is not None:
            columns = readings.columns()
        else:
            each = list(readings)
            some = next(found for found in each if found is not None)
            columns = Gathered([some if found is None else found for found in each])
        said = self.form.many.fill(columns.time, self.numbers(columns))
        if self.unless is not None:
            said = said.only(~np.asarray(self.unless(columns), np.bool_))
        if there is None:
            return said
        return said.only(there).or_else(self._many_missing(ticks, step).only(~there))

    def _many_missing(self, ticks: Sequence[int], step: float) -> Packed:
        """What is said where there is no reading."""
        if self.missing is None:
            return Packed.of([None] * len(ticks))
        return self.missing.many.fill([tick * step for tick in ticks], {})


def _there(readings: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Where there is a reading; None if there is one everywhere."""
    there = (
        readings.valid if isinstance(readings, Readings) else np.array([reading is not None for reading in readings])
    )
    return None if there is None or there.all() else there


class Gathered:
    """Like a reading, of which each number is an array with those of some readings; and so are its parts."""

    def __init__(self, readings: Sequence[Any]) -> None:
        self._readings = readings

    def __getattr__(self, name: str) -> Any:
        values = [getattr(reading, name) for reading in self._readings]
        found: Any
        if isinstance(values[0], np.ndarray):
            found = stacked(values)
        else:
            found = Gathered(values) if isinstance(values[0], Pose | Twist) else np.array(values)
        setattr(self, name, found)  # so that it is gathered once
        return found


def stacked(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """As `np.stack` gives it, which takes several times as long."""
    return np.concatenate(arrays).reshape(len(arrays), *arrays[0].shape)


Conversion = Callable[[Source], Say]
"""Prepares what is said of a source's readings."""

_KNOWN: Final[dict[tuple[str, str], Conversion]] = {}


def speaks(
    kind: str, type_name: str
) -> Callable[[Callable[[Any, Source, float], Message | None]], Callable[[Any, Source, float], Message | None]]:
    """Let a kind of sensor be spoken in a type of message, made by the function below."""

    def register(
        make: Callable[[Any, Source, float], Message | None],
    ) -> Callable[[Any, Source, float], Message | None]:
        def convert(source: Source) -> Say:
            return lambda reading, time: make(reading, source, time)

        prepares(kind, type_name)(convert)
        return make

    return register


def prepares(kind: str, type_name: str) -> Callable[[Conversion], Conversion]:
    """Let a kind of sensor be spoken in a type of message, by what the function below prepares for each source."""

    def register(conversion: Conversion) -> Conversion:
        _KNOWN[kind, full_name(type_name)] = conversion
        return conversion

    return register


def conversion(kind: str, type_name: str) -> Conversion:
    """How readings of a kind become messages of a type."""
    _load()
    found = _KNOWN.get((kind, full_name(type_name)))
    if found is None:
        known = sorted(spoken for other, spoken in _KNOWN if other == kind)
        raise SkerryError(
            f"a sensor of kind {kind!r} is not spoken as {type_name}, but as: {', '.join(known) or 'nothing'}"
        )
    return found


def number_of(type_name: str, value: str, sensor: type[Sensor[Any]]) -> Conversion:
    """One value of a reading as the `data` of a message, with a header if the message has one."""
    known = _values(sensor)
    if known and value not in known:
        raise SkerryError(f"a reading of a {sensor.__name__} has no value {value!r}; {did_you_mean(value, known)}")

    def convert(source: Source) -> Say:
        fill = source.form(type_name, "data")

        def say(reading: Any, time: float) -> bytes | None:
            found = None if reading is None else getattr(reading, value)
            return None if found is None else fill(*stamp_of(reading.time), found)

        return say

    return convert


def _values(sensor: type[Sensor[Any]]) -> list[str]:
    """What a sensor's readings have, by name, if its class says what they are: `Sensor[SomeReading]`."""
    for ancestor in sensor.__mro__:
        for base in vars(ancestor).get("__orig_bases__", ()):
            kinds = [kind for argument in get_args(base) for kind in (argument, *get_args(argument))]
            if found := [kind for kind in kinds if is_dataclass(kind)]:
                properties = [name for kind in found for name, part in vars(kind).items() if isinstance(part, property)]
                return properties + [field.name for kind in found for field in fields(kind)]
    return []


def spoken() -> set[tuple[str, str]]:
    """All kinds of sensors, each with a type that it is spoken in."""
    _load()
    return set(_KNOWN)


def _load() -> None:
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
