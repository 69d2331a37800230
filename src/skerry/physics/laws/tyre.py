"""Tyre: longitudinal and lateral slip forces of a wheel in its contact with the ground.

The tread slides over the ground with the velocity s, and the wheel rolls with the speed V = |ω| r. The deflection u of
the tread obeys u̇ = s − (V/L) u, where L is the relaxation length, and σ = u/L is the slip (single contact point
transient model: Pacejka 2012, Tire and Vehicle Dynamics, §7.2). Force and slip have opposite directions, whatever
their direction on the ground (similarity method for combined slip, §4.2):

    F = −μ N sin(arctan(x − E (x − arctan x))) σ/|σ|,    x = B |σ|

This is the Magic Formula (§4.3) with C = 1: it rises with the slope B μ N and saturates at μ N. The load N is that of
the last step. Contacts of the wheel have no friction in MuJoCo.

A wheel that a motor drives has max(V, `slip_speed`) in place of V, as the minimum slip denominators of PhysX vehicles:
below that speed, the force is proportional to the sliding velocity. Then the turn rate of a skid-steered rover is
proportional to the power of its motors, and the tread speeds and the motion of the body are related by constant
instantaneous centres of rotation (Mandow et al. 2007, IROS, pp. 1222–1227). A wheel at rest, whose brake holds or that
has no motor, has V = 0: the tread is a spring and holds up to μ N.
"""

from __future__ import annotations

from math import atan, hypot, sqrt
from typing import Any, Final, Literal, Self

import numpy as np
from numba import types
from pydantic import Field

from skerry.core.config import NonNegative, Positive
from skerry.core.errors import SkerryError
from skerry.core.kernels import floats, integers, kernel, load_word, stack_floats, words
from skerry.parts.law import (
    BODY,
    HEADER,
    INERTIA,
    LAYOUT,
    POSITION,
    ROTATION,
    STEP,
    USERDATA_OFFSET,
    VELOCITY,
    WRENCH,
    Attachment,
    Law,
    LawConfig,
    block_of,
    constants_of,
    law,
    state_of,
)
from skerry.physics.mujoco import (
    CONTACT_ADDRESS,
    CONTACT_COUNT,
    CONTACT_FORCES,
    CONTACT_FRAME,
    CONTACT_GEOMS,
    CONTACT_POSITION,
    CONTACT_SIZE,
    CONTACTS,
    GEOM_BODIES,
    GEOM_FRICTION,
    LAYOUT_SIZE,
    QFRC_PASSIVE,
    XPOS,
)

# State: load (N), direction of the ground's normal (3) and contact point relative to the wheel's origin (3, m) in the
# world's axes, friction coefficient, body below the wheel, deflection of the tread (2, m) and its value after the step.
LOAD, NORMAL, OFFSET, FRICTION, GROUND, DEFLECTION, NEXT, COUNT = 0, 1, 4, 7, 8, 9, 11, 13
# Constants: axle (3) in the link's axes; then the settings; then the length of a step, and the index in userdata of the
# motor's `BRAKED`, or −1 for a wheel without a motor.
AXLE, SLOPE, CURVATURE, LENGTH, SLIP_SPEED, TIME_STEP, BRAKED = 0, 3, 4, 5, 6, 7, 8
FULL_SLIP: Final = 2.0  # x at which the force is 0.98 of its limit; the deflection does not grow further

_mj_velocity = types.ExternalFunction(
    "mj_objectVelocity", types.void(types.int64, types.int64, types.int32, types.int32, types.int64, types.int32)
)
_mj_apply = types.ExternalFunction(
    "mj_applyFT",
    types.void(types.int64, types.int64, types.int64, types.int64, types.int64, types.int32, types.int64),
)
_FRAME_OF_BODY: Final = 2  # MuJoCo's mjOBJ_XBODY


@law
def commit_deflection(model: int, data: int, table: int) -> None:
    """Set the deflection of the tread to its value after the last step."""
    state = state_of(data, table, COUNT)
    state[DEFLECTION], state[DEFLECTION + 1] = state[NEXT], state[NEXT + 1]


