"""Base classes of controllers: a controller reads the live state and the sensors and commands actuators at its rate.

Abilities that only some controllers have are protocols. Test them with `isinstance(controller, CanStop)`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

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

    @property
    def status(self) -> str:
        """State in a few words, for `repr`."""
        return "idle" if self.idle else "active"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.status}>"


# ------------------------------------------------------------------------------------------------ abilities


@runtime_checkable
class CanStop(Protocol):
    """Ability to stop: the actuators go to their reset values."""

    def stop(self) -> None:
        """Set the commanded actuators to their reset values and become idle."""


@runtime_checkable
class CanGoTo(Protocol):
    """Ability to go to a point and to stay there."""

    def go_to(self, position: Sequence[float]) -> None:
        """Go to a point: east, north and up, m."""


@runtime_checkable
class CanHold(Protocol):
    """Ability to hold setpoints such as depth and heading."""

    setpoints: dict[str, float]

    def hold(self, **setpoints: float) -> None:
        """Hold these setpoints and no others."""

    def can_hold(self, *names: str) -> bool:
        """Return whether setpoints with these names can be held together."""


class ExternalSetpoints(Protocol):
    """Setpoints that an external interface enables one by one, or repeats."""

    @property
    def enabled(self) -> Mapping[str, float | None]:
        """Enabled setpoints by name; the value is None until it is set."""

    @property
    def names(self) -> set[str]:
        """Names of all enabled and repeated setpoints."""

    @property
    def setpoints(self) -> dict[str, float]:
        """Setpoints that have a value now."""


@runtime_checkable
class CanHoldExternal(CanHold, Protocol):
    """Ability to hold setpoints of an external interface besides its own; see `ExternalSetpoints`."""

    aborted: bool
    """Whether the mission is aborted and commands are refused."""
    commands_accepted: bool
    """Whether all actuators accepted the last commands."""

    @property
    def external_setpoints(self) -> ExternalSetpoints:
        """Setpoints of the external interface."""

    def enable(self, name: str) -> None:
        """Enable a setpoint; `aim` then sets its value."""

    def aim(self, name: str, value: float) -> None:
        """Set the value of an enabled setpoint."""

    def repeat(self, name: str, value: float, seconds: float) -> None:
        """Hold a setpoint for a duration, s."""

    def disable(self, name: str) -> None:
        """Remove an external setpoint."""


@runtime_checkable
class CanReachGoal(CanHoldExternal, Protocol):
    """Ability to go to a goal in the horizontal plane, while it holds setpoints such as speed and depth."""

    return_owner: str | None
    """Owner that gets the actuators back after the goal; None if the controller keeps them."""
    reached: bool
    """Whether the last goal was reached."""
    distance: float | None
    """Horizontal distance to the goal, m; None without a goal."""

    @property
    def has_goal(self) -> bool:
        """Whether a goal is set."""

    def goal(
        self, position: Sequence[float] | None = None, *, tolerance: float | None = None, **setpoints: float
    ) -> None:
        """Go to a position: east and north, m; the goal is reached within the tolerance, m."""

    def give_up(self) -> None:
        """Cancel the goal."""


# ------------------------------------------------------------------------------------------------ settings


class ControllerConfig(ComponentConfig):
    """Settings of a controller.

    Attributes:
        example_vehicle: Shipped vehicle that carries the example; None if any robot can carry it.
    """

    example_vehicle: ClassVar[str | None] = None

    frequency: Rational = Field(gt=0, description="rate of the controller, Hz; at most one call per physics step")

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"frequency": 50} | settings)

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
