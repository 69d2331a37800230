"""A keyboard as a vehicle has it: keys to actuators and dials as data, held to drive and released to stop."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isclose
from typing import Final, Literal

from pydantic import Field

from skerry.core.clock import Clock
from skerry.core.config import Config
from skerry.parts.actuator import Actuator
from skerry.parts.component import Component
from skerry.parts.controller import Setpoint
from skerry.parts.ownership import commanding_as
from skerry.parts.watchdog import Watchdog

DEAD_MAN: Final = Fraction(2)
"""Hz at which a held key must be pressed again: after 0.5 s of silence all keys are let go."""


class KeyConfig(Config):
    """What a key does."""

    does: str = Field("", description="for people")
    mode: Literal["hold", "set", "step", "toggle"] = Field(
        "hold", description="add to the reset value while down; set for good; add at each press; set, and back again"
    )
    commands: dict[str, float] = Field(
        min_length=1,
        description="the value by actuator, or by dial of a controller as `flight.speed_kn`, in its own unit; "
        "beyond its limits is the limit",
    )


class Keyboard(Component):
    """The keys of one robot. The actuators that manual control owns, and the dials that drive them, hear them.

    Whoever holds a key down presses it again and again, as keyboards do; a press of a key that is down does nothing
    else. When the presses fall silent, all keys are let go, on the simulation's clock.
    """

    def __init__(self, keys: Mapping[str, KeyConfig], actuators: Mapping[str, Actuator], clock: Clock) -> None:
        self.keys = keys
        self.watchdog = Watchdog(DEAD_MAN)
        self.watchdog.bind(clock)
        self._actuators = actuators
        self._setpoints: dict[str, Setpoint] = {}
        self._driven: dict[str, Sequence[Actuator]] = {}  # by each controller that keys turn
        self._down: list[str] = []

    def connect(self, controller: str, manual_setpoints: Mapping[str, Setpoint], driven: Sequence[Actuator]) -> None:
        """Let keys turn the dials of a controller, and know the actuators that it drives."""
        turned = {name for key in self.keys.values() for name in key.commands}
        for name, setpoint in manual_setpoints.items():
            if (full := f"{controller}.{name}") in turned:
                self._setpoints[full] = setpoint
                self._driven[controller] = driven

    def controls(self, controller: str) -> bool:
        """Whether a controller has dials that keys turn, and manual control owns all that it drives."""
        driven = self._driven.get(controller)
        return driven is not None and all(actuator.owner == "manual" for actuator in driven)

    @property
    def targets(self) -> dict[str, Actuator | Setpoint]:
        """What its keys command, by the names that they have in the map."""
        names = {name: None for key in self.keys.values() for name in key.commands}
        return {name: self._target(name) for name in names}

    @property
    def down(self) -> tuple[str, ...]:
        """The keys that are down."""
        return tuple(self._down)

    def press(self, key: str) -> None:
        """Press a key, or keep it down."""
        does = self.keys[key]
        self.watchdog.on_message()
        if key in self._down:
            return
        self._down.append(key)
        for name, value in does.commands.items():
            if does.mode == "hold":
                self._hold(name)
            elif does.mode == "set":
                self._command(name, value)
            elif does.mode == "step":
                self._step(name, value)
            else:
                self._toggle(name, value)

    def release(self, key: str) -> None:
        """Let a key go; one that is not down stays so."""
        does = self.keys[key]
        if key not in self._down:
            return
        self._down.remove(key)
        if does.mode == "hold":
            for name in does.commands:
                self._hold(name)
        if not self._down:
            self.watchdog.release()

    def release_all(self) -> None:
        """Let all keys go."""
        for key in self.down:
            self.release(key)

    def _hold(self, name: str) -> None:
        target = self._target(name)
        down = [self.keys[key].commands for key in self._down if self.keys[key].mode == "hold"]
        held = [commands[name] for commands in down if name in commands]
        if isinstance(target, Setpoint) and not held:  # whoever has control: one left turned would wait for its owner
            target.set(target.reset_value)
        else:
            self._command(name, target.reset_value + sum(held))

    def _step(self, name: str, value: float) -> None:
        target = self._target(name)
        self._command(name, target.after_step(value) if isinstance(target, Setpoint) else target.setpoint + value)

    def _toggle(self, name: str, value: float) -> None:
        target = self._target(name)
        low, high = target.limits
        there = isclose(target.setpoint, min(max(value, low), high), rel_tol=1e-9, abs_tol=1e-9)
        self._command(name, target.reset_value if there else value)

    def _target(self, name: str) -> Actuator | Setpoint:
        return self._setpoints[name] if name in self._setpoints else self._actuators[name]

    def _command(self, name: str, value: float) -> None:
        target = self._target(name)
        with commanding_as("manual"):
            if not isinstance(target, Setpoint):
                target.command(**{target.keyword: value})
            elif all(actuator.acquire() for actuator in self._driven[name.partition(".")[0]]):
                target.set(value)

    def state(self) -> bytes:
        return json.dumps([self._down, self.watchdog.state().decode()]).encode()

    def set_state(self, state: bytes) -> None:
        self._down, watchdog = json.loads(state)
        self.watchdog.set_state(watchdog.encode())
