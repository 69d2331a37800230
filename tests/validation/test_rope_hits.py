"""Cameras, lidars and sonars measure position and thickness of ropes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from skerry.core.frames import Pose
from skerry.rays import Bundle

LINK = {"base_link": {"mass": 10, "inertia": [1, 1, 1]}}


@pytest.fixture
def look(load, vehicle):
    """Return a world with one sensor and a rope across its view, 4 m ahead."""

    def build(settings, z, diameter=0.2, **rope):
        across = {"start": [4, -6, z], "end": [4, 6, z], "length": 12, "diameter": diameter, **rope}
        robot = {
            "vehicle": vehicle(LINK),
            "pose": {"position": [0, 0, z]},
            "overrides": {"sensors": {"it": {"link": "base_link", "frequency": 10, **settings}}},
        }
        world = load({"gravity": 0.0, "robots": {"it": robot}, "ropes": {"line": across}})
        return world.robots["it"].sensors["it"].reading, world

    return build


def depth_of(x: float, radius: float, slope: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance at which rays of a slope hit a cylinder across, x m ahead; NaN for rays that miss it.

    (s − x)² + (slope s)² = r².
    """
    with np.errstate(invalid="ignore"):
        square = 1 + slope**2
        return (x - np.sqrt(x**2 - square * (x**2 - radius**2))) / square


@pytest.mark.parametrize("z", [20.0, -20.0])
def test_a_camera_sees_a_taut_rope_on_the_pixels_that_it_covers(look, z):
    """Rows up to fy · r/√(x² − r²) above and below the middle; depths to 32 bits, with the rope's name and label."""
    picture, _ = look({"kind": "camera", "width": 64, "height": 241, "vertical_fov_deg": 40}, z)
    rows = (np.arange(241) - picture.matrix[1, 2]) / picture.matrix[1, 1]
    expected = depth_of(4.0, 0.1, rows)
    covered = np.isfinite(expected)
    assert 10 < covered.sum() < 30
    rope = picture.body_names.index("ropes/line")
    assert ((picture.bodies == rope) == covered[:, None]).all()
    assert ((picture.labels == 4) == covered[:, None]).all()
    np.testing.assert_allclose(picture.depth[covered], np.tile(expected[covered, None], 64), rtol=1e-5)


def test_a_camera_shows_a_rope_round_and_in_its_colour(look):
    """Under a high sun the brightness decreases from the upper edge of the rope to the lower one."""
    camera = {"kind": "camera", "width": 16, "height": 241, "vertical_fov_deg": 20}
    picture, _ = look(camera, 20.0, colour=[0.9, 0.1, 0.1])
    shown = picture.image[picture.bodies[:, 8] == picture.body_names.index("ropes/line"), 8].astype(int)
    assert (shown[:, 0] > 4 * shown[:, 1:].max(axis=1)).all()
    assert len(shown) > 30 and (np.diff(shown[2:, 0]) < 0).all()


def test_a_rope_casts_its_shadow(load, vehicle):
    """On ground from which the line to the sun passes within its radius of its middle line."""
    camera = {"kind": "camera", "link": "base_link", "frequency": 10, "width": 256, "height": 256}
    above = {
        "vehicle": vehicle(LINK),
        "pose": {"position": [0, 0, 8], "pitch_deg": 90},
        "overrides": {"sensors": {"it": camera}},
    }
    line = {"start": [-3, 0, 6], "end": [3, 0, 6], "length": 6, "diameter": 0.2}
    found = []
    for ropes in ({}, {"line": line}):
        world = load(
            {
                "gravity": 0.0,
                "terrain": {"kind": "flat", "z": 5},
                "sky": {"sun_elevation_deg": 45, "sun_heading_deg": 30},
                "robots": {"it": above},
                "ropes": ropes,
            }
        )
        found.append(world.robots["it"].sensors["it"].reading)
    bare, roped = found
    sun = world.scenario.sky.build().sun_direction
    ground = roped.bodies == roped.body_names.index("terrain")
    assert (roped.depth[ground] == bare.depth[ground]).all()
    # the camera looks straight down, its picture's top towards x
    columns = (np.arange(256) - roped.matrix[0, 2]) / roped.matrix[0, 0]
    beside = np.broadcast_to(-3.0 * columns, (256, 256)) + sun[1] / sun[2]  # y where the line to the sun is at z = 6
    passes = np.abs(beside) * sun[2] / np.hypot(sun[1], sun[2])
    darker = roped.image.sum(axis=2) < 0.75 * bare.image.sum(axis=2)
    assert darker[ground & (passes < 0.1 - 0.02)].all()
    assert not darker[ground & (passes > 0.1 + 0.02)].any()
    assert (ground & (passes < 0.08)).sum() > 1000


