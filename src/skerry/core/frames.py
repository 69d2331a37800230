"""Rotations, poses, and the one place where other conventions of axes are turned into ours.

Ours: world ENU (x east, y north, z up), body FLU (x forward, y left, z up), quaternions (x, y, z, w) of
length 1 that take body coordinates to world coordinates. Functions work on the last axis of any arrays.

How a convention is changed: let W take our world coordinates to theirs and B our body coordinates to theirs;
both are signed permutations. A vector becomes W v or B v. A rotation has a world side and a body side, so R
becomes W R Bᵀ. Where their axes are left-handed, det W = det B = −1 and W R Bᵀ is a proper rotation again;
its quaternion has the same formula as ever, and turns clockwise because the axes do. Angular velocities are
pseudo-vectors: they become det(W) W ω, so that v = ω × r holds, with the same formula, on both sides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError

Array: TypeAlias = NDArray[np.float64]

# ------------------------------------------------------------------------------------------------ quaternions


def normalise(quaternion: ArrayLike) -> Array:
    """The quaternion of length 1 in the same direction."""
    q = np.asarray(quaternion, np.float64)
    length = np.sqrt(np.sum(q * q, axis=-1, keepdims=True))
    if not np.all(np.isfinite(length) & (length > 0.0)):
        raise SkerryError(f"a quaternion needs finite numbers that are not all 0 (found {q.tolist()})")
    return q / length


def multiply(first: ArrayLike, second: ArrayLike) -> Array:
    """The rotation that does the second, then the first: as with matrices."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape == b.shape == (4,):
        return np.array(_multiply_one(a.tolist(), b.tolist()))
    ax, ay, az, aw = a[..., 0], a[..., 1], a[..., 2], a[..., 3]
    bx, by, bz, bw = b[..., 0], b[..., 1], b[..., 2], b[..., 3]
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    product[..., 0] = aw * bx + ax * bw + ay * bz - az * by
    product[..., 1] = aw * by - ax * bz + ay * bw + az * bx
    product[..., 2] = aw * bz + ax * by - ay * bx + az * bw
    product[..., 3] = aw * bw - ax * bx - ay * by - az * bz
    return product


