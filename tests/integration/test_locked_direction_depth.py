"""Height above the first hit along a direction that is fixed in the world."""

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError


def height(z, bottom=None, objects=None, **settings):
    part = {"kind": "locked_direction_depth", "link": "base_link", "frequency": 20, "noise_sigma": 0, **settings}
    scenario = {
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "robots": {
            "sam": {
                "vehicle": "sam",
                "anchored": True,
                "pose": {"position": [0, 0, z], "roll_deg": 40, "pitch_deg": 20, "yaw_deg": 70},
                "overrides": {"sensors": {"below": part}},
            }
        },
        "objects": objects or {},
    }
    if bottom is not None:
        scenario["terrain"] = {"kind": "flat", "depth": bottom}
    with skerry.load(scenario) as world:
        return world.robots["sam"].sensors["below"].reading


def test_the_value_is_the_height_above_the_ground_at_any_attitude():
    reading = height(-5.0, bottom=20.0)
    assert reading.value == pytest.approx(15.0, abs=1e-5)
    assert not reading.using_water


def test_without_a_hit_within_range_the_water_is_used():
    assert height(-5.0, bottom=40.0).using_water
    assert height(-5.0, bottom=40.0).value == pytest.approx(-5.0)
    assert height(3.0).value == pytest.approx(3.0)


def test_an_object_in_the_way_is_the_first_thing_hit():
    box = {"raft": {"geometry": {"kind": "box", "size": [4, 4, 1]}, "pose": {"position": [0, 0, 1.5]}}}
    assert height(12.0, bottom=20.0, objects=box).value == pytest.approx(10.0, abs=1e-5)


def test_a_slanting_direction_gives_the_height_not_the_distance():
    assert height(-5.0, bottom=20.0, direction=[1, 0, -1]).value == pytest.approx(15.0, abs=1e-5)


def test_noise_scales_with_the_value_and_repeats():
    first, second = height(-5.0, bottom=20.0, noise_sigma=0.1), height(-5.0, bottom=20.0, noise_sigma=0.1)
    assert first.value == second.value != 15.0
    assert height(-5.0, bottom=20.0, noise_mean=0.2).value == pytest.approx(18.0, abs=1e-4)
    assert np.isfinite(first.value)


def test_a_direction_of_length_0_is_an_error():
    with pytest.raises(SkerryError, match="`direction` must have a length above 0"):
        height(-5.0, direction=[0, 0, 0])
