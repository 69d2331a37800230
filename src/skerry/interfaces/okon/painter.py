"""Takes pictures for Okoń's clients beside the world, one after the other, and never stops it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from skerry.core.clock import Rate
from skerry.interfaces.okon.pictures import Pictures
from skerry.rays.threads import give_way
from skerry.sensors.camera import Camera, CameraReading
from skerry.world.sampling.mounted_sensor import MountedSensor

logger = logging.getLogger("skerry")


class Painter:
    """Looks through a camera with a lens of its own, at a rate at most; on a slow machine as often as that can."""

    def __init__(self, part: MountedSensor, config: Camera, rate: Rate, pictures: Pictures) -> None:
        self._part, self._rate, self._pictures = part, rate, pictures
        self._sensor = config.build()
        self._count = -1  # of due instants, at the latest picture
        self._job: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="okon-camera", initializer=give_way)

    def warm_up(self) -> None:
        """Take a picture that nobody sees, so that kernels are compiled."""
        self._part.look_through(self._sensor)()

    def look(self, tick: int) -> None:
        """Begin a picture, if one is due, somebody wants it and none is being made; between two steps of the world."""
        if not self._pictures.asked_for:
            self._pictures.forget()
            self._count = -1
            return
        count = self._rate.count(tick)
        if count != self._count and (self._job is None or self._job.done()):
            self._count = count
            self._job = self._thread.submit(self._paint, self._part.look_through(self._sensor))

    def _paint(self, look: Callable[[], CameraReading]) -> None:
        try:
            self._pictures.put(look())
        except Exception:
            logger.exception("okon: there is no picture, by a fault of Skerry's")

    def close(self) -> None:
        """Finish the picture that is being made; closing twice is harmless."""
        self._thread.shutdown()
