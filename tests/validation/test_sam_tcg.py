"""SAM with the weight that slides across: it rolls by the closed form, and is unchanged otherwise."""

import numpy as np
import pytest

import skerry
from skerry.core.frames import quaternion_to_rpy

FITTED = {"attachments": ["tcg.urdf"], "actuators": {"tcg": {"kind": "prismatic", "link": "tcg_link", "armature": 10}}}


def load(**overrides):
    sam = {"vehicle": "sam", "pose": {"position": [0, 0, -3]}, "overrides": overrides}
    return skerry.load({"reference": {"latitude_deg": 58.8, "longitude_deg": 17.6}, "robots": {"sam": sam}})


@pytest.mark.parametrize("percent", [0.0, 30.0, 100.0])
def test_the_weight_rolls_sam_as_the_closed_form_says(percent):
    """At rest the centre of gravity hangs below that of buoyancy: tan φ = −Σ m y/Σ m (−z), port side down where the
    weight is to port. The masses and heights are those of the link table: hull 12.012 kg at −15 mm, piston 0.3 kg and
    0.128 kg of water at −12.5 mm; batteries and weight at 0.

    0.05°: the slide gives way by 0.1 % of its travel, and SAM still swings by a hundredth.
    """
    with load(**FITTED) as world:
        sam = world.robots["sam"]
        sam.actuators["tcg"].command(percent=percent)
        world.advance(120.0)
        moment = 2.0 * 0.02 * (percent - 50.0) / 50.0
        below = 12.012 * 0.015 + (0.3 + 0.000125 * 1025.0) * 0.0125
        roll, pitch, _ = np.degrees(quaternion_to_rpy(sam.pose.orientation))
        assert roll == pytest.approx(-np.degrees(np.arctan2(moment, below)), abs=0.05)
        assert sam.actuators["tcg"].feedback == pytest.approx(percent, abs=0.2)
        assert abs(pitch) < 0.05  # the weight is below the centre of buoyancy


def test_sam_carries_it_only_where_it_is_fitted():
    with load() as world:
        assert list(world.robots["sam"].actuators) == [
            "thruster1",
            "thruster2",
            "thrust_vector_yaw",
            "thrust_vector_pitch",
            "vbs",
            "lcg",
        ]


def test_a_restored_world_continues_with_the_weight_at_its_position():
    with load(**FITTED) as world:
        sam = world.robots["sam"]
        sam.actuators["tcg"].command(percent=90.0)
        world.advance(1.0)
        before = world.snapshot()
        world.advance(2.0)
        pose = sam.pose
        world.restore(before)
        world.advance(2.0)
        assert np.array_equal(sam.pose.orientation, pose.orientation)
        assert np.array_equal(sam.pose.position, pose.position)
