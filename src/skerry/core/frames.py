"""Rotations, poses, and conversions between axis conventions. Other modules do not convert axes themselves.

Skerry uses ENU in the world (x east, y north, z up), FLU in bodies (x forward, y left, z up), and unit
quaternions (x, y, z, w) that rotate body coordinates into world coordinates. Functions work on the last axis of
arrays of any shape.

Conversion to another convention: W maps Skerry's world coordinates to the other world coordinates, and B maps
Skerry's body coordinates to the other body coordinates. Both are signed permutations. A vector becomes W v or
B v. A rotation has a world side and a body side, so R becomes W R Bᵀ. If the other axes are left-handed,
det W = det B = −1, and W R Bᵀ is still a proper rotation. Its quaternion has the usual formula, but positive angles
are clockwise. Angular velocities are pseudo-vectors: they become det(W) W ω, so that v = ω × r holds on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError
from skerry.core.units import unit

Array: TypeAlias = NDArray[np.float64]

# ------------------------------------------------------------------------------------------------ numbers
# Each formula is written once and works on plain numbers and on arrays. Sensors rotate single vectors, for which plain
# numbers are twenty times as fast as numpy. Both round in the same way.


def _parts(values: ArrayLike) -> Any:
    """Return the elements along the last axis: floats for a single vector or quaternion, otherwise arrays."""
    array = np.asarray(values, np.float64)
    return array.tolist() if array.ndim == 1 else [array[..., k] for k in range(array.shape[-1])]


def _join(parts: Any) -> Array:
    """Return an array with these elements along the last axis."""
    return np.array(parts) if isinstance(parts[0], float) else np.stack(parts, axis=-1)


def _product(a: Any, b: Any) -> Any:
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _matrix(q: Any) -> Any:
    """Return the 9 elements of the rotation matrix, row by row."""
    x, y, z, w = q
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz = x * y, x * z, y * z
    xw, yw, zw = x * w, y * w, z * w
    return (
        *(1.0 - 2.0 * (yy + zz), 2.0 * (xy - zw), 2.0 * (xz + yw)),
        *(2.0 * (xy + zw), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - xw)),
        *(2.0 * (xz - yw), 2.0 * (yz + xw), 1.0 - 2.0 * (xx + yy)),
    )


def _rotate(q: Any, v: Any) -> Any:
    m00, m01, m02, m10, m11, m12, m20, m21, m22 = _matrix(q)
    x, y, z = v
    return m00 * x + m01 * y + m02 * z, m10 * x + m11 * y + m12 * z, m20 * x + m21 * y + m22 * z


# ------------------------------------------------------------------------------------------------ quaternions


def normalise(quaternion: ArrayLike) -> Array:
    """Return the quaternion scaled to length 1."""
    q = np.asarray(quaternion, np.float64)
    if q.ndim == 1:
        x, y, z, w = q.tolist()
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if 0.0 < length < math.inf:
            return q / length
    lengths = np.sqrt(np.sum(q * q, axis=-1, keepdims=True))
    if not np.all(np.isfinite(lengths) & (lengths > 0.0)):
        raise SkerryError(f"a quaternion must have finite numbers that are not all 0 (found {q.tolist()})")
    return q / lengths


def multiply(first: ArrayLike, second: ArrayLike) -> Array:
    """Return the product of two quaternions: the rotation by `second`, followed by the rotation by `first`."""
    return _join(_product(_parts(first), _parts(second)))


_CONJUGATE: Final = np.array([-1.0, -1.0, -1.0, 1.0])


def inverse(quaternion: ArrayLike) -> Array:
    """Return the inverse rotation."""
    return np.asarray(quaternion, np.float64) * _CONJUGATE


def rotate(quaternion: ArrayLike, vectors: ArrayLike) -> Array:
    """Return the vectors rotated by a quaternion; one quaternion for all vectors, or one per vector."""
    return _join(_rotate(_parts(quaternion), _parts(vectors)))


def quaternion_to_matrix(quaternion: ArrayLike) -> Array:
    """Return the rotation matrix, shape (..., 3, 3), of a quaternion."""
    elements = _join(_matrix(_parts(quaternion)))
    return elements.reshape(*elements.shape[:-1], 3, 3)


def matrix_to_quaternion(matrix: ArrayLike) -> Array:
    """Return the quaternion with w ≥ 0 of a rotation matrix, shape (..., 3, 3)."""
    m = np.asarray(matrix, np.float64)
    # Four times the outer product q qᵀ: each row is q times one of its elements. The longest row is the most accurate.
    rows = np.empty((*m.shape[:-2], 4, 4))
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    rows[..., 0, 0] = 1.0 + xx - yy - zz
    rows[..., 1, 1] = 1.0 - xx + yy - zz
    rows[..., 2, 2] = 1.0 - xx - yy + zz
    rows[..., 3, 3] = 1.0 + xx + yy + zz
    rows[..., 0, 1] = rows[..., 1, 0] = m[..., 1, 0] + m[..., 0, 1]
    rows[..., 0, 2] = rows[..., 2, 0] = m[..., 2, 0] + m[..., 0, 2]
    rows[..., 1, 2] = rows[..., 2, 1] = m[..., 2, 1] + m[..., 1, 2]
    rows[..., 0, 3] = rows[..., 3, 0] = m[..., 2, 1] - m[..., 1, 2]
    rows[..., 1, 3] = rows[..., 3, 1] = m[..., 0, 2] - m[..., 2, 0]
    rows[..., 2, 3] = rows[..., 3, 2] = m[..., 1, 0] - m[..., 0, 1]
    longest = np.argmax(rows.diagonal(axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(rows, longest[..., None, None], axis=-2)[..., 0, :]
    return normalise(np.where(row[..., 3:] < 0.0, -row, row))


def rpy_to_quaternion(rpy: ArrayLike) -> Array:
    """Return the quaternion of roll, pitch and yaw in radians: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    half = np.asarray(rpy, np.float64) / 2.0
    sr, sp, sy = _parts(np.sin(half))
    cr, cp, cy = _parts(np.cos(half))
    return _join(
        (
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        )
    )


