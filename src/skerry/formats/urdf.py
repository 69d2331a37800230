"""Robots as URDF describes them: links, joints, inertia and geometry."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skerry.core.config import Vector3

Colour = tuple[float, float, float, float]
ShapeKind = Literal["box", "sphere", "cylinder", "capsule", "mesh"]
JointKind = Literal["revolute", "continuous", "prismatic", "fixed"]

ORIGIN: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Inertial:
    """Mass, its centre at `position`, and inertia about that centre in axes that are turned by `rpy`."""

    mass: float
    position: Vector3
    rpy: Vector3
    inertia: tuple[Vector3, Vector3, Vector3]


@dataclass(frozen=True)
class Shape:
    """A visual or collision body of a link; of the measures only those of its kind have a meaning."""

    kind: ShapeKind
    position: Vector3 = ORIGIN
    rpy: Vector3 = ORIGIN
    size: Vector3 = ORIGIN  # box: full lengths
    radius: float = 0.0  # sphere, cylinder, capsule
    length: float = 0.0  # cylinder and capsule, along z; without the capsule's round ends
    mesh: Path | None = None
    scale: Vector3 = (1.0, 1.0, 1.0)
    material: str = ""
    colour: Colour | None = None
    glow: float = 0.0  # light that it sends out; URDF knows none


@dataclass(frozen=True)
class UrdfLink:
    """A rigid body; without an inertial it has no mass of its own."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Shape, ...]
    collisions: tuple[Shape, ...]


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: value = multiplier · other + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfJoint:
    """What holds a child link to its parent; a limit that the file does not set is infinite."""

    name: str
    kind: JointKind
    parent: str
    child: str
    position: Vector3
    rpy: Vector3
    axis: Vector3  # in the child's frame, of length 1
    lower: float
    upper: float
    effort: float
    velocity: float
    damping: float
    friction: float
    mimic: Mimic | None


@dataclass(frozen=True)
class UrdfRobot:
    """A tree of links held together by joints."""

    name: str
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]
    root: str
    materials: dict[str, Colour | None]  # no colour where the material is only a texture


def children(robot: UrdfRobot, link: str) -> tuple[UrdfJoint, ...]:
    """The joints that hold other links to this one, in the order of the file."""
    return tuple(joint for joint in robot.joints.values() if joint.parent == link)


def joint_order(robot: UrdfRobot) -> tuple[UrdfJoint, ...]:
    """All joints, depth first from the root: each after the joint that carries its parent."""
    order: list[UrdfJoint] = []
    waiting = list(reversed(children(robot, robot.root)))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(children(robot, joint.child)))
    return tuple(order)
