"""An actuator: takes one keyword as its command, keeps its constants in laws and its state in userdata."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from math import isfinite, nan

from pydantic import Field

from skerry.core.config import Family, Rational
from skerry.core.errors import SkerryError, did_you_mean, shorten
from skerry.parts.component import Component, ComponentConfig, Mount
from skerry.parts.law import Attach, Law
from skerry.parts.watchdog import Watchdog

ACTUATORS = Family("actuators", "skerry.actuators")


class Actuator(Component):
    """Holds a command until the next one. A command beyond the limits is the limit."""

    keyword: str  # of `command`: rpm, percent, angle, …

    def __init__(
        self,
        laws: list[tuple[str, Law]],
        limits: tuple[float, float],
        reset_value: float,
        expected_frequency: Fraction | None,
    ) -> None:
        self.laws = laws  # each with the link that it acts on
        self.limits = limits
        self.reset_value = reset_value
        self.watchdog = Watchdog(expected_frequency)

    def command(self, **value: float) -> None:
        """Set what is wanted, by the actuator's own keyword, from the API, a key or a controller."""
        self._take(value)
        self.watchdog.release()

    def receive(self, **value: float) -> None:
        """Set what is wanted, from an outside interface: from now on the watchdog awaits the next message."""
        self._take(value)
        self.watchdog.message()

    def check(self, **value: float) -> None:
        """Raise an error if this is no command for it."""
        self._checked(value)

    def reset(self) -> None:
        """Go back to the reset value."""
        self._set(self.reset_value)

    @property
    @abstractmethod
    def wanted(self) -> float:
        """What was commanded."""

    @property
    @abstractmethod
    def feedback(self) -> float:
        """What it really does now, in the unit of its command."""

    @property
    def power(self) -> float | None:
        """What it draws now, W; None if nothing is known of it."""
        return None

    @abstractmethod
    def _set(self, value: float) -> None:
        """Write a value within the limits where native code reads it."""

    def _take(self, value: dict[str, float]) -> None:
        self._set(self._checked(value))

    def _checked(self, value: dict[str, float]) -> float:
        if list(value) != [self.keyword]:
            given = ", ".join(value) or "nothing"
            hint = did_you_mean(given, [self.keyword])
            raise SkerryError(f"this actuator is commanded by `{self.keyword}=`, not by {given}; {hint}")
        return within(self.keyword, value[self.keyword], self.limits)

    def state(self) -> bytes:
        return self.watchdog.state()

    def set_state(self, state: bytes) -> None:
        self.watchdog.set_state(state)


def within(keyword: str, value: float, limits: tuple[float, float]) -> float:
    """A command as a number within limits; raise an error if it is none."""
    try:
        wanted = float(value)
    except (TypeError, ValueError, OverflowError):
        wanted = nan
    if not isfinite(wanted) or isinstance(value, str | bool):
        raise SkerryError(f"a command must be a number, not {keyword}={shorten(value)}")
    return min(max(wanted, limits[0]), limits[1])


class ActuatorConfig(ComponentConfig, Mount):
    """Settings of an actuator on a link."""

    expected_frequency: Rational | None = Field(
        Fraction(2), gt=0, description="Hz at which an outside interface must command; silence resets; null never does"
    )

    def build(self, attach: Attach) -> Actuator:
        """The actuator; `attach` finds the links that it acts on."""
        raise NotImplementedError

    @property
    def turns_for_the_eye(self) -> bool:
        """Whether the joint of its link is only seen to turn, and what it carries is fixed as far as forces go."""
        return False