def quaternion_to_rpy(quaternion: ArrayLike) -> Array:
    """Return roll, pitch and yaw in radians, with the pitch from −π/2 to π/2.

    At a pitch of ±π/2 only the sum or the difference of roll and yaw is defined. Roll is computed from the yaw, so
    that the angles give the same rotation there too.
    """
    m = quaternion_to_matrix(quaternion)
    yaw = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-m[..., 2, 0], c * m[..., 0, 0] + s * m[..., 1, 0])
    roll = np.arctan2(s * m[..., 0, 2] - c * m[..., 1, 2], c * m[..., 1, 1] - s * m[..., 0, 1])
    return np.stack((roll, pitch, yaw), axis=-1)


# ------------------------------------------------------------------------------------------------ headings


def heading_to_yaw(heading_deg: ArrayLike) -> Array:
    """Return the yaw, radians anticlockwise from east in (−π, π], of a heading, degrees clockwise from north."""
    return np.pi - np.radians(wrap_degrees(np.asarray(heading_deg, np.float64) + 90.0))


def yaw_to_heading(yaw: ArrayLike) -> Array:
    """Return the heading, degrees clockwise from north in [0, 360), of a yaw, radians anticlockwise from east."""
    return wrap_degrees(90.0 - np.degrees(np.asarray(yaw, np.float64)))


def heading_of(east: float, north: float) -> float:
    """Return the heading, degrees clockwise from north in [0, 360), of a horizontal direction."""
    return wrap_heading(math.degrees(math.atan2(east, north)))


def wrap_heading(heading_deg: float) -> float:
    """Return the same heading in [0, 360)."""
    wrapped = heading_deg % 360.0
    return wrapped if wrapped < 360.0 else 0.0  # the remainder of a tiny negative angle rounds to 360


def wrap_degrees(degrees: Array) -> Array:
    """Return the same angles in [0, 360)."""
    wrapped = np.mod(degrees, 360.0)
    return np.where(wrapped < 360.0, wrapped, 0.0)  # the remainder of a tiny negative angle rounds to 360


# ------------------------------------------------------------------------------------------------ poses


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Pose:
    """Pose of an inner frame in an outer frame: p_outer = position + orientation · p_inner."""

    position: Array = unit("m")
    orientation: Array = unit("")

    def __init__(self, position: ArrayLike, orientation: ArrayLike) -> None:
        object.__setattr__(self, "position", _read_only(position, (3,)))
        object.__setattr__(self, "orientation", _read_only(orientation, (4,)))

    def __matmul__(self, inner: Pose) -> Pose:
        """Return the composed pose: `inner` is given in this pose's inner frame, the result in its outer frame."""
        turn = self.orientation.tolist()
        x, y, z = _rotate(turn, inner.position.tolist())
        px, py, pz = self.position.tolist()
        return Pose.of((x + px, y + py, z + pz, *_product(turn, inner.orientation.tolist())))

    @classmethod
    def of(cls, numbers: ArrayLike) -> Pose:
        """Return the pose of seven numbers, position and orientation; faster than the constructor."""
        both = _read_only(numbers, (7,))
        pose = object.__new__(cls)
        object.__setattr__(pose, "position", both[:3])
        object.__setattr__(pose, "orientation", both[3:])
        return pose

    @classmethod
    def identity(cls) -> Pose:
        """Return the pose of a frame in itself: no translation, no rotation."""
        return cls(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))

    @property
    def rotation(self) -> Array:
        """Orientation as a 3×3 matrix."""
        return quaternion_to_matrix(self.orientation)

    def inverse(self) -> Pose:
        """Return the pose of the outer frame in the inner frame."""
        back = inverse(self.orientation)
        return Pose(-rotate(back, self.position), back)

    def transform(self, points: ArrayLike) -> Array:
        """Return points of the inner frame in coordinates of the outer frame."""
        return rotate(self.orientation, points) + self.position


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Twist:
    """Linear and angular velocity, m/s and rad/s, both in the axes of the same frame."""

    linear: Array = unit("m/s")
    angular: Array = unit("rad/s")

    def __init__(self, linear: ArrayLike, angular: ArrayLike) -> None:
        object.__setattr__(self, "linear", _read_only(linear, (3,)))
        object.__setattr__(self, "angular", _read_only(angular, (3,)))

    @classmethod
    def of(cls, numbers: ArrayLike) -> Twist:
        """Return the twist of six numbers, linear and angular; faster than the constructor."""
        both = _read_only(numbers, (6,))
        twist = object.__new__(cls)
        object.__setattr__(twist, "linear", both[:3])
        object.__setattr__(twist, "angular", both[3:])
        return twist


