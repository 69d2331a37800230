"""Encoders from sensor readings to messages: one encoder per pair of sensor kind and message type.

Most messages are maps from fields of a message to fields of a reading, which the settings of a sensor declare as `ros`.
A module of this package, or of another package, registers encoders of other messages with `register_factory` or
`register_encoder`. A profile selects the message type of a topic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.geo import Projection
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.templates import MessageTemplate, stamp_of
from skerry.interfaces.ros.messages.types import full_name
from skerry.parts.readings import Readings, units_of
from skerry.parts.sensor import SENSORS, SensorConfig


@dataclass(frozen=True)
class EncoderContext:
    """Sensor whose readings are encoded: its settings, its readings and frames, and the codec of the messages."""

    codec: Codec
    settings: SensorConfig
    reading: type[Any]  # dataclass of the readings
    frame: str  # of the sensor
    map_frame: str
    projection: Projection | None

    def template(self, type_name: str, changing: Sequence[str], **values: Any) -> MessageTemplate:
        """Return the template of messages with these values, of which the stamps and some fields change.

        Args:
            type_name: Type of the message.
            changing: Paths of the fields that change.
            **values: Values of the other fields. The header has the sensor's frame if none is given.
        """
        message = self.codec.make(type_name, **values)
        if hasattr(message, "header") and "header" not in values:
            message.header = self.header(0.0)
        return MessageTemplate(self.codec, message, changing)

    def header(self, time: float, frame: str | None = None) -> Message:
        """Return a header with simulated time, s; the default frame is that of the sensor."""
        return self.codec.type("std_msgs/msg/Header")(stamp(self.codec, time), self.frame if frame is None else frame)


def stamp(codec: Codec, time: float) -> Message:
    """Return simulated time, s, as builtin_interfaces/Time."""
    return codec.type("builtin_interfaces/msg/Time")(*stamp_of(time))


# ------------------------------------------------------------------------------------------------ encoders


class Encoder(ABC):
    """Encoder of the readings of one sensor into messages of one type. It is used by several threads.

    Attributes:
        missing: Template of the message of a row without a reading; None if there is no message.
    """

    missing: MessageTemplate | None = None

    def encode(self, readings: Readings[Any], times: NDArray[np.float64]) -> EncodedBatch:
        """Return the messages of n ≥ 1 readings; `times` (n,) are the times of the rows, s."""
        valid = readings.valid
        if valid is None or valid.all():
            return self.encode_valid(readings)
        absent = times[~valid]
        others = EncodedBatch.absent(len(absent)) if self.missing is None else self.missing.fill(absent, {})
        return self.encode_rows(readings, valid, others)

    def encode_rows(
        self, readings: Readings[Any], rows: NDArray[np.bool_], others: EncodedBatch | None = None
    ) -> EncodedBatch:
        """Return the messages of the readings where `rows` (n,) is True, and `others` (by default none) elsewhere."""
        if others is None:
            others = EncodedBatch.absent(int(np.count_nonzero(~rows)))
        if len(others.sizes) == len(rows):
            return others
        return self.encode_valid(readings.take(np.flatnonzero(rows))).spread(rows, others)

    @abstractmethod
    def encode_valid(self, readings: Readings[Any]) -> EncodedBatch:
        """Return the messages of readings that are all valid."""

    def warm_up(self) -> None:
        """Compile the kernels that `encode` needs."""
        return


@dataclass(frozen=True, eq=False)
class TemplateEncoder(Encoder):
    """Encoder that fills the columns of readings into a template.

    Attributes:
        template: Template of the messages.
        columns: Function that returns the columns of the changing fields by path.
        missing: Template of the message of a row without a reading.
    """

    template: MessageTemplate
    columns: Callable[[Any], Mapping[str, Any]]
    missing: MessageTemplate | None = None

    def encode_valid(self, readings: Readings[Any]) -> EncodedBatch:
        return self.template.fill(readings.time, self.columns(readings))


@dataclass(frozen=True, eq=False)
class SettingsEncoder(Encoder):
    """Encoder of messages that depend on the settings and the time only, so that they need no readings."""

    template: MessageTemplate

    def encode_valid(self, readings: Readings[Any]) -> EncodedBatch:
        return self.template.fill(readings.time, {})


_OBJECT: Final = np.dtype(np.object_)


class MapEncoder(Encoder):
    """Encoder by a map: each field of the message is a field of the reading.

    A sequence in the message has the length of the array in the reading. A reading with None in one of the fields has
    no message.

    Args:
        context: Sensor whose readings are encoded.
        type_name: Type of the message.
        fields: Fields of the reading, such as `velocity` or `pose.position`, by the path of the message's field. They
            are numbers or arrays of numbers.

    Raises:
        SkerryError: The message or the reading has no such field, or the message's field is not numeric.
    """

    def __init__(self, context: EncoderContext, type_name: str, fields: Mapping[str, str]) -> None:
        where = f"the sensor kind {context.settings.kind!r} as {type_name}"
        kind = context.reading
        known = [*units_of(kind), *(name for name, member in vars(kind).items() if isinstance(member, property))]
        for field in fields.values():
            if field not in known:
                raise SkerryError(f"{where}: {kind.__name__} has no field {field!r}; {did_you_mean(field, known)}")
        self._context, self._type, self._fields = context, type_name, fields
        self._templates: dict[tuple[int, ...], MessageTemplate] = {}  # by the lengths of the sequences
        store = context.codec.type_store
        try:
            self._sequences = [path for path in fields if store.field(type_name, path).array not in {"", "fixed"}]
            self._template((1,) * len(self._sequences))
        except SkerryError as error:
            raise SkerryError(f"{where}: {error}") from None

    def _template(self, lengths: tuple[int, ...]) -> MessageTemplate:
        found = self._templates.get(lengths)
        if found is None:
            values: dict[str, Any] = {}
            for path, length in zip(self._sequences, lengths, strict=True):
                *parents, name = path.split(".")
                inner = values
                for parent in parents:
                    inner = inner.setdefault(parent, {})
                inner[name] = np.zeros(length)
            # an empty sequence has no numbers that could change
            empty = {path for path, length in zip(self._sequences, lengths, strict=True) if not length}
            changing = [path for path in self._fields if path not in empty]
            found = self._templates[lengths] = self._context.template(self._type, changing, **values)
        return found

    def encode_valid(self, readings: Readings[Any]) -> EncodedBatch:
        own = readings.columns
        columns = {
            path: own[field] if field in own else _column(readings, field) for path, field in self._fields.items()
        }
        for column in columns.values():
            if type(column) is not np.ndarray or column.dtype is _OBJECT:
                return self._encode_each(readings, columns)
        lengths = tuple([columns[path][0].size for path in self._sequences])
        return self._template(lengths).fill(own["time"], columns)

    def _encode_each(self, readings: Readings[Any], columns: Mapping[str, Any]) -> EncodedBatch:
        """Return the messages of columns that are not arrays, because rows differ in length or are None."""
        found = []
        for row, time in enumerate(readings.time):
            values = {path: column[row] for path, column in columns.items()}
            if any(value is None for value in values.values()):
                found.append(EncodedBatch.absent(1))
            else:
                template = self._template(tuple([np.size(values[path]) for path in self._sequences]))
                found.append(template.fill([time], {path: [value] for path, value in values.items()}))
        return EncodedBatch.concat(found)


def _column(readings: Any, field: str) -> Any:
    """Return the column of a property, or of a field of a nested reading."""
    for name in field.split("."):
        readings = getattr(readings, name)
    return readings


@dataclass(frozen=True, eq=False)
class ObjectEncoder(Encoder):
    """Encoder that makes the message of each reading as an object, for messages that are not templates."""

    context: EncoderContext
    make: Callable[[Any, EncoderContext], Message | None]

    def encode_valid(self, readings: Readings[Any]) -> EncodedBatch:
        messages = [self.make(reading, self.context) for reading in readings]
        to_cdr = self.context.codec.to_cdr
        return EncodedBatch.from_messages([None if message is None else to_cdr(message) for message in messages])


# ------------------------------------------------------------------------------------------------ registry

EncoderFactory = Callable[[EncoderContext], Encoder]
"""Function that returns the encoder of a sensor's readings."""
MakeMessage = Callable[[Any, EncoderContext], "Message | None"]
"""Function that returns the message of a reading, or None if there is no message."""

