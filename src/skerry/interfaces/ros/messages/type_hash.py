"""Type hashes of ROS 2 (RIHS01): SHA-256 of a type's description, with which peers check that their types are equal.

The sources are REP 2011 (https://www.ros.org/reps/rep-2011.html) and `rosidl`. A description has the fields in order
and the types that they contain, by name. It has no comments, constants or defaults. A `char` is a uint8, as in its IDL.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

from skerry.interfaces.ros.messages.types import ActionType, Field, FieldType, MessageType, ServiceType

# Type numbers of type_description_interfaces/msg/FieldType for single values.
_NUMBERS: Final = {
    "int8": 2,
    "uint8": 3,
    "int16": 4,
    "uint16": 5,
    "int32": 6,
    "uint32": 7,
    "int64": 8,
    "uint64": 9,
    "float32": 10,
    "float64": 11,
    "char": 3,
    "bool": 15,
    "byte": 16,
    "string": 17,
}
_MESSAGE: Final = 1
_BOUNDED_STRING: Final = 21
# Offsets that are added to the type number of an array.
_ARRAY: Final = {"": 0, "fixed": 48, "bounded": 96, "open": 144}

EMPTY: Final = Field("structure_needs_at_least_one_member", FieldType("uint8"))
"""Field that `rosidl` adds to a message without fields, because C has no empty structures; it is also transmitted."""

Find = Callable[[str], MessageType]


def hash_of(subject: MessageType | ServiceType | ActionType, find: Find) -> str:
    """Return the hash of a message, service or action; `find` returns the message type of a name."""
    described: dict[str, Any] = {}
    waiting = {part.name: part for part in _parts_of(subject)}
    while waiting:
        name, message = waiting.popitem()
        fields = message.fields or (EMPTY,)
        described[name] = {"type_name": name, "fields": [_describe(field) for field in fields]}
        for field in fields:
            if field.type.is_message and field.type.base not in described | waiting:
                waiting[field.type.base] = find(field.type.base)
    main = described.pop(subject.name)
    others = [description for _, description in sorted(described.items())]
    text = json.dumps({"type_description": main, "referenced_type_descriptions": others})
    return f"RIHS01_{sha256(text.encode()).hexdigest()}"


def _parts_of(subject: MessageType | ServiceType | ActionType) -> list[MessageType]:
    """Return the message types of which the subject consists; the last one has these parts as its fields."""
    if isinstance(subject, MessageType):
        return [subject]
    if isinstance(subject, ServiceType):
        event = MessageType(
            f"{subject.name}_Event",
            (
                Field("info", FieldType("service_msgs/msg/ServiceEventInfo")),
                Field("request", FieldType(subject.request.name, "bounded", 1)),
                Field("response", FieldType(subject.response.name, "bounded", 1)),
            ),
        )
        parts = {"request_message": subject.request, "response_message": subject.response, "event_message": event}
        inner = list(parts.values())
        fields = {name: part.name for name, part in parts.items()}
    else:
        messages = {
            "goal": subject.goal,
            "result": subject.result,
            "feedback": subject.feedback,
            "feedback_message": subject.feedback_message,
        }
        services = {"send_goal_service": subject.send_goal, "get_result_service": subject.get_result}
        inner = [*messages.values(), *(part for service in services.values() for part in _parts_of(service))]
        order = ("goal", "result", "feedback", "send_goal_service", "get_result_service", "feedback_message")
        fields = {name: (messages | services)[name].name for name in order}
    whole = MessageType(subject.name, tuple(Field(name, FieldType(part)) for name, part in fields.items()))
    return [*inner, whole]


def _describe(field: Field) -> dict[str, Any]:
    kind = field.type
    if kind.is_message:
        number = _MESSAGE
    else:
        number = _BOUNDED_STRING if kind.limit else _NUMBERS[kind.base]
    return {
        "name": field.name,
        "type": {
            "type_id": number + _ARRAY[kind.array],
            "capacity": kind.size,
            "string_capacity": kind.limit,
            "nested_type_name": kind.base if kind.is_message else "",
        },
    }
