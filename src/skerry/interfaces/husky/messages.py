"""Encoding of reports to JSON and decoding of requests; contains no socket code.

A rover server crashes on invalid JSON (including NaN), on a missing key and on an empty image. Therefore reports are
always strict JSON with all keys. They include `altitude`, which newer servers need and older servers ignore.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from math import isfinite, tau
from typing import Any, Final

import numpy as np

from skerry.core.errors import SkerryError, shorten
from skerry.core.frames import ENU_TO_NWU, IDENTITY_AXES, Pose, convert_orientation, convert_pose
from skerry.sensors.camera import MAX_PIXELS
from skerry.sensors.gps import GpsReading
from skerry.sensors.imu import ImuReading
from skerry.sensors.lidar import PlanarReading

Report = dict[str, Any]

ROUNDING: Final = 1e-6
"""Excess over 1 that a power may have, because servers compute it in single precision."""
MAX_IMAGE_PIXELS: Final = 2**22
"""Largest number of pixels of an image."""
MAX_VIEW_RATIO: Final = 22.8
"""Largest ratio of a side of the image to the focal length: 170°, the limit of a camera's settings."""
MAX_CENTRE_RATIO: Final = 10.0
"""Largest ratio of a coordinate of the principal point to the side of the image."""


class BadRequest(SkerryError):
    """Message that is not a valid request, or a request that cannot be executed."""


# ------------------------------------------------------------------------------------------------ reports


def encode(report: Report) -> str:
    """Encode a report as compact, strict JSON; NaN and infinity raise a `ValueError`."""
    return json.dumps(report, separators=(",", ":"), allow_nan=False)


def motor_status(motor: str, power: float | None, position_deg: float | None) -> Report:
    """Return the report of a motor: power from -1 to 1, and position in millidegrees, rounded towards zero."""
    position = None if position_deg is None else int(position_deg * 1000)
    return {"type": "simMotorStatusReport", "motor": motor, "power": power, "position": position}


def limit_switch(motor: str, limit: str, message: str) -> Report:
    """Return the report of a limit switch.

    Args:
        motor: Name of the motor.
        limit: `minimum` or `maximum`.
        message: `alert`, as documented, or `report`, as the original sends it.
    """
    return {"type": f"simLimitSwitch{message.capitalize()}", "motor": motor, "limit": limit}


def camera_image(camera: str, jpeg: bytes) -> Report:
    """Return the report of a camera image."""
    return {"type": "simCameraStreamReport", "camera": camera, "data": b64encode(jpeg).decode()}


def true_pose(pose: Pose) -> Report:
    """Return the report of the pose of the chassis, with x north, y west, z up."""
    converted = convert_pose(pose, ENU_TO_NWU, IDENTITY_AXES)
    return {
        "type": "simRoverTruePoseReport",
        "position": dict(zip("xyz", converted.position.tolist(), strict=True)),
        "rotation": dict(zip("xyzw", converted.orientation.tolist(), strict=True)),
    }


def gps_position(reading: GpsReading) -> Report:
    """Return the report of a GPS fix, in degrees and metres."""
    return {
        "type": "simGpsPositionReport",
        "latitude": reading.latitude_deg,
        "longitude": reading.longitude_deg,
        "altitude": reading.altitude,
    }


def imu_orientation(reading: ImuReading) -> Report:
    """Return the report of the attitude in a world with x north, y west, z up."""
    converted = convert_orientation(reading.orientation, ENU_TO_NWU, IDENTITY_AXES)
    return {"type": "simImuOrientationReport", **dict(zip("xyzw", converted.tolist(), strict=True))}


def lidar_points(reading: PlanarReading) -> Report:
    """Return the report of the beams that hit something: range in m, angle in [0, 2π) anticlockwise from the front."""
    hits = np.flatnonzero(np.isfinite(reading.ranges))
    angles = np.mod(reading.angle_min + reading.angle_increment * hits, tau)
    angles[angles >= tau] = 0.0  # the remainder of a tiny negative angle rounds to 2π itself
    pairs = zip(reading.ranges[hits].tolist(), angles.tolist(), strict=True)
    return {"type": "simLidarReport", "points": [{"r": r, "theta": theta} for r, theta in pairs]}


# ------------------------------------------------------------------------------------------------ requests


