"""The facts of a robot as its own sensors tell them; what no sensor tells is 0, what is silent stays as it was."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.control.loops.navigation import TRUTH, Navigation
from skerry.gym.task import OTHER, OWN, QX, ROLL, TIME, YAW, P, Scan, Task, U, X, Z
from skerry.world import World
from skerry.world.robot import Robot


class Senses:
    """Reads the sensors of one robot, from its first look on."""

    def __init__(self, task: Task, world: World, robot: Robot, origin: tuple[float, float]) -> None:
        self._task = task
        self._origin = np.array([*origin, 0.0])
        self._robot = robot
        self._charted: list[tuple[int, NDArray[np.float64]]] = []  # what never moves is known, as on a chart
        for number, name in enumerate(task.others):
            if name in world.objects and world.scenario.objects[name].motion == "static":
                place = OWN + len(task.joints) + OTHER * number
                self._charted.append((place, world.objects[name].position - self._origin))
        mounted = next(iter(robot.sensors.values()))
        self._truth = mounted.view
        self._navigation = Navigation(task.navigation, "base_link", self._truth, robot.sensors)

    def look(self, facts: NDArray[np.float64]) -> None:
        """Write what is known now over what was known."""
        config, navigation = self._task.navigation, self._navigation
        facts[TIME] = self._truth.time
        if config.position != TRUTH and (place := navigation.position_enu()) is not None:
            _write(facts, X, place - self._origin)
        if config.depth != TRUTH and (depth := navigation.depth()) is not None:
            facts[Z] = -depth
        if config.attitude != TRUTH:
            _write(facts, ROLL, navigation.attitude())
            _write(facts, QX, navigation.orientation())
        if config.heading not in (None, TRUTH) and (yaw := navigation.yaw()) is not None:
            facts[YAW] = yaw
        if config.speed != TRUTH:
            _write(facts, U, navigation.velocity())
        if config.turn_rate != TRUTH:
            _write(facts, P, navigation.rates())
        for number, joint in enumerate(self._task.joints):  # their encoders have no noise
            facts[OWN + number] = self._robot.joint_position(joint)
        for start, position in self._charted:
            _write(facts, start, position)
        if self._task.scan is not None and (reading := self._robot.sensors[self._task.scan.sensor].reading) is not None:
            sectors(self._task.scan, reading.points, facts[-self._task.scan.sectors :])


def _write(facts: NDArray[np.float64], start: int, values: Any) -> None:
    """Write values that are numbers; a DVL without a lock has none."""
    if values is not None and np.isfinite(values).all():
        facts[start : start + len(values)] = values


def sectors(scan: Scan, points: Any, ranges: NDArray[np.float64]) -> None:
    """The nearest of points in the robot's axes, in each sector; the first begins astern and goes to the left."""
    ranges[:] = scan.range
    distance = np.hypot(points[:, 0], points[:, 1])
    angle = np.arctan2(points[:, 1], points[:, 0])
    places = ((angle + math.pi) / (2 * math.pi) * scan.sectors).astype(np.int64) % scan.sectors
    np.minimum.at(ranges, places, distance)


def true_scan(task: Task, world: World, origin: tuple[float, float], facts: NDArray[np.float64]) -> None:
    """The same for upright cylinders whose places are known, each as wide as it is."""
    scan = task.scan
    assert scan is not None
    heading = facts[YAW]
    found = []
    for name, radius in scan.obstacles.items():
        way = world.objects[name].position[:2] - origin - facts[X : X + 2]
        distance = max(float(np.hypot(*way)), radius)
        half = math.asin(min(radius / distance, 1.0))
        middle = math.atan2(way[1], way[0]) - heading
        for side in (-half, 0.0, half):
            reach = distance - radius if side == 0.0 else distance * math.cos(half)
            found.append((reach * math.cos(middle + side), reach * math.sin(middle + side)))
    sectors(scan, np.array(found).reshape(-1, 2), facts[-scan.sectors :])
