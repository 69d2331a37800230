"""Ropes on topics: what they pull, how long they are, and what their hooks are at."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bridge.profile import RopeRow
from skerry.interfaces.ros.bridge.publishers import MadeOfThePast
from skerry.interfaces.ros.messages.codec import Message
from skerry.ropes.rope import Rope

FREQUENCY: Final = Fraction(10)  # Hz


def add_rope(context: Context, rope: Rope, row: RopeRow, name: Callable[[str], str]) -> None:
    """Say what a rope does; a rope without a hook has no topic for one."""

    def number(read: Callable[[], float], tick: int) -> Message:
        header = context.header(context.frames.map, tick)
        return context.bus.codec.make("smarc_msgs/FloatStamped", header=header, data=read())

    def phase(tick: int) -> Message:
        return context.bus.codec.make("std_msgs/String", data=rope.phase or "")

    def add(topic: str, type_name: str, make: Callable[[int], Any]) -> None:
        said = context.bus.advertise(name(topic), type_name)
        context.add_timer(MadeOfThePast(said, context.rate(FREQUENCY), context.world.scenario.step, make))

    add(row.tension, "smarc_msgs/FloatStamped", partial(number, partial(_largest_tension, rope)))
    add(row.length, "smarc_msgs/FloatStamped", partial(number, lambda: rope.length))
    if rope.phase is not None:
        add(row.hook, "std_msgs/String", phase)


def _largest_tension(rope: Rope) -> float:
    return float(rope.tension.max(initial=0.0))
