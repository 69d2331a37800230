"""What pages may ask for: each operation is checked data that knows what to put into the inbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from skerry.commands import (
    AskController,
    Delete,
    GiveControl,
    GiveGoal,
    Halt,
    LoadWorld,
    Move,
    Operate,
    Pause,
    Reset,
    Restore,
    SendPacket,
    SetSpeed,
    Spawn,
    Step,
    TakeSnapshot,
    TriggerSensor,
)
from skerry.core.config import Config, Positive, Vector3
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.interfaces.recorder.commands import StartRecording, StopRecording
from skerry.interfaces.recorder.player import Seek
from skerry.parts.interface import Command
from skerry.scenario.loading import shipped_scenarios
from skerry.ui.page import MOST_SNAPSHOTS, Page
from skerry.ui.scene import takes_waypoints
from skerry.world import Robot

if TYPE_CHECKING:
    from skerry.ui.hub import Stage

Name = Annotated[str, Field(min_length=1, max_length=200)]
MOST_STEPS: Final = 10_000
USUAL_SPEED: Final = 1.0  # m/s at which a vehicle goes to a place that was clicked


@dataclass(frozen=True)
class Desk:
    """Who asks, and what there is to ask."""

    client: str
    stage: Stage
    page: Page
    put: Callable[[Command], Awaitable[Any]]

    def robot(self, name: str) -> Robot:
        """A robot that nobody else drives."""
        robot: Robot = self.page.world.robots[name]
        self.stage.leases.check(name, self.client)
        return robot


class Operation(Config):
    """One thing that a page asks for; its `op` is the word that it is asked by."""

    op: str
    id: int | str | None = Field(None, description="comes back with the result")

    async def do(self, desk: Desk) -> Any:
        """Do it; gives the result, or raises an error in words."""
        raise NotImplementedError


# ------------------------------------------------------------------------------------------------ driving


class Lease(Operation):
    """Take or give back the right to drive a robot."""

    op: Literal["lease"]
    robot: Name
    take: bool

    async def do(self, desk: Desk) -> None:
        desk.page.world.robots[self.robot]
        if self.take:
            desk.stage.leases.take(self.robot, desk.client)
        elif desk.stage.leases.release(self.robot, desk.client):
            desk.stage.let_go(self.robot)
        desk.stage.show_state()


class Keys(Operation):
    """Hold keys down, and let go of all others."""

    op: Literal["keys"]
    robot: Name
    held: tuple[Name, ...] = Field(max_length=32)
    seq: int = 0

    async def do(self, desk: Desk) -> None:
        robot = desk.robot(self.robot)
        for key in self.held:
            robot.keys[key]
        desk.stage.hold(desk.client, self.robot, tuple(dict.fromkeys(self.held)))


class Source(Operation):
    """Say who commands a robot's actuators."""

    op: Literal["source"]
    robot: Name
    source: Name

    async def do(self, desk: Desk) -> None:
        desk.robot(self.robot)
        if self.source != "manual":
            desk.stage.let_go(self.robot)
        await desk.put(GiveControl(self.robot, self.source))


class Actuate(Operation):
    """Command an actuator by hand."""

    op: Literal["actuate"]
    robot: Name
    actuator: Name
    value: dict[Name, float] = Field(max_length=8)

    async def do(self, desk: Desk) -> None:
        desk.robot(self.robot).actuators[self.actuator]
        await desk.put(Operate(self.robot, self.actuator, self.value))


class Stop(Operation):
    """Take a robot in hand and stop all that it does."""

    op: Literal["stop"]
    robot: Name

    async def do(self, desk: Desk) -> None:
        desk.robot(self.robot)
        desk.stage.let_go(self.robot)
        await desk.put(Halt(self.robot))


class Winch(Operation):
    """Wind a winch, or let go of what hangs on it."""

    op: Literal["winch"]
    robot: Name
    winch: Name
    target: float | None = Field(None, description="m of rope that shall be out")
    speed: float | None = Field(None, ge=0, description="m/s")
    release: bool = False

    async def do(self, desk: Desk) -> None:
        desk.robot(self.robot).actuators[self.winch]
        given = {"length": self.target, "speed": self.speed, "release": 1.0 if self.release else None}
        value = {word: number for word, number in given.items() if number is not None}
        if not value:
            raise SkerryError("a winch is told a `target`, m, a `speed`, m/s, or to `release`")
        await desk.put(Operate(self.robot, self.winch, value))


