"""Player of recordings: runs the recorded world again with its commands, and seeks to any time.

The position in a recording is the number of steps since its start. It never goes back, although the world's tick does
after a reset.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from skerry.commands import Reset, Restore
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.recording_reader import ExecutedCommand, Recording
from skerry.parts.interface import Inbox, ReplayInterface, SensorReading
from skerry.runner import Runner
from skerry.world import Snapshot, World

REPLAY: Final = "replay"
"""Name of the player among the interfaces of a runner."""
CHECKPOINT_PERIOD: Final = 5.0
"""Shortest time between two checkpoints, s."""
MAX_CHECKPOINTS: Final = 100
"""Largest number of checkpoints."""


@dataclass(frozen=True)
class Checkpoint:
    """State of the world at a position of the recording."""

    position: int
    """Number of steps since the start of the recording."""
    executed: int
    """Number of commands that were executed before."""
    snapshot: Snapshot


class Player(ReplayInterface):
    """Interface that executes the recorded commands at their ticks, and pauses the runner at the end.

    It must be the first interface of the runner, so that the others observe the world after the commands.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.step = float(recording.step)
        self._commands: list[ExecutedCommand] = []
        tick = position = 0  # tick of the world, position in the recording
        for event in recording.events():
            if event.tick < tick:
                raise SkerryError(
                    f"{recording.path}: the time goes back without a reset or restore command; the file was altered"
                )
            position += event.tick - tick
            tick = event.tick
            if isinstance(event, ExecutedCommand) and event.command.changes_world:
                self._commands.append(event)
                tick = _tick_after(event)
        self._end = position
        self._position = self._executed = self._tick = 0
        self._period = max(round(CHECKPOINT_PERIOD / self.step), self._end // MAX_CHECKPOINTS, 1)
        self._checkpoints: list[Checkpoint] = []
        self._runner: Runner | None = None

    def watch(self, runner: Runner) -> None:
        """Set the runner of the world."""
        self._runner = runner

    @property
    def now(self) -> float:
        """Current time in the recording, s."""
        return self._position * self.step

    @property
    def end(self) -> float:
        """Length of the recording, s."""
        return self._end * self.step

    # -------------------------------------------------------------------------------------------- simulation loop

    def start(self, world: World, inbox: Inbox) -> None:
        self._world = world
        self._tick = world.tick
        self._execute_due()

    def next_due(self, tick: int) -> int | None:
        stops = [self._end, self._checkpoints[-1].position + self._period]
        due = [tick + stop - self._position for stop in stops if stop > self._position]
        if self._executed < len(self._commands):
            due.append(self._commands[self._executed].tick)
        return min((stop for stop in due if stop > tick), default=None)

    def publish(self, readings: Sequence[SensorReading]) -> None:
        self._position += self._world.tick - self._tick
        self._tick = self._world.tick
        self._execute_due()
        if self._position >= self._end and self._runner is not None:
            self._runner.pause()

    @property
    def status(self) -> str:
        return f"{self.recording.path}: {self.now:.1f} s of {self.end:.1f} s"

    def close(self) -> None:
        self._checkpoints.clear()

    # -------------------------------------------------------------------------------------------- commands

    def _execute_due(self) -> None:
        while self._executed < len(self._commands) and self._commands[self._executed].tick <= self._world.tick:
            command = self._commands[self._executed].command
            self._executed += 1
            with suppress(SkerryError):  # the command failed in the recorded run too
                command.apply(self._runner)
        self._tick = self._world.tick
        if not self._checkpoints or self._position >= self._checkpoints[-1].position + self._period:
            self._checkpoints.append(Checkpoint(self._position, self._executed, self._world.snapshot()))

    def seek(self, run: Runner, seconds: float) -> None:
        """Go to a time of the recording, s, from the last checkpoint before it or from here, whichever is nearer."""
        target = min(max(round(seconds / self.step), 0), self._end)
        number = bisect_right(self._checkpoints, target, key=lambda checkpoint: checkpoint.position) - 1
        nearest = self._checkpoints[number]
        if not nearest.position <= self._position <= target:
            run.restore(nearest.snapshot)
            self._position, self._executed, self._tick = nearest.position, nearest.executed, run.world.tick
        while self._position < target:
            stop = self.next_due(run.world.tick)
            left = target - self._position
            steps = left if stop is None else min(left, stop - run.world.tick)
            run.skip(steps)
            self._position += steps
            self._execute_due()


def _tick_after(event: ExecutedCommand) -> int:
    """Return the tick of the world after a command."""
    if isinstance(event.command, Reset):
        return 0
    return event.command.snapshot.tick if isinstance(event.command, Restore) else event.tick
