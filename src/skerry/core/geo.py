"""Position of a scenario on the Earth: local metres, latitude and longitude, and UTM, on WGS 84.

Local x and y are metres of the UTM grid, counted from the reference point: x = easting − reference easting,
y = northing − reference northing. The whole scenario uses the zone and hemisphere of the reference point, even
outside the bounds of that zone. So `utm → map` is a pure translation. Vehicle software relies on this when it
converts a GPS fix to UTM and compares it with the map frame; with a tangent plane the two would differ by tens of
metres per kilometre. Altitude is z plus the altitude of the reference point. It follows the ellipsoid, as the
water surface does: the surface has the same z everywhere, while a tangent plane departs from it by 8 cm in a
kilometre.

The cost is the distortion of the grid, which the physics ignores. Grid north differs from true north by the
convergence, at the edge of a zone 3° times the sine of the latitude (`Projection.convergence`). A true metre
is k grid metres, with k from 0.9996 in the middle of a zone to 1.0010 at its edge on the equator
(Snyder: "Map projections: a working manual", USGS Professional Paper 1395 (1987), pages 57 to 61).
"""

from __future__ import annotations

from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import AfterValidator, Field, model_validator

from skerry.core.config import Config, Vector3
from skerry.core.errors import SkerryError

if TYPE_CHECKING:
    from pyproj import Transformer
    from pyproj.enums import TransformDirection

BANDS: Final = "CDEFGHJKLMNPQRSTUVWX"
"""Letters of the latitude bands: 8° each from 80° S northwards, the last 12° (NGA.STND.0037, Universal grids, 2014)."""

Array: TypeAlias = NDArray[np.float64]
Hemisphere: TypeAlias = Literal["north", "south"]


