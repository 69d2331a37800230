"""Contact filter: MuJoCo finds the same contacts with and without it, and it rejects most distant pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

import skerry
from skerry.physics import contact_filter

HILLS = {"kind": "hills", "amplitude": 3.0, "wavelength": 8.0, "octaves": 2, "seed": 3}
GROUNDS = {
    "hills": {"kind": "heightfield", "size": [30, 20], "resolution": 0.1, "level": 0, "function": HILLS},
    "coarse hills": {"kind": "heightfield", "size": [30, 20], "resolution": 2.5, "level": 0, "function": HILLS},
    "plane": {"kind": "flat", "z": 0},
}
THINGS: dict[str, Any] = {
    "ball": {"kind": "sphere", "radius": 0.4},
    "crate": {"kind": "box", "size": [1.2, 0.6, 0.4]},
    "drum": {"kind": "cylinder", "radius": 0.3, "length": 2.0},
}
PIER = {"geometry": {"kind": "box", "size": [1, 12, 0.4]}, "pose": {"position": [3, 0, 2.5], "yaw_deg": 30}}


@pytest.fixture
def unfiltered() -> Iterator[None]:
    """Restore the filter after a test that removed it."""
    yield
    mujoco.set_mjcb_contactfilter(None)
    contact_filter.install_filter()


@pytest.mark.parametrize("ground", GROUNDS)
def test_the_contacts_are_the_same_with_the_filter_as_without(ground: str, unfiltered: None) -> None:
    """600 random poses of three bodies, in and above the ground, beyond its edge, at and away from a pier."""
    objects = {name: {"geometry": shape, "motion": "dynamic", "mass": 10} for name, shape in THINGS.items()}
    with skerry.load({"terrain": GROUNDS[ground], "objects": {**objects, "pier": PIER}}) as world:
        compiled = world._engine.model.compiled
        data, random = mujoco.MjData(compiled), np.random.default_rng(1)
        assert mujoco.get_mjcb_contactfilter() is contact_filter._filter
        touched = 0
        for _ in range(600):
            for joint in range(3):
                data.qpos[7 * joint : 7 * joint + 3] = random.uniform([-16, -11, -4], [16, 11, 6])
                data.qpos[7 * joint + 3 : 7 * joint + 7] = random.normal(size=4)
            mujoco.mj_kinematics(compiled, data)
            found = []
            for function in (contact_filter._filter, None):
                mujoco.set_mjcb_contactfilter(function)
                mujoco.mj_collision(compiled, data)
                found.append((data.contact.geom.tolist(), data.contact.pos.tolist(), data.contact.dist.tolist()))
            assert found[0] == found[1]
            touched += len(found[0][0]) > 0
        assert 100 < touched < 600


def test_most_pairs_far_above_the_ground_or_beside_a_body_are_rejected(unfiltered: None) -> None:
    """The filter itself is called; 0 means that MuJoCo tests the pair."""
    objects = {name: {"geometry": shape, "motion": "dynamic", "mass": 10} for name, shape in THINGS.items()}
    with skerry.load({"terrain": GROUNDS["hills"], "objects": {**objects, "pier": PIER}}) as world:
        compiled = world._engine.model.compiled
        data = mujoco.MjData(compiled)
        geoms = {compiled.geom(number).name.partition("/")[0]: number for number in range(compiled.ngeom)}

        def is_rejected(first: str, second: str, place: tuple[float, float, float]) -> bool:
            data.qpos[:3] = place
            mujoco.mj_kinematics(compiled, data)
            pair = sorted((geoms[first], geoms[second]))
            return bool(contact_filter._filter(compiled._address, data._address, *pair))

        assert is_rejected("ball", "terrain", (0, 0, 4))
        assert not is_rejected("ball", "terrain", (0, 0, -3))
        assert is_rejected("ball", "pier", (3, 0, 1.5))
        assert is_rejected("ball", "pier", (5.5, 3.5, 2.5))
        assert not is_rejected("ball", "pier", (3, 0, 2.0))


def test_models_of_other_libraries_are_filtered_by_types_only(unfiltered: None) -> None:
    """The rule is MuJoCo's own: (contype₁ & conaffinity₂) or (contype₂ & conaffinity₁)."""
    contact_filter.install_filter()
    for bits, touching in (("1 1 1 1", 1), ("1 0 1 0", 0), ("1 0 0 1", 1), ("2 2 1 1", 0)):
        kind_1, affinity_1, kind_2, affinity_2 = bits.split()
        model = mujoco.MjModel.from_xml_string(
            f'<mujoco><worldbody><geom size="1" contype="{kind_1}" conaffinity="{affinity_1}"/><body pos="0 0 1.5">'
            f'<freejoint/><geom size="1" contype="{kind_2}" conaffinity="{affinity_2}"/></body></worldbody></mujoco>'
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        assert data.ncon == touching
