"""Streams of pictures: cameras with the size and lens that the rover server asks for, as fast as the machine can.

Pictures are taken beside the world, never by stopping it. If they take longer than was asked for, the camera that has
waited longest is the next, so that the rate of all falls evenly.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from threading import Lock, Semaphore
from typing import Final

from skerry.core.clock import Rate
from skerry.interfaces.husky.messages import OpenStream
from skerry.rays.threads import lower_priority
from skerry.sensors.camera import Camera, CameraReading, CameraSensor
from skerry.world.sampling.mounted_sensor import MountedSensor

logger = logging.getLogger("skerry")

PAINTERS: Final = 2  # threads: while one encodes, the rays of the next picture are sent
AHEAD: Final = 3  # pictures that are begun: those, and one that is next, as the loop may come by a little later
TOLD_AT: Final = 20  # pictures that a camera has missed when it is told that the machine is too slow


@dataclass(eq=False)
class Stream:
    """An open stream of one camera."""

    request: OpenStream
    part: MountedSensor
    sensor: CameraSensor
    rate: Rate
    count: int = -1  # of due instants, at the latest picture
    turn: int = 0  # the number of that picture among those of all cameras
    missed: int = 0
    looking: Lock = field(default_factory=Lock)  # it takes one picture at a time
    shown: int = 0  # the number of the latest that was delivered


class Streams:
    """All open streams. `deliver` gets the camera's name and the JPEG of each picture, in a thread of its own."""

    def __init__(self, step: Fraction, deliver: Callable[[str, bytes], None]) -> None:
        self._step = step
        self._deliver = deliver
        self._open: dict[str, Stream] = {}  # replaced, never changed, as two threads look at it
        self._begun = Semaphore(AHEAD)
        self._turn = 0
        self._told = False
        self._painters = ThreadPoolExecutor(PAINTERS, thread_name_prefix="husky-cameras", initializer=lower_priority)

    def __len__(self) -> int:
        return len(self._open)

    def open(self, request: OpenStream, part: MountedSensor, config: Camera) -> None:
        """Open a stream, unless it is open just so; a camera that was open otherwise changes."""
        before = self._open.get(request.camera)
        if before is not None and before.request == request:
            return
        rate = Rate.of(Fraction(request.fps), self._step, faster_ok=True)
        stream = Stream(request, part, camera_as_asked(config, request).build(), rate)
        self._open = {**self._open, request.camera: stream}

    def close(self, camera: str) -> None:
        """Close a stream, if it is open."""
        self._open = {name: stream for name, stream in self._open.items() if name != camera}

    def take_pictures(self, tick: int) -> None:
        """Begin with pictures that are due, as many as there is room for; called between two steps of the world."""
        for stream in sorted(self._open.values(), key=lambda stream: stream.turn):
            count = stream.rate.count(tick)
            if count != stream.count and self._begun.acquire(blocking=False):
                if stream.count >= 0:
                    self._miss(stream, count - stream.count - 1)
                self._turn += 1
                stream.count, stream.turn = count, self._turn
                self._painters.submit(self._paint, stream, self._turn, stream.part.look_through(stream.sensor))

    def next_due(self, tick: int) -> int | None:
        """The first tick after this one at which a picture is due."""
        return min((stream.rate.next_due(tick) for stream in self._open.values()), default=None)

    def shut(self) -> None:
        """Finish the pictures that are begun, and end the threads."""
        self._open = {}
        self._painters.shutdown()

    def _paint(self, stream: Stream, turn: int, look: Callable[[], CameraReading]) -> None:
        try:
            with stream.looking:
                reading = look()
            jpeg = reading.jpeg()
            with stream.looking:
                if turn > stream.shown and self._open.get(stream.request.camera) is stream:
                    stream.shown = turn
                    self._deliver(stream.request.camera, jpeg)
        except Exception:
            logger.exception("husky: no picture of the camera %s; its stream is closed", stream.request.camera)
            self.close(stream.request.camera)
        finally:
            self._begun.release()

    def _miss(self, stream: Stream, missed: int) -> None:
        stream.missed += max(missed, 0)
        if stream.missed >= TOLD_AT and not self._told:
            self._told = True
            logger.warning(
                "husky: this machine is too slow for %d cameras at the rate that was asked for; all get fewer pictures",
                len(self._open),
            )


def camera_as_asked(config: Camera, request: OpenStream) -> Camera:
    """The camera with the size that is asked for, and that lens; by default its own, with the same view up and down."""
    if request.intrinsics is not None:
        fx, fy, cx, cy = request.intrinsics
    else:
        lens = config.lens()
        scale = request.height / lens.height
        fx, fy = scale * lens.fx, scale * lens.fy
        cx = 0.5 * (request.width - 1) + scale * (lens.cx - 0.5 * (lens.width - 1))
        cy = 0.5 * (request.height - 1) + scale * (lens.cy - 0.5 * (lens.height - 1))
    ways = ("horizontal_fov_deg", "vertical_fov_deg", "sensor_size_mm", "focal_length_mm")
    asked = {"width": request.width, "height": request.height, "intrinsics": {"fx": fx, "fy": fy, "cx": cx, "cy": cy}}
    return Camera.model_validate(config.model_dump() | dict.fromkeys(ways) | asked)
