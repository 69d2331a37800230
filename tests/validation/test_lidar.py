"""Lidars: beams against data sheets, ranges and intensities against closed forms, and returns from water."""

from __future__ import annotations

import numpy as np
import pytest

from skerry.core.frames import quaternion_to_matrix, rpy_to_quaternion
from skerry.sensors.raycast.lidar_patterns import PATTERNS, Rosette, Spinning
from skerry.sensors.raycast.lidar_returns import FRESNEL

LINK = {"base_link": {"mass": 10, "inertia": [1, 1, 1]}}
CLEAN = {"noise": 0.0}


@pytest.fixture
def scan(load, vehicle):
    """Return a function that loads a world with one lidar and returns the lidar."""

    def load_lidar(settings, position=(0, 0, 30), seed=1, frequency=10, **scenario):
        sensor = {"kind": "lidar", "link": "base_link", "frequency": frequency, **settings}
        robot = {
            "vehicle": vehicle(LINK),
            "pose": {"position": list(position)},
            "overrides": {"sensors": {"lidar": sensor}},
        }
        world = load({"seed": seed, "gravity": 0.0, "robots": {"it": robot}, **scenario})
        return world.robots["it"].sensors["lidar"], world

    return load_lidar


def box(size, position, material="default", **pose):
    return {
        "geometry": {"kind": "box", "size": size},
        "pose": {"position": [float(value) for value in position], **pose},
        "material": material,
    }


def white(reflectance):
    return {"white": {"reflectance": reflectance}}


# ------------------------------------------------------------------------------------------------ data sheets

# Channels, lowest and highest elevation, columns, azimuth step and points per second at 10 Hz, as the data sheets
# round them: Velodyne's sheets say 0.2° (0.16° for the HDL-32E) and 300 000, 600 000, 695 000 and 2 400 000 points/s,
# counting a turn of 55.296 µs, 46.08 µs and 53.3 µs firings; Ouster's says 2 621 440 points/s for 2048 columns.
SPINNING = {
    "vlp_16": (16, -15.0, 15.0, 0.2, 300_000),
    "vlp_16_hires": (16, -10.0, 10.0, 0.2, 300_000),
    "vlp_32c": (32, -25.0, 15.0, 0.2, 600_000),
    "hdl_32e": (32, -30.67, 10.67, 0.16, 695_000),
    "vls_128": (128, -25.0, 15.0, 0.2, 2_400_000),
    "os1_128_1024": (128, -22.5, 22.5, 0.35156, 1_310_720),
    "os1_128_2048": (128, -22.5, 22.5, 0.17578, 2_621_440),
    "evolo_16": (16, -15.0, 15.0, 0.1, 576_000),
    "evolo_32": (32, -30.67, 10.67, 0.1, 1_152_000),
    "evolo_128": (128, -22.5, 22.5, 0.1, 4_608_000),
}
# Breadth, lowest and highest elevation, points per second, metres at 10 % reflectance
ROSETTES = {
    "mid_40": (38.4, -19.2, 19.2, 100_000, 90),
    "mid_70": (70.4, -35.2, 35.2, 100_000, 90),
    "avia": (70.4, -38.6, 38.6, 240_000, 190),
    "horizon": (81.7, -12.55, 12.55, 240_000, 90),
    "tele_15": (14.5, -8.1, 8.1, 240_000, 320),
    "hap": (120.0, -12.5, 12.5, 452_000, 150),
    "mid_360": (360.0, -7.0, 52.0, 200_000, 40),
}


def angles(directions):
    x, y, z = np.moveaxis(np.asarray(directions, np.float64), -1, 0)
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arcsin(z))


def test_every_pattern_has_a_row_of_its_data_sheet():
    assert set(SPINNING) | set(ROSETTES) | {"planar"} == set(PATTERNS)


