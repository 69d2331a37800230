"""Rotations compared with scipy, and axis conventions checked by directions such as north and by signs of rotation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from skerry.core import frames
from skerry.core.errors import SkerryError
from skerry.core.frames import Axes, Pose, Twist

Array = NDArray[np.float64]

numbers = st.floats(-1000.0, 1000.0)
vectors = st.tuples(*[numbers] * 3).map(np.array)
components = st.floats(-1.0, 1.0)
quaternions = st.tuples(*[components] * 4).map(np.array).filter(lambda q: q @ q > 0.01).map(frames.normalise)
angles = st.floats(-math.pi, math.pi)
pitches = st.floats(-1.57, 1.57)

WORLD_AND_BODY = {
    "NED and FRD": (frames.ENU_TO_NED, frames.FLU_TO_FRD),
    "Unity": (frames.ENU_TO_UNITY, frames.FLU_TO_UNITY),
    "north-west-up and FLU": (frames.ENU_TO_NWU, frames.IDENTITY_AXES),
    "ENU and optical": (frames.IDENTITY_AXES, frames.FLU_TO_OPTICAL),
}
EVERY_CONVENTION = pytest.mark.parametrize(("world", "body"), WORLD_AND_BODY.values(), ids=WORLD_AND_BODY)
EVERY_PAIR = pytest.mark.parametrize(
    ("there", "back"),
    [
        (frames.ENU_TO_NED, frames.NED_TO_ENU),
        (frames.ENU_TO_NWU, frames.NWU_TO_ENU),
        (frames.ENU_TO_UNITY, frames.UNITY_TO_ENU),
        (frames.FLU_TO_FRD, frames.FRD_TO_FLU),
        (frames.FLU_TO_UNITY, frames.UNITY_TO_FLU),
        (frames.FLU_TO_OPTICAL, frames.OPTICAL_TO_FLU),
    ],
)

A_FEW = settings(max_examples=20)
"""Identities of smooth functions need few examples each; half turns and vertical noses have tests of their own."""

EAST, NORTH, UP = np.eye(3)
FORWARD, LEFT, TOP = np.eye(3)


def assert_same_rotation(first: Array, second: Array, tolerance: float = 1e-12) -> None:
    """q and −q are one rotation."""
    assert_allclose(frames.quaternion_to_matrix(first), frames.quaternion_to_matrix(second), atol=tolerance)


def facing(heading_deg: float) -> Array:
    return frames.rpy_to_quaternion([0.0, 0.0, float(frames.heading_to_yaw(heading_deg))])


# ------------------------------------------------------------------------------------------------ quaternions


@A_FEW
@given(quaternions, quaternions, vectors)
def test_quaternions_multiply_and_rotate_as_scipys(a: Array, b: Array, v: Array) -> None:
    assert_allclose(frames.rotate(a, v), Rotation.from_quat(a).apply(v), atol=1e-9)
    product = frames.multiply(a, b)
    assert_allclose(frames.rotate(product, v), frames.rotate(a, frames.rotate(b, v)), atol=1e-9)
    assert_same_rotation(product, (Rotation.from_quat(a) * Rotation.from_quat(b)).as_quat())


@A_FEW
@given(quaternions)
def test_a_rotation_and_its_inverse_are_none(q: Array) -> None:
    assert_allclose(frames.multiply(q, frames.inverse(q)), [0, 0, 0, 1], atol=1e-12)


@given(quaternions)
def test_a_quaternion_comes_back_from_its_matrix_with_w_not_below_0(q: Array) -> None:
    matrix = frames.quaternion_to_matrix(q)
    assert_allclose(matrix, Rotation.from_quat(q).as_matrix(), atol=1e-12)
    back = frames.matrix_to_quaternion(matrix)
    assert back[3] >= 0.0
    assert_allclose(back @ back, 1.0)
    assert_same_rotation(back, q)


@pytest.mark.parametrize("axis", range(3))
def test_half_turns_survive_the_matrix(axis: int) -> None:
    q = np.eye(4)[axis]
    assert_allclose(frames.matrix_to_quaternion(frames.quaternion_to_matrix(q)), q)


@A_FEW
@given(angles, pitches, angles)
def test_roll_pitch_yaw_are_turns_about_x_then_y_then_z_of_the_world(roll: float, pitch: float, yaw: float) -> None:
    q = frames.rpy_to_quaternion([roll, pitch, yaw])
    assert_same_rotation(q, Rotation.from_euler("xyz", [roll, pitch, yaw]).as_quat())
    assert_same_rotation(frames.rpy_to_quaternion(frames.quaternion_to_rpy(q)), q)


@pytest.mark.parametrize("rpy", [(0.1, 0.2, 0.3), (-3.0, 1.5, 2.9), (0.0, -1.2, -3.1), (1.0, 0.0, 0.0)])
def test_roll_pitch_yaw_come_back(rpy: tuple[float, float, float]) -> None:
    assert_allclose(frames.quaternion_to_rpy(frames.rpy_to_quaternion(rpy)), rpy, atol=1e-12)


@given(angles, angles, st.sampled_from([math.pi / 2, -math.pi / 2]))
def test_angles_give_the_rotation_back_with_the_nose_straight_up_or_down(roll: float, yaw: float, pitch: float) -> None:
    q = frames.rpy_to_quaternion([roll, pitch, yaw])
    angles_back = frames.quaternion_to_rpy(q)
    assert_allclose(angles_back[1], pitch, atol=1e-7)
    assert_same_rotation(frames.rpy_to_quaternion(angles_back), q, tolerance=1e-7)


def test_a_positive_pitch_lowers_the_nose_and_a_positive_yaw_turns_left() -> None:
    assert frames.rotate(frames.rpy_to_quaternion([0, 0.1, 0]), FORWARD)[2] < 0
    assert frames.rotate(frames.rpy_to_quaternion([0, 0, 0.1]), FORWARD)[1] > 0


def test_every_function_takes_arrays_of_any_shape() -> None:
    q = frames.normalise(np.random.default_rng(0).normal(size=(2, 3, 4)))
    v = np.random.default_rng(1).normal(size=(2, 3, 3))
    for index in np.ndindex(2, 3):
        assert_array_equal(frames.multiply(q, q[0, 0])[index], frames.multiply(q[index], q[0, 0]))
        assert_array_equal(frames.rotate(q, v)[index], frames.rotate(q[index], v[index]))
        assert_array_equal(frames.rotate(q[0, 0], v)[index], frames.rotate(q[0, 0], v[index]))
        assert_array_equal(frames.quaternion_to_rpy(q)[index], frames.quaternion_to_rpy(q[index]))
        assert_array_equal(frames.rpy_to_quaternion(v)[index], frames.rpy_to_quaternion(v[index]))
        matrices = frames.quaternion_to_matrix(q)
        assert_array_equal(frames.matrix_to_quaternion(matrices)[index], frames.matrix_to_quaternion(matrices[index]))
        converted = frames.convert_orientation(q, frames.ENU_TO_UNITY, frames.FLU_TO_UNITY)
        assert_array_equal(
            converted[index], frames.convert_orientation(q[index], frames.ENU_TO_UNITY, frames.FLU_TO_UNITY)
        )


@pytest.mark.parametrize("quaternion", [(0, 0, 0, 0), (math.nan, 0, 0, 1), (math.inf, 0, 0, 1)])
def test_a_quaternion_without_direction_is_refused(quaternion: tuple[float, ...]) -> None:
    with pytest.raises(SkerryError, match="not all 0"):
        frames.normalise(quaternion)


# ------------------------------------------------------------------------------------------------ headings


@pytest.mark.parametrize(
    ("heading_deg", "direction"),
    [(0, NORTH), (90, EAST), (180, -NORTH), (270, -EAST), (45, (NORTH + EAST) / 2**0.5)],
)
def test_a_heading_is_counted_clockwise_from_north(heading_deg: float, direction: Array) -> None:
    assert_allclose(frames.rotate(facing(heading_deg), FORWARD), direction, atol=1e-12)


@given(st.floats(-1e4, 1e4))
def test_a_heading_comes_back_in_one_turn_and_so_does_a_yaw(angle: float) -> None:
    yaw, heading = float(frames.heading_to_yaw(angle)), float(frames.yaw_to_heading(math.radians(angle)))
    assert -math.pi < yaw <= math.pi
    assert 0.0 <= heading < 360.0
    assert_allclose(math.remainder(float(frames.yaw_to_heading(yaw)) - angle, 360.0), 0.0, atol=1e-9)


def test_a_hair_beyond_the_turn_is_the_start_of_it() -> None:
    assert frames.yaw_to_heading(np.nextafter(np.pi / 2, 4.0)) == 0.0
    assert frames.heading_to_yaw(np.nextafter(-90.0, -91.0)) == np.pi


# ------------------------------------------------------------------------------------------------ poses


@A_FEW
@given(vectors, quaternions, vectors, quaternions, vectors)
def test_poses_chain(p: Array, q: Array, inner_p: Array, inner_q: Array, point: Array) -> None:
    outer, inner = Pose(p, q), Pose(inner_p, inner_q)
    assert_allclose((outer @ inner).transform(point), outer.transform(inner.transform(point)), atol=1e-8)
    assert_allclose(outer.inverse().transform(outer.transform(point)), point, atol=1e-8)
    none = outer @ outer.inverse()
    assert_allclose(none.position, 0.0, atol=1e-8)
    assert_same_rotation(none.orientation, np.array([0.0, 0.0, 0.0, 1.0]))


def test_a_pose_places_many_points() -> None:
    pose = Pose(np.array([10.0, 0.0, -5.0]), facing(0.0))
    assert_allclose(pose.transform([[[1, 0, 0]], [[0, 1, 0]]]), [[[10, 1, -5]], [[9, 0, -5]]], atol=1e-12)


def test_a_pose_is_a_copy_that_nobody_can_change() -> None:
    position = np.zeros(3)
    pose = Pose(position, np.array([0.0, 0.0, 0.0, 1.0]))
    position[0] = 1.0
    assert pose.position[0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        pose.position[0] = 1.0


def test_a_pose_of_the_wrong_size_is_refused() -> None:
    with pytest.raises(SkerryError, match="expected 4 numbers"):
        Pose(np.zeros(3), np.zeros(3))
    with pytest.raises(SkerryError, match="expected 3 numbers"):
        Twist(np.zeros(3), np.zeros(4))


# ------------------------------------------------------------------------------------------------ conventions


@pytest.mark.parametrize(
    ("axes", "ours", "theirs"),
    [
        (frames.ENU_TO_NED, (1, 2, 3), (2, 1, -3)),
        (frames.ENU_TO_NWU, (1, 2, 3), (2, -1, 3)),
        (frames.ENU_TO_UNITY, (1, 2, 3), (1, 3, 2)),
        (frames.FLU_TO_FRD, (1, 2, 3), (1, -2, -3)),
        (frames.FLU_TO_UNITY, (1, 2, 3), (-2, 3, 1)),
        (frames.FLU_TO_OPTICAL, (1, 2, 3), (-2, -3, 1)),
    ],
)
def test_each_axis_goes_where_the_convention_has_it(axes: Axes, ours: Array, theirs: Array) -> None:
    assert_array_equal(axes.vector(ours), theirs)
    assert_array_equal(axes.inverse.vector(theirs), ours)


@EVERY_PAIR
@A_FEW
@given(v=vectors, w=vectors)
def test_what_goes_there_comes_back_exactly(there: Axes, back: Axes, v: Array, w: Array) -> None:
    assert_array_equal(back.vector(there.vector(v)), v)
    twist = back.twist(there.twist(Twist(v, w)))
    assert_array_equal(twist.linear, v)
    assert_array_equal(twist.angular, w)


@EVERY_PAIR
@A_FEW
@given(r=vectors, w=vectors)
def test_what_turns_here_turns_the_same_way_there(there: Axes, back: Axes, r: Array, w: Array) -> None:
    """v = ω × r in both sets of axes, also where one is left-handed."""
    assert_allclose(np.cross(there.angular(w), there.vector(r)), there.vector(np.cross(w, r)), atol=1e-6)


def test_only_unitys_axes_are_left_handed() -> None:
    mirrored = {name for name, axes in vars(frames).items() if isinstance(axes, Axes) and axes.changes_handedness}
    assert mirrored == {"ENU_TO_UNITY", "UNITY_TO_ENU", "FLU_TO_UNITY", "UNITY_TO_FLU"}


@EVERY_CONVENTION
@A_FEW
@given(q=quaternions, v=vectors)
def test_an_orientation_means_the_same_in_other_axes(world: Axes, body: Axes, q: Array, v: Array) -> None:
    theirs = frames.convert_orientation(q, world, body)
    assert_allclose(frames.rotate(theirs, body.vector(v)), world.vector(frames.rotate(q, v)), atol=1e-9)
    assert_same_rotation(frames.convert_orientation(theirs, world.inverse, body.inverse), q)


@EVERY_CONVENTION
@A_FEW
@given(q=quaternions, w=st.tuples(*[components] * 3).map(np.array))
def test_a_body_turns_in_other_axes_by_the_converted_rate(world: Axes, body: Axes, q: Array, w: Array) -> None:
    """Turning by ω about world axes, then converting, is converting, then turning by the converted ω."""
    turned = frames.multiply(Rotation.from_rotvec(w).as_quat(), q)
    turn_there = Rotation.from_rotvec(world.angular(w)).as_quat()
    there = frames.multiply(turn_there, frames.convert_orientation(q, world, body))
    assert_same_rotation(frames.convert_orientation(turned, world, body), there)


@EVERY_CONVENTION
@A_FEW
@given(p=vectors, q=quaternions, point=vectors)
def test_a_pose_places_the_same_point_in_other_axes(world: Axes, body: Axes, p: Array, q: Array, point: Array) -> None:
    pose = Pose(p, q)
    theirs = frames.convert_pose(pose, world, body)
    assert_allclose(theirs.transform(body.vector(point)), world.vector(pose.transform(point)), atol=1e-8)


@pytest.mark.parametrize("convention", ["NED and FRD", "Unity", "north-west-up and FLU"])
def test_facing_north_is_no_rotation_where_north_is_the_first_way(convention: str) -> None:
    assert_same_rotation(frames.convert_orientation(facing(0.0), *WORLD_AND_BODY[convention]), np.array([0, 0, 0, 1.0]))


def test_unitys_yaw_turns_clockwise_from_north() -> None:
    about_y = np.array([0.0, math.sin(math.radians(15.0)), 0.0, math.cos(math.radians(15.0))])
    ours = frames.convert_orientation(about_y, frames.UNITY_TO_ENU, frames.UNITY_TO_FLU)
    assert_same_rotation(ours, facing(30.0))


def test_unitys_body_rates_and_quaternions_have_the_signs_that_its_left_hand_gives() -> None:
    assert_array_equal(frames.UNITY_TO_FLU.angular([1, 2, 3]), [-3, 1, -2])
    q = frames.normalise([0.1, 0.2, 0.3, 0.9])
    both_sides_body = frames.convert_orientation(q, frames.UNITY_TO_FLU, frames.UNITY_TO_FLU)
    assert_same_rotation(both_sides_body, q[[2, 0, 1, 3]] * [-1, 1, -1, 1])


def test_ned_angles_are_yaw_from_north_clockwise_and_pitch_nose_up() -> None:
    ours = frames.rpy_to_quaternion([0.1, -0.2, math.pi / 2 - 0.3])
    theirs = frames.convert_orientation(ours, frames.ENU_TO_NED, frames.FLU_TO_FRD)
    assert_allclose(frames.quaternion_to_rpy(theirs), [0.1, 0.2, 0.3], atol=1e-12)


def test_a_camera_looks_along_its_own_z() -> None:
    optical = frames.convert_orientation(facing(90.0), frames.IDENTITY_AXES, frames.FLU_TO_OPTICAL)
    assert_allclose(frames.rotate(optical, [0, 0, 1]), EAST, atol=1e-12)
    assert_allclose(frames.rotate(optical, [1, 0, 0]), -NORTH, atol=1e-12)
    assert_allclose(frames.rotate(optical, [0, 1, 0]), -UP, atol=1e-12)


def test_the_optical_frame_in_the_body_is_the_change_of_axes() -> None:
    none = Pose.identity().orientation
    assert_same_rotation(
        frames.OPTICAL_IN_BODY, frames.convert_orientation(none, frames.IDENTITY_AXES, frames.FLU_TO_OPTICAL)
    )
    assert_array_equal(Pose(np.zeros(3), frames.OPTICAL_IN_BODY).rotation @ [0, 0, 1], FORWARD)


def test_an_orientation_with_only_one_side_mirrored_is_refused() -> None:
    with pytest.raises(SkerryError, match="mirror"):
        frames.convert_orientation([0, 0, 0, 1], frames.ENU_TO_UNITY, frames.FLU_TO_FRD)


@A_FEW
@given(quaternions, quaternions, vectors)
def test_one_and_many_are_the_same_bits(p: Array, q: Array, v: Array) -> None:
    """Single values use plain numbers, several values use numpy."""
    for one, many in [
        (frames.multiply(p, q), frames.multiply([p, p], [q, q])),
        (frames.rotate(q, v), frames.rotate([q, q], [v, v])),
        (frames.rotate(q, v), frames.rotate(q, [v, v])),
        (frames.quaternion_to_matrix(q), frames.quaternion_to_matrix([q, q])),
        (frames.normalise(q + p / 4.0), frames.normalise([q + p / 4.0] * 2)),
        ((Pose(v, p) @ Pose(v, q)).position, frames.rotate([p, p], v) + v),
    ]:
        assert one.tobytes() == np.ascontiguousarray(many[1]).tobytes()


def test_poses_and_twists_are_made_from_rows_of_numbers_too() -> None:
    row = np.arange(7.0)
    pose, twist = Pose.of(row), Twist.of(row[1:])
    row[:] = 0.0
    assert_array_equal(pose.position, [0, 1, 2])
    assert_array_equal(pose.orientation, [3, 4, 5, 6])
    assert_array_equal(twist.linear, [1, 2, 3])
    assert_array_equal(twist.angular, [4, 5, 6])
    with pytest.raises(ValueError, match="read-only"):
        pose.position[0] = 1.0
    with pytest.raises(SkerryError, match="expected 7 numbers"):
        Pose.of(np.zeros(6))
