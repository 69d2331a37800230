"""Terrain: heights, normals and materials of every kind, triangles, contact shape, and files."""

import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from skerry.core.config import config_of, resolve_paths_from
from skerry.core.errors import FileError, SkerryError
from skerry.core.kernels import call3, kernel
from skerry.core.meshes import Mesh, box, concatenate, flip, transform
from skerry.formats.mesh_files import write_stl
from skerry.formats.png import read_grey_png
from skerry.formats.yaml_documents import parse_document
from skerry.terrain import TERRAINS, ContactHeightfield, ContactPlane, Terrain
from skerry.terrain.function import FUNCTIONS, smooth_noise
from skerry.terrain.ground import HEIGHT, MATERIAL, NORMAL, ROWS
from skerry.terrain.kinds.flat import FlatTerrain
from skerry.terrain.kinds.heightfield import HeightfieldGround, HeightfieldTerrain
from skerry.terrain.kinds.mesh import MeshGround, MeshTerrain

RANDOM = np.random.default_rng(7)
BUMPS = np.round(RANDOM.uniform(-8, 5, (6, 9)), 3)
POINTS = RANDOM.uniform((-3.9, -2.4), (3.9, 2.4), (500, 2))


@kernel
def ask(address: int, table: int, count: int, rows: int) -> None:
    call3(address, table, count, rows)


def bumpy(**settings: Any) -> HeightfieldGround:
    return HeightfieldTerrain(size=(8.0, 5.0), array=BUMPS, **settings).build()


def as_mesh(ground: Terrain, contact_resolution: float = 0.5) -> MeshGround:
    return MeshGround(ground.triangles(), contact_resolution, 0.6)


def every_kind() -> list[Terrain]:
    return [FlatTerrain(depth=12).build(), bumpy(material_map=[[0, 1]], materials=("mud", "rock")), as_mesh(bumpy())]


# ------------------------------------------------------------------------------------------------ all kinds


def test_the_kinds_of_terrain_are_found_by_name() -> None:
    assert TERRAINS.kinds() == ["flat", "georeferenced", "heightfield", "mesh"]
    chosen: Any = TypeAdapter(config_of(TERRAINS)).validate_python({"kind": "flat", "depth": 3})
    assert chosen == FlatTerrain(depth=3)


@pytest.mark.parametrize("ground", every_kind(), ids=lambda ground: type(ground).__name__)
def test_native_code_gets_the_same_answer_as_python(ground: Terrain) -> None:
    points = np.vstack([POINTS, [[4.0, 2.5], [100.0, 0.0], [math.nan, 0.0], [0.0, math.inf]]])
    rows = np.empty((ROWS, len(points)))
    rows[:2] = points.T
    ask(ground.address, ground.table_address, len(points), rows.ctypes.data)
    sample = ground.sample(points)
    np.testing.assert_array_equal(rows[HEIGHT], sample.height)
    np.testing.assert_array_equal(rows[NORMAL : NORMAL + 3].T, sample.normal)
    np.testing.assert_array_equal(rows[MATERIAL], sample.material)
    assert np.isfinite(sample.height[:-3]).all()


@pytest.mark.parametrize("ground", every_kind(), ids=lambda ground: type(ground).__name__)
def test_answers_have_the_shape_of_the_points(ground: Terrain) -> None:
    points = POINTS.reshape(5, 100, 2)
    assert ground.height(points).shape == (5, 100)
    assert ground.normal(points).shape == (5, 100, 3)
    assert ground.material(points).shape == (5, 100)
    assert ground.height(POINTS[0]).shape == ()
    assert ground.height(POINTS[0]) == ground.height(points)[0, 0]
    assert ground.height(np.empty((0, 2))).shape == (0,)


@pytest.mark.parametrize("ground", every_kind(), ids=lambda ground: type(ground).__name__)
def test_a_point_that_is_not_a_number_has_no_ground(ground: Terrain) -> None:
    sample = ground.sample([[math.nan, 0.0], [0.0, math.nan]])
    assert np.isnan(sample.height).all() and np.isnan(sample.normal).all()
    assert (sample.material == -1).all()


@pytest.mark.parametrize("ground", every_kind(), ids=lambda ground: type(ground).__name__)
def test_triangles_are_the_surface_that_the_height_tells(ground: Terrain) -> None:
    mesh = ground.triangles()
    corners = mesh.vertices[mesh.faces]
    middle = corners.mean(axis=1)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    sample = ground.sample(middle[:, :2])
    np.testing.assert_allclose(sample.height, middle[:, 2], atol=1e-12)
    np.testing.assert_allclose(sample.normal, normal, atol=1e-12)
    np.testing.assert_array_equal(sample.material, mesh.face_materials)
    assert mesh.materials == ground.materials


def test_points_with_three_coordinates_are_refused() -> None:
    with pytest.raises(SkerryError, match=r"2 coordinates each, but have the shape \(4, 3\)"):
        FlatTerrain(z=0).build().height(np.zeros((4, 3)))


