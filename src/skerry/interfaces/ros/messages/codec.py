"""The codec between message objects and CDR (ROS 2), the encoding of ROS 1, and JSON.

Messages are dataclasses that `rosbags` creates from the definitions. `rosbags` encodes them; `fast_encoders` are faster
for some types. `decoder` decodes the bytes of peers.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping
from math import isfinite
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys.base import normalize_fieldname
from rosbags.typesys.store import Typestore

from skerry.core.errors import SkerryError, did_you_mean, shorten
from skerry.interfaces.ros.messages.decoder import ByteReader, Bytes, Read, dtype_of, field_reader, message_reader
from skerry.interfaces.ros.messages.fast_encoders import FAST_ENCODERS
from skerry.interfaces.ros.messages.type_hash import EMPTY
from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.messages.types import NUMBERS, Constant, Field, FieldType, full_name

Message: TypeAlias = Any
"""Instance of a class that `Codec.type` returns."""


class BadMessage(SkerryError):
    """Error for bytes or JSON that are not a valid message of the expected type."""


class Codec:
    """Codec of the message types of a type store."""

    def __init__(self, type_store: TypeStore) -> None:
        self.type_store = type_store
        self._store = Typestore()
        self._lock = Lock()  # several threads may register a new type at the same time
        self._defaults: dict[str, list[tuple[str, FieldType, Any]]] = {}
        self._readers: dict[str, Read] = {}
        # by name: the class, its fields, and their names; a field whose value needs no conversion has the type None
        self._plans: dict[str, tuple[Any, list[tuple[str, FieldType | None, Any]], set[str]]] = {}

    # -------------------------------------------------------------------------------------------- objects

    def type(self, name: str) -> type[Message]:
        """Return the class of a message type."""
        if (known := self._store.types.get(name)) is not None:
            return known
        name = full_name(name)
        with self._lock:
            if name not in self._store.types:
                self._store.register(self._definitions(name))
        return self._store.types[name]

    def make(self, name: str, /, **values: Any) -> Message:
        """Return a message with these field values.

        Args:
            name: Type of the message.
            **values: Numbers, arrays, messages, or mappings for messages inside the message. Other fields have their
                default, zero or empty.
        """
        plan = self._plans.get(name)
        if plan is None:
            defaults = self._field_defaults(full_name(name))
            rows = [(field, None if _is_plain(kind) else kind, default) for field, kind, default in defaults]
            plan = self._plans[name] = (self.type(name), rows, {field for field, _, _ in defaults})
        chosen, rows, fields = plan
        for unknown in values.keys() - fields:
            raise SkerryError(f"{name} has no field {unknown!r}; {did_you_mean(unknown, sorted(fields))}")
        get = values.get
        return chosen(
            *[
                (default if (value := get(field)) is None else value)
                if kind is None
                else self._value(kind, get(field), default)
                for field, kind, default in rows
            ]
        )

    def constant(self, name: str, constant: str) -> Any:
        """Return the value of a constant of a message type."""
        constants = {found.name: found.value for found in self.type_store.message(name).constants}
        if constant not in constants:
            raise SkerryError(f"{name} has no constant {constant!r}; {did_you_mean(constant, constants)}")
        return constants[constant]

    def _value(self, kind: FieldType, value: Any, default: Any) -> Any:
        if value is None:
            if kind.array:
                return self._empty_array(kind)
            return self.make(kind.base) if kind.is_message else default
        if kind.array and kind.is_number:
            return np.ascontiguousarray(value, dtype_of(kind.base)).ravel()
        if kind.is_message:
            if kind.array:
                return [self._value(FieldType(kind.base), item, None) for item in value]
            return self.make(kind.base, **value) if isinstance(value, Mapping) else value
        return value

    def _empty_array(self, kind: FieldType) -> Any:
        count = kind.size if kind.array == "fixed" else 0
        if kind.is_number:
            return np.zeros(count, dtype_of(kind.base))
        return [self.make(kind.base) if kind.is_message else "" for _ in range(count)]

    def _field_defaults(self, name: str) -> list[tuple[str, FieldType, Any]]:
        if name not in self._defaults:
            fields = self.type_store.message(name).fields or (EMPTY,)
            self._defaults[name] = [(normalize_fieldname(f.name), f.type, _default(f)) for f in fields]
        return self._defaults[name]

    def _definitions(self, name: str) -> dict[str, Any]:
        """Return the definitions of a message type and of all types that it contains, in the format of `rosbags`."""
        found: dict[str, Any] = {}
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current in found or current in self._store.types:
                continue
            message = self.type_store.message(current)
            fields = message.fields or (EMPTY,)
            found[current] = (
                [_constant(c) for c in message.constants],
                [(f.name, _description(f.type)) for f in fields],
            )
            waiting += [field.type.base for field in fields if field.type.is_message]
        return found

    def definition(self, name: str) -> str:
        """Return the definition of a message type and of all types that it contains, as text in the format of ROS 2."""
        return self.type_store.definition(name)

    # -------------------------------------------------------------------------------------------- bytes

    def to_cdr(self, message: Message) -> bytes:
        """Return a message as little-endian CDR, with the encapsulation header of four bytes."""
        name = message.__msgtype__
        if (encode := FAST_ENCODERS.get(name)) is not None:
            return encode(message)
        self.type(name)
        return bytes(self._store.serialize_cdr(message, name, little_endian=True))

    def from_cdr(self, data: Bytes, name: str) -> Message:
        """Decode a message from CDR."""
        return self._read(ByteReader.of_cdr, data, name)

    def to_ros1(self, message: Message) -> bytes:
        """Return a message in the encoding of ROS 1; `seq` of headers is 0, because publishers of ROS 1 fill it in."""
        return self.cdr_to_ros1(self.to_cdr(message), message.__msgtype__)

    def cdr_to_ros1(self, cdr: bytes, name: str) -> bytes:
        """Convert a message from CDR to the encoding of ROS 1."""
        if not self.type_store.message(name).fields:
            return b""
        self.type(name)
        return bytes(self._store.cdr_to_ros1(cdr, full_name(name)))

    def from_ros1(self, data: Bytes, name: str) -> Message:
        """Decode a message from the encoding of ROS 1."""
        return self._read(lambda given: ByteReader(given, "<", is_ros1=True), data, name)

    def _read(self, reader_of: Callable[[Bytes], ByteReader], data: Bytes, name: str) -> Message:
        read = self._readers.get(name) or self._reader(name)
        try:
            reader = reader_of(data)
            message = read(reader)
            reader.end()
        except ValueError as error:
            raise BadMessage(f"{len(data)} bytes are not a valid {full_name(name)}: {error}") from None
        return message

    def _reader(self, name: str) -> Read:
        """Return the decoder of a message type."""
        if name not in self._readers:
            fields = [field_reader(field.type, self._reader) for field in self.type_store.message(name).fields]
            self._readers[name] = message_reader(full_name(name), self.type(name), fields)
        return self._readers[name]

    # -------------------------------------------------------------------------------------------- JSON

    def to_json(self, message: Message) -> dict[str, Any]:
        """Return a message as JSON values in the format of rosbridge: bytes as base64, NaN and infinity as null."""
        return {
            field.name: _to_plain(self, field.type, getattr(message, normalize_fieldname(field.name)))
            for field in self.type_store.message(message.__msgtype__).fields
        }

    def from_json(self, values: Any, name: str) -> Message:
        """Return the message of JSON values; missing fields have their default, zero or empty."""
        if not isinstance(values, Mapping):
            raise BadMessage(f"{name} must be an object, not {shorten(values)}")
        fields = {field.name: field.type for field in self.type_store.message(name).fields}
        for field in values:
            if field not in fields:
                raise BadMessage(f"{name} has no field {shorten(field)}; {did_you_mean(str(field), fields)}")
        return self.make(
            name,
            **{normalize_fieldname(field): _from_plain(self, fields[field], value) for field, value in values.items()},
        )


# ------------------------------------------------------------------------------------------------ types


def _is_plain(kind: FieldType) -> bool:
    """Return whether values of this type need no conversion."""
    return not (kind.array or kind.is_message)


def _default(field: Field) -> Any:
    kind, text = field.type, field.default
    if kind.array or kind.is_message:
        return None
    if kind.base == "string":
        return (text or "").strip("\"'")
    if kind.base == "bool":
        return text is not None and text.lower() in {"true", "1"}
    return float(text or 0) if kind.base.startswith("float") else int(text or "0", 0)


def _constant(constant: Constant) -> tuple[str, str, Any]:
    return constant.name, constant.base, constant.value


def _description(kind: FieldType) -> Any:
    """Return the type of a field in the format of `rosbags`."""
    if kind.is_message:
        single: Any = (Nodetype.NAME, kind.base)
    else:
        single = (Nodetype.BASE, (kind.base, kind.limit))
    if not kind.array:
        return single
    return (Nodetype.ARRAY if kind.array == "fixed" else Nodetype.SEQUENCE, (single, kind.size))


# ------------------------------------------------------------------------------------------------ plain values


def _to_plain(codec: Codec, kind: FieldType, value: Any) -> Any:
    if kind.array:
        if kind.base in {"uint8", "byte", "char"}:
            return b64encode(value.tobytes()).decode()
        single = FieldType(kind.base)
        items = value.tolist() if isinstance(value, np.ndarray) else value
        return [_to_plain(codec, single, item) for item in items]
    if kind.is_message:
        return codec.to_json(value)
    if kind.base.startswith("float"):
        return float(value) if isfinite(value) else None
    return value if kind.base == "string" else bool(value) if kind.base == "bool" else int(value)


def _from_plain(codec: Codec, kind: FieldType, value: Any) -> Any:
    if kind.array:
        if kind.base in {"uint8", "byte", "char"} and isinstance(value, str):
            try:
                return _counted(kind, np.frombuffer(b64decode(value, validate=True), np.uint8))
            except (Base64Error, ValueError) as error:
                raise BadMessage(f"the text is not valid base64: {error}") from None
        if not isinstance(value, list):
            raise BadMessage(f"{kind.base}[] must be a list, not {shorten(value)}")
        items = [_from_plain(codec, FieldType(kind.base, limit=kind.limit), item) for item in value]
        return _counted(kind, np.array(items, dtype_of(kind.base)) if kind.is_number else items)
    if kind.is_message:
        return codec.from_json(value, kind.base)
    if kind.base == "string":
        if not isinstance(value, str):
            raise BadMessage(f"a string was expected, not {shorten(value)}")
        return value
    if kind.base.startswith("float") and value is None:
        return float("nan")
    return _number(kind.base, value)


def _counted(kind: FieldType, items: Any) -> Any:
    wrong = {"fixed": len(items) != kind.size, "bounded": len(items) > kind.size}.get(kind.array, False)
    if wrong:
        raise BadMessage(f"{kind.base}[{kind.size}] was expected, not {len(items)} items")
    return items


def _number(base: str, value: Any) -> Any:
    if base == "bool":
        if isinstance(value, bool):
            return value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if base.startswith("float"):
            try:
                return float(value)
            except OverflowError:
                pass
        elif int(value) == value:
            bits = 8 * NUMBERS[base]
            signed = base.startswith("int")
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
            if low <= value < high:
                return int(value)
    raise BadMessage(f"a {base} was expected, not {shorten(value)}")
