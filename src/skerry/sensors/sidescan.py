"""Side-scan sonar: a beam to port and one to starboard, with their echoes in range buckets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Rays, SonarLines
from skerry.parts.readings import Readings, shared
from skerry.parts.sensor import SensorView
from skerry.sensors.raycast.sonar import BucketConfig, BucketSonar, Bytes, Fan, Singles, across_track_fan

ANGLE_CODES: Final = 20860.0
"""Codes per radian: (π + a) · 20860 is 0 to 65534 for an angle a from −π to 0, as in SMaRC's side-scan messages."""


@dataclass(frozen=True, eq=False)
class SidescanReading:
    """Ping of both beams. The first bucket of each side is the nearest."""

    time: float = unit("s")
    pose: Pose = unit()  # pose of the sonar in the world
    bucket_size: float = unit("m")
    port: Singles = unit("µPa²")  # (buckets,), after time-varied gain
    starboard: Singles = unit("µPa²")  # (buckets,), after time-varied gain
    port_levels: Bytes = unit("")  # (buckets,), amplitudes
    starboard_levels: Bytes = unit("")  # (buckets,), amplitudes
    port_angles: NDArray[np.uint16] | None = unit("")  # (buckets,), (π + a) · 20860, a 0 level, −π/2 down; 0: no echo
    starboard_angles: NDArray[np.uint16] | None = unit("")  # as `port_angles`


class SidescanSensor(BucketSonar[SidescanReading]):
    """Side-scan sonar."""

    def measure(self, view: SensorView, noise: Noise) -> Readings[SidescanReading]:
        pings = self.pings(view, noise)
        found = self.fill(noise, pings)
        has_angles, none = len(self._codes) > 0, shared(None, len(view))
        return Readings(
            SidescanReading,
            {
                "time": view.times,
                "pose": Readings.poses(pings.motions),
                "bucket_size": np.full(len(view), self.bucket_size),
                "port": found.intensity[:, 0],
                "starboard": found.intensity[:, 1],
                "port_levels": found.levels[:, 0],
                "starboard_levels": found.levels[:, 1],
                "port_angles": found.codes[:, 0] if has_angles else none,
                "starboard_angles": found.codes[:, 1] if has_angles else none,
            },
            pings.valid,
        )


class Sidescan(BucketConfig):
    """Side-scan sonar."""

    display = (SonarLines("port_levels", "starboard_levels", "bucket_size"), Rays())

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

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"buckets": 100, "interferometric": True, "multipath_db": 6} | settings)

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
