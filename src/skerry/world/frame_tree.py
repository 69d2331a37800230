"""The tree of frames: utm_ned → utm_{zone}_{band} → utm → map → {robot}/odom → {robot}/base_link → links and sensors.

`map` is the world's origin on the UTM grid (REP 105, with utm in the place of earth); all frames are ENU or, on
bodies, FLU. `odom` stands where the robot began, with the map's axes. A suffix, `_gt` in the SMaRC simulator, marks
frames as the truth, beside those of the same names that a robot's own software finds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skerry.control.dead_reckoning import Estimate
from skerry.core.frames import OPTICAL_IN_BODY, Pose, rpy_to_quaternion
from skerry.core.geo import Projection
from skerry.parts.sensor import SensorConfig
from skerry.world import World
from skerry.world.frame_motions import IN_THE_WORLD, MovingFrames, Place

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


class FrameSnapshot(NamedTuple):
    """How bodies were, by which frames that may change can be worked out, later and in any thread."""

    moving: MovingFrames
    motion: NDArray[np.float64]
    moving_names: list[str]
    others: list[Transform]  # that come and go

    def frames(self) -> tuple[list[str], list[float]]:
        """Where frames were: parent and child by turns, and the seven numbers of each pose."""
        names, numbers = list(self.moving_names), self.moving.numbers(self.motion[None]).ravel().tolist()
        for parent, child, pose in self.others:
            names += parent, child
            numbers += [*pose.position.tolist(), *pose.orientation.tolist()]
        return names, numbers


class FrameTree:
    """The frames of a world, those that stand still and those that move."""

    def __init__(self, world: World, suffix: str) -> None:
        self._world = world
        self.suffix = suffix
        self.map = f"map{suffix}"
        reference = world.scenario.reference
        self.projection = None if reference is None else Projection(reference)
        self._believed: dict[str, Callable[[], Estimate | None]] = {}
        self.find_what_moves()

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

    def believe(self, robot: str, estimate: Callable[[], Estimate | None]) -> tuple[str, str]:
        """Let a robot's own estimate be in the tree, under the plain names, if these are not those of the truth.

        Gives the names of its odom and of its root.
        """
        if self.suffix:
            self._believed[robot] = estimate
        return f"{ros_name(robot)}/odom", self._believed_root(robot)

    @property
    def are_believed(self) -> bool:
        """Whether the estimate of any robot is in the tree."""
        return bool(self._believed)

    @property
    def come_and_go(self) -> bool:
        """Whether there are any that no body carries: estimates, and the nodes of ropes."""
        return bool(self._believed or self._world.ropes)

    def _believed_root(self, robot: str) -> str:
        return f"{ros_name(robot)}/{self._world.robots[robot].vehicle.robot.root}"

    def is_own(self, frame: str) -> bool:
        """Whether it is one of those that come and go: those of ropes, and of robots that estimate where they are."""
        believed = {self._believed_root(name) for name in self._believed}
        return frame.startswith(self._rope_frames) or frame in believed

    # -------------------------------------------------------------------------------------------- transforms

    def still(self) -> Iterator[Transform]:
        """Those that never change."""
        if self.projection is not None:
            zone = f"utm_{self.projection.zone}_{self.projection.band}"
            yield Transform("utm_ned", zone, Pose(np.zeros(3), _ENU_IN_NED))
            yield Transform(zone, "utm", Pose.identity())
            yield Transform("utm", self.map, Pose(self.projection.origin, Pose.identity().orientation))
            if self._believed:
                yield Transform("utm", "map", Pose(self.projection.origin, Pose.identity().orientation))
        for name in self._believed:
            yield Transform("map", f"{ros_name(name)}/odom", Pose(self._begin(name), Pose.identity().orientation))
        for name, robot in self._world.robots.items():
            yield Transform(self.map, self._odom(name), Pose(self._begin(name), Pose.identity().orientation))
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

    def look(self) -> FrameSnapshot:
        """See those that may change, as they are now."""
        others = list(self._come_and_go()) if self.come_and_go else []
        return FrameSnapshot(self.moving, self._motion.copy(), self.moving_names, others)

    def now(self) -> Iterator[Transform]:
        """All of them, as they are now."""
        yield from self.still()
        names, numbers = self.look().frames()
        for number, (parent, child) in enumerate(zip(names[::2], names[1::2], strict=True)):
            yield Transform(parent, child, Pose.of(numbers[7 * number : 7 * number + 7]))

    def _come_and_go(self) -> Iterator[Transform]:
        """Robots where they believe that they are, and the nodes of ropes."""
        for name, believed in self._believed.items():
            if (estimate := believed()) is not None:
                pose = Pose(estimate.pose.position - self._begin(name), estimate.pose.orientation)
                yield Transform(f"{ros_name(name)}/odom", self._believed_root(name), pose)
        for name, rope in self._world.ropes.items():
            for number, point in enumerate(rope.points):
                frame = f"{self._rope(name)}_{number}{self.suffix}"
                yield Transform(self.map, frame, Pose(point, Pose.identity().orientation))

    def find_what_moves(self) -> None:
        """Name the frames on bodies: robots in their odom, links in those that carry them, objects in the map."""
        self._rope_frames = tuple(f"{self._rope(name)}_" for name in self._world.ropes)
        self._believed = {name: found for name, found in self._believed.items() if name in self._world.robots}
        pairs: list[tuple[Place, Place]] = []
        names: list[tuple[str, str]] = []
        for name, robot in self._world.robots.items():
            begin = Pose(self._begin(name), Pose.identity().orientation)
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
        self.moving = MovingFrames(pairs)
        self.moving_names = [name for pair in names for name in pair]

    def _begin(self, robot: str) -> NDArray[np.float64]:
        """Where a robot began."""
        return self._world.scenario.robots[robot].pose.build().position

    def _rope(self, name: str) -> str:
        """Of a rope's nodes: below its robot's name, if it has one."""
        return "/".join(ros_name(word) for word in f"{name}_node".split("/"))

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
