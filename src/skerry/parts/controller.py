"""Base classes of controllers: a controller reads the live state and the sensors and commands actuators at its rate."""

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
from skerry.parts.native_controller import NativeController, NativeView
from skerry.parts.sensor import SampleView

CONTROLLERS = Family("controllers", "skerry.control")


@dataclass(frozen=True)
class Setpoint:
    """Number of a controller that keys can change as they change an actuator, with limits and a reset value."""

    limits: tuple[float, float]
    reset_value: float
    read: Callable[[], float]
    write: Callable[[float], None]
    stepped: Callable[[float], float] | None = None
    """Returns the value after a step, if it is not the sum of the present value and the step."""

    @property
    def setpoint(self) -> float:
        """Present value."""
        return self.read()

    def after_step(self, step: float) -> float:
        """Return the value after a step of this size."""
        return self.read() + step if self.stepped is None else self.stepped(step)

    def set(self, value: float) -> None:
        """Set the value, clamped to the limits."""
        self.write(min(max(value, self.limits[0]), self.limits[1]))


class Controller(Component):
    """Base class of controllers. `act` is called at the controller's rate, unless the controller is idle.

    Actuators accept its commands only while it owns them.
    """

    noise: Noise
    """Noise stream of the controller, keyed by the seed of the world and its name. Set before the first `act`."""

    @property
    def idle(self) -> bool:
        """Whether `act` need not be called now."""
        return False

    def manual_setpoints(self) -> Mapping[str, Setpoint]:
        """Return the setpoints that keys may change, by name."""
        return {}

    @property
    def waypoint(self) -> tuple[tuple[float, float, float], float] | None:
        """Target position in the world and the radius that counts as reached, both in m; None without a target."""
        return None

    def native_controller(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController | None:
        """Return the law for the native loop, used while the controller owns its actuators; None if it needs Python."""
        return None

    @abstractmethod
    def act(self, sample: SampleView, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        """Read the sample and the sensors, and command the actuators."""


class ControllerConfig(ComponentConfig):
    """Settings of a controller."""

    frequency: Rational = Field(gt=0, description="rate of the controller, Hz; at most one call per physics step")

    @property
    def manual_setpoints(self) -> tuple[str, ...]:
        """Names of the setpoints that keys may change."""
        return ()

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        """Actuators that the vehicle must have."""
        return ()

    @property
    def needs_sensors(self) -> tuple[str, ...]:
        """Sensors that the vehicle must have."""
        return ()

    @property
    def needs_bodies(self) -> tuple[str, ...]:
        """Robots, objects and "robot/link" names that the scenario must have."""
        return ()

    def build(self) -> Controller:
        """Return a new controller with these settings."""
        raise NotImplementedError
