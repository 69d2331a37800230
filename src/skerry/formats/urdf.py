"""Data model of a URDF robot: links, joints, inertia and geometry."""

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
    """Mass (kg), centre of mass at `position` (m), and inertia (kg m²) about it in axes rotated by `rpy` (rad)."""

    mass: float
    position: Vector3
    rpy: Vector3
    inertia: tuple[Vector3, Vector3, Vector3]


@dataclass(frozen=True)
class Shape:
    """Visual or collision shape of a link. Only the dimensions of its `kind` are used."""

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
    glow: float = 0.0  # emitted light; not part of URDF


@dataclass(frozen=True)
class UrdfLink:
    """Rigid body; without `inertial` it has no mass."""

    name: str
    inertial: Inertial | None
    visuals: tuple[Shape, ...]
    collisions: tuple[Shape, ...]


@dataclass(frozen=True)
class Mimic:
    """Coupling of a joint to another joint: value = multiplier · other + offset."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfJoint:
    """Joint between a parent link and a child link; limits that the file does not set are infinite."""

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
    """Tree of links connected by joints."""

    name: str
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]
    root: str
    materials: dict[str, Colour | None]  # None for a material that is only a texture


def children(robot: UrdfRobot, link: str) -> tuple[UrdfJoint, ...]:
    """Return the joints whose parent is this link, in the order of the file."""
    return tuple(joint for joint in robot.joints.values() if joint.parent == link)


def joint_order(robot: UrdfRobot) -> tuple[UrdfJoint, ...]:
    """Return all joints, depth first from the root; each follows the joint of its parent link."""
    order: list[UrdfJoint] = []
    waiting = list(reversed(children(robot, robot.root)))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(children(robot, joint.child)))
    return tuple(order)
