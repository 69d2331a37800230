"""Okoń's axes: those of Unity, x right, y up, z forward, left-handed, with Euler angles in degrees."""

from __future__ import annotations

from math import atan2, cos, degrees, hypot, radians, sin

from skerry.core.frames import (
    ENU_TO_UNITY,
    FLU_TO_UNITY,
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


def to_euler(orientation: Array) -> Triple:
    """Angles x, y, z in [0, 360) of an orientation of ours: R = Ry Rx Rz in Unity's axes.

    x is the pitch, nose down positive; y the yaw, clockwise from above, 0 along z; z the roll, right side up positive.
    """
    m = quaternion_to_matrix(convert_orientation(orientation, ENU_TO_UNITY, FLU_TO_UNITY)).tolist()
    y = atan2(m[0][2], m[2][2])
    x = atan2(-m[1][2], hypot(m[0][2], m[2][2]))
    z = atan2(sin(y) * m[2][1] - cos(y) * m[0][1], cos(y) * m[0][0] - sin(y) * m[2][0])
    return turn_heading(degrees(x)), turn_heading(degrees(y)), turn_heading(degrees(z))


def from_euler(angles: Triple) -> Array:
    """The orientation of ours that has these angles, in degrees."""
    x, y, z = (0.5 * radians(angle) for angle in angles)
    about_x, about_y, about_z = [sin(x), 0.0, 0.0, cos(x)], [0.0, sin(y), 0.0, cos(y)], [0.0, 0.0, sin(z), cos(z)]
    return convert_orientation(multiply(multiply(about_y, about_x), about_z), UNITY_TO_ENU, UNITY_TO_FLU)


def to_pose(position: Triple, angles: Triple) -> Pose:
    """A pose of ours."""
    return Pose(UNITY_TO_ENU.vector(position), from_euler(angles))
