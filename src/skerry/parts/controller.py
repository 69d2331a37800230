"""A controller that a robot may carry: sees the truth and the sensors, commands the actuators, at its own rate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from skerry.core.config import Family, Rational
from skerry.core.noise import Noise
from skerry.parts.actuator import Actuator
from skerry.parts.component import Component, ComponentConfig
from skerry.parts.sensor import Truth

CONTROLLERS = Family("controllers", "skerry.control")


class Controller(Component):
    """Acts when it is due, unless it is idle. Its commands are heard by the actuators that it owns."""

    noise: Noise
    """Its own, of the world's seed and its name; given to it before it first acts."""

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do."""
        return False

    @abstractmethod
    def act(self, truth: Truth, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        """Look, and command."""


class ControllerConfig(ComponentConfig):
    """Settings of a controller."""

    frequency: Rational = Field(gt=0, description="times it acts per second, Hz; at most once a step")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        """The actuators that its vehicle must have."""
        return ()

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        """The sensors that its vehicle must have."""
        return ()

    @property
    def needs_places(self) -> tuple[str, ...]:
        """What the scenario must have: names of robots and objects, or "robot/link"."""
        return ()

    def build(self) -> Controller:
        """The controller."""
        raise NotImplementedError
