"""A transport: carries a bus to peers, in threads of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, ClassVar, Final

from pydantic import Field

from skerry.core.config import Family, KindConfig
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.messages.type_store import DISTRIBUTIONS, Distribution

if TYPE_CHECKING:
    from skerry.interfaces.ros.bus.bus import Bus

NODE: Final = "/skerry"
"""The name of the node that the simulator is."""

TRANSPORTS = Family("transports", "skerry.interfaces.ros.transports", folders=True)


class ProtocolError(SkerryError):
    """A peer that does not speak the protocol."""


class Transport(ABC):
    """Takes what the bus says to its peers, and lets the bus hear what they say."""

    @abstractmethod
    def start(self, bus: Bus) -> None:
        """Begin; never waits for a peer."""

    def refresh(self) -> None:
        """Things have come to the bus or gone from it; those who look for themselves need not be told."""
        return

    @property
    @abstractmethod
    def status(self) -> str:
        """How it does, in a few words."""

    @abstractmethod
    def close(self) -> None:
        """End its threads; closing twice is harmless."""


class TransportConfig(KindConfig):
    """Settings of a transport."""

    distributions: ClassVar[tuple[Distribution, ...]] = DISTRIBUTIONS
    """Those of ROS that it can be of."""
    leave_out: tuple[str, ...] = Field(
        (), description="topics that it does not carry, as patterns such as `*/image_raw*`"
    )

    def build(self) -> Transport:
        """The transport."""
        raise NotImplementedError

    def carries(self, topic: str) -> bool:
        """Whether a topic is not left out."""
        return not any(fnmatchcase(topic, pattern) for pattern in self.leave_out)
