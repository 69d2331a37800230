"""Lidar: ranges in air, as a point cloud or, from a planar scanner, as a row of ranges.

All beams of a scan are cast from the sensor's pose at one sample, so that there is no motion distortion. The returns
are computed in `raycast/lidar_returns.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from skerry.core.config import NonNegative, Positive
from skerry.core.errors import did_you_mean
from skerry.core.frames import Pose
from skerry.core.noise import Noise
from skerry.core.units import unit
from skerry.parts.display import Cloud, Display, Polar, Rays
from skerry.parts.readings import Ragged, Readings
from skerry.parts.sensor import SensorView
from skerry.rays import Bundle, Hits
from skerry.rays.surface import FADE, NODES, SurfacePatch
from skerry.sensors.raycast.lidar_batches import (
    LEVEL,
    NO_WATER,
    WAVES,
    find_returns_batch,
    lowest_ray_ends,
    scatter_returns_batch,
)
from skerry.sensors.raycast.lidar_patterns import (
    PATTERNS,
    Floats,
    LidarPattern,
    Planar,
    RangeLimits,
    Rosette,
    Spinning,
    azimuths,
    spinning_directions,
)
from skerry.sensors.raycast.lidar_returns import intersect_waves, normal_table, write_points
from skerry.sensors.raycast.ray_sensor import RaySensor, RaySensorConfig, Reading

Singles = NDArray[np.float32]

WAVE_SPACING: Final = 0.5
"""Distance between the points at which the height of waves is evaluated, m."""
PRECISION_MARGIN: Final = 0.01
"""Margin that exceeds the error of single precision, m."""
MAX_RAYS: Final = 4_000_000


# ------------------------------------------------------------------------------------------------ readings


@dataclass(frozen=True, eq=False)
class LidarReading:
    """Scan: its returns as points, and all beams as a range image."""

    time: float = unit("s")
    points: Singles = unit("m")  # (n, 3), in the sensor's frame; beams without a return are absent
    intensity: Singles = unit("")  # (n,)
    ring: NDArray[np.uint16] = unit("")  # (n,), index of the channel from the lowest up, or of the line of a rosette
    offset: Singles = unit("s")  # (n,), time after the start of the scan at which a real device emits the beam
    ranges: Singles = unit("m")  # (channels, columns); NaN without a return
    pose: Pose = unit()  # pose of the sensor in the world


@dataclass(frozen=True, eq=False)
class PlanarReading:
    """Planar scan, counter-clockwise about z; angles from x, rad."""

    time: float = unit("s")
    angle_min: float = unit("rad")
    angle_increment: float = unit("rad")
    time_increment: float = unit("s")  # time between beams
    range_min: float = unit("m")
    range_max: float = unit("m")
    ranges: Singles = unit("m")  # (n,); infinite without a return
    intensity: Singles = unit("")  # (n,); 0 without a return
    points: Singles = unit("m")  # (returns, 3), in the sensor's frame
    pose: Pose = unit()  # pose of the sensor in the world


# ------------------------------------------------------------------------------------------------ sensors


@dataclass(eq=False)
class ScanBuffers:
    """Scratch arrays for a batch of scans, (scans, rays) unless noted."""

    water: Singles  # range of the water along each ray, m
    water_cosines: Singles  # cosine of incidence on the water
    power: Singles  # ρ cos θ of each ray; 0 without a return
    indices: NDArray[np.int32]  # rays with a return
    found: Singles  # ranges of the returns, m
    strength: Singles  # intensities of the returns
    draws: NDArray[np.float64]  # (rays,)

    @classmethod
    def of(cls, scans: int, rays: int) -> ScanBuffers:
        water, cosines, power, found, strength = (np.empty((scans, rays), np.float32) for _ in range(5))
        return cls(water, cosines, power, np.empty((scans, rays), np.int32), found, strength, np.empty(rays))


@dataclass(frozen=True, eq=False)
class ScanReturns:
    """Returns of a batch of scans: ray indices, ranges and intensities, with `counts` used entries per row.

    The sensor owns the arrays and overwrites them at its next scan.
    """

    motions: NDArray[np.float64]  # (n, 13), motions of the sensor
    valid: NDArray[np.bool_]  # (n,), whether the sensor was above water
    counts: NDArray[np.int64]  # (n,), number of returns
    indices: NDArray[np.int32]  # (n, rays), rays of the returns
    ranges: Singles  # (n, rays), m
    intensity: Singles  # (n, rays)


class LidarScanner(RaySensor[Reading]):
    """Base class of lidars: casts rays and computes their returns."""

    def __init__(self, config: Lidar, bundle: Bundle) -> None:
        super().__init__(config, bundle)
        self._config = config
        self._limits = config.limits()
        self._slope_variance = 0.003 + 0.00512 * config.wind_speed
        self._buffers = ScanBuffers.of(1, len(bundle))
        self._reflectance: tuple[object, Singles] = (None, np.zeros(1, np.float32))

    def returns(self, view: SensorView, noise: Noise) -> ScanReturns:
        """Return the returns of the samples, with noise; none under water."""
        config, limits, bundle, count = self._config, self._limits, self.bundle, len(view)
        if len(self._buffers.water) < count:
            self._buffers = ScanBuffers.of(count, len(bundle))
        buffers = self._buffers
        motions = view.motion(config.link, self._offset)
        above = -view.depth(motions[:, :3])
        valid = above >= 0.0
        hits = self.cast_rays(view, motions, valid, limits.max_range, floors=self._lowest_troughs(view, motions, above))
        counts = np.zeros(count, np.int64)
        find_returns_batch(
            motions,
            valid,
            self._find_water_hits(view, motions, valid, above, hits),
            above,
            bundle.directions,
            hits.distance,
            hits.normal,
            hits.material,
            self._reflectances(),
            buffers.water,
            buffers.water_cosines,
            limits.min_range,
            limits.max_range,
            0.1 / limits.dark_range**2,
            self._slope_variance,
            buffers.power,
            config.intensity_scale,
            *noise.key,
            view.ticks,
            config.dropout,
            limits.noise,
            normal_table(),
            buffers.draws,
            counts,
            buffers.indices,
            buffers.found,
            buffers.strength,
        )
        return ScanReturns(motions, valid, counts, buffers.indices, buffers.found, buffers.strength)

    @staticmethod
    def _lowest_troughs(view: SensorView, motions: Floats, above: Floats) -> Floats:
        """Return heights (n,) in the world that are below all wave troughs; nothing below them is visible."""
        waves = view.water.waves
        # the height between crests and troughs is at most 2 Σa
        lowest: Floats = (
            motions[:, 2] - above - (0.0 if waves is None else 2.0 * waves.amplitude.sum()) - PRECISION_MARGIN
        )
        return lowest

    def _find_water_hits(
        self, view: SensorView, motions: Floats, valid: NDArray[np.bool_], above: Floats, hits: Hits
    ) -> NDArray[np.int64]:
        """Return NO_WATER, LEVEL or WAVES for each sample; for WAVES, also write the hits on waves to the buffers."""
        waves, far, directions = view.water.waves, self._limits.max_range, self.bundle.directions
        if waves is None:
            return np.full(len(valid), LEVEL)
        lowest = np.empty(len(valid))
        lowest_ray_ends(directions, motions, far, lowest)
        # the height between crests and troughs is at most 2 Σa; rays that end higher above the water do not hit it
        near = valid & (lowest <= motions[:, 2] - above + 2.0 * waves.amplitude.sum())
        for k in np.flatnonzero(near).tolist():
            pose = Pose.of(motions[k, :7])
            # the patch need not exceed the range of the rays by more than its blended edge
            nodes = min(2 * math.ceil(far / (1.0 - FADE) / WAVE_SPACING) + 2, NODES)
            patch = SurfacePatch.around(view.at(k).surface_height, pose.position, WAVE_SPACING, nodes)
            east, north = (float(np.abs(np.diff(patch.heights, axis=axis)).max()) / WAVE_SPACING for axis in (1, 0))
            # exp(−20) = 2e-9: no return from rays that are flatter than this even on the steepest wave
            flattest = math.atan(math.sqrt(20.0 * self._slope_variance)) + math.atan(math.hypot(east, north))
            intersect_waves(
                patch.numbers,
                patch.heights,
                directions,
                pose.rotation,
                pose.position,
                hits.distance[k],
                far,
                math.cos(min(flattest, math.pi / 2)),
                self._buffers.water[k],
                self._buffers.water_cosines[k],
            )
        return np.where(near, WAVES, NO_WATER)

    def _reflectances(self) -> Singles:
        materials = self.materials
        if self._reflectance[0] is not materials:
            values = np.array([material.material.reflectance for material in materials] or [0.0], np.float32)
            self._reflectance = (materials, values)
        return self._reflectance[1]


class LidarSensor(LidarScanner[LidarReading]):
    """Lidar that measures a point cloud."""

    execution = "thread"

    def __init__(self, config: Lidar, bundle: Bundle, channels: int, period: float) -> None:
        super().__init__(config, bundle)
        self.channels = channels
        self._shape = (channels, len(bundle) // channels)
        self._period = period  # time between columns, s

    def measure(self, view: SensorView, noise: Noise) -> Readings[LidarReading]:
        found = self.returns(view, noise)
        scans, longest = len(view), int(found.counts.max(initial=0))
        points, offset = np.empty((scans, longest, 3), np.float32), np.empty((scans, longest), np.float32)
        ring, ranges = np.empty((scans, longest), np.uint16), np.full((scans, *self._shape), np.nan, np.float32)
        for k, count in enumerate(found.counts.tolist()):
            write_points(
                self.bundle.directions,
                found.indices[k, :count],
                found.ranges[k, :count],
                self._shape[1],
                self._period,
                points[k, :count],
                ring[k, :count],
                offset[k, :count],
                ranges[k].reshape(-1),
            )
        return Readings(
            LidarReading,
            {
                "time": view.times,
                "points": Ragged(points, found.counts),
                "intensity": Ragged(found.intensity[:scans, :longest].copy(), found.counts),
                "ring": Ragged(ring, found.counts),
                "offset": Ragged(offset, found.counts),
                "ranges": ranges,
                "pose": Readings.poses(found.motions),
            },
            found.valid,
        )


class RosetteSensor(LidarSensor):
    """Lidar with a non-repetitive pattern: the beams of a scan depend on its tick."""

    def __init__(self, config: Lidar, pattern: Rosette) -> None:
        super().__init__(
            config, self._bundle(config, pattern, 0.0), pattern.lines, pattern.lines / pattern.points_per_second
        )
        self._pattern = pattern

    def measure(self, view: SensorView, noise: Noise) -> Readings[LidarReading]:
        scans = []
        for row, tick in enumerate(view.ticks.tolist()):
            self.bundle = self._bundle(self._config, self._pattern, tick * view.step)
            scans.append(super().measure(view.rows(row), noise))
        return Readings.concat(scans)

    @staticmethod
    def _bundle(config: Lidar, pattern: Rosette, time: float) -> Bundle:
        return Bundle(pattern.directions(time, float(config.frequency)).reshape(-1, 3))


class PlanarSensor(LidarScanner[PlanarReading]):
    """Lidar that measures a row of ranges."""

    channels = 1

    def __init__(self, config: Lidar, bundle: Bundle, azimuth: Floats, period: float) -> None:
        super().__init__(config, bundle)
        self._first = float(azimuth[0])
        self._step = float(azimuth[1] - azimuth[0]) if len(azimuth) > 1 else 0.0
        self._period = period

    def measure(self, view: SensorView, noise: Noise) -> Readings[PlanarReading]:
        found, scans = self.returns(view, noise), len(view)
        shape = (scans, len(self.bundle))
        ranges, intensity = np.full(shape, np.inf, np.float32), np.zeros(shape, np.float32)
        scatter_returns_batch(found.counts, found.indices, found.ranges, found.intensity, ranges, intensity)
        directions = self.bundle.directions.T
        points = []
        for scan in ranges:
            indices = np.flatnonzero(scan < np.inf)
            points.append(directions[indices] * scan[indices, None])
        return Readings(
            PlanarReading,
            {
                "time": view.times,
                "angle_min": np.full(scans, self._first),
                "angle_increment": np.full(scans, self._step),
                "time_increment": np.full(scans, self._period),
                "range_min": np.full(scans, self._limits.min_range),
                "range_max": np.full(scans, self._limits.max_range),
                "ranges": ranges,
                "intensity": intensity,
                "points": points,
                "pose": Readings.poses(found.motions),
            },
            found.valid,
        )


# ------------------------------------------------------------------------------------------------ settings

BEAMS: Final = ("channels", "lowest_deg", "highest_deg", "columns", "resolution_deg", "fov_deg")
"""Settings that change the beams. Not all patterns accept all of them."""


class Lidar(RaySensorConfig):
    """Lidar with the pattern of a known device; settings replace the device's values."""

    perfect = {"noise": 0.0, "dropout": 0.0}

    kind: Literal["lidar"] = "lidar"
    pattern: str = Field(description="name of the device, or `planar`")
    min_range: NonNegative | None = Field(None, description="minimum range, m")
    max_range: Positive | None = Field(None, description="maximum range, m")
    dark_range: Positive | None = Field(
        None, description="greatest range of a surface of 10 % reflectance at normal incidence, m"
    )
    channels: int | None = Field(
        None, ge=1, le=65535, description="number of channels, spread evenly over the elevations"
    )
    lowest_deg: float | None = Field(None, ge=-90, le=90, description="elevation of the lowest channel")
    highest_deg: float | None = Field(None, ge=-90, le=90, description="elevation of the highest channel")
    columns: int | None = Field(None, ge=1, description="beams per channel in a scan")
    resolution_deg: float | None = Field(None, gt=0, le=360, description="angle between columns, instead of `columns`")
    fov_deg: float | None = Field(
        None, gt=0, le=360, description="horizontal field of view, centred on the sensor's x axis"
    )
    noise: NonNegative | None = Field(None, description="standard deviation of a range, m")
    dropout: float = Field(0.0, ge=0, le=1, description="share of the returns that are lost at random")
    intensity_scale: Positive = Field(255.0, description="intensity of a white diffuse surface at normal incidence")
    wind_speed: NonNegative = Field(
        5.0, description="wind speed that determines the roughness of the water for its returns, m/s"
    )

    @field_validator("pattern")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value not in PATTERNS:
            raise ValueError(f"unknown lidar pattern {value!r}; {did_you_mean(value, PATTERNS)}")
        return value

    @model_validator(mode="after")
    def _fit(self) -> Lidar:
        pattern, limits = PATTERNS[self.pattern], self.limits()
        if limits.min_range >= limits.max_range:
            raise ValueError(
                f"the minimum range ({limits.min_range:g} m) must be below the maximum range ({limits.max_range:g} m)"
            )
        refused = {Rosette: BEAMS, Planar: BEAMS[:3]}.get(type(pattern), ())
        given = [name for name in refused if getattr(self, name) is not None]
        if given:
            raise ValueError(
                f"the pattern {self.pattern} does not support {', '.join(f'`{name}`' for name in given)}; remove it"
            )
        if self.columns is not None and self.resolution_deg is not None:
            raise ValueError("`columns` and `resolution_deg` are both given; keep one of them")
        if isinstance(pattern, Spinning):
            low, high = self._elevations_deg(pattern)
            if low > high:
                raise ValueError(f"the lowest channel ({low:g}°) must not be above the highest ({high:g}°)")
        rays = self._rays(pattern)
        if rays > MAX_RAYS:
            raise ValueError(f"a scan would have {rays} beams; the maximum is {MAX_RAYS}")
        return self

    def limits(self) -> RangeLimits:
        """Return the range limits of the device, with those of the settings."""
        default = PATTERNS[self.pattern].limits
        return RangeLimits(
            default.min_range if self.min_range is None else self.min_range,
            default.max_range if self.max_range is None else self.max_range,
            default.dark_range if self.dark_range is None else self.dark_range,
            default.noise if self.noise is None else self.noise,
        )

    @property
    def display(self) -> tuple[Display, ...]:  # type: ignore[override]
        pattern = PATTERNS[self.pattern]
        has_all_beams = isinstance(pattern, Planar)  # of its readings, intensities include beams without a return
        cloud = Cloud("points", "pose", None if has_all_beams else "intensity"), Rays("points", "pose")
        if not isinstance(pattern, Spinning):
            return cloud
        elevations, offsets = self._beams(pattern)
        row = int(np.argmin(np.abs(elevations)))  # the most level one
        angles = azimuths(self._fov_deg(pattern), self._columns(pattern)) + np.radians(offsets[row])
        first, last, far = float(angles[0]), float(angles[-1]), self.limits().max_range
        return *cloud, Polar("ranges", first_angle=first, last_angle=last, max_range=far, row=row)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"pattern": "vlp_16", "columns": 60} | settings)

    def build(self) -> LidarSensor | PlanarSensor:
        pattern = PATTERNS[self.pattern]
        if isinstance(pattern, Rosette):
            return RosetteSensor(self, pattern)
        assert isinstance(pattern, Spinning)
        azimuth = azimuths(self._fov_deg(pattern), self._columns(pattern))
        elevations, offsets = self._beams(pattern)
        bundle = Bundle(spinning_directions(elevations, offsets, azimuth))
        step = float(azimuth[1] - azimuth[0]) if len(azimuth) > 1 else 0.0
        period = step / (2 * math.pi) / pattern.rotation_rate(float(self.frequency))
        if isinstance(pattern, Planar):
            return PlanarSensor(self, bundle, azimuth, period)
        return LidarSensor(self, bundle, len(elevations), period)

    def _fov_deg(self, pattern: Spinning) -> float:
        return pattern.fov_deg if self.fov_deg is None else self.fov_deg

    def _columns(self, pattern: Spinning) -> int:
        if self.columns is not None:
            return self.columns
        fov = self._fov_deg(pattern)
        default = pattern.fov_deg
        full = pattern.columns_at(float(self.frequency))
        step = self.resolution_deg or (default / full if default == 360.0 else default / (full - 1))
        return max(1, round(fov / step) + (0 if fov == 360.0 else 1))

    def _elevations_deg(self, pattern: Spinning) -> tuple[float, float]:
        low = pattern.elevations_deg[0] if self.lowest_deg is None else self.lowest_deg
        high = pattern.elevations_deg[-1] if self.highest_deg is None else self.highest_deg
        return low, high

    def _beams(self, pattern: Spinning) -> tuple[Floats, Floats]:
        """Return elevations and azimuth offsets of the channels, deg: the device's, or even spacing without offsets."""
        if self.channels is None and self.lowest_deg is None and self.highest_deg is None:
            elevations = np.array(pattern.elevations_deg)
            return elevations, np.array(pattern.offsets_deg or np.zeros(len(elevations)))
        count = len(pattern.elevations_deg) if self.channels is None else self.channels
        low, high = self._elevations_deg(pattern)
        even = np.linspace(low, high, count, dtype=np.float64) if count > 1 else np.array([0.5 * (low + high)])
        return even, np.zeros(count)

    def _rays(self, pattern: LidarPattern) -> int:
        if isinstance(pattern, Rosette):
            return pattern.lines * pattern.points_of_line(float(self.frequency))
        assert isinstance(pattern, Spinning)
        return self._columns(pattern) * (self.channels or len(pattern.elevations_deg))
