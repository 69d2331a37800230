"""Okoń's robot as all dialects use it: thrusters, motion, images, a recorded track; contains no socket code."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from fractions import Fraction
from threading import Lock
from typing import Any, Final

from skerry.commands import ActuateTogether, Stop, Teleport
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.okon.images import LatestImage, OkonImage
from skerry.interfaces.okon.packets import BadBody, xyz
from skerry.interfaces.okon.robot_state import RobotState
from skerry.interfaces.okon.unity import Triple, to_pose
from skerry.parts.actuator import Actuator
from skerry.parts.interface import Command, Inbox
from skerry.world import World

logger = logging.getLogger("skerry")

FIRST_IMAGE_TIMEOUT: Final = 60.0
"""Time that a client waits for the first image, s; kernels may have to be compiled first."""
MAX_DISTANCE: Final = 10_000.0
"""Largest coordinate that SET_ORIEN accepts, m; the physics diverges about a thousand kilometres away."""
COMMAND_TIMEOUT: Final = 2.0
"""Time that a client waits until the world has executed its command, s."""
UPDATES_COUNTED: Final = 20
"""Number of updates over which the frame rate of an ACK is averaged."""
RECORD_FREQUENCY: Final = Fraction(10)
"""Rate of the recorded track, Hz of simulated time; the original never recorded and documents no rate."""
MAX_RECORDED: Final = 36_000
"""Number of recorded rows after which recording stops: one hour."""


class TrackRecording:
    """Position and direction of the robot, recorded at a fixed rate of simulated time while `on` is set."""

    def __init__(self, step: Fraction) -> None:
        self._rate = Rate.of(RECORD_FREQUENCY, step, faster_ok=True)
        self._rows: list[tuple[Triple, Triple]] = []
        self._last = -1
        self._lock = Lock()
        self.on = False

    def start(self) -> None:
        """Start recording; new rows are appended to the existing ones."""
        self.on = True

    def stop(self) -> None:
        """Stop recording."""
        self.on = False

    def reset(self) -> None:
        """Delete all rows and stop recording."""
        with self._lock:
            self.on = False
            self._rows = []

    def update(self, state: RobotState) -> None:
        """Append a row if recording is on and a row is due."""
        count = self._rate.count(state.tick)
        if self.on and count != self._last:
            with self._lock:
                self._last = count
                if len(self._rows) < MAX_RECORDED:
                    self._rows.append((state.position, state.direction))
                    if len(self._rows) == MAX_RECORDED:
                        logger.warning("okon: the recording is full after %d rows; recording stops", MAX_RECORDED)

    def rows(self) -> list[dict[str, Any]]:
        """Return the body of GET_REC."""
        with self._lock:
            rows = list(self._rows)
        return [{"pos": xyz(position), "dir": xyz(direction)} for position, direction in rows]


class OkonRobot:
    """Robot that clients drive. The simulation loop calls `update`; threads of clients call the other methods."""

    def __init__(
        self, world: World, inbox: Inbox, robot: str, thrusters: Sequence[str], camera: str, images: LatestImage
    ) -> None:
        self._world, self._inbox = world, inbox
        self._robot = world.robots[robot]
        known = self._robot.actuators
        self.thrusters = tuple(name for name in thrusters if name in known and known[name].keyword == "throttle")
        if len(self.thrusters) < len(thrusters):
            missing = ", ".join(name for name in thrusters if name not in self.thrusters)
            logger.warning("okon: robot %r has no thruster %s; commands to it are ignored", robot, missing)
        sensors = self._robot.vehicle.config.sensors
        self.has_camera = camera in sensors and sensors[camera].kind == "camera"
        if not self.has_camera:
            logger.warning("okon: robot %r has no camera %r; clients get no images", robot, camera)
        self.images = images
        self.recording = TrackRecording(world.scenario.step)
        self._step = float(world.scenario.step)
        self._lock = Lock()
        self._throttles: dict[str, float] = {}  # not yet sent to the loop
        self._driving: Future[Any] | None = None
        self._update_times: deque[float] = deque(maxlen=UPDATES_COUNTED)  # wall-clock time, s
        self.state = self._read_state()

    @property
    def name(self) -> str:
        """Name of the robot."""
        return self._robot.name

    @property
    def frames_per_second(self) -> int:
        """Rate of the latest updates per second of wall-clock time."""
        times = list(self._update_times)
        return round((len(times) - 1) / max(times[-1] - times[0], 1e-6)) if len(times) > 1 else 0

    @property
    def actuators(self) -> Mapping[str, Actuator]:
        """Actuators of the robot by name."""
        return self._robot.actuators

    # -------------------------------------------------------------------------------------------- simulation loop

    @property
    def tick(self) -> int:
        """Current tick of the world."""
        return self._world.tick

    def update(self) -> None:
        """Copy the robot's state, record it, and send throttles that wait."""
        self.state = self._read_state()
        self._update_times.append(time.perf_counter())
        self.recording.update(self.state)
        with self._lock:
            if self._throttles:
                self._send_throttles()

    def _read_state(self) -> RobotState:
        robot = self._robot
        now, before = (read(robot.world, robot.root) for read in (robot.engine.motion, robot.engine.motion_before))
        return RobotState(self._world.tick, self._step, now, before)

    # -------------------------------------------------------------------------------------------- clients

    def drive(self, throttles: Mapping[str, float]) -> None:
        """Set thrusters; if commands arrive faster than the world steps, only the latest is executed."""
        with self._lock:
            self._throttles |= {name: throttles[name] for name in self.thrusters if name in throttles}
            if self._throttles and (self._driving is None or self._driving.done()):
                self._send_throttles()

    def _send_throttles(self) -> None:
        throttles = {name: {"throttle": throttle} for name, throttle in self._throttles.items()}
        self._driving = self._inbox.put(ActuateTogether(self._robot.name, throttles))
        self._throttles = {}

    def set_pose(self, position: Triple, angles: Triple) -> None:
        """Move the robot to a pose, at rest; `state` has the new pose when this returns.

        Args:
            position: Position in Unity's axes, m.
            angles: Unity's Euler angles, °.

        Raises:
            BadBody: The position is too far away.
            SkerryError: The world did not execute the command in time.
        """
        if max(map(abs, position)) > MAX_DISTANCE:
            raise BadBody(f"`pos` is more than {MAX_DISTANCE:g} m away")
        self.execute(Teleport.to(self._robot.name, to_pose(position, angles)))

    def execute(self, command: Command) -> None:
        """Send a command to the loop and wait until it is executed and `state` is updated."""
        try:
            self.submit(command).result(COMMAND_TIMEOUT)
        except (CancelledError, TimeoutError):
            raise SkerryError("the simulation has ended, or is too busy") from None

    def submit(self, command: Command) -> Future[Any]:
        """Send a command to the loop without waiting.

        Returns:
            A future that completes after `state` has been updated. The inbox's own future is not used, because it
            wakes waiting threads before it runs its callbacks, and so before `state` is updated.
        """
        updated: Future[Any] = Future()

        def update_state(executed: Future[Any]) -> None:
            if executed.cancelled():
                updated.cancel()
            elif (error := executed.exception()) is not None:
                updated.set_exception(error)
            else:
                self.state = self._read_state()  # in the loop's thread, between two steps
                updated.set_result(executed.result())

        self._inbox.put(command).add_done_callback(update_state)
        return updated

    def image(self) -> OkonImage:
        """Return the latest image; wait for it if it is the first."""
        if not self.has_camera:
            raise SkerryError("this robot has no camera")
        latest = self.images.wait(0, FIRST_IMAGE_TIMEOUT)
        if latest is None:
            raise SkerryError("the camera has not delivered an image yet")
        return latest

    def end_simulation(self) -> None:
        """Stop the runner of the world."""
        self._inbox.put(Stop())
