"""What pages may ask for: each request is checked data that knows what to put into the inbox."""

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
from skerry.ui.page import MAX_SNAPSHOTS, Page
from skerry.ui.scene import takes_waypoints
from skerry.world import Robot

if TYPE_CHECKING:
    from skerry.ui.hub import Hub

Name = Annotated[str, Field(min_length=1, max_length=200)]
MAX_STEPS: Final = 10_000
DEFAULT_SPEED: Final = 1.0  # m/s at which a vehicle goes to a place that was clicked


@dataclass(frozen=True)
class RequestContext:
    """Who asks, and what there is to ask."""

    client: str
    hub: Hub
    page: Page
    put: Callable[[Command], Awaitable[Any]]

    def robot(self, name: str) -> Robot:
        """A robot that nobody else drives."""
        robot: Robot = self.page.world.robots[name]
        self.hub.drive_locks.check(name, self.client)
        return robot


class PageRequest(Config):
    """One thing that a page asks for; its `op` is the word that it is asked by."""

    op: str
    id: int | str | None = Field(None, description="comes back with the result")

    async def execute(self, context: RequestContext) -> Any:
        """Do it; gives the result, or raises an error in words."""
        raise NotImplementedError


# ------------------------------------------------------------------------------------------------ driving


class DriveLockRequest(PageRequest):
    """Take or give back the right to drive a robot."""

    op: Literal["lease"]
    robot: Name
    take: bool

    async def execute(self, context: RequestContext) -> None:
        context.page.world.robots[self.robot]
        if self.take:
            context.hub.drive_locks.acquire(self.robot, context.client)
        elif context.hub.drive_locks.release(self.robot, context.client):
            context.hub.release_keys(self.robot)
        context.hub.send_state()


class KeysRequest(PageRequest):
    """Hold keys down, and let go of all others."""

    op: Literal["keys"]
    robot: Name
    held: tuple[Name, ...] = Field(max_length=32)
    seq: int = 0

    async def execute(self, context: RequestContext) -> None:
        robot = context.robot(self.robot)
        for key in self.held:
            robot.keys[key]
        context.hub.hold_keys(context.client, self.robot, tuple(dict.fromkeys(self.held)))


class SourceRequest(PageRequest):
    """Say who commands a robot's actuators."""

    op: Literal["source"]
    robot: Name
    source: Name

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        if self.source != "manual":
            context.hub.release_keys(self.robot)
        await context.put(GiveControl(self.robot, self.source))


class ActuateRequest(PageRequest):
    """Command an actuator by hand."""

    op: Literal["actuate"]
    robot: Name
    actuator: Name
    value: dict[Name, float] = Field(max_length=8)

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot).actuators[self.actuator]
        await context.put(Operate(self.robot, self.actuator, self.value))


class StopRequest(PageRequest):
    """Take a robot in hand and stop all that it does."""

    op: Literal["stop"]
    robot: Name

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        context.hub.release_keys(self.robot)
        await context.put(Halt(self.robot))


class WinchRequest(PageRequest):
    """Wind a winch, or let go of what hangs on it."""

    op: Literal["winch"]
    robot: Name
    winch: Name
    target: float | None = Field(None, description="m of rope that shall be out")
    speed: float | None = Field(None, ge=0, description="m/s")
    release: bool = False

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot).actuators[self.winch]
        given = {"length": self.target, "speed": self.speed, "release": 1.0 if self.release else None}
        value = {word: number for word, number in given.items() if number is not None}
        if not value:
            raise SkerryError("a winch is told a `target`, m, a `speed`, m/s, or to `release`")
        await context.put(Operate(self.robot, self.winch, value))


