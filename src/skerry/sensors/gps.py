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

    sees_bodies_only = True

    def __init__(self, config: Gps, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigma = np.array([config.noise, config.noise, config.vertical_noise])
        self._covariance = np.diag(self._sigma**2)
        self._covariance.setflags(write=False)  # all readings share it
        self.watches = max(config.time_to_first_fix, config.time_to_reacquire) > 0.0
        self._ready: int | None = None  # the tick from which on it has a fix, if it stays above water
        self._has_had_fix = False

    def watch(self, truth: Truth) -> None:
        place = self._place(truth)
        if truth.depth(place) > 0.0:
            self._ready = None
            return
        if self._ready is None:
            config = self._config
            needed = config.time_to_reacquire if self._has_had_fix else config.time_to_first_fix
            self._ready = truth.tick + round(needed / truth.step)
        self._has_had_fix = self._has_had_fix or truth.tick >= self._ready

    def _place(self, truth: Truth) -> NDArray[np.float64]:
        return truth.motion(self._config.link, self._offset)[:3]

    def measure(self, truth: Truth, noise: Noise) -> GpsReading | None:
        projection = truth.projection
        if projection is None:
            raise SkerryError("a GPS needs the scenario's `reference`, the place on earth of the world's origin")
        if self.watches and (self._ready is None or truth.tick < self._ready):
            return None
        place = self._place(truth)
        if truth.depth(place) > 0.0:
            return None
        seen = place + self._sigma * noise.normal(truth.tick, (3,))
        latitude, longitude, altitude = projection.to_geodetic(seen).tolist()
        easting, northing, _ = projection.to_utm(seen).tolist()
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
