"""The tree of frames: utm_ned → utm_{zone}_{band} → utm → map → {robot}/odom → {robot}/base_link → links and sensors.

`map` is the world's origin on the UTM grid (REP 105, with utm in the place of earth); all frames are ENU or, on
bodies, FLU. `odom` stands where the robot began, with the map's axes. A suffix, `_gt` in the SMaRC simulator, marks
frames as the truth, beside those of the same names that a robot's own software finds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from skerry.core.frames import OPTICAL_IN_BODY, Pose, rpy_to_quaternion
from skerry.core.geo import Projection
from skerry.interfaces.ros.moving_frames import IN_THE_WORLD, MovingFrames, Place
from skerry.parts.sensor import SensorConfig
from skerry.world import World

OPTICAL_KINDS: Final = frozenset({"camera"})
"""Kinds whose messages are in an optical frame: z forward, x right, y down."""

_ENU_IN_NED: Final = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])
"""x north, y east, z down turned to x east, y north, z up: half a turn about the line between north and east."""


class Transform(NamedTuple):
    """Where a frame stands in its parent."""

    parent: str
    child: str
    pose: Pose


def ros_name(name: str) -> str:
    """A name as ROS allows it: letters, digits and underscores, not beginning with a digit."""
    clean = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{clean}" if clean[:1].isdigit() else clean


class FrameTree:
    """The frames of a world, those that stand still and those that move."""

    def __init__(self, world: World, suffix: str) -> None:
        self._world = world
        self.suffix = suffix
        self.map = f"map{suffix}"
        reference = world.scenario.reference
        self.projection = None if reference is None else Projection(reference)
        self._find_what_moves()

    # -------------------------------------------------------------------------------------------- names

    def link(self, robot: str, link: str) -> str:
        """The frame of a robot's link."""
        return f"{ros_name(robot)}/{link}{self.suffix}"

    def sensor(self, robot: str, name: str, settings: SensorConfig) -> str:
        """The frame of a sensor: its link's, unless it is mounted at some distance or angle from that."""
        if _is_identity(sensor_pose(settings)):
            return self.link(robot, settings.link)
        word = "optical_frame" if settings.kind in OPTICAL_KINDS else "frame"
        return f"{ros_name(robot)}/{name}_{word}{self.suffix}"

    # -------------------------------------------------------------------------------------------- transforms

    def still(self) -> Iterator[Transform]:
        """Those that never change."""
        if self.projection is not None:
            zone = f"utm_{self.projection.zone}_{self.projection.band}"
            yield Transform("utm_ned", zone, Pose(np.zeros(3), _ENU_IN_NED))
            yield Transform(zone, "utm", Pose.identity())
            yield Transform("utm", self.map, Pose(self.projection.origin, Pose.identity().orientation))
        for name, robot in self._world.robots.items():
            begin = self._world.scenario.robots[name].pose.build().position
            yield Transform(self.map, self._odom(name), Pose(begin, Pose.identity().orientation))
            for joint in robot.vehicle.robot.joints.values():
                if joint.name not in robot.joints:
                    pose = Pose(np.array(joint.position), rpy_to_quaternion(joint.rpy))
                    yield Transform(self.link(name, joint.parent), self.link(name, joint.child), pose)
            for part, settings in robot.vehicle.config.sensors.items():
                if (frame := self.sensor(name, part, settings)) != self.link(name, settings.link):
                    yield Transform(self.link(name, settings.link), frame, sensor_pose(settings))
        for name, thing in self._world.objects.items():
            if self._world.scenario.objects[name].motion == "static":
                yield Transform(self.map, self._object(name), thing.pose)

    def moving(self) -> tuple[list[str], list[float]]:
        """Those that may change, as they are now: parent and child by turns, and the seven numbers of each pose."""
        return self._moving_names, self._moving.numbers(self._motion)

    def _find_what_moves(self) -> None:
        """Name the frames on bodies: robots in their odom, links in those that carry them, objects in the map."""
        pairs: list[tuple[Place, Place]] = []
        names: list[tuple[str, str]] = []
        for name, robot in self._world.robots.items():
            begin = Pose(self._world.scenario.robots[name].pose.build().position, Pose.identity().orientation)
            pairs.append(((IN_THE_WORLD, begin), (robot.root, Pose.identity())))
            names.append((self._odom(name), self.link(name, robot.vehicle.robot.root)))
            for joint in robot.vehicle.robot.joints.values():
                if joint.name in robot.joints:
                    parent, child = robot.links[joint.parent], robot.links[joint.child]
                    pairs.append(((parent.body, parent.offset), (child.body, child.offset)))
                    names.append((self.link(name, joint.parent), self.link(name, joint.child)))
        for name, thing in self._world.objects.items():
            if self._world.scenario.objects[name].motion != "static":
                pairs.append(((IN_THE_WORLD, Pose.identity()), (thing.root, Pose.identity())))
                names.append((self.map, self._object(name)))
        trees = [*self._world.robots.values(), *self._world.objects.values()]
        self._motion = trees[0].engine.motions(trees[0].world)[0] if trees else np.empty((0, 7))
        self._moving = MovingFrames(pairs)
        self._moving_names = [name for pair in names for name in pair]

    def _odom(self, robot: str) -> str:
        return f"{ros_name(robot)}/odom{self.suffix}"

    def _object(self, name: str) -> str:
        return f"{ros_name(name)}{self.suffix}"


def sensor_pose(settings: SensorConfig) -> Pose:
    """Of a sensor's frame in its link: FLU, or optical for what looks along z."""
    mount = settings.offset()
    return mount @ Pose(np.zeros(3), OPTICAL_IN_BODY) if settings.kind in OPTICAL_KINDS else mount


def _is_identity(pose: Pose) -> bool:
    return bool(np.abs(pose.position).max() < 1e-9 and abs(pose.orientation[3]) > 1.0 - 1e-12)
