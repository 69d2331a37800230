"""Controller with a native law: the native loop runs it while it owns its actuators, and Python does otherwise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller
from skerry.parts.native_controller import NativeController, NativeView


class NativeLawController(Controller):
    """Base of controllers with a native law.

    The `NativeController` is built on first use of a view and kept in `_native`. A derived class sets `_native` to None
    when the addresses in its table have changed.
    """

    def __init__(self) -> None:
        self._active = True
        self._native: NativeController | None = None

    @property
    def idle(self) -> bool:
        """Whether it is released and does not command its actuators."""
        return not self._active

    def engage(self) -> None:
        """Command the actuators again."""
        self._active = True

    def release(self) -> None:
        """Stop commanding the actuators."""
        self._active = False

    def native_controller(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController | None:
        return self._prepared(view, actuators)

    def act(self, sample: Any, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        native = self._prepared(sample, actuators)
        commands = zip(native.actuators, native.compute(), strict=True)
        accepted = [actuator.command(**{actuator.keyword: value}) for actuator, value in commands]
        if not all(accepted):
            self._on_command_refused()

    def _prepared(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        if self._native is None or self._native.view is not view:  # a rebuilt world has other views
            self._native = self._prepare(view, actuators)
        return self._native

    def _on_command_refused(self) -> None:
        """Handle that an actuator with another owner has refused a command; does nothing by default."""

    @abstractmethod
    def _prepare(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        """Build the native law for the world of `view`."""
