"""Encoders from sensor readings to messages: one function per pair of sensor kind and message type.

A module of this package, or of another package, registers its functions with `register_factory` or
`register_encoder`. A profile selects the message type of a topic. Messages that are published often use templates.
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
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.templates import (
    BatchTemplate,
    MessageTemplate,
    PackFunction,
    compile_template,
    stamp_of,
)
from skerry.interfaces.ros.messages.types import full_name
from skerry.parts.sensor import Readings, Sensor, SensorConfig


@dataclass(frozen=True)
class EncoderContext:
    """Sensor whose readings are encoded: its settings, its frames, and the codec of the messages."""

    codec: Codec
    settings: SensorConfig
    frame: str  # of the sensor
    link_frame: str  # of the link on which the sensor is mounted
    map_frame: str
    projection: Projection | None

    def pack_function(self, type_name: str, *changing: str, **values: Any) -> PackFunction:
        """Return a function that encodes messages with these values, of which the stamp and some fields change.

        Args:
            type_name: Type of the message.
            changing: Paths of the fields that change.
            **values: Values of the other fields. The header has the sensor's frame if none is given.
        """
        return compile_template(self.codec, self._example(type_name, values), changing)

    def batch_template(self, type_name: str, changing: Sequence[str], **values: Any) -> BatchTemplate:
        """Return the batch template of such messages; the arguments are those of `pack_function`."""
        return BatchTemplate(self.codec, self._example(type_name, values), changing)

    def template(self, type_name: str, changing: Sequence[str], **values: Any) -> MessageTemplate:
        """Return the template of such messages; the arguments are those of `pack_function`."""
        return MessageTemplate.of(self.codec, self._example(type_name, values), changing)

    def template_encoder(
        self,
        type_name: str,
        numbers: Callable[[Any], Mapping[str, Any]],
        changing: Sequence[str],
        missing: MessageTemplate | None = None,
        skip: Callable[[Any], Any] | None = None,
        **values: Any,
    ) -> TemplateEncoder:
        """Return an encoder of readings into messages of which the stamp and some fields change.

        Args:
            type_name: Type of the message.
            numbers: Function that returns the values of the changing fields, in their order, of one reading or of the
                columns of many readings. The value of an array of bytes is an array.
            changing: Paths of the fields that change.
            missing: Template of the message that is published if there is no reading.
            skip: Function that returns whether a reading is not published.
            **values: Values of the other fields.
        """
        return TemplateEncoder(self.template(type_name, changing, **values), numbers, missing, skip)

    def _example(self, type_name: str, values: Mapping[str, Any]) -> Message:
        message = self.codec.make(type_name, **values)
        if hasattr(message, "header") and "header" not in values:
            message.header = self.header(0.0)
        return message

    def header(self, time: float, frame: str | None = None) -> Message:
        """Return a header with simulated time, s; the default frame is that of the sensor."""
        return self.codec.type("std_msgs/msg/Header")(self.stamp(time), self.frame if frame is None else frame)

    def stamp(self, time: float) -> Message:
        """Return simulated time, s, as builtin_interfaces/Time."""
        return stamp(self.codec, time)

    def quaternion(self, values: NDArray[np.float64]) -> Message:
        """Return a quaternion (x, y, z, w) as geometry_msgs/Quaternion."""
        return self.codec.type("geometry_msgs/msg/Quaternion")(*values.tolist())


def stamp(codec: Codec, time: float) -> Message:
    """Return simulated time, s, as builtin_interfaces/Time."""
    return codec.type("builtin_interfaces/msg/Time")(*stamp_of(time))


EncodeReading = Callable[[Any, float], "Message | bytes | None"]
"""Function of a reading (or None) and the time, s, that returns a message or its CDR, or None for no message."""


class ReadingEncoder(ABC):
    """`EncodeReading` function that can also encode a batch of readings."""

    @abstractmethod
    def __call__(self, reading: Any, time: float) -> bytes | None: ...

    @abstractmethod
    def encode_batch(self, readings: Sequence[Any], ticks: Sequence[int], step: float) -> EncodedBatch:
        """Return the messages of readings at these ticks; `step` is the length of a tick, s."""

    def warm_up(self) -> None:
        """Compile the kernels that `encode_batch` needs."""
        return


@dataclass(frozen=True, eq=False)
class TemplateEncoder(ReadingEncoder):
    """Encoder that fills the numbers of readings into a template; see `EncoderContext.template_encoder`."""

    template: MessageTemplate
    numbers: Callable[[Any], Mapping[str, Any]]
    missing: MessageTemplate | None = None
    skip: Callable[[Any], Any] | None = None

    def __call__(self, reading: Any, time: float) -> bytes | None:
        if reading is None:
            return None if self.missing is None else self.missing.pack(*stamp_of(time))
        if self.skip is not None and self.skip(reading):
            return None
        values: list[Any] = []
        for number in self.numbers(reading).values():
            if not isinstance(number, np.ndarray):
                values.append(number)
            elif number.dtype == np.uint8:
                values.append(number.tobytes())
            else:
                values += number.ravel().tolist()
        return self.template.pack(*stamp_of(reading.time), *values)

    def encode_batch(self, readings: Sequence[Any], ticks: Sequence[int], step: float) -> EncodedBatch:
        valid = _valid(readings)
        if valid is not None and not valid.any():
            return self._encode_missing(ticks, step)
        columns: Any
        if isinstance(readings, Readings) and readings.columns is not None:
            columns = readings.columns()
        else:
            rows = list(readings)
            placeholder = next(found for found in rows if found is not None)
            columns = GatheredReadings([placeholder if found is None else found for found in rows])
        encoded = self.template.batch.fill(columns.time, self.numbers(columns))
        if self.skip is not None:
            encoded = encoded.masked(~np.asarray(self.skip(columns), np.bool_))
        if valid is None:
            return encoded
        return encoded.masked(valid).filled_from(self._encode_missing(ticks, step).masked(~valid))

    def _encode_missing(self, ticks: Sequence[int], step: float) -> EncodedBatch:
        """Return the messages for ticks without a reading."""
        if self.missing is None:
            return EncodedBatch.from_messages([None] * len(ticks))
        return self.missing.batch.fill([tick * step for tick in ticks], {})


def _valid(readings: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Return a mask of the readings that are not None; None if all are valid."""
    valid = (
        readings.valid if isinstance(readings, Readings) else np.array([reading is not None for reading in readings])
    )
    return None if valid is None or valid.all() else valid


