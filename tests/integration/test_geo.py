"""Positions on the Earth: compared with another PROJ pipeline and with the ellipsoid's geometry; error messages."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pydantic import ValidationError
from pyproj import Geod, Proj, Transformer
from scipy.integrate import quad

from skerry.core.errors import SkerryError
from skerry.core.geo import GeoReference, Projection, band_of, zone_of

ARCHIPELAGO = {"latitude_deg": 58.8, "longitude_deg": 17.6}


def projection(**reference: Any) -> Projection:
    return Projection(GeoReference(**reference))


# ------------------------------------------------------------------------------------------------ zones


@pytest.mark.parametrize(
    ("place", "latitude", "longitude", "zone", "band"),
    [
        ("Stockholm", 59.33, 18.07, 34, "V"),
        ("Gothenburg", 57.71, 11.97, 32, "V"),
        ("Bergen, in the widened zone", 60.39, 5.32, 32, "V"),
        ("Longyearbyen, in a Svalbard zone", 78.22, 15.65, 33, "X"),
        ("Nordaustlandet", 79.5, 21.0, 35, "X"),
        ("Sydney", -33.87, 151.21, 56, "H"),
        ("Quito", -0.18, -78.47, 17, "M"),
        ("Null Island", 0.0, 0.0, 31, "N"),
        ("the last band's end", 84.0, -179.0, 1, "X"),
        ("the first band's beginning", -80.0, 179.9, 60, "C"),
        ("the date line", 10.0, 180.0, 1, "P"),
    ],
)
def test_places_lie_in_their_zones_and_bands(
    place: str, latitude: float, longitude: float, zone: int, band: str
) -> None:
    assert (zone_of(latitude, longitude), band_of(latitude)) == (zone, band)


@pytest.mark.parametrize("latitude", [84.1, -80.1, float("nan")])
def test_the_poles_have_no_band(latitude: float) -> None:
    with pytest.raises(SkerryError, match="80° south to 84° north"):
        band_of(latitude)


# ------------------------------------------------------------------------------------------------ coordinates


def test_null_island_is_166_kilometres_into_its_zone() -> None:
    """The equator's western edge of any zone: easting 166021.443 m (NGA.STND.0037; many tables)."""
    place = projection(latitude_deg=0.0, longitude_deg=0.0)
    assert_allclose(place.origin, [166021.443, 0.0, 0.0], atol=5e-4)
    assert (place.zone, place.band, place.hemisphere) == (31, "N", "north")


@pytest.mark.parametrize("latitude", [10.0, 45.0, 58.8, 83.0])
def test_northing_on_the_central_meridian_is_0_9996_of_the_meridians_length(latitude: float) -> None:
    """∫ a(1 − e²)/(1 − e² sin²φ)^(3/2) dφ, with a and 1/f of WGS 84 (NIMA TR8350.2)."""
    a, f = 6378137.0, 1 / 298.257223563
    e2 = f * (2 - f)
    arc = quad(lambda phi: a * (1 - e2) / (1 - e2 * np.sin(phi) ** 2) ** 1.5, 0.0, np.radians(latitude), epsabs=1e-6)[0]
    north = projection(latitude_deg=latitude, longitude_deg=15.0, zone=33)
    assert_allclose(north.origin[:2], [500_000.0, 0.9996 * arc], atol=1e-5)
    south = projection(latitude_deg=-min(latitude, 80.0), longitude_deg=15.0, zone=33)
    if latitude <= 80.0:
        assert_allclose(south.origin[:2], [500_000.0, 10_000_000.0 - 0.9996 * arc], atol=1e-5)


@pytest.mark.parametrize(("hemisphere", "code"), [("north", 32600), ("south", 32700)])
@given(zone=st.integers(1, 60), latitude=st.floats(0.1, 80.0), east=st.floats(-6.0, 6.0))
def test_utm_is_that_of_the_epsg_register(hemisphere: str, code: int, zone: int, latitude: float, east: float) -> None:
    longitude = (6 * zone - 183 + east + 180.0) % 360.0 - 180.0
    latitude = latitude if hemisphere == "north" else -latitude
    place = projection(latitude_deg=latitude, longitude_deg=longitude, zone=zone)
    theirs = Transformer.from_crs("EPSG:4326", f"EPSG:{code + zone}", always_xy=True).transform(longitude, latitude)
    assert_allclose(place.origin[:2], theirs, atol=1e-6)
    assert place.hemisphere == hemisphere


