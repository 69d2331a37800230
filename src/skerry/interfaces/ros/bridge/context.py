"""Objects and functions that all features of the bridge share: world, bus, inbox, frames, time and commands."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.profile import TopicProfile
from skerry.interfaces.ros.bridge.schedule import PublisherSchedule
from skerry.interfaces.ros.bus.bus import Bus
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import stamp
from skerry.parts.interface import Command, Inbox
from skerry.world import World
from skerry.world.frame_tree import FrameTree

if TYPE_CHECKING:
    from skerry.interfaces.ros import Ros

logger = logging.getLogger("skerry")


@dataclass(eq=False)
class BridgeContext:
    """Context of the features: the world, its bus, and the settings of the interface."""

    config: Ros
    world: World
    bus: Bus
    inbox: Inbox
    frames: FrameTree
    profile: TopicProfile
    startup_commands: list[Command] = field(default_factory=list)
    """Commands that are sent at the start, and again after each reset or restore of the world."""

    def __post_init__(self) -> None:
        self.step = float(self.world.scenario.step)
        self.schedule = PublisherSchedule(self.bus)
        self._last_failures: dict[str, str] = {}  # last failure of the commands of each topic

    # -------------------------------------------------------------------------------------------- time

    def rate(self, frequency: Fraction) -> Rate:
        """Return the rate of a frequency, Hz; a rate faster than the steps is due at each step."""
        return Rate.of(frequency, self.world.scenario.step, faster_ok=True)

    def stamp(self, tick: int) -> Message:
        """Return the time of a tick as a message."""
        return stamp(self.bus.codec, tick * self.step)

    def now(self) -> Message:
        """Return the time of the world as a message."""
        return self.stamp(self.world.tick)

    def header(self, frame: str, tick: int) -> Message:
        """Return a std_msgs/Header."""
        return self.bus.codec.type("std_msgs/msg/Header")(self.stamp(tick), frame)

    # -------------------------------------------------------------------------------------------- commands

    def send_command(self, topic: str, command: Command) -> None:
        """Send a command that was received on a topic; log a failure, but log equal failures in a row only once."""
        self.inbox.put(command).add_done_callback(partial(self._log_failure, topic))

    def _log_failure(self, topic: str, done: Future[Any]) -> None:
        problem = "" if done.cancelled() else str(done.exception() or "")
        if problem and problem != self._last_failures.get(topic):
            logger.warning("%s: %s", topic, problem)
        self._last_failures[topic] = problem

    def send_startup_commands(self) -> None:
        """Send the commands that each run begins with."""
        for command in self.startup_commands:
            self.inbox.put(command)

    def add_command_service(self, name: str, type_name: str, command: Callable[[Message], Command]) -> None:
        """Add a service that sends a command; its response has the fields `success` and `message`.

        Args:
            name: Name of the service.
            type_name: Type of the service.
            command: Function that returns the command of a request.
        """

        def handle(request: Message) -> Future[Message]:
            return self.response_to(self.inbox.put(command(request)), f"{self.bus.services[name].type}_Response")

        self.bus.add_service(name, type_name, handle)

    def response_to(
        self, command: Future[Any], type_name: str, on_success: Callable[[Any], None] = lambda result: None
    ) -> Future[Message]:
        """Return the future response to a command: whether it succeeded, and the error message.

        Args:
            command: Future of the command.
            type_name: Type of the response.
            on_success: Function that is called with the result of the command.
        """
        response: Future[Message] = Future()

        def finish(done: Future[Any]) -> None:
            problem = "the simulation has ended" if done.cancelled() else str(done.exception() or "")
            if not problem:
                on_success(done.result())
            response.set_result(self.bus.codec.make(type_name, success=not problem, message=problem))

        command.add_done_callback(finish)
        return response
