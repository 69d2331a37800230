"""Readings that are pictures, clouds or swaths: cameras, lidars, scanning sonars."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoders import Say, Source, prepares, speaks
from skerry.sensors.camera import CameraReading
from skerry.sensors.fls import FlsReading
from skerry.sensors.lidar import LidarReading, PlanarReading
from skerry.sensors.msis import MsisReading
from skerry.sensors.raycast.sonar import Bytes
from skerry.sensors.sidescan import Sidescan, SidescanReading

SIDESCAN_8_BITS: Final = 0xE2  # the packet type of eight bits a bucket (smarc_msgs/Sidescan)
SOUND_SPEED: Final = 1500.0  # m/s; by which a side-scan works out its bucket from a time

_DATATYPES: Final = {"f4": 7, "u1": 2, "u2": 4}  # sensor_msgs/PointField


def cloud(source: Source, time: float, frame: str, columns: dict[str, NDArray[Any]]) -> Message:
    """A sensor_msgs/PointCloud2 of named columns, packed without gaps."""
    layout, fields = _layout(source.codec, tuple((name, column.dtype.str[1:]) for name, column in columns.items()))
    points = np.empty(len(next(iter(columns.values()))), layout)
    for name, column in columns.items():
        points[name] = column
    return _cloud(source.codec, source.header(time, frame), fields, layout.itemsize, points.view(np.uint8))


def _cloud(codec: Codec, header: Message, fields: list[Message], point_step: int, octets: Bytes) -> Message:
    """A cloud of one row, all of whose points are valid."""
    count = len(octets) // point_step
    make = codec.type("sensor_msgs/msg/PointCloud2")
    return make(header, 1, count, fields, False, point_step, len(octets), octets, True)


@lru_cache(64)
def _layout(codec: Codec, columns: tuple[tuple[str, str], ...]) -> tuple[np.dtype[Any], list[Message]]:
    """Of points whose columns have these names and types; and the same as sensor_msgs/PointField."""
    layout = np.dtype(list(columns))
    make = codec.type("sensor_msgs/msg/PointField")
    offsets = [field[1] for field in (layout.fields or {}).values()]
    fields = [make(name, offset, _DATATYPES[kind], 1) for (name, kind), offset in zip(columns, offsets, strict=True)]
    return layout, fields


@speaks("fls", "sensor_msgs/Image")
def forward_image(reading: FlsReading | None, source: Source, time: float) -> Message | None:
    """Beams from left to right, and range from top to bottom."""
    return None if reading is None else image(source, reading.time, "mono8", reading.levels.T, source.frame)


@speaks("msis", "sensor_msgs/LaserScan")
def ping(reading: MsisReading | None, source: Source, time: float) -> Message | None:
    """One ping as the intensities of its buckets, at the angle of the head."""
    if reading is None:
        return None
    buckets = len(reading.levels)
    return source.codec.make(
        "sensor_msgs/LaserScan",
        header=source.header(reading.time),
        angle_min=reading.angle,
        angle_max=reading.angle,
        range_min=0.0,
        range_max=reading.bin_size * buckets,
        ranges=(np.arange(buckets) + 0.5) * reading.bin_size,
        intensities=reading.levels,
    )


@prepares("sidescan", "smarc_msgs/Sidescan")
def sides(source: Source) -> Say:
    """Both sides, the nearest bucket first; angles as high and low bytes where the sonar measures them."""
    name = "smarc_msgs/Sidescan"
    known = {field.name for field in source.codec.vocabulary.message(name).fields}
    settings = source.settings
    assert isinstance(settings, Sidescan)
    has_angles = settings.interferometric and "port_channel_angle_high" in known
    words = ("channel", "channel_angle_high", "channel_angle_low") if has_angles else ("channel",)
    channels = [f"{side}_{word}" for side in ("port", "starboard") for word in words]

    def numbers(reading: SidescanReading) -> dict[str, Any]:
        values: dict[str, Any] = {
            "time": np.rint(np.multiply(reading.time, 1e4)).astype(np.int64) % 2**32,
            "port_channel": reading.port_levels,
            "starboard_channel": reading.starboard_levels,
        }
        for side in ("port", "starboard") if has_angles else ():
            angles = getattr(reading, f"{side}_angles")
            values[f"{side}_channel_angle_high"] = (angles >> 8).astype(np.uint8)
            values[f"{side}_channel_angle_low"] = (angles & 0xFF).astype(np.uint8)
        return {field: values[field] for field in ("time", *channels)}

    nothing: dict[str, Any] = dict.fromkeys(channels, np.zeros(settings.buckets, np.uint8))
    return source.numbers(
        name,
        numbers,
        ("time", *channels),
        type=SIDESCAN_8_BITS,
        max_duration=2.0 * settings.max_range / SOUND_SPEED,
        **nothing,
    )


@speaks("lidar", "sensor_msgs/PointCloud2")
def scan(reading: LidarReading | PlanarReading | None, source: Source, time: float) -> Message | None:
    """Returns in the sensor's frame."""
    if reading is None:
        return None
    x, y, z = reading.points.T
    columns: dict[str, Any] = {"x": x, "y": y, "z": z}
    if isinstance(reading, LidarReading):
        columns |= {"intensity": reading.intensity, "ring": reading.ring, "time": reading.offset}
    return cloud(source, reading.time, source.frame, columns)


