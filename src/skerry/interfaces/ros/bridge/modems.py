"""Acoustic modems: what they hear is said, and what is heard of peers they send, as text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from skerry.commands import SendPacket
from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import stamp
from skerry.world import Robot

FREQUENCY: Final = Fraction(10)  # Hz, as in the SMaRC simulator
TYPE: Final = "smarc_msgs/StringStamped"


class SoundTopics:
    """Each packet is said once, and stays for whoever else reads the modem; it is a voice of its bus."""

    def __init__(self, context: Context, robot: Robot, part: str, read: str, write: str) -> None:
        self._context, self._robot, self._part = context, robot.name, part
        self._modem: Any = robot.acoustics[part]
        self._heard = 0  # packets, up to which all is said
        self.topic: Topic = context.bus.advertise(read, TYPE)
        self.rate: Rate = context.rate(FREQUENCY)
        self._write = write
        context.bus.subscribe(write, TYPE, self._hear)
        context.add_voice(self)

    def _hear(self, message: Message) -> None:
        self._context.do(self._write, SendPacket(self._robot, self._part, message.data))

    def begin_at(self, tick: int) -> None:
        self._heard = self._modem.packets_received

    def say(self, tick: int) -> None:
        """What has come since; what came while nobody took it, or before the world went back, is not said any more."""
        codec = self._context.bus.codec
        for packet in self._modem.peek(self._heard) if self.topic.taken else ():
            data = packet.data if isinstance(packet.data, str) else packet.data.decode(errors="replace")
            times = {"time_sent": stamp(codec, packet.sent), "time_received": stamp(codec, packet.received)}
            self.topic.publish(codec.make(TYPE, data=data, **times))
