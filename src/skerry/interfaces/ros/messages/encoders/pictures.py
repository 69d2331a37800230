"""Encoders of images, point clouds and sonar lines: cameras, lidars, scanning and side-scan sonars."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skerry.interfaces.ros.messages.codec import Codec, Message
from skerry.interfaces.ros.messages.encoders import (
    Encoder,
    EncoderContext,
    SettingsEncoder,
    TemplateEncoder,
    register_encoder,
    register_factory,
)
from skerry.parts.readings import Readings
from skerry.sensors.camera import Camera, CameraReading
from skerry.sensors.fls import FlsReading
from skerry.sensors.lidar import LidarReading, PlanarReading
from skerry.sensors.msis import MsisReading
from skerry.sensors.raycast.sonar import Bytes
from skerry.sensors.sidescan import Sidescan, SidescanReading

SIDESCAN_8_BITS: Final = 0xE2  # packet type of smarc_msgs/Sidescan with eight bits per bucket
SOUND_SPEED: Final = 1500.0  # m/s; sound speed with which a side-scan sonar converts time to range

_DATATYPES: Final = {"f4": 7, "u1": 2, "u2": 4}  # numbers of data types in sensor_msgs/PointField


def cloud(context: EncoderContext, time: float, frame: str, columns: dict[str, NDArray[Any]]) -> Message:
    """Return a sensor_msgs/PointCloud2 of named columns, packed without gaps."""
    layout, fields = _layout(context.codec, tuple((name, column.dtype.str[1:]) for name, column in columns.items()))
    points = np.empty(len(next(iter(columns.values()))), layout)
    for name, column in columns.items():
        points[name] = column
    return _cloud(context.codec, context.header(time, frame), fields, layout.itemsize, points.view(np.uint8))


def _cloud(codec: Codec, header: Message, fields: list[Message], point_step: int, octets: Bytes) -> Message:
    """Return a cloud of one row in which all points are valid."""
    count = len(octets) // point_step
    make = codec.type("sensor_msgs/msg/PointCloud2")
    return make(header, 1, count, fields, False, point_step, len(octets), octets, True)


@lru_cache(64)
def _layout(codec: Codec, columns: tuple[tuple[str, str], ...]) -> tuple[np.dtype[Any], list[Message]]:
    """Return the dtype of points with columns of these names and types, and their sensor_msgs/PointField messages."""
    layout = np.dtype(list(columns))
    make = codec.type("sensor_msgs/msg/PointField")
    offsets = [field[1] for field in (layout.fields or {}).values()]
    fields = [make(name, offset, _DATATYPES[kind], 1) for (name, kind), offset in zip(columns, offsets, strict=True)]
    return layout, fields


@register_encoder("fls", "sensor_msgs/Image")
def forward_image(reading: FlsReading, context: EncoderContext) -> Message:
    """Encode a sonar image: beams from left to right, range from top to bottom."""
    return image(context, reading.time, "mono8", reading.levels.T, context.frame)


@register_encoder("msis", "sensor_msgs/LaserScan")
def ping(reading: MsisReading, context: EncoderContext) -> Message:
    """Encode one ping: the intensities of its buckets at the angle of the sonar head."""
    buckets = len(reading.levels)
    return context.codec.make(
        "sensor_msgs/LaserScan",
        header=context.header(reading.time),
        angle_min=reading.angle,
        angle_max=reading.angle,
        range_min=0.0,
        range_max=reading.bin_size * buckets,
        ranges=(np.arange(buckets) + 0.5) * reading.bin_size,
        intensities=reading.levels,
    )


@register_factory("sidescan", "smarc_msgs/Sidescan")
def sides(context: EncoderContext) -> Encoder:
    """Encode both sides, nearest bucket first; angles are high and low bytes, if the sonar measures them."""
    name = "smarc_msgs/Sidescan"
    known = {field.name for field in context.codec.type_store.message(name).fields}
    settings = context.settings
    assert isinstance(settings, Sidescan)
    has_angles = settings.interferometric and "port_channel_angle_high" in known
    suffixes = ("channel", "channel_angle_high", "channel_angle_low") if has_angles else ("channel",)
    channels = [f"{side}_{suffix}" for side in ("port", "starboard") for suffix in suffixes]
    empty: dict[str, Any] = dict.fromkeys(channels, np.zeros(settings.buckets, np.uint8))
    template = context.template(
        name,
        ("time", *channels),
        type=SIDESCAN_8_BITS,
        max_duration=2.0 * settings.max_range / SOUND_SPEED,
        **empty,
    )

    def columns(readings: Readings[SidescanReading]) -> dict[str, Any]:
        values: dict[str, Any] = {
            "time": np.rint(np.multiply(readings.time, 1e4)).astype(np.int64) % 2**32,
            "port_channel": readings.port_levels,
            "starboard_channel": readings.starboard_levels,
        }
        for side in ("port", "starboard") if has_angles else ():
            angles = getattr(readings, f"{side}_angle_codes")
            values[f"{side}_channel_angle_high"] = (angles >> 8).astype(np.uint8)
            values[f"{side}_channel_angle_low"] = (angles & 0xFF).astype(np.uint8)
        return values

    return TemplateEncoder(template, columns)


@register_encoder("lidar", "sensor_msgs/PointCloud2")
def scan(reading: LidarReading | PlanarReading, context: EncoderContext) -> Message:
    """Encode the returns as points in the sensor's frame."""
    x, y, z = reading.points.T
    columns: dict[str, Any] = {"x": x, "y": y, "z": z}
    if isinstance(reading, LidarReading):
        columns |= {"intensity": reading.intensity, "ring": reading.ring, "time": reading.offset}
    return cloud(context, reading.time, context.frame, columns)