_FACTORIES: Final[dict[tuple[str, str], EncoderFactory]] = {}


def register_factory(kind: str, type_name: str) -> Callable[[EncoderFactory], EncoderFactory]:
    """Register the decorated function as the encoder factory of a sensor kind and a message type."""

    def register(factory: EncoderFactory) -> EncoderFactory:
        _FACTORIES[kind, full_name(type_name)] = factory
        return factory

    return register


def register_encoder(kind: str, type_name: str) -> Callable[[MakeMessage], MakeMessage]:
    """Register the decorated function, which makes the message of one reading, for a sensor kind and a message type."""

    def register(make: MakeMessage) -> MakeMessage:
        register_factory(kind, type_name)(lambda context: ObjectEncoder(context, make))
        return make

    return register


def make_encoder(context: EncoderContext, type_name: str, value: str | None = None) -> Encoder:
    """Return the encoder of a sensor's readings into messages of a type.

    Args:
        context: Sensor whose readings are encoded.
        type_name: Type of the message.
        value: Field of the reading that is published as `data` of the message; None for the whole reading.
    """
    if value is not None:
        return MapEncoder(context, type_name, {"data": value})
    settings, name = context.settings, full_name(type_name)
    maps = {full_name(key): fields for key, fields in settings.ros.items()}
    if name in maps:
        return MapEncoder(context, type_name, maps[name])
    _load()
    if (factory := _FACTORIES.get((settings.kind, name))) is not None:
        return factory(context)
    known = sorted({*maps, *(other_type for other, other_type in _FACTORIES if other == settings.kind)})
    raise SkerryError(
        f"a sensor of kind {settings.kind!r} cannot be published as {type_name}; "
        f"possible: {', '.join(known) or 'no type'}"
    )


def registered_types() -> set[tuple[str, str]]:
    """Return all pairs of sensor kind and message type that have an encoder."""
    _load()
    kinds = {kind: SENSORS.find(kind) for kind in SENSORS.kinds()}
    maps = {kind: found.ros for kind, found in kinds.items() if issubclass(found, SensorConfig)}
    return {*_FACTORIES, *((kind, full_name(name)) for kind, types in maps.items() for name in types)}


def _load() -> None:
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
