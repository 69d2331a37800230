"""The noise-free instant of one robot: all that its sensors and controllers may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.frames import Pose, Twist
from skerry.core.geo import Projection
from skerry.core.kernels import strict_kernel
from skerry.parts.sensor import Contact
from skerry.physics.model import LinkHandle
from skerry.rays import RayView
from skerry.ropes.rope import Rope
from skerry.terrain import Terrain
from skerry.water import Water, WaterSample
from skerry.water.daylight import Daylight
from skerry.water.flow import NEED_ALL
from skerry.world.instant import Held, Instant
from skerry.world.robot import Object, Robot, Tree

NOW, BEFORE = 0, 1


@strict_kernel
def carry(row: Any, offset: Any, carried: Any) -> None:
    """The motion of a frame that is fixed to a body: position, quaternion, velocity and angular velocity.

    `row` is the body's motion (13,), `offset` (7,) the frame's pose in the body, `carried` (13,) takes the answer.
    """
    x, y, z, w = row[3], row[4], row[5], row[6]
    a, b, c = offset[0], offset[1], offset[2]
    ax = (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - z * w) * b + 2.0 * (x * z + y * w) * c
    ay = 2.0 * (x * y + z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - x * w) * c
    az = 2.0 * (x * z - y * w) * a + 2.0 * (y * z + x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c
    carried[0], carried[1], carried[2] = row[0] + ax, row[1] + ay, row[2] + az
    i, j, k, s = offset[3], offset[4], offset[5], offset[6]
    carried[3] = w * i + x * s + y * k - z * j
    carried[4] = w * j - x * k + y * s + z * i
    carried[5] = w * k + x * j - y * i + z * s
    carried[6] = w * s - x * i - y * j - z * k
    p, q, r = row[10], row[11], row[12]
    carried[7] = row[7] + (q * az - r * ay)
    carried[8] = row[8] + (r * ax - p * az)
    carried[9] = row[9] + (p * ay - q * ax)
    carried[10], carried[11], carried[12] = p, q, r


@dataclass(frozen=True, eq=False)
class RobotTruth:
    """The `Truth` of a robot, now or at an instant that is held."""

    robot: Robot
    instant: Instant
    step: float
    gravity: float
    water: Water
    daylight: Daylight
    terrain: Terrain | None
    projection: Projection | None
    trees: Mapping[str, Tree]  # of the whole world
    ropes: Mapping[str, Rope]  # of the whole world
    ray_bit: int
    _frames: dict[tuple[str, int], tuple[int, NDArray[np.float64], Pose | None]] = field(default_factory=dict)

    @property
    def time(self) -> float:
        return self.instant.time

    @property
    def tick(self) -> int:
        return self.instant.tick

    @property
    def rays(self) -> RayView:
        return self.instant.view(self.ray_bit)

    def sample_water(self, points: ArrayLike, need: int = NEED_ALL) -> WaterSample:
        return self.water.sample(points, self.time, self.instant.userdata, need)

    def surface_height(self, points: ArrayLike) -> NDArray[np.float64]:
        return self.water.height(points, self.time, self.instant.userdata)

    def depth(self, point: NDArray[np.float64]) -> float:
        return self.instant.probe.height(point, self.time) - float(point[2])

    def water_velocity(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.instant.probe.velocity(point, self.time)

    def water_pressure(self, point: NDArray[np.float64]) -> tuple[float, float]:
        return self.instant.probe.pressure(point, self.time)

    def motion(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]:
        return self._motion(NOW, link, offset)

    def motion_before(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]:
        return self._motion(BEFORE, link, offset)

    def _motion(self, when: int, link: str, offset: Pose | None) -> NDArray[np.float64]:
        body, place = self.frame(link, offset)
        carried = np.empty(13)
        carry(self.instant.motions[when, body], place, carried)
        return carried

    def frame(self, link: str, offset: Pose | None) -> tuple[int, NDArray[np.float64]]:
        """The engine's body that a frame is fixed to, and its pose in it, as seven numbers."""
        known = self._frames.get((link, id(offset)))
        if known is None:
            handle: LinkHandle = self.robot.links[link]
            place = handle.offset if offset is None else handle.offset @ offset
            numbers = np.concatenate([place.position, place.orientation])
            # the offset is kept, so that its id stays its own
            known = self._frames[link, id(offset)] = (handle.body, numbers, offset)
        return known[0], known[1]

    def pose(self, link: str) -> Pose:
        return Pose.of(self._motion(NOW, link, None)[:7])

    def pose_before(self, link: str) -> Pose:
        return Pose.of(self._motion(BEFORE, link, None)[:7])

    def twist(self, link: str) -> Twist:
        return Twist.of(self._motion(NOW, link, None)[7:])

    def twist_before(self, link: str) -> Twist:
        return Twist.of(self._motion(BEFORE, link, None)[7:])

    @contextmanager
    def at(self, instant: Held) -> Iterator[RobotTruth]:
        """The same at a held instant, which is then let go; it knows nothing of the robot's parts, which move on."""
        try:
            yield replace(self, instant=instant)
        finally:
            instant.release()

    def place_of(self, name: str) -> NDArray[np.float64]:
        tree, _, link = name.partition("/")
        return self.trees[tree].link_position(link) if link else self.trees[tree].position

    def rope(self, name: str) -> Rope:
        own = f"{self.robot.name}/{name}"
        found = self.ropes.get(own) or self.ropes.get(name)
        if found is None:
            raise UnknownName(f"there is no rope {name!r}; {did_you_mean(name, self.ropes)}")
        return found

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(self.robot.joints)

    def joint_position(self, joint: str) -> float:
        return float(self.instant.positions[self.robot.engine.joint_places[self.robot.joints[joint]][0]])

    def joint_velocity(self, joint: str) -> float:
        return float(self.instant.velocities[self.robot.engine.joint_places[self.robot.joints[joint]][1]])

    @property
    def power(self) -> float:
        return float(sum(actuator.power or 0.0 for actuator in self.robot.actuators.values()))

    def contacts(self, link: str | None = None) -> list[Contact]:
        own = f"{self.robot.name}/"
        found = []
        for touch in self.robot.engine.contacts(self.robot.world, self.robot.name):
            for this, other, sign in ((touch.second, touch.first, 1.0), (touch.first, touch.second, -1.0)):
                if this.startswith(own) and link in (None, this.removeprefix(own)):
                    found.append(
                        Contact(this.removeprefix(own), self._shown(other), touch.position, sign * touch.force)
                    )
        return found

    def _shown(self, name: str) -> str:
        """An object, which has but one link, by its own name."""
        tree, _, _ = name.partition("/")
        return tree if isinstance(self.trees.get(tree), Object) else name
