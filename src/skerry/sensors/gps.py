"""GPS receiver: latitude, longitude and UTM position of its antenna. No reading under water or before a fix.

With a time to first fix or to reacquire, the sensor checks at each due tick whether the antenna is above water. It does
not notice a dip between two due ticks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import NonNegative
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import ReferenceLine, Scalars
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import Sensor, SensorConfig, SensorView


@dataclass(frozen=True)
class GpsReading:
    """Position fix."""

    time: float = unit("s")
    latitude_deg: float = unit("°")
    longitude_deg: float = unit("°")
    altitude: float = unit("m")
    easting: float = unit("m")  # in the scenario's UTM zone
    northing: float = unit("m")  # in the scenario's UTM zone
    zone: int = unit("")
    band: str = unit("")
    covariance: NDArray[np.float64] = unit("m²")  # (3, 3), east, north, up


class GpsSensor(Sensor[GpsReading]):
    """GPS receiver with an optional time to first fix and to reacquire."""

    execution = "batch"

    def __init__(self, config: Gps, offset: Pose) -> None:
        self._config = config
        self._offset = offset
        self._sigma = np.array([config.noise, config.noise, config.vertical_noise])
        self._covariance = np.diag(self._sigma**2)
        self._covariance.setflags(write=False)  # shared by all readings
        self.is_stateful = max(config.time_to_first_fix, config.time_to_reacquire) > 0.0
        self._ready: int | None = None  # tick of the next fix if the antenna stays above water
        self._has_had_fix = False

    def measure(self, view: SensorView, noise: Noise) -> Readings[GpsReading]:
        projection, ticks = view.projection, view.ticks
        if projection is None:
            raise SkerryError(
                "the sensor `gps` needs `reference` in the scenario: latitude and longitude of the world's origin"
            )
        positions = view.motion(self._config.link, self._offset)[:, :3]
        valid = view.depth(positions) <= 0.0
        if self.is_stateful:
            valid = self._have_fix(valid, ticks, view.step)
        if not valid.any():
            return Readings.none(GpsReading, len(view))
        measured = positions + self._sigma * noise.normals(ticks, 3)
        utm, geodetic = projection.to_utm(measured), projection.to_geodetic(measured)
        return Readings(
            GpsReading,
            {
                "time": view.times,
                "latitude_deg": geodetic[:, 0],
                "longitude_deg": geodetic[:, 1],
                "altitude": geodetic[:, 2],
                "easting": utm[:, 0],
                "northing": utm[:, 1],
                "zone": np.full(len(view), projection.zone),
                "band": shared(projection.band, len(view)),
                "covariance": shared(self._covariance, len(view)),
            },
            valid,
        )

    def _have_fix(self, above: NDArray[np.bool_], ticks: NDArray[np.int64], step: float) -> NDArray[np.bool_]:
        """Return whether the receiver has a fix at each sample, and update the time of the next fix."""
        config, found = self._config, np.zeros(len(above), np.bool_)
        for row, (is_above, tick) in enumerate(zip(above.tolist(), ticks.tolist(), strict=True)):
            if not is_above:
                self._ready = None
                continue
            if self._ready is None:
                needed = config.time_to_reacquire if self._has_had_fix else config.time_to_first_fix
                self._ready = tick + round(needed / step)
            found[row] = tick >= self._ready
            self._has_had_fix = self._has_had_fix or bool(found[row])
        return found

    def state(self) -> bytes:
        return json.dumps([self._ready, self._has_had_fix]).encode()

    def set_state(self, state: bytes) -> None:
        self._ready, self._has_had_fix = json.loads(state)


class Gps(SensorConfig):
    """GPS receiver."""

    display = (
        Scalars(("latitude_deg", "longitude_deg", "altitude", "easting", "northing")),
        ReferenceLine(),
    )

    perfect = {"noise": 0.0, "vertical_noise": 0.0}

    kind: Literal["gps"] = "gps"
    noise: NonNegative = Field(0.5, description="standard deviation east and north, m")
    vertical_noise: NonNegative = Field(1.0, description="standard deviation of the altitude, m")

    time_to_first_fix: NonNegative = Field(
        0.0, description="time above water, without interruption, before the first fix, s"
    )
    time_to_reacquire: NonNegative = Field(
        0.0, description="time above water, without interruption, before a new fix after a dive, s"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"time_to_first_fix": 0.1} | settings)

    def build(self) -> GpsSensor:
        return GpsSensor(self, self.offset())

    @property
    def needs_reference(self) -> bool:
        return True
