"""What sensors that measure by rays share: the bundle they send from their place, and what is shown of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, Positive
from skerry.core.frames import Pose
from skerry.parts.sensor import BatchSensor, Execution, Sensor, SensorConfig, SensorView
from skerry.rays import Bundle, Hits, RayCasterBatch, RayScene
from skerry.terrain.materials import NamedMaterial

Reading = TypeVar("Reading", covariant=True)


@dataclass(frozen=True, eq=False)
class RaySegments:
    """The rays of the latest reading, for those who draw them."""

    time: float
    origin: NDArray[np.float64]  # (3,), in the world
    ends: NDArray[np.float32]  # (n, 3), in the world: where each hit something, or its full range
    hit: NDArray[np.bool_]  # (n,)


class RayViewerConfig(Config):
    """What is shown of a sensor's rays."""

    draw_rays: bool = True
    draw_hits: bool = True
    every: int = Field(1, ge=1, description="of so many rays, one is shown")
    ray_thickness: Positive = Field(0.05, description="m")
    hits_size: Positive = Field(0.1, description="m")
    hits_lifetime: Positive = Field(1.0, description="s that a hit stays")
    use_rainbow: bool = Field(
        True, description="colour hits by their height between `min_height` and `max_height`; else red"
    )
    min_height: float | None = Field(None, description="m; the lowest hit that is shown by default")
    max_height: float | None = Field(None, description="m; the highest hit that is shown by default")
    max_particles_multiplier: int = Field(10, ge=1, le=1000, description="readings of which hits are kept at most")


class RaySensorConfig(SensorConfig):
    """Settings of a sensor that measures by rays."""

    see_self: bool = Field(False, description="let the rays hit the robot that carries it")
    viewer: RayViewerConfig = RayViewerConfig()


@dataclass(frozen=True, eq=False)
class CastRecord:
    """Where rays were sent from, at one or more instants."""

    times: Sequence[float]
    poses: NDArray[np.float64]  # (n, ≥ 7), position and quaternion in the world
    valid: NDArray[np.bool_]  # (n,), whether any were sent
    far: float  # m


class RaySensor(Sensor[Reading]):
    """Sends one bundle of rays at a time from where it sits."""

    execution: Execution = "batch"

    def __init__(self, config: RaySensorConfig, bundle: Bundle) -> None:
        self.bundle = bundle
        self.threads = 0  # that large bundles are shared among; 0 for all processors, with the same result
        self.viewer = config.viewer
        self._mount = config
        self._offset = config.offset()
        self._last_cast: CastRecord | None = None  # the latest, and
        self._scene: RayScene | None = None  # what at

    @property
    def materials(self) -> tuple[NamedMaterial, ...]:
        """What the numbers of the latest hits' materials mean."""
        return () if self._scene is None else self._scene.materials

    def cast_rays_batch(
        self,
        sensor_view: SensorView,
        poses: NDArray[np.float64],
        valid: NDArray[np.bool_],
        far: float,
        near: float = 0.0,
        floors: NDArray[np.float64] | None = None,
    ) -> Hits:
        """Send the bundle at each instant at which it is `valid` (n,), from `poses` (n, ≥ 7).

        What is below `floors` (n,), heights in the world, need not be found.
        The hits have a row for each; they are the bundle's own and are overwritten by the next look.
        """
        self._last_cast = CastRecord(sensor_view.times, poses, valid, far)
        if not np.count_nonzero(valid):
            return self.bundle.hits_buffer(len(valid))
        views: RayCasterBatch = sensor_view.rays
        self._scene = views.scene
        return views.cast(self.bundle, poses, valid, far, near, floors, self._mount.see_self, self.threads)

    def latest_rays(self, every: int = 1) -> RaySegments | None:
        """The rays of the latest reading, one in so many; None if there is none."""
        return next(self.latest_rays_batch(every), None)

    def latest_rays_batch(self, every: int = 1) -> Iterator[RaySegments]:
        """Those of all the instants that were measured last, the latest first."""
        if self._last_cast is None:
            return
        hits = self.bundle.hits_buffer(len(self._last_cast.times))
        for row in np.flatnonzero(self._last_cast.valid)[::-1].tolist():
            pose = Pose.of(self._last_cast.poses[row, :7])
            reach = hits.distance[row, ::every]
            hit = np.isfinite(reach)
            turned = self.bundle.world_directions(pose)[::every]
            length = np.where(hit, reach, np.float32(self._last_cast.far))
            ends = pose.position.astype(np.float32) + turned * length[:, None]
            yield RaySegments(self._last_cast.times[row], pose.position, ends, hit)


class RayBatchSensor(RaySensor[Reading], BatchSensor[Reading]):
    """One that measures many instants at once; those that are heavy are measured one by one, in threads."""

    max_batch = 32  # some hundred kilobytes of hits, which the processor's cache holds
