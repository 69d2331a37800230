"""Readings of motion and place: IMU, compass, GPS, DVL, odometry, ground truth, joints."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import matrix_to_quaternion
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import Say, Source, prepares, speaks
from skerry.sensors.compass import CompassReading
from skerry.sensors.dvl import Dvl, DvlReading
from skerry.sensors.encoder import EncoderReading
from skerry.sensors.gps import GpsReading
from skerry.sensors.ground_truth import GroundTruthReading
from skerry.sensors.imu import ImuReading
from skerry.sensors.joint_states import JointStatesReading
from skerry.sensors.magnetometer import MagnetometerReading
from skerry.sensors.odometry import OdometryReading

Floats: TypeAlias = NDArray[np.float64]


@prepares("imu", "sensor_msgs/Imu")
def imu(source: Source) -> Say:
    """Attitude in the world (ENU), rates and specific force in the sensor's axes."""
    vectors = ("orientation", "angular_velocity", "linear_acceleration")
    fields = tuple(f"{name}{end}" for name in vectors for end in ("", "_covariance"))

    def numbers(reading: ImuReading) -> dict[str, Floats]:
        return {field: getattr(reading, field) for field in fields}

    return source.numbers("sensor_msgs/Imu", numbers, fields)


@prepares("magnetometer", "sensor_msgs/MagneticField")
def magnetic_field(source: Source) -> Say:
    """The field in the sensor's axes, T."""

    def numbers(reading: MagnetometerReading) -> dict[str, Floats]:
        return {"magnetic_field": reading.field, "magnetic_field_covariance": reading.covariance}

    return source.numbers("sensor_msgs/MagneticField", numbers, ("magnetic_field", "magnetic_field_covariance"))


@prepares("compass", "smarc_msgs/FloatStamped")
def heading(source: Source) -> Say:
    """The heading, degrees clockwise from north."""

    def numbers(reading: CompassReading) -> dict[str, float]:
        return {"data": reading.heading_deg}

    return source.numbers("smarc_msgs/FloatStamped", numbers, ("data",))


@prepares("gps", "sensor_msgs/NavSatFix")
def fix(source: Source) -> Say:
    """A fix, or that there is none; then the place is no number, rather than an old one."""
    constant, name = source.codec.constant, "sensor_msgs/NavSatFix"
    service = constant("sensor_msgs/NavSatStatus", "SERVICE_GPS")
    place = ("latitude", "longitude", "altitude")
    missing = source.both(
        name,
        (),
        status={"status": constant("sensor_msgs/NavSatStatus", "STATUS_NO_FIX"), "service": service},
        **dict.fromkeys(place, math.nan),
    )

    def numbers(reading: GpsReading) -> dict[str, Any]:
        return {
            "latitude": reading.latitude_deg,
            "longitude": reading.longitude_deg,
            "altitude": reading.altitude,
            "position_covariance": reading.covariance,
        }

    return source.numbers(
        name,
        numbers,
        (*place, "position_covariance"),
        missing,
        status={"status": constant("sensor_msgs/NavSatStatus", "STATUS_FIX"), "service": service},
        position_covariance_type=constant(name, "COVARIANCE_TYPE_DIAGONAL_KNOWN"),
    )


@prepares("dvl", "smarc_msgs/DVL")
def dvl(source: Source) -> Say:
    """Velocity and beams; what is not valid has a covariance of −1, as the message's definition asks for."""
    settings = source.settings
    assert isinstance(settings, Dvl)
    header = source.header(0.0)
    directions = _beams(settings)
    of_beam = ("range", "range_covariance", "velocity", "velocity_covariance")
    beams = {f"beams.{number}.{word}": (number, word) for number in range(len(directions)) for word in of_beam}
    variances = settings.range_noise**2, settings.velocity_noise**2

    def numbers(reading: DvlReading) -> dict[str, Any]:
        valid = np.isfinite(reading.velocity.sum(axis=-1, keepdims=True))
        heard = np.isfinite(reading.ranges)
        found = {
            "range": np.where(heard, reading.ranges, -1.0),
            "range_covariance": np.where(heard, variances[0], -1.0),
            "velocity": np.where(heard, reading.beam_velocities, 0.0),
            "velocity_covariance": np.where(heard, variances[1], -1.0),
        }
        return {
            "velocity": np.where(valid, reading.velocity, 0.0),
            "velocity_covariance": np.where(valid[..., None], reading.covariance, -1.0),
            "altitude": np.where(np.isfinite(reading.altitude), reading.altitude, -1.0),
            **{path: found[word][..., number] for path, (number, word) in beams.items()},
        }

    return source.numbers(
        "smarc_msgs/DVL",
        numbers,
        ("velocity", "velocity_covariance", "altitude", *beams),
        beams=[{"pose": {"header": header, "pose": {"orientation": source.quaternion(q)}}} for q in directions],
    )


@lru_cache(64)
def _beams(settings: Dvl) -> Floats:
    """The orientations of frames whose x looks along each beam, their y level."""
    x = settings.directions()
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return matrix_to_quaternion(np.stack([x, y, np.cross(x, y)], axis=-1))


@prepares("odometry", "nav_msgs/Odometry")
@prepares("ground_truth", "nav_msgs/Odometry")
def odometry(source: Source) -> Say:
    """Pose in the map, twist in the frame's own axes; exact, so nothing is said of their covariance."""

    def numbers(reading: OdometryReading | GroundTruthReading) -> dict[str, Floats]:
        pose, twist = reading.pose, reading.twist
        return {
            "pose.pose.position": pose.position,
            "pose.pose.orientation": pose.orientation,
            "twist.twist.linear": twist.linear,
            "twist.twist.angular": twist.angular,
        }

    return source.numbers(
        "nav_msgs/Odometry",
        numbers,
        ("pose.pose.position", "pose.pose.orientation", "twist.twist.linear", "twist.twist.angular"),
        header=source.header(0.0, source.map_frame),
        child_frame_id=source.frame,
    )


@prepares("odometry", "geographic_msgs/GeoPoint")
@prepares("ground_truth", "geographic_msgs/GeoPoint")
def place_on_earth(source: Source) -> Say:
    """Latitude, longitude and altitude; nothing if the scenario does not say where on earth it is."""
    projection = source.projection
    if projection is None:
        return lambda reading, time: None

    def numbers(reading: OdometryReading | GroundTruthReading) -> dict[str, Floats]:
        place = projection.to_geodetic(reading.pose.position)
        return {"latitude": place[..., 0], "longitude": place[..., 1], "altitude": place[..., 2]}

    return source.numbers("geographic_msgs/GeoPoint", numbers, ("latitude", "longitude", "altitude"))


@speaks("joint_states", "sensor_msgs/JointState")
def joint_states(reading: JointStatesReading | None, source: Source, time: float) -> Message | None:
    """Positions and velocities of joints; no efforts."""
    if reading is None:
        return None
    return source.codec.make(
        "sensor_msgs/JointState",
        header=source.header(reading.time),
        name=list(reading.names),
        position=reading.positions,
        velocity=reading.velocities,
    )


@speaks("encoder", "sensor_msgs/JointState")
def encoder(reading: EncoderReading | None, source: Source, time: float) -> Message | None:
    """The joint that is counted."""
    if reading is None:
        return None
    return source.codec.make(
        "sensor_msgs/JointState",
        header=source.header(reading.time),
        name=list(source.settings.needs_joints),
        position=[reading.position],
        velocity=[reading.velocity],
    )
