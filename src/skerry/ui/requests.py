"""Requests of the page's clients: one class for each `op`, which checks the data and executes the request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from skerry.commands import (
    CallController,
    Delete,
    GiveControl,
    GiveGoal,
    Halt,
    HoldKeys,
    LoadWorld,
    Operate,
    Pause,
    Reset,
    Restore,
    Seek,
    SendPacket,
    SetSpeed,
    Spawn,
    StartRecording,
    Step,
    StopRecording,
    TakeSnapshot,
    Teleport,
    TriggerSensor,
)
from skerry.core.config import Config, Positive, Vector3
from skerry.core.errors import SkerryError, UnknownName, did_you_mean
from skerry.parts.acoustics import CanWrite
from skerry.parts.controller import CanGoTo, CanReachGoal
from skerry.parts.interface import Command
from skerry.scenario.loading import shipped_scenarios
from skerry.ui.page import MAX_SNAPSHOTS, Page
from skerry.world import Robot

if TYPE_CHECKING:
    from skerry.ui.hub import Hub

Name = Annotated[str, Field(min_length=1, max_length=200)]
MAX_STEPS: Final = 10_000  # steps of one `step` request
DEFAULT_SPEED: Final = 1.0  # m/s at which a robot goes to a waypoint


@dataclass(frozen=True)
class RequestContext:
    """Client that made a request, and the objects that are needed to execute it."""

    client: str
    hub: Hub
    page: Page
    put: Callable[[Command], Awaitable[Any]]

    def robot(self, name: str) -> Robot:
        """Return a robot.

        Raises:
            UnknownName: There is no such robot.
            DriveLockHeld: Another client drives it.
        """
        robot: Robot = self.page.world.robots[name]
        self.hub.drive_locks.check(name, self.client)
        return robot


class PageRequest(Config):
    """Base of all requests. The value of `op` selects the class."""

    op: str
    id: int | str | None = Field(None, description="copied into the reply")

    async def execute(self, context: RequestContext) -> Any:
        """Execute the request, and return its result as data for JSON.

        Raises:
            SkerryError: The request cannot be executed.
        """
        raise NotImplementedError


# ------------------------------------------------------------------------------------------------ driving


class DriveLockRequest(PageRequest):
    """Acquire or release the drive lock of a robot."""

    op: Literal["lease"]
    robot: Name
    take: bool

    async def execute(self, context: RequestContext) -> None:
        context.page.world.robots[self.robot]
        if self.take:
            context.hub.drive_locks.acquire(self.robot, context.client)
        else:
            context.hub.release_robot(self.robot, context.client)
        context.hub.send_state()


class KeysRequest(PageRequest):
    """Hold keys down, and release all other keys of the robot."""

    op: Literal["keys"]
    robot: Name
    held: tuple[Name, ...] = Field(max_length=32)
    seq: int = 0

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        context.hub.acquire_robot(self.robot, context.client)
        await context.put(HoldKeys(self.robot, tuple(dict.fromkeys(self.held)), context.page.key_timeout))


class SourceRequest(PageRequest):
    """Choose the source that commands the actuators of a robot."""

    op: Literal["source"]
    robot: Name
    source: Name

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        await context.put(GiveControl(self.robot, self.source))


class ActuateRequest(PageRequest):
    """Command an actuator manually."""

    op: Literal["actuate"]
    robot: Name
    actuator: Name
    value: dict[Name, float] = Field(max_length=8)

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        await context.put(Operate(self.robot, self.actuator, self.value))


class StopRequest(PageRequest):
    """Give manual control of a robot, and set all its actuators to rest."""

    op: Literal["stop"]
    robot: Name

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        await context.put(Halt(self.robot))


class WinchRequest(PageRequest):
    """Command a winch, or release its load."""

    op: Literal["winch"]
    robot: Name
    winch: Name
    target: float | None = Field(None, description="length of rope to pay out, m")
    speed: float | None = Field(None, description="speed of the rope, m/s")
    release: bool = False

    async def execute(self, context: RequestContext) -> None:
        context.robot(self.robot)
        given = {"length": self.target, "speed": self.speed, "release": 1.0 if self.release else None}
        value = {name: number for name, number in given.items() if number is not None}
        if not value:
            raise SkerryError("winch: found none of `target`, m, `speed`, m/s, and `release`; give at least one")
        await context.put(Operate(self.robot, self.winch, value))


class WaypointRequest(PageRequest):
    """Send a robot to a waypoint. Its controller gets control of the robot."""

    op: Literal["waypoint"]
    robot: Name
    position: Vector3
    tolerance: Positive | None = Field(None, description="tolerance, m; the default is the controller's own")
    speed: Positive = Field(DEFAULT_SPEED, description="speed, m/s, for controllers that have a speed setpoint")
    controller: Name | None = Field(None, description="controller; the default is the first that accepts waypoints")

    async def execute(self, context: RequestContext) -> None:
        robot = context.robot(self.robot)
        able = {name: each for name, each in robot.controllers.items() if isinstance(each, CanGoTo | CanReachGoal)}
        name = self.controller or next(iter(able), None)
        if name is None:
            raise SkerryError(f"{self.robot}: no controller of this robot accepts waypoints")
        if name not in able:
            raise SkerryError(f"{self.robot}: no controller {name!r} accepts waypoints; expected one of {[*able]}")
        x, y, z = self.position
        controller = able[name]
        if isinstance(controller, CanGoTo):
            await context.put(CallController(self.robot, name, "go_to", {"position": (x, y, z)}))
            await context.put(GiveControl(self.robot, f"controller/{name}"))
            return
        arguments: dict[str, Any] = {"position": (x, y), "speed": self.speed}
        if controller.can_hold("speed", "depth"):
            arguments["depth"] = max(-z, 0.0)
        if self.tolerance is not None:
            arguments["tolerance"] = self.tolerance
        await context.put(GiveGoal(self.robot, name, arguments))


class LeakRequest(PageRequest):
    """Trigger the leak sensor of a robot, or another alarm."""

    op: Literal["leak"]
    robot: Name
    sensor: Name | None = Field(None, description="alarm sensor; the default is the first one")

    async def execute(self, context: RequestContext) -> None:
        settings = context.robot(self.robot).vehicle.config.sensors
        alarms = [name for name, part in settings.items() if part.can_be_triggered]
        name = self.sensor or next(iter(alarms), None)
        if name is None:
            raise SkerryError(f"{self.robot}: no sensor of this robot can be triggered")
        if name not in alarms:
            raise SkerryError(f"{self.robot}: no sensor {name!r} can be triggered; expected one of {alarms}")
        await context.put(TriggerSensor(self.robot, name))


class AcousticRequest(PageRequest):
    """Send text with an acoustic modem."""

    op: Literal["acoustic"]
    robot: Name
    transceiver: Name
    text: str = Field(max_length=4096)
    to: Name | None = None

    async def execute(self, context: RequestContext) -> None:
        parts = context.robot(self.robot).acoustics
        if not isinstance(parts[self.transceiver], CanWrite):
            raise SkerryError(f"{self.robot}/{self.transceiver} cannot send text; only acoustic modems can")
        await context.put(SendPacket(self.robot, self.transceiver, self.text, self.to))


class TeleportRequest(PageRequest):
    """Move a robot or an object to another position."""

    op: Literal["teleport"]
    name: Name
    position: Vector3
    orientation: tuple[float, float, float, float] | None = None

    async def execute(self, context: RequestContext) -> None:
        if self.name in context.page.world.robots:
            context.robot(self.name)
        if self.orientation is not None and sum(part * part for part in self.orientation) < 1e-6:
            raise SkerryError("teleport: `orientation` is zero; give a quaternion x, y, z, w")
        await context.put(Teleport(self.name, self.position, self.orientation))


class SpawnRequest(PageRequest):
    """Add a robot or an object to the world."""

    op: Literal["spawn"]
    name: Name
    settings: dict[str, Any] = Field(description="settings as in a scenario; a robot has a `vehicle`")

    async def execute(self, context: RequestContext) -> None:
        await context.put(Spawn(self.name, self.settings))


class DeleteRequest(PageRequest):
    """Remove a robot or an object from the world."""

    op: Literal["delete"]
    name: Name

    async def execute(self, context: RequestContext) -> None:
        if self.name in context.page.world.robots:
            context.robot(self.name)
        await context.put(Delete(self.name))


# ------------------------------------------------------------------------------------------------ the run


class PauseRequest(PageRequest):
    """Pause the run."""

    op: Literal["pause"]

    async def execute(self, context: RequestContext) -> None:
        await context.put(Pause(True))


class ResumeRequest(PageRequest):
    """Resume the run."""

    op: Literal["resume"]

    async def execute(self, context: RequestContext) -> None:
        await context.put(Pause(False))


class StepRequest(PageRequest):
    """Pause the run, and make `n` steps."""

    op: Literal["step"]
    n: int = Field(1, ge=1, le=MAX_STEPS)

    async def execute(self, context: RequestContext) -> None:
        await context.put(Step(self.n))


class RateRequest(PageRequest):
    """Set the speed of the run."""

    op: Literal["rate"]
    x: float | None = Field(ge=0.01, le=1000, description="simulated seconds per second; null is as fast as possible")

    async def execute(self, context: RequestContext) -> None:
        await context.put(SetSpeed(self.x))


class ResetRequest(PageRequest):
    """Reset the world, or load it again with another seed."""

    op: Literal["reset"]
    seed: int | None = Field(None, ge=0, lt=2**63)

    async def execute(self, context: RequestContext) -> None:
        if self.seed is None or self.seed == context.page.world.scenario.seed:
            await context.put(Reset())
        else:
            await context.put(LoadWorld(None, self.seed))


class LoadScenarioRequest(PageRequest):
    """Load another scenario."""

    op: Literal["scenario"]
    scenario: Name = Field(alias="load")
    seed: int | None = Field(None, ge=0, lt=2**63)

    async def execute(self, context: RequestContext) -> None:
        known = shipped_scenarios()
        if self.scenario not in known:
            raise UnknownName(f"no scenario is named {self.scenario!r}; {did_you_mean(self.scenario, known)}")
        await context.put(LoadWorld(self.scenario, self.seed))


class RecordRequest(PageRequest):
    """Start or stop a recording."""

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
    """Store a snapshot of the world under a name."""

    op: Literal["snapshot"]
    name: Annotated[str, Field(min_length=1, max_length=60)]

    async def execute(self, context: RequestContext) -> None:
        kept = context.page.snapshots
        if self.name not in kept and len(kept) >= MAX_SNAPSHOTS:
            raise SkerryError(f"{MAX_SNAPSHOTS} snapshots are kept already; give the name of a snapshot to replace")
        snapshot = await context.put(TakeSnapshot())
        if self.name in kept or len(kept) < MAX_SNAPSHOTS:
            context.page.snapshots = {**kept, self.name: snapshot}
            await context.hub.wait_for_state()


class RestoreRequest(PageRequest):
    """Restore a snapshot."""

    op: Literal["restore"]
    name: Annotated[str, Field(min_length=1, max_length=60)]

    async def execute(self, context: RequestContext) -> None:
        kept = context.page.snapshots
        if self.name not in kept:
            raise UnknownName(f"no snapshot is named {self.name!r}; {did_you_mean(self.name, kept)}")
        await context.put(Restore(kept[self.name]))


class SeekRequest(PageRequest):
    """Go to a time of the replayed recording."""

    op: Literal["seek"]
    t: float = Field(ge=0, description="time since the start of the recording, s")

    async def execute(self, context: RequestContext) -> None:
        await context.put(Seek(self.t))


REPLAY_REQUESTS: Final = (PauseRequest, ResumeRequest, StepRequest, RateRequest, SeekRequest)
"""Requests that a replay allows. All others would change the recorded run."""

# ------------------------------------------------------------------------------------------------ parsing


def _all(base: type[PageRequest]) -> Iterator[type[PageRequest]]:
    for found in base.__subclasses__():
        yield found
        yield from _all(found)


REQUESTS: Final = {found.model_fields["op"].annotation.__args__[0]: found for found in _all(PageRequest)}  # type: ignore[union-attr]


def parse_request(data: Any) -> PageRequest:
    """Return the request that a message contains.

    Raises:
        SkerryError: The message is not a valid request. The text names the wrong field.
    """
    if not isinstance(data, dict) or not isinstance(data.get("op"), str):
        raise SkerryError('a request is an object with an `op`, such as {"op": "pause"}')
    kind = REQUESTS.get(data["op"])
    if kind is None:
        raise UnknownName(f"no request has op {data['op'][:40]!r}; {did_you_mean(data['op'][:40], REQUESTS)}")
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = ".".join(str(part) for part in first["loc"]) or data["op"]
        raise SkerryError(f"{data['op']}: `{path[:60]}`: {first['msg']}") from None
