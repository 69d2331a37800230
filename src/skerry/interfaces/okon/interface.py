"""Okoń's simulator at the border: its ports, and the loop's looks at the robot."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from skerry.commands import Teleport
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError, did_you_mean
from skerry.interfaces.okon.course import Course
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.later_session import THRUSTERS as LATER_THRUSTERS
from skerry.interfaces.okon.later_session import LaterDialogue, LaterType
from skerry.interfaces.okon.packets import GET_VIDEO, Framing, write_json
from skerry.interfaces.okon.painter import Painter
from skerry.interfaces.okon.pictures import Pictures
from skerry.interfaces.okon.pilot import Pilot
from skerry.interfaces.okon.server import Connection, Server
from skerry.interfaces.okon.session import THRUSTERS, Dialogue, Quality
from skerry.interfaces.okon.settings_file import read_settings_file
from skerry.parts.interface import Inbox, Interface, SensorReading
from skerry.rays.threads import give_way
from skerry.sensors.camera import Camera
from skerry.world import World

if TYPE_CHECKING:
    from skerry.interfaces.okon import Okon

logger = logging.getLogger("skerry")

LOOKS: Final = Fraction(200)  # Hz at most, at which the robot is looked at while somebody needs it
REPEAT: Final = 1.0  # s after which a client gets the same picture again, if the world stands still
DEPTH_STEP: Final = 5  # every fifth pixel of 640 × 360: 128 × 72, as in the later versions


class Later(NamedTuple):
    """What the later dialect has besides."""

    pilot: Pilot
    course: Course


class OkonInterface(Interface):
    """Serves Okoń's clients."""

    def __init__(self, config: Okon) -> None:
        self.config = config
        self._servers: list[Server] = []
        self._pictures: Pictures | None = None
        self._painter: Painter | None = None
        self._later: Later | None = None

    # -------------------------------------------------------------------------------------------- of an interface

    def start(self, world: World, inbox: Inbox) -> None:
        config = self.config
        if config.settings_file is not None:
            found = read_settings_file(Path(config.settings_file), config.model_dump())
            config = config.model_copy(update=found)
        if not world.robots:
            raise SkerryError("okon needs a robot, and the scenario has none")
        robot = config.robot or next(iter(world.robots))
        self._rate = Rate.of(LOOKS, world.scenario.step, faster_ok=True)
        self._quality = Quality(config.quality)
        later = config.dialect != "1"
        self._step = float(world.scenario.step)
        self._pictures = Pictures(config.depth_range or (20.0 if later else 40.0), DEPTH_STEP if later else 1)
        thrusters = LATER_THRUSTERS if later and "FLH" in world.robots[robot].actuators else THRUSTERS
        self.craft = Craft(world, inbox, robot, thrusters, config.camera, self._pictures)
        if later:
            self._later = self._prepare(world, robot)
        camera = world.robots[robot].vehicle.config.sensors.get(config.camera)
        if self.craft.has_camera and isinstance(camera, Camera):
            rate = Rate.of(config.video_frequency, world.scenario.step, faster_ok=True)
            self._painter = Painter(world.robots[robot].sensors[config.camera], camera, rate, self._pictures)
            self._painter.warm_up()  # no client shall wait while kernels are compiled
        self._control = Server("control", config.host, config.control_port, self._talk)
        self._servers.append(self._control)
        if not later:  # which sends its pictures on the control channel
            self._servers.append(Server("video", config.host, config.video_port, self._show))

    def _prepare(self, world: World, name: str) -> Later:
        config, robot = self.config, world.robots[name]
        dynamic = [key for key, thing in world.scenario.objects.items() if thing.motion == "dynamic"]
        if config.torpedo is not None and config.torpedo not in dynamic:
            raise SkerryError(
                f"okon: there is no dynamic object {config.torpedo!r}; {did_you_mean(config.torpedo, dynamic)}"
            )
        early = config.dialect == "2.0"  # which has no modes
        armed = early if config.armed is None else config.armed
        pilot = Pilot(self.craft, armed, "manual" if early else "stable")
        return Later(pilot, Course(config.course, robot.pose, world.scenario.seed))

    def next_due(self, tick: int) -> int | None:
        # a mode of the later dialect steers on when its client has gone
        needed = self._later is not None or any(server.clients for server in self._servers)
        return self._rate.next_due(tick) if needed else None

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self.craft.see()
        if self._later is not None:
            self._later.pilot.see(self.craft.instant, self._step)
            self._see_course(self._later.course)
        self._take_picture()

    def on_idle(self, readings: Sequence[SensorReading]) -> None:
        self._take_picture()

    def _take_picture(self) -> None:
        if self._painter is not None:
            self._painter.look(self.craft.tick)

    @property
    def control_port(self) -> int:
        """Where it listens for control, once it has started."""
        return self._control.port

    @property
    def video_port(self) -> int:
        """And for video."""
        return self._servers[1].port

    @property
    def status(self) -> str:
        if not self._servers:
            return "not started"
        clients = sum(len(server.clients) for server in self._servers)
        ports = ", ".join(f"{server.name} {server.port}" for server in self._servers)
        return f"listens at {self.config.host}, {ports}, {clients} clients"

    def close(self) -> None:
        if self._pictures is not None:
            self._pictures.close()
        if self._painter is not None:
            self._painter.close()
        for server in self._servers:
            server.close()

    def _see_course(self, course: Course) -> None:
        """Begin anew where a run has ended, and tell all."""
        if (hit := course.see(self.craft.instant.pose.position)) is not None:
            type_ = LaterType.HIT_FZ if hit.finish else LaterType.HIT_NGZ
            packet = LaterDialogue.framing.encode(type_, write_json({"id": hit.name}))
            promise = self.craft.ask(Teleport(self.craft.name, course.begin()))
            promise.add_done_callback(lambda _: self._broadcast(packet))  # who asks then finds it at the start

    def _broadcast(self, data: bytes) -> None:
        for client in self._control.clients:
            client.push(data)

    # -------------------------------------------------------------------------------------------- with clients

    def _talk(self, client: Connection) -> None:
        """The control channel."""
        config = self.config
        dialogue: Dialogue | LaterDialogue
        if self._later is None:
            dialogue = Dialogue(self.craft, self._quality, config.ack_every_request, client.send)
        else:
            early = config.dialect == "2.0"
            parts = (self._later.pilot, self._later.course, config.torpedo, early)
            dialogue = LaterDialogue(self.craft, self._quality, *parts, client.send, self._broadcast)
            if config.heartbeat > 0 and not early:
                client.wait_at_most(config.heartbeat)
        reader = dialogue.framing.reader()
        while not reader.over:
            data = client.receive()
            if data is None:
                client.send(dialogue.framing.encode(LaterType.ACK))
                continue
            for packet in reader.feed(data):
                dialogue.receive(packet)

    def _show(self, client: Connection) -> None:
        """The video channel: a byte in, a picture out."""
        give_way()  # to encode a picture takes longer than an answer on the other channel may
        framing = Framing(flagged=False)
        self.craft.pictures.ask()  # so that there is one by the time that it asks
        shown = 0
        while True:
            for byte in client.receive() or b"":
                if byte != GET_VIDEO:
                    raise SkerryError(f"{byte:02X} on the video channel, which knows {GET_VIDEO:02X} alone")
                if not self.craft.has_camera:
                    raise SkerryError(f"the robot {self.craft.name!r} has no camera")
                picture = self.craft.pictures.wait(shown, REPEAT)
                while picture is None and not self.craft.pictures.closed:
                    picture = self.craft.pictures.wait(shown, REPEAT)
                if picture is None:
                    return
                shown = picture.number
                client.send(framing.encode(GET_VIDEO, picture.colour(self._quality.value)))
