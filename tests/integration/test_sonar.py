"""Sonars: directions of rays, accumulation of echoes, and refused settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError

import skerry
from skerry.core.errors import SkerryError
from skerry.core.noise import Noise
from skerry.parts.sensor import SingleSensorView
from skerry.sensors.altimeter import Altimeter
from skerry.sensors.fls import Fls
from skerry.sensors.mbes import Mbes
from skerry.sensors.msis import Msis
from skerry.sensors.raycast.echoes import accumulate_echoes, exponential, to_byte
from skerry.sensors.raycast.sonar import SonarSensor, across_track_fan, forward_fan
from skerry.sensors.sidescan import ANGLE_CODES, Sidescan

MOUNT: dict[str, Any] = {"link": "base_link", "frequency": 10}
KINDS = (Altimeter, Fls, Mbes, Msis, Sidescan)


def directions(config: Any) -> NDArray[np.float64]:
    """Return the directions of all rays, (n, 3)."""
    sensor: SonarSensor[Any] = config.build()
    return sensor.bundle.directions.T.astype(np.float64)


def down_deg(direction: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.degrees(np.arcsin(-direction[..., 2]))


# ------------------------------------------------------------------------------------------------ directions


def test_an_mbes_points_down_from_port_to_starboard() -> None:
    rays = directions(Mbes(**MOUNT, beam_breadth_deg=90, rays_per_beam=91))
    half = np.sqrt(0.5)
    np.testing.assert_allclose(rays[0], [0, half, -half], atol=1e-6)
    np.testing.assert_allclose(rays[45], [0, 0, -1], atol=1e-6)
    np.testing.assert_allclose(rays[-1], [0, -half, -half], atol=1e-6)
    np.testing.assert_allclose(np.degrees(np.arccos(np.sum(rays[1:] * rays[:-1], axis=1))), 1.0, atol=0.02)


def test_a_sidescan_points_to_port_then_to_starboard_from_its_tilt_down() -> None:
    rays = directions(Sidescan(**MOUNT, tilt_deg=30, beam_breadth_deg=50, rays_per_beam=51))
    port, starboard = rays[:51], rays[51:]
    assert (port[:, 1] > 0).all()
    assert (starboard[:, 1] < 0).all()
    np.testing.assert_allclose(down_deg(port), 30 + np.arange(51), atol=1e-4)
    np.testing.assert_allclose(down_deg(starboard), 80 - np.arange(51), atol=1e-4)
    np.testing.assert_allclose(rays[:, 0], 0, atol=1e-7)


def test_an_fls_points_ahead_from_left_to_right_and_from_its_upper_edge_down() -> None:
    config = Fls(**MOUNT, beams=61, fov_deg=60, rays_per_beam=21, beam_breadth_deg=20, tilt_deg=5)
    rays = directions(config).reshape(61, 21, 3)
    left = np.degrees(np.arctan2(rays[..., 1], rays[..., 0]))
    np.testing.assert_allclose(left, np.repeat(30 - np.arange(61)[:, None], 21, axis=1), atol=1e-4)
    np.testing.assert_allclose(down_deg(rays), np.repeat(5 + np.arange(21)[None], 61, axis=0), atol=1e-4)


def test_an_altimeter_fills_its_cone_exactly() -> None:
    rays = directions(Altimeter(**MOUNT, beam_breadth_deg=30, beam_breadth_3db_deg=20, rays_per_beam=200))
    off = np.degrees(np.arccos(np.clip(-rays[:, 2], -1, 1)))
    assert off[0] == pytest.approx(0)
    assert off.max() == pytest.approx(10, abs=1e-3)
    np.testing.assert_allclose(rays[:, :2].mean(axis=0), 0, atol=2e-3)
    assert len(directions(Altimeter(**MOUNT, rays_per_beam=1))) == 1


@pytest.mark.parametrize("kind", [Fls, Mbes, Msis, Sidescan])
def test_tangents_lead_from_each_ray_to_the_next(kind: Any) -> None:
    sensor = kind(**MOUNT, rays_per_beam=200).build()
    along = np.diff(sensor.bundle.directions[:, :200].astype(np.float64), axis=1)
    along /= np.linalg.norm(along, axis=0)
    assert (np.sum(along * sensor._tangents[:, :199], axis=0) > 0.999).all()


def test_solid_angles_of_rays_add_up_to_that_of_the_beam() -> None:
    """A band of azimuth Δψ between depressions ε has Δψ (sin ε₂ − sin ε₁); a fan of thickness t has 2 sin(t/2) B."""
    band = forward_fan(np.linspace(-0.7, 0.7, 64), 1.4 / 64, np.radians(40), 200, np.radians(10))
    assert band.solid_angle.sum() == pytest.approx(1.4 * (np.sin(np.radians(50)) - np.sin(np.radians(10))), rel=1e-3)
    assert across_track_fan(1.2, 300, 0.3, 0.02).solid_angle.sum() == pytest.approx(1.2 * 2 * np.sin(0.01))


# ------------------------------------------------------------------------------------------------ scanning


def test_an_msis_rotates_clockwise_with_its_pings() -> None:
    config = Msis(link="base_link", frequency=10, step_deg=30)
    angles = [np.degrees(config.angle_at(tick, 1 / 200)) for tick in range(0, 260, 20)]
    np.testing.assert_allclose(angles[:4], [0, -30, -60, -90], atol=1e-9)
    np.testing.assert_allclose(angles[-1], 0, atol=1e-9)
    assert config.angle_at(39, 1 / 200) == config.angle_at(20, 1 / 200) != config.angle_at(40, 1 / 200)


def test_an_msis_scans_a_sector_back_and_forth() -> None:
    config = Msis(link="base_link", frequency=1, step_deg=20, sector_deg=80)
    angles = [np.degrees(config.angle_at(tick, 1.0)) for tick in range(10)]
    np.testing.assert_allclose(angles, [40, 20, 0, -20, -40, -20, 0, 20, 40, 20], atol=1e-9)


def test_an_msis_counts_its_pings_without_drift() -> None:
    """A tick is due if the integer part of time × frequency grows there, also if neither is a binary fraction."""
    config = Msis(link="base_link", frequency="100/3", step_deg=1)
    for ping in (1, 3, 299, 10_000_001):
        tick = -(-ping * 3000 // (100 * 7))  # of 7/1000 s
        assert np.degrees(config.angle_at(tick, 0.007)) == pytest.approx((-ping + 180) % 360 - 180, abs=1e-6)
        assert config.angle_at(tick - 1, 0.007) != config.angle_at(tick, 0.007)


# ------------------------------------------------------------------------------------------------ echoes


def accumulated(ranges: Any, starts: Any, ends: Any, count: int = 100, size: float = 0.1) -> NDArray[np.float64]:
    lists = [np.array(values, np.float32) for values in (ranges, starts, ends)]
    buckets = np.zeros((1, count))
    energy = np.arange(1, len(lists[0]) + 1).astype(np.float32)
    accumulate_echoes(*lists, energy, np.zeros(0), len(energy), size, buckets, np.zeros((1, 0)))
    return buckets[0]


def test_echoes_add_up_in_a_bucket() -> None:
    buckets = accumulated([1.01, 1.02, 1.03], [1.01, 1.02, 1.03], [1.01, 1.02, 1.03])
    assert buckets[10] == 6
    assert buckets.sum() == 6


def test_an_echo_is_spread_over_its_ranges() -> None:
    buckets = accumulated([1.0], [0.95], [1.25])
    np.testing.assert_allclose(buckets[9:13], [1 / 6, 1 / 3, 1 / 3, 1 / 6], rtol=1e-5)


def test_no_energy_is_lost_at_either_end() -> None:
    ranges = [0.0, 0.05, 9.99, 10.0, 5.0, np.nan]
    buckets = accumulated(ranges, [0, 0, 9.5, 9.9, 0, 0], [0, 1.0, 10.0, 10.0, 10.0, 0])
    assert buckets.sum() == pytest.approx(1 + 2 + 3 + 4 + 5)
    assert (buckets >= 0).all()


def test_bytes_saturate() -> None:
    assert [int(to_byte(value, 255.0)) for value in (0.0, 0.25, 1.0, 1.01, 1e12)] == [0, 128, 255, 255, 255]


def test_exponential_draws_are_logarithms() -> None:
    values = np.concatenate([[2.0**-53, 0.5, 1 - 2.0**-53], Noise(1, "x").uniform(0, (1000,))])
    np.testing.assert_allclose([exponential(u) for u in values], -np.log(values), rtol=1e-9, atol=1e-10)


def test_angle_codes_are_whole_and_the_same_on_both_sides() -> None:
    sensor = Sidescan(**MOUNT, tilt_deg=30, beam_breadth_deg=50, rays_per_beam=51, interferometric=True).build()
    port, starboard = sensor._codes[:51], sensor._codes[51:]
    np.testing.assert_array_equal(port, np.rint((np.pi - np.radians(30 + np.arange(51))) * ANGLE_CODES))
    np.testing.assert_array_equal(starboard, port[::-1])
    assert sensor._codes.max() < 65536
    level = Sidescan(**MOUNT, tilt_deg=0, beam_breadth_deg=180, interferometric=True).build()
    assert (level._codes.min(), level._codes.max()) == (0, 65534)


# ------------------------------------------------------------------------------------------------ in a world

RIG = (
    '<robot name="rig"><link name="base_link"><inertial><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a function that gives the first reading of a sonar at a depth over level sand."""
    (tmp_path / "robot.urdf").write_text(RIG)
    (tmp_path / "vehicle.yaml").write_text("{}")

    def measure(kind: str, depth: float = 5.0, ground: float = 15.0, **settings: Any) -> Any:
        sensor = {"kind": kind, **MOUNT, **settings}
        scenario = {
            "gravity": 0.0,
            "terrain": {"kind": "flat", "depth": ground, "material": "sand"},
            "robots": {
                "rig": {
                    "vehicle": str(tmp_path),
                    "pose": {"position": [0, 0, -depth]},
                    "overrides": {"sensors": {"sonar": sensor}},
                }
            },
        }
        with skerry.load(scenario) as world:
            return world.robots["rig"].sensors["sonar"].reading

    yield measure


