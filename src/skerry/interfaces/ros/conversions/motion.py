"""Readings of motion and place: IMU, compass, GPS, DVL, odometry, ground truth, joints."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import matrix_to_quaternion
from skerry.interfaces.ros.codec import Message
from skerry.interfaces.ros.conversions import UNKNOWN, Source, speaks
from skerry.sensors.compass import CompassReading
from skerry.sensors.dvl import Dvl, DvlReading
from skerry.sensors.encoder import EncoderReading
from skerry.sensors.gps import GpsReading
from skerry.sensors.ground_truth import GroundTruthReading
from skerry.sensors.imu import ImuReading
from skerry.sensors.joint_states import JointStatesReading
from skerry.sensors.magnetometer import MagnetometerReading
from skerry.sensors.odometry import OdometryReading


@speaks("imu", "sensor_msgs/Imu")
def imu(reading: ImuReading | None, source: Source, time: float) -> Message | None:
    """Attitude in the world (ENU), rates and specific force in the sensor's axes."""
    if reading is None:
        return None
    return source.codec.type("sensor_msgs/msg/Imu")(
        source.header(reading.time),
        source.quaternion(reading.orientation),
        reading.orientation_covariance.ravel(),
        source.vector(reading.angular_velocity),
        reading.angular_velocity_covariance.ravel(),
        source.vector(reading.linear_acceleration),
        reading.linear_acceleration_covariance.ravel(),
    )


@speaks("magnetometer", "sensor_msgs/MagneticField")
def magnetic_field(reading: MagnetometerReading | None, source: Source, time: float) -> Message | None:
    """The field in the sensor's axes, T."""
    if reading is None:
        return None
    return source.codec.make(
        "sensor_msgs/MagneticField",
        header=source.header(reading.time),
        magnetic_field=source.vector(reading.field),
        magnetic_field_covariance=reading.covariance,
    )


@speaks("compass", "smarc_msgs/FloatStamped")
def heading(reading: CompassReading | None, source: Source, time: float) -> Message | None:
    """The heading, degrees clockwise from north."""
    if reading is None:
        return None
    return source.codec.make("smarc_msgs/FloatStamped", header=source.header(reading.time), data=reading.heading_deg)


@speaks("gps", "sensor_msgs/NavSatFix")
def fix(reading: GpsReading | None, source: Source, time: float) -> Message:
    """A fix, or that there is none; then the place is no number, rather than an old one."""
    codec = source.codec
    service = codec.constant("sensor_msgs/NavSatStatus", "SERVICE_GPS")
    if reading is None:
        missing = codec.constant("sensor_msgs/NavSatStatus", "STATUS_NO_FIX")
        nowhere = dict.fromkeys(("latitude", "longitude", "altitude"), math.nan)
        status = {"status": missing, "service": service}
        return codec.make("sensor_msgs/NavSatFix", header=source.header(time), status=status, **nowhere)
    return codec.make(
        "sensor_msgs/NavSatFix",
        header=source.header(reading.time),
        status={"status": codec.constant("sensor_msgs/NavSatStatus", "STATUS_FIX"), "service": service},
        latitude=reading.latitude_deg,
        longitude=reading.longitude_deg,
        altitude=reading.altitude,
        position_covariance=reading.covariance,
        position_covariance_type=codec.constant("sensor_msgs/NavSatFix", "COVARIANCE_TYPE_DIAGONAL_KNOWN"),
    )


@speaks("dvl", "smarc_msgs/DVL")
def dvl(reading: DvlReading | None, source: Source, time: float) -> Message | None:
    """Velocity and beams; what is not valid has a covariance of −1, as the message's definition asks for."""
    if reading is None:
        return None
    codec = source.codec
    settings = source.settings
    assert isinstance(settings, Dvl)
    valid = bool(np.isfinite(reading.velocity).all())
    header = source.header(reading.time)
    beams = [
        codec.make(
            "smarc_msgs/DVLBeam",
            range=length if heard else -1.0,
            range_covariance=settings.range_noise**2 if heard else -1.0,
            velocity=speed if heard else 0.0,
            velocity_covariance=settings.velocity_noise**2 if heard else -1.0,
            pose={"header": header, "pose": {"orientation": source.quaternion(direction)}},
        )
        for direction, length, speed, heard in zip(
            _beams(settings),
            reading.ranges.tolist(),
            reading.beam_velocities.tolist(),
            np.isfinite(reading.ranges).tolist(),
            strict=True,
        )
    ]
    return codec.make(
        "smarc_msgs/DVL",
        header=header,
        velocity=source.vector(reading.velocity if valid else np.zeros(3)),
        velocity_covariance=reading.covariance if valid else np.full(9, -1.0),
        altitude=reading.altitude if math.isfinite(reading.altitude) else -1.0,
        beams=beams,
    )


@lru_cache(64)
def _beams(settings: Dvl) -> NDArray[np.float64]:
    """The orientations of frames whose x looks along each beam, their y level."""
    x = settings.directions()
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return matrix_to_quaternion(np.stack([x, y, np.cross(x, y)], axis=-1))


@speaks("odometry", "nav_msgs/Odometry")
@speaks("ground_truth", "nav_msgs/Odometry")
def odometry(reading: OdometryReading | GroundTruthReading | None, source: Source, time: float) -> Message | None:
    """Pose in the map, twist in the frame's own axes; exact, so nothing is said of their covariance."""
    if reading is None:
        return None
    codec = source.codec
    return codec.type("nav_msgs/msg/Odometry")(
        source.header(reading.time, source.map_frame),
        source.frame,
        codec.type("geometry_msgs/msg/PoseWithCovariance")(source.pose(reading.pose), UNKNOWN),
        codec.type("geometry_msgs/msg/TwistWithCovariance")(source.twist(reading.twist), UNKNOWN),
    )


@speaks("odometry", "geographic_msgs/GeoPoint")
@speaks("ground_truth", "geographic_msgs/GeoPoint")
def place_on_earth(reading: OdometryReading | GroundTruthReading | None, source: Source, time: float) -> Message | None:
    """Latitude, longitude and altitude; nothing if the scenario does not say where on earth it is."""
    if reading is None or source.projection is None:
        return None
    latitude, longitude, altitude = source.projection.to_geodetic(reading.pose.position).tolist()
    return source.codec.make("geographic_msgs/GeoPoint", latitude=latitude, longitude=longitude, altitude=altitude)


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
