"""Runs a recording again: as a world that must come out the same, or as messages to peers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from typing import Any, Final

from pydantic import ValidationError

from skerry.core.errors import SkerryError
from skerry.interfaces.recorder.reading import Done, Fingerprint, Recording
from skerry.interfaces.recorder.writing import COMMANDS, FINGERPRINTS
from skerry.interfaces.ros.bus.bus import LATCHED, Bus, Qos
from skerry.interfaces.ros.bus.transport import TRANSPORTS, Transport
from skerry.runner import Runner
from skerry.world import build_world

LATCHED_TOPICS: Final = {"/tf_static"}


class WorldDiffers(SkerryError):
    """A world that was run again did not come out as it was recorded."""


@dataclass(frozen=True)
class Verified:
    """What was found to be the same."""

    fingerprints: int
    commands: int
    seconds: float


def verify(recording: Recording, watch: Callable[[float], None] = lambda seconds: None) -> Verified:
    """Run the recorded scenario with the recorded commands; raises `WorldDiffers` where the world is not the same."""
    scenario = {**recording.scenario, "interfaces": {}}
    step = float(recording.step)
    same: float | None = None
    fingerprints = commands = since = 0
    with build_world(scenario) as world, Runner(world, None) as runner:
        for event in recording.course():
            if event.tick < world.tick:
                raise WorldDiffers(
                    f"the recording goes back from {world.time:.3f} s to {event.tick * step:.3f} s without a command "
                    f"that would; a command is missing or was altered"
                )
            world.advance_steps(event.tick - world.tick)
            watch(world.time)
            match event:
                case Fingerprint(_, expected):
                    if world.fingerprint() != expected:
                        raise WorldDiffers(_difference(recording, world.time, same, since))
                    same, since = world.time, 0
                    fingerprints += 1
                case Done(_, command):
                    commands += 1
                    since += 1
                    if command.changes_world:
                        with suppress(SkerryError):  # it failed then as it does now
                            command.apply(runner)
        if not fingerprints:
            raise SkerryError(f"{recording.path} has no fingerprint of the world to compare with")
        return Verified(fingerprints, commands, world.time)


def _difference(recording: Recording, now: float, same: float | None, commands: int) -> str:
    if same is None:
        return (
            f"the world differs from the recording from the beginning: it was made by Skerry {recording.version}, and "
            f"perhaps with other files of vehicles or ground, or another machine's arithmetic"
        )
    return (
        f"the world differs from the recording at {now:.3f} s; at {same:.3f} s it was the same, with {commands} "
        f"commands in between. A command or the scenario was altered, or the world was changed in other ways "
        f"than by commands"
    )


def republish(
    recording: Recording,
    kinds: list[str],
    speed: float | None,
    stopped: Event,
    watch: Callable[[float, str], None] = lambda seconds, status: None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> int:
    """Say what was recorded to peers, over transports of these kinds; returns how many messages there were.

    `speed` is simulated seconds per second; None is as fast as it goes. Commands are not said.
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
            raise SkerryError(f"{kind}: {error}") from None
        transports.append(config.build())
    count, begun, first, last_clock = 0, time.perf_counter(), None, -1
    try:
        for transport in transports:
            transport.start(bus)
        for message in recording.messages():
            if message.topic in {COMMANDS, FINGERPRINTS}:
                continue
            first = message.time if first is None else first
            if speed is not None:
                due = begun + (message.time - first) / 1e9 / speed
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
