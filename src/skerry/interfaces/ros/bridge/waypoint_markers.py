"""Markers of the waypoints that peers publish: drawings in the world, or an object that is moved to the waypoint."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from math import cos, pi, sin
from typing import Any, Final

from skerry.commands import Teleport
from skerry.core.errors import SkerryError, did_you_mean
from skerry.interfaces.ros.bridge.context import BridgeContext
from skerry.interfaces.ros.bridge.feature import BridgedRobot, Feature
from skerry.interfaces.ros.bridge.goto_waypoint import map_position
from skerry.interfaces.ros.bridge.waypoint_settings import WaypointConfig
from skerry.interfaces.ros.messages.codec import Message

TYPE: Final = "smarc_mission_msgs/GotoWaypoint"
ABOVE_WATER: Final = 2.0  # m; height at which the line to a waypoint begins
CIRCLE: Final = 50  # points of a circle, as in the SMaRC simulator

Point = tuple[float, float, float]


@dataclass(frozen=True)
class WaypointDrawing:
    """Drawing of a waypoint in the world, m: a circle with the goal's tolerance, and a line from above the water."""

    name: str
    center: Point
    radius: float
    line: tuple[Point, Point]
    circle: tuple[Point, ...]

    def plain(self) -> dict[str, Any]:
        """Return the drawing as JSON values."""
        return {"kind": "waypoint", **asdict(self)}


class WaypointMarkerFeature(Feature):
    """Subscribes to waypoint topics; `drawings` holds the latest waypoint of each topic for the display."""

    def __init__(self, context: BridgeContext) -> None:
        super().__init__(context)
        self.drawings: dict[str, WaypointDrawing] = {}

    def add_robot(self, robot: BridgedRobot) -> None:
        if (pattern := robot.profile.waypoint) is not None:
            self._add(robot.name, WaypointConfig(topic=robot.topic("", pattern)))

    def finish(self) -> None:
        for name, config in self.context.config.waypoints.items():
            self._add(name, config)

    def _add(self, name: str, config: WaypointConfig) -> None:
        if config.object is not None:
            objects = self.context.world.scenario.objects
            if config.object not in objects:
                raise SkerryError(f"there is no object {config.object!r}; {did_you_mean(config.object, objects)}")
            if objects[config.object].motion == "static":
                raise SkerryError(
                    f"the object {config.object!r} is static and cannot be moved to waypoints; choose a movable object"
                )
        self.bus.subscribe(config.topic, TYPE, partial(self._on_waypoint, name, config))

    def _on_waypoint(self, name: str, config: WaypointConfig, message: Message) -> None:
        east, north = self._position(message)
        center = (east, north, -float(message.travel_depth))
        if config.object is not None:
            self.context.send_command(config.topic, Teleport(config.object, center))
            return
        radius = max(float(message.goal_tolerance), 0.0)
        angles = [2.0 * pi * k / CIRCLE for k in range(CIRCLE)]
        circle = tuple((east + radius * cos(a), north + radius * sin(a), center[2]) for a in angles)
        line = ((east, north, ABOVE_WATER), center)
        self.drawings = {**self.drawings, name: WaypointDrawing(name, center, radius, line, circle)}

    def _position(self, message: Message) -> tuple[float, float]:
        """Return east and north in the map, m, from latitude and longitude or, without them, from the pose."""
        projection = self.context.frames.projection
        if projection is not None and (message.lat or message.lon):
            east, north, _ = projection.from_geodetic([message.lat, message.lon, 0.0]).tolist()
            return east, north
        east, north = map_position(self.context.frames, message.pose, message)
        return east, north
