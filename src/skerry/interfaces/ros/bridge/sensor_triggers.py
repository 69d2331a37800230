"""Services that trigger alarm sensors, such as leak sensors."""

from __future__ import annotations

from skerry.commands import TriggerSensor
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.simulation_control import CONTROL, TRIGGER
from skerry.world.frame_tree import ros_name


class SensorTriggerFeature(Feature):
    """Adds the service `/skerry/trigger/<robot>/<sensor>` of each sensor that can be triggered."""

    def add_sensor(self, robot: BridgedRobot, part: str) -> None:
        if robot.robot.vehicle.config.sensors[part].can_be_triggered:
            name = f"{CONTROL}/trigger/{ros_name(robot.name)}/{ros_name(part)}"
            command = TriggerSensor(robot.name, part)
            self.context.add_command_service(name, TRIGGER, lambda request: command)
