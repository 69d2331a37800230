"""Distance to the first surface along a direction that is fixed in the world."""

import numpy as np
import pytest

import skerry
from skerry.core.errors import SkerryError

PERFECT = {"noise_sigma": 0, "noise_proportional": 0}


def measured(z, bottom=None, objects=None, water=None, **settings):
    part = {"kind": "locked_direction_depth", "link": "base_link", "frequency": 20, **PERFECT, **settings}
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
        "water": water or {},
    }
    if bottom is not None:
        scenario["terrain"] = {"kind": "flat", "depth": bottom}
    with skerry.load(scenario) as world:
        return world.robots["sam"].sensors["below"].reading


def test_the_value_is_the_distance_to_the_ground_at_any_attitude():
    reading = measured(-5.0, bottom=20.0)
    assert reading.value == pytest.approx(15.0, abs=1e-5)
    assert reading.depth == pytest.approx(-15.0, abs=1e-5)
    assert not reading.using_water


def test_a_wall_ahead_is_as_far_as_it_is():
    wall = {"wall": {"geometry": {"kind": "box", "size": [1, 20, 20]}, "pose": {"position": [8.5, 0, -5]}}}
    reading = measured(-5.0, bottom=20.0, objects=wall, direction=[1, 0, 0])
    assert reading.value == pytest.approx(8.0, abs=1e-5)
    assert reading.depth == pytest.approx(0.0, abs=1e-5)
    assert not reading.using_water


def test_without_a_surface_within_range_the_distance_from_the_water_level_is_used():
    below = measured(-5.0, bottom=40.0)
    assert (below.value, below.depth, below.using_water) == (pytest.approx(5.0), pytest.approx(5.0), True)
    above = measured(3.0, direction=[1, 0, 0])
    assert (above.value, above.depth, above.using_water) == (pytest.approx(3.0), pytest.approx(-3.0), True)
    high = measured(50.0, bottom=20.0)
    assert (high.value, high.depth, high.using_water) == (pytest.approx(50.0), pytest.approx(-50.0), True)


def test_from_below_the_water_surface_is_not_an_obstacle():
    lid = {"lid": {"geometry": {"kind": "box", "size": [4, 4, 1]}, "pose": {"position": [0, 0, 2.5]}}}
    reading = measured(-5.0, objects=lid, direction=[0, 0, 1])
    assert (reading.value, reading.using_water) == (pytest.approx(7.0, abs=1e-5), False)


@pytest.mark.parametrize("bottom", [None, 8.0, 20.0])
def test_over_the_sea_the_value_is_the_distance_from_the_water_and_not_from_the_seabed(bottom):
    reading = measured(5.0, bottom=bottom)
    assert reading.value == pytest.approx(5.0, abs=1e-9)
    assert reading.depth == pytest.approx(-5.0, abs=1e-9)
    assert reading.using_water


@pytest.mark.parametrize(("direction", "distance"), [([1, 0, -1], 5 * 2**0.5), ([3, 4, -1], 5 * 26**0.5)])
def test_a_slanting_direction_gives_the_distance_and_not_the_height(direction, distance):
    assert measured(5.0, bottom=20.0, direction=direction).value == pytest.approx(distance, abs=1e-6)
    assert measured(-15.0, bottom=20.0, direction=direction).value == pytest.approx(distance, rel=1e-5)
    assert measured(-15.0, bottom=20.0, direction=direction).depth == pytest.approx(-5.0, rel=1e-5)


@pytest.mark.parametrize("direction", [[0, 0, -1], [1, 0, -1], [-1, 0.3, -0.4]])
def test_in_waves_the_ray_ends_at_the_surface_where_it_is(direction):
    """The point of the ray at the measured distance is at the surface, and none before it: 1e-4 m."""
    waves = {"surface": {"kind": "waves", "spectrum": "regular", "height": 1.0, "period": 3.5, "heading_deg": 90}}
    reading = measured(4.0, bottom=20.0, water=waves, direction=direction)
    with skerry.load({"water": waves}) as world:
        ray = np.array(direction) / np.linalg.norm(direction)
        along = np.linspace(0.0, reading.value, 500)[:, None]
        points = np.array([0.0, 0.0, 4.0]) + along * ray
        heights = points[:, 2] - world.sample_water(points).height
    assert reading.using_water
    assert heights[-1] == pytest.approx(0.0, abs=1e-4)
    assert (heights[:-1] > 0).all()


def test_an_object_in_the_way_is_the_first_surface():
    box = {"raft": {"geometry": {"kind": "box", "size": [4, 4, 1]}, "pose": {"position": [0, 0, 1.5]}}}
    reading = measured(12.0, bottom=20.0, objects=box)
    assert (reading.value, reading.using_water) == (pytest.approx(10.0, abs=1e-5), False)


@pytest.mark.parametrize(
    ("settings", "mean", "sigma"),
    [
        ({"noise_mean": 0.2, "noise_sigma": 0.1}, 0.2, 0.1),
        ({"noise_proportional": 0.02}, 0.0, 0.3),
        ({}, 0.0, (0.025**2 + 0.075**2) ** 0.5),
    ],
)
def test_noise_is_in_metres_and_its_proportional_part_grows_with_the_range(settings, mean, sigma):
    """At 15 m: mean μ, standard deviation √(σ² + (p r)²); 2000 draws know the latter to 1.6 %."""
    noise = PERFECT | settings if settings else {}  # otherwise the defaults
    part = {"kind": "locked_direction_depth", "link": "base_link", "frequency": 200, **noise}
    robot = {"vehicle": "torpedo", "anchored": True, "pose": {"position": [0, 0, -5]}}
    robots = {"auv": robot | {"overrides": {"sensors": {"below": part}}}}
    with skerry.load({"robots": robots, "terrain": {"kind": "flat", "depth": 20.0}}) as world:
        found = world.advance(10.0, record=["auv/below"])["auv/below"].value
    assert found.mean() == pytest.approx(15.0 + mean, abs=0.1 * sigma)
    assert found.std() == pytest.approx(sigma, rel=0.06)


def test_a_direction_of_length_0_is_an_error():
    with pytest.raises(SkerryError, match="`direction` must have a length above 0"):
        measured(-5.0, direction=[0, 0, 0])
