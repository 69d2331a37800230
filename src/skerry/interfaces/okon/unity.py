"""Conversion to Okoń's axes: those of Unity, x right, y up, z forward, left-handed, with Euler angles in degrees."""

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
    wrap_heading,
)

Triple = tuple[float, float, float]


def to_vector(values: Array) -> Triple:
    """Convert a vector of the world, (3,) ENU, such as a velocity, to Unity's axes.

    Plain numbers are used instead of arrays, because every packet needs this.
    """
    east, north, up = values.tolist()
    return east, up, north


def to_angular(values: Array) -> Triple:
    """Convert an angular velocity, (3,) ENU, to Unity's axes, whose rotations are left-handed; -0.0 becomes 0.0."""
    east, north, up = values.tolist()
    return 0.0 - east, 0.0 - up, 0.0 - north


def to_euler(orientation: Array) -> Triple:
    """Convert a quaternion, (4,) FLU to ENU, to Unity's Euler angles x, y, z in [0, 360)°, where R = Ry Rx Rz.

    x is the pitch, positive with the nose down. y is the yaw, clockwise seen from above, 0 along Unity's z. z is the
    roll, positive with the right side up.
    """
    r = quaternion_to_matrix(orientation).tolist()
    # The needed elements of Unity's matrix: x and z of the body's right, up and forward axes, and y of forward.
    right_x, right_z, up_x, up_z = -r[0][1], -r[1][1], r[0][2], r[1][2]
    forward_x, forward_y, forward_z = r[0][0], r[2][0], r[1][0]
    y = atan2(forward_x, forward_z)
    x = atan2(-forward_y, hypot(forward_x, forward_z))
    z = atan2(sin(y) * up_z - cos(y) * up_x, cos(y) * right_x - sin(y) * right_z)
    return wrap_heading(degrees(x)), wrap_heading(degrees(y)), wrap_heading(degrees(z))


def from_euler(angles: Triple) -> Array:
    """Convert Unity's Euler angles, °, to a quaternion, (4,) FLU to ENU."""
    x, y, z = (0.5 * radians(angle) for angle in angles)
    about_x, about_y, about_z = [sin(x), 0.0, 0.0, cos(x)], [0.0, sin(y), 0.0, cos(y)], [0.0, 0.0, sin(z), cos(z)]
    return convert_orientation(multiply(multiply(about_y, about_x), about_z), UNITY_TO_ENU, UNITY_TO_FLU)


def to_pose(position: Triple, angles: Triple) -> Pose:
    """Convert a position, m, and Euler angles, °, in Unity's axes to a pose in Skerry's axes."""
    return Pose(UNITY_TO_ENU.vector(position), from_euler(angles))
