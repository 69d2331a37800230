"""Base classes of transports, which connect a bus to peers in threads of their own, and the family of their kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, ClassVar, Final

from pydantic import Field

from skerry.core.config import Family, KindConfig
from skerry.core.errors import SkerryError, UnknownName
from skerry.interfaces.ros.messages.type_store import DISTRIBUTIONS, Distribution

if TYPE_CHECKING:
    from skerry.interfaces.ros.bus.bus import Bus

NODE: Final = "/skerry"
"""Name of the simulator's node in the ROS graph."""

PLUGINS: Final = {"tcpros": 'ROS 1 over TCPROS is a plug-in; install it with: pip install "skerry[ros1]"'}
"""Kinds of transports that a plug-in adds, each with the advice for an installation without the plug-in."""


class TransportFamily(Family):
    """Family of transports, whose error for an unknown kind names the plug-in that adds the kind."""

    def find(self, kind: str) -> type[KindConfig]:
        try:
            return super().find(kind)
        except UnknownName:
            if kind in PLUGINS:
                raise UnknownName(f"unknown kind {kind!r} of {self.name}; {PLUGINS[kind]}") from None
            raise


TRANSPORTS = TransportFamily("transports", "skerry.interfaces.ros.transports", folders=True)


class ProtocolError(SkerryError):
    """Error for data of a peer that violates the protocol of the transport."""


class Transport(ABC):
    """Connection between a bus and peers: sends published messages, and passes messages of peers to the bus."""

    @abstractmethod
    def start(self, bus: Bus) -> None:
        """Start the threads; never waits for a peer."""

    def refresh(self) -> None:
        """Announce entries that were added to the bus or removed from it; not needed if the transport polls the bus."""
        return

    @property
    @abstractmethod
    def status(self) -> str:
        """Connection state and counters, as a short text."""

    @abstractmethod
    def close(self) -> None:
        """End the threads; a second call does nothing."""


class TransportConfig(KindConfig):
    """Settings of a transport."""

    distributions: ClassVar[tuple[Distribution, ...]] = DISTRIBUTIONS
    """ROS distributions that the transport supports."""
    extra: ClassVar[str] = ""
    """Extra of the package `skerry` that the transport needs, such as `zenoh` in `pip install "skerry[zenoh]"`."""
    leave_out: tuple[str, ...] = Field((), description="topics that are not sent, as patterns such as `*/image_raw*`")

    def build(self) -> Transport:
        """Return a new transport with these settings."""
        raise NotImplementedError

    def carries(self, topic: str) -> bool:
        """Return whether a topic is sent, which means that no pattern of `leave_out` matches it."""
        return not any(fnmatchcase(topic, pattern) for pattern in self.leave_out)
