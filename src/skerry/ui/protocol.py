"""Binary messages to the page: a header of 16 bytes and a payload, little endian. Layouts and encoders."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

PROTOCOL: Final = 2
"""Version of the protocol."""

HEADER: Final = struct.Struct("<BBHId")
"""Header: kind, flags, number of the stream, number of the message in its stream, simulated time, s."""
EXTRA: Final = 1
"""Flag: the payload has its optional part."""

TRANSFORM: Final = np.dtype([("parent", "<u2"), ("child", "<u2"), ("pose", "<f4", 7)])
"""Layout of one transform: indices of parent and child, and the pose of the child in the parent."""
MIN_SCALE: Final = 0.001
"""Smallest quantisation step of a cloud, m."""


class Kind(IntEnum):
    """Kind of data in a message."""

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
    Kind.SONAR_LINES: "u16 n, u16 length, f32 range to each side, n rows of u8, the oldest first",
    Kind.SONAR_FAN: "u16 beams, u16 bins, f32 first angle, last angle, first range, last range; beams × bins u8",
    Kind.SEGMENTS: "u32 n, n × 2 × 3 f32; flag 1: n × 4 u8 red, green, blue, opacity",
    Kind.PARTICLES: (
        "u32 n, n × 3 f32, n f32 age as a fraction of the lifetime; flag 1: n × 4 u8 red, green, blue, opacity"
    ),
    Kind.SCALARS: "n f32; NaN where there is no value",
    Kind.TF: "n × (u16 parent, u16 child, 7 f32); parent and child are indices into the scene's tf_names",
}
"""Layout of the payload of each kind, as in `docs/page_protocol.md`."""


class Payload(NamedTuple):
    """Message without its header."""

    kind: Kind
    data: bytes
    flags: int = 0


class SonarLine(NamedTuple):
    """Line of a side-scan sonar."""

    time: float  # simulated time, s
    range: float  # range at both ends of the line
    levels: NDArray[np.uint8]  # from the port range limit to the starboard range limit


def message(payload: Payload, stream: int, number: int, time: float) -> bytes:
    """Encode a message with its header.

    Args:
        payload: Kind, flags and data of the message.
        stream: Number of the stream.
        number: Number of the message in its stream.
        time: Simulated time, s.
    """
    return HEADER.pack(payload.kind, payload.flags, stream, number & 0xFFFFFFFF, time) + payload.data


def poses(rows: ArrayLike) -> Payload:
    """Encode poses (n, 7): x, y, z, m, and quaternion x, y, z, w."""
    return Payload(Kind.POSE, np.asarray(rows, "<f4").tobytes())


def cloud(points: NDArray[np.floating], intensity: NDArray[np.uint8] | None = None) -> Payload:
    """Encode points (n, 3) in the world, m, with optional intensities (n,)."""
    count = len(points)
    axes = np.array(
        points.T, order="C"
    )  # numpy works twenty times faster on three long rows than on many rows of three
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
    """Encode a picture: a JPEG file."""
    return Payload(Kind.IMAGE, jpeg)


def sonar_lines(lines: Sequence[SonarLine]) -> Payload:
    """Encode sonar lines, which have the same length and range."""
    head = struct.pack("<HHf", len(lines), len(lines[0].levels), lines[0].range)
    return Payload(Kind.SONAR_LINES, head + b"".join(bytes(line.levels) for line in lines))


def sonar_fan(levels: NDArray[np.uint8], angles: tuple[float, float], ranges: tuple[float, float]) -> Payload:
    """Encode the fan of a sonar.

    Args:
        levels: Echo levels, (beams, bins).
        angles: Azimuth of the first and of the last beam, rad, positive to the left.
        ranges: Range of the first and of the last bin, m.
    """
    return Payload(Kind.SONAR_FAN, struct.pack("<HHffff", *levels.shape, *angles, *ranges) + levels.tobytes())


def segments(ends: ArrayLike, colours: NDArray[np.uint8] | None = None) -> Payload:
    """Encode line segments (n, 2, 3) in the world, m, with optional colours (n, 4)."""
    lines = np.asarray(ends, "<f4").reshape(-1, 2, 3)
    data = struct.pack("<I", len(lines)) + lines.tobytes()
    if colours is None:
        return Payload(Kind.SEGMENTS, data)
    return Payload(Kind.SEGMENTS, data + colours.tobytes(), EXTRA)


def particles(points: ArrayLike, ages: ArrayLike, colours: NDArray[np.uint8] | None = None) -> Payload:
    """Encode particles: positions (n, 3) in the world, m, ages (n,) as fractions of the lifetime, colours (n, 4)."""
    positions = np.asarray(points, "<f4").reshape(-1, 3)
    data = struct.pack("<I", len(positions)) + positions.tobytes() + np.asarray(ages, "<f4").tobytes()
    if colours is None:
        return Payload(Kind.PARTICLES, data)
    return Payload(Kind.PARTICLES, data + colours.tobytes(), EXTRA)


def scalars(values: ArrayLike) -> Payload:
    """Encode numbers. The scene describes their order."""
    return Payload(Kind.SCALARS, np.asarray(values, "<f4").tobytes())


def transforms(rows: Sequence[tuple[int, int, Sequence[float]]]) -> Payload:
    """Encode transforms: index of the parent, index of the child, and the pose (7,) of the child in the parent."""
    return Payload(Kind.TF, np.array([tuple(row) for row in rows], TRANSFORM).tobytes())


def decode(data: bytes) -> tuple[Kind, int, int, int, float, Any]:
    """Decode a message, for clients that are written in Python.

    Returns:
        Kind, flags, number of the stream, number of the message, simulated time, s, and the payload as bytes.
    """
    kind, flags, stream, number, time = HEADER.unpack_from(data)
    return Kind(kind), flags, stream, number, time, data[HEADER.size :]
