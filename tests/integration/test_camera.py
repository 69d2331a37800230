"""Camera settings, optical frames, exposure and noise, and datasets made with a camera."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import simplejpeg
from pydantic import ValidationError

import skerry
from skerry.core.errors import SkerryError
from skerry.dataset import DatasetOptions, write_dataset
from skerry.parts.component import Mount
from skerry.rays.exposure import encode_srgb, metered_gain
from skerry.rays.sea_view import SeaView, intersect_water
from skerry.rays.surface import surface_hit
from skerry.rays.textures import LEVELS, TEXTURES, caustics, draw_patterns, texture, texture_parameters
from skerry.sensors.camera import Camera
from skerry.water import WaterConfig
from skerry.water.daylight import SkyConfig
from skerry.world import World


def camera(**settings: Any) -> Camera:
    return Camera.model_validate({"kind": "camera", "link": "base_link", "frequency": 10, **settings})


# ------------------------------------------------------------------------------------------------ settings


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"width": 0, "height": 0}, "greater than or equal to 1"),
        ({"width": 20000, "height": 20000}, "less than or equal to 4096"),
        ({"horizontal_fov_deg": 0}, "greater than 0"),
        ({"vertical_fov_deg": 180}, "less than 170"),
        ({"horizontal_fov_deg": 90, "vertical_fov_deg": 60}, "in 2 ways"),
        ({"vertical_fov_deg": 60, "intrinsics": {"fx": 5, "fy": 5, "cx": 3, "cy": 3}}, "in 2 ways"),
        ({"focal_length_mm": 3}, "must be given together"),
        ({"sensor_size_mm": [4.8, 3.6]}, "must be given together"),
        ({"sensor_size_mm": [4.8, 0], "focal_length_mm": 3}, "greater than 0"),
        ({"intrinsics": {"fx": 0, "fy": 5, "cx": 3, "cy": 3}}, "greater than 0"),
        ({"intrinsics": {"fx": 5, "fy": 5, "cx": 3}}, "required"),
        ({"distortion": [0.1, 0, 0]}, "required"),
        ({"horizontal_fov_deg": 120, "distortion": [-1.0, 0, 0, 0, 0]}, "folds the image over itself"),
        ({"exposure": "bright"}, "exposure"),
        ({"jpeg_quality": 0}, "greater than or equal to 1"),
        ({"shutter": -1}, "greater than or equal to 0"),
        ({"blur_samples": 1}, "greater than or equal to 2"),
        ({"read_noise": float("nan")}, "finite"),
    ],
)
def test_bad_settings_are_refused_with_a_clear_message(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        camera(**settings)


def test_the_three_forms_of_a_lens_agree() -> None:
    by_angle = camera(width=200, height=100, horizontal_fov_deg=2 * np.degrees(np.arctan(0.5))).lens()
    by_chip = camera(width=200, height=100, sensor_size_mm=[5, 2.5], focal_length_mm=5).lens()
    by_matrix = camera(width=200, height=100, intrinsics={"fx": 200, "fy": 200, "cx": 99.5, "cy": 49.5}).lens()
    for lens in (by_angle, by_chip):
        np.testing.assert_allclose(lens.matrix, by_matrix.matrix)


def test_a_camera_without_a_lens_has_a_vertical_field_of_view_of_60_degrees() -> None:
    lens = camera(width=64, height=48).lens()
    assert 2 * np.degrees(np.arctan(24 / lens.fy)) == pytest.approx(60)
    assert lens.fx == lens.fy


def test_a_part_on_a_ros_camera_frame_points_along_its_z() -> None:
    """Forward is z, left is −x and up is −y of a frame with x right, y down, z forward."""
    turn = Mount(link="camera", ros_camera=True).offset().rotation
    np.testing.assert_allclose(turn, [[0, -1, 0], [0, 0, -1], [1, 0, 0]], atol=1e-12)


def test_impossible_sky_settings_are_refused() -> None:
    for settings in ({"cloud": 1.1}, {"sun_elevation_deg": 91}, {"brightness": -1}, {"ambient": -0.1}):
        with pytest.raises(ValidationError):
            SkyConfig.model_validate(settings)


@pytest.mark.parametrize("elevation", [-10.0, -1.0, 0.0, 0.5, 10.0, 90.0])
@pytest.mark.parametrize("cloud", [0.0, 0.3, 1.0])
def test_daylight_is_finite_and_grows_with_the_suns_height(elevation: float, cloud: float) -> None:
    low = SkyConfig(sun_elevation_deg=elevation, cloud=cloud).build()
    high = SkyConfig(sun_elevation_deg=90.0, cloud=cloud).build()
    for colours in (low.sun, low.ambient, low.zenith, low.horizon, low.clouds):
        assert np.isfinite(colours).all()
        assert (colours >= 0).all()
    assert (low.sun <= high.sun + 1e-12).all()
    assert (low.ambient <= high.ambient + 1e-12).all()


# ------------------------------------------------------------------------------------------------ images


def scenario(folder: Path, **settings: Any) -> dict[str, Any]:
    (folder / "robot.urdf").write_text(
        '<robot name="rig"><link name="base_link"><inertial><mass value="20"/>'
        '<inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    part = {"kind": "camera", "link": "base_link", "frequency": 10, "width": 64, "height": 48, **settings}
    (folder / "vehicle.yaml").write_text("forces: {}\n")
    box = {"kind": "box", "size": [0.2, 1, 1]}
    return {
        "seed": 5,
        "gravity": 0,
        "water": {"optical_type": "I"},
        "terrain": {"kind": "flat", "depth": 6},
        "objects": {
            "back": {"geometry": box, "pose": {"position": [6.1, 0, -2]}, "category": "target"},
            "front": {"geometry": box, "pose": {"position": [3.1, 0.5, -2]}, "material": "buoy"},
        },
        "robots": {
            "rig": {
                "vehicle": str(folder),
                "pose": {"position": [0, 0, -2]},
                "overrides": {"sensors": {"camera": part}},
            }
        },
    }


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Any]:
    made: list[World] = []

    def build(**settings: Any) -> World:
        made.append(skerry.load(scenario(tmp_path, **settings)))
        return made[-1]

    yield build
    for world in made:
        world.close()


def reading_of(world: World) -> Any:
    return world.robots["rig"].sensors["camera"].reading


def test_a_reading_has_image_depth_bodies_labels_and_the_lens(make: Any) -> None:
    reading = reading_of(make())
    assert reading.image.shape == (48, 64, 3)
    assert reading.image.dtype == np.uint8
    assert reading.depth[24, 34] == pytest.approx(6.0, abs=1e-3)
    assert reading.body_names[reading.bodies[24, 34]] == "objects/back"
    assert reading.body_names[reading.bodies[24, 24]] == "objects/front"
    assert reading.labels[24, 24] == 3  # a buoy's
    assert reading.labels[24, 34] == 0
    assert reading.matrix[0, 0] == pytest.approx(24 / np.tan(np.radians(30)))
    assert (reading.distortion == 0).all()


def test_jpeg_gives_the_image_back_nearly_and_smaller_with_less_quality(make: Any) -> None:
    reading = reading_of(make())
    back = simplejpeg.decode_jpeg(reading.jpeg(95))
    assert np.abs(back.astype(float) - reading.image).mean() < 3
    assert len(reading.jpeg(20)) < len(reading.jpeg()) < len(reading.jpeg(98))
    with pytest.raises(SkerryError, match="1 to 100"):
        reading.jpeg(0)


def test_detections_have_boxes_and_know_what_is_hidden(make: Any) -> None:
    """The box in front, at 3 m, covers y ≥ 0, so that the left half of the box behind it, at 6 m, stays visible."""
    found = {item.name: item for item in reading_of(make(detections=True, width=256, height=192)).detections}
    front, back = found["front"], found["back"]
    assert front.visible == pytest.approx(1.0, abs=0.02)
    assert back.visible == pytest.approx(0.5, abs=0.03)
    assert (back.category, front.category) == ("target", "front")
    f = 96 / np.tan(np.radians(30))
    assert front.width == pytest.approx(f / 3, abs=2)
    assert back.x == pytest.approx(127.5, abs=1.5)
    assert back.y + back.height / 2 == pytest.approx(96, abs=1)
    assert back.distance == pytest.approx(6, abs=0.01)
    assert 0.5 < back.transmission < front.transmission < 1


def test_a_camera_reports_no_detections_by_default(make: Any) -> None:
    assert reading_of(make()).detections == ()


def test_noise_depends_on_the_seed_only(make: Any) -> None:
    quiet, *noisy = [reading_of(make(read_noise=noise)).image for noise in (0.0, 0.02, 0.02)]
    assert noisy[0].tobytes() == noisy[1].tobytes()
    assert noisy[0].tobytes() != quiet.tobytes()


def test_noise_has_the_configured_standard_deviation() -> None:
    light = np.full((200, 200, 3), 0.25, np.float32)
    bytes_ = encode_srgb(light, 1.0, shot=0.02, read=0.01, seed=7)
    levels = np.arange(256) / 255
    linear = np.where(levels <= 0.04045, levels / 12.92, ((levels + 0.055) / 1.055) ** 2.4)[bytes_]
    assert linear.mean() == pytest.approx(0.25, abs=2e-3)
    assert linear.std() == pytest.approx(np.sqrt(0.01**2 + 0.02**2 * 0.25), rel=0.05)


def test_exposure_is_in_stops_or_automatic(make: Any) -> None:
    dark, bright = (reading_of(make(exposure=stops)) for stops in (-2.0, 2))
    assert (dark.gain, bright.gain) == (0.25, 4.0)
    assert dark.image.mean() < bright.image.mean()
    assert metered_gain(np.full((40, 40, 3), 0.01, np.float32)) == pytest.approx(18.0)
    assert metered_gain(np.zeros((4, 4, 3), np.float32)) == 2.0**10


def test_motion_blurs_while_the_shutter_is_open(make: Any) -> None:
    sharp, blurred = make(width=128, height=96), make(width=128, height=96, shutter=0.1, blur_samples=16)
    edges = []
    for world in (sharp, blurred):
        world._engine.part("qvel")[0, 5] = 0.8  # turns to the left
        world._engine.refresh()
        row = reading_of(world).image[48].astype(float).sum(axis=-1)
        edges.append(np.abs(np.diff(row)).max())
    assert edges[1] < 0.5 * edges[0]
    assert reading_of(sharp).depth.tobytes() == reading_of(blurred).depth.tobytes()


def test_an_image_rendered_in_a_thread_shows_its_own_sample(make: Any) -> None:
    """The world may advance while a large image is rendered; the image is the same as without a thread."""
    images = []
    for wait in (True, False):
        world = make(width=160, height=120)
        world._engine.part("qvel")[0, 5] = 0.8
        mounted = world.robots["rig"].sensors["camera"]
        assert mounted.sensor.execution == "thread"
        _ = mounted.reading
        for _ in range(20):
            world.advance(0.01)
            if wait:
                _ = mounted.reading
        images.append(mounted.reading.image.tobytes())
    assert images[0] == images[1]


def test_sams_cameras_point_where_their_names_say() -> None:
    """Ahead; straight down with the top of the image ahead; ahead to both sides, 15° down."""
    with skerry.load("sam_empty") as world:
        sam = world.robots["sam"]
        back = sam.pose.inverse()
        looks = {}
        for name in ("front", "down", "port", "starboard"):
            mounted = sam.sensors[f"camera_{name}"]
            pose = back @ mounted.sensor.optical_pose(mounted.view)
            looks[name] = pose.rotation[:, 2]
            if name == "down":
                np.testing.assert_allclose(-pose.rotation[:, 1], [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(looks["front"], [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(looks["down"], [0, 0, -1], atol=1e-6)
    np.testing.assert_allclose(looks["port"], [0.69, 0.67, -0.27], atol=0.01)
    np.testing.assert_allclose(looks["starboard"], [0.69, -0.67, -0.27], atol=0.01)


# ------------------------------------------------------------------------------------------------ textures


@pytest.mark.parametrize("name", sorted(TEXTURES))
def test_a_texture_is_one_on_average_and_fades_in_the_distance(name: str) -> None:
    one = np.float32
    first, tiles, broad = texture_parameters(name, 0.5)
    kind = (int(first), one(tiles), one(broad))
    places = np.random.default_rng(1).uniform(-30, 30, (2000, 2)).astype(np.float32)
    near = [texture(draw_patterns(), *kind, 0, 0, x, y) for x, y in places]
    far = [texture(draw_patterns(), *kind, LEVELS - 1, LEVELS - 1, x, y) for x, y in places]
    assert np.mean(near) == pytest.approx(1.0, abs=0.12)
    assert np.std(far) < 0.01
    assert np.std(near) > 0.02 or name == "plain"


@pytest.mark.parametrize("footprint", [0.001, 0.1, 100.0])
def test_caustics_move_light_about_but_make_none(footprint: float) -> None:
    one = np.float32
    places = np.random.default_rng(1).uniform(-30, 30, (3000, 2)).astype(np.float32)
    for time in (0.0, 50.0):
        found = [caustics(draw_patterns(), x, y, one(time), one(footprint)) for x, y in places]
        assert np.mean(found) == pytest.approx(1.0, abs=0.05)
        assert np.min(found) > 0
    assert (np.std(found) > 0.2) == (footprint < 1.0)


def test_caustics_are_off_by_default(make: Any) -> None:
    smooth, rough = (reading_of(make(caustics=strength, exposure=0)).image for strength in (0.0, 1.0))
    assert smooth.tobytes() != rough.tobytes()


# ------------------------------------------------------------------------------------------------ datasets


def test_a_dataset_is_the_same_for_the_same_seed_and_has_all_its_files(tmp_path: Path) -> None:
    (tmp_path / "rig").mkdir()
    source = scenario(tmp_path / "rig")
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        seen: list[int] = []
        labels = write_dataset(source, "rig/camera", tmp_path / name, DatasetOptions(4, seed), watch=seen.append)
        assert seen == [1, 2, 3, 4]
        assert labels > 0
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file())
    assert len(files) == 10
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    picture = Path("images") / "000000.jpg"
    assert (tmp_path / "one" / picture).read_bytes() != (tmp_path / "three" / picture).read_bytes()
    for line in (tmp_path / "one" / "train.txt").read_text().splitlines():
        assert (tmp_path / "one" / line).is_file()
    for path in (tmp_path / "one" / "labels").iterdir():
        for line in path.read_text().splitlines():
            number, *box = line.split()
            assert number in {"0", "1"}
            assert all(0 <= float(value) <= 1 for value in box)
    assert "target" in (tmp_path / "one" / "data.yaml").read_text()


def test_a_dataset_with_impossible_options_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rig").mkdir()
    source = scenario(tmp_path / "rig")
    with pytest.raises(SkerryError, match="did you mean 'rig/camera'"):
        write_dataset(source, "rig/camara", tmp_path / "out", DatasetOptions(1))
    with pytest.raises(SkerryError, match="is not empty"):
        write_dataset(source, "rig/camera", tmp_path / "rig", DatasetOptions(1))
    with pytest.raises(SkerryError, match="1 to 1000000"):
        DatasetOptions(0)
    with pytest.raises(SkerryError, match="no objects or robots"):
        write_dataset({**source, "objects": {}}, "rig/camera", tmp_path / "out", DatasetOptions(1))
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------------ the sea


def test_rays_of_an_image_hit_the_same_water_as_those_of_other_sensors() -> None:
    """Single precision by cells, and double precision: the same position within 2 cm for most rays."""
    water = WaterConfig.model_validate(
        {"surface": {"kind": "waves", "height": 0.6, "period": 4, "heading_deg": 60, "seed": 2}}
    ).build(9.81)
    sea = SeaView.around(lambda points: water.sample(points, 3.0, need=0).height, [0.0, 0.0, 2.0], 0.5)
    numbers, heights = sea.patch.numbers, sea.patch.heights
    random = np.random.default_rng(4)
    off = []
    for number in range(400):
        z = 2.0 if number % 2 else -2.0
        d = random.normal(size=3)
        d[2] = -np.sign(z) * abs(d[2])
        x, y, dz = (np.float32(value) for value in d / np.linalg.norm(d))
        place = (np.float32(0.3), np.float32(-0.2), np.float32(z))
        found = intersect_water(numbers, heights, *place, x, y, dz, int(z < 0), np.float32(np.inf))
        expected = surface_hit(numbers, heights, *(float(value) for value in (*place, x, y, dz)), np.inf)
        assert np.isfinite(found) == np.isfinite(expected)
        if np.isfinite(expected):
            off.append(abs(float(found) - expected) * abs(float(dz)))
    assert len(off) > 350
    assert np.quantile(off, 0.98) < 0.02
