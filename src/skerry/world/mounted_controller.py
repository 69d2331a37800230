"""A controller in the world: when it is due, what it may see, and whether it acts in Python or in the native loop."""

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
from skerry.world.sampling.sensor_view import RobotSampleView


@dataclass(frozen=True)
class MountedController:
    """A controller with its rate and what it may see and command."""

    name: str
    controller: Controller
    rate: Rate
    sample: RobotSampleView
    robot: Robot

    def act_if_due(self, tick: int) -> None:
        if not self.controller.idle and self.rate.is_due(tick):
            robot = self.robot
            with commanding_as(self._source):
                self.controller.act(self.sample, robot.sensors, robot.actuators)

    def acting(self) -> tuple[Rate, NativeController] | None:
        """How it acts inside the native loop from now on; None if it must act in Python, as others have control."""
        robot = self.robot
        reflex = self.controller.reflex(self.sample, robot.actuators)
        if reflex is None or not reflex.has_command_slots:
            return None
        speaker = self._source
        for actuator in reflex.actuators:
            if actuator.owner != speaker or actuator.watchdog.waits:
                return None
        return self.rate, reflex

    @property
    def _source(self) -> str:
        # what the keys turn is their instrument, and is heard where they are
        return "manual" if self.robot.keyboard.controls(self.name) else self.speaker

    @cached_property
    def speaker(self) -> str:
        """As which it commands."""
        return f"controller/{self.name}"


def let_act(controllers: Sequence[MountedController], engine: Engine, tick: int) -> list[MountedController]:
    """Let the controllers act that are due, or do it inside the loop; give those who must be come back to."""
    acting = {}
    for mounted in controllers:
        if not mounted.controller.idle:
            if (entry := mounted.acting()) is not None:
                acting[id(mounted)] = entry
            else:
                mounted.act_if_due(tick)
    engine.let_act([*acting.values()])
    # asked again, as one may have woken up another
    return [other for other in controllers if id(other) not in acting and not other.controller.idle]
