"""An onlooker: sees how the world was at some instants, for which the world need not stop."""

from __future__ import annotations

from typing import Protocol

from skerry.core.clock import Rate


class Onlooker(Protocol):
    """Whoever wants to see the world at a rate, and can wait until it has gone on for a while.

    What it sees then is the world as it was: its time, the motion of bodies, joints, ropes and what actuators do. Only
    what is outside the engine is as it is now: readings, sounds, and what controllers think.
    """

    @property
    def rate(self) -> Rate:
        """When it wants to see it."""

    def see(self, tick: int) -> None:
        """See the world, which is at that tick, and leave it as it is."""
