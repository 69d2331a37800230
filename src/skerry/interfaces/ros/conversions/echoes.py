"""Readings that are clouds of echoes: multibeam and forward-looking sonars, many clouds in one native call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from skerry.core.kernels import kernel
from skerry.interfaces.ros.conversions import Say, SaysMany, Source, prepares, stacked
from skerry.interfaces.ros.packed import Packed
from skerry.sensors.echoes import place_points

POINT: Final = 13  # bytes: x, y, z and an intensity
_LENGTH: Final = 4  # bytes, of the count of bytes that stands before the points
_FLOAT32, _UINT8 = 7, 2  # of sensor_msgs/PointField


@kernel
def _write_clouds(
    heads: Any, points: Any, levels: Any, counts: Any, positions: Any, orientations: Any, placed: Any, out: Any
) -> None:
    """Messages one after the other, of `heads` (n, bytes), which are messages without points.

    `points` (m, 3) and `levels` (m,) are those of all, so many of each as `counts` (n,) tells, in the frame of a sonar
    at `positions` (n, 3) and `orientations` (n, 4). `placed` (m, 3) is room for where they are in the world.
    """
    size = heads.shape[1] - 1  # the last byte stands behind the points
    octets = placed.view(np.uint8)
    place = first = 0
    for i, count in enumerate(counts):
        end = first + count
        place_points(points[first:end], positions[i], orientations[i], placed[first:end])
        out[place : place + size] = heads[i, :size]
        place += size
        for k in range(_LENGTH):
            out[place - _LENGTH + k] = (POINT * count) >> (8 * k) & 0xFF
        for j in range(first, end):
            for k in range(12):
                out[place + k] = octets[j, k]
            out[place + 12] = levels[j]
            place += POINT
        out[place] = heads[i, size]
        place += 1
        first = end


class Clouds(SaysMany):
    """Points in the map, x, y, z and a byte of intensity, as the SMaRC simulator's; rays without an echo are absent."""

    def __init__(self, source: Source) -> None:
        named = [("x", 0, _FLOAT32), ("y", 4, _FLOAT32), ("z", 8, _FLOAT32), ("intensity", 12, _UINT8)]
        fields = [{"name": name, "offset": offset, "datatype": kind, "count": 1} for name, offset, kind in named]
        self._heads = source.rows(
            "sensor_msgs/PointCloud2",
            ("width", "row_step"),
            header=source.header(0.0, source.map_frame),
            height=1,
            fields=fields,
            point_step=POINT,
            is_dense=True,
        )

    def __call__(self, reading: Any, time: float) -> bytes | None:
        return self.many([reading], [], 0.0).each()[0]

    def many(self, readings: Sequence[Any], ticks: Sequence[int], step: float) -> Packed:
        """Of all readings, which have their times; of None there is nothing to say."""
        found = [reading for reading in readings if reading is not None]
        if not found:
            return Packed.of([None] * len(readings))
        clouds = [reading.cloud for reading in found]
        counts = np.array([len(cloud.levels) for cloud in clouds])
        times = [reading.time for reading in found]
        heads = self._heads.fill(times, {"width": counts, "row_step": POINT * counts})
        points = np.concatenate([cloud.points for cloud in clouds])
        out = np.empty(len(heads.data) + POINT * len(points), np.uint8)
        _write_clouds(
            np.frombuffer(heads.data, np.uint8).reshape(len(found), -1),
            points,
            np.concatenate([cloud.levels for cloud in clouds]),
            counts,
            stacked([cloud.pose.position for cloud in clouds]),
            stacked([cloud.pose.orientation for cloud in clouds]),
            np.empty_like(points),
            out,
        )
        sizes = iter((heads.sizes[0] + POINT * counts).tolist())
        return Packed(out.tobytes(), [0 if reading is None else next(sizes) for reading in readings])


@prepares("mbes", "sensor_msgs/PointCloud2")
@prepares("fls", "sensor_msgs/PointCloud2")
def clouds(source: Source) -> Say:
    """A sonar's points in the map."""
    return Clouds(source)
