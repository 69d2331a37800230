"""Interface that records all topics of a ROS node and every command."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from skerry import __version__
from skerry.commands import Restore
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.command_json import command_to_text
from skerry.interfaces.recorder.recording_writer import COMMANDS, FINGERPRINTS, RecordingWriter
from skerry.interfaces.ros import Ros
from skerry.interfaces.ros.bridge.node import RosInterface
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.bus.lazy_message import nanoseconds
from skerry.parts.interface import Command, Inbox, Interface, ReadingBatches, RecordingInterface
from skerry.parts.observer import Observer
from skerry.world import Snapshot, World

if TYPE_CHECKING:
    from skerry.interfaces.recorder import Recorder

logger = logging.getLogger("skerry")

ACTIONS = "*/_action/*"
"""Pattern of the topics of actions, which the recorder's own node does not publish."""


class RecorderInterface(RecordingInterface):
    """Recorder of the messages of a node: that of the run's interface `ros`, or its own node without transports."""

    def __init__(self, config: Recorder) -> None:
        self.config = config
        self._own: RosInterface | None = None
        self._bus: Bus | None = None
        self._writer: RecordingWriter | None = None
        self.began = 0.0
        """Time of the world at the start of the recording, s."""
        self._fingerprints = -1
        self._fingerprint_tick = -1  # tick of the latest fingerprint
        self._is_closed = False
        self._must_subscribe = False

    # -------------------------------------------------------------------------------------------- simulation loop

    def check(self, world: World) -> None:
        RosInterface(self._settings(world)).check(world)
        if self.config.path.exists():
            raise SkerryError(f"the file {self.config.path} already exists; remove it, or record to another one")

    def start(self, world: World, inbox: Inbox) -> None:
        self._world, self._inbox = world, inbox
        self.began = world.time
        self._rate = Rate.of(self.config.fingerprint_frequency, world.scenario.step, faster_ok=True)

    def on_all_started(self, others: Mapping[str, Interface]) -> None:
        """Start to record; an interface `ros` with equal settings shares its node, so messages are encoded once."""
        world, settings = self._world, self._settings(self._world)
        nodes = [other for other in others.values() if isinstance(other, RosInterface)]
        node = next((node for node in nodes if _without_transports(node.config) == settings), None)
        if node is None:
            node = self._own = RosInterface(settings)
            node.start(world, self._inbox)
        scenario = world.scenario
        metadata = {
            "version": __version__,
            "scenario": scenario.dump(),
            "seed": str(scenario.seed),
            "step": str(scenario.step),
            "ros": settings.model_dump_json(),
        }
        self._bus = node.bus
        self._bus.time_ns = nanoseconds(world.tick, scenario.step)
        self._writer = RecordingWriter(self.config.path, node.bus, self.config.compression, metadata)
        self._subscribe()
        node.warm_up()

    def _subscribe(self) -> None:
        """Subscribe to all topics that are recorded."""
        assert self._writer is not None
        assert self._bus is not None
        patterns = self.config.leave_out if self._own is None else (*self.config.leave_out, ACTIONS)
        recorded = [name for name in self._bus.topics if not any(fnmatchcase(name, pattern) for pattern in patterns)]
        self._bus.set_subscriptions(self._writer, recorded)

    def world_changed(self) -> None:
        if self._own is not None:
            self._own.world_changed()
        self._must_subscribe = True  # the shared node may not have changed its topics yet

    def start_from(self, snapshot: Snapshot) -> None:
        """Record a snapshot as the first command."""
        text = command_to_text(Restore(snapshot))
        self._put(COMMANDS, f'{{"tick": 0, "do": {text}}}', self._world.tick)

    def next_due(self, tick: int) -> int | None:
        own = self._rate.next_due(tick)
        if self._own is None:
            return own
        due = self._own.next_due(tick)
        self.subscriptions = self._own.subscriptions
        return own if due is None else min(due, own)

    def next_publish_tick(self, tick: int) -> int | None:
        return None if self._own is None else self._own.next_publish_tick(tick)

    @property
    def observers(self) -> tuple[Observer, ...]:  # type: ignore[override]
        return () if self._own is None else self._own.observers

    def publish(self, readings: ReadingBatches) -> None:
        """Record what is due.

        Raises:
            SkerryError: The recording cannot be written any more; the run ends.
        """
        tick = self._world.tick
        if self._writer is not None and self._writer.problem:
            raise SkerryError(f"the recording {self._writer.path} failed: {self._writer.problem}")
        if self._must_subscribe:
            self._must_subscribe = False
            self._subscribe()
        if self._own is not None:
            self._own.publish(readings)
            self.subscriptions = self._own.subscriptions
        if (count := self._rate.count(tick)) != self._fingerprints:
            self._fingerprints = count
            self._record_fingerprint()

    def _record_fingerprint(self) -> None:
        self._fingerprint_tick = tick = self._world.tick
        text = json.dumps({"tick": tick, "fingerprint": self._world.fingerprint()})
        self._put(FINGERPRINTS, text, tick)

    def on_command(self, tick: int, command: Command) -> None:
        try:
            text = command_to_text(command)
        except SkerryError as error:
            logger.warning("the recording cannot be verified, because a command cannot be recorded: %s", error)
            text = json.dumps({"command": type(command).__name__})
        self._put(COMMANDS, f'{{"tick": {tick}, "do": {text}}}', tick)

    def _put(self, topic: str, text: str, tick: int) -> None:
        assert self._writer is not None
        self._writer.put_text(topic, text, nanoseconds(tick, self._world.scenario.step))

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
        if self._own is not None:
            self._own.close()
        if self._writer is not None and self._bus is not None and not self._is_closed:
            self._is_closed = True
            self._bus.set_subscriptions(self._writer, ())
            if self._fingerprint_tick != self._world.tick:
                self._record_fingerprint()
            self._writer.close()

    def _settings(self, world: World) -> Ros:
        """Return the given settings, or those of the scenario's interface `ros`, without transports."""
        others = [other for other in world.scenario.interfaces.values() if isinstance(other, Ros)]
        return _without_transports(self.config.ros or (others[0] if others else Ros()))


def _without_transports(settings: Ros) -> Ros:
    return settings.model_copy(update={"transports": {}})
