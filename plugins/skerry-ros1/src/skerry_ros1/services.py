"""Services over TCPROS: those of the bus, which peers call, and those of peers, which the bus calls."""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Final

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus, Client, Service
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry.interfaces.ros.messages.codec import BadMessage, Message
from skerry.interfaces.ros.messages.types import short_name
from skerry_ros1.connections import Bell
from skerry_ros1.protocol import (
    ANY,
    read_answer,
    read_connection,
    read_message,
    write_answer,
    write_failure,
    write_header,
    write_message,
)
from skerry_ros1.publications import HIDDEN
from skerry_ros1.types import Ros1Types
from skerry_ros1.xmlrpc_http import address_of

logger = logging.getLogger("skerry")

CONNECT: Final = 5.0  # s to reach whoever offers a service
OF_ROS_2: Final = "rcl_interfaces/"  # what makes a node of ROS 2


class Services:
    """Answers calls of peers."""

    def __init__(self, bus: Bus, types: Ros1Types, bell: Bell) -> None:
        self._bus, self._types, self._bell = bus, types, bell

    def names(self) -> set[str]:
        """The services that are offered."""
        return {name for name, service in self._bus.services.items() if _is_carried(service)}

    async def serve(self, asked: dict[str, str], reader: StreamReader, writer: StreamWriter) -> None:
        """Answer one call or, if the connection is to persist, all; who only probes makes none."""
        service = self._asked(asked)
        kind = short_name(service.type)
        own = {
            "callerid": NODE,
            "md5sum": self._types.sum_of_service(service.type),
            "request_type": f"{kind}Request",
            "response_type": f"{kind}Response",
            "type": kind,
        }
        writer.write(write_header(own))
        await writer.drain()
        if asked.get("probe") == "1":
            return
        while (payload := await read_message(reader)) is not None:
            writer.write(await self._answer(service, payload))
            await writer.drain()
            if asked.get("persistent", "").lower() not in {"1", "true"}:
                return

    def _asked(self, asked: dict[str, str]) -> Service:
        name, found = asked.get("service", ""), asked.get("md5sum", "")
        service = self._bus.services.get(name)
        if service is None or not _is_carried(service):
            raise ProtocolError(f"{NODE} does not offer {name[:200]!r}")
        own = self._types.sum_of_service(service.type)
        if found not in (ANY, own):
            raise ProtocolError(
                f"{name} is {short_name(service.type)} with the sum {own}, and "
                f"{asked.get('callerid', 'somebody')[:200]} wants one with {found[:32]!r}"
            )
        return service

    async def _answer(self, service: Service, payload: bytes) -> bytes:
        codec = self._bus.codec
        try:
            promise = self._bus.call(service.name, codec.from_ros1(payload, f"{service.type}_Request"))
        except BadMessage as error:
            return write_failure(str(error))
        except Exception as error:
            logger.exception("%s cannot be answered", service.name)
            return write_failure(f"{service.name} cannot be answered: {error!r}")
        done = asyncio.Event()
        promise.add_done_callback(lambda _: self._bell.ring(done))
        await done.wait()
        if promise.cancelled():
            return write_failure(f"{service.name}: the call was cancelled")
        if (fault := promise.exception()) is not None:
            return write_failure(str(fault))
        return write_answer(codec.to_ros1(promise.result()))


class Calls:
    """Carries calls of the bus to services of peers; `look_up` asks the master where one is."""

    def __init__(self, bus: Bus, types: Ros1Types, look_up: Callable[[str], Awaitable[str]]) -> None:
        self._bus, self._types, self._look_up = bus, types, look_up
        self._loop = asyncio.get_running_loop()
        self._carriers: dict[Client, Callable[[Message], Future[Message]]] = {}

    def carry_what_is_new(self) -> None:
        """Calls of services that were not on the bus before."""
        for client in self._bus.clients.values():
            if client not in self._carriers:
                carrier = self._carriers[client] = partial(self._ask, client)
                client.carriers.insert(0, carrier)  # after those who know that they reach it, as they offer it

    def close(self) -> None:
        """Carry no more."""
        for client, carrier in self._carriers.items():
            client.carriers.remove(carrier)
        self._carriers.clear()

    def _ask(self, client: Client, request: Message) -> Future[Message]:
        promise: Future[Message] = Future()
        promise.set_running_or_notify_cancel()
        asked = self._promised(client, request, promise)
        try:
            asyncio.run_coroutine_threadsafe(asked, self._loop)
        except RuntimeError:  # the loop has ended meanwhile
            asked.close()
            promise.set_exception(SkerryError(f"{client.name}: the simulation has ended"))
        return promise

    async def _promised(self, client: Client, request: Message, promise: Future[Message]) -> None:
        try:
            promise.set_result(await self._called(client, request))
        except asyncio.CancelledError:
            promise.set_exception(SkerryError(f"{client.name}: the simulation ended before it was answered"))
            raise
        except (OSError, SkerryError) as error:
            promise.set_exception(SkerryError(f"{client.name}: {error or type(error).__name__}"))

    async def _called(self, client: Client, request: Message) -> Message:
        codec = self._bus.codec
        host, port = address_of(await self._look_up(client.name), "rosrpc")
        own = {"callerid": NODE, "md5sum": self._types.sum_of_service(client.type), "service": client.name}
        async with asyncio.timeout(CONNECT):
            reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(write_header(own))
            async with asyncio.timeout(CONNECT):
                told = await read_connection(reader)
            if "error" in told:
                raise SkerryError(told["error"])
            writer.write(write_message(codec.to_ros1(request)))  # not before: rospy loses what comes with a header
            is_sound, data = await read_answer(reader)
            if not is_sound:
                raise SkerryError(data.decode(errors="replace"))
            return codec.from_ros1(data, f"{client.type}_Response")
        finally:
            writer.close()


def _is_carried(service: Service) -> bool:
    return HIDDEN not in service.name and not service.type.startswith(OF_ROS_2)
