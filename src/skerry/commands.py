"""Commands: requests of interfaces as data. The runner executes each command between two physics steps.

All commands are defined here. A recording stores a command by its class name and its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from skerry.control.hold import EXTERNAL_OWNER
from skerry.control.manual.keyboard import KEY_TIMEOUT
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.parts.acoustics import CanWrite
from skerry.parts.controller import CanReachGoal, CanStop
from skerry.parts.interface import INTERFACES, Command, RecordingInterface, ReplayInterface
from skerry.parts.ownership import commanding_as
from skerry.runner import Runner

RECORDER: Final = "recorder"
"""Name of the interface that `StartRecording` adds, and kind of its settings; `skerry run --record` uses it too."""


@dataclass(frozen=True)
class Actuate(Command):
    """Command an actuator by its keyword, from an external interface; the result is whether it was accepted.

    A `held` command does not start the watchdog of the actuator; any other command must be repeated.
    """

    robot: str
    actuator: str
    value: Mapping[str, float]
    held: bool = False

    def apply(self, run: Runner) -> bool:
        actuator = run.world.robots[self.robot].actuators[self.actuator]
        accepted: bool = actuator.receive(**self.value)
        if accepted and self.held:
            actuator.watchdog.release()
        return accepted


@dataclass(frozen=True)
class ActuateTogether(Command):
    """Command several actuators of a robot in the same step, from an external interface."""

    robot: str
    values: Mapping[str, Mapping[str, float]]  # by actuator, then by its keyword

    def apply(self, run: Runner) -> None:
        actuators = run.world.robots[self.robot].actuators
        for name, value in self.values.items():
            actuators[name].receive(**value)


@dataclass(frozen=True)
class Teleport(Command):
    """Move a robot or an object to a position, with a velocity in m/s (ENU). Without `orientation` it does not turn."""

    name: str
    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float] | None = None
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @classmethod
    def to(cls, name: str, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Self:
        """Return the command that moves to a pose."""
        (x, y, z), (i, j, k, w) = pose.position.tolist(), pose.orientation.tolist()
        return cls(name, (x, y, z), (i, j, k, w), velocity)

    def apply(self, run: Runner) -> None:
        world = run.world
        tree = dict.get(world.robots, self.name) or dict.get(world.objects, self.name)
        orientation = self.orientation or (Pose.identity() if tree is None else tree.pose).orientation
        world.teleport(self.name, Pose(self.position, orientation), self.velocity)


@dataclass(frozen=True)
class Spawn(Command):
    """Add a robot or an object to the world, with settings as in a scenario file."""

    name: str
    settings: Mapping[str, Any]

    def apply(self, run: Runner) -> None:
        run.world.spawn(self.name, self.settings)


@dataclass(frozen=True)
class Delete(Command):
    """Remove a robot or an object from the world."""

    name: str

    def apply(self, run: Runner) -> None:
        run.world.delete(self.name)


@dataclass(frozen=True)
class GiveGoal(Command):
    """Give a goal to a controller, and control over the actuators until the goal is reached or cancelled."""

    robot: str
    controller: str
    arguments: Mapping[str, Any]

    def apply(self, run: Runner) -> None:
        robot = run.world.robots[self.robot]
        controller = robot.controllers[self.controller]
        if not isinstance(controller, CanReachGoal):
            raise SkerryError(f"{self.robot}/{self.controller} accepts no goals; use a `waypoint` controller")
        controller.goal(**self.arguments)
        controller.return_owner = EXTERNAL_OWNER
        robot.control = f"controller/{self.controller}"


@dataclass(frozen=True)
class CallController(Command):
    """Call a method of a controller. The actuators follow only if the controller has control."""

    robot: str
    controller: str
    method: str
    arguments: Mapping[str, Any]

    def apply(self, run: Runner) -> None:
        getattr(run.world.robots[self.robot].controllers[self.controller], self.method)(**self.arguments)


@dataclass(frozen=True)
class TriggerSensor(Command):
    """Trigger the alarm of a sensor, for example a leak."""

    robot: str
    sensor: str

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].sensors[self.sensor].trigger()


@dataclass(frozen=True)
class SwitchSensor(Command):
    """Switch a sensor on or off."""

    robot: str
    sensor: str
    on: bool

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].sensors[self.sensor].on = self.on


@dataclass(frozen=True)
class Pause(Command):
    """Pause or resume the run."""

    changes_world = False

    paused: bool

    def apply(self, run: Runner) -> None:
        if self.paused:
            run.pause()
        else:
            run.resume()


@dataclass(frozen=True)
class Step(Command):
    """Pause the run after this number of further steps."""

    changes_world = False

    steps: int = 1

    def apply(self, run: Runner) -> None:
        run.step(self.steps)


@dataclass(frozen=True)
class SetSpeed(Command):
    """Set the speed: simulated seconds per second of wall time; None for as fast as possible."""

    changes_world = False

    speed: float | None

    def apply(self, run: Runner) -> None:
        run.speed = self.speed


@dataclass(frozen=True)
class Reset(Command):
    """Return to the start of the run."""

    def apply(self, run: Runner) -> None:
        run.reset()


@dataclass(frozen=True)
class Stop(Command):
    """End the run."""

    def apply(self, run: Runner) -> None:
        run.stop()


@dataclass(frozen=True)
class TakeSnapshot(Command):
    """Take a snapshot of the world; the result is the `Snapshot`."""

    changes_world = False

    def apply(self, run: Runner) -> Any:
        return run.world.snapshot()


@dataclass(frozen=True)
class Restore(Command):
    """Restore a snapshot."""

    snapshot: Any

    def apply(self, run: Runner) -> None:
        run.restore(self.snapshot)


@dataclass(frozen=True)
class HoldKeys(Command):
    """Hold exactly these keys of a robot. Send it repeatedly while the keys are held."""

    robot: str
    keys: tuple[str, ...]
    timeout: float = float(KEY_TIMEOUT)  # simulated time without another command after which they are released, s

    def apply(self, run: Runner) -> None:
        keyboard = run.world.robots[self.robot].keyboard
        for key in keyboard.down:
            if key not in self.keys:
                keyboard.release(key)
        for key in self.keys:
            keyboard.press(key, self.timeout)


@dataclass(frozen=True)
class GiveControl(Command):
    """Give all actuators of a robot to a source: manual, external, api, controller or "controller/name"."""

    robot: str
    source: str

    def apply(self, run: Runner) -> None:
        run.world.robots[self.robot].control = self.source


@dataclass(frozen=True)
class Operate(Command):
    """Command an actuator by hand, as keys do; fails with an error if another source has control."""

    robot: str
    actuator: str
    value: Mapping[str, float]

    def apply(self, run: Runner) -> None:
        actuator = run.world.robots[self.robot].actuators[self.actuator]
        with commanding_as("manual"):
            accepted = actuator.command(**self.value)
        if not accepted:
            raise SkerryError(
                f"{self.robot}/{self.actuator}: {actuator.owner} has control; give control to `manual` first"
            )


@dataclass(frozen=True)
class Halt(Command):
    """Stop a robot and take manual control: release keys, stop controllers, and reset all actuators."""

    robot: str

    def apply(self, run: Runner) -> None:
        robot = run.world.robots[self.robot]
        robot.keyboard.release_all()
        robot.control = "manual"
        for controller in robot.controllers.values():
            if isinstance(controller, CanStop):
                controller.stop()
        for actuator in robot.actuators.values():
            actuator.watchdog.release()
            actuator.reset()


@dataclass(frozen=True)
class SendPacket(Command):
    """Send text with an acoustic transceiver of a robot, to "robot/part" or as a broadcast."""

    robot: str
    transceiver: str
    text: str
    to: str | None = None

    def apply(self, run: Runner) -> None:
        part = run.world.robots[self.robot].acoustics[self.transceiver]
        if not isinstance(part, CanWrite):
            raise SkerryError(f"{self.robot}/{self.transceiver} cannot send text; only acoustic modems can")
        part.write(self.text, self.to)


@dataclass(frozen=True)
class LoadWorld(Command):
    """End this run and continue with another world: another scenario, or the same scenario with another seed."""

    changes_world = False  # this world ends

    scenario: str | None = None  # None for the present scenario
    seed: int | None = None  # None for the seed of the scenario

    def apply(self, run: Runner) -> None:
        run.load(self.scenario, self.seed)


@dataclass(frozen=True)
class StartRecording(Command):
    """Start a recording to a new file; it begins with a snapshot, from which a replay starts."""

    changes_world = False

    path: str

    def apply(self, run: Runner) -> None:
        if found := _recorders(run):
            raise SkerryError(f"the interface {found[0]!r} already records; stop that recording first")
        kind: Any = INTERFACES.find(RECORDER)
        recorder: RecordingInterface = kind(path=Path(self.path)).build()
        run.add_interface(RECORDER, recorder)
        recorder.start_from(run.world.snapshot())


@dataclass(frozen=True)
class StopRecording(Command):
    """Stop all recordings."""

    changes_world = False

    def apply(self, run: Runner) -> None:
        found = _recorders(run)
        if not found:
            raise SkerryError("no recording is running")
        for name in found:
            run.remove_interface(name)


def _recorders(run: Runner) -> list[str]:
    """Return the names of the interfaces that record."""
    return [name for name, interface in run.interfaces.items() if isinstance(interface, RecordingInterface)]


@dataclass(frozen=True)
class Seek(Command):
    """Go to a time of the recording that is replayed, s."""

    seconds: float

    def apply(self, run: Runner) -> None:
        players = [interface for interface in run.interfaces.values() if isinstance(interface, ReplayInterface)]
        if not players:
            raise SkerryError("this run is not a replay; only a replay can seek")
        players[0].seek(run, self.seconds)
