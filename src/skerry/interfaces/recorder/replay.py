"""Replay of a recording: verification that the world is identical, or publication of its messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

from pydantic import ValidationError

from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.recording_reader import ExecutedCommand, Fingerprint, Recording
from skerry.interfaces.recorder.recording_writer import COMMANDS, FINGERPRINTS
from skerry.interfaces.ros.bus.bus import LATCHED, Bus, Qos
from skerry.interfaces.ros.bus.transport import TRANSPORTS, Transport
from skerry.runner import Runner
from skerry.world import build_world

LATCHED_TOPICS: Final = {"/tf_static"}
"""Topics that are published as latched, so that late subscribers receive them too."""


class WorldDiffers(SkerryError):
    """The replayed world differs from the recorded one."""


@dataclass(frozen=True)
class Verified:
    """Result of a successful verification: numbers of fingerprints and commands, and time of the world, s."""

    fingerprints: int
    commands: int
    seconds: float


def verify(recording: Recording, watch: Callable[[float], None] = lambda seconds: None) -> Verified:
    """Run the recorded scenario with the recorded commands, and compare all fingerprints.

    Args:
        recording: Recording to verify.
        watch: Callback for the time of the world, s.

    Raises:
        WorldDiffers: A fingerprint differs.
    """
    scenario = {**recording.scenario, "interfaces": {}}
    step = float(recording.step)
    same: float | None = None
    fingerprints = commands = since = 0
    with build_world(scenario) as world, Runner(world, None) as runner:
        for event in recording.events():
            if event.tick < world.tick:
                raise WorldDiffers(
                    f"the recording goes back from {world.time:.3f} s to {event.tick * step:.3f} s without a reset or "
                    f"restore command; a command is missing or was altered"
                )
            world.advance_steps(event.tick - world.tick)
            watch(world.time)
            match event:
                case Fingerprint(_, expected):
                    if world.fingerprint() != expected:
                        raise WorldDiffers(_difference(recording, world.time, same, since))
                    same, since = world.time, 0
                    fingerprints += 1
                case ExecutedCommand(_, command):
                    commands += 1
                    since += 1
                    if command.changes_world:
                        with suppress(SkerryError):  # the command failed in the recorded run too
                            command.apply(runner)
        if not fingerprints:
            raise SkerryError(f"{recording.path} contains no fingerprint of the world, so it cannot be verified")
        return Verified(fingerprints, commands, world.time)


def _difference(recording: Recording, now: float, same: float | None, commands: int) -> str:
    if same is None:
        return (
            f"the world differs from the recording from the start: it was recorded by Skerry {recording.version}, "
            f"perhaps with other files of vehicles or terrain, or on another kind of processor"
        )
    return (
        f"the world differs from the recording at {now:.3f} s; at {same:.3f} s it was the same, with {commands} "
        f"commands in between. A command or the scenario was altered, or the world was changed by other means "
        f"than commands"
    )


def republish(
    recording: Recording,
    kinds: list[str],
    speed: float | None,
    stopped: Event,
    watch: Callable[[float, str], None] = lambda seconds, status: None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> int:
    """Publish the recorded messages, without commands and fingerprints, to ROS.

    Args:
        recording: Recording to publish.
        kinds: Kinds of transports.
        speed: Recorded seconds per second; None is as fast as possible.
        stopped: Event that ends the publication.
        watch: Callback for the recorded time, s, and the status of the transports.
        settings: Settings of the transports by kind.

    Returns:
        Number of messages.
    """
    bus = Bus(recording.codec)
    for message in recording.messages():
        if message.topic not in {COMMANDS, FINGERPRINTS}:
            bus.advertise(message.topic, message.type, LATCHED if message.topic in LATCHED_TOPICS else Qos())
    clock = bus.advertise("/clock", "rosgraph_msgs/Clock", Qos(depth=10))
    transports: list[Transport] = []
    for kind in kinds:
        try:
            config: Any = TRANSPORTS.find(kind).model_validate({"kind": kind, **(settings or {}).get(kind, {})})
        except ValidationError as error:
            raise SkerryError(f"the transport {kind!r} has invalid settings: {error}") from None
        transports.append(config.build())
    count, started, first, last_clock = 0, time.perf_counter(), None, -1
    try:
        for transport in transports:
            transport.start(bus)
        for message in recording.messages():
            if message.topic in {COMMANDS, FINGERPRINTS}:
                continue
            first = message.time if first is None else first
            if speed is not None:
                due = started + (message.time - first) / 1e9 / speed
                if (early := due - time.perf_counter()) > 0 and stopped.wait(early):
                    break
            if stopped.is_set():
                break
            if clock.has_subscribers and message.time != last_clock and message.topic != "/clock":
                last_clock = message.time
                stamp = {"sec": message.time // 10**9, "nanosec": message.time % 10**9}
                clock.publish(recording.codec.make("rosgraph_msgs/Clock", clock=stamp))
            bus.time_ns = message.time
            topic = bus.topics[message.topic]
            if topic.has_subscribers:
                topic.publish(message.cdr)
            count += 1
            watch(message.time / 1e9, "; ".join(transport.status for transport in transports))
    finally:
        for transport in transports:
            transport.close()
    return count
