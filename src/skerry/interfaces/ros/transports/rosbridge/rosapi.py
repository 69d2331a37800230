"""Services of `/rosapi`, which describe the graph: topics, services, types and parameters.

Names and fields are those of rosapi (https://github.com/RobotWebTools/rosbridge_suite); the services that roslibpy and
roslibjs use are included.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.lazy_message import SECOND
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.types import FieldType, MessageType, full_name

PREFIX = "/rosapi/"

MAX_PARAMETERS = 1000
"""Largest number of parameters that peers can set."""

Plain = dict[str, Any]


class RosApi:
    """Handlers of the services, by the name after `/rosapi/`."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._handlers: dict[str, Callable[[Plain], Plain]] = {
            "topics": self._topics,
            "topics_for_type": lambda request: {"topics": self._names_of(self._types(), _text(request, "type"), "msg")},
            "topic_type": lambda request: {"type": self._types().get(_text(request, "topic"), "")},
            "services": lambda request: {"services": sorted(bus.services)},
            "services_for_type": lambda request: {
                "services": self._names_of(self._services(), _text(request, "type"), "srv")
            },
            "service_type": lambda request: {"type": self._services().get(_text(request, "service"), "")},
            "service_node": lambda request: {"node": NODE if _text(request, "service") in bus.services else ""},
            "nodes": lambda request: {"nodes": [NODE]},
            "node_details": self._node_details,
            "publishers": lambda request: {"publishers": [NODE] if _text(request, "topic") in bus.topics else []},
            "subscribers": lambda request: {
                "subscribers": [NODE] if _text(request, "topic") in bus.subscriptions else []
            },
            "message_details": lambda request: {"typedefs": self._describe(_text(request, "type"))},
            "service_request_details": lambda request: {
                "typedefs": self._describe_part(_text(request, "type"), "request")
            },
            "service_response_details": lambda request: {
                "typedefs": self._describe_part(_text(request, "type"), "response")
            },
            "get_param_names": lambda request: {"names": sorted(bus.parameters)},
            "has_param": lambda request: {"exists": _text(request, "name") in bus.parameters},
            "get_param": self._get_param,
            "set_param": self._set_param,
            "delete_param": self._delete_param,
            "get_time": self._get_time,
        }
        self._peer_parameters: set[str] = set()  # parameters that peers have set

    def names(self) -> list[str]:
        """Return the full names of the services."""
        return [PREFIX + name for name in self._handlers]

    def call(self, name: str, request: Plain) -> Plain:
        """Return the response to a call."""
        key = name.removeprefix(PREFIX)
        if key not in self._handlers:
            raise UnknownName(f"there is no service {name!r}; {did_you_mean(key, self._handlers)}")
        return self._handlers[key](request)

    def _types(self) -> dict[str, str]:
        subscribed = {name: found[0].type for name, found in self._bus.subscriptions.items()}
        return {**subscribed, **{name: topic.type for name, topic in self._bus.topics.items()}}

    def _services(self) -> dict[str, str]:
        return {name: service.type for name, service in self._bus.services.items()}

    def _topics(self, request: Plain) -> Plain:
        types = self._types()
        names = sorted(types)
        return {"topics": names, "types": [types[name] for name in names], "typedefs_full_text": []}

    def _names_of(self, types: dict[str, str], wanted: str, folder: str) -> list[str]:
        name = full_name(wanted, folder=folder)
        return sorted(found for found, kind in types.items() if kind == name)

    def _node_details(self, request: Plain) -> Plain:
        if _text(request, "node") != NODE:
            return {"subscribing": [], "publishing": [], "services": []}
        bus = self._bus
        return {
            "subscribing": sorted(bus.subscriptions),
            "publishing": sorted(bus.topics),
            "services": sorted(bus.services),
        }

    def _get_param(self, request: Plain) -> Plain:
        name = _text(request, "name")
        default = request.get("default")
        if name in self._bus.parameters:
            return {"value": json.dumps(self._bus.parameters[name])}
        return {"value": default if isinstance(default, str) and default else "null"}

    def _set_param(self, request: Plain) -> Plain:
        """Set a parameter of the peers; its value is JSON, as in rosapi."""
        name = self._peer_parameter(request)
        try:
            value = json.loads(_text(request, "value"))
        except ValueError:
            raise SkerryError(f"the value of the parameter {name!r} is not JSON; put a text in quotes") from None
        if not isinstance(value, bool | int | float | str):
            raise SkerryError(f"the parameter {name!r} must be a boolean, a number or a text")
        if name not in self._peer_parameters and len(self._peer_parameters) >= MAX_PARAMETERS:
            raise SkerryError(f"there are already {MAX_PARAMETERS} parameters of peers; delete one first")
        self._bus.parameters[name] = value
        self._peer_parameters.add(name)
        return {}

    def _delete_param(self, request: Plain) -> Plain:
        name = self._peer_parameter(request)
        self._bus.parameters.pop(name, None)
        self._peer_parameters.discard(name)
        return {}

    def _peer_parameter(self, request: Plain) -> str:
        name = _text(request, "name")
        if name in self._bus.parameters and name not in self._peer_parameters:
            raise SkerryError(f"the parameter {name!r} of the simulator is read-only; change the scenario instead")
        return name

    def _get_time(self, request: Plain) -> Plain:
        """Return the simulated time, as on /clock."""
        sec, nanosec = divmod(self._bus.time_ns, SECOND)
        return {"time": {"sec": sec, "nanosec": nanosec}}

    def _describe_part(self, type_name: str, part: str) -> list[Plain]:
        return self._describe(getattr(self._bus.codec.type_store.service(type_name), part).name)

    def _describe(self, type_name: str) -> list[Plain]:
        """Return the description of a message type and of all types that it contains, each once."""
        type_store = self._bus.codec.type_store
        found: dict[str, Plain] = {}
        waiting = [full_name(type_name)]
        while waiting:
            name = waiting.pop(0)
            if name not in found:
                message = type_store.message(name)
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


def _text(request: Plain, key: str) -> str:
    found = request.get(key)
    if not isinstance(found, str):
        raise SkerryError(f"the call needs the field {key!r}, a string")
    return found
