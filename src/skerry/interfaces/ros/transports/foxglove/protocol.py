"""The Foxglove WebSocket protocol, version 1: the session with one client, independent of the socket.

The specification is https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md.
Numbers in binary frames are little-endian.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

from skerry import __version__
from skerry.core.errors import SkerryError, shorten
from skerry.interfaces.ros.bus.bus import Bus, SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.types import full_name
from skerry.interfaces.ros.transports.websocket_server import Frame

SUBPROTOCOL: Final = "foxglove.websocket.v1"
CAPABILITIES: Final = ("clientPublish", "parameters", "parametersSubscribe", "services", "connectionGraph", "time")
ENCODINGS: Final = ("cdr", "json")
MAX_CHANNELS: Final = 1000  # channels that a client may advertise

# Opcodes of binary frames: first those of the server, then those of a client.
MESSAGE_DATA, TIME, SERVICE_RESPONSE = 1, 2, 3
CLIENT_MESSAGE, SERVICE_REQUEST = 1, 2

_INFO, _WARNING, _ERROR = range(3)
_MESSAGE: Final = struct.Struct("<BIQ")  # opcode, subscription, time in ns
_TIME: Final = struct.Struct("<BQ")
_CALL: Final = struct.Struct("<BIII")  # opcode, service, call, length of the encoding's name in bytes


class FoxgloveSession:
    """Session with one client.

    Args:
        bus: Bus of the simulator.
        session_id: Identifier of this run of the server.
        carries: Function that returns whether a topic is sent.
        queue: Queue that is subscribed to the topics of the client.
        send: Function that sends a frame; it may be called from any thread.
    """

    def __init__(
        self,
        bus: Bus,
        session_id: str,
        carries: Callable[[str], bool],
        queue: SubscriberQueue,
        send: Callable[[Frame], None],
    ) -> None:
        self._bus, self._session_id, self._carries = bus, session_id, carries
        self._queue, self._send = queue, send
        self._channels: dict[int, str] = {}  # topics, by channel number
        self._services: dict[int, str] = {}
        self._subscribed: dict[str, int] = {}  # subscriptions, by topic
        self._client_channels: dict[int, tuple[str, str]] = {}  # topic and encoding of the channels of the client
        self._sees_graph = False
        self._time = -1
        self._operations: dict[str, Callable[[dict[str, Any]], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "advertise": self._advertise,
            "unadvertise": self._unadvertise,
            "getParameters": self._get_parameters,
            "setParameters": self._set_parameters,
            "subscribeParameterUpdates": self._get_parameters,
            "unsubscribeParameterUpdates": lambda request: None,
            "subscribeConnectionGraph": self._show_graph,
            "unsubscribeConnectionGraph": self._hide_graph,
        }

    # -------------------------------------------------------------------------------------------- frames

    def begin(self) -> None:
        """Send the server information, topics and services."""
        self._send_json(
            op="serverInfo",
            name=f"Skerry {__version__}",
            capabilities=CAPABILITIES,
            supportedEncodings=ENCODINGS,
            metadata={"ROS_DISTRO": self._bus.codec.type_store.distribution},
            sessionId=self._session_id,
        )
        self._advertise_new_entries()

    def receive(self, data: Frame) -> None:
        """Handle data of the client; invalid data is answered with an error status."""
        try:
            if isinstance(data, str):
                self._on_json(data)
            elif data[:1] == bytes((CLIENT_MESSAGE,)):
                self._on_client_message(data)
            elif data[:1] == bytes((SERVICE_REQUEST,)):
                self._call(data)
            else:
                raise SkerryError(f"received {len(data)} bytes with an unknown opcode: {data[:8].hex()}")
        except SkerryError as error:
            self._send_json(op="status", level=_ERROR, message=str(error))

    def frames(self, message: LazyMessage) -> list[Frame]:
        """Return a message of the bus, preceded by the time if it has changed."""
        now = self._bus.time_ns
        found: list[Frame] = []
        if now != self._time:
            self._time = now
            found.append(_TIME.pack(TIME, now))
            self._advertise_new_entries()
        name = message.topic.name
        if (number := self._subscribed.get(name)) is not None:
            found.append(_MESSAGE.pack(MESSAGE_DATA, number, now) + message.cdr)
        return found

    def close(self) -> None:
        """End all subscriptions."""
        self._subscribed.clear()
        self._bus.set_subscriptions(self._queue, ())

    def _send_json(self, **values: Any) -> None:
        self._send(json.dumps(values))

    def _on_json(self, text: str) -> None:
        try:
            request = json.loads(text)
        except (ValueError, RecursionError):
            raise SkerryError(f"this is not valid JSON: {shorten(text)}") from None
        operation = request.get("op") if isinstance(request, dict) else None
        if not isinstance(operation, str) or operation not in self._operations:
            raise SkerryError(f"expected an object with an `op`, one of: {', '.join(self._operations)}")
        self._operations[operation](request)

    # -------------------------------------------------------------------------------------------- entries of the bus

    def _advertise_new_entries(self) -> None:
        """Advertise the topics and services that the client does not know."""
        topics, services = self._bus.topics, self._bus.services
        if len(self._channels) == len(topics) and len(self._services) == len(services):
            return
        known, known_services = set(self._channels.values()), set(self._services.values())
        codec, channels, found = self._bus.codec, [], []
        for name, topic in topics.items():
            if name not in known:
                number = len(self._channels) + 1
                self._channels[number] = name
                if self._carries(name):
                    channels.append({"id": number, "topic": name, **_schema(codec, topic.type)})
        for name, service in services.items():
            if name not in known_services:
                number = len(self._services) + 1
                self._services[number] = name
                parts = {part: _schema(codec, f"{service.type}_{part.title()}") for part in ("request", "response")}
                found.append({"id": number, "name": name, "type": service.type, **parts})
        if channels:
            self._send_json(op="advertise", channels=channels)
        if found:
            self._send_json(op="advertiseServices", services=found)
        if self._sees_graph:
            self._send_graph()

    def _show_graph(self, request: dict[str, Any]) -> None:
        self._sees_graph = True
        self._send_graph()

    def _hide_graph(self, request: dict[str, Any]) -> None:
        self._sees_graph = False

    def _send_graph(self) -> None:
        bus = self._bus
        self._send_json(
            op="connectionGraphUpdate",
            publishedTopics=[{"name": name, "publisherIds": [NODE]} for name in bus.topics],
            subscribedTopics=[{"name": name, "subscriberIds": [NODE]} for name in bus.subscriptions],
            advertisedServices=[{"name": name, "providerIds": [NODE]} for name in bus.services],
            removedTopics=[],
            removedServices=[],
        )

    # -------------------------------------------------------------------------------------------- topics

    def _subscribe(self, request: dict[str, Any]) -> None:
        for item in _objects(request, "subscriptions"):
            number, channel = _number(item, "id"), _number(item, "channelId")
            name = self._channels.get(channel)
            if name is None or not self._carries(name):
                raise SkerryError(f"there is no channel {channel}")
            if name in self._subscribed or number in self._subscribed.values():
                raise SkerryError(f"a subscription to {name} or with the id {number} exists already")
            self._subscribed[name] = number
            self._bus.set_subscriptions(self._queue, self._subscribed)

    def _unsubscribe(self, request: dict[str, Any]) -> None:
        gone = set(_numbers(request, "subscriptionIds"))
        self._subscribed = {name: number for name, number in self._subscribed.items() if number not in gone}
        self._bus.set_subscriptions(self._queue, self._subscribed)

    def _advertise(self, request: dict[str, Any]) -> None:
        for item in _objects(request, "channels"):
            number, name, encoding = _number(item, "id"), _text(item, "topic"), _text(item, "encoding")
            wanted = self._bus.subscribed_type(name)
            if full_name(_text(item, "schemaName")) != wanted:
                raise SkerryError(
                    f"the simulator subscribes to {name} as {wanted}, not as {shorten(item['schemaName'])}"
                )
            if encoding not in ENCODINGS:
                raise SkerryError(f"the encoding {shorten(encoding)} is not known; known: {', '.join(ENCODINGS)}")
            if number not in self._client_channels and len(self._client_channels) >= MAX_CHANNELS:
                raise SkerryError(f"the client has advertised {MAX_CHANNELS} channels, which is the maximum")
            self._client_channels[number] = (name, encoding)

    def _unadvertise(self, request: dict[str, Any]) -> None:
        for number in _numbers(request, "channelIds"):
            self._client_channels.pop(number, None)

    def _on_client_message(self, data: bytes) -> None:
        if len(data) < 5:
            raise SkerryError(f"the message has {len(data)} bytes, which is too short")
        number = int.from_bytes(data[1:5], "little")
        if number not in self._client_channels:
            raise SkerryError(f"the client has not advertised channel {number}")
        name, encoding = self._client_channels[number]
        self._bus.on_message(name, _decode(self._bus.codec, encoding, data[5:], self._bus.subscribed_type(name)))

    # -------------------------------------------------------------------------------------------- services

    def _call(self, data: bytes) -> None:
        if len(data) < _CALL.size:
            raise SkerryError(f"the call has {len(data)} bytes, which is too short")
        _, number, call, length = _CALL.unpack_from(data)
        try:
            name = self._services.get(number)
            if name is None or name not in self._bus.services:
                raise SkerryError(f"there is no service {number}")
            encoding = data[_CALL.size : _CALL.size + length].decode(errors="replace")
            if encoding not in ENCODINGS:
                raise SkerryError(f"the encoding {shorten(encoding)} is not known; known: {', '.join(ENCODINGS)}")
            type_name = f"{self._bus.services[name].type}_Request"
            message = _decode(self._bus.codec, encoding, data[_CALL.size + length :], type_name)
        except SkerryError as error:
            self._send_failure(number, call, str(error))
            return
        self._bus.call(name, message).add_done_callback(partial(self._send_response, number, call, encoding))

    def _send_response(self, number: int, call: int, encoding: str, future: Future[Message]) -> None:
        if future.cancelled() or future.exception() is not None:
            self._send_failure(number, call, "cancelled" if future.cancelled() else str(future.exception()))
            return
        codec, response = self._bus.codec, future.result()
        data = codec.to_cdr(response) if encoding == "cdr" else json.dumps(codec.to_json(response)).encode()
        name = encoding.encode()
        self._send(_CALL.pack(SERVICE_RESPONSE, number, call, len(name)) + name + data)

    def _send_failure(self, number: int, call: int, reason: str) -> None:
        self._send_json(op="serviceCallFailure", serviceId=number, callId=call, message=reason)

    # -------------------------------------------------------------------------------------------- parameters

    def _get_parameters(self, request: dict[str, Any]) -> None:
        names = request.get("parameterNames")
        if not isinstance(names, list):
            raise SkerryError(f"`parameterNames` must be a list, not {shorten(names)}")
        self._send_parameters([name for name in names if isinstance(name, str)] or list(self._bus.parameters), request)

    def _set_parameters(self, request: dict[str, Any]) -> None:
        names = [_text(item, "name") for item in _objects(request, "parameters")]
        self._send_json(
            op="status",
            level=_WARNING,
            message="parameters of the simulator are read-only; change the scenario instead",
        )
        self._send_parameters(names, request)

    def _send_parameters(self, names: list[str], request: dict[str, Any]) -> None:
        known = self._bus.parameters
        found = [
            {"name": name, "value": known[name], **({"type": "float64"} if isinstance(known[name], float) else {})}
            for name in names
            if name in known
        ]
        number = {"id": request["id"]} if isinstance(request.get("id"), str) else {}
        self._send_json(op="parameterValues", parameters=found, **number)


def _schema(codec: Codec, name: str) -> dict[str, str]:
    is_empty = not codec.type_store.message(name).fields
    text = "" if is_empty else codec.definition(name)
    return {"encoding": "cdr", "schemaName": name, "schemaEncoding": "ros2msg", "schema": text}


def _decode(codec: Codec, encoding: str, data: bytes, name: str) -> Message:
    if encoding == "cdr":
        return codec.from_cdr(data, name)
    try:
        return codec.from_json(json.loads(data), name)
    except (ValueError, RecursionError):
        raise SkerryError(f"{len(data)} bytes are not valid JSON") from None


def _objects(request: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = request.get(key)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise SkerryError(f"{key!r} must be a list of objects, not {shorten(found)}")
    return found


def _numbers(request: dict[str, Any], key: str) -> list[int]:
    found = request.get(key)
    if not isinstance(found, list) or not all(isinstance(item, int) for item in found):
        raise SkerryError(f"{key!r} must be a list of integers, not {shorten(found)}")
    return found


def _number(request: dict[str, Any], key: str) -> int:
    found = request.get(key)
    if not isinstance(found, int) or not 0 <= found < 2**32:
        raise SkerryError(f"{key!r} must be an unsigned integer of 32 bits, not {shorten(found)}")
    return found


def _text(request: dict[str, Any], key: str) -> str:
    found = request.get(key)
    if not isinstance(found, str) or not found:
        raise SkerryError(f"{key!r} must be a non-empty string, not {shorten(found)}")
    return found
