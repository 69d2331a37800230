"""Conversion of robots and objects to MuJoCo's bodies, joints and geoms; fixed links become one body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError, SkerryError
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.formats import urdf
from skerry.formats.mesh_files import read_mesh
from skerry.parts import law as laws
from skerry.parts.law import Attach, Law
from skerry.physics.mujoco import mujoco
from skerry.physics.point_sets import carried_mass, center_of_points

LawBuilder = Callable[[Attach], list[tuple[str, Law]]]
"""Function that builds the laws of a part, each with the link that it acts on."""


@dataclass(frozen=True)
class Body:
    """Tree of links to add to the world: a robot, or an object as a robot with one link."""

    name: str
    robot: urdf.UrdfRobot
    pose: Pose
    laws: dict[str, LawBuilder] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()  # joints that move only in the display; physics treats them as fixed
    trim_ballast: float = 0.0  # water in its tanks when it floats neutrally, kg
    trim_density: float | None = None  # density of water in which it floats neutrally, kg/m³; the world's by default
    hanging_mass: float = 0.0  # mass of all that hangs on it by ropes at the start, kg
    motion: str = "dynamic"  # or "static", or "kinematic": moved by the user and not by forces
    self_collision: bool = False
    friction: float | None = None


# `solref` and `solimp` of tyres: soft, so that a wheel of 2 kg under 37 N sinks in by about 3 mm (14 kN/m). Contacts of
# tyres have no friction (`condim` 1) and take priority over those of the ground; the law of the tyre computes it.
TYRE_SOFTNESS = ([0.08, 0.15], [0.1, 0.1, 0.001, 0.5, 2.0])


def _quaternion(pose: Pose) -> list[float]:
    x, y, z, w = (float(value) for value in pose.orientation)
    return [w, x, y, z]


def _pose_of(part: urdf.UrdfJoint | urdf.Shape | urdf.Inertial) -> Pose:
    return Pose(np.array(part.position), rpy_to_quaternion(part.rpy))


def carriers(body: Body) -> dict[str, tuple[str, Pose]]:
    """Return for each link the link whose body carries it, and its pose there; fixed links share one body."""
    mounts = {body.robot.root: (body.robot.root, Pose.identity())}
    for joint in urdf.joint_order(body.robot):
        if joint.kind == "fixed" or joint.name in body.frozen:
            carrier, pose = mounts[joint.parent]
            mounts[joint.child] = (carrier, pose @ _pose_of(joint))
        else:
            mounts[joint.child] = (joint.child, Pose.identity())
    return mounts


def joint_above(robot: urdf.UrdfRobot, link: str) -> urdf.UrdfJoint | None:
    """Return the joint whose child is the link, or None for the root."""
    return next((joint for joint in robot.joints.values() if joint.child == link), None)


def combined_inertia(
    body: Body, carrier: str, mounts: dict[str, tuple[str, Pose]]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return mass, centre of mass and inertia about it of all links on a body, in the frame of the link `carrier`."""
    total = np.zeros((6, 6))
    for link, (owner, pose) in mounts.items():
        inertial = body.robot.links[link].inertial
        if owner == carrier and inertial is not None:
            own = pose @ _pose_of(inertial)
            turned = own.rotation @ np.array(inertial.inertia) @ own.rotation.T
            total += laws.spatial_inertia(inertial.mass, own.position, turned)
    mass = float(total[0, 0])
    if mass == 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    center = np.array([total[1, 5], -total[0, 5], total[0, 4]]) / mass
    inertia = total[3:, 3:] - laws.spatial_inertia(mass, center, np.zeros((3, 3)))[3:, 3:]
    return mass, center, inertia


