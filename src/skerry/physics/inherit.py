"""A world that was built anew goes on from where another was: what both have is matched by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skerry.parts.law import BLOCK
from skerry.physics.engine import Engine
from skerry.physics.model import NOBODY
from skerry.physics.mujoco import mujoco

WIDTHS = {"mjJNT_FREE": 7, "mjJNT_BALL": 4, "mjJNT_SLIDE": 1, "mjJNT_HINGE": 1}  # numbers of a joint's position


def common_bodies(engine: Engine, former: Engine) -> dict[int, int]:
    """The numbers of the bodies that both have: former → new."""
    new, old = engine.model.compiled, former.model.compiled
    numbers = {new.body(body).name: body for body in range(new.nbody)}
    names = [old.body(body).name for body in range(old.nbody)]
    return {body: numbers[name] for body, name in enumerate(names) if name in numbers}


def inherit(engine: Engine, former: Engine, bodies: Mapping[int, int]) -> None:
    """Take over the motion and the states of laws of what both worlds have; `bodies` is of `common_bodies`.

    What belongs to the world as a whole, such as its ropes, is left to its owner.
    """
    new, old = engine.model.compiled, former.model.compiled
    engine.part("time")[0] = former.part("time")[0]
    for source, target in bodies.items():
        for here, there in zip(_joints(new, target), _joints(old, source), strict=True):
            width = WIDTHS[mujoco.mjtJoint(new.jnt_type[here]).name]
            start, begin = int(new.jnt_qposadr[here]), int(old.jnt_qposadr[there])
            engine.part("qpos")[0, start : start + width] = former.part("qpos")[0, begin : begin + width]
        axes, count = int(new.body_dofadr[target]), int(new.body_dofnum[target])
        first = int(old.body_dofadr[source])
        for part in ("qvel", "qacc_warmstart"):
            engine.part(part)[0, axes : axes + count] = former.part(part)[0, first : first + count]
        here, there = int(new.body_mocapid[target]), int(old.body_mocapid[source])
        if here >= 0:
            for part, width in (("mocap_pos", 3), ("mocap_quat", 4)):
                moved = former.part(part)[0, width * there : width * (there + 1)]
                engine.part(part)[0, width * here : width * (here + 1)] = moved
    _inherit_userdata(engine, former, bodies)
    engine.refresh()
    motions, before = engine.motions(0), former.motions(0)
    motions[1] = motions[0]
    for source, target in bodies.items():
        motions[:, target] = before[:, source]


def _joints(compiled: Any, body: int) -> range:
    first = int(compiled.body_jntadr[body])
    return range(first, first + int(compiled.body_jntnum[body]))


def _inherit_userdata(engine: Engine, former: Engine, bodies: Mapping[int, int]) -> None:
    model, was = engine.model, former.model
    userdata, before = engine.part("userdata")[0], former.part("userdata")[0]
    for key, (start, size) in model.law_slots.items():
        if key[0] != NOBODY and key in was.law_slots:
            begin, _ = was.law_slots[key]
            userdata[start : start + size] = before[begin : begin + size]
    for source, begin in was.blocks.items():
        place = model.blocks.get(bodies.get(source, -1))
        if place is not None:
            userdata[place : place + BLOCK] = before[begin : begin + BLOCK]
    if model.water_level is not None and was.water_level is not None:
        userdata[model.water_level[1]] = before[was.water_level[1]]
