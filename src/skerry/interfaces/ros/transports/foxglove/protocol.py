"""The protocol of Foxglove's WebSockets, version 1, as frames and without a socket: one conversation with one client.

https://github.com/foxglove/ws-protocol/blob/main/docs/spec.md. Numbers in binary frames are little-endian.
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
from skerry.interfaces.ros.bus.bus import Bus, Outbox
from skerry.interfaces.ros.bus.lazy_message import Outgoing
from skerry.interfaces.ros.bus.transport import NODE
from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.types import full_name
from skerry.interfaces.ros.transports.websocket_server import Frame

SUBPROTOCOL: Final = "foxglove.websocket.v1"
CAPABILITIES: Final = ("clientPublish", "parameters", "parametersSubscribe", "services", "connectionGraph", "time")
ENCODINGS: Final = ("cdr", "json")
MOST_CHANNELS: Final = 1000  # that a client may advertise

# opcodes of binary frames: those of the server, and those of a client
MESSAGE_DATA, TIME, SERVICE_RESPONSE = 1, 2, 3
CLIENT_MESSAGE, SERVICE_REQUEST = 1, 2

_INFO, _WARNING, _ERROR = range(3)
_MESSAGE: Final = struct.Struct("<BIQ")  # opcode, subscription, time in ns
_TIME: Final = struct.Struct("<BQ")
_CALL: Final = struct.Struct("<BIII")  # opcode, service, call, bytes of the encoding's name


class FoxgloveConversation:
    """What one client asks for and gets. `send` takes a frame; it may be called from any thread."""

    def __init__(
        self, bus: Bus, session: str, carries: Callable[[str], bool], outbox: Outbox, send: Callable[[Frame], None]
    ) -> None:
        self._bus, self._session, self._carries = bus, session, carries
        self._outbox, self._send = outbox, send
        self._channels: dict[int, str] = {}  # topics, by the numbers by which the client knows them
        self._services: dict[int, str] = {}
        self._taken: dict[str, int] = {}  # subscriptions, by topic
        self._theirs: dict[int, tuple[str, str]] = {}  # topic and encoding of the client's own channels
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
            "unsubscribeParameterUpdates": lambda asked: None,
            "subscribeConnectionGraph": self._show_graph,
            "unsubscribeConnectionGraph": self._hide_graph,
        }

    # -------------------------------------------------------------------------------------------- frames

    def begin(self) -> None:
        """Say who we are, and what there is."""
        self._say(
            op="serverInfo",
            name=f"Skerry {__version__}",
            capabilities=CAPABILITIES,
            supportedEncodings=ENCODINGS,
            metadata={"ROS_DISTRO": self._bus.codec.vocabulary.distribution},
            sessionId=self._session,
        )
        self._tell_what_is_new()

    def receive(self, data: Frame) -> None:
        """Take what a client sent; a fault is told to it, and changes nothing."""
        try:
            if isinstance(data, str):
                self._obey(data)
            elif data[:1] == bytes((CLIENT_MESSAGE,)):
                self._hear(data)
            elif data[:1] == bytes((SERVICE_REQUEST,)):
                self._call(data)
            else:
                raise SkerryError(f"{len(data)} bytes came that begin with no known opcode: {data[:8].hex()}")
        except SkerryError as error:
            self._say(op="status", level=_ERROR, message=str(error))

    def frames(self, outgoing: Outgoing) -> list[Frame]:
        """A message of the bus, with the time before it if that has changed."""
        now = self._bus.now
        found: list[Frame] = []
        if now != self._time:
            self._time = now
            found.append(_TIME.pack(TIME, now))
            self._tell_what_is_new()
        name = outgoing.topic.name
        if (number := self._taken.get(name)) is not None:
            found.append(_MESSAGE.pack(MESSAGE_DATA, number, now) + outgoing.cdr)
        return found

    def close(self) -> None:
        """Take nothing any more."""
        self._taken.clear()
        self._bus.takers(self._outbox, ())

    def _say(self, **values: Any) -> None:
        self._send(json.dumps(values))

    def _obey(self, text: str) -> None:
        try:
            asked = json.loads(text)
        except (ValueError, RecursionError):
            raise SkerryError(f"this is no JSON: {shorten(text)}") from None
        operation = asked.get("op") if isinstance(asked, dict) else None
        if not isinstance(operation, str) or operation not in self._operations:
            raise SkerryError(f"an object with an `op` is needed, one of: {', '.join(self._operations)}")
        self._operations[operation](asked)

    # -------------------------------------------------------------------------------------------- what there is

    def _tell_what_is_new(self) -> None:
        """Advertise topics and services that the client does not know yet."""
        topics, services = self._bus.topics, self._bus.services
        if len(self._channels) == len(topics) and len(self._services) == len(services):
            return
        known, offered = set(self._channels.values()), set(self._services.values())
        codec, channels, found = self._bus.codec, [], []
        for name, topic in topics.items():
            if name not in known:
                number = len(self._channels) + 1
                self._channels[number] = name
                if self._carries(name):
                    channels.append({"id": number, "topic": name, **_schema(codec, topic.type)})
        for name, service in services.items():
            if name not in offered:
                number = len(self._services) + 1
                self._services[number] = name
                parts = {part: _schema(codec, f"{service.type}_{part.title()}") for part in ("request", "response")}
                found.append({"id": number, "name": name, "type": service.type, **parts})
        if channels:
            self._say(op="advertise", channels=channels)
        if found:
            self._say(op="advertiseServices", services=found)
        if self._sees_graph:
            self._tell_graph()

    def _show_graph(self, asked: dict[str, Any]) -> None:
        self._sees_graph = True
        self._tell_graph()

    def _hide_graph(self, asked: dict[str, Any]) -> None:
        self._sees_graph = False

    def _tell_graph(self) -> None:
        bus = self._bus
        self._say(
            op="connectionGraphUpdate",
            publishedTopics=[{"name": name, "publisherIds": [NODE]} for name in bus.topics],
            subscribedTopics=[{"name": name, "subscriberIds": [NODE]} for name in bus.subscriptions],
            advertisedServices=[{"name": name, "providerIds": [NODE]} for name in bus.services],
            removedTopics=[],
            removedServices=[],
        )

    # -------------------------------------------------------------------------------------------- topics

    def _subscribe(self, asked: dict[str, Any]) -> None:
        for item in _objects(asked, "subscriptions"):
            number, channel = _number(item, "id"), _number(item, "channelId")
            name = self._channels.get(channel)
            if name is None or not self._carries(name):
                raise SkerryError(f"there is no channel {channel}")
            if name in self._taken or number in self._taken.values():
                raise SkerryError(f"there is a subscription to {name}, or one with the id {number}, already")
            self._taken[name] = number
            self._bus.takers(self._outbox, self._taken)

    def _unsubscribe(self, asked: dict[str, Any]) -> None:
        gone = set(_numbers(asked, "subscriptionIds"))
        self._taken = {name: number for name, number in self._taken.items() if number not in gone}
        self._bus.takers(self._outbox, self._taken)

    def _advertise(self, asked: dict[str, Any]) -> None:
        for item in _objects(asked, "channels"):
            number, name, encoding = _number(item, "id"), _text(item, "topic"), _text(item, "encoding")
            wanted = self._bus.type_heard(name)
            if full_name(_text(item, "schemaName")) != wanted:
                raise SkerryError(f"the topic {name} is heard as {wanted}, not as {shorten(item['schemaName'])}")
            if encoding not in ENCODINGS:
                raise SkerryError(f"the encoding {shorten(encoding)} is not known; known: {', '.join(ENCODINGS)}")
            if number not in self._theirs and len(self._theirs) >= MOST_CHANNELS:
                raise SkerryError(f"{MOST_CHANNELS} channels of a client are enough")
            self._theirs[number] = (name, encoding)

    def _unadvertise(self, asked: dict[str, Any]) -> None:
        for number in _numbers(asked, "channelIds"):
            self._theirs.pop(number, None)

    def _hear(self, data: bytes) -> None:
        if len(data) < 5:
            raise SkerryError(f"a message of {len(data)} bytes is cut short")
        number = int.from_bytes(data[1:5], "little")
        if number not in self._theirs:
            raise SkerryError(f"nothing was advertised as channel {number}")
        name, encoding = self._theirs[number]
        self._bus.hear(name, _decode(self._bus.codec, encoding, data[5:], self._bus.type_heard(name)))

    # -------------------------------------------------------------------------------------------- services

    def _call(self, data: bytes) -> None:
        if len(data) < _CALL.size:
            raise SkerryError(f"a call of {len(data)} bytes is cut short")
        _, number, call, length = _CALL.unpack_from(data)
        try:
            name = self._services.get(number)
            if name is None or name not in self._bus.services:
                raise SkerryError(f"there is no service {number}")
            encoding = data[_CALL.size : _CALL.size + length].decode(errors="replace")
            if encoding not in ENCODINGS:
                raise SkerryError(f"the encoding {shorten(encoding)} is not known; known: {', '.join(ENCODINGS)}")
            request = f"{self._bus.services[name].type}_Request"
            message = _decode(self._bus.codec, encoding, data[_CALL.size + length :], request)
        except SkerryError as error:
            self._fail(number, call, str(error))
            return
        self._bus.call(name, message).add_done_callback(partial(self._answer, number, call, encoding))

    def _answer(self, number: int, call: int, encoding: str, promise: Future[Message]) -> None:
        if promise.cancelled() or promise.exception() is not None:
            self._fail(number, call, "cancelled" if promise.cancelled() else str(promise.exception()))
            return
        codec, answer = self._bus.codec, promise.result()
        data = codec.to_cdr(answer) if encoding == "cdr" else json.dumps(codec.to_json(answer)).encode()
        word = encoding.encode()
        self._send(_CALL.pack(SERVICE_RESPONSE, number, call, len(word)) + word + data)

    def _fail(self, number: int, call: int, why: str) -> None:
        self._say(op="serviceCallFailure", serviceId=number, callId=call, message=why)

    # -------------------------------------------------------------------------------------------- parameters

    def _get_parameters(self, asked: dict[str, Any]) -> None:
        names = asked.get("parameterNames")
        if not isinstance(names, list):
            raise SkerryError(f"`parameterNames` must be a list, not {shorten(names)}")
        self._tell_parameters([name for name in names if isinstance(name, str)] or list(self._bus.parameters), asked)

    def _set_parameters(self, asked: dict[str, Any]) -> None:
        names = [_text(item, "name") for item in _objects(asked, "parameters")]
        self._say(op="status", level=_WARNING, message="the parameters of the simulator are those of its scenario")
        self._tell_parameters(names, asked)

    def _tell_parameters(self, names: list[str], asked: dict[str, Any]) -> None:
        known = self._bus.parameters
        found = [
            {"name": name, "value": known[name], **({"type": "float64"} if isinstance(known[name], float) else {})}
            for name in names
            if name in known
        ]
        number = {"id": asked["id"]} if isinstance(asked.get("id"), str) else {}
        self._say(op="parameterValues", parameters=found, **number)


def _schema(codec: Codec, name: str) -> dict[str, str]:
    is_empty = not codec.vocabulary.message(name).fields
    text = "" if is_empty else codec.definition(name)
    return {"encoding": "cdr", "schemaName": name, "schemaEncoding": "ros2msg", "schema": text}


def _decode(codec: Codec, encoding: str, data: bytes, name: str) -> Message:
    if encoding == "cdr":
        return codec.from_cdr(data, name)
    try:
        return codec.from_json(json.loads(data), name)
    except (ValueError, RecursionError):
        raise SkerryError(f"{len(data)} bytes are no JSON") from None


def _objects(asked: dict[str, Any], word: str) -> list[dict[str, Any]]:
    found = asked.get(word)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise SkerryError(f"{word!r} must be a list of objects, not {shorten(found)}")
    return found


def _numbers(asked: dict[str, Any], word: str) -> list[int]:
    found = asked.get(word)
    if not isinstance(found, list) or not all(isinstance(item, int) for item in found):
        raise SkerryError(f"{word!r} must be a list of whole numbers, not {shorten(found)}")
    return found


def _number(asked: dict[str, Any], word: str) -> int:
    found = asked.get(word)
    if not isinstance(found, int) or not 0 <= found < 2**32:
        raise SkerryError(f"{word!r} must be a whole number of 32 bits, not {shorten(found)}")
    return found


def _text(asked: dict[str, Any], word: str) -> str:
    found = asked.get(word)
    if not isinstance(found, str) or not found:
        raise SkerryError(f"{word!r} must be a text, not {shorten(found)}")
    return found
