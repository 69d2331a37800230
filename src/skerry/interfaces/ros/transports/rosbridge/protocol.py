"""The rosbridge protocol, version 2, as JSON: the session with one client, independent of the socket.

The specification is https://github.com/RobotWebTools/rosbridge_suite/blob/ros2/ROSBRIDGE_PROTOCOL.md. Compression and
fragments are in `frames`.
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
from skerry.interfaces.ros.bus.actions import ActionGoal, GoalStatus
from skerry.interfaces.ros.bus.bus import Bus, ServiceClient, SubscriberQueue
from skerry.interfaces.ros.bus.lazy_message import LazyMessage
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.types import full_name
from skerry.interfaces.ros.transports.rosbridge.rosapi import PREFIX, RosApi

logger = logging.getLogger("skerry")

MAX_TOPICS: Final = 1000  # topics that clients may add
COMPRESSIONS: Final = ("none", "png", "cbor", "cbor-raw")
MIN_FRAGMENT: Final = 100  # characters; the envelope of a fragment has about as many


@dataclass(frozen=True)
class SubscriptionOptions:
    """Options of a client's subscription to a topic."""

    throttle: float = 0.0  # s; shortest time between two messages
    compression: str = "none"
    fragment_size: int | None = None  # maximum number of characters of JSON in one frame


