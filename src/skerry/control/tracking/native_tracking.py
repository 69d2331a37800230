"""Geometric tracking in the native loop: computes the rpm of the propellers from the target and the load."""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.control.tracking.load_law import LOAD_GAINS, carry_load
from skerry.control.tracking.spline import follow
from skerry.control.tracking.tracking_law import GAINS, fly, yaw_of
from skerry.core.kernels import UNKNOWN_SIZE, floats, strict_kernel, words
from skerry.core.rotations import MOTION, motion_of_fixed_frame
from skerry.parts.native_controller import (
    END,
    END_VELOCITY,
    ROPE,
    native_controller,
    rope_exists,
    rope_is_loaded,
    rope_tension,
    vector_at,
)

# Memory: mode, yaw (rad), point (3), offset from the target (3), last position of the target (3), manual setpoints
# (ahead, left, up, boost), whether these were horizontal and vertical in the last call (2), smoothed pull of the rope
# (N), and the last desired position, velocity, acceleration, jerk and snap (15)
MODE, YAW, POINT, OFFSET, LAST_TARGET, MANUAL, WAS_MANUAL, PULL, DESIRED, MEMORY_SIZE = (
    0,
    1,
    2,
    5,
    8,
    11,
    15,
    17,
    18,
    33,
)
AT_POINT, AT_TARGET, ON_TRAJECTORY = 0.0, 1.0, 2.0  # modes

# Constants: period (s), yaw acceleration over gravity (rad/m), gravity (m/s²), mass of the load (kg; 0: from the pull)
PERIOD, TURNING, GRAVITY, LOAD_MASS, CONSTANTS = range(5)

# Table, first part: body that carries the link, body of the target, number of points of the trajectory, whether the
# trajectory repeats, number of propellers
BODY, TARGET, TRAJECTORY_POINTS, TRAJECTORY_REPEATS, PROPELLERS = range(5)
# Table, second part, addresses of: pose of the link on its body; pose of the target on its body; times, positions and
# second derivatives of the trajectory; tables of its rope and of the rope whose end it swoops to (0 if there is none);
# memory; constants; gains; gains of the load; matrix from wrench to thrusts; largest thrusts; thrusts per rpm; output
LINK_AT, TARGET_AT, TIMES_AT, POINTS_AT, CURVATURE_AT, ROPE_AT, SWOOP_ROPE_AT, MEMORY_AT, CONSTANTS_AT, GAINS_AT = (
    range(5, 15)
)
LOAD_GAINS_AT, INVERSE_AT, LARGEST_AT, PER_RPM_AT, ANSWER_AT, TABLE_SIZE = range(15, 21)

SMOOTHING = 0.3  # time constant of the filter of the rope's pull, s
MIN_ROPE_LENGTH = 0.3  # m; a nearer load does not swing and counts as part of the vehicle


@strict_kernel
def apply_manual_setpoints(n: Any, motion: Any) -> None:
    """Move the target point relative to the vehicle while a manual setpoint is not 0, then hold the position."""
    ahead, left, up = n[MANUAL], n[MANUAL + 1], n[MANUAL + 2]
    farther = 1.0 + n[MANUAL + 3]  # `boost` multiplies the other three
    level, upright = ahead != 0.0 or left != 0.0, up != 0.0
    was_level, was_upright = n[WAS_MANUAL] != 0.0, n[WAS_MANUAL + 1] != 0.0
    if not (level or upright or was_level or was_upright):
        return
    if n[MODE] != AT_POINT:
        n[POINT : POINT + 3] = motion[0:3]
        n[MODE] = AT_POINT
    if level or was_level:
        yaw = yaw_of(motion)
        n[POINT] = motion[0] + np.cos(yaw) * (farther * ahead) - np.sin(yaw) * (farther * left)
        n[POINT + 1] = motion[1] + np.sin(yaw) * (farther * ahead) + np.cos(yaw) * (farther * left)
    if upright or was_upright:
        n[POINT + 2] = motion[2] + farther * up
    n[WAS_MANUAL], n[WAS_MANUAL + 1] = 1.0 if level else 0.0, 1.0 if upright else 0.0


@strict_kernel
def follow_target(position: Any, n: Any, period: float, wanted: Any) -> None:
    """Set the desired position to that of the target plus the offset, and the desired velocity to its velocity."""
    for k in range(3):
        if not np.isnan(n[LAST_TARGET]):
            wanted[1, k] = (position[k] - n[LAST_TARGET + k]) / period
        wanted[0, k] = position[k] + n[OFFSET + k]
    n[LAST_TARGET : LAST_TARGET + 3] = position[0:3]


