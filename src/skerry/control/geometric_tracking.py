"""Geometric tracking of a multirotor: holds a point, follows a target, or flies along a trajectory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from skerry.actuators.propeller import PropellerActuator
from skerry.control.loops.native_control import NativeLawController
from skerry.control.tracking import native_tracking as at
from skerry.control.tracking.load_law import LOAD_GAINS
from skerry.control.tracking.spline import Spline
from skerry.control.tracking.tracking_law import CAP, GAINS, INERTIA, MASS, TILT
from skerry.core.config import Config, Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.parts.actuator import Actuator
from skerry.parts.controller import ControllerConfig, Setpoint
from skerry.parts.native_controller import NativeController, NativeView

Floats = NDArray[np.float64]
Words = NDArray[np.int64]

TURNING_SHARE = 0.5  # fraction of the yaw torque at hover that commanded turns may use
MANUAL_SETPOINTS: Final = ("ahead", "left", "up", "boost")
MAX_MANUAL_OFFSET = 10.0  # largest value of a manual setpoint, m
ARRIVAL_RADIUS = 1.0  # distance from the target at which it is displayed as reached, m


class GeometricTrackingController(NativeLawController):
    """Geometric tracking of a point, a robot or object, or a trajectory; by default it holds its start position."""

    def __init__(self, config: GeometricTracking) -> None:
        super().__init__()
        self._config = config
        self._gains = np.zeros(GAINS)
        self._gains[:MASS] = config.position_gain, config.velocity_gain, config.attitude_gain, config.rate_gain
        self._gains[MASS], self._gains[INERTIA : INERTIA + 3] = config.mass, config.inertia
        self._gains[CAP], self._gains[TILT] = config.distance_error_cap, np.tan(np.radians(config.maximum_tilt_deg))
        self._load_gains = np.zeros(LOAD_GAINS)
        self._constants = np.zeros(at.CONSTANTS)
        self._constants[at.PERIOD] = 1.0 / float(config.frequency)
        self._memory = np.zeros(at.MEMORY_SIZE)
        self._memory[at.YAW] = np.nan if config.yaw_deg is None else np.radians(config.yaw_deg)
        self._memory[at.POINT : at.POINT + 3] = np.nan if config.point is None else config.point
        self._memory[at.OFFSET : at.OFFSET + 3] = config.offset
        self._memory[at.LAST_TARGET : at.LAST_TARGET + 3] = self._memory[at.DESIRED :] = np.nan
        self._name = config.target
        path = config.trajectory
        self._spline = None if path is None else Spline(path.times, path.positions, path.repeat)
        self._memory[at.MODE] = self._configured_mode

    @property
    def _configured_mode(self) -> float:
        """Mode by the settings, or by the last call of `go_to`, `follow` or `fly`."""
        if self._spline is not None:
            return at.ON_TRAJECTORY
        return at.AT_POINT if self._name is None else at.AT_TARGET

    # -------------------------------------------------------------------------------------------- commands

    def go_to(self, position: Sequence[float], yaw_deg: float | None = None) -> None:
        """Fly to a point and stay there.

        Args:
            position: East, north and up, m.
            yaw_deg: Yaw to hold, left from east; by default it stays.

        Raises:
            SkerryError: If the position is not 3 finite numbers, or the yaw is not finite.
        """
        self._memory[at.POINT : at.POINT + 3] = _vector(position, "a point to fly to")
        self._memory[at.MODE] = at.AT_POINT
        self._name = self._spline = self._native = None
        self._turn_to(yaw_deg)

    def follow(self, target: str, offset: Sequence[float] = (0, 0, 0), yaw_deg: float | None = None) -> None:
        """Follow a robot, an object or a "robot/link".

        Args:
            target: Name of the target.
            offset: Offset from the target in the world's axes, m.
            yaw_deg: Yaw to hold, left from east; by default it stays.
        """
        self._memory[at.OFFSET : at.OFFSET + 3] = _vector(offset, "an offset")
        self._memory[at.LAST_TARGET : at.LAST_TARGET + 3] = np.nan
        self._memory[at.MODE] = at.AT_TARGET
        self._name, self._spline, self._native = target, None, None
        self._turn_to(yaw_deg)

    def fly(self, times: ArrayLike, positions: ArrayLike, repeat: bool = False, yaw_deg: float | None = None) -> None:
        """Fly along a cubic spline.

        Args:
            times: Times of the world, s, (n,).
            positions: Positions at these times, m, (n, 3).
            repeat: Whether the trajectory starts again at its end.
            yaw_deg: Yaw to hold, left from east; by default it stays.
        """
        self._spline, self._name, self._native = Spline(times, positions, repeat), None, None
        self._memory[at.MODE] = at.ON_TRAJECTORY
        self._turn_to(yaw_deg)

    def manual_setpoints(self) -> dict[str, Setpoint]:
        """Return the offsets of the target point ahead, left and up, m, and `boost`: the factor is 1 + boost."""
        return {
            name: Setpoint(
                (0.0 if name == "boost" else -MAX_MANUAL_OFFSET, MAX_MANUAL_OFFSET),
                0.0,
                lambda number=number: float(self._memory[at.MANUAL + number]),  # type: ignore[misc]
                partial(self._write_manual_setpoint, number),
            )
            for number, name in enumerate(MANUAL_SETPOINTS)
        }

    def _write_manual_setpoint(self, number: int, value: float) -> None:
        self._memory[at.MANUAL + number] = value
        self._active = self._active or value != 0.0

    def _turn_to(self, yaw_deg: float | None) -> None:
        if yaw_deg is not None:
            if not np.isfinite(yaw_deg):
                raise SkerryError(f"yaw_deg must be a finite number, not {yaw_deg}")
            self._memory[at.YAW] = np.radians(yaw_deg)
        self._active = True

    # -------------------------------------------------------------------------------------------- control

    @property
    def target(self) -> Floats:
        """Desired position at the last act, m, (3,)."""
        return self._memory[at.DESIRED : at.DESIRED + 3].copy()

    @property
    def waypoint(self) -> tuple[tuple[float, float, float], float] | None:
        x, y, z = self.target.tolist()
        return None if self.idle or isnan(x) else ((x, y, z), ARRIVAL_RADIUS)

    @property
    def status(self) -> str:
        if self.idle:
            return super().status
        if self._spline is not None:
            return "flies a trajectory"
        if self._name is not None:
            return f"follows {self._name}"
        point = ", ".join(f"{value:.4g}" for value in self._memory[at.POINT : at.POINT + 3])
        return "holds its start position" if "nan" in point else f"holds ({point}) m"

    def _prepare(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        config, curve = self._config, self._spline
        propellers = [actuators[name] for name in config.propellers]
        inverse, largest, per_rpm = _allocation(propellers, config)
        # a hovering propeller can reduce its thrust at most to 0
        torque = config.mass / len(propellers) / np.abs(inverse[:, 3]).max()
        self._constants[at.TURNING] = TURNING_SHARE * torque / config.inertia[2]
        self._constants[at.GRAVITY] = view.gravity
        body, link = view.frame(config.link)
        target: tuple[int, Floats | None] = (0, None) if self._name is None else view.frame_of(self._name)
        points = (None, None, None) if curve is None else (curve.times, curve.positions, curve.curvature)
        answer = np.zeros(len(propellers))
        arrays = [link, target[1], *points, *self._ropes(view), self._memory, self._constants]
        arrays += [self._gains, self._load_gains, inverse, largest, per_rpm, answer]
        count, repeats = (0, False) if curve is None else (len(curve.times), curve.repeat)
        table = [body, target[0], count, int(repeats), len(propellers)]
        table += [0 if array is None else array.ctypes.data for array in arrays]
        return NativeController(at.track_and_carry, table, self._memory, propellers, view, answer, arrays)

    def _ropes(self, view: NativeView) -> list[Words | None]:
        """Return the tables of the rope for loads and of the rope whose end it swoops to; None if there is none."""
        return [None, None]

    def state(self) -> bytes:
        numbers = [float(self._active), *self._memory]
        curve = self._spline
        if curve is not None:
            numbers += [float(curve.repeat), *curve.times, *curve.positions.ravel()]
        name = (self._name or "").encode()
        return len(name).to_bytes(4, "little") + name + np.array(numbers).tobytes()

    def set_state(self, state: bytes) -> None:
        size = int.from_bytes(state[:4], "little")
        self._name = state[4 : 4 + size].decode() or None
        numbers = np.frombuffer(state[4 + size :])
        self._active, self._memory[:] = bool(numbers[0]), numbers[1 : 1 + at.MEMORY_SIZE]
        curve = numbers[1 + at.MEMORY_SIZE :]
        self._spline = self._native = None
        if len(curve):
            count = (len(curve) - 1) // 4
            self._spline = Spline(curve[1 : 1 + count], curve[1 + count :].reshape(count, 3), bool(curve[0]))


def _vector(values: Sequence[float], what: str) -> Floats:
    vector = np.array(values, np.float64)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise SkerryError(f"{what} must be 3 finite numbers, not {values}")
    return vector


def _allocation(propellers: Sequence[Actuator], config: GeometricTracking) -> tuple[Floats, Floats, Floats]:
    """Return the allocation of the propellers.

    Returns:
        Matrix from thrust and torques to the thrusts (n, 4), largest thrusts (n,) in N, and thrusts per rpm (n,) in N.

    Raises:
        SkerryError: If a propeller has no `rpm_to_force`, or the propellers cannot control all four axes.
    """
    columns, largest, per_rpm = [], [], []
    for name, propeller in zip(config.propellers, propellers, strict=True):
        if not isinstance(propeller, PropellerActuator) or propeller.thrust_per_rpm is None:
            raise SkerryError(f"geometric tracking needs propellers with `rpm_to_force`; {name!r} does not have it")
        axis = propeller.axis
        torque = (
            np.cross(propeller.position - np.array(config.center_of_mass), axis) + propeller.torque_per_thrust * axis
        )
        columns.append([axis[2], *torque])
        largest.append(propeller.limits[1] * propeller.thrust_per_rpm)
        per_rpm.append(propeller.thrust_per_rpm)
    matrix = np.array(columns).T
    if np.linalg.matrix_rank(matrix) < 4:
        raise SkerryError(
            "these propellers cannot control thrust, roll, pitch and yaw independently; set `reverse` for half of them"
        )
    return np.ascontiguousarray(np.linalg.pinv(matrix)), np.array(largest), np.array(per_rpm)


class TrajectoryConfig(Config):
    """Settings of a trajectory: a cubic spline through positions at given times."""

    times: tuple[float, ...] = Field(min_length=2, description="times of the world in ascending order, s")
    positions: tuple[Vector3, ...] = Field(min_length=2, description="position in the world at each time, m")
    repeat: bool = Field(
        False, description="whether it starts again at its end; the last position must equal the first"
    )

    @model_validator(mode="after")
    def _check_trajectory(self) -> TrajectoryConfig:
        try:
            Spline(self.times, self.positions, self.repeat)
        except SkerryError as error:
            raise ValueError(str(error)) from None
        return self


class GeometricTracking(ControllerConfig):
    """Settings of geometric tracking of a point, a target or a trajectory."""

    example_vehicle = "quadrotor"

    kind: Literal["geometric_tracking"] = "geometric_tracking"
    link: str = Field("base_link", min_length=1, description="link whose origin tracks")
    propellers: tuple[str, ...] = Field(min_length=4, description="propellers; each needs `rpm_to_force`")
    mass: Positive = Field(description="mass in the controller's model, kg")
    inertia: tuple[Positive, Positive, Positive] = Field(
        description="inertia about x, y, z in the controller's model, kg m²"
    )
    center_of_mass: Vector3 = Field(
        (0.0, 0.0, 0.0), description="centre of mass in the controller's model, in the frame of the link, m"
    )
    position_gain: Positive = Field(16.0, description="position gain k_x/m, 1/s²")
    velocity_gain: Positive = Field(5.6, description="velocity gain k_v/m, 1/s")
    attitude_gain: Positive = Field(8.81, description="attitude gain k_R, N m")
    rate_gain: Positive = Field(1.54, description="rate gain k_Ω, N m s")
    distance_error_cap: Positive = Field(10.0, description="cap on the position error, m")
    maximum_tilt_deg: Positive = Field(60.0, lt=90, description="largest tilt of the commanded thrust")
    yaw_deg: float | None = Field(None, description="yaw to hold, left from east; by default the yaw at the start")
    point: Vector3 | None = Field(None, description="point to hold, m; by default the start position")
    target: str | None = Field(None, min_length=1, description="robot, object or robot/link to follow")
    offset: Vector3 = Field((0.0, 0.0, 0.0), description="offset from the target in the world's axes, m")
    trajectory: TrajectoryConfig | None = Field(None, description="trajectory to fly")

    @model_validator(mode="after")
    def _check_one_target(self) -> GeometricTracking:
        if sum(aim is not None for aim in (self.point, self.target, self.trajectory)) > 1:
            raise ValueError("give one of `point`, `target` and `trajectory`")
        return self

    @property
    def manual_setpoints(self) -> tuple[str, ...]:
        return MANUAL_SETPOINTS

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return self.propellers

    @property
    def needs_bodies(self) -> tuple[str, ...]:
        return () if self.target is None else (self.target,)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(
            **{
                "propellers": ["front", "right", "back", "left"],
                "mass": 21,
                "inertia": [1, 2, 2],
                "trajectory": {"times": [0, 0.1, 1, 3], "positions": [[1, 2, 3], [1, 2, 4], [2, 3, 4], [2, 3, 0]]},
            }
            | settings
        )

    def build(self) -> GeometricTrackingController:
        return GeometricTrackingController(self)
