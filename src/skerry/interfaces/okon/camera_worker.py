"""Thread that renders images for Okoń's clients, one at a time, without stopping the world."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from skerry.core.clock import Rate
from skerry.interfaces.okon.images import LatestImage
from skerry.rays.threads import lower_priority
from skerry.sensors.camera import Camera, CameraReading
from skerry.world.sampling.mounted_sensor import MountedSensor

logger = logging.getLogger("skerry")


class CameraWorker:
    """Renderer with its own camera sensor; on a slow machine it renders less often than `rate`."""

    def __init__(self, part: MountedSensor[CameraReading], config: Camera, rate: Rate, images: LatestImage) -> None:
        self._part, self._rate, self._images = part, rate, images
        self._sensor = config.build()
        self._count = -1  # number of due times at the latest image
        self._job: Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="okon-camera", initializer=lower_priority)

    def warm_up(self) -> None:
        """Render an image and drop it, so that all kernels are compiled."""
        self._part.measure_with(self._sensor)()

    def start_if_due(self, tick: int) -> None:
        """Start an image if one is due and requested and none is in progress; call it between two steps."""
        if not self._images.requested_recently:
            self._images.clear()
            self._count = -1
            return
        count = self._rate.count(tick)
        if count != self._count and (self._job is None or self._job.done()):
            self._count = count
            self._job = self._thread.submit(self._render, self._part.measure_with(self._sensor))

    def _render(self, measure: Callable[[], CameraReading]) -> None:
        try:
            self._images.put(measure())
        except Exception:
            logger.exception("okon: an internal error of Skerry prevented an image; the next image is tried again")

    def close(self) -> None:
        """Finish the image in progress; a second call has no effect."""
        self._thread.shutdown()
