"""A controller that a robot may carry: sees the truth and the sensors, commands the actuators, at its own rate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from skerry.core.config import Family, Rational
from skerry.core.noise import Noise
from skerry.parts.actuator import Actuator
from skerry.parts.component import Component, ComponentConfig
from skerry.parts.native_controller import NativeController, Sight
from skerry.parts.sensor import SampleView

CONTROLLERS = Family("controllers", "skerry.control")


@dataclass(frozen=True)
class Setpoint:
    """A number of a controller that keys turn as they command an actuator: with limits, and a value to go back to."""

    limits: tuple[float, float]
    reset_value: float
    read: Callable[[], float]
    write: Callable[[float], None]
    stepped: Callable[[float], float] | None = None
    """What a step by so much leads to, where that is not the sum."""

    @property
    def setpoint(self) -> float:
        """What it stands at."""
        return self.read()

    def after(self, step: float) -> float:
        """What a step by so much leads to."""
        return self.read() + step if self.stepped is None else self.stepped(step)

    def turn(self, value: float) -> None:
        """Set it; beyond its limits is the limit."""
        self.write(min(max(value, self.limits[0]), self.limits[1]))


class Controller(Component):
    """Acts when it is due, unless it is idle. Its commands are heard by the actuators that it owns."""

    noise: Noise
    """Its own, of the world's seed and its name; given to it before it first acts."""

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do."""
        return False

    def manual_setpoints(self) -> Mapping[str, Setpoint]:
        """What keys may turn on it, by name."""
        return {}

    @property
    def waypoint(self) -> tuple[tuple[float, float, float], float] | None:
        """Where it goes, if it goes to a place, in the world, and how near is near enough, m; for those who show it."""
        return None

    def reflex(self, sight: Sight, actuators: Mapping[str, Actuator]) -> NativeController | None:
        """What acts in its place inside the native loop while it owns its actuators; None if only Python can."""
        return None

    @abstractmethod
    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        """Look, and command."""


class ControllerConfig(ComponentConfig):
    """Settings of a controller."""

    frequency: Rational = Field(gt=0, description="times it acts per second, Hz; at most once a step")

    @property
    def manual_setpoints(self) -> tuple[str, ...]:
        """The names of what keys may turn on it."""
        return ()

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
