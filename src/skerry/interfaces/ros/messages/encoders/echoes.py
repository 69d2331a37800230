"""Readings that are clouds of echoes: multibeam and forward-looking sonars, many clouds in one native call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from skerry.core.kernels import kernel
from skerry.interfaces.ros.messages.encoded_batch import Packed
from skerry.interfaces.ros.messages.encoders import Say, SaysMany, Source, prepares
from skerry.parts.sensor import Readings
from skerry.sensors.raycast.echoes import transform_points

POINT: Final = 13  # bytes: x, y, z and an intensity
_LENGTH: Final = 4  # bytes, of the count of bytes that stands before the points
_FLOAT32, _UINT8 = 7, 2  # of sensor_msgs/PointField


@kernel
def _write_clouds(
    heads: Any, points: Any, levels: Any, counts: Any, positions: Any, orientations: Any, placed: Any, out: Any
) -> None:
    """Messages one after the other, of `heads` (n, bytes), which are messages without points.

    `points` (n, most, 3) and `levels` (n, most) are those of each, of which the first `counts` (n,) are there, in the
    frame of a sonar at `positions` (n, 3) and `orientations` (n, 4). `placed` (most, 3) is room for where they are in
    the world.
    """
    size = heads.shape[1] - 1  # the last byte stands behind the points
    octets = placed.view(np.uint8)
    place = 0
    for i, count in enumerate(counts):
        transform_points(points[i, :count], positions[i], orientations[i], placed[:count])
        out[place : place + size] = heads[i, :size]
        place += size
        for k in range(_LENGTH):
            out[place - _LENGTH + k] = (POINT * count) >> (8 * k) & 0xFF
        for j in range(count):
            for k in range(12):
                out[place + k] = octets[j, k]
            out[place + 12] = levels[i, j]
            place += POINT
        out[place] = heads[i, size]
        place += 1


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
        if reading is None:
            return None
        cloud, pose = reading.cloud, reading.cloud.pose
        points, levels, count = cloud.points[None], cloud.levels[None], np.array([len(cloud.levels)])
        return self._write(
            [reading.time], points, levels, count, pose.position[None], pose.orientation[None]
        ).data.tobytes()

    def many(self, readings: Sequence[Any], ticks: Sequence[int], step: float) -> Packed:
        if not isinstance(readings, Readings) or readings.columns is None:
            return Packed.of([self(reading, tick * step) for reading, tick in zip(readings, ticks, strict=True)])
        columns = readings.columns()
        cloud, pose = columns.cloud, columns.cloud.pose
        found = self._write(columns.time, cloud.points, cloud.levels, cloud.count, pose.position, pose.orientation)
        if readings.valid is None or readings.valid.all():
            return found
        return found.only(readings.valid)

    def warm_up(self) -> None:
        points, levels = np.zeros((1, 1, 3), np.float32), np.zeros((1, 1), np.uint8)
        self._write([0.0], points, levels, np.zeros(1, np.int64), np.zeros((1, 3)), np.zeros((1, 4)))

    def _write(
        self, times: Sequence[float], points: Any, levels: Any, counts: Any, positions: Any, orientations: Any
    ) -> Packed:
        heads = self._heads.fill(times, {"width": counts, "row_step": POINT * counts})
        sizes = heads.sizes[0] + POINT * counts
        out = np.empty(sizes.sum(), np.uint8)
        _write_clouds(
            heads.data.reshape(len(counts), -1),
            points,
            levels,
            counts,
            np.array(positions),
            np.array(orientations),
            np.empty_like(points[0]),
            out,
        )
        return Packed.in_turn(out, sizes)


@prepares("mbes", "sensor_msgs/PointCloud2")
@prepares("fls", "sensor_msgs/PointCloud2")
def clouds(source: Source) -> Say:
    """A sonar's points in the map."""
    return Clouds(source)