@pytest.mark.parametrize("kind", ["altimeter", "fls", "mbes", "msis", "sidescan"])
def test_a_sonar_has_no_reading_in_air(kind: str, read: Callable[..., Any]) -> None:
    assert read(kind, depth=-0.01) is None
    assert read(kind, depth=0.01) is not None


def test_bodies_above_the_surface_give_no_echo(read: Callable[..., Any]) -> None:
    upwards = {"roll_deg": 180, "beam_breadth_deg": 40}
    assert len(read("mbes", depth=20, ground=15, **upwards).cloud.ranges) == 256  # the ground from below
    assert len(read("mbes", depth=5, ground=-15, **upwards).cloud.ranges) == 0
    assert np.isnan(read("altimeter", depth=5, ground=-15, roll_deg=180).range)


def test_rays_without_an_echo_are_absent(read: Callable[..., Any]) -> None:
    cloud = read("mbes", max_range=12, beam_breadth_deg=120, rays_per_beam=121).cloud
    seen = np.abs(np.arange(121) - 60) <= np.degrees(np.arccos(10 / 12))
    np.testing.assert_array_equal(cloud.ray, np.flatnonzero(seen))
    np.testing.assert_array_equal(np.isfinite(cloud.ray_ranges), seen)
    assert cloud.points.shape == cloud.world_points.shape == (seen.sum(), 3)
    assert cloud.points.dtype == cloud.world_points.dtype == np.float32
    assert (np.linalg.norm(cloud.points, axis=1) > 9).all()
    np.testing.assert_allclose(cloud.world_points[:, 2], -15, atol=1e-3)
    assert (cloud.labels == 1).all()
    empty = read("mbes", max_range=5).cloud
    assert empty.points.shape == (0, 3)


