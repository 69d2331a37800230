"""Action that sends a robot to a waypoint with its `waypoint` controller; a new goal aborts the previous goal."""

from __future__ import annotations

import logging
from fractions import Fraction
from typing import Any, Final

import numpy as np

from skerry.commands import CallController, GiveGoal
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bus.actionlib import ActionlibServer
from skerry.interfaces.ros.bus.actions import ActionGoal, ActionServer, GoalStatus
from skerry.interfaces.ros.bus.bus import Topic
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import stamp
from skerry.parts.controller import CanReachGoal
from skerry.world import Robot
from skerry.world.frame_tree import FrameTree

logger = logging.getLogger("skerry")

WAYPOINT: Final = "smarc_mission_msgs/GotoWaypoint"
"""Type of the topic on which peers without actions, such as a ROS-TCP-Endpoint of ROS 2, publish goals."""
MODES: Final = {
    "z_control_mode": "0 (none), 1 (`travel_depth`), 2 (`travel_altitude`)",
    "speed_control_mode": "0 (none), 1 (`travel_rpm`), 2 (`travel_speed`)",
}
FEEDBACK_FREQUENCY: Final = Fraction(2)  # Hz, of the feedback
STATUS_FREQUENCY: Final = Fraction(5)  # Hz, of the statuses of goals in ROS 1, as in actionlib


class GotoWaypointFeature(Feature):
    """Adds the action of each `waypoint` controller that has one in the profile; for ROS 1 with topics of actionlib."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        kind = robot.robot.vehicle.config.controllers[part].kind
        row = robot.profile.controller(robot.vehicle, part, kind).goto
        if row is None:
            return
        context = self.context
        action = GotoWaypoint(context, robot.topic(part, row.topic), row.type, robot.robot, part)
        context.schedule.add_timed(action)
        if context.config.distribution == "noetic":
            rate = context.rate(STATUS_FREQUENCY)
            context.schedule.add_timed(ActionlibServer(self.bus, action.server, rate, context.now))


class GotoWaypoint:
    """Server of the action for one controller."""

    uses_samples = False

    def __init__(self, context: BridgeContext, name: str, type_name: str, robot: Robot, controller: str) -> None:
        self._robot, self._name = robot, controller
        autopilot = robot.controllers[controller]
        if not isinstance(autopilot, CanReachGoal):
            raise SkerryError(f"the profile gives {robot.name}/{controller} a `goto` action, but it accepts no goals")
        self._controller = autopilot
        self._frames, self._inbox, self._codec = context.frames, context.inbox, context.bus.codec
        self._goal: ActionGoal | None = None
        self._has_begun = False  # whether the controller has received the goal
        self.rate = context.rate(FEEDBACK_FREQUENCY)
        self.server = ActionServer(context.bus, name, type_name, context.now, self._start, self._cancel)
        self._fields = {field.name for field in self.server.type.feedback.fields}
        self.topic: Topic = self.server.statuses
        context.bus.subscribe(f"{name}/waypoint", WAYPOINT, self._on_waypoint)

    def _on_waypoint(self, message: Message) -> None:
        try:
            self.server.accept(message)
        except SkerryError as error:
            logger.warning("%s: waypoint rejected: %s", self.server.name, error)

    def _start(self, goal: ActionGoal) -> None:
        command = GiveGoal(self._robot.name, self._name, self._arguments(goal.message))
        if (before := self._goal) is not None:
            before.finish(GoalStatus.ABORTED)
        self._goal, self._has_begun = goal, False

        def on_done(done: Any) -> None:
            if goal is not self._goal:
                return
            if done.cancelled() or done.exception() is not None:
                goal.finish(GoalStatus.ABORTED)
            self._has_begun = True

        self._inbox.put(command).add_done_callback(on_done)

    def _cancel(self, goal: ActionGoal) -> None:
        def on_done(done: Any) -> None:
            goal.finish(GoalStatus.CANCELED)

        self._inbox.put(CallController(self._robot.name, self._name, "give_up", {})).add_done_callback(on_done)

    def on_due(self, tick: int) -> None:
        """Publish the remaining distance as feedback, or finish the goal."""
        goal = self._goal
        if goal is None or not self._has_begun or goal.has_ended:
            return
        if self._controller.reached:
            goal.finish(GoalStatus.SUCCEEDED, reached_waypoint=True)
        elif not self._controller.has_goal:
            goal.finish(GoalStatus.ABORTED)  # another command has stopped the controller
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
            goal.publish_feedback(**{name: value for name, value in values.items() if name in self._fields})

    def _arguments(self, message: Message) -> dict[str, Any]:
        """Return the arguments of the controller's goal, from either type of message."""
        waypoint: Any = message.waypoint if hasattr(message, "waypoint") else message
        pose = waypoint.pose if hasattr(waypoint, "pose") else waypoint.waypoint_pose
        found: dict[str, Any] = {"position": map_position(self._frames, pose, waypoint)}
        tolerance = float(waypoint.goal_tolerance)
        if not 0.0 <= tolerance < float("inf"):
            raise SkerryError(f"`goal_tolerance` is {tolerance:g} m; give a distance, or 0 for the controller's own")
        if tolerance > 0.0:
            found["tolerance"] = tolerance
        depth, speed = int(waypoint.z_control_mode), int(waypoint.speed_control_mode)
        for name, mode in (("z_control_mode", depth), ("speed_control_mode", speed)):
            if mode not in (0, 1, 2):
                raise SkerryError(f"`{name}` is {mode}; known: {MODES[name]}")
        if depth in (1, 2):
            found |= {1: {"depth": waypoint.travel_depth}, 2: {"altitude": waypoint.travel_altitude}}[depth]
        if speed in (1, 2):
            found |= {1: {"rpm": waypoint.travel_rpm}, 2: {"speed": waypoint.travel_speed}}[speed]
        elif "speed" not in self._controller.external_setpoints.names:
            raise SkerryError(
                "the goal has no speed: set `speed_control_mode` to 1 for `travel_rpm` or 2 for `travel_speed`, or "
                "switch the speed controller on"
            )
        return found


def map_position(frames: FrameTree, pose: Message, waypoint: Message) -> list[float]:
    """Return east and north in the map, m, from a pose in UTM or in the map, or from a latitude and longitude."""
    frame, point = pose.header.frame_id, pose.pose.position
    projection = frames.projection
    if frame in {"map", frames.map}:
        return [point.x, point.y]
    if projection is None:
        raise SkerryError("the scenario has no `reference`, so the pose must be in the frame `map`")
    if not (point.x or point.y) and hasattr(waypoint, "lat") and waypoint.lat:
        local = projection.from_geodetic([waypoint.lat, waypoint.lon, 0.0])
    elif frame == "" or (frame.startswith("utm") and frame != "utm_ned"):
        local = projection.from_utm([point.x, point.y, 0.0])
    else:
        raise SkerryError(f"the pose is in the frame {frame!r}; give it in `utm` or `map`")
    return [float(value) for value in local[:2]]
