"""Parts to MuJoCo: robots, objects, terrain and water become one compiled model with its program of laws."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError, SkerryError, did_you_mean
from skerry.core.frames import Pose
from skerry.parts import law as laws
from skerry.parts.law import Attachment, Law
from skerry.physics.contact_filter import ground_table
from skerry.physics.links import MAX_AXES, finish_law, link_constants, link_laws
from skerry.physics.mujoco import mujoco
from skerry.physics.points import axes_above
from skerry.physics.program import NUMERIC_NAME, Program, table_of
from skerry.physics.tree import Body, add_tree, carriers, combined_inertia, joint_above
from skerry.physics.wet_mass import check_explicit_step, joint_inertias, soften_contacts
from skerry.terrain import ContactHeightfield, Terrain
from skerry.water import Water
from skerry.water.fields import BLOCK_INDEX, OWNER, THRUST_INDEX, FieldConfig, field_table

INTEGRATORS = {"euler": "mjINT_EULER", "implicitfast": "mjINT_IMPLICITFAST", "rk4": "mjINT_RK4"}


@dataclass(frozen=True)
class Options:
    """How the world is stepped."""

    step: Fraction = Fraction(1, 200)
    integrator: str = "implicitfast"
    gravity: float = 9.81


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
    field_rows: list[NDArray[np.float64]] = field(default_factory=list)  # of all force fields, propellers' last
    field_memory: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))  # the same, as native code reads it
    water_level: tuple[int, int] | None = None  # the body that the surface follows, and where its height is in userdata
    joint_starts: dict[int, float] = field(default_factory=dict)  # position number → where a driven joint begins

    def start_pose(self, body: int) -> Pose:
        """Where a body is at the start."""
        x, y, z, w = (float(self._start.xquat[body][i]) for i in (1, 2, 3, 0))
        return Pose(self._start.xpos[body].copy(), np.array([x, y, z, w]))

    @cached_property
    def _start(self) -> Any:
        data = mujoco.MjData(self.compiled)
        for place, start in self.joint_starts.items():
            data.qpos[place] = start
        mujoco.mj_kinematics(self.compiled, data)
        return data

    @cached_property
    def structure_hash(self) -> str:
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


class WorldSystem(ABC):
    """Something native that acts on the whole world rather than on one link, once a step: the ropes."""

    @abstractmethod
    def states(self) -> int:
        """How many numbers of state it has."""

    @abstractmethod
    def build(self, model: Model) -> Law:
        """Its law, for a model whose bodies and laws have their places."""


FEW_SHAPES = 32
"""On one body, up to which our contact filter is quicker than MuJoCo's trees of boxes."""

WORLD_OWNER = ""
"""The owner of what belongs to the world; no robot has such a name."""

PROBE = "probe"
"""The name of a point-like geom that touches nothing; systems move it about to measure distances."""

Laws = dict[str, tuple[str, Law]]  # name → the link that it acts on, and the law


