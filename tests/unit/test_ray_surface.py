"""Water surface for rays."""

import numpy as np
import pytest

from skerry.rays.surface import SurfacePatch, surface_height, surface_hit, surface_slope

FAR = 1e4


def wave(points):
    points = np.asarray(points, float)
    return 0.3 * np.sin(0.5 * points[..., 0]) + 0.1 * np.cos(0.7 * points[..., 1]) + 2.0


def test_a_ray_hits_level_water_at_its_plane():
    patch = SurfacePatch.level(1.0)
    assert surface_hit(patch.numbers, patch.heights, 0, 0, 5, 0.6, 0, -0.8, FAR) == pytest.approx(5.0)
    assert surface_hit(patch.numbers, patch.heights, 0, 0, -3, 0, 0, 1.0, FAR) == pytest.approx(4.0)
    assert surface_hit(patch.numbers, patch.heights, 0, 0, 5, 0.6, 0, 0.8, FAR) == np.inf
    assert surface_hit(patch.numbers, patch.heights, 0, 0, 5, 1.0, 0, 0.0, FAR) == np.inf
    assert surface_hit(patch.numbers, patch.heights, 0, 0, 5, 0.6, 0, -0.8, 4.9) == np.inf


@pytest.mark.parametrize("up", [1, -1])
def test_a_ray_hits_a_wavy_surface_on_the_waves(up):
    patch = SurfacePatch.around(wave, [3.0, -2.0, 0], 0.25)
    random = np.random.default_rng(1)
    for _ in range(200):
        direction = random.normal(size=3)
        direction[2] = -up * (0.2 + abs(direction[2]))
        direction /= np.linalg.norm(direction)
        origin = np.array([3.0, -2.0, 2.0 + up * 2.0])
        t = surface_hit(patch.numbers, patch.heights, *origin, *direction, FAR)
        point = origin + t * direction
        if np.abs(point[:2] - [3, -2]).max() < 10:
            assert point[2] == pytest.approx(float(wave(point)), abs=4e-3)  # the grid's sagitta is 0.3·0.25·0.25²/8 m
            before = origin + np.linspace(0.0, t - 0.05, 400)[:, None] * direction
            assert (np.sign(before[:, 2] - wave(before)) == up).all(), "it is the first meeting"


def test_heights_and_slopes_are_those_of_the_waves_and_blend_into_level_water():
    patch = SurfacePatch.around(wave, [0.0, 0.0, 0], 0.25)
    x, y = 1.3, 2.2
    assert surface_height(patch.numbers, patch.heights, x, y) == pytest.approx(float(wave([x, y, 0])), abs=3e-3)
    slope = surface_slope(patch.numbers, patch.heights, x, y)
    assert slope == pytest.approx((0.15 * np.cos(0.5 * x), -0.07 * np.sin(0.7 * y)), abs=5e-3)
    assert surface_height(patch.numbers, patch.heights, 1000.0, 0.0) == patch.numbers[0]
    edge = patch.heights[0]
    assert np.allclose(edge, patch.numbers[0], atol=1e-6)


def test_two_patches_of_the_same_water_agree_where_they_overlap():
    here = SurfacePatch.around(wave, [0.0, 0.0, 0], 0.25)
    there = SurfacePatch.around(wave, [1.1, 0.4, 0], 0.25)
    for x, y in [(0.3, 0.2), (2.7, -3.1)]:
        assert surface_height(here.numbers, here.heights, x, y) == pytest.approx(
            surface_height(there.numbers, there.heights, x, y), abs=1e-9
        )


def test_a_ray_from_a_trough_hits_the_crest_in_front_of_it():
    patch = SurfacePatch.around(wave, [0.0, 0.0, 0], 0.25)
    trough = -np.pi  # of sin(0.5 x)
    t = surface_hit(patch.numbers, patch.heights, trough, 0.0, 1.9, 1.0, 0.0, 0.0, FAR)
    assert wave([trough + t, 0, 0]) == pytest.approx(1.9, abs=4e-3)