@dataclass(frozen=True)
class MotorPower:
    """Request to run a motor with a power from -1 to 1."""

    motor: str
    power: float


@dataclass(frozen=True)
class MotorPosition:
    """Request to run a motor to a position."""

    motor: str
    position_deg: float


@dataclass(frozen=True)
class OpenStream:
    """Request to send images of a camera; `intrinsics` are fx, fy, cx, cy in pixels, None is the camera's own lens."""

    camera: str
    fps: float
    width: int
    height: int
    intrinsics: tuple[float, float, float, float] | None


@dataclass(frozen=True)
class CloseStream:
    """Request to stop the images of a camera."""

    camera: str


Request = MotorPower | MotorPosition | OpenStream | CloseStream


def read_request(text: str | bytes) -> Request:
    """Decode a message; an invalid one raises a `BadRequest` that names the fault."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadRequest(f"received a message that is not JSON: {shorten(text[:100])}") from None
    if not isinstance(message, dict):
        raise BadRequest(f"received a message that is not a JSON object: {shorten(text[:100])}")
    try:
        return _request_of(message)
    except RecursionError:
        raise BadRequest("received a message that is nested too deeply") from None


def _request_of(message: Report) -> Request:
    match message.get("type"):
        case "simMotorPowerRequest":
            return MotorPower(_text(message, "motor"), _power(message))
        case "simMotorPositionRequest":
            return MotorPosition(_text(message, "motor"), _number(message, "position") / 1000)
        case "simCameraStreamOpenRequest":
            return _open_stream(message)
        case "simCameraStreamCloseRequest":
            return CloseStream(_text(message, "camera"))
        case unknown:
            raise BadRequest(f"received a message of the unknown type {shorten(unknown)}")


def _open_stream(message: Report) -> OpenStream:
    camera = _text(message, "camera")
    fps = _number(message, "fps")
    if fps <= 0:
        raise BadRequest(f"{message['type']}: `fps` is {shorten(fps)}; expected a number above 0")
    width, height = _pixels(message, "width"), _pixels(message, "height")
    if width * height > MAX_IMAGE_PIXELS:
        raise BadRequest(
            f"{message['type']}: {width} × {height} pixels are too many; expected at most {MAX_IMAGE_PIXELS}"
        )
    return OpenStream(camera, fps, width, height, _intrinsics(message, width, height))


def _intrinsics(message: Report, width: int, height: int) -> tuple[float, float, float, float] | None:
    """Return fx, fy, cx, cy of the camera matrix, or None.

    Its key is `intrinsicParameters` in the documentation; every real server sends `intrinsics`.
    """
    key = "intrinsicParameters" if message.get("intrinsicParameters") is not None else "intrinsics"
    matrix = message.get(key)
    if matrix is None:
        return None
    if not isinstance(matrix, list) or len(matrix) != 9:
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(matrix)}; expected nine numbers or null")
    fx, _, cx, _, fy, cy, *_ = (_checked(message, key, value) for value in matrix)
    if (
        fx < width / MAX_VIEW_RATIO
        or fy < height / MAX_VIEW_RATIO
        or abs(cx) > MAX_CENTRE_RATIO * width
        or abs(cy) > MAX_CENTRE_RATIO * height
    ):
        raise BadRequest(
            f"{message['type']}: `{key}` {shorten(matrix)} is not a valid lens for {width} × {height} pixels"
        )
    return fx, fy, cx, cy


def _power(message: Report) -> float:
    power = _number(message, "power")
    if abs(power) > 1 + ROUNDING:
        raise BadRequest(f"{message['type']}: `power` is {shorten(power)}; expected -1 to 1")
    return min(max(power, -1.0), 1.0)


def _pixels(message: Report, key: str) -> int:
    value = _number(message, key)
    if value != int(value) or not 1 <= value <= MAX_PIXELS:
        raise BadRequest(
            f"{message['type']}: `{key}` is {shorten(value)}; expected a whole number from 1 to {MAX_PIXELS}"
        )
    return int(value)


def _text(message: Report, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(value)}; expected text")
    return value


def _number(message: Report, key: str) -> float:
    return _checked(message, key, message.get(key))


def _checked(message: Report, key: str, value: object) -> float:
    number = float("nan")
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        number = float(value)
    if not isfinite(number):
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(value)}; expected a number")
    return number
