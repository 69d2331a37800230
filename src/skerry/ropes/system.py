"""Rope system: all ropes of a world as one native law, with its tables and its initial state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skerry.actuators.winch import Winch
from skerry.core.errors import SkerryError, did_you_mean
from skerry.core.frames import Pose, rotate
from skerry.parts.law import MEASURE, Law
from skerry.physics.law_binding import WORLD_OWNER
from skerry.physics.model import PROBE, Model, WorldSystem
from skerry.physics.points import body_table
from skerry.ropes import layout as at
from skerry.ropes.config import RopeConfig
from skerry.terrain import Terrain
from skerry.water import flow
from skerry.water.fields import NO_FIELD_OWNER

Floats = NDArray[np.float64]
# Largest stiffness of a contact with a body, as a share of the body's mass over the step squared. The force acts on the
# body one step late, so a stiffer contact would be unstable.
MAX_STIFFNESS_SHARE = 0.1


@dataclass(frozen=True)
class RopePlan:
    """Plan of a rope: its settings, the robot that it belongs to, and the winch that pays it out."""

    config: RopeConfig
    robot: str | None = None
    winch: Winch | None = None

    @property
    def length(self) -> float:
        """Length at the start, m."""
        if self.winch is not None:
            start = self.winch.start_length
            return self.winch.target_length if start is None else start
        assert self.config.length is not None
        return self.config.length

    @property
    def max_length(self) -> float:
        """Largest length without rope that its hook has caught, m."""
        return self.length if self.winch is None else self.winch.rope_length

    @property
    def segments(self) -> int:
        """Number of segments at the start."""
        return max(round(self.length / self.segment_length), 1)

    @property
    def segment_length(self) -> float:
        """Nominal length of a segment, m; a rope without a winch has a whole number of them."""
        if self.winch is not None:
            return self.config.segment_length
        assert self.config.length is not None
        return self.config.length / max(round(self.config.length / self.config.segment_length), 1)

    @property
    def max_nodes(self) -> int:
        """Largest number of nodes without rope that its hook has caught."""
        return ceil(self.max_length / self.segment_length) + 3

    @property
    def catchable(self) -> bool:
        """Whether a hook may catch the rope."""
        return self.config.catchable and self.config.end is None and self.config.hook is None and self.winch is None


class RopeSystem(WorldSystem):
    """All ropes of a world.

    Each rope that a hook may catch has a spare rope, which represents the part beyond the hook. A rope over a pulley
    has one for the side of its start.
    """

    def __init__(self, plans: Mapping[str, RopePlan], terrain: Terrain | None, windy: bool) -> None:
        self.plans = dict(plans)
        self._terrain = terrain
        self._windy = windy
        self._kept: list[object] = []
        hooks = any(plan.config.hook is not None for plan in plans.values())
        caught = [name for name, plan in plans.items() if plan.catchable] if hooks else []
        divided = [name for name, plan in plans.items() if plan.config.pulley is not None or name in caught]
        self.names = list(plans)
        self.spares = {name: len(plans) + number for number, name in enumerate(divided)}
        self._caught = frozenset(caught)
        most_caught = max((plans[name].max_nodes for name in caught), default=0)
        self.capacities = [
            plan.max_nodes + (most_caught if plan.config.hook is not None else 0) for plan in plans.values()
        ]
        self.capacities += [plans[name].max_nodes for name in divided]
        self.offsets = np.concatenate([[0], np.cumsum([at.NODES + at.PER_NODE * n for n in self.capacities])]).astype(
            int
        )

    def state_size(self) -> int:
        return int(self.offsets[-1])

    def state_slice(self, name: str) -> slice:
        """Return the slice of a rope's state in the state of all ropes."""
        number = self.names.index(name)
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def spare_slice(self, name: str) -> slice | None:
        """Return the slice of the spare rope's state, or None if the rope has none."""
        number = self.spares.get(name)
        return None if number is None else slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def build(self, model: Model) -> Law:
        # Imported here, because the kernels take seconds to compile and only worlds with ropes need them.
        from skerry.ropes.step import measure_inertia, step_ropes

        numbers = [*range(len(self.names)), *(self.names.index(name) for name in self.spares)]
        constants = np.zeros(at.COMMON + at.ROPE * len(numbers))
        self._write_common(constants, model, len(numbers))
        state = np.zeros(self.state_size())
        for slot, number in enumerate(numbers):
            name = self.names[number]
            own = constants[at.COMMON + at.ROPE * slot : at.COMMON + at.ROPE * (slot + 1)]
            own[at.CAPACITY], own[at.STATE_OFFSET] = self.capacities[slot], self.offsets[slot]
            self._write_rope(own, model, name)
            if slot >= len(self.names):  # a spare rope has no buoy or hook
                own[[at.END_MASS, at.END_RADIUS, at.END_VOLUME, at.END_DRAG]] = 0.0
            row = state[self.offsets[slot] : self.offsets[slot + 1]]
            row[[at.HOOK_ROPE, at.OTHER_SIDE, at.HEAD + at.BODY, at.TAIL + at.BODY]] = at.NO_INDEX
        for name, plan in self.plans.items():
            if plan.config.setup_on_start:
                try:
                    self._lay(state, model, name)
                except SkerryError as error:
                    raise SkerryError(f"ropes.{name}: {error}") from None
        return Law(constants, force=measure_inertia, update=step_ropes, initial_state=state, phase=MEASURE)

    def carry_over(self, state: Floats, former: RopeSystem, former_state: Floats, bodies: Mapping[int, int]) -> None:
        """Copy the states of ropes with the same name from the ropes of a former world.

        An end that was tied to a removed body becomes free.

        Args:
            state: state of all ropes, changed in place.
            former: ropes of the former world.
            former_state: state of the former ropes.
            bodies: former body number → new body number.

        Raises:
            SkerryError: a rope runs over a hook that no longer exists.
        """
        numbers = {former.names.index(name): self.names.index(name) for name in former.names if name in self.names}
        numbers |= {old: self.spares[name] for name, old in former.spares.items() if name in self.spares}
        for old, new in numbers.items():
            row, before = (
                state[self.offsets[new] : self.offsets[new + 1]],
                former_state[former.offsets[old] : former.offsets[old + 1]],
            )
            capacity, count = self.capacities[new], int(before[at.COUNT])
            joined = {int(before[k]) for k in (at.HOOK_ROPE, at.OTHER_SIDE) if before[k] != at.NO_INDEX}
            if count > capacity or not joined <= numbers.keys():
                raise SkerryError("a rope runs over a hook that would be removed; release the rope first")
            row[: at.NODES] = before[: at.NODES]
            for k in (at.HOOK_ROPE, at.OTHER_SIDE):
                row[k] = numbers.get(int(before[k]), at.NO_INDEX)
            # A part of a caught rope that no longer exists gets the material of the rope that carries it.
            row[at.LOAD_ROPE] = numbers.get(int(before[at.LOAD_ROPE]), 0)
            row[at.LOAD_EDGES] *= int(before[at.LOAD_ROPE]) in numbers
            for end in (at.HEAD, at.TAIL):
                row[end + at.BODY] = bodies.get(int(before[end + at.BODY]), at.NO_INDEX)
            for start, width in ((0, 3), (3, 3), (6, 1), (7, 1)):
                section, old_section = at.NODES + start * capacity, at.NODES + start * former.capacities[old]
                row[section : section + width * count] = before[old_section : old_section + width * count]

    # -------------------------------------------------------------------------------------------- tables

    def _write_common(self, constants: Floats, model: Model, ropes: int) -> None:
        compiled = model.compiled
        bodies, axes = body_table(compiled)
        step = float(model.options.step)
        touched = [
            geom
            for geom in range(compiled.ngeom)
            if (compiled.geom_contype[geom] or compiled.geom_conaffinity[geom])
            and compiled.geom(geom).name != "terrain"
        ]
        shapes = np.array([[geom, compiled.geom_bodyid[geom]] for geom in touched], np.int64).reshape(-1, 2)
        sizes = np.zeros((len(touched), 2))
        for row, geom in zip(sizes, touched, strict=True):
            root = int(compiled.body_rootid[compiled.geom_bodyid[geom]])
            movable = bodies[compiled.geom_bodyid[geom], 1] > 0
            # a plane is infinite and has no bounding radius
            row[0] = compiled.geom_rbound[geom] or 1e6
            row[1] = MAX_STIFFNESS_SHARE * float(compiled.body_subtreemass[root]) / step**2 if movable else np.inf
        self._kept += [bodies, axes, shapes, sizes]
        integers = constants.view(np.int64)
        integers[at.ROPES], integers[at.AXES] = ropes, compiled.nv
        integers[at.BODIES], integers[at.AXIS_LIST] = bodies.ctypes.data, axes.ctypes.data
        if self._terrain is not None:
            integers[at.GROUND], integers[at.GROUND_TABLE] = self._terrain.address, self._terrain.table_address
            self._kept.append(self._terrain)
        integers[at.SHAPES], integers[at.SHAPE_TABLE] = len(touched), shapes.ctypes.data
        integers[at.SHAPE_SIZES], integers[at.PROBE] = sizes.ctypes.data, compiled.geom(PROBE).id
        integers[at.HAS_WIND], integers[at.FLOW_NEEDED] = self._windy, flow.NEED_FLOW | flow.NEED_FLOW_RATE
        constants[at.STEP], constants[at.GRAVITY] = step, model.options.gravity

    def _write_rope(self, own: Floats, model: Model, name: str) -> None:
        plan = self.plans[name]
        config = plan.config
        own[at.MASS], own[at.STIFFNESS] = config.linear_mass, config.axial_stiffness
        own[at.DAMPING], own[at.BENDING], own[at.DIAMETER] = config.damping, config.bending_stiffness, config.diameter
        own[at.NORMAL_DRAG], own[at.TANGENT_DRAG] = config.normal_drag, config.tangential_drag
        own[at.ADDED], own[at.FRICTION] = config.added_mass, config.friction
        own[at.RADIUS] = 0.5 * (config.collision_diameter or config.diameter)
        own[at.SEGMENT] = plan.segment_length
        own[at.MIN_LENGTH] = 0.1 * plan.segment_length if plan.winch is None else plan.winch.minimum_length
        own[at.WINCH] = at.NO_INDEX
        if config.winch is not None:
            assert plan.robot is not None
            own[at.WINCH] = model.law_slots[plan.robot, f"actuators.{config.winch}"][0]
        # Force fields of the world have the owner NO_FIELD_OWNER. They must act on ropes without a robot too, so these
        # ropes have another negative owner.
        own[at.OWNER] = NO_FIELD_OWNER - 1 if plan.robot is None else list(model.laws).index(plan.robot)
        own[at.CATCHABLE] = name in self._caught
        own[at.SPARE] = self.spares.get(name, 0)
        if (buoy := config.buoy) is not None:
            own[at.END_MASS], own[at.END_RADIUS] = buoy.mass, buoy.radius
            own[at.END_VOLUME] = 4 / 3 * pi * buoy.radius**3
            own[at.END_DRAG] = buoy.drag_coefficient * pi * buoy.radius**2
        if (hook := config.hook) is not None:
            own[at.END_MASS], own[at.END_RADIUS] = hook.mass, hook.radius
            own[at.END_DRAG] = hook.drag_coefficient * pi * hook.radius**2
            own[at.HOOK], own[at.SHEAVE_MASS], own[at.SHEAVE_DRAG] = hook.reach, hook.pulley_mass, hook.pulley_drag
        if (pulley := config.pulley) is not None:
            own[at.SHEAVE_MASS], own[at.SHEAVE_DRAG] = pulley.mass, pulley.drag
        own[at.MAX_FORCE] = config.maximum_force or np.inf
        own[at.SLIPS], own[at.MAX_LENGTH] = config.overload == "slip", plan.max_length

    # -------------------------------------------------------------------------------------------- initial state

    def _lay(self, state: Floats, model: Model, name: str) -> None:
        """Write the initial state of a rope."""
        plan = self.plans[name]
        config = plan.config
        row = state[self.state_slice(name)]
        body, point, start, pose = attachment_point(model, config.start, config.start_point, plan.robot)
        if config.end is None:
            direction = rotate(pose.orientation, np.array(config.direction))
            end = start + plan.length * direction / np.linalg.norm(direction)
        else:
            end_body, end_point, end, _ = attachment_point(model, config.end, config.end_point, plan.robot)
            tie(row, at.TAIL, end_body, end_point)
        if config.pulley is None:
            tie(row, at.HEAD, body, point)
            lay(row, start, end, plan.length, plan.segments)
        else:
            beyond = state[self.spare_slice(name)]
            tie(beyond, at.TAIL, body, point)
            body, point, pulley, _ = attachment_point(model, config.pulley.at, config.pulley.point, plan.robot)
            tie(beyond, at.HEAD, body, point)
            lay_over_pulley(row, beyond, start, pulley, end, plan.length, plan.segment_length)
            row[at.HOOK_ROPE] = row[at.OTHER_SIDE] = self.spares[name]
            beyond[at.OTHER_SIDE] = self.names.index(name)