def test_bodies_nearer_than_the_minimum_range_give_no_echo(read: Callable[..., Any]) -> None:
    assert np.isnan(read("altimeter", min_range=10.5).range)
    assert len(read("mbes", min_range=10.5, beam_breadth_deg=60, rays_per_beam=61).cloud.ray) == 2 * (
        30 - 17
    )  # beyond 17.75°
    assert read("sidescan", min_range=20, speckle=False, noise_level_db=None).port[:199].sum() == 0


def test_points_are_relative_to_the_mount_of_the_sonar(read: Callable[..., Any]) -> None:
    cloud = read("mbes", position=[1.0, 2.0, -3.0], yaw_deg=90, beam_breadth_deg=60, rays_per_beam=3).cloud
    np.testing.assert_allclose(cloud.points[1], [0, 0, -7], atol=1e-4)
    np.testing.assert_allclose(cloud.world_points[1], [1, 2, -15], atol=1e-4)
    np.testing.assert_allclose(cloud.world_points[0], [1 - 7 * np.tan(np.radians(30)), 2, -15], atol=1e-3)


def test_bytes_are_amplitudes_that_saturate(read: Callable[..., Any]) -> None:
    quiet = {"speckle": False, "noise_level_db": None, "source_level_db": 200, "full_scale_db": -60}
    reading = read("sidescan", **quiet, gain=0.05)
    expected = 255 * np.sqrt(0.05 * reading.port.astype(float) / 10 ** ((200 - 60) / 10))
    np.testing.assert_allclose(reading.port_levels, np.minimum(expected, 255), atol=0.51)
    assert 0 < reading.port_levels.max() < 255
    loud = read("sidescan", **quiet, gain=1e4)
    assert set(loud.port_levels[loud.port > 0]) == {255}
    assert read("fls", **quiet, gain=1e9, tilt_deg=40, beams=8).levels.max() == 255


