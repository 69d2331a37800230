"""Geometric tracking on SE(3) for multirotors: Lee, Leok & McClamroch 2010, IEEE CDC, pp. 5420–5425; here with z up.

With x, v, R, Ω the position, velocity, attitude and body rates, and d for what is desired,

    e_x = x − x_d,  e_v = v − v_d,  A = −k_x e_x − k_v e_v + m g e₃ + m a_d,
    R_d = [b₂ × b₃, b₂, b₃],  b₃ = A/|A|,  b₂ = (b₃ × b₁d)/|b₃ × b₁d|,
    e_R = ½ (R_dᵀ R − Rᵀ R_d)ˇ,  e_Ω = Ω − Rᵀ R_d Ω_d,
    f = A · R e₃,  M = −k_R e_R − k_Ω e_Ω + Ω × J Ω − J (Ω̂ Rᵀ R_d Ω_d − Rᵀ R_d Ω̇_d).

Ω_d and Ω̇_d are exact derivatives of R_d for the model's own acceleration, f R e₃/m − g e₃, so no difference of noisy
numbers is taken. Beyond the paper: e_x is no longer than a cap; A leans no further than a largest tilt; and b₁d is only
so far ahead of the heading that the propellers' small yaw torque can still brake: a large yaw error spoils the rest.

The wrench goes to the propellers by their own places, axes, senses and torque coefficients: thrust, roll and pitch
first, yaw with a share of what is left between no thrust and the largest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.actuators.propeller import PropellerActuator
from skerry.control.spline import Spline
from skerry.core.config import Config, Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.core.kernels import strict_kernel
from skerry.core.rotations import matrix_of
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig, Dial
from skerry.parts.sensor import Truth

Floats = NDArray[np.float64]

# The gains: k_x/m, k_v/m, k_R, k_Ω, m, J (3), the cap on |e_x|, the tangent of the largest tilt
POSITION_GAIN, VELOCITY_GAIN, ATTITUDE_GAIN, RATE_GAIN, MASS, INERTIA = range(6)
CAP, TILT, GAINS = range(8, 11)
LEAST_LIFT = 0.1  # of the weight: A never points level or down
TURNING_SHARE = 0.5  # of the propellers' yaw torque at hover, for turns that are asked for
YAW_SHARE = 0.75  # of the room that a propeller has, for yaw: the rest is for roll and pitch
FASTEST_TURN = 1.0  # rad/s
DIALS: Final = ("ahead", "left", "up", "boost")
REACH = 10.0  # m that a dial may be turned to
ARRIVED = 1.0  # m from its point within which it is shown to be there


@strict_kernel
def _dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@strict_kernel
def _cross(a: Any, b: Any) -> Any:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@strict_kernel
def _unit(a: Any, da: Any, dda: Any) -> Any:
    """a/|a| and its first two rates."""
    size = np.sqrt(_dot(a, a))
    u = a / size
    rate = _dot(u, da)
    du = (da - rate * u) / size
    rate_of_rate = _dot(du, da) + _dot(u, dda)
    ddu = (dda - rate_of_rate * u - 2.0 * rate * du) / size
    return u, du, ddu


@strict_kernel
def _capped(e: Any, de: Any, dde: Any, cap: float) -> Any:
    """An error no longer than the cap, and its first two rates."""
    if np.sqrt(_dot(e, e)) <= cap:
        return e, de, dde
    u, du, ddu = _unit(e, de, dde)
    return cap * u, cap * du, cap * ddu


@strict_kernel
def _torque(R: Any, W: Any, A: Any, dA: Any, ddA: Any, heading: float, g: Any) -> Any:
    """The torque M that turns the thrust along A, of these first two rates, and the nose to a heading."""
    J = g[INERTIA : INERTIA + 3]
    d3, dd3, ddd3 = _unit(A, dA, ddA)
    h = np.array([np.cos(heading), np.sin(heading), 0.0])
    d2, dd2, ddd2 = _unit(_cross(d3, h), _cross(dd3, h), _cross(ddd3, h))
    d1 = _cross(d2, d3)
    dd1 = _cross(dd2, d3) + _cross(d2, dd3)
    ddd1 = _cross(ddd2, d3) + 2.0 * _cross(dd2, dd3) + _cross(d2, ddd3)
    # Ω̂_d = R_dᵀ Ṙ_d, and Ω̇_d from R_dᵀ R̈_d, whose symmetric part drops out of half the difference
    Wd = np.array([_dot(d3, dd2), _dot(d1, dd3), _dot(d2, dd1)])
    dWd = 0.5 * np.array(
        [
            _dot(d3, ddd2) - _dot(d2, ddd3),
            _dot(d1, ddd3) - _dot(d3, ddd1),
            _dot(d2, ddd1) - _dot(d1, ddd2),
        ]
    )
    # Rᵀ R_d, column by column the desired axes in the body's
    T = np.empty((3, 3))
    for i in range(3):
        T[i, 0], T[i, 1], T[i, 2] = _dot(R[:, i], d1), _dot(R[:, i], d2), _dot(R[:, i], d3)
    eR = 0.5 * np.array([T[1, 2] - T[2, 1], T[2, 0] - T[0, 2], T[0, 1] - T[1, 0]])
    wanted = np.array([_dot(T[0], Wd), _dot(T[1], Wd), _dot(T[2], Wd)])
    wanted_rate = np.array([_dot(T[0], dWd), _dot(T[1], dWd), _dot(T[2], dWd)])
    eW = W - wanted
    M = -g[ATTITUDE_GAIN] * eR - g[RATE_GAIN] * eW
    M += _cross(W, J * W) - J * (_cross(W, wanted) - wanted_rate)
    return M


@strict_kernel
def track(motion: Any, R: Any, target: Any, heading: float, gravity: float, g: Any) -> Any:
    """Thrust and torque (4,): of a motion (13,), target rows position, velocity, acceleration, jerk, snap, and yaw."""
    m = g[MASS]
    kx, kv = g[POSITION_GAIN], g[VELOCITY_GAIN]
    spin = motion[10:13]
    W = np.array([_dot(R[:, 0], spin), _dot(R[:, 1], spin), _dot(R[:, 2], spin)])
    b3 = R[:, 2].copy()
    db3 = _cross(spin, b3)
    up = np.array([0.0, 0.0, 1.0])

    ev = motion[7:10] - target[1]
    # the errors' rates follow from the force, and the force from the errors: the first pass is for the force alone
    ex, dex, _ = _capped(motion[0:3] - target[0], ev, np.zeros(3), g[CAP])
    A = m * (-kx * ex - kv * ev + gravity * up + target[2])
    f = _dot(A, b3)
    ea = f / m * b3 - gravity * up - target[2]
    ex, dex, ddex = _capped(motion[0:3] - target[0], ev, ea, g[CAP])
    dA = m * (-kx * dex - kv * ea + target[3])
    ej = (_dot(dA, b3) + _dot(A, db3)) / m * b3 + f / m * db3 - target[3]
    ddA = m * (-kx * ddex - kv * ej + target[4])

    lift = max(A[2], LEAST_LIFT * m * gravity)
    side = np.sqrt(A[0] * A[0] + A[1] * A[1])
    if lift > A[2] or side > g[TILT] * lift:
        share = min(g[TILT] * lift / side, 1.0) if side > 0.0 else 1.0
        A = np.array([share * A[0], share * A[1], lift])
        f = _dot(A, b3)
        dA, ddA = np.zeros(3), np.zeros(3)

    M = _torque(R, W, A, dA, ddA, heading, g)
    return np.array([f, M[0], M[1], M[2]])


@strict_kernel
def share_out(wrench: Any, inverse: Any, largest: Any) -> Any:
    """Thrusts of the propellers for a wrench (4,), within none and the largest: thrust, roll and pitch before yaw."""
    count = len(largest)
    base, yaw = np.empty(count), np.empty(count)
    for i in range(count):
        base[i] = inverse[i, 0] * wrench[0] + inverse[i, 1] * wrench[1] + inverse[i, 2] * wrench[2]
        yaw[i] = inverse[i, 3] * wrench[3]
    low, high = base.min(), (base - largest).max()
    if low < 0.0 or high > 0.0:  # keep the torques, and give up thrust, as far as both ends allow
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
    """The heading to be tracked on the way to a goal: so near that half the acceleration can stop the turn in time."""
    error = (goal - heading + np.pi) % (2.0 * np.pi) - np.pi
    rate = min(np.sqrt(acceleration * abs(error)), FASTEST_TURN)
    ahead = min(abs(error), rate * g[RATE_GAIN] / g[ATTITUDE_GAIN])
    return heading + (ahead if error > 0.0 else -ahead)


@strict_kernel
def yaw_of(motion: Any) -> float:
    """Of a motion (13,), rad left from east."""
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
    """Thrusts towards a target and a goal of yaw, with a pull downwards, N, that is to be borne too."""
    R = matrix_of(motion[3], motion[4], motion[5], motion[6])
    wrench = track(motion, R, target, next_heading(yaw_of(motion), goal, gravity * turning, g), gravity, g)
    wrench[0] += pull * R[2, 2]
    thrusts[:] = share_out(wrench, inverse, largest)


class GeometricTrackingController(Controller):
    """Flies to a point, after a robot or object, or along a trajectory; holds where it starts if told nothing."""

    def __init__(self, config: GeometricTracking) -> None:
        self._config = config
        self._period = 1.0 / float(config.frequency)
        self._gains = np.zeros(GAINS)
        self._gains[:MASS] = config.position_gain, config.velocity_gain, config.attitude_gain, config.rate_gain
        self._gains[MASS], self._gains[INERTIA : INERTIA + 3] = config.mass, config.inertia
        self._gains[CAP], self._gains[TILT] = config.distance_error_cap, np.tan(np.radians(config.maximum_tilt_deg))
        self._allocation: tuple[Floats, Floats, Floats] | None = None
        self._thrusts = np.zeros(0)
        self._turning = 0.0  # yaw acceleration for turns over that of gravity, rad/m
        self._active = True
        self._goal = np.nan if config.yaw_deg is None else np.radians(config.yaw_deg)
        self._name, self._offset = config.target, np.array(config.offset)
        self._point = np.full(3, np.nan) if config.point is None else np.array(config.point)
        self._seen = np.full(3, np.nan)  # where the target was last
        self._push = np.zeros(len(DIALS))  # as dials ask for it, and
        self._pushed = np.zeros(2)  # whether that was level and upright when it last looked
        self._is_pushed = False  # whether there is anything to be done for them
        path = config.trajectory
        self._spline = None if path is None else Spline(path.times, path.positions, path.repeat)

    # -------------------------------------------------------------------------------------------- commands

    def go_to(self, position: Sequence[float], yaw_deg: float | None = None) -> None:
        """Fly to a point of the world and stay there."""
        self._point = _vector(position, "a point to fly to")
        self._name = self._spline = None
        self._turn_to(yaw_deg)

    def follow(self, target: str, offset: Sequence[float] = (0, 0, 0), yaw_deg: float | None = None) -> None:
        """Fly after a robot, an object or a "robot/link", at an offset in the world's axes."""
        self._offset = _vector(offset, "an offset")
        self._name, self._spline, self._seen = target, None, np.full(3, np.nan)
        self._turn_to(yaw_deg)

    def fly(self, times: ArrayLike, positions: ArrayLike, repeat: bool = False, yaw_deg: float | None = None) -> None:
        """Fly along a smooth curve through positions (n, 3) at times (n,) of the world."""
        self._spline, self._name = Spline(times, positions, repeat), None
        self._turn_to(yaw_deg)

    def dials(self) -> dict[str, Dial]:
        """How far off the point is that it flies to, m ahead, left and up, and how many times farther by `boost`."""
        return {
            name: Dial(
                (0.0 if name == "boost" else -REACH, REACH),
                0.0,
                lambda number=number: float(self._push[number]),  # type: ignore[misc]
                partial(self._turn_dial, number),
            )
            for number, name in enumerate(DIALS)
        }

    def _turn_dial(self, number: int, value: float) -> None:
        self._push[number] = value
        self._is_pushed = True
        self._active = self._active or value != 0.0

    @property
    def idle(self) -> bool:
        """Whether it leaves its actuators alone."""
        return not self._active

    def engage(self) -> None:
        """Command the propellers again."""
        self._active = True

    def release(self) -> None:
        """Leave the propellers to others."""
        self._active = False

    def _turn_to(self, yaw_deg: float | None) -> None:
        if yaw_deg is not None:
            if not np.isfinite(yaw_deg):
                raise SkerryError(f"a yaw must be a number, not {yaw_deg}")
            self._goal = float(np.radians(yaw_deg))
        self._active = True

    # -------------------------------------------------------------------------------------------- control

    @property
    def target(self) -> Floats:
        """Where it wants to be, as it was last asked."""
        return self._wanted[0].copy()

    _wanted = np.full((5, 3), np.nan)

    @property
    def waypoint(self) -> tuple[tuple[float, float, float], float] | None:
        x, y, z = self._wanted[0].tolist()
        return None if self.idle or isnan(x) else ((x, y, z), ARRIVED)

    def act(self, truth: Truth, sensors: Mapping[str, Any], actuators: Mapping[str, Actuator]) -> None:
        motion = truth.motion(self._config.link)
        if isnan(self._point[0]):
            self._point = motion[:3].copy()
        if self._is_pushed:
            self._follow_dials(motion[:3], yaw_of(motion))
        self._wanted = self._reference(truth)
        if isnan(self._goal):
            self._goal = yaw_of(motion)
        if not self._active:
            return
        propellers = [actuators[name] for name in self._config.propellers]
        if self._allocation is None:
            self._allocation = _allocation(propellers, self._config)
            self._thrusts = np.zeros(len(propellers))
            # a hovering propeller can give up no more than its thrust
            torque = self._config.mass / len(propellers) / np.abs(self._allocation[0][:, 3]).max()
            self._turning = TURNING_SHARE * torque / self._config.inertia[2]
        inverse, largest, per_rpm = self._allocation
        self._share_out(truth, motion, (inverse, largest, self._thrusts))
        for propeller, rpm in zip(propellers, (self._thrusts / per_rpm).tolist(), strict=True):
            propeller.command(rpm=rpm)

    def _share_out(
        self, truth: Truth, motion: Floats, shares: tuple[Floats, Floats, Floats], pull: float = 0.0
    ) -> None:
        """Find the thrusts towards what is wanted, with a pull downwards, N, that is to be borne too.

        `shares` are the way from a wrench to the thrusts, the largest of them, and memory for them.
        """
        fly(motion, self._wanted, self._goal, self._turning, truth.gravity, pull, self._gains, *shares)

    def _follow_dials(self, place: Floats, yaw: float) -> None:
        """Move the point to fly to ahead of the drone as long as a dial asks for it, then stay where it is."""
        ahead, left, up, boost = self._push.tolist()
        pushed = np.array([float(bool(ahead or left)), float(bool(up))])
        self._is_pushed = bool(pushed.any())  # boost alone moves nothing
        if not (self._is_pushed or self._pushed.any()):
            return
        if self._name is not None or self._spline is not None:
            self._point, self._name, self._spline = place.copy(), None, None
        if pushed[0] or self._pushed[0]:
            away = (1.0 + boost) * np.array([ahead, left])
            self._point[0] = place[0] + np.cos(yaw) * away[0] - np.sin(yaw) * away[1]
            self._point[1] = place[1] + np.sin(yaw) * away[0] + np.cos(yaw) * away[1]
        if pushed[1] or self._pushed[1]:
            self._point[2] = place[2] + (1.0 + boost) * up
        self._pushed = pushed

    def _reference(self, truth: Truth) -> Floats:
        if self._spline is not None:
            return self._spline.at(truth.time)
        rows = np.zeros((5, 3))
        rows[0] = self._point
        if self._name is not None:
            place = truth.place_of(self._name)
            if not isnan(self._seen[0]):
                rows[1] = (place - self._seen) / self._period
            self._seen = place
            rows[0] = place + self._offset
        return rows

    def state(self) -> bytes:
        numbers = [float(self._active), self._goal, *self._point, *self._offset, *self._seen]
        numbers += [*self._push, *self._pushed]
        curve = self._spline
        if curve is not None:
            numbers += [float(curve.repeat), *curve.times, *curve.positions.ravel()]
        name = (self._name or "").encode()
        return len(name).to_bytes(4, "little") + name + np.array(numbers).tobytes()

    def set_state(self, state: bytes) -> None:
        size = int.from_bytes(state[:4], "little")
        self._name = state[4 : 4 + size].decode() or None
        numbers = np.frombuffer(state[4 + size :])
        self._active, self._goal = bool(numbers[0]), float(numbers[1])
        self._point, self._offset, self._seen = numbers[2:11].reshape(3, 3).copy()
        self._push, self._pushed = numbers[11:15].copy(), numbers[15:17].copy()
        self._is_pushed = True  # it finds out when it next looks
        self._spline = None
        if len(numbers) > 17:
            count = (len(numbers) - 18) // 4
            positions = numbers[18 + count :].reshape(count, 3)
            self._spline = Spline(numbers[18 : 18 + count], positions, bool(numbers[17]))


