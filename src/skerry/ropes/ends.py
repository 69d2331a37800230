"""Ends of ropes that are tied to bodies: the solver includes the body's inertia, and the body gets the rope's force.

The end node has the inertia that a force at its point of the body feels, (J M⁻¹ Jᵀ)⁻¹, added mass included, and the
acceleration that all forces except ropes gave that point in the last step. The change of its velocity in the solve is
the impulse on the body, so momentum is conserved. If several ropes are tied to one body, each includes the forces of
the others: of earlier ropes from this step, of later ropes from the last step (one Gauss–Seidel iteration per step). In
the first step after an end is tied, the inertia is unknown: the node then moves with the body, and the tension acts on
the body.
"""

from __future__ import annotations

from typing import Any

from skerry.core.kernels import floats, kernel, load_word, stack_floats, words
from skerry.physics.mujoco import XMAT
from skerry.physics.points import BODY_ROW, inverse_inertia_of, motion_of_point, push_at
from skerry.physics.points import COUNT as AXES_ABOVE
from skerry.ropes.layout import (
    AXIS_LIST,
    BODIES,
    BODY,
    COMMON,
    COUNT,
    END,
    FORCE,
    HEAD,
    HOOK_ROPE,
    INERTIA_KNOWN,
    INVERSE_INERTIA,
    OTHER_ACCELERATION,
    POINT,
    ROPE,
    ROPES,
    STATE_OFFSET,
    TAIL,
    VELOCITY,
)
from skerry.ropes.matrices import invert

# Offsets in the data of an end during a step: position, velocity, acceleration by everything except this rope, inertia
# (6), and 1 if its motion is prescribed by the body. For a prescribed end, DISTURBANCE holds the momentum that the node
# passes to the body instead. Last the size.
END_POSITION, END_VELOCITY, DISTURBANCE, INERTIA, PRESCRIBED, END_MOTION = 0, 3, 6, 9, 15, 16


@kernel
def end_of(state: int, constants: Any, rope: int, end: int) -> Any:
    """Return the state of an end of a rope; `end` is HEAD or TAIL."""
    return floats(state + 8 * (int(constants[COMMON + ROPE * rope + STATE_OFFSET]) + end), END)


@kernel
def _is_tied(numbers: Any, state: int, constants: Any, rope: int, end: int) -> bool:
    """Return whether an end of a rope is tied to a movable body."""
    row = floats(state + 8 * int(constants[COMMON + ROPE * rope + STATE_OFFSET]), HEAD)
    if row[COUNT] == 0.0 or (end == HEAD and row[HOOK_ROPE] >= 0.0):
        return False
    body = int(end_of(state, constants, rope, end)[BODY])
    return body > 0 and words(numbers[BODIES] + 24 * body, BODY_ROW)[AXES_ABOVE] > 0


@kernel
def _arm(data: int, layout: Any, end: Any, out: Any) -> None:
    """Write the vector from the body's origin to the point of an end, in the world frame, into `out`."""
    R = floats(load_word(data + layout[XMAT]) + 72 * int(end[BODY]), 9)
    x, y, z = end[POINT], end[POINT + 1], end[POINT + 2]
    for i in range(3):
        out[i] = R[3 * i] * x + R[3 * i + 1] * y + R[3 * i + 2] * z


@kernel
def _add_acceleration(inverse: Any, arm: Any, at: Any, f: Any, out: Any) -> None:
    """Add to `out` the acceleration at point `arm` of a body that a force f at point `at` causes."""
    tx = at[1] * f[2] - at[2] * f[1]
    ty = at[2] * f[0] - at[0] * f[2]
    tz = at[0] * f[1] - at[1] * f[0]
    a = floats(stack_floats(6), 6)
    for i in range(6):
        w = inverse[6 * i : 6 * i + 6]
        a[i] = w[0] * f[0] + w[1] * f[1] + w[2] * f[2] + w[3] * tx + w[4] * ty + w[5] * tz
    out[0] += a[0] + a[4] * arm[2] - a[5] * arm[1]
    out[1] += a[1] + a[5] * arm[0] - a[3] * arm[2]
    out[2] += a[2] + a[3] * arm[1] - a[4] * arm[0]


@kernel
def _add_pulls(
    data: int, layout: Any, constants: Any, numbers: Any, state: int, end: Any, excluded: int, side: int, out: Any
) -> None:
    """Add to `out` the acceleration of an end by all ropes on its body except the end `side` of rope `excluded`."""
    arm, other_arm = floats(stack_floats(3), 3), floats(stack_floats(3), 3)
    _arm(data, layout, end, arm)
    for rope in range(numbers[ROPES]):
        for where in (HEAD, TAIL):
            if (rope == excluded and where == side) or not _is_tied(numbers, state, constants, rope, where):
                continue
            other = end_of(state, constants, rope, where)
            if other[BODY] == end[BODY]:
                _arm(data, layout, other, other_arm)
                _add_acceleration(
                    end[INVERSE_INERTIA : INVERSE_INERTIA + 36], arm, other_arm, other[FORCE : FORCE + 3], out
                )