class Waypoint(Operation):
    """Send a robot somewhere; its controller gets control."""

    op: Literal["waypoint"]
    robot: Name
    position: Vector3
    tolerance: Positive | None = Field(None, description="m; the controller's own by default")
    speed: Positive = Field(USUAL_SPEED, description="m/s, of controllers that want to be told")
    controller: Name | None = Field(None, description="the first that goes to places by default")

    async def do(self, desk: Desk) -> None:
        robot = desk.robot(self.robot)
        able = [name for name, each in robot.controllers.items() if takes_waypoints(each)]
        name = self.controller or next(iter(able), None)
        if name is None or name not in able:
            raise SkerryError(
                f"{self.robot}: no controller {name or ''} that goes to places; there are {able or 'none'}"
            )
        desk.stage.let_go(self.robot)
        x, y, z = self.position
        if hasattr(robot.controllers[name], "go_to"):
            await desk.put(AskController(self.robot, name, "go_to", {"position": (x, y, z)}))
            await desk.put(GiveControl(self.robot, f"controller/{name}"))
            return
        arguments: dict[str, Any] = {"position": (x, y), "speed": self.speed}
        if robot.vehicle.config.controllers[name].loops.depth is not None:
            arguments["depth"] = max(-z, 0.0)
        if self.tolerance is not None:
            arguments["tolerance"] = self.tolerance
        await desk.put(GiveGoal(self.robot, name, arguments))


class Leak(Operation):
    """Let a robot leak, or set off another alarm."""

    op: Literal["leak"]
    robot: Name
    sensor: Name | None = Field(None, description="the first that can be set off by default")

    async def do(self, desk: Desk) -> None:
        settings = desk.robot(self.robot).vehicle.config.sensors
        alarms = [name for name, part in settings.items() if part.can_be_triggered]
        name = self.sensor or next(iter(alarms), None)
        if name is None or name not in alarms:
            raise SkerryError(f"{self.robot}: no sensor {name or ''} that can be set off; there are {alarms or 'none'}")
        await desk.put(TriggerSensor(self.robot, name))


class Acoustic(Operation):
    """Send text through the water."""

    op: Literal["acoustic"]
    robot: Name
    transceiver: Name
    text: str = Field(max_length=4096)
    to: Name | None = None

    async def do(self, desk: Desk) -> None:
        parts = desk.robot(self.robot).acoustics
        if not hasattr(parts[self.transceiver], "write"):
            raise SkerryError(f"{self.robot}/{self.transceiver} sends no packets")
        await desk.put(SendPacket(self.robot, self.transceiver, self.text, self.to))


class Teleport(Operation):
    """Put a robot or an object somewhere else."""

    op: Literal["teleport"]
    name: Name
    position: Vector3
    orientation: tuple[float, float, float, float] | None = None

    async def do(self, desk: Desk) -> None:
        if self.name in desk.page.world.robots:
            desk.robot(self.name)
        if self.orientation is not None and sum(part * part for part in self.orientation) < 1e-6:
            raise SkerryError("an orientation is a quaternion x, y, z, w, and not zero")
        await desk.put(Move(self.name, self.position, self.orientation))


class SpawnThing(Operation):
    """Let a robot or an object come into the world."""

    op: Literal["spawn"]
    name: Name
    settings: dict[str, Any] = Field(description="as in a scenario's file; a robot has a `vehicle`")

    async def do(self, desk: Desk) -> None:
        await desk.put(Spawn(self.name, self.settings))


class DeleteThing(Operation):
    """Take a robot or an object out of the world."""

    op: Literal["delete"]
    name: Name

    async def do(self, desk: Desk) -> None:
        if self.name in desk.page.world.robots:
            desk.robot(self.name)
        await desk.put(Delete(self.name))


# ------------------------------------------------------------------------------------------------ the run


class PauseRun(Operation):
    """Stand still."""

    op: Literal["pause"]

    async def do(self, desk: Desk) -> None:
        await desk.put(Pause(True))


class Resume(Operation):
    """Go on."""

    op: Literal["resume"]

    async def do(self, desk: Desk) -> None:
        await desk.put(Pause(False))