def _vector(values: Sequence[float], what: str) -> Floats:
    vector = np.array(values, np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise SkerryError(f"{what} has 3 numbers, not {values}")
    return vector


def _allocation(propellers: Sequence[Actuator], config: GeometricTracking) -> tuple[Floats, Floats, Floats]:
    """From thrust and torques to the thrust of each, their largest thrusts, and their thrusts per rpm."""
    columns, largest, per_rpm = [], [], []
    for name, propeller in zip(config.propellers, propellers, strict=True):
        if not isinstance(propeller, PropellerActuator) or propeller.thrust_per_rpm is None:
            raise SkerryError(f"geometric tracking needs propellers with `rpm_to_force`; {name!r} is none")
        axis = propeller.axis
        torque = np.cross(propeller.place - np.array(config.center_of_mass), axis) + propeller.torque_per_thrust * axis
        columns.append([axis[2], *torque])
        largest.append(propeller.limits[1] * propeller.thrust_per_rpm)
        per_rpm.append(propeller.thrust_per_rpm)
    matrix = np.array(columns).T
    if np.linalg.matrix_rank(matrix) < 4:
        raise SkerryError("these propellers cannot give thrust, roll, pitch and yaw apart; do they all turn one way?")
    return np.linalg.pinv(matrix), np.array(largest), np.array(per_rpm)


class Trajectory(Config):
    """A smooth curve through points at their times."""

    times: tuple[float, ...] = Field(min_length=2, description="of the world, s; growing")
    positions: tuple[Vector3, ...] = Field(min_length=2, description="in the world, m, one for each time")
    repeat: bool = Field(False, description="begin again at the end, which must be where it began")

    @model_validator(mode="after")
    def _is_a_curve(self) -> Trajectory:
        try:
            Spline(self.times, self.positions, self.repeat)
        except SkerryError as error:
            raise ValueError(str(error)) from None
        return self


class GeometricTracking(ControllerConfig):
    """Tracking of a point, a thing or a trajectory by a multirotor."""

    kind: Literal["geometric_tracking"] = "geometric_tracking"
    link: str = Field("base_link", min_length=1, description="whose origin tracks")
    propellers: tuple[str, ...] = Field(min_length=4, description="the actuators, all with `rpm_to_force`")
    mass: Positive = Field(description="kg, of the controller's model")
    inertia: tuple[Positive, Positive, Positive] = Field(description="kg m², of the controller's model, about x, y, z")
    center_of_mass: Vector3 = Field((0.0, 0.0, 0.0), description="m, of the controller's model, in the link's frame")
    position_gain: Positive = Field(16.0, description="k_x/m, 1/s²")
    velocity_gain: Positive = Field(5.6, description="k_v/m, 1/s")
    attitude_gain: Positive = Field(8.81, description="k_R, N m")
    rate_gain: Positive = Field(1.54, description="k_Ω, N m s")
    distance_error_cap: Positive = Field(10.0, description="m; a longer distance counts as this")
    maximum_tilt_deg: Positive = Field(60.0, lt=90, description="of the thrust that is asked for")
    yaw_deg: float | None = Field(None, description="left from east, to be held; by default that at the start")
    point: Vector3 | None = Field(None, description="to hold, m; by default where it starts")
    target: str | None = Field(None, min_length=1, description="a robot, an object or a robot/link to follow")
    offset: Vector3 = Field((0.0, 0.0, 0.0), description="from the target, m, in the world's axes")
    trajectory: Trajectory | None = None

    @model_validator(mode="after")
    def _one_aim(self) -> GeometricTracking:
        if sum(aim is not None for aim in (self.point, self.target, self.trajectory)) > 1:
            raise ValueError("give one of `point`, `target` and `trajectory`")
        return self

    @property
    def dials(self) -> tuple[str, ...]:
        return DIALS

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return self.propellers

    @property
    def needs_places(self) -> tuple[str, ...]:
        return () if self.target is None else (self.target,)

    def build(self) -> GeometricTrackingController:
        return GeometricTrackingController(self)
