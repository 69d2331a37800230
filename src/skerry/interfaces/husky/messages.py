"""Messages of the protocol as data: reports to JSON, and JSON to requests; no socket in sight.

A rover server ends at once on invalid JSON (NaN too), on a key that is missing, and on an empty picture. So reports are
strict JSON with all keys, always, and have `altitude`, which newer servers need and older ones pass over.
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

ROUNDING: Final = 1e-6  # by which a power that was worked out in single precision may be above 1
MOST_IN_ALL: Final = 2**22  # pixels of a picture
WIDEST: Final = 22.8  # sides of the picture to a focal length, 170° in all, as a camera's settings allow
FARTHEST: Final = 10.0  # sides of the picture that its principal point may be away


class BadRequest(SkerryError):
    """What is no request, or none that can be done."""


# ------------------------------------------------------------------------------------------------ reports


def encode(report: Report) -> str:
    """Compact, strict JSON; a `ValueError` if a number is none."""
    return json.dumps(report, separators=(",", ":"), allow_nan=False)


def motor_status(motor: str, power: float | None, position_deg: float | None) -> Report:
    """The power from −1 to 1 and the position, in whole millidegrees towards zero."""
    position = None if position_deg is None else int(position_deg * 1000)
    return {"type": "simMotorStatusReport", "motor": motor, "power": power, "position": position}


def limit_switch(motor: str, limit: str, word: str) -> Report:
    """Of a switch at the `minimum` or `maximum`; as the alert that is documented, or the report that is really sent."""
    return {"type": f"simLimitSwitch{word.capitalize()}", "motor": motor, "limit": limit}


def camera_picture(camera: str, jpeg: bytes) -> Report:
    """A picture."""
    return {"type": "simCameraStreamReport", "camera": camera, "data": b64encode(jpeg).decode()}


def true_pose(pose: Pose) -> Report:
    """Of the chassis: x north, y west, z up."""
    theirs = convert_pose(pose, ENU_TO_NWU, IDENTITY_AXES)
    return {
        "type": "simRoverTruePoseReport",
        "position": dict(zip("xyz", theirs.position.tolist(), strict=True)),
        "rotation": dict(zip("xyzw", theirs.orientation.tolist(), strict=True)),
    }


def gps_position(reading: GpsReading) -> Report:
    """Of a fix; degrees and metres."""
    return {
        "type": "simGpsPositionReport",
        "latitude": reading.latitude_deg,
        "longitude": reading.longitude_deg,
        "altitude": reading.altitude,
    }


def imu_orientation(reading: ImuReading) -> Report:
    """The attitude in a world of x north, y west, z up."""
    theirs = convert_orientation(reading.orientation, ENU_TO_NWU, IDENTITY_AXES)
    return {"type": "simImuOrientationReport", **dict(zip("xyzw", theirs.tolist(), strict=True))}


def lidar_points(reading: PlanarReading) -> Report:
    """What came back: metres, and angles in [0, 2π) from the front, anticlockwise."""
    places = np.flatnonzero(np.isfinite(reading.ranges))
    angles = np.mod(reading.angle_min + reading.angle_increment * places, tau)
    angles[angles >= tau] = 0.0  # the remainder of a tiny negative angle rounds to 2π itself
    pairs = zip(reading.ranges[places].tolist(), angles.tolist(), strict=True)
    return {"type": "simLidarReport", "points": [{"r": r, "theta": theta} for r, theta in pairs]}


# ------------------------------------------------------------------------------------------------ requests


@dataclass(frozen=True)
class MotorPower:
    """Run a motor with a power from −1 to 1."""

    motor: str
    power: float


@dataclass(frozen=True)
class MotorPosition:
    """Run a motor to a position."""

    motor: str
    position_deg: float


@dataclass(frozen=True)
class OpenStream:
    """Send pictures of a camera; the lens is the camera's own, or fx, fy, cx, cy in pixels."""

    camera: str
    fps: float
    width: int
    height: int
    intrinsics: tuple[float, float, float, float] | None


@dataclass(frozen=True)
class CloseStream:
    """Send no more of them."""

    camera: str


Request = MotorPower | MotorPosition | OpenStream | CloseStream


def read_request(text: str | bytes) -> Request:
    """The request in a message; `BadRequest` says what is wrong with it."""
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadRequest(f"a message is no JSON: {shorten(text[:100])}") from None
    if not isinstance(message, dict):
        raise BadRequest(f"a message is no JSON object: {shorten(text[:100])}")
    try:
        return _request_of(message)
    except RecursionError:
        raise BadRequest("a message is nested too deeply") from None


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
            raise BadRequest(f"there is no request of the type {shorten(unknown)}")


def _open_stream(message: Report) -> OpenStream:
    camera = _text(message, "camera")
    fps = _number(message, "fps")
    if fps <= 0:
        raise BadRequest(f"{message['type']}: `fps` is {shorten(fps)}; it must be above 0")
    width, height = _pixels(message, "width"), _pixels(message, "height")
    if width * height > MOST_IN_ALL:
        raise BadRequest(f"{message['type']}: {width} × {height} pixels are too many; at most {MOST_IN_ALL} in all")
    return OpenStream(camera, fps, width, height, _intrinsics(message, width, height))


def _intrinsics(message: Report, width: int, height: int) -> tuple[float, float, float, float] | None:
    """Of the camera matrix, row by row: `intrinsicParameters` in the document, `intrinsics` from every real server."""
    key = "intrinsicParameters" if message.get("intrinsicParameters") is not None else "intrinsics"
    matrix = message.get(key)
    if matrix is None:
        return None
    if not isinstance(matrix, list) or len(matrix) != 9:
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(matrix)}; it must be nine numbers, or null")
    fx, _, cx, _, fy, cy, *_ = (_checked(message, key, value) for value in matrix)
    if fx < width / WIDEST or fy < height / WIDEST or abs(cx) > FARTHEST * width or abs(cy) > FARTHEST * height:
        raise BadRequest(f"{message['type']}: `{key}` is no lens for {width} × {height} pixels: {shorten(matrix)}")
    return fx, fy, cx, cy


def _power(message: Report) -> float:
    power = _number(message, "power")
    if abs(power) > 1 + ROUNDING:
        raise BadRequest(f"{message['type']}: `power` is {shorten(power)}; it must be from -1 to 1")
    return min(max(power, -1.0), 1.0)


def _pixels(message: Report, key: str) -> int:
    value = _number(message, key)
    if value != int(value) or not 1 <= value <= MAX_PIXELS:
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(value)}; it must be whole, from 1 to {MAX_PIXELS}")
    return int(value)


def _text(message: Report, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(value)}; it must be text")
    return value


def _number(message: Report, key: str) -> float:
    return _checked(message, key, message.get(key))


def _checked(message: Report, key: str, value: object) -> float:
    number = float("nan")
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300:
        number = float(value)
    if not isfinite(number):
        raise BadRequest(f"{message['type']}: `{key}` is {shorten(value)}; it must be a number")
    return number
