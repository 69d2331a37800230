"""Base classes of sonars: settings, beams, the sonar equation, and conversion of echoes to buckets and points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose, multiply
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.readings import Ragged, Readings
from skerry.parts.sensor import SensorView
from skerry.rays import Bundle, Hits
from skerry.sensors.raycast.echo_batches import (
    RANGE_ERRORS,
    collect_points_batch,
    compute_echoes_batch,
    fill_buckets_batch,
)
from skerry.sensors.raycast.echoes import transform_points
from skerry.sensors.raycast.ray_sensor import RaySensor, RaySensorConfig
from skerry.terrain.materials import NamedMaterial

Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Reading = TypeVar("Reading", covariant=True)

BACKGROUND_RAYS = 8192  # sonars with more rays take milliseconds per ping and are measured in a thread
NEPER = np.log(10.0) / 10.0  # natural logarithm of a power ratio of 1 dB

# ------------------------------------------------------------------------------------------------ settings


class SonarConfig(RaySensorConfig):
    """Settings of all sonars."""

    perfect: ClassVar[Mapping[str, Any]] = {
        "speckle": False,
        "noise_level_db": None,
        "range_noise": 0.0,
        "range_noise_mean": 0.0,
    }

    frequency_khz: float = Field(400.0, gt=0, le=10_000, description="frequency of the sound, kHz")
    source_level_db: float = Field(
        220.0, ge=0, le=260, description="source level on the beam's axis, dB re 1 µPa at 1 m"
    )
    beam_breadth_deg: float = Field(90.0, gt=0, le=360, description="angle from one edge of a beam to the other")
    beam_breadth_3db_deg: Positive | None = Field(
        None, description="angle between the directions with half the echo of the axis; `beam_breadth_deg` by default"
    )
    rays_per_beam: int = Field(256, ge=2, le=65536, description="rays of a beam, spread evenly from edge to edge")
    min_range: NonNegative = Field(0.1, description="minimum range, m; nearer hits give no echo")
    max_range: Positive = Field(100.0, description="maximum range, m")
    gain: float = Field(1.0, ge=0, le=1e9, description="factor on the intensities and on the bytes")
    tvg: bool = Field(True, description="apply time-varied gain, `tvg_spreading` log r + 2 α r")
    tvg_spreading: float = Field(
        30.0,
        ge=0,
        le=100,
        description="dB per decade of range; 40 compensates spreading, 30 or 20 makes a seabed look even",
    )
    full_scale_db: float = Field(
        -50.0,
        ge=-200,
        le=200,
        description="received level, relative to the source level, that gives a byte of 255 at a gain of 1, dB",
    )
    speckle: bool = Field(
        True, description="exponentially distributed intensities, as of many interfering small echoes"
    )
    noise_level_db: float | None = Field(
        40.0, ge=-200, le=200, description="noise in a bucket, dB re 1 µPa; null for none"
    )
    range_noise: NonNegative = Field(0.0, description="standard deviation of each ray's range, m")
    range_noise_mean: float = Field(0.0, description="mean error of each ray's range, m")

    @model_validator(mode="after")
    def _fit(self) -> SonarConfig:
        if self.beam_breadth_3db > self.beam_breadth_deg:
            raise ValueError(
                f"`beam_breadth_3db_deg` ({self.beam_breadth_3db_deg:g}°) must not be wider than "
                f"`beam_breadth_deg` ({self.beam_breadth_deg:g}°), the whole beam"
            )
        if self.min_range >= self.max_range:
            raise ValueError(f"`min_range` ({self.min_range:g} m) must be less than `max_range` ({self.max_range:g} m)")
        return self

    @property
    def beam_breadth_3db(self) -> float:
        """Angle between the directions with half the echo of the axis, degrees."""
        return self.beam_breadth_deg if self.beam_breadth_3db_deg is None else self.beam_breadth_3db_deg


class BucketConfig(SonarConfig):
    """Settings of a sonar that reports echoes in range buckets."""

    multipath_db: float | None = Field(
        None, ge=0, description="loss of echoes that are reflected once at the surface, dB; null for no such echoes"
    )


# ------------------------------------------------------------------------------------------------ beams


@dataclass(frozen=True, eq=False)
class Fan:
    """Rays of a sonar; shapes are (n, …) or (beams, rays, …)."""

    directions: NDArray[np.float64]  # (…, 3), in the sensor's frame
    tangents: NDArray[np.float64]  # (…, 3), unit vectors towards the next ray of the beam
    off_axis: NDArray[np.float64]  # (…), angle from the axis of the beam, rad
    solid_angle: NDArray[np.float64]  # (…), solid angle that the ray represents, sr
    half_step: float  # half the angle between neighbouring rays, rad


def beam_pattern(off_axis: ArrayLike, breadth_3db: float) -> NDArray[np.float64]:
    """Return the two-way beam pattern, a Gaussian that is ½ at half the −3 dB breadth.

    Args:
        off_axis: Angle from the beam's axis, rad.
        breadth_3db: Two-way −3 dB breadth, rad.
    """
    return np.exp2(-((2.0 * np.asarray(off_axis, np.float64) / breadth_3db) ** 2))


def across_track_fan(breadth: float, rays: int, middle: float, thickness: float, axis: float | None = None) -> Fan:
    """Return a fan across the track, from port to starboard; all angles in rad.

    Args:
        breadth: Angle from edge to edge.
        rays: Number of rays.
        middle: Angle of the fan's middle from straight down, positive to starboard.
        thickness: Thickness of the fan along the track.
        axis: Angle of the beam's axis from straight down, positive to starboard; None for the fan's middle.
    """
    angle = np.linspace(-breadth / 2, breadth / 2, rays, dtype=np.float64)
    turn = angle + middle
    none = np.zeros(rays)
    return Fan(
        np.stack([none, -np.sin(turn), -np.cos(turn)], axis=-1),
        np.stack([none, -np.cos(turn), np.sin(turn)], axis=-1),
        angle if axis is None else turn - axis,
        np.full(rays, breadth / rays * 2.0 * np.sin(thickness / 2)),
        breadth / (rays - 1) / 2,
    )


def forward_fan(azimuths: NDArray[np.float64], spacing: float, breadth: float, rays: int, tilt: float) -> Fan:
    """Return forward beams, each with rays from its upper to its lower edge; all angles in rad.

    A patch of the sphere between two azimuths and two depressions has the solid angle Δψ (sin ε₂ − sin ε₁).

    Args:
        azimuths: Azimuth of each beam, positive to the right, (beams,).
        spacing: Angle between beams.
        breadth: Angle from the upper to the lower edge.
        rays: Rays per beam.
        tilt: Depression of the upper edge below level.
    """
    angle = np.linspace(-breadth / 2, breadth / 2, rays)
    right, down = np.meshgrid(azimuths, tilt + breadth / 2 + angle, indexing="ij")
    share = breadth / rays
    return Fan(
        np.stack([np.cos(down) * np.cos(right), -np.cos(down) * np.sin(right), -np.sin(down)], axis=-1),
        np.stack([-np.sin(down) * np.cos(right), np.sin(down) * np.sin(right), -np.cos(down)], axis=-1),
        np.broadcast_to(angle, down.shape),
        spacing * np.abs(np.cos(down)) * 2.0 * np.sin(share / 2),
        breadth / (rays - 1) / 2,
    )


# ------------------------------------------------------------------------------------------------ readings


@dataclass(frozen=True, eq=False)
class SonarCloud:
    """Points with an echo. Rays without an echo are absent."""

    pose: Pose = unit()  # pose of the sonar in the world
    ray_count: int = unit("")  # number of rays that were cast
    ray: NDArray[np.int32] = unit("")  # (n,), index of each point's ray
    points: Singles = unit("m")  # (n, 3), in the sonar's frame
    ranges: Singles = unit("m")  # (n,)
    intensity: Singles = unit("µPa²")  # (n,), after gain
    levels: Bytes = unit("")  # (n,), amplitudes
    labels: Bytes = unit("")  # (n,), labels of the materials

    @property
    def world_points(self) -> Singles:
        """Points in the world, (n, 3), m."""
        found = np.empty_like(self.points)
        transform_points(self.points, self.pose.position, self.pose.orientation, found)
        return found

    @property
    def ray_ranges(self) -> Singles:
        """Range of each ray, (rays,), m; NaN without an echo."""
        found = np.full(self.ray_count, np.nan, np.float32)
        found[self.ray] = self.ranges
        return found


# ------------------------------------------------------------------------------------------------ sonars


@dataclass(frozen=True, eq=False)
class Pings:
    """Batch of one or more pings, with their hits and echoes. The sensor owns `hits` and `echoes`, and reuses them."""

    ticks: NDArray[np.int64]
    motions: NDArray[np.float64]  # (n, 13), motions of the sonar in the world
    valid: NDArray[np.bool_]  # (n,), whether the sonar was under water
    above: NDArray[np.float64]  # (n,), height of the surface above the sonar, m
    absorption: NDArray[np.float64]  # (n,), absorption over the two-way path, 1/m
    hits: Hits
    echoes: Singles  # (4, n, rays): range (NaN without an echo), start and end of the echo, m, and intensity, µPa²


class SonarSensor(RaySensor[Reading]):
    """Base class of sonars: casts rays and computes their echoes."""

    def __init__(self, config: SonarConfig, fan: Fan) -> None:
        super().__init__(config, Bundle(fan.directions))
        self.config = config
        count = len(self.bundle)
        self.execution = "thread" if count > BACKGROUND_RAYS else "batch"
        weights = beam_pattern(fan.off_axis, np.radians(config.beam_breadth_3db)) * fan.solid_angle
        self._weights = weights.ravel().astype(np.float32)
        self._tangents = np.ascontiguousarray(fan.tangents.reshape(-1, 3).T.astype(np.float32))
        self._half_step = fan.half_step
        self._source = 10.0 ** (config.source_level_db / 10.0)
        self._noise = 0.0 if config.noise_level_db is None else 10.0 ** (config.noise_level_db / 10.0)
        full_scale = 10.0 ** ((config.source_level_db + config.full_scale_db) / 20.0)
        self._scale = 255.0 * np.sqrt(config.gain) / full_scale  # of the amplitude after gain
        self._is_random = config.speckle or self._noise > 0.0
        self._ray_draws = np.empty(count if self._is_random else 0)
        self._echoes = np.empty((4, 1, count), np.float32)
        self._column: Any = None
        self._absorptions: dict[int, float] = {}
        self._materials_seen: tuple[NamedMaterial, ...] | None = None
        self._scattering: NDArray[np.float64] = np.zeros(0)
        self._labels: Bytes = np.zeros(0, np.uint8)

    def pings(self, view: SensorView, noise: Noise, yaws: NDArray[np.float64] | None = None) -> Pings:
        """Cast the rays and compute their echoes.

        Args:
            view: Samples to measure.
            noise: Noise of the sensor.
            yaws: Rotation of the rays about the sensor's z axis at each sample, (n,), rad, positive to the left.
        """
        config, motions = self.config, view.motion(self._mount.link, self._offset)
        if yaws is not None:
            none = np.zeros_like(yaws)
            motions[:, 3:7] = multiply(motions[:, 3:7], np.stack([none, none, np.sin(yaws / 2), np.cos(yaws / 2)], -1))
        above = view.depth(motions[:, :3])
        valid = above > 0.0
        hits = self.cast_rays(view, motions, valid, config.max_range)
        self._update_materials(self.materials)
        count = len(valid)
        if self._echoes.shape[1] < count:
            self._echoes = np.empty((4, count, len(self.bundle)), np.float32)
        echoes = self._echoes[:, :count]
        absorption = self._absorption(view, above)
        compute_echoes_batch(
            motions,
            valid,
            hits.distance,
            hits.normal,
            hits.material,
            self.bundle.directions,
            self._tangents,
            self._weights,
            self._half_step,
            above,
            config.min_range,
            config.max_range,
            self._source,
            absorption,
            self._scattering,
            self._errors(view, noise),
            *echoes,
        )
        return Pings(view.ticks, motions, valid, above, absorption, hits, echoes)

    def clouds(self, noise: Noise, pings: Pings) -> Readings[SonarCloud]:
        """Return the echoes of each ping as a point cloud."""
        config, count = self.config, len(pings.ticks)
        shape = (count, len(self.bundle))
        ranges, _, _, strength = pings.echoes
        counts = np.zeros(count, np.int64)
        columns: dict[str, NDArray[Any]] = {
            "ray": np.empty(shape, np.int32),
            "points": np.empty((*shape, 3), np.float32),
            "ranges": np.empty(shape, np.float32),
            "intensity": np.empty(shape, np.float32),
            "levels": np.empty(shape, np.uint8),
            "labels": np.empty(shape, np.uint8),
        }
        collect_points_batch(
            pings.valid,
            ranges,
            strength,
            pings.hits.material,
            self._labels,
            self.bundle.directions,
            *noise.key,
            pings.ticks,
            self._ray_draws,
            self._noise,
            config.speckle,
            config.tvg_spreading / 10.0 if config.tvg else 0.0,
            pings.absorption if config.tvg else np.zeros(count),
            config.gain,
            self._scale,
            counts,
            *columns.values(),
        )
        return Readings(
            SonarCloud,
            {
                "pose": Readings.poses(pings.motions),
                "ray_count": np.full(count, shape[1]),
                **{name: Ragged(values, counts) for name, values in columns.items()},
            },
        )

    def _errors(self, view: SensorView, noise: Noise) -> NDArray[np.float64]:
        """Return the range errors (n, rays), m; (n, 0) without range noise."""
        sigma, mean = self.config.range_noise, self.config.range_noise_mean
        if not sigma:
            return np.full((len(view), len(self.bundle) if mean else 0), mean)
        return mean + sigma * noise.normals(view.ticks, len(self.bundle), RANGE_ERRORS)

    def _absorption(self, view: SensorView, depths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the two-way absorption of the water at depths (n,), 1/m.

        Values are cached by decimetres of depth, because computing one takes longer than a ping.
        """
        column, known = view.water.column, self._absorptions
        if column is not self._column or len(known) > 10_000:
            self._column, self._absorptions = column, (known := {})
        found = []
        for depth in depths.tolist():
            cell = round(depth * 10.0) if depth > 0.0 else 0
            if cell not in known:
                per_km = float(column.absorption_db_per_km(self.config.frequency_khz * 1e3, cell / 10.0))
                known[cell] = 2.0 * per_km / 1e3 * NEPER
            found.append(known[cell])
        return np.array(found)

    def _update_materials(self, materials: tuple[NamedMaterial, ...]) -> None:
        if materials is not self._materials_seen:
            self._materials_seen = materials
            self._scattering = np.array([10.0 ** (named.material.backscatter_db / 10.0) for named in materials])
            self._labels = np.array([named.material.label for named in materials], np.uint8)


