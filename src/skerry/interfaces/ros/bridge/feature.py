"""Base class of the features of the bridge, and the robot for which a feature adds topics and services."""

from __future__ import annotations

from pathlib import Path

from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.profile import TopicProfile, topic_name
from skerry.world import Robot


class BridgedRobot:
    """Robot with the names of its topics."""

    def __init__(self, context: BridgeContext, name: str) -> None:
        self.name = name
        self.robot: Robot = context.world.robots[name]
        self.vehicle = Path(context.world.scenario.robots[name].vehicle).name
        self.profile: TopicProfile = context.profile

    def topic(self, part: str, pattern: str, number: int = 1) -> str:
        """Return the name of a topic or service of a part.

        Args:
            part: Name of the part; "" for the robot itself.
            pattern: Pattern of the name in the profile.
            number: Number of the part among the parts of its kind, from 1.
        """
        return topic_name(pattern, self.name, self.profile.part_name(self.vehicle, part), number)


class Feature:
    """Feature of the bridge. Each hook adds the topics, services and publishers of one thing; the default adds none.

    The node calls `start` first, then the other hooks for all robots, objects and ropes, and `finish` last. When a
    robot, object or rope is added to the world later, its hooks are called again. The bus removes the entries of a
    deleted one without the help of the feature.
    """

    def __init__(self, context: BridgeContext) -> None:
        self.context = context
        self.bus = context.bus

    def start(self) -> None:
        """Add entries that belong to the world, before those of robots, objects and ropes."""

    def add_robot(self, robot: BridgedRobot) -> None:
        """Add entries that belong to a robot as a whole."""

    def add_sensor(self, robot: BridgedRobot, part: str) -> None:
        """Add the entries of a sensor."""

    def add_actuator(self, robot: BridgedRobot, part: str, number: int) -> None:
        """Add the entries of an actuator, which is the `number`-th of its kind on the robot."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        """Add the entries of a controller."""

    def add_acoustic_part(self, robot: BridgedRobot, part: str) -> None:
        """Add the entries of an acoustic part."""

    def add_object(self, name: str) -> None:
        """Add the entries of an object."""

    def add_rope(self, name: str) -> None:
        """Add the entries of a rope."""

    def finish(self) -> None:
        """Add entries that belong to the world, after those of the first robots, objects and ropes."""

    def world_changed(self) -> None:
        """Update entries after robots, objects or ropes were added or removed."""
