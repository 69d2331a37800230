"""A controller whose law is native: it acts inside the loop while it owns its actuators, and from Python while not."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller
from skerry.parts.native_controller import NativeController, NativeView


class NativeLawController(Controller):
    """Acts by its reflex, which it makes when it first needs it, and anew when what it reads lies elsewhere."""

    def __init__(self) -> None:
        self._active = True
        self._native: NativeController | None = None

    @property
    def idle(self) -> bool:
        """Whether it leaves its actuators alone."""
        return not self._active

    def engage(self) -> None:
        """Command the actuators again."""
        self._active = True

    def release(self) -> None:
        """Leave the actuators to others."""
        self._active = False

    def native_controller(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController | None:
        return self._prepared(view, actuators)

    def act(self, sample: Any, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        native_controller = self._prepared(sample, actuators)
        answers = zip(native_controller.actuators, native_controller.compute(), strict=True)
        heard = [actuator.command(**{actuator.keyword: value}) for actuator, value in answers]
        if not all(heard):
            self._on_command_refused()

    def _prepared(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        if self._native is None:
            self._native = self._prepare(view, actuators)
        return self._native

    def _on_command_refused(self) -> None:
        """Somebody else has some of its actuators."""

    @abstractmethod
    def _prepare(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        """Its reflex, for the world that it is in."""
