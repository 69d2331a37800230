"""Tree of frames: utm_ned → utm_{zone}_{band} → utm → map → {robot}/odom → {robot}/base_link → links and sensors.

`map` is the origin of the world on the UTM grid (REP 105, with utm instead of earth). All frames are ENU, and frames on
bodies are FLU. `odom` is at the start position of the robot, with the axes of the map. A suffix, such as `_gt` in the
SMaRC simulator, marks ground-truth frames, so that the robot's own software can publish estimates under the plain
names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skerry.control.dead_reckoning import Estimate
from skerry.core.frames import OPTICAL_IN_BODY, Pose, rpy_to_quaternion
from skerry.core.geo import Projection
from skerry.parts.sensor import SensorConfig
from skerry.world import World
from skerry.world.frame_motions import NO_BODY, BodyFrame, MovingFrames

OPTICAL_KINDS: Final = frozenset({"camera"})
"""Kinds of sensors whose messages are in an optical frame: z forward, x right, y down."""

_ENU_IN_NED: Final = np.array([math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0])
"""Rotation from NED to ENU: half a turn about the line between north and east."""


class Transform(NamedTuple):
    """Pose of a frame in its parent frame."""

    parent: str
    child: str
    pose: Pose


def ros_name(name: str) -> str:
    """Return a name that ROS allows: letters, digits and underscores, without a leading digit."""
    clean = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{clean}" if clean[:1].isdigit() else clean


class FrameSnapshot(NamedTuple):
    """Motions of all bodies at one tick, from which the moving frames are computed later, in any thread."""

    moving: MovingFrames
    motion: NDArray[np.float64]
    moving_names: list[str]
    dynamic: list[Transform]  # frames that no body carries

    @property
    def dynamic_names(self) -> list[str]:
        """Names of the dynamic frames: parent, child, parent, child, …."""
        return [name for parent, child, _ in self.dynamic for name in (parent, child)]


def frame_poses(snapshots: Sequence[FrameSnapshot]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the poses of all frames in snapshots that have the same frames.

    Returns:
        The frame names (parent, child, parent, child, …), and position and quaternion of each frame, (n, frames, 7).
    """
    first = snapshots[0]
    motions = np.concatenate([snapshot.motion for snapshot in snapshots])
    poses = first.moving.relative_poses(motions.reshape(len(snapshots), *first.motion.shape))
    if first.dynamic:
        dynamic = [[[*pose.position, *pose.orientation] for _, _, pose in snapshot.dynamic] for snapshot in snapshots]
        poses = np.concatenate([poses, dynamic], axis=1)
    return first.moving_names + first.dynamic_names, poses


