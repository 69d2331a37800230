"""Client of a ROS-TCP-Endpoint, a node of ROS 2 or ROS 1 that relays messages of a TCP socket."""

from __future__ import annotations

import logging
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import count
from threading import Event, Lock, Thread
from typing import Final, Literal

from pydantic import Field

from skerry.core.config import Positive
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Service, ServiceClient, SubscriberQueue, Topic
from skerry.interfaces.ros.bus.transport import ProtocolError, Transport, TransportConfig
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.messages.types import short_name
from skerry.interfaces.ros.transports.endpoint.protocol import (
    KEEPALIVE,
    FrameDecoder,
    FrameEncoder,
    is_ros2,
    read_parameters,
)

logger = logging.getLogger("skerry")

IDLE: Final = 1.0  # s without data before a keep-alive frame is sent; latched messages are repeated with this period
HANDSHAKE: Final = 2.0  # s to wait for the handshake; endpoints before 0.7 send none
# Entries of actions in ROS 2. An endpoint finds types of messages and services only, so it can relay the statuses and
# the cancel service, whose types are in action_msgs, but not the entries with the types of the action.
HIDDEN: Final = "/_action/"
FOUND: Final = "action_msgs/"
# Log messages of an endpoint about a type that is not installed: the first comes once, the second for each message.
UNKNOWN: Final = re.compile(r"SysCommand\.publish - Unknown message class '([^']*)'")
UNREGISTERED: Final = re.compile(r"Not registered to publish topic '([^']*)'")
MAX_LOGGED: Final = 200  # log messages of the endpoint that are repeated in the log, per connection
OWN: Final = "'skerry_msgs/"  # package of Skerry's own services, which is rarely installed
BURST: Final = 64  # frames that are sent in one call
IMAGES: Final = ("*/image", "*/image_raw", "*compressed", "*/camera_info", "*/cam_info", "*/image_depth")