def _read_only(values: ArrayLike, shape: tuple[int]) -> Array:
    """Return a read-only copy; raise `SkerryError` if its shape is wrong."""
    array = np.array(values, np.float64)
    if array.shape != shape:
        raise SkerryError(f"expected {shape[0]} numbers, found an array of shape {array.shape}")
    array.setflags(write=False)
    return array


# ------------------------------------------------------------------------------------------------ conventions


class Axes:
    """Conversion between two sets of axes. Each new axis is an old axis or its opposite."""

    __slots__ = ("_matrix", "_rotation", "_sign")

    def __init__(self, matrix: ArrayLike) -> None:
        self._matrix = np.array(matrix, np.float64)
        self._sign = round(float(np.linalg.det(self._matrix)))
        self._rotation = matrix_to_quaternion(self._sign * self._matrix)

    @property
    def inverse(self) -> Axes:
        """Conversion in the opposite direction."""
        return Axes(self._matrix.T)

    @property
    def changes_handedness(self) -> bool:
        """True if one side is left-handed and the other right-handed."""
        return self._sign < 0

    def vector(self, vectors: ArrayLike) -> Array:
        """Convert points, linear velocities or forces."""
        return np.asarray(vectors, np.float64) @ self._matrix.T

    def angular(self, vectors: ArrayLike) -> Array:
        """Convert angular velocities or torques: pseudo-vectors, whose sign also changes with the handedness."""
        return self.vector(vectors) * float(self._sign)

    def twist(self, twist: Twist) -> Twist:
        """Convert a twist."""
        return Twist(self.vector(twist.linear), self.angular(twist.angular))


def convert_orientation(quaternion: ArrayLike, world: Axes, body: Axes) -> Array:
    """Convert an orientation to other world and body axes, W R Bᵀ.

    Raises:
        SkerryError: Only one of the two conversions changes the handedness.
    """
    if world.changes_handedness != body.changes_handedness:
        raise SkerryError(
            "world and body axes must both change the handedness or neither; otherwise the result is a mirror image"
        )
    return multiply(multiply(world._rotation, quaternion), inverse(body._rotation))


def convert_pose(pose: Pose, world: Axes, body: Axes) -> Pose:
    """Convert a pose to other world and body axes."""
    return Pose(world.vector(pose.position), convert_orientation(pose.orientation, world, body))


IDENTITY_AXES: Final = Axes(np.eye(3))

# World axes. Each row is a new axis in terms of the old axes.
ENU_TO_NED: Final = Axes([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
NED_TO_ENU: Final = ENU_TO_NED.inverse
ENU_TO_NWU: Final = Axes([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
NWU_TO_ENU: Final = ENU_TO_NWU.inverse
# Unity: x east, y up, z north; left-handed.
ENU_TO_UNITY: Final = Axes([[1, 0, 0], [0, 0, 1], [0, 1, 0]])
UNITY_TO_ENU: Final = ENU_TO_UNITY.inverse

# Body axes.
FLU_TO_FRD: Final = Axes([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
FRD_TO_FLU: Final = FLU_TO_FRD.inverse
# Unity: x right, y up, z forward; left-handed.
FLU_TO_UNITY: Final = Axes([[0, -1, 0], [0, 0, 1], [1, 0, 0]])
UNITY_TO_FLU: Final = FLU_TO_UNITY.inverse
# Cameras (ROS REP 103, "optical" frames): x right, y down, z forward.
FLU_TO_OPTICAL: Final = Axes([[0, -1, 0], [0, 0, -1], [1, 0, 0]])
OPTICAL_TO_FLU: Final = FLU_TO_OPTICAL.inverse

OPTICAL_IN_BODY: Final = matrix_to_quaternion([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])
"""Orientation of a camera's optical frame in the camera's FLU frame, whose x axis is the viewing direction."""
