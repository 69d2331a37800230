"""A rover as its server sees it: reports at the original's rates, and does what is asked."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, did_you_mean
from skerry.interfaces.husky import messages
from skerry.interfaces.husky.cameras import Streams
from skerry.interfaces.husky.console import Console
from skerry.interfaces.husky.link import Link
from skerry.interfaces.husky.messages import (
    BadRequest,
    CloseStream,
    MotorPosition,
    MotorPower,
    OpenStream,
    Report,
    Request,
    read_request,
)
from skerry.interfaces.husky.motors import Motor, motors_of
from skerry.interfaces.husky.profiles import PROFILES
from skerry.parts.interface import Inbox, Interface, SensorReading
from skerry.sensors.camera import Camera
from skerry.sensors.gps import GpsReading
from skerry.sensors.imu import ImuReading
from skerry.sensors.lidar import PlanarReading
from skerry.world import Robot, World

if TYPE_CHECKING:
    from skerry.interfaces.husky import Husky

logger = logging.getLogger("skerry")

REPORT_FREQUENCY: Final = Fraction(30)  # Hz of motors and the true pose; other rates are those of the sensors
MOST_TOLD: Final = 100  # different faults that are logged
SENSORS: Final = ("gps", "imu", "lidar")
READERS: Final[Mapping[type, Callable[[Any], Report]]] = {
    GpsReading: messages.gps_position,
    ImuReading: messages.imu_orientation,
    PlanarReading: messages.lidar_points,
}


class HuskyInterface(Interface):
    """Talks to one rover server about one robot."""

    def __init__(self, config: Husky) -> None:
        self.config = config
        self.profile = PROFILES[config.profile]
        self.link = Link(config.url, config.retry, self.hear)
        self.motors: dict[str, Motor] = {}
        self._by_letters: dict[str, Motor] = {}  # servers of 2022 say `rearLeftwheel`
        self.streams: Streams | None = None
        self._robot: Robot | None = None
        self._limit_message = config.limit_message or self.profile.limit_message
        self._sensors: frozenset[tuple[str, str]] = frozenset()
        self._count = -1  # of reports of motors
        self._powered: dict[str, int] = {}  # the tick at which power was last asked for, where silence drops it
        self._told: set[str] = set()

    # -------------------------------------------------------------------------------------------- of an interface

    def start(self, world: World, inbox: Inbox) -> None:
        self._world, self._inbox = world, inbox
        self._rate = Rate.of(REPORT_FREQUENCY, world.scenario.step, faster_ok=True)
        self.streams = Streams(world.scenario.step, self._send_picture)
        robot = self._robot = self._find_robot(world)
        if robot is not None:
            self.motors = motors_of(robot, self.profile)
            self._by_letters = {name.casefold(): motor for name, motor in self.motors.items()}
            names = SENSORS if self.profile.has_lidar else SENSORS[:-1]
            self._sensors = frozenset((robot.name, name) for name in names if name in robot.sensors)
            self._rehearse(robot)
        if self.config.console:
            Console(self, world, inbox).start()
        self.link.start()

    def next_due(self, tick: int) -> int | None:
        if not self.link.connected or self.streams is None:
            return None
        picture = self.streams.next_due(tick)
        reports = self._rate.next_due(tick)
        return reports if picture is None else min(reports, picture)

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self._drop_forgotten_powers()
        closed = [(motor.name, limit) for motor in self.motors.values() if (limit := motor.new_limit())]
        wanted = self._sensors if self.link.connected else frozenset()
        if wanted != self.subscriptions:
            self.subscriptions = wanted
        if self.link.connected and self.streams is not None:
            self.link.send(self._encoded([*self._switches(closed), *self._read(readings), *self._reports()]))
            self.streams.take_pictures(self._world.tick)

    @property
    def status(self) -> str:
        cameras = len(self.streams) if self.streams is not None else 0
        return self.link.status + (f", {cameras} cameras" if cameras else "")

    def close(self) -> None:
        self.link.close()
        if self.streams is not None:
            self.streams.shut()

    # -------------------------------------------------------------------------------------------- what is said

    def _reports(self) -> Iterator[Report]:
        """Motors and the true pose, as they are due."""
        count = self._rate.count(self._world.tick)
        if count != self._count and self._robot is not None:
            self._count = count
            for motor in self.motors.values():
                yield motor.status()
            yield messages.true_pose(self._robot.pose)

    def _read(self, readings: Sequence[SensorReading]) -> Iterator[Report]:
        for new in readings:
            if (new.robot, new.sensor) in self._sensors and type(new.reading) in READERS:
                yield READERS[type(new.reading)](new.reading)

    def _switches(self, closed: list[tuple[str, str]]) -> Iterator[Report]:
        if self._limit_message != "off":
            for motor, limit in closed:
                yield messages.limit_switch(motor, limit, self._limit_message)

    def _encoded(self, reports: list[Report]) -> Iterator[str]:
        for report in reports:
            try:
                yield messages.encode(report)
            except ValueError:  # a world that has diverged; a rover server would not survive it
                self._tell_once(f"a {report['type']} has numbers that are none, and is not sent")

    def _send_picture(self, camera: str, jpeg: bytes) -> None:
        self.link.send_picture(camera, messages.encode(messages.camera_picture(camera, jpeg)))

    # -------------------------------------------------------------------------------------------- what is heard

    def hear(self, text: str | bytes) -> None:
        """Take a message, from any thread; what cannot be done is logged, once."""
        try:
            self.do(read_request(text))
        except SkerryError as error:
            self._tell_once(str(error))

    def do(self, request: Request) -> None:
        """Do what is asked; `BadRequest` says why not."""
        match request:
            case MotorPower(name, power):
                motor = self._motor(name)
                commands = motor.run(power)
                if self.profile.watchdog is not None:
                    self._powered[motor.name] = self._world.tick
            case MotorPosition(name, position_deg):
                motor = self._motor(name)
                commands = motor.run_to(position_deg)
                self._powered.pop(motor.name, None)
            case OpenStream(camera):
                self._open_stream(request, camera)
                return
            case CloseStream(camera):
                assert self.streams is not None  # nothing is heard before the start
                self.streams.close(camera)
                return
        for command in commands:
            self._inbox.put(command)

    def _motor(self, name: str) -> Motor:
        found = self.motors.get(name) or self._by_letters.get(name.casefold())
        if found is None:
            raise BadRequest(f"there is no motor {name!r:.60}; {did_you_mean(name, self.motors)}")
        return found

    def _open_stream(self, request: OpenStream, name: str) -> None:
        part = self.profile.cameras.get(name, "")
        config = None if self._robot is None else self._robot.vehicle.config.sensors.get(part)
        if not isinstance(config, Camera) or self._robot is None or self.streams is None:
            raise BadRequest(f"there is no camera {name!r:.60}; {did_you_mean(name, self.profile.cameras)}")
        try:
            self.streams.open(request, self._robot.sensors[part], config)
        except ValidationError as error:
            raise BadRequest(f"the camera {name} cannot have this lens: {error.errors()[0]['msg']}") from None
        logger.info("husky: the camera %s is open, %d × %d", name, request.width, request.height)

    def _drop_forgotten_powers(self) -> None:
        """Stop motors whose power has not been asked for again in time."""
        if self.profile.watchdog is None:
            return
        now = self._world.tick
        ticks = round(self.profile.watchdog / float(self._world.scenario.step))
        for motor, tick in list(self._powered.items()):
            if now < tick:  # the world went back
                self._powered[motor] = now
            elif now - tick > ticks:
                self._powered.pop(motor, None)
                for command in self.motors[motor].run(0.0):
                    self._inbox.put(command)

    def _tell_once(self, fault: str) -> None:
        if fault not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(fault)
            logger.warning("husky: %s", fault)

    # -------------------------------------------------------------------------------------------- building

    def _rehearse(self, robot: Robot) -> None:
        """Let kernels be compiled before there is a server, which would see the rover stand for half a minute."""
        cameras = [name for name in self.profile.cameras.values() if name in robot.sensors]
        for name in [*(name for _, name in self._sensors), *cameras[:1]]:
            robot.sensors[name].warm_up()

    def _find_robot(self, world: World) -> Robot | None:
        if self.config.robot is not None:
            return world.robots[self.config.robot]
        rovers = [robot for robot in world.robots.values() if motors_of(robot, self.profile)]
        if len(rovers) > 1:
            names = ", ".join(robot.name for robot in rovers)
            raise SkerryError(f"the interface husky is for one rover, and here are {names}; give its `robot`")
        if not rovers:
            logger.warning("husky: no robot here has the motors of the profile `%s`", self.config.profile)
            return None
        return rovers[0]