@given(st.floats(-50e3, 50e3), st.floats(-50e3, 50e3), st.floats(-6000.0, 500.0))
def test_local_points_come_back_from_latitude_and_longitude_and_from_utm(x: float, y: float, z: float) -> None:
    place = projection(**ARCHIPELAGO, altitude=23.0)
    point = np.array([x, y, z])
    geodetic = place.to_geodetic(point)
    assert geodetic[2] == z + 23.0
    assert_allclose(place.from_geodetic(geodetic), point, atol=1e-6)
    assert_allclose(place.from_utm(place.to_utm(point)), point, atol=1e-8)


def test_the_way_from_utm_to_the_local_frame_is_a_translation() -> None:
    place = projection(**ARCHIPELAGO)
    points = np.random.default_rng(0).uniform(-5e3, 5e3, (100, 3))
    eastings, northings = Transformer.from_crs("EPSG:4326", "EPSG:32633", always_xy=True).transform(
        *place.to_geodetic(points)[:, 1::-1].T
    )
    assert_allclose(eastings - points[:, 0], place.origin[0], atol=1e-6)
    assert_allclose(northings - points[:, 1], place.origin[1], atol=1e-6)


def test_points_come_in_arrays_of_any_shape() -> None:
    place = projection(**ARCHIPELAGO)
    points = np.random.default_rng(0).uniform(-5e3, 5e3, (2, 3, 3))
    geodetic = place.to_geodetic(points)
    assert geodetic.shape == (2, 3, 3)
    assert_array_equal(geodetic[1, 2], place.to_geodetic(points[1, 2]))
    assert_array_equal(place.from_geodetic(geodetic)[1, 2], place.from_geodetic(geodetic[1, 2]))
    assert place.convergence(points).shape == (2, 3)
    alone = points[:1, :1]
    assert_array_equal(place.to_geodetic(alone), geodetic[:1, :1])
    assert_array_equal(place.from_geodetic(geodetic[:1, :1]), place.from_geodetic(geodetic)[:1, :1])


def test_both_forms_of_a_reference_are_one_place() -> None:
    first = projection(**ARCHIPELAGO, altitude=2.0)
    easting, northing, _ = first.origin
    for more in ({"utm_band": "V"}, {"hemisphere": "north"}):
        second = projection(utm_zone=33, easting=easting, northing=northing, altitude=2.0, **more)
        assert_array_equal(second.origin, first.origin)
        assert (second.zone, second.band, second.hemisphere) == (33, "V", "north")
        assert_allclose(second.to_geodetic(np.zeros(3)), [58.8, 17.6, 2.0], atol=1e-10)


def test_the_reference_point_can_be_anywhere_in_the_world() -> None:
    """The point has the given position on the Earth, and the origin lies as far from it in UTM as in the world."""
    at = (120.0, -45.0, 7.0)
    place = {"latitude_deg": 58.8, "longitude_deg": 17.6, "altitude": 20.0}
    moved, plain = projection(**place, at=at), projection(**place)
    np.testing.assert_allclose(moved.to_geodetic(at), [58.8, 17.6, 20.0], atol=1e-9)
    np.testing.assert_allclose(plain.to_utm(np.zeros(3)) - moved.to_utm(np.zeros(3)), at, atol=1e-6)
    easting, northing, _ = plain.to_utm(np.zeros(3))
    utm = projection(utm_zone=33, utm_band="V", easting=easting, northing=northing, altitude=20.0, at=at)
    zone_33 = projection(**place, zone=33, at=at)
    assert utm.zone == zone_33.zone == 33
    np.testing.assert_allclose(utm.to_utm(at), [easting, northing, 20.0], atol=1e-6)


def test_a_band_in_the_south_counts_northing_from_the_south() -> None:
    sydney = projection(latitude_deg=-33.87, longitude_deg=151.21)
    again = projection(utm_zone=56, utm_band="H", easting=sydney.origin[0], northing=sydney.origin[1])
    assert again.hemisphere == "south"
    assert_allclose(again.to_geodetic([0, 0, 0]), [-33.87, 151.21, 0.0], atol=1e-10)


def test_the_zone_stays_beyond_its_bounds() -> None:
    place = projection(latitude_deg=59.0, longitude_deg=17.95)
    across = place.from_geodetic([59.0, 18.05, 0.0])
    assert place.zone == 33
    assert_allclose(np.hypot(across[0], across[1]), Geod(ellps="WGS84").inv(17.95, 59.0, 18.05, 59.0)[2], rtol=2e-4)
    neighbour = projection(latitude_deg=59.0, longitude_deg=17.95, zone=34)
    assert neighbour.zone == 34
    assert_allclose(neighbour.to_geodetic([0, 0, 0]), [59.0, 17.95, 0.0], atol=1e-10)


