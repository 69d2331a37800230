"""What a propeller says of itself: its rpm, the share of the most that it can, and the torque of its shaft."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any, Final

from skerry.interfaces.ros.context import Context
from skerry.interfaces.ros.prepared import prepare, stamp_of

TYPE: Final = "smarc_msgs/ThrusterFeedback"


def thruster_feedback(context: Context, frame: str, propeller: Any) -> Callable[[int], bytes]:
    """A smarc_msgs/ThrusterFeedback of a tick; nothing is known of the current of one motor, so it is no number."""
    like = context.bus.codec.make(TYPE, header=context.header(frame, 0), current=nan)
    fill = prepare(context.bus.codec, like, ["rpm.rpm", "dc.dc", "torque"])

    def make(tick: int) -> bytes:
        rpm = propeller.feedback
        return fill(*stamp_of(tick * context.step), round(rpm), rpm / propeller.limits[1], propeller.torque)

    return make