def test_friction_is_passed_on_and_cannot_be_negative() -> None:
    assert FlatTerrain(z=0, friction=0.9).build().friction == 0.9
    with pytest.raises(ValidationError, match="friction"):
        FlatTerrain(z=0, friction=-0.1)


# ------------------------------------------------------------------------------------------------ flat


def test_flat_ground_lies_at_its_depth_everywhere() -> None:
    ground = FlatTerrain(depth=12.5, material="mud").build()
    sample = ground.sample([[0.0, 0.0], [1e6, -3e7]])
    assert sample.height.tolist() == [-12.5, -12.5]
    assert sample.normal.tolist() == [[0, 0, 1]] * 2
    assert [ground.materials[k] for k in sample.material] == ["mud", "mud"]
    assert ground.contact == ContactPlane(-12.5)
    assert ground.extent == (-math.inf, -math.inf, math.inf, math.inf)


def test_flat_ground_may_stand_above_the_water() -> None:
    assert FlatTerrain(z=2.0).build().height([0, 0]) == 2.0


@pytest.mark.parametrize("settings", [{}, {"depth": 3, "z": -3}])
def test_flat_ground_needs_a_depth_or_a_z(settings: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="either `depth` or `z`"):
        FlatTerrain(**settings)


# ---------------------------------------------------------------------------------------------- heightfields


def test_a_slope_has_its_height_and_normal_everywhere() -> None:
    settings = {"kind": "slope", "slope_deg": 30, "heading_deg": 60}
    ground = HeightfieldTerrain(size=(40, 30), center=(100, -50), level=-7, function=settings, shape=(4, 5)).build()
    points = RANDOM.uniform((80, -65), (120, -35), (200, 2))
    east, north = math.sin(math.radians(60)), math.cos(math.radians(60))
    along = (points - (100, -50)) @ (east, north)
    np.testing.assert_allclose(ground.height(points), -7 + along * math.tan(math.radians(30)), atol=1e-12)
    normal = (-east * 0.5, -north * 0.5, math.cos(math.radians(30)))
    np.testing.assert_allclose(ground.normal(points), np.tile(normal, (200, 1)), atol=1e-12)


def test_heights_at_nodes_are_the_data_with_the_first_row_north() -> None:
    ground = bumpy(level=-20, center=(30, 40))
    x, y = np.meshgrid(np.linspace(26, 34, 9), np.linspace(42.5, 37.5, 6))
    np.testing.assert_allclose(ground.height(np.stack([x, y], axis=-1)), BUMPS - 20, atol=1e-12)
    assert ground.extent == (26, 37.5, 34, 42.5)


def test_the_ground_is_continuous_across_diagonals_and_cell_edges() -> None:
    ground = bumpy()
    along = np.linspace(0.001, 0.999, 50)[:, None]
    for start, end in (([-4, -2.5], [-3, -1.5]), ([-3, -2.5], [-3, -1.5]), ([-4, -1.5], [-3, -1.5])):
        line = np.array(start) * (1 - along) + np.array(end) * along
        aside = np.array([1e-9, -1e-9])
        one, other = ground.height(line - aside), ground.height(line + aside)
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_a_cell_folds_from_its_south_west_to_its_north_east_corner() -> None:
    ground = HeightfieldTerrain(size=(1, 1), center=(0.5, 0.5), array=[[0, 1], [1, 0]]).build()
    # North-west 0, north-east 1, south-west 1, south-east 0: the fold is a crest at 1.
    np.testing.assert_allclose(ground.height([[0.25, 0.25], [0.5, 0.5], [0.75, 0.75]]), 1.0)
    np.testing.assert_allclose(ground.height([[0.75, 0.25], [0.25, 0.75]]), 0.5)
    np.testing.assert_allclose(ground.normal([0.75, 0.25]), np.array([1, -1, 1]) / math.sqrt(3))


def test_there_is_ground_up_to_the_edge_and_none_beyond() -> None:
    ground = bumpy()
    assert np.isfinite(ground.height([[-4, -2.5], [4, 2.5], [-4, 2.5], [4, -2.5]])).all()
    outside = ground.sample([[4 + 1e-9, 0], [-4 - 1e-9, 0], [0, 2.5 + 1e-9], [0, -2.5 - 1e-9]])
    assert np.isnan(outside.height).all()
    assert np.isnan(outside.normal).all()
    assert (outside.material == -1).all()


def test_bodies_touch_the_same_nodes() -> None:
    ground = bumpy(center=(1, 2), level=-6000)
    contact = ground.contact
    assert isinstance(contact, ContactHeightfield)
    assert (contact.center, contact.half_size) == ((1, 2), (4, 2.5))
    assert contact.heights.dtype == np.float32 and contact.thickness > 0
    assert contact.heights.min() == 0 and contact.lowest == ground.heights.min()
    # Rows run northwards here, southwards in the data. Single precision alone is 0.2 mm off at 6000 m.
    np.testing.assert_allclose(contact.lowest + 6000 + contact.heights[::-1].astype(float), BUMPS, atol=1e-5)


