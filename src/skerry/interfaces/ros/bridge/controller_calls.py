"""Topics whose messages call methods of controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skerry.commands import CallController
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.profile import CallRow
from skerry.interfaces.ros.bridge.publishers import FieldPath
from skerry.interfaces.ros.messages.codec import Codec, Message


class ControllerCallFeature(Feature):
    """Subscribes to the topics under `calls` of each controller in the profile."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        kind = robot.robot.vehicle.config.controllers[part].kind
        for row in robot.profile.controller(robot.vehicle, part, kind).calls:
            self._add(robot, part, row, robot.topic(part, row.topic))

    def _add(self, robot: BridgedRobot, part: str, row: CallRow, topic: str) -> None:
        if not callable(getattr(robot.robot.controllers[part], row.method, None)):
            raise SkerryError(
                f"the profile calls {row.method!r} of the controller {part!r} of {robot.name!r} for the topic {topic}, "
                "but the controller has no such method"
            )
        readers = {name: _reader(self.bus.codec, row.type, fields) for name, fields in row.arguments.items()}

        def on_message(message: Message) -> None:
            arguments = {name: read(message) for name, read in readers.items()}
            self.context.send_command(topic, CallController(robot.name, part, row.method, arguments))

        self.bus.subscribe(topic, row.type, on_message)


def _reader(codec: Codec, type_name: str, fields: str | tuple[str, ...]) -> Callable[[Message], Any]:
    """Return a function that reads a number of a message, or a list of numbers; a minus before a field negates it."""
    if isinstance(fields, tuple):
        readers = [_reader(codec, type_name, field) for field in fields]
        return lambda message: [read(message) for read in readers]
    sign = -1.0 if fields.startswith("-") else 1.0
    path = FieldPath(codec, type_name, fields.removeprefix("-"))
    return lambda message: sign * path.get(message)