class WaypointRequest(PageRequest):
    """Send a robot somewhere; its controller gets control."""

    op: Literal["waypoint"]
    robot: Name
    position: Vector3
    tolerance: Positive | None = Field(None, description="m; the controller's own by default")
    speed: Positive = Field(DEFAULT_SPEED, description="m/s, of controllers that want to be told")
    controller: Name | None = Field(None, description="the first that goes to places by default")

    async def execute(self, context: RequestContext) -> None:
        robot = context.robot(self.robot)
        able = [name for name, each in robot.controllers.items() if takes_waypoints(each)]
        name = self.controller or next(iter(able), None)
        if name is None or name not in able:
            raise SkerryError(
                f"{self.robot}: no controller {name or ''} that goes to places; there are {able or 'none'}"
            )
        context.hub.release_keys(self.robot)
        x, y, z = self.position
        if hasattr(robot.controllers[name], "go_to"):
            await context.put(AskController(self.robot, name, "go_to", {"position": (x, y, z)}))
            await context.put(GiveControl(self.robot, f"controller/{name}"))
            return
        arguments: dict[str, Any] = {"position": (x, y), "speed": self.speed}
        if robot.vehicle.config.controllers[name].loops.depth is not None:
            arguments["depth"] = max(-z, 0.0)
        if self.tolerance is not None:
            arguments["tolerance"] = self.tolerance
        await context.put(GiveGoal(self.robot, name, arguments))


class LeakRequest(PageRequest):
    """Let a robot leak, or set off another alarm."""

    op: Literal["leak"]
    robot: Name
    sensor: Name | None = Field(None, description="the first that can be set off by default")

    async def execute(self, context: RequestContext) -> None:
        settings = context.robot(self.robot).vehicle.config.sensors
        alarms = [name for name, part in settings.items() if part.can_be_triggered]
        name = self.sensor or next(iter(alarms), None)
        if name is None or name not in alarms:
            raise SkerryError(f"{self.robot}: no sensor {name or ''} that can be set off; there are {alarms or 'none'}")
        await context.put(TriggerSensor(self.robot, name))


class AcousticRequest(PageRequest):
    """Send text through the water."""

    op: Literal["acoustic"]
    robot: Name
    transceiver: Name
    text: str = Field(max_length=4096)
    to: Name | None = None

    async def execute(self, context: RequestContext) -> None:
        parts = context.robot(self.robot).acoustics
        if not hasattr(parts[self.transceiver], "write"):
            raise SkerryError(f"{self.robot}/{self.transceiver} sends no packets")
        await context.put(SendPacket(self.robot, self.transceiver, self.text, self.to))


class TeleportRequest(PageRequest):
    """Put a robot or an object somewhere else."""

    op: Literal["teleport"]
    name: Name
    position: Vector3
    orientation: tuple[float, float, float, float] | None = None

    async def execute(self, context: RequestContext) -> None:
        if self.name in context.page.world.robots:
            context.robot(self.name)
        if self.orientation is not None and sum(part * part for part in self.orientation) < 1e-6:
            raise SkerryError("an orientation is a quaternion x, y, z, w, and not zero")
        await context.put(Move(self.name, self.position, self.orientation))


class SpawnRequest(PageRequest):
    """Let a robot or an object come into the world."""

    op: Literal["spawn"]
    name: Name
    settings: dict[str, Any] = Field(description="as in a scenario's file; a robot has a `vehicle`")

    async def execute(self, context: RequestContext) -> None:
        await context.put(Spawn(self.name, self.settings))


class DeleteRequest(PageRequest):
    """Take a robot or an object out of the world."""

    op: Literal["delete"]
    name: Name

    async def execute(self, context: RequestContext) -> None:
        if self.name in context.page.world.robots:
            context.robot(self.name)
        await context.put(Delete(self.name))


# ------------------------------------------------------------------------------------------------ the run


class PauseRequest(PageRequest):
    """Stand still."""

    op: Literal["pause"]

    async def execute(self, context: RequestContext) -> None:
        await context.put(Pause(True))


class ResumeRequest(PageRequest):
    """Go on."""

    op: Literal["resume"]

    async def execute(self, context: RequestContext) -> None:
        await context.put(Pause(False))


class StepRequest(PageRequest):
    """Pause, and make some steps."""

    op: Literal["step"]
    n: int = Field(1, ge=1, le=MAX_STEPS)

    async def execute(self, context: RequestContext) -> None:
        await context.put(Step(self.n))