def _multiply_one(a: list[float], b: list[float]) -> list[float]:
    """`multiply` of two quaternions: the same bits, without what numpy costs for few numbers."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]


def inverse(quaternion: ArrayLike) -> Array:
    """The rotation back."""
    return np.asarray(quaternion, np.float64) * _CONJUGATE


_CONJUGATE: Final = np.array([-1.0, -1.0, -1.0, 1.0])


def rotate(quaternion: ArrayLike, vectors: ArrayLike) -> Array:
    """The vectors turned by the quaternion; one quaternion for all, or one for each."""
    q, v = np.asarray(quaternion, np.float64), np.asarray(vectors, np.float64)
    if q.shape == (4,) and v.shape == (3,):
        return np.array(_rotate_one(q.tolist(), v.tolist()))
    m = quaternion_to_matrix(q)
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    turned = np.empty(np.broadcast_shapes(m.shape[:-1], v.shape))
    turned[..., 0] = m[..., 0, 0] * x + m[..., 0, 1] * y + m[..., 0, 2] * z
    turned[..., 1] = m[..., 1, 0] * x + m[..., 1, 1] * y + m[..., 1, 2] * z
    turned[..., 2] = m[..., 2, 0] * x + m[..., 2, 1] * y + m[..., 2, 2] * z
    return turned


def _rotate_one(q: list[float], v: list[float]) -> list[float]:
    """`rotate` of one vector: the same bits, without what numpy costs for few numbers."""
    x, y, z, w = q
    a, b, c = v
    return [
        (1.0 - 2.0 * (y * y + z * z)) * a + 2.0 * (x * y - z * w) * b + 2.0 * (x * z + y * w) * c,
        2.0 * (x * y + z * w) * a + (1.0 - 2.0 * (x * x + z * z)) * b + 2.0 * (y * z - x * w) * c,
        2.0 * (x * z - y * w) * a + 2.0 * (y * z + x * w) * b + (1.0 - 2.0 * (x * x + y * y)) * c,
    ]


def cross(first: Array, second: Array) -> Array:
    """The cross product of two vectors (3,); numpy's own costs ten times as much for one."""
    a, b, c = first.tolist()
    x, y, z = second.tolist()
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def quaternion_to_matrix(quaternion: ArrayLike) -> Array:
    """The rotation matrix, shape (..., 3, 3), of a quaternion."""
    q = np.asarray(quaternion, np.float64)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    matrix = np.empty((*q.shape[:-1], 3, 3))
    matrix[..., 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrix[..., 0, 1] = 2.0 * (x * y - z * w)
    matrix[..., 0, 2] = 2.0 * (x * z + y * w)
    matrix[..., 1, 0] = 2.0 * (x * y + z * w)
    matrix[..., 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrix[..., 1, 2] = 2.0 * (y * z - x * w)
    matrix[..., 2, 0] = 2.0 * (x * z - y * w)
    matrix[..., 2, 1] = 2.0 * (y * z + x * w)
    matrix[..., 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    return matrix


def matrix_to_quaternion(matrix: ArrayLike) -> Array:
    """The quaternion of a rotation matrix, shape (..., 3, 3); of the two there are, the one with w ≥ 0."""
    m = np.asarray(matrix, np.float64)
    # Four times the outer product q qᵀ: each row is q times one of its elements. The longest row loses least.
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
    """The quaternion of roll, pitch and yaw in radians: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    half = np.asarray(rpy, np.float64) / 2.0
    sr, sp, sy = np.moveaxis(np.sin(half), -1, 0)
    cr, cp, cy = np.moveaxis(np.cos(half), -1, 0)
    return np.stack(
        (
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ),
        axis=-1,
    )


def quaternion_to_rpy(quaternion: ArrayLike) -> Array:
    """Roll, pitch and yaw in radians, the pitch from −π/2 to π/2.

    Where the nose points straight up or down, only the sum or difference of roll and yaw has a meaning. Roll
    is found with yaw given, so that the angles give the same rotation back there too.
    """
    m = quaternion_to_matrix(quaternion)
    yaw = np.arctan2(m[..., 1, 0], m[..., 0, 0])
    s, c = np.sin(yaw), np.cos(yaw)
    pitch = np.arctan2(-m[..., 2, 0], c * m[..., 0, 0] + s * m[..., 1, 0])
    roll = np.arctan2(s * m[..., 0, 2] - c * m[..., 1, 2], c * m[..., 1, 1] - s * m[..., 0, 1])
    return np.stack((roll, pitch, yaw), axis=-1)


# ------------------------------------------------------------------------------------------------ headings


def heading_to_yaw(heading_deg: ArrayLike) -> Array:
    """The yaw, radians anticlockwise from east in (−π, π], of a heading, degrees clockwise from north."""
    return np.pi - np.radians(_in_one_turn(np.asarray(heading_deg, np.float64) + 90.0))


def yaw_to_heading(yaw: ArrayLike) -> Array:
    """The heading, degrees clockwise from north in [0, 360), of a yaw, radians anticlockwise from east."""
    return _in_one_turn(90.0 - np.degrees(np.asarray(yaw, np.float64)))


def heading_of(east: float, north: float) -> float:
    """The heading, degrees clockwise from north in [0, 360), of a direction."""
    return turn_heading(math.degrees(math.atan2(east, north)))


def turn_heading(heading_deg: float) -> float:
    """The same heading in [0, 360)."""
    turned = heading_deg % 360.0
    return turned if turned < 360.0 else 0.0  # as below


def _in_one_turn(degrees: Array) -> Array:
    # The remainder of a tiny negative angle rounds to 360 itself.
    turned = np.mod(degrees, 360.0)
    return np.where(turned < 360.0, turned, 0.0)


# ------------------------------------------------------------------------------------------------ poses


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Where a frame stands in another: p there = position + orientation · p here."""

    position: Array
    orientation: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", _fixed(self.position, 3))
        object.__setattr__(self, "orientation", _fixed(self.orientation, 4))

    def __matmul__(self, inner: Pose) -> Pose:
        """The pose, in this pose's outer frame, of what has the inner pose in this pose's own frame."""
        return compose(self.position.tolist(), self.orientation.tolist(), inner)

    @classmethod
    def identity(cls) -> Pose:
        """The pose of a frame in itself."""
        return cls(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))

    @property
    def rotation(self) -> Array:
        """The orientation as a 3×3 matrix."""
        return quaternion_to_matrix(self.orientation)

    def inverse(self) -> Pose:
        """Where the other frame stands in this one."""
        back = inverse(self.orientation)
        return Pose(-rotate(back, self.position), back)

    def transform(self, points: ArrayLike) -> Array:
        """Points given in this frame, in the other."""
        return rotate(self.orientation, points) + self.position


@dataclass(frozen=True, slots=True, eq=False)
class Twist:
    """Linear and angular velocity, m/s and rad/s, in one frame's axes."""

    linear: Array
    angular: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "linear", _fixed(self.linear, 3))
        object.__setattr__(self, "angular", _fixed(self.angular, 3))


def compose(position: list[float], orientation: list[float], inner: Pose) -> Pose:
    """Where a frame stands that has the inner pose in a frame of this position and orientation."""
    x, y, z = _rotate_one(orientation, inner.position.tolist())
    place = np.array([x + position[0], y + position[1], z + position[2]])
    turned = np.array(_multiply_one(orientation, inner.orientation.tolist()))
    place.setflags(write=False)
    turned.setflags(write=False)
    pose = Pose.__new__(Pose)  # of new arrays of the right size, which need neither copies nor checks
    object.__setattr__(pose, "position", place)
    object.__setattr__(pose, "orientation", turned)
    return pose


def _fixed(values: ArrayLike, size: int) -> Array:
    """A copy that nobody can change, of the right size."""
    array = np.array(values, np.float64)
    if array.shape != (size,):
        raise SkerryError(f"needs {size} numbers, not an array of shape {array.shape}")
    array.setflags(write=False)
    return array


# ------------------------------------------------------------------------------------------------ conventions


class Axes:
    """A change from one set of axes to another, each new axis being an old one or its reverse."""

    __slots__ = ("_matrix", "_rotation", "_sign")

    def __init__(self, matrix: ArrayLike) -> None:
        self._matrix = np.array(matrix, np.float64)
        self._sign = round(float(np.linalg.det(self._matrix)))
        self._rotation = matrix_to_quaternion(self._sign * self._matrix)

    @property
    def back(self) -> Axes:
        """The change the other way."""
        return Axes(self._matrix.T)

    @property
    def mirrors(self) -> bool:
        """Whether one side is left-handed and the other right-handed."""
        return self._sign < 0

    def vector(self, vectors: ArrayLike) -> Array:
        """Points, velocities, forces: whatever has a direction and no sense of turning."""
        return np.asarray(vectors, np.float64) @ self._matrix.T

    def angular(self, vectors: ArrayLike) -> Array:
        """Angular velocities and torques: pseudo-vectors, which also change sign with the handedness."""
        return self.vector(vectors) * float(self._sign)

    def twist(self, twist: Twist) -> Twist:
        """Both parts of a twist."""
        return Twist(self.vector(twist.linear), self.angular(twist.angular))


def convert_orientation(quaternion: ArrayLike, world: Axes, body: Axes) -> Array:
    """An orientation between other world and body axes, W R Bᵀ; both sides change handedness, or neither."""
    if world.mirrors != body.mirrors:
        raise SkerryError("between a left-handed and a right-handed side there is a mirror, no rotation")
    return multiply(multiply(world._rotation, quaternion), inverse(body._rotation))


def convert_pose(pose: Pose, world: Axes, body: Axes) -> Pose:
    """A pose between other world and body axes."""
    return Pose(world.vector(pose.position), convert_orientation(pose.orientation, world, body))


SAME: Final = Axes(np.eye(3))

# World axes. Rows say which old axes the new ones are.
ENU_TO_NED: Final = Axes([[0, 1, 0], [1, 0, 0], [0, 0, -1]])
NED_TO_ENU: Final = ENU_TO_NED.back
ENU_TO_NWU: Final = Axes([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
NWU_TO_ENU: Final = ENU_TO_NWU.back
# Unity: x east, y up, z north; left-handed.
ENU_TO_UNITY: Final = Axes([[1, 0, 0], [0, 0, 1], [0, 1, 0]])
UNITY_TO_ENU: Final = ENU_TO_UNITY.back

# Body axes.
FLU_TO_FRD: Final = Axes([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
FRD_TO_FLU: Final = FLU_TO_FRD.back
# Unity: x right, y up, z forward; left-handed.
FLU_TO_UNITY: Final = Axes([[0, -1, 0], [0, 0, 1], [1, 0, 0]])
UNITY_TO_FLU: Final = FLU_TO_UNITY.back
# Cameras (ROS REP 103, "optical" frames): x right, y down, z forward.
FLU_TO_OPTICAL: Final = Axes([[0, -1, 0], [0, 0, -1], [1, 0, 0]])
OPTICAL_TO_FLU: Final = FLU_TO_OPTICAL.back

OPTICAL_IN_BODY: Final = matrix_to_quaternion([[0, 0, 1], [-1, 0, 0], [0, -1, 0]])
"""The orientation of a camera's optical frame in the FLU frame whose x axis it looks along."""