@law
def record_load(model: int, data: int, table: int) -> None:
    """Store load, normal and point of the wheel's contacts, as means weighted by their normal forces."""
    state = state_of(data, table, COUNT)
    for i in range(DEFLECTION):
        state[i] = 0.0
    header = words(table, HEADER)
    layout = words(header[LAYOUT], LAYOUT_SIZE)
    body = header[BODY]
    center = floats(load_word(data + layout[XPOS]) + 24 * body, 3)
    bodies, frictions = load_word(model + GEOM_BODIES), load_word(model + GEOM_FRICTION)
    forces = load_word(data + CONTACT_FORCES)
    largest = 0.0
    for k in range(integers(data + CONTACT_COUNT, 1)[0]):
        contact = load_word(data + CONTACTS) + CONTACT_SIZE * k
        row = integers(contact + CONTACT_ADDRESS, 1)[0]
        geoms = integers(contact + CONTACT_GEOMS, 2)
        if row < 0 or geoms[0] < 0 or geoms[1] < 0:
            continue
        first, second = integers(bodies + 4 * geoms[0], 1)[0], integers(bodies + 4 * geoms[1], 1)[0]
        if body != first and body != second:
            continue
        force = floats(forces + 8 * row, 1)[0]
        if force <= 0.0:
            continue
        normal, position = floats(contact + CONTACT_FRAME, 3), floats(contact + CONTACT_POSITION, 3)
        sign = force if body == second else -force
        state[LOAD] += force
        for i in range(3):
            state[NORMAL + i] += sign * normal[i]
            state[OFFSET + i] += force * (position[i] - center[i])
        mu = max(floats(frictions + 24 * geoms[0], 1)[0], floats(frictions + 24 * geoms[1], 1)[0])
        state[FRICTION] += force * mu
        if force > largest:
            largest = force
            state[GROUND] = first if body == second else second
    if state[LOAD] > 0.0:
        for i in range(OFFSET, GROUND):
            state[i] /= state[LOAD]
        length = sqrt(state[NORMAL] ** 2 + state[NORMAL + 1] ** 2 + state[NORMAL + 2] ** 2)
        for i in range(NORMAL, OFFSET):
            state[i] /= max(length, 1e-12)


@kernel
def tyre_force(slip: float, slope: float, curvature: float) -> float:
    """Return the force as a fraction of μ N, by the Magic Formula with C = 1."""
    x = slope * slip
    z = x - curvature * (x - atan(x))
    return z / sqrt(1.0 + z * z)


