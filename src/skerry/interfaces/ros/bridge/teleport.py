"""Topics that move robots and movable objects to a pose."""

from __future__ import annotations

from skerry.commands import Teleport
from skerry.core.frames import Pose, normalise
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.messages.codec import Message
from skerry.world.frame_tree import ros_name


class TeleportFeature(Feature):
    """Subscribes to `/<name>/teleport`, geometry_msgs/Pose, of each robot and each movable object."""

    def add_robot(self, robot: BridgedRobot) -> None:
        self._add(robot.name)

    def add_object(self, name: str) -> None:
        if self.context.world.scenario.objects[name].motion != "static":
            self._add(name)

    def _add(self, name: str) -> None:
        topic = f"/{ros_name(name)}/teleport"

        def on_pose(message: Message) -> None:
            p, q = message.position, message.orientation
            pose = Pose([p.x, p.y, p.z], normalise([q.x, q.y, q.z, q.w]))
            self.context.send_command(topic, Teleport.to(name, pose))

        self.bus.subscribe(topic, "geometry_msgs/Pose", on_pose)
