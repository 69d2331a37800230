"""View of one sample for one robot: the noise-free data that its sensors and controllers may use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.frames import Pose, Twist
from skerry.core.geo import Projection
from skerry.core.rotations import motion_of_fixed_frame
from skerry.parts.sensor import ContactPoint
from skerry.physics.contacts import BodyContact
from skerry.physics.model import LinkHandle
from skerry.rays import RayCaster
from skerry.ropes.rope import Rope
from skerry.terrain import Terrain
from skerry.water import Water, WaterSample
from skerry.water.daylight import Daylight
from skerry.water.flow import NEED_ALL
from skerry.world.robot import BodyTree, Object, Robot
from skerry.world.sampling.sample import Sample, SampleCopy

NOW = 0
"""First index of `Sample.motions` for the tick of the sample; 1 is one step earlier."""


@dataclass(frozen=True, eq=False)
class RobotSampleView:
    """`SampleView` of one robot, on the live state or on a past sample."""

    robot: Robot
    sample: Sample
    step: float
    gravity: float
    water: Water
    daylight: Daylight
    terrain: Terrain | None
    projection: Projection | None
    trees: Mapping[str, BodyTree]  # all robots and objects of the world
    ropes: Mapping[str, Rope]  # all ropes of the world
    ray_bit: int
    _frames: dict[tuple[str, int], tuple[int, NDArray[np.float64], Pose | None]] = field(default_factory=dict)

    @property
    def time(self) -> float:
        return self.sample.time

    @property
    def tick(self) -> int:
        return self.sample.tick

    @property
    def rays(self) -> RayCaster:
        return self.sample.view(self.ray_bit)

    def sample_water(self, points: ArrayLike, need: int = NEED_ALL) -> WaterSample:
        return self.water.sample(points, self.time, self.sample.userdata, need)

    def surface_height(self, points: ArrayLike) -> NDArray[np.float64]:
        return self.water.height(points, self.time, self.sample.userdata)

    def depth(self, point: NDArray[np.float64]) -> float:
        return self.sample.probe.height(point, self.time) - float(point[2])

    def water_velocity(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.sample.probe.velocity(point, self.time)

    def water_pressure(self, point: NDArray[np.float64]) -> tuple[float, float]:
        return self.sample.probe.pressure(point, self.time)

    def motion(self, link: str, offset: Pose | None = None) -> NDArray[np.float64]:
        body, pose = self.frame(link, offset)
        carried = np.empty(13)
        motion_of_fixed_frame(self.sample.motions[NOW, body], pose, carried)
        return carried

    def frame(self, link: str, offset: Pose | None = None) -> tuple[int, NDArray[np.float64]]:
        """Return the engine's body that carries a frame, and the frame's pose on that body, (7,)."""
        known = self._frames.get((link, id(offset)))
        if known is None:
            handle: LinkHandle = self.robot.links[link]
            pose = handle.offset if offset is None else handle.offset @ offset
            numbers = np.concatenate([pose.position, pose.orientation])
            # The offset is stored too, so that no other object can get its id.
            known = self._frames[link, id(offset)] = (handle.body, numbers, offset)
        return known[0], known[1]

    @property
    def motions(self) -> NDArray[np.float64]:
        return self.sample.motions[NOW]

    @property
    def userdata(self) -> NDArray[np.float64]:
        return self.sample.userdata

    @property
    def sea(self) -> tuple[int, int]:
        return self.water.address, self.water.table_address

    def frame_of(self, name: str) -> tuple[int, NDArray[np.float64]]:
        tree, _, link = name.partition("/")
        found = self._tree(tree)
        pose = found.links[link].offset if link else Pose.identity()
        return found.links[link].body if link else found.root, np.concatenate([pose.position, pose.orientation])

    def rope_offsets(self, name: str) -> NDArray[np.int64]:
        return self.rope(name).native_indices(self.userdata)

    def pose(self, link: str) -> Pose:
        return Pose.of(self.motion(link)[:7])

    def twist(self, link: str) -> Twist:
        return Twist.of(self.motion(link)[7:])

    @contextmanager
    def using(self, copy: SampleCopy) -> Iterator[RobotSampleView]:
        """Yield this view on a copied sample, and release the copy afterwards.

        Power and contacts of this view are those of the present, not of the copy.
        """
        try:
            yield replace(self, sample=copy)
        finally:
            copy.release()

    def position_of(self, name: str) -> NDArray[np.float64]:
        tree, _, link = name.partition("/")
        return self._tree(tree).link_position(link) if link else self._tree(tree).position

    def _tree(self, name: str) -> BodyTree:
        found = self.trees.get(name)
        if found is None:
            raise UnknownName(f"there is no robot or object {name!r}; {did_you_mean(name, self.trees)}")
        return found

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
        return float(self.sample.positions[self.robot.engine.joint_addresses[self.robot.joints[joint]][0]])

    def joint_velocity(self, joint: str) -> float:
        return float(self.sample.velocities[self.robot.engine.joint_addresses[self.robot.joints[joint]][1]])

    @property
    def power(self) -> float:
        return float(sum(actuator.power or 0.0 for actuator in self.robot.actuators.values()))

    def contacts(self, link: str | None = None) -> list[ContactPoint]:
        return self.contact_points(self.robot.engine.contacts(self.robot.world, self.robot.name), link)

    def contact_points(self, contacts: Iterable[BodyContact], link: str | None) -> list[ContactPoint]:
        """Convert contacts of the engine to contact points of one link, or of the whole robot if `link` is None."""
        own = f"{self.robot.name}/"
        found = []
        for contact in contacts:
            for this, other, sign in ((contact.second, contact.first, 1.0), (contact.first, contact.second, -1.0)):
                if this.startswith(own) and link in (None, this.removeprefix(own)):
                    found.append(
                        ContactPoint(
                            this.removeprefix(own), self._display_name(other), contact.position, sign * contact.force
                        )
                    )
        return found

    def _display_name(self, name: str) -> str:
        """Return "object" instead of "object/link" for an object, which has only one link."""
        tree, _, _ = name.partition("/")
        return tree if isinstance(self.trees.get(tree), Object) else name
