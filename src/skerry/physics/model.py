"""Model: compile robots, objects, terrain and water into one MuJoCo model with its program of laws."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError, SkerryError, did_you_mean
from skerry.core.frames import Pose
from skerry.parts import law as laws
from skerry.parts.law import Attachment, Law
from skerry.physics.contact_filter import ground_table
from skerry.physics.law_binding import TreeLaws, bind_laws
from skerry.physics.mujoco import mujoco
from skerry.physics.point_sets import center_of_points, share_weight
from skerry.physics.program import NUMERIC_NAME, Program
from skerry.physics.tree import Body, add_tree, carriers, combined_inertia, joint_above
from skerry.terrain import ContactHeightfield, Terrain
from skerry.water import Water
from skerry.water.fields import FieldConfig

INTEGRATORS = {"euler": "mjINT_EULER", "implicitfast": "mjINT_IMPLICITFAST", "rk4": "mjINT_RK4"}


@dataclass(frozen=True)
class Options:
    """Settings of the integration."""

    step: Fraction = Fraction(1, 200)  # s
    integrator: str = "implicitfast"
    gravity: float = 9.81  # m/s²


@dataclass(frozen=True)
class LinkHandle:
    """Link in the compiled model: the body that carries it, and its fixed pose on that body."""

    body: int
    offset: Pose


@dataclass
class Model:
    """Compiled model with its program and the indices of its parts."""

    compiled: Any
    program: Program
    water: Water
    options: Options
    links: dict[str, dict[str, LinkHandle]]
    roots: dict[str, int]  # body number of each tree's root
    joints: dict[str, dict[str, int]]  # MuJoCo's number of each moving joint
    laws: dict[str, dict[str, Law]]
    law_slots: dict[tuple[str, str], tuple[int, int]]  # start and size of each law's state in userdata
    blocks: dict[int, int]  # start in userdata of the block of each body with laws
    initial_userdata: NDArray[np.float64]
    # rows of all force fields, those of propellers last
    field_rows: list[NDArray[np.float64]] = field(default_factory=list)
    # `field_rows` as native code reads them
    field_memory: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    # body that the water's surface follows, and index of its height in userdata
    water_level: tuple[int, int] | None = None
    # initial position of each driven joint, by its index in qpos
    joint_starts: dict[int, float] = field(default_factory=dict)

    def start_pose(self, body: int) -> Pose:
        """Return the initial pose of a body in the world frame."""
        x, y, z, w = (float(self.start_data.xquat[body][i]) for i in (1, 2, 3, 0))
        return Pose(self.start_data.xpos[body].copy(), np.array([x, y, z, w]))

    @cached_property
    def start_data(self) -> Any:
        """MuJoCo's mjData with the poses of all bodies at the start."""
        data = mujoco.MjData(self.compiled)
        for index, start in self.joint_starts.items():
            data.qpos[index] = start
        mujoco.mj_kinematics(self.compiled, data)
        return data

    @cached_property
    def structure_hash(self) -> str:
        """Hash of everything that defines the layout of a state row: names, order, sizes and step."""
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


class WorldSystem(ABC):
    """Native system that acts once per step on the whole world instead of on one link, such as the ropes."""

    @abstractmethod
    def state_size(self) -> int:
        """Return the size of its state in userdata."""

    @abstractmethod
    def build(self, model: Model) -> Law:
        """Return its law; the other laws of the model are in `model.law_slots` already."""


MAX_FILTERED_SHAPES = 32
"""Shapes on one body up to which Skerry's contact filter is faster than MuJoCo's trees of boxes."""

PROBE = "probe"
"""Name of a tiny geom without contacts; systems move it to measure distances to other geoms."""


def assemble(
    bodies: Sequence[Body],
    water: Water,
    terrain: Terrain | None,
    options: Options,
    fields: Mapping[str, FieldConfig] | None = None,
    systems: Mapping[str, WorldSystem] | None = None,
) -> Model:
    """Compile the parts of a world into a model.

    Args:
        bodies: robots and objects.
        water: the water, with its currents and winds.
        terrain: the ground, or None.
        options: settings of the integration.
        fields: force fields of the world, by name.
        systems: systems that act on the whole world, by name.

    Raises:
        SkerryError: a part is wrong; the message names it.
    """
    spec = mujoco.MjSpec()
    _set_options(spec, options)
    systems = systems or {}
    if terrain is not None:
        _add_terrain(spec, terrain)
    if systems:
        # The probe has its own body: MuJoCo uses no tree of boxes between two bodies with one geom each.
        spec.worldbody.add_body(name=PROBE).add_geom(name=PROBE, size=[1e-4, 0, 0], contype=0, conaffinity=0)
        spec.nuserdata += sum(system.state_size() for system in systems.values())
    mounted = {body.name: carriers(body) for body in bodies}
    built = {body.name: _build_laws(body, mounted[body.name], water, options) for body in bodies}
    for body in bodies:
        add_tree(spec, body, mounted[body.name], list(built[body.name].values()))
        on_links = {mounted[body.name][link][0] for link, law in built[body.name].values() if law.joint is None}
        spec.nuserdata += laws.BLOCK * len(on_links)
        spec.nuserdata += sum(law.initial_state.size for _, law in built[body.name].values())
    followed = next((body for body in bodies if body.name == water.followed_object), None)
    if water.followed_object is not None:
        if followed is None or followed.motion == "dynamic":
            known = [body.name for body in bodies if body.motion != "dynamic"]
            raise SkerryError(
                f"water.surface.follow: there is no static or kinematic object {water.followed_object!r}; "
                f"{did_you_mean(water.followed_object, known)}"
            )
        spec.nuserdata += 1
    spec.add_numeric(name=NUMERIC_NAME, size=2, data=[0.0, 0.0])
    try:
        compiled = spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        raise EngineError(f"MuJoCo cannot compile this world: {_one_line(error)}") from None

    links = {
        owner: {
            link: LinkHandle(compiled.body(f"{owner}/{carrier}").id, pose) for link, (carrier, pose) in mounts.items()
        }
        for owner, mounts in mounted.items()
    }
    model = Model(
        compiled,
        Program(),
        water,
        options,
        links,
        {body.name: links[body.name][body.robot.root].body for body in bodies},
        {body.name: _joint_numbers(compiled, body) for body in bodies},
        {owner: {name: law for name, (_, law) in tree.items()} for owner, tree in built.items()},
        {},
        {},
        np.zeros(compiled.nuserdata),
    )
    if compiled.body_geomnum.max(initial=0) <= MAX_FILTERED_SHAPES:
        compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    if terrain is not None and isinstance(terrain.contact, ContactHeightfield):
        contact = terrain.contact
        contact = replace(contact, heights=np.ascontiguousarray(contact.heights))
        model.program.ground = ground_table(compiled.geom("terrain").id, contact)
        model.program.heights = contact.heights
    bind_laws(model, built, fields or {}, systems)
    if followed is not None:
        index = compiled.nuserdata - 1
        water.set_followed_index(index)
        model.initial_userdata[index] = followed.pose.position[2]
        model.water_level = (model.roots[followed.name], index)
    return model