def tie(row: Floats, end: int, body: int, point: Floats) -> None:
    """Tie an end of a rope, HEAD or TAIL, to a point on a body."""
    row[end : end + at.END] = 0.0
    row[end + at.BODY], row[end + at.POINT : end + at.POINT + 3] = body, point


def lay_over_pulley(
    row: Floats, beyond: Floats, start: Floats, pulley: Floats, end: Floats, length: float, segment: float
) -> None:
    """Lay a rope at rest over a pulley, with the same slack on both sides.

    Args:
        row: state of the side of the end, changed in place.
        beyond: state of the side of the start, changed in place.
        start: position of the start in the world, (3,), m.
        pulley: position of the pulley, (3,), m.
        end: position of the end, (3,), m.
        length: length at rest, m.
        segment: nominal length of a segment, m.

    Raises:
        SkerryError: the rope is too short.
    """
    distances = float(np.linalg.norm(start - pulley)), float(np.linalg.norm(end - pulley))
    slack = length - sum(distances)
    if slack < -length / 6 - 0.01:
        raise SkerryError(
            f"its ends are {sum(distances):.3g} m apart over the pulley, but it is {length:.3g} m long; "
            "use a longer rope or move its ends"
        )
    least = 0.1 * segment
    one = min(max(distances[0] + 0.5 * slack, least), length - least)
    for side, place, long in ((beyond, start, one), (row, end, length - one)):
        lay(side, pulley, place, long, max(round(long / segment), 1))


