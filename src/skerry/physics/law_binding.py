"""Binding of laws to a compiled model: lay out userdata, write the tables of the laws, and bind the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from skerry.core.errors import EngineError, SkerryError, did_you_mean
from skerry.parts import law as laws
from skerry.parts.law import Law
from skerry.physics.links import MAX_AXES, finish_law, link_constants, link_laws
from skerry.physics.points import axes_above
from skerry.physics.program import table_of
from skerry.physics.wet_mass import check_explicit_step, joint_inertias, soften_contacts
from skerry.water.fields import BLOCK_INDEX, OWNER, THRUST_INDEX, FieldConfig, field_table

if TYPE_CHECKING:
    from skerry.physics.model import Model, WorldSystem

Floats = NDArray[np.float64]

WORLD_OWNER = ""
"""Owner of laws that belong to the world as a whole; no robot has this name."""

TreeLaws = dict[str, tuple[str, Law]]
"""Laws of a robot or object by name, each with the link that it acts on."""


@dataclass(frozen=True)
class _JointLaw:
    """Law that acts on one joint or on two."""

    law: Law
    state: int  # start of its state in userdata
    joint: int  # MuJoCo's joint number
    second_joint: int | None


@dataclass
class _LawLayout:
    """Laws grouped by link and by joint, and the size of userdata assigned so far."""

    size: int = 0  # first free index in userdata
    on_links: dict[int, list[tuple[Law, int]]] = field(default_factory=dict)  # body → (law, start of its state)
    on_joints: list[_JointLaw] = field(default_factory=list)
    owners: dict[int, int] = field(default_factory=dict)  # body → number of its robot or object
    added_mass: dict[int, Floats] = field(default_factory=dict)  # body → sum of the added masses, (6, 6)
    field_rows: list[tuple[Floats, Floats | None]] = field(default_factory=list)  # row and volume of each force field


class _ProgramWriter:
    """Collector of the forces and updates of a program."""

    def __init__(self, model: Model, fields: int) -> None:
        self._updates, self._records = model.program.updates, model.program.records
        self._forces: list[tuple[int, int, Floats]] = []  # phase, address of the function, table
        self._table = partial(
            table_of,
            water=(model.water.address, model.water.table_address),
            wind=(model.water.wind_address, model.water.wind_table_address),
        )
        self._fields = fields

    def add(self, law: Law, constants: Floats, *, in_fields: bool = True, **header: Any) -> None:
        """Write the table of a law and add its functions; `header` are arguments of `table_of`."""
        table = self._table(constants, fields=self._fields if in_fields else 0, **header)
        if law.force is not None:
            self._forces.append((law.phase, law.force.address, table))
        if law.update is not None:
            self._updates.append((law.update.address, table))
        if law.record is not None:
            self._records.append((law.record.address, table))

    def forces(self) -> list[tuple[int, Floats]]:
        """Return the functions and tables of all forces, sorted by phase."""
        return [(address, table) for _, address, table in sorted(self._forces, key=lambda entry: entry[0])]

    @property
    def is_empty(self) -> bool:
        """Whether no force was added."""
        return not self._forces


def bind_laws(
    model: Model, built: dict[str, TreeLaws], fields: Mapping[str, FieldConfig], systems: Mapping[str, WorldSystem]
) -> None:
    """Lay out userdata, write the tables of all laws, and bind the program to the compiled model.

    Args:
        model: the model, changed in place.
        built: laws of each robot and object, by its name.
        fields: force fields of the world, by name.
        systems: systems that act on the whole world, by name.
    """
    layout = _lay_out(model, built, _world_fields(fields))
    for owner, tree in built.items():
        _connect_slipstreams(model, owner, tree)
        _connect_states(model, owner, tree)
    field_memory, volumes = field_table(layout.field_rows)
    model.field_memory, model.field_rows = field_memory, [row for row, _ in layout.field_rows]
    writer = _ProgramWriter(model, field_memory.ctypes.data if layout.field_rows else 0)
    _add_link_laws(model, layout, writer)
    _add_joint_laws(model, layout, writer)
    _add_systems(model, layout, writer, systems)
    if not writer.is_empty:
        writer.add(finish_law(), np.zeros(0), in_fields=False)
    model.program.forces = writer.forces()
    model.program.keep = [
        model.water,
        field_memory,
        *volumes,
        *systems.values(),
        *(law for tree in model.laws.values() for law in tree.values()),
    ]
    if model.options.integrator == "rk4":
        _check_rk4(model, layout)
    soften_contacts(model.compiled, layout.added_mass)
    model.program.bind(model.compiled)


def _world_fields(fields: Mapping[str, FieldConfig]) -> list[tuple[Floats, Floats | None]]:
    """Return the row and the volume table of each force field of the world."""
    rows: list[tuple[Floats, Floats | None]] = []
    for name, force_field in fields.items():
        try:
            rows.append((force_field.row(), force_field.volume.table()))
        except SkerryError as error:
            raise SkerryError(f"fields.{name}: {error}") from None
    return rows


def _lay_out(model: Model, built: dict[str, TreeLaws], field_rows: list[tuple[Floats, Floats | None]]) -> _LawLayout:
    """Assign userdata to the blocks and states of all laws, and group the laws by link and by joint."""
    layout = _LawLayout(field_rows=field_rows)
    for number, (owner, tree) in enumerate(built.items()):
        _share_fields([law for _, law in tree.values()])
        for name, (link, law) in tree.items():
            body = model.links[owner][link].body
            if law.joint is None and body not in model.blocks:
                model.blocks[body] = layout.size
                layout.size += laws.BLOCK
            layout.owners[body] = number
            state = layout.size
            if law.wash is not None:
                wash, thrust = law.wash[0].copy(), law.wash[1]
                wash[[OWNER, BLOCK_INDEX, THRUST_INDEX]] = number, model.blocks[body], state + thrust
                layout.field_rows.append((wash, None))
            _assign_state(model, layout, owner, name, law)
            if law.joint is None:
                layout.on_links.setdefault(body, []).append((law, state))
            else:
                joints = model.joints[owner]
                second = None if law.second_joint is None else joints[law.second_joint[0]]
                layout.on_joints.append(_JointLaw(law, state, joints[law.joint], second))
            if law.added_mass is not None:
                layout.added_mass[body] = layout.added_mass.get(body, np.zeros((6, 6))) + law.added_mass
    return layout


def _assign_state(model: Model, layout: _LawLayout, owner: str, name: str, law: Law) -> None:
    """Assign the next free part of userdata to the state of a law."""
    start, size = layout.size, law.initial_state.size
    model.law_slots[owner, name] = (start, size)
    model.initial_userdata[start : start + size] = law.initial_state
    layout.size += size


def _connect_slipstreams(model: Model, owner: str, tree: TreeLaws) -> None:
    """Write the propeller's data into the constants of laws that are in its slipstream."""
    for name, (_, law) in tree.items():
        if law.in_jet_of is None:
            continue
        link, propeller = tree.get(f"actuators.{law.in_jet_of}", (None, None))
        if link is None or propeller is None or propeller.jet is None:
            known = [n.removeprefix("actuators.") for n, (_, other) in tree.items() if other.jet is not None]
            hint = did_you_mean(law.in_jet_of, known) if known else "the vehicle has no propeller in water"
            raise SkerryError(f"{owner}.{name}: there is no propeller in water {law.in_jet_of!r}; {hint}")
        block = model.blocks[model.links[owner][link].body]
        thrust = model.law_slots[owner, f"actuators.{law.in_jet_of}"][0] + propeller.jet.thrust
        area = 0.25 * np.pi * propeller.jet.diameter**2
        law.constants[law.jet_index : law.jet_index + laws.JET_SIZE] = [block, thrust, *propeller.jet.axis, area]


