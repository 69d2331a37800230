"""Message, service and action definitions: their text, read into types.

The format is that of `rosidl` (https://docs.ros.org/en/humble/Concepts/Basic/About-Interfaces.html), with what ROS 1
writes otherwise: `time`, `duration`, and `Header` without its package.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from skerry.core.errors import SkerryError

NUMBERS: Final = {
    **{f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float32": 4,
    "float64": 8,
    "bool": 1,
    "byte": 1,
    "char": 1,
}
"""The primitive types that are not text, and their size, bytes."""

_SHORT: Final = {
    "time": "builtin_interfaces/msg/Time",
    "duration": "builtin_interfaces/msg/Duration",
    "Header": "std_msgs/msg/Header",
}
_LINE = re.compile(
    r"(?P<base>[A-Za-z][\w/]*)(?:<=(?P<limit>\d+))?(?P<array>\[(?P<bound><=)?(?P<size>\d*)\])?\s+(?P<name>[A-Za-z]\w*)"
    r"(?:\s*=\s*(?P<value>.+)|\s+(?P<default>.+))?"
)


@dataclass(frozen=True)
class FieldType:
    """One value, or many: `array` is "" for one, "fixed" for `size` of them, "bounded" for at most so many, "open"."""

    base: str  # a primitive type, "string", or the full name of a message
    array: str = ""
    size: int = 0
    limit: int = 0  # characters of a bounded string

    @property
    def is_message(self) -> bool:
        """Whether it is a message inside another."""
        return "/" in self.base

    @property
    def is_number(self) -> bool:
        """Whether it is a number, a truth or a byte."""
        return self.base in NUMBERS


@dataclass(frozen=True)
class Field:
    """A field of a message."""

    name: str
    type: FieldType
    default: str | None = None


@dataclass(frozen=True)
class Constant:
    """A named value of a message."""

    name: str
    base: str
    value: str | int | float | bool
    text: str  # the value as it is written, by which ROS 1 tells definitions apart


@dataclass(frozen=True)
class MessageType:
    """A message: its full name, such as sensor_msgs/msg/Imu, its fields in order, and its constants."""

    name: str
    fields: tuple[Field, ...]
    constants: tuple[Constant, ...] = ()


@dataclass(frozen=True)
class ServiceType:
    """A service: a question and its answer."""

    name: str
    request: MessageType
    response: MessageType


@dataclass(frozen=True)
class ActionType:
    """An action, with the services and the message that ROS 2 carries it by."""

    name: str
    goal: MessageType
    result: MessageType
    feedback: MessageType
    send_goal: ServiceType
    get_result: ServiceType
    feedback_message: MessageType


def parse_message(text: str, name: str, where: str) -> MessageType:
    """Read a message; `where` is told when something is wrong with it."""
    package = name.split("/")[0]
    fields: list[Field] = []
    constants: list[Constant] = []
    for number, line in enumerate(text.splitlines(), 1):
        content = _without_comment(line)
        if not content:
            continue
        found = _LINE.fullmatch(content)
        if found is None:
            raise SkerryError(f"{where}, line {number}: {content!r} is neither `type name` nor `type NAME=value`")
        kind = _type_of(found, package, f"{where}, line {number}")
        if found["value"] is not None:
            written = found["value"].strip()
            try:
                value = _constant(kind.base, written)
            except ValueError:
                raise SkerryError(f"{where}, line {number}: {found['value']!r} is no {kind.base}") from None
            constants.append(Constant(found["name"], kind.base, value, written))
        else:
            fields.append(Field(found["name"], kind, found["default"]))
    names = [field.name for field in fields]
    if twice := {field for field in names if names.count(field) > 1}:
        raise SkerryError(f"{where}: {', '.join(sorted(twice))} is there twice")
    return MessageType(name, tuple(fields), tuple(constants))


def parse_service(text: str, name: str, where: str) -> ServiceType:
    """Read a service."""
    request, response = _sections(text, 2, where)
    return ServiceType(
        name,
        parse_message(request, f"{name}_Request", f"{where} (request)"),
        parse_message(response, f"{name}_Response", f"{where} (response)"),
    )


def parse_action(text: str, name: str, where: str) -> ActionType:
    """Read an action; what carries it is as in https://design.ros2.org/articles/actions.html."""
    parts = zip(("Goal", "Result", "Feedback"), _sections(text, 3, where), strict=True)
    goal, result, feedback = (parse_message(part, f"{name}_{word}", f"{where} ({word})") for word, part in parts)
    goal_id = Field("goal_id", FieldType("unique_identifier_msgs/msg/UUID"))
    return ActionType(
        name,
        goal,
        result,
        feedback,
        ServiceType(
            f"{name}_SendGoal",
            MessageType(f"{name}_SendGoal_Request", (goal_id, Field("goal", FieldType(goal.name)))),
            MessageType(
                f"{name}_SendGoal_Response",
                (Field("accepted", FieldType("bool")), Field("stamp", FieldType("builtin_interfaces/msg/Time"))),
            ),
        ),
        ServiceType(
            f"{name}_GetResult",
            MessageType(f"{name}_GetResult_Request", (goal_id,)),
            MessageType(
                f"{name}_GetResult_Response",
                (Field("status", FieldType("int8")), Field("result", FieldType(result.name))),
            ),
        ),
        MessageType(f"{name}_FeedbackMessage", (goal_id, Field("feedback", FieldType(feedback.name)))),
    )


