"""Topics of actuator commands and actuator feedback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from skerry.commands import Actuate
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.profile import CommandRow, FeedbackRow
from skerry.interfaces.ros.bridge.publishers import ChannelPublisher, FieldPath
from skerry.interfaces.ros.bridge.thrusters import TYPE as THRUSTER
from skerry.interfaces.ros.bridge.thrusters import thruster_feedback
from skerry.interfaces.ros.messages.codec import Message
from skerry.parts.state_channel import Read

PERCENT: Final = "PercentStamped"


class ActuatorFeature(Feature):
    """Subscribes to the command topic of each actuator, and publishes its feedback."""

    def add_actuator(self, robot: BridgedRobot, part: str, number: int) -> None:
        actuator = robot.robot.actuators[part]
        kind = robot.robot.vehicle.config.actuators[part].kind
        row = robot.profile.actuator(robot.vehicle, part, kind, "rpm" in actuator.keywords)
        if row.command is not None:
            type_name = self._type(row.command.type)
            topic = robot.topic(part, row.command.topic, number)
            keyword = row.command.keyword or actuator.keyword
            self.bus.subscribe(
                topic, type_name, self._callback(robot.name, part, keyword, topic, type_name, row.command)
            )
        if row.feedback is not None:
            self._add_feedback(robot, part, row.feedback, robot.topic(part, row.feedback.topic, number))

    def _callback(
        self, robot: str, part: str, keyword: str, topic: str, type_name: str, row: CommandRow
    ) -> Callable[[Message], None]:
        field = FieldPath(self.bus.codec, type_name, row.field)

        def on_command(message: Message) -> None:
            value = {keyword: row.scale * field.get(message)}
            self.context.send_command(topic, Actuate(robot, part, value))

        return on_command

    def _add_feedback(self, robot: BridgedRobot, part: str, row: FeedbackRow, name: str) -> None:
        context, codec, actuator = self.context, self.bus.codec, robot.robot.actuators[part]
        type_name, settings = self._type(row.type), robot.robot.vehicle.config.actuators[part]
        frame = context.frames.link(robot.name, settings.link)
        topic = self.bus.advertise(name, type_name)
        rate, step = context.rate(row.frequency), context.world.scenario.step
        if type_name == THRUSTER and "rpm" in actuator.keywords:
            context.schedule.add_timed(thruster_feedback(topic, rate, step, context.header(frame, 0), actuator))
            return
        field, scale, example = FieldPath(codec, type_name, row.field), row.scale, codec.make(type_name)
        if hasattr(example, "header"):
            example.header.frame_id = frame

        def numbers(read: Read) -> tuple[Any]:
            return (field.convert(read(actuator.state_channel) / scale),)

        context.schedule.add_timed(ChannelPublisher(topic, rate, step, example, [field.path], numbers))

    def _type(self, name: str) -> str:
        """Return the type with the package of the settings: two packages of SMaRC define PercentStamped."""
        return f"{self.context.config.percent_package}/{PERCENT}" if name == f"smarc_msgs/{PERCENT}" else name
