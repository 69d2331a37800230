"""Parameters of the bus as parameters of a ROS 2 node, which `ros2 param` can read. They are read-only.

The parameter `/utm_zone`, as ROS 1 and the documents of SMaRC write it, is `utm_zone` of the node.
"""

from __future__ import annotations

from typing import Any, Final

from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bus.bus import Bus, Parameter
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.codec import Message

_FIELDS: Final = {bool: "bool", int: "integer", float: "double", str: "string"}
_VALUE: Final = "rcl_interfaces/ParameterValue"


class ParameterFeature(Feature):
    """Adds the parameter services of the node."""

    def finish(self) -> None:
        ParameterServices(self.bus)


class ParameterServices:
    """Parameter services that each ROS 2 node has."""

    def __init__(self, bus: Bus) -> None:
        self._bus, self._codec = bus, bus.codec
        for name, type_name, handle in (
            ("get_parameters", "GetParameters", self._get),
            ("get_parameter_types", "GetParameterTypes", self._types),
            ("list_parameters", "ListParameters", self._list),
            ("describe_parameters", "DescribeParameters", self._describe),
            ("set_parameters", "SetParameters", self._refuse_each),
            ("set_parameters_atomically", "SetParametersAtomically", self._refuse),
        ):
            bus.add_service(f"{NODE}/{name}", f"rcl_interfaces/{type_name}", handle)

    def _get(self, request: Message) -> Message:
        values = [self._value(self._find(name)) for name in request.names]
        return self._codec.make("rcl_interfaces/srv/GetParameters_Response", values=values)

    def _types(self, request: Message) -> Message:
        types = [self._type(self._find(name)) for name in request.names]
        return self._codec.make("rcl_interfaces/srv/GetParameterTypes_Response", types=types)

    def _list(self, request: Message) -> Message:
        names = sorted(name.removeprefix("/").replace("/", ".") for name in self._bus.parameters)
        prefixes = tuple(request.prefixes)
        chosen = [name for name in names if not prefixes or name.startswith(prefixes)]
        return self._codec.make("rcl_interfaces/srv/ListParameters_Response", result={"names": chosen})

    def _describe(self, request: Message) -> Message:
        found = [{"name": name, "type": self._type(self._find(name)), "read_only": True} for name in request.names]
        return self._codec.make("rcl_interfaces/srv/DescribeParameters_Response", descriptors=found)

    def _refuse_each(self, request: Message) -> Message:
        results = [self._refusal() for _ in request.parameters]
        return self._codec.make("rcl_interfaces/srv/SetParameters_Response", results=results)

    def _refuse(self, request: Message) -> Message:
        return self._codec.make("rcl_interfaces/srv/SetParametersAtomically_Response", result=self._refusal())

    def _refusal(self) -> dict[str, Any]:
        return {"successful": False, "reason": "parameters of the simulator are read-only; change the scenario instead"}

    def _find(self, name: str) -> Parameter | None:
        return self._bus.parameters.get(f"/{name.replace('.', '/')}")

    def _type(self, value: Parameter | None) -> int:
        name = "NOT_SET" if value is None else _FIELDS[type(value)].upper()
        return int(self._codec.constant("rcl_interfaces/ParameterType", f"PARAMETER_{name}"))

    def _value(self, value: Parameter | None) -> Message:
        field = {} if value is None else {f"{_FIELDS[type(value)]}_value": value}
        return self._codec.make(_VALUE, type=self._type(value), **field)
