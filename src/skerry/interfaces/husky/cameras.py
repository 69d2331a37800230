"""Camera streams with the image size and lens that the rover server requests.

Images are rendered in threads beside the world and never stop it. If the machine is too slow for the requested rates,
the camera that has waited longest is rendered next, so that the rates of all cameras fall evenly.
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

RENDER_THREADS: Final = 2
"""Number of threads: while one encodes an image, the other casts the rays of the next."""
MAX_PENDING: Final = 3
"""Number of images in progress: one per thread, and one that waits, because the loop may come late."""
MISSED_BEFORE_WARNING: Final = 20
"""Number of missed images of a camera after which a warning is logged."""


@dataclass(eq=False)
class CameraStream:
    """Open stream of one camera."""

    request: OpenStream
    part: MountedSensor[CameraReading]
    sensor: CameraSensor
    rate: Rate
    count: int = -1
    """Number of due times at the latest image."""
    number: int = 0
    """Number of the latest image, counted over all cameras."""
    missed: int = 0
    lock: Lock = field(default_factory=Lock)
    """Lock that keeps the sensor in one thread at a time."""
    delivered: int = 0
    """Number of the latest image that was delivered."""


class CameraStreams:
    """All open camera streams."""

    def __init__(self, step: Fraction, deliver: Callable[[str, bytes], None]) -> None:
        """Create the threads.

        Args:
            step: Length of a step of the world, s.
            deliver: Function that receives the name of a camera and a JPEG image; called in a render thread.
        """
        self._step = step
        self._deliver = deliver
        self._open: dict[str, CameraStream] = {}  # replaced, never changed, because two threads read it
        self._pending = Semaphore(MAX_PENDING)
        self._count = 0
        self._warned = False
        self._threads = ThreadPoolExecutor(
            RENDER_THREADS, thread_name_prefix="husky-cameras", initializer=lower_priority
        )

    def __len__(self) -> int:
        return len(self._open)

    def open(self, request: OpenStream, part: MountedSensor[CameraReading], config: Camera) -> None:
        """Open a stream, or replace the stream of this camera if its request differs."""
        before = self._open.get(request.camera)
        if before is not None and before.request == request:
            return
        rate = Rate.of(Fraction(request.fps), self._step, faster_ok=True)
        stream = CameraStream(request, part, camera_for_request(config, request).build(), rate)
        self._open = {**self._open, request.camera: stream}

    def close(self, camera: str) -> None:
        """Close a stream if it is open."""
        self._open = {name: stream for name, stream in self._open.items() if name != camera}

    def start_images(self, tick: int) -> None:
        """Start the images that are due, up to `MAX_PENDING` in progress; call it between two steps of the world."""
        for stream in sorted(self._open.values(), key=lambda stream: stream.number):
            count = stream.rate.count(tick)
            if count != stream.count and self._pending.acquire(blocking=False):
                if stream.count >= 0:
                    self._count_missed(stream, count - stream.count - 1)
                self._count += 1
                stream.count, stream.number = count, self._count
                self._threads.submit(self._render, stream, self._count, stream.part.measure_with(stream.sensor))

    def next_due(self, tick: int) -> int | None:
        """Return the first tick after `tick` at which an image is due, or None without streams."""
        return min((stream.rate.next_due(tick) for stream in self._open.values()), default=None)

    def close_all(self) -> None:
        """Close all streams, finish the images in progress and end the threads."""
        self._open = {}
        self._threads.shutdown()

    def _render(self, stream: CameraStream, number: int, measure: Callable[[], CameraReading]) -> None:
        try:
            with stream.lock:
                reading = measure()
            jpeg = reading.jpeg()
            with stream.lock:
                if number > stream.delivered and self._open.get(stream.request.camera) is stream:
                    stream.delivered = number
                    self._deliver(stream.request.camera, jpeg)
        except Exception:
            logger.exception("husky: rendering camera %s failed; its stream is closed", stream.request.camera)
            self.close(stream.request.camera)
        finally:
            self._pending.release()

    def _count_missed(self, stream: CameraStream, missed: int) -> None:
        stream.missed += max(missed, 0)
        if stream.missed >= MISSED_BEFORE_WARNING and not self._warned:
            self._warned = True
            logger.warning(
                "husky: this machine is too slow for %d cameras at the requested rate; all get fewer images",
                len(self._open),
            )


def camera_for_request(config: Camera, request: OpenStream) -> Camera:
    """Return the settings of a camera with the image size and lens of a request.

    Without intrinsics in the request, the lens is that of the camera, scaled to keep its vertical field of view.
    """
    if request.intrinsics is not None:
        fx, fy, cx, cy = request.intrinsics
    else:
        lens = config.lens()
        scale = request.height / lens.height
        fx, fy = scale * lens.fx, scale * lens.fy
        cx = 0.5 * (request.width - 1) + scale * (lens.cx - 0.5 * (lens.width - 1))
        cy = 0.5 * (request.height - 1) + scale * (lens.cy - 0.5 * (lens.height - 1))
    replaced = ("horizontal_fov_deg", "vertical_fov_deg", "sensor_size_mm", "focal_length_mm")
    size = {"width": request.width, "height": request.height, "intrinsics": {"fx": fx, "fy": fy, "cx": cx, "cy": cy}}
    return Camera.model_validate(config.model_dump() | dict.fromkeys(replaced) | size)
