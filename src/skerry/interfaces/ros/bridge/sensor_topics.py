"""Topics of sensor readings."""

from __future__ import annotations

from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.profile import SensorRow
from skerry.interfaces.ros.bridge.publishers import ReadingPublisher, RepeatingPublisher, StampPublisher
from skerry.interfaces.ros.bus.bus import LATEST, SENSOR
from skerry.interfaces.ros.messages.encoders import EncoderContext, SettingsEncoder, make_encoder


class SensorFeature(Feature):
    """Publishes the readings of each sensor on the topics of its rows in the profile."""

    def add_sensor(self, robot: BridgedRobot, part: str) -> None:
        settings = robot.robot.vehicle.config.sensors[part]
        for row in robot.profile.sensor(robot.vehicle, part, settings.kind):
            self._add(robot, part, row)

    def _add(self, robot: BridgedRobot, part: str, row: SensorRow) -> None:
        context, frames, step = self.context, self.context.frames, self.context.world.scenario.step
        settings = robot.robot.vehicle.config.sensors[part]
        frame = frames.sensor(robot.name, part, settings)
        sensor = robot.robot.sensors[part]
        reading = sensor.sensor.reading_type()
        encoder_context = EncoderContext(self.bus.codec, settings, reading, frame, frames.map, frames.projection)
        encoder = make_encoder(encoder_context, row.type, row.value)
        topic = self.bus.advertise(robot.topic(part, row.topic), row.type, LATEST if row.latest_only else SENSOR)
        publisher: ReadingPublisher | RepeatingPublisher
        if row.ignore_sensor_state:
            publisher = RepeatingPublisher(topic, encoder, step, context.rate(row.frequency or settings.frequency))
            context.schedule.add_interval(publisher)
        else:
            slower = row.frequency if row.frequency is not None and row.frequency < settings.frequency else None
            if isinstance(encoder, SettingsEncoder):
                rate = context.rate(slower or settings.frequency)
                context.schedule.add_interval(StampPublisher(topic, encoder.template, step, rate, sensor))
                return
            publisher = ReadingPublisher(topic, encoder, step, None if slower is None else context.rate(slower))
        context.schedule.add_sensor(robot.name, part, publisher)
