"""The client of a ROS-TCP-Endpoint: a node beside ROS 2 or ROS 1 that passes on what comes over a socket."""

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
from skerry.interfaces.ros.bus.bus import Bus, Client, Outbox, Service, Topic
from skerry.interfaces.ros.bus.transport import ProtocolError, Transport, TransportConfig
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.messages.types import short_name
from skerry.interfaces.ros.transports.endpoint.protocol import (
    KEEPALIVE,
    FrameReader,
    FrameWriter,
    read_parameters,
    speaks_ros2,
)

logger = logging.getLogger("skerry")

IDLE: Final = 1.0  # s of silence after which a connection is kept alive; latched messages are repeated as often
HANDSHAKE: Final = 2.0  # s to wait for it; endpoints before 0.7 send none
HIDDEN: Final = "/_action/"  # what carries actions; an endpoint finds types among messages and services only, so
FOUND: Final = "action_msgs/"  # of this package, the statuses and the way to cancel, but not an action's own types
# What an endpoint says once of a type that is not installed beside it, and then for every message of such a topic.
UNKNOWN: Final = re.compile(r"SysCommand\.publish - Unknown message class '([^']*)'")
UNREGISTERED: Final = re.compile(r"Not registered to publish topic '([^']*)'")
MOST_COMPLAINTS: Final = 200  # that are told of one connection
OWN: Final = "'skerry_msgs/"  # hardly anybody installs them, and does without the services that have them
BURST: Final = 64  # frames that go out in one piece
IMAGES: Final = ("*/image", "*/image_raw", "*compressed", "*/camera_info", "*/cam_info", "*/image_depth")