@pytest.mark.parametrize("name", SPINNING)
def test_a_spinning_device_has_the_beams_of_its_data_sheet(scan, name):
    """Data sheets are rounded to 0.01° of elevation and to 5 % of the step and of the points per second."""
    channels, lowest, highest, step, rate = SPINNING[name]
    sensor, _ = scan({"pattern": name})
    bundle = sensor.sensor.bundle
    rows = bundle.directions.T.reshape(channels, -1, 3)
    azimuth, elevation = angles(rows)
    assert np.ptp(elevation, axis=1).max() < 1e-4
    assert np.all(np.diff(elevation[:, 0]) > 0)
    assert elevation[0, 0] == pytest.approx(lowest, abs=0.01)
    assert elevation[-1, 0] == pytest.approx(highest, abs=0.01)
    assert np.diff(np.unwrap(azimuth, period=360), axis=1) == pytest.approx(step, rel=0.05)
    assert 360 / rows.shape[1] == pytest.approx(step, rel=0.05)
    assert len(bundle) * 10 == pytest.approx(rate, rel=0.05)


def test_a_velodyne_that_turns_slower_has_finer_columns():
    """VLP-16 user manual, ch. 8: 0.1° at 5 Hz, 0.2° at 10 Hz, 0.4° at 20 Hz, which are its limits."""
    pattern = PATTERNS["vlp_16"]
    assert isinstance(pattern, Spinning)
    steps = [360 / pattern.columns_at(rate) for rate in (1, 5, 10, 20, 50)]
    assert steps == pytest.approx([0.1, 0.1, 0.2, 0.4, 0.4], rel=0.01)


def test_the_vlp_32c_is_finest_about_the_horizon():
    """User manual 63-9325: a third of a degree between −4° and 1.667°, and the single lasers at the ends."""
    pattern = PATTERNS["vlp_32c"]
    assert isinstance(pattern, Spinning)
    elevations = np.array(pattern.elevations_deg)
    inner = elevations[(elevations >= -4.0) & (elevations <= 1.667)]
    assert np.diff(inner) == pytest.approx(1 / 3, abs=1.1e-3)
    assert len(inner) == 18
    assert elevations[:6].tolist() == [-25.0, -15.639, -11.31, -8.843, -7.254, -6.148]
    assert elevations[-6:].tolist() == [2.333, 3.333, 4.667, 7.0, 10.333, 15.0]
    assert sorted(set(pattern.offsets_deg)) == [-4.2, -1.4, 1.4, 4.2]


def test_the_hdl_32e_steps_by_a_third_more_than_a_degree():
    """User manual, appendix: −30.67°, −29.33° … 9.33°, 10.67°."""
    pattern = PATTERNS["hdl_32e"]
    assert isinstance(pattern, Spinning)
    assert np.diff(pattern.elevations_deg) == pytest.approx(4 / 3)
    assert np.round(pattern.elevations_deg[:3], 2).tolist() == [-30.67, -29.33, -28.0]
    assert 0.0 in np.round(pattern.elevations_deg, 9)


def test_the_vls_128_is_finest_about_the_horizon():
    """Data sheet: 0.11° at the finest."""
    pattern = PATTERNS["vls_128"]
    assert isinstance(pattern, Spinning)
    elevations = np.array(pattern.elevations_deg)
    assert len(set(elevations)) == 128
    assert np.diff(elevations).min() == pytest.approx(0.11, abs=0.005)
    inner = elevations[(elevations > -6) & (elevations < 4.5)]
    assert np.diff(inner) == pytest.approx(0.11, abs=0.005)
    assert elevations[:4].tolist() == [-25.0, -19.582, -16.042, -13.565]
    assert elevations[-4:].tolist() == [8.43, 9.7, 11.75, 15.0]


@pytest.mark.parametrize("name", ROSETTES)
def test_a_rosette_has_the_field_of_view_and_the_points_of_its_data_sheet(name):
    """Within a second it comes within 1 % of the breadth and height of its field of view, and never beyond."""
    breadth, lowest, highest, rate, dark = ROSETTES[name]
    pattern = PATTERNS[name]
    assert isinstance(pattern, Rosette)
    assert pattern.limits.dark_range == dark
    scans = [pattern.directions(i / 10, 10.0).reshape(-1, 3) for i in range(10)]
    assert sum(len(scan) for scan in scans) == pytest.approx(rate, rel=1e-3)
    azimuth, elevation = angles(np.concatenate(scans))
    assert np.abs(azimuth).max() == pytest.approx(breadth / 2, rel=0.01)
    assert elevation.min() == pytest.approx(lowest, abs=0.01 * (highest - lowest))
    assert elevation.max() == pytest.approx(highest, abs=0.01 * (highest - lowest))
    assert np.abs(azimuth).max() <= breadth / 2 + 1e-9
    assert (elevation >= lowest - 1e-9).all() and (elevation <= highest + 1e-9).all()


