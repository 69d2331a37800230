"""Features of a robot from its own sensors. A feature without a sensor is 0; without new data it keeps its value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.control.loops.navigation import TRUTH, Navigation
from skerry.gym.task import BASE_FEATURES, OBJECT_FEATURES, QX, ROLL, TIME, YAW, P, Scan, Task, U, X, Z
from skerry.world import World
from skerry.world.robot import Robot


class SensorFeatures:
    """Features from the sensors of one robot; its sensors are subscribed from the first update on."""

    def __init__(self, task: Task, world: World, robot: Robot, origin: tuple[float, float]) -> None:
        self._task = task
        self._origin = np.array([*origin, 0.0])
        self._robot = robot
        self._static_objects: list[tuple[int, NDArray[np.float64]]] = []  # positions of static objects are known
        for number, name in enumerate(task.others):
            if name in world.objects and world.scenario.objects[name].motion == "static":
                index = BASE_FEATURES + len(task.joints) + OBJECT_FEATURES * number
                self._static_objects.append((index, world.objects[name].position - self._origin))
        mounted = next(iter(robot.sensors.values()))
        self._view = mounted.view
        self._navigation = Navigation(task.navigation, "base_link", self._view, robot.sensors)

    def update(self, features: NDArray[np.float64]) -> None:
        """Update the features from the latest readings."""
        config, navigation = self._task.navigation, self._navigation
        features[TIME] = self._view.time
        if config.position != TRUTH and (position := navigation.position_enu()) is not None:
            _write(features, X, position - self._origin)
        if config.depth != TRUTH and (depth := navigation.depth()) is not None:
            features[Z] = -depth
        if config.attitude != TRUTH:
            _write(features, ROLL, navigation.attitude())
            _write(features, QX, navigation.orientation())
        if config.heading not in (None, TRUTH) and (yaw := navigation.yaw()) is not None:
            features[YAW] = yaw
        if config.speed != TRUTH:
            _write(features, U, navigation.velocity())
        if config.turn_rate != TRUTH:
            _write(features, P, navigation.rates())
        for number, joint in enumerate(self._task.joints):  # joint encoders have no noise
            features[BASE_FEATURES + number] = self._robot.joint_position(joint)
        for start, position in self._static_objects:
            _write(features, start, position)
        if self._task.scan is not None and (reading := self._robot.sensors[self._task.scan.sensor].reading) is not None:
            sectors(self._task.scan, reading.points, features[-self._task.scan.sectors :])


def _write(features: NDArray[np.float64], start: int, values: Any) -> None:
    """Write values if all are finite; a DVL without bottom lock gives NaN."""
    if values is not None and np.isfinite(values).all():
        features[start : start + len(values)] = values


def sectors(scan: Scan, points: Any, ranges: NDArray[np.float64]) -> None:
    """Write the range of the nearest point in each sector; sector 0 begins astern, numbers increase to the left."""
    ranges[:] = scan.range
    distance = np.hypot(points[:, 0], points[:, 1])
    angle = np.arctan2(points[:, 1], points[:, 0])
    indices = ((angle + math.pi) / (2 * math.pi) * scan.sectors).astype(np.int64) % scan.sectors
    np.minimum.at(ranges, indices, distance)


def true_scan(task: Task, world: World, origin: tuple[float, float], features: NDArray[np.float64]) -> None:
    """Write the true sector ranges of upright cylinders with known positions and radii."""
    scan = task.scan
    assert scan is not None
    heading = features[YAW]
    found = []
    for name, radius in scan.obstacles.items():
        way = world.objects[name].position[:2] - origin - features[X : X + 2]
        distance = max(float(np.hypot(*way)), radius)
        half = math.asin(min(radius / distance, 1.0))
        middle = math.atan2(way[1], way[0]) - heading
        for side in (-half, 0.0, half):
            reach = distance - radius if side == 0.0 else distance * math.cos(half)
            found.append((reach * math.cos(middle + side), reach * math.sin(middle + side)))
    sectors(scan, np.array(found).reshape(-1, 2), features[-scan.sectors :])
