"""Parts to MuJoCo: robots, objects, terrain and water become one compiled model with its program of laws."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core import urdf
from skerry.core.errors import EngineError, SkerryError
from skerry.core.frames import Pose, rpy_to_quaternion
from skerry.core.mesh_files import read_mesh
from skerry.parts import law as laws
from skerry.parts.law import Attachment, Law, need_link
from skerry.physics.links import MOST_AXES, finish_law, link_constants, link_laws
from skerry.physics.mujoco import DATA_OFFSETS, mujoco
from skerry.physics.program import NUMERIC_NAME, Program, table_of
from skerry.terrain import ContactHeightfield, Terrain
from skerry.water import Water

INTEGRATORS = {"euler": "mjINT_EULER", "implicitfast": "mjINT_IMPLICITFAST", "rk4": "mjINT_RK4"}
# RK4 is stable on the negative real axis up to 2.785 (Hairer & Wanner, Solving ODEs II, §IV.2); some room is left.
RK4_LIMIT = 2.5


@dataclass(frozen=True)
class Options:
    """How the world is stepped."""

    step: Fraction = Fraction(1, 200)
    integrator: str = "implicitfast"
    gravity: float = 9.81


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


@dataclass(frozen=True)
class LinkHandle:
    """A link in the compiled model: the body that carries it, and its fixed pose in that body."""

    body: int
    offset: Pose


@dataclass
class Model:
    """A compiled model, its program, and where everything is in it."""

    compiled: Any
    program: Program
    water: Water
    options: Options
    links: dict[str, dict[str, LinkHandle]]
    roots: dict[str, int]  # body number of each tree's root
    joints: dict[str, dict[str, int]]  # MuJoCo's number of each moving joint
    laws: dict[str, dict[str, Law]]
    law_slots: dict[tuple[str, str], tuple[int, int]]  # place of each law's state in userdata: start, count
    blocks: dict[int, int]  # start of the block of each wet body in userdata
    initial_userdata: NDArray[np.float64]

    @cached_property
    def structure(self) -> str:
        """A hash of all that a state's meaning depends on: names, order and sizes."""
        names = [self.compiled.body(i).name for i in range(self.compiled.nbody)]
        text = repr(
            (
                names,
                self.compiled.nq,
                self.compiled.nv,
                sorted(self.law_slots.items()),
                self.blocks,
                str(self.options.step),
            )
        )
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def assemble(bodies: Sequence[Body], water: Water, terrain: Terrain | None, options: Options) -> Model:
    """Compile the world; every fault is a `SkerryError` in words."""
    spec = mujoco.MjSpec()
    _set_options(spec, options)
    built = [_build_laws(body, water, options) for body in bodies]
    links: dict[str, dict[str, LinkHandle]] = {}
    offsets: list[dict[str, tuple[str, Pose]]] = []
    if terrain is not None:
        _add_terrain(spec, terrain)
    for body, built_laws in zip(bodies, built, strict=True):
        offsets.append(_add_tree(spec, body, built_laws))
    spec.nuserdata = sum(
        laws.BLOCK * len({link for link, _ in built_laws.values()})
        + sum(law.initial_state.size for _, law in built_laws.values())
        for built_laws in built
    )
    spec.add_numeric(name=NUMERIC_NAME, size=2, data=[0.0, 0.0])
    try:
        compiled = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise EngineError(f"MuJoCo cannot build this world: {_one_line(error)}") from None

    for body, places in zip(bodies, offsets, strict=True):
        links[body.name] = {
            link: LinkHandle(compiled.body(f"{body.name}/{carrier}").id, pose)
            for link, (carrier, pose) in places.items()
        }
    model = Model(
        compiled,
        Program(),
        water,
        options,
        links,
        {body.name: links[body.name][body.robot.root].body for body in bodies},
        {body.name: _joint_numbers(compiled, body) for body in bodies},
        {
            body.name: {name: law for name, (_, law) in built_laws.items()}
            for body, built_laws in zip(bodies, built, strict=True)
        },
        {},
        {},
        np.zeros(compiled.nuserdata),
    )
    _place_laws(
        model,
        [{n: (links[b.name][k].body, w) for n, (k, w) in t.items()} for b, t in zip(bodies, built, strict=True)],
    )
    return model


# ------------------------------------------------------------------------------------------------ laws


def _build_laws(body: Body, water: Water, options: Options) -> dict[str, tuple[str, Law]]:
    """Every law of a tree with the link it acts on."""
    built: dict[str, tuple[str, Law]] = {}
    kept = {link for link, _ in body.laws.values()}
    for name, (link, build) in body.laws.items():
        place = f"{body.name}.{name}"
        need_link(link, list(body.robot.links), place)
        mass, center, inertia = _combined_inertia(body.robot, _carried(body.robot, link, kept))
        at = Attachment(body.name, link, mass, center, inertia, water.density, options.gravity, float(options.step))
        try:
            built[name] = (link, build(at))
        except SkerryError as error:
            raise SkerryError(f"{place}: {error}") from None
    return built


