"""Robots and objects as a user holds them: where they are, how they move, and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.clock import Clock
from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.frames import Pose, Twist, rotate
from skerry.core.frames import inverse as inverse_of
from skerry.core.geo import Projection
from skerry.physics.engine import Engine
from skerry.physics.model import LinkHandle
from skerry.rays import RayView
from skerry.terrain import Terrain
from skerry.water import Water, WaterSample
from skerry.water.daylight import Daylight
from skerry.world.surroundings import Surroundings


class Parts(dict[str, Any]):
    """Parts by name; a wrong name is answered with a guess at the right one."""

    def __init__(self, what: str, parts: Mapping[str, Any]) -> None:
        super().__init__(parts)
        self._what = what

    def __missing__(self, name: str) -> Any:
        raise UnknownName(f"there is no {self._what} {name!r}; {did_you_mean(str(name), self)}")


@dataclass(eq=False)
class Tree:
    """A body tree in one world of an engine: a robot or an object."""

    name: str
    engine: Engine = field(repr=False)
    world: int = field(repr=False)
    root: int = field(repr=False)
    links: Parts = field(repr=False)

    @property
    def pose(self) -> Pose:
        """Of the root link in the world (ENU)."""
        return _pose(self.engine.motion(self.world, self.root))

    @property
    def twist(self) -> Twist:
        """Of the root link, in its own axes (FLU)."""
        row = self.engine.motion(self.world, self.root)
        back = inverse_of(row[3:7])
        return Twist(rotate(back, row[7:10]), rotate(back, row[10:13]))

    def link_pose(self, link: str) -> Pose:
        """Of a link in the world."""
        handle: LinkHandle = self.links[link]
        return _pose(self.engine.motion(self.world, handle.body)) @ handle.offset


@dataclass(eq=False)
class Object(Tree):
    """A thing in the world that is not a robot."""

    forces: Parts = field(default_factory=lambda: Parts("force", {}), repr=False)

    def move(self, pose: Pose) -> None:
        """Put it somewhere, at rest; static objects stay where they are and say so."""
        self.engine.place(self.world, self.root, pose)


@dataclass(eq=False)
class Robot(Tree):
    """A robot and its parts, by name."""

    joints: Parts = field(repr=False)
    forces: Parts = field(repr=False)
    actuators: Parts = field(repr=False)
    sensors: Parts = field(repr=False)
    controllers: Parts = field(repr=False)

    def joint_position(self, joint: str) -> float:
        """A hinge's angle, rad, or a slide's travel, m."""
        return self.engine.joint_position(self.world, self.joints[joint])

    def joint_velocity(self, joint: str) -> float:
        """A hinge's rate, rad/s, or a slide's speed, m/s."""
        return self.engine.joint_velocity(self.world, self.joints[joint])


@dataclass(frozen=True, eq=False)
class RobotTruth:
    """The noise-free instant of one robot: the `Truth` that its sensors and controllers see."""

    robot: Tree
    clock: Clock
    gravity: float
    water: Water
    daylight: Daylight
    terrain: Terrain | None
    projection: Projection | None
    surroundings: Surroundings
    ray_bit: int

    @property
    def time(self) -> float:
        return self.clock.time

    @property
    def tick(self) -> int:
        return self.clock.tick

    @property
    def step(self) -> float:
        return float(self.clock.step)

    @property
    def rays(self) -> RayView:
        return self.surroundings.view(self.ray_bit)

    def sample_water(self, points: ArrayLike) -> WaterSample:
        engine, world = self.robot.engine, self.robot.world
        return self.water.sample(points, self.time, engine.part("userdata")[world])

    def surface_height(self, points: ArrayLike) -> NDArray[np.float64]:
        engine, world = self.robot.engine, self.robot.world
        return self.water.sample(points, self.time, engine.part("userdata")[world], need=0).height

    def pose(self, link: str) -> Pose:
        handle: LinkHandle = self.robot.links[link]
        return _pose(self.robot.engine.motion(self.robot.world, handle.body)) @ handle.offset

    def pose_before(self, link: str) -> Pose:
        handle: LinkHandle = self.robot.links[link]
        return _pose(self.robot.engine.motion_before(self.robot.world, handle.body)) @ handle.offset

    def twist(self, link: str) -> Twist:
        handle: LinkHandle = self.robot.links[link]
        return _twist(self.robot.engine.motion(self.robot.world, handle.body), handle)

    def twist_before(self, link: str) -> Twist:
        handle: LinkHandle = self.robot.links[link]
        return _twist(self.robot.engine.motion_before(self.robot.world, handle.body), handle)


def _pose(row: NDArray[np.float64]) -> Pose:
    return Pose.of(row[:7])


def _twist(row: NDArray[np.float64], handle: LinkHandle) -> Twist:
    """The velocity of a link's origin, in the world's axes."""
    return Twist.of(row[7:]).moved(rotate(row[3:7], handle.offset.position))
