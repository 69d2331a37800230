"""What all sonars share: the description of their beams, the sonar equation, and what becomes of echoes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.frames import Pose, multiply
from skerry.core.noise import Noise
from skerry.parts.sensor import ReadingColumns, SensorView
from skerry.rays import Bundle, Hits
from skerry.sensors.raycast.echo_batches import (
    RANGE_ERRORS,
    collect_points_batch,
    compute_echoes_batch,
    fill_buckets_batch,
)
from skerry.sensors.raycast.echoes import transform_points
from skerry.sensors.raycast.ray_sensor import RayBatchSensor, RaySensorConfig
from skerry.terrain.materials import NamedMaterial

Singles = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Reading = TypeVar("Reading", covariant=True)

BACKGROUND_RAYS = 8192  # rays, which take a millisecond or two
NEPER = np.log(10.0) / 10.0  # of a dB of power

# ------------------------------------------------------------------------------------------------ settings


class SonarConfig(RaySensorConfig):
    """What every sonar is described by."""

    frequency_khz: float = Field(400.0, gt=0, le=10_000, description="of its sound, kHz")
    source_level_db: float = Field(220.0, ge=0, le=260, description="dB re 1 µPa at 1 m, on the beam's axis")
    beam_breadth_deg: float = Field(90.0, gt=0, le=360, description="from one edge of a beam to the other")
    beam_breadth_3db_deg: Positive | None = Field(
        None, description="between the angles whose echoes are half as strong as on the axis; the breadth if left out"
    )
    rays_per_beam: int = Field(256, ge=2, le=65536, description="spread evenly from edge to edge")
    min_range: NonNegative = Field(0.1, description="m; what is nearer gives no echo")
    max_range: Positive = Field(100.0, description="m")
    gain: float = Field(1.0, ge=0, le=1e9, description="factor on bytes, as on a sonar's own knob")
    tvg: bool = Field(True, description="let the gain grow with range, `tvg_spreading` log r + 2 α r")
    tvg_spreading: float = Field(
        30.0,
        ge=0,
        le=100,
        description="dB per decade of range; 40 undoes spreading, with 30 or 20 a seabed is even",
    )
    full_scale_db: float = Field(
        -50.0, ge=-200, le=200, description="level over the source level that fills a byte at a gain of 1, dB"
    )
    speckle: bool = Field(True, description="let intensities be exponential, as of many small echoes that interfere")
    noise_level_db: float | None = Field(40.0, ge=-200, le=200, description="in a bucket, dB re 1 µPa; null for none")
    range_noise: NonNegative = Field(0.0, description="standard deviation of each ray's range, m")

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
        """Degrees."""
        return self.beam_breadth_deg if self.beam_breadth_3db_deg is None else self.beam_breadth_3db_deg


class BucketConfig(SonarConfig):
    """A sonar that reports echoes in buckets of range."""

    multipath_db: float | None = Field(
        None, ge=0, description="loss at the surface, of echoes that go one way by it; null for no such echoes"
    )


# ------------------------------------------------------------------------------------------------ beams


@dataclass(frozen=True, eq=False)
class Fan:
    """Rays with what they stand for; shapes are (n, …) or (beams, rays, …)."""

    directions: NDArray[np.float64]  # (…, 3), in the sensor's frame
    tangents: NDArray[np.float64]  # (…, 3), of length 1: towards the next ray of the beam
    off_axis: NDArray[np.float64]  # (…), rad from the middle of the beam
    solid_angle: NDArray[np.float64]  # (…), sr that the ray stands for
    half_step: float  # rad to the border with the next ray


def beam_pattern(off_axis: ArrayLike, breadth_3db: float) -> NDArray[np.float64]:
    """How much of an echo is left off the axis, out and back together: a Gaussian, ½ at half the −3 dB breadth."""
    return np.exp2(-((2.0 * np.asarray(off_axis, np.float64) / breadth_3db) ** 2))


def across_track_fan(breadth: float, rays: int, middle: float, thickness: float) -> Fan:
    """A fan across the track: 0 is straight down, port before starboard, its middle so far to starboard; all rad."""
    angle = np.linspace(-breadth / 2, breadth / 2, rays, dtype=np.float64)
    turn = angle + middle
    none = np.zeros(rays)
    return Fan(
        np.stack([none, -np.sin(turn), -np.cos(turn)], axis=-1),
        np.stack([none, -np.cos(turn), np.sin(turn)], axis=-1),
        angle,
        np.full(rays, breadth / rays * 2.0 * np.sin(thickness / 2)),
        breadth / (rays - 1) / 2,
    )


def forward_fan(azimuths: NDArray[np.float64], spacing: float, breadth: float, rays: int, tilt: float) -> Fan:
    """Beams ahead at azimuths to the right, each of rays from its upper edge, `tilt` below level, downwards; all rad.

    A patch of the sphere between two azimuths and two depressions has the solid angle Δψ (sin ε₂ − sin ε₁).
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
    """The points that gave an echo; rays without one are absent."""

    pose: Pose  # of the sonar in the world
    ray_count: int  # that were sent
    ray: NDArray[np.int32]  # (n,), the number of each point's ray
    points: Singles  # (n, 3), in the sonar's frame, m
    ranges: Singles  # (n,), m
    intensity: Singles  # (n,), µPa² after time-varied gain
    levels: Bytes  # (n,), as amplitudes
    labels: Bytes  # (n,), the class of the material

    @property
    def world_points(self) -> Singles:
        """(n, 3), in the world, m."""
        found = np.empty_like(self.points)
        transform_points(self.points, self.pose.position, self.pose.orientation, found)
        return found

    @property
    def ray_ranges(self) -> Singles:
        """(rays,), m; NaN where there was no echo."""
        found = np.full(self.ray_count, np.nan, np.float32)
        found[self.ray] = self.ranges
        return found


