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
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skerry.core.errors import SkerryError

Array: TypeAlias = NDArray[np.float64]

# ------------------------------------------------------------------------------------------------ numbers
# A formula is written once, for plain numbers and for arrays of them alike. Sensors turn one vector at a time, and for
# that numpy takes twenty times as long as plain numbers do; both round in the same way.


def _parts(values: ArrayLike) -> Any:
    """The elements along the last axis: plain numbers, or arrays where there is more than one quaternion or vector."""
    array = np.asarray(values, np.float64)
    return array.tolist() if array.ndim == 1 else [array[..., k] for k in range(array.shape[-1])]


def _join(parts: Any) -> Array:
    """An array with these elements along the last axis."""
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
    """The elements of the rotation matrix, row by row."""
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
    """The quaternion of length 1 in the same direction."""
    q = np.asarray(quaternion, np.float64)
    if q.ndim == 1:
        x, y, z, w = q.tolist()
        length = math.sqrt(x * x + y * y + z * z + w * w)
        if 0.0 < length < math.inf:
            return q / length
    lengths = np.sqrt(np.sum(q * q, axis=-1, keepdims=True))
    if not np.all(np.isfinite(lengths) & (lengths > 0.0)):
        raise SkerryError(f"a quaternion needs finite numbers that are not all 0 (found {q.tolist()})")
    return q / lengths


def multiply(first: ArrayLike, second: ArrayLike) -> Array:
    """The rotation that does the second, then the first: as with matrices."""
    return _join(_product(_parts(first), _parts(second)))


_CONJUGATE: Final = np.array([-1.0, -1.0, -1.0, 1.0])


def inverse(quaternion: ArrayLike) -> Array:
    """The rotation back."""
    return np.asarray(quaternion, np.float64) * _CONJUGATE


def rotate(quaternion: ArrayLike, vectors: ArrayLike) -> Array:
    """The vectors turned by the quaternion; one quaternion for all, or one for each."""
    return _join(_rotate(_parts(quaternion), _parts(vectors)))


def quaternion_to_matrix(quaternion: ArrayLike) -> Array:
    """The rotation matrix, shape (..., 3, 3), of a quaternion."""
    elements = _join(_matrix(_parts(quaternion)))
    return elements.reshape(*elements.shape[:-1], 3, 3)


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
    return np.pi - np.radians(wrap_degrees(np.asarray(heading_deg, np.float64) + 90.0))


def yaw_to_heading(yaw: ArrayLike) -> Array:
    """The heading, degrees clockwise from north in [0, 360), of a yaw, radians anticlockwise from east."""
    return wrap_degrees(90.0 - np.degrees(np.asarray(yaw, np.float64)))


def heading_of(east: float, north: float) -> float:
    """The heading, degrees clockwise from north in [0, 360), of a direction."""
    return wrap_heading(math.degrees(math.atan2(east, north)))


def wrap_heading(heading_deg: float) -> float:
    """The same heading in [0, 360)."""
    turned = heading_deg % 360.0
    return turned if turned < 360.0 else 0.0  # as below


def wrap_degrees(degrees: Array) -> Array:
    """The same angles in [0, 360)."""
    # The remainder of a tiny negative angle rounds to 360 itself.
    turned = np.mod(degrees, 360.0)
    return np.where(turned < 360.0, turned, 0.0)


# ------------------------------------------------------------------------------------------------ poses


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Pose:
    """Where a frame stands in another: p there = position + orientation · p here."""

    position: Array
    orientation: Array

    def __init__(self, position: ArrayLike, orientation: ArrayLike) -> None:
        object.__setattr__(self, "position", _read_only(position, (3,)))
        object.__setattr__(self, "orientation", _read_only(orientation, (4,)))

    def __matmul__(self, inner: Pose) -> Pose:
        """The pose, in this pose's outer frame, of what has the inner pose in this pose's own frame."""
        turn = self.orientation.tolist()
        x, y, z = _rotate(turn, inner.position.tolist())
        px, py, pz = self.position.tolist()
        return Pose.of((x + px, y + py, z + pz, *_product(turn, inner.orientation.tolist())))

    @classmethod
    def of(cls, numbers: ArrayLike) -> Pose:
        """The pose of seven numbers, position and orientation: quicker than by two arrays."""
        both = _read_only(numbers, (7,))
        pose = object.__new__(cls)
        object.__setattr__(pose, "position", both[:3])
        object.__setattr__(pose, "orientation", both[3:])
        return pose

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


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Twist:
    """Linear and angular velocity, m/s and rad/s, in one frame's axes."""

    linear: Array
    angular: Array

    def __init__(self, linear: ArrayLike, angular: ArrayLike) -> None:
        object.__setattr__(self, "linear", _read_only(linear, (3,)))
        object.__setattr__(self, "angular", _read_only(angular, (3,)))

    @classmethod
    def of(cls, numbers: ArrayLike) -> Twist:
        """The twist of six numbers, linear and angular: quicker than by two arrays."""
        both = _read_only(numbers, (6,))
        twist = object.__new__(cls)
        object.__setattr__(twist, "linear", both[:3])
        object.__setattr__(twist, "angular", both[3:])
        return twist

    def moved(self, arm: Array) -> Twist:
        """The twist of a point that moves with the frame, at the end of an arm from its origin: v + ω × arm, ω."""
        x, y, z = arm.tolist()
        wx, wy, wz = self.angular.tolist()
        vx, vy, vz = self.linear.tolist()
        return Twist.of((vx + (wy * z - wz * y), vy + (wz * x - wx * z), vz + (wx * y - wy * x), wx, wy, wz))


def _read_only(values: ArrayLike, shape: tuple[int]) -> Array:
    """A copy that nobody can change, of the right size."""
    array = np.array(values, np.float64)
    if array.shape != shape:
        raise SkerryError(f"needs {shape[0]} numbers, not an array of shape {array.shape}")
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
    def inverse(self) -> Axes:
        """The change the other way."""
        return Axes(self._matrix.T)

    @property
    def changes_handedness(self) -> bool:
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
    if world.changes_handedness != body.changes_handedness:
        raise SkerryError("between a left-handed and a right-handed side there is a mirror, no rotation")
    return multiply(multiply(world._rotation, quaternion), inverse(body._rotation))


def convert_pose(pose: Pose, world: Axes, body: Axes) -> Pose:
    """A pose between other world and body axes."""
    return Pose(world.vector(pose.position), convert_orientation(pose.orientation, world, body))


IDENTITY_AXES: Final = Axes(np.eye(3))

# World axes. Rows say which old axes the new ones are.
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
"""The orientation of a camera's optical frame in the FLU frame whose x axis it looks along."""