@pytest.mark.parametrize("name", ROSETTES)
def test_a_rosette_fills_its_field_of_view_without_repeating_itself(name):
    """The number of visited cells, of about 2000 equal ones, grows with every scan to nearly all in two seconds."""
    breadth, lowest, highest, _, _ = ROSETTES[name]
    pattern = PATTERNS[name]
    assert isinstance(pattern, Rosette)
    across = max(8, round(np.sqrt(2000 * breadth / (highest - lowest))))
    upwards = 2000 // across

    def cells(scan):
        azimuth, elevation = angles(scan.reshape(-1, 3))
        column = np.clip((azimuth / breadth + 0.5) * across, 0, across - 1).astype(int)
        row = np.clip((elevation - lowest) / (highest - lowest) * upwards, 0, upwards - 1).astype(int)
        return set(zip(column.tolist(), row.tolist(), strict=True))

    inside = np.ones((across, upwards), bool)
    if pattern.shape == "ellipse":
        x = (np.arange(across) + 0.5) / across * 2 - 1
        y = (np.arange(upwards) + 0.5) / upwards * 2 - 1
        inside = np.hypot(x[:, None], y[None, :]) < 0.95
    wanted = set(zip(*(places.tolist() for places in np.nonzero(inside)), strict=True))
    met: set[tuple[int, int]] = set()
    shares = []
    for i in range(20):
        met |= cells(pattern.directions(i / 10, 10.0))
        shares.append(len(met & wanted) / len(wanted))
    assert shares[-1] > 0.99
    assert shares[-1] > shares[0]
    first, second = pattern.directions(0.0, 10.0), pattern.directions(0.1, 10.0)
    nearest = np.abs(first[0][:, None, :] - second[0][None, ::50, :]).max(axis=-1).min(axis=0)
    assert np.median(nearest) > 1e-5


def test_a_rosette_continues_where_the_last_scan_ended():
    pattern = PATTERNS["avia"]
    assert isinstance(pattern, Rosette)
    whole = pattern.directions(3.0, 5.0)
    halves = [pattern.directions(3.0, 10.0), pattern.directions(3.1, 10.0)]
    np.testing.assert_array_equal(whole, np.concatenate(halves, axis=1))


def test_a_rosettes_scan_depends_on_the_tick_only(scan):
    """A world that is read all the time and one that is read for the first time give the same scan."""
    wall = {"wall": box([1, 200, 200], [20.5, 0, 100])}
    watched, world = scan({"pattern": "mid_40"}, (0, 0, 100), objects=wall)
    before = watched.reading
    world.advance(0.2)
    fresh, other = scan({"pattern": "mid_40"}, (0, 0, 100), objects=wall)
    other.advance(0.2)
    assert watched.reading.points.tobytes() == fresh.reading.points.tobytes()
    assert not np.array_equal(before.points[:100], fresh.reading.points[:100])


# ------------------------------------------------------------------------------------------------ ranges

SHAPE = {"pattern": "vlp_16", **CLEAN, "dark_range": 100}


def test_ranges_to_a_wall_are_those_of_a_plane(scan):
    """r = 10 m / d_x, in float32, whose steps are 1 µm at 10 m; the scene's triangles are in float32 too."""
    sensor, _ = scan(SHAPE, objects={"wall": box([1, 60, 60], [10.5, 0, 30])})
    reading = sensor.reading
    directions = sensor.sensor.bundle.directions.T.reshape(16, -1, 3)
    seen = ~np.isnan(reading.ranges)
    assert seen.any()
    assert (directions[seen][:, 0] > 0).all()
    assert reading.ranges[seen] == pytest.approx(10.0 / directions[seen][:, 0], abs=1e-4)
    assert reading.points[:, 0] == pytest.approx(10.0, abs=1e-4)
    facing = np.abs(np.degrees(np.arctan2(directions[..., 1], directions[..., 0]))) < 70
    assert seen[facing].all()
    assert not seen[directions[..., 0] < 0].any()