# ------------------------------------------------------------------------------------------------ materials


def test_one_material_covers_the_whole_field() -> None:
    ground = bumpy(material="gravel")
    assert ground.materials == ("gravel",)
    assert (ground.material(POINTS) == 0).all()
    assert bumpy().materials == ("sand",)


def test_a_material_map_gives_each_cell_a_material_by_name() -> None:
    names = ("sand", "rock", "mud")
    ground = HeightfieldTerrain(
        size=(4, 4), array=np.zeros((5, 5)), material_map=[[0, 1], [2, 0]], materials=names
    ).build()
    quarters = [[-0.9, 0.9], [0.9, 0.9], [-0.9, -0.9], [0.9, -0.9]]
    assert [ground.materials[k] for k in ground.material(quarters)] == ["sand", "rock", "mud", "sand"]


def test_a_material_map_may_be_an_image(tmp_path: Path) -> None:
    write_png(tmp_path / "map.png", np.array([[2, 2, 2, 2], [0, 0, 0, 1]], np.uint8))
    ground = bumpy(material_map=tmp_path / "map.png", materials=("sand", "rock", "mud"))
    assert ground.material([[-3.5, 2], [3.5, 2], [-3.5, -2], [3.5, -2]]).tolist() == [2, 2, 0, 1]


# ------------------------------------------------------------------------------------------------ functions


SEEDED = [
    {"kind": "hills"},
    {"kind": "ridges"},
    {"kind": "boulders", "size": [60, 60]},
    {"kind": "island", "ragged": 0.2},
    {"kind": "sum", "terms": [{"kind": "slope"}, {"kind": "hills", "octaves": 2}]},
]


def of_function(function: dict[str, Any], size: float = 60, resolution: float = 1.5) -> HeightfieldTerrain:
    return HeightfieldTerrain(size=(size, size), function=function, resolution=resolution)


def test_the_functions_are_found_by_name() -> None:
    assert FUNCTIONS.kinds() == ["boulders", "channel", "hills", "island", "ridges", "slope", "sum"]


@pytest.mark.parametrize("function", SEEDED, ids=lambda function: function["kind"])
def test_a_seed_gives_the_same_ground_each_time_and_another_seed_another(function: dict[str, Any]) -> None:
    first, again, other = (of_function(function).with_seed(seed).build().heights for seed in (5, 5, 6))
    assert first.tobytes() == again.tobytes()
    assert np.abs(first - other).max() > 0.01


def test_the_scenarios_seed_is_used_only_where_none_is_set() -> None:
    config = of_function({"kind": "sum", "terms": [{"kind": "hills", "seed": 3}, {"kind": "ridges"}]})
    seeded = config.with_seed(9)
    assert seeded.function is not None and config.function is not None
    assert [term.seed for term in seeded.function.terms] == [3, 9]
    assert config.function.terms[1].seed is None
    assert seeded.with_seed(10) == seeded
    assert bumpy_config().with_seed(9) == bumpy_config()
    assert FlatTerrain(z=0).with_seed(9) == FlatTerrain(z=0)


def bumpy_config() -> HeightfieldTerrain:
    return HeightfieldTerrain(size=(8, 5), array=BUMPS)


def test_a_random_function_without_a_seed_is_refused() -> None:
    with pytest.raises(SkerryError, match="'hills' has no seed"):
        of_function({"kind": "hills"}).build()


def test_hills_do_not_depend_on_the_grid() -> None:
    function = {"kind": "hills", "seed": 4}
    coarse, fine = of_function(function, 60, 2).build(), of_function(function, 40, 1).build()
    nodes = np.stack(np.meshgrid(np.arange(-20, 21, 2), np.arange(-20, 21, 2)), axis=-1)
    np.testing.assert_allclose(coarse.height(nodes), fine.height(nodes), atol=1e-9)


def test_three_standard_deviations_of_hills_are_their_amplitude() -> None:
    function = {"kind": "hills", "amplitude": 6, "wavelength": 10, "seed": 1}
    heights = of_function(function, 1000, 2).build().heights
    # Of some (1000 π / 10)² random numbers the deviation is known to about one percent.
    assert 3 * heights.std() == pytest.approx(6, rel=0.03)
    assert abs(heights.mean()) < 0.05


def test_hills_much_finer_than_the_grid_take_little_memory() -> None:
    function = {"kind": "hills", "amplitude": 6, "wavelength": 0.01, "octaves": 16, "gain": 1, "seed": 1}
    heights = of_function(function, 1000, 5).build().heights
    assert 3 * heights.std() == pytest.approx(6, rel=0.03)


def test_hills_are_smooth() -> None:
    x = np.linspace(-3, 3, 6001)
    field = smooth_noise(x, np.zeros(1), 1, 0)[0]
    curvature = np.diff(field, 2) / 1e-6
    assert np.abs(curvature).max() < 30
    assert np.abs(np.diff(curvature)).max() < 0.1


