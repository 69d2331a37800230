"""Where a robot believes it is: the estimate of its dead reckoning as messages, and in the tree of frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from skerry.commands import AskController
from skerry.control.dead_reckoning import Estimate
from skerry.core.errors import SkerryError
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bridge.profile import EstimateRow
from skerry.interfaces.ros.bridge.publishers import MadeOutlet
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.types import full_name
from skerry.world import Robot


class Reckoning:
    """Engages the estimator, as its way must be known from the start, and says what it believes."""

    def __init__(
        self, context: Context, robot: Robot, part: str, rows: Iterable[EstimateRow], name: Callable[[str], str]
    ) -> None:
        self._context, self._controller = context, robot.controllers[part]
        self._origin = context.world.scenario.robots[robot.name].pose.build().position
        self._odom, self._link = context.frames.add_estimate(robot.name, lambda: self._controller.estimate)
        context.standing.append(AskController(robot.name, part, "engage", {}))
        makers: dict[str, Callable[[Estimate], Message | None]] = {
            "nav_msgs/msg/Odometry": self._odometry,
            "geographic_msgs/msg/GeoPoint": self._place_on_earth,
        }
        for row in rows:
            make = makers.get(full_name(row.type)) if row.value is None else partial(self._number, row.type, row.value)
            if make is None:
                raise SkerryError(f"an estimate is not said as {row.type}, but as {', '.join(makers)}, or by a `value`")
            topic = context.bus.advertise(name(row.topic), row.type)
            context.add_timer(MadeOutlet(topic, context.rate(row.frequency), partial(self._make, make)))

    def _make(self, make: Callable[[Estimate], Message | None], tick: int) -> Message | None:
        estimate = self._controller.estimate
        return None if estimate is None else make(estimate)

    def _number(self, type_name: str, value: str, estimate: Estimate) -> Message:
        return self._context.bus.codec.make(type_name, data=getattr(estimate, value))

    def _odometry(self, estimate: Estimate) -> Message:
        """The pose in the robot's odom, the twist in its own axes, each with its variances."""
        context = self._context
        place, turn = estimate.pose.position - self._origin, estimate.pose.orientation
        linear, angular = estimate.twist.linear, estimate.twist.angular
        pose = {"position": _vector(place), "orientation": dict(zip("xyzw", turn.tolist(), strict=True))}
        twist = {"linear": _vector(linear), "angular": _vector(angular)}
        # a velocity is as uncertain along the vehicle's axes as along the world's, or more
        spread = np.full(3, estimate.velocity_variance.max())
        return context.bus.codec.make(
            "nav_msgs/Odometry",
            header=context.header(self._odom, round(estimate.time / context.step)),
            child_frame_id=self._link,
            pose={"pose": pose, "covariance": _diagonal(estimate.position_variance, estimate.attitude_variance)},
            twist={"twist": twist, "covariance": _diagonal(spread, estimate.rate_variance)},
        )

    def _place_on_earth(self, estimate: Estimate) -> Message | None:
        """Nothing if the scenario does not say where on earth it is."""
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
