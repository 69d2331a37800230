"""The interface that records: takes all topics of a profile, and witnesses every command."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from skerry import __version__
from skerry.commands import Restore
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.plain import command_to_text
from skerry.interfaces.recorder.writing import COMMANDS, FINGERPRINTS, RecordingWriter
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.node import RosInterface
from skerry.parts.interface import Command, Inbox, Interface, NewReading
from skerry.world import Snapshot, World

if TYPE_CHECKING:
    from skerry.interfaces.recorder import Recorder

logger = logging.getLogger("skerry")

ACTIONS = "*/_action/*"  # its own node serves no goals, so it has nothing to say about them


class RecorderInterface(Interface):
    """Has a node of its own, whose messages go to the file and to nobody else."""

    def __init__(self, config: Recorder) -> None:
        self.config = config
        self._node: RosInterface | None = None
        self._writer: RecordingWriter | None = None
        self.began = 0.0
        """The world's time at its start, s."""
        self._passed = 0  # ticks of the run before the last jump back in time
        self._tick = 0
        self._fingerprints = -1

    # -------------------------------------------------------------------------------------------- of an interface

    def check(self, world: World) -> None:
        RosInterface(self._settings(world)).check(world)
        if self.config.path.exists():
            raise SkerryError(f"there is a file {self.config.path} already; remove it, or record to another one")

    def start(self, world: World, inbox: Inbox) -> None:
        self._world = world
        self.began = world.time
        settings = self._settings(world)
        self._node = node = RosInterface(settings)
        node.start(world, inbox)
        scenario = world.scenario
        metadata = {
            "version": __version__,
            "scenario": scenario.dump(),
            "seed": str(scenario.seed),
            "step": str(scenario.step),
            "ros": settings.model_dump_json(),
        }
        self._writer = RecordingWriter(self.config.path, node.bus, self.config.compression, metadata)
        self._rate = Rate.of(self.config.fingerprint_frequency, scenario.step, faster_ok=True)
        self._tick = world.tick
        patterns = (*self.config.leave_out, ACTIONS)
        taken = [name for name in node.bus.topics if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        self._set_time(world.tick)
        node.bus.takers(self._writer, taken)

    def begin_with(self, snapshot: Snapshot) -> None:
        """Let whoever runs the recording again begin at this state rather than at the scenario's."""
        assert self._writer is not None
        self._writer.put_text(COMMANDS, f'{{"tick": 0, "do": {command_to_text(Restore(snapshot))}}}')

    def next_due(self, tick: int) -> int | None:
        assert self._node is not None
        due = self._node.next_due(tick)
        own = self._rate.next_due(tick)
        return own if due is None else min(due, own)

    def publish(self, readings: Sequence[NewReading]) -> None:
        assert self._node is not None
        assert self._writer is not None
        tick = self._world.tick
        self._set_time(tick)
        self._node.publish(readings)
        self.wanted = self._node.wanted
        if (count := self._rate.count(tick)) != self._fingerprints:
            self._fingerprints = count
            text = json.dumps({"tick": tick, "fingerprint": self._world.fingerprint()})
            self._writer.put_text(FINGERPRINTS, text)

    def witness(self, tick: int, command: Command) -> None:
        assert self._writer is not None
        self._set_time(tick)
        try:
            text = command_to_text(command)
        except SkerryError as error:
            logger.warning("the recording cannot be verified: %s", error)
            text = json.dumps({"command": type(command).__name__})
        self._writer.put_text(COMMANDS, f'{{"tick": {tick}, "do": {text}}}')

    @property
    def status(self) -> str:
        writer = self._writer
        if writer is None:
            return f"records to {self.config.path}"
        if writer.problem:
            return f"recording failed: {writer.problem}"
        dropped = writer.dropped.total()
        return f"{writer.path}: {writer.written} messages" + (f", {dropped} dropped" if dropped else "")

    def close(self) -> None:
        if self._node is not None:
            self._node.close()
        if self._writer is not None:
            self._writer.close()

    # -------------------------------------------------------------------------------------------- details

    def _settings(self, world: World) -> Ros:
        """Those given, or those of the scenario's interface of ROS; without any way to peers."""
        others = [other for other in world.scenario.interfaces.values() if isinstance(other, Ros)]
        chosen = self.config.ros or (others[0] if others else Ros())
        return chosen.model_copy(update={"transports": {}})

    def _set_time(self, tick: int) -> None:
        """Let the file's time go on where the world's goes back, as players want messages in the order of time."""
        assert self._writer is not None
        if tick < self._tick:
            self._passed += self._tick - tick
        self._tick = tick
        step = self._world.scenario.step
        self._writer.now = int((tick + self._passed) * step * 1_000_000_000)
