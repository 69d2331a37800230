"""Geometric tracking on SE(3) for multirotors: Lee, Leok & McClamroch 2010, IEEE CDC, pp. 5420–5425; here with z up.

With x, v, R, Ω the position, velocity, attitude and body rates, and the index d for desired values,

    e_x = x − x_d,  e_v = v − v_d,  A = −k_x e_x − k_v e_v + m g e₃ + m a_d,
    R_d = [b₂ × b₃, b₂, b₃],  b₃ = A/|A|,  b₂ = (b₃ × b₁d)/|b₃ × b₁d|,
    e_R = ½ (R_dᵀ R − Rᵀ R_d)ˇ,  e_Ω = Ω − Rᵀ R_d Ω_d,
    f = A · R e₃,  M = −k_R e_R − k_Ω e_Ω + Ω × J Ω − J (Ω̂ Rᵀ R_d Ω_d − Rᵀ R_d Ω̇_d).

Ω_d and Ω̇_d are exact derivatives of R_d for the acceleration of the model, f R e₃/m − g e₃, so no noisy values are
differentiated. In addition to the paper, the length of e_x is capped, and the tilt of A is limited. b₁d leads the
heading only as far as the small yaw torque of the propellers can still stop the turn, because a large yaw error
disturbs the other axes.

The wrench is allocated to the propellers by their positions, axes, senses of rotation and torque coefficients. Thrust,
roll and pitch come first. Yaw gets a part of the remaining thrust range of each propeller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.core.kernels import strict_kernel
from skerry.core.rotations import matrix_of

# Gains: k_x/m, k_v/m, k_R, k_Ω, m, J (3), cap on |e_x|, tangent of the largest tilt
POSITION_GAIN, VELOCITY_GAIN, ATTITUDE_GAIN, RATE_GAIN, MASS, INERTIA = range(6)
CAP, TILT, GAINS = range(8, 11)
MIN_LIFT = 0.1  # smallest vertical part of A as a fraction of the weight, so that A never points level or down
YAW_SHARE = 0.75  # fraction of the remaining thrust range of a propeller that yaw may use
MAX_TURN_RATE = 1.0  # largest rate of turn, rad/s


@strict_kernel
def dot(a: Any, b: Any) -> float:
    """Return the scalar product of two vectors (3,)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@strict_kernel