def _connect_states(model: Model, owner: str, tree: TreeLaws) -> None:
    """Write the indices of numbers in the state of other laws into the constants of the laws that read them."""
    for name, (_, law) in tree.items():
        for constant, (source, number) in law.reads.items():
            other = tree[source][1] if source in tree else None
            if other is None or number not in other.state_names:
                known = [n.removeprefix("actuators.") for n, (_, made) in tree.items() if number in made.state_names]
                part = source.removeprefix("actuators.")
                hint = did_you_mean(part, known) if known else "the vehicle has none"
                raise SkerryError(f"{owner}.{name}: actuator {part!r} with the state {number!r} was not found; {hint}")
            law.constants[constant] = model.law_slots[owner, source][0] + other.state_names[number]


def _add_link_laws(model: Model, layout: _LawLayout, writer: _ProgramWriter) -> None:
    """Add the laws of each link, with the laws before and after them that gather motions and apply the sum."""
    compiled, options = model.compiled, model.options
    for body, acting in layout.on_links.items():
        axes, rows = _axes_above(compiled, body)
        root = int(compiled.body_rootid[body])
        constants = link_constants(root, axes, rows, _implicit_step(model), options.gravity)
        for law, state in (*((law, 0) for law in link_laws(constants)), *acting):
            writer.add(law, law.constants, owner=layout.owners[body], block=model.blocks[body], state=state, body=body)