# ------------------------------------------------------------------------------------------------ sonars


@dataclass(frozen=True, eq=False)
class Pings:
    """Soundings at one or more instants: where from, and what the water and the things in it were like."""

    times: Sequence[float]
    ticks: NDArray[np.int64]
    motions: NDArray[np.float64]  # (n, 13), motions of the sonar in the world
    valid: NDArray[np.bool_]  # (n,), whether it was under water
    above: NDArray[np.float64]  # (n,), m to the surface
    absorption: NDArray[np.float64]  # (n,), 1/m, out and back
    hits: Hits
    echoes: Singles  # (4, n, rays): ranges, NaN where there is no echo; where it starts and ends, m; and intensities

    def __len__(self) -> int:
        return len(self.times)

    def pose(self, row: int) -> Pose:
        """Where the sonar was at an instant."""
        return Pose.of(self.motions[row, :7])


@dataclass(frozen=True, eq=False)
class SonarClouds:
    """Clouds of one or more instants, each in a row that is as long as there are rays; the first `count` are there."""

    pings: Pings
    count: NDArray[np.int64]  # (n,)
    ray: NDArray[np.int32]  # (n, rays), and the others as in a `SonarCloud`
    points: Singles
    ranges: Singles
    intensity: Singles
    levels: Bytes
    labels: Bytes

    def __call__(self, row: int) -> SonarCloud:
        """That of an instant, by its number."""
        valid = (row, slice(self.count[row]))
        return SonarCloud(
            self.pings.pose(row),
            self.ray.shape[1],
            self.ray[valid].copy(),
            self.points[valid].copy(),
            self.ranges[valid].copy(),
            self.intensity[valid].copy(),
            self.levels[valid].copy(),
            self.labels[valid].copy(),
        )

    def columns(self) -> ReadingColumns:
        """What is said of all."""
        motions = self.pings.motions
        pose = ReadingColumns(position=motions[:, :3], orientation=motions[:, 3:7])
        return ReadingColumns(count=self.count, points=self.points, levels=self.levels, pose=pose)