def test_the_cloud_and_the_image_of_a_scan_are_the_same_returns(scan):
    sensor, _ = scan(SHAPE, objects={"wall": box([1, 60, 60], [10.5, 0, 30])})
    reading = sensor.reading
    rings, columns = np.nonzero(~np.isnan(reading.ranges))
    assert reading.points.dtype == reading.intensity.dtype == reading.ranges.dtype == np.float32
    assert reading.ring.dtype == np.uint16
    np.testing.assert_array_equal(reading.ring, rings)
    assert np.linalg.norm(reading.points, axis=1) == pytest.approx(reading.ranges[rings, columns], rel=1e-6)
    assert reading.offset == pytest.approx(columns / reading.ranges.shape[1] / 10, abs=1e-7)
    shown = sensor.sensor.latest_rays()
    assert shown.hit.sum() == len(reading.points)
    assert shown.ends[shown.hit] - [0, 0, 30] == pytest.approx(reading.points, abs=1e-4)


def test_ranges_to_a_sphere_are_those_of_its_closed_form(scan):
    """|r d − c| = R. The mesh lies within the sphere, at most R (1 − cos²(π/32)) = 0.0096 R below it."""
    radius, centre = 2.0, np.array([8.0, 3.0, 0.5])
    ball = {
        "geometry": {"kind": "sphere", "radius": radius},
        "pose": {"position": (centre + np.array([0, 0, 30])).tolist()},
    }
    sensor, _ = scan(SHAPE, objects={"ball": ball})
    points = sensor.reading.points.astype(np.float64)
    away = np.linalg.norm(points - centre, axis=1)
    assert len(points) > 500
    assert (away <= radius + 1e-4).all()
    assert (away >= radius * (1 - 0.0097)).all()
    directions = points / np.linalg.norm(points, axis=1, keepdims=True)
    along = directions @ centre
    inner = along**2 - centre @ centre + (radius / 2) ** 2 > 0  # rays that pass within half the radius of the centre
    analytic = along[inner] - np.sqrt(along[inner] ** 2 - centre @ centre + radius**2)
    assert np.linalg.norm(points[inner], axis=1) == pytest.approx(analytic, abs=0.0097 * radius / np.cos(np.pi / 6))


def test_ranges_to_a_turned_box_lie_on_its_faces(scan):
    """The largest |x| / half length of a point on the box, in the box's frame, is 1."""
    size, turn = np.array([4.0, 2.0, 3.0]), np.radians(30)
    sensor, _ = scan(SHAPE, objects={"crate": box(size.tolist(), [9, -2, 30], yaw_deg=30)})
    x, y, z = (sensor.reading.points - [9, -2, 0]).T.astype(np.float64)
    own = np.stack((np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x, z))
    assert own.shape[1] > 500
    assert np.abs(own / (size[:, None] / 2)).max(axis=0) == pytest.approx(1.0, abs=1e-4)


def test_a_rotated_sensor_measures_in_its_own_frame(scan):
    """A leaning wall with the normal n, 10 m off: in the world's axes p · n = 10 m, and cos θ = d · n."""
    normal = quaternion_to_matrix(rpy_to_quaternion(np.radians([15, 0, 25])))[:, 1]
    wall = {"wall": box([60, 1, 40], 10.5 * normal + np.array([0, 0, 30]), roll_deg=15, yaw_deg=25)}
    sensor, _ = scan({**SHAPE, "roll_deg": 20, "pitch_deg": -15, "yaw_deg": 70}, objects=wall)
    reading = sensor.reading
    turn = quaternion_to_matrix(rpy_to_quaternion(np.radians([20, -15, 70])))
    away = normal @ turn @ reading.points.T.astype(np.float64)
    assert len(reading.points) > 5000
    assert away == pytest.approx(10.0, abs=1e-4)
    assert reading.intensity == pytest.approx(255 * 0.3 * away / np.linalg.norm(reading.points, axis=1), rel=1e-4)


