"""Plays a recording: runs its world again with the recorded commands, and goes to any time of it.

A recording's time goes on where the world's jumps, as by a reset: it counts the steps that were made.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from skerry.commands import Reset, Restore
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.reading import Done, Recording
from skerry.parts.interface import Command, Inbox, Interface, SensorReading
from skerry.runner import Runner
from skerry.world import Snapshot, World

NAME: Final = "replay"
CHECKPOINT: Final = 5.0  # s between two checkpoints at least,
MOST_CHECKPOINTS: Final = 100  # of which there are at most so many


@dataclass(frozen=True)
class Checkpoint:
    """The world at a place of the recording: the steps made so far, and the commands done so far."""

    place: int
    done: int
    snapshot: Snapshot


class Player(Interface):
    """Does what was commanded, when it was commanded, and pauses at the end.

    It must be the first of the runner's interfaces, so that the others see the world after the commands.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.step = float(recording.step)
        self._commands: list[Done] = []
        tick = place = 0  # of the world, and of the recording
        for event in recording.course():
            if event.tick < tick:
                raise SkerryError(f"{recording.path} goes back in time without a command that would; it was altered")
            place += event.tick - tick
            tick = event.tick
            if isinstance(event, Done) and event.command.changes_world:
                self._commands.append(event)
                tick = _tick_after(event)
        self._end = place
        self._place = self._done = self._tick = 0
        self._period = max(round(CHECKPOINT / self.step), self._end // MOST_CHECKPOINTS, 1)
        self._checkpoints: list[Checkpoint] = []
        self._runner: Runner | None = None

    def watch(self, runner: Runner) -> None:
        """Know who runs the world."""
        self._runner = runner

    @property
    def now(self) -> float:
        """Where it is in the recording, s."""
        return self._place * self.step

    @property
    def end(self) -> float:
        """How long the recording is, s."""
        return self._end * self.step

    # -------------------------------------------------------------------------------------------- of an interface

    def start(self, world: World, inbox: Inbox) -> None:
        self._world = world
        self._tick = world.tick
        self._do_what_is_due()

    def next_due(self, tick: int) -> int | None:
        stops = [self._end, self._checkpoints[-1].place + self._period]
        due = [tick + stop - self._place for stop in stops if stop > self._place]
        if self._done < len(self._commands):
            due.append(self._commands[self._done].tick)
        return min((stop for stop in due if stop > tick), default=None)

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self._place += self._world.tick - self._tick
        self._tick = self._world.tick
        self._do_what_is_due()
        if self._place >= self._end and self._runner is not None:
            self._runner.pause()

    @property
    def status(self) -> str:
        return f"{self.recording.path}: {self.now:.1f} s of {self.end:.1f} s"

    def close(self) -> None:
        self._checkpoints.clear()

    # -------------------------------------------------------------------------------------------- going on

    def _do_what_is_due(self) -> None:
        while self._done < len(self._commands) and self._commands[self._done].tick <= self._world.tick:
            command = self._commands[self._done].command
            self._done += 1
            with suppress(SkerryError):  # it failed then as it does now
                command.apply(self._runner)
        self._tick = self._world.tick
        if not self._checkpoints or self._place >= self._checkpoints[-1].place + self._period:
            self._checkpoints.append(Checkpoint(self._place, self._done, self._world.snapshot()))

    def seek(self, run: Runner, seconds: float) -> None:
        """Go to a time of the recording: from the last checkpoint before it, or from here if that is nearer."""
        target = min(max(round(seconds / self.step), 0), self._end)
        number = bisect_right(self._checkpoints, target, key=lambda checkpoint: checkpoint.place) - 1
        nearest = self._checkpoints[number]
        if not nearest.place <= self._place <= target:
            run.restore(nearest.snapshot)
            self._place, self._done, self._tick = nearest.place, nearest.done, run.world.tick
        while self._place < target:
            stop = self.next_due(run.world.tick)
            left = target - self._place
            steps = left if stop is None else min(left, stop - run.world.tick)
            run.skip(steps)
            self._place += steps
            self._do_what_is_due()


def _tick_after(event: Done) -> int:
    """The world's tick after a command."""
    if isinstance(event.command, Reset):
        return 0
    return event.command.snapshot.tick if isinstance(event.command, Restore) else event.tick


@dataclass(frozen=True)
class Seek(Command):
    """Go to a time of the recording that is played."""

    seconds: float

    def apply(self, run: Runner) -> None:
        player: Any = run.interfaces.get(NAME)
        if player is None:
            raise SkerryError("this is no replay; only a recording can be sought through")
        player.seek(run, self.seconds)
