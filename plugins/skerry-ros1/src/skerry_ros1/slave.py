"""The slave API of a ROS 1 node: methods that the master and peers call (https://wiki.ros.org/ROS/Slave_API)."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final
from xmlrpc.client import Fault

from skerry.interfaces.ros.bus.transport import NODE
from skerry_ros1.connections import Connections
from skerry_ros1.publications import Publications
from skerry_ros1.subscriptions import Subscriptions

SUCCESS, FAILURE, ERROR = 1, 0, -1
UNKNOWN_METHOD: Final = -32601  # error code of XML-RPC

StatusTuple = list[Any]
"""Response of a method: status code, text and value."""


class SlaveApi:
    """Handlers of the methods; `leave` is called by the method `shutdown`."""

    def __init__(
        self,
        master: str,
        own: str,
        address: tuple[str, int],
        publications: Publications,
        subscriptions: Subscriptions,
        connections: Connections,
        leave: Callable[[str], None],
    ) -> None:
        self._address, self._leave = address, leave
        self._publications, self._subscriptions = publications, subscriptions
        self._methods: dict[str, tuple[int, Callable[..., StatusTuple]]] = {
            "getBusInfo": (0, lambda: [SUCCESS, "", connections.info()]),
            "getBusStats": (0, lambda: [SUCCESS, "", connections.statistics()]),
            "getMasterUri": (0, lambda: [SUCCESS, "", master]),
            "getName": (0, lambda: [SUCCESS, "", NODE]),
            "getPid": (0, lambda: [SUCCESS, "", os.getpid()]),
            "getPublications": (0, lambda: [SUCCESS, "", _pairs(publications.types())]),
            "getSubscriptions": (0, lambda: [SUCCESS, "", _pairs(subscriptions.types())]),
            "getUri": (0, lambda: [SUCCESS, "", own]),
            "paramUpdate": (2, lambda key, value: [ERROR, "the node does not subscribe to parameters", 0]),
            "publisherUpdate": (2, self._publisher_update),
            "requestTopic": (2, self._request_topic),
            "shutdown": (-1, self._shutdown),
        }

    def answer(self, method: str, arguments: tuple[Any, ...]) -> StatusTuple:
        """Return the response of a method; its first argument is the name of the caller."""
        if method not in self._methods:
            raise Fault(UNKNOWN_METHOD, f"{NODE} has no method {method[:200]!r}")
        wanted, answer = self._methods[method]
        if not arguments or (wanted >= 0 and len(arguments) != 1 + wanted):
            return [ERROR, f"{method} takes {1 + max(wanted, 0)} arguments, not {len(arguments)}", 0]
        return answer(*arguments[1:])

    def _publisher_update(self, topic: Any, publishers: Any) -> StatusTuple:
        is_list = isinstance(publishers, list) and all(isinstance(uri, str) for uri in publishers)
        if not isinstance(topic, str) or not is_list:
            return [ERROR, "publisherUpdate expects the name of a topic and a list of addresses", 0]
        self._subscriptions.update(topic, publishers)
        return [SUCCESS, "", 0]

    def _request_topic(self, topic: Any, protocols: Any) -> StatusTuple:
        offered = [row[0] for row in protocols if row] if _are_rows(protocols) else []
        if not isinstance(topic, str) or topic not in self._publications.types():
            return [FAILURE, f"{NODE} does not publish {str(topic)[:200]}", []]
        if "TCPROS" not in offered:
            return [FAILURE, f"{NODE} supports TCPROS only", []]
        host, port = self._address
        return [SUCCESS, f"ready on {host}:{port}", ["TCPROS", host, port]]

    def _shutdown(self, *reason: Any) -> StatusTuple:
        self._leave(str(reason[0])[:500] if reason else "")
        return [SUCCESS, "", 0]


def _pairs(types: dict[str, str]) -> list[list[str]]:
    return [[name, kind] for name, kind in types.items()]


def _are_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) for row in value)
