"""Side-scan sonar: a beam to port and one to starboard, with their echoes in range buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.parts.sensor import ReadingColumns, Readings, SensorView
from skerry.sensors.raycast.sonar import BucketConfig, BucketSonar, Bytes, Fan, Singles, across_track_fan

ANGLE_CODES: Final = 20860.0
"""Codes per radian: (π + a) · 20860 is 0 to 65534 for an angle a from −π to 0, as in SMaRC's side-scan messages."""


@dataclass(frozen=True, eq=False)
class SidescanReading:
    """Ping of both beams. The first bucket of each side is the nearest."""

    time: float
    pose: Pose  # pose of the sonar in the world
    bucket_size: float  # m
    port: Singles  # (buckets,), µPa² after time-varied gain
    starboard: Singles  # (buckets,), µPa² after time-varied gain
    port_levels: Bytes  # (buckets,), amplitudes
    starboard_levels: Bytes  # (buckets,), amplitudes
    port_angles: NDArray[np.uint16] | None  # (buckets,), (π + a) · 20860; a is 0 level, −π/2 down; 0 without an echo
    starboard_angles: NDArray[np.uint16] | None  # as `port_angles`


class SidescanSensor(BucketSonar[SidescanReading]):
    """Side-scan sonar."""

    def measure_batch(self, sensor_view: SensorView, noise: Noise) -> Readings[SidescanReading | None]:
        pings = self.pings(sensor_view, noise)
        found = self.fill(noise, pings)

        def make(k: int) -> SidescanReading:
            sides, levels = found.intensity[k].copy(), found.levels[k].copy()
            angles = found.codes[k].copy() if len(self._codes) else (None, None)
            return SidescanReading(pings.times[k], pings.pose(k), self.bucket_size, *sides, *levels, *angles)

        def columns() -> ReadingColumns:
            angles: dict[str, Any] = {}
            if len(self._codes):
                angles = {"port_angles": found.codes[:, 0], "starboard_angles": found.codes[:, 1]}
            levels = found.levels
            return ReadingColumns(time=pings.times, port_levels=levels[:, 0], starboard_levels=levels[:, 1], **angles)

        return Readings(len(pings), make, columns, pings.valid)


class Sidescan(BucketConfig):
    """Side-scan sonar."""

    kind: Literal["sidescan"] = "sidescan"
    frequency_khz: float = Field(450.0, gt=0, le=10_000, description="frequency of the sound, kHz")
    beam_breadth_deg: float = Field(
        50.0, gt=0, le=360, description="angle of each beam from its upper to its lower edge"
    )
    tilt_deg: float = Field(20.0, ge=0, le=90, description="angle of each beam's upper edge below level")
    thickness_deg: float = Field(0.5, gt=0, le=90, description="thickness of each beam along the track")
    buckets: int = Field(1000, ge=1, le=100_000, description="range buckets on each side")
    interferometric: bool = Field(False, description="also report the mean angle of the echoes in each bucket")

    @model_validator(mode="after")
    def _fit_beams(self) -> Sidescan:
        if self.tilt_deg + self.beam_breadth_deg > 180.0:
            raise ValueError(
                f"`tilt_deg` and `beam_breadth_deg` together ({self.tilt_deg + self.beam_breadth_deg:g}°) "
                "must not be more than 180°, which is level on the other side"
            )
        return self

    def build(self) -> SidescanSensor:
        tilt, breadth, thickness = np.radians([self.tilt_deg, self.beam_breadth_deg, self.thickness_deg])
        middle = np.pi / 2 - tilt - breadth / 2
        sides = [across_track_fan(breadth, self.rays_per_beam, side * middle, thickness) for side in (-1.0, 1.0)]
        both = Fan(
            np.concatenate([side.directions for side in sides]),
            np.concatenate([side.tangents for side in sides]),
            np.concatenate([side.off_axis for side in sides]),
            np.concatenate([side.solid_angle for side in sides]),
            sides[0].half_step,
        )
        down = tilt + np.linspace(0.0, breadth, self.rays_per_beam)
        codes = np.rint((np.pi - np.concatenate([down, down[::-1]])) * ANGLE_CODES) if self.interferometric else None
        return SidescanSensor(self, both, 2, self.buckets, codes)
