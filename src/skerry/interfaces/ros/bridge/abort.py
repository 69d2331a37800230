"""Topics that abort the mission of a controller."""

from __future__ import annotations

from skerry.commands import CallController
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature


class AbortFeature(Feature):
    """Subscribes to the abort topic, std_msgs/Empty, of each controller that has one in the profile."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        kind = robot.robot.vehicle.config.controllers[part].kind
        row = robot.profile.controller(robot.vehicle, part, kind)
        if row.abort is not None:
            topic, command = robot.topic(part, row.abort), CallController(robot.name, part, "abort", {})
            self.bus.subscribe(topic, "std_msgs/Empty", lambda message: self.context.send_command(topic, command))
