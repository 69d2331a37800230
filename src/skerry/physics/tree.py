"""Robots and objects to MuJoCo's bodies, joints and geoms; links that are fixed to each other become one body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core import urdf
from skerry.core.errors import EngineError
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.mesh_files import read_mesh
from skerry.parts import law as laws
from skerry.parts.law import Attachment, Law
from skerry.physics.mujoco import mujoco

LawBuilder = Callable[[Attachment], Law]


@dataclass(frozen=True)
class Body:
    """A body tree to be placed in the world: a robot, or an object as a robot of one link."""

    name: str
    robot: urdf.Robot
    pose: Pose
    laws: dict[str, tuple[str, LawBuilder]] = field(default_factory=dict)  # name → link, and what builds the law for it
    motion: str = "dynamic"  # or "static", or "kinematic": moved by the user, unmoved by forces
    self_collision: bool = False
    friction: float | None = None


def _quaternion(pose: Pose) -> list[float]:
    x, y, z, w = (float(value) for value in pose.orientation)
    return [w, x, y, z]


def _pose_of(part: urdf.Joint | urdf.Shape | urdf.Inertial) -> Pose:
    return Pose(np.array(part.position), rpy_to_quaternion(part.rpy))


def carried(robot: urdf.Robot, link: str, kept: set[str]) -> list[tuple[str, Pose]]:
    """A link and the links fixed to it, with their poses in it; those in `kept` are bodies of their own."""
    found = [(link, Pose.identity())]
    for name, pose in found:
        for joint in urdf.children(robot, name):
            if joint.kind == "fixed" and joint.child not in kept:
                found.append((joint.child, pose @ _pose_of(joint)))  # noqa: PERF401  (the list grows as it is walked)
    return found


def combined_inertia(
    robot: urdf.Robot, together: list[tuple[str, Pose]]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Mass, centre and inertia about the centre of links that move as one, in the first one's frame."""
    total = np.zeros((6, 6))
    for link, pose in together:
        inertial = robot.links[link].inertial
        if inertial is not None:
            own = pose @ _pose_of(inertial)
            total += laws.spatial_inertia(
                inertial.mass, own.position, own.rotation @ np.array(inertial.inertia) @ own.rotation.T
            )
    mass = float(total[0, 0])
    if mass == 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    center = np.array([total[1, 5], -total[0, 5], total[0, 4]]) / mass
    inertia = total[3:, 3:] - laws.spatial_inertia(mass, center, np.zeros((3, 3)))[3:, 3:]
    return mass, center, inertia


