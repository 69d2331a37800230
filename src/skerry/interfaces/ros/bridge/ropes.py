"""Topics of ropes: tension, length and the state of the hook."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bridge.profile import topic_name
from skerry.interfaces.ros.bridge.publishers import SampledFunctionPublisher
from skerry.interfaces.ros.messages.codec import Message
from skerry.ropes.rope import Rope

FREQUENCY: Final = Fraction(10)  # Hz


class RopeFeature(Feature):
    """Publishes the state of each rope, if the profile has topics for ropes."""

    def add_rope(self, name: str) -> None:
        row = self.context.profile.ropes
        if row is None:
            return
        context, rope = self.context, self.context.world.ropes[name]
        owner, _, part = name.rpartition("/")

        def number(read: Callable[[], float], tick: int) -> Message:
            header = context.header(context.frames.map, tick)
            return context.bus.codec.make("smarc_msgs/FloatStamped", header=header, data=read())

        def phase(tick: int) -> Message:
            return context.bus.codec.make("std_msgs/String", data=rope.phase or "")

        def add(pattern: str, type_name: str, make: Callable[[int], Any]) -> None:
            topic = context.bus.advertise(_topic(owner, part, pattern), type_name)
            step = context.world.scenario.step
            context.schedule.add_timed(SampledFunctionPublisher(topic, context.rate(FREQUENCY), step, make))

        add(row.tension, "smarc_msgs/FloatStamped", partial(number, partial(_largest_tension, rope)))
        add(row.length, "smarc_msgs/FloatStamped", partial(number, lambda: rope.length))
        if rope.phase is not None:
            add(row.hook, "std_msgs/String", phase)


def _largest_tension(rope: Rope) -> float:
    return float(rope.tension.max(initial=0.0))


def _topic(owner: str, rope: str, pattern: str) -> str:
    """Return the topic of a rope: below the name of its robot, or at the root for a rope without a robot."""
    return topic_name(pattern if owner else f"/{pattern}", owner, rope)
