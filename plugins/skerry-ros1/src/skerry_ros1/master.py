"""Registration of the node with the ROS 1 master, kept equal to the bus, and renewed after a restart of the master."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal
from xmlrpc.client import Fault

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry_ros1.connections import WarningLog
from skerry_ros1.publications import Publications
from skerry_ros1.services import Services
from skerry_ros1.subscriptions import Subscriptions
from skerry_ros1.xmlrpc_http import call

SIMULATED: Final = "/use_sim_time"
"""Parameter that tells nodes to use /clock; a node reads it once, when it starts."""


class MasterError(SkerryError):
    """Error for a request that the master has refused."""


class NameTaken(SkerryError):
    """Error for another node that has taken the name of this node."""


class Master:
    """Client of a master."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    async def call(self, method: str, *arguments: Any) -> Any:
        """Call a method and return its result.

        Raises:
            OSError, ProtocolError: The master cannot be reached, or its response is invalid.
            MasterError: The master refuses the request.
        """
        try:
            answer = await call(self.uri, method, NODE, *arguments)
        except Fault as fault:
            raise MasterError(f"{method}: {fault.faultString[:500]}") from None
        match answer:
            case [1, _, value]:
                return value
            case [int(), str(text), *_]:
                raise MasterError(f"{method}: {text[:500]}")
        raise ProtocolError(f"{self.uri} is not a ROS master; its response is {str(answer)[:200]}")

    async def look_up(self, service: str) -> str:
        """Return the address of a service."""
        return str(await self.call("lookupService", service))


@dataclass(frozen=True)
class RegistryEntry:
    """Entry in the lists of the master: a published or subscribed topic with its type, or a service."""

    role: Literal["Publisher", "Subscriber", "Service"]
    name: str
    type: str = ""


@dataclass(frozen=True)
class NodeEntries:
    """Entries that the master must have of this node, and the addresses of the node."""

    own: str  # address of the node
    services_at: str  # address of its services
    publications: Publications
    subscriptions: Subscriptions
    services: Services

    def wanted(self) -> list[RegistryEntry]:
        """Return the current entries."""
        return [
            *(RegistryEntry("Publisher", name, kind) for name, kind in self.publications.types().items()),
            *(RegistryEntry("Subscriber", name, kind) for name, kind in self.subscriptions.types().items()),
            *(RegistryEntry("Service", name) for name in sorted(self.services.names())),
        ]


class Registration:
    """Registration of the entries of a node."""

    def __init__(self, master: Master, bus: Bus, lists: NodeEntries, warning_log: WarningLog) -> None:
        self._master, self._bus, self._lists, self._warning_log = master, bus, lists, warning_log
        self._entries: dict[RegistryEntry, None] = {}
        self._parameters: dict[str, Any] = {}
        self._process: Any = None  # process id of the master

    async def update(self) -> bool:
        """Update the lists of the master; return whether the master did not know the node before."""
        process = await self._master.call("getPid")
        is_new = process != self._process or not await self._is_known()
        if is_new:
            self._process = process
            self._entries.clear()
            self._parameters.clear()
            self._lists.subscriptions.forget()
            await self._set_parameters()  # first, because nodes may wait for a topic and then read parameters
        wanted = dict.fromkeys(self._lists.wanted())
        for entry in [entry for entry in self._entries if entry not in wanted]:
            await self._drop(entry)
        for entry in [entry for entry in wanted if entry not in self._entries]:
            await self._add(entry)
        if not is_new:
            await self._set_parameters()
        return is_new

    async def withdraw(self) -> None:
        """Remove all entries from the lists of the master; parameters stay."""
        for entry in list(self._entries):
            with suppress(MasterError):
                await self._master.call(f"unregister{entry.role}", entry.name, self._address(entry))
            del self._entries[entry]

    async def _is_known(self) -> bool:
        if not self._entries:
            return True
        try:
            found = await self._master.call("lookupNode", NODE)
        except MasterError:
            return False
        if found != self._lists.own:
            raise NameTaken(f"another node {NODE} has registered at {found}")
        return True

    async def _add(self, entry: RegistryEntry) -> None:
        at = (self._lists.services_at, self._lists.own) if entry.role == "Service" else (entry.type, self._lists.own)
        self._entries[entry] = None  # before the call, so that it is removed even if the node ends during the call
        try:
            found = await self._tried(f"register{entry.role}", entry.name, *at)
        except (OSError, ProtocolError):
            del self._entries[entry]
            raise
        if entry.role == "Subscriber" and isinstance(found, list):
            self._lists.subscriptions.join(entry.name, [str(uri) for uri in found])

    async def _drop(self, entry: RegistryEntry) -> None:
        await self._tried(f"unregister{entry.role}", entry.name, self._address(entry))
        del self._entries[entry]
        if entry.role == "Subscriber":
            self._lists.subscriptions.update(entry.name, ())

    def _address(self, entry: RegistryEntry) -> str:
        return self._lists.services_at if entry.role == "Service" else self._lists.own

    async def _set_parameters(self) -> None:
        """Set the parameters of the bus, and `/use_sim_time` unless it is set already."""
        for name, value in list(self._bus.parameters.items()):
            if name not in self._parameters or self._parameters[name] != value:
                await self._tried("setParam", name, value)
                self._parameters[name] = value
        if SIMULATED not in self._parameters:
            if await self._tried("hasParam", SIMULATED) is False:
                await self._tried("setParam", SIMULATED, True)
            self._parameters[SIMULATED] = True

    async def _tried(self, method: str, *arguments: Any) -> Any:
        """Call a method that the master may refuse; log a refusal and return None."""
        try:
            return await self._master.call(method, *arguments)
        except MasterError as error:
            self._warning_log.warn(f"the ROS master at {self._master.uri} refuses {error}")
            return None
