"""ROS 1's own wire, TCPROS: a node beside a ROS master, with the standard library alone."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Final, Literal

from pydantic import Field

from skerry.core.config import Positive
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError, Transport, TransportConfig
from skerry_ros1.connections import Bell, Complaints, Links, keep_alive
from skerry_ros1.master import Lists, Master, MasterRefuses, Registration, Replaced
from skerry_ros1.protocol import read_connection, write_header
from skerry_ros1.publications import Publications
from skerry_ros1.services import Calls, Services
from skerry_ros1.slave import SlaveApi
from skerry_ros1.subscriptions import Subscriptions
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import address_of, serve

logger = logging.getLogger("skerry")

HANDSHAKE: Final = 10.0  # s that a peer has for its header
FAREWELL: Final = 2.0  # s that a master has to take us off its lists
MOST_CONNECTIONS: Final = 500  # of peers at once; a process has 1024 files by default
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"

Talk = Callable[[StreamReader, StreamWriter], Awaitable[None]]
"""What is said over one connection, until it ends."""


class TcprosNode(Transport):
    """A node of ROS 1: all that it says and hears, in one thread."""

    def __init__(self, config: Tcpros) -> None:
        self.config = config
        self._complaints = Complaints()
        self._links = Links()
        self._thread: Thread | None = None
        self._publications: Publications | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._is_joined = False
        self._left = ""  # why it is no longer in the graph

    @property
    def status(self) -> str:
        if self._left:
            return f"tcpros has left {self.config.master_uri}: {self._left}"
        if not self._is_joined or self._publications is None:
            return f"tcpros waits for {self.config.master_uri}"
        count, dropped = self._links.count, self._publications.dropped
        peers = f"{count('o')} subscribers, {count('i')} publishers"
        text = f"tcpros {self.config.master_uri}, {peers}, {self._links.sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    # -------------------------------------------------------------------------------------------- beginning and end

    def start(self, bus: Bus) -> None:
        distribution = bus.codec.vocabulary.distribution
        if distribution != "noetic":
            raise SkerryError(
                f"tcpros is of ROS 1, and `distribution` is {distribution!r}; leave that out, or say `noetic`, and use "
                "another transport for ROS 2"
            )
        master, host = self.config.master_uri, self.config.own_host
        if _is_local(host) and not _is_local(address_of(master)[0]):
            text = (
                "the ROS master at %s is told that we are at %s, where only this machine finds us; set `host` or ROS_IP"
            )
            logger.warning(text, master, host)
        at = LOOPBACK if _is_local(host) else EVERYWHERE
        try:
            listeners = [socket.create_server((at, 0)) for _ in range(2)]
        except OSError as error:
            raise SkerryError(f"tcpros cannot listen at {at}: {error}") from None
        self._loop = asyncio.new_event_loop()
        self._bell = Bell(self._loop)
        self._over, self._new = asyncio.Event(), asyncio.Event()
        self._thread = Thread(target=self._run, args=(bus, host, *listeners), name="ros tcpros", daemon=True)
        self._thread.start()

    def refresh(self) -> None:
        """Let the master be told at once."""
        if self._thread is not None:
            self._bell.ring(self._new)

    def close(self) -> None:
        if self._thread is not None:
            self._bell.ring(self._over)
            self._thread.join(timeout=FAREWELL + 5.0)

    def _run(self, bus: Bus, host: str, asked: socket.socket, carried: socket.socket) -> None:
        with asked, carried, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._live(bus, host, asked, carried))

    async def _live(self, bus: Bus, host: str, asked: socket.socket, carried: socket.socket) -> None:
        """Serve peers, and stay in the master's lists, until the end or until told to leave."""
        types, links, complaints, bell = Ros1Types(bus.codec.vocabulary), self._links, self._complaints, self._bell
        own, port = f"http://{host}:{asked.getsockname()[1]}/", carried.getsockname()[1]
        master = Master(self.config.master_uri)
        publications = self._publications = Publications(bus, types, self.config.carries, links, bell)
        subscriptions = Subscriptions(bus, types, links, complaints, own)
        services, calls = Services(bus, types, bell), Calls(bus, types, master.look_up)
        api = SlaveApi(master.uri, own, (host, port), publications, subscriptions, links, self._leave)
        lists = Lists(own, f"rosrpc://{host}:{port}", publications, subscriptions, services)
        registration = Registration(master, bus, lists, complaints)

        async def answer(reader: StreamReader, writer: StreamWriter) -> None:
            await serve(reader, writer, api.answer)

        async def carry(reader: StreamReader, writer: StreamWriter) -> None:
            await _carry(services, publications, reader, writer)

        servers = [
            await asyncio.start_server(partial(self._meet, talk), sock=listener)
            for talk, listener in ((answer, asked), (carry, carried))
        ]
        over = asyncio.create_task(self._over.wait())
        staying = asyncio.create_task(self._stay(registration, calls))
        try:
            await asyncio.wait({over, staying}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            staying.cancel()
            calls.close()
            for server in servers:
                server.close()
        with suppress(OSError, ProtocolError):
            async with asyncio.timeout(FAREWELL):
                await registration.withdraw()
        subscriptions.close()
        for task in self._connections:
            task.cancel()
        await over

    # -------------------------------------------------------------------------------------------- the graph

    async def _stay(self, registration: Registration, calls: Calls) -> None:
        """Try for ever to be in the master's lists, until told to leave; each change is told once."""
        is_told = False
        while not self._left:
            try:
                is_new = await registration.keep()
            except Replaced as error:
                self._leave(str(error))
            except (OSError, ProtocolError, MasterRefuses) as error:
                if self._is_joined or not is_told:
                    logger.warning("ROS master at %s: %s; trying on", self.config.master_uri, error)
                self._is_joined, is_told = False, True
            else:
                calls.carry_what_is_new()
                if is_new or not self._is_joined:
                    logger.info("ROS master at %s: %s is in its lists", self.config.master_uri, NODE)
                self._is_joined = True
            with suppress(TimeoutError):
                async with asyncio.timeout(self.config.retry_period):
                    await self._new.wait()
            self._new.clear()

    def _leave(self, why: str) -> None:
        """Be no longer in the graph; the world goes on."""
        if not self._left:
            self._left = why or "it was told to"
            logger.warning("%s leaves the ROS master at %s: %s", NODE, self.config.master_uri, self._left)
            self._new.set()

    async def _meet(self, talk: Talk, reader: StreamReader, writer: StreamWriter) -> None:
        """Talk with a peer that has come; one that does not speak the protocol is dropped."""
        where = (writer.get_extra_info("peername") or ("somewhere",))[0]
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            if len(self._connections) > MOST_CONNECTIONS:
                raise ProtocolError(f"there are {MOST_CONNECTIONS} connections already")
            keep_alive(writer)
            await talk(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # it went away, or we end; a server of asyncio would log the latter as a fault
        except TimeoutError:
            self._complaints.tell(f"ROS 1: a peer at {where} is dropped: it is silent")
        except (OSError, ProtocolError) as error:
            self._complaints.tell(f"ROS 1: a peer at {where} is dropped: {error}")
        except Exception as error:  # of whoever hears or answers; others are to be served on
            self._complaints.tell(f"ROS 1: a peer at {where} is dropped: {error!r}", is_ours=True)
        finally:
            self._connections.discard(task)
            writer.close()


async def _carry(services: Services, publications: Publications, reader: StreamReader, writer: StreamWriter) -> None:
    """A connection of TCPROS: of who calls a service, or of who subscribes to a topic."""
    async with asyncio.timeout(HANDSHAKE):
        header = await read_connection(reader)
    part = services if "service" in header else publications
    try:
        await part.serve(header, reader, writer)
    except ProtocolError as error:
        writer.write(write_header({"error": str(error)}))
        raise


def _is_local(host: str) -> bool:
    return host == "localhost" or host.startswith("127.")


class Tcpros(TransportConfig):
    """ROS 1's own wire: a node beside a ROS master."""

    distributions = ("noetic",)
    kind: Literal["tcpros"] = "tcpros"
    master: str | None = Field(
        None,
        min_length=1,
        description="the master's address; ROS_MASTER_URI of the environment by default, or loopback",
    )
    host: str | None = Field(
        None, pattern=r"^[\w.-]+$", description="where peers find us; ROS_HOSTNAME or ROS_IP by default, or loopback"
    )
    retry_period: Positive = Field(1.0, description="s between looks at the master, and between attempts to reach it")

    @property
    def master_uri(self) -> str:
        """The master's address."""
        found = self.master or os.environ.get("ROS_MASTER_URI") or f"http://{LOOPBACK}:11311"
        try:
            address_of(found)
        except ProtocolError as error:
            raise SkerryError(f"`master` of tcpros, or else ROS_MASTER_URI: {error}") from None
        return found

    @property
    def own_host(self) -> str:
        """Where peers find us."""
        return self.host or os.environ.get("ROS_HOSTNAME") or os.environ.get("ROS_IP") or LOOPBACK

    def build(self) -> TcprosNode:
        return TcprosNode(self)