class FrameTree:
    """Static and moving frames of a world.

    Args:
        world: The world.
        suffix: Suffix of the names of all ground-truth frames; may be empty.
    """

    def __init__(self, world: World, suffix: str) -> None:
        self._world = world
        self.suffix = suffix
        self.map = f"map{suffix}"
        reference = world.scenario.reference
        self.projection = None if reference is None else Projection(reference)
        self._estimates: dict[str, Callable[[], Estimate | None]] = {}
        self.update_bodies()

    # -------------------------------------------------------------------------------------------- names

    def link(self, robot: str, link: str) -> str:
        """Return the name of the frame of a link."""
        return f"{ros_name(robot)}/{link}{self.suffix}"

    def sensor(self, robot: str, name: str, settings: SensorConfig) -> str:
        """Return the name of the frame of a sensor: the frame of its link if the sensor has no offset from the link."""
        if _is_identity(sensor_pose(settings)):
            return self.link(robot, settings.link)
        ending = "optical_frame" if settings.kind in OPTICAL_KINDS else "frame"
        return f"{ros_name(robot)}/{name}_{ending}{self.suffix}"

    def add_estimate(self, robot: str, estimate: Callable[[], Estimate | None]) -> tuple[str, str]:
        """Add the estimated pose of a robot to the tree under the plain names, if the suffix is not empty.

        Returns:
            The names of the odom frame and of the root frame of the estimate.
        """
        if self.suffix:
            self._estimates[robot] = estimate
        return f"{ros_name(robot)}/odom", self._estimated_root(robot)

    @property
    def has_estimates(self) -> bool:
        """Whether the tree contains the estimated pose of a robot."""
        return bool(self._estimates)

    @property
    def has_dynamic_frames(self) -> bool:
        """Whether the tree has frames that no body carries: estimated poses and rope nodes."""
        return bool(self._estimates or self._world.ropes)

    def _estimated_root(self, robot: str) -> str:
        return f"{ros_name(robot)}/{self._world.robots[robot].vehicle.robot.root}"

    def is_dynamic(self, frame: str) -> bool:
        """Return whether a frame is a rope node or an estimated pose, which no body carries."""
        estimated = {self._estimated_root(name) for name in self._estimates}
        return frame.startswith(self._rope_frames) or frame in estimated

    # -------------------------------------------------------------------------------------------- transforms

    def static_transforms(self) -> Iterator[Transform]:
        """Yield the transforms that never change."""
        if self.projection is not None:
            zone = f"utm_{self.projection.zone}_{self.projection.band}"
            yield Transform("utm_ned", zone, Pose(np.zeros(3), _ENU_IN_NED))
            yield Transform(zone, "utm", Pose.identity())
            yield Transform("utm", self.map, Pose(self.projection.origin, Pose.identity().orientation))
            if self._estimates:
                yield Transform("utm", "map", Pose(self.projection.origin, Pose.identity().orientation))
        for name in self._estimates:
            yield Transform("map", f"{ros_name(name)}/odom", Pose(self._start(name), Pose.identity().orientation))
        for name, robot in self._world.robots.items():
            yield Transform(self.map, self._odom(name), Pose(self._start(name), Pose.identity().orientation))
            for joint in robot.vehicle.robot.joints.values():
                if joint.name not in robot.joints:
                    pose = Pose(np.array(joint.position), rpy_to_quaternion(joint.rpy))
                    yield Transform(self.link(name, joint.parent), self.link(name, joint.child), pose)
            for part, settings in robot.vehicle.config.sensors.items():
                if (frame := self.sensor(name, part, settings)) != self.link(name, settings.link):
                    yield Transform(self.link(name, settings.link), frame, sensor_pose(settings))
        for name, body in self._world.objects.items():
            if self._world.scenario.objects[name].motion == "static":
                yield Transform(self.map, self._object(name), body.pose)

    def snapshot(self) -> FrameSnapshot:
        """Return the present state of all frames that may change."""
        others = list(self._dynamic_transforms()) if self.has_dynamic_frames else []
        return FrameSnapshot(self.moving, self._motion.copy(), self.moving_names, others)

    def transforms(self) -> Iterator[Transform]:
        """Yield all transforms with their present poses."""
        yield from self.static_transforms()
        names, poses = frame_poses([self.snapshot()])
        for parent, child, pose in zip(names[::2], names[1::2], poses[0], strict=True):
            yield Transform(parent, child, Pose.of(pose))

    def _dynamic_transforms(self) -> Iterator[Transform]:
        """Yield the estimated poses of robots and the rope nodes."""
        for name, get_estimate in self._estimates.items():
            if (estimate := get_estimate()) is not None:
                pose = Pose(estimate.pose.position - self._start(name), estimate.pose.orientation)
                yield Transform(f"{ros_name(name)}/odom", self._estimated_root(name), pose)
        for name, rope in self._world.ropes.items():
            for number, point in enumerate(rope.points):
                frame = f"{self._rope(name)}_{number}{self.suffix}"
                yield Transform(self.map, frame, Pose(point, Pose.identity().orientation))

    def update_bodies(self) -> None:
        """Collect the moving frames again: robots in odom, links in their parents, objects in the map.

        Called at the start and whenever robots or objects were added or removed.
        """
        self._rope_frames = tuple(f"{self._rope(name)}_" for name in self._world.ropes)
        self._estimates = {name: found for name, found in self._estimates.items() if name in self._world.robots}
        pairs: list[tuple[BodyFrame, BodyFrame]] = []
        names: list[tuple[str, str]] = []
        for name, robot in self._world.robots.items():
            start = Pose(self._start(name), Pose.identity().orientation)
            pairs.append(((NO_BODY, start), (robot.root, Pose.identity())))
            names.append((self._odom(name), self.link(name, robot.vehicle.robot.root)))
            for joint in robot.vehicle.robot.joints.values():
                if joint.name in robot.joints:
                    parent, child = robot.links[joint.parent], robot.links[joint.child]
                    pairs.append(((parent.body, parent.offset), (child.body, child.offset)))
                    names.append((self.link(name, joint.parent), self.link(name, joint.child)))
        for name, body in self._world.objects.items():
            if self._world.scenario.objects[name].motion != "static":
                pairs.append(((NO_BODY, Pose.identity()), (body.root, Pose.identity())))
                names.append((self.map, self._object(name)))
        trees = [*self._world.robots.values(), *self._world.objects.values()]
        self._motion = trees[0].engine.motions(trees[0].world)[0] if trees else np.empty((0, 7))
        self.moving = MovingFrames(pairs)
        self.moving_names = [name for pair in names for name in pair]

    def _start(self, robot: str) -> NDArray[np.float64]:
        """Return the start position of a robot, (3,)."""
        return self._world.scenario.robots[robot].pose.build().position

    def _rope(self, name: str) -> str:
        """Return the prefix of the node frames of a rope; it starts with the name of its robot, if it has one."""
        return "/".join(ros_name(part) for part in f"{name}_node".split("/"))

    def _odom(self, robot: str) -> str:
        return f"{ros_name(robot)}/odom{self.suffix}"

    def _object(self, name: str) -> str:
        return f"{ros_name(name)}{self.suffix}"


def sensor_pose(settings: SensorConfig) -> Pose:
    """Return the pose of the frame of a sensor in its link: FLU, or an optical frame for cameras."""
    mount = settings.offset()
    return mount @ Pose(np.zeros(3), OPTICAL_IN_BODY) if settings.kind in OPTICAL_KINDS else mount


def _is_identity(pose: Pose) -> bool:
    return bool(np.abs(pose.position).max() < 1e-9 and abs(pose.orientation[3]) > 1.0 - 1e-12)
