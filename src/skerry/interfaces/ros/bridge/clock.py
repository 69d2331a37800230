"""The topic /clock, with simulated time."""

from __future__ import annotations

from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bridge.publishers import StampPublisher
from skerry.interfaces.ros.bus.bus import CLOCK
from skerry.interfaces.ros.messages.templates import MessageTemplate


class ClockPublisher(StampPublisher):
    """Publisher of /clock: at its rate, and whenever a message would be later than the clock."""

    _extra = -1  # tick of the latest message that was not due

    def start_at(self, tick: int) -> None:
        super().start_at(tick)
        self._extra = tick

    def cover(self, tick: int) -> None:
        """Publish the time of a tick, unless that time or a later one is published."""
        if tick > max(self._published, self._extra) and self.topic.has_subscribers:
            self._extra = tick
            self.topic.publish_batch(self, [tick], [tick], self._exact_step, live_only=True)


class ClockFeature(Feature):
    """Publishes simulated time on /clock."""

    def start(self) -> None:
        topic = self.bus.advertise("/clock", "rosgraph_msgs/Clock")
        topic.rank = CLOCK
        template = MessageTemplate(self.bus.codec, self.bus.codec.make(topic.type), ())
        rate = self.context.rate(self.context.config.clock_frequency)
        publisher = ClockPublisher(topic, template, self.context.world.scenario.step, rate)
        self.context.schedule.add_interval(publisher)
        self.context.schedule.cover = publisher.cover
