"""Types as ROS 1 knows them: short names, definitions as text, and the MD5 sums by which peers agree on them.

The sums are those of `genmsg` (https://github.com/ros/genmsg/blob/noetic-devel/src/genmsg/gentools.py).
"""

from __future__ import annotations

from hashlib import md5
from typing import Final

from skerry.interfaces.ros.messages.type_store import Vocabulary
from skerry.interfaces.ros.messages.types import Field, FieldType, MessageType, short_name

_PLAIN: Final = {"builtin_interfaces/msg/Time": "time", "builtin_interfaces/msg/Duration": "duration"}
_HEADER: Final = "std_msgs/msg/Header"
_NUMBER: Final = Field("seq", FieldType("uint32"))  # which ROS 2 has dropped
_LINE: Final = "=" * 80
# Fields that ROS 2 has renamed.
_NAMES: Final = {"sensor_msgs/msg/CameraInfo": {name.lower(): name for name in "DKRP"}}


class Ros1Types:
    """What ROS 1 wants to know of a vocabulary's types."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._sums: dict[str, str] = {}
        self._texts: dict[str, str] = {}

    def sum(self, name: str) -> str:
        """The MD5 sum of a message."""
        if name not in self._sums:
            self._sums[name] = _md5(self._lines(self._vocabulary.message(name), with_sums=True))
        return self._sums[name]

    def sum_of_service(self, name: str) -> str:
        """The MD5 sum of a service: of its question and its answer, one after the other."""
        service = self._vocabulary.service(name)
        return _md5("".join(self._lines(part, with_sums=True) for part in (service.request, service.response)))

    def has_header(self, name: str) -> bool:
        """Whether a message begins with a header, whose number its publisher counts."""
        fields = self._vocabulary.message(name).fields
        return bool(fields) and fields[0].type == FieldType(_HEADER)

    def text(self, name: str) -> str:
        """The definition of a message, and of all that it refers to."""
        if name not in self._texts:
            message = self._vocabulary.message(name)
            parts = [self._lines(message)]
            parts += [f"{_LINE}\nMSG: {short_name(part.name)}\n{self._lines(part)}" for part in self._within(message)]
            self._texts[name] = "\n".join(parts) + "\n"
        return self._texts[name]

    def _lines(self, message: MessageType, with_sums: bool = False) -> str:
        """Constants and fields, one per line; types of messages by their name or, for a sum, by their own sum."""
        lines = [f"{constant.base} {constant.name}={constant.text}" for constant in message.constants]
        names = _NAMES.get(message.name, {})
        for field in _fields(message):
            kind = field.type
            base = _PLAIN.get(kind.base, kind.base)
            array = {"": "", "fixed": f"[{kind.size}]"}.get(kind.array, "[]")
            if "/" in base:
                base, array = (self.sum(base), "") if with_sums else (short_name(base), array)
            lines.append(f"{base}{array} {names.get(field.name, field.name)}")
        return "\n".join(lines)

    def _within(self, message: MessageType) -> list[MessageType]:
        """All messages that one refers to, each once."""
        found: dict[str, MessageType] = {}
        waiting = [message]
        while waiting:
            for field in _fields(waiting.pop(0)):
                base = field.type.base
                if field.type.is_message and base not in _PLAIN and base not in found:
                    found[base] = self._vocabulary.message(base)
                    waiting.append(found[base])
        return list(found.values())


def _fields(message: MessageType) -> tuple[Field, ...]:
    return (_NUMBER, *message.fields) if message.name == _HEADER else message.fields


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()
