"""Flies a hydrofoil boat by a wanted speed and a wanted roll, with its propeller, flaps, elevator and rudder.

Speeds are those of two sets, backwards or at rest and foiling; between them the boat only passes, at a constant
acceleration. The roll follows its command at a constant rate, and is 0 unless the boat foils. The boat turns at
the rate of a coordinated turn, ψ̇ = −g tan φ/V (positive roll is starboard down, and turns right), in which no side
force is left on the mast. The height of its keel above the water grows straight with speed, from afloat to cruise.

Each loop asks for an acceleration, a = ω² e + 2 ω ė + ω³/10 ∫e, and mass and inertia make it a force: lift, roll and
pitch for the two flaps and the elevator, yaw for the rudder. A surface of area A and lift slope s whose centre moves
through the water with u along its chord and w out of its face, and that is turned by δ about its span, bears
F = −½ ρ A s |u| (w + u δ), of which the angle follows. Beyond the angle at which the flow holds, there is no more lift.

The water's own velocity at the foils is taken as known, as probes there tell it: in waves it is most of what they feel.
The height is that over a surface whose short waves are smoothed out, as the boat goes through them, not over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any, Literal

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

# The state: wanted speed (m/s), of it what is asked for now, wanted roll (rad), of it what is asked for now, and the
# integrals of speed, height, roll, pitch and yaw rate, the smooth height of the water
GOAL, SPEED, ROLL_GOAL, ROLL, SUM_SPEED, SUM_HEIGHT, SUM_ROLL, SUM_PITCH, SUM_YAW, LEVEL, STATES = range(11)
# The constants: period, mass, inertia (3), centre of mass (3), keel (height of the lowest hull), draught, ride height,
# the speed from which it is held, the speed from which it may roll, acceleration, roll rate, largest thrust, its place
# (3); of the loops: gain of speed, ω of height, roll, pitch, gain of yaw; of the mast: its place from the centre of
# mass (3), and ½ ρ A s; the time over which the water's height is smoothed; gravity; thrust per rpm
PERIOD, MASS, INERTIA, CENTER = 0, 1, 2, 5
KEEL, DRAUGHT, RIDE, CRUISE, ROLLING_SPEED, ACCELERATION, ROLL_RATE, THRUST, PROPELLER = *range(8, 16), 16
SPEED_GAIN, HEIGHT_RATE, ROLL_LOOP, PITCH_LOOP, YAW_GAIN, MAST = range(19, 25)
MAST_FORCE, SMOOTHING, GRAVITY, THRUST_PER_RPM, CONSTANTS = range(MAST + 3, MAST + 8)
# A surface: its place from the centre of mass (3), chord (3) and face (3) in the body's axes, ½ ρ A s forwards and
# backwards, largest angle either way
POSITION, CHORD, FACE, FORWARDS, BACKWARDS, LARGEST, SURFACE = 0, 3, 6, 9, 10, 11, 12
ATTACHED = 0.2  # rad of attack: a little before a foil's usual stall
MIN_SPEED = 0.5  # m/s, below which no angle makes a force
MAX_LEAD = 1.0  # m/s that the speed asked for may run ahead of the boat's, as when something holds it
PORT, STARBOARD, ELEVATOR, RUDDER = range(4)


@strict_kernel
def _limit(value: float, most: float) -> float:
    return min(max(value, -most), most)


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
    """Thrust (N) and the angles (rad) of port, starboard, elevator and rudder; the state goes one period on.

    `motion` (13,) is that of the link, `water` the height of the surface below it, `flow` (3,) the velocity of
    the water at the foils, `lifting` (3, 3) leads from lift, roll and pitch torque to the forces on the first three
    surfaces.
    """
    dt, m = c[PERIOD], c[MASS]
    R = matrix_of(motion[3], motion[4], motion[5], motion[6])
    V, W = np.empty(3), np.empty(3)  # of the centre of mass, in the body's axes
    for i in range(3):
        V[i] = R[0, i] * motion[7] + R[1, i] * motion[8] + R[2, i] * motion[9]
        W[i] = R[0, i] * motion[10] + R[1, i] * motion[11] + R[2, i] * motion[12]
    x, y, z = c[CENTER], c[CENTER + 1], c[CENTER + 2]
    V[0] += W[1] * z - W[2] * y
    V[1] += W[2] * x - W[0] * z
    V[2] += W[0] * y - W[1] * x
    climb = R[2, 0] * V[0] + R[2, 1] * V[1] + R[2, 2] * V[2]
    for i in range(3):  # from here on through the water
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
    # the rudder, which is below the centre of mass, rolls the boat, and the mast resists being swept sideways
    f = surfaces[RUDDER]
    sideways = c[INERTIA + 2] * yawing / (f[POSITION] * f[FACE + 1] - f[POSITION + 1] * f[FACE])
    slip = V[1] + W[2] * c[MAST] - W[0] * c[MAST + 2]
    leaning = sideways * (f[POSITION + 1] * f[FACE + 2] - f[POSITION + 2] * f[FACE + 1])
    leaning += c[MAST + 2] * c[MAST_FORCE] * max(u, 0.0) * slip
    wrench = np.empty(3)
    wrench[0] = lift
    wrench[1] = c[INERTIA] * rolling - leaning
    # what the thrust has beyond the drag of the foils, which is as low, accelerates the boat and lifts its nose
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
        if abs(along) < MIN_SPEED or (along < 0.0 and i != RUDDER):  # backwards the hull floats, and is steady
            output[1 + i] = 0.0
            continue
        slope = f[FORWARDS] if along > 0.0 else f[BACKWARDS]
        attack = _limit(force / (slope * along * along), ATTACHED)
        # w + u δ = −F/(½ ρ A s |u|), so with u > 0 δ = −(attack + w/u)
        output[1 + i] = _limit(-np.sign(along) * attack - out / along, f[LARGEST])


# The words of its reflex: the body that carries its link, the addresses of the link's pose on it, and of the pose of
# the middle of its foils; of the sea's function and its table; of state, constants, the way to the lifting surfaces,
# the surfaces and the answer
BODY, LINK, FOILS, SEA, SEA_TABLE, MEMORY_SIZE, CONSTANTS_AT, LIFTING, SURFACES, ANSWER, TABLE_SIZE = range(11)


@native_controller
def fly_foils(motions: int, userdata: int, time: int, table: int) -> None:
    """The propeller's rpm and the surfaces' angles."""
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
    """Commanded by `speed_kn` and `roll_deg`."""

    def __init__(self, config: Hydrofoil) -> None:
        super().__init__()
        self._config = config
        self._memory: Floats = np.zeros(STATES)
        self._memory[LEVEL] = np.nan

    def command(self, speed_kn: float | None = None, roll_deg: float | None = None) -> None:
        """Wish for a speed, of which the nearest that can be held is taken, and for a roll, starboard down."""
        c = self._config
        if speed_kn is not None:
            self._memory[GOAL] = KNOT * c.speed_for(_number(speed_kn, "speed_kn"))
        if roll_deg is not None:
            most = c.maximum_roll_deg
            self._memory[ROLL_GOAL] = np.radians(min(max(_number(roll_deg, "roll_deg"), -most), most))
        self._active = True

    @property
    def speed_kn(self) -> float:
        """The speed that it goes to."""
        return float(self._memory[GOAL]) / KNOT

    @property
    def roll_deg(self) -> float:
        """The roll that it goes to while it foils."""
        return float(np.degrees(self._memory[ROLL_GOAL]))

    def manual_setpoints(self) -> dict[str, Setpoint]:
        """Speed and roll."""
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
        return NativeController(fly_foils, table, self._memory, driven, view, output, (link, middle, *arrays))

    def state(self) -> bytes:
        return bytes([self._active]) + self._memory.tobytes()

    def set_state(self, state: bytes) -> None:
        self._active = bool(state[0])
        self._memory[:] = np.frombuffer(state[1:])


def _number(value: float, what: str) -> float:
    if isinstance(value, str | bool) or not np.isfinite(value):
        raise SkerryError(f"a command must be a number, not {what}={value!r}")
    return float(value)


def _measure(config: Hydrofoil, propeller: Actuator, surfaces: list[Actuator]) -> tuple[Floats, Floats, Floats]:
    """The constants, the way from lift, roll and pitch to the first three surfaces, and the surfaces."""
    if not isinstance(propeller, PropellerActuator) or propeller.thrust_per_rpm is None:
        raise SkerryError(f"a hydrofoil needs a propeller with `rpm_to_force`; {config.propeller!r} is none")
    center = np.array(config.center_of_mass)
    rows = np.zeros((4, SURFACE))
    for row, name, surface in zip(rows, config.surfaces, surfaces, strict=True):
        if not isinstance(surface, ControlSurfaceActuator):
            raise SkerryError(f"a hydrofoil flies by control surfaces; {name!r} is none")
        row[POSITION : POSITION + 3] = surface.pose.position - center
        row[CHORD : CHORD + 3] = surface.pose.rotation[:, 0]
        row[FACE : FACE + 3] = surface.pose.rotation[:, 2]
        dynamic = 0.5 * config.water_density * surface.area
        row[FORWARDS], row[BACKWARDS] = dynamic * surface.lift_slope, dynamic * surface.broadside_drag
        row[LARGEST] = min(-surface.limits[0], surface.limits[1])
    arms = np.array([[1.0, row[POSITION + 1], -row[POSITION]] for row in rows[:RUDDER]]).T
    if np.linalg.matrix_rank(arms) < 3:
        raise SkerryError("these surfaces cannot give lift, roll and pitch apart")
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
    """Flight of a hydrofoil boat by speed and roll."""

    kind: Literal["hydrofoil"] = "hydrofoil"
    link: str = Field("base_link", min_length=1, description="the hull")
    propeller: str = Field("propeller", description="the actuator, with `rpm_to_force`")
    surfaces: tuple[str, str, str, str] = Field(
        ("port_flap", "starboard_flap", "elevator", "rudder"), description="the control surfaces, in this order"
    )
    mass: Positive = Field(description="kg, of the controller's model")
    inertia: tuple[Positive, Positive, Positive] = Field(description="kg m², of the controller's model, about x, y, z")
    center_of_mass: Vector3 = Field((0.0, 0.0, 0.0), description="m, of the controller's model, in the link's frame")
    mast_position: Vector3 = Field((0.0, 0.0, 0.0), description="centre of its side force, m, in the link's frame")
    mast_area: NonNegative = Field(0.0, description="of the mast under water in cruise, m²")
    mast_lift_slope: Positive = Field(4.0, description="C_L per rad of the mast")
    water_density: Positive = Field(1025.0, description="kg/m³, of the controller's model")
    keel: float = Field(description="height of the hull's lowest part in the link's frame, m; mostly negative")
    draught: Positive = Field(description="of the hull when it floats, m")
    surface_smoothing: NonNegative = Field(1.0, description="s over which the water's height is smoothed")
    ride_height: NonNegative = Field(0.35, description="of the keel above the water in cruise, m")
    reverse_speeds_kn: tuple[float, float] = Field((-3.0, 0.0), description="lowest and highest when it does not foil")
    foiling_speeds_kn: tuple[Positive, Positive] = Field((8.0, 13.0), description="lowest and highest when it foils")
    acceleration_kn_per_s: Positive = Field(2.0, description="of the wanted speed, either way")
    rolling_speed_kn: Positive = Field(7.5, description="the speed from which it may roll")
    maximum_roll_deg: Positive = Field(13.0, lt=45, description="either way")
    roll_rate_deg: Positive = Field(25.0, description="° a second of the wanted roll")
    speed_gain: Positive = Field(4.0, description="1/s")
    height_gain: Positive = Field(4.0, description="ω of the loop, rad/s")
    roll_gain: Positive = Field(16.0, description="ω of the loop, rad/s")
    pitch_gain: Positive = Field(6.0, description="ω of the loop, rad/s")
    yaw_gain: Positive = Field(8.0, description="1/s")

    @model_validator(mode="after")
    def _sets_apart(self) -> Hydrofoil:
        (low, middle), (foils, high) = self.reverse_speeds_kn, self.foiling_speeds_kn
        if not low <= middle < self.rolling_speed_kn <= foils <= high:
            raise ValueError("speeds must grow from `reverse_speeds_kn` over `rolling_speed_kn` to `foiling_speeds_kn`")
        return self

    def speed_for(self, speed_kn: float) -> float:
        """The speed that is nearest to a wished one among those that can be held, kn."""
        (low, middle), (foils, high) = self.reverse_speeds_kn, self.foiling_speeds_kn
        if speed_kn < 0.5 * (middle + foils):
            return min(max(speed_kn, low), middle)
        return min(max(speed_kn, foils), high)

    def speed_after(self, speed_kn: float, step: float) -> float:
        """The speed that a step leads to, kn: through both sets, and from the end of one to that of the other."""
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

    def build(self) -> HydrofoilController:
        return HydrofoilController(self)