# ------------------------------------------------------------------------------------------------ laws


def _build_laws(body: Body, mounts: dict[str, tuple[str, Pose]], water: Water, options: Options) -> TreeLaws:
    """Return the laws of a robot or object; `mounts` is the result of `carriers`."""
    robot_mass = sum(link.inertial.mass for link in body.robot.links.values() if link.inertial is not None)
    neutral = (robot_mass + body.trim_ballast) / (body.trim_density or water.density)

    moved: dict[str, NDArray[np.float64]] = {}

    def attach(link: str) -> Attachment:
        if link not in mounts:
            raise SkerryError(f"there is no link {link!r}; {did_you_mean(link, mounts)}")
        carrier, offset = mounts[link]
        mass, center, inertia = combined_inertia(body, carrier, mounts)
        return Attachment(
            body.name,
            link,
            offset,
            mass,
            moved.get(carrier, center),
            inertia,
            body.robot.links[link],
            joint_above(body.robot, link),
            robot_mass,
            body.hanging_mass,
            neutral,
            water.density,
            water.has_acceleration,
            options.gravity,
            float(options.step),
        )

    def build_all() -> TreeLaws:
        built: TreeLaws = {}
        for name, build in body.laws.items():
            try:
                made = build(attach)
            except SkerryError as error:
                raise SkerryError(f"{body.name}.{name}: {error}") from None
            for number, (link, law) in enumerate(made):
                built[name if number == 0 else f"{name}.{number}"] = (link, law)
        return built

    built = build_all()
    driven: dict[str, str] = {}
    for name, (_, law) in built.items():
        if law.joint is not None and driven.setdefault(law.joint, name) != name:
            raise SkerryError(f"{body.name}.{name}: joint {law.joint!r} is already driven by {driven[law.joint]}")
    for carrier in dict.fromkeys(carrier for carrier, _ in mounts.values()):
        sets = [law.point_set for link, law in built.values() if mounts[link][0] == carrier and law.point_set]
        if (center := center_of_points(sets)) is not None:
            moved[carrier] = center
    if moved:
        built = build_all()  # the other laws need the moved centre of mass
    for carrier in dict.fromkeys(carrier for carrier, _ in mounts.values()):
        acting = [law for link, law in built.values() if mounts[link][0] == carrier]
        share_weight(acting, combined_inertia(body, carrier, mounts)[0], f"{body.name}: link {carrier!r}")
    return built


def _set_options(spec: Any, options: Options) -> None:
    option = spec.option
    option.timestep = float(options.step)
    option.integrator = getattr(mujoco.mjtIntegrator, INTEGRATORS[options.integrator])
    option.gravity = [0.0, 0.0, -options.gravity]
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC  # friction is equal in all directions; a pyramidal cone is not
    option.impratio = 10.0  # friction is stiffer than the normal direction, so that resting bodies do not creep
    option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.compiler.alignfree = False
    spec.compiler.fusestatic = False


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
    moving = (j for j in body.robot.joints.values() if j.kind != "fixed" and j.name not in body.frozen)
    return {joint.name: compiled.joint(f"{body.name}/{joint.name}").id for joint in moving}


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()).removeprefix("Error: ")


def solid_boxes(model: Model, name: str) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return centre and half size of the boxes around the solid shapes of a robot or object at the start, m.

    The sides of the boxes are parallel to the axes of the world.
    """
    compiled, found = model.compiled, []
    bodies = {link.body for link in model.links[name].values()}
    for geom in range(compiled.ngeom):
        body = int(compiled.geom_bodyid[geom])
        if body not in bodies or not (compiled.geom_contype[geom] or compiled.geom_conaffinity[geom]):
            continue
        w, x, y, z = compiled.geom_quat[geom]
        pose = model.start_pose(body) @ Pose(compiled.geom_pos[geom], np.array([x, y, z, w]))
        box = compiled.geom_aabb[geom]
        found.append((pose.transform(box[:3]), np.abs(pose.rotation) @ box[3:]))
    return found
