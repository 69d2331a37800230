"""What a thruster says of itself: its rpm, the share of the most that it can, and the torque of its shaft."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Any, Final

from skerry.interfaces.ros.context import Context
from skerry.interfaces.ros.prepared import prepare, stamp_of

TYPE: Final = "smarc_msgs/ThrusterFeedback"


def thruster_feedback(context: Context, frame: str, thruster: Any) -> Callable[[int], bytes]:
    """A smarc_msgs/ThrusterFeedback of a tick; what is not known, such as the current of one motor, is no number.

    Of a propeller `dc` is the share of its largest rpm, of a thruster with a curve its throttle.
    """
    like = context.bus.codec.make(TYPE, header=context.header(frame, 0), current=nan)
    fill = prepare(context.bus.codec, like, ["rpm.rpm", "dc.dc", "torque"])
    lowest, highest = thruster.limits

    def make(tick: int) -> bytes:
        share = (2.0 * thruster.feedback - lowest - highest) / (highest - lowest)
        torque = thruster.torque if thruster.torque_is_known else nan
        return fill(*stamp_of(tick * context.step), round(thruster.rpm), share, torque)

    return make
