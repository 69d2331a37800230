"""Waypoint guidance: follows the line of sight to a goal, on top of the loops of `hold`."""

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

Place = tuple[float, float]  # east and north, m
MAX_INITIAL_ERROR = radians(10.0)  # the nose points to the goal within this before there is a line to follow,
PASSED = radians(90.0)  # and beyond this the goal lies behind


class WaypointController(HoldController):
    """Idle until it is given a goal, or something to hold."""

    config: Waypoint

    def __init__(self, config: Waypoint) -> None:
        super().__init__(config)
        self.reached = False
        """Whether it has come to its latest goal."""
        self.distance: float | None = None
        """To the goal, horizontally, m; None without a goal."""
        self._goal: Place | None = None
        self._on_earth = False
        self._tolerance = config.tolerance
        self._start: Place | None = None  # of the line that is followed
        self._drift = 0.0  # s, the integral of the distance to the line
        self._away: float | None = None  # the yaw to go straight on with

    @property
    def has_goal(self) -> bool:
        """Whether it has a goal."""
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
        """Go to a place, east and north in m or by latitude and longitude, at a depth or altitude, a speed or rpm.

        It is reached when the place and the depth or altitude are within the tolerance, m. Then the actuators are sent
        to their reset values.
        """
        self._check_not_aborted()
        for name in sorted({"heading_deg", *setpoints} & self.external_setpoints.names):
            raise SkerryError(f"{name} is switched on for itself, and a goal sets it too; switch it off first")
        together = setpoints | self.external_setpoints.reserved
        self.config.check(together)
        if "heading_deg" in setpoints:
            raise SkerryError("the way to a goal sets the heading; leave out heading_deg")
        if not {"speed", "rpm"} & together.keys():
            raise SkerryError("a goal needs a speed or rpm to go there with")
        if "heading" not in self._loops:
            raise SkerryError("a goal needs a loop for the heading, which this controller has not")
        by_place, by_earth = position is not None, latitude_deg is not None and longitude_deg is not None
        if by_place == by_earth:
            raise SkerryError("a goal is a position (east, north), or a latitude_deg and a longitude_deg")
        place = [latitude_deg, longitude_deg] if position is None else list(position)
        if len(place) != 2 or not all(number is not None and isfinite(number) for number in place):
            raise SkerryError(f"a goal is two numbers, not {place}")
        within = self.config.tolerance if tolerance is None else float(tolerance)
        if not (isfinite(within) and within > 0.0):
            raise SkerryError(f"a tolerance must be a number above 0, not {tolerance}")
        self._drop_goal()
        if not self.external_setpoints.names:
            self.return_owner = None
        self._goal = (float(place[0] or 0.0), float(place[1] or 0.0))
        self._on_earth, self._tolerance, self.reached = by_earth, within, False
        self.setpoints = {name: float(value) for name, value in setpoints.items()}

    @property
    def waypoint(self) -> tuple[tuple[float, float, float], float] | None:
        if self._goal is None or self._on_earth:
            return None
        return (*self._goal, -self.setpoints.get("depth", 0.0)), self._tolerance

    def hold(self, **setpoints: float) -> None:
        super().hold(**setpoints)
        self._drop_goal()

    def stop(self) -> None:
        super().stop()
        self._drop_goal()

    def give_up(self) -> None:
        """Pursue the goal no longer; what is switched on at the helm is still held."""
        if self._goal is not None:
            self.setpoints = {}
            self._start_stopping()
            self._drop_goal()

    def update_setpoints(self, here: Navigation, sample: SampleView) -> None:
        """Set the heading, or notice that the goal is reached."""
        if self._goal is None:
            return
        place, yaw = here.position(), here.yaw()
        if place is None or yaw is None:
            return
        goal = self._find_goal(sample)
        self.distance = hypot(goal[0] - place[0], goal[1] - place[1])
        if self.distance <= self._tolerance and self._depth_is_reached(here):
            logger.info("the goal at %.1f m east, %.1f m north is reached", *goal)
            self.give_up()
            self.reached = True
            return
        self.setpoints["heading_deg"] = float(yaw_to_heading(self._course(place, goal, yaw)))

    def _course(self, place: Place, goal: Place, yaw: float) -> float:
        """The yaw to steer."""
        radius, slack = self.config.turning_radius, self._tolerance
        if self._away is not None:
            slack = -0.2 * radius  # well outside, or it would go to and fro
        # A goal inside the circle of the tightest turn would be circled for ever: go straight on until it is outside.
        centers = [(place[0] - side * radius * sin(yaw), place[1] + side * radius * cos(yaw)) for side in (-1, 1)]
        if any(hypot(goal[0] - x, goal[1] - y) < radius - slack for x, y in centers):
            self._start = None
            self._away = yaw if self._away is None else self._away
            return self._away
        self._away = None
        bearing = atan2(goal[1] - place[1], goal[0] - place[0])
        off = abs(wrapped(bearing - yaw))
        if off > (MAX_INITIAL_ERROR if self._start is None else PASSED):
            self._start = None
            return bearing
        if self._start is None:
            self._start, self._drift = place, 0.0
        start = self._start
        path = atan2(goal[1] - start[1], goal[0] - start[0])
        # Line of sight with integral action, against currents: Børhaug, Pavlov and Pettersen 2008, eq. 10; Fossen 2021,
        # §12.5. `left` is the distance left of the path.
        left = (place[1] - start[1]) * cos(path) - (place[0] - start[0]) * sin(path)
        ahead, gain = self.config.lookahead, self.config.drift_gain
        offset = left + gain * self._drift
        if abs(left) < ahead:  # or it would wind up on the way to the line
            self._drift += ahead * left / (ahead**2 + offset**2) / float(self.config.frequency)
        return wrapped(path - atan(offset / ahead))

    def _depth_is_reached(self, here: Navigation) -> bool:
        for name, measure in (("depth", here.depth), ("altitude", here.altitude)):
            if name in self.setpoints:
                value = measure()
                return value is not None and abs(value - self.setpoints[name]) <= self._tolerance
        return True

    def _find_goal(self, sample: SampleView) -> Place:
        assert self._goal is not None
        if self._on_earth:
            if sample.projection is None:
                raise SkerryError("a goal by latitude and longitude needs the scenario's `reference`")
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
        self._goal, self._start = (None if place is None else (place[0], place[1]) for place in (goal, start))
        self._on_earth, self._tolerance, self._drift, self._away = on_earth, tolerance, drift, away


class Waypoint(HoldSettings):
    """Settings of an autopilot that goes to places."""

    kind: Literal["waypoint"] = "waypoint"
    tolerance: Positive = Field(2.0, description="m from a goal at which it is reached, unless the goal says otherwise")
    lookahead: Positive = Field(5.0, description="m ahead of the vehicle at which it aims on its line")
    drift_gain: NonNegative = Field(0.3, description="m/s, against drift; less than the vehicle's speed")
    turning_radius: NonNegative = Field(0.0, description="m of its tightest turn; it does not turn to what lies inside")

    def build(self) -> WaypointController:
        return WaypointController(self)
