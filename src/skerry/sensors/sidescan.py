"""Side-scan sonar: a beam to port and one to starboard, with their echoes in range buckets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Cloud, Display, Rays, SonarLines
from skerry.parts.readings import Ragged, Readings, shared
from skerry.parts.sensor import SensorView
from skerry.sensors.raycast.echoes import transform_points
from skerry.sensors.raycast.sonar import (
    BucketConfig,
    Buckets,
    BucketSonar,
    Bytes,
    Fan,
    Pings,
    Singles,
    across_track_fan,
)

ANGLE_CODES: Final = 20860.0
"""Codes per radian: (π + a) · 20860 is 0 to 65534 for an angle a from −π to 0, as in SMaRC's side-scan messages."""

PRESETS: Final[dict[str, dict[str, Any]]] = {
    "survey": {
        "frequency_khz": 680.0,
        "rays_per_beam": 256,
        "tilt_deg": 2.0,
        "beam_breadth_deg": 86.0,
        "axis_deg": 25.0,
        "beam_breadth_3db_deg": 60.0,
        "thickness_deg": 0.5,
        "buckets": 1000,
        "max_range": 100.0,
    },
    "smarc": {
        "rays_per_beam": 256,
        "tilt_deg": 45.0,
        "beam_breadth_deg": 45.0,
        "buckets": 1000,
        "max_range": 100.0,
        "gain": 1.0,
        "range_noise": 1.0,
        "range_noise_mean": 0.0,
    },
}
"""Settings by preset.

`survey` covers the seabed from near nadir to near level. Its axis is 25° below level, because the arrays of the
EdgeTech 2205, a side-scan sonar for AUVs, look down by 24° to 27° (2205 System Technical and User's Guide, document
0022175 rev. A, section 11.4). The −3 dB breadth of 60° is that of the SMaRC simulator's SAM. The SMaRC team's SAM for
Stonefish has a beam of 0.5° × 60°.

`smarc` has the settings of the SMaRC simulator's SAM. Over level ground at the altitude h it sees slant ranges from h
to √2 h only. That simulator uses no beam pattern, so there is no −3 dB breadth.
"""


@dataclass(frozen=True, eq=False)
class SidescanCloud:
    """Points of an interferometric side-scan sonar: one for each bucket with an echo, port first, nearest first."""

    pose: Pose = unit()  # pose of the sonar in the world
    bucket: NDArray[np.int32] = unit("")  # (n,), index of each point's bucket; starboard follows port
    points: Singles = unit("m")  # (n, 3), in the sonar's frame
    ranges: Singles = unit("m")  # (n,), middle of the bucket
    intensity: Singles = unit("µPa²")  # (n,), after gain
    levels: Bytes = unit("")  # (n,), amplitudes

    @property
    def world_points(self) -> Singles:
        """Points in the world, (n, 3), m."""
        found = np.empty_like(self.points)
        transform_points(self.points, self.pose.position, self.pose.orientation, found)
        return found


@dataclass(frozen=True, eq=False)
class SidescanReading:
    """Ping of both beams. The first bucket of each side is the nearest."""

    time: float = unit("s")
    pose: Pose = unit()  # pose of the sonar in the world
    bucket_size: float = unit("m")
    port: Singles = unit("µPa²")  # (buckets,), after gain
    starboard: Singles = unit("µPa²")  # (buckets,), after gain
    port_levels: Bytes = unit("")  # (buckets,), amplitudes
    starboard_levels: Bytes = unit("")  # (buckets,), amplitudes
    # The following fields are None unless the sonar is interferometric.
    port_angles: Singles | None = unit("rad")  # (buckets,), 0 level with the sonar, −π/2 down; NaN without an echo
    starboard_angles: Singles | None = unit("rad")  # as `port_angles`
    port_angle_codes: NDArray[np.uint16] | None = unit("")  # (buckets,), (π + angle) · 20860; 0 without an echo
    starboard_angle_codes: NDArray[np.uint16] | None = unit("")  # as `port_angle_codes`
    cloud: SidescanCloud | None = unit()


INTERFEROMETRIC_FIELDS: Final = (
    "port_angles",
    "starboard_angles",
    "port_angle_codes",
    "starboard_angle_codes",
    "cloud",
)
"""Fields of the reading that only an interferometric side-scan sonar has."""