@pytest.mark.parametrize("pattern", ["vlp_16", "mid_70", "planar"])
def test_a_restored_world_repeats_the_scan_and_continues_with_the_next(scan, pattern):
    wall = {"wall": box([1, 60, 60], [10.5, 0, 30])}
    sensor, world = scan({"pattern": pattern, "dark_range": 100}, objects=wall)
    world.advance(0.1)
    now = sensor.reading
    middle = world.snapshot()
    world.advance(0.1)
    after = sensor.reading
    other, another = scan({"pattern": pattern, "dark_range": 100}, objects=wall)
    another.restore(bytes(middle))
    assert len(now.points)
    assert other.reading.points.tobytes() == now.points.tobytes()
    another.advance(0.1)
    assert other.reading.points.tobytes() == after.points.tobytes() != now.points.tobytes()


def test_a_body_nearer_than_the_minimum_range_hides_bodies_behind_it(scan):
    things = {"near": box([0.1, 60, 60], [0.35, 0, 30]), "far": box([1, 60, 60], [10.5, 0, 30])}
    sensor, _ = scan({**SHAPE, "min_range": 5.0}, objects=things)
    assert (np.linalg.norm(sensor.reading.points, axis=1) >= 5).all()
    straight = np.abs(sensor.sensor.bundle.directions[1:]).max(axis=0) < 0.4
    assert np.isnan(sensor.reading.ranges.ravel()[straight & (sensor.sensor.bundle.directions[0] > 0)]).all()


# ------------------------------------------------------------------------------------------------ intensity and reach


def test_intensity_is_reflectance_times_the_cosine_of_incidence_whatever_the_range(scan):
    """I = 255 ρ cos θ; on a wall across x, cos θ = d_x."""
    for place in (5.0, 15.0):
        wall = {"wall": box([1, 60, 60], [place + 0.5, 0, 30], "white")}
        sensor, _ = scan(SHAPE, objects=wall, materials=white(0.8))
        reading = sensor.reading
        cosine = reading.points[:, 0] / np.linalg.norm(reading.points, axis=1)
        assert reading.intensity == pytest.approx(255 * 0.8 * cosine, rel=1e-4)


@pytest.mark.parametrize(("reflectance", "greatest"), [(0.1, 40.0), (0.8, 40.0 * 8**0.5), (1.0, 120.0)])
def test_the_range_of_a_target_depends_on_its_reflectance(scan, reflectance, greatest):
    """OS1 data sheet: 40 m at 10 %, 120 m at 80 %. r⁻² scales 40 m to 113 m at 80 %; 120 m is the limit for all."""
    for distance, expected in ((0.99 * greatest, True), (1.01 * greatest, False)):
        wall = {"wall": box([1, 20, 20], [distance + 0.5, 0, 30], "white")}
        settings = {"pattern": "os1_128_2048", **CLEAN, "channels": 1, "lowest_deg": 0, "highest_deg": 0}
        sensor, _ = scan(settings, objects=wall, materials=white(reflectance))
        straight = sensor.sensor.bundle.directions[0] > 1 - 1e-6
        assert np.isfinite(sensor.reading.ranges.ravel()[straight]).all() == expected
        assert len(sensor.reading.points) > 0 or not expected


# ------------------------------------------------------------------------------------------------ water


def slope_variance(wind):
    return 0.003 + 0.00512 * wind


def water_strength(cosine, wind):
    """F / (4 s² cos⁵θ) exp(−tan²θ / s²), with s² of Cox and Munk (1954)."""
    s2 = slope_variance(wind)
    return FRESNEL / (4 * s2 * cosine**5) * np.exp(-(1 / cosine**2 - 1) / s2)


DOWNWARDS = {"pattern": "os1_128_2048", **CLEAN, "lowest_deg": -90, "highest_deg": -45, "channels": 91, "columns": 24}


@pytest.mark.parametrize("wind", [0.0, 3.0, 10.0])
def test_water_returns_are_weak_and_only_from_straight_below(scan, wind):
    """Ranges are those of the plane, intensities the closed form's, and none is met beyond where it falls below
    the threshold 0.1 r² / R²."""
    height = 6.0
    sensor, _ = scan({**DOWNWARDS, "wind_speed": wind}, (0, 0, height))
    reading = sensor.reading
    assert reading.points[:, 2] == pytest.approx(-height, abs=1e-5)
    cosine = height / np.linalg.norm(reading.points, axis=1)
    assert reading.intensity == pytest.approx(255 * water_strength(cosine, wind), rel=2e-3, abs=1e-3)
    all_cosines = -sensor.sensor.bundle.directions[2].astype(np.float64)
    ranges = height / all_cosines
    margin = water_strength(all_cosines, wind) / (0.1 * ranges**2 / 40**2)
    seen = np.isfinite(reading.ranges.ravel())
    assert seen[margin > 1.01].all()
    assert not seen[margin < 0.99].any()
    assert 0 < seen.mean() < 0.7
    assert np.degrees(np.arccos(cosine.min())) < 40