def _share_fields(tree: list[Law]) -> None:
    """Write the number of force points of a robot or object, over which it shares a field, into its laws."""
    sets = [(law, law.point_set) for law in tree if law.point_set is not None]
    for law, points in sets:
        law.constants[points.fields_index] = sum(len(other.points) for _, other in sets)


def _add_joint_laws(model: Model, layout: _LawLayout, writer: _ProgramWriter) -> None:
    """Add the laws of joints, with the inertia that each joint feels and the indices of a second joint."""
    inertias = joint_inertias(model.compiled, layout.added_mass)
    for entry in layout.on_joints:
        law = entry.law
        position, axis, diagonal = indices = _joint_indices(model.compiled, entry.joint)
        if law.inertia_index is not None:
            law.constants[law.inertia_index] = inertias[axis]
        if law.second_joint is not None and entry.second_joint is not None:
            second = _joint_indices(model.compiled, entry.second_joint)
            start = law.second_joint[1]
            # A row of M holds the axes above its own axis, the nearest one last: the row of the lower joint has both.
            lower = diagonal if axis > second[1] else second[2]
            law.constants[start : start + 4] = *second, lower - 1
        model.joint_starts[position] = law.joint_start
        constants = np.append(law.constants, _implicit_step(model))
        writer.add(law, constants, in_fields=False, state=entry.state, joint=indices)


def _add_systems(model: Model, layout: _LawLayout, writer: _ProgramWriter, systems: Mapping[str, WorldSystem]) -> None:
    """Build and add the laws of the systems that act on the whole world."""
    for name, system in systems.items():
        law = system.build(model)
        model.laws.setdefault(WORLD_OWNER, {})[name] = law
        state = layout.size
        _assign_state(model, layout, WORLD_OWNER, name, law)
        writer.add(law, law.constants, state=state)


def _check_rk4(model: Model, layout: _LawLayout) -> None:
    """Check that the step is short enough for the damping of all links and joints."""
    check_explicit_step(
        model.compiled,
        model.options.step,
        {body: [law for law, _ in acting] for body, acting in layout.on_links.items()},
        {int(model.compiled.jnt_dofadr[entry.joint]): entry.law for entry in layout.on_joints},
        layout.added_mass,
    )


def _implicit_step(model: Model) -> float:
    """Return the step length of the implicit part of the laws, s; 0 for the explicit RK4."""
    return 0.0 if model.options.integrator == "rk4" else float(model.options.step)


def _joint_indices(compiled: Any, joint: int) -> tuple[int, int, int]:
    """Return the index of a joint in qpos, in qvel, and on the diagonal of the sparse mass matrix."""
    axis = int(compiled.jnt_dofadr[joint])
    return int(compiled.jnt_qposadr[joint]), axis, int(compiled.M_rowadr[axis] + compiled.M_rownnz[axis] - 1)


def _axes_above(compiled: Any, body: int) -> tuple[list[int], list[int]]:
    """Return the joint axes (MuJoCo's dofs) that move a body, and the start of each row in the sparse mass matrix."""
    axes = axes_above(compiled, body)
    name = compiled.body(body).name
    if len(axes) > MAX_AXES:
        raise EngineError(
            f"{name}: has {len(axes)} joint axes above it; forces can act on links with at most {MAX_AXES}"
        )
    for k, dof in enumerate(axes):
        if compiled.M_rownnz[dof] != k + 1:
            raise EngineError(f"{name}: the sparse mass matrix of MuJoCo has an unexpected shape; please report this")
    return axes, [int(compiled.M_rowadr[dof]) for dof in axes]
