"""Interface to Okoń's clients: the servers of its ports, and updates from the simulation loop."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skerry.commands import Teleport
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, did_you_mean
from skerry.interfaces.okon.autopilot import OkonAutopilot
from skerry.interfaces.okon.camera_worker import CameraWorker
from skerry.interfaces.okon.course import CourseProgress
from skerry.interfaces.okon.images import LatestImage
from skerry.interfaces.okon.later_session import THRUSTERS as LATER_THRUSTERS
from skerry.interfaces.okon.later_session import LaterOkonSession, LaterPacketType
from skerry.interfaces.okon.packets import GET_VIDEO, Framing, write_json
from skerry.interfaces.okon.robot import OkonRobot
from skerry.interfaces.okon.server import ClientConnection, OkonServer
from skerry.interfaces.okon.session import THRUSTERS, ImageQuality, OkonSession
from skerry.interfaces.okon.settings_file import read_settings_file
from skerry.parts.interface import Inbox, Interface, SensorReading
from skerry.rays.threads import lower_priority
from skerry.sensors.camera import Camera
from skerry.world import World

if TYPE_CHECKING:
    from skerry.interfaces.okon import Okon

logger = logging.getLogger("skerry")

UPDATE_RATE: Final = Fraction(200)
"""Highest rate at which the robot's state is copied while clients are connected, Hz."""
REPEAT_AFTER: Final = 1.0
"""Time after which a client gets the same image again if no newer one exists, as in a paused world, s."""
DEPTH_STEP: Final = 5
"""Every fifth pixel of 640 × 360 is in a depth image of the later dialects: 128 × 72 pixels, as in the original."""


class LaterParts(NamedTuple):
    """Parts that only the later dialects have."""

    autopilot: OkonAutopilot
    course: CourseProgress


