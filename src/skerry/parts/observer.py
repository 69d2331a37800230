"""An onlooker: sees how the world was at some instants, for which the world need not stop."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.parts.state_channel import StateChannel


class PastSamples(Protocol):
    """How the world was at several instants, in the order of time."""

    @property
    def ticks(self) -> list[int]:
        """Of the instants."""

    @property
    def times(self) -> list[float]:
        """The same, s."""

    def motions(self) -> NDArray[np.float64]:
        """Of all bodies, (instants, bodies, 13): position, quaternion, velocity and angular velocity in the world."""

    def read(self, state_channel: StateChannel) -> NDArray[np.float64]:
        """What a gauge showed, (instants,)."""


class Observer:
    """Whoever wants to see the world at a rate, and can wait until it has gone on for a while.

    What it sees then is the world as it was: its time, the motion of bodies, joints, ropes and what actuators do. Only
    what is outside the engine is as it is now: readings, sounds, and what controllers think.

    First it may read what it wants of all instants at once. If it `needs_replay` more, it then sees one after the
    other.
    """

    rate: Rate  # when it wants to see it
    needs_replay: bool = True

    def on_samples(self, past: PastSamples) -> None:
        """Read what can be had of all instants since the last time."""
        return

    def on_sample(self, tick: int) -> None:
        """See the world, which is at that tick, and leave it as it is."""
        return
