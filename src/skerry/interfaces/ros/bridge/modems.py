"""Topics of acoustic modems: received packets are published, and messages of peers are transmitted, as text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from skerry.commands import SendPacket
from skerry.core.clock import Rate
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import stamp
from skerry.world import Robot

FREQUENCY: Final = Fraction(10)  # Hz, as in the SMaRC simulator
TYPE: Final = "smarc_msgs/StringStamped"


class ModemFeature(Feature):
    """Adds the topics of each acoustic modem that has a row in the profile."""

    def add_acoustic_part(self, robot: BridgedRobot, part: str) -> None:
        row = robot.profile.modem(robot.vehicle, part, robot.robot.vehicle.config.acoustics[part].kind)
        if row is not None:
            ModemTopics(self.context, robot.robot, part, robot.topic(part, row.read), robot.topic(part, row.write))


class ModemTopics:
    """Topics of one modem. Each received packet is published once; other readers of the modem still receive it."""

    def __init__(self, context: BridgeContext, robot: Robot, part: str, read: str, write: str) -> None:
        self._context, self._robot, self._part = context, robot.name, part
        self._modem: Any = robot.acoustics[part]
        self._next_packet = 0  # number of the first packet that is not yet published
        self.topic: Topic = context.bus.advertise(read, TYPE)
        self.rate: Rate = context.rate(FREQUENCY)
        self._write = write
        context.bus.subscribe(write, TYPE, self._on_message)
        context.schedule.add_interval(self)

    def _on_message(self, message: Message) -> None:
        self._context.send_command(self._write, SendPacket(self._robot, self._part, message.data))

    def start_at(self, tick: int) -> None:
        self._next_packet = self._modem.packets_received

    def next_publish_tick(self, tick: int) -> int | None:
        return None

    def publish_until(self, tick: int) -> None:
        """Publish the packets received since `start_at`; packets without a subscriber are not published later."""
        codec = self._context.bus.codec
        for packet in self._modem.peek(self._next_packet) if self.topic.has_subscribers else ():
            data = packet.data if isinstance(packet.data, str) else packet.data.decode(errors="replace")
            times = {"time_sent": stamp(codec, packet.sent), "time_received": stamp(codec, packet.received)}
            self.topic.publish(codec.make(TYPE, data=data, **times))