def add_tree(spec: Any, body: Body, built: dict[str, tuple[str, Law]]) -> dict[str, tuple[str, Pose]]:
    """Add a tree's bodies; return for each link the link whose body carries it, and its pose there."""
    robot = body.robot
    kept = {link for link, _ in built.values()}
    changes: dict[str, list[Law]] = {}
    for link, law in built.values():
        changes.setdefault(link, []).append(law)
    places: dict[str, tuple[str, Pose]] = {}
    made: dict[str, Any] = {}

    def add(link: str, parent: Any, pose: Pose, joint: urdf.Joint | None) -> None:
        current = parent.add_body(name=f"{body.name}/{link}", pos=list(pose.position), quat=_quaternion(pose))
        current.simple = 0 if built else 1
        made[link] = current
        together = carried(robot, link, kept)
        for name, offset in together:
            places[name] = (link, offset)
            for shape in robot.links[name].collisions:
                _add_shape(spec, current, shape, offset, f"{body.name}/{name}", body.friction)
        moves = joint is not None and joint.kind != "fixed"
        if joint is None and body.motion == "dynamic":
            current.add_freejoint(name=f"{body.name}/free", align=False)
            moves = True
        elif joint is None and body.motion == "kinematic":
            current.mocap = True
        elif joint is not None and moves:
            _add_joint(current, body.name, joint)
        _set_inertia(current, robot, together, changes.get(link, []), body.name, moves)
        for name, offset in together:
            for below in urdf.children(robot, name):
                if below.child not in places:
                    add(below.child, current, offset @ _pose_of(below), below)

    add(robot.root, spec.worldbody, body.pose, None)
    if not body.self_collision:
        names = [link for link in made if made[link].geoms]
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                spec.add_exclude(bodyname1=f"{body.name}/{first}", bodyname2=f"{body.name}/{second}")
    for joint in robot.joints.values():
        if joint.mimic is not None:
            spec.add_equality(
                type=mujoco.mjtEq.mjEQ_JOINT,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                name1=f"{body.name}/{joint.name}",
                name2=f"{body.name}/{joint.mimic.joint}",
                data=[joint.mimic.offset, joint.mimic.multiplier, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            )
    return places


def _add_joint(current: Any, owner: str, joint: urdf.Joint) -> None:
    slide = joint.kind == "prismatic"
    added = current.add_joint(
        name=f"{owner}/{joint.name}",
        type=mujoco.mjtJoint.mjJNT_SLIDE if slide else mujoco.mjtJoint.mjJNT_HINGE,
        axis=list(joint.axis),
        damping=joint.damping,
        frictionloss=joint.friction,
    )
    if joint.kind != "continuous":
        added.range = [joint.lower, joint.upper]
        added.limited = mujoco.mjtLimited.mjLIMITED_TRUE
    if 0 < joint.effort < np.inf:
        added.actfrcrange = [-joint.effort, joint.effort]
        added.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE


def _set_inertia(
    current: Any,
    robot: urdf.Robot,
    together: list[tuple[str, Pose]],
    changes: list[Law],
    owner: str,
    moves: bool,
) -> None:
    mass, center, inertia = combined_inertia(robot, together)
    if mass <= 0.0:
        if moves:
            raise EngineError(
                f"{owner}: link {together[0][0]!r} moves but has no mass; give it or a link fixed to it an <inertial>"
            )
        return
    for law in changes:
        if law.center_of_mass is not None:
            center = np.array(law.center_of_mass)
        if law.weightless:
            current.gravcomp = 1.0
    current.explicitinertial = True
    current.mass = mass
    current.ipos = list(center)
    current.fullinertia = [
        inertia[0, 0],
        inertia[1, 1],
        inertia[2, 2],
        inertia[0, 1],
        inertia[0, 2],
        inertia[1, 2],
    ]


def _add_shape(spec: Any, current: Any, shape: urdf.Shape, offset: Pose, owner: str, friction: float | None) -> None:
    pose = offset @ _pose_of(shape)
    geom = current.add_geom(pos=list(pose.position), quat=_quaternion(pose), mass=0.0)
    if friction is not None:
        geom.friction = [friction, 0.005, 0.0001]  # MuJoCo's own torsional and rolling values
    kinds = mujoco.mjtGeom
    if shape.kind == "box":
        geom.type, geom.size = kinds.mjGEOM_BOX, [0.5 * value for value in shape.size]
    elif shape.kind == "sphere":
        geom.type, geom.size = kinds.mjGEOM_SPHERE, [shape.radius, 0.0, 0.0]
    elif shape.kind in {"cylinder", "capsule"}:
        geom.type = kinds.mjGEOM_CYLINDER if shape.kind == "cylinder" else kinds.mjGEOM_CAPSULE
        geom.size = [shape.radius, 0.5 * shape.length, 0.0]
    else:
        assert shape.mesh is not None
        mesh = read_mesh(shape.mesh)
        name = f"{owner}#{len(spec.meshes)}"
        vertices = mesh.vertices * np.asarray(shape.scale)
        spec.add_mesh(name=name, uservert=vertices.ravel().tolist(), userface=mesh.faces.ravel().tolist())
        geom.type, geom.meshname = kinds.mjGEOM_MESH, name