class GatheredReadings:
    """Columns of a list of readings: each attribute is an array with the values of all readings."""

    def __init__(self, readings: Sequence[Any]) -> None:
        self._readings = readings

    def __getattr__(self, name: str) -> Any:
        values = [getattr(reading, name) for reading in self._readings]
        found: Any
        if isinstance(values[0], np.ndarray):
            found = stacked(values)
        else:
            found = GatheredReadings(values) if isinstance(values[0], Pose | Twist) else np.array(values)
        setattr(self, name, found)  # so that each attribute is gathered once
        return found


def stacked(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the same as `np.stack(arrays)`, several times faster."""
    return np.concatenate(arrays).reshape(len(arrays), *arrays[0].shape)


EncoderFactory = Callable[[EncoderContext], EncodeReading]
"""Function that returns the encoder of a sensor's readings."""

_FACTORIES: Final[dict[tuple[str, str], EncoderFactory]] = {}


def register_encoder(
    kind: str, type_name: str
) -> Callable[
    [Callable[[Any, EncoderContext, float], Message | None]], Callable[[Any, EncoderContext, float], Message | None]
]:
    """Register the decorated function as the encoder of a sensor kind into a message type."""

    def register(
        make: Callable[[Any, EncoderContext, float], Message | None],
    ) -> Callable[[Any, EncoderContext, float], Message | None]:
        def factory(context: EncoderContext) -> EncodeReading:
            return lambda reading, time: make(reading, context, time)

        register_factory(kind, type_name)(factory)
        return make

    return register


def register_factory(kind: str, type_name: str) -> Callable[[EncoderFactory], EncoderFactory]:
    """Register the decorated function as the encoder factory of a sensor kind and a message type."""

    def register(factory: EncoderFactory) -> EncoderFactory:
        _FACTORIES[kind, full_name(type_name)] = factory
        return factory

    return register


def find_factory(kind: str, type_name: str) -> EncoderFactory:
    """Return the encoder factory of a sensor kind and a message type."""
    _load()
    found = _FACTORIES.get((kind, full_name(type_name)))
    if found is None:
        known = sorted(other_type for other, other_type in _FACTORIES if other == kind)
        raise SkerryError(
            f"a sensor of kind {kind!r} cannot be published as {type_name}; possible: {', '.join(known) or 'no type'}"
        )
    return found


def value_factory(type_name: str, value: str, sensor: type[Sensor[Any]]) -> EncoderFactory:
    """Return the encoder factory of one value of a reading, which is published as the `data` of a message."""
    known = _values(sensor)
    if known and value not in known:
        raise SkerryError(f"a reading of a {sensor.__name__} has no value {value!r}; {did_you_mean(value, known)}")

    def factory(context: EncoderContext) -> EncodeReading:
        pack = context.pack_function(type_name, "data")

        def encode(reading: Any, time: float) -> bytes | None:
            found = None if reading is None else getattr(reading, value)
            return None if found is None else pack(*stamp_of(reading.time), found)

        return encode

    return factory


def _values(sensor: type[Sensor[Any]]) -> list[str]:
    """Return the attribute names of a sensor's readings, if its class declares them as `Sensor[SomeReading]`."""
    for ancestor in sensor.__mro__:
        for base in vars(ancestor).get("__orig_bases__", ()):
            kinds = [kind for argument in get_args(base) for kind in (argument, *get_args(argument))]
            if found := [kind for kind in kinds if is_dataclass(kind)]:
                properties = [name for kind in found for name, part in vars(kind).items() if isinstance(part, property)]
                return properties + [field.name for kind in found for field in fields(kind)]
    return []


def registered_types() -> set[tuple[str, str]]:
    """Return all pairs of sensor kind and message type that have an encoder."""
    _load()
    return set(_FACTORIES)


def _load() -> None:
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
