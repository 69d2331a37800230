"""Encoders of motion and position: IMU, compass, magnetometer, GPS, DVL, odometry, ground truth and joints."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import matrix_to_quaternion
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import EncoderContext, EncodeReading, register_encoder, register_factory
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


@register_factory("imu", "sensor_msgs/Imu")
def imu(context: EncoderContext) -> EncodeReading:
    """Encode attitude in the world (ENU), and angular rates and specific force in the sensor's axes."""
    vectors = ("orientation", "angular_velocity", "linear_acceleration")
    fields = tuple(f"{name}{end}" for name in vectors for end in ("", "_covariance"))

    def numbers(reading: ImuReading) -> dict[str, Floats]:
        return {field: getattr(reading, field) for field in fields}

    return context.template_encoder("sensor_msgs/Imu", numbers, fields)


@register_factory("magnetometer", "sensor_msgs/MagneticField")
def magnetic_field(context: EncoderContext) -> EncodeReading:
    """Encode the magnetic field in the sensor's axes, T."""

    def numbers(reading: MagnetometerReading) -> dict[str, Floats]:
        return {"magnetic_field": reading.field, "magnetic_field_covariance": reading.covariance}

    return context.template_encoder(
        "sensor_msgs/MagneticField", numbers, ("magnetic_field", "magnetic_field_covariance")
    )


@register_factory("compass", "smarc_msgs/FloatStamped")
def heading(context: EncoderContext) -> EncodeReading:
    """Encode the heading, degrees clockwise from north."""

    def numbers(reading: CompassReading) -> dict[str, float]:
        return {"data": reading.heading_deg}

    return context.template_encoder("smarc_msgs/FloatStamped", numbers, ("data",))


@register_factory("gps", "sensor_msgs/NavSatFix")
def fix(context: EncoderContext) -> EncodeReading:
    """Encode a position fix; without a fix the status is STATUS_NO_FIX and the position is NaN."""
    constant, name = context.codec.constant, "sensor_msgs/NavSatFix"
    service = constant("sensor_msgs/NavSatStatus", "SERVICE_GPS")
    position = ("latitude", "longitude", "altitude")
    missing = context.template(
        name,
        (),
        status={"status": constant("sensor_msgs/NavSatStatus", "STATUS_NO_FIX"), "service": service},
        **dict.fromkeys(position, math.nan),
    )

    def numbers(reading: GpsReading) -> dict[str, Any]:
        return {
            "latitude": reading.latitude_deg,
            "longitude": reading.longitude_deg,
            "altitude": reading.altitude,
            "position_covariance": reading.covariance,
        }

    return context.template_encoder(
        name,
        numbers,
        (*position, "position_covariance"),
        missing,
        status={"status": constant("sensor_msgs/NavSatStatus", "STATUS_FIX"), "service": service},
        position_covariance_type=constant(name, "COVARIANCE_TYPE_DIAGONAL_KNOWN"),
    )


@register_factory("dvl", "smarc_msgs/DVL")
def dvl(context: EncoderContext) -> EncodeReading:
    """Encode velocity and beams; invalid values have a covariance of −1, as the message definition requires."""
    settings = context.settings
    assert isinstance(settings, Dvl)
    header = context.header(0.0)
    directions = _beams(settings)
    beam_fields = ("range", "range_covariance", "velocity", "velocity_covariance")
    beams = {f"beams.{number}.{field}": (number, field) for number in range(len(directions)) for field in beam_fields}
    variances = settings.range_noise**2, settings.velocity_noise**2

    def numbers(reading: DvlReading) -> dict[str, Any]:
        valid = np.isfinite(reading.velocity.sum(axis=-1, keepdims=True))
        has_echo = np.isfinite(reading.ranges)
        found = {
            "range": np.where(has_echo, reading.ranges, -1.0),
            "range_covariance": np.where(has_echo, variances[0], -1.0),
            "velocity": np.where(has_echo, reading.beam_velocities, 0.0),
            "velocity_covariance": np.where(has_echo, variances[1], -1.0),
        }
        return {
            "velocity": np.where(valid, reading.velocity, 0.0),
            "velocity_covariance": np.where(valid[..., None], reading.covariance, -1.0),
            "altitude": np.where(np.isfinite(reading.altitude), reading.altitude, -1.0),
            **{path: found[field][..., number] for path, (number, field) in beams.items()},
        }

    return context.template_encoder(
        "smarc_msgs/DVL",
        numbers,
        ("velocity", "velocity_covariance", "altitude", *beams),
        beams=[{"pose": {"header": header, "pose": {"orientation": context.quaternion(q)}}} for q in directions],
    )


@lru_cache(64)
def _beams(settings: Dvl) -> Floats:
    """Return the orientation of each beam's frame (n, 4): its x axis points along the beam and its y axis is level."""
    x = settings.directions()
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return matrix_to_quaternion(np.stack([x, y, np.cross(x, y)], axis=-1))


@register_factory("odometry", "nav_msgs/Odometry")
@register_factory("ground_truth", "nav_msgs/Odometry")
def odometry(context: EncoderContext) -> EncodeReading:
    """Encode the pose in the map and the twist in the body axes; both are exact, so the covariances are zero."""

    def numbers(reading: OdometryReading | GroundTruthReading) -> dict[str, Floats]:
        pose, twist = reading.pose, reading.twist
        return {
            "pose.pose.position": pose.position,
            "pose.pose.orientation": pose.orientation,
            "twist.twist.linear": twist.linear,
            "twist.twist.angular": twist.angular,
        }

    return context.template_encoder(
        "nav_msgs/Odometry",
        numbers,
        ("pose.pose.position", "pose.pose.orientation", "twist.twist.linear", "twist.twist.angular"),
        header=context.header(0.0, context.map_frame),
        child_frame_id=context.frame,
    )


@register_factory("odometry", "geographic_msgs/GeoPoint")
@register_factory("ground_truth", "geographic_msgs/GeoPoint")
def geodetic_position(context: EncoderContext) -> EncodeReading:
    """Encode latitude, longitude and altitude; there is no message if the scenario has no `reference`."""
    projection = context.projection
    if projection is None:
        return lambda reading, time: None

    def numbers(reading: OdometryReading | GroundTruthReading) -> dict[str, Floats]:
        position = projection.to_geodetic(reading.pose.position)
        return {"latitude": position[..., 0], "longitude": position[..., 1], "altitude": position[..., 2]}

    return context.template_encoder("geographic_msgs/GeoPoint", numbers, ("latitude", "longitude", "altitude"))


@register_encoder("joint_states", "sensor_msgs/JointState")
def joint_states(reading: JointStatesReading | None, context: EncoderContext, time: float) -> Message | None:
    """Encode positions and velocities of joints, without efforts."""
    if reading is None:
        return None
    return context.codec.make(
        "sensor_msgs/JointState",
        header=context.header(reading.time),
        name=list(reading.names),
        position=reading.positions,
        velocity=reading.velocities,
    )


@register_encoder("encoder", "sensor_msgs/JointState")
def encoder(reading: EncoderReading | None, context: EncoderContext, time: float) -> Message | None:
    """Encode position and velocity of the encoder's joint."""
    if reading is None:
        return None
    return context.codec.make(
        "sensor_msgs/JointState",
        header=context.header(reading.time),
        name=list(context.settings.needs_joints),
        position=[reading.position],
        velocity=[reading.velocity],
    )
