"""Quick ways to CDR for the messages that are sent most or are largest; byte for byte what the general way gives.

CDR aligns a number to its own size, counted from the end of the four bytes of encapsulation (OMG formal/02-06-51,
§15.3). What depends on names alone, such as a header's frame with the padding behind it, is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from struct import Struct
from typing import Any, Final

LITTLE_ENDIAN: Final = b"\x00\x01\x00\x00"

_STAMP: Final = Struct("<iI")
_U32: Final = Struct("<I")
_2U32: Final = Struct("<II")
_3D: Final = Struct("<3d")
_4D: Final = Struct("<4d")
_7D: Final = Struct("<7d")
_PADDING: Final = tuple(bytes(count) for count in range(8))
FRAMES: Final = 4096  # names that are kept


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _U32.pack(len(encoded) + 1) + encoded + b"\x00"


@lru_cache(FRAMES)
def _frame(frame: str, alignment: int) -> bytes:
    """A header's frame, behind the eight bytes of its stamp, and the padding that follows."""
    encoded = _text(frame)
    return encoded + _PADDING[-(8 + len(encoded)) % alignment]


def encode_imu(message: Any) -> bytes:
    """sensor_msgs/msg/Imu."""
    header, q, w, a = message.header, message.orientation, message.angular_velocity, message.linear_acceleration
    return b"".join(
        (
            LITTLE_ENDIAN,
            _STAMP.pack(header.stamp.sec, header.stamp.nanosec),
            _frame(header.frame_id, 8),
            _4D.pack(q.x, q.y, q.z, q.w),
            message.orientation_covariance.tobytes(),
            _3D.pack(w.x, w.y, w.z),
            message.angular_velocity_covariance.tobytes(),
            _3D.pack(a.x, a.y, a.z),
            message.linear_acceleration_covariance.tobytes(),
        )
    )


def encode_image(message: Any) -> bytes:
    """sensor_msgs/msg/Image."""
    header = message.header
    frame = _frame(header.frame_id, 4)
    encoding = _text(message.encoding) + bytes((message.is_bigendian,))
    size = 8 + len(frame) + 8 + len(encoding)
    return b"".join(
        (
            LITTLE_ENDIAN,
            _STAMP.pack(header.stamp.sec, header.stamp.nanosec),
            frame,
            _2U32.pack(message.height, message.width),
            encoding,
            _PADDING[-size % 4],
            _2U32.pack(message.step, message.data.nbytes),
            message.data.data,
        )
    )


@lru_cache(256)
def _point_fields(fields: tuple[tuple[str, int, int, int], ...], is_bigendian: bool) -> bytes:
    """The fields of a cloud and `is_bigendian`, from a place that is aligned to four bytes to the next such place."""
    encoded = bytearray(_U32.pack(len(fields)))
    for name, offset, datatype, count in fields:
        encoded += _PADDING[-len(encoded) % 4] + _text(name)
        encoded += _PADDING[-len(encoded) % 4] + _U32.pack(offset) + bytes((datatype,))
        encoded += _PADDING[-len(encoded) % 4] + _U32.pack(count)
    encoded += b"\x01" if is_bigendian else b"\x00"
    return bytes(encoded + _PADDING[-len(encoded) % 4])


def encode_point_cloud(message: Any) -> bytes:
    """sensor_msgs/msg/PointCloud2."""
    header = message.header
    fields = tuple((field.name, field.offset, field.datatype, field.count) for field in message.fields)
    return b"".join(
        (
            LITTLE_ENDIAN,
            _STAMP.pack(header.stamp.sec, header.stamp.nanosec),
            _frame(header.frame_id, 4),
            _2U32.pack(message.height, message.width),
            _point_fields(fields, bool(message.is_bigendian)),
            _2U32.pack(message.point_step, message.row_step),
            _U32.pack(message.data.nbytes),
            message.data.data,
            b"\x01" if message.is_dense else b"\x00",
        )
    )


@lru_cache(FRAMES)
def _frames(frame: str, child: str, place: int) -> bytes:
    """A transform's two frames, behind its stamp, which begins at this place; then the padding up to its numbers."""
    encoded = _text(frame)
    encoded += _PADDING[-(place + 8 + len(encoded)) % 4] + _text(child)
    return encoded + _PADDING[-(place + 8 + len(encoded)) % 8]


def encode_transforms(message: Any) -> bytes:
    """tf2_msgs/msg/TFMessage."""
    transforms = message.transforms
    parts = [LITTLE_ENDIAN, _U32.pack(len(transforms))]
    place = 4  # of the next stamp, modulo 8: behind seven numbers it is 0
    for item in transforms:
        header, t, q = item.header, item.transform.translation, item.transform.rotation
        stamp = header.stamp
        parts += (
            _STAMP.pack(stamp.sec, stamp.nanosec),
            _frames(header.frame_id, item.child_frame_id, place),
            _7D.pack(t.x, t.y, t.z, q.x, q.y, q.z, q.w),
        )
        place = 0
    return b"".join(parts)


TEMPLATES: Final[Mapping[str, Callable[[Any], bytes]]] = {
    "sensor_msgs/msg/Imu": encode_imu,
    "sensor_msgs/msg/Image": encode_image,
    "sensor_msgs/msg/PointCloud2": encode_point_cloud,
    "tf2_msgs/msg/TFMessage": encode_transforms,
}