def assemble(
    bodies: Sequence[Body],
    water: Water,
    terrain: Terrain | None,
    options: Options,
    fields: Mapping[str, FieldConfig] | None = None,
    systems: Mapping[str, WorldSystem] | None = None,
) -> Model:
    """Compile the world; every fault is a `SkerryError` in words."""
    spec = mujoco.MjSpec()
    _set_options(spec, options)
    systems = systems or {}
    if terrain is not None:
        _add_terrain(spec, terrain)
    if systems:
        # on a body of its own: where each of two bodies has one geom, MuJoCo meets them without a tree of boxes
        spec.worldbody.add_body(name=PROBE).add_geom(name=PROBE, size=[1e-4, 0, 0], contype=0, conaffinity=0)
        spec.nuserdata += sum(system.states() for system in systems.values())
    placed = {body.name: carriers(body) for body in bodies}
    built = {body.name: _build_laws(body, placed[body.name], water, options) for body in bodies}
    for body in bodies:
        add_tree(spec, body, placed[body.name], list(built[body.name].values()))
        on_links = {placed[body.name][link][0] for link, law in built[body.name].values() if law.joint is None}
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
        raise EngineError(f"MuJoCo cannot build this world: {_one_line(error)}") from None

    links = {
        owner: {
            link: LinkHandle(compiled.body(f"{owner}/{carrier}").id, pose) for link, (carrier, pose) in places.items()
        }
        for owner, places in placed.items()
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
    if compiled.body_geomnum.max(initial=0) <= FEW_SHAPES:
        compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    if terrain is not None and isinstance(terrain.contact, ContactHeightfield):
        model.program.ground = ground_table(compiled.geom("terrain").id, terrain.contact)
    _place_laws(model, built, fields or {}, systems)
    if followed is not None:
        place = compiled.nuserdata - 1
        water.set_followed_index(place)
        model.initial_userdata[place] = followed.pose.position[2]
        model.water_level = (model.roots[followed.name], place)
    return model


# ------------------------------------------------------------------------------------------------ laws


def _build_laws(body: Body, places: dict[str, tuple[str, Pose]], water: Water, options: Options) -> Laws:
    """Every law of a tree with the link it acts on."""
    robot_mass = sum(link.inertial.mass for link in body.robot.links.values() if link.inertial is not None)
    neutral = (robot_mass + body.trim_ballast) / (body.trim_density or water.density)

    moved: dict[str, NDArray[np.float64]] = {}

    def attach(link: str) -> Attachment:
        if link not in places:
            raise SkerryError(f"there is no link {link!r}; {did_you_mean(link, places)}")
        carrier, offset = places[link]
        mass, center, inertia = combined_inertia(body, carrier, places)
        return Attachment(
            body.name,
            link,
            offset,
            mass,
            moved.get(carrier, center),
            inertia,
            joint_above(body.robot, link),
            robot_mass,
            neutral,
            water.density,
            water.has_acceleration,
            options.gravity,
            float(options.step),
        )

    def build_all() -> Laws:
        built: Laws = {}
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
            raise SkerryError(f"{body.name}.{name}: the joint {law.joint!r} is driven by {driven[law.joint]} already")
    for link, law in built.values():
        if law.center_of_mass is not None:
            moved[places[link][0]] = np.array(law.center_of_mass)
    return build_all() if moved else built  # a law that moves a centre of mass moves it for the others too


def _place_laws(
    model: Model, built: dict[str, Laws], fields: Mapping[str, FieldConfig], systems: Mapping[str, WorldSystem]
) -> None:
    """Lay out userdata, write the tables, and bind the program to the compiled model."""
    compiled, options = model.compiled, model.options
    on_links: dict[int, list[tuple[Law, int]]] = {}
    on_joints: list[tuple[Law, int, int, int | None]] = []
    added: dict[int, NDArray[np.float64]] = {}
    owners: dict[int, int] = {}
    rows: list[tuple[NDArray[np.float64], NDArray[np.float64] | None]] = []
    for name, force_field in fields.items():
        try:
            rows.append((force_field.row(), force_field.volume.table()))
        except SkerryError as error:
            raise SkerryError(f"fields.{name}: {error}") from None
    place = 0
    for number, (owner, tree) in enumerate(built.items()):
        for name, (link, law) in tree.items():
            body = model.links[owner][link].body
            if law.joint is None and body not in model.blocks:
                model.blocks[body] = place
                place += laws.BLOCK
            owners[body] = number
            if law.wash is not None:
                wash, thrust = law.wash[0].copy(), law.wash[1]
                wash[[OWNER, BLOCK_INDEX, THRUST_INDEX]] = number, model.blocks[body], place + thrust
                rows.append((wash, None))
            size = law.initial_state.size
            model.law_slots[owner, name] = (place, size)
            model.initial_userdata[place : place + size] = law.initial_state
            if law.joint is None:
                on_links.setdefault(body, []).append((law, place))
            else:
                second = None if law.second_joint is None else model.joints[owner][law.second_joint[0]]
                on_joints.append((law, place, model.joints[owner][law.joint], second))
            if law.added_mass is not None:
                added[body] = added.get(body, np.zeros((6, 6))) + law.added_mass
            place += size
    for owner, tree in built.items():
        _find_jets(model, owner, tree)
    table_in_fluids = partial(
        table_of,
        water=(model.water.address, model.water.table_address),
        wind=(model.water.wind_address, model.water.wind_table_address),
    )
    field_memory, volumes = field_table(rows)
    fields_address = field_memory.ctypes.data if rows else 0
    model.field_memory, model.field_rows = field_memory, [row for row, _ in rows]
    implicit = 0.0 if options.integrator == "rk4" else float(options.step)
    ordered: list[tuple[int, int, NDArray[np.float64]]] = []

    def add(law: Law, table: NDArray[np.float64]) -> None:
        if law.force is not None:
            ordered.append((law.phase, law.force.address, table))
        if law.update is not None:
            model.program.updates.append((law.update.address, table))

    for body, acting in on_links.items():
        points = sum(law.points_index[0] for law, _ in acting if law.points_index is not None)
        for law, _ in acting:
            if law.points_index is not None:
                law.constants[law.points_index[1]] = points
        axis, row = _axes_above(compiled, body)
        constants = link_constants(int(compiled.body_rootid[body]), axis, row, implicit, options.gravity)
        around = [(law, 0) for law in link_laws(constants)]
        for law, state in (*around, *acting):
            table = table_in_fluids(
                law.constants,
                fields=fields_address,
                owner=owners[body],
                block=model.blocks[body],
                state=state,
                body=body,
            )
            add(law, table)
    felt = joint_inertias(compiled, added)
    for law, state, joint, second in on_joints:
        numbers = _places_of_joint(compiled, joint)
        if law.inertia_index is not None:
            law.constants[law.inertia_index] = felt[numbers[1]]
        if law.second_joint is not None and second is not None:
            others = _places_of_joint(compiled, second)
            start = law.second_joint[1]
            # A row of M holds the axes above its own, nearest last: the one of the lower joint has both.
            law.constants[start : start + 4] = *others, (numbers if numbers[1] > others[1] else others)[2] - 1
        model.joint_starts[numbers[0]] = law.joint_start
        add(law, table_in_fluids(np.append(law.constants, implicit), state=state, joint=numbers))
    for name, system in systems.items():
        law = system.build(model)
        model.laws.setdefault(WORLD_OWNER, {})[name] = law
        model.law_slots[WORLD_OWNER, name] = (place, law.initial_state.size)
        model.initial_userdata[place : place + law.initial_state.size] = law.initial_state
        add(law, table_in_fluids(law.constants, fields=fields_address, state=place))
        place += law.initial_state.size
    if ordered:
        add(finish_law(), table_in_fluids(np.zeros(0)))
    ordered.sort(key=lambda entry: entry[0])
    model.program.forces = [(address, table) for _, address, table in ordered]
    model.program.keep = [
        model.water,
        field_memory,
        *volumes,
        *systems.values(),
        *(law for tree in model.laws.values() for law in tree.values()),
    ]
    if options.integrator == "rk4":
        check_explicit_step(
            compiled,
            options.step,
            {body: [law for law, _ in acting] for body, acting in on_links.items()},
            {int(compiled.jnt_dofadr[joint]): law for law, _, joint, _ in on_joints},
            added,
        )
    soften_contacts(compiled, added)
    model.program.bind(compiled)


def _find_jets(model: Model, owner: str, tree: Laws) -> None:
    """Tell the laws of a tree that are in a slipstream where to find it."""
    for name, (_, law) in tree.items():
        if law.in_jet_of is None:
            continue
        link, maker = tree.get(f"actuators.{law.in_jet_of}", (None, None))
        if link is None or maker is None or maker.jet is None:
            known = [n.removeprefix("actuators.") for n, (_, other) in tree.items() if other.jet is not None]
            hint = did_you_mean(law.in_jet_of, known) if known else "the vehicle has none"
            raise SkerryError(f"{owner}.{name}: there is no propeller in water {law.in_jet_of!r}; {hint}")
        block = model.blocks[model.links[owner][link].body]
        thrust = model.law_slots[owner, f"actuators.{law.in_jet_of}"][0] + maker.jet.thrust
        area = 0.25 * np.pi * maker.jet.diameter**2
        law.constants[law.jet_index : law.jet_index + laws.JET_SIZE] = [block, thrust, *maker.jet.axis, area]


def _places_of_joint(compiled: Any, joint: int) -> tuple[int, int, int]:
    """A joint's place among positions, among velocities, and on the diagonal of the mass matrix."""
    axis = int(compiled.jnt_dofadr[joint])
    return int(compiled.jnt_qposadr[joint]), axis, int(compiled.M_rowadr[axis] + compiled.M_rownnz[axis] - 1)


def _axes_above(compiled: Any, body: int) -> tuple[list[int], list[int]]:
    """The joint axes (MuJoCo's dofs) that move a body, and the place of each one's row in the sparse mass matrix."""
    axis = axes_above(compiled, body)
    name = compiled.body(body).name
    if len(axis) > MAX_AXES:
        raise EngineError(
            f"{name}: has {len(axis)} joint axes above it; forces can act on links with at most {MAX_AXES}"
        )
    for k, dof in enumerate(axis):
        if compiled.M_rownnz[dof] != k + 1:
            raise EngineError(f"{name}: MuJoCo's mass matrix has another shape than expected; please report this")
    return axis, [int(compiled.M_rowadr[dof]) for dof in axis]


def _set_options(spec: Any, options: Options) -> None:
    option = spec.option
    option.timestep = float(options.step)
    option.integrator = getattr(mujoco.mjtIntegrator, INTEGRATORS[options.integrator])
    option.gravity = [0.0, 0.0, -options.gravity]
    option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC  # friction is the same in all directions, as a pyramid's is not
    option.impratio = 10.0  # friction is stiffer than the contact's normal, so that what stands does not creep
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
