"""Observers: they see past samples of the world at a fixed rate, so that the world need not stop for them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.parts.state_channel import StateChannel


class PastSamples(Protocol):
    """Several past samples of the world, in the order of time."""

    @property
    def ticks(self) -> list[int]:
        """Ticks of the samples."""

    @property
    def times(self) -> list[float]:
        """Times of the samples, s."""

    def motions(self) -> NDArray[np.float64]:
        """Return the motions of all bodies, (samples, bodies, 13).

        The columns are position, quaternion, velocity and angular velocity in the world.
        """

    def read(self, state_channel: StateChannel) -> NDArray[np.float64]:
        """Return the values of a state channel, (samples,)."""


class Observer:
    """Base class of observers: called with samples of the world at a fixed rate, some time after they were taken.

    During the callbacks the world shows its past state: time, motions of bodies, joints, ropes and actuators. Data
    outside the engine is that of the present: readings, acoustic signals, and the state of controllers.

    `on_samples` gets all samples since the last call. If `needs_replay` is true, `on_sample` is then called once for
    each of these samples.
    """

    rate: Rate  # when samples are taken
    needs_replay: bool = True

    def on_samples(self, past: PastSamples) -> None:
        """Process all samples since the last call, as arrays."""
        return

    def on_sample(self, tick: int) -> None:
        """Read the world, which shows its state at this tick, without changing it."""
        return
