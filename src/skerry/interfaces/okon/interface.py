"""Okoń's simulator at the border: its ports, and the loop's looks at the robot."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.okon.craft import Craft
from skerry.interfaces.okon.dialogue import THRUSTERS, Dialogue, Quality
from skerry.interfaces.okon.packets import GET_VIDEO, Framing
from skerry.interfaces.okon.pictures import Pictures
from skerry.interfaces.okon.server import Connection, Server
from skerry.interfaces.okon.settings_file import read_settings_file
from skerry.parts.interface import Inbox, Interface, NewReading
from skerry.world import World

if TYPE_CHECKING:
    from skerry.interfaces.okon import Okon

logger = logging.getLogger("skerry")

LOOKS: Final = Fraction(200)  # Hz at most, at which the robot's motion is copied while there are clients
REPEAT: Final = 1.0  # s after which a client gets the same picture again, if the world stands still
NOTHING: Final[frozenset[tuple[str, str]]] = frozenset()


class OkonInterface(Interface):
    """Serves Okoń's clients."""

    def __init__(self, config: Okon) -> None:
        self.config = config
        self._servers: list[Server] = []
        self._pictures: Pictures | None = None

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
        self._pictures = Pictures(config.depth_range)
        self.craft = Craft(world, inbox, robot, THRUSTERS, config.camera, self._pictures)
        self._camera = NOTHING if self.craft.camera is None else frozenset({self.craft.camera})
        self._control = Server("control", config.host, config.control_port, self._talk)
        self._servers.append(self._control)
        self._video = Server("video", config.host, config.video_port, self._show)
        self._servers.append(self._video)

    def next_due(self, tick: int) -> int | None:
        return self._rate.next_due(tick) if self._control.clients else None

    def publish(self, readings: Sequence[NewReading]) -> None:
        self.craft.see(readings)
        if self.craft.pictures.asked_for:
            self.wanted = self._camera
        elif self.wanted:
            self.wanted = NOTHING
            self.craft.pictures.forget()

    @property
    def control_port(self) -> int:
        """Where it listens for control, once it has started."""
        return self._control.port

    @property
    def video_port(self) -> int:
        """And for video."""
        return self._video.port

    @property
    def status(self) -> str:
        if not self._servers:
            return "okon"
        control, video = self._control, self._video
        clients = len(control.clients) + len(video.clients)
        return f"okon {self.config.host}, control {control.port}, video {video.port}, {clients} clients"

    def close(self) -> None:
        if self._pictures is not None:
            self._pictures.close()
        for server in self._servers:
            server.close()

    # -------------------------------------------------------------------------------------------- with clients

    def _talk(self, client: Connection) -> None:
        """The control channel."""
        dialogue = Dialogue(self.craft, self._quality, self.config.ack_every_request, client.send)
        reader = dialogue.framing.reader()
        while not reader.over:
            for packet in reader.feed(client.receive() or b""):
                dialogue.receive(packet)

    def _show(self, client: Connection) -> None:
        """The video channel: a byte in, a picture out."""
        framing = Framing(flagged=False)
        self.craft.pictures.ask()  # so that there is one by the time that it asks
        shown = 0
        while True:
            for byte in client.receive() or b"":
                if byte != GET_VIDEO:
                    raise SkerryError(f"{byte:02X} on the video channel, which knows {GET_VIDEO:02X} alone")
                if self.craft.camera is None:
                    raise SkerryError(f"the robot {self.craft.name!r} has no camera")
                picture = self.craft.pictures.wait(shown, REPEAT)
                while picture is None and not self.craft.pictures.closed:
                    picture = self.craft.pictures.wait(shown, REPEAT)
                if picture is None:
                    return
                shown = picture.number
                client.send(framing.encode(GET_VIDEO, picture.colour(self._quality.value)))