def add_tree(spec: Any, body: Body, mounts: dict[str, tuple[str, Pose]], built: list[tuple[str, Law]]) -> None:
    """Add the bodies, joints and geoms of a robot or object to a MuJoCo spec."""
    robot = body.robot
    made: dict[str, Any] = {}
    tyres = {link: law.tyre_friction for link, law in built if law.tyre_friction is not None}
    for carrier in dict.fromkeys(owner for owner, _ in mounts.values()):
        joint = joint_above(robot, carrier)
        if joint is None:
            parent, pose = spec.worldbody, body.pose
        else:
            above, offset = mounts[joint.parent]
            parent, pose = made[above], offset @ _pose_of(joint)
        current = parent.add_body(name=f"{body.name}/{carrier}", pos=list(pose.position), quat=_quaternion(pose))
        current.simple = 0 if built else 1
        made[carrier] = current
        acting = [law for link, law in built if mounts[link][0] == carrier]
        if joint is not None:
            _add_joint(current, body.name, joint, sum(law.armature for law in acting if law.joint == joint.name))
        elif body.motion == "dynamic":
            current.add_freejoint(name=f"{body.name}/free", align=False)
        elif body.motion == "kinematic":
            current.mocap = True
        moves = joint is not None or body.motion == "dynamic"
        _set_inertia(current, body, carrier, mounts, acting, moves)
        for link, (owner, offset) in mounts.items():
            if owner == carrier:
                for shape in robot.links[link].collisions:
                    if moves:
                        _check_size(body, link, shape)
                    geom = _add_shape(spec, current, shape, offset, f"{body.name}/{link}", body.friction)
                    if link in tyres:
                        geom.solref, geom.solimp = TYRE_SOFTNESS
                        geom.condim, geom.priority, geom.friction[0] = 1, 1, tyres[link]
    if not body.self_collision:
        names = [link for link in made if made[link].geoms]
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                spec.add_exclude(bodyname1=f"{body.name}/{first}", bodyname2=f"{body.name}/{second}")
    for joint in robot.joints.values():
        if joint.mimic is not None and joint.name not in body.frozen:
            spec.add_equality(
                type=mujoco.mjtEq.mjEQ_JOINT,
                objtype=mujoco.mjtObj.mjOBJ_JOINT,
                name1=f"{body.name}/{joint.name}",
                name2=f"{body.name}/{joint.mimic.joint}",
                data=[joint.mimic.offset, joint.mimic.multiplier, *[0.0] * (mujoco.mjNEQDATA - 2)],
            )


def _add_joint(current: Any, owner: str, joint: urdf.UrdfJoint, armature: float) -> None:
    slide = joint.kind == "prismatic"
    added = current.add_joint(
        name=f"{owner}/{joint.name}",
        type=mujoco.mjtJoint.mjJNT_SLIDE if slide else mujoco.mjtJoint.mjJNT_HINGE,
        axis=list(joint.axis),
        damping=joint.damping,
        armature=armature,
        frictionloss=joint.friction,
    )
    if joint.kind != "continuous":
        added.range = [joint.lower, joint.upper]
        added.limited = mujoco.mjtLimited.mjLIMITED_TRUE
    if 0 < joint.effort < np.inf:
        added.actfrcrange = [-joint.effort, joint.effort]
        added.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE


def _set_inertia(
    current: Any, body: Body, carrier: str, mounts: dict[str, tuple[str, Pose]], acting: list[Law], moves: bool
) -> None:
    mass, center, inertia = combined_inertia(body, carrier, mounts)
    if mass <= 0.0:
        if moves:
            raise EngineError(
                f"{body.name}: link {carrier!r} moves but has no mass; add <inertial> to it or to a link fixed to it"
            )
        return
    sets = [law.point_set for law in acting if law.point_set is not None]
    if (moved := center_of_points(sets)) is not None:
        center = moved
    current.gravcomp = carried_mass(sets, mass) / mass
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


LIGHTEST: float = 0.01  # kg of a robot per m³ of the box around one of its meshes; a drone has about 50


def _check_size(body: Body, link: str, shape: urdf.Shape) -> None:
    """Raise an error for a mesh that is far too large for the mass of its robot, as one in millimetres."""
    if shape.kind != "mesh" or shape.mesh is None:
        return
    corners = read_mesh(shape.mesh).vertices * np.asarray(shape.scale)
    size = np.ptp(corners, axis=0)
    mass = sum(part.inertial.mass for part in body.robot.links.values() if part.inertial is not None)
    if mass < LIGHTEST * float(np.prod(size)):
        sides = " × ".join(f"{side:.4g}" for side in size)
        raise SkerryError(
            f"{body.name}: the mesh {shape.mesh} of link {link!r} is {sides} m, but {body.name!r} has {mass:.4g} kg; a "
            "mesh in millimetres needs the scale 0.001"
        )


def _add_shape(spec: Any, current: Any, shape: urdf.Shape, offset: Pose, owner: str, friction: float | None) -> Any:
    pose = offset @ _pose_of(shape)
    name = f"{owner}#{len(spec.geoms)}"
    geom = current.add_geom(name=name, pos=list(pose.position), quat=_quaternion(pose), mass=0.0)
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
        vertices = mesh.vertices * np.asarray(shape.scale)
        spec.add_mesh(name=name, uservert=vertices.ravel().tolist(), userface=mesh.faces.ravel().tolist())
        geom.type, geom.meshname = kinds.mjGEOM_MESH, name
    return geom