@speaks("lidar", "sensor_msgs/LaserScan")
def planar_scan(reading: LidarReading | PlanarReading | None, source: Source, time: float) -> Message | None:
    """A planar scan; other devices have none."""
    if not isinstance(reading, PlanarReading):
        return None
    return source.codec.make(
        "sensor_msgs/LaserScan",
        header=source.header(reading.time),
        angle_min=reading.angle_min,
        angle_max=reading.angle_min + reading.angle_increment * (len(reading.ranges) - 1),
        angle_increment=reading.angle_increment,
        time_increment=reading.time_increment,
        scan_time=1.0 / float(source.settings.frequency),
        range_min=reading.range_min,
        range_max=reading.range_max,
        ranges=reading.ranges,
        intensities=reading.intensity,
    )


def image(source: Source, time: float, encoding: str, pixels: NDArray[Any], frame: str) -> Message:
    """A sensor_msgs/Image of rows from top to bottom."""
    rows = np.ascontiguousarray(pixels)
    return source.codec.type("sensor_msgs/msg/Image")(
        source.header(time, frame),
        rows.shape[0],
        rows.shape[1],
        encoding,
        0,
        rows.nbytes // rows.shape[0],
        rows.reshape(-1).view(np.uint8),
    )


@speaks("camera", "sensor_msgs/Image")
def picture(reading: CameraReading | None, source: Source, time: float) -> Message | None:
    """The picture, rgb8."""
    return None if reading is None else image(source, reading.time, "rgb8", reading.image, source.frame)


@speaks("camera", "sensor_msgs/CompressedImage")
def compressed_picture(reading: CameraReading | None, source: Source, time: float) -> Message | None:
    """The picture as JPEG."""
    if reading is None:
        return None
    return source.codec.make(
        "sensor_msgs/CompressedImage",
        header=source.header(reading.time),
        format="rgb8; jpeg compressed rgb8",
        data=np.frombuffer(reading.jpeg(), np.uint8),
    )


@speaks("camera", "sensor_msgs/CameraInfo")
def lens(reading: CameraReading | None, source: Source, time: float) -> Message | None:
    """The lens as it is: K, D and P of one camera that is not rectified."""
    if reading is None:
        return None
    matrix = reading.matrix
    return source.codec.make(
        "sensor_msgs/CameraInfo",
        header=source.header(reading.time),
        height=reading.image.shape[0],
        width=reading.image.shape[1],
        distortion_model="plumb_bob",
        d=reading.distortion,
        k=matrix,
        r=np.eye(3),
        p=np.column_stack([matrix, np.zeros(3)]),
    )
