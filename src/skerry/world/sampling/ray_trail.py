"""Display data of a ray sensor: the latest rays as lines, and recent hits as coloured points."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from skerry.sensors.raycast.ray_sensor import RaySegments, RaySensor, RayViewerConfig

RED = (255, 0, 0)


@dataclass(frozen=True, eq=False)
class ShownHits:
    """Hits that are not older than their lifetime."""

    points: NDArray[np.float32]  # (n, 3), in the world
    colours: NDArray[np.uint8]  # (n, 3), red, green, blue
    ages: NDArray[np.float32]  # (n,), s


class RayTrail:
    """Recent ray hits of one sensor, kept as long as the viewer settings say."""

    def __init__(self, sensor: RaySensor[object], config: RayViewerConfig) -> None:
        self.config = config
        self._sensor = sensor
        self._kept: deque[tuple[float, NDArray[np.float32]]] = deque(maxlen=config.max_particles_multiplier)

    def add(self) -> None:
        """Append the hits of the readings that were measured last."""
        if self.config.draw_hits:
            latest = islice(self._sensor.latest_batch(self.config.every), self._kept.maxlen)
            self._kept += [(shown.time, shown.ends[shown.hit]) for shown in latest][::-1]

    def clear(self) -> None:
        """Remove all hits."""
        self._kept.clear()

    def rays(self) -> RaySegments | None:
        """Return the rays of the latest reading; None without a reading, or if rays are not drawn."""
        return self._sensor.latest_rays(self.config.every) if self.config.draw_rays else None

    def hits(self, now: float) -> ShownHits:
        """Return the hits that are younger than their lifetime at time `now`, s."""
        young = [(time, points) for time, points in self._kept if 0 <= now - time < self.config.hits_lifetime]
        if not young:
            return ShownHits(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.uint8), np.zeros(0, np.float32))
        points = np.concatenate([points for _, points in young])
        ages = np.concatenate([np.full(len(points), now - time, np.float32) for time, points in young])
        return ShownHits(points, self._colours(points[:, 2]), ages)

    def _colours(self, heights: NDArray[np.float32]) -> NDArray[np.uint8]:
        if not self.config.use_rainbow or len(heights) == 0:
            return np.tile(np.array(RED, np.uint8), (len(heights), 1))
        low = float(heights.min()) if self.config.min_height is None else self.config.min_height
        high = float(heights.max()) if self.config.max_height is None else self.config.max_height
        return rainbow(np.clip((heights - low) / max(high - low, 1e-6), 0.0, 1.0))


def rainbow(share: NDArray[np.floating]) -> NDArray[np.uint8]:
    """Return colours for shares from 0 (violet) through blue, green and yellow to 1 (red): hues from 270° to 0°."""
    hue = 4.5 * (1.0 - np.asarray(share, np.float64))  # in sixths of the circle
    channels = [np.clip(np.abs((hue - shift) % 6.0 - 3.0) - 1.0, 0.0, 1.0) for shift in (0.0, 2.0, 4.0)]
    return np.round(255 * np.stack(channels, axis=-1)).astype(np.uint8)
