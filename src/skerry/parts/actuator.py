"""Base classes of actuators: an actuator is commanded by one keyword, and its physics is a list of native laws."""

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
    """Number in an actuator's memory through which native code commands it."""

    memory: NDArray[np.float64]  # (1,), a view of userdata
    sign: float = 1.0
    minimum: float = 0.0  # a command of smaller magnitude is set to 0


class Actuator(Component):
    """Base class of actuators. A command holds until the next one; a command beyond the limits is clamped.

    Args:
        laws: Native laws, each with the name of the link that it acts on.
        limits: Smallest and largest command.
        reset_value: Command that `reset` sets.
        expected_frequency: Rate at which an external interface must send commands, Hz; None disables the watchdog.
    """

    keyword: str
    """Name of the argument of `command`, for example rpm, percent or angle."""
    unit: str = ""
    """Unit of the keyword's value; empty for a fraction."""

    def __init__(
        self,
        laws: list[tuple[str, Law]],
        limits: tuple[float, float],
        reset_value: float,
        expected_frequency: Fraction | None,
    ) -> None:
        self.laws = laws
        self.limits = limits
        self.reset_value = reset_value
        self.watchdog = Watchdog(expected_frequency)
        self._ownership = Ownership()

    def command(self, *unnamed: float, **value: float) -> bool:
        """Set the setpoint, from the API, a key or a controller.

        Args:
            unnamed: Not accepted; the error names the keyword.
            value: One number, by the actuator's keyword: `command(rpm=500)`.

        Returns:
            Whether the command was accepted. The API is always accepted and becomes the owner; other sources are
            accepted only while they own the actuator.

        Raises:
            SkerryError: The keyword is unknown or the value is not a finite number.
        """
        if unnamed:
            raise SkerryError(
                f"a command needs its keyword: `command({self.keyword}={', '.join(map(shorten, unnamed))})`; this "
                f"actuator is commanded by {' or '.join(f'`{word}=`' for word in self.keywords)}"
            )
        checked = self._checked(value)  # an invalid command must not change the owner
        if not self._ownership.acquire():
            return False
        self._write(checked)
        self.watchdog.release()
        return True

    def receive(self, **value: float) -> bool:
        """Set the setpoint, from an external interface, and start the watchdog.

        Args and return value are those of `command`.
        """
        checked = self._checked(value)
        with commanding_as("external"):
            accepted = self._ownership.acquire()
        if accepted:
            self._write(checked)
            self.watchdog.on_message()
        return accepted

    def acquire(self) -> bool:
        """Return whether a command from the current source would be accepted; an actuator without owner is taken."""
        return self._ownership.acquire()

    def set_initial(self, **value: float) -> None:
        """Set the setpoint at the start of a run; the actuator stays without owner."""
        self._write(self._checked(value))

    @property
    def owner(self) -> str | None:
        """Source that commands: manual, external, api, controller or "controller/name"; None before a command."""
        return self._ownership.owner

    @owner.setter
    def owner(self, source: str) -> None:
        self._ownership.give(check_source(source))

    def bind(self, name: str, logged_refusals: set[tuple[str, str]], clock: Clock) -> None:
        """Set the name for log lines, the robot's set of logged refusals, and the world's clock."""
        self._ownership.bind(name, logged_refusals)
        self.watchdog.bind(clock)

    @property
    def keywords(self) -> tuple[str, ...]:
        """All accepted keywords: the actuator's own, and those it can convert."""
        return (self.keyword,)

    def check(self, **value: float) -> None:
        """Raise `SkerryError` if `value` is not a valid command."""
        self._checked(value)

    def reset(self) -> None:
        """Set the setpoint to the reset value."""
        self._set(self.reset_value)

    @property
    @abstractmethod
    def setpoint(self) -> float:
        """Last command, in the unit of the keyword."""

    @property
    @abstractmethod
    def state_channel(self) -> StateChannel:
        """State channel of the actual value, in the unit of the keyword."""

    @property
    def feedback(self) -> float:
        """Actual value now, in the unit of the keyword."""
        return read_now(self.state_channel)

    def power_from(self, read: Read) -> Any | None:
        """Return the electric power, W, computed from state channels.

        Args:
            read: Reads a state channel: `read_now` for a number, or a reader of past samples for an array.

        Returns:
            A number or an array, as `read` gives; None if the actuator has no power model.
        """
        return None

    @property
    def power(self) -> float | None:
        """Electric power now, W; None if the actuator has no power model."""
        power = self.power_from(read_now)
        return None if power is None else float(power)

    @property
    def command_slot(self) -> CommandSlot | None:
        """Slot for commands from native code, in the unit of the keyword; None if only Python can command it."""
        return None

    @abstractmethod
    def _set(self, value: float) -> None:
        """Write a value within the limits to the memory that native code reads."""

    def _checked(self, value: dict[str, float]) -> dict[str, float]:
        """Return a command with its numbers clamped to their limits, for `_write`; raise `SkerryError` if invalid."""
        if len(value) != 1 or self.keyword not in value:
            given, known = ", ".join(value) or "nothing", " or ".join(f"`{word}=`" for word in self.keywords)
            hint = did_you_mean(given, self.keywords)
            raise SkerryError(f"this actuator is commanded by {known}, not by {given}; {hint}")
        return {self.keyword: within(self.keyword, value[self.keyword], self.limits)}

    def _write(self, checked: dict[str, float]) -> None:
        """Write a command that `_checked` returned."""
        self._set(checked[self.keyword])

    def __repr__(self) -> str:
        unit = "" if self.unit in ("", self.keyword) else f" {self.unit}"
        command = f"{self.keyword}={self.setpoint:.4g}{unit}"
        return f"<{type(self).__name__} {self._ownership.name}: {command}, owner {self.owner or 'none'}>"

    def state(self) -> bytes:
        return json.dumps([self.watchdog.state().decode(), self._ownership.state().decode()]).encode()

    def set_state(self, state: bytes) -> None:
        watchdog, ownership = json.loads(state)
        self.watchdog.set_state(watchdog.encode())
        self._ownership.set_state(ownership.encode())


def within(keyword: str, value: float, limits: tuple[float, float]) -> float:
    """Return a command clamped to its limits; raise `SkerryError` if it is not a finite number."""
    low, high = limits
    if type(value) is float and isfinite(value):  # fast path: controllers command some hundred times a second
        return low if value < low else high if value > high else value
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = nan
    if not isfinite(number) or isinstance(value, str | bool):
        raise SkerryError(f"a command must be a number, not {keyword}={shorten(value)}")
    return min(max(number, low), high)


class ActuatorConfig(ComponentConfig, Mount):
    """Settings of an actuator on a link."""

    expected_frequency: Rational | None = Field(
        Fraction(2),
        gt=0,
        description="rate at which an external interface must send commands, Hz; after a longer silence the actuator "
        "is reset; null: never",
    )

    def build(self, attach: Attach) -> Actuator:
        """Return a new actuator; `attach` finds the links that it acts on."""
        raise NotImplementedError

    @property
    def joint_is_visual(self) -> bool:
        """Whether the joint of the link turns only in the picture, and is rigid in the physics."""
        return False
