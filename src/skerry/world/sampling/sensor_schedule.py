"""Schedule of one sensor: its next live sample, and its pending samples in the buffer."""

from __future__ import annotations

from typing import Final

from skerry.core.clock import Rate
from skerry.world.sampling.sample_buffer import DueSamples, SampleBuffer

NEVER: Final = 2**62
"""Tick that is never reached."""


class SensorSchedule:
    """Due ticks of one sensor.

    Attributes:
        rate: Rate of the sensor.
        next_tick: Next tick at which the world must stop for the sensor.
    """

    def __init__(self, rate: Rate, buffer: SampleBuffer | None) -> None:
        self.rate = rate
        self.next_tick = NEVER
        self._buffer = buffer
        self._processed = 0  # all samples up to this tick have been processed

    def restart(self, tick: int, is_needed: bool) -> None:
        """Plan the next stop after `tick`. All samples up to `tick` count as processed."""
        self.next_tick = self.rate.next_due(tick) if is_needed else NEVER
        self._processed = tick

    def mark_stale(self) -> None:
        """Make the buffer plan its sampled ticks again, because a rate was added or removed."""
        if self._buffer is not None:
            self._buffer.plan_is_stale = True

    @property
    def has_pending(self) -> bool:
        """Whether the buffer holds samples that are not processed."""
        buffer = self._buffer
        return buffer is not None and bool(buffer.ticks) and buffer.ticks[-1] > self._processed

    def take_pending(self) -> DueSamples:
        """Return the pending samples at which the sensor was due, and mark them as processed."""
        buffer = self._buffer
        assert buffer is not None
        due = buffer.pending(self._processed, self.rate)
        self._processed = buffer.ticks[-1]
        return due