def _place_laws(model: Model, built: list[dict[str, tuple[int, Law]]]) -> None:
    """Lay out userdata, write the tables, and bind the program to the compiled model."""
    compiled, options = model.compiled, model.options
    wet: dict[int, list[tuple[Law, int]]] = {}
    added: dict[int, NDArray[np.float64]] = {}
    place = 0
    for tree, (owner, owned) in zip(built, model.laws.items(), strict=True):
        for name, (body, law) in tree.items():
            assert owned[name] is law
            if body not in model.blocks:
                model.blocks[body] = place
                place += laws.BLOCK
            size = law.initial_state.size
            model.law_slots[owner, name] = (place, size)
            model.initial_userdata[place : place + size] = law.initial_state
            wet.setdefault(body, []).append((law, place))
            place += size
            if law.added_mass is not None:
                added[body] = added.get(body, np.zeros((6, 6))) + law.added_mass
    implicit = 0.0 if options.integrator == "rk4" else float(options.step)
    water = (model.water.address, model.water.table_address)
    ordered: list[tuple[int, int, NDArray[np.float64]]] = []
    for body, acting in wet.items():
        axis, row = _axes_above(compiled, body)
        constants = link_constants(int(compiled.body_rootid[body]), axis, row, implicit, options.gravity)
        around = [(law, model.blocks[body]) for law in link_laws(constants)]
        for law, state in (*around, *acting):
            table = table_of(
                law.constants,
                block=model.blocks[body],
                state=state,
                body=body,
                water=water,
                layout=DATA_OFFSETS.ctypes.data,
            )
            if law.force is not None:
                ordered.append((law.phase, law.force.address, table))
            if law.update is not None:
                model.program.updates.append((law.update.address, table))
    if wet:
        finish = finish_law()
        table = table_of(finish.constants, block=0, state=0, body=0, water=water, layout=0)
        ordered.append((finish.phase, finish.force.address, table))
    ordered.sort(key=lambda entry: entry[0])
    model.program.forces = [(address, table) for _, address, table in ordered]
    model.program.keep = [model.water, *(law for tree in model.laws.values() for law in tree.values())]
    if options.integrator == "rk4":
        _check_explicit_step(model, wet, added)
    _soften_contacts(compiled, added)
    model.program.bind(compiled)


def _axes_above(compiled: Any, body: int) -> tuple[list[int], list[int]]:
    """The joint axes (MuJoCo's dofs) that move a body, and the place of each one's row in the sparse mass matrix."""
    current = body
    while current and compiled.body_dofnum[current] == 0:
        current = int(compiled.body_parentid[current])
    axis: list[int] = []
    dof = int(compiled.body_dofadr[current] + compiled.body_dofnum[current] - 1) if current else -1
    while dof >= 0:
        axis.insert(0, dof)
        dof = int(compiled.dof_parentid[dof])
    name = compiled.body(body).name
    if len(axis) > MOST_AXES:
        raise EngineError(
            f"{name}: has {len(axis)} joint axes above it; forces can act on links with at most {MOST_AXES}"
        )
    for k, dof in enumerate(axis):
        if compiled.M_rownnz[dof] != k + 1:
            raise EngineError(f"{name}: MuJoCo's mass matrix has another shape than expected; please report this")
    return axis, [int(compiled.M_rowadr[dof]) for dof in axis]


def _mass_with_water(compiled: Any, added: dict[int, NDArray[np.float64]]) -> tuple[NDArray[np.float64], Any]:
    """The full mass matrix at the model's own pose with all added mass in it, and the data it belongs to."""
    data = mujoco.MjData(compiled)
    mujoco.mj_fwdPosition(compiled, data)
    mass = np.zeros((compiled.nv, compiled.nv))
    mujoco.mj_fullM(compiled, data, mass)
    for body, matrix in added.items():
        jacobian = _jacobian(compiled, data, body, data.xpos[body], data.xmat[body].reshape(3, 3))
        mass += jacobian.T @ matrix @ jacobian
    return mass, data


