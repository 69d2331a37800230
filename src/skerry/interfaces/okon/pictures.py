"""Pictures for Okoń's clients: of a camera that works only while somebody asks, each encoded once."""

from __future__ import annotations

import base64
import time
from functools import cached_property
from threading import Condition, Lock
from typing import Final

import numpy as np
import simplejpeg

from skerry.sensors.camera import CameraReading

LINGER: Final = 3.0  # s after the last request for which the camera goes on; real clients ask a second after they came


class Picture:
    """A picture with a number; its encodings are made when they are first asked for, and kept."""

    def __init__(self, number: int, reading: CameraReading, farthest: float, depth_step: int) -> None:
        self.number = number
        self.reading = reading
        self._farthest = farthest
        self._depth_step = depth_step
        self._lock = Lock()
        self._colour: dict[int, bytes] = {}

    def colour(self, quality: int) -> bytes:
        """JPEG, at a quality from 0 to 100."""
        with self._lock:  # two who ask at once want it made once
            if quality not in self._colour:
                self._colour[quality] = self.reading.jpeg(max(quality, 1))
            return self._colour[quality]

    @cached_property
    def depth(self) -> bytes:
        """JPEG in grey: white at the lens, black at the farthest distance and beyond."""
        depth = self.reading.depth[self._depth_step // 2 :: self._depth_step, self._depth_step // 2 :: self._depth_step]
        share = np.clip(depth * np.float32(1.0 / self._farthest), 0.0, 1.0)
        grey = np.rint(np.float32(255.0) * (np.float32(1.0) - share)).astype(np.uint8)
        return simplejpeg.encode_jpeg(grey[..., None], quality=100, colorspace="GRAY")

    @cached_property
    def depth_base64(self) -> str:
        """The same as text."""
        return base64.b64encode(self.depth).decode("ascii")


class Pictures:
    """The latest picture of one camera; filled by the loop, taken by the threads of clients."""

    def __init__(self, farthest: float, depth_step: int = 1) -> None:
        """`farthest` m is black in pictures of depth, which have every so many-th pixel."""
        self._farthest, self._depth_step = farthest, depth_step
        self._arrived = Condition()
        self._latest: Picture | None = None
        self._count = 0
        self._asked = -np.inf
        self.closed = False

    @property
    def asked_for(self) -> bool:
        """Whether somebody has lately wanted one."""
        return time.monotonic() - self._asked < LINGER

    def ask(self) -> None:
        """Let there be one soon."""
        self._asked = time.monotonic()

    def put(self, reading: CameraReading) -> None:
        """Take a new one."""
        with self._arrived:
            self._count += 1
            self._latest = Picture(self._count, reading, self._farthest, self._depth_step)
            self._arrived.notify_all()

    def forget(self) -> None:
        """The camera rests; what it saw last is old."""
        self._latest = None

    def wait(self, after: int, seconds: float) -> Picture | None:
        """One that is newer than a number; the latest, or None, if none comes in time."""
        self.ask()
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