def cross(a: Any, b: Any) -> Any:
    """Return the vector product of two vectors (3,)."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@strict_kernel
def _unit(a: Any, da: Any, dda: Any) -> Any:
    """Return a/|a| and its first two derivatives."""
    size = np.sqrt(dot(a, a))
    u = a / size
    rate = dot(u, da)
    du = (da - rate * u) / size
    rate_of_rate = dot(du, da) + dot(u, dda)
    ddu = (dda - rate_of_rate * u - 2.0 * rate * du) / size
    return u, du, ddu


@strict_kernel
def capped(e: Any, de: Any, dde: Any, cap: float) -> Any:
    """Return an error, shortened to the cap, and its first two derivatives."""
    if np.sqrt(dot(e, e)) <= cap:
        return e, de, dde
    u, du, ddu = _unit(e, de, dde)
    return cap * u, cap * du, cap * ddu


@strict_kernel
def torque(R: Any, W: Any, A: Any, dA: Any, ddA: Any, heading: float, g: Any) -> Any:
    """Return the torque M (N m) that turns the thrust along A and the nose to a heading.

    Args:
        R: Rotation matrix of the vehicle, (3, 3).
        W: Angular velocity in the axes of the body, rad/s, (3,).
        A: Desired thrust, N, (3,).
        dA: First derivative of A, N/s.
        ddA: Second derivative of A, N/s².
        heading: Desired yaw, rad.
        g: Gains, (GAINS,).
    """
    J = g[INERTIA : INERTIA + 3]
    d3, dd3, ddd3 = _unit(A, dA, ddA)
    h = np.array([np.cos(heading), np.sin(heading), 0.0])
    d2, dd2, ddd2 = _unit(cross(d3, h), cross(dd3, h), cross(ddd3, h))
    d1 = cross(d2, d3)
    dd1 = cross(dd2, d3) + cross(d2, dd3)
    ddd1 = cross(ddd2, d3) + 2.0 * cross(dd2, dd3) + cross(d2, ddd3)
    # Ω̂_d = R_dᵀ Ṙ_d, and Ω̇_d from R_dᵀ R̈_d, whose symmetric part drops out of half the difference
    Wd = np.array([dot(d3, dd2), dot(d1, dd3), dot(d2, dd1)])
    dWd = 0.5 * np.array(
        [
            dot(d3, ddd2) - dot(d2, ddd3),
            dot(d1, ddd3) - dot(d3, ddd1),
            dot(d2, ddd1) - dot(d1, ddd2),
        ]
    )
    # Rᵀ R_d; its columns are the desired axes in the axes of the body
    T = np.empty((3, 3))
    for i in range(3):
        T[i, 0], T[i, 1], T[i, 2] = dot(R[:, i], d1), dot(R[:, i], d2), dot(R[:, i], d3)
    eR = 0.5 * np.array([T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]])
    wanted = np.array([dot(T[0], Wd), dot(T[1], Wd), dot(T[2], Wd)])
    desired_rate = np.array([dot(T[0], dWd), dot(T[1], dWd), dot(T[2], dWd)])
    eW = W - wanted
    M = -g[ATTITUDE_GAIN] * eR - g[RATE_GAIN] * eW
    M += cross(W, J * W) - J * (cross(W, wanted) - desired_rate)
    return M


@strict_kernel
def track(motion: Any, R: Any, target: Any, heading: float, gravity: float, g: Any) -> Any:
    """Return thrust (N) and torque (N m) as (4,).

    Args:
        motion: Motion of the vehicle, (13,).
        R: Rotation matrix of the vehicle, (3, 3).
        target: Desired position, velocity, acceleration, jerk and snap, (5, 3).
        heading: Desired yaw, rad.
        gravity: Acceleration of gravity, m/s².
        g: Gains, (GAINS,).
    """
    m = g[MASS]
    kx, kv = g[POSITION_GAIN], g[VELOCITY_GAIN]
    spin = motion[10:13]
    W = np.array([dot(R[:, 0], spin), dot(R[:, 1], spin), dot(R[:, 2], spin)])
    b3 = R[:, 2].copy()
    db3 = cross(spin, b3)
    up = np.array([0.0, 0.0, 1.0])

    ev = motion[7:10] - target[1]
    # the rates of the errors need the force, and the force needs the errors: the first pass computes only the force
    ex, dex, _ = capped(motion[0:3] - target[0], ev, np.zeros(3), g[CAP])
    A = m * (-kx * ex - kv * ev + gravity * up + target[2])
    f = dot(A, b3)
    ea = f / m * b3 - gravity * up - target[2]
    ex, dex, ddex = capped(motion[0:3] - target[0], ev, ea, g[CAP])
    dA = m * (-kx * dex - kv * ea + target[3])
    ej = (dot(dA, b3) + dot(A, db3)) / m * b3 + f / m * db3 - target[3]
    ddA = m * (-kx * ddex - kv * ej + target[4])

    lift = max(A[2], MIN_LIFT * m * gravity)
    side = np.sqrt(A[0] * A[0] + A[1] * A[1])
    if lift > A[2] or side > g[TILT] * lift:
        share = min(g[TILT] * lift / side, 1.0) if side > 0.0 else 1.0
        A = np.array([share * A[0], share * A[1], lift])
        f = dot(A, b3)
        dA, ddA = np.zeros(3), np.zeros(3)

    M = torque(R, W, A, dA, ddA, heading, g)
    return np.array([f, M[0], M[1], M[2]])


@strict_kernel
def allocate_thrusts(wrench: Any, inverse: Any, largest: Any) -> Any:
    """Return the thrusts of the propellers for a wrench (4,), from 0 to the largest, N; yaw has the lowest priority."""
    count = len(largest)
    base, yaw = np.empty(count), np.empty(count)
    for i in range(count):
        base[i] = inverse[i, 0] * wrench[0] + inverse[i, 1] * wrench[1] + inverse[i, 2] * wrench[2]
        yaw[i] = inverse[i, 3] * wrench[3]
    low, high = base.min(), (base - largest).max()
    if low < 0.0 or high > 0.0:  # keep the torques and change the total thrust where possible
        base += max(-low, 0.0) - max(high, 0.0) if (low < 0.0) != (high > 0.0) else 0.0
        base = np.minimum(np.maximum(base, 0.0), largest)
    share = 1.0
    for i in range(count):
        room = YAW_SHARE * (largest[i] - base[i] if yaw[i] > 0.0 else base[i])
        if abs(yaw[i]) > room:
            share = min(share, room / abs(yaw[i]))
    return base + share * yaw


@strict_kernel
def next_heading(heading: float, goal: float, acceleration: float, g: Any) -> float:
    """Return the heading to track on the way to `goal`, rad.

    It is near enough to the present heading that half the acceleration can stop the turn at the goal.
    """
    error = (goal - heading + np.pi) % (2.0 * np.pi) - np.pi
    rate = min(np.sqrt(acceleration * abs(error)), MAX_TURN_RATE)
    ahead = min(abs(error), rate * g[RATE_GAIN] / g[ATTITUDE_GAIN])
    return heading + (ahead if error > 0.0 else -ahead)


@strict_kernel
def yaw_of(motion: Any) -> float:
    """Return the yaw of a motion (13,), left from east, rad."""
    x, y, z, w = motion[3], motion[4], motion[5], motion[6]
    return np.arctan2(2.0 * (x * y + z * w), 1.0 - 2.0 * (y * y + z * z))


@strict_kernel
def fly(
    motion: Any,
    target: Any,
    goal: float,
    turning: float,
    gravity: float,
    pull: float,
    g: Any,
    inverse: Any,
    largest: Any,
    thrusts: Any,
) -> None:
    """Write the thrusts of the propellers that move the vehicle to a target.

    Args:
        motion: Motion of the vehicle, (13,).
        target: Desired position, velocity, acceleration, jerk and snap, (5, 3).
        goal: Desired yaw, rad.
        turning: Yaw acceleration over gravity, rad/m.
        gravity: Acceleration of gravity, m/s².
        pull: Downward pull that the thrust compensates, N.
        g: Gains, (GAINS,).
        inverse: Thrusts per thrust and torques, (n, 4).
        largest: Largest thrusts, N, (n,).
        thrusts: Receives the thrusts, N, (n,).
    """
    R = matrix_of(motion[3], motion[4], motion[5], motion[6])
    wrench = track(motion, R, target, next_heading(yaw_of(motion), goal, gravity * turning, g), gravity, g)
    wrench[0] += pull * R[2, 2]
    thrusts[:] = allocate_thrusts(wrench, inverse, largest)
