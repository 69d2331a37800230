"""A GPS antenna: latitude, longitude and UTM of its place now; silent under water."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import Sensor, SensorConfig, Truth


@dataclass(frozen=True)
class GpsReading:
    """A fix."""

    time: float
    latitude_deg: float
    longitude_deg: float
    altitude: float  # m
    easting: float  # m, in the scenario's UTM zone
    northing: float
    zone: int
    band: str
    covariance: NDArray[np.float64]  # (3, 3), east, north, up, m²


class GpsSensor(Sensor[GpsReading]):
    """Measures the place on earth."""

    def __init__(self, config: Gps, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigma = np.array([config.noise, config.noise, config.vertical_noise])
        self._covariance = np.diag(self._sigma**2)
        self._covariance.setflags(write=False)  # all readings share it

    def measure(self, truth: Truth, noise: Noise) -> GpsReading | None:
        config, projection = self._config, truth.projection
        if projection is None:
            raise SkerryError("a GPS needs the scenario's `reference`, the place on earth of the world's origin")
        place = (truth.pose(config.link) @ self._offset).position
        if place[2] < truth.sample_water(place).height:
            return None
        seen = place + self._sigma * noise.normal(truth.tick, (3,))
        latitude, longitude, altitude = (float(value) for value in projection.to_geodetic(seen))
        easting, northing, _ = (float(value) for value in projection.to_utm(seen))
        return GpsReading(
            truth.time,
            latitude,
            longitude,
            altitude,
            easting,
            northing,
            projection.zone,
            projection.band,
            self._covariance,
        )


class Gps(SensorConfig):
    """A GPS antenna."""

    kind: Literal["gps"] = "gps"
    noise: NonNegative = Field(0.5, description="standard deviation east and north, m")
    vertical_noise: NonNegative = Field(1.0, description="standard deviation upwards, m")

    def build(self) -> GpsSensor:
        return GpsSensor(self, self.offset())

    @property
    def needs_reference(self) -> bool:
        return True
