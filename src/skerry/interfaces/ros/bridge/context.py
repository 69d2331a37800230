"""What all who speak for parts of a world on a bus have in common: frames, inbox, time, and promises of answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.publishers import Timed, Voice
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import stamp
from skerry.parts.interface import Command, Inbox
from skerry.world import World
from skerry.world.frame_tree import FrameTree

logger = logging.getLogger("skerry")


@dataclass(eq=False)
class Context:
    """One world on one bus."""

    world: World
    bus: Bus
    inbox: Inbox
    frames: FrameTree
    timers: list[Timed] = field(default_factory=list)
    voices: list[Voice] = field(default_factory=list)
    standing: list[Command] = field(default_factory=list)
    """Commands that are given at the start, and again whenever the world has gone back in time."""

    def __post_init__(self) -> None:
        self.step = float(self.world.scenario.step)
        self._told: dict[str, str] = {}  # the last failure of each topic

    # -------------------------------------------------------------------------------------------- time

    def rate(self, frequency: Fraction) -> Rate:
        """Due so often a second; what is faster than the step is due at every step."""
        return Rate.of(frequency, self.world.scenario.step, faster_ok=True)

    def add_timer(self, timer: Timed) -> None:
        """Let something be said at a rate of its own."""
        self.timers.append(timer)
        self.bus.when_withdrawn(lambda: self.timers.remove(timer))

    def add_voice(self, voice: Voice) -> None:
        """Let something be said whenever the world has gone on."""
        self.voices.append(voice)
        self.bus.when_withdrawn(lambda: self.voices.remove(voice))

    def stamp(self, tick: int) -> Message:
        """The time of a tick."""
        return stamp(self.bus.codec, tick * self.step)

    def now(self) -> Message:
        """The time of the world."""
        return self.stamp(self.world.tick)

    def header(self, frame: str, tick: int) -> Message:
        """A std_msgs/Header."""
        return self.bus.codec.type("std_msgs/msg/Header")(self.stamp(tick), frame)

    # -------------------------------------------------------------------------------------------- commands

    def do(self, where: str, command: Command) -> None:
        """Hand over a command that came by a topic; a failure is logged, and the same again only after a success."""
        self.inbox.put(command).add_done_callback(partial(self._log_failure, where))

    def _log_failure(self, where: str, done: Future[Any]) -> None:
        problem = "" if done.cancelled() else str(done.exception() or "")
        if problem and problem != self._told.get(where):
            logger.warning("%s: %s", where, problem)
        self._told[where] = problem

    def offer(self, name: str, type_name: str, command: Callable[[Message], Command]) -> None:
        """Answer a service whose answer is `success` and `message`: whether a command was done, and why not."""

        def answer(request: Message) -> Future[Message]:
            return self.answered(self.inbox.put(command(request)), f"{self.bus.services[name].type}_Response")

        self.bus.offer(name, type_name, answer)

    def answered(
        self, asked: Future[Any], type_name: str, then: Callable[[Any], None] = lambda result: None
    ) -> Future[Message]:
        """A promise of an answer that says whether a command was done, and why not."""
        promise: Future[Message] = Future()

        def finish(done: Future[Any]) -> None:
            problem = "the simulation has ended" if done.cancelled() else str(done.exception() or "")
            if not problem:
                then(done.result())
            promise.set_result(self.bus.codec.make(type_name, success=not problem, message=problem))

        asked.add_done_callback(finish)
        return promise
