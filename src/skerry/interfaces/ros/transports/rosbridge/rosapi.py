"""What `/rosapi` tells a client of rosbridge about the graph: topics, services, types, parameters and the time.

Names and fields are those of rosapi (https://github.com/RobotWebTools/rosbridge_suite), as far as roslibpy and
roslibjs ask.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.types import FieldType, MessageType, full_name

PREFIX = "/rosapi/"

Plain = dict[str, Any]


class RosApi:
    """Answers, by the name of the service behind `/rosapi/`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._answers: dict[str, Callable[[Plain], Plain]] = {
            "topics": self._topics,
            "topics_for_type": lambda ask: {"topics": self._names_of(self._types(), _text(ask, "type"), "msg")},
            "topic_type": lambda ask: {"type": self._types().get(_text(ask, "topic"), "")},
            "services": lambda ask: {"services": sorted(bus.services)},
            "services_for_type": lambda ask: {"services": self._names_of(self._services(), _text(ask, "type"), "srv")},
            "service_type": lambda ask: {"type": self._services().get(_text(ask, "service"), "")},
            "service_node": lambda ask: {"node": NODE if _text(ask, "service") in bus.services else ""},
            "nodes": lambda ask: {"nodes": [NODE]},
            "node_details": self._node_details,
            "publishers": lambda ask: {"publishers": [NODE] if _text(ask, "topic") in bus.topics else []},
            "subscribers": lambda ask: {"subscribers": [NODE] if _text(ask, "topic") in bus.subscriptions else []},
            "message_details": lambda ask: {"typedefs": self._describe(_text(ask, "type"))},
            "service_request_details": lambda ask: {"typedefs": self._describe_part(_text(ask, "type"), "request")},
            "service_response_details": lambda ask: {"typedefs": self._describe_part(_text(ask, "type"), "response")},
            "get_param_names": lambda ask: {"names": sorted(bus.parameters)},
            "has_param": lambda ask: {"exists": _text(ask, "name") in bus.parameters},
            "get_param": self._get_param,
        }

    def names(self) -> list[str]:
        """The full names of what is answered."""
        return [PREFIX + name for name in self._answers]

    def call(self, name: str, ask: Plain) -> Plain:
        """The answer to a call."""
        word = name.removeprefix(PREFIX)
        if word not in self._answers:
            raise UnknownName(f"there is no service {name!r}; {did_you_mean(word, self._answers)}")
        return self._answers[word](ask)

    def _types(self) -> dict[str, str]:
        heard = {name: found[0].type for name, found in self._bus.subscriptions.items()}
        return {**heard, **{name: topic.type for name, topic in self._bus.topics.items()}}

    def _services(self) -> dict[str, str]:
        return {name: service.type for name, service in self._bus.services.items()}

    def _topics(self, ask: Plain) -> Plain:
        types = self._types()
        names = sorted(types)
        return {"topics": names, "types": [types[name] for name in names], "typedefs_full_text": []}

    def _names_of(self, types: dict[str, str], wanted: str, folder: str) -> list[str]:
        name = full_name(wanted, folder=folder)
        return sorted(found for found, kind in types.items() if kind == name)

    def _node_details(self, ask: Plain) -> Plain:
        if _text(ask, "node") != NODE:
            return {"subscribing": [], "publishing": [], "services": []}
        bus = self._bus
        return {
            "subscribing": sorted(bus.subscriptions),
            "publishing": sorted(bus.topics),
            "services": sorted(bus.services),
        }

    def _get_param(self, ask: Plain) -> Plain:
        name = _text(ask, "name")
        default = ask.get("default")
        if name in self._bus.parameters:
            return {"value": json.dumps(self._bus.parameters[name])}
        return {"value": default if isinstance(default, str) and default else "null"}

    def _describe_part(self, type_name: str, part: str) -> list[Plain]:
        return self._describe(getattr(self._bus.codec.vocabulary.service(type_name), part).name)

    def _describe(self, type_name: str) -> list[Plain]:
        """A message and all that it refers to, each once."""
        vocabulary = self._bus.codec.vocabulary
        found: dict[str, Plain] = {}
        waiting = [full_name(type_name)]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                message = vocabulary.message(name)
                found[name] = _described(message)
                waiting += [field.type.base for field in message.fields if field.type.is_message]
        return list(found.values())


def _described(message: MessageType) -> Plain:
    return {
        "type": message.name,
        "fieldnames": [field.name for field in message.fields],
        "fieldtypes": [field.type.base for field in message.fields],
        "fieldarraylen": [_length(field.type) for field in message.fields],
        "examples": [_example(field.type) for field in message.fields],
        "constnames": [constant.name for constant in message.constants],
        "constvalues": [str(constant.value) for constant in message.constants],
    }


def _length(kind: FieldType) -> int:
    return {"": -1, "fixed": kind.size}.get(kind.array, 0)


def _example(kind: FieldType) -> str:
    if kind.array:
        return "[]"
    if kind.is_message:
        return "{}"
    return {"string": "", "bool": "False"}.get(kind.base, "0")


def _text(ask: Plain, word: str) -> str:
    found = ask.get(word)
    if not isinstance(found, str):
        raise SkerryError(f"the call needs {word!r}, a text")
    return found
