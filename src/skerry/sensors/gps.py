"""A GPS antenna: latitude, longitude and UTM of its place now; silent under water, and until it has its satellites.

With a time to the first fix, or to find the satellites again, it looks at each of its due instants, whether or not
anybody reads it, for whether it is above water. A dip between two of them is not noticed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import BatchSensor, ReadingColumns, Readings, SampleView, SensorConfig, SensorView


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


class GpsSensor(BatchSensor[GpsReading]):
    """Measures the place on earth."""

    def __init__(self, config: Gps, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigma = np.array([config.noise, config.noise, config.vertical_noise])
        self._covariance = np.diag(self._sigma**2)
        self._covariance.setflags(write=False)  # all readings share it
        self.is_stateful = max(config.time_to_first_fix, config.time_to_reacquire) > 0.0
        self._ready: int | None = None  # the tick from which on it has a fix, if it stays above water
        self._has_had_fix = False

    def update(self, sample: SampleView) -> None:
        place = sample.motion(self._config.link, self._offset)[:3]
        if sample.depth(place) > 0.0:
            self._ready = None
            return
        if self._ready is None:
            config = self._config
            needed = config.time_to_reacquire if self._has_had_fix else config.time_to_first_fix
            self._ready = sample.tick + round(needed / sample.step)
        self._has_had_fix = self._has_had_fix or sample.tick >= self._ready

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[GpsReading | None]:
        projection, times, ticks = sensor_view.projection, sensor_view.times, sensor_view.ticks
        if projection is None:
            raise SkerryError("a GPS needs the scenario's `reference`, the place on earth of the world's origin")
        places = sensor_view.motion(self._config.link, self._offset)[:, :3]
        heard = sensor_view.depth(places) <= 0.0
        if self.is_stateful:
            heard &= False if self._ready is None else ticks >= self._ready
        if not heard.any():
            return Readings(len(times), lambda k: None, valid=heard)
        seen = places + self._sigma * noise.normals(ticks, 3)
        utm, geodetic = projection.to_utm(seen), projection.to_geodetic(seen)

        def make(k: int) -> GpsReading:
            latitude, longitude, altitude = geodetic[k].tolist()
            east, north, _ = utm[k].tolist()
            zone, band = projection.zone, projection.band
            return GpsReading(times[k], latitude, longitude, altitude, east, north, zone, band, self._covariance)

        def columns() -> ReadingColumns:
            latitude, longitude, altitude = geodetic.T
            return ReadingColumns(
                {"covariance": self._covariance},
                time=times,
                latitude_deg=latitude,
                longitude_deg=longitude,
                altitude=altitude,
            )

        return Readings(len(times), make, columns, heard)

    def state(self) -> bytes:
        return json.dumps([self._ready, self._has_had_fix]).encode()

    def set_state(self, state: bytes) -> None:
        self._ready, self._has_had_fix = json.loads(state)


class Gps(SensorConfig):
    """A GPS antenna."""

    kind: Literal["gps"] = "gps"
    noise: NonNegative = Field(0.5, description="standard deviation east and north, m")
    vertical_noise: NonNegative = Field(1.0, description="standard deviation upwards, m")

    time_to_first_fix: NonNegative = Field(0.0, description="s above water, without a break, before the first fix")
    time_to_reacquire: NonNegative = Field(0.0, description="the same before it has a fix again after a dive")

    def build(self) -> GpsSensor:
        return GpsSensor(self, self.offset())

    @property
    def needs_reference(self) -> bool:
        return True
