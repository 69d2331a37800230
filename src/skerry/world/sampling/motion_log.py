"""Recording of the motions of all bodies at a fixed rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.parts.observer import Observer, PastSamples
from skerry.world.world import World

Floats = NDArray[np.float64]


class MotionLog(Observer):
    """Observer that records the motions of all bodies; pass it to `World.advance_steps`."""

    needs_replay = False

    def __init__(self, world: World, rate: Rate) -> None:
        self.rate = rate
        self._world = world
        self._times: list[float] = []
        self._motions: list[Floats] = []

    def on_samples(self, past: PastSamples) -> None:
        """Append the motions of past samples."""
        self._times += past.times
        self._motions.append(past.motions())

    def on_sample(self, tick: int) -> None:
        """Append the present motions."""
        self._times.append(self._world.time)
        self._motions.append(self._world.motions[None].copy())

    @property
    def time(self) -> Floats:
        """Times of the samples, (n,), s."""
        return np.array(self._times)

    def motion(self, body: int) -> Floats:
        """Return the motion of one body, (n, 13): position, quaternion, velocity and angular velocity in the world."""
        return np.concatenate([np.zeros((0, 13)), *(motions[:, body] for motions in self._motions)])