def test_ridges_have_their_height_and_wavelength() -> None:
    function = {"kind": "ridges", "height": 2, "wavelength": 10, "heading_deg": 90, "wander": 0, "seed": 1}
    ground = of_function(function, 60, 0.5).build()
    np.testing.assert_allclose(ground.height([[0, 0], [5, 7], [10, -3], [-15, 2]]), [1, -1, 1, -1], atol=1e-12)


def test_an_island_has_its_top_in_the_middle_and_leaves_the_ground_beyond_its_foot() -> None:
    """s = (r − plateau)/(R − plateau): the height is ground + (1 − s²)² (top − ground)."""
    terms = [
        {"kind": "slope", "height": -20},
        {"kind": "island", "center": [3, -6], "radius": 15, "top": 4, "plateau": 0.2},
    ]
    alone = of_function({"kind": "sum", "terms": terms[:1]}, resolution=0.5).build()
    ground = of_function({"kind": "sum", "terms": terms}, resolution=0.5).build()
    assert ground.height([3.0, -6.0]) == ground.height([5.0, -6.0]) == 4.0
    far = POINTS * 7
    far = far[np.hypot(*(far - (3, -6)).T) > 16]
    np.testing.assert_array_equal(ground.height(far), alone.height(far))
    before, share = float(alone.height([12.0, -6.0])), (1 - ((9 - 3) / 12) ** 2) ** 2
    assert ground.height([12.0, -6.0]) == pytest.approx(before + share * (4 - before), abs=1e-9)


def test_a_ragged_island_strays_by_its_share_of_the_radius() -> None:
    """The shore of an island with `ragged: 0.1` is within three standard deviations, 6 m, of a round shore of 20 m."""
    island = {"kind": "island", "radius": 20, "top": 10, "ragged": 0.1, "seed": 4}
    ground = of_function(
        {"kind": "sum", "terms": [{"kind": "slope", "slope_deg": 0, "height": -10}, island]}, resolution=0.25
    )
    heights = ground.build().heights
    x = np.linspace(-30, 30, heights.shape[0])
    away = np.hypot(x[None, :], x[:, None])
    round_one = 20 * np.sqrt(1 - np.sqrt(0.5))
    shore = away[np.abs(heights) < 0.2]
    assert shore.std() > 0.3
    assert np.abs(shore / round_one - 1).max() < 0.4
    assert (heights[away > 20 * 1.4] == -10).all()


def test_a_channel_has_its_floor_and_its_sides_and_spares_what_is_deeper() -> None:
    channel = {"kind": "channel", "points": [[-40, 0], [40, 0]], "width": 8, "floor": -12, "side_slope_deg": 45}
    ground = of_function(
        {"kind": "sum", "terms": [{"kind": "slope", "slope_deg": 0, "height": -5}, channel]}, resolution=1
    )
    built = ground.build()
    np.testing.assert_allclose(built.height([[0, 0], [-20, 3.9], [10, 8], [10, 20]]), [-12, -12, -8, -5], atol=1e-9)
    deep = of_function({"kind": "sum", "terms": [{"kind": "slope", "slope_deg": 0, "height": -30}, channel]})
    assert (deep.build().heights == -30).all()


def test_boulders_are_as_many_and_as_high_as_they_should_be() -> None:
    boulders = {"kind": "boulders", "count": 40, "radius": [1, 2], "flatness": 0.5, "size": [50, 50], "seed": 2}
    heights = of_function(boulders, resolution=0.1).build().heights
    assert 0.9 < heights.max() <= 1.0
    # half ellipses of π r² each, on average π (b² − a²)/(2 ln b/a) for radii even in the logarithm; overlaps hide some
    expected = 40 * math.pi * (4 - 1) / (2 * math.log(2)) / 3600
    assert 0.7 * expected < (heights > 0).mean() < 1.1 * expected


