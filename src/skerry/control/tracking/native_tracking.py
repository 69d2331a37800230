"""Geometric tracking inside the native loop: what is to be tracked, what hangs on the rope, and the propellers' rpm."""

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

# What it remembers: what it tracks (a point, a thing or a curve), its yaw, its point, the offset from the thing, where
# that was last, as dials ask for it (ahead, left, up, boost), whether that was level and upright when it last looked,
# the rope's pull, smoothed, N, and what it wanted last: position, velocity, acceleration, jerk and snap
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
AT_POINT, AT_TARGET, ON_TRAJECTORY = 0.0, 1.0, 2.0

# Constants: of its rate, of turns (yaw acceleration over that of gravity, rad/m), gravity, mass of the load, or 0
PERIOD, TURNING, GRAVITY, LOAD_MASS, CONSTANTS = range(5)

# Words: the body that carries its link, the body of the thing; how many points the curve has, and whether it repeats;
# how many propellers it has
BODY, TARGET, TRAJECTORY_POINTS, TRAJECTORY_REPEATS, PROPELLERS, FIRST_ADDRESS = range(6)
# and addresses: of the link's pose on its body, of the thing's, of the curve's times, positions and second derivatives,
# of the words of the rope and of the one whose end it swoops to, or 0; of memory, constants, gains, the load's gains,
# the way from a wrench to thrusts, the largest of them, thrusts per rpm, and the answer
LINK_AT, TARGET_AT, TIMES_AT, POINTS_AT, CURVATURE_AT, ROPE_AT, SWOOP_ROPE_AT, MEMORY_AT, CONSTANTS_AT, GAINS_AT = (
    range(5, 15)
)
LOAD_GAINS_AT, INVERSE_AT, LARGEST_AT, PER_RPM_AT, ANSWER_AT, TABLE_SIZE = range(15, 21)

SMOOTHING = 0.3  # s over which the rope's pull is smoothed
MIN_ROPE_LENGTH = 0.3  # m; a load nearer than this does not swing, and counts as a part of the vehicle


@strict_kernel
def apply_manual_setpoints(n: Any, motion: Any) -> None:
    """Move the point to fly to ahead of the drone as long as a dial asks for it, then stay where it is."""
    ahead, left, up = n[MANUAL], n[MANUAL + 1], n[MANUAL + 2]
    farther = 1.0 + n[MANUAL + 3]  # which moves nothing alone
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
def follow_target(place: Any, n: Any, period: float, wanted: Any) -> None:
    """Want to be where a thing is, and to move as it has since it was seen last."""
    for k in range(3):
        if not np.isnan(n[LAST_TARGET]):
            wanted[1, k] = (place[k] - n[LAST_TARGET + k]) / period
        wanted[0, k] = place[k] + n[OFFSET + k]
    n[LAST_TARGET : LAST_TARGET + 3] = place[0:3]


@strict_kernel
def swoop(place: Any, velocity: Any, time: float, wanted: Any) -> None:
    """Want to be at a buoy: down to it over a few seconds on a parabola, and up again."""
    since = time % 8.0 - 4.0
    wanted[:] = 0.0
    wanted[0], wanted[1] = place, velocity
    wanted[0, 2] += since**2 / 16.0 + 0.16
    wanted[1, 2] += since / 8.0


@native_controller
def track_and_carry(motions: int, userdata: int, time: int, table: int) -> None:
    """The propellers' rpm."""
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
        buoy = words(w[SWOOP_ROPE_AT], ROPE)
        if rope_exists(u, buoy):
            swoop(vector_at(u, buoy[END]), vector_at(u, buoy[END_VELOCITY]), now, wanted)

    g, own = floats(w[GAINS_AT], GAINS), floats(w[LOAD_GAINS_AT], LOAD_GAINS)
    count = w[PROPELLERS]
    inverse, largest = floats(w[INVERSE_AT], 4 * count).reshape((count, 4)), floats(w[LARGEST_AT], count)
    answer, per_rpm = floats(w[ANSWER_AT], count), floats(w[PER_RPM_AT], count)
    x, y, z = load[0] - motion[0], load[1] - motion[1], load[2] - motion[2]
    if loaded and np.sqrt(x * x + y * y + z * z) >= MIN_ROPE_LENGTH:
        mass = c[LOAD_MASS] if c[LOAD_MASS] > 0.0 else n[PULL] / c[GRAVITY]
        carry_load(motion, load, mass, wanted, n[YAW], c[TURNING], c[GRAVITY], g, own, inverse, largest, answer)
    else:  # what hangs there, a hook say, is a part of the vehicle
        pull = n[PULL] if exists else 0.0
        fly(motion, wanted, n[YAW], c[TURNING], c[GRAVITY], pull, g, inverse, largest, answer)
    for k in range(count):
        answer[k] /= per_rpm[k]
