"""Ropes of a world: their plans, their bindings to an engine, their geometry for rays, and moving them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from numpy.typing import NDArray

from skerry.actuators.winch import Winch, WinchActuator
from skerry.core.config import Vector3
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.parts.actuator import Actuator
from skerry.physics.engine import Engine
from skerry.physics.law_binding import WORLD_OWNER
from skerry.physics.model import Model
from skerry.rays import RayRope, Strand
from skerry.ropes import layout as at
from skerry.ropes.rope import Rope, RopeBinding
from skerry.ropes.system import RopePlan, RopeSystem, attachment_point
from skerry.scenario.loading import LoadedScenario
from skerry.terrain.materials import find_material
from skerry.world.robot import BodyTree

ROPES = "ropes"
"""Name of the law of all ropes in the physics model."""
TAUT_SHARE = 0.9
"""Distance of two tied origins from which on a rope counts as not slack, as a share of its length."""


def rope_plans(loaded: LoadedScenario) -> dict[str, RopePlan]:
    """Return the plans of all ropes of a scenario by name; those of robots are "robot/rope"."""
    plans: dict[str, RopePlan] = {}
    for name in loaded.scenario.robots:
        config = loaded.vehicles[name].config
        for part, rope in config.ropes.items():
            winch = None if rope.winch is None else config.actuators[rope.winch]
            assert winch is None or isinstance(winch, Winch)
            plans[f"{name}/{part}"] = RopePlan(rope, name, winch)
    plans |= {name: RopePlan(rope) for name, rope in loaded.scenario.ropes.items()}
    return plans


def hanging_mass(loaded: LoadedScenario, robot: str) -> float:
    """Return the mass of all that hangs on a robot by ropes at the start, kg.

    That is the ropes themselves with their buoys and hooks, and each robot or object at the other end that starts lower
    and above the sea level, on a rope that is not slack.
    """
    total = 0.0
    scenario = loaded.scenario
    for plan in rope_plans(loaded).values():
        config = plan.config
        starts = plan.robot or (config.start.partition("/")[0] if isinstance(config.start, str) else None)
        if starts != robot or not config.setup_on_start or config.pulley is not None:
            continue
        end = config.buoy or config.hook
        total += plan.length * config.linear_mass + (0.0 if end is None else end.mass)
        load = config.end.partition("/")[0] if plan.robot is None and isinstance(config.end, str) else robot
        if load == robot or load not in {**scenario.robots, **scenario.objects}:
            continue
        here = scenario.robots[robot].pose.build().position
        if load in scenario.robots:
            links = loaded.vehicles[load].robot.links.values()
            mass = sum(link.inertial.mass for link in links if link.inertial is not None)
            there = scenario.robots[load].pose.build().position
        else:
            thing = scenario.objects[load]
            mass = (thing.mass or 0.0) if thing.motion == "dynamic" else 0.0
            there = thing.pose.build().position
        if here[2] > there[2] > 0.0 and np.linalg.norm(here - there) > TAUT_SHARE * plan.length:
            total += mass
    return total


def bind_ropes(
    system: RopeSystem, model: Model, engine: Engine, actuators: Mapping[str, Mapping[str, Actuator]]
) -> dict[str, RopeBinding]:
    """Return the bindings of all ropes to an engine, by name."""
    memory = model.laws[WORLD_OWNER][ROPES].memory
    found = {}
    for name, plan in system.plans.items():
        spare = system.spare_slice(name)
        winch: WinchActuator | None = None
        if plan.robot is not None and plan.config.winch is not None:
            found_winch = actuators[plan.robot][plan.config.winch]
            assert isinstance(found_winch, WinchActuator)
            winch = found_winch
        found[name] = RopeBinding(
            plan.config,
            memory[system.state_slice(name)],
            None if spare is None else memory[spare],
            plan.segment_length,
            partial(_full_length, plan, winch),
            partial(_locate, model, engine, plan.robot),
            partial(_end_position, engine),
        )
    return found


def ropes_for_rays(loaded: LoadedScenario, system: RopeSystem | None) -> list[RayRope]:
    """Return the geometry of the ropes for rays: their thickness, and a ball for each buoy or hook."""
    if system is None:
        return []
    own = loaded.scenario.materials
    found = []
    for name, plan in system.plans.items():
        config, end = plan.config, plan.config.buoy or plan.config.hook
        strands = [_strand(system, system.names.index(name), plan, 0.0 if end is None else end.radius)]
        if name in system.spares:
            strands.append(_strand(system, system.spares[name], plan, 0.0))
        of_end = find_material("buoy" if config.hook is None else "metal", own)
        found.append(RayRope(f"ropes/{name}", tuple(strands), find_material("rope", own, config.colour), of_end))
    return found


def _strand(system: RopeSystem, number: int, plan: RopePlan, ball_radius: float) -> Strand:
    index = int(system.offsets[number])
    ended = index + at.PHASE, at.CARRYING  # in this phase the hook no longer exists
    return Strand(
        index + at.COUNT, index + at.NODES, system.capacities[number], 0.5 * plan.config.diameter, ball_radius, ended
    )


def _end_position(engine: Engine, end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the present position of a tied end in the world, (3,)."""
    return Pose.of(engine.motion(0, int(end[at.BODY]))[:7]).transform(end[at.POINT : at.POINT + 3])


def _full_length(plan: RopePlan, winch: WinchActuator | None) -> float:
    return plan.length if winch is None else winch.length


def _locate(
    model: Model, engine: Engine, robot: str | None, attachment: str | Vector3, point: Vector3
) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """Return the body that a rope is tied to, the point on that body, and the point in the world.

    A rope of a robot searches the links of that robot first.
    """
    own = robot is not None and isinstance(attachment, str) and attachment in model.links[robot]
    body, on_body, _, _ = attachment_point(model, attachment, point, robot if own else None)
    return body, on_body, Pose.of(engine.motion(0, body)[:7]).transform(on_body)


def move_tree(
    ropes: Mapping[str, Rope], tree: BodyTree, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> None:
    """Move a robot or object and its ropes to another pose; if a rope is too short, raise an error, change nothing."""
    engine = tree.engine
    state, motions = engine.states[tree.world], engine.motions(tree.world)
    before = state.copy(), motions.copy()
    change = pose @ tree.pose.inverse()
    engine.set_pose(tree.world, tree.root, pose, velocity)
    try:
        _move_ropes(ropes, engine, tree.root, change)
    except SkerryError:
        state[:], motions[:] = before
        raise


def _move_ropes(ropes: Mapping[str, Rope], engine: Engine, root: int, change: Pose) -> None:
    """Move the ropes that are tied to a tree of bodies after its pose has changed by `change`."""
    roots = engine.model.compiled.body_rootid
    for rope in ropes.values():
        if not rope.exists:
            continue
        tied = rope.bodies
        here = [body for body in tied if body > 0 and int(roots[body]) == root]
        if not here:
            continue
        if len(here) == len(tied):
            rope.move(change.transform)
        else:
            rope.lay_again()
