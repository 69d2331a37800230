"""Commands: what peers may ask for, as data; each is done between two steps of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skerry.control.hold import EXTERNAL_OWNER
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.parts.interface import Command
from skerry.parts.ownership import commanding_as
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
        robot.controllers[self.controller].return_owner = EXTERNAL_OWNER
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


@dataclass(frozen=True)
class HoldKeys(Command):
    """Have these keys of a robot down, and no others; to be said again and again while they are held."""

    robot: str
    keys: tuple[str, ...]

    def apply(self, run: Runner) -> None:
        keyboard = run.world.robots[self.robot].keyboard
        for key in keyboard.down:
            if key not in self.keys:
                keyboard.release(key)
        for key in self.keys:
            keyboard.press(key)


@dataclass(frozen=True)
class GiveControl(Command):
    """Give all actuators of a robot to a source: manual, external, api, controller or "controller/name"."""

    robot: str
    source: str

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].control = self.source


@dataclass(frozen=True)
class Operate(Command):
    """Command an actuator by hand, as keys do; refused, in words, where another source has control."""

    robot: str
    actuator: str
    value: Mapping[str, float]

    def apply(self, run: Runner) -> None:
        actuator = run.world.robots[self.robot].actuators[self.actuator]
        with commanding_as("manual"):
            heard = actuator.command(**self.value)
        if not heard:
            raise SkerryError(
                f"{self.robot}/{self.actuator}: {actuator.owner} has control; give it to `manual` to command by hand"
            )


@dataclass(frozen=True)
class Halt(Command):
    """Take a robot in hand: keys up, controllers stopped that can be, all actuators at their reset values."""

    robot: str

    def apply(self, run: Runner) -> None:
        robot = run.world.robots[self.robot]
        robot.keyboard.release_all()
        robot.control = "manual"
        for controller in robot.controllers.values():
            if hasattr(controller, "stop"):
                controller.stop()
        for actuator in robot.actuators.values():
            actuator.watchdog.release()
            actuator.reset()


@dataclass(frozen=True)
class Move(Command):
    """Put a robot or an object somewhere else, at rest, turned as it is unless an orientation is given."""

    name: str
    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float] | None = None

    def apply(self, run: Runner) -> None:
        world = run.world
        tree = dict.get(world.robots, self.name) or dict.get(world.objects, self.name)
        turn = self.orientation or (Pose.identity() if tree is None else tree.pose).orientation
        world.teleport(self.name, Pose(self.position, turn))


@dataclass(frozen=True)
class SendPacket(Command):
    """Let an acoustic transceiver of a robot send text, to "robot/part" or to everybody."""

    robot: str
    transceiver: str
    text: str
    to: str | None = None

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].acoustics[self.transceiver].write(self.text, self.to)


@dataclass(frozen=True)
class LoadWorld(Command):
    """End this run, and let another world be run in its place: of another scenario, or the same with another seed."""

    changes_world = False  # this world does not go on at all

    scenario: str | None = None  # the same by default
    seed: int | None = None  # the scenario's own by default

    def apply(self, run: Runner) -> None:
        run.load(self.scenario, self.seed)
