"""Hydrofoil controller: tracks a commanded speed and roll with propeller, flaps, elevator and rudder.

The boat can hold speeds of two ranges: reverse or rest, and foiling. Between the ranges it accelerates at a constant
rate. The roll follows its command at a constant rate, and is 0 unless the boat foils. The boat turns at the rate of a
coordinated turn, ψ̇ = −g tan φ/V (positive roll is starboard down and turns right), without side force on the mast. The
height of its keel above the water grows linearly with speed, from floating to cruise.

Each loop computes an acceleration, a = ω² e + 2 ω ė + ω³/10 ∫e, which mass and inertia convert to a force: lift, roll
and pitch for the two flaps and the elevator, yaw for the rudder. A surface of area A and lift slope s moves through
the water with u along its chord and w out of its face, and is turned by δ about its span. Its force is F = −½ ρ A s
|u| (w + u δ), from which the angle follows. The angle of attack is limited to attached flow.

The velocity of the water at the foils is taken as known, as from probes, because in waves it dominates their angle of
attack. The height is measured above a smoothed surface, because the boat passes through short waves, not over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.actuators.control_surface import ControlSurfaceActuator
from skerry.actuators.propeller import PropellerActuator
from skerry.control.loops.native_control import NativeLawController
from skerry.core.config import NonNegative, Positive, Vector3
from skerry.core.errors import SkerryError
from skerry.core.frames import Pose
from skerry.core.kernels import floats, strict_kernel, words
from skerry.core.rotations import MOTION as ROW
from skerry.core.rotations import matrix_of, motion_of_fixed_frame
from skerry.parts.actuator import Actuator
from skerry.parts.controller import ControllerConfig, Setpoint
from skerry.parts.native_controller import NativeController, NativeView, native_controller, sample_sea
from skerry.water.flow import FLOW, HEIGHT, NEED_FLOW, ROWS

Floats = NDArray[np.float64]
KNOT = 1852.0 / 3600.0  # m/s, by definition

# State: commanded speed (m/s), its present setpoint, commanded roll (rad), its present setpoint, integrals of speed,
# height, roll, pitch and yaw rate, and the smoothed height of the water (m)
GOAL, SPEED, ROLL_GOAL, ROLL, SUM_SPEED, SUM_HEIGHT, SUM_ROLL, SUM_PITCH, SUM_YAW, LEVEL, STATES = range(11)
# Constants: period, mass, inertia (3), centre of mass (3), height of the keel, draught, ride height, smallest speed at
# ride height, smallest speed with roll, acceleration, roll rate, largest thrust, position of the propeller (3); loops:
# gain of speed, ω of height, roll and pitch, gain of yaw; mast: position from the centre of mass (3), ½ ρ A s;
# time constant of the water height, gravity, thrust per rpm
PERIOD, MASS, INERTIA, CENTER = 0, 1, 2, 5
KEEL, DRAUGHT, RIDE, CRUISE, ROLLING_SPEED, ACCELERATION, ROLL_RATE, THRUST, PROPELLER = *range(8, 16), 16
SPEED_GAIN, HEIGHT_RATE, ROLL_LOOP, PITCH_LOOP, YAW_GAIN, MAST = range(19, 25)
MAST_FORCE, SMOOTHING, GRAVITY, THRUST_PER_RPM, CONSTANTS = range(MAST + 3, MAST + 8)
# Surface: position from the centre of mass (3), chord (3) and face normal (3) in the axes of the body, ½ ρ A s forwards
# and backwards, largest angle in both directions
POSITION, CHORD, FACE, FORWARDS, BACKWARDS, LARGEST, SURFACE = 0, 3, 6, 9, 10, 11, 12
ATTACHED = 0.2  # largest angle of attack, rad: slightly below the typical stall angle of a foil
MIN_SPEED = 0.5  # speed below which surfaces produce no useful force, m/s
MAX_LEAD = 1.0  # largest difference between the speed setpoint and the speed of the boat, m/s
RUDDER = 3  # index of the rudder among the surfaces; the first three produce lift, roll and pitch


@strict_kernel
def _limit(value: float, largest: float) -> float:
    """Return a value, clamped to ±`largest`."""
    return min(max(value, -largest), largest)


@strict_kernel
def steer(
    motion: Any,
    water: float,
    flow: Any,
    gravity: float,
    s: Any,
    c: Any,
    lifting: Any,
    surfaces: Any,
    output: Any,
) -> None:
    """Write the thrust (N) and the angles (rad) of port flap, starboard flap, elevator and rudder.

    Args:
        motion: Motion of the link, (13,).
        water: Height of the surface at the link, m.
        flow: Velocity of the water at the foils, m/s, (3,).
        gravity: Acceleration of gravity, m/s².
        s: State, (STATES,); advanced by one period.
        c: Constants, (CONSTANTS,).
        lifting: Matrix from lift, roll and pitch torque to the forces of the first three surfaces, (3, 3).
        surfaces: Surfaces, (4, SURFACE).
        output: Receives thrust and angles, (5,).
    """
    dt, m = c[PERIOD], c[MASS]
    R = matrix_of(motion[3], motion[4], motion[5], motion[6])
    V, W = np.empty(3), np.empty(3)  # velocities of the centre of mass, in the axes of the body
    for i in range(3):
        V[i] = R[0, i] * motion[7] + R[1, i] * motion[8] + R[2, i] * motion[9]
        W[i] = R[0, i] * motion[10] + R[1, i] * motion[11] + R[2, i] * motion[12]
    x, y, z = c[CENTER], c[CENTER + 1], c[CENTER + 2]
    V[0] += W[1] * z - W[2] * y
    V[1] += W[2] * x - W[0] * z
    V[2] += W[0] * y - W[1] * x
    climb = R[2, 0] * V[0] + R[2, 1] * V[1] + R[2, 2] * V[2]
    for i in range(3):  # from here on relative to the water
        V[i] -= R[0, i] * flow[0] + R[1, i] * flow[1] + R[2, i] * flow[2]
    u = V[0]
    roll, pitch = np.arctan2(R[2, 1], R[2, 2]), np.arcsin(_limit(-R[2, 0], 1.0))
    foils = u >= c[ROLLING_SPEED]

    # speed
    change = _limit(s[GOAL] - s[SPEED], c[ACCELERATION] * dt)
    s[SPEED] = min(max(s[SPEED] + change, u - MAX_LEAD), u + MAX_LEAD)
    error = s[SPEED] - u
    k = c[SPEED_GAIN]
    wanted = change / dt + k * error + s[SUM_SPEED]
    thrust = _limit(m * wanted, c[THRUST])
    if thrust == m * wanted:
        s[SUM_SPEED] += 0.25 * k * k * error * dt

    # height of the keel, in the middle of the hull
    if np.isnan(s[LEVEL]):
        s[LEVEL] = water
    s[LEVEL] += (water - s[LEVEL]) * dt / (dt + c[SMOOTHING])
    height = motion[2] + R[2, 2] * c[KEEL] - s[LEVEL]
    share = min(max(u / c[CRUISE], 0.0), 1.0)
    rise = c[RIDE] + c[DRAUGHT]
    error = share * rise - c[DRAUGHT] - height
    rising = change / dt * rise / c[CRUISE] if 0.0 < share < 1.0 else 0.0
    k = c[HEIGHT_RATE]
    if foils:
        s[SUM_HEIGHT] = _limit(s[SUM_HEIGHT] + 0.1 * k * k * k * error * dt, 0.3 * gravity)
    else:
        s[SUM_HEIGHT] = 0.0
    afloat = min(max(-height / c[DRAUGHT], 0.0), 1.0)
    lift = gravity * (1.0 - afloat) + k * k * error + 2.0 * k * (rising - climb) + s[SUM_HEIGHT]
    lift *= m / max(R[2, 2], 0.5)

    # roll, pitch and yaw
    goal = s[ROLL_GOAL] if foils else 0.0
    tilting = _limit(goal - s[ROLL], c[ROLL_RATE] * dt)
    s[ROLL] += tilting
    turning = -gravity * np.tan(roll) / u if foils else 0.0
    k = c[ROLL_LOOP]
    error = s[ROLL] - roll
    s[SUM_ROLL] = _limit(s[SUM_ROLL] + 0.1 * k * k * k * error * dt, 10.0) if foils else 0.0
    rolling = k * k * error + 2.0 * k * (tilting / dt - np.sin(pitch) * turning - W[0]) + s[SUM_ROLL]
    k = c[PITCH_LOOP]
    s[SUM_PITCH] = _limit(s[SUM_PITCH] - 0.1 * k * k * k * pitch * dt, 10.0) if u > 2.0 * MIN_SPEED else 0.0
    pitching = -k * k * pitch + 2.0 * k * (turning * np.sin(roll) * np.cos(pitch) - W[1]) + s[SUM_PITCH]
    k = c[YAW_GAIN]
    error = turning * np.cos(roll) * np.cos(pitch) - W[2]
    s[SUM_YAW] = _limit(s[SUM_YAW] + 0.2 * k * k * error * dt, 1.0) if foils else 0.0
    yawing = k * error + s[SUM_YAW]
    # the rudder is below the centre of mass and rolls the boat; the mast resists sideways motion
    f = surfaces[RUDDER]
    sideways = c[INERTIA + 2] * yawing / (f[POSITION] * f[FACE + 1] - f[POSITION + 1] * f[FACE])
    slip = V[1] + W[2] * c[MAST] - W[0] * c[MAST + 2]
    leaning = sideways * (f[POSITION + 1] * f[FACE + 2] - f[POSITION + 2] * f[FACE + 1])
    leaning += c[MAST + 2] * c[MAST_FORCE] * max(u, 0.0) * slip
    wrench = np.empty(3)
    wrench[0] = lift
    wrench[1] = c[INERTIA] * rolling - leaning
    # thrust minus drag of the foils accelerates the boat and pitches it up, because the propeller is low
    wrench[2] = c[INERTIA + 1] * pitching - (c[PROPELLER + 2] - z) * m * change / dt

    output[0] = thrust
    for i in range(4):
        f = surfaces[i]
        px, py, pz = f[POSITION], f[POSITION + 1], f[POSITION + 2]
        vx, vy, vz = V[0] + W[1] * pz - W[2] * py, V[1] + W[2] * px - W[0] * pz, V[2] + W[0] * py - W[1] * px
        along = f[CHORD] * vx + f[CHORD + 1] * vy + f[CHORD + 2] * vz
        out = f[FACE] * vx + f[FACE + 1] * vy + f[FACE + 2] * vz
        if i == RUDDER:
            force = sideways
        else:
            force = lifting[i, 0] * wrench[0] + lifting[i, 1] * wrench[1] + lifting[i, 2] * wrench[2]
        if abs(along) < MIN_SPEED or (along < 0.0 and i != RUDDER):  # in reverse the hull floats and is stable
            output[1 + i] = 0.0
            continue
        slope = f[FORWARDS] if along > 0.0 else f[BACKWARDS]
        attack = _limit(force / (slope * along * along), ATTACHED)
        # w + u δ = −F/(½ ρ A s |u|), so with u > 0 δ = −(attack + w/u)
        output[1 + i] = _limit(-np.sign(along) * attack - out / along, f[LARGEST])


# Table: body that carries the link, and addresses of: pose of the link on its body, pose of the middle of the foils,
# function of the sea, table of the sea, state, constants, matrix to the lifting surfaces, surfaces, output
BODY, LINK, FOILS, SEA, SEA_TABLE, MEMORY_SIZE, CONSTANTS_AT, LIFTING, SURFACES, ANSWER, TABLE_SIZE = range(11)


@native_controller
def control_foils(motions: int, userdata: int, time: int, table: int) -> None:
    """Compute the rpm of the propeller and the angles of the surfaces."""
    w = words(table, TABLE_SIZE)
    body = floats(motions + 8 * ROW * w[BODY], ROW)
    motion, foils, found = np.empty(ROW), np.empty(ROW), np.empty(ROWS)
    motion_of_fixed_frame(body, floats(w[LINK], 7), motion)
    motion_of_fixed_frame(body, floats(w[FOILS], 7), foils)
    sample_sea(w[SEA], w[SEA_TABLE], userdata, time, 0, motion, found)
    water = found[HEIGHT]
    sample_sea(w[SEA], w[SEA_TABLE], userdata, time, NEED_FLOW, foils, found)
    flow = found[FLOW : FLOW + 3]
    c = floats(w[CONSTANTS_AT], CONSTANTS)
    output = floats(w[ANSWER], 5)
    lifting, surfaces = floats(w[LIFTING], 9).reshape((3, 3)), floats(w[SURFACES], 4 * SURFACE).reshape((4, SURFACE))
    steer(motion, water, flow, c[GRAVITY], floats(w[MEMORY_SIZE], STATES), c, lifting, surfaces, output)
    output[0] /= c[THRUST_PER_RPM]


class HydrofoilController(NativeLawController):
    """Hydrofoil controller, commanded by `speed_kn` and `roll_deg`."""

    def __init__(self, config: Hydrofoil) -> None:
        super().__init__()
        self._config = config
        self._memory: Floats = np.zeros(STATES)
        self._memory[LEVEL] = np.nan

    def command(self, speed_kn: float | None = None, roll_deg: float | None = None) -> None:
        """Set the speed and the roll.

        Args:
            speed_kn: Speed, kn; changed to the nearest speed that the boat can hold.
            roll_deg: Roll, starboard down; clamped to the largest roll.

        Raises:
            SkerryError: If a value is not a finite number.
        """
        c = self._config
        if speed_kn is not None:
            self._memory[GOAL] = KNOT * c.speed_for(_number(speed_kn, "speed_kn"))
        if roll_deg is not None:
            most = c.maximum_roll_deg
            self._memory[ROLL_GOAL] = np.radians(min(max(_number(roll_deg, "roll_deg"), -most), most))
        self._active = True

    @property
    def speed_kn(self) -> float:
        """Commanded speed, kn."""
        return float(self._memory[GOAL]) / KNOT

    @property
    def roll_deg(self) -> float:
        """Commanded roll, starboard down; it is applied while the boat foils."""
        return float(np.degrees(self._memory[ROLL_GOAL]))

    def manual_setpoints(self) -> dict[str, Setpoint]:
        """Return the setpoints of speed and roll."""
        slowest, fastest = self._config.reverse_speeds_kn[0], self._config.foiling_speeds_kn[1]
        roll = self._config.maximum_roll_deg
        return {
            "speed_kn": Setpoint(
                (slowest, fastest),
                0.0,
                lambda: self.speed_kn,
                lambda speed: self.command(speed_kn=speed),
                lambda step: self._config.speed_after(self.speed_kn, step),
            ),
            "roll_deg": Setpoint((-roll, roll), 0.0, lambda: self.roll_deg, lambda roll: self.command(roll_deg=roll)),
        }

    @property
    def status(self) -> str:
        return super().status if self.idle else f"speed_kn={self.speed_kn:g}, roll_deg={self.roll_deg:g}"

    def _prepare(self, view: NativeView, actuators: Mapping[str, Actuator]) -> NativeController:
        config = self._config
        driven = [actuators[name] for name in (config.propeller, *config.surfaces)]
        constants, lifting, surfaces = _measure(config, driven[0], driven[1:])
        constants[GRAVITY] = view.gravity
        foils = surfaces[:RUDDER, POSITION : POSITION + 3].mean(axis=0) + config.center_of_mass
        body, link = view.frame(config.link)
        _, middle = view.frame(config.link, Pose(foils, Pose.identity().orientation))
        output = np.zeros(5)
        arrays = (self._memory, constants, lifting, surfaces, output)
        table = [body, link.ctypes.data, middle.ctypes.data, *view.sea, *(array.ctypes.data for array in arrays)]
        return NativeController(control_foils, table, self._memory, driven, view, output, (link, middle, *arrays))

    def state(self) -> bytes:
        return bytes([self._active]) + self._memory.tobytes()

    def set_state(self, state: bytes) -> None:
        self._active = bool(state[0])
        self._memory[:] = np.frombuffer(state[1:])


def _number(value: float, what: str) -> float:
    if isinstance(value, str | bool) or not np.isfinite(value):
        raise SkerryError(f"a command must be a finite number, not {what}={value!r}")
    return float(value)


def _measure(config: Hydrofoil, propeller: Actuator, surfaces: list[Actuator]) -> tuple[Floats, Floats, Floats]:
    """Return the constants, the matrix from lift, roll and pitch to the first three surfaces, and the surfaces.

    Raises:
        SkerryError: If an actuator has the wrong kind, or the surfaces cannot control lift, roll and pitch.
    """
    if not isinstance(propeller, PropellerActuator) or propeller.thrust_per_rpm is None:
        raise SkerryError(
            f"a hydrofoil controller needs a propeller with `rpm_to_force`; {config.propeller!r} does not have it"
        )
    center = np.array(config.center_of_mass)
    rows = np.zeros((4, SURFACE))
    for row, name, surface in zip(rows, config.surfaces, surfaces, strict=True):
        if not isinstance(surface, ControlSurfaceActuator):
            raise SkerryError(f"`surfaces` must be control surfaces; {name!r} is a {type(surface).__name__}")
        row[POSITION : POSITION + 3] = surface.pose.position - center
        row[CHORD : CHORD + 3] = surface.pose.rotation[:, 0]
        row[FACE : FACE + 3] = surface.pose.rotation[:, 2]
        dynamic = 0.5 * config.water_density * surface.area
        row[FORWARDS], row[BACKWARDS] = dynamic * surface.lift_slope, dynamic * surface.broadside_drag
        row[LARGEST] = min(-surface.limits[0], surface.limits[1])
    arms = np.array([[1.0, row[POSITION + 1], -row[POSITION]] for row in rows[:RUDDER]]).T
    if np.linalg.matrix_rank(arms) < 3:
        raise SkerryError("these surfaces cannot control lift, roll and pitch independently; check their positions")
    c = np.zeros(CONSTANTS)
    c[PERIOD], c[MASS], c[INERTIA : INERTIA + 3] = 1.0 / float(config.frequency), config.mass, config.inertia
    c[CENTER : CENTER + 3], c[KEEL], c[DRAUGHT] = center, config.keel, config.draught
    c[RIDE], c[CRUISE] = config.ride_height, KNOT * config.foiling_speeds_kn[0]
    c[ROLLING_SPEED] = KNOT * config.rolling_speed_kn
    c[ACCELERATION], c[ROLL_RATE] = KNOT * config.acceleration_kn_per_s, np.radians(config.roll_rate_deg)
    c[THRUST], c[THRUST_PER_RPM] = propeller.limits[1] * propeller.thrust_per_rpm, propeller.thrust_per_rpm
    c[PROPELLER : PROPELLER + 3] = propeller.position
    c[SPEED_GAIN], c[HEIGHT_RATE], c[YAW_GAIN] = config.speed_gain, config.height_gain, config.yaw_gain
    c[ROLL_LOOP], c[PITCH_LOOP] = config.roll_gain, config.pitch_gain
    c[SMOOTHING] = config.surface_smoothing
    c[MAST : MAST + 3] = np.array(config.mast_position) - center
    c[MAST_FORCE] = 0.5 * config.water_density * config.mast_area * config.mast_lift_slope
    return c, np.linalg.inv(arms), rows


class Hydrofoil(ControllerConfig):
    """Settings of a hydrofoil controller."""

    example_vehicle = "evolo"

    kind: Literal["hydrofoil"] = "hydrofoil"
    link: str = Field("base_link", min_length=1, description="link of the hull")
    propeller: str = Field("propeller", description="propeller; needs `rpm_to_force`")
    surfaces: tuple[str, str, str, str] = Field(
        ("port_flap", "starboard_flap", "elevator", "rudder"), description="control surfaces, in this order"
    )
    mass: Positive = Field(description="mass in the controller's model, kg")
    inertia: tuple[Positive, Positive, Positive] = Field(
        description="inertia about x, y, z in the controller's model, kg m²"
    )
    center_of_mass: Vector3 = Field(
        (0.0, 0.0, 0.0), description="centre of mass in the controller's model, in the frame of the link, m"
    )
    mast_position: Vector3 = Field(
        (0.0, 0.0, 0.0), description="point of the side force of the mast in the frame of the link, m"
    )
    mast_area: NonNegative = Field(0.0, description="area of the mast under water in cruise, m²")
    mast_lift_slope: Positive = Field(4.0, description="lift slope of the mast, C_L per rad")
    water_density: Positive = Field(1025.0, description="density of the water in the controller's model, kg/m³")
    keel: float = Field(description="z of the keel in the frame of the link, m; usually negative")
    draught: Positive = Field(description="draught of the floating hull, m")
    surface_smoothing: NonNegative = Field(1.0, description="time constant of the filter of the water height, s")
    ride_height: NonNegative = Field(0.35, description="height of the keel above the water in cruise, m")
    reverse_speeds_kn: tuple[float, float] = Field(
        (-3.0, 0.0), description="smallest and largest speed without foiling, kn"
    )
    foiling_speeds_kn: tuple[Positive, Positive] = Field(
        (8.0, 13.0), description="smallest and largest speed with foiling, kn"
    )
    acceleration_kn_per_s: Positive = Field(
        2.0, description="rate of change of the speed setpoint in both directions, kn/s"
    )
    rolling_speed_kn: Positive = Field(7.5, description="smallest speed at which it rolls, kn")
    maximum_roll_deg: Positive = Field(13.0, lt=45, description="largest roll in both directions")
    roll_rate_deg: Positive = Field(25.0, description="rate of change of the roll setpoint, °/s")
    speed_gain: Positive = Field(4.0, description="gain of the speed loop, 1/s")
    height_gain: Positive = Field(4.0, description="natural frequency ω of the loop, rad/s")
    roll_gain: Positive = Field(16.0, description="natural frequency ω of the loop, rad/s")
    pitch_gain: Positive = Field(6.0, description="natural frequency ω of the loop, rad/s")
    yaw_gain: Positive = Field(8.0, description="gain of the yaw loop, 1/s")

    @model_validator(mode="after")
    def _check_speed_order(self) -> Hydrofoil:
        (low, middle), (foils, high) = self.reverse_speeds_kn, self.foiling_speeds_kn
        if not low <= middle < self.rolling_speed_kn <= foils <= high:
            raise ValueError(
                "the speeds must be in ascending order: `reverse_speeds_kn`, `rolling_speed_kn`, `foiling_speeds_kn`"
            )
        return self

    def speed_for(self, speed_kn: float) -> float:
        """Return the speed nearest to `speed_kn` that the boat can hold, kn."""
        (low, middle), (foils, high) = self.reverse_speeds_kn, self.foiling_speeds_kn
        if speed_kn < 0.5 * (middle + foils):
            return min(max(speed_kn, low), middle)
        return min(max(speed_kn, foils), high)

    def speed_after(self, speed_kn: float, step: float) -> float:
        """Return the speed after a step, kn; a step at the end of one range leads to the start of the other."""
        (low, middle), (foils, high) = self.reverse_speeds_kn, self.foiling_speeds_kn
        if speed_kn > 0.5 * (middle + foils):
            if step < 0.0 and isclose(speed_kn, foils):
                return middle
            return min(max(speed_kn + step, foils), high)
        if step > 0.0 and isclose(speed_kn, middle, abs_tol=1e-9):
            return foils
        return min(max(speed_kn + step, low), middle)

    @property
    def manual_setpoints(self) -> tuple[str, ...]:
        return ("speed_kn", "roll_deg")

    @property
    def needs_actuators(self) -> tuple[str, ...]:
        return (self.propeller, *self.surfaces)

    @classmethod
    def example(cls, **settings: Any) -> Self:
        return super().example(**{"mass": 50, "inertia": [10, 17, 10], "keel": -0.5, "draught": 0.1} | settings)

    def build(self) -> HydrofoilController:
        return HydrofoilController(self)
