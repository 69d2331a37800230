"""What a thruster says of itself: its rpm, the share of the most that it can, and the torque of its shaft."""

from __future__ import annotations

from fractions import Fraction
from math import nan
from typing import Any, Final

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.publishers import GaugesOutlet, rounded
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.messages.codec import Message
from skerry.parts.state_channel import Read

TYPE: Final = "smarc_msgs/ThrusterFeedback"


def thruster_feedback(topic: Topic, rate: Rate, step: Fraction, header: Message, thruster: Any) -> GaugesOutlet:
    """Says a smarc_msgs/ThrusterFeedback; what is not known, such as the current of one motor, is no number.

    Of a propeller `dc` is the share of its largest rpm, of a thruster with a curve its throttle.
    """
    like = topic.codec.make(TYPE, header=header, current=nan)
    lowest, highest = thruster.limits

    def numbers(read: Read) -> tuple[Any, Any, Any]:
        share = (2.0 * read(thruster.state_channel) - lowest - highest) / (highest - lowest)
        torque = read(thruster.torque_channel) if thruster.torque_is_known else nan
        return rounded(thruster.rpm_from(read)), share, torque

    return GaugesOutlet(topic, rate, step, like, ["rpm.rpm", "dc.dc", "torque"], numbers)
