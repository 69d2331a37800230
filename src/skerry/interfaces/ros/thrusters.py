"""What a propeller says of itself: its rpm, the share of the most that it can, and the torque of its shaft."""

from __future__ import annotations

from math import nan
from typing import Any, Final

from skerry.interfaces.ros.codec import Message
from skerry.interfaces.ros.context import Context

TYPE: Final = "smarc_msgs/ThrusterFeedback"


def thruster_feedback(context: Context, frame: str, propeller: Any, tick: int) -> Message:
    """A smarc_msgs/ThrusterFeedback; nothing is known of the current of one motor, which is no number then."""
    rpm = propeller.feedback
    return context.bus.codec.make(
        TYPE,
        header=context.header(frame, tick),
        rpm={"rpm": round(rpm)},
        dc={"dc": rpm / propeller.limits[1]},
        current=nan,
        torque=propeller.torque,
    )