class Session:
    """One connection, as bytes: what came in, what must go out. `send` takes bytes that must go out in one piece."""

    def __init__(self, config: Endpoint, bus: Bus, ros2: bool, send: Callable[[bytes], None]) -> None:
        self.config, self.bus, self.send = config, bus, send
        self.writer = FrameWriter(ros2)
        self.outbox = Outbox()
        self._numbers = count(1)
        self._asked: dict[int, tuple[Client, Future[Message]]] = {}
        self._request: int | None = None  # the number of the call whose body comes next
        self._response: int | None = None
        self._carriers: list[tuple[Client, Callable[[Message], Future[Message]]]] = []
        self._topics: set[str] = set()  # that are sent
        self._complaints: set[str] = set()
        self._over = False

    def open(self) -> None:
        """Announce all that is said, heard, offered and called, and take what is said."""
        writer, bus = self.writer, self.bus
        topics = [topic for topic in bus.topics.values() if self._can_carry(topic) and self.config.carries(topic.name)]
        self._topics = {topic.name for topic in topics}
        frames = [writer.publish(topic.name, topic.type, topic.qos.transient_local) for topic in topics]
        frames += [writer.subscribe(name, heard[0].type) for name, heard in bus.subscriptions.items()]
        services = [service for service in bus.services.values() if self._can_carry(service)]
        frames += [writer.offer(service.name, service.type) for service in services]
        frames += [writer.use(client.name, client.type) for client in bus.clients.values()]
        self.send(b"".join(frames))
        bus.takers(self.outbox, self._topics)
        if writer.ros2 and bus.actions:
            logger.info(
                "an endpoint of ROS 2 finds no types of actions: of %s it carries the statuses and `cancel_goal` only; "
                "say waypoints on the topic `…/waypoint`, or give goals by `--ros dds` or `--ros rosbridge`",
                ", ".join(bus.actions),
            )
        for client in bus.clients.values():
            carrier = partial(self._ask, client)
            self._carriers.append((client, carrier))
            client.carriers.append(carrier)

    def close(self) -> None:
        """Take nothing any more; calls that wait for an answer fail, and answers that come late are not sent."""
        self._over = True
        self.bus.takers(self.outbox, ())
        for client, carrier in self._carriers:
            client.carriers.remove(carrier)
        self._carriers.clear()
        for client, promise in self._asked.values():
            promise.set_exception(SkerryError(f"{client.name}: the endpoint went away before it answered"))
        self._asked.clear()

    def frames_to_send(self, timeout: float) -> list[bytes]:
        """What the bus has said since, encoded; waits for something so many seconds."""
        writer = self.writer
        return [
            writer.message(outgoing.topic.name, outgoing.cdr if writer.ros2 else outgoing.ros1)
            for outgoing in self.outbox.take(timeout)
        ]

    def latched(self) -> list[bytes]:
        """The last messages of latched topics, which an endpoint of ROS 2 forgets, for late comers."""
        if not self.writer.ros2:
            return []
        found = [(topic.name, topic.last) for topic in self.bus.topics.values() if topic.name in self._topics]
        return [self.writer.message(name, last.cdr) for name, last in found if last is not None]

    def receive(self, name: str, payload: bytes) -> None:
        """Take a frame."""
        if name == "__request":
            self._request = _number(payload)
        elif name == "__response":
            self._response = _number(payload)
        elif name in {"__log", "__warn", "__error"}:
            level = {"__log": logging.INFO, "__warn": logging.WARNING}.get(name, logging.ERROR)
            self._hear_complaint(level, str(read_parameters(payload).get("text")))
        elif name.startswith("__"):
            logger.debug("the ROS-TCP-Endpoint sent %s", name)
        elif self._request is not None:
            number, self._request = self._request, None
            self._answer(number, name, payload)
        elif self._response is not None:
            number, self._response = self._response, None
            self._answered(number, payload)
        elif name in self.bus.subscriptions:
            self.bus.hear(name, self._read(payload, self.bus.type_heard(name)))

    def _hear_complaint(self, level: int, text: str) -> None:
        """Tell it once, and send no more of what the endpoint cannot take."""
        unknown, unregistered = UNKNOWN.search(text), UNREGISTERED.search(text)
        refused: set[str] = set()
        if unknown is not None:
            refused = {name for name in self._topics if short_name(self.bus.topics[name].type) == unknown[1]}
        elif unregistered is not None:
            refused, text = {unregistered[1]} & self._topics, unregistered[0]
        if refused:
            self._topics -= refused
            self.bus.takers(self.outbox, self._topics)
        if text in self._complaints or len(self._complaints) >= MOST_COMPLAINTS:
            return
        self._complaints.add(text)
        if refused:
            text += f"; {', '.join(sorted(refused))} stay away until its package is installed where the endpoint runs"
        logger.log(logging.INFO if OWN in text else level, "the ROS-TCP-Endpoint says: %s", text[:500])

    def _can_carry(self, part: Topic | Service) -> bool:
        """Not what makes a node, which would be of the endpoint's own nodes, nor types that it cannot find."""
        if HIDDEN in part.name:
            return self.writer.ros2 and part.type.startswith(FOUND)
        return not part.type.startswith("rcl_interfaces/")

    def _answer(self, number: int, name: str, payload: bytes) -> None:
        service = self.bus.services.get(name)
        if service is None:
            logger.warning("the ROS-TCP-Endpoint calls %s, which is not offered", name)
            return
        request = self._read(payload, f"{service.type}_Request")
        self.bus.call(name, request).add_done_callback(partial(self._reply, number, name))

    def _reply(self, number: int, name: str, promise: Future[Message]) -> None:
        """Send an answer; a call that failed gets none, as the protocol has no word for it, and times out."""
        if promise.cancelled() or promise.exception() is not None:
            logger.warning("%s: a call failed: %s", name, "cancelled" if promise.cancelled() else promise.exception())
        elif not self._over:  # an endpoint breaks off when it gets an answer to a call of another connection
            self.send(self.writer.response(number, name, self._write(promise.result())))

    def _ask(self, client: Client, request: Message) -> Future[Message]:
        promise: Future[Message] = Future()
        number = next(self._numbers)
        self._asked[number] = (client, promise)
        self.send(self.writer.request(number, client.name, self._write(request)))
        return promise

    def _answered(self, number: int, payload: bytes) -> None:
        client, promise = self._asked.pop(number, (None, None))
        if client is not None and promise is not None:
            try:
                promise.set_result(self._read(payload, f"{client.type}_Response"))
            except BadMessage as error:
                promise.set_exception(error)

    def _read(self, payload: bytes, type_name: str) -> Message:
        codec = self.bus.codec
        return codec.from_cdr(payload, type_name) if self.writer.ros2 else codec.from_ros1(payload, type_name)

    def _write(self, message: Message) -> bytes:
        codec = self.bus.codec
        return codec.to_cdr(message) if self.writer.ros2 else codec.to_ros1(message)


def _number(payload: bytes) -> int:
    found = read_parameters(payload).get("srv_id")
    if not isinstance(found, int):
        raise ProtocolError(f"a call without its number: {payload[:60]!r}")
    return found