class StepRun(Operation):
    """Pause, and make some steps."""

    op: Literal["step"]
    n: int = Field(1, ge=1, le=MOST_STEPS)

    async def do(self, desk: Desk) -> None:
        await desk.put(Step(self.n))


class Rate(Operation):
    """Set the pace."""

    op: Literal["rate"]
    x: float | None = Field(ge=0.01, le=1000, description="simulated seconds per second; null is as fast as it goes")

    async def do(self, desk: Desk) -> None:
        await desk.put(SetSpeed(self.x))


class ResetRun(Operation):
    """Go back to the beginning, or begin anew with another seed."""

    op: Literal["reset"]
    seed: int | None = Field(None, ge=0, lt=2**63)

    async def do(self, desk: Desk) -> None:
        if self.seed is None or self.seed == desk.page.world.scenario.seed:
            await desk.put(Reset())
        else:
            await desk.put(LoadWorld(None, self.seed))


class LoadScenario(Operation):
    """Run another scenario."""

    op: Literal["scenario"]
    scenario: Name = Field(alias="load")
    seed: int | None = Field(None, ge=0, lt=2**63)

    async def do(self, desk: Desk) -> None:
        known = shipped_scenarios()
        if self.scenario not in known:
            raise UnknownName(f"there is no scenario {self.scenario!r}; {did_you_mean(self.scenario, known)}")
        await desk.put(LoadWorld(self.scenario, self.seed))


class Record(Operation):
    """Begin or end a recording."""

    op: Literal["rec"]
    on: bool

    async def do(self, desk: Desk) -> Any:
        if not self.on:
            await desk.put(StopRecording())
            return None
        path = desk.stage.new_recording(desk.page.world.scenario.name)
        await desk.put(StartRecording(str(path)))
        return {"path": str(path)}


class KeepSnapshot(Operation):
    """Keep the world as it is, under a name."""

    op: Literal["snapshot"]
    name: Annotated[str, Field(min_length=1, max_length=60)]

    async def do(self, desk: Desk) -> None:
        kept = desk.page.snapshots
        if self.name not in kept and len(kept) >= MOST_SNAPSHOTS:
            raise SkerryError(f"{MOST_SNAPSHOTS} snapshots are kept already; give the name of one to replace it")
        snapshot = await desk.put(TakeSnapshot())
        if self.name in kept or len(kept) < MOST_SNAPSHOTS:
            desk.page.snapshots = {**kept, self.name: snapshot}
            await desk.stage.next_state()


class RestoreSnapshot(Operation):
    """Go back to a snapshot."""

    op: Literal["restore"]
    name: Annotated[str, Field(min_length=1, max_length=60)]

    async def do(self, desk: Desk) -> None:
        kept = desk.page.snapshots
        if self.name not in kept:
            raise UnknownName(f"there is no snapshot {self.name!r}; {did_you_mean(self.name, kept)}")
        await desk.put(Restore(kept[self.name]))


class SeekReplay(Operation):
    """Go to a time of the recording that is replayed."""

    op: Literal["seek"]
    t: float = Field(ge=0, description="s of the recording")

    async def do(self, desk: Desk) -> None:
        await desk.put(Seek(self.t))


IN_REPLAY: Final = (PauseRun, Resume, StepRun, Rate, SeekReplay)
"""What may be asked of a recording; all else would make another run of it."""

# ------------------------------------------------------------------------------------------------ reading


def _all(base: type[Operation]) -> Iterator[type[Operation]]:
    for found in base.__subclasses__():
        yield found
        yield from _all(found)


OPERATIONS: Final = {found.model_fields["op"].annotation.__args__[0]: found for found in _all(Operation)}  # type: ignore[union-attr]


def read_operation(data: Any) -> Operation:
    """The operation that a message means; an error says what is wrong with it."""
    if not isinstance(data, dict) or not isinstance(data.get("op"), str):
        raise SkerryError('a message is an object with an `op`, such as {"op": "pause"}')
    kind = OPERATIONS.get(data["op"])
    if kind is None:
        raise UnknownName(f"there is no op {data['op'][:40]!r}; {did_you_mean(data['op'][:40], OPERATIONS)}")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(word) for word in first["loc"]) or data["op"]
        raise SkerryError(f"{data['op']}: `{place[:60]}`: {first['msg']}") from None
