"""The action to go to a waypoint, pursued by a robot's own `waypoint` controller; a new goal ends the one before."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from skerry.commands import AskController, GiveGoal
from skerry.core.clock import Rate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bus.actions import ActionServer, Goal, Status
from skerry.interfaces.ros.bus.bus import Bus, Topic
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import stamp
from skerry.parts.interface import Inbox
from skerry.world import Robot
from skerry.world.frame_tree import FrameTree

logger = logging.getLogger("skerry")

WAYPOINT: Final = "smarc_mission_msgs/GotoWaypoint"
"""A goal as a message, for peers that have topics but no actions, such as an endpoint of ROS 2."""


class GotoWaypoint:
    """Says twice a second or so how far it is; `say` is called by the loop."""

    looks_back = False

    def __init__(
        self,
        bus: Bus,
        name: str,
        type_name: str,
        robot: Robot,
        controller: str,
        frames: FrameTree,
        inbox: Inbox,
        rate: Rate,
        now: Callable[[], Message],
    ) -> None:
        self._robot, self._name = robot, controller
        self._controller = robot.controllers[controller]
        self._frames, self._inbox, self._codec = frames, inbox, bus.codec
        self._goal: Goal | None = None
        self._began = False  # whether the controller has been given the goal
        self.rate = rate
        self.server = ActionServer(bus, name, type_name, now, self._start, self._cancel)
        self._fields = {field.name for field in self.server.type.feedback.fields}
        self.topic: Topic = self.server.statuses
        bus.subscribe(f"{name}/waypoint", WAYPOINT, self._hear)

    def _hear(self, message: Message) -> None:
        try:
            self.server.send(message)
        except SkerryError as error:
            logger.warning("%s: a waypoint is refused: %s", self.server.name, error)

    def _start(self, goal: Goal) -> None:
        command = GiveGoal(self._robot.name, self._name, self._arguments(goal.message))
        if (before := self._goal) is not None:
            before.finish(Status.ABORTED)
        self._goal, self._began = goal, False

        def begun(done: Any) -> None:
            if goal is not self._goal:
                return
            if done.cancelled() or done.exception() is not None:
                goal.finish(Status.ABORTED)
            self._began = True

        self._inbox.put(command).add_done_callback(begun)

    def _cancel(self, goal: Goal) -> None:
        def stopped(done: Any) -> None:
            goal.finish(Status.CANCELED)

        self._inbox.put(AskController(self._robot.name, self._name, "give_up", {})).add_done_callback(stopped)

    def say(self, tick: int) -> None:
        """Tell how far the goal is, or that it is reached."""
        goal = self._goal
        if goal is None or not self._began or goal.has_ended:
            return
        if self._controller.reached:
            goal.finish(Status.SUCCEEDED, reached_waypoint=True)
        elif not self._controller.has_goal:
            goal.finish(Status.ABORTED)  # somebody else has stopped it
        elif (distance := self._controller.distance) is not None:
            speed = float(np.hypot(*self._robot.twist.linear[:2]))
            left = min(distance / max(speed, 0.01), 1e6)
            now = tick * float(self._robot.engine.step_length)
            values = {
                "ETA": stamp(self._codec, now + left),
                "time_remaining": stamp(self._codec, left),
                "distance_remaining": distance,
                "feedback_message": f"{distance:.1f} m to go at {speed:.2f} m/s",
            }
            goal.tell(**{name: value for name, value in values.items() if name in self._fields})

    def _arguments(self, message: Message) -> dict[str, Any]:
        """What the controller is told, of either type of goal."""
        waypoint: Any = message.waypoint if hasattr(message, "waypoint") else message
        pose = waypoint.pose if hasattr(waypoint, "pose") else waypoint.waypoint_pose
        found: dict[str, Any] = {"position": place_of(self._frames, pose, waypoint)}
        if waypoint.goal_tolerance > 0.0:
            found["tolerance"] = float(waypoint.goal_tolerance)
        depth, speed = int(waypoint.z_control_mode), int(waypoint.speed_control_mode)
        if depth in (1, 2):
            found |= {1: {"depth": waypoint.travel_depth}, 2: {"altitude": waypoint.travel_altitude}}[depth]
        if speed in (1, 2):
            found |= {1: {"rpm": waypoint.travel_rpm}, 2: {"speed": waypoint.travel_speed}}[speed]
        elif "speed" not in self._controller.external_setpoints.names:
            raise SkerryError(
                "a goal needs a `speed_control_mode`: 1 for `travel_rpm`, 2 for `travel_speed`, or a speed controller "
                "that is switched on"
            )
        return found


def place_of(frames: FrameTree, pose: Message, waypoint: Message) -> list[float]:
    """East and north in the map: of a pose in UTM or the map, or of a latitude and longitude without a pose."""
    frame, point = pose.header.frame_id, pose.pose.position
    projection = frames.projection
    if frame in {"map", frames.map}:
        return [point.x, point.y]
    if projection is None:
        raise SkerryError("the scenario has no `reference`; give the pose in the frame `map`")
    if not (point.x or point.y) and hasattr(waypoint, "lat") and waypoint.lat:
        local = projection.from_geodetic([waypoint.lat, waypoint.lon, 0.0])
    elif frame == "" or (frame.startswith("utm") and frame != "utm_ned"):
        local = projection.from_utm([point.x, point.y, 0.0])
    else:
        raise SkerryError(f"the pose is in the frame {frame!r}; give it in `utm` or `map`")
    return [float(value) for value in local[:2]]
