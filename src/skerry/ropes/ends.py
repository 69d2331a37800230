"""The ends of ropes that are tied to bodies: the body's inertia joins the rope's solve, and the rope's pull goes back.

The end node moves with the inertia that a force at its point of the body feels, (J M⁻¹ Jᵀ)⁻¹, added mass included, and
with the acceleration that everything else gave that point in the last step. What the solve makes of its velocity is the
impulse that the body gets, so that momentum goes nowhere else (verified by the tests). Where several ends are tied to
one tree of bodies, each gets its share of the inertia, and their impulses add up (Tonge et al. 2012, Mass splitting for
jitter-free parallel rigid body simulation). In the first step after an end is tied, the inertia is not known: the node
then moves as the body does, and the tension pulls at it.
"""

from __future__ import annotations

from typing import Any

from skerry.core.kernels import floats, kernel, words
from skerry.physics.points import BODY_ROW, ROOT, inverse_inertia_at, motion_of_point, push_at
from skerry.physics.points import COUNT as AXES_ABOVE
from skerry.ropes.layout import (
    AXES,
    AXIS_LIST,
    BODIES,
    BODY,
    COMMON,
    COUNT,
    END,
    GIVEN,
    HEAD,
    INVERSE,
    JOIN,
    KNOWN,
    PLACE,
    POINT,
    ROPE,
    ROPES,
    TAIL,
    VELOCITY,
)
from skerry.ropes.matrices import invert

# What is known of an end in a step: position, velocity, the acceleration that others give it, inertia (6), whether it
# moves as the body does, whatever the rope does; of such a one, the momentum that its node hands on instead
AT, SPEED, PUSHED, INERTIA, LED, END_NOW = 0, 3, 6, 9, 15, 16


@kernel
def end_of(state: int, constants: Any, rope: int, end: int) -> Any:
    """The state of an end of a rope, at HEAD or TAIL."""
    return floats(state + 8 * (int(constants[COMMON + ROPE * rope + PLACE]) + end), END)


@kernel
def sharing(constants: Any, numbers: Any, state: int, root: int) -> int:
    """How many ends are tied to a tree of bodies."""
    found = 0
    for rope in range(numbers[ROPES]):
        row = floats(state + 8 * int(constants[COMMON + ROPE * rope + PLACE]), HEAD)
        if row[COUNT] == 0.0:
            continue
        for end in (HEAD, TAIL):
            if end == HEAD and row[JOIN] >= 0.0:
                continue
            body = int(end_of(state, constants, rope, end)[BODY])
            if body > 0 and words(numbers[BODIES] + 24 * body, BODY_ROW)[ROOT] == root:
                found += 1
    return found


@kernel
def look_at_end(
    data: int, layout: Any, constants: Any, numbers: Any, state: int, end: Any, step: float, now: Any
) -> None:
    """Fill `now` for an end that is tied to a body."""
    body = int(end[BODY])
    motion_of_point(data, layout, numbers[BODIES], body, end[POINT], end[POINT + 1], end[POINT + 2], now)
    row = words(numbers[BODIES] + 24 * body, BODY_ROW)
    now[LED] = 1.0
    if row[AXES_ABOVE] == 0 or end[KNOWN] == 0.0:
        return
    share = float(sharing(constants, numbers, state, row[ROOT]))
    W = end[INVERSE : INVERSE + 9]
    size = W[0] + W[4] + W[8]
    if not size > 1e-9:
        return
    if end[KNOWN] == 2.0:  # what was given was kept as a force, for want of the inertia
        fx, fy, fz = end[GIVEN], end[GIVEN + 1], end[GIVEN + 2]
        for i in range(3):
            end[GIVEN + i] = share * (W[3 * i] * fx + W[3 * i + 1] * fy + W[3 * i + 2] * fz)
        end[KNOWN] = 1.0
    now[LED] = 0.0
    for i in range(3):
        now[PUSHED + i] = (now[SPEED + i] - end[VELOCITY + i]) / step - end[GIVEN + i]
    inertia = now[INERTIA : INERTIA + 6]
    stiff = 1e-6 * size  # a mechanism may not move at all in some directions
    inertia[0], inertia[1], inertia[2] = share * (W[0] + stiff), share * W[1], share * W[2]
    inertia[3], inertia[4], inertia[5] = share * (W[4] + stiff), share * W[5], share * (W[8] + stiff)
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
    """Give the body what the rope did to its end: v is the end's new velocity, t the tension on it."""
    for i in range(3):
        end[VELOCITY + i] = now[SPEED + i]
    body = int(end[BODY])
    if words(numbers[BODIES] + 24 * body, BODY_ROW)[AXES_ABOVE] == 0:
        return
    if now[LED] != 0.0:
        fx, fy, fz = tx + now[PUSHED] / step, ty + now[PUSHED + 1] / step, tz + now[PUSHED + 2] / step
        end[GIVEN], end[GIVEN + 1], end[GIVEN + 2] = fx, fy, fz
        end[KNOWN] = 0.0
    else:
        ax = (vx - now[SPEED]) / step - now[PUSHED]
        ay = (vy - now[SPEED + 1]) / step - now[PUSHED + 1]
        az = (vz - now[SPEED + 2]) / step - now[PUSHED + 2]
        end[GIVEN], end[GIVEN + 1], end[GIVEN + 2] = ax, ay, az
        m = now[INERTIA : INERTIA + 6]
        fx, fy, fz = (
            m[0] * ax + m[1] * ay + m[2] * az,
            m[1] * ax + m[3] * ay + m[4] * az,
            m[2] * ax + m[4] * ay + m[5] * az,
        )
    push_at(data, layout, numbers[BODIES], numbers[AXIS_LIST], body, now[AT], now[AT + 1], now[AT + 2], fx, fy, fz)


@kernel
def measure_ends(model: int, data: int, layout: Any, constants: Any, numbers: Any, state: int) -> None:
    """Learn what inertia every tied end feels, once the mass matrix is factored."""
    for rope in range(numbers[ROPES]):
        row = floats(state + 8 * int(constants[COMMON + ROPE * rope + PLACE]), HEAD)
        if row[COUNT] == 0.0:
            continue
        for where in (HEAD, TAIL):
            if where == HEAD and row[JOIN] >= 0.0:
                continue
            end = end_of(state, constants, rope, where)
            body = int(end[BODY])
            if body <= 0 or words(numbers[BODIES] + 24 * body, BODY_ROW)[AXES_ABOVE] == 0:
                continue
            inverse_inertia_at(
                model,
                data,
                layout,
                numbers[BODIES],
                numbers[AXIS_LIST],
                numbers[AXES],
                body,
                end[POINT : POINT + 3],
                end[INVERSE : INVERSE + 9],
            )
            if end[KNOWN] == 0.0:
                end[KNOWN] = 2.0
