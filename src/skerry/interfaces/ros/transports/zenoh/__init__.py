"""ROS 2 over Zenoh, as rmw_zenoh_cpp speaks it: topics, services and actions, with its router or as the router."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import Field

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Client, Qos, Service, Topic
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.transports.graph_node import LOOK, GraphNode, GraphNodeConfig
from skerry.interfaces.ros.transports.zenoh.names import (
    NO_HASH,
    Kind,
    Named,
    Token,
    attachment_of,
    quality_of,
    read_attachment,
    tokens_of,
)
from skerry.interfaces.ros.transports.zenoh.work_queue import DEPTH, Errands

if TYPE_CHECKING:
    from skerry.interfaces.ros.transports.zenoh.session import RawWriter, Request, ZenohSession

logger = logging.getLogger("skerry")

ROUTER: Final = "tcp/127.0.0.1:7447"
MANY: Final = 10_000  # of what must not be lost may wait here
CALLED: Final = Qos(depth=10)  # how services are announced, as rmw has it
GRACE: Final = 1.0  # s in which a first connection is nothing to wonder at
RETRY: Final = 1.0  # s between attempts to open a session
PATIENCE: Final = 600.0  # s for an answer, as rmw_zenoh has it
LONG_PATIENCE: Final = 1e9  # for the result of an action

Endpoint = Annotated[str, Field(pattern=r"^[a-z][a-z_-]*/\S+$")]


class ZenohNode(GraphNode):
    """A node on Zenoh."""

    wire = "Zenoh"

    def __init__(self, config: Zenoh) -> None:
        super().__init__()
        self.config = config
        self._errands = Errands()
        self._session: ZenohSession | None = None
        self._numbers = count(1)  # of what is announced; the node is 0
        self._wanted: dict[tuple[Kind, str], Named] = {}  # what peers should have, to meet ours
        self._is_connected: bool | None = None
        self._is_begun = False

    @property
    def status(self) -> str:
        config = self.config
        if config.router:
            return f"zenoh router {', '.join(config.listens_at)}, domain {config.number}, {self._figures}"
        if not self._is_connected:
            return f"zenoh domain {config.number} waits for {self._where}"
        return f"zenoh domain {config.number}, {self._figures}"

    @property
    def _where(self) -> str:
        return ", ".join(self.config.connects_to) or "others"

    # -------------------------------------------------------------------------------------------- beginning and end

    def start(self, bus: Bus) -> None:
        from skerry.interfaces.ros.transports.zenoh import session as zenoh_session

        distribution = bus.codec.vocabulary.distribution
        if distribution == "noetic":
            raise SkerryError("Zenoh is of ROS 2, and `distribution` is 'noetic'; use `endpoint` for ROS 1")
        self._bus, self._zenoh, self._domain = bus, zenoh_session, self.config.number
        if self.config.router:
            try:
                self._session = self._open()
            except OSError as error:
                where = ", ".join(self.config.listens_at)
                raise SkerryError(f"there can be no Zenoh router at {where}: {error}; is one running?") from None
            logger.info("Zenoh domain %s, as the router at %s", self._domain, ", ".join(self.config.listens_at))
        self._is_begun = True
        self._begin()

    def close(self) -> None:
        if not self._is_begun:
            return
        self._is_begun = False
        self._over.set()
        self._errands.wake()
        self._end()
        if self._session is not None:
            self._session.close()

    def _open(self) -> ZenohSession:
        config = self.config
        mode = "router" if config.router else config.mode
        return self._zenoh.ZenohSession(mode, config.connects_to, config.listens_at, config.multicast)

    def _keep_opening(self) -> ZenohSession | None:
        """The session, or None if it is over before it can be opened."""
        while not self._over.is_set():
            try:
                return self._open()
            except OSError as error:
                self._note_connection(False, str(error))
                self._over.wait(RETRY)
        return None

    # -------------------------------------------------------------------------------------------- what there is

    def _carries(self, topic: str) -> bool:
        return self.config.carries(topic)

    def _announced(self, kind: Kind, name: str, type_name: str, qos: Qos, met_by: Kind) -> tuple[str, str]:
        """The key of one of our things, and its token."""
        assert self._session is not None
        named = self._wanted[met_by, name] = Named.of(self._bus.codec.vocabulary, name, type_name)
        number = next(self._numbers)
        token = Token(self._domain, self._session.identity, number, kind, named=named, quality=quality_of(qos))
        return named.key(self._domain), str(token)

    def _write(self, topic: Topic) -> RawWriter:
        assert self._session is not None
        key, token = self._announced("MP", topic.name, topic.type, topic.qos, met_by="MS")
        return self._session.writer(key, token, topic.qos)

    def _hear(self, name: str, type_name: str) -> None:
        assert self._session is not None
        key, token = self._announced("MS", name, type_name, Qos(depth=DEPTH), met_by="MP")
        self._session.read(key, lambda cdr: self._errands.put(name, partial(self._take, name, type_name, cdr)))
        self._session.announce(token)

    def _offer(self, service: Service) -> None:
        assert self._session is not None
        key, token = self._announced("SS", service.name, service.type, CALLED, met_by="SC")
        self._session.serve(
            key, lambda request: self._errands.put(service.name, partial(self._take_call, service, request))
        )
        self._session.announce(token)

    def _take_call(self, service: Service, request: Request) -> None:
        try:
            self._hand_over(service, request)
        except BadMessage as error:
            request.refuse(str(error))
            raise

    def _hand_over(self, service: Service, request: Request) -> None:
        number, gid = read_attachment(request.attachment)

        def reply(message: Message) -> None:  # in the loop's thread, perhaps, which must not wait for a peer
            cdr = self._bus.codec.to_cdr(message)
            attachment = attachment_of(number, time.time_ns(), gid)
            self._errands.put(f"{service.name} answers", partial(request.reply, cdr, attachment), MANY)

        def refuse(why: str) -> None:
            self._errands.put(f"{service.name} answers", partial(request.refuse, why), MANY)

        self._answer(service, request.cdr, reply, refuse)

    def _use(self, client: Client) -> Callable[[Message], Future[Message]]:
        assert self._session is not None
        session, codec, calls = self._session, self._bus.codec, self.calls
        key, token = self._announced("SC", client.name, client.type, CALLED, met_by="SS")
        session.announce(token)
        gid = self._zenoh.gid_of(token)
        numbers = count(1)
        patience = LONG_PATIENCE if client.name.endswith("/_action/get_result") else PATIENCE

        def ask(request: Message) -> Future[Message]:
            call = (client.name, next(numbers))
            promise = calls.begin(call, client)
            self._errands.put(client.name, partial(send, call, codec.to_cdr(request)), MANY)
            return promise

        def send(call: tuple[str, int], cdr: bytes) -> None:
            attachment = attachment_of(call[1], time.time_ns(), gid)
            session.ask(key, cdr, attachment, patience, partial(answered, call), partial(ended, call))

        def answered(call: tuple[str, int], cdr: bytes) -> None:
            read = partial(codec.from_cdr, cdr, f"{client.type}_Response")
            self._errands.put(client.name, partial(calls.answer, call, read), MANY)

        def ended(call: tuple[str, int], why: str) -> None:
            self._errands.put(client.name, partial(calls.fail, call, why), MANY)

        return ask

    # -------------------------------------------------------------------------------------------- what comes

    def _work(self) -> None:
        if self._session is None:
            self._session = self._keep_opening()
        if (session := self._session) is None:
            return
        session.announce(str(Token(self._domain, session.identity, 0, "NN")))
        self._find_what_is_new()
        session.watch(
            tokens_of(self._domain), lambda text: self._errands.put("tokens", partial(self._meet, text), MANY)
        )
        began, looked = time.monotonic(), 0.0
        while not self._over.is_set():
            for name, job in self._errands.take(LOOK):
                try:
                    job()
                except (BadMessage, OSError) as error:
                    self._tell_once(name, error)
            if (now := time.monotonic()) - looked >= LOOK:
                looked = now
                self._find_what_is_new()
                self._look_who_takes_what()
                if session.neighbours > 0 or now - began > GRACE:
                    self._note_connection(session.neighbours > 0)

    def _note_connection(self, is_connected: bool, why: str = "nobody is there") -> None:
        if is_connected == self._is_connected:
            return
        self._is_connected = is_connected
        if self.config.router:
            return
        if is_connected:
            logger.info("Zenoh at %s: connected, domain %s", self._where, self._domain)
        else:
            logger.warning("Zenoh at %s: %s; trying on", self._where, why)

    def _meet(self, text: str) -> None:
        """Look at the token of a peer: where it means another type than we do, nothing goes between us."""
        token = Token.parse(text)
        theirs = token.named
        if theirs is None or self._session is None or token.session == self._session.identity:
            return
        ours = self._wanted.get((token.kind, theirs.name))
        if ours is None or ours == theirs:
            return
        if ours.type == theirs.type and NO_HASH in {ours.hash, theirs.hash}:
            self._tell_once(
                "distribution",
                SkerryError(
                    f"{token.node} has {theirs.name} as {theirs.hash}, and we as {ours.hash}, so they do not meet: "
                    "`distribution` of the interface must be `humble` for peers of Humble, else `jazzy`"
                ),
            )
        else:
            self._tell_once(
                f"{theirs.name} of {token.node}",
                SkerryError(f"{theirs.type} {theirs.hash} and ours, {ours.type} {ours.hash}, do not meet"),
            )


class Zenoh(GraphNodeConfig):
    """ROS 2 over Zenoh, as rmw_zenoh has it."""

    kind: Literal["zenoh"] = "zenoh"
    connect: tuple[Endpoint, ...] | None = Field(
        None, description=f"where routers or peers are; `{ROUTER}` by default, and nowhere for a router"
    )
    listen: tuple[Endpoint, ...] | None = Field(
        None,
        description=f"where others may connect; by default any port of 127.0.0.1, `{ROUTER}` for a router",
    )
    mode: Literal["peer", "client"] = Field(
        "peer", description="`peer` is connected to each other peer, `client` to the router only"
    )
    router: bool = Field(False, description="be the router itself, so that no rmw_zenohd is needed")
    multicast: bool = Field(False, description="look for others by multicast on the network too")

    @property
    def connects_to(self) -> tuple[str, ...]:
        """The endpoints."""
        if self.connect is not None:
            return self.connect
        return () if self.router else (ROUTER,)

    @property
    def listens_at(self) -> tuple[str, ...]:
        """The endpoints; clients have none."""
        if self.listen is not None:
            return self.listen
        if self.router:
            return (ROUTER,)
        return ("tcp/127.0.0.1:0",) if self.mode == "peer" else ()

    def build(self) -> ZenohNode:
        return ZenohNode(self)
