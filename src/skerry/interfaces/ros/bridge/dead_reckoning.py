"""Topics and frames of the position that a robot estimates by dead reckoning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from skerry.commands import CallController
from skerry.control.dead_reckoning import DeadReckoningController, Estimate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.profile import EstimateRow
from skerry.interfaces.ros.bridge.publishers import FunctionPublisher
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.types import full_name
from skerry.world import Robot


class DeadReckoningFeature(Feature):
    """Publishes the estimates of each `dead_reckoning` controller that has rows in the profile."""

    def add_controller(self, robot: BridgedRobot, part: str) -> None:
        kind = robot.robot.vehicle.config.controllers[part].kind
        row = robot.profile.controller(robot.vehicle, part, kind)
        if row.estimates:
            DeadReckoningTopics(self.context, robot.robot, part, row.estimates, partial(robot.topic, part))


class DeadReckoningTopics:
    """Topics of one estimator, which is engaged at the start because it must integrate all motion."""

    def __init__(
        self, context: BridgeContext, robot: Robot, part: str, rows: Iterable[EstimateRow], name: Callable[[str], str]
    ) -> None:
        controller = robot.controllers[part]
        if not isinstance(controller, DeadReckoningController):
            raise SkerryError(f"the profile gives {robot.name}/{part} `estimates`, but it makes no estimates")
        self._context, self._controller = context, controller
        self._origin = context.world.scenario.robots[robot.name].pose.build().position
        self._odom, self._link = context.frames.add_estimate(robot.name, lambda: self._controller.estimate)
        context.startup_commands.append(CallController(robot.name, part, "engage", {}))
        functions: dict[str, Callable[[Estimate], Message | None]] = {
            "nav_msgs/msg/Odometry": self._odometry,
            "geographic_msgs/msg/GeoPoint": self._geodetic_position,
        }
        for row in rows:
            make = (
                functions.get(full_name(row.type)) if row.value is None else partial(self._number, row.type, row.value)
            )
            if make is None:
                raise SkerryError(
                    f"an estimate cannot be published as {row.type}; use {', '.join(functions)}, or set `value`"
                )
            topic = context.bus.advertise(name(row.topic), row.type)
            context.schedule.add_timed(FunctionPublisher(topic, context.rate(row.frequency), partial(self._make, make)))

    def _make(self, make: Callable[[Estimate], Message | None], tick: int) -> Message | None:
        estimate = self._controller.estimate
        return None if estimate is None else make(estimate)

    def _number(self, type_name: str, value: str, estimate: Estimate) -> Message:
        return self._context.bus.codec.make(type_name, data=getattr(estimate, value))

    def _odometry(self, estimate: Estimate) -> Message:
        """Return the pose in the robot's odom frame and the twist in the body axes, each with its variances."""
        context = self._context
        position, orientation = estimate.pose.position - self._origin, estimate.pose.orientation
        linear, angular = estimate.twist.linear, estimate.twist.angular
        pose = {"position": _vector(position), "orientation": dict(zip("xyzw", orientation.tolist(), strict=True))}
        twist = {"linear": _vector(linear), "angular": _vector(angular)}
        # the variance along a body axis is at most the largest variance along the axes of the world
        spread = np.full(3, estimate.velocity_variance.max())
        return context.bus.codec.make(
            "nav_msgs/Odometry",
            header=context.header(self._odom, round(estimate.time / context.step)),
            child_frame_id=self._link,
            pose={"pose": pose, "covariance": _diagonal(estimate.position_variance, estimate.attitude_variance)},
            twist={"twist": twist, "covariance": _diagonal(spread, estimate.rate_variance)},
        )

    def _geodetic_position(self, estimate: Estimate) -> Message | None:
        """Return latitude, longitude and altitude, or None if the scenario has no reference."""
        projection = self._context.frames.projection
        if projection is None:
            return None
        latitude, longitude, altitude = projection.to_geodetic(estimate.pose.position).tolist()
        values = {"latitude": latitude, "longitude": longitude, "altitude": altitude}
        return self._context.bus.codec.make("geographic_msgs/GeoPoint", **values)


def _vector(values: Any) -> dict[str, float]:
    return dict(zip("xyz", values.tolist(), strict=True))


def _diagonal(first: Any, second: Any) -> Any:
    return np.diag(np.concatenate([first, second])).ravel()
