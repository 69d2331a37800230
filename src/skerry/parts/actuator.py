"""An actuator: takes one keyword as its command, keeps its constants in a law and its state in userdata."""

from __future__ import annotations

from abc import abstractmethod

from skerry.core.config import Family
from skerry.parts.component import Component, ComponentConfig, Mount
from skerry.parts.law import Attachment, Law

ACTUATORS = Family("actuators", "skerry.actuators")


class Actuator(Component):
    """Holds a command until the next one; its limits, lag and reset value are in its law."""

    law: Law

    @abstractmethod
    def command(self, **value: float) -> None:
        """Set what is wanted, by the actuator's own keyword: rpm=, percent=, angle=, …"""

    @abstractmethod
    def reset(self) -> None:
        """Go back to the reset value."""


class ActuatorConfig(ComponentConfig, Mount):
    """Settings of an actuator on a link."""

    def build(self, at: Attachment) -> Actuator:
        """The actuator, for the link it is attached to."""
        raise NotImplementedError
