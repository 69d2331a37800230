"""ROS 2 over Zenoh, compatible with rmw_zenoh_cpp: topics, services and actions, with a router or as the router."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Qos, Service, ServiceClient, Topic
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.transports.graph_node import POLL_PERIOD, GraphNode, GraphNodeConfig
from skerry.interfaces.ros.transports.zenoh.names import (
    NO_HASH,
    EntityKind,
    EntityName,
    LivelinessToken,
    attachment_of,
    quality_of,
    read_attachment,
    tokens_of,
)
from skerry.interfaces.ros.transports.zenoh.work_queue import DEPTH, WorkQueue

if TYPE_CHECKING:
    from skerry.interfaces.ros.transports.zenoh.session import ZenohQuery, ZenohSession, ZenohWriter

logger = logging.getLogger("skerry")

ROUTER: Final = "tcp/127.0.0.1:7447"
RELIABLE_DEPTH: Final = 10_000  # queue length for jobs that must not be lost
SERVICE_QOS: Final = Qos(depth=10)  # announced for services, as in rmw_zenoh
CONNECT_GRACE: Final = 1.0  # s after the start before a missing connection is logged
RETRY: Final = 1.0  # s between attempts to open a session
CALL_TIMEOUT: Final = 600.0  # s to wait for a response, as in rmw_zenoh
RESULT_TIMEOUT: Final = 1e9  # s to wait for the result of an action

Endpoint = Annotated[str, Field(pattern=r"^[a-z][a-z_-]*/\S+$")]


class ZenohNode(GraphNode):
    """Node on Zenoh."""

    protocol_name = "Zenoh"

    def __init__(self, config: Zenoh) -> None:
        super().__init__()
        self.config = config
        self._work_queue = WorkQueue()
        self._session: ZenohSession | None = None
        self._numbers = count(1)  # numbers of announced entities; the node has the number 0
        self._counterparts: dict[
            tuple[EntityKind, str], EntityName
        ] = {}  # names that the entities of peers must have to match ours
        self._is_connected: bool | None = None
        self._is_started = False

    @property
    def status(self) -> str:
        config = self.config
        if config.router:
            return f"zenoh router {', '.join(config.listens_at)}, domain {config.number}, {self._counters}"
        if not self._is_connected:
            return f"zenoh domain {config.number} connecting to {self._where}"
        return f"zenoh domain {config.number}, {self._counters}"

    @property
    def _where(self) -> str:
        return ", ".join(self.config.connects_to) or "peers"

    # -------------------------------------------------------------------------------------------- start and end

    def start(self, bus: Bus) -> None:
        from skerry.interfaces.ros.transports.zenoh import session as zenoh_session

        distribution = bus.codec.type_store.distribution
        if distribution == "noetic":
            raise SkerryError(
                "Zenoh is a transport of ROS 2, but `distribution` is 'noetic'; use `endpoint` or `tcpros` for ROS 1"
            )
        self._bus, self._zenoh, self._domain = bus, zenoh_session, self.config.number
        if self.config.router:
            try:
                self._session = self._open()
            except OSError as error:
                where = ", ".join(self.config.listens_at)
                raise SkerryError(
                    f"cannot start a Zenoh router at {where}: {error}; check that no other router runs there"
                ) from None
            logger.info("Zenoh domain %s: this is the router at %s", self._domain, ", ".join(self.config.listens_at))
        self._is_started = True
        self._start_threads()

    def close(self) -> None:
        if not self._is_started:
            return
        self._is_started = False
        self._over.set()
        self._work_queue.wake()
        self._stop_threads()
        if self._session is not None:
            self._session.close()

    def _open(self) -> ZenohSession:
        config = self.config
        mode = "router" if config.router else config.mode
        return self._zenoh.ZenohSession(mode, config.connects_to, config.listens_at, config.multicast)

    def _keep_opening(self) -> ZenohSession | None:
        """Return a session, after as many attempts as needed; None if the transport is closed before."""
        while not self._over.is_set():
            try:
                return self._open()
            except OSError as error:
                self._note_connection(False, str(error))
                self._over.wait(RETRY)
        return None

    # -------------------------------------------------------------------------------------------- entries of the bus

    def _carries(self, topic: str) -> bool:
        return self.config.carries(topic)

    def _announced(
        self, kind: EntityKind, name: str, type_name: str, qos: Qos, counterpart: EntityKind
    ) -> tuple[str, str]:
        """Return the key of a new entity and its liveliness token."""
        assert self._session is not None
        named = self._counterparts[counterpart, name] = EntityName.of(self._bus.codec.type_store, name, type_name)
        number = next(self._numbers)
        token = LivelinessToken(
            self._domain, self._session.identity, number, kind, named=named, quality=quality_of(qos)
        )
        return named.key(self._domain), str(token)

    def _add_writer(self, topic: Topic) -> ZenohWriter:
        assert self._session is not None
        key, token = self._announced("MP", topic.name, topic.type, topic.qos, counterpart="MS")
        return self._session.writer(key, token, topic.qos)

    def _add_subscription(self, name: str, type_name: str) -> None:
        assert self._session is not None
        key, token = self._announced("MS", name, type_name, Qos(depth=DEPTH), counterpart="MP")
        self._session.subscribe(
            key, lambda cdr: self._work_queue.put(name, partial(self._on_message, name, type_name, cdr))
        )
        self._session.announce(token)

    def _add_service(self, service: Service) -> None:
        assert self._session is not None
        key, token = self._announced("SS", service.name, service.type, SERVICE_QOS, counterpart="SC")
        self._session.serve(
            key, lambda request: self._work_queue.put(service.name, partial(self._on_query, service, request))
        )
        self._session.announce(token)

    def _on_query(self, service: Service, request: ZenohQuery) -> None:
        try:
            self._handle_query(service, request)
        except BadMessage as error:
            request.refuse(str(error))
            raise

    def _handle_query(self, service: Service, request: ZenohQuery) -> None:
        number, gid = read_attachment(request.attachment)

        def reply(message: Message) -> None:  # may run in the simulation thread, which must not wait for a peer
            cdr = self._bus.codec.to_cdr(message)
            attachment = attachment_of(number, time.time_ns(), gid)
            self._work_queue.put(f"{service.name} responses", partial(request.reply, cdr, attachment), RELIABLE_DEPTH)

        def refuse(reason: str) -> None:
            self._work_queue.put(f"{service.name} responses", partial(request.refuse, reason), RELIABLE_DEPTH)

        self._on_request(service, request.cdr, reply, refuse)

    def _add_client(self, client: ServiceClient) -> Callable[[Message], Future[Message]]:
        assert self._session is not None
        session, codec, calls = self._session, self._bus.codec, self.calls
        key, token = self._announced("SC", client.name, client.type, SERVICE_QOS, counterpart="SS")
        session.announce(token)
        gid = self._zenoh.gid_of(token)
        numbers = count(1)
        timeout = RESULT_TIMEOUT if client.name.endswith("/_action/get_result") else CALL_TIMEOUT

        def start_call(request: Message) -> Future[Message]:
            call = (client.name, next(numbers))
            future = calls.add(call, client)
            self._work_queue.put(client.name, partial(send, call, codec.to_cdr(request)), RELIABLE_DEPTH)
            return future

        def send(call: tuple[str, int], cdr: bytes) -> None:
            attachment = attachment_of(call[1], time.time_ns(), gid)
            session.call(key, cdr, attachment, timeout, partial(on_response, call), partial(on_end, call))

        def on_response(call: tuple[str, int], cdr: bytes) -> None:
            read = partial(codec.from_cdr, cdr, f"{client.type}_Response")
            self._work_queue.put(client.name, partial(calls.complete, call, read), RELIABLE_DEPTH)

        def on_end(call: tuple[str, int], reason: str) -> None:
            self._work_queue.put(client.name, partial(calls.fail, call, reason), RELIABLE_DEPTH)

        return start_call

    # -------------------------------------------------------------------------------------------- incoming data

    def _work(self) -> None:
        if self._session is None:
            self._session = self._keep_opening()
        if (session := self._session) is None:
            return
        session.announce(str(LivelinessToken(self._domain, session.identity, 0, "NN")))
        self._add_new_entries()
        session.watch(
            tokens_of(self._domain),
            lambda text: self._work_queue.put("tokens", partial(self._on_token, text), RELIABLE_DEPTH),
        )
        began, last_poll = time.monotonic(), 0.0
        while not self._over.is_set():
            for name, job in self._work_queue.drain(POLL_PERIOD):
                try:
                    job()
                except (BadMessage, OSError) as error:
                    self._warn_once(name, error)
            if (now := time.monotonic()) - last_poll >= POLL_PERIOD:
                last_poll = now
                self._add_new_entries()
                self._update_subscriptions()
                if session.neighbours > 0 or now - began > CONNECT_GRACE:
                    self._note_connection(session.neighbours > 0)

    def _note_connection(self, is_connected: bool, reason: str = "no router or peer found") -> None:
        if is_connected == self._is_connected:
            return
        self._is_connected = is_connected
        if self.config.router:
            return
        if is_connected:
            logger.info("Zenoh at %s: connected, domain %s", self._where, self._domain)
        else:
            logger.warning("Zenoh at %s: %s; retrying", self._where, reason)

    def _on_token(self, text: str) -> None:
        """Check the token of a peer, and warn if its type differs from ours, because then no data is exchanged."""
        token = LivelinessToken.parse(text)
        theirs = token.named
        if theirs is None or self._session is None or token.session == self._session.identity:
            return
        ours = self._counterparts.get((token.kind, theirs.name))
        if ours is None or ours == theirs:
            return
        if ours.type == theirs.type and NO_HASH in {ours.hash, theirs.hash}:
            self._warn_once(
                "distribution",
                SkerryError(
                    f"{token.node} has the type hash {theirs.hash} for {theirs.name}, but the simulator has "
                    f"{ours.hash}, so no data is exchanged; set `distribution` of the interface to `humble` for peers "
                    "of Humble, otherwise to `jazzy`"
                ),
            )
        else:
            self._warn_once(
                f"{theirs.name} of {token.node}",
                SkerryError(
                    f"the peer has the type {theirs.type} {theirs.hash}, but the simulator has {ours.type} "
                    f"{ours.hash}; no data is exchanged"
                ),
            )


class Zenoh(GraphNodeConfig):
    """Settings of ROS 2 over Zenoh, compatible with rmw_zenoh."""

    kind: Literal["zenoh"] = "zenoh"
    extra: ClassVar[str] = "zenoh"
    connect: tuple[Endpoint, ...] | None = Field(
        None, description=f"addresses of routers or peers; `{ROUTER}` by default, none for a router"
    )
    listen: tuple[Endpoint, ...] | None = Field(
        None,
        description=f"addresses to listen on; by default any port of 127.0.0.1, `{ROUTER}` for a router",
    )
    mode: Literal["peer", "client"] = Field(
        "peer", description="`peer` connects to each other peer, `client` to the router only"
    )
    router: bool = Field(False, description="act as the router, so that rmw_zenohd is not needed")
    multicast: bool = Field(False, description="also discover peers by multicast")

    @property
    def connects_to(self) -> tuple[str, ...]:
        """Addresses to connect to."""
        if self.connect is not None:
            return self.connect
        return () if self.router else (ROUTER,)

    @property
    def listens_at(self) -> tuple[str, ...]:
        """Addresses to listen on; clients have none."""
        if self.listen is not None:
            return self.listen
        if self.router:
            return (ROUTER,)
        return ("tcp/127.0.0.1:0",) if self.mode == "peer" else ()

    def build(self) -> ZenohNode:
        return ZenohNode(self)