@pytest.mark.parametrize("tvg", [True, False])
@pytest.mark.parametrize("kind", ["altimeter", "fls", "mbes", "msis", "sidescan"])
def test_the_gain_multiplies_intensities_and_bytes(kind: str, tvg: bool, read: Callable[..., Any]) -> None:
    small = {"beams": 4, "tilt_deg": 40} if kind == "fls" else {}
    plain, loud = (read(kind, gain=gain, tvg=tvg, full_scale_db=-20, **small) for gain in (1.0, 4.0))
    fields = {
        "fls": ("image", "levels"),
        "mbes": ("cloud.intensity", "cloud.levels"),
        "msis": ("intensity", "levels"),
        "sidescan": ("port", "port_levels"),
        "altimeter": ("intensity", None),
    }
    intensity, levels = fields[kind]
    assert np.max(attrgetter(intensity)(plain)) > 0
    np.testing.assert_allclose(attrgetter(intensity)(loud), 4 * attrgetter(intensity)(plain), rtol=1e-6)
    if levels is not None:
        before, after = (attrgetter(levels)(each).astype(float) for each in (plain, loud))
        np.testing.assert_allclose(after[after < 255], (4 * before)[after < 255], atol=2.5)


def test_range_noise_has_a_mean(read: Callable[..., Any]) -> None:
    settings = {"beam_breadth_deg": 20, "rays_per_beam": 2000}
    true = read("mbes", **settings).cloud.ranges
    np.testing.assert_allclose(read("mbes", **settings, range_noise_mean=0.3).cloud.ranges - true, 0.3, atol=1e-5)
    moved = read("mbes", **settings, range_noise=0.05, range_noise_mean=-0.3).cloud.ranges - true
    assert moved.mean() == pytest.approx(-0.3, abs=0.005)
    assert moved.std() == pytest.approx(0.05, rel=0.06)


def test_an_mbes_can_be_tilted_to_either_side() -> None:
    settings = {"beam_breadth_deg": 60, "rays_per_beam": 61, "tilt_deg": 20}
    rays = directions(Mbes(**MOUNT, **settings))
    np.testing.assert_allclose(down_deg(rays), np.arange(80, 19, -1), atol=1e-4)
    assert (rays[:, 1] < 0).all()  # starboard
    port = directions(Mbes(**MOUNT, **settings, side="port"))
    np.testing.assert_allclose(port[::-1] * [1, -1, 1], rays, atol=1e-6)
    down = directions(Mbes(**MOUNT, beam_breadth_deg=60, rays_per_beam=61, tilt_deg=60))
    np.testing.assert_allclose(down, directions(Mbes(**MOUNT, beam_breadth_deg=60, rays_per_beam=61)), atol=1e-6)


def test_a_sidescan_that_is_not_interferometric_has_no_angles_and_no_cloud(read: Callable[..., Any]) -> None:
    reading = read("sidescan")
    assert reading.cloud is reading.port_angles is reading.starboard_angle_codes is None


