"""All ropes of a world as one native system: its tables, the first state, and what they say of it afterwards."""

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
STIFFEST = 0.1  # share of a body's inertia over the step squared that a contact's stiffness may be: it acts a step late


@dataclass(frozen=True)
class RopePlan:
    """A rope to be built: its settings, the robot whose part it is, and the winch that feeds it."""

    config: RopeConfig
    robot: str | None = None
    winch: Winch | None = None

    @property
    def length(self) -> float:
        """At the start, m."""
        if self.winch is not None:
            start = self.winch.start_length
            return self.winch.target_length if start is None else start
        assert self.config.length is not None
        return self.config.length

    @property
    def longest(self) -> float:
        """That it may get by itself, m."""
        return self.length if self.winch is None else self.winch.rope_length

    @property
    def segments(self) -> int:
        """At the start."""
        return max(round(self.length / self.segment), 1)

    @property
    def segment(self) -> float:
        """The usual length of an edge, m: so many make the length."""
        if self.winch is not None:
            return self.config.segment_length
        assert self.config.length is not None
        return self.config.length / max(round(self.config.length / self.config.segment_length), 1)

    @property
    def nodes(self) -> int:
        """That it may have by itself."""
        return ceil(self.longest / self.segment) + 3

    @property
    def catchable(self) -> bool:
        """Whether a hook may catch it."""
        return self.config.catchable and self.config.end is None and self.config.hook is None and self.winch is None