def test_wind_spreads_and_weakens_the_returns_of_water():
    cosine = np.cos(np.radians([0.0, 25.0]))
    calm, windy = water_strength(cosine, 2.0), water_strength(cosine, 12.0)
    assert calm[0] > windy[0]
    assert calm[1] < windy[1]


def test_a_lidar_over_deep_or_shallow_water_sees_no_bottom(scan):
    for terrain in ({"kind": "flat", "depth": 0.5}, {"kind": "flat", "depth": 30}):
        sensor, _ = scan({**DOWNWARDS, "dark_range": 5000.0}, (0, 0, 4), terrain=terrain)
        assert sensor.reading.points[:, 2] == pytest.approx(-4.0, abs=1e-5)


def test_bodies_below_the_surface_give_no_return(scan):
    """Only the dry part of a wall that stands half in the water is visible."""
    wall = {"wall": box([1, 20, 8], [10.5, 0, 0], "white")}
    settings = {"pattern": "os1_128_2048", **CLEAN, "dark_range": 200.0}
    sensor, _ = scan(settings, (0, 0, 3), objects=wall, materials=white(1.0))
    heights = sensor.reading.points[:, 2] + 3
    assert heights.min() >= -1e-4
    assert heights.min() < 0.1
    assert heights.max() > 3.5


WAVES = {"surface": {"kind": "waves", "height": 0.8, "period": 5, "heading_deg": 30, "components": 16}}


def test_returns_from_waves_lie_on_their_surface(scan):
    """The surface is bilinear over half a metre: for waves of height H and length λ this is wrong by up to
    H/2 (2π/λ)² · 0.25 m² / 8 in each direction, 1 cm for components of a length of 3 m."""
    sensor, world = scan({**DOWNWARDS, "columns": 200}, (3, -2, 6), water=WAVES, gravity=9.81)
    points = sensor.reading.points + np.array([3, -2, 6])
    surface = world.sample_water(points).height
    assert len(points) > 1000
    assert np.ptp(surface) > 0.05
    assert points[:, 2] == pytest.approx(surface, abs=0.01)


def test_bodies_below_waves_give_no_return(scan):
    wall = {"wall": box([1, 40, 8], [10.5, 0, 0], "white")}
    settings = {"pattern": "os1_128_2048", **CLEAN, "dark_range": 200.0}
    sensor, world = scan(settings, (0, 0, 3), objects=wall, materials=white(1.0), water=WAVES, gravity=9.81)
    points = sensor.reading.points + np.array([0, 0, 3])
    wet = points[(points[:, 0] > 9.9) & (points[:, 0] < 10.1)]
    above = wet[:, 2] - world.sample_water(wet).height
    assert len(wet) > 1000
    assert above.min() > -0.02
    assert above.min() < 0.1


def test_a_lidar_under_water_has_no_reading(scan):
    wall = {"wall": box([1, 20, 8], [5.5, 0, 0])}
    assert scan({"pattern": "vlp_16"}, (0, 0, -0.1), objects=wall)[0].reading is None
    assert scan({"pattern": "planar"}, (0, 0, -0.1), objects=wall)[0].reading is None
    assert scan({"pattern": "vlp_16"}, (0, 0, 0.1), objects=wall)[0].reading is not None


# ------------------------------------------------------------------------------------------------ noise


def wall_residuals(scan, seed, **settings):
    wall = {"wall": box([1, 60, 60], [10.5, 0, 30])}
    sensor, _ = scan({"pattern": "vlp_16", "dark_range": 100, **settings}, seed=seed, objects=wall)
    reading = sensor.reading
    expected = 10.0 / sensor.sensor.bundle.directions[0].reshape(reading.ranges.shape)
    seen = ~np.isnan(reading.ranges)
    return (reading.ranges - expected)[seen], reading


