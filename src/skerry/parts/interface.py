"""An interface: a peer at the border, such as a ROS graph, a browser, a TCP client or a log file."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from skerry.core.config import Family
from skerry.parts.component import Component, ComponentConfig

INTERFACES = Family("interfaces", "skerry.interfaces")


class Inbox(Protocol):
    """Where commands from all interfaces enter the loop."""

    def put(self, robot: str, actuator: str, value: Mapping[str, float]) -> None:
        """Hand over a command; returns at once."""


class Interface(Component):
    """Runs its own threads and meets the loop in two places: the inbox, and `publish`."""

    @abstractmethod
    def start(self, world: Any, inbox: Inbox) -> None:
        """Open its sockets or files."""

    @abstractmethod
    def publish(self, readings: Mapping[tuple[str, str], object]) -> None:
        """Take new readings, by robot and sensor; never blocks the loop."""

    @abstractmethod
    def close(self) -> None:
        """End its threads; closing twice is harmless."""


class InterfaceConfig(ComponentConfig):
    """Settings of an interface."""

    def build(self) -> Interface:
        """The interface."""
        raise NotImplementedError
