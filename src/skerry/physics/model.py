"""Parts to MuJoCo: robots, objects, terrain and water become one compiled model with its program of laws."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError, SkerryError
from skerry.core.frames import Pose
from skerry.parts import law as laws
from skerry.parts.law import Attachment, Law, need_link
from skerry.physics.links import MOST_AXES, finish_law, link_constants, link_laws
from skerry.physics.mujoco import DATA_OFFSETS, mujoco
from skerry.physics.program import NUMERIC_NAME, Program, table_of
from skerry.physics.tree import Body, add_tree, carried, combined_inertia
from skerry.physics.wet_mass import check_explicit_step, soften_contacts
from skerry.terrain import ContactHeightfield, Terrain
from skerry.water import Water

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
        offsets.append(add_tree(spec, body, built_laws))
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
        mass, center, inertia = combined_inertia(body.robot, carried(body.robot, link, kept))
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
        laws_only = {body: [law for law, _ in acting] for body, acting in wet.items()}
        check_explicit_step(compiled, options.step, laws_only, added)
    soften_contacts(compiled, added)
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
