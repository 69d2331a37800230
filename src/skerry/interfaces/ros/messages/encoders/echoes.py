"""Encoders of point clouds of sonars; a kernel encodes many clouds in one call."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from skerry.core.errors import SkerryError
from skerry.core.kernels import kernel
from skerry.interfaces.ros.messages.encoded_batch import EncodedBatch
from skerry.interfaces.ros.messages.encoders import Encoder, EncoderContext, register_factory
from skerry.parts.readings import Ragged, Readings
from skerry.sensors.raycast.echoes import transform_points
from skerry.sensors.sidescan import Sidescan

POINT: Final = 13  # bytes of a point: x, y, z as float32 and the intensity as uint8
_LENGTH: Final = 4  # bytes of the field before the points, which holds their length in bytes
_FLOAT32, _UINT8 = 7, 2  # data types of sensor_msgs/PointField


@kernel
def _write_clouds(
    heads: Any, points: Any, levels: Any, counts: Any, positions: Any, orientations: Any, placed: Any, out: Any
) -> None:
    """Write n PointCloud2 messages into `out`, one after the other.

    Args:
        heads: Encoded messages without points, (n, bytes).
        points: Points in the sonar's frame, m, (n, m, 3).
        levels: Intensities of the points, (n, m).
        counts: Number of valid points of each message, (n,); they come first.
        positions: Positions of the sonar in the world, m, (n, 3).
        orientations: Orientations of the sonar in the world, quaternions (x, y, z, w), (n, 4).
        placed: Work array for the points of one message in the world, (m, 3).
        out: Bytes of all messages.
    """
    size = heads.shape[1] - 1  # the last byte comes after the points
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


@register_factory("mbes", "sensor_msgs/PointCloud2")
@register_factory("fls", "sensor_msgs/PointCloud2")
@register_factory("sidescan", "sensor_msgs/PointCloud2")
class CloudEncoder(Encoder):
    """Encoder of sonar echoes as points in the map frame, with x, y, z and a byte of intensity.

    The format is that of the SMaRC simulator. Rays without an echo have no point.

    Raises:
        SkerryError: The sensor is a side-scan sonar that is not interferometric.
    """

    def __init__(self, context: EncoderContext) -> None:
        if isinstance(context.settings, Sidescan) and not context.settings.interferometric:
            raise SkerryError(
                "a side-scan sonar has a point cloud only if it is interferometric; set `interferometric: true`"
            )
        named = [("x", 0, _FLOAT32), ("y", 4, _FLOAT32), ("z", 8, _FLOAT32), ("intensity", 12, _UINT8)]
        fields = [{"name": name, "offset": offset, "datatype": kind, "count": 1} for name, offset, kind in named]
        self._heads = context.template(
            "sensor_msgs/PointCloud2",
            ("width", "row_step"),
            header=context.header(0.0, context.map_frame),
            height=1,
            fields=fields,
            point_step=POINT,
            is_dense=True,
        )

    def encode_valid(self, readings: Readings[Any]) -> EncodedBatch:
        cloud = readings.cloud
        points, levels, pose = Ragged.of(cloud.points), Ragged.of(cloud.levels), cloud.pose
        return self._write(readings.time, points.values, levels.values, points.counts, pose.position, pose.orientation)

    def warm_up(self) -> None:
        points, levels = np.zeros((1, 1, 3), np.float32), np.zeros((1, 1), np.uint8)
        self._write(np.zeros(1), points, levels, np.zeros(1, np.int64), np.zeros((1, 3)), np.zeros((1, 4)))

    def _write(
        self, times: Any, points: Any, levels: Any, counts: Any, positions: Any, orientations: Any
    ) -> EncodedBatch:
        heads = self._heads.fill(times, {"width": counts, "row_step": POINT * counts})
        sizes = heads.sizes[0] + POINT * counts
        out = np.empty(sizes.sum(), np.uint8)
        _write_clouds(
            np.array(heads.data).reshape(len(counts), -1),  # writable, so that one signature is compiled
            points,
            levels,
            counts,
            np.array(positions),
            np.array(orientations),
            np.empty_like(points[0]),
            out,
        )
        return EncodedBatch.contiguous(out, sizes)