class RateRequest(PageRequest):
    """Set the pace."""

    op: Literal["rate"]
    x: float | None = Field(ge=0.01, le=1000, description="simulated seconds per second; null is as fast as it goes")

    async def execute(self, context: RequestContext) -> None:
        await context.put(SetSpeed(self.x))


class ResetRequest(PageRequest):
    """Go back to the beginning, or begin anew with another seed."""

    op: Literal["reset"]
    seed: int | None = Field(None, ge=0, lt=2**63)

    async def execute(self, context: RequestContext) -> None:
        if self.seed is None or self.seed == context.page.world.scenario.seed:
            await context.put(Reset())
        else:
            await context.put(LoadWorld(None, self.seed))


class LoadScenarioRequest(PageRequest):
    """Run another scenario."""

    op: Literal["scenario"]
    scenario: Name = Field(alias="load")
    seed: int | None = Field(None, ge=0, lt=2**63)

    async def execute(self, context: RequestContext) -> None:
        known = shipped_scenarios()
        if self.scenario not in known:
            raise UnknownName(f"there is no scenario {self.scenario!r}; {did_you_mean(self.scenario, known)}")
        await context.put(LoadWorld(self.scenario, self.seed))


class RecordRequest(PageRequest):
    """Begin or end a recording."""

    op: Literal["rec"]
    on: bool

    async def execute(self, context: RequestContext) -> Any:
        if not self.on:
            await context.put(StopRecording())
            return None
        path = context.hub.new_recording_path(context.page.world.scenario.name)
        await context.put(StartRecording(str(path)))
        return {"path": str(path)}


class SnapshotRequest(PageRequest):
    """Keep the world as it is, under a name."""

    op: Literal["snapshot"]
    name: Annotated[str, Field(min_length=1, max_length=60)]

    async def execute(self, context: RequestContext) -> None:
        kept = context.page.snapshots
        if self.name not in kept and len(kept) >= MAX_SNAPSHOTS:
            raise SkerryError(f"{MAX_SNAPSHOTS} snapshots are kept already; give the name of one to replace it")
        snapshot = await context.put(TakeSnapshot())
        if self.name in kept or len(kept) < MAX_SNAPSHOTS:
            context.page.snapshots = {**kept, self.name: snapshot}
            await context.hub.wait_for_state()


class RestoreRequest(PageRequest):
    """Go back to a snapshot."""

    op: Literal["restore"]
    name: Annotated[str, Field(min_length=1, max_length=60)]

    async def execute(self, context: RequestContext) -> None:
        kept = context.page.snapshots
        if self.name not in kept:
            raise UnknownName(f"there is no snapshot {self.name!r}; {did_you_mean(self.name, kept)}")
        await context.put(Restore(kept[self.name]))


class SeekRequest(PageRequest):
    """Go to a time of the recording that is replayed."""

    op: Literal["seek"]
    t: float = Field(ge=0, description="s of the recording")

    async def execute(self, context: RequestContext) -> None:
        await context.put(Seek(self.t))


REPLAY_REQUESTS: Final = (PauseRequest, ResumeRequest, StepRequest, RateRequest, SeekRequest)
"""What may be asked of a recording; all else would make another run of it."""

# ------------------------------------------------------------------------------------------------ reading


def _all(base: type[PageRequest]) -> Iterator[type[PageRequest]]:
    for found in base.__subclasses__():
        yield found
        yield from _all(found)


REQUESTS: Final = {found.model_fields["op"].annotation.__args__[0]: found for found in _all(PageRequest)}  # type: ignore[union-attr]


def parse_request(data: Any) -> PageRequest:
    """The request that a message means; an error says what is wrong with it."""
    if not isinstance(data, dict) or not isinstance(data.get("op"), str):
        raise SkerryError('a message is an object with an `op`, such as {"op": "pause"}')
    kind = REQUESTS.get(data["op"])
    if kind is None:
        raise UnknownName(f"there is no op {data['op'][:40]!r}; {did_you_mean(data['op'][:40], REQUESTS)}")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(word) for word in first["loc"]) or data["op"]
        raise SkerryError(f"{data['op']}: `{place[:60]}`: {first['msg']}") from None