@kernel
def update_ends(data: int, layout: Any, constants: Any, numbers: Any, state: int, step: float) -> None:
    """Compute, at the start of a step, the acceleration of every end in the last step by everything except ropes."""
    motion, pulled = floats(stack_floats(6), 6), floats(stack_floats(3), 3)
    for rope in range(numbers[ROPES]):
        for where in (HEAD, TAIL):
            if not _is_tied(numbers, state, constants, rope, where):
                continue
            end = end_of(state, constants, rope, where)
            x, y, z = end[POINT], end[POINT + 1], end[POINT + 2]
            motion_of_point(data, layout, numbers[BODIES], int(end[BODY]), x, y, z, motion)
            for i in range(3):
                pulled[i] = 0.0
            if end[INERTIA_KNOWN] != 0.0:
                _add_pulls(data, layout, constants, numbers, state, end, -1, HEAD, pulled)
            for i in range(3):
                end[OTHER_ACCELERATION + i] = (motion[3 + i] - end[VELOCITY + i]) / step - pulled[i]
                end[VELOCITY + i] = motion[3 + i]


@kernel
def read_end(data: int, layout: Any, constants: Any, numbers: Any, state: int, rope: int, side: int, now: Any) -> None:
    """Fill `now` with the data of an end that is tied to a body."""
    end = end_of(state, constants, rope, side)
    x, y, z = end[POINT], end[POINT + 1], end[POINT + 2]
    motion_of_point(data, layout, numbers[BODIES], int(end[BODY]), x, y, z, now)
    now[PRESCRIBED] = 1.0
    if end[INERTIA_KNOWN] == 0.0 or not _is_tied(numbers, state, constants, rope, side):
        return
    arm, unit = floats(stack_floats(3), 3), floats(stack_floats(3), 3)
    W = floats(stack_floats(9), 9)
    _arm(data, layout, end, arm)
    for i in range(9):
        W[i] = 0.0
    for i in range(3):
        for j in range(3):
            unit[j] = 1.0 if i == j else 0.0
        _add_acceleration(end[INVERSE_INERTIA : INVERSE_INERTIA + 36], arm, arm, unit, W[3 * i : 3 * i + 3])
    size = W[0] + W[4] + W[8]
    if not size > 1e-9:
        return
    now[PRESCRIBED] = 0.0
    for i in range(3):
        now[DISTURBANCE + i] = end[OTHER_ACCELERATION + i]
    _add_pulls(data, layout, constants, numbers, state, end, rope, side, now[DISTURBANCE : DISTURBANCE + 3])
    inertia = now[INERTIA : INERTIA + 6]
    stiff = 1e-6 * size  # a mechanism may be unable to move in some directions
    inertia[0], inertia[1], inertia[2] = W[0] + stiff, W[1], W[2]
    inertia[3], inertia[4], inertia[5] = W[4] + stiff, W[5], W[8] + stiff
    invert(inertia, inertia)


@kernel
def pull_end(
    data: int,
    layout: Any,
    numbers: Any,
    end: Any,
    now: Any,
    step: float,
    vx: float,
    vy: float,
    vz: float,
    tx: float,
    ty: float,
    tz: float,
) -> None:
    """Apply the force of the rope to the body; v is the new velocity of the end, t the tension at the end."""
    body = int(end[BODY])
    if words(numbers[BODIES] + 24 * body, BODY_ROW)[AXES_ABOVE] == 0:
        return
    if now[PRESCRIBED] != 0.0:
        fx, fy, fz = tx + now[DISTURBANCE] / step, ty + now[DISTURBANCE + 1] / step, tz + now[DISTURBANCE + 2] / step
    else:
        ax = (vx - now[END_VELOCITY]) / step - now[DISTURBANCE]
        ay = (vy - now[END_VELOCITY + 1]) / step - now[DISTURBANCE + 1]
        az = (vz - now[END_VELOCITY + 2]) / step - now[DISTURBANCE + 2]
        m = now[INERTIA : INERTIA + 6]
        fx = m[0] * ax + m[1] * ay + m[2] * az
        fy = m[1] * ax + m[3] * ay + m[4] * az
        fz = m[2] * ax + m[4] * ay + m[5] * az
    end[FORCE], end[FORCE + 1], end[FORCE + 2] = fx, fy, fz
    push_at(
        data,
        layout,
        numbers[BODIES],
        numbers[AXIS_LIST],
        body,
        now[END_POSITION],
        now[END_POSITION + 1],
        now[END_POSITION + 2],
        fx,
        fy,
        fz,
    )


@kernel
def measure_ends(model: int, data: int, layout: Any, constants: Any, numbers: Any, state: int) -> None:
    """Compute the inverse inertia at every tied end, after the mass matrix is factored."""
    for rope in range(numbers[ROPES]):
        for where in (HEAD, TAIL):
            if not _is_tied(numbers, state, constants, rope, where):
                continue
            end = end_of(state, constants, rope, where)
            bodies, axes = numbers[BODIES], numbers[AXIS_LIST]
            out = end[INVERSE_INERTIA : INVERSE_INERTIA + 36]
            inverse_inertia_of(model, data, layout, bodies, axes, int(end[BODY]), out)
            end[INERTIA_KNOWN] = 1.0