@strict_kernel
def swoop(position: Any, velocity: Any, time: float, wanted: Any) -> None:
    """Set the desired motion to a parabola down to a point and up again, with a period of 8 s."""
    since = time % 8.0 - 4.0
    wanted[:] = 0.0
    wanted[0], wanted[1] = position, velocity
    wanted[0, 2] += since**2 / 16.0 + 0.16
    wanted[1, 2] += since / 8.0


@native_controller
def track_and_carry(motions: int, userdata: int, time: int, table: int) -> None:
    """Compute the rpm of the propellers."""
    w, u, now = words(table, TABLE_SIZE), floats(userdata, UNKNOWN_SIZE), floats(time, 1)[0]
    n, c = floats(w[MEMORY_AT], MEMORY_SIZE), floats(w[CONSTANTS_AT], CONSTANTS)
    wanted = n[DESIRED:MEMORY_SIZE].reshape((5, 3))
    motion = np.empty(MOTION)
    motion_of_fixed_frame(floats(motions + 8 * MOTION * w[BODY], MOTION), floats(w[LINK_AT], 7), motion)

    if np.isnan(n[POINT]):
        n[POINT : POINT + 3] = motion[0:3]
    if np.isnan(n[YAW]):
        n[YAW] = yaw_of(motion)
    apply_manual_setpoints(n, motion)
    if n[MODE] == ON_TRAJECTORY:
        count = w[TRAJECTORY_POINTS]
        points = floats(w[POINTS_AT], 3 * count).reshape((count, 3))
        curvature = floats(w[CURVATURE_AT], 3 * count).reshape((count, 3))
        follow(floats(w[TIMES_AT], count), points, curvature, w[TRAJECTORY_REPEATS] != 0, now, wanted)
    else:
        wanted[:] = 0.0
        wanted[0] = n[POINT : POINT + 3]
        if n[MODE] == AT_TARGET:
            target = np.empty(MOTION)
            motion_of_fixed_frame(floats(motions + 8 * MOTION * w[TARGET], MOTION), floats(w[TARGET_AT], 7), target)
            follow_target(target, n, c[PERIOD], wanted)

    exists, loaded, load = False, False, np.zeros(6)
    if w[ROPE_AT] != 0:
        rope = words(w[ROPE_AT], ROPE)
        exists, loaded = rope_exists(u, rope), rope_is_loaded(u, rope)
        tension = rope_tension(u, rope) if exists else 0.0
        n[PULL] += (tension - n[PULL]) * min(c[PERIOD] / SMOOTHING, 1.0)
        if exists:
            load[0:3], load[3:6] = vector_at(u, rope[END]), vector_at(u, rope[END_VELOCITY])
    if w[SWOOP_ROPE_AT] != 0 and not loaded:
        swoop_rope = words(w[SWOOP_ROPE_AT], ROPE)
        if rope_exists(u, swoop_rope):
            swoop(vector_at(u, swoop_rope[END]), vector_at(u, swoop_rope[END_VELOCITY]), now, wanted)

    g, own = floats(w[GAINS_AT], GAINS), floats(w[LOAD_GAINS_AT], LOAD_GAINS)
    count = w[PROPELLERS]
    inverse, largest = floats(w[INVERSE_AT], 4 * count).reshape((count, 4)), floats(w[LARGEST_AT], count)
    answer, per_rpm = floats(w[ANSWER_AT], count), floats(w[PER_RPM_AT], count)
    x, y, z = load[0] - motion[0], load[1] - motion[1], load[2] - motion[2]
    if loaded and np.sqrt(x * x + y * y + z * z) >= MIN_ROPE_LENGTH:
        mass = c[LOAD_MASS] if c[LOAD_MASS] > 0.0 else n[PULL] / c[GRAVITY]
        carry_load(motion, load, mass, wanted, n[YAW], c[TURNING], c[GRAVITY], g, own, inverse, largest, answer)
    else:  # a hook or other thing on the rope counts as part of the vehicle
        pull = n[PULL] if exists else 0.0
        fly(motion, wanted, n[YAW], c[TURNING], c[GRAVITY], pull, g, inverse, largest, answer)
    for k in range(count):
        answer[k] /= per_rpm[k]