def test_the_axis_of_a_sidescan_has_the_strongest_echo_on_both_sides() -> None:
    settings = {"tilt_deg": 0, "beam_breadth_deg": 90, "beam_breadth_3db_deg": 30, "rays_per_beam": 91}
    for axis, strongest in ((None, 45), (25, 25)):
        weights = Sidescan(**MOUNT, **settings, axis_deg=axis).build()._weights.reshape(2, 91)
        assert (weights[0].argmax(), 90 - weights[1].argmax()) == (strongest, strongest)
        assert weights[0][strongest + 15] == pytest.approx(weights[0][strongest] / 2, rel=1e-5)


def test_a_preset_is_replaced_by_other_settings() -> None:
    smarc = Sidescan(**MOUNT, preset="smarc", tilt_deg=30)
    assert (smarc.tilt_deg, smarc.beam_breadth_deg, smarc.range_noise, smarc.max_range) == (30, 45, 1, 100)
    assert Sidescan.model_validate(smarc.model_dump()) == smarc


@pytest.mark.parametrize(("preset", "nearest", "farthest"), [("survey", 10.0, 95.0), ("smarc", 10.0, 14.2)])
def test_the_sidescan_of_sam_looks_from_near_nadir_to_near_level(preset: str, nearest: float, farthest: float) -> None:
    """Over level ground 10 m below; the specification's beam, 45° to 90° below level, ends at √2 · 10 m."""
    settings = {"preset": preset, "speckle": False, "noise_level_db": -200, "range_noise": 0}
    scenario = {
        "gravity": 0.0,
        "reference": {"latitude_deg": 58.8, "longitude_deg": 17.6},
        "terrain": {"kind": "flat", "depth": 15, "material": "sand"},
        "robots": {
            "sam": {
                "vehicle": "sam",
                "anchored": True,
                "pose": {"position": [0, 0, -5]},
                "overrides": {"sensors": {"sidescan": settings}},
            }
        },
    }
    with skerry.load(scenario) as world:
        reading = world.robots["sam"].sensors["sidescan"].reading
    for side in (reading.port, reading.starboard):
        seen = np.flatnonzero(side > 1e-9 * side.max()) * reading.bucket_size
        assert seen.min() == pytest.approx(nearest, abs=0.15)
        assert seen.max() == pytest.approx(farthest, abs=0.15) if preset == "smarc" else seen.max() > farthest


def test_the_load_of_a_sonar_does_not_include_the_compilation_of_its_kernels(tmp_path: Path) -> None:
    """A sensor whose first measurement takes 0.3 s, as with kernels that are compiled, has a small first load."""
    (tmp_path / "robot.urdf").write_text(RIG)
    (tmp_path / "vehicle.yaml").write_text("{}")
    rig = {"vehicle": str(tmp_path), "overrides": {"sensors": {"sonar": {"kind": "mbes", **MOUNT}}}}
    with skerry.load({"robots": {"rig": rig}}) as world:
        mounted = world.robots["rig"].sensors["sonar"]
        measure, waits = mounted.sensor.measure, [0.3]

        def slow_at_first(*arguments: Any) -> Any:
            time.sleep(waits.pop() if waits else 0.0)
            return measure(*arguments)

        measure(SingleSensorView(mounted.view), mounted._noise)
        mounted.sensor.measure = slow_at_first
        _ = mounted.reading
        assert 0 < mounted.load < 1


def test_ranges_are_exact_without_range_noise(read: Callable[..., Any]) -> None:
    settings = {"beam_breadth_deg": 20, "rays_per_beam": 2000}
    true = read("mbes", **settings).cloud.ranges
    moved = read("mbes", **settings, range_noise=0.05).cloud.ranges - true
    np.testing.assert_allclose(true, 10 / np.cos(np.radians(np.linspace(-10, 10, 2000))), atol=2e-3)
    assert moved.mean() == pytest.approx(0, abs=0.005)
    assert moved.std() == pytest.approx(0.05, rel=0.06)


