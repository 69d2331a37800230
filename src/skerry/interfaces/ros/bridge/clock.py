"""The topic /clock, with simulated time."""

from __future__ import annotations

from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bridge.publishers import StampPublisher
from skerry.interfaces.ros.messages.templates import MessageTemplate


class ClockFeature(Feature):
    """Publishes simulated time on /clock."""

    def start(self) -> None:
        topic = self.bus.advertise("/clock", "rosgraph_msgs/Clock")
        template = MessageTemplate(self.bus.codec, self.bus.codec.make(topic.type), ())
        rate = self.context.rate(self.context.config.clock_frequency)
        self.context.schedule.add_interval(StampPublisher(topic, template, self.context.world.scenario.step, rate))