def test_range_noise_has_the_configured_deviation_and_no_mean(scan):
    """n returns: the mean's deviation is σ/√n, that of the standard deviation σ/√(2n); five of each are allowed."""
    residuals, _ = wall_residuals(scan, 1, noise=0.05)
    count = len(residuals)
    assert count > 5000
    assert abs(residuals.mean()) < 5 * 0.05 / np.sqrt(count)
    assert residuals.std() == pytest.approx(0.05, abs=5 * 0.05 / np.sqrt(2 * count))


def test_noise_is_the_devices_own_by_default(scan):
    residuals, _ = wall_residuals(scan, 1)
    assert residuals.std() == pytest.approx(0.03, rel=0.05)


def test_the_same_seed_gives_the_same_scan_and_another_seed_another(scan):
    scans = [wall_residuals(scan, seed, dropout=0.2)[1] for seed in (1, 1, 2)]
    assert scans[0].points.tobytes() == scans[1].points.tobytes()
    assert scans[0].ranges.tobytes() == scans[1].ranges.tobytes()
    assert scans[0].points.tobytes() != scans[2].points.tobytes()


def test_dropout_loses_its_share_of_the_returns(scan):
    """Binomial: five deviations √(p (1 − p) / n) are allowed."""
    _, whole = wall_residuals(scan, 1, noise=0.0)
    _, part = wall_residuals(scan, 1, noise=0.0, dropout=0.3)
    count = len(whole.points)
    assert len(part.points) / count == pytest.approx(0.7, abs=5 * np.sqrt(0.21 / count))
    assert len(part.points) == np.isfinite(part.ranges).sum()
    assert len(wall_residuals(scan, 1, dropout=1.0)[1].points) == 0


# ------------------------------------------------------------------------------------------------ planar


def test_a_planar_scanner_gives_a_row_of_ranges_with_infinity_for_misses(scan):
    sensor, _ = scan({"pattern": "planar", **CLEAN, "dark_range": 100}, objects={"wall": box([1, 40, 4], [5.5, 0, 30])})
    reading = sensor.reading
    angle = reading.angle_min + reading.angle_increment * np.arange(len(reading.ranges))
    assert len(angle) == 1081
    assert np.degrees([angle[0], angle[-1], reading.angle_increment]) == pytest.approx([-135, 135, 0.25])
    seen = np.isfinite(reading.ranges)
    np.testing.assert_array_equal(seen, np.abs(angle) < np.arctan2(20, 5))
    assert reading.ranges[seen] == pytest.approx(5 / np.cos(angle[seen]), abs=1e-4)
    assert np.isposinf(reading.ranges[~seen]).all()
    assert (reading.intensity[~seen] == 0).all()
    assert reading.intensity[seen] == pytest.approx(255 * 0.3 * np.cos(angle[seen]), rel=1e-4)
    assert len(reading.points) == seen.sum()
    assert (reading.range_min, reading.range_max) == (0.1, 30.0)
    assert reading.time_increment == pytest.approx(0.025 * 0.25 / 360)


def test_a_planar_scanner_may_scan_a_full_turn(scan):
    """A hundred rays, 3.6° apart, as on the Husky rover."""
    room = {
        f"wall{i}": box([1 if i < 2 else 12, 12 if i < 2 else 1, 4], place)
        for i, place in enumerate(([6, 0, 30], [-6, 0, 30], [0, 6, 30], [0, -6, 30]))
    }
    settings = {"pattern": "planar", "fov_deg": 360, "columns": 100, "max_range": 12, "dark_range": 40, **CLEAN}
    sensor, _ = scan(settings, objects=room)
    reading = sensor.reading
    assert np.degrees(reading.angle_increment) == pytest.approx(3.6)
    assert np.degrees(reading.angle_min) == pytest.approx(-180)
    angle = reading.angle_min + reading.angle_increment * np.arange(100)
    expected = 5.5 / np.maximum(np.abs(np.cos(angle)), np.abs(np.sin(angle)))
    assert reading.ranges == pytest.approx(expected, abs=1e-4)
