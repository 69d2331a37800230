"""Samples of how all bodies of a world move, kept on the way while it goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate

Floats = NDArray[np.float64]


class Samples:
    """The motion of all bodies whenever a rate is due, and at the end of each advance; see `World.advance_steps`."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self._times: list[float] = []
        self._motions: list[Floats] = []

    def add(self, time: float, motions: Floats) -> None:
        """Keep an instant: the motion of all bodies, (bodies, 13)."""
        self._times.append(time)
        self._motions.append(motions.copy())

    @property
    def time(self) -> Floats:
        """(n,), s."""
        return np.array(self._times)

    def motion(self, body: int) -> Floats:
        """(n, 13), of one body: position, quaternion, velocity and angular velocity in the world."""
        return np.array([motions[body] for motions in self._motions])
