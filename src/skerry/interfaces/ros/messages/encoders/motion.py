"""Encoders of motion and position: GPS, DVL, odometry, ground truth and joints."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from skerry.core.frames import matrix_to_quaternion
from skerry.interfaces.ros.messages.codec import Message
from skerry.interfaces.ros.messages.encoders import (
    Encoder,
    EncoderContext,
    ObjectEncoder,
    TemplateEncoder,
    register_encoder,
    register_factory,
)
from skerry.parts.readings import Readings
from skerry.sensors.dvl import Dvl, DvlReading
from skerry.sensors.encoder import EncoderReading
from skerry.sensors.gps import GpsReading
from skerry.sensors.ground_truth import GroundTruthReading
from skerry.sensors.joint_states import JointStatesReading
from skerry.sensors.odometry import OdometryReading

Floats: TypeAlias = NDArray[np.float64]


@register_factory("gps", "sensor_msgs/NavSatFix")
def fix(context: EncoderContext) -> Encoder:
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
    template = context.template(
        name,
        (*position, "position_covariance"),
        status={"status": constant("sensor_msgs/NavSatStatus", "STATUS_FIX"), "service": service},
        position_covariance_type=constant(name, "COVARIANCE_TYPE_DIAGONAL_KNOWN"),
    )

    def columns(readings: Readings[GpsReading]) -> dict[str, Any]:
        return {
            "latitude": readings.latitude_deg,
            "longitude": readings.longitude_deg,
            "altitude": readings.altitude,
            "position_covariance": readings.covariance,
        }

    return TemplateEncoder(template, columns, missing)


@register_factory("dvl", "smarc_msgs/DVL")
def dvl(context: EncoderContext) -> Encoder:
    """Encode velocity and beams; invalid values have a covariance of −1, as the message definition requires."""
    settings = context.settings
    assert isinstance(settings, Dvl)
    header, quaternion = context.header(0.0), context.codec.type("geometry_msgs/msg/Quaternion")
    directions = _beams(settings)
    beam_fields = ("range", "range_covariance", "velocity", "velocity_covariance")
    beams = {f"beams.{number}.{field}": (number, field) for number in range(len(directions)) for field in beam_fields}
    range_variance, velocity_variance = settings.range_noise**2, settings.velocity_noise**2
    template = context.template(
        "smarc_msgs/DVL",
        ("velocity", "velocity_covariance", "altitude", *beams),
        beams=[{"pose": {"header": header, "pose": {"orientation": quaternion(*q)}}} for q in directions.tolist()],
    )

    def columns(readings: Readings[DvlReading]) -> dict[str, Any]:
        valid = np.isfinite(readings.velocity.sum(axis=-1, keepdims=True))
        has_echo = np.isfinite(readings.ranges)
        found = {
            "range": np.where(has_echo, readings.ranges, -1.0),
            "range_covariance": np.where(has_echo, range_variance, -1.0),
            "velocity": np.where(has_echo, readings.beam_velocities, 0.0),
            "velocity_covariance": np.where(has_echo, velocity_variance, -1.0),
        }
        return {
            "velocity": np.where(valid, readings.velocity, 0.0),
            "velocity_covariance": np.where(valid[..., None], readings.covariance, -1.0),
            "altitude": np.where(np.isfinite(readings.altitude), readings.altitude, -1.0),
            **{path: found[field][:, number] for path, (number, field) in beams.items()},
        }

    return TemplateEncoder(template, columns)


def _beams(settings: Dvl) -> Floats:
    """Return the orientation of each beam's frame (n, 4): its x axis points along the beam and its y axis is level."""
    x = settings.directions()
    y = np.cross([0.0, 0.0, 1.0], x)
    y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return matrix_to_quaternion(np.stack([x, y, np.cross(x, y)], axis=-1))


@register_factory("odometry", "nav_msgs/Odometry")
@register_factory("ground_truth", "nav_msgs/Odometry")
def odometry(context: EncoderContext) -> Encoder:
    """Encode the pose in the map and the twist in the body axes; both are exact, so the covariances are zero."""
    template = context.template(
        "nav_msgs/Odometry",
        ("pose.pose.position", "pose.pose.orientation", "twist.twist.linear", "twist.twist.angular"),
        header=context.header(0.0, context.map_frame),
        child_frame_id=context.frame,
    )

    def columns(readings: Readings[OdometryReading | GroundTruthReading]) -> dict[str, Floats]:
        pose, twist = readings.pose, readings.twist
        return {
            "pose.pose.position": pose.position,
            "pose.pose.orientation": pose.orientation,
            "twist.twist.linear": twist.linear,
            "twist.twist.angular": twist.angular,
        }

    return TemplateEncoder(template, columns)


@register_factory("odometry", "geographic_msgs/GeoPoint")
@register_factory("ground_truth", "geographic_msgs/GeoPoint")
def geodetic_position(context: EncoderContext) -> Encoder:
    """Encode latitude, longitude and altitude; there is no message if the scenario has no `reference`."""
    projection = context.projection
    if projection is None:
        return ObjectEncoder(context, lambda reading, context: None)

    def columns(readings: Readings[OdometryReading | GroundTruthReading]) -> dict[str, Floats]:
        position = projection.to_geodetic(readings.pose.position)
        return {"latitude": position[:, 0], "longitude": position[:, 1], "altitude": position[:, 2]}

    template = context.template("geographic_msgs/GeoPoint", ("latitude", "longitude", "altitude"))
    return TemplateEncoder(template, columns)


@register_encoder("joint_states", "sensor_msgs/JointState")
def joint_states(reading: JointStatesReading, context: EncoderContext) -> Message:
    """Encode positions and velocities of joints, without efforts."""
    return context.codec.make(
        "sensor_msgs/JointState",
        header=context.header(reading.time),
        name=list(reading.names),
        position=reading.positions,
        velocity=reading.velocities,
    )


@register_encoder("encoder", "sensor_msgs/JointState")
def encoder(reading: EncoderReading, context: EncoderContext) -> Message:
    """Encode position and velocity of the encoder's joint."""
    return context.codec.make(
        "sensor_msgs/JointState",
        header=context.header(reading.time),
        name=list(context.settings.needs_joints),
        position=[reading.position],
        velocity=[reading.velocity],
    )
