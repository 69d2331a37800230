"""Feedback of thrusters: rpm, duty cycle and shaft torque."""

from __future__ import annotations

from fractions import Fraction
from math import nan
from typing import Any, Final

from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.publishers import ChannelPublisher, rounded
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.messages.codec import Message
from skerry.parts.state_channel import Read

TYPE: Final = "smarc_msgs/ThrusterFeedback"


def thruster_feedback(topic: Topic, rate: Rate, step: Fraction, header: Message, thruster: Any) -> ChannelPublisher:
    """Return the publisher of a thruster's smarc_msgs/ThrusterFeedback; unknown values, such as the current, are NaN.

    `dc` is the fraction of the largest rpm for a propeller, and the throttle for a thruster with a thrust curve.
    """
    example = topic.codec.make(TYPE, header=header, current=nan)
    lowest, highest = thruster.limits

    def numbers(read: Read) -> tuple[Any, Any, Any]:
        duty_cycle = (2.0 * read(thruster.state_channel) - lowest - highest) / (highest - lowest)
        torque = read(thruster.torque_channel) if thruster.torque_is_known else nan
        return rounded(thruster.rpm_from(read)), duty_cycle, torque

    return ChannelPublisher(topic, rate, step, example, ["rpm.rpm", "dc.dc", "torque"], numbers)
