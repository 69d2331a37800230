"""Samples of how all bodies of a world move, kept on the way while it goes on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.parts.observer import Observer, PastSamples
from skerry.world.world import World

Floats = NDArray[np.float64]


class MotionLog(Observer):
    """The motion of all bodies whenever a rate is due: an onlooker of `World.advance_steps`."""

    needs_replay = False

    def __init__(self, world: World, rate: Rate) -> None:
        self.rate = rate
        self._world = world
        self._times: list[float] = []
        self._motions: list[Floats] = []

    def on_samples(self, past: PastSamples) -> None:
        """Keep the motion of all bodies as it was."""
        self._times += past.times
        self._motions.append(past.motions())

    def on_sample(self, tick: int) -> None:
        """Keep the motion of all bodies as it is now."""
        self._times.append(self._world.time)
        self._motions.append(self._world.motions[None].copy())

    @property
    def time(self) -> Floats:
        """(n,), s."""
        return np.array(self._times)

    def motion(self, body: int) -> Floats:
        """(n, 13), of one body: position, quaternion, velocity and angular velocity in the world."""
        return np.concatenate([np.zeros((0, 13)), *(motions[:, body] for motions in self._motions)])
