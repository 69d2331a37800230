"""GPS receiver: latitude, longitude and UTM position of its antenna. No reading under water or before a fix.

With a time to first fix or to reacquire, the sensor checks at each due tick whether the antenna is above water, whether
or not a reading is requested. It does not notice a dip between two due ticks.
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
    """Position fix."""

    time: float
    latitude_deg: float
    longitude_deg: float
    altitude: float  # m
    easting: float  # m, in the scenario's UTM zone
    northing: float  # m, in the scenario's UTM zone
    zone: int
    band: str
    covariance: NDArray[np.float64]  # (3, 3), east, north, up, m²


class GpsSensor(BatchSensor[GpsReading]):
    """GPS receiver with an optional time to first fix and to reacquire."""

    def __init__(self, config: Gps, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigma = np.array([config.noise, config.noise, config.vertical_noise])
        self._covariance = np.diag(self._sigma**2)
        self._covariance.setflags(write=False)  # shared by all readings
        self.is_stateful = max(config.time_to_first_fix, config.time_to_reacquire) > 0.0
        self._ready: int | None = None  # tick of the next fix if the antenna stays above water
        self._has_had_fix = False

    def update(self, sample: SampleView) -> None:
        position = sample.motion(self._config.link, self._offset)[:3]
        if sample.depth(position) > 0.0:
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
            raise SkerryError(
                "the sensor `gps` needs `reference` in the scenario: latitude and longitude of the world's origin"
            )
        positions = sensor_view.motion(self._config.link, self._offset)[:, :3]
        valid = sensor_view.depth(positions) <= 0.0
        if self.is_stateful:
            valid &= False if self._ready is None else ticks >= self._ready
        if not valid.any():
            return Readings(len(times), lambda k: None, valid=valid)
        measured = positions + self._sigma * noise.normals(ticks, 3)
        utm, geodetic = projection.to_utm(measured), projection.to_geodetic(measured)

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

        return Readings(len(times), make, columns, valid)

    def state(self) -> bytes:
        return json.dumps([self._ready, self._has_had_fix]).encode()

    def set_state(self, state: bytes) -> None:
        self._ready, self._has_had_fix = json.loads(state)


class Gps(SensorConfig):
    """GPS receiver."""

    kind: Literal["gps"] = "gps"
    noise: NonNegative = Field(0.5, description="standard deviation east and north, m")
    vertical_noise: NonNegative = Field(1.0, description="standard deviation of the altitude, m")

    time_to_first_fix: NonNegative = Field(
        0.0, description="time above water, without interruption, before the first fix, s"
    )
    time_to_reacquire: NonNegative = Field(
        0.0, description="time above water, without interruption, before a new fix after a dive, s"
    )

    def build(self) -> GpsSensor:
        return GpsSensor(self, self.offset())

    @property
    def needs_reference(self) -> bool:
        return True
