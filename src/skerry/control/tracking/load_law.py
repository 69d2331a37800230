"""Control law of a multirotor with a load on a rope: Sreenath, Lee & Kumar 2013, IEEE CDC, pp. 2269–2274; z up.

q is the direction from the multirotor (mass m) to the load (mass M) at a distance l. e_x and e_v are the errors of
position and velocity of the load. The force that moves both masses as desired is

    A = (m + M) (−k_x e_x − k_v e_v + g e₃ + a_d) + m l |q̇|² q.

The desired direction of the rope is q_c = −A/|A|, and the rope rotates by m l q̈ = −F⊥ + …. So the thrust is

    F = (A · q) q + m l (k_q q × (q × q_c) + k_ω q̇).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skerry.control.tracking.tracking_law import (
    MASS,
    TILT,
    allocate_thrusts,
    capped,
    cross,
    dot,
    next_heading,
    torque,
    yaw_of,
)
from skerry.core.kernels import strict_kernel
from skerry.core.rotations import matrix_of

# Gains of the load: position, velocity, direction of the rope, rate of the direction, and the cap on the position error
LOAD_POSITION, LOAD_VELOCITY, DIRECTION, TURNING, LOAD_CAP, LOAD_GAINS = range(6)


@strict_kernel
def carry_load(
    motion: Any,
    load: Any,
    weight: float,
    target: Any,
    goal: float,
    turning: float,
    gravity: float,
    g: Any,
    own: Any,
    inverse: Any,
    largest: Any,
    thrusts: Any,
) -> None:
    """Write the thrusts of the propellers that move a load on the rope to the target.

    Args:
        motion: Motion of the multirotor, (13,).
        load: Position and velocity of the load, (6,).
        weight: Mass of the load, kg.
        target: Desired position, velocity, acceleration, jerk and snap of the load, (5, 3).
        goal: Desired yaw, rad.
        turning: Yaw acceleration over gravity, rad/m.
        gravity: Acceleration of gravity, m/s².
        g: Gains of the multirotor, (GAINS,).
        own: Gains of the load, (LOAD_GAINS,).
        inverse: Thrusts per thrust and torques, (n, 4).
        largest: Largest thrusts, N, (n,).
        thrusts: Receives the thrusts, N, (n,).
    """
    m = g[MASS]
    R = matrix_of(motion[3], motion[4], motion[5], motion[6])
    heading = next_heading(yaw_of(motion), goal, gravity * turning, g)
    spin = motion[10:13]
    W = np.array([dot(R[:, 0], spin), dot(R[:, 1], spin), dot(R[:, 2], spin)])
    line = load[0:3] - motion[0:3]
    length = np.sqrt(dot(line, line))
    q = line / length
    apart = (load[3:6] - motion[7:10]) / length
    dq = apart - dot(apart, q) * q
    ex, _, _ = capped(load[0:3] - target[0], np.zeros(3), np.zeros(3), own[LOAD_CAP])
    A = (m + weight) * (-own[LOAD_POSITION] * ex - own[LOAD_VELOCITY] * (load[3:6] - target[1]) + target[2])
    A[2] += (m + weight) * gravity
    A += m * length * dot(dq, dq) * q
    lift = max(A[2], 0.3 * (m + weight) * gravity)
    side = np.sqrt(A[0] * A[0] + A[1] * A[1])
    share = min(g[TILT] * lift / side, 1.0) if side > 0.0 else 1.0
    A = np.array([share * A[0], share * A[1], lift])
    q_c = -A / np.sqrt(dot(A, A))
    e_q = cross(q, cross(q, q_c))
    F = dot(A, q) * q + m * length * (own[DIRECTION] * e_q + own[TURNING] * dq)
    F[2] = max(F[2], 0.3 * (m + weight) * gravity)
    M = torque(R, W, F, np.zeros(3), np.zeros(3), heading, g)
    thrusts[:] = allocate_thrusts(np.array([dot(F, R[:, 2]), M[0], M[1], M[2]]), inverse, largest)
