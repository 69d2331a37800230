"""Images for Okoń's clients: the camera works only while clients request them, and each image is encoded once."""

from __future__ import annotations

import base64
import time
from functools import cached_property
from threading import Condition, Lock
from typing import Final

import numpy as np
import simplejpeg

from skerry.sensors.camera import CameraReading

REQUEST_TIMEOUT: Final = 3.0
"""Time after the last request for which the camera continues, s; real clients request a second after connecting."""


class OkonImage:
    """Numbered image; its encodings are made at their first use and cached."""

    def __init__(self, number: int, reading: CameraReading, depth_range: float, depth_step: int) -> None:
        self.number = number
        self.reading = reading
        self._depth_range = depth_range
        self._depth_step = depth_step
        self._lock = Lock()
        self._jpegs: dict[int, bytes] = {}

    def jpeg(self, quality: int) -> bytes:
        """Return the colour image as JPEG with a quality from 0 to 100."""
        with self._lock:  # two clients that request it together must not encode it twice
            if quality not in self._jpegs:
                self._jpegs[quality] = self.reading.jpeg(max(quality, 1))
            return self._jpegs[quality]

    @cached_property
    def depth_jpeg(self) -> bytes:
        """Depth as grey JPEG: white at the lens, black at the depth range and beyond."""
        depth = self.reading.depth[self._depth_step // 2 :: self._depth_step, self._depth_step // 2 :: self._depth_step]
        share = np.clip(depth * np.float32(1.0 / self._depth_range), 0.0, 1.0)
        grey = np.rint(np.float32(255.0) * (np.float32(1.0) - share)).astype(np.uint8)
        return simplejpeg.encode_jpeg(grey[..., None], quality=100, colorspace="GRAY")

    @cached_property
    def depth_base64(self) -> str:
        """Depth JPEG as base64 text."""
        return base64.b64encode(self.depth_jpeg).decode("ascii")


class LatestImage:
    """Latest image of one camera; the camera's thread writes it, the threads of clients wait for it."""

    def __init__(self, depth_range: float, depth_step: int = 1) -> None:
        """Create an empty slot.

        Args:
            depth_range: Distance that is black in depth images, m.
            depth_step: Distance between the pixels that a depth image keeps, in pixels of the camera.
        """
        self._depth_range, self._depth_step = depth_range, depth_step
        self._arrived = Condition()
        self._latest: OkonImage | None = None
        self._count = 0
        self._last_request = -np.inf
        self.closed = False

    @property
    def requested_recently(self) -> bool:
        """Whether the last request is less than `REQUEST_TIMEOUT` ago."""
        return time.monotonic() - self._last_request < REQUEST_TIMEOUT

    def request(self) -> None:
        """Request an image, which keeps the camera working."""
        self._last_request = time.monotonic()

    def put(self, reading: CameraReading) -> None:
        """Store a new image and wake the clients that wait for it."""
        with self._arrived:
            self._count += 1
            self._latest = OkonImage(self._count, reading, self._depth_range, self._depth_step)
            self._arrived.notify_all()

    def clear(self) -> None:
        """Drop the latest image, which is outdated when the camera pauses."""
        self._latest = None

    def wait(self, after: int, seconds: float) -> OkonImage | None:
        """Request an image and wait for one that is newer than the number `after`.

        Returns:
            The newer image, or after `seconds` the latest image, which is None if the camera has none.
        """
        self.request()
        with self._arrived:
            self._arrived.wait_for(
                lambda: self.closed or (self._latest is not None and self._latest.number > after), seconds
            )
            return self._latest

    def close(self) -> None:
        """End all waits."""
        with self._arrived:
            self.closed = True
            self._arrived.notify_all()
