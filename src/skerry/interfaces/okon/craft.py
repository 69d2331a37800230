"""Okoń as its clients know it, whatever their dialect: thrusters, motion, pictures, a recording; no socket in here."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock
from typing import Any, Final

from skerry.commands import Stop, Teleport
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.okon.packets import BadBody, xyz
from skerry.interfaces.okon.pictures import Picture, Pictures
from skerry.interfaces.okon.robot_state import Instant
from skerry.interfaces.okon.unity import Triple, to_pose
from skerry.parts.actuator import Actuator
from skerry.parts.interface import Command, Inbox
from skerry.runner import Runner
from skerry.world import World

logger = logging.getLogger("skerry")

FIRST_PICTURE: Final = 60.0  # s; where nothing is compiled yet, it may take so long
FARTHEST: Final = 10_000.0  # m; a thousand kilometres away the physics was seen to diverge
PATIENCE: Final = 2.0  # s that a client waits for the world to do what it asked
LOOKS_COUNTED: Final = 20  # for the rate at which the simulation shows itself
RECORD_FREQUENCY: Final = Fraction(10)  # Hz; the original says nothing of it, and never recorded
MOST_RECORDED: Final = 36_000  # an hour of it


@dataclass(frozen=True)
class Drive(Command):
    """Give several thrusters of a robot their throttle at once."""

    robot: str
    throttles: Mapping[str, float]

    def apply(self, run: Runner) -> None:
        actuators = run.world.robots[self.robot].actuators
        for name, throttle in self.throttles.items():
            actuators[name].receive(throttle=throttle)


class Recording:
    """Position and direction at a steady rate of simulated time, while it is on."""

    def __init__(self, step: Fraction) -> None:
        self._rate = Rate.of(RECORD_FREQUENCY, step, faster_ok=True)
        self._rows: list[tuple[Triple, Triple]] = []
        self._last = -1
        self._lock = Lock()
        self.on = False

    def start(self) -> None:
        """Record from now on, behind what there is."""
        self.on = True

    def stop(self) -> None:
        """Record no more."""
        self.on = False

    def reset(self) -> None:
        """Forget all, and stop."""
        with self._lock:
            self.on = False
            self._rows = []

    def see(self, instant: Instant) -> None:
        """Write an instant down if it is due."""
        count = self._rate.count(instant.tick)
        if self.on and count != self._last:
            with self._lock:
                self._last = count
                if len(self._rows) < MOST_RECORDED:
                    self._rows.append((instant.position, instant.direction))
                    if len(self._rows) == MOST_RECORDED:
                        logger.warning("okon: the recording is full with %d instants, and stands", MOST_RECORDED)

    def rows(self) -> list[dict[str, Any]]:
        """The body of GET_REC."""
        with self._lock:
            rows = list(self._rows)
        return [{"pos": xyz(position), "dir": xyz(direction)} for position, direction in rows]


class Craft:
    """One robot. `see` is called by the loop, all else by the threads of clients."""

    def __init__(
        self, world: World, inbox: Inbox, robot: str, thrusters: Sequence[str], camera: str, pictures: Pictures
    ) -> None:
        self._world, self._inbox = world, inbox
        self._robot = world.robots[robot]
        known = self._robot.actuators
        self.thrusters = tuple(name for name in thrusters if name in known and known[name].keyword == "throttle")
        if len(self.thrusters) < len(thrusters):
            missing = ", ".join(name for name in thrusters if name not in self.thrusters)
            logger.warning("okon: the robot %r has no thruster %s; what is said to it is ignored", robot, missing)
        sensors = self._robot.vehicle.config.sensors
        self.has_camera = camera in sensors and sensors[camera].kind == "camera"
        if not self.has_camera:
            logger.warning("okon: the robot %r has no camera %r; there will be no pictures", robot, camera)
        self.pictures = pictures
        self.recording = Recording(world.scenario.step)
        self._step = float(world.scenario.step)
        self._lock = Lock()
        self._throttles: dict[str, float] = {}  # that wait for the loop
        self._driving: Future[Any] | None = None
        self._looks: deque[float] = deque(maxlen=LOOKS_COUNTED)  # when they were, on the wall
        self.instant = self._look()

    @property
    def name(self) -> str:
        """The robot's."""
        return self._robot.name

    @property
    def frames_per_second(self) -> int:
        """How often the simulation shows itself, on the wall."""
        looks = list(self._looks)
        return round((len(looks) - 1) / max(looks[-1] - looks[0], 1e-6)) if len(looks) > 1 else 0

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """The robot's."""
        return self._robot.actuators

    # -------------------------------------------------------------------------------------------- the loop's

    @property
    def tick(self) -> int:
        """The world's, now."""
        return self._world.tick

    def see(self) -> None:
        """Copy what there is to tell, and pass on what waits."""
        self.instant = self._look()
        self._looks.append(time.perf_counter())
        self.recording.see(self.instant)
        with self._lock:
            if self._throttles:
                self._send()

    def _look(self) -> Instant:
        robot = self._robot
        now, before = (look(robot.world, robot.root) for look in (robot.engine.motion, robot.engine.motion_before))
        return Instant(self._world.tick, self._step, now, before)

    # -------------------------------------------------------------------------------------------- the clients'

    def drive(self, throttles: Mapping[str, float]) -> None:
        """Set thrusters; of what comes faster than the world steps, the latest counts."""
        with self._lock:
            self._throttles |= {name: throttles[name] for name in self.thrusters if name in throttles}
            if self._throttles and (self._driving is None or self._driving.done()):
                self._send()

    def _send(self) -> None:
        self._driving = self._inbox.put(Drive(self._robot.name, self._throttles))
        self._throttles = {}

    def place(self, position: Triple, angles: Triple) -> None:
        """Put the robot somewhere, at rest; whoever asks afterwards finds it there."""
        if max(map(abs, position)) > FARTHEST:
            raise BadBody(f"`pos` is more than {FARTHEST:g} m away")
        self.do(Teleport(self._robot.name, to_pose(position, angles)))

    def do(self, command: Command) -> None:
        """Let a command be done, and see what came of it."""
        try:
            self.ask(command).result(PATIENCE)
        except (CancelledError, TimeoutError):
            raise SkerryError("the simulation has ended, or is too busy") from None

    def ask(self, command: Command) -> Future[Any]:
        """Ask for a command; does not wait. The promise is kept when what came of it has been seen.

        That of the inbox wakes whoever waits for it before it calls back, and so too early.
        """
        seen: Future[Any] = Future()

        def see_again(promise: Future[Any]) -> None:
            if promise.cancelled():
                seen.cancel()
            elif (error := promise.exception()) is not None:
                seen.set_exception(error)
            else:
                self.instant = self._look()  # in the loop's thread, between two steps
                seen.set_result(promise.result())

        self._inbox.put(command).add_done_callback(see_again)
        return seen

    def picture(self) -> Picture:
        """The latest picture; the first one is waited for."""
        if not self.has_camera:
            raise SkerryError("this robot has no camera")
        latest = self.pictures.wait(0, FIRST_PICTURE)
        if latest is None:
            raise SkerryError("there is no picture yet")
        return latest

    def end(self) -> None:
        """End the simulation."""
        self._inbox.put(Stop())
