"""Terrain from georeferenced files has the positions of PROJ and the heights of the file; bad files are errors."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pydantic import ValidationError
from pyproj import Transformer
from tifffile import TiffWriter

import skerry
from skerry.core.errors import FileError, SkerryError
from skerry.core.geo import GeoReference, Projection
from skerry.terrain.kinds.georeferenced import GeoreferencedTerrain
from skerry.terrain.kinds.heightfield import HeightfieldGround
from skerry.terrain.resample import fill_from_nearest

Floats = NDArray[np.float64]
REFERENCE = GeoReference(latitude_deg=59.3065, longitude_deg=18.7096)
PROJECTION = Projection(REFERENCE)
ZONE_34 = 32634
WGS_84 = 4326
TO_UTM = Transformer.from_crs(WGS_84, ZONE_34, always_xy=True)
RANDOM = np.random.default_rng(3)
NEAR = np.round(PROJECTION.origin[:2])


def bumps(east: Floats, north: Floats) -> Floats:
    """Return smooth heights by UTM position, about 10 m, with wavelengths of 500 m and 400 m."""
    x, y = east - PROJECTION.origin[0], north - PROJECTION.origin[1]
    return np.asarray(-10.0 + 4.0 * np.sin(2 * np.pi * x / 500) + 3.0 * np.cos(2 * np.pi * y / 400))


def write_tiff(
    path: Path,
    values: NDArray[Any],
    scale: tuple[float, float],
    corner: tuple[float, float],
    epsg: int | None,
    point: bool = False,
    nodata: str | None = None,
    **how: Any,
) -> Path:
    """A GeoTIFF whose upper left corner (or, with `point`, first pixel's middle) lies at `corner`."""
    keys = [1, 1, 0, 2 + (epsg is not None), 1024, 0, 1, 2 if epsg == WGS_84 else 1, 1025, 0, 1, 2 if point else 1]
    if epsg is not None:
        keys += [2048 if epsg == WGS_84 else 3072, 0, 1, epsg]
    keys[3] = (len(keys) - 4) // 4
    tags: list[Any] = [
        (33550, "d", 3, (*scale, 0.0), True),
        (33922, "d", 6, (0.0, 0.0, 0.0, *corner, 0.0), True),
        (34735, "H", len(keys), tuple(keys), True),
    ]
    if nodata is not None:
        tags.append((42113, "s", 0, nodata, True))
    with TiffWriter(path) as file:
        file.write(values, extratags=tags, metadata=None, **how)
    return path


def utm_file(path: Path, size: int = 160, pixel: float = 5.0, **how: Any) -> Path:
    """Write a square of `size` pixels in UTM about the reference."""
    west, north = NEAR + np.array((-size * pixel / 2, size * pixel / 2))
    middles = pixel * (np.arange(size) + 0.5)
    values = bumps((west + middles)[None, :], (north - middles)[:, None]).astype(np.float32)
    return write_tiff(path, values, (pixel, pixel), (west, north), ZONE_34, **how)


def build(path: Path, **settings: Any) -> HeightfieldGround:
    return GeoreferencedTerrain(file=path, **settings).build(PROJECTION)


# ------------------------------------------------------------------------------------------------ heights and places


@pytest.mark.parametrize(
    "how",
    [{}, {"compression": "zlib", "predictor": 2}, {"tile": (64, 64), "compression": "zlib"}, {"rowsperstrip": 7}],
    ids=["plain", "deflate", "tiles", "strips"],
)
def test_a_geotiff_in_utm_has_its_heights_where_they_are(how: dict[str, Any], tmp_path: Path) -> None:
    """Bilinear on 5 m, and again on the grid: each is off by at most h²/8 times the curvatures, 25/8 · (4 (2π/500)² +
    3 (2π/400)²) = 4 mm; with single precision, within 1 cm."""
    if how.get("predictor") == 2:
        west, north = NEAR + np.array((-400, 400))
        middles = 5.0 * (np.arange(160) + 0.5)
        values = np.round(500 * bumps((west + middles)[None, :], (north - middles)[:, None])).astype(np.int32)
        path = write_tiff(tmp_path / "a.tif", values, (5, 5), (west, north), ZONE_34, **how)
        ground = build(path, size=(600, 600), resolution=5)
        scale = 2e-3
    else:
        ground, scale = build(utm_file(tmp_path / "a.tif", **how), size=(600, 600), resolution=5), 1.0
    points = RANDOM.uniform(-299, 299, (400, 2))
    east, north_ = (points + PROJECTION.origin[:2]).T
    np.testing.assert_allclose(scale * ground.height(points), bumps(east, north_), atol=0.01)


def test_a_geotiff_by_latitude_and_longitude_has_its_heights_where_they_are(tmp_path: Path) -> None:
    """Pixels of 1/20000° are 2.8 m × 5.6 m here; errors as for UTM, and 2 mm of place at slopes below 0.1."""
    step = 1 / 20000
    west, north = 18.70, 59.311
    longitude, latitude = np.meshgrid(west + step * (np.arange(400) + 0.5), north - step * (np.arange(180) + 0.5))
    east, up = TO_UTM.transform(longitude, latitude)
    path = write_tiff(tmp_path / "a.tif", bumps(east, up).astype(np.float32), (step, step), (west, north), WGS_84)
    ground = build(path, size=(400, 400), resolution=4)
    places = RANDOM.uniform((59.3050, 18.7065), (59.3080, 18.7125), (300, 2))
    local = PROJECTION.from_geodetic(np.column_stack([places, np.zeros(300)]))[:, :2]
    expected = bumps(*TO_UTM.transform(places[:, 1], places[:, 0]))
    np.testing.assert_allclose(ground.height(local), expected, atol=0.015)


@pytest.mark.parametrize("epsg", [ZONE_34, WGS_84])
def test_the_corners_of_a_whole_file_lie_where_proj_says(epsg: int, tmp_path: Path) -> None:
    """The extent is the bounding rectangle of the outer corners by PROJ, to 1 mm; the sides curve by less."""
    if epsg == ZONE_34:
        path = utm_file(tmp_path / "a.tif")
        west, north = NEAR + np.array((-400, 400))
        east, north_ = np.array([west, west + 800]), np.array([north - 800, north])
    else:
        longitudes, latitudes = 18.70 + np.array([0, 0.02]), 59.311 - np.array([0.009, 0])
        path = write_tiff(tmp_path / "a.tif", np.zeros((90, 200), np.float32), (1e-4, 1e-4), (18.70, 59.311), WGS_84)
        east, north_ = TO_UTM.transform(*(a.ravel() for a in np.meshgrid(longitudes, latitudes)))
    extent = build(path).extent
    expected = (east.min(), north_.min(), east.max(), north_.max()) - np.tile(PROJECTION.origin[:2], 2)
    np.testing.assert_allclose(extent, expected, atol=1e-3)


def test_a_tie_point_may_be_the_middle_of_a_pixel(tmp_path: Path) -> None:
    values = RANDOM.uniform(-20, 0, (9, 9)).astype(np.float32)
    west, north = NEAR + np.array((-40, 40))
    area = write_tiff(tmp_path / "area.tif", values, (10, 10), (west - 5, north + 5), ZONE_34)
    point = write_tiff(tmp_path / "point.tif", values, (10, 10), (west, north), ZONE_34, point=True)
    np.testing.assert_allclose(build(point).heights, build(area).heights, atol=1e-9)


def test_an_ascii_grid_and_numpy_files_give_the_ground_of_the_geotiff(tmp_path: Path) -> None:
    tiff = build(utm_file(tmp_path / "a.tif", size=40))
    west, north = NEAR + np.array((-100, 100))
    middles = 5.0 * (np.arange(40) + 0.5)
    values = bumps((west + middles)[None, :], (north - middles)[:, None]).astype(np.float32)
    header = f"NCOLS 40\nNROWS 40\nxllcorner {west}\nyllcorner {north - 200}\ncellsize 5\nNODATA_value -9999\n"
    rows = "\n".join(" ".join(repr(float(v)) for v in row) for row in values)
    (tmp_path / "a.asc").write_text(header + rows + "\n", encoding="ascii")
    np.save(tmp_path / "a.npy", values)
    np.savez(tmp_path / "a.npz", heights=values[::-1], x=west + middles, y=north - middles[::-1], crs="EPSG:32634")
    bounds = (west, north - 200, west + 200, north)
    others = [
        build(tmp_path / "a.asc", crs="EPSG:32634"),
        build(tmp_path / "a.npy", crs="EPSG:32634", bounds=bounds),
        build(tmp_path / "a.npz"),
    ]
    for other in others:
        np.testing.assert_allclose(other.heights, tiff.heights, atol=1e-6)
        assert other.extent == pytest.approx(tiff.extent, abs=1e-6)


def test_a_prj_file_tells_the_coordinates_of_an_ascii_grid(tmp_path: Path) -> None:
    from pyproj import CRS

    west, south = NEAR - 20
    (tmp_path / "a.prj").write_text(CRS.from_epsg(ZONE_34).to_wkt("WKT1_ESRI"), encoding="utf-8")
    grid = f"ncols 4\nnrows 4\nxllcenter {west + 5}\nyllcenter {south + 5}\ncellsize 10\n" + "-5 -5 -5 -5\n" * 4
    (tmp_path / "a.asc").write_text(grid, encoding="ascii")
    ground = build(tmp_path / "a.asc")
    assert ground.size == pytest.approx((40, 40))
    assert ground.height([0.0, 0.0]) == -5.0


def test_depths_and_offsets_become_heights(tmp_path: Path) -> None:
    path = utm_file(tmp_path / "a.tif", size=20)
    plain, turned = build(path), build(path, positive="down", vertical_offset=0.5)
    np.testing.assert_allclose(turned.heights, 0.5 - plain.heights)


def test_a_finer_file_is_averaged_and_not_picked_from(tmp_path: Path) -> None:
    """The mean of a chequerboard of −20 and −10 m, averaged over 8 × 8 pixels, is −15 m; sampling would give either."""
    board = np.where(np.indices((160, 160)).sum(axis=0) % 2 == 0, -20.0, -10.0).astype(np.float32)
    west, north = NEAR + np.array((-80, 80))
    path = write_tiff(tmp_path / "a.tif", board, (1, 1), (west, north), ZONE_34)
    np.testing.assert_allclose(build(path, size=(96, 96), resolution=8).heights, -15.0, atol=1e-6)


# ------------------------------------------------------------------------------------------------ holes


def test_holes_are_filled_from_the_nearest_or_with_a_height(tmp_path: Path) -> None:
    values = np.full((40, 40), -8.0, np.float32)
    values[:, 20:] = -4.0
    values[10:30, 25:35] = -9999.0
    west, north = NEAR + np.array((-100, 100))
    path = write_tiff(tmp_path / "a.tif", values, (5, 5), (west, north), ZONE_34, nodata="-9999")
    assert build(path).height([50.0, 0.0]) == -4.0
    assert build(path, fill=-30.0).height([50.0, 0.0]) == -30.0
    assert build(path, fill=-30.0).height([-50.0, 0.0]) == -8.0


def test_the_nearest_height_is_found_from_all_sides() -> None:
    """Against a search among all nodes: no source is more than half a node farther away than the nearest."""
    heights = np.full((23, 31), np.nan)
    known = RANDOM.integers(0, (23, 31), (12, 2))
    heights[known[:, 0], known[:, 1]] = np.arange(12)
    known = np.argwhere(np.isfinite(heights))
    values = heights[known[:, 0], known[:, 1]]
    fill_from_nearest(heights)
    for (i, j), found in np.ndenumerate(heights):
        away = np.hypot(*(known - (i, j)).T)
        assert away[values == found].min() <= away.min() + 0.5


def test_the_area_beyond_a_file_is_a_hole(tmp_path: Path) -> None:
    ground = build(utm_file(tmp_path / "a.tif", size=20), center=(50, 0), size=(100, 60), resolution=5, fill=-99.0)
    assert ground.height([90.0, 0.0]) == -99.0
    assert ground.height([20.0, 0.0]) > -20.0


# ------------------------------------------------------------------------------------------------ sizes


def test_a_part_of_a_large_file_is_read_without_the_rest(tmp_path: Path) -> None:
    """100 million pixels of 1 m, where tiles far from the used area are missing in the file, or are never read."""
    path = tmp_path / "large.tif"
    west, north = NEAR + np.array((-5000, 5000))

    def tiles() -> Any:
        for row in range(10):
            for column in range(10):
                yield (
                    np.full((1024, 1024), -1.0 * (row + column), np.float32)
                    if 4 <= row <= 5 or row + column == 0
                    else None
                )

    keys = (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, ZONE_34)
    tags: list[Any] = [
        (33550, "d", 3, (1.0, 1.0, 0.0), True),
        (33922, "d", 6, (0.0, 0.0, 0.0, west, north, 0.0), True),
        (34735, "H", len(keys), keys, True),
    ]
    with TiffWriter(path) as file:
        file.write(
            tiles(), shape=(10000, 10000), dtype=np.float32, tile=(1024, 1024), compression="zlib", extratags=tags,
            metadata=None,
        )  # fmt: skip
    ground = build(path, size=(200, 200), resolution=2)
    assert set(np.unique(ground.heights)) <= {-8.0, -9.0}
    with pytest.raises(FileError, match=r"10000 × 10000|10001 × 10001.*resolution.* of 4\.9 m"):
        build(path)


# ------------------------------------------------------------------------------------------------ bad files


def test_a_world_needs_a_reference_for_it(tmp_path: Path) -> None:
    terrain = {"kind": "georeferenced", "file": str(utm_file(tmp_path / "a.tif", size=20))}
    with pytest.raises(SkerryError, match="needs the scenario's `reference`"):
        skerry.load({"terrain": terrain})
    with skerry.load({"terrain": terrain, "reference": REFERENCE.model_dump(exclude_none=True)}) as world:
        assert world.terrain is not None
        assert -20.0 < float(world.terrain.height([0.0, 0.0])) < 0.0


def test_regions_give_it_materials(tmp_path: Path) -> None:
    ground = build(utm_file(tmp_path / "a.tif"), regions=[{"material": "mud", "below": -10}], material="gravel")
    low = ground.heights[:-1, :-1] < -10.5
    assert ground.cell_materials is not None
    assert (np.array(ground.materials)[ground.cell_materials[low]] == "mud").all()


BAD: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no.tif": (b"II*\0nonsense", {}, "not a valid TIFF"),
    "text.tif": (b"hello", {}, "not a valid TIFF"),
    "no.asc": (b"hello\n1 2 3\n", {}, "lacks ncols, nrows, cellsize"),
    "short.asc": (
        b"ncols 3\nnrows 2\nxllcorner 300000\nyllcorner 6500000\ncellsize 90000\n1 2 3\n1 2\n",
        {"crs": "EPSG:32634"},
        r"row 1 \(from 0\) has 2 numbers, not 3",
    ),
    "words.asc": (
        b"ncols 2\nnrows 2\nxllcorner 300000\nyllcorner 6500000\ncellsize 90000\n1 2\n1 x\n",
        {"crs": "EPSG:32634"},
        "row 1",
    ),
    "nocrs.asc": (b"ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n1 2\n", {}, "give `crs`"),
    "no.npy": (b"hello", {"crs": "EPSG:32634", "bounds": (0, 0, 1, 1)}, "not a valid .npy"),
    "no.npz": (b"hello", {}, "not a valid .npz"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_a_message(name: str, tmp_path: Path) -> None:
    data, settings, words = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError, match=words):
        build(tmp_path / name, **settings)


def test_a_tiff_that_cannot_be_ground_is_refused_with_a_message(tmp_path: Path) -> None:
    flat = np.zeros((20, 20), np.float32)
    west, north = NEAR + np.array((-50, 50))
    place = ((5.0, 5.0), (west, north), ZONE_34)
    with TiffWriter(tmp_path / "plain.tif") as file:
        file.write(flat, metadata=None)
    with pytest.raises(FileError, match="without a georeference"):
        build(tmp_path / "plain.tif")
    colour = write_tiff(tmp_path / "colour.tif", np.zeros((20, 20, 3), np.uint8), *place, photometric="rgb")
    with pytest.raises(FileError, match="one real number per pixel"):
        build(colour)
    own = write_tiff(tmp_path / "own.tif", flat, (5.0, 5.0), (west, north), 32767)
    with pytest.raises(FileError, match="give `crs`"):
        build(own)
    assert build(own, crs="EPSG:32634").height([0.0, 0.0]) == 0.0
    far = write_tiff(tmp_path / "far.tif", flat, (5.0, 5.0), (west + 9e4, north), ZONE_34)
    with pytest.raises(FileError, match="not the world's origin"):
        build(far)
    with pytest.raises(FileError, match="outside the area of"):
        build(far, size=(100, 100))
    empty = write_tiff(tmp_path / "empty.tif", flat, *place, nodata="0")
    with pytest.raises(FileError, match="no data in the requested area"):
        build(empty)
    odd = write_tiff(tmp_path / "odd.tif", np.full((20, 20), -32768, np.int16), *place)
    with pytest.raises(FileError, match="height or depth of 32768 m, which does not exist"):
        build(odd)
    one = write_tiff(tmp_path / "one.tif", np.zeros((1, 20), np.float32), *place)
    with pytest.raises(FileError, match="at least 2 rows"):
        build(one)


@pytest.mark.parametrize("how", [{}, {"compression": "zlib", "tile": (16, 16)}], ids=["plain", "tiles"])
def test_any_problem_with_a_file_is_reported_as_its_fault(how: dict[str, Any], tmp_path: Path) -> None:
    """Bytes of the header and the data at random: each file either gives ground or a `FileError`, and nothing else."""
    sound = utm_file(tmp_path / "a.tif", size=40, **how).read_bytes()
    for _ in range(60):
        data = bytearray(sound)
        for place in RANDOM.integers(0, min(len(data), 700), 5):
            data[place] = RANDOM.integers(0, 256)
        (tmp_path / "b.tif").write_bytes(data)
        with contextlib.suppress(FileError):
            assert np.isfinite(build(tmp_path / "b.tif", size=(100, 100), resolution=5).heights).all()


def test_a_damaged_tile_is_reported(tmp_path: Path) -> None:
    path = utm_file(tmp_path / "a.tif", size=64, compression="zlib")
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 200] = bytes(200)
    path.write_bytes(bytes(data))
    with pytest.raises(FileError, match=r"damaged|not a valid TIFF"):
        build(path)


def test_compressions_that_need_a_package_work_with_it(tmp_path: Path) -> None:
    pytest.importorskip("imagecodecs")
    plain = build(utm_file(tmp_path / "a.tif", size=40))
    packed = build(utm_file(tmp_path / "b.tif", size=40, compression="lzw", predictor=3))
    np.testing.assert_array_equal(packed.heights, plain.heights)


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        ("a.tif", {"crs": "EPSG:999999"}, "not a coordinate system that PROJ knows"),
        ("a.tif", {"crs": "EPSG:4978"}, "must be a projected or geographic coordinate system"),
        ("a.tif", {"bounds": (0, 0, 1, 1)}, "`bounds` are required for an .npy"),
        ("a.npy", {}, "`bounds` are required for an .npy file"),
        ("a.npy", {"bounds": (1, 0, 0, 1)}, "west < east"),
        ("a.tif", {"center": (5, 5)}, "needs a `size`"),
        ("a.xyz", {}, "must be one of .tif"),
    ],
)
def test_bad_settings_give_a_message(name: str, settings: dict[str, Any], words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(ValidationError, match=words):
        GeoreferencedTerrain(file=tmp_path / name, **settings)
