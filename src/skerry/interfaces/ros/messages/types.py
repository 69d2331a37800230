"""Parser of message, service and action definitions.

The format is that of `rosidl` (https://docs.ros.org/en/humble/Concepts/Basic/About-Interfaces.html). The types `time`,
`duration` and `Header` of ROS 1 are also accepted.
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
"""Primitive types except strings, with their size in bytes."""

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
    """Type of a field.

    `array` is "" for a single value, "fixed" for exactly `size` values, "bounded" for at most `size` values, and "open"
    for any number of values.
    """

    base: str  # a primitive type, "string", or the full name of a message
    array: str = ""
    size: int = 0
    limit: int = 0  # characters of a bounded string

    @property
    def is_message(self) -> bool:
        """Whether the field is a message inside the message."""
        return "/" in self.base

    @property
    def text(self) -> str:
        """Type as written in a definition, such as `string<=10[]`."""
        base = short_name(self.base) if self.is_message else self.base
        limit = f"<={self.limit}" if self.limit else ""
        array = {"": "", "open": "[]", "fixed": f"[{self.size}]", "bounded": f"[<={self.size}]"}[self.array]
        return f"{base}{limit}{array}"

    @property
    def is_number(self) -> bool:
        """Whether the field is a number, a boolean or a byte."""
        return self.base in NUMBERS


@dataclass(frozen=True)
class Field:
    """Field of a message."""

    name: str
    type: FieldType
    default: str | None = None


@dataclass(frozen=True)
class Constant:
    """Constant of a message."""

    name: str
    base: str
    value: str | int | float | bool
    text: str  # the value as written in the definition, which enters the MD5 sum of ROS 1


@dataclass(frozen=True)
class MessageType:
    """Message type: its full name, such as sensor_msgs/msg/Imu, its fields in order, and its constants."""

    name: str
    fields: tuple[Field, ...]
    constants: tuple[Constant, ...] = ()

    @property
    def text(self) -> str:
        """Definition without comments and defaults: constants and fields, one per line."""
        lines = [f"{constant.base} {constant.name}={constant.text}" for constant in self.constants]
        lines += [f"{field.type.text} {field.name}" for field in self.fields]
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True)
class ServiceType:
    """Service type: request and response."""

    name: str
    request: MessageType
    response: MessageType


@dataclass(frozen=True)
class ActionType:
    """Action type, with the services and the message of which an action consists in ROS 2."""

    name: str
    goal: MessageType
    result: MessageType
    feedback: MessageType
    send_goal: ServiceType
    get_result: ServiceType
    feedback_message: MessageType


def parse_message(text: str, name: str, where: str) -> MessageType:
    """Parse the definition of a message; `where` is the file name for error messages."""
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
                raise SkerryError(f"{where}, line {number}: {found['value']!r} is not a valid {kind.base}") from None
            constants.append(Constant(found["name"], kind.base, value, written))
        else:
            fields.append(Field(found["name"], kind, found["default"]))
    names = [field.name for field in fields]
    if twice := {field for field in names if names.count(field) > 1}:
        raise SkerryError(f"{where}: the field {', '.join(sorted(twice))} is defined twice")
    return MessageType(name, tuple(fields), tuple(constants))


def parse_service(text: str, name: str, where: str) -> ServiceType:
    """Parse the definition of a service; the arguments are those of `parse_message`."""
    request, response = _sections(text, 2, where)
    return ServiceType(
        name,
        parse_message(request, f"{name}_Request", f"{where} (request)"),
        parse_message(response, f"{name}_Response", f"{where} (response)"),
    )


def parse_action(text: str, name: str, where: str) -> ActionType:
    """Parse the definition of an action; its services and messages follow https://design.ros2.org/articles/actions.html."""
    parts = zip(("Goal", "Result", "Feedback"), _sections(text, 3, where), strict=True)
    goal, result, feedback = (parse_message(text, f"{name}_{part}", f"{where} ({part})") for part, text in parts)
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
    """Return the message types of an action in ROS 1, such as GotoWaypointGoal and GotoWaypointActionGoal."""
    base = action.name.replace("/action/", "/msg/")
    header = Field("header", FieldType("std_msgs/msg/Header"))
    number = Field("goal_id", FieldType("actionlib_msgs/msg/GoalID"))
    status = Field("status", FieldType("actionlib_msgs/msg/GoalStatus"))
    found = []
    for name, part, second in (
        ("Goal", action.goal, number),
        ("Result", action.result, status),
        ("Feedback", action.feedback, status),
    ):
        plain = MessageType(f"{base}{name}", part.fields, part.constants)
        inner = Field(name.lower(), FieldType(plain.name))
        found += [plain, MessageType(f"{base}Action{name}", (header, second, inner))]
    return found


def _sections(text: str, count: int, where: str) -> list[str]:
    sections = re.split(r"^---[ \t]*$", text, flags=re.MULTILINE)
    if len(sections) != count:
        raise SkerryError(f"{where}: found {len(sections)} parts separated by lines of ---; expected {count}")
    return sections


def _without_comment(line: str) -> str:
    """Return the line without its comment; a # inside quotes does not start a comment."""
    quote = ""
    for index, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#":
            return line[:index].strip()
    return line.strip()


def _type_of(found: re.Match[str], package: str, where: str) -> FieldType:
    base = found["base"]
    if base in _SHORT:
        base = _SHORT[base]
    elif base in {"wstring", "wchar", "float128"}:
        raise SkerryError(f"{where}: the type {base} is not supported; use string or float64")
    elif base not in NUMBERS and base != "string":
        base = full_name(base, package)
    array = ""
    if found["array"]:
        array = "bounded" if found["bound"] else "fixed" if found["size"] else "open"
    return FieldType(base, array, int(found["size"] or 0), int(found["limit"] or 0))


@lru_cache(4096)
def full_name(name: str, package: str = "", folder: str = "msg") -> str:
    """Return the full name pkg/msg/Name of Name, pkg/Name or pkg/msg/Name."""
    parts = name.split("/")
    if len(parts) == 1 and package:
        parts.insert(0, package)
    if len(parts) == 2:
        parts.insert(1, folder)
    if len(parts) != 3 or not all(parts):
        raise SkerryError(f"{name!r} is not the name of a type; write it as package/{folder}/Name or package/Name")
    return "/".join(parts)


def short_name(name: str) -> str:
    """Return pkg/Name of pkg/msg/Name, the format of ROS 1 and of the ROS-TCP-Endpoint."""
    package, _, short = name.split("/")
    return f"{package}/{short}"


def _constant(base: str, text: str) -> str | int | float | bool:
    if base == "string":
        return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    if base == "bool":
        return text.lower() in {"true", "1"}
    return float(text) if base.startswith("float") else int(text, 0)