class RosbridgeSession:
    """Session with one client.

    Args:
        bus: Bus of the simulator.
        api: Services of `/rosapi`.
        relayed: Topics of clients that are passed on to other clients; all sessions share the set.
        carries: Function that returns whether a topic is sent.
        queue: Queue that is subscribed to the topics of the client.
        send: Function that sends a JSON object; it may be called from any thread.
    """

    def __init__(
        self,
        bus: Bus,
        api: RosApi,
        relayed: set[str],
        carries: Callable[[str], bool],
        queue: SubscriberQueue,
        send: Callable[[Any], None],
    ) -> None:
        self._bus, self._api, self._relayed, self._carries = bus, api, relayed, carries
        self.queue, self._send = queue, send
        self._subscribed: dict[str, dict[str, SubscriptionOptions]] = {}  # options by topic and subscription id
        self._last_sent: dict[str, float] = {}  # time of the last message of each topic
        self._services: dict[str, tuple[ServiceClient, Callable[[Message], Future[Message]]]] = {}
        self._calls: dict[str, tuple[ServiceClient, Future[Message]]] = {}
        self._goals: dict[str, ActionGoal] = {}  # by the id that the client has chosen
        self._numbers = count(1)
        self._operations: dict[str, Callable[[dict[str, Any]], None]] = {
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
            "advertise": self._advertise,
            "unadvertise": lambda request: None,
            "publish": self._publish,
            "call_service": self._call_service,
            "advertise_service": self._advertise_service,
            "unadvertise_service": lambda request: self._withdraw(_name(request, "service")),
            "service_response": self._service_response,
            "send_action_goal": self._send_action_goal,
            "cancel_action_goal": self._cancel_action_goal,
            "set_level": lambda request: None,
            "status": lambda request: None,
        }

    def receive(self, text: str) -> None:
        """Handle a message of the client; an invalid message is answered with an error status."""
        number: Any = None
        try:
            try:
                request = json.loads(text)
            except (ValueError, RecursionError):
                raise SkerryError(f"this is not valid JSON: {shorten(text)}") from None
            if not isinstance(request, dict):
                raise SkerryError(f"expected an object with an `op`, not {shorten(request)}")
            number = request.get("id")
            operation = self._operations.get(_text(request, "op"))
            if operation is None:
                raise SkerryError(
                    f"there is no operation {shorten(request['op'])}; known: {', '.join(self._operations)}"
                )
            operation(request)
        except SkerryError as error:
            self._send({"op": "status", "level": "error", "msg": str(error), "id": number})

    def options_for(self, message: LazyMessage) -> SubscriptionOptions | None:
        """Return the options of the client's last subscription to the topic; None if the message is not to be sent."""
        name = message.topic.name
        options = list(self._subscribed.get(name, {}).values())
        if not options:
            return None
        throttle = min(option.throttle for option in options)
        if throttle:
            now = time.monotonic()
            if now - self._last_sent.get(name, -throttle) < throttle:
                return None
            self._last_sent[name] = now
        return options[-1]

    def close(self) -> None:
        """End all subscriptions; calls that wait for a response fail."""
        self._subscribed.clear()
        self._bus.set_subscriptions(self.queue, ())
        for service in list(self._services):
            self._withdraw(service)
        for client, future in self._calls.values():
            future.set_exception(SkerryError(f"{client.name}: the client disconnected before its response"))
        self._calls.clear()

    # -------------------------------------------------------------------------------------------- topics

    def _subscribe(self, request: dict[str, Any]) -> None:
        name = _name(request, "topic")
        if not self._carries(name):
            raise SkerryError(f"the topic {name} is excluded by `leave_out` of this transport")
        if name not in self._bus.topics:
            if not isinstance(request.get("type"), str):
                raise SkerryError(f"no peer publishes {name!r}; give its `type` to wait for it")
            self._relay(name, request["type"])
        topic = self._bus.topics[name]
        if isinstance(request.get("type"), str) and full_name(request["type"]) != topic.type:
            raise SkerryError(f"the topic {name} is {topic.type}, not {request['type']}")
        options = _options(request)
        subscriptions = self._subscribed.setdefault(name, {})
        subscriptions.pop(str(request.get("id")), None)
        subscriptions[str(request.get("id"))] = options
        self._bus.set_subscriptions(self.queue, self._subscribed)

    def _unsubscribe(self, request: dict[str, Any]) -> None:
        name = _name(request, "topic")
        subscriptions = self._subscribed.get(name, {})
        if request.get("id") is None:
            subscriptions.clear()
        else:
            subscriptions.pop(str(request["id"]), None)
        if not subscriptions:
            self._subscribed.pop(name, None)
        self._bus.set_subscriptions(self.queue, self._subscribed)

    def _advertise(self, request: dict[str, Any]) -> None:
        name, kind = _name(request, "topic"), full_name(_text(request, "type"))
        if name in self._bus.subscriptions:
            wanted = self._bus.subscribed_type(name)
            if kind != wanted:
                raise SkerryError(f"the simulator subscribes to {name} as {wanted}, not as {kind}")
        else:
            self._relay(name, kind)

    def _relay(self, name: str, kind: str) -> None:
        """Add a topic that is passed on between clients, and that the simulator does not use."""
        if name not in self._bus.topics:
            if len(self._relayed) >= MAX_TOPICS:
                raise SkerryError(f"clients have added {MAX_TOPICS} topics, which is the maximum")
            self._bus.advertise(name, kind)
            self._relayed.add(name)
        elif name not in self._relayed:
            raise SkerryError(f"the simulator publishes {name}; clients cannot")

    def _publish(self, request: dict[str, Any]) -> None:
        name, values = _name(request, "topic"), request.get("msg", {})
        bus = self._bus
        if name in bus.subscriptions:
            bus.on_message(name, bus.codec.from_json(values, bus.subscribed_type(name)))
        elif name in self._relayed:
            topic = bus.topics[name]
            topic.publish(bus.codec.from_json(values, topic.type))
        else:
            raise SkerryError(f"{name!r} has no subscriber; advertise it first, with its type")

    # -------------------------------------------------------------------------------------------- services

    def _call_service(self, request: dict[str, Any]) -> None:
        name = _name(request, "service")
        reply = partial(self._reply, request.get("id"), name)
        arguments = request.get("args", {})
        try:
            if name.startswith(PREFIX):
                values = arguments if isinstance(arguments, dict) else {}
                reply(self._api.call(name, values), True)
                return
            service = self._bus.services.get(name)
            if service is None:
                raise SkerryError(f"there is no service {name!r}")
            type_name = f"{service.type}_Request"
            if isinstance(arguments, list):  # values in the order of the fields
                fields = self._bus.codec.type_store.message(type_name).fields
                arguments = {field.name: value for field, value in zip(fields, arguments, strict=False)}
            message = self._bus.codec.from_json(arguments, type_name)
        except SkerryError as error:
            reply(str(error), False)
            return
        self._bus.call(name, message).add_done_callback(partial(self._on_response, reply))

    def _on_response(self, reply: Callable[[Any, bool], None], future: Future[Message]) -> None:
        if future.cancelled() or future.exception() is not None:
            reply("cancelled" if future.cancelled() else str(future.exception()), False)
        else:
            reply(self._bus.codec.to_json(future.result()), True)

    def _reply(self, number: Any, name: str, values: Any, result: bool) -> None:
        response = {"op": "service_response", "service": name, "values": values, "result": result}
        self._send(response if number is None else {**response, "id": number})

    def _advertise_service(self, request: dict[str, Any]) -> None:
        name, kind = _name(request, "service"), _text(request, "type")
        if name in self._bus.services or name.startswith(PREFIX):
            raise SkerryError(f"{name} is a service of the simulator; clients cannot advertise it")
        client = self._bus.service_client(name, kind)
        self._withdraw(name)
        route = partial(self._call_client, client)
        self._services[name] = (client, route)
        client.routes.append(route)

    def _withdraw(self, name: str) -> None:
        if found := self._services.pop(name, None):
            client, route = found
            client.routes.remove(route)

    def _call_client(self, client: ServiceClient, request: Message) -> Future[Message]:
        future: Future[Message] = Future()
        number = f"call_service:{client.name}:{next(self._numbers)}"
        self._calls[number] = (client, future)
        values = self._bus.codec.to_json(request)
        self._send({"op": "call_service", "id": number, "service": client.name, "args": values})
        return future

    def _service_response(self, request: dict[str, Any]) -> None:
        client, future = self._calls.pop(str(request.get("id")), (None, None))
        if client is None or future is None:
            raise SkerryError(f"the id {shorten(request.get('id'))} is not that of a pending call")
        if request.get("result") is False:
            future.set_exception(SkerryError(f"{client.name}: {shorten(request.get('values'))}"))
            return
        try:
            future.set_result(self._bus.codec.from_json(request.get("values", {}), f"{client.type}_Response"))
        except SkerryError as error:
            future.set_exception(error)

    # -------------------------------------------------------------------------------------------- actions

    def _send_action_goal(self, request: dict[str, Any]) -> None:
        name, number = _name(request, "action"), str(request.get("id"))
        self._goals = {known: goal for known, goal in self._goals.items() if not goal.has_ended}
        codec = self._bus.codec

        def on_feedback(feedback: Message) -> None:
            if request.get("feedback", False):
                values = codec.to_json(feedback)
                self._send({"op": "action_feedback", "id": number, "action": name, "values": values})

        try:
            server = self._bus.actions.get(name)
            if server is None:
                raise SkerryError(f"there is no action {name!r}; {did_you_mean(name, self._bus.actions)}")
            goal: ActionGoal = server.accept(
                codec.from_json(request.get("args", {}), server.type.goal.name), on_feedback=on_feedback
            )
        except SkerryError as error:
            result = {"op": "action_result", "id": number, "action": name, "values": {"message": str(error)}}
            self._send({**result, "status": int(GoalStatus.ABORTED), "result": False})
            return
        self._goals[number] = goal

        def end(outcome: Future[Message]) -> None:
            result = {"op": "action_result", "id": number, "action": name, "values": codec.to_json(outcome.result())}
            self._send({**result, "status": int(goal.status), "result": goal.status is GoalStatus.SUCCEEDED})

        goal.outcome.add_done_callback(end)

    def _cancel_action_goal(self, request: dict[str, Any]) -> None:
        goal = self._goals.get(str(request.get("id")))
        if goal is None:
            raise SkerryError(f"this client has no goal {shorten(request.get('id'))}")
        goal.server.cancel(goal)


