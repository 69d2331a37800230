"""Interface to a rover server: sends reports at the rates of the original simulator, and executes requests."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, did_you_mean
from skerry.interfaces.husky import messages
from skerry.interfaces.husky.cameras import CameraStreams
from skerry.interfaces.husky.console import HuskyConsole
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
from skerry.interfaces.husky.motors import Motor, find_motors
from skerry.interfaces.husky.profiles import PROFILES
from skerry.interfaces.husky.server_connection import ServerConnection
from skerry.parts.interface import Inbox, Interface, SensorReading
from skerry.sensors.camera import Camera
from skerry.sensors.gps import GpsReading
from skerry.sensors.imu import ImuReading
from skerry.sensors.lidar import PlanarReading
from skerry.world import Robot, World

if TYPE_CHECKING:
    from skerry.interfaces.husky import Husky

logger = logging.getLogger("skerry")

REPORT_FREQUENCY: Final = Fraction(30)
"""Rate of the reports of motors and true pose, Hz; the other reports have the rates of their sensors."""
MAX_WARNINGS: Final = 100
"""Number of different faults that are logged."""
SENSORS: Final = ("gps", "imu", "lidar")
ENCODERS: Final[Mapping[type, Callable[[Any], Report]]] = {
    GpsReading: messages.gps_position,
    ImuReading: messages.imu_orientation,
    PlanarReading: messages.lidar_points,
}


class HuskyInterface(Interface):
    """Interface that connects one robot to one rover server."""

    def __init__(self, config: Husky) -> None:
        self.config = config
        self.profile = PROFILES[config.profile]
        self.connection = ServerConnection(config.url, config.retry, self.on_message)
        self.motors: dict[str, Motor] = {}
        self._by_lower_name: dict[str, Motor] = {}  # case-insensitive; servers of 2022 send `rearLeftwheel`
        self.streams: CameraStreams | None = None
        self._robot: Robot | None = None
        self._sensors: frozenset[tuple[str, str]] = frozenset()
        self._count = -1  # number of due times at the latest reports of motors
        self._powered: dict[str, int] = {}  # tick of the latest power request, if the profile has a watchdog
        self._warned: set[str] = set()

    # -------------------------------------------------------------------------------------------- simulation loop

    def start(self, world: World, inbox: Inbox) -> None:
        self._world, self._inbox = world, inbox
        self._rate = Rate.of(REPORT_FREQUENCY, world.scenario.step, faster_ok=True)
        self.streams = CameraStreams(world.scenario.step, self._send_image)
        robot = self._robot = self._find_robot(world)
        if robot is not None:
            self.motors = find_motors(robot, self.profile)
            self._by_lower_name = {name.casefold(): motor for name, motor in self.motors.items()}
            names = SENSORS if self.profile.has_lidar else SENSORS[:-1]
            self._sensors = frozenset((robot.name, name) for name in names if name in robot.sensors)
            self._warm_up(robot)
        if self.config.console:
            HuskyConsole(self, world, inbox).start()
        self.connection.start()

    def next_due(self, tick: int) -> int | None:
        if not self.connection.connected or self.streams is None:
            return None
        image = self.streams.next_due(tick)
        reports = self._rate.next_due(tick)
        return reports if image is None else min(reports, image)

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self._stop_expired_motors()
        closed = [(motor.name, limit) for motor in self.motors.values() if (limit := motor.new_limit())]
        wanted = self._sensors if self.connection.connected else frozenset()
        if wanted != self.subscriptions:
            self.subscriptions = wanted
        if self.connection.connected and self.streams is not None:
            self.connection.send(
                self._encode([*self._limit_reports(closed), *self._sensor_reports(readings), *self._reports()])
            )
            self.streams.start_images(self._world.tick)

    @property
    def status(self) -> str:
        cameras = len(self.streams) if self.streams is not None else 0
        return self.connection.status + (f", {cameras} cameras" if cameras else "")

    def close(self) -> None:
        self.connection.close()
        if self.streams is not None:
            self.streams.close_all()

    # -------------------------------------------------------------------------------------------- reports

    def _reports(self) -> Iterator[Report]:
        """Yield the reports of motors and true pose if they are due."""
        count = self._rate.count(self._world.tick)
        if count != self._count and self._robot is not None:
            self._count = count
            for motor in self.motors.values():
                yield motor.status()
            yield messages.true_pose(self._robot.pose)

    def _sensor_reports(self, readings: Sequence[SensorReading]) -> Iterator[Report]:
        for new in readings:
            if (new.robot, new.sensor) in self._sensors and type(new.reading) in ENCODERS:
                yield ENCODERS[type(new.reading)](new.reading)

    def _limit_reports(self, closed: list[tuple[str, str]]) -> Iterator[Report]:
        if self.config.limit_message != "off":
            for motor, limit in closed:
                yield messages.limit_switch(motor, limit, self.config.limit_message)

    def _encode(self, reports: list[Report]) -> Iterator[str]:
        for report in reports:
            try:
                yield messages.encode(report)
            except ValueError:  # the world has diverged; a rover server would crash on NaN
                self._warn_once(f"a {report['type']} contains NaN or infinity and was not sent; the world has diverged")

    def _send_image(self, camera: str, jpeg: bytes) -> None:
        self.connection.send_image(camera, messages.encode(messages.camera_image(camera, jpeg)))

    # -------------------------------------------------------------------------------------------- requests

    def on_message(self, text: str | bytes) -> None:
        """Execute a message; any thread may call this. Each different fault is logged once."""
        try:
            self.execute(read_request(text))
        except SkerryError as error:
            self._warn_once(str(error))

    def execute(self, request: Request) -> None:
        """Execute a request; raise `BadRequest` if the rover cannot do it."""
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
                assert self.streams is not None  # messages arrive only after the start
                self.streams.close(camera)
                return
        for command in commands:
            self._inbox.put(command)

    def _motor(self, name: str) -> Motor:
        found = self.motors.get(name) or self._by_lower_name.get(name.casefold())
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
            raise BadRequest(f"camera {name} cannot have the requested lens: {error.errors()[0]['msg']}") from None
        logger.info("husky: camera %s opened with %d × %d pixels", name, request.width, request.height)

    def _stop_expired_motors(self) -> None:
        """Stop motors whose power request is older than the watchdog of the profile."""
        if self.profile.watchdog is None:
            return
        now = self._world.tick
        ticks = round(self.profile.watchdog / float(self._world.scenario.step))
        for motor, tick in list(self._powered.items()):
            if now < tick:  # the world was reset
                self._powered[motor] = now
            elif now - tick > ticks:
                self._powered.pop(motor, None)
                for command in self.motors[motor].run(0.0):
                    self._inbox.put(command)

    def _warn_once(self, fault: str) -> None:
        if fault not in self._warned and len(self._warned) < MAX_WARNINGS:
            self._warned.add(fault)
            logger.warning("husky: %s", fault)

    # -------------------------------------------------------------------------------------------- start

    def _warm_up(self, robot: Robot) -> None:
        """Compile kernels before the connection opens; otherwise the rover would stop for half a minute."""
        cameras = [name for name in self.profile.cameras.values() if name in robot.sensors]
        for name in [*(name for _, name in self._sensors), *cameras[:1]]:
            robot.sensors[name].warm_up()

    def _find_robot(self, world: World) -> Robot | None:
        if self.config.robot is not None:
            return world.robots[self.config.robot]
        rovers = [robot for robot in world.robots.values() if find_motors(robot, self.profile)]
        if len(rovers) > 1:
            names = ", ".join(robot.name for robot in rovers)
            raise SkerryError(f"the interface `husky` serves one rover, but the scenario has {names}; set its `robot`")
        if not rovers:
            logger.warning(
                "husky: no robot of the scenario has the motors of profile `%s`; nothing is reported",
                self.config.profile,
            )
            return None
        return rovers[0]
