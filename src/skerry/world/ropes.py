"""The ropes of a scenario in the world: their plans, their faces, how rays see them, and what moving things does."""

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
from skerry.ropes.rope import Rope
from skerry.ropes.system import RopePlan, RopeSystem, place_of
from skerry.scenario.loading import LoadedScenario
from skerry.terrain.materials import find_material
from skerry.world.robot import BodyTree

ROPES = "ropes"


def rope_plans(loaded: LoadedScenario) -> dict[str, RopePlan]:
    """Every rope of a scenario by its name: those of robots are "robot/rope"."""
    plans: dict[str, RopePlan] = {}
    for name in loaded.scenario.robots:
        config = loaded.vehicles[name].config
        for part, rope in config.ropes.items():
            winch = None if rope.winch is None else config.actuators[rope.winch]
            assert winch is None or isinstance(winch, Winch)
            plans[f"{name}/{part}"] = RopePlan(rope, name, winch)
    plans |= {name: RopePlan(rope) for name, rope in loaded.scenario.ropes.items()}
    return plans


def build_ropes(
    net: RopeSystem, model: Model, engine: Engine, actuators: Mapping[str, Mapping[str, Actuator]]
) -> dict[str, Rope]:
    """The ropes as users hold them."""
    memory = model.laws[WORLD_OWNER][ROPES].memory
    found = {}
    for name, plan in net.plans.items():
        twin = net.twin_of(name)
        winch: WinchActuator | None = None
        if plan.robot is not None and plan.config.winch is not None:
            found_winch = actuators[plan.robot][plan.config.winch]
            assert isinstance(found_winch, WinchActuator)
            winch = found_winch
        found[name] = Rope(
            name,
            plan.config,
            memory[net.slice_of(name)],
            None if twin is None else memory[twin],
            plan.segment,
            partial(_full_length, plan, winch),
            partial(_locate, model, engine, plan.robot),
            partial(_where, engine),
        )
    return found


def ropes_for_rays(loaded: LoadedScenario, net: RopeSystem | None) -> list[RayRope]:
    """The ropes as rays see them: as thick as they are, with the ball that a buoy or hook is."""
    if net is None:
        return []
    own = loaded.scenario.materials
    found = []
    for name, plan in net.plans.items():
        config, end = plan.config, plan.config.buoy or plan.config.hook
        strands = [_strand(net, net.names.index(name), plan, 0.0 if end is None else end.radius)]
        if name in net.twins:
            strands.append(_strand(net, net.twins[name], plan, 0.0))
        of_end = find_material("buoy" if config.hook is None else "metal", own)
        found.append(RayRope(f"ropes/{name}", tuple(strands), find_material("rope", own, config.colour), of_end))
    return found


def _strand(net: RopeSystem, number: int, plan: RopePlan, ball_radius: float) -> Strand:
    place = int(net.places[number])
    ended = place + at.PHASE, at.CARRYING  # then the hook is gone
    return Strand(
        place + at.COUNT, place + at.NODES, net.capacities[number], 0.5 * plan.config.diameter, ball_radius, ended
    )


def _where(engine: Engine, end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where a tied end is now."""
    return Pose.of(engine.motion(0, int(end[at.BODY]))[:7]).transform(end[at.POINT : at.POINT + 3])


def _full_length(plan: RopePlan, winch: WinchActuator | None) -> float:
    return plan.length if winch is None else winch.length


def _locate(
    model: Model, engine: Engine, robot: str | None, place: str | Vector3, point: Vector3
) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """What a rope is to be tied to, as it is now; a robot's rope finds its own links first."""
    own = robot is not None and isinstance(place, str) and place in model.links[robot]
    body, on_body, _, _ = place_of(model, place, point, robot if own else None)
    return body, on_body, Pose.of(engine.motion(0, body)[:7]).transform(on_body)


def put(
    ropes: Mapping[str, Rope], tree: BodyTree, pose: Pose, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> None:
    """Put a robot or object somewhere else, and its ropes with it; if one is too short, all stays as it is."""
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
    """Let the ropes go with a tree of bodies that was put elsewhere by a change of pose."""
    roots = engine.model.compiled.body_rootid
    for rope in ropes.values():
        if not rope.exists:
            continue
        tied = [body for body in rope.bodies if body is not None]
        here = [body for body in tied if body > 0 and int(roots[body]) == root]
        if not here:
            continue
        if len(here) == len(tied):
            rope.move(change.transform)
        else:
            rope.lay_again()
