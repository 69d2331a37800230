"""Robots and objects of a world: pose, twist and parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from skerry.control.manual.keyboard import Keyboard, KeyConfig
from skerry.core.errors import UnknownName, did_you_mean
from skerry.core.frames import Pose, Twist, rotate
from skerry.core.frames import inverse as inverse_of
from skerry.parts.ownership import check_source
from skerry.physics.engine import Engine
from skerry.physics.model import LinkHandle
from skerry.scenario.vehicle import Vehicle

if TYPE_CHECKING:
    from skerry.parts.acoustics import AcousticPart
    from skerry.parts.actuator import Actuator
    from skerry.parts.controller import Controller
    from skerry.parts.law import Law
    from skerry.ropes.rope import Rope
    from skerry.world.sampling.mounted_sensor import MountedSensor

T = TypeVar("T")


class Parts(dict[str, T], Generic[T]):
    """Parts by name. The error for an unknown name suggests the nearest one."""

    def __init__(self, what: str, parts: Mapping[str, T]) -> None:
        super().__init__(parts)
        self._what = what

    def __missing__(self, name: str) -> NoReturn:
        raise UnknownName(f"there is no {self._what} {name!r}; {did_you_mean(str(name), self)}")


@dataclass(frozen=True, eq=False)
class TreeBinding:
    """Place of a tree of bodies in an engine."""

    engine: Engine
    world: int  # index of the world in the engine
    root: int  # index of the root body
    links: Parts[LinkHandle]
    joints: Parts[int]  # the engine's number of each moving joint


@dataclass(eq=False, repr=False)
class BodyTree:
    """Tree of bodies in one world of an engine: a robot or an object.

    When the world is built again, the tree stays the same object and gets another binding.
    """

    name: str
    binding: TreeBinding

    def __repr__(self) -> str:
        x, y, z = self.position
        return f"<{type(self).__name__} {self.name}: at ({x:.2f}, {y:.2f}, {z:.2f}) m>"

    def bind(self, binding: TreeBinding) -> None:
        """Continue in the engine of a rebuilt world."""
        self.binding = binding

    @property
    def engine(self) -> Engine:
        """Engine that simulates it."""
        return self.binding.engine

    @property
    def world(self) -> int:
        """Index of its world in the engine."""
        return self.binding.world

    @property
    def root(self) -> int:
        """Index of its root body in the engine."""
        return self.binding.root

    @property
    def links(self) -> Parts[LinkHandle]:
        """Links by name."""
        return self.binding.links

    @property
    def pose(self) -> Pose:
        """Pose of the root link in the world (ENU)."""
        return _pose(self.engine.motion(self.world, self.root))

    @property
    def twist(self) -> Twist:
        """Twist of the root link, in its own axes (FLU)."""
        row = self.engine.motion(self.world, self.root)
        back = inverse_of(row[3:7])
        return Twist(rotate(back, row[7:10]), rotate(back, row[10:13]))

    @property
    def position(self) -> NDArray[np.float64]:
        """Position of the origin of the root link in the world, (3,), m."""
        return self.engine.motion(self.world, self.root)[:3].copy()

    def link_position(self, link: str) -> NDArray[np.float64]:
        """Return the position of the origin of a link in the world, (3,), m."""
        handle = self.links[link]
        row = self.engine.motion(self.world, handle.body)
        return row[:3] + rotate(row[3:7], handle.offset.position)

    def link_pose(self, link: str) -> Pose:
        """Return the pose of a link in the world."""
        handle = self.links[link]
        return _pose(self.engine.motion(self.world, handle.body)) @ handle.offset


@dataclass(eq=False, repr=False)
class Object(BodyTree):
    """Object of the world that is not a robot."""

    forces: Parts[Law] = field(default_factory=lambda: Parts("force", {}))

    def move(self, pose: Pose) -> None:
        """Move the object to a pose, at rest; raise an error if it is static."""
        self.engine.set_pose(self.world, self.root, pose)


@dataclass(eq=False, repr=False)
class Robot(BodyTree):
    """Robot with its parts by name."""

    forces: Parts[Law]
    actuators: Parts[Actuator]
    sensors: Parts[MountedSensor[Any]]
    controllers: Parts[Controller]
    ropes: Parts[Rope]
    acoustics: Parts[AcousticPart]
    keyboard: Keyboard
    vehicle: Vehicle

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, vehicle {self.vehicle.robot.name}, control {self.control or 'none'}>"

    @property
    def joints(self) -> Parts[int]:
        """Moving joints by name."""
        return self.binding.joints

    @property
    def keys(self) -> Mapping[str, KeyConfig]:
        """Settings of its keys."""
        return self.keyboard.keys

    @property
    def control(self) -> str | None:
        """Owner of the actuators: manual, external, controller or api; "mixed" if they differ, None without owner."""
        owners = {actuator.owner.partition("/")[0] for actuator in self.actuators.values() if actuator.owner}
        return owners.pop() if len(owners) == 1 else "mixed" if owners else None

    @control.setter
    def control(self, source: str) -> None:
        family, _, name = check_source(source).partition("/")
        if name:
            self.controllers[name]
        if family != "manual" or self.control != "manual":
            # Keys that are down lose control and could not be released later. A new manual owner starts without keys.
            self.keyboard.release_all()
        for actuator in self.actuators.values():
            actuator.owner = source

    def joint_position(self, joint: str) -> float:
        """Return the position of a joint: angle of a hinge, rad, or travel of a slide, m."""
        return self.engine.joint_position(self.world, self.joints[joint])

    def joint_velocity(self, joint: str) -> float:
        """Return the velocity of a joint: rad/s of a hinge, or m/s of a slide."""
        return self.engine.joint_velocity(self.world, self.joints[joint])


def _pose(row: NDArray[np.float64]) -> Pose:
    return Pose.of(row[:7])