class SonarSensor(RayBatchSensor[Reading]):
    """Sends its rays and works out what comes back."""

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
        self._scale = 255.0 * config.gain / full_scale
        self._is_random = config.speckle or self._noise > 0.0  # whether anything is left to chance
        self._ray_draws = np.empty(count if self._is_random else 0)
        self._echoes = np.empty((4, 1, count), np.float32)
        self._column: Any = None
        self._absorptions: dict[int, float] = {}
        self._materials_seen: tuple[NamedMaterial, ...] | None = None
        self._scattering: NDArray[np.float64] = np.zeros(0)
        self._labels: Bytes = np.zeros(0, np.uint8)

    def pings(self, sensor_view: SensorView, noise: Noise, yaws: NDArray[np.float64] | None = None) -> Pings:
        """Send the rays, turned to the left about the sensor's own z by `yaws` (n,), if there are any."""
        config, motions = self.config, sensor_view.motion(self._mount.link, self._offset)
        if yaws is not None:
            none = np.zeros_like(yaws)
            motions[:, 3:7] = multiply(motions[:, 3:7], np.stack([none, none, np.sin(yaws / 2), np.cos(yaws / 2)], -1))
        above = sensor_view.depth(motions[:, :3])
        valid = above > 0.0
        hits = self.cast_rays_batch(sensor_view, motions, valid, config.max_range)
        self._update_materials(self.materials)
        count = len(valid)
        if self._echoes.shape[1] < count:
            self._echoes = np.empty((4, count, len(self.bundle)), np.float32)
        echoes = self._echoes[:, :count]
        absorption = self._absorption(sensor_view, above)
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
            self._errors(sensor_view, noise),
            *echoes,
        )
        return Pings(sensor_view.times, sensor_view.ticks, motions, valid, above, absorption, hits, echoes)

    def clouds(self, noise: Noise, pings: Pings) -> SonarClouds:
        """The echoes as points."""
        config, shape = self.config, (len(pings), len(self.bundle))
        ranges, _, _, strength = pings.echoes
        found = SonarClouds(
            pings,
            np.zeros(len(pings), np.int64),
            np.empty(shape, np.int32),
            np.empty((*shape, 3), np.float32),
            np.empty(shape, np.float32),
            np.empty(shape, np.float32),
            np.empty(shape, np.uint8),
            np.empty(shape, np.uint8),
        )
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
            pings.absorption if config.tvg else np.zeros(len(pings)),
            self._scale,
            found.count,
            found.ray,
            found.points,
            found.ranges,
            found.intensity,
            found.levels,
            found.labels,
        )
        return found

    def _errors(self, sensor_view: SensorView, noise: Noise) -> NDArray[np.float64]:
        """Of the ranges, (n, rays); none of a sonar that makes none."""
        if not self.config.range_noise:
            return np.zeros((len(sensor_view.times), 0))
        return self.config.range_noise * noise.normals(sensor_view.ticks, len(self.bundle), RANGE_ERRORS)

    def _absorption(self, sensor_view: SensorView, depths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Of the water around the sensor, by decimetres of depth, as to work it out takes longer than a ping."""
        column, known = sensor_view.water.column, self._absorptions
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
    """What is heard in buckets of range, a row for each instant."""

    intensity: Singles  # (n, beams, buckets), µPa² after time-varied gain
    levels: Bytes  # the same as amplitudes
    codes: NDArray[np.uint16]  # the mean code of each bucket, weighted by energy; 0 where there was no echo


class BucketSonar(SonarSensor[Reading]):
    """A sonar that reports echoes in buckets of range, for each of its beams."""

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
        self._gains = np.ones(buckets)
        self._gains_for = np.array([np.nan])  # the absorption that they are made for
        self.bucket_size = config.max_range / buckets

    def fill(self, noise: Noise, pings: Pings) -> Buckets:
        """The echoes in buckets."""
        config, count = self.config, len(pings)
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
            self._gains,
            self._gains_for,
            self._scale,
            found.intensity,
            found.levels,
            found.codes,
        )
        return found
