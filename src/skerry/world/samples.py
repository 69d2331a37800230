"""Samples of how all bodies of a world move, kept on the way while it goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.world.world import World

Floats = NDArray[np.float64]


class Samples:
    """The motion of all bodies whenever a rate is due: an onlooker of `World.advance_steps`."""

    def __init__(self, world: World, rate: Rate) -> None:
        self.rate = rate
        self._world = world
        self._times: list[float] = []
        self._motions: list[Floats] = []

    def see(self, tick: int) -> None:
        """Keep the motion of all bodies as it is now."""
        self._times.append(self._world.time)
        self._motions.append(self._world.motions.copy())

    @property
    def time(self) -> Floats:
        """(n,), s."""
        return np.array(self._times)

    def motion(self, body: int) -> Floats:
        """(n, 13), of one body: position, quaternion, velocity and angular velocity in the world."""
        return np.array([motions[body] for motions in self._motions])