def band_of(latitude_deg: float) -> str:
    """Return the letter of the UTM band of a latitude."""
    if not -80.0 <= latitude_deg <= 84.0:
        raise SkerryError(f"latitude {latitude_deg}° is outside UTM, which covers 80° south to 84° north")
    return BANDS[min(int((latitude_deg + 80.0) // 8.0), len(BANDS) - 1)]


def zone_of(latitude_deg: float, longitude_deg: float) -> int:
    """Return the UTM zone of a position, with the wider zones of Norway and Svalbard (NGA.STND.0037)."""
    longitude = (longitude_deg + 180.0) % 360.0 - 180.0
    band = band_of(latitude_deg)
    if band == "V" and 3.0 <= longitude < 12.0:
        return 32
    if band == "X" and 0.0 <= longitude < 42.0:
        return 31 + 2 * int((longitude + 3.0) // 12.0)
    return int((longitude + 180.0) // 6.0) + 1


def _known_band(letter: str) -> str:
    if len(letter) != 1 or letter not in BANDS:
        raise ValueError(f"is not a UTM band; bands are the letters {BANDS}")
    return letter


Zone = Annotated[int, Field(ge=1, le=60)]
Band = Annotated[str, AfterValidator(_known_band)]


class GeoReference(Config):
    """Position of the reference point on the Earth, given either by latitude and longitude or by UTM.

    The reference point is the world's origin, or the point `at` in the world, m. `at` may also be the name of an object
    or robot of the scenario, whose start position is the reference point. `zone` selects another UTM zone than that of
    the given latitude and longitude. `altitude` is the height of the reference point above the ellipsoid.
    """

    latitude_deg: Annotated[float, Field(ge=-80.0, le=84.0)] | None = None
    longitude_deg: Annotated[float, Field(ge=-180.0, le=180.0)] | None = None
    zone: Zone | None = None

    utm_zone: Zone | None = None
    utm_band: Band | None = None
    hemisphere: Hemisphere | None = None
    easting: Annotated[float, Field(ge=0.0, le=1_000_000.0)] | None = None
    northing: Annotated[float, Field(ge=0.0, le=10_000_000.0)] | None = None

    altitude: float = 0.0
    at: Vector3 | str = Field(
        (0.0, 0.0, 0.0), description="reference point in the world, m, or name of an object or robot that starts there"
    )

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        geographic = self._given("latitude_deg", "longitude_deg", "zone")
        utm = self._given("utm_zone", "utm_band", "hemisphere", "easting", "northing")
        if geographic and utm:
            raise ValueError(
                f"give the reference point by latitude and longitude or by UTM, not both "
                f"(found {', '.join(geographic)} and {', '.join(utm)})"
            )
        if not geographic and not utm:
            raise ValueError(
                "the reference point is missing: give latitude_deg and longitude_deg, "
                "or utm_zone, utm_band, easting and northing"
            )
        needed = ("latitude_deg", "longitude_deg") if geographic else ("utm_zone", "easting", "northing")
        missing = [name for name in needed if getattr(self, name) is None]
        if utm and not self._given("utm_band", "hemisphere"):
            missing.append("utm_band (or hemisphere)")
        if missing:
            raise ValueError(f"the reference point is incomplete: {', '.join(missing)} missing")
        if len(self._given("utm_band", "hemisphere")) == 2:
            raise ValueError("give utm_band or hemisphere, not both; the band determines the hemisphere")
        if utm:
            self._check_band()
        if self.zone is not None and self.longitude_deg is not None:
            self._check_zone(self.zone, self.longitude_deg)
        return self

    @property
    def point(self) -> Array:
        """Reference point in the world, (3,), m; the origin if `at` is a name that the scenario has not replaced."""
        return np.zeros(3) if isinstance(self.at, str) else np.array(self.at)

    def _given(self, *names: str) -> list[str]:
        return [name for name in names if getattr(self, name) is not None]

    def _check_band(self) -> None:
        try:
            band = Projection(self).band
        except SkerryError as error:
            raise ValueError(str(error)) from None
        if self.utm_band not in (None, band):
            raise ValueError(f"northing {self.northing} is in band {band}, not {self.utm_band}; correct one of them")

    @staticmethod
    def _check_zone(zone: int, longitude_deg: float) -> None:
        # At 15° from the middle of a zone its metres are 3 % too long. A zone farther away is most likely a mistake.
        away = abs((longitude_deg - (6 * zone - 183) + 180.0) % 360.0 - 180.0)
        if away > 15.0:
            raise ValueError(f"zone {zone} is {away:.0f}° away from the reference point; use a zone within 15°")


class Projection:
    """Conversion between local metres, latitude and longitude, and UTM in the zone of the reference point.

    Points are arrays of shape (..., 3): local (x, y, z), geodetic (latitude and longitude in degrees,
    altitude), UTM (easting, northing, altitude).
    """

    __slots__ = ("band", "hemisphere", "origin", "zone")

    def __init__(self, reference: GeoReference) -> None:
        self.zone: int
        self.band: str
        self.hemisphere: Hemisphere
        self.origin: Array
        """Origin of the world in UTM: easting, northing, altitude, m."""
        latitude, longitude = reference.latitude_deg, reference.longitude_deg
        if latitude is not None and longitude is not None:
            self.zone = reference.zone or zone_of(latitude, longitude)
            self.band = band_of(latitude)
            self.hemisphere = _hemisphere_of(self.band)
            self.origin = self._forward(np.array([latitude, longitude, reference.altitude])) - reference.point
        else:
            assert reference.utm_zone is not None  # GeoReference checks that one form is complete
            self.zone = reference.utm_zone
            self.hemisphere = reference.hemisphere or _hemisphere_of(reference.utm_band or "")
            self.origin = np.array([reference.easting, reference.northing, reference.altitude]) - reference.point
            self.band = band_of(float(self.to_geodetic(reference.point)[0]))

    @property
    def epsg(self) -> int:
        """EPSG code of this UTM grid."""
        return (32600 if self.hemisphere == "north" else 32700) + self.zone

    def to_utm(self, points: ArrayLike) -> Array:
        """Convert local points to UTM."""
        return np.asarray(points, np.float64) + self.origin

    def from_utm(self, utm: ArrayLike) -> Array:
        """Convert UTM coordinates of this zone to local points."""
        return np.asarray(utm, np.float64) - self.origin

    def to_geodetic(self, points: ArrayLike) -> Array:
        """Convert local points to latitude, longitude and altitude."""
        utm = self.to_utm(points)
        # A single point is given to PROJ as plain numbers: ten times as fast, and PROJ would treat an array of one
        # element as a number.
        if utm.size == 3:
            east, north, up = utm.reshape(3).tolist()
            longitude, latitude = self._transformer.transform(east, north, direction=_inverse())
            found = np.array((latitude, longitude, up)).reshape(utm.shape)
            return found if isfinite(latitude + longitude + up) else self._finite(found, utm, "easting, northing")
        longitude, latitude = self._transformer.transform(utm[..., 0], utm[..., 1], direction=_inverse())
        return self._finite(np.stack((latitude, longitude, utm[..., 2]), axis=-1), utm, "easting, northing")

    def from_geodetic(self, geodetic: ArrayLike) -> Array:
        """Convert latitude, longitude and altitude to local points."""
        return self.from_utm(self._forward(np.asarray(geodetic, np.float64)))

    def convergence(self, points: ArrayLike) -> Array:
        """Return the angle from true north to grid north, rad, positive east: true heading = grid heading + angle."""
        geodetic = self.to_geodetic(points)
        # Grid direction of 22 m of the meridian; accurate to 1e-10 rad.
        delta = np.array([1e-4, 0.0, 0.0])
        meridian = self._forward(geodetic + delta) - self._forward(geodetic - delta)
        return -np.arctan2(meridian[..., 0], meridian[..., 1])

    def _forward(self, geodetic: Array) -> Array:
        if geodetic.size == 3:
            latitude, longitude, up = geodetic.reshape(3).tolist()
            utm = np.array((*self._transformer.transform(longitude, latitude), up)).reshape(geodetic.shape)
        else:
            easting, northing = self._transformer.transform(geodetic[..., 1], geodetic[..., 0])
            utm = np.stack((easting, northing, geodetic[..., 2]), axis=-1)
        return self._finite(utm, geodetic, "latitude, longitude")

    def _finite(self, result: Array, source: Array, names: str) -> Array:
        valid = np.isfinite(result).all(axis=-1)
        if not valid.all():
            wrong = source[~valid].reshape(-1, 3)[0, :2].tolist()
            raise SkerryError(f"{names} {wrong} is outside UTM zone {self.zone} {self.hemisphere}")
        return result

    @property
    def _transformer(self) -> Transformer:
        return _utm(self.zone, self.hemisphere)


def _hemisphere_of(band: str) -> Hemisphere:
    return "north" if band >= "N" else "south"


@cache
def _inverse() -> TransformDirection:
    """Return PROJ's constant for the inverse transform; cached, because pyproj would look it up at each call."""
    from pyproj.enums import TransformDirection

    return TransformDirection.INVERSE


@cache
def _utm(zone: int, hemisphere: Hemisphere) -> Transformer:
    """Return PROJ's UTM transform from longitude and latitude in degrees; pyproj makes it thread-safe."""
    from pyproj import Transformer  # imported here, as it takes 0.15 s

    south = " +south" if hemisphere == "south" else ""
    return Transformer.from_pipeline(f"+proj=utm +zone={zone}{south} +ellps=WGS84")
