"""Base classes and settings of sensors that cast rays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.core.config import Config, NonNegative, Positive
from skerry.core.frames import Pose
from skerry.parts.display import Display, Rays, Scalars
from skerry.parts.sensor import Execution, Sensor, SensorConfig, SensorView
from skerry.rays import Bundle, Hits, RayCasterBatch, RayScene
from skerry.terrain.materials import Colour, NamedMaterial

Reading = TypeVar("Reading", covariant=True)


@dataclass(frozen=True, eq=False)
class RaySegments:
    """Rays of a reading as line segments, for display."""

    time: float  # s
    origin: NDArray[np.float64]  # (3,), in the world, m
    ends: NDArray[np.float32]  # (n, 3), in the world, m: the hit, or the end of the range for a miss
    hit: NDArray[np.bool_]  # (n,)


class RayViewerConfig(Config):
    """Settings of the display of a sensor's rays: on the page, and in the trail of the sensor."""

    draw_rays: bool = Field(True, description="draw the latest rays as lines")
    draw_hits: bool = Field(True, description="draw recent hits as points")
    every: int = Field(1, ge=1, description="draw one ray in this many")
    ray_colour: Colour | None = Field(
        None, description="red, green and blue of the rays, 0 to 1; yellow for hits and blue for misses by default"
    )
    ray_thickness: NonNegative = Field(0.0, description="thickness of the rays, m; at least one pixel is drawn")
    hits_size: Positive = Field(0.1, description="diameter of a hit, m")
    hits_lifetime: Positive = Field(6.0, description="time that a hit stays visible, s")
    use_rainbow: bool = Field(
        True, description="colour hits by their height between `min_height` and `max_height`; red if false"
    )
    min_height: float | None = Field(None, description="lower end of the colour scale, m; the lowest hit by default")
    max_height: float | None = Field(None, description="upper end of the colour scale, m; the highest hit by default")
    max_particles_multiplier: int = Field(
        100, ge=1, le=1000, description="maximum number of readings whose hits are kept"
    )

    @model_validator(mode="after")
    def _check_heights(self) -> RayViewerConfig:
        low, high = self.min_height, self.max_height
        if low is not None and high is not None and low >= high:
            raise ValueError(f"`min_height` ({low:g} m) must be less than `max_height` ({high:g} m)")
        return self


class RaySensorConfig(SensorConfig):
    """Settings of a sensor that casts rays."""

    display: ClassVar[tuple[Display, ...]] = (Scalars(), Rays())

    see_self: bool = Field(False, description="let rays hit the robot that carries the sensor")
    viewer: RayViewerConfig = RayViewerConfig()


@dataclass(frozen=True, eq=False)
class CastRecord:
    """Times and poses of the latest batch of casts."""

    times: NDArray[np.float64]  # (n,), s
    poses: NDArray[np.float64]  # (n, ≥ 7), position and quaternion in the world
    valid: NDArray[np.bool_]  # (n,), whether rays were cast
    far: float  # range, m


class RaySensor(Sensor[Reading]):
    """Base class of sensors that cast one bundle of rays per sample."""

    execution: Execution = "batch"
    max_batch = 32  # the hits of a batch take some hundred kilobytes, which fit into the processor's cache

    def __init__(self, config: RaySensorConfig, bundle: Bundle) -> None:
        self.bundle = bundle
        self.threads = 0  # threads for large bundles; 0 for all processors. The result is the same
        self.viewer = config.viewer
        self._mount = config
        self._offset = config.offset()
        self._last_cast: CastRecord | None = None
        self._scene: RayScene | None = None  # scene of the latest cast

    @property
    def materials(self) -> tuple[NamedMaterial, ...]:
        """Materials by the index in the latest hits; empty before the first cast."""
        return () if self._scene is None else self._scene.materials

    def cast_rays(
        self,
        view: SensorView,
        poses: NDArray[np.float64],
        valid: NDArray[np.bool_],
        far: float,
        near: float = 0.0,
        floors: NDArray[np.float64] | None = None,
    ) -> Hits:
        """Cast the bundle at each sample where `valid` is true.

        Args:
            view: Samples to measure.
            poses: Position and quaternion of the sensor in the world, (n, ≥ 7).
            valid: Samples at which to cast, (n,).
            far: Distance up to which hits are found, m.
            near: Distance from which hits are found, m.
            floors: Heights in the world, (n,), below which hits may be omitted.

        Returns:
            Hits with one row per sample, in arrays that the next cast overwrites.
        """
        self._last_cast = CastRecord(view.times, poses, valid, far)
        if not np.count_nonzero(valid):
            return self.bundle.hits_buffer(len(valid))
        caster: RayCasterBatch = view.rays
        self._scene = caster.scene
        return caster.cast(self.bundle, poses, valid, far, near, floors, self._mount.see_self, self.threads)

    def latest_rays(self, every: int = 1) -> RaySegments | None:
        """Return one ray in `every` of the latest reading, or None before the first cast."""
        return next(self.latest_batch(every), None)

    def latest_batch(self, every: int = 1) -> Iterator[RaySegments]:
        """Yield one ray in `every` of each reading of the latest batch, the latest reading first."""
        if self._last_cast is None:
            return
        hits = self.bundle.hits_buffer(len(self._last_cast.times))
        for row in np.flatnonzero(self._last_cast.valid)[::-1].tolist():
            pose = Pose.of(self._last_cast.poses[row, :7])
            distance = hits.distance[row, ::every]
            hit = np.isfinite(distance)
            directions = self.bundle.world_directions(pose)[::every]
            length = np.where(hit, distance, np.float32(self._last_cast.far))
            ends = pose.position.astype(np.float32) + directions * length[:, None]
            yield RaySegments(self._last_cast.times.item(row), pose.position, ends, hit)
