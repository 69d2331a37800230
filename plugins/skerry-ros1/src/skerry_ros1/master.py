"""The master of ROS 1: a node's place in its lists, kept in step with the bus, and found again after a restart."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Literal
from xmlrpc.client import Fault

from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.transport import NODE, ProtocolError
from skerry_ros1.connections import Complaints
from skerry_ros1.publications import Publications
from skerry_ros1.services import Services
from skerry_ros1.subscriptions import Subscriptions
from skerry_ros1.xmlrpc_http import call

SIMULATED: Final = "/use_sim_time"
"""Whether nodes go by /clock; each looks once, when it starts."""


class MasterRefuses(SkerryError):
    """A master that answers, but not as asked."""


class Replaced(SkerryError):
    """Another node has taken our name."""


class Master:
    """Asks a master."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    async def ask(self, method: str, *arguments: Any) -> Any:
        """What it answers; `OSError` or `ProtocolError` if there is none, `MasterRefuses` if it does not want to."""
        try:
            answer = await call(self.uri, method, NODE, *arguments)
        except Fault as fault:
            raise MasterRefuses(f"{method}: {fault.faultString[:500]}") from None
        match answer:
            case [1, _, value]:
                return value
            case [int(), str(text), *_]:
                raise MasterRefuses(f"{method}: {text[:500]}")
        raise ProtocolError(f"{self.uri} is no ROS master: it answers {str(answer)[:200]}")

    async def look_up(self, service: str) -> str:
        """Where a service is."""
        return str(await self.ask("lookupService", service))


@dataclass(frozen=True)
class Entry:
    """What is registered: a topic that is published or heard, with its type, or a service."""

    role: Literal["Publisher", "Subscriber", "Service"]
    name: str
    type: str = ""


@dataclass(frozen=True)
class Lists:
    """What of a node is to be in a master's lists, and where the node is."""

    own: str
    services_at: str
    publications: Publications
    subscriptions: Subscriptions
    services: Services

    def wanted(self) -> list[Entry]:
        """All of it, as it is now."""
        return [
            *(Entry("Publisher", name, kind) for name, kind in self.publications.types().items()),
            *(Entry("Subscriber", name, kind) for name, kind in self.subscriptions.types().items()),
            *(Entry("Service", name) for name in sorted(self.services.names())),
        ]


class Registration:
    """Keeps a master's lists as the bus is."""

    def __init__(self, master: Master, bus: Bus, lists: Lists, complaints: Complaints) -> None:
        self._master, self._bus, self._lists, self._complaints = master, bus, lists, complaints
        self._entries: dict[Entry, None] = {}
        self._parameters: dict[str, Any] = {}
        self._process: Any = None  # the master's number

    async def keep(self) -> bool:
        """Bring the master's lists up to date; whether it knew nothing of us, so that all was told to it anew."""
        process = await self._master.ask("getPid")
        is_new = process != self._process or not await self._is_known()
        if is_new:
            self._process = process
            self._entries.clear()
            self._parameters.clear()
            self._lists.subscriptions.forget()
            await self._set_parameters()  # first, as nodes may wait for a topic and then look at them
        wanted = dict.fromkeys(self._lists.wanted())
        for entry in [entry for entry in self._entries if entry not in wanted]:
            await self._drop(entry)
        for entry in [entry for entry in wanted if entry not in self._entries]:
            await self._add(entry)
        if not is_new:
            await self._set_parameters()
        return is_new

    async def withdraw(self) -> None:
        """Take everything off the master's lists; parameters stay."""
        for entry in list(self._entries):
            with suppress(MasterRefuses):
                await self._master.ask(f"unregister{entry.role}", entry.name, self._place(entry))
            del self._entries[entry]

    async def _is_known(self) -> bool:
        if not self._entries:
            return True
        try:
            found = await self._master.ask("lookupNode", NODE)
        except MasterRefuses:
            return False
        if found != self._lists.own:
            raise Replaced(f"another node {NODE} is at {found}")
        return True

    async def _add(self, entry: Entry) -> None:
        at = (self._lists.services_at, self._lists.own) if entry.role == "Service" else (entry.type, self._lists.own)
        self._entries[entry] = None  # even if we end meanwhile, it may be there and is to be taken off
        try:
            found = await self._tried(f"register{entry.role}", entry.name, *at)
        except (OSError, ProtocolError):
            del self._entries[entry]
            raise
        if entry.role == "Subscriber" and isinstance(found, list):
            self._lists.subscriptions.join(entry.name, [str(uri) for uri in found])

    async def _drop(self, entry: Entry) -> None:
        await self._tried(f"unregister{entry.role}", entry.name, self._place(entry))
        del self._entries[entry]
        if entry.role == "Subscriber":
            self._lists.subscriptions.update(entry.name, ())

    def _place(self, entry: Entry) -> str:
        return self._lists.services_at if entry.role == "Service" else self._lists.own

    async def _set_parameters(self) -> None:
        """Ours, and `/use_sim_time` unless somebody has decided on it before us: they may want the wall clock."""
        for name, value in list(self._bus.parameters.items()):
            if name not in self._parameters or self._parameters[name] != value:
                await self._tried("setParam", name, value)
                self._parameters[name] = value
        if SIMULATED not in self._parameters:
            if await self._tried("hasParam", SIMULATED) is False:
                await self._tried("setParam", SIMULATED, True)
            self._parameters[SIMULATED] = True

    async def _tried(self, method: str, *arguments: Any) -> Any:
        """Ask for what the master may refuse, which is told."""
        try:
            return await self._master.ask(method, *arguments)
        except MasterRefuses as error:
            self._complaints.tell(f"the ROS master at {self._master.uri} refuses {error}")
            return None