@law
def apply_tyre_force(model: int, data: int, table: int) -> None:
    """Apply the slip force of the tyre to the wheel, and its opposite to the body below it."""
    state = state_of(data, table, COUNT)
    state[NEXT], state[NEXT + 1] = 0.0, 0.0
    load = state[LOAD]
    if load <= 0.0:
        return
    block = block_of(data, table)
    header = words(table, HEADER)
    c = constants_of(table)
    R = block[ROTATION : ROTATION + 9]
    v = block[VELOCITY : VELOCITY + 6]
    n = state[NORMAL : NORMAL + 3]
    r = state[OFFSET : OFFSET + 3]
    # velocity of the tread, angular velocity and axle in the world's axes
    t = floats(stack_floats(27), 27)
    for i in range(3):
        x, y, z = R[3 * i], R[3 * i + 1], R[3 * i + 2]
        t[i] = x * v[0] + y * v[1] + z * v[2]
        t[3 + i] = x * v[3] + y * v[4] + z * v[5]
        t[6 + i] = x * c[AXLE] + y * c[AXLE + 1] + z * c[AXLE + 2]
    rolling = abs(t[3] * t[6] + t[4] * t[7] + t[5] * t[8]) * sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
    vx = t[0] + t[4] * r[2] - t[5] * r[1]
    vy = t[1] + t[5] * r[0] - t[3] * r[2]
    vz = t[2] + t[3] * r[1] - t[4] * r[0]
    ground = int(state[GROUND])
    if ground > 0:
        twist = floats(stack_floats(6), 6)  # angular, linear
        _mj_velocity(model, data, _FRAME_OF_BODY, ground, twist.ctypes.data, 0)
        at = floats(load_word(data + words(header[LAYOUT], LAYOUT_SIZE)[XPOS]) + 24 * ground, 3)
        p = block[POSITION : POSITION + 3]
        dx, dy, dz = p[0] + r[0] - at[0], p[1] + r[1] - at[1], p[2] + r[2] - at[2]
        vx -= twist[3] + twist[1] * dz - twist[2] * dy
        vy -= twist[4] + twist[2] * dx - twist[0] * dz
        vz -= twist[5] + twist[0] * dy - twist[1] * dx
    # directions on the ground: along the tread (axle × normal) and across it
    ax, ay, az = t[7] * n[2] - t[8] * n[1], t[8] * n[0] - t[6] * n[2], t[6] * n[1] - t[7] * n[0]
    length = sqrt(ax * ax + ay * ay + az * az)
    if length < 1e-6:
        return
    ax, ay, az = ax / length, ay / length, az / length
    bx, by, bz = n[1] * az - n[2] * ay, n[2] * ax - n[0] * az, n[0] * ay - n[1] * ax
    along, across = vx * ax + vy * ay + vz * az, vx * bx + vy * by + vz * bz

    renewal = rolling
    if c[BRAKED] >= 0.0:
        userdata = load_word(data + header[USERDATA_OFFSET])
        if floats(userdata + 8 * int(c[BRAKED]), 1)[0] == 0.0:
            renewal = max(rolling, c[SLIP_SPEED])
    renewal /= c[LENGTH]
    limit = FULL_SLIP / c[SLOPE] * c[LENGTH]
    h = c[TIME_STEP]
    kept = 1.0 / (1.0 + h * renewal)
    ux, uy = (state[DEFLECTION] + h * along) * kept, (state[DEFLECTION + 1] + h * across) * kept
    size = hypot(ux, uy)
    if size > limit:
        ux, uy = ux * limit / size, uy * limit / size
    state[NEXT], state[NEXT + 1] = ux, uy
    # implicit: the deflection at the end of the coming step
    h = block[STEP]
    ux, uy = (ux + h * along) / (1.0 + h * renewal), (uy + h * across) / (1.0 + h * renewal)
    size = hypot(ux, uy)
    slip = min(size, limit) / c[LENGTH]
    if size > 1e-12:
        stiffness = state[FRICTION] * load * tyre_force(slip, c[SLOPE], c[CURVATURE]) / size
    else:
        stiffness = state[FRICTION] * load * c[SLOPE] / c[LENGTH]
    fx, fy = -stiffness * ux, -stiffness * uy
    wx, wy, wz = fx * ax + fy * bx, fx * ay + fy * by, fx * az + fy * bz
    if ground > 0:
        push = floats(stack_floats(9), 9)
        push[0], push[1], push[2] = -wx, -wy, -wz
        for i in range(3):
            push[3 + i] = 0.0
            push[6 + i] = block[POSITION + i] + r[i]
        push_at = push.ctypes.data
        forces = load_word(data + words(header[LAYOUT], LAYOUT_SIZE)[QFRC_PASSIVE])
        _mj_apply(model, data, push_at, push_at + 24, push_at + 48, ground, forces)
    # Jacobian rows of both directions in the link's axes: linear part Rᵀ d, angular part Rᵀ (r × d)
    J = t[9:21]
    for i in range(3):
        x, y, z = R[i], R[3 + i], R[6 + i]
        J[i] = x * ax + y * ay + z * az
        J[6 + i] = x * bx + y * by + z * bz
        J[3 + i] = x * (r[1] * az - r[2] * ay) + y * (r[2] * ax - r[0] * az) + z * (r[0] * ay - r[1] * ax)
        J[9 + i] = x * (r[1] * bz - r[2] * by) + y * (r[2] * bx - r[0] * bz) + z * (r[0] * by - r[1] * bx)
    slope = h * h * stiffness / (1.0 + h * renewal)
    for i in range(6):
        block[WRENCH + i] += fx * J[i] + fy * J[6 + i]
        for j in range(6):
            block[INERTIA + 6 * i + j] += slope * (J[i] * J[j] + J[6 + i] * J[6 + j])


class Tyre(LawConfig):
    """Settings of the tyre on the link of a wheel, which turns on a continuous joint."""

    kind: Literal["tyre"] = "tyre"
    motor: str | None = Field(None, description="wheel motor that drives the wheel; none for a wheel that only rolls")
    friction: Positive = Field(1.0, description="largest force as a fraction of the load; the ground's, if larger")
    slip_stiffness: Positive = Field(4.7, description="slope of force over μ × load against slip, at slip 0")
    curvature: float = Field(-4.0, lt=1, description="factor E of the Magic Formula; lower is straighter")
    relaxation_length: Positive = Field(
        0.03, description="distance that the wheel rolls until the force has reached 63 %, m"
    )
    slip_speed: NonNegative = Field(
        3.0, description="speed below which the slip of a driven wheel is relative to this speed, m/s"
    )

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"link": "wheel"} | settings)

    def build(self, at: Attachment) -> Law:
        if at.joint is None or at.joint.kind != "continuous":
            raise SkerryError(
                f"a tyre needs a continuous joint above its link, but link {at.link!r} has none; use a wheel"
            )
        settings = [self.slip_stiffness, self.curvature, self.relaxation_length, self.slip_speed, at.step, -1.0]
        return Law(
            np.array([*at.joint.axis, *settings]),
            force=apply_tyre_force,
            update=commit_deflection,
            record=record_load,
            initial_state=np.zeros(COUNT),
            tyre_friction=self.friction,
            reads={} if self.motor is None else {BRAKED: (f"actuators.{self.motor}", "braked")},
        )
