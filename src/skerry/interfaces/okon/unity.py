"""Okoń's axes: those of Unity, x right, y up, z forward, left-handed, with Euler angles in degrees."""

from __future__ import annotations

from math import atan2, cos, degrees, hypot, radians, sin

from skerry.core.frames import (
    UNITY_TO_ENU,
    UNITY_TO_FLU,
    Array,
    Pose,
    convert_orientation,
    multiply,
    quaternion_to_matrix,
    turn_heading,
)

Triple = tuple[float, float, float]


def to_vector(values: Array) -> Triple:
    """A vector of the world, such as a velocity, in Unity's axes; plain numbers, as it is done for every packet."""
    east, north, up = values.tolist()
    return east, up, north


def to_angular(values: Array) -> Triple:
    """An angular velocity of the world: left-handed axes turn the other way. No 0 is negative."""
    east, north, up = values.tolist()
    return 0.0 - east, 0.0 - up, 0.0 - north


def to_euler(orientation: Array) -> Triple:
    """Angles x, y, z in [0, 360) of an orientation of ours: R = Ry Rx Rz in Unity's axes.

    x is the pitch, nose down positive; y the yaw, clockwise from above, 0 along z; z the roll, right side up positive.
    """
    r = quaternion_to_matrix(orientation).tolist()
    # Unity's x and z of the body's right, up and forward, and y of forward: the elements of its matrix that are needed
    right_x, right_z, up_x, up_z = -r[0][1], -r[1][1], r[0][2], r[1][2]
    forward_x, forward_y, forward_z = r[0][0], r[2][0], r[1][0]
    y = atan2(forward_x, forward_z)
    x = atan2(-forward_y, hypot(forward_x, forward_z))
    z = atan2(sin(y) * up_z - cos(y) * up_x, cos(y) * right_x - sin(y) * right_z)
    return turn_heading(degrees(x)), turn_heading(degrees(y)), turn_heading(degrees(z))


def from_euler(angles: Triple) -> Array:
    """The orientation of ours that has these angles, in degrees."""
    x, y, z = (0.5 * radians(angle) for angle in angles)
    about_x, about_y, about_z = [sin(x), 0.0, 0.0, cos(x)], [0.0, sin(y), 0.0, cos(y)], [0.0, 0.0, sin(z), cos(z)]
    return convert_orientation(multiply(multiply(about_y, about_x), about_z), UNITY_TO_ENU, UNITY_TO_FLU)


def to_pose(position: Triple, angles: Triple) -> Pose:
    """A pose of ours."""
    return Pose(UNITY_TO_ENU.vector(position), from_euler(angles))
