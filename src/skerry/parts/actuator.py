"""An actuator: takes one keyword as its command, keeps its constants in laws and its state in userdata."""

from __future__ import annotations

import json
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.clock import Clock
from skerry.core.config import Family, Rational
from skerry.core.errors import SkerryError, did_you_mean, shorten
from skerry.parts.component import Component, ComponentConfig, Mount
from skerry.parts.law import Attach, Law
from skerry.parts.ownership import Ownership, check_source, commanding_as
from skerry.parts.state_channel import Read, StateChannel, read_now
from skerry.parts.watchdog import Watchdog

ACTUATORS = Family("actuators", "skerry.actuators")


@dataclass(frozen=True)
class CommandSlot:
    """Where native code commands an actuator: one number of its memory."""

    memory: NDArray[np.float64]  # (1,), a view
    sign: float = 1.0
    least: float = 0.0  # a smaller command is none


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
        self._ownership = Ownership()

    def command(self, **value: float) -> bool:
        """Set what is wanted, by the actuator's own keyword, from the API, a key or a controller; say if it was heard.

        The API always is, and takes control; others are heard while they own the actuator.
        """
        if not self._ownership.is_speakers:
            self.check(**value)  # nothing changes hands for a command that is none
            if not self._ownership.admits():
                return False
        self._take(value)
        self.watchdog.release()
        return True

    def receive(self, **value: float) -> bool:
        """Set what is wanted, from an outside interface: from now on the watchdog awaits the next message."""
        self.check(**value)
        with commanding_as("ros"):
            heard = self._ownership.admits()
        if heard:
            self._take(value)
            self.watchdog.message()
        return heard

    def admits(self) -> bool:
        """Whether a command of the source that speaks now would be heard; it takes an actuator that nobody owns."""
        return self._ownership.admits()

    def begin_with(self, **value: float) -> None:
        """Set what is wanted at the start; nobody owns it for that."""
        self._take(value)

    @property
    def owner(self) -> str | None:
        """Who commands it: manual, ros, api, controller or "controller/name"; None before the first command."""
        return self._ownership.owner

    @owner.setter
    def owner(self, source: str) -> None:
        self._ownership.give(check_source(source))

    def bind(self, name: str, told: set[tuple[str, str]], clock: Clock) -> None:
        """Take its name, the refusals of its robot that have been logged, and the world's clock."""
        self._ownership.bind(name, told)
        self.watchdog.bind(clock)

    @property
    def keywords(self) -> tuple[str, ...]:
        """All keywords that it may be commanded by: its own, and what it can turn into that."""
        return (self.keyword,)

    def check(self, **value: float) -> None:
        """Raise an error if this is no command for it."""
        self._checked(value)

    def reset(self) -> None:
        """Go back to the reset value."""
        self._set(self.reset_value)

    @property
    @abstractmethod
    def setpoint(self) -> float:
        """What was commanded."""

    @property
    @abstractmethod
    def state_channel(self) -> StateChannel:
        """Shows what it really does, in the unit of its command."""

    @property
    def feedback(self) -> float:
        """What it really does now, in the unit of its command."""
        return read_now(self.state_channel)

    def power_by(self, read: Read) -> Any | None:
        """What it draws, W, by its gauges; None if nothing is known of it."""
        return None

    @property
    def power(self) -> float | None:
        """What it draws now, W; None if nothing is known of it."""
        power = self.power_by(read_now)
        return None if power is None else float(power)

    @property
    def command_slot(self) -> CommandSlot | None:
        """Where native code may command it, in the unit of its keyword; None if only Python can."""
        return None

    @abstractmethod
    def _set(self, value: float) -> None:
        """Write a value within the limits where native code reads it."""

    def _take(self, value: dict[str, float]) -> None:
        self._set(self._checked(value))

    def _checked(self, value: dict[str, float]) -> float:
        if len(value) != 1 or self.keyword not in value:
            given, known = ", ".join(value) or "nothing", " or ".join(f"`{word}=`" for word in self.keywords)
            hint = did_you_mean(given, self.keywords)
            raise SkerryError(f"this actuator is commanded by {known}, not by {given}; {hint}")
        return within(self.keyword, value[self.keyword], self.limits)

    def state(self) -> bytes:
        return json.dumps([self.watchdog.state().decode(), self._ownership.state().decode()]).encode()

    def set_state(self, state: bytes) -> None:
        watchdog, ownership = json.loads(state)
        self.watchdog.set_state(watchdog.encode())
        self._ownership.set_state(ownership.encode())


def within(keyword: str, value: float, limits: tuple[float, float]) -> float:
    """A command as a number within limits; raise an error if it is none."""
    low, high = limits
    if type(value) is float and isfinite(value):  # as controllers command, some hundred times a second
        return low if value < low else high if value > high else value
    try:
        wanted = float(value)
    except (TypeError, ValueError, OverflowError):
        wanted = nan
    if not isfinite(wanted) or isinstance(value, str | bool):
        raise SkerryError(f"a command must be a number, not {keyword}={shorten(value)}")
    return min(max(wanted, low), high)


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
