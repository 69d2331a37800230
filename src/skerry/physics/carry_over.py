"""Carry the state of one engine over to a rebuilt engine; bodies and laws are matched by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from skerry.parts.law import BLOCK
from skerry.physics.engine import Engine
from skerry.physics.mujoco import mujoco

# Numbers in the position of a joint, by MuJoCo's joint type.
WIDTHS = {"mjJNT_FREE": 7, "mjJNT_BALL": 4, "mjJNT_SLIDE": 1, "mjJNT_HINGE": 1}


def common_bodies(engine: Engine, former: Engine, trees: Collection[str]) -> dict[int, int]:
    """Return the bodies of the world and of these robots and objects, as former body number → new body number."""
    new, old = engine.model.compiled, former.model.compiled
    numbers = {new.body(body).name: body for body in range(new.nbody)}
    names = [old.body(body).name for body in range(old.nbody)]
    return {
        body: numbers[name]
        for body, (name, (tree, slash, _)) in enumerate((name, name.partition("/")) for name in names)
        if name in numbers and (tree in trees or not slash)
    }


def carry_over_state(engine: Engine, former: Engine, trees: Collection[str], bodies: Mapping[int, int]) -> None:
    """Copy time, motions and law states from a former engine.

    State that belongs to the world as a whole, such as its ropes, is not copied.

    Args:
        engine: the new engine, changed in place.
        former: the engine to copy from.
        trees: robots and objects that are the same in both engines.
        bodies: result of `common_bodies`.
    """
    new, old = engine.model.compiled, former.model.compiled
    engine.part("time")[0] = former.part("time")[0]
    for source, target in bodies.items():
        for new_joint, old_joint in zip(_joints(new, target), _joints(old, source), strict=True):
            width = WIDTHS[mujoco.mjtJoint(new.jnt_type[new_joint]).name]
            start, old_start = int(new.jnt_qposadr[new_joint]), int(old.jnt_qposadr[old_joint])
            engine.part("qpos")[0, start : start + width] = former.part("qpos")[0, old_start : old_start + width]
        start, count = int(new.body_dofadr[target]), int(new.body_dofnum[target])
        old_start = int(old.body_dofadr[source])
        for part in ("qvel", "qacc_warmstart"):
            engine.part(part)[0, start : start + count] = former.part(part)[0, old_start : old_start + count]
        mocap, old_mocap = int(new.body_mocapid[target]), int(old.body_mocapid[source])
        if mocap >= 0:
            for part, width in (("mocap_pos", 3), ("mocap_quat", 4)):
                moved = former.part(part)[0, width * old_mocap : width * (old_mocap + 1)]
                engine.part(part)[0, width * mocap : width * (mocap + 1)] = moved
    _carry_over_userdata(engine, former, trees, bodies)
    engine.refresh()
    motions, former_motions = engine.motions(0), former.motions(0)
    motions[1] = motions[0]
    for source, target in bodies.items():
        motions[:, target] = former_motions[:, source]


def _joints(compiled: Any, body: int) -> range:
    first = int(compiled.body_jntadr[body])
    return range(first, first + int(compiled.body_jntnum[body]))


def _carry_over_userdata(engine: Engine, former: Engine, trees: Collection[str], bodies: Mapping[int, int]) -> None:
    """Copy law states, blocks and the height of the water's surface."""
    new, old = engine.model, former.model
    userdata, old_userdata = engine.part("userdata")[0], former.part("userdata")[0]
    for key, (start, size) in new.law_slots.items():
        if key[0] in trees and key in old.law_slots:
            old_start, _ = old.law_slots[key]
            userdata[start : start + size] = old_userdata[old_start : old_start + size]
    for source, old_block in old.blocks.items():
        block = new.blocks.get(bodies.get(source, -1))
        if block is not None:
            userdata[block : block + BLOCK] = old_userdata[old_block : old_block + BLOCK]
    if new.water_level is not None and old.water_level is not None:
        userdata[new.water_level[1]] = old_userdata[old.water_level[1]]
