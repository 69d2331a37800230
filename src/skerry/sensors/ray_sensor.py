"""What sensors that measure by rays share: the bundle they send from their place, and what is shown of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.core.config import Config, Positive
from skerry.core.frames import Pose
from skerry.parts.sensor import Sensor, SensorConfig, Truth
from skerry.rays import Bundle, Hits, RayView
from skerry.terrain.materials import NamedMaterial

Reading = TypeVar("Reading", covariant=True)


@dataclass(frozen=True, eq=False)
class ShownRays:
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


class RaySensor(Sensor[Reading]):
    """Sends one bundle of rays at a time from where it sits."""

    sees_bodies_only = True

    def __init__(self, config: RaySensorConfig, bundle: Bundle) -> None:
        self.bundle = bundle
        self.threads = 0  # that large bundles are shared among; 0 for all processors, with the same result
        self.viewer = config.viewer
        self._mount = config
        self._offset = config.offset()
        self._looked: tuple[float, Pose, float] | None = None
        self.view: RayView | None = None  # the latest

    @property
    def materials(self) -> tuple[NamedMaterial, ...]:
        """What the numbers of the latest hits' materials mean."""
        return () if self.view is None else self.view.materials

    def place(self, truth: Truth) -> Pose:
        """Where the sensor is in the world."""
        return Pose.of(truth.motion(self._mount.link, self._offset)[:7])

    def look(self, truth: Truth, pose: Pose, far: float, near: float = 0.0) -> Hits:
        """Send the bundle; the hits are the bundle's own and are overwritten by the next look."""
        self._looked = (truth.time, pose, far)
        view: RayView = truth.rays
        self.view = view
        return view.cast(self.bundle, pose, far, near, self._mount.see_self, self.threads)

    def shown(self, every: int = 1) -> ShownRays | None:
        """The rays of the latest reading, one in so many; None if there is none."""
        if self._looked is None:
            return None
        time, pose, far = self._looked
        reach = self.bundle.hits.distance[::every]
        hit = np.isfinite(reach)
        turned = self.bundle.directions[:, ::every].T @ pose.rotation.T.astype(np.float32)
        ends = pose.position.astype(np.float32) + turned * np.where(hit, reach, np.float32(far))[:, None]
        return ShownRays(time, pose.position, ends, hit)