def lay(row: Floats, start: Floats, end: Floats, length: float, segments: int) -> None:
    """Lay a rope at rest from its head at `start` to its tail at `end`, straight or sagging.

    Args:
        row: state of the rope, changed in place.
        start: position of the head in the world, (3,), m.
        end: position of the tail in the world, (3,), m.
        length: length at rest, m.
        segments: number of segments.

    Raises:
        SkerryError: the distance is more than 1.2 times the length.
    """
    distance = float(np.linalg.norm(end - start))
    if distance > 1.2 * length + 0.01:
        raise SkerryError(
            f"its ends are {distance:.3g} m apart, but it is {length:.3g} m long; use a longer rope or move its ends"
        )
    n, capacity = segments + 1, (row.size - at.NODES) // at.PER_NODE
    nodes = _arc(end, start, max(length, distance), n)
    row[at.COUNT] = n
    row[at.NODES : at.NODES + 3 * n] = nodes.ravel()
    row[at.NODES + 3 * capacity : at.NODES + 3 * capacity + 3 * n] = 0.0
    row[at.NODES + 6 * capacity : at.NODES + 6 * capacity + segments] = length / segments
    row[at.NODES + 7 * capacity : at.NODES + 7 * capacity + segments] = 0.0


def _arc(begin: Floats, end: Floats, length: float, count: int) -> Floats:
    """Return nodes at equal distances along a parabola of a given length between two points, (count, 3)."""
    line = end - begin
    distance = float(np.linalg.norm(line))
    share = np.linspace(0.0, 1.0, 50 * count)
    straight = begin + share[:, None] * line
    if length - distance < 1e-9:
        return straight[0] + np.linspace(0.0, 1.0, count)[:, None] * line
    # The rope sags downwards, perpendicular to the line; a vertical rope bends to the side.
    across = np.array([0.0, 0.0, -1.0])
    across -= line * float(line @ across) / max(distance**2, 1e-18)
    if np.linalg.norm(across) < 1e-3:
        across = np.array([1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)

    def curve(sag: float) -> Floats:
        return np.asarray(straight + (4.0 * sag * share * (1.0 - share))[:, None] * across)

    low, high = 0.0, length
    for _ in range(60):
        middle = 0.5 * (low + high)
        longer = np.linalg.norm(np.diff(curve(middle), axis=0), axis=1).sum() > length
        low, high = (low, middle) if longer else (middle, high)
    found = curve(low)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(found, axis=0), axis=1))])
    wanted = np.linspace(0.0, along[-1], count)
    return np.stack([np.interp(wanted, along, found[:, axis]) for axis in range(3)], axis=1)


