"""Sonars measure what geometry and the sonar equation say.

An echo of a ray has the level EL = SL − 40 log r − 2 α r + 10 log μ + 20 log sin g + 10 log A + B, with its share of
the ground A = Ω r²/sin g and the beam pattern B (Urick 1983, Principles of Underwater Sound, ch. 2 and 8).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import skerry
from skerry.terrain.materials import MATERIALS

QUIET: dict[str, Any] = {"speckle": False, "noise_level_db": None, "tvg": False}
RIG = (
    '<robot name="rig"><link name="base_link"><inertial><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
)


@pytest.fixture
def sonar(tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Return a function that builds a world with a sonar: first `reading`, `sensor`, `world`, `absorption` (dB/m)."""
    (tmp_path / "robot.urdf").write_text(RIG)
    (tmp_path / "vehicle.yaml").write_text("{}")
    worlds: list[Any] = []

    def build(
        kind: str,
        depth: float = 5.0,
        ground: float | None = 15.0,
        objects: dict[str, Any] | None = None,
        material: str = "sand",
        seed: int = 1,
        pose: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Any:
        sensor = {"kind": kind, "link": "base_link", "frequency": 10, **settings}
        robot = {
            "vehicle": str(tmp_path),
            "pose": {"position": [0, 0, -depth], **(pose or {})},
            "overrides": {"sensors": {"sonar": sensor}},
        }
        scenario: dict[str, Any] = {"gravity": 0.0, "seed": seed, "robots": {"rig": robot}, "objects": objects or {}}
        if ground is not None:
            scenario["terrain"] = {"kind": "flat", "depth": ground, "material": material}
        world = skerry.load(scenario)
        worlds.append(world)
        return SimpleNamespace(
            reading=world.robots["rig"].sensors["sonar"].reading,
            sensor=world.robots["rig"].sensors["sonar"].sensor,
            world=world,
            absorption=lambda khz: float(world.water.absorption_db_per_km(khz * 1e3, [0, 0, -depth], 0.0)) / 1e3,
        )

    yield build
    for world in worlds:
        world.close()


def body_at(kind: str, position: tuple[float, float, float], **settings: Any) -> dict[str, Any]:
    size = {key: settings.pop(key) for key in ("size", "radius") if key in settings}
    return {"geometry": {"kind": kind, **size}, "pose": {"position": list(position)}, **settings}


def decibel(ratio: Any) -> Any:
    return 10 * np.log10(ratio)


# ------------------------------------------------------------------------------------------------ ranges


@pytest.mark.parametrize("pose", [{}, {"roll_deg": 12.0}, {"pitch_deg": 20.0, "yaw_deg": 130.0}])
def test_ranges_to_a_plane_are_height_over_cosine(sonar: Callable[..., Any], pose: dict[str, Any]) -> None:
    """r = h/cos of the angle to the vertical; single precision on a plane of 20 km leaves some 0.1 mm."""
    cloud = sonar("mbes", beam_breadth_deg=100, rays_per_beam=201, pose=pose).reading.cloud
    down = -(cloud.points @ cloud.pose.rotation.T.astype(np.float32))[:, 2] / cloud.ranges
    assert len(down) == 201
    np.testing.assert_allclose(cloud.ranges, 10 / down, rtol=2e-4)
    angle = np.radians(np.linspace(-50, 50, 201) + pose.get("roll_deg", 0.0) * -1)
    np.testing.assert_allclose(
        cloud.ranges, 10 / np.cos(angle) / np.cos(np.radians(pose.get("pitch_deg", 0))), rtol=2e-4
    )


def test_ranges_to_a_sphere_are_those_of_the_chord(sonar: Callable[..., Any]) -> None:
    """r = d cos θ − √(R² − d² sin² θ); the ball is a polyhedron of 32 segments, within R (1 − cos π/32) of it."""
    ball = {"ball": body_at("sphere", (0.0, 0.0, -15.0), radius=2.0)}
    cloud = sonar("mbes", ground=None, objects=ball, beam_breadth_deg=22, rays_per_beam=111).reading.cloud
    angle = np.radians(np.linspace(-11, 11, 111))[cloud.ray]
    chord = 10 * np.cos(angle) - np.sqrt(4 - (10 * np.sin(angle)) ** 2)
    assert len(cloud.ray) == 111
    inside = np.abs(angle) < np.radians(9)
    sag = 2 * 2.0 * (1 - np.cos(np.pi / 32)) / np.sqrt(1 - (10 * np.sin(angle) / 2) ** 2)
    assert (cloud.ranges >= chord - 1e-4)[inside].all()
    assert (cloud.ranges <= chord + sag + 1e-4)[inside].all()


def test_ranges_to_a_box_are_those_of_its_faces(sonar: Callable[..., Any]) -> None:
    """A block of 4 m × 2 m × 2 m on the ground, seen from above: its top 8 m away, and the ground beside it."""
    block = {"block": body_at("box", (0.0, 0.0, -14.0), size=[4, 2, 2])}
    cloud = sonar("mbes", objects=block, beam_breadth_deg=60, rays_per_beam=601).reading.cloud
    angle = np.radians(np.linspace(-30, 30, 601))
    on_top = np.abs(8 * np.tan(angle)) < 1
    np.testing.assert_allclose(cloud.ranges, np.where(on_top, 8, 10) / np.cos(angle), rtol=2e-4)
    assert set(cloud.labels[on_top]) == {0}
    assert set(cloud.labels[~on_top]) == {1}


def test_an_fls_measures_a_wall_as_a_straight_line(sonar: Callable[..., Any]) -> None:
    """The wall's face at x = 10 is hit at 10/(cos ψ cos ε), and its points in the world lie on it."""
    wall = {"wall": body_at("box", (10.5, 0.0, -50.0), size=[1, 60, 60])}
    reading = sonar(
        "fls", depth=50, ground=None, objects=wall, fov_deg=90, beams=31, rays_per_beam=16, tilt_deg=-10, **QUIET
    ).reading
    ranges = reading.cloud.ray_ranges.reshape(31, 16)
    down = np.radians(np.linspace(-10, 10, 16))
    np.testing.assert_allclose(ranges, 10 / np.cos(reading.azimuths)[:, None] / np.cos(down), rtol=1e-5)
    np.testing.assert_allclose(reading.cloud.world_points[:, 0], 10, atol=1e-4)
    first = np.argmax(reading.image > 0, axis=1) * reading.bin_size
    np.testing.assert_allclose(first, 10 / np.cos(reading.azimuths), atol=reading.bin_size * 1.01)


def test_the_leftmost_beam_of_an_fls_points_left(sonar: Callable[..., Any]) -> None:
    ball = {"ball": body_at("sphere", (20.0, 8.0, -50.0), radius=0.5)}
    reading = sonar("fls", depth=50, ground=None, objects=ball, beams=121, fov_deg=120, tilt_deg=-10, **QUIET).reading
    beam, place = np.unravel_index(np.argmax(reading.image), reading.image.shape)
    assert np.degrees(reading.azimuths[beam]) == pytest.approx(np.degrees(np.arctan2(8, 20)), abs=1.5)
    assert (place + 0.5) * reading.bin_size == pytest.approx(np.hypot(8, 20) - 0.5, abs=0.15)
    assert beam < 60


def test_an_altimeter_reports_the_nearest_range_in_its_cone(sonar: Callable[..., Any]) -> None:
    """Over a slope of 20° seen with a cone of ±5°, the nearest is 15° off the slope's normal: h cos 20°/cos 15°."""
    assert sonar("altimeter").reading.range == pytest.approx(10, rel=1e-5)
    tilted = sonar("altimeter", pose={"pitch_deg": 20}, beam_breadth_deg=10, rays_per_beam=2000)
    assert tilted.reading.range == pytest.approx(10 / np.cos(np.radians(15)), rel=1e-3)
    assert np.isnan(sonar("altimeter", max_range=9.9).reading.range)


def test_an_msis_detects_a_body_in_its_current_direction(sonar: Callable[..., Any]) -> None:
    ball = {"ball": body_at("sphere", (0.0, -12.0, -50.0), radius=0.5)}
    msis = sonar("msis", depth=50, ground=None, objects=ball, step_deg=45, **QUIET)
    seen = {}
    for _ in range(8):
        reading = msis.world.robots["rig"].sensors["sonar"].reading
        seen[round(np.degrees(reading.angle))] = reading.intensity
        msis.world.advance(0.1)
    assert {angle for angle, intensity in seen.items() if intensity.any()} == {-90}
    assert (np.argmax(seen[-90]) + 0.5) * 50 / 400 == pytest.approx(11.5, abs=0.15)


# ------------------------------------------------------------------------------------------------ levels


@pytest.mark.parametrize(("frequency_khz", "material"), [(100.0, "sand"), (400.0, "mud"), (900.0, "rock")])
def test_an_echo_has_the_level_of_the_sonar_equation(
    sonar: Callable[..., Any], frequency_khz: float, material: str
) -> None:
    """Each ray of a fan over level ground, with its own grazing angle, share of the ground and range."""
    settings = {"frequency_khz": frequency_khz, "beam_breadth_deg": 80, "beam_breadth_3db_deg": 50}
    mounted = sonar(
        "mbes", material=material, rays_per_beam=81, thickness_deg=2, source_level_db=215, **settings, **QUIET
    )
    cloud = mounted.reading.cloud
    angle = np.radians(np.linspace(-40, 40, 81))
    r = 10 / np.cos(angle)
    alpha = mounted.absorption(frequency_khz)
    solid = np.radians(80) / 81 * 2 * np.sin(np.radians(1))
    sine = np.cos(angle)  # of the grazing angle
    area = solid * r**2 / sine
    beam = -3.0103 * (np.degrees(angle) / 25) ** 2
    transmission = 40 * np.log10(r) + 2 * alpha * r
    scattering = MATERIALS[material].backscatter_db + 20 * np.log10(sine)
    level = 215 - transmission + scattering + decibel(area) + beam
    np.testing.assert_allclose(decibel(cloud.intensity.astype(float)), level, atol=2e-3)


def test_an_fls_has_the_levels_of_the_sonar_equation(sonar: Callable[..., Any]) -> None:
    """Each ray over level ground; its share of the sphere is Δψ (sin ε₂ − sin ε₁)."""
    settings = {"fov_deg": 100, "beams": 20, "rays_per_beam": 30, "tilt_deg": 25, "beam_breadth_deg": 30}
    fls = sonar("fls", beam_breadth_3db_deg=20, frequency_khz=500, **settings, **QUIET)
    cloud = fls.reading.cloud
    down = np.radians(np.tile(np.linspace(25, 55, 30), 20))
    half = np.radians(30) / 30 / 2
    solid = np.radians(100) / 20 * (np.sin(down + half) - np.sin(down - half))
    r, sine = 10 / np.sin(down), np.sin(down)
    level = 220 - 40 * np.log10(r) - 2 * fls.absorption(500) * r + MATERIALS["sand"].backscatter_db
    beam = -3.0103 * ((np.degrees(down) - 40) / 10) ** 2
    level += 20 * np.log10(sine) + decibel(solid * r**2 / sine) + beam
    np.testing.assert_allclose(decibel(cloud.intensity.astype(float)), level, atol=5e-3)


def test_an_altimeter_sums_the_echoes_of_its_whole_cone(sonar: Callable[..., Any]) -> None:
    """∫ S μ P cos θ exp(−k r)/r² dΩ with r = h/cos θ over level ground, up to half the −3 dB breadth."""
    altimeter = sonar("altimeter", beam_breadth_deg=30, beam_breadth_3db_deg=20, rays_per_beam=4000, **QUIET)
    theta = (np.arange(20_000) + 0.5) / 20_000 * np.radians(10)
    r = 10 / np.cos(theta)
    loss = 10 ** (-0.2 * altimeter.absorption(500) * r) / r**2
    each = 2 ** -((theta / np.radians(10)) ** 2) * np.cos(theta) * loss * 2 * np.pi * np.sin(theta)
    expected = 220 + MATERIALS["sand"].backscatter_db + decibel(each.sum() * np.radians(10) / 20_000)
    assert decibel(altimeter.reading.intensity) == pytest.approx(expected, abs=0.01)


def test_two_way_loss_between_two_ranges(sonar: Callable[..., Any]) -> None:
    """The level of a ray straight down falls by 40 log(r₂/r₁) + 2 α (r₂ − r₁), less 20 log(r₂/r₁) for its area."""
    found = {}
    for r in (10.0, 80.0):
        mounted = sonar("mbes", ground=5 + r, beam_breadth_deg=2, rays_per_beam=3, frequency_khz=300, **QUIET)
        found[r] = float(mounted.reading.cloud.intensity[1])
    alpha = mounted.absorption(300)
    loss = decibel(found[10.0] / found[80.0])
    assert loss == pytest.approx(40 * np.log10(8) + 2 * alpha * 70 - 20 * np.log10(8), abs=1e-3)


def test_time_varied_gain_compensates_spreading_and_absorption(sonar: Callable[..., Any]) -> None:
    """With a gain of 40 log r + 2 α r, the level of a ray straight down depends only on its area."""
    left = [
        float(
            sonar(
                "mbes", ground=5 + r, beam_breadth_deg=2, rays_per_beam=3, **{**QUIET, "tvg": True}, tvg_spreading=40
            ).reading.cloud.intensity[1]
        )
        for r in (10.0, 80.0)
    ]
    assert decibel(left[1] / left[0]) == pytest.approx(20 * np.log10(8), abs=1e-3)


@pytest.mark.parametrize("breadth_3db", [20.0, 40.0, 60.0])
def test_the_half_power_angle_is_the_configured_one(sonar: Callable[..., Any], breadth_3db: float) -> None:
    """Measured in the output: inside a ball around the sonar all rays have the same range and grazing angle."""
    inside = {"ball": body_at("sphere", (0.0, 0.0, -50.0), radius=10.0)}
    settings = {"beam_breadth_deg": 60, "beam_breadth_3db_deg": breadth_3db, "rays_per_beam": 1201}
    cloud = sonar("mbes", depth=50, ground=None, objects=inside, **settings, **QUIET).reading.cloud
    relative = decibel(cloud.intensity.astype(float) / cloud.intensity.max())
    angle = np.linspace(-30, 30, 1201)
    strong = angle[relative >= -3.0103]
    # faces of the ball differ by 1 % in grazing angle and range, 0.1 dB, which here is 2 % of the angle
    assert strong.max() - strong.min() == pytest.approx(breadth_3db, rel=0.02)


def test_a_sidescan_spreads_the_level_of_the_sonar_equation_over_range(sonar: Callable[..., Any]) -> None:
    """A bucket of the seabed at slant range r is Δr/cos g long and r t wide: its echo has that area's level."""
    settings = {"beam_breadth_deg": 60, "beam_breadth_3db_deg": 60, "tilt_deg": 10, "rays_per_beam": 4000}
    reading = sonar(
        "sidescan", **settings, thickness_deg=1, frequency_khz=300, buckets=200, max_range=50, **QUIET
    ).reading
    r = (np.arange(200) + 0.5) * 0.25
    sine = np.minimum(10 / r, 1)
    graze = np.arcsin(sine)
    within = (graze > np.radians(15)) & (graze < np.radians(65))
    area = 0.25 / np.cos(graze) * r * 2 * np.sin(np.radians(0.5))
    alpha = sonar("mbes").absorption(300)
    beam = -3.0103 * ((np.degrees(graze) - 40) / 30) ** 2
    level = 220 - 40 * np.log10(r) - 2 * alpha * r + MATERIALS["sand"].backscatter_db + 20 * np.log10(sine)
    found = decibel(reading.port[within].astype(float))
    # across a bucket the level changes by up to 0.3 dB, and not evenly
    np.testing.assert_allclose(found, (level + decibel(area) + beam)[within], atol=0.1)
    np.testing.assert_allclose(reading.port, reading.starboard, rtol=1e-3)


# ------------------------------------------------------------------------------------------------ side-scan


def test_the_first_bottom_return_is_at_the_slant_range_of_the_beam(sonar: Callable[..., Any]) -> None:
    """A beam down to the vertical has it at the altitude; one whose lower edge is 70° below level at h/sin 70°."""
    shared = {"tilt_deg": 20, "buckets": 1000, "max_range": 50, **QUIET}
    for breadth, first in ((70.0, 10.0), (50.0, 10 / np.sin(np.radians(70)))):
        reading = sonar("sidescan", beam_breadth_deg=breadth, **shared).reading
        for side in (reading.port, reading.starboard):
            assert np.argmax(side > 0) * reading.bucket_size == pytest.approx(first, abs=0.06)
    last = np.flatnonzero(reading.port).max() * reading.bucket_size
    assert last == pytest.approx(10 / np.sin(np.radians(20)), abs=0.3)


def test_the_length_of_a_shadow_follows_from_the_height_of_the_box(sonar: Callable[..., Any]) -> None:
    """The ray over the far top edge, x away and t high, from a sonar at height h meets the ground at x h/(h − t).

    In slant range the shadow runs from √(x² + (h − t)²) to √(x² + (h − t)²) h/(h − t). To starboard there is none.
    """
    x, t, h = 15.0, 2.0, 10.0
    box = {"box": body_at("box", (0.0, x - 1.5, -14.0), size=[2, 3, t], material="rock")}
    settings = {"beam_breadth_deg": 60, "tilt_deg": 10, "rays_per_beam": 4000, "max_range": 50, "buckets": 1000}
    reading = sonar("sidescan", objects=box, **settings, **QUIET).reading
    edge = np.hypot(x, h - t)
    dark = np.flatnonzero(reading.port[300:700] == 0) + 300
    assert dark.min() * reading.bucket_size == pytest.approx(edge, abs=0.1)
    assert (dark.max() + 1) * reading.bucket_size == pytest.approx(edge * h / (h - t), abs=0.1)
    assert (np.diff(dark) == 1).all()
    assert (reading.starboard[300:500] > 0).all()


@pytest.mark.parametrize("multipath_db", [None, 3.0])
def test_buckets_preserve_the_energy_of_all_echoes(sonar: Callable[..., Any], multipath_db: float | None) -> None:
    """The sum over buckets equals the sum over rays in range; single precision of 512 rays leaves an error of 1e-6."""
    mounted = sonar("sidescan", max_range=20, buckets=77, multipath_db=multipath_db, **QUIET)
    reading, sensor = mounted.reading, mounted.sensor
    total = float(reading.port.sum(dtype=float) + reading.starboard.sum(dtype=float))
    rays = float(sensor._echoes[3].sum(dtype=float))
    assert 0 < np.isfinite(sensor._echoes[0]).sum() < 512
    if multipath_db is None:
        assert total == pytest.approx(rays, rel=1e-6)
    else:
        assert total > rays * 1.001
    image = sonar("fls", tilt_deg=20, max_range=20, bins=50, beams=32, **QUIET)
    assert image.reading.image.sum(dtype=float) == pytest.approx(
        float(image.sensor._echoes[3].sum(dtype=float)), rel=1e-6
    )


def test_an_echo_reflected_at_the_surface_is_later_and_weaker(sonar: Callable[..., Any]) -> None:
    """A ball at (x, −z) heard from depth d: one way is √(x² + (z + d)²), from the mirror image; its range is the mean.

    Two such ways, each with a loss of 6 dB here and (r/r')² of spreading.
    """
    ball = {"ball": body_at("sphere", (0.0, 12.0, -16.0), radius=0.3, material="metal")}
    settings = {"tilt_deg": 20, "frequency_khz": 50, "buckets": 500, "max_range": 50, "rays_per_beam": 2000, **QUIET}
    plain = sonar("sidescan", ground=None, objects=ball, **settings).reading.port
    reading = sonar("sidescan", ground=None, objects=ball, multipath_db=6, **settings).reading
    extra = reading.port - plain
    r, other = np.hypot(12, 11), np.hypot(12, 21)
    centre = np.sum(extra * (np.arange(500) + 0.5)) / extra.sum() * 0.1
    assert centre == pytest.approx((r + other) / 2 - 0.25, abs=0.1)
    assert decibel(extra.sum() / plain.sum()) == pytest.approx(3 - 6 + 20 * np.log10(r / other), abs=0.7)


def test_interferometric_angles_are_those_of_the_seabed(sonar: Callable[..., Any]) -> None:
    """At slant range r over level ground the echo comes from asin(h/r) below level; codes are (π + a) · 20860.

    The points lie on the ground. Rays are 0.03° apart, which is 0.15 m across the beam at 24 m, and buckets 0.1 m long.
    """
    settings = {"tilt_deg": 20, "beam_breadth_deg": 60, "rays_per_beam": 2000, "max_range": 25, "buckets": 250}
    reading = sonar("sidescan", interferometric=True, **settings, **QUIET).reading
    r = (np.arange(250) + 0.5) * 0.1
    seen = (r > 10.3) & (r < 24)
    for codes, angles, side in (
        (reading.port_angle_codes, reading.port_angles, reading.port),
        (reading.starboard_angle_codes, reading.starboard_angles, reading.starboard),
    ):
        assert codes.dtype == np.uint16
        np.testing.assert_allclose(np.degrees(angles[seen]), -np.degrees(np.arcsin(10 / r[seen])), atol=0.15)
        np.testing.assert_allclose(codes[seen], (np.pi + angles[seen]) * 20860, atol=0.6)
        assert (codes[side == 0] == 0).all()
        np.testing.assert_array_equal(np.isnan(angles), side == 0)
    cloud = reading.cloud
    port = cloud.bucket < 250
    np.testing.assert_array_equal(cloud.bucket, np.flatnonzero(np.concatenate([reading.port, reading.starboard]) > 0))
    np.testing.assert_allclose(cloud.world_points[:, 2], -15, atol=0.1)
    np.testing.assert_allclose(np.linalg.norm(cloud.points, axis=1), cloud.ranges, rtol=1e-6)
    assert (cloud.points[port, 1] > 0).all()
    assert (cloud.points[~port, 1] < 0).all()
    np.testing.assert_array_equal(cloud.intensity[port], reading.port[reading.port > 0])


# ------------------------------------------------------------------------------------------------ noise


def test_speckle_is_exponential_and_the_same_for_the_same_seed(sonar: Callable[..., Any]) -> None:
    """Intensities of fully developed speckle have a mean of the echo and a standard deviation as large (Goodman 2007).

    Of 20 000 values the mean is right to 0.7 %, the standard deviation to 1.4 %; four of these are allowed.
    """
    settings = {"beam_breadth_deg": 40, "rays_per_beam": 20_000, "noise_level_db": None, "tvg": False}
    plain = sonar("mbes", speckle=False, **settings).reading.cloud
    first, again, other = (sonar("mbes", seed=seed, **settings).reading.cloud for seed in (1, 1, 2))
    ratio = first.intensity.astype(float) / plain.intensity
    assert ratio.mean() == pytest.approx(1, abs=0.03)
    assert ratio.std() == pytest.approx(1, abs=0.06)
    assert (ratio > 1).mean() == pytest.approx(np.exp(-1), abs=0.015)
    assert first.intensity.tobytes() == again.intensity.tobytes()
    assert (first.intensity != other.intensity).all()
    np.testing.assert_array_equal(first.points, plain.points)


@pytest.mark.parametrize("speckle", [True, False])
def test_noise_has_its_level_and_grows_with_time_varied_gain(sonar: Callable[..., Any], speckle: bool) -> None:
    """Without an echo the noise is 60 dB, exponential; a gain of 40 log r increases it with range."""
    settings = {"ground": None, "frequency_khz": 100, "buckets": 20_000, "noise_level_db": 60, "speckle": speckle}
    reading = sonar("sidescan", tvg=False, **settings).reading
    assert decibel(reading.port.mean(dtype=float)) == pytest.approx(60, abs=0.15)
    assert reading.port.std(dtype=float) / reading.port.mean(dtype=float) == pytest.approx(1, abs=0.06)
    assert not np.array_equal(reading.port, reading.starboard)
    raised = sonar("sidescan", tvg=True, tvg_spreading=40, **settings)
    alpha = raised.absorption(100)
    far = raised.reading.port[19_800:].mean(dtype=float) / reading.port[19_800:].mean(dtype=float)
    assert decibel(far) == pytest.approx(40 * np.log10(99.5) + 2 * alpha * 99.5, abs=0.2)