class EndpointSession:
    """Session of one connection, independent of the socket; `send` sends bytes without interruption."""

    def __init__(self, config: Endpoint, bus: Bus, ros2: bool, send: Callable[[bytes], None]) -> None:
        self.config, self.bus, self.send = config, bus, send
        self.encoder = FrameEncoder(ros2)
        self.queue = SubscriberQueue()
        self._numbers = count(1)
        self._calls: dict[int, tuple[ServiceClient, Future[Message]]] = {}
        self._request: int | None = None  # number of the call whose request is the next frame
        self._response: int | None = None  # number of the call whose response is the next frame
        self._routes: list[tuple[ServiceClient, Callable[[Message], Future[Message]]]] = []
        self._topics: set[str] = set()  # topics that are sent
        self._logged: set[str] = set()  # log messages of the endpoint
        self._over = False

    def open(self) -> None:
        """Announce all topics, subscriptions, services and clients of the bus, and subscribe to the topics."""
        encoder, bus = self.encoder, self.bus
        topics = [topic for topic in bus.topics.values() if self._can_carry(topic) and self.config.carries(topic.name)]
        self._topics = {topic.name for topic in topics}
        frames = [encoder.publish(topic.name, topic.type, topic.qos.transient_local) for topic in topics]
        frames += [encoder.subscribe(name, found[0].type) for name, found in bus.subscriptions.items()]
        services = [service for service in bus.services.values() if self._can_carry(service)]
        frames += [encoder.add_service(service.name, service.type) for service in services]
        frames += [encoder.add_client(client.name, client.type) for client in bus.clients.values()]
        self.send(b"".join(frames))
        bus.set_subscriptions(self.queue, self._topics)
        if encoder.ros2 and bus.actions:
            logger.info(
                "an endpoint of ROS 2 does not support action types: of %s it relays the statuses and `cancel_goal` "
                "only; publish waypoints on `…/waypoint`, or send goals with `--ros dds` or `--ros rosbridge`",
                ", ".join(bus.actions),
            )
        for client in bus.clients.values():
            route = partial(self._call, client)
            self._routes.append((client, route))
            client.routes.append(route)

    def close(self) -> None:
        """End all subscriptions; calls that wait for a response fail, and late responses are not sent."""
        self._over = True
        self.bus.set_subscriptions(self.queue, ())
        for client, route in self._routes:
            client.routes.remove(route)
        self._routes.clear()
        for client, future in self._calls.values():
            future.set_exception(SkerryError(f"{client.name}: the endpoint disconnected before the response"))
        self._calls.clear()

    def frames_to_send(self, timeout: float) -> list[bytes]:
        """Return the frames of new messages of the bus; wait up to `timeout` seconds for the first one."""
        encoder = self.encoder
        return [
            encoder.message(message.topic.name, message.cdr if encoder.ros2 else message.ros1)
            for message in self.queue.drain(timeout)
        ]

    def latched(self) -> list[bytes]:
        """Return the last messages of latched topics, which an endpoint of ROS 2 does not store."""
        if not self.encoder.ros2:
            return []
        found = [(topic.name, topic.last) for topic in self.bus.topics.values() if topic.name in self._topics]
        return [self.encoder.message(name, last.cdr) for name, last in found if last is not None]

    def receive(self, name: str, payload: bytes) -> None:
        """Handle a frame of the endpoint."""
        if name == "__request":
            self._request = _number(payload)
        elif name == "__response":
            self._response = _number(payload)
        elif name in {"__log", "__warn", "__error"}:
            level = {"__log": logging.INFO, "__warn": logging.WARNING}.get(name, logging.ERROR)
            self._on_log(level, str(read_parameters(payload).get("text")))
        elif name.startswith("__"):
            logger.debug("the ROS-TCP-Endpoint sent the command %s, which is ignored", name)
        elif self._request is not None:
            number, self._request = self._request, None
            self._on_request(number, name, payload)
        elif self._response is not None:
            number, self._response = self._response, None
            self._on_response(number, payload)
        elif name in self.bus.subscriptions:
            self.bus.on_message(name, self._read(payload, self.bus.subscribed_type(name)))

    def _on_log(self, level: int, text: str) -> None:
        """Log a message of the endpoint once, and stop sending topics that the endpoint refuses."""
        unknown, unregistered = UNKNOWN.search(text), UNREGISTERED.search(text)
        refused: set[str] = set()
        if unknown is not None:
            refused = {name for name in self._topics if short_name(self.bus.topics[name].type) == unknown[1]}
        elif unregistered is not None:
            refused, text = {unregistered[1]} & self._topics, unregistered[0]
        if refused:
            self._topics -= refused
            self.bus.set_subscriptions(self.queue, self._topics)
        if text in self._logged or len(self._logged) >= MAX_LOGGED:
            return
        self._logged.add(text)
        if refused:
            text += f"; {', '.join(sorted(refused))} is not sent until the package is installed beside the endpoint"
        logger.log(logging.INFO if OWN in text else level, "ROS-TCP-Endpoint: %s", text[:500])

    def _can_carry(self, part: Topic | Service) -> bool:
        """Return whether the endpoint can relay a topic or service, unlike parameter services and types of actions."""
        if HIDDEN in part.name:
            return self.encoder.ros2 and part.type.startswith(FOUND)
        return not part.type.startswith("rcl_interfaces/")

    def _on_request(self, number: int, name: str, payload: bytes) -> None:
        service = self.bus.services.get(name)
        if service is None:
            logger.warning("the ROS-TCP-Endpoint called the unknown service %s; the call is ignored", name)
            return
        request = self._read(payload, f"{service.type}_Request")
        self.bus.call(name, request).add_done_callback(partial(self._reply, number, name))

    def _reply(self, number: int, name: str, future: Future[Message]) -> None:
        """Send a response; a failed call gets no response and times out, because the protocol has no error message."""
        if future.cancelled() or future.exception() is not None:
            logger.warning(
                "%s: call failed, no response is sent: %s",
                name,
                "cancelled" if future.cancelled() else future.exception(),
            )
        elif not self._over:  # an endpoint fails if it receives the response to a call of another connection
            self.send(self.encoder.response(number, name, self._write(future.result())))

    def _call(self, client: ServiceClient, request: Message) -> Future[Message]:
        future: Future[Message] = Future()
        number = next(self._numbers)
        self._calls[number] = (client, future)
        self.send(self.encoder.request(number, client.name, self._write(request)))
        return future

    def _on_response(self, number: int, payload: bytes) -> None:
        client, future = self._calls.pop(number, (None, None))
        if client is not None and future is not None:
            try:
                future.set_result(self._read(payload, f"{client.type}_Response"))
            except BadMessage as error:
                future.set_exception(error)

    def _read(self, payload: bytes, type_name: str) -> Message:
        codec = self.bus.codec
        return codec.from_cdr(payload, type_name) if self.encoder.ros2 else codec.from_ros1(payload, type_name)

    def _write(self, message: Message) -> bytes:
        codec = self.bus.codec
        return codec.to_cdr(message) if self.encoder.ros2 else codec.to_ros1(message)


def _number(payload: bytes) -> int:
    found = read_parameters(payload).get("srv_id")
    if not isinstance(found, int):
        raise ProtocolError(f"received a call without `srv_id`: {payload[:60]!r}")
    return found