def test_a_large_fls_reads_the_same_in_a_thread(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(RIG)
    fls = {"kind": "fls", **MOUNT, "tilt_deg": 20, "bins": 64}
    (tmp_path / "vehicle.yaml").write_text("{}")
    rig = {"vehicle": str(tmp_path), "pose": {"position": [0, 0, -5]}, "overrides": {"sensors": {"fls": fls}}}
    scenario = {"terrain": {"kind": "flat", "depth": 15}, "robots": {"rig": rig}}
    seen = []
    for execution in ("thread", "batch"):
        with skerry.load(scenario) as world:
            mounted = world.robots["rig"].sensors["fls"]
            assert mounted.sensor.execution == "thread"
            mounted.sensor.execution = execution
            _ = mounted.reading
            world.advance(0.35)  # it sinks, and continues after the due tick
            seen.append((mounted.reading.time, mounted.reading.image.tobytes(), mounted.reading.cloud.points.tobytes()))
    assert seen[0] == seen[1]
    assert seen[0][0] == pytest.approx(0.3)


@pytest.mark.parametrize("kind", ["altimeter", "fls", "mbes", "msis", "sidescan"])
@pytest.mark.parametrize(
    "extreme",
    [
        {"frequency_khz": 10_000, "max_range": 20_000},
        {"frequency_khz": 0.1, "max_range": 1e6, "source_level_db": 260, "tvg_spreading": 100, "gain": 1e9},
        {"min_range": 0, "depth": 14.999, "max_range": 0.01, "range_noise": 1},
        {"full_scale_db": -200, "noise_level_db": 200},
        {"full_scale_db": 200, "noise_level_db": -200, "source_level_db": 0},
    ],
)
def test_numbers_stay_finite_at_extreme_settings(kind: str, extreme: dict[str, Any], read: Callable[..., Any]) -> None:
    small = {"beams": 8, "rays_per_beam": 16, "bins": 20} if kind == "fls" else {}
    multipath = {} if kind in {"altimeter", "mbes"} else {"multipath_db": 0}
    reading = read(kind, **{**small, **multipath, "pitch_deg": 1, **extreme})
    cloud = getattr(reading, "cloud", None)
    for value in [*vars(reading).values(), *(vars(cloud).values() if cloud else ())]:
        if isinstance(value, np.ndarray | float):
            assert np.isfinite(value).all()


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"beam_breadth_deg": 0}, "greater than 0"),
        ({"beam_breadth_deg": 361}, "less than"),
        ({"beam_breadth_deg": 5, "beam_breadth_3db_deg": 5.1}, "must not be wider"),
        ({"rays_per_beam": 0}, "greater than or equal"),
        ({"min_range": 5, "max_range": 5}, "must be less than `max_range`"),
        ({"max_range": 0}, "greater than 0"),
        ({"frequency_khz": 0}, "greater than 0"),
        ({"gain": -1}, "greater than or equal"),
        ({"range_noise": float("nan")}, "finite"),
    ],
)
def test_invalid_settings_are_refused(kind: Any, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        kind(**{**MOUNT, **settings})


@pytest.mark.parametrize(
    ("kind", "settings", "problem"),
    [
        (Mbes, {"rays_per_beam": 1}, "greater than or equal to 2"),
        (Sidescan, {"rays_per_beam": 1}, "greater than or equal to 2"),
        (Fls, {"beams": 1}, "greater than or equal to 2"),
        (Fls, {"fov_deg": 0}, "greater than 0"),
        (Fls, {"fov_deg": 400}, "less than"),
        (Fls, {"beams": 4096, "bins": 100_000}, "`beams` × `bins`"),
        (Sidescan, {"buckets": 0}, "greater than or equal to 1"),
        (Sidescan, {"tilt_deg": 80, "beam_breadth_deg": 120}, "not be more than 180°"),
        (Sidescan, {"tilt_deg": 20, "beam_breadth_deg": 50, "axis_deg": 75}, "must be inside the beam"),
        (Sidescan, {"preset": "samrc"}, "'survey' or 'smarc'"),
        (Mbes, {"tilt_deg": -1}, "greater than or equal to 0"),
        (Msis, {"step_deg": 40, "sector_deg": 30}, "must not be more than `sector_deg`"),
    ],
)
def test_invalid_settings_of_a_kind_are_refused(kind: Any, settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        kind(**{**MOUNT, **settings})


def test_an_invalid_sonar_is_an_error_that_names_its_setting(read: Callable[..., Any]) -> None:
    with pytest.raises(SkerryError, match=r"sensors\.sonar.*must not be wider"):
        read("mbes", beam_breadth_deg=45, beam_breadth_3db_deg=60)
