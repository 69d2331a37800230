"""What a thruster says of itself: its rpm, the share of the most that it can, and the torque of its shaft."""

from __future__ import annotations

from math import nan
from typing import Any, Final

from skerry.interfaces.ros.codec import Message
from skerry.interfaces.ros.context import Context

TYPE: Final = "smarc_msgs/ThrusterFeedback"


def thruster_feedback(context: Context, frame: str, thruster: Any, tick: int) -> Message:
    """A smarc_msgs/ThrusterFeedback; what is not known, such as the current of one motor, is no number.

    Of a propeller `dc` is the share of its largest rpm, of a thruster with a curve its throttle.
    """
    lowest, highest = thruster.limits
    return context.bus.codec.make(
        TYPE,
        header=context.header(frame, tick),
        rpm={"rpm": round(thruster.rpm)},
        dc={"dc": (2.0 * thruster.feedback - lowest - highest) / (highest - lowest)},
        current=nan,
        torque=thruster.torque if thruster.torque_is_known else nan,
    )