class OkonInterface(Interface):
    """Interface that serves Okoń's clients."""

    def __init__(self, config: Okon) -> None:
        self.config = config
        self._servers: list[OkonServer] = []
        self._images: LatestImage | None = None
        self._camera_worker: CameraWorker | None = None
        self._later: LaterParts | None = None

    # -------------------------------------------------------------------------------------------- simulation loop

    def start(self, world: World, inbox: Inbox) -> None:
        config = self.config
        if config.settings_file is not None:
            found = read_settings_file(Path(config.settings_file), config.model_dump())
            config = config.model_copy(update=found)
        if not world.robots:
            raise SkerryError("the interface `okon` needs a robot, and the scenario has none; add one under `robots`")
        name = config.robot or next(iter(world.robots))
        robot = world.robots[name]
        self._rate = Rate.of(UPDATE_RATE, world.scenario.step, faster_ok=True)
        self._quality = ImageQuality(config.quality)
        later = config.dialect != "1"
        self._step = float(world.scenario.step)
        self._images = LatestImage(config.depth_range or (20.0 if later else 40.0), DEPTH_STEP if later else 1)
        thrusters = LATER_THRUSTERS if later and "FLH" in robot.actuators else THRUSTERS
        self.robot = OkonRobot(world, inbox, name, thrusters, config.camera, self._images)
        if later:
            self._later = self._make_later_parts(world, name)
        camera = robot.vehicle.config.sensors.get(config.camera)
        if self.robot.has_camera and isinstance(camera, Camera):
            rate = Rate.of(config.video_frequency, world.scenario.step, faster_ok=True)
            self._camera_worker = CameraWorker(robot.sensors[config.camera], camera, rate, self._images)
            self._camera_worker.warm_up()  # compiles the kernels before a client waits for an image
        self._control = OkonServer("control", config.host, config.control_port, self._serve_control)
        self._servers.append(self._control)
        if not later:  # the later dialects send images on the control channel
            self._servers.append(OkonServer("video", config.host, config.video_port, self._serve_video))

    def _make_later_parts(self, world: World, name: str) -> LaterParts:
        config, robot = self.config, world.robots[name]
        dynamic = [key for key, thing in world.scenario.objects.items() if thing.motion == "dynamic"]
        if config.torpedo is not None and config.torpedo not in dynamic:
            raise SkerryError(
                f"okon: the scenario has no dynamic object {config.torpedo!r} for `torpedo`; "
                f"{did_you_mean(config.torpedo, dynamic)}"
            )
        early = config.dialect == "2.0"  # has no modes
        armed = early if config.armed is None else config.armed
        autopilot = OkonAutopilot(self.robot, armed, "manual" if early else "stable")
        return LaterParts(autopilot, CourseProgress(config.course, robot.pose, world.scenario.seed))

    def next_due(self, tick: int) -> int | None:
        # The modes of the later dialects keep steering after their client has disconnected.
        needed = self._later is not None or any(server.clients for server in self._servers)
        return self._rate.next_due(tick) if needed else None

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self.robot.update()
        if self._later is not None:
            self._later.autopilot.update(self.robot.state, self._step)
            self._update_course(self._later.course)
        self._start_image()

    def on_idle(self, readings: Sequence[SensorReading]) -> None:
        self._start_image()

    def _start_image(self) -> None:
        if self._camera_worker is not None:
            self._camera_worker.start_if_due(self.robot.tick)

    @property
    def control_port(self) -> int:
        """Port of the control channel, known after the start."""
        return self._control.port

    @property
    def video_port(self) -> int:
        """Port of the video channel, known after the start."""
        return self._servers[1].port

    @property
    def status(self) -> str:
        if not self._servers:
            return "not started"
        clients = sum(len(server.clients) for server in self._servers)
        ports = ", ".join(f"{server.name} {server.port}" for server in self._servers)
        return f"listens at {self.config.host}, {ports}, {clients} clients"

    def close(self) -> None:
        if self._images is not None:
            self._images.close()
        if self._camera_worker is not None:
            self._camera_worker.close()
        for server in self._servers:
            server.close()

    def _update_course(self, course: CourseProgress) -> None:
        """Start the next run when the robot has hit a zone that ends a run, and notify all clients."""
        if (hit := course.update(self.robot.state.pose.position)) is not None:
            type_ = LaterPacketType.HIT_FZ if hit.finish else LaterPacketType.HIT_NGZ
            packet = LaterOkonSession.framing.encode(type_, write_json({"id": hit.name}))
            moved = self.robot.submit(Teleport.to(self.robot.name, course.start_run()))
            moved.add_done_callback(lambda _: self._broadcast(packet))  # clients then read the pose of the start

    def _broadcast(self, data: bytes) -> None:
        for client in self._control.clients:
            client.push(data)

    # -------------------------------------------------------------------------------------------- clients

    def _serve_control(self, client: ClientConnection) -> None:
        """Serve a client of the control channel until it closes the session."""
        config = self.config
        session: OkonSession | LaterOkonSession
        if self._later is None:
            session = OkonSession(self.robot, self._quality, config.ack_every_request, client.send)
        else:
            early = config.dialect == "2.0"
            parts = (self._later.autopilot, self._later.course, config.torpedo, early)
            session = LaterOkonSession(self.robot, self._quality, *parts, client.send, self._broadcast)
            if config.heartbeat > 0 and not early:
                client.set_receive_timeout(config.heartbeat)
        reader = session.framing.reader()
        while not reader.closed:
            data = client.receive()
            if data is None:
                client.send(session.framing.encode(LaterPacketType.ACK))
                continue
            for packet in reader.feed(data):
                session.receive(packet)

    def _serve_video(self, client: ClientConnection) -> None:
        """Serve a client of the video channel: every byte that arrives is answered by an image."""
        lower_priority()  # encoding an image takes longer than an answer on the control channel may take
        framing = Framing(flagged=False)
        self.robot.images.request()  # starts the camera before the client sends its first request
        shown = 0
        while True:
            for byte in client.receive() or b"":
                if byte != GET_VIDEO:
                    raise SkerryError(f"received byte {byte:02X} on the video channel; expected {GET_VIDEO:02X}")
                if not self.robot.has_camera:
                    raise SkerryError(f"robot {self.robot.name!r} has no camera; set `camera` of the interface")
                image = self.robot.images.wait(shown, REPEAT_AFTER)
                while image is None and not self.robot.images.closed:
                    image = self.robot.images.wait(shown, REPEAT_AFTER)
                if image is None:
                    return
                shown = image.number
                client.send(framing.encode(GET_VIDEO, image.jpeg(self._quality.value)))