class SidescanSensor(BucketSonar[SidescanReading]):
    """Side-scan sonar."""

    def measure(self, view: SensorView, noise: Noise) -> Readings[SidescanReading]:
        pings = self.pings(view, noise)
        found = self.fill(noise, pings)
        angles: dict[str, Any] = dict.fromkeys(INTERFEROMETRIC_FIELDS, shared(None, len(view)))
        if len(self._codes):
            radians = found.codes.astype(np.float32) / np.float32(ANGLE_CODES) - np.float32(np.pi)
            radians[found.codes == 0] = np.nan
            columns = (*radians.swapaxes(0, 1), *found.codes.swapaxes(0, 1), self._cloud(pings, found, radians))
            angles = dict(zip(INTERFEROMETRIC_FIELDS, columns, strict=True))
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
                **angles,
            },
            pings.valid,
        )

    def _cloud(self, pings: Pings, found: Buckets, radians: Singles) -> Readings[SidescanCloud]:
        """Return the buckets with an echo as points: at range r and angle a, y = ±r cos a to port and z = r sin a."""
        count, _, buckets = radians.shape
        ranges = ((np.arange(buckets) + 0.5) * self.bucket_size).astype(np.float32)
        out = np.array([[1.0], [-1.0]], np.float32) * ranges
        points = np.stack([np.zeros_like(radians), out * np.cos(radians), ranges * np.sin(radians)], axis=-1)
        has_echo = np.isfinite(radians).reshape(count, -1) & pings.valid[:, None]
        order = np.argsort(~has_echo, axis=1, kind="stable")
        counts = np.count_nonzero(has_echo, axis=1)
        order = order[:, : max(int(counts.max()), 1)]

        def chosen(values: NDArray[Any]) -> Ragged:
            flat = values.reshape(count, 2 * buckets, *values.shape[3:])
            rows = order.reshape(*order.shape, *[1] * (flat.ndim - 2))
            return Ragged(np.take_along_axis(flat, rows, axis=1), counts)

        return Readings(
            SidescanCloud,
            {
                "pose": Readings.poses(pings.motions),
                "bucket": Ragged(order.astype(np.int32), counts),
                "points": chosen(points),
                "ranges": chosen(np.broadcast_to(ranges, radians.shape)),
                "intensity": chosen(found.intensity),
                "levels": chosen(found.levels),
            },
        )


class Sidescan(BucketConfig):
    """Side-scan sonar."""

    kind: Literal["sidescan"] = "sidescan"
    preset: Literal["survey", "smarc"] | None = Field(
        None,
        description="settings of a known sonar, which other settings replace: `survey` looks from near nadir to near "
        "level, `smarc` is the SMaRC simulator's SAM",
    )
    frequency_khz: float = Field(450.0, gt=0, le=10_000, description="frequency of the sound, kHz")
    beam_breadth_deg: float = Field(
        50.0, gt=0, le=360, description="angle of each beam from its upper to its lower edge"
    )
    tilt_deg: float = Field(20.0, ge=0, le=90, description="angle of each beam's upper edge below level")
    axis_deg: float | None = Field(
        None, ge=0, le=180, description="angle of each beam's axis below level; the middle of the beam by default"
    )
    thickness_deg: float = Field(0.5, gt=0, le=90, description="thickness of each beam along the track")
    buckets: int = Field(1000, ge=1, le=100_000, description="range buckets on each side")
    interferometric: bool = Field(
        False, description="also report the mean angle of the echoes in each bucket, and a point cloud"
    )

    @model_validator(mode="before")
    @classmethod
    def _apply_preset(cls, data: Any) -> Any:
        preset = data.get("preset") if isinstance(data, Mapping) else None
        return {**PRESETS[preset], **data} if isinstance(preset, str) and preset in PRESETS else data

    @model_validator(mode="after")
    def _fit_beams(self) -> Sidescan:
        if self.tilt_deg + self.beam_breadth_deg > 180.0:
            raise ValueError(
                f"`tilt_deg` and `beam_breadth_deg` together ({self.tilt_deg + self.beam_breadth_deg:g}°) "
                "must not be more than 180°, which is level on the other side"
            )
        if self.axis_deg is not None and not 0.0 <= self.axis_deg - self.tilt_deg <= self.beam_breadth_deg:
            raise ValueError(
                f"`axis_deg` ({self.axis_deg:g}°) must be inside the beam, from `tilt_deg` ({self.tilt_deg:g}°) to "
                f"`tilt_deg` + `beam_breadth_deg` ({self.tilt_deg + self.beam_breadth_deg:g}°)"
            )
        return self

    @property
    def display(self) -> tuple[Display, ...]:  # type: ignore[override]
        lines = SonarLines("port_levels", "starboard_levels", "bucket_size")
        return (lines, *([Cloud("cloud.points", "cloud.pose", "cloud.levels")] if self.interferometric else []), Rays())

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"buckets": 100, "interferometric": True, "multipath_db": 6} | settings)

    def build(self) -> SidescanSensor:
        tilt, breadth, thickness = np.radians([self.tilt_deg, self.beam_breadth_deg, self.thickness_deg])
        middle = np.pi / 2 - tilt - breadth / 2
        sides = []
        for side in (-1.0, 1.0):
            axis = None if self.axis_deg is None else side * (np.pi / 2 - np.radians(self.axis_deg))
            sides.append(across_track_fan(breadth, self.rays_per_beam, side * middle, thickness, axis))
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