class RopeSystem(WorldSystem):
    """The ropes of a world. Those that hooks may catch have a twin, for the part beyond the hook."""

    def __init__(self, plans: Mapping[str, RopePlan], terrain: Terrain | None, windy: bool) -> None:
        self.plans = dict(plans)
        self._terrain = terrain
        self._windy = windy
        self._kept: list[object] = []
        hooks = any(plan.config.hook is not None for plan in plans.values())
        caught = [name for name, plan in plans.items() if plan.catchable] if hooks else []
        self.names = list(plans)
        self.twins = {name: len(plans) + number for number, name in enumerate(caught)}
        longest = max((plans[name].nodes for name in caught), default=0)
        self.capacities = [plan.nodes + (longest if plan.config.hook is not None else 0) for plan in plans.values()]
        self.capacities += [plans[name].nodes for name in caught]
        self.places = np.concatenate([[0], np.cumsum([at.NODES + at.PER_NODE * n for n in self.capacities])]).astype(
            int
        )

    def state_size(self) -> int:
        return int(self.places[-1])

    def slice_of(self, name: str) -> slice:
        """Where a rope's state is in that of all."""
        number = self.names.index(name)
        return slice(int(self.places[number]), int(self.places[number + 1]))

    def twin_of(self, name: str) -> slice | None:
        """Where the state of the part beyond a hook is, if a hook may catch the rope."""
        number = self.twins.get(name)
        return None if number is None else slice(int(self.places[number]), int(self.places[number + 1]))

    def build(self, model: Model) -> Law:
        # Only worlds with ropes need their kernels, which take seconds to compile for the first time.
        from skerry.ropes.step import measure_inertia, step_ropes

        numbers = [*range(len(self.names)), *(self.names.index(name) for name in self.twins)]
        constants = np.zeros(at.COMMON + at.ROPE * len(numbers))
        self._write_common(constants, model, len(numbers))
        state = np.zeros(self.state_size())
        for slot, number in enumerate(numbers):
            name = self.names[number]
            own = constants[at.COMMON + at.ROPE * slot : at.COMMON + at.ROPE * (slot + 1)]
            own[at.CAPACITY], own[at.PLACE] = self.capacities[slot], self.places[slot]
            try:
                self._write_rope(own, model, name)
                if slot >= len(self.names):  # the part beyond a hook ends in what the rope was tied to
                    own[[at.END_MASS, at.END_RADIUS, at.END_VOLUME, at.END_DRAG]] = 0.0
                row = state[self.places[slot] : self.places[slot + 1]]
                row[[at.JOIN, at.PARTNER, at.HEAD + at.BODY, at.TAIL + at.BODY]] = at.NOTHING
                if slot < len(self.names) and self.plans[name].config.setup_on_start:
                    self._lay(row, model, name, self.capacities[slot])
            except SkerryError as error:
                raise SkerryError(f"ropes.{name}: {error}") from None
        return Law(constants, force=measure_inertia, update=step_ropes, initial_state=state, phase=MEASURE)

    def take_over(self, state: Floats, former: RopeSystem, was: Floats, bodies: Mapping[int, int]) -> None:
        """Go on from where the ropes of another world are, which may have others; `bodies` are former → new numbers.

        An end that was tied to a body which is gone is free.
        """
        numbers = {former.names.index(name): self.names.index(name) for name in former.names if name in self.names}
        numbers |= {old: self.twins[name] for name, old in former.twins.items() if name in self.twins}
        for old, new in numbers.items():
            row, before = (
                state[self.places[new] : self.places[new + 1]],
                was[former.places[old] : former.places[old + 1]],
            )
            capacity, count = self.capacities[new], int(before[at.COUNT])
            joined = {int(before[word]) for word in (at.JOIN, at.PARTNER) if before[word] != at.NOTHING}
            if count > capacity or not joined <= numbers.keys():
                raise SkerryError("a rope lies over a hook of what would be gone; let it go first")
            row[: at.NODES] = before[: at.NODES]
            for word in (at.JOIN, at.PARTNER):
                row[word] = numbers.get(int(before[word]), at.NOTHING)
            for end in (at.HEAD, at.TAIL):
                row[end + at.BODY] = bodies.get(int(before[end + at.BODY]), at.NOTHING)
            for start, width in ((0, 3), (3, 3), (6, 1), (7, 1)):
                here, there = at.NODES + start * capacity, at.NODES + start * former.capacities[old]
                row[here : here + width * count] = before[there : there + width * count]

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
            # a plane has no radius, and is everywhere
            row[0] = compiled.geom_rbound[geom] or 1e6
            row[1] = STIFFEST * float(compiled.body_subtreemass[root]) / step**2 if movable else np.inf
        self._kept += [bodies, axes, shapes, sizes]
        words = constants.view(np.int64)
        words[at.ROPES], words[at.AXES] = ropes, compiled.nv
        words[at.BODIES], words[at.AXIS_LIST] = bodies.ctypes.data, axes.ctypes.data
        if self._terrain is not None:
            words[at.GROUND], words[at.GROUND_TABLE] = self._terrain.address, self._terrain.table_address
            self._kept.append(self._terrain)
        words[at.SHAPES], words[at.SHAPE_TABLE] = len(touched), shapes.ctypes.data
        words[at.SHAPE_SIZES], words[at.PROBE] = sizes.ctypes.data, compiled.geom(PROBE).id
        words[at.WINDY], words[at.NEED] = self._windy, flow.NEED_FLOW | flow.NEED_FLOW_RATE
        constants[at.STEP], constants[at.GRAVITY] = step, model.options.gravity

    def _write_rope(self, own: Floats, model: Model, name: str) -> None:
        plan = self.plans[name]
        config = plan.config
        own[at.MASS], own[at.STIFFNESS] = config.linear_mass, config.axial_stiffness
        own[at.DAMPING], own[at.BENDING], own[at.DIAMETER] = config.damping, config.bending_stiffness, config.diameter
        own[at.NORMAL_DRAG], own[at.TANGENT_DRAG] = config.normal_drag, config.tangential_drag
        own[at.ADDED], own[at.FRICTION] = config.added_mass, config.friction
        own[at.RADIUS] = 0.5 * (config.collision_diameter or config.diameter)
        own[at.SEGMENT] = plan.segment
        own[at.LEAST] = 0.1 * plan.segment if plan.winch is None else plan.winch.minimum_length
        own[at.WINCH] = at.NOTHING
        if config.winch is not None:
            assert plan.robot is not None
            own[at.WINCH] = model.law_slots[plan.robot, f"actuators.{config.winch}"][0]
        # fields of the world have no owner and must act on a rope that has none: it is somebody else's than nobody's
        own[at.OWNER] = NO_FIELD_OWNER - 1 if plan.robot is None else list(model.laws).index(plan.robot)
        own[at.CATCHABLE] = name in self.twins
        own[at.SPARE] = self.twins.get(name, 0)
        if (buoy := config.buoy) is not None:
            own[at.END_MASS], own[at.END_RADIUS] = buoy.mass, buoy.radius
            own[at.END_VOLUME] = 4 / 3 * pi * buoy.radius**3
            own[at.END_DRAG] = buoy.drag_coefficient * pi * buoy.radius**2
        if (hook := config.hook) is not None:
            own[at.END_MASS], own[at.END_RADIUS] = hook.mass, hook.radius
            own[at.END_DRAG] = hook.drag_coefficient * pi * hook.radius**2
            own[at.HOOK], own[at.SHEAVE_MASS], own[at.SHEAVE_DRAG] = hook.reach, hook.pulley_mass, hook.pulley_drag

    # -------------------------------------------------------------------------------------------- first places

    def _lay(self, row: Floats, model: Model, name: str, capacity: int) -> None:
        """Put a rope where it lies at first."""
        plan = self.plans[name]
        config = plan.config
        body, point, start, pose = place_of(model, config.start, config.start_point, plan.robot)
        row[at.HEAD + at.BODY] = body
        row[at.HEAD + at.POINT : at.HEAD + at.POINT + 3] = point
        if config.end is not None:
            body, point, end, _ = place_of(model, config.end, config.end_point, plan.robot)
            row[at.TAIL + at.BODY] = body
            row[at.TAIL + at.POINT : at.TAIL + at.POINT + 3] = point
        else:
            direction = rotate(pose.orientation, np.array(config.direction))
            end = start + plan.length * direction / np.linalg.norm(direction)
        lay(row, capacity, start, end, plan.length, plan.segments)


