"""The topic /clock, with simulated time."""

from __future__ import annotations

from skerry.interfaces.ros.bridge.feature import Feature
from skerry.interfaces.ros.bridge.publishers import ClockPublisher


class ClockFeature(Feature):
    """Publishes simulated time on /clock."""

    def start(self) -> None:
        topic = self.bus.advertise("/clock", "rosgraph_msgs/Clock")
        rate = self.context.rate(self.context.config.clock_frequency)
        self.context.schedule.add_interval(ClockPublisher(topic, rate, self.context.world.scenario.step))
