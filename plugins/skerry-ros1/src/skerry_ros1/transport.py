"""ROS 1 over TCPROS: the node, which registers with a ROS master and serves its peers in one thread."""

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
from skerry_ros1.connections import Connections, LoopNotifier, WarningLog, keep_alive
from skerry_ros1.master import Master, MasterError, NameTaken, NodeEntries, Registration
from skerry_ros1.protocol import read_connection, write_header
from skerry_ros1.publications import Publications
from skerry_ros1.services import PeerServices, Services
from skerry_ros1.slave import SlaveApi
from skerry_ros1.subscriptions import Subscriptions
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import address_of, serve

logger = logging.getLogger("skerry")

HEADER_TIMEOUT: Final = 10.0  # s to wait for the header of a peer
UNREGISTER_TIMEOUT: Final = 2.0  # s to wait for the master when the node ends
MAX_CONNECTIONS: Final = 500  # connections at the same time; a process may open 1024 files by default
LOOPBACK, ALL_INTERFACES = "127.0.0.1", "0.0.0.0"

ConnectionHandler = Callable[[StreamReader, StreamWriter], Awaitable[None]]
"""Function that serves one connection until it ends."""


class TcprosNode(Transport):
    """Node of a ROS 1 graph."""

    def __init__(self, config: Tcpros) -> None:
        self.config = config
        self._warning_log = WarningLog()
        self._connections = Connections()
        self._thread: Thread | None = None
        self._publications: Publications | None = None
        self._tasks: set[asyncio.Task[None]] = set()  # one per connection that a peer has opened
        self._is_registered = False
        self._left = ""  # reason why the node has left the graph

    @property
    def status(self) -> str:
        if self._left:
            return f"tcpros has left {self.config.master_uri}: {self._left}"
        if not self._is_registered or self._publications is None:
            return f"tcpros: waiting for the master at {self.config.master_uri}"
        count, dropped = self._connections.count, self._publications.dropped
        peers = f"{count('o')} subscribers, {count('i')} publishers"
        text = f"tcpros {self.config.master_uri}, {peers}, {self._connections.sent} sent"
        return text + (f", {dropped} dropped" if dropped else "")

    # -------------------------------------------------------------------------------------------- start and end

    def start(self, bus: Bus) -> None:
        distribution = bus.codec.type_store.distribution
        if distribution != "noetic":
            raise SkerryError(
                f"tcpros is a transport of ROS 1, but `distribution` is {distribution!r}; remove `distribution` or set "
                "it to `noetic`, and use another transport for ROS 2"
            )
        master, host = self.config.master_uri, self.config.own_host
        if _is_local(host) and not _is_local(address_of(master)[0]):
            text = (
                "the ROS master at %s is on another machine, but the simulator announces the address %s, which only "
                "this machine can reach; set `host` or ROS_IP"
            )
            logger.warning(text, master, host)
        at = LOOPBACK if _is_local(host) else ALL_INTERFACES
        try:
            listeners = [socket.create_server((at, 0)) for _ in range(2)]
        except OSError as error:
            raise SkerryError(f"tcpros cannot listen at {at}: {error}") from None
        self._loop = asyncio.new_event_loop()
        self._notifier = LoopNotifier(self._loop)
        self._over, self._new = asyncio.Event(), asyncio.Event()
        self._thread = Thread(target=self._run, args=(bus, host, *listeners), name="ros tcpros", daemon=True)
        self._thread.start()

    def refresh(self) -> None:
        """Update the registration immediately."""
        if self._thread is not None:
            self._notifier.notify(self._new)

    def close(self) -> None:
        if self._thread is not None:
            self._notifier.notify(self._over)
            self._thread.join(timeout=UNREGISTER_TIMEOUT + 5.0)

    def _run(self, bus: Bus, host: str, api: socket.socket, data: socket.socket) -> None:
        with api, data, asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve(bus, host, api, data))

    async def _serve(self, bus: Bus, host: str, api_socket: socket.socket, data_socket: socket.socket) -> None:
        """Serve peers and keep the node registered, until the transport is closed or the node must leave the graph."""
        types, notifier = Ros1Types(bus.codec.type_store), self._notifier
        connections, warning_log = self._connections, self._warning_log
        own, port = f"http://{host}:{api_socket.getsockname()[1]}/", data_socket.getsockname()[1]
        master = Master(self.config.master_uri)
        publications = self._publications = Publications(bus, types, self.config.carries, connections, notifier)
        subscriptions = Subscriptions(bus, types, connections, warning_log, own)
        services, peer_services = Services(bus, types, notifier), PeerServices(bus, types, master.look_up)
        api = SlaveApi(master.uri, own, (host, port), publications, subscriptions, connections, self._leave)
        entries = NodeEntries(own, f"rosrpc://{host}:{port}", publications, subscriptions, services)
        registration = Registration(master, bus, entries, warning_log)

        async def serve_api(reader: StreamReader, writer: StreamWriter) -> None:
            await serve(reader, writer, api.answer)

        async def serve_data(reader: StreamReader, writer: StreamWriter) -> None:
            await _serve_data(services, publications, reader, writer)

        servers = [
            await asyncio.start_server(partial(self._serve_peer, handler), sock=listener)
            for handler, listener in ((serve_api, api_socket), (serve_data, data_socket))
        ]
        over = asyncio.create_task(self._over.wait())
        registered = asyncio.create_task(self._keep_registered(registration, peer_services))
        try:
            await asyncio.wait({over, registered}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            registered.cancel()
            peer_services.close()
            for server in servers:
                server.close()
        with suppress(OSError, ProtocolError):
            async with asyncio.timeout(UNREGISTER_TIMEOUT):
                await registration.withdraw()
        subscriptions.close()
        for task in self._tasks:
            task.cancel()
        await over

    # -------------------------------------------------------------------------------------------- graph

    async def _keep_registered(self, registration: Registration, peer_services: PeerServices) -> None:
        """Keep the node registered with the master until it must leave; log each change of the state once."""
        is_logged = False
        while not self._left:
            try:
                is_new = await registration.update()
            except NameTaken as error:
                self._leave(str(error))
            except (OSError, ProtocolError, MasterError) as error:
                if self._is_registered or not is_logged:
                    logger.warning("ROS master at %s: %s; retrying", self.config.master_uri, error)
                self._is_registered, is_logged = False, True
            else:
                peer_services.add_new_clients()
                if is_new or not self._is_registered:
                    logger.info("ROS master at %s: %s is registered", self.config.master_uri, NODE)
                self._is_registered = True
            with suppress(TimeoutError):
                async with asyncio.timeout(self.config.retry_period):
                    await self._new.wait()
            self._new.clear()

    def _leave(self, reason: str) -> None:
        """Leave the graph; the simulation continues."""
        if not self._left:
            self._left = reason or "a peer has called shutdown"
            logger.warning(
                "%s has left the graph of the ROS master at %s: %s", NODE, self.config.master_uri, self._left
            )
            self._new.set()

    async def _serve_peer(self, handler: ConnectionHandler, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve the connection of a peer; close it and log a warning if the peer violates the protocol."""
        where = (writer.get_extra_info("peername") or ("an unknown address",))[0]
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if len(self._tasks) > MAX_CONNECTIONS:
                raise ProtocolError(f"{MAX_CONNECTIONS} connections are open, which is the maximum")
            keep_alive(writer)
            await handler(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass  # the peer has disconnected, or this node ends, which asyncio would log as an error
        except TimeoutError:
            self._warning_log.warn(f"ROS 1: peer {where} sent no data in time; disconnected")
        except (OSError, ProtocolError) as error:
            self._warning_log.warn(f"ROS 1: peer {where} disconnected: {error}")
        except Exception as error:  # an error of a callback or service must not end the server
            self._warning_log.warn(f"ROS 1: peer {where} disconnected: {error!r}", with_traceback=True)
        finally:
            self._tasks.discard(task)
            writer.close()


async def _serve_data(
    services: Services, publications: Publications, reader: StreamReader, writer: StreamWriter
) -> None:
    """Serve a TCPROS connection of a service client or of a subscriber."""
    async with asyncio.timeout(HEADER_TIMEOUT):
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
    """Settings of ROS 1 over TCPROS."""

    distributions = ("noetic",)
    kind: Literal["tcpros"] = "tcpros"
    master: str | None = Field(
        None,
        min_length=1,
        description="address of the master; by default ROS_MASTER_URI of the environment, or loopback",
    )
    host: str | None = Field(
        None,
        pattern=r"^[\w.-]+$",
        description="host name or address that peers use for this node; by default ROS_HOSTNAME or ROS_IP, or loopback",
    )
    retry_period: Positive = Field(
        1.0, description="time between updates of the registration and between attempts to reach the master, s"
    )

    @property
    def master_uri(self) -> str:
        """Address of the master."""
        found = self.master or os.environ.get("ROS_MASTER_URI") or f"http://{LOOPBACK}:11311"
        try:
            address_of(found)
        except ProtocolError as error:
            raise SkerryError(f"`master` of tcpros or ROS_MASTER_URI: {error}") from None
        return found

    @property
    def own_host(self) -> str:
        """Host name or address that peers use for this node."""
        return self.host or os.environ.get("ROS_HOSTNAME") or os.environ.get("ROS_IP") or LOOPBACK

    def build(self) -> TcprosNode:
        return TcprosNode(self)