class EndpointClient(Transport):
    """Client that reconnects until it is closed; each connection announces all entries of the bus."""

    def __init__(self, config: Endpoint) -> None:
        self.config = config
        self._closed = Event()
        self._thread: Thread | None = None
        self._socket: socket.socket | None = None
        self._lock = Lock()  # of `_waiting`
        self._waiting: deque[bytes] = deque()
        self._session: EndpointSession | None = None
        self._sent = 0
        self._dropped = 0

    @property
    def status(self) -> str:
        where = f"{self.config.host}:{self.config.port}"
        session = self._session
        if session is None:
            return f"endpoint: connecting to {where}"
        dropped = self._dropped + session.queue.dropped.total()
        kind = "ROS 2" if session.encoder.ros2 else "ROS 1"
        return f"endpoint {where} ({kind}), {self._sent} sent" + (f", {dropped} dropped" if dropped else "")

    def start(self, bus: Bus) -> None:
        self._thread = Thread(target=self._run, args=(bus,), name="ros endpoint", daemon=True)
        self._thread.start()

    def refresh(self) -> None:
        """Reconnect, because entries are announced at the start of a connection."""
        self._shut()

    def close(self) -> None:
        self._closed.set()
        self._shut()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def _shut(self) -> None:
        if (opened := self._socket) is not None:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)

    def _run(self, bus: Bus) -> None:
        where = (self.config.host, self.config.port)
        warned = False
        while not self._closed.is_set():
            try:
                with socket.create_connection(where, timeout=self.config.retry_period) as opened:
                    warned = False
                    self._serve(bus, opened)
            except (OSError, ProtocolError, BadMessage) as error:
                if not warned and not self._closed.is_set():
                    logger.warning("ROS-TCP-Endpoint at %s:%s: %s; retrying", *where, error)
                warned = True
            self._closed.wait(self.config.retry_period)

    def _serve(self, bus: Bus, opened: socket.socket) -> None:
        """Serve one connection until it ends."""
        self._socket = opened
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = FrameDecoder()
        ros2, early = self._shake_hands(opened, reader)
        self._waiting.clear()
        session = self._session = EndpointSession(self.config, bus, ros2, self._enqueue)
        session.open()
        logger.info("ROS-TCP-Endpoint at %s:%s: connected", self.config.host, self.config.port)
        over = Event()
        sender = Thread(target=self._send_frames, args=(session, opened, over), name="ros endpoint sender", daemon=True)
        sender.start()
        try:
            for name, payload in early:
                session.receive(name, payload)
            while data := opened.recv(65536):
                for name, payload in reader.feed(data):
                    session.receive(name, payload)
            if not self._closed.is_set():
                logger.warning(
                    "ROS-TCP-Endpoint at %s:%s disconnected; reconnecting", self.config.host, self.config.port
                )
        finally:
            over.set()
            self._session, self._socket = None, None
            session.close()
            self._dropped += session.queue.dropped.total()
            session.queue.wake()
            sender.join()

    def _shake_hands(self, opened: socket.socket, reader: FrameDecoder) -> tuple[bool, list[tuple[str, bytes]]]:
        """Return whether the endpoint is one of ROS 2, and the other frames that were received."""
        early: list[tuple[str, bytes]] = []
        end = time.monotonic() + HANDSHAKE
        wanted = self.config.protocol
        found: bool | None = None
        with suppress(TimeoutError):
            while found is None and (left := end - time.monotonic()) > 0:
                opened.settimeout(left)
                data = opened.recv(65536)
                if not data:
                    raise ConnectionError("the connection was closed before the handshake")
                for name, payload in reader.feed(data):
                    if name == "__handshake":
                        found = is_ros2(read_parameters(payload))
                    else:
                        early.append((name, payload))
        opened.settimeout(None)
        if wanted != "auto" and found is not None and found != (wanted == "ros2"):
            logger.warning(
                "the ROS-TCP-Endpoint is one of %s, but `protocol` is %s", "ROS 2" if found else "ROS 1", wanted
            )
        return (wanted != "ros1" if found is None else found), early

    def _enqueue(self, data: bytes) -> None:
        with self._lock:
            self._waiting.append(data)
        if (session := self._session) is not None:
            session.queue.wake()

    def _send_frames(self, session: EndpointSession, opened: socket.socket, over: Event) -> None:
        """Send frames in order. It does not wait for further frames, because the simulation publishes in bursts."""
        repeated = time.monotonic()
        try:
            while not over.is_set():
                frames = session.frames_to_send(IDLE)
                self._sent += len(frames)
                with self._lock:
                    pieces = [*self._waiting, *frames]
                    self._waiting.clear()
                if (now := time.monotonic()) - repeated >= IDLE:
                    repeated = now
                    pieces += session.latched()
                for start in range(0, len(pieces), BURST):
                    opened.sendall(b"".join(pieces[start : start + BURST]))
                if not pieces:
                    opened.sendall(KEEPALIVE)
        except OSError:  # the reading thread fails too and logs the error
            self._shut()


class Endpoint(TransportConfig):
    """Settings of the client of a ROS-TCP-Endpoint, for ROS 2 and ROS 1."""

    kind: Literal["endpoint"] = "endpoint"
    host: str = Field("127.0.0.1", min_length=1, description="host of the endpoint")
    port: int = Field(10000, ge=1, le=65535)
    protocol: Literal["auto", "ros2", "ros1"] = Field(
        "auto", description="protocol of an endpoint that sends no handshake"
    )
    retry_period: Positive = Field(1.0, description="s between attempts to connect")
    leave_out: tuple[str, ...] = Field(
        IMAGES,
        description="topics that are not sent, as patterns; by default images, because subscribers are unknown",
    )

    def build(self) -> EndpointClient:
        return EndpointClient(self)
