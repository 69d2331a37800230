"""A multirotor with a load on a rope: Sreenath, Lee & Kumar 2013, IEEE CDC, pp. 2269–2274; z up.

With q the direction from the multirotor (mass m) to the load (mass M) at a distance l, and e_x, e_v the errors of the
load, the force that would move both is

    A = (m + M) (−k_x e_x − k_v e_v + g e₃ + a_d) + m l |q̇|² q,

the rope shall point along q_c = −A/|A|, and it turns by m l q̈ = −F⊥ + …, so the thrust is

    F = (A · q) q + m l (k_q q × (q × q_c) + k_ω q̇).

It tracks as without a load until its rope carries one. The load's mass is given, or taken from the rope's pull,
smoothed over a third of a second, so that a load that floats counts for what it weighs.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from skerry.control.geometric_tracking import GeometricTracking, GeometricTrackingController
from skerry.control.tracking_law import MASS, TILT, capped, cross, dot, next_heading, share_out, torque, yaw_of
from skerry.core.config import Positive
from skerry.core.kernels import strict_kernel
from skerry.core.rotations import matrix_of
from skerry.parts.sensor import RopeSight, Truth

Floats = NDArray[np.float64]
SMOOTHING = 0.3  # s over which the rope's pull is smoothed
SHORTEST = 0.3  # m; a load nearer than this does not swing, and counts as a part of the vehicle

# the load's own gains: of its position and velocity, of the rope's direction and its rate, and the cap on its error
LOAD_POSITION, LOAD_VELOCITY, DIRECTION, TURNING, LOAD_CAP, LOAD_GAINS = range(6)


@strict_kernel
def carry(
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
    """Thrusts: as `fly`, for a load at a place with a velocity (6,), of a mass."""
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
    thrusts[:] = share_out(np.array([dot(F, R[:, 2]), M[0], M[1], M[2]]), inverse, largest)


class SuspendedLoadController(GeometricTrackingController):
    """Flies as the geometric tracking controller does, and lets the load go where it would go while it carries one."""

    _config: SuspendedLoad

    def __init__(self, config: SuspendedLoad) -> None:
        super().__init__(config)
        self._load_gains = np.zeros(LOAD_GAINS)
        self._load_gains[: LOAD_CAP + 1] = (
            config.load_position_gain,
            config.load_velocity_gain,
            config.direction_gain,
            config.turning_gain,
            config.load_error_cap,
        )
        self._pull = 0.0  # of the rope, N, smoothed

    @property
    def carried(self) -> float:
        """The mass that it takes its load to have, kg."""
        return self._config.load_mass or self._pull / 9.81

    def _share_out(
        self, truth: Truth, motion: Floats, shares: tuple[Floats, Floats, Floats], pull: float = 0.0
    ) -> None:
        rope = truth.rope(self._config.rope)
        exists, loaded = rope.exists, rope.loaded
        tension = float(rope.tension[0]) if exists else 0.0
        self._pull += (tension - self._pull) * min(self._period / SMOOTHING, 1.0)
        if self._config.attack_the_buoy is not None and not loaded:
            self._aim_at_buoy(truth, truth.rope(self._config.attack_the_buoy))
        if not exists:
            super()._share_out(truth, motion, shares)
        elif not loaded or np.linalg.norm(rope.points[-1] - motion[:3]) < SHORTEST:
            # what hangs there, a hook say, is a part of the vehicle
            super()._share_out(truth, motion, shares, self._pull)
        else:
            mass = self._config.load_mass or self._pull / truth.gravity
            load = np.concatenate([rope.points[-1], rope.velocities[-1]])
            carry(
                *(motion, load, mass, self._wanted, self._goal, self._turning, truth.gravity),
                *(self._gains, self._load_gains, *shares),
            )

    def _aim_at_buoy(self, truth: Truth, rope: RopeSight) -> None:
        """Swoop to the buoy: down to it over a few seconds on a parabola, and up again."""
        if rope.exists:
            since = truth.time % 8.0 - 4.0
            self._wanted = np.zeros((5, 3))
            self._wanted[0] = rope.points[-1]
            self._wanted[0, 2] += since**2 / 16.0 + 0.16
            self._wanted[1] = rope.velocities[-1]
            self._wanted[1, 2] += since / 8.0

    def state(self) -> bytes:
        return np.array([self._pull]).tobytes() + super().state()

    def set_state(self, state: bytes) -> None:
        self._pull = float(np.frombuffer(state[:8])[0])
        super().set_state(state[8:])


class SuspendedLoad(GeometricTracking):
    """Tracking by a multirotor that carries a load on a rope."""

    kind: Literal["suspended_load"] = "suspended_load"  # type: ignore[assignment]
    rope: str = Field(min_length=1, description="the rope that the load hangs on")
    load_mass: Positive | None = Field(None, description="kg; by default from the rope's pull")
    load_position_gain: Positive = Field(0.8, description="of the load, 1/s²")
    load_velocity_gain: Positive = Field(1.6, description="of the load, 1/s")
    direction_gain: Positive = Field(12.0, description="of the rope's direction, 1/s²")
    turning_gain: Positive = Field(6.0, description="of its rate, 1/s")
    load_error_cap: Positive = Field(2.0, description="m; a longer distance of the load counts as this")
    attack_the_buoy: str | None = Field(
        None, description="a rope whose end it swoops to while it carries nothing, whatever else it is to track"
    )

    def build(self) -> SuspendedLoadController:
        return SuspendedLoadController(self)
