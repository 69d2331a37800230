"""Waypoint guidance: line-of-sight steering to a goal, with the loops of `hold`."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from math import atan, atan2, cos, hypot, isfinite, radians, sin
from typing import Literal

from pydantic import Field

from skerry.control.hold import HoldController, HoldSettings
from skerry.control.loops.navigation import Navigation
from skerry.control.loops.pid import wrapped
from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.frames import yaw_to_heading
from skerry.parts.sensor import SampleView

logger = logging.getLogger("skerry")

EastNorth = tuple[float, float]  # m
MAX_INITIAL_ERROR = radians(10.0)  # largest angle between bow and goal at which line following starts
PASSED = radians(90.0)  # angle between bow and goal beyond which the goal is behind the vehicle


class WaypointController(HoldController):
    """Waypoint controller; idle until it has a goal or setpoints to hold."""

    config: Waypoint

    def __init__(self, config: Waypoint) -> None:
        super().__init__(config)
        self.reached = False
        """Whether the last goal was reached."""
        self.distance: float | None = None
        """Horizontal distance to the goal, m; None without a goal."""
        self._goal: EastNorth | None = None
        self._on_earth = False
        self._tolerance = config.tolerance
        self._start: EastNorth | None = None  # start of the line to the goal
        self._drift = 0.0  # integral of the distance to the line, s
        self._away: float | None = None  # yaw to keep until the goal is outside the turning circle, rad

    @property
    def has_goal(self) -> bool:
        """Whether a goal is set."""
        return self._goal is not None

    def goal(
        self,
        position: Sequence[float] | None = None,
        *,
        latitude_deg: float | None = None,
        longitude_deg: float | None = None,
        tolerance: float | None = None,
        **setpoints: float,
    ) -> None:
        """Go to a position. When the goal is reached, the actuators go to their reset values.

        Args:
            position: East and north, m; alternative to latitude and longitude.
            latitude_deg: Latitude of the goal.
            longitude_deg: Longitude of the goal.
            tolerance: Largest distance, horizontal and of depth or altitude, at which the goal is reached, m.
            setpoints: Setpoints on the way: speed or rpm, and depth or altitude.

        Raises:
            SkerryError: If the goal or a setpoint is invalid, a setpoint is already external, or the mission is
            aborted.
        """
        self._check_not_aborted()
        for name in sorted({"heading_deg", *setpoints} & self.external_setpoints.names):
            raise SkerryError(f"the setpoint {name} is enabled externally, and a goal needs it; disable it first")
        together = setpoints | self.external_setpoints.reserved
        self.config.check(together)
        if "heading_deg" in setpoints:
            raise SkerryError("a goal controls the heading; omit heading_deg")
        if not {"speed", "rpm"} & together.keys():
            raise SkerryError("a goal needs a speed or rpm")
        if "heading" not in self._loops:
            raise SkerryError("a goal needs the loop `heading`, which this controller does not have")
        by_position, by_earth = position is not None, latitude_deg is not None and longitude_deg is not None
        if by_position == by_earth:
            raise SkerryError("a goal needs either a position (east, north) or latitude_deg and longitude_deg")
        values = [latitude_deg, longitude_deg] if position is None else list(position)
        if len(values) != 2 or not all(number is not None and isfinite(number) for number in values):
            raise SkerryError(f"a goal is two numbers, not {values}")
        within = self.config.tolerance if tolerance is None else float(tolerance)
        if not (isfinite(within) and within > 0.0):
            raise SkerryError(f"a tolerance must be a number above 0, not {tolerance}")
        self._drop_goal()
        if not self.external_setpoints.names:
            self.return_owner = None
        self._goal = (float(values[0] or 0.0), float(values[1] or 0.0))
        self._on_earth, self._tolerance, self.reached = by_earth, within, False
        self.setpoints = {name: float(value) for name, value in setpoints.items()}

    @property
    def waypoint(self) -> tuple[tuple[float, float, float], float] | None:
        if self._goal is None or self._on_earth:
            return None
        return (*self._goal, -self.setpoints.get("depth", 0.0)), self._tolerance

    @property
    def status(self) -> str:
        if self._goal is None:
            return super().status
        unit = "°" if self._on_earth else "m"
        left = "" if self.distance is None else f", {self.distance:.1f} m to go"
        return f"goal ({self._goal[0]:g}, {self._goal[1]:g}) {unit}{left}"

    def hold(self, **setpoints: float) -> None:
        super().hold(**setpoints)
        self._drop_goal()

    def stop(self) -> None:
        super().stop()
        self._drop_goal()

    def give_up(self) -> None:
        """Cancel the goal; external setpoints stay active."""
        if self._goal is not None:
            self.setpoints = {}
            self._start_stopping()
            self._drop_goal()

    def update_setpoints(self, here: Navigation, sample: SampleView) -> None:
        """Set the heading towards the goal, or end the goal if it is reached."""
        if self._goal is None:
            return
        position, yaw = here.position(), here.yaw()
        if position is None or yaw is None:
            return
        goal = self._find_goal(sample)
        self.distance = hypot(goal[0] - position[0], goal[1] - position[1])
        if self.distance <= self._tolerance and self._depth_is_reached(here):
            logger.info("goal at %.1f m east, %.1f m north reached", *goal)
            self.give_up()
            self.reached = True
            return
        self.setpoints["heading_deg"] = float(yaw_to_heading(self._course(position, goal, yaw)))

    def _course(self, position: EastNorth, goal: EastNorth, yaw: float) -> float:
        """Return the yaw to steer, rad."""
        radius, slack = self.config.turning_radius, self._tolerance
        if self._away is not None:
            slack = -0.2 * radius  # clearly outside, so that it does not switch back and forth
        # A goal inside the tightest turning circle is never reached: go straight ahead until it is outside.
        centers = [(position[0] - side * radius * sin(yaw), position[1] + side * radius * cos(yaw)) for side in (-1, 1)]
        if any(hypot(goal[0] - x, goal[1] - y) < radius - slack for x, y in centers):
            self._start = None
            self._away = yaw if self._away is None else self._away
            return self._away
        self._away = None
        bearing = atan2(goal[1] - position[1], goal[0] - position[0])
        off = abs(wrapped(bearing - yaw))
        if off > (MAX_INITIAL_ERROR if self._start is None else PASSED):
            self._start = None
            return bearing
        if self._start is None:
            self._start, self._drift = position, 0.0
        start = self._start
        path = atan2(goal[1] - start[1], goal[0] - start[0])
        # Line of sight with integral action, against currents: Børhaug, Pavlov and Pettersen 2008, eq. 10; Fossen 2021,
        # §12.5. `left` is the distance left of the path.
        left = (position[1] - start[1]) * cos(path) - (position[0] - start[0]) * sin(path)
        ahead, gain = self.config.lookahead, self.config.drift_gain
        offset = left + gain * self._drift
        if abs(left) < ahead:  # avoids windup on the way to the line
            self._drift += ahead * left / (ahead**2 + offset**2) / float(self.config.frequency)
        return wrapped(path - atan(offset / ahead))

    def _depth_is_reached(self, here: Navigation) -> bool:
        for name, measure in (("depth", here.depth), ("altitude", here.altitude)):
            if name in self.setpoints:
                value = measure()
                return value is not None and abs(value - self.setpoints[name]) <= self._tolerance
        return True

    def _find_goal(self, sample: SampleView) -> EastNorth:
        assert self._goal is not None
        if self._on_earth:
            if sample.projection is None:
                raise SkerryError("a goal by latitude and longitude needs a `reference` in the scenario")
            east, north, _ = sample.projection.from_geodetic([*self._goal, 0.0]).tolist()
            self._goal, self._on_earth = (east, north), False
        return self._goal

    def _drop_goal(self) -> None:
        self._goal = self._start = self._away = self.distance = None
        self._drift = 0.0

    def state(self) -> bytes:
        kept = [self._goal, self._on_earth, self._tolerance, self._start, self._drift, self._away]
        return json.dumps([super().state().decode(), self.reached, self.distance, *kept]).encode()

    def set_state(self, state: bytes) -> None:
        inner, self.reached, self.distance, goal, on_earth, tolerance, start, drift, away = json.loads(state)
        super().set_state(inner.encode())
        self._goal, self._start = (None if point is None else (point[0], point[1]) for point in (goal, start))
        self._on_earth, self._tolerance, self._drift, self._away = on_earth, tolerance, drift, away


class Waypoint(HoldSettings):
    """Settings of an autopilot that goes to waypoints."""

    kind: Literal["waypoint"] = "waypoint"
    tolerance: Positive = Field(2.0, description="distance at which a goal is reached, m, unless the goal has its own")
    lookahead: Positive = Field(5.0, description="lookahead distance along the line, m")
    drift_gain: NonNegative = Field(0.3, description="integral gain against drift, m/s; below the speed of the vehicle")
    turning_radius: NonNegative = Field(
        0.0, description="radius of the tightest turn, m; for a goal inside it the vehicle first goes straight ahead"
    )

    def build(self) -> WaypointController:
        return WaypointController(self)