def test_a_planar_lidar_measures_the_range_to_a_rope_that_hangs(load, vehicle):
    """x cos a − √(r² − x² sin² a), as of a circle; beams beside it meet nothing."""
    scanner = {"kind": "lidar", "link": "base_link", "frequency": 10, "pattern": "planar", "noise": 0.0, "dropout": 0.0}
    robot = {
        "vehicle": vehicle(LINK),
        "pose": {"position": [0, 0, 20]},
        "overrides": {"sensors": {"it": scanner}},
    }
    line = {"start": [4, 0, 22], "end": [4, 0, 18], "length": 4, "diameter": 0.16}
    scan = load({"gravity": 0.0, "robots": {"it": robot}, "ropes": {"line": line}}).robots["it"].sensors["it"].reading
    angles = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
    with np.errstate(invalid="ignore"):
        expected = 4 * np.cos(angles) - np.sqrt(0.08**2 - (4 * np.sin(angles)) ** 2)
    expected[np.cos(angles) < 0] = np.nan
    met = np.isfinite(expected)
    assert met.sum() >= 3
    assert (np.isfinite(scan.ranges) == met).all()
    np.testing.assert_allclose(scan.ranges[met], expected[met], rtol=1e-5)


def test_a_multibeam_measures_the_range_to_a_rope_below(load, vehicle):
    """(h − √(h² − (1 + t²)(h² − r²)))/(1 + t²) · √(1 + t²) at the tangent t of a beam; others meet nothing."""
    sonar = {"kind": "mbes", "link": "base_link", "frequency": 10, "speckle": False, "noise_level_db": None}
    robot = {
        "vehicle": vehicle(LINK),
        "pose": {"position": [0, 0, -20]},
        "overrides": {"sensors": {"it": sonar}},
    }
    line = {"start": [-2, 0, -26], "end": [2, 0, -26], "length": 4, "diameter": 0.3}
    world = load({"gravity": 0.0, "robots": {"it": robot}, "ropes": {"line": line}})
    points = world.robots["it"].sensors["it"].reading.cloud.points
    assert len(points) >= 3
    np.testing.assert_allclose(-points[:, 2], depth_of(6.0, 0.15, points[:, 1] / -points[:, 2]), rtol=1e-4)


def test_a_slack_rope_is_seen_where_its_nodes_are(load):
    """Hits on a rope that hangs in a curve are its radius away from the line through its nodes, to 32 bits."""
    line = {"start": [4, -3, 5], "end": [4, 3, 5], "length": 8, "diameter": 0.02, "density": 1300, "damping": 50}
    world = load({"ropes": {"line": line}})
    world.advance(4.0)
    points = world.ropes["line"].points
    assert points[:, 2].min() < 3.0
    middles = 0.5 * (points[1:] + points[:-1])
    here = Pose(np.array([0.0, 0.0, 4.0]), np.array([0.0, 0.0, 0.0, 1.0]))
    bundle = Bundle(middles - here.position)
    hits = world.ray_scene.view().cast(bundle, here, 50.0)
    places = here.position + hits.distance[:, None].astype(np.float64) * bundle.directions.T
    along = np.diff(points, axis=0)
    off = places - middles
    off -= along * ((off * along).sum(axis=1) / (along**2).sum(axis=1))[:, None]
    np.testing.assert_allclose(np.linalg.norm(off, axis=1), 0.01, rtol=0, atol=2e-6)