@register_encoder("lidar", "sensor_msgs/LaserScan")
def planar_scan(reading: LidarReading | PlanarReading, context: EncoderContext) -> Message | None:
    """Encode a planar scan; there is no message for other lidars."""
    if not isinstance(reading, PlanarReading):
        return None
    return context.codec.make(
        "sensor_msgs/LaserScan",
        header=context.header(reading.time),
        angle_min=reading.angle_min,
        angle_max=reading.angle_min + reading.angle_increment * (len(reading.ranges) - 1),
        angle_increment=reading.angle_increment,
        time_increment=reading.time_increment,
        scan_time=1.0 / float(context.settings.frequency),
        range_min=reading.range_min,
        range_max=reading.range_max,
        ranges=reading.ranges,
        intensities=reading.intensity,
    )


def image(context: EncoderContext, time: float, encoding: str, pixels: NDArray[Any], frame: str) -> Message:
    """Return a sensor_msgs/Image; the rows of `pixels` run from top to bottom."""
    rows = np.ascontiguousarray(pixels)
    return context.codec.type("sensor_msgs/msg/Image")(
        context.header(time, frame),
        rows.shape[0],
        rows.shape[1],
        encoding,
        0,
        rows.nbytes // rows.shape[0],
        rows.reshape(-1).view(np.uint8),
    )


@register_encoder("camera", "sensor_msgs/Image")
def camera_image(reading: CameraReading, context: EncoderContext) -> Message:
    """Encode the image as rgb8."""
    return image(context, reading.time, "rgb8", reading.image, context.frame)


@register_encoder("camera", "sensor_msgs/CompressedImage")
def compressed_image(reading: CameraReading, context: EncoderContext) -> Message:
    """Encode the image as JPEG."""
    return context.codec.make(
        "sensor_msgs/CompressedImage",
        header=context.header(reading.time),
        format="rgb8; jpeg compressed bgr8",
        data=np.frombuffer(reading.jpeg(), np.uint8),
    )


@register_factory("camera", "sensor_msgs/CameraInfo")
def camera_info(context: EncoderContext) -> Encoder:
    """Encode the calibration of a single unrectified camera: K, D and P."""
    settings = context.settings
    assert isinstance(settings, Camera)
    lens = settings.lens()
    template = context.template(
        "sensor_msgs/CameraInfo",
        (),
        height=settings.height,
        width=settings.width,
        distortion_model="plumb_bob",
        d=lens.distortion,
        k=lens.matrix,
        r=np.eye(3),
        p=np.column_stack([lens.matrix, np.zeros(3)]),
    )
    return SettingsEncoder(template)