@dataclass(frozen=True, eq=False)
class Buckets:
    """Range buckets of one or more pings."""

    intensity: Singles  # (n, beams, buckets), µPa² after gain
    levels: Bytes  # (n, beams, buckets), amplitudes
    codes: NDArray[np.uint16]  # (n, beams, buckets), energy-weighted mean angle code; 0 without an echo


class BucketSonar(SonarSensor[Reading]):
    """Base class of sonars that report echoes in range buckets for each beam."""

    def __init__(
        self, config: BucketConfig, fan: Fan, beams: int, buckets: int, codes: NDArray[np.float64] | None = None
    ) -> None:
        super().__init__(config, fan)
        self._share = 0.0 if config.multipath_db is None else 10.0 ** (-config.multipath_db / 10.0)
        self._rays = len(self.bundle) // beams
        self._buckets = np.zeros((beams, buckets))
        self._codes = np.zeros(0) if codes is None else codes
        self._angle_sums = np.zeros((beams, buckets if codes is not None else 0))
        self._bucket_draws = np.empty(beams * buckets if self._is_random else 0)
        self._gains = np.full(buckets, config.gain)
        self._gains_for = np.array([np.nan])  # absorption for which `_gains` were computed
        self.bucket_size = config.max_range / buckets

    def fill(self, noise: Noise, pings: Pings) -> Buckets:
        """Return the echoes in range buckets."""
        config, count = self.config, len(pings.ticks)
        found = Buckets(
            np.empty((count, *self._buckets.shape), np.float32),
            np.empty((count, *self._buckets.shape), np.uint8),
            np.empty((count, *self._angle_sums.shape), np.uint16),
        )
        fill_buckets_batch(
            pings.motions,
            pings.valid,
            pings.hits.distance,
            pings.hits.normal,
            self.bundle.directions,
            pings.above,
            config.max_range,
            pings.absorption,
            self._share,
            *pings.echoes,
            self._codes,
            self._rays,
            self.bucket_size,
            self._buckets,
            self._angle_sums,
            *noise.key,
            pings.ticks,
            self._bucket_draws,
            self._noise,
            config.speckle,
            config.tvg,
            config.tvg_spreading / 10.0,
            config.gain,
            self._gains,
            self._gains_for,
            self._scale,
            found.intensity,
            found.levels,
            found.codes,
        )
        return found