def _options(request: dict[str, Any]) -> SubscriptionOptions:
    throttle, size = request.get("throttle_rate") or 0, request.get("fragment_size")
    compression = request.get("compression") or "none"
    if not isinstance(throttle, int | float) or not 0 <= throttle < inf:
        raise SkerryError(f"`throttle_rate` must be a time in milliseconds, not {shorten(throttle)}")
    if compression not in COMPRESSIONS:
        raise SkerryError(f"compression {shorten(compression)} is not supported; possible: {', '.join(COMPRESSIONS)}")
    if size is not None and (not isinstance(size, int) or size < MIN_FRAGMENT):
        raise SkerryError(f"`fragment_size` must be at least {MIN_FRAGMENT} characters, not {shorten(size)}")
    return SubscriptionOptions(throttle / 1000.0, compression, size)


def _name(request: dict[str, Any], key: str) -> str:
    """Return the name of a topic, service or action; a missing slash is added, as in `rosapi/topics` of roslibjs."""
    found = _text(request, key)
    return found if found.startswith("/") else f"/{found}"


def _text(request: dict[str, Any], key: str) -> str:
    found = request.get(key)
    if not isinstance(found, str) or not found:
        raise SkerryError(f"{key!r} must be a non-empty string, not {shorten(found)}")
    return found
