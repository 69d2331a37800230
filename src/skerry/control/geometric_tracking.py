"""A controller of multirotors that flies to a point, after a thing or along a curve, by geometric tracking."""

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
from skerry.control.tracking_law import CAP, GAINS, INERTIA, MASS, TILT, fly, yaw_of
from skerry.core.config import Config, Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator
from skerry.parts.controller import Controller, ControllerConfig, Dial
from skerry.parts.sensor import Truth

Floats = NDArray[np.float64]

TURNING_SHARE = 0.5  # of the propellers' yaw torque at hover, for turns that are asked for
DIALS: Final = ("ahead", "left", "up", "boost")
REACH = 10.0  # m that a dial may be turned to
ARRIVED = 1.0  # m from its point within which it is shown to be there


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
        self._name = config.target
        self._offset: Floats = np.array(config.offset)
        self._point: Floats = np.full(3, np.nan) if config.point is None else np.array(config.point)
        self._seen: Floats = np.full(3, np.nan)  # where the target was last
        self._push: Floats = np.zeros(len(DIALS))  # as dials ask for it, and
        self._pushed: Floats = np.zeros(2)  # whether that was level and upright when it last looked
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

    _wanted: Floats = np.full((5, 3), np.nan)

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
