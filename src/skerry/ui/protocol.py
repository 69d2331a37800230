"""The binary messages to the page: a header of 16 bytes, then a payload, all little endian; layouts and encoders."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

PROTOCOL: Final = 1

HEADER: Final = struct.Struct("<BBHId")
"""kind, flags, number of the stream, number of the message in its stream, simulated time."""
EXTRA: Final = 1
"""The flag that says that the optional part of a payload follows."""

TRANSFORM: Final = np.dtype([("parent", "<u2"), ("child", "<u2"), ("pose", "<f4", 7)])
MIN_SCALE: Final = 0.001
"""m: a cloud is not cut finer than this."""


class Kind(IntEnum):
    """What a message holds."""

    POSE = 1
    CLOUD = 2
    IMAGE = 3
    SONAR_LINES = 4
    SONAR_FAN = 5
    SEGMENTS = 6
    PARTICLES = 7
    SCALARS = 8
    TF = 9


LAYOUTS: Final = {
    Kind.POSE: "n × 7 f32: x, y, z, quaternion x, y, z, w, by body",
    Kind.CLOUD: "f32 scale, u32 n, 3 f32 origin, n × 3 i16 (× scale + origin); flag 1: n u8 intensity",
    Kind.IMAGE: "a JPEG file",
    Kind.SONAR_LINES: "u16 n, u16 length, n rows of u8, the oldest first",
    Kind.SONAR_FAN: "u16 beams, u16 bins, f32 first angle, last angle, first range, last range; beams × bins u8",
    Kind.SEGMENTS: "u32 n, n × 2 × 3 f32; flag 1: n × 4 u8 red, green, blue, opacity",
    Kind.PARTICLES: "u32 n, n × 3 f32, n f32 share of its life that has passed",
    Kind.SCALARS: "n f32; NaN where nothing is known",
    Kind.TF: "n × (u16 parent, u16 child, 7 f32), numbers being places in the scene's tf_names",
}


class Payload(NamedTuple):
    """A message without its header."""

    kind: Kind
    data: bytes
    flags: int = 0


def message(payload: Payload, stream: int, number: int, time: float) -> bytes:
    """A whole message."""
    return HEADER.pack(payload.kind, payload.flags, stream, number & 0xFFFFFFFF, time) + payload.data


def poses(rows: ArrayLike) -> Payload:
    """Poses (n, 7)."""
    return Payload(Kind.POSE, np.asarray(rows, "<f4").tobytes())


def cloud(points: NDArray[np.floating], intensity: NDArray[np.uint8] | None = None) -> Payload:
    """Points (n, 3) in the world, with an intensity each, or none."""
    count = len(points)
    axes = np.array(points.T, order="C")  # numpy is twenty times as fast along x, y and z as across them
    if count:
        low, high = axes.min(axis=1), axes.max(axis=1)
        origin = 0.5 * (low + high)
        scale = max(float((high - low).max()) / 65_000, MIN_SCALE)
    else:
        origin, scale = np.zeros(3), MIN_SCALE
    axes -= origin[:, None]
    axes *= 1.0 / scale
    steps = np.rint(axes, out=axes).astype("<i2")
    rows = np.empty((count, 3), "<i2")
    for axis in range(3):
        rows[:, axis] = steps[axis]
    data = struct.pack("<fI3f", scale, count, *origin) + rows.tobytes()
    if intensity is None:
        return Payload(Kind.CLOUD, data)
    return Payload(Kind.CLOUD, data + intensity.tobytes(), EXTRA)


def image(jpeg: bytes) -> Payload:
    """A picture."""
    return Payload(Kind.IMAGE, jpeg)


def sonar_lines(rows: Sequence[NDArray[np.uint8]]) -> Payload:
    """Rows of the same length."""
    return Payload(Kind.SONAR_LINES, struct.pack("<HH", len(rows), len(rows[0])) + b"".join(map(bytes, rows)))


def sonar_fan(levels: NDArray[np.uint8], angles: tuple[float, float], ranges: tuple[float, float]) -> Payload:
    """Levels (beams, bins) between the angles of the first and the last beam, rad to the left, and two ranges, m."""
    return Payload(Kind.SONAR_FAN, struct.pack("<HHffff", *levels.shape, *angles, *ranges) + levels.tobytes())


def segments(ends: ArrayLike, colours: NDArray[np.uint8] | None = None) -> Payload:
    """Lines (n, 2, 3) in the world, with colours (n, 4), or none."""
    lines = np.asarray(ends, "<f4").reshape(-1, 2, 3)
    data = struct.pack("<I", len(lines)) + lines.tobytes()
    if colours is None:
        return Payload(Kind.SEGMENTS, data)
    return Payload(Kind.SEGMENTS, data + colours.tobytes(), EXTRA)


def particles(points: ArrayLike, ages: ArrayLike) -> Payload:
    """Points (n, 3) in the world, with the share of its life that each has passed."""
    places = np.asarray(points, "<f4").reshape(-1, 3)
    data = struct.pack("<I", len(places)) + places.tobytes() + np.asarray(ages, "<f4").tobytes()
    return Payload(Kind.PARTICLES, data)


def scalars(values: ArrayLike) -> Payload:
    """Numbers in an order that the scene tells."""
    return Payload(Kind.SCALARS, np.asarray(values, "<f4").tobytes())


def transforms(rows: Sequence[tuple[int, int, Sequence[float]]]) -> Payload:
    """Frames: the number of the parent and of the child, and the child's pose in the parent."""
    return Payload(Kind.TF, np.array([tuple(row) for row in rows], TRANSFORM).tobytes())


def decode(data: bytes) -> tuple[Kind, int, int, int, float, Any]:
    """The header of a message, and its payload as bytes; for clients that are written in Python."""
    kind, flags, stream, number, time = HEADER.unpack_from(data)
    return Kind(kind), flags, stream, number, time, data[HEADER.size :]
