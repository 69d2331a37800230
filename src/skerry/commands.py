"""Commands: what peers may ask for, as data; each is done between two steps of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skerry.control.hold import OUTSIDE
from skerry.core.frames import Pose
from skerry.parts.interface import Command
from skerry.runner import Runner


@dataclass(frozen=True)
class Actuate(Command):
    """Command an actuator, by its own keyword, from outside; says whether it was heard.

    One that is `held` holds until the next; otherwise the actuator's watchdog awaits others.
    """

    robot: str
    actuator: str
    value: Mapping[str, float]
    held: bool = False

    def apply(self, run: Runner) -> bool:
        actuator = run.world.robots[self.robot].actuators[self.actuator]
        heard: bool = actuator.receive(**self.value)
        if heard and self.held:
            actuator.watchdog.release()
        return heard


@dataclass(frozen=True)
class Teleport(Command):
    """Put a robot or an object somewhere else, at rest or moving, m/s in the world's axes."""

    name: str
    pose: Pose
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def apply(self, run: Runner) -> None:
        run.world.teleport(self.name, self.pose, self.velocity)


@dataclass(frozen=True)
class Spawn(Command):
    """Let a robot or an object come into the world, with settings as in a scenario's file."""

    name: str
    settings: Mapping[str, Any]

    def apply(self, run: Runner) -> None:
        run.world.spawn(self.name, self.settings)


@dataclass(frozen=True)
class Delete(Command):
    """Take a robot or an object out of the world."""

    name: str

    def apply(self, run: Runner) -> None:
        run.world.delete(self.name)


@dataclass(frozen=True)
class GiveGoal(Command):
    """Give a controller that knows goals one, and the robot's actuators with it, until there is nothing left to do."""

    robot: str
    controller: str
    arguments: Mapping[str, Any]

    def apply(self, run: Runner) -> None:
        robot = run.world.robots[self.robot]
        robot.controllers[self.controller].goal(**self.arguments)
        robot.controllers[self.controller].lender = OUTSIDE
        robot.control = f"controller/{self.controller}"


@dataclass(frozen=True)
class AskController(Command):
    """Ask something of a controller; it is up to who has control whether its actuators follow."""

    robot: str
    controller: str
    method: str
    arguments: Mapping[str, Any]

    def apply(self, run: Runner) -> None:
        getattr(run.world.robots[self.robot].controllers[self.controller], self.method)(**self.arguments)


@dataclass(frozen=True)
class StopController(Command):
    """Let a controller stop what it does."""

    robot: str
    controller: str

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].controllers[self.controller].stop()


@dataclass(frozen=True)
class TriggerSensor(Command):
    """Let happen what a sensor warns of."""

    robot: str
    sensor: str

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].sensors[self.sensor].sensor.trigger()


@dataclass(frozen=True)
class SwitchSensor(Command):
    """Switch a sensor on or off."""

    robot: str
    sensor: str
    on: bool

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].sensors[self.sensor].on = self.on


@dataclass(frozen=True)
class WriteSound(Command):
    """Let an acoustic part send text to "robot/part", or to everybody."""

    robot: str
    part: str
    data: str
    to: str | None = None

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].acoustics[self.part].write(self.data, self.to)


@dataclass(frozen=True)
class Pause(Command):
    """Stand still, or go on."""

    changes_world = False

    paused: bool

    def apply(self, run: Runner) -> None:
        if self.paused:
            run.pause()
        else:
            run.resume()


@dataclass(frozen=True)
class Step(Command):
    """Pause, and make so many steps."""

    changes_world = False

    steps: int = 1

    def apply(self, run: Runner) -> None:
        run.step(self.steps)


@dataclass(frozen=True)
class SetSpeed(Command):
    """Simulated seconds per second of wall time; None is as fast as it goes."""

    changes_world = False

    speed: float | None

    def apply(self, run: Runner) -> None:
        run.speed = self.speed


@dataclass(frozen=True)
class Reset(Command):
    """Go back to the beginning."""

    def apply(self, run: Runner) -> None:
        run.reset()


@dataclass(frozen=True)
class Stop(Command):
    """End the run."""

    def apply(self, run: Runner) -> None:
        run.stop()


@dataclass(frozen=True)
class TakeSnapshot(Command):
    """All of the world's state."""

    changes_world = False

    def apply(self, run: Runner) -> Any:
        return run.world.snapshot()


@dataclass(frozen=True)
class Restore(Command):
    """Go to a snapshot."""

    snapshot: Any

    def apply(self, run: Runner) -> None:
        run.restore(self.snapshot)