def test_the_equator_is_no_border() -> None:
    place = projection(latitude_deg=-0.01, longitude_deg=15.0)
    north = place.from_geodetic([0.01, 15.0, 0.0])
    assert place.hemisphere == "south"
    assert_allclose(north[1], 0.9996 * Geod(ellps="WGS84").inv(15.0, -0.01, 15.0, 0.01)[2], atol=1e-5)


@pytest.mark.parametrize("longitude", [12.3, 15.0, 17.6])
def test_grid_north_differs_from_true_north_by_the_convergence(longitude: float) -> None:
    place = projection(latitude_deg=58.8, longitude_deg=longitude)
    factors = Proj("EPSG:32633").get_factors(longitude, 58.8)
    assert_allclose(place.convergence([0, 0, 0]), np.radians(factors.meridian_convergence), atol=1e-9)
    to = place.to_geodetic([0.0, 100.0, 0.0])
    true_heading = Geod(ellps="WGS84").inv(longitude, 58.8, to[1], to[0])[0]
    assert_allclose(np.degrees(place.convergence([0, 0, 0])), true_heading, atol=1e-4)


@pytest.mark.parametrize(("longitude", "scale"), [(15.0, 0.9996), (18.0, 1.00098)])
def test_a_true_metre_on_the_equator_is_k_grid_metres(longitude: float, scale: float) -> None:
    place = projection(latitude_deg=0.0, longitude_deg=longitude, zone=33)
    to = place.to_geodetic([0.0, 100.0, 0.0])
    assert_allclose(100.0 / Geod(ellps="WGS84").inv(longitude, 0.0, to[1], to[0])[2], scale, atol=5e-6)


def test_what_the_zone_cannot_show_is_an_error() -> None:
    place = projection(latitude_deg=0.0, longitude_deg=15.0)
    with pytest.raises(SkerryError, match=r"latitude, longitude \[0.0, 106.0\] is outside UTM zone 33 north"):
        place.from_geodetic([[0.0, 15.0, 0.0], [0.0, 106.0, 0.0]])
    with pytest.raises(SkerryError, match=r"easting, northing .* is outside UTM zone"):
        place.to_geodetic([np.nan, 0.0, 0.0])


def test_a_projection_can_be_sent_to_another_process() -> None:
    place = projection(**ARCHIPELAGO)
    again = pickle.loads(pickle.dumps(place))
    assert_array_equal(again.to_geodetic([1.0, 2.0, 3.0]), place.to_geodetic([1.0, 2.0, 3.0]))


def test_pyproj_is_imported_only_when_it_is_needed() -> None:
    code = (
        "import sys; from skerry.core.geo import GeoReference, Projection;"
        "place = GeoReference(latitude_deg=58.8, longitude_deg=17.6); assert 'pyproj' not in sys.modules;"
        "Projection(place); assert 'pyproj' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ------------------------------------------------------------------------------------------------ faults


UTM = {"utm_zone": 33, "utm_band": "V", "easting": 650_000.0, "northing": 6_520_000.0}


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ({}, "the reference point is missing: give latitude_deg and longitude_deg, or utm_zone"),
        ({"altitude": 3.0}, "the reference point is missing"),
        (
            {**ARCHIPELAGO, **UTM},
            r"not both \(found latitude_deg, longitude_deg and utm_zone, utm_band, easting",
        ),
        ({**UTM, "zone": 34}, r"not both \(found zone and utm_zone"),
        ({"latitude_deg": 58.8}, "incomplete: longitude_deg missing"),
        ({"zone": 33}, "incomplete: latitude_deg, longitude_deg missing"),
        ({"utm_zone": 33, "easting": 650_000.0}, r"incomplete: northing, utm_band \(or hemisphere\) missing"),
        ({**UTM, "hemisphere": "north"}, "utm_band or hemisphere, not both"),
        ({**UTM, "utm_band": "W"}, "northing 6520000.0 is in band V, not W"),
        ({**UTM, "utm_band": "I"}, "is not a UTM band; bands are the letters CDEFGHJ"),
        ({**UTM, "utm_zone": 61}, "less than or equal to 60"),
        ({**UTM, "easting": 6_520_000.0}, "less than or equal to 1000000"),
        ({**UTM, "northing": 9_990_000.0}, "80° south to 84° north"),
        ({**ARCHIPELAGO, "zone": 3}, "zone 3 is 177° away"),
        ({**ARCHIPELAGO, "latitude_deg": 85.0}, "less than or equal to 84"),
        ({**ARCHIPELAGO, "longitude_deg": 181.0}, "less than or equal to 180"),
    ],
)
def test_a_reference_that_is_not_one_place_says_why(reference: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        GeoReference(**reference)
