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

    def __init__(self, rate: Rate, buffer: SampleBuffer) -> None:
        self.rate = rate
        self.next_tick = NEVER
        self._buffer = buffer
        self._processed = 0  # all samples up to this tick have been processed

    def restart(self, tick: int, is_needed: bool) -> None:
        """Plan the next stop after `tick`. All samples up to `tick` count as processed."""
        self.next_tick = self.rate.next_due(tick) if is_needed else NEVER
        self._processed = tick

    @property
    def has_pending(self) -> bool:
        """Whether the buffer holds samples that are not processed."""
        ticks = self._buffer.ticks
        return bool(ticks) and ticks[-1] > self._processed

    def take_pending(self) -> DueSamples:
        """Return the pending samples at which the sensor was due, and mark them as processed."""
        buffer = self._buffer
        due = buffer.pending(self._processed, self.rate)
        self._processed = buffer.ticks[-1]
        return due