def test_regions_give_materials_by_height_and_slope_and_the_first_that_fits_counts() -> None:
    ramp = np.add.outer(np.zeros(21), np.concatenate([np.linspace(-10, 0, 11), np.linspace(3, 30, 10)]))
    regions = (
        {"material": "rock", "steeper_than_deg": 60},
        {"material": "sand", "above": -4},
        {"material": "mud", "below": -8},
    )
    ground = HeightfieldTerrain(size=(20, 20), array=ramp, material="gravel", regions=regions).build()
    found = [ground.materials[k] for k in ground.material([[-9.5, 0], [-4.5, 0], [-1.5, 0], [5.5, 0]])]
    assert found == ["mud", "gravel", "sand", "rock"]
    assert set(ground.materials) == {"gravel", "rock", "sand", "mud"}


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ({"above": 3, "below": 1}, "`above` must be less than `below`"),
        ({"steeper_than_deg": 30, "flatter_than_deg": 20}, "`steeper_than_deg` must be less"),
    ],
)
def test_a_region_that_holds_nothing_is_refused(region: dict[str, float], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        HeightfieldTerrain(size=(8, 5), array=BUMPS, regions=[{"material": "mud", **region}])


def test_a_sum_adds_its_terms() -> None:
    slope, hills = {"kind": "slope", "slope_deg": 3}, {"kind": "hills", "seed": 2}
    both = of_function({"kind": "sum", "terms": [slope, hills]}).build().heights
    np.testing.assert_allclose(both, of_function(slope).build().heights + of_function(hills).build().heights)


def test_a_resolution_is_the_longest_way_between_nodes() -> None:
    slope = {"kind": "slope"}
    assert HeightfieldTerrain(size=(10, 1), function=slope, resolution=0.1).build().heights.shape == (11, 101)
    assert HeightfieldTerrain(size=(10, 1), function=slope, resolution=3).build().heights.shape == (2, 5)
    assert HeightfieldTerrain(size=(10, 1), function=slope, shape=(3, 7)).build().heights.shape == (3, 7)


# ------------------------------------------------------------------------------------------------ files


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def filtered(line: bytes, above: bytes, kind: int, step: int) -> bytes:
    """Return a filtered line of a PNG, from the specification's formulas, one byte at a time."""
    result = [kind]
    for k, value in enumerate(line):
        a, b, c = (line[k - step], above[k], above[k - step]) if k >= step else (0, above[k], 0)
        paeth = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
        result.append((value - (0, a, b, (a + b) // 2, paeth)[kind]) % 256)
    return bytes(result)


def png_bytes(
    pixels: NDArray[Any], filters: tuple[int, ...] = (0,), colour: int = 0, interlace: int = 0, depth: int = 0
) -> bytes:
    rows, columns = pixels.shape
    step = pixels.dtype.itemsize
    lines = [line.astype(pixels.dtype.newbyteorder(">")).tobytes() for line in pixels]
    above = [bytes(columns * step), *lines]
    data = b"".join(filtered(line, above[r], filters[r % len(filters)], step) for r, line in enumerate(lines))
    header = struct.pack(">IIBBBBB", columns, rows, depth or 8 * step, colour, 0, 0, interlace)
    packed = zlib.compress(data)
    parts = [chunk(b"IDAT", packed[: len(packed) // 2]), chunk(b"IDAT", packed[len(packed) // 2 :])]
    text = chunk(b"tEXt", b"Title\0depths")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + text + b"".join(parts) + chunk(b"IEND", b"")


def write_png(path: Path, pixels: NDArray[Any], **settings: Any) -> Path:
    path.write_bytes(png_bytes(pixels, **settings))
    return path


@pytest.mark.parametrize("filters", [(0,), (1,), (2,), (3,), (4,), (4, 3, 2, 1, 0, 3, 1)])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_png_reads_back_as_it_was_written(
    filters: tuple[int, ...], dtype: type[np.unsignedinteger[Any]], tmp_path: Path
) -> None:
    pixels = RANDOM.integers(0, np.iinfo(dtype).max, (31, 17), dtype, endpoint=True)
    read = read_grey_png(write_png(tmp_path / "a.png", pixels, filters=filters), 10_000)
    np.testing.assert_array_equal(read, pixels)
    assert read.dtype == dtype


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_black_is_the_lowest_and_white_the_highest_height(dtype: type[np.unsignedinteger[Any]], tmp_path: Path) -> None:
    white = np.iinfo(dtype).max
    write_png(tmp_path / "a.png", np.array([[0, white], [white // 5, 0]], dtype))
    with resolve_paths_from(tmp_path):
        config = HeightfieldTerrain(size=(2, 2), png="a.png", lowest=-30, highest=-10, level=1)
    corners = [
        [-1, 1],
        [1, 1],
        [-1, -1],
        [1, -1],
    ]  # the image's top left, top right, bottom left, bottom right
    np.testing.assert_allclose(config.build().height(corners), [-29, -9, -25, -29], atol=1e-9)


def broken_pngs() -> dict[str, tuple[bytes, str]]:
    pixels = RANDOM.integers(0, 65535, (8, 8), np.uint16)
    sound = png_bytes(pixels)
    head = sound[:8]
    flipped = bytearray(sound)
    flipped[80] ^= 1
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 16, 0, 0, 0, 0))
    end = chunk(b"IEND", b"")
    return {
        "empty": (b"", "is not a PNG"),
        "text": (b"P2 8 8 255\n", "is not a PNG"),
        "colour": (png_bytes(pixels, colour=2), "must be greyscale, but is RGB colour"),
        "palette": (png_bytes(pixels, colour=3), "must be greyscale, but is palette"),
        "alpha": (png_bytes(pixels, colour=4), "greyscale with alpha"),
        "depth": (png_bytes(pixels, depth=4), "8 or 16 bits per pixel"),
        "interlaced": (png_bytes(pixels, interlace=1), "is interlaced"),
        "truncated": (sound[:100], "is truncated"),
        "without end": (sound[:-12], "is truncated"),
        "checksum": (bytes(flipped), "the checksum of the chunk"),
        "no header": (head + end, "header has 0 bytes"),
        "no pixels": (head + header + end, "need 136 bytes, found 0"),
        "few pixels": (head + header + chunk(b"IDAT", zlib.compress(bytes(99))) + end, "found 99"),
        "many pixels": (head + header + chunk(b"IDAT", zlib.compress(bytes(999))) + end, "found more"),
        "not zlib": (head + header + chunk(b"IDAT", b"hello") + end, "is damaged: Error"),
        "filter": (head + header + chunk(b"IDAT", zlib.compress(b"\5" * 136)) + end, "filter 5 is unknown"),
        "one row": (png_bytes(pixels[:1]), "at least 2 rows and 2 columns"),
        "one column": (png_bytes(pixels[:, :1]), "at least 2 rows and 2 columns"),
        "too large": (
            head + chunk(b"IHDR", struct.pack(">IIBBBBB", 5000, 5000, 16, 0, 0, 0, 0)) + end,
            "5000 × 5000 pixels",
        ),
    }


@pytest.mark.parametrize("name", broken_pngs())
def test_a_broken_png_is_refused_with_a_message(name: str, tmp_path: Path) -> None:
    data, words = broken_pngs()[name]
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with pytest.raises(FileError, match=words) as caught:
        HeightfieldTerrain(size=(2, 2), png=path, lowest=-30, highest=-10).build()
    assert caught.value.source == str(path)


def test_a_png_that_has_gone_is_refused_with_a_message(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_grey_png(tmp_path / "gone.png", 100)


def test_an_npy_file_gives_the_same_ground_as_its_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", BUMPS)
    from_file = HeightfieldTerrain(size=(8, 5), array=tmp_path / "a.npy").build()
    np.testing.assert_array_equal(from_file.heights, bumpy().heights)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.full((3, 3), np.nan), "9 heights that are not finite, the first in row 0, column 0"),
        (np.array([[0, 1], [np.inf, 0]]), "1 heights that are not finite, the first in row 1, column 0"),
        (np.zeros((1, 5)), r"at least 2 rows and 2 columns .* \(1, 5\)"),
        (np.zeros(5), r"has the shape \(5,\)"),
        (np.zeros((2, 2), complex), "must contain real numbers, found complex128"),
        (
            np.broadcast_to(np.int8(0), (4097, 4096)),
            r"at most 16777216 heights, but has the shape \(4097, 4096\)",
        ),
    ],
)
def test_an_npy_file_of_unfit_numbers_is_refused(array: NDArray[Any], words: str, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(FileError, match=words):
        HeightfieldTerrain(size=(8, 5), array=tmp_path / "a.npy").build()


@pytest.mark.parametrize("data", [b"", b"some words", b"\x93NUMPY\x01\x00"])
def test_a_file_that_is_no_npy_is_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises(FileError, match=r"is not a valid \.npy file"):
        HeightfieldTerrain(size=(8, 5), array=tmp_path / "a.npy").build()


# ------------------------------------------------------------------------------------------------ settings

SLOPE = {"kind": "slope"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "give exactly one of `array`, `png` and `function`"),
        ({"array": BUMPS, "function": SLOPE, "resolution": 1}, "found array and function"),
        ({"array": BUMPS, "size": (0, 5)}, "greater than 0"),
        ({"array": BUMPS, "size": (5, -1)}, "greater than 0"),
        ({"array": [[0, 1], [2, math.nan]]}, "finite number"),
        ({"array": [[0, 1], [math.inf, 2]]}, "finite number"),
        ({"array": [[0, 1]]}, "`array` needs at least 2 rows and 2 columns"),
        ({"array": [[0], [1]]}, "`array` needs at least 2 rows and 2 columns"),
        ({"array": []}, "`array` needs at least 2 rows"),
        ({"array": [[0, 1], [2, 3, 4]]}, "the rows of `array` must have the same length, found 2 to 3"),
        ({"array": "gone.npy"}, "there is no file"),
        ({"array": BUMPS, "lowest": -3}, "are only for a `png`"),
        ({"array": BUMPS, "resolution": 1}, "are only for a `function`"),
        ({"png": "gone.png", "lowest": -3, "highest": 3}, "there is no file"),
        ({"png": __file__}, "needs `lowest` and `highest`"),
        ({"png": __file__, "lowest": 3, "highest": 3}, "needs `lowest` and `highest`"),
        ({"function": SLOPE}, "needs either `resolution` or `shape`"),
        ({"function": SLOPE, "resolution": 1, "shape": (3, 3)}, "needs either `resolution` or `shape`"),
        ({"function": SLOPE, "shape": (1, 3)}, "greater than or equal to 2"),
        ({"function": SLOPE, "shape": (4097, 4096)}, "4097 × 4096 nodes exceed the limit"),
        ({"function": SLOPE, "resolution": 1e-320, "size": (1e300, 1)}, "nodes exceed the limit"),
        ({"function": {"kind": "hils"}, "resolution": 1}, "did you mean 'hills'"),
        ({"function": {"kind": "hills", "octaves": 0}, "resolution": 1}, "greater than or equal to 1"),
        ({"function": {"kind": "slope", "slope_deg": 90}, "resolution": 1}, "less than 90"),
        ({"array": BUMPS, "material": ""}, "at least 1 character"),
        ({"array": BUMPS, "material_map": [[0]]}, "both `material_map` and `materials`"),
        ({"array": BUMPS, "materials": ["mud"]}, "both `material_map` and `materials`"),
        ({"array": BUMPS, "material_map": [[1]], "materials": ["mud"]}, "index 1, but `materials` has only 0 to 0"),
        ({"array": BUMPS, "material_map": [[-1]], "materials": ["mud"]}, "greater than or equal to 0"),
        ({"array": BUMPS, "material_map": [], "materials": ["mud"]}, "at least 1 rows"),
        (
            {"array": BUMPS, "material_map": [[0]], "materials": ["mud"], "material": "rock"},
            "`material` or `material_map`, not both",
        ),
    ],
)
def test_a_bad_heightfield_is_refused_with_a_message(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        HeightfieldTerrain(**{"size": (8, 5), **settings})


def test_a_material_image_with_a_place_beyond_the_list_is_refused(tmp_path: Path) -> None:
    path = write_png(tmp_path / "map.png", np.array([[0, 3]], np.uint8))
    with pytest.raises(FileError, match="has the index 3, but `materials` has only 0 to 1"):
        bumpy(material_map=path, materials=("sand", "rock"))


def test_all_faults_of_a_file_are_reported_with_their_paths(tmp_path: Path) -> None:
    text = "kind: heightfield\nsize: [8, 0]\narray: gone.npy\nmaterial_map:\n  - [0, -1]\nlevle: 3\n"
    with pytest.raises(FileError) as caught:
        HeightfieldTerrain.load(parse_document(text, "bay.yaml"), tmp_path)
    reported = [str(fault) for fault in caught.value.faults]
    assert len(reported) == 4
    assert reported[0].startswith("line 2: size[1]: ")
    assert reported[1] == f"line 3: array: there is no file {tmp_path / 'gone.npy'}"
    assert reported[2].startswith("line 5: material_map[0][1]: ")
    assert reported[3] == "line 6: levle: is not a known key; did you mean 'level'?"


# ------------------------------------------------------------------------------------------------ meshes


def test_the_top_of_a_box_is_the_ground() -> None:
    solid = transform(box((4, 2, 6)), position=(10, 20, -9))
    ground = MeshGround(with_material(solid, "concrete"), 0.5, 0.6)
    sample = ground.sample(np.array([[10, 20], [8, 19], [12, 21], [11.3, 19.7], [12.1, 20], [10, 18.9]]))
    np.testing.assert_allclose(sample.height[:4], -6)
    np.testing.assert_allclose(sample.normal[:4], np.tile([0.0, 0.0, 1.0], (4, 1)), atol=1e-12)
    assert np.isnan(sample.height[4:]).all()
    assert sample.material.tolist() == [0, 0, 0, 0, -1, -1]
    assert ground.extent == (8, 19, 12, 21)


def with_material(mesh: Mesh, name: str) -> Mesh:
    return Mesh(mesh.vertices, mesh.faces, np.zeros(len(mesh.faces), np.int32), (name,))


def test_a_mesh_answers_as_the_heightfield_that_it_was_made_from() -> None:
    field = bumpy(material_map=[[0, 1, 0], [1, 0, 1]], materials=("sand", "rock"))
    nodes = field.triangles().vertices[:, :2]
    edges = (nodes[:-1] + nodes[1:]) / 2
    for ground in (as_mesh(field), MeshGround(flip(field.triangles()), 0.5, 0.6)):
        for points in (POINTS, nodes, edges):
            np.testing.assert_allclose(ground.height(points), field.height(points), atol=1e-8)
        np.testing.assert_allclose(ground.normal(POINTS), field.normal(POINTS), atol=1e-12)
        np.testing.assert_array_equal(ground.material(POINTS), field.material(POINTS))


def test_long_thin_faces_beside_small_ones_are_found() -> None:
    fan = np.array([[0, 0, 0], *([1000 * math.cos(a), 1000 * math.sin(a), a] for a in np.linspace(0, 1.5, 400))])
    faces = np.array([[0, k, k + 1] for k in range(1, 400)], np.int32)
    ground = MeshGround(with_material(Mesh(fan, faces), "rock"), 50, 0.6)
    middle = fan[faces].mean(axis=1)
    np.testing.assert_allclose(ground.height(middle[:, :2]), middle[:, 2], atol=1e-9)


def test_under_an_overhang_the_height_is_that_of_the_top() -> None:
    floor, roof = box((10, 10, 1)), transform(box((4, 4, 1)), position=(0, 0, 5))
    ground = MeshGround(with_material(concatenate([floor, roof]), "rock"), 0.5, 0.6)
    np.testing.assert_allclose(ground.height([[0, 0], [4, 4]]), [5.5, 0.5])


def test_bodies_touch_a_mesh_as_a_heightfield_of_its_top() -> None:
    floor, block = box((8, 6, 1)), transform(box((2, 2, 4)), position=(2, 1, 0))
    contact = MeshGround(with_material(concatenate([floor, block]), "rock"), 0.5, 0.6).contact
    assert contact.heights.shape == (13, 17)
    assert (contact.center, contact.half_size, contact.lowest) == ((0, 0), (4, 3), 0.5)
    y, x = np.mgrid[-3:3.25:0.5, -4:4.25:0.5]
    on_block = (np.abs(x - 2) <= 1) & (np.abs(y - 1) <= 1)
    np.testing.assert_allclose(contact.heights, np.where(on_block, 1.5, 0.0))


def test_where_a_mesh_has_no_ground_its_contact_lies_at_the_lowest_height() -> None:
    triangle = Mesh(np.array([[0, 0, -3], [4, 0, -3], [0, 4, -1]], float), np.array([[0, 1, 2]], np.int32))
    contact = MeshGround(with_material(triangle, "rock"), 1.0, 0.6).contact
    assert contact.lowest == -3
    np.testing.assert_allclose(contact.heights[:, 0], [0, 0.5, 1, 1.5, 2])
    np.testing.assert_allclose(contact.heights[:, 4], 0)


OBJ = """
v -2 -2 0
v 0 -2 0
v 0 2 0
v -2 2 0
v 2 -2 0
v 2 2 0
f 1 2 3 4
usemtl rock
f 2 5 6 3
"""


def test_faces_carry_their_materials_by_name_and_the_others_the_default(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text(OBJ)
    ground = MeshTerrain(mesh=tmp_path / "a.obj", material="mud", friction=0.4).build()
    assert ground.materials == ("rock", "mud")
    assert [ground.materials[k] for k in ground.material([[-1, 0], [1, 0]])] == ["mud", "rock"]
    assert ground.triangles().materials == ground.materials
    assert ground.friction == 0.4
    assert MeshTerrain(mesh=tmp_path / "a.obj", material="rock").build().materials == ("rock",)


def test_a_mesh_is_scaled_then_turned_then_moved(tmp_path: Path) -> None:
    write_stl(tmp_path / "a.stl", box((2, 4, 6)))
    settings = {"scale": 0.5, "roll_deg": 90, "yaw_deg": 90, "position": (10, 20, -30)}
    ground = MeshTerrain(mesh=tmp_path / "a.stl", **settings).build()
    # 1 × 2 × 3 m; roll makes it 1 × 3 × 2, yaw 3 × 1 × 2.
    np.testing.assert_allclose(ground.extent, (8.5, 19.5, 11.5, 20.5))
    np.testing.assert_allclose(ground.height([10, 20]), -29)


def test_a_mesh_without_ground_is_refused_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "wall.obj").write_text("v 0 0 0\nv 1 1 0\nv 1 1 1\nf 1 2 3\n")
    with pytest.raises(FileError, match="no face that is visible from above") as caught:
        MeshTerrain(mesh=tmp_path / "wall.obj").build()
    assert caught.value.source == str(tmp_path / "wall.obj")


def test_a_contact_resolution_that_is_too_fine_is_refused_with_one_that_is_not(tmp_path: Path) -> None:
    write_stl(tmp_path / "a.stl", box((200, 100, 1)))
    with pytest.raises(FileError, match=r"makes 20001 × 10001 nodes .* use 0.037 m or more"):
        MeshTerrain(mesh=tmp_path / "a.stl", contact_resolution=0.01).build()


def test_a_contact_resolution_that_misses_the_ground_is_refused(tmp_path: Path) -> None:
    diamond = "v 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nf 1 2 3 4\n"
    (tmp_path / "a.obj").write_text(diamond)
    with pytest.raises(FileError, match="too coarse: no node is on the ground"):
        MeshTerrain(mesh=tmp_path / "a.obj", contact_resolution=5).build()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"mesh": "gone.stl"}, "there is no file"),
        ({"mesh": __file__, "scale": 0}, "greater than 0"),
        ({"mesh": __file__, "contact_resolution": 0}, "greater than 0"),
        ({"mesh": __file__, "position": (0, 0, math.nan)}, "finite"),
    ],
)
def test_a_bad_mesh_terrain_is_refused_with_a_message(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        MeshTerrain(**settings)


def test_a_file_that_is_no_mesh_is_refused_when_it_is_built() -> None:
    with pytest.raises(FileError, match="STL, OBJ and COLLADA"):
        MeshTerrain(mesh=__file__).build()
