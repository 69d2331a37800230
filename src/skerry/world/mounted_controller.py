"""Controllers in the world: schedule, view and actuators of each, and the choice between Python and the native loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from skerry.core.clock import Rate
from skerry.parts.controller import Controller
from skerry.parts.native_controller import NativeController
from skerry.parts.ownership import commanding_as
from skerry.physics.engine import Engine
from skerry.world.robot import Robot
from skerry.world.sampling.sample_view import RobotSampleView


@dataclass(frozen=True)
class MountedController:
    """Controller of a robot, with its rate and its view of the live state."""

    name: str
    controller: Controller
    rate: Rate
    view: RobotSampleView
    robot: Robot

    def act_if_due(self, tick: int) -> None:
        """Run the controller in Python if it is due at this tick and not idle."""
        if not self.controller.idle and self.rate.is_due(tick):
            robot = self.robot
            with commanding_as(self._command_source):
                self.controller.act(self.view, robot.sensors, robot.actuators)

    def native(self) -> tuple[Rate, NativeController] | None:
        """Return the rate and the law for the native loop; None if the controller must run in Python.

        The native loop can run it only if the controller owns all its actuators and no watchdog is active on them.
        """
        robot = self.robot
        law = self.controller.native_controller(self.view, robot.actuators)
        if law is None or not law.has_command_slots:
            return None
        source = self._command_source
        for actuator in law.actuators:
            if actuator.owner != source or actuator.watchdog.is_active:
                return None
        return self.rate, law

    @property
    def _command_source(self) -> str:
        # While keys steer the controller, its commands count as manual commands.
        return "manual" if self.robot.keyboard.controls(self.name) else self.source

    @cached_property
    def source(self) -> str:
        """Source name of the controller's commands."""
        return f"controller/{self.name}"


def run_controllers(controllers: Sequence[MountedController], engine: Engine, tick: int) -> list[MountedController]:
    """Run the controllers that are due in Python, and pass the others to the native loop.

    Returns:
        The controllers that must run in Python again when they are next due.
    """
    native = {}
    for mounted in controllers:
        if not mounted.controller.idle:
            if (entry := mounted.native()) is not None:
                native[id(mounted)] = entry
            else:
                mounted.act_if_due(tick)
    engine.set_controllers([*native.values()])
    # `idle` is read again, because one controller may have started another
    return [other for other in controllers if id(other) not in native and not other.controller.idle]