def actionlib_messages(action: ActionType) -> list[MessageType]:
    """The messages that ROS 1 makes of an action, such as GotoWaypointGoal and GotoWaypointActionGoal."""
    base = action.name.replace("/action/", "/msg/")
    header = Field("header", FieldType("std_msgs/msg/Header"))
    number = Field("goal_id", FieldType("actionlib_msgs/msg/GoalID"))
    status = Field("status", FieldType("actionlib_msgs/msg/GoalStatus"))
    found = []
    for word, part, second in (
        ("Goal", action.goal, number),
        ("Result", action.result, status),
        ("Feedback", action.feedback, status),
    ):
        plain = MessageType(f"{base}{word}", part.fields, part.constants)
        inner = Field(word.lower(), FieldType(plain.name))
        found += [plain, MessageType(f"{base}Action{word}", (header, second, inner))]
    return found


def _sections(text: str, count: int, where: str) -> list[str]:
    sections = re.split(r"^---[ \t]*$", text, flags=re.MULTILINE)
    if len(sections) != count:
        raise SkerryError(f"{where}: has {len(sections)} parts between lines of ---, and needs {count}")
    return sections


def _without_comment(line: str) -> str:
    """The line up to its comment; a # between quotes is none, and a text constant of ROS 1 has no quotes."""
    quote = ""
    for place, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            return line[:place].strip()
    return line.strip()


def _type_of(found: re.Match[str], package: str, where: str) -> FieldType:
    base = found["base"]
    if base in _SHORT:
        base = _SHORT[base]
    elif base in {"wstring", "wchar", "float128"}:
        raise SkerryError(f"{where}: {base} is not spoken here; take string or float64")
    elif base not in NUMBERS and base != "string":
        base = full_name(base, package)
    array = ""
    if found["array"]:
        array = "bounded" if found["bound"] else "fixed" if found["size"] else "open"
    return FieldType(base, array, int(found["size"] or 0), int(found["limit"] or 0))


@lru_cache(4096)
def full_name(name: str, package: str = "", folder: str = "msg") -> str:
    """pkg/msg/Name of Name, pkg/Name or pkg/msg/Name."""
    parts = name.split("/")
    if len(parts) == 1 and package:
        parts.insert(0, package)
    if len(parts) == 2:
        parts.insert(1, folder)
    if len(parts) != 3 or not all(parts):
        raise SkerryError(f"{name!r} is no name of a type; write it as package/{folder}/Name or package/Name")
    return "/".join(parts)


def short_name(name: str) -> str:
    """pkg/Name of pkg/msg/Name, as ROS 1 and the endpoint write it."""
    package, _, word = name.split("/")
    return f"{package}/{word}"


def _constant(base: str, text: str) -> str | int | float | bool:
    if base == "string":
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    if base == "bool":
        return text.lower() in {"true", "1"}
    return float(text) if base.startswith("float") else int(text, 0)
