"""The waypoint that a robot is on its way to, as peers say it: drawn in the world, or shown by an object put there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from math import cos, pi, sin
from typing import Any, Final

from skerry.commands import Teleport
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import Pose
from skerry.interfaces.ros.bridge.context import Context
from skerry.interfaces.ros.bridge.goto_waypoint import place_of
from skerry.interfaces.ros.bridge.waypoint_settings import WaypointConfig
from skerry.interfaces.ros.messages.codec import Message

TYPE: Final = "smarc_mission_msgs/GotoWaypoint"
ABOVE_WATER: Final = 2.0  # m, where the line to a waypoint begins
CIRCLE: Final = 50  # points, as in the SMaRC simulator

Place = tuple[float, float, float]


@dataclass(frozen=True)
class WaypointDrawing:
    """A circle of the goal's tolerance about a waypoint, and a line to it from above the water; m, in the world."""

    name: str
    center: Place
    radius: float
    line: tuple[Place, Place]
    circle: tuple[Place, ...]

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"kind": "waypoint", **asdict(self)}


class WaypointMarkers:
    """Hears waypoints; `drawings` are the latest of each topic, for whoever shows the world."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.drawings: dict[str, WaypointDrawing] = {}

    def add(self, name: str, config: WaypointConfig) -> None:
        """Show the waypoints of a topic."""
        if config.object is not None:
            objects = self._context.world.scenario.objects
            if config.object not in objects:
                raise SkerryError(f"there is no object {config.object!r}; {did_you_mean(config.object, objects)}")
            if objects[config.object].motion == "static":
                raise SkerryError(f"the object {config.object!r} is static, and cannot be put at waypoints")
        self._context.bus.subscribe(config.topic, TYPE, partial(self._hear, name, config))

    def _hear(self, name: str, config: WaypointConfig, message: Message) -> None:
        east, north = self._place(message)
        center = (east, north, -float(message.travel_depth))
        if config.object is not None:
            turn = self._context.world.objects[config.object].pose.orientation
            self._context.do(config.topic, Teleport(config.object, Pose(center, turn)))
            return
        radius = max(float(message.goal_tolerance), 0.0)
        angles = [2.0 * pi * k / CIRCLE for k in range(CIRCLE)]
        circle = tuple((east + radius * cos(a), north + radius * sin(a), center[2]) for a in angles)
        line = ((east, north, ABOVE_WATER), center)
        self.drawings = {**self.drawings, name: WaypointDrawing(name, center, radius, line, circle)}

    def _place(self, message: Message) -> tuple[float, float]:
        """By latitude and longitude; without them, by the pose."""
        projection = self._context.frames.projection
        if projection is not None and (message.lat or message.lon):
            east, north, _ = projection.from_geodetic([message.lat, message.lon, 0.0]).tolist()
            return east, north
        east, north = place_of(self._context.frames, message.pose, message)
        return east, north