AttachmentPoint = tuple[int, Floats, Floats, Pose]
"""Body number, point on the body, its position in the world at the start, and the pose of the link there."""


def attachment_point(model: Model, target: Any, point: Any, robot: str | None) -> AttachmentPoint:
    """Return the point that an end of a rope is tied to.

    Args:
        model: the model.
        target: "robot/link", a robot, an object, or a point of the world; with `robot` one of its links.
        point: point on the target, in its frame, m.
        robot: robot that the rope belongs to, or None.

    Raises:
        SkerryError: there is no such target.
    """
    if not isinstance(target, str):
        fixed = np.array(target, np.float64)
        return 0, fixed, fixed, Pose(fixed, np.array([0.0, 0.0, 0.0, 1.0]))
    owner, _, link = target.partition("/") if robot is None else (robot, "/", target)
    trees = {name: links for name, links in model.links.items() if name != WORLD_OWNER}
    if owner not in trees:
        raise SkerryError(f"there is no robot or object {owner!r}; {did_you_mean(owner, trees)}")
    links = trees[owner]
    if not link:
        link = next(name for name, handle in links.items() if handle.body == model.roots[owner])
    if link not in links:
        raise SkerryError(f"{owner!r} has no link {link!r}; {did_you_mean(link, links)}")
    handle = links[link]
    on_body = handle.offset.transform(np.array(point, np.float64))
    pose = model.start_pose(handle.body)
    return handle.body, on_body, pose.transform(on_body), pose @ handle.offset
