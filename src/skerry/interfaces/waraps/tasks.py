"""Tasks of WARA-PS: parameters in geographic coordinates to waypoints in the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any, Final

from skerry.core.errors import SkerryError
from skerry.core.geo import Projection

MAX_WAYPOINTS: Final = 1000
"""Largest number of waypoints of one task."""
TASKS: Final = ("move-to", "move-path", "search-area")
SIGNALS: Final = ("$abort", "$enough", "$pause", "$continue")


@dataclass(frozen=True)
class TaskWaypoint:
    """Waypoint of a task: east, north and up, m; the tolerance is None for the controller's own."""

    east: float
    north: float
    up: float
    tolerance: float | None = None


@dataclass(frozen=True)
class Plan:
    """Waypoints of a task in their order, and the speed, m/s."""

    waypoints: tuple[TaskWaypoint, ...]
    speed: float


def plan_task(
    name: str, params: Mapping[str, Any], projection: Projection, speeds: Mapping[str, float], spacing: float
) -> Plan:
    """Return the plan of a task.

    Args:
        name: Name of the task.
        params: Parameters of the task, as JSON gives them.
        projection: Projection of the scenario.
        speeds: Speeds by name, m/s.
        spacing: Distance between two lines of a search, m.

    Raises:
        SkerryError: If the task is unknown, or a parameter is missing or invalid.
    """
    speed = _speed(params.get("speed", "standard"), speeds)
    match name:
        case "move-to":
            points = [_waypoint(params.get("waypoint"), "waypoint", projection)]
        case "move-path":
            points = _waypoints(params.get("waypoints"), "waypoints", projection)
        case "search-area":
            points = search_lines(_waypoints(params.get("area"), "area", projection), spacing)
        case _:
            raise SkerryError(f"task {name!r:.60} is not supported; supported: {', '.join(TASKS)}")
    return Plan(tuple(points), speed)


def search_lines(area: Sequence[TaskWaypoint], spacing: float) -> list[TaskWaypoint]:
    """Return a path of parallel lines from west to east and back over a polygon.

    The first and the last line are half a spacing inside the polygon. Each line extends from the first to the last
    intersection with the border, so that a concave area is covered too.
    """
    if len(area) < 3:
        raise SkerryError(f"`area` has {len(area)} points; an area needs at least 3")
    south, north = min(point.north for point in area), max(point.north for point in area)
    count = max(1, ceil((north - south) / spacing))
    if 2 * count > MAX_WAYPOINTS:
        raise SkerryError(f"`area` needs {count} lines; the maximum is {MAX_WAYPOINTS // 2}")
    found: list[TaskWaypoint] = []
    for row in range(count):
        level = south + (row + 0.5) * (north - south) / count
        crossings = sorted(
            one.east + (level - one.north) / (other.north - one.north) * (other.east - one.east)
            for one, other in zip(area, [*area[1:], area[0]], strict=True)
            if (one.north <= level) != (other.north <= level)
        )
        if crossings:
            ends = [crossings[0], crossings[-1]]
            found += [TaskWaypoint(east, level, area[0].up) for east in (ends if row % 2 == 0 else ends[::-1])]
    if not found:
        raise SkerryError("`area` has no extent from south to north")
    return found


def _speed(value: object, speeds: Mapping[str, float]) -> float:
    if isinstance(value, str):
        if value not in speeds:
            raise SkerryError(f"`speed` is {value!r:.60}; known: {', '.join(speeds)}, or a number in m/s")
        return speeds[value]
    speed = _number(value, "speed")
    if speed <= 0.0:
        raise SkerryError(f"`speed` is {speed:g}; it must be above 0")
    return speed


def _waypoints(value: object, name: str, projection: Projection) -> list[TaskWaypoint]:
    if not isinstance(value, list) or not value:
        raise SkerryError(f"`{name}` must be a list of points with latitude and longitude")
    if len(value) > MAX_WAYPOINTS:
        raise SkerryError(f"`{name}` has {len(value)} points; the maximum is {MAX_WAYPOINTS}")
    return [_waypoint(point, f"{name}[{index}]", projection) for index, point in enumerate(value)]


def _waypoint(value: object, name: str, projection: Projection) -> TaskWaypoint:
    if not isinstance(value, Mapping):
        raise SkerryError(f"`{name}` must be a point with latitude and longitude")
    latitude, longitude = (_number(value.get(key), f"{name}.{key}") for key in ("latitude", "longitude"))
    if not (-90.0 <= latitude <= 90.0 and -180.0 <= longitude <= 180.0):
        raise SkerryError(f"`{name}` is at {latitude:g}°, {longitude:g}°, which is not on the Earth")
    up = _number(value.get("altitude", 0.0), f"{name}.altitude")
    tolerance = value.get("tolerance")
    within = None if tolerance is None else _number(tolerance, f"{name}.tolerance")
    if within is not None and within <= 0.0:
        raise SkerryError(f"`{name}.tolerance` is {within:g}; it must be above 0")
    east, north, _ = projection.from_geodetic([latitude, longitude, 0.0]).tolist()
    return TaskWaypoint(east, north, up, within)


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise SkerryError(f"`{name}` must be a number, not {value!r:.60}")
    return float(value)
