"""An onlooker: sees how the world was at some instants, for which the world need not stop."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from skerry.core.clock import Rate
from skerry.parts.state_channel import Gauge


class Past(Protocol):
    """How the world was at several instants, in the order of time."""

    @property
    def ticks(self) -> list[int]:
        """Of the instants."""

    @property
    def times(self) -> list[float]:
        """The same, s."""

    def motions(self) -> NDArray[np.float64]:
        """Of all bodies, (instants, bodies, 13): position, quaternion, velocity and angular velocity in the world."""

    def read(self, gauge: Gauge) -> NDArray[np.float64]:
        """What a gauge showed, (instants,)."""


class Onlooker:
    """Whoever wants to see the world at a rate, and can wait until it has gone on for a while.

    What it sees then is the world as it was: its time, the motion of bodies, joints, ropes and what actuators do. Only
    what is outside the engine is as it is now: readings, sounds, and what controllers think.

    First it may read what it wants of all instants at once. If it `must_be_shown` more, it then sees one after the
    other.
    """

    rate: Rate  # when it wants to see it
    must_be_shown: bool = True

    def look_back(self, past: Past) -> None:
        """Read what can be had of all instants since the last time."""
        return

    def see(self, tick: int) -> None:
        """See the world, which is at that tick, and leave it as it is."""
        return
