"""Fast CDR encoders of large messages; their bytes are equal to those of the general encoder.

CDR aligns a number to its own size, counted from the end of the encapsulation header of four bytes (OMG
formal/02-06-51, §15.3). Bytes that depend on names only, such as a header's frame with its padding, are cached.
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
_PADDING: Final = tuple(bytes(count) for count in range(8))
FRAMES: Final = 4096  # frame names whose encoding is cached


def _text(text: str) -> bytes:
    encoded = text.encode()
    return _U32.pack(len(encoded) + 1) + encoded + b"\x00"


@lru_cache(FRAMES)
def _frame(frame: str, alignment: int) -> bytes:
    """Return a header's frame, which follows the eight bytes of the stamp, and the padding after it."""
    encoded = _text(frame)
    return encoded + _PADDING[-(8 + len(encoded)) % alignment]


def encode_image(message: Any) -> bytes:
    """Encode a sensor_msgs/msg/Image."""
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
    """Return the encoded fields of a cloud and `is_bigendian`; the start and the end are aligned to four bytes."""
    encoded = bytearray(_U32.pack(len(fields)))
    for name, offset, datatype, count in fields:
        encoded += _PADDING[-len(encoded) % 4] + _text(name)
        encoded += _PADDING[-len(encoded) % 4] + _U32.pack(offset) + bytes((datatype,))
        encoded += _PADDING[-len(encoded) % 4] + _U32.pack(count)
    encoded += b"\x01" if is_bigendian else b"\x00"
    return bytes(encoded + _PADDING[-len(encoded) % 4])


def encode_point_cloud(message: Any) -> bytes:
    """Encode a sensor_msgs/msg/PointCloud2."""
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


FAST_ENCODERS: Final[Mapping[str, Callable[[Any], bytes]]] = {
    "sensor_msgs/msg/Image": encode_image,
    "sensor_msgs/msg/PointCloud2": encode_point_cloud,
}
