"""Services over TCPROS: services of the bus, and calls of services of peers."""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Final

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Service, ServiceClient
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.messages.types import short_name
from skerry_ros1.connections import LoopNotifier
from skerry_ros1.protocol import (
    ANY,
    read_connection,
    read_message,
    read_response,
    write_failure,
    write_header,
    write_message,
    write_response,
)
from skerry_ros1.publications import HIDDEN
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import address_of

logger = logging.getLogger("skerry")

CONNECT_TIMEOUT: Final = 5.0  # s to connect to a service
ROS2_NODE: Final = "rcl_interfaces/"  # package of the services that each ROS 2 node has


class Services:
    """Server of the services of the bus."""

    def __init__(self, bus: Bus, types: Ros1Types, notifier: LoopNotifier) -> None:
        self._bus, self._types, self._notifier = bus, types, notifier

    def names(self) -> set[str]:
        """Return the names of the services."""
        return {name for name, service in self._bus.services.items() if _is_carried(service)}

    async def serve(self, request: dict[str, str], reader: StreamReader, writer: StreamWriter) -> None:
        """Answer one call, or all calls of a persistent connection; a probe makes no call."""
        service = self._requested(request)
        kind = short_name(service.type)
        own = {
            "callerid": NODE,
            "md5sum": self._types.service_md5(service.type),
            "request_type": f"{kind}Request",
            "response_type": f"{kind}Response",
            "type": kind,
        }
        writer.write(write_header(own))
        await writer.drain()
        if request.get("probe") == "1":
            return
        while (payload := await read_message(reader)) is not None:
            writer.write(await self._answer(service, payload))
            await writer.drain()
            if request.get("persistent", "").lower() not in {"1", "true"}:
                return

    def _requested(self, request: dict[str, str]) -> Service:
        name, found = request.get("service", ""), request.get("md5sum", "")
        service = self._bus.services.get(name)
        if service is None or not _is_carried(service):
            raise ProtocolError(f"{NODE} has no service {name[:200]!r}")
        own = self._types.service_md5(service.type)
        if found not in (ANY, own):
            raise ProtocolError(
                f"{name} has the type {short_name(service.type)} with MD5 sum {own}, but "
                f"{request.get('callerid', 'the client')[:200]} expects {found[:32]!r}"
            )
        return service

    async def _answer(self, service: Service, payload: bytes) -> bytes:
        codec = self._bus.codec
        try:
            future = self._bus.call(service.name, codec.from_ros1(payload, f"{service.type}_Request"))
        except BadMessage as error:
            return write_failure(str(error))
        except Exception as error:
            logger.exception("%s: call failed", service.name)
            return write_failure(f"{service.name}: call failed: {error!r}")
        done = asyncio.Event()
        future.add_done_callback(lambda _: self._notifier.notify(done))
        await done.wait()
        if future.cancelled():
            return write_failure(f"{service.name}: the call was cancelled")
        if (fault := future.exception()) is not None:
            return write_failure(str(fault))
        return write_response(codec.to_ros1(future.result()))


class PeerServices:
    """Client of the services of peers; `look_up` asks the master for the address of a service."""

    def __init__(self, bus: Bus, types: Ros1Types, look_up: Callable[[str], Awaitable[str]]) -> None:
        self._bus, self._types, self._look_up = bus, types, look_up
        self._loop = asyncio.get_running_loop()
        self._routes: dict[ServiceClient, Callable[[Message], Future[Message]]] = {}

    def add_new_clients(self) -> None:
        """Add the routes of clients that are new on the bus."""
        for client in self._bus.clients.values():
            if client not in self._routes:
                route = self._routes[client] = partial(self._call, client)
                client.routes.insert(
                    0, route
                )  # other transports take precedence, because their peer has advertised the service

    def close(self) -> None:
        """Remove all routes."""
        for client, route in self._routes.items():
            client.routes.remove(route)
        self._routes.clear()

    def _call(self, client: ServiceClient, request: Message) -> Future[Message]:
        future: Future[Message] = Future()
        future.set_running_or_notify_cancel()
        call = self._complete(client, request, future)
        try:
            asyncio.run_coroutine_threadsafe(call, self._loop)
        except RuntimeError:  # the loop has ended meanwhile
            call.close()
            future.set_exception(SkerryError(f"{client.name}: the simulation has ended"))
        return future

    async def _complete(self, client: ServiceClient, request: Message, future: Future[Message]) -> None:
        try:
            future.set_result(await self._response(client, request))
        except asyncio.CancelledError:
            future.set_exception(SkerryError(f"{client.name}: the simulation ended before the response"))
            raise
        except (OSError, SkerryError) as error:
            future.set_exception(SkerryError(f"{client.name}: {error or type(error).__name__}"))

    async def _response(self, client: ServiceClient, request: Message) -> Message:
        codec = self._bus.codec
        host, port = address_of(await self._look_up(client.name), "rosrpc")
        own = {"callerid": NODE, "md5sum": self._types.service_md5(client.type), "service": client.name}
        async with asyncio.timeout(CONNECT_TIMEOUT):
            reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(write_header(own))
            async with asyncio.timeout(CONNECT_TIMEOUT):
                header = await read_connection(reader)
            if "error" in header:
                raise SkerryError(header["error"])
            writer.write(
                write_message(codec.to_ros1(request))
            )  # only after the header, because rospy loses data that arrives with the header
            is_sound, data = await read_response(reader)
            if not is_sound:
                raise SkerryError(data.decode(errors="replace"))
            return codec.from_ros1(data, f"{client.type}_Response")
        finally:
            writer.close()


def _is_carried(service: Service) -> bool:
    return HIDDEN not in service.name and not service.type.startswith(ROS2_NODE)
