"""The protocol of rosbridge, version 2, as JSON and without a socket: one conversation with one client.

https://github.com/RobotWebTools/rosbridge_suite/blob/ros2/ROSBRIDGE_PROTOCOL.md; how messages are compressed and cut is
in `rosbridge_frames`.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import count
from math import inf
from typing import Any, Final

from skerry.core.errors import SkerryError, did_you_mean, shorten
from skerry.interfaces.ros.bus.actions import Goal, Status
from skerry.interfaces.ros.bus.bus import Bus, Client, Outbox
from skerry.interfaces.ros.bus.lazy_message import Outgoing
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.types import full_name
from skerry.interfaces.ros.transports.rosbridge.rosapi import PREFIX, RosApi

logger = logging.getLogger("skerry")

MOST_TOPICS: Final = 1000  # that clients may bring along
COMPRESSIONS: Final = ("none", "png", "cbor", "cbor-raw")
LEAST_FRAGMENT: Final = 100  # characters; each fragment has as many around it


@dataclass(frozen=True)
class Form:
    """How a client wants the messages of a topic."""

    throttle: float = 0.0  # s at least from one message to the next
    compression: str = "none"
    fragment_size: int | None = None  # characters of JSON at most in one frame


class Conversation:
    """What one client asks for and gets. `send` takes a JSON object; it may be called from any thread."""

    def __init__(
        self,
        bus: Bus,
        api: RosApi,
        relayed: set[str],
        carries: Callable[[str], bool],
        outbox: Outbox,
        send: Callable[[Any], None],
    ) -> None:
        self._bus, self._api, self._relayed, self._carries = bus, api, relayed, carries
        self.outbox, self._send = outbox, send
        self._taken: dict[str, dict[str, Form]] = {}  # topics, each by subscription
        self._said: dict[str, float] = {}  # when a message of a topic was last sent
        self._offered: dict[str, tuple[Client, Callable[[Message], Future[Message]]]] = {}
        self._asked: dict[str, tuple[Client, Future[Message]]] = {}
        self._goals: dict[str, Goal] = {}  # by the client's own name for each
        self._numbers = count(1)
        self._operations: dict[str, Callable[[dict[str, Any]], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "advertise": self._advertise,
            "unadvertise": lambda asked: None,
            "publish": self._publish,
            "call_service": self._call_service,
            "advertise_service": self._advertise_service,
            "unadvertise_service": lambda asked: self._withdraw(_name(asked, "service")),
            "service_response": self._service_response,
            "send_action_goal": self._send_action_goal,
            "cancel_action_goal": self._cancel_action_goal,
            "set_level": lambda asked: None,
            "status": lambda asked: None,
        }

    def receive(self, text: str) -> None:
        """Take what a client sent; a fault is told to it, and changes nothing."""
        number: Any = None
        try:
            try:
                asked = json.loads(text)
            except (ValueError, RecursionError):
                raise SkerryError(f"this is no JSON: {shorten(text)}") from None
            if not isinstance(asked, dict):
                raise SkerryError(f"an object with an `op` is needed, not {shorten(asked)}")
            number = asked.get("id")
            operation = self._operations.get(_text(asked, "op"))
            if operation is None:
                raise SkerryError(f"there is no operation {shorten(asked['op'])}; known: {', '.join(self._operations)}")
            operation(asked)
        except SkerryError as error:
            self._send({"op": "status", "level": "error", "msg": str(error), "id": number})

    def wants(self, outgoing: Outgoing) -> Form | None:
        """How this client wants a message of the bus, by its last subscription; None if it wants fewer of them."""
        name = outgoing.topic.name
        forms = list(self._taken.get(name, {}).values())
        if not forms:
            return None
        throttle = min(form.throttle for form in forms)
        if throttle:
            now = time.monotonic()
            if now - self._said.get(name, -throttle) < throttle:
                return None
            self._said[name] = now
        return forms[-1]

    def close(self) -> None:
        """Take nothing any more; calls that wait for an answer fail."""
        self._taken.clear()
        self._bus.takers(self.outbox, ())
        for service in list(self._offered):
            self._withdraw(service)
        for client, promise in self._asked.values():
            promise.set_exception(SkerryError(f"{client.name}: the client went away before it answered"))
        self._asked.clear()

    # -------------------------------------------------------------------------------------------- topics

    def _subscribe(self, asked: dict[str, Any]) -> None:
        name = _name(asked, "topic")
        if not self._carries(name):
            raise SkerryError(f"the topic {name} is left out by the settings of this interface")
        if name not in self._bus.topics:
            if not isinstance(asked.get("type"), str):
                raise SkerryError(f"nobody says {name!r}; give the `type`, to wait for it")
            self._bring(name, asked["type"])
        topic = self._bus.topics[name]
        if isinstance(asked.get("type"), str) and full_name(asked["type"]) != topic.type:
            raise SkerryError(f"the topic {name} is {topic.type}, not {asked['type']}")
        form = _form(asked)
        mine = self._taken.setdefault(name, {})
        mine.pop(str(asked.get("id")), None)
        mine[str(asked.get("id"))] = form
        self._bus.takers(self.outbox, self._taken)

    def _unsubscribe(self, asked: dict[str, Any]) -> None:
        name = _name(asked, "topic")
        mine = self._taken.get(name, {})
        if asked.get("id") is None:
            mine.clear()
        else:
            mine.pop(str(asked["id"]), None)
        if not mine:
            self._taken.pop(name, None)
        self._bus.takers(self.outbox, self._taken)

    def _advertise(self, asked: dict[str, Any]) -> None:
        name, kind = _name(asked, "topic"), full_name(_text(asked, "type"))
        if name in self._bus.subscriptions:
            wanted = self._bus.type_heard(name)
            if kind != wanted:
                raise SkerryError(f"the topic {name} is heard as {wanted}, not as {kind}")
        else:
            self._bring(name, kind)

    def _bring(self, name: str, kind: str) -> None:
        """Let there be a topic that the simulator itself has nothing to do with, between its peers."""
        if name not in self._bus.topics:
            if len(self._relayed) >= MOST_TOPICS:
                raise SkerryError(f"{MOST_TOPICS} topics of clients are enough")
            self._bus.advertise(name, kind)
            self._relayed.add(name)
        elif name not in self._relayed:
            raise SkerryError(f"the simulator says {name} itself")

    def _publish(self, asked: dict[str, Any]) -> None:
        name, values = _name(asked, "topic"), asked.get("msg", {})
        bus = self._bus
        if name in bus.subscriptions:
            bus.hear(name, bus.codec.from_json(values, bus.type_heard(name)))
        elif name in self._relayed:
            topic = bus.topics[name]
            topic.publish(bus.codec.from_json(values, topic.type))
        else:
            raise SkerryError(f"nobody hears {name!r}; advertise it first, with its type")

    # -------------------------------------------------------------------------------------------- services

    def _call_service(self, asked: dict[str, Any]) -> None:
        name = _name(asked, "service")
        reply = partial(self._reply, asked.get("id"), name)
        arguments = asked.get("args", {})
        try:
            if name.startswith(PREFIX):
                ask = arguments if isinstance(arguments, dict) else {}
                reply(self._api.call(name, ask), True)
                return
            service = self._bus.services.get(name)
            if service is None:
                raise SkerryError(f"there is no service {name!r}")
            request = f"{service.type}_Request"
            if isinstance(arguments, list):  # values in the order of the fields
                fields = self._bus.codec.vocabulary.message(request).fields
                arguments = {field.name: value for field, value in zip(fields, arguments, strict=False)}
            message = self._bus.codec.from_json(arguments, request)
        except SkerryError as error:
            reply(str(error), False)
            return
        self._bus.call(name, message).add_done_callback(partial(self._answered, reply))

    def _answered(self, reply: Callable[[Any, bool], None], promise: Future[Message]) -> None:
        if promise.cancelled() or promise.exception() is not None:
            reply("cancelled" if promise.cancelled() else str(promise.exception()), False)
        else:
            reply(self._bus.codec.to_json(promise.result()), True)

    def _reply(self, number: Any, name: str, values: Any, result: bool) -> None:
        answer = {"op": "service_response", "service": name, "values": values, "result": result}
        self._send(answer if number is None else {**answer, "id": number})

    def _advertise_service(self, asked: dict[str, Any]) -> None:
        name, kind = _name(asked, "service"), _text(asked, "type")
        if name in self._bus.services or name.startswith(PREFIX):
            raise SkerryError(f"the simulator offers {name} itself")
        client = self._bus.client(name, kind)
        self._withdraw(name)
        carrier = partial(self._ask, client)
        self._offered[name] = (client, carrier)
        client.carriers.append(carrier)

    def _withdraw(self, name: str) -> None:
        if found := self._offered.pop(name, None):
            client, carrier = found
            client.carriers.remove(carrier)

    def _ask(self, client: Client, request: Message) -> Future[Message]:
        promise: Future[Message] = Future()
        number = f"call_service:{client.name}:{next(self._numbers)}"
        self._asked[number] = (client, promise)
        values = self._bus.codec.to_json(request)
        self._send({"op": "call_service", "id": number, "service": client.name, "args": values})
        return promise

    def _service_response(self, asked: dict[str, Any]) -> None:
        client, promise = self._asked.pop(str(asked.get("id")), (None, None))
        if client is None or promise is None:
            raise SkerryError(f"nobody asked for an answer {shorten(asked.get('id'))}")
        if asked.get("result") is False:
            promise.set_exception(SkerryError(f"{client.name}: {shorten(asked.get('values'))}"))
            return
        try:
            promise.set_result(self._bus.codec.from_json(asked.get("values", {}), f"{client.type}_Response"))
        except SkerryError as error:
            promise.set_exception(error)

    # -------------------------------------------------------------------------------------------- actions

    def _send_action_goal(self, asked: dict[str, Any]) -> None:
        name, number = _name(asked, "action"), str(asked.get("id"))
        self._goals = {known: goal for known, goal in self._goals.items() if not goal.has_ended}
        codec = self._bus.codec

        def hear(feedback: Message) -> None:
            if asked.get("feedback", False):
                values = codec.to_json(feedback)
                self._send({"op": "action_feedback", "id": number, "action": name, "values": values})

        try:
            server = self._bus.actions.get(name)
            if server is None:
                raise SkerryError(f"there is no action {name!r}; {did_you_mean(name, self._bus.actions)}")
            goal: Goal = server.send(codec.from_json(asked.get("args", {}), server.type.goal.name), hear=hear)
        except SkerryError as error:
            answer = {"op": "action_result", "id": number, "action": name, "values": {"message": str(error)}}
            self._send({**answer, "status": int(Status.ABORTED), "result": False})
            return
        self._goals[number] = goal

        def end(outcome: Future[Message]) -> None:
            answer = {"op": "action_result", "id": number, "action": name, "values": codec.to_json(outcome.result())}
            self._send({**answer, "status": int(goal.status), "result": goal.status is Status.SUCCEEDED})

        goal.outcome.add_done_callback(end)

    def _cancel_action_goal(self, asked: dict[str, Any]) -> None:
        goal = self._goals.get(str(asked.get("id")))
        if goal is None:
            raise SkerryError(f"there is no goal {shorten(asked.get('id'))} of this client")
        goal.server.cancel(goal)


def _form(asked: dict[str, Any]) -> Form:
    throttle, size = asked.get("throttle_rate") or 0, asked.get("fragment_size")
    compression = asked.get("compression") or "none"
    if not isinstance(throttle, int | float) or not 0 <= throttle < inf:
        raise SkerryError(f"`throttle_rate` is milliseconds, not {shorten(throttle)}")
    if compression not in COMPRESSIONS:
        raise SkerryError(f"compression {shorten(compression)} is not offered; there are: {', '.join(COMPRESSIONS)}")
    if size is not None and (not isinstance(size, int) or size < LEAST_FRAGMENT):
        raise SkerryError(f"`fragment_size` is {LEAST_FRAGMENT} characters or more, not {shorten(size)}")
    return Form(throttle / 1000.0, compression, size)


def _name(asked: dict[str, Any], word: str) -> str:
    """The name of a topic, service or action; roslibjs calls `rosapi/topics` without a slash before it."""
    found = _text(asked, word)
    return found if found.startswith("/") else f"/{found}"


def _text(asked: dict[str, Any], word: str) -> str:
    found = asked.get(word)
    if not isinstance(found, str) or not found:
        raise SkerryError(f"{word!r} must be a text, not {shorten(found)}")
    return found
