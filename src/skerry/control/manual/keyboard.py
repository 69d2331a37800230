"""Manual control by keys: a vehicle maps its keys to actuators and to setpoints of controllers."""

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

KEY_TIMEOUT: Final = Fraction(1, 2)
"""Simulated time without a press after which all keys are released, s, unless the press gives another time."""


class KeyConfig(Config):
    """Settings of a key."""

    does: str = Field("", description="text that describes the key to users")
    mode: Literal["hold", "set", "step", "toggle"] = Field(
        "hold",
        description="hold: add to the reset value while pressed; set: set the value; step: add at each press; "
        "toggle: set the value, or the reset value if it is set already",
    )
    commands: dict[str, float] = Field(
        min_length=1,
        description="value by actuator, or by setpoint of a controller such as `flight.speed_kn`, in its unit; "
        "clamped to its limits",
    )


class Keyboard(Component):
    """Keys of one robot. They command actuators that manual control owns, and setpoints of their controllers.

    A client repeats `press` while a key is held, as keyboards do. A press of a key that is already down only restarts
    the watchdog. When the presses stop, the watchdog releases all keys after a time on the simulation clock. No other
    timer releases keys.
    """

    def __init__(self, keys: Mapping[str, KeyConfig], actuators: Mapping[str, Actuator], clock: Clock) -> None:
        self.keys = keys
        self.watchdog = Watchdog(1 / KEY_TIMEOUT)
        self.bind(clock)
        self._actuators = actuators
        self._setpoints: dict[str, Setpoint] = {}
        self._driven: dict[
            str, Sequence[Actuator]
        ] = {}  # actuators of each controller with a setpoint that keys change
        self._down: list[str] = []

    def bind(self, clock: Clock) -> None:
        """Set the world's clock."""
        self.watchdog.bind(clock)

    def connect(self, controller: str, manual_setpoints: Mapping[str, Setpoint], driven: Sequence[Actuator]) -> None:
        """Connect the keys to the setpoints of a controller.

        Args:
            controller: Name of the controller.
            manual_setpoints: Its setpoints by name.
            driven: Actuators that the controller commands.
        """
        commanded = {name for key in self.keys.values() for name in key.commands}
        for name, setpoint in manual_setpoints.items():
            if (full := f"{controller}.{name}") in commanded:
                self._setpoints[full] = setpoint
                self._driven[controller] = driven

    def controls(self, controller: str) -> bool:
        """Return whether keys change setpoints of a controller, and manual control owns all its actuators."""
        driven = self._driven.get(controller)
        return driven is not None and all(actuator.owner == "manual" for actuator in driven)

    @property
    def targets(self) -> dict[str, Actuator | Setpoint]:
        """Actuators and setpoints that the keys command, by name."""
        names = {name: None for key in self.keys.values() for name in key.commands}
        return {name: self._target(name) for name in names}

    @property
    def down(self) -> tuple[str, ...]:
        """Keys that are pressed."""
        return tuple(self._down)

    def press(self, key: str, timeout: float = float(KEY_TIMEOUT)) -> None:
        """Press a key, or keep it down.

        Args:
            key: Name of the key.
            timeout: Simulated time without another press after which all keys are released, s.
        """
        does = self.keys[key]
        self.watchdog.expected_frequency = 1 / Fraction(timeout)
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
        """Release a key; a key that is not pressed is ignored."""
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
        """Release all keys."""
        for key in self.down:
            self.release(key)

    def _hold(self, name: str) -> None:
        target = self._target(name)
        down = [self.keys[key].commands for key in self._down if self.keys[key].mode == "hold"]
        held = [commands[name] for commands in down if name in commands]
        if isinstance(target, Setpoint) and not held:  # reset it for any owner, so that no stale value stays
            target.set(target.reset_value)
        else:
            self._command(name, target.reset_value + sum(held))

    def _step(self, name: str, value: float) -> None:
        target = self._target(name)
        self._command(name, target.after_step(value) if isinstance(target, Setpoint) else target.setpoint + value)

    def _toggle(self, name: str, value: float) -> None:
        target = self._target(name)
        low, high = target.limits
        is_set = isclose(target.setpoint, min(max(value, low), high), rel_tol=1e-9, abs_tol=1e-9)
        self._command(name, target.reset_value if is_set else value)

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
        frequency = self.watchdog.expected_frequency
        timeout = [str(frequency)] if self._down and frequency != 1 / KEY_TIMEOUT else []
        return json.dumps([self._down, self.watchdog.state().decode(), *timeout]).encode()

    def set_state(self, state: bytes) -> None:
        self._down, watchdog, *timeout = json.loads(state)
        self.watchdog.expected_frequency = Fraction(timeout[0]) if timeout else 1 / KEY_TIMEOUT
        self.watchdog.set_state(watchdog.encode())