def lay(row: Floats, capacity: int, start: Floats, end: Floats, length: float, segments: int) -> None:
    """Lay a rope at rest from its head at `start` to its tail at `end`: straight, or sagging if it is longer."""
    distance = float(np.linalg.norm(end - start))
    if distance > 1.2 * length + 0.01:
        raise SkerryError(
            f"its ends are {distance:.3g} m apart, but it is {length:.3g} m long; make it longer or move them"
        )
    n = segments + 1
    nodes = _arc(end, start, max(length, distance), n)
    row[at.COUNT] = n
    row[at.NODES : at.NODES + 3 * n] = nodes.ravel()
    row[at.NODES + 3 * capacity : at.NODES + 3 * capacity + 3 * n] = 0.0
    row[at.NODES + 6 * capacity : at.NODES + 6 * capacity + segments] = length / segments
    row[at.NODES + 7 * capacity : at.NODES + 7 * capacity + segments] = 0.0


def _arc(begin: Floats, end: Floats, length: float, count: int) -> Floats:
    """Nodes at equal steps along a parabola of a given length from one point to another, (count, 3)."""
    line = end - begin
    distance = float(np.linalg.norm(line))
    share = np.linspace(0.0, 1.0, 50 * count)
    straight = begin + share[:, None] * line
    if length - distance < 1e-9:
        return straight[0] + np.linspace(0.0, 1.0, count)[:, None] * line
    # it sags downwards, square to the line; one that hangs straight down, to the side
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


Placed = tuple[int, Floats, Floats, Pose]


def place_of(model: Model, place: Any, point: Any, robot: str | None) -> Placed:
    """What a rope is tied to: the body, the point on it, where that is at the start, and the pose of the axes there."""
    if not isinstance(place, str):
        fixed = np.array(place, np.float64)
        return 0, fixed, fixed, Pose(fixed, np.array([0.0, 0.0, 0.0, 1.0]))
    owner, _, link = place.partition("/") if robot is None else (robot, "/", place)
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
