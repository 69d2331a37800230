"""Robots and objects to MuJoCo's bodies, joints and geoms; links that are fixed to each other become one body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.formats import urdf
from skerry.formats.mesh_files import read_mesh
from skerry.parts import law as laws
from skerry.parts.law import Attach, Law
from skerry.physics.mujoco import mujoco

LawBuilder = Callable[[Attach], list[tuple[str, Law]]]
"""Builds the laws of a part, each with the link that it acts on."""


@dataclass(frozen=True)
class Body:
    """A body tree to be placed in the world: a robot, or an object as a robot of one link."""

    name: str
    robot: urdf.UrdfRobot
    pose: Pose
    laws: dict[str, LawBuilder] = field(default_factory=dict)
    frozen: frozenset[str] = frozenset()  # joints that turn for the eye only: what they carry is fixed
    trim_ballast: float = 0.0  # kg that its tanks hold when it floats freely
    trim_density: float | None = None  # kg/m³ of the water that it floats freely in; the world's by default
    motion: str = "dynamic"  # or "static", or "kinematic": moved by the user, unmoved by forces
    self_collision: bool = False
    friction: float | None = None
    tyres: frozenset[str] = frozenset()  # links that touch softly


# MuJoCo's contacts push sliding bodies apart by about 2 T ζ² μ v, T and ζ being the two numbers of `solref`; what gives
# way less than that hops, and then slides in the wrong direction. So wheels, which slide in every turn, touch as tyres
# do: a wheel of 2 kg under 37 N sinks in by some 3 mm (about 14 kN/m), and slides as Coulomb says within 1 %.
TYRE_SOFTNESS = ([0.08, 0.15], [0.1, 0.1, 0.001, 0.5, 2.0], 1e6)  # the last lets it count alone, not the mean of both


def _quaternion(pose: Pose) -> list[float]:
    x, y, z, w = (float(value) for value in pose.orientation)
    return [w, x, y, z]


def _pose_of(part: urdf.UrdfJoint | urdf.Shape | urdf.Inertial) -> Pose:
    return Pose(np.array(part.position), rpy_to_quaternion(part.rpy))


def carriers(body: Body) -> dict[str, tuple[str, Pose]]:
    """For each link the link whose body carries it, and its pose there: links that are fixed to each other are one."""
    places = {body.robot.root: (body.robot.root, Pose.identity())}
    for joint in urdf.joint_order(body.robot):
        if joint.kind == "fixed" or joint.name in body.frozen:
            carrier, pose = places[joint.parent]
            places[joint.child] = (carrier, pose @ _pose_of(joint))
        else:
            places[joint.child] = (joint.child, Pose.identity())
    return places


def joint_above(robot: urdf.UrdfRobot, link: str) -> urdf.UrdfJoint | None:
    """The joint that holds a link, or None for the root."""
    return next((joint for joint in robot.joints.values() if joint.child == link), None)


def combined_inertia(
    body: Body, carrier: str, places: dict[str, tuple[str, Pose]]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Mass, centre and inertia about the centre of all that a link's body carries, in that link's frame."""
    total = np.zeros((6, 6))
    for link, (owner, pose) in places.items():
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


def add_tree(spec: Any, body: Body, places: dict[str, tuple[str, Pose]], built: list[tuple[str, Law]]) -> None:
    """Add a tree's bodies, joints and geoms."""
    robot = body.robot
    made: dict[str, Any] = {}
    for carrier in dict.fromkeys(owner for owner, _ in places.values()):
        joint = joint_above(robot, carrier)
        if joint is None:
            parent, pose = spec.worldbody, body.pose
        else:
            above, offset = places[joint.parent]
            parent, pose = made[above], offset @ _pose_of(joint)
        current = parent.add_body(name=f"{body.name}/{carrier}", pos=list(pose.position), quat=_quaternion(pose))
        current.simple = 0 if built else 1
        made[carrier] = current
        acting = [law for link, law in built if places[link][0] == carrier]
        if joint is not None:
            _add_joint(current, body.name, joint, sum(law.armature for law in acting if law.joint == joint.name))
        elif body.motion == "dynamic":
            current.add_freejoint(name=f"{body.name}/free", align=False)
        elif body.motion == "kinematic":
            current.mocap = True
        moves = joint is not None or body.motion == "dynamic"
        _set_inertia(current, body, carrier, places, acting, moves)
        for link, (owner, offset) in places.items():
            if owner == carrier:
                for shape in robot.links[link].collisions:
                    geom = _add_shape(spec, current, shape, offset, f"{body.name}/{link}", body.friction)
                    if link in body.tyres:
                        geom.solref, geom.solimp, geom.solmix = TYRE_SOFTNESS
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
    current: Any, body: Body, carrier: str, places: dict[str, tuple[str, Pose]], acting: list[Law], moves: bool
) -> None:
    mass, center, inertia = combined_inertia(body, carrier, places)
    if mass <= 0.0:
        if moves:
            raise EngineError(
                f"{body.name}: link {carrier!r} moves but has no mass; give it or a link fixed to it an <inertial>"
            )
        return
    for law in acting:
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