class EndpointClient(Transport):
    """Connects for ever: whenever an endpoint is there, all is announced to it anew."""

    def __init__(self, config: Endpoint) -> None:
        self.config = config
        self._closed = Event()
        self._thread: Thread | None = None
        self._socket: socket.socket | None = None
        self._lock = Lock()  # of the bytes that wait
        self._waiting: deque[bytes] = deque()
        self._session: Session | None = None
        self._sent = 0
        self._dropped = 0

    @property
    def status(self) -> str:
        where = f"{self.config.host}:{self.config.port}"
        session = self._session
        if session is None:
            return f"endpoint waits for {where}"
        dropped = self._dropped + session.outbox.dropped.total()
        kind = "ROS 2" if session.writer.ros2 else "ROS 1"
        return f"endpoint {where} ({kind}), {self._sent} sent" + (f", {dropped} dropped" if dropped else "")

    def start(self, bus: Bus) -> None:
        self._thread = Thread(target=self._run, args=(bus,), name="ros endpoint", daemon=True)
        self._thread.start()

    def refresh(self) -> None:
        """Connect anew, as all is announced when a connection begins."""
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
        told = False
        while not self._closed.is_set():
            try:
                with socket.create_connection(where, timeout=self.config.retry_period) as opened:
                    told = False
                    self._talk(bus, opened)
            except (OSError, ProtocolError, BadMessage) as error:
                if not told and not self._closed.is_set():
                    logger.warning("ROS-TCP-Endpoint at %s:%s: %s; trying on", *where, error)
                told = True
            self._closed.wait(self.config.retry_period)

    def _talk(self, bus: Bus, opened: socket.socket) -> None:
        """One connection, until it ends."""
        self._socket = opened
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        reader = FrameReader()
        ros2, early = self._shake_hands(opened, reader)
        self._waiting.clear()
        session = self._session = Session(self.config, bus, ros2, self._enqueue)
        session.open()
        logger.info("ROS-TCP-Endpoint at %s:%s: connected", self.config.host, self.config.port)
        over = Event()
        sender = Thread(target=self._send_on, args=(session, opened, over), name="ros endpoint sender", daemon=True)
        sender.start()
        try:
            for name, payload in early:
                session.receive(name, payload)
            while data := opened.recv(65536):
                for name, payload in reader.feed(data):
                    session.receive(name, payload)
            if not self._closed.is_set():
                logger.warning("ROS-TCP-Endpoint at %s:%s went away; trying on", self.config.host, self.config.port)
        finally:
            over.set()
            self._session, self._socket = None, None
            session.close()
            self._dropped += session.outbox.dropped.total()
            session.outbox.wake()
            sender.join()

    def _shake_hands(self, opened: socket.socket, reader: FrameReader) -> tuple[bool, list[tuple[str, bytes]]]:
        """Whether ROS 2 is spoken, and what came besides."""
        early: list[tuple[str, bytes]] = []
        end = time.monotonic() + HANDSHAKE
        wanted = self.config.protocol
        found: bool | None = None
        with suppress(TimeoutError):
            while found is None and (left := end - time.monotonic()) > 0:
                opened.settimeout(left)
                data = opened.recv(65536)
                if not data:
                    raise ConnectionError("it closed the connection before the handshake")
                for name, payload in reader.feed(data):
                    if name == "__handshake":
                        found = speaks_ros2(read_parameters(payload))
                    else:
                        early.append((name, payload))
        opened.settimeout(None)
        if wanted != "auto" and found is not None and found != (wanted == "ros2"):
            logger.warning("the ROS-TCP-Endpoint speaks %s, not %s as set", "ROS 2" if found else "ROS 1", wanted)
        return (wanted != "ros1" if found is None else found), early

    def _enqueue(self, data: bytes) -> None:
        with self._lock:
            self._waiting.append(data)
        if (session := self._session) is not None:
            session.outbox.wake()

    def _send_on(self, session: Session, opened: socket.socket, over: Event) -> None:
        """Send what there is, in order; a small wait for more is not worth it, as the loop says things in bursts."""
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
        except OSError:  # the reader will see it too, and tell
            self._shut()


class Endpoint(TransportConfig):
    """The client of a ROS-TCP-Endpoint, for ROS 2 and ROS 1."""

    kind: Literal["endpoint"] = "endpoint"
    host: str = Field("127.0.0.1", min_length=1, description="where the endpoint runs")
    port: int = Field(10000, ge=1, le=65535)
    protocol: Literal["auto", "ros2", "ros1"] = Field("auto", description="what an endpoint speaks that does not say")
    retry_period: Positive = Field(1.0, description="s between attempts to connect")
    leave_out: tuple[str, ...] = Field(
        IMAGES,
        description="topics that it does not carry, as patterns; pictures, as it cannot tell if any are wanted",
    )

    def build(self) -> EndpointClient:
        return EndpointClient(self)