def _jacobian(
    compiled: Any, data: Any, body: int, point: NDArray[np.float64], rotation: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The 6×n Jacobian of a point of a body, in the body's axes."""
    linear, angular = np.zeros((3, compiled.nv)), np.zeros((3, compiled.nv))
    mujoco.mj_jac(compiled, data, linear, angular, point, body)
    return np.vstack([rotation.T @ linear, rotation.T @ angular])


def _soften_contacts(compiled: Any, added: dict[int, NDArray[np.float64]]) -> None:
    """Let contacts know of added mass: MuJoCo scales their softness by the inverse inertia at the model's own pose.

    The same means as mj_setConst takes, of J M⁻¹ Jᵀ at each body's centre of mass and of M⁻¹ for each joint.
    """
    if not added or compiled.nv == 0:
        return
    mass, data = _mass_with_water(compiled, added)
    inverse = np.linalg.inv(mass)
    for body in range(1, compiled.nbody):
        jacobian = _jacobian(compiled, data, body, data.xipos[body], np.eye(3))
        weight = np.einsum("ij,jk,ik->i", jacobian, inverse, jacobian)
        compiled.body_invweight0[body] = weight[:3].mean(), weight[3:].mean()
    diagonal = np.diag(inverse)
    for joint in range(compiled.njnt):
        start, kind = int(compiled.jnt_dofadr[joint]), compiled.jnt_type[joint]
        groups = {mujoco.mjtJoint.mjJNT_FREE: (3, 3), mujoco.mjtJoint.mjJNT_BALL: (3,)}.get(kind, (1,))
        for size in groups:
            compiled.dof_invweight0[start : start + size] = diagonal[start : start + size].mean()
            start += size
    compiled.stat.meaninertia = np.trace(mass) / compiled.nv


def _check_explicit_step(
    model: Model, wet: dict[int, list[tuple[Law, int]]], added: dict[int, NDArray[np.float64]]
) -> None:
    """Refuse RK4 with a step that is too long for the drag, which it must take explicitly."""
    compiled = model.compiled
    mass, data = _mass_with_water(compiled, added)
    for body, acting in wet.items():
        damping = sum((law.damping for law, _ in acting if law.damping is not None), np.zeros((6, 6)))
        jacobian = _jacobian(compiled, data, body, data.xpos[body], data.xmat[body].reshape(3, 3))
        rates = np.linalg.eigvals(np.linalg.solve(mass, jacobian.T @ damping @ jacobian)).real
        stiffest = float(rates.max(initial=0.0))
        if stiffest * float(model.options.step) > RK4_LIMIT:
            raise SkerryError(
                f"the step {model.options.step} s is too long for RK4 with the drag of {compiled.body(body).name!r}, "
                f"which slows it within {1 / stiffest:.2g} s at 5 m/s; use a step of at most "
                f"{RK4_LIMIT / stiffest:.2g} s, or the integrator implicitfast, which takes any step"
            )


# ------------------------------------------------------------------------------------------------ geometry


def _set_options(spec: Any, options: Options) -> None:
    option = spec.option
    option.timestep = float(options.step)
    option.integrator = getattr(mujoco.mjtIntegrator, INTEGRATORS[options.integrator])
    option.gravity = [0.0, 0.0, -options.gravity]
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.compiler.alignfree = False
    spec.compiler.fusestatic = False


def _quaternion(pose: Pose) -> list[float]:
    x, y, z, w = (float(value) for value in pose.orientation)
    return [w, x, y, z]


def _pose_of(part: urdf.Joint | urdf.Shape | urdf.Inertial) -> Pose:
    return Pose(np.array(part.position), rpy_to_quaternion(part.rpy))


def _carried(robot: urdf.Robot, link: str, kept: set[str]) -> list[tuple[str, Pose]]:
    """A link and the links fixed to it, with their poses in it; those in `kept` are bodies of their own."""
    carried = [(link, Pose.identity())]
    for name, pose in carried:
        for joint in urdf.children(robot, name):
            if joint.kind == "fixed" and joint.child not in kept:
                carried.append((joint.child, pose @ _pose_of(joint)))  # noqa: PERF401  (the list grows as it is walked)
    return carried


def _combined_inertia(
    robot: urdf.Robot, carried: list[tuple[str, Pose]]
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Mass, centre and inertia about the centre of links that move as one, in the first one's frame."""
    total = np.zeros((6, 6))
    for link, pose in carried:
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


def _add_tree(spec: Any, body: Body, built: dict[str, tuple[str, Law]]) -> dict[str, tuple[str, Pose]]:
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
        carried = _carried(robot, link, kept)
        for name, offset in carried:
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
        _set_inertia(current, robot, carried, changes.get(link, []), body.name, moves)
        for name, offset in carried:
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
    carried: list[tuple[str, Pose]],
    changes: list[Law],
    owner: str,
    moves: bool,
) -> None:
    mass, center, inertia = _combined_inertia(robot, carried)
    if mass <= 0.0:
        if moves:
            raise EngineError(
                f"{owner}: link {carried[0][0]!r} moves but has no mass; give it or a link fixed to it an <inertial>"
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


def _add_terrain(spec: Any, terrain: Terrain) -> None:
    contact = terrain.contact
    geom = spec.worldbody.add_geom(name="terrain", friction=[terrain.friction, 0.005, 0.0001])
    if isinstance(contact, ContactHeightfield):
        extent = max(float(contact.heights.max()), 1e-3)
        spec.add_hfield(
            name="terrain",
            size=[*contact.half_size, extent, contact.thickness],
            nrow=contact.heights.shape[0],
            ncol=contact.heights.shape[1],
            userdata=(contact.heights / extent).ravel(),
        )
        geom.type, geom.hfieldname = mujoco.mjtGeom.mjGEOM_HFIELD, "terrain"
        geom.pos = [*contact.center, contact.lowest]
    else:
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_PLANE, [0.0, 0.0, 1.0]
        geom.pos = [0.0, 0.0, contact.z]


def _joint_numbers(compiled: Any, body: Body) -> dict[str, int]:
    moving = (joint for joint in body.robot.joints.values() if joint.kind != "fixed")
    return {joint.name: compiled.joint(f"{body.name}/{joint.name}").id for joint in moving}


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).removeprefix("Error: ")
