"""Message types of ROS 1: definitions as text, and the MD5 sums with which peers check that their types are equal.

The sums are those of `genmsg` (https://github.com/ros/genmsg/blob/noetic-devel/src/genmsg/gentools.py).
"""

from __future__ import annotations

import hashlib
from typing import Final

from skerry.interfaces.ros.messages.type_store import TypeStore
from skerry.interfaces.ros.messages.types import Field, FieldType, MessageType, short_name

_BUILTIN: Final = {"builtin_interfaces/msg/Time": "time", "builtin_interfaces/msg/Duration": "duration"}
_HEADER: Final = "std_msgs/msg/Header"
_SEQ: Final = Field("seq", FieldType("uint32"))  # first field of a header in ROS 1; ROS 2 has removed it
_SEPARATOR: Final = "=" * 80
# Names of fields in ROS 1 that differ from those of ROS 2, by message type.
_NAMES: Final = {"sensor_msgs/msg/CameraInfo": {name.lower(): name for name in "DKRP"}}


class Ros1Types:
    """MD5 sums and definitions of the types of a type store."""

    def __init__(self, type_store: TypeStore) -> None:
        self._type_store = type_store
        self._md5_sums: dict[str, str] = {}
        self._definitions: dict[str, str] = {}

    def md5(self, name: str) -> str:
        """Return the MD5 sum of a message type."""
        if name not in self._md5_sums:
            self._md5_sums[name] = _md5(self._lines(self._type_store.message(name), with_sums=True))
        return self._md5_sums[name]

    def service_md5(self, name: str) -> str:
        """Return the MD5 sum of a service type, which is that of the request followed by the response."""
        service = self._type_store.service(name)
        return _md5("".join(self._lines(part, with_sums=True) for part in (service.request, service.response)))

    def has_header(self, name: str) -> bool:
        """Return whether a message begins with a header, in which the publisher fills in `seq`."""
        fields = self._type_store.message(name).fields
        return bool(fields) and fields[0].type == FieldType(_HEADER)

    def definition(self, name: str) -> str:
        """Return the definition of a message type and of all types that it contains."""
        if name not in self._definitions:
            message = self._type_store.message(name)
            parts = [self._lines(message)]
            parts += [
                f"{_SEPARATOR}\nMSG: {short_name(part.name)}\n{self._lines(part)}" for part in self._within(message)
            ]
            self._definitions[name] = "\n".join(parts) + "\n"
        return self._definitions[name]

    def _lines(self, message: MessageType, with_sums: bool = False) -> str:
        """Return constants and fields, one per line; message types by name or, for an MD5 sum, by their own sum."""
        lines = [f"{constant.base} {constant.name}={constant.text}" for constant in message.constants]
        names = _NAMES.get(message.name, {})
        for field in _fields(message):
            kind = field.type
            base = _BUILTIN.get(kind.base, kind.base)
            array = {"": "", "fixed": f"[{kind.size}]"}.get(kind.array, "[]")
            if "/" in base:
                base, array = (self.md5(base), "") if with_sums else (short_name(base), array)
            lines.append(f"{base}{array} {names.get(field.name, field.name)}")
        return "\n".join(lines)

    def _within(self, message: MessageType) -> list[MessageType]:
        """Return all message types that a message contains, each once."""
        found: dict[str, MessageType] = {}
        waiting = [message]
        while waiting:
            for field in _fields(waiting.pop(0)):
                base = field.type.base
                if field.type.is_message and base not in _BUILTIN and base not in found:
                    found[base] = self._type_store.message(base)
                    waiting.append(found[base])
        return list(found.values())


def _fields(message: MessageType) -> tuple[Field, ...]:
    return (_SEQ, *message.fields) if message.name == _HEADER else message.fields


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
