"""A propeller: thrust along its shaft and torque about it, by a constant per rpm or by its open-water curve.

Linear: T = k rpm, and Q = c T. Open water: T = ρ D⁴ (K_T0 n|n| + (K_Tmax − K_T0)/J_max (V_a/D) |n|), and Q alike with
D⁵ and K_Q, n in rev/s, V_a = (1 − w) times the speed of the water through the disc (Fossen 2021, eq. 9.7 to 9.10, a
straight line through K(0) and K(J_max)); reversed, the thrust is that of the bollard times an efficiency. The body
feels −Q about the shaft. A propeller for water gives thrust by the share of its disc that is under water, one for air
by the share that is above.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skerry.actuators.drives.shaft import (
    ANGLE,
    AX,
    AY,
    AZ,
    COUNT,
    DIAMETER,
    OWN,
    SENSE,
    THRUST,
    TURNING,
    WANTED,
    ShaftActuator,
    X,
    Y,
    Z,
    push_along,
    share_under_water,
)
from skerry.core.config import Config, NonNegative, Positive
from skerry.core.frames import Pose
from skerry.parts.actuator import Actuator, ActuatorConfig, CommandSlot
from skerry.parts.law import (
    DENSITY,
    RELATIVE,
    Attach,
    Jet,
    Law,
    block_of,
    constants_of,
    law,
    state_of,
)
from skerry.parts.state_channel import Read, StateChannel
from skerry.water.fields import PropellerField
from skerry.water.water import DEFAULT_DENSITY

(
    MEDIUM, PER_RPM, TORQUE_PER_THRUST, KT0, KT_SLOPE, KQ0, KQ_SLOPE, INFLOW, BACKWARDS, LAG, RATE, STEP, CONSTANTS,
) = range(OWN, OWN + 13)  # fmt: skip
WATER, AIR = 0.0, 1.0


@law
def spin_up(model: int, data: int, table: int) -> None:
    """Let the shaft follow the command: first order, and no faster than its rate. Exact for a command that holds."""
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    change = state[WANTED] - state[TURNING]
    if c[LAG] > 0.0:
        change *= 1.0 - np.exp(-c[STEP] / c[LAG])
    most = c[RATE] * c[STEP]
    state[TURNING] += min(max(change, -most), most)
    state[ANGLE] = (state[ANGLE] + c[SENSE] * state[TURNING] * (np.pi / 30.0) * c[STEP]) % (2.0 * np.pi)


@law
def push(model: int, data: int, table: int) -> None:
    """Thrust and torque."""
    block = block_of(data, table)
    state = state_of(data, table, COUNT)
    c = constants_of(table)
    x, y, z, ax, ay, az = c[X], c[Y], c[Z], c[AX], c[AY], c[AZ]
    share = share_under_water(block, c)
    if c[MEDIUM] == AIR:
        share = 1.0 - share
    n = state[TURNING] / 60.0
    if c[PER_RPM] > 0.0:
        thrust = c[PER_RPM] * state[TURNING]
        if n < 0.0:
            thrust *= c[BACKWARDS]
        torque = c[TORQUE_PER_THRUST] * thrust
    else:
        v = block[RELATIVE : RELATIVE + 6]
        speed = (
            ax * (v[0] + v[4] * z - v[5] * y) + ay * (v[1] + v[5] * x - v[3] * z) + az * (v[2] + v[3] * y - v[4] * x)
        )
        if n > 0.0:
            advance = c[INFLOW] * max(speed, 0.0) / c[DIAMETER] * n
            thrust = c[KT0] * n * n + c[KT_SLOPE] * advance
            torque = c[KQ0] * n * n + c[KQ_SLOPE] * advance
        else:
            thrust = -c[KT0] * n * n * c[BACKWARDS]
            torque = -c[KQ0] * n * n * c[BACKWARDS]
        scale = block[DENSITY] * c[DIAMETER] ** 4
        thrust *= scale
        torque *= scale * c[DIAMETER]
    push_along(block, state, c, thrust * share, torque * share)


class PropellerActuator(ShaftActuator):
    """Commanded by `rpm=`; positive pushes forward, whichever way it turns."""

    keyword = "rpm"

    def __init__(self, config: Propeller, shaft: Law, reset_value: float) -> None:
        limits = (-config.maximum_rpm, config.maximum_rpm)
        super().__init__([(config.link, shaft)], limits, reset_value, config.expected_frequency)
        self._shaft = shaft
        self._efficiency = config.efficiency if config.open_water or config.torque_per_thrust > 0 else None
        self._minimum = config.minimum_rpm

    @property
    def setpoint(self) -> float:
        return float(self._shaft.memory[WANTED])

    @property
    def state_channel(self) -> StateChannel:
        return StateChannel(self._shaft.memory[TURNING : TURNING + 1])

    def rpm_by(self, read: Read) -> Any:
        return read(self.state_channel)

    @property
    def thrust_per_rpm(self) -> float | None:
        """N per rpm forwards; None if its thrust is no straight line."""
        return float(self._shaft.constants[PER_RPM]) or None

    @property
    def thrust_limits(self) -> tuple[float, float]:
        return self._thrust_at(self.limits[0]), self._thrust_at(self.limits[1])

    def command_for(self, thrust: float) -> float:
        largest, full = self.thrust_limits[thrust > 0.0], self.limits[thrust > 0.0]
        share = min(thrust / largest, 1.0) if largest else 0.0
        return full * (share if self.thrust_per_rpm else float(np.sqrt(share)))

    def _thrust_at(self, rpm: float) -> float:
        """At rest, in water of the usual density if it is one for water."""
        c, n = self._shaft.constants, rpm / 60.0
        thrust = c[PER_RPM] * rpm or DEFAULT_DENSITY * c[DIAMETER] ** 4 * c[KT0] * n * abs(n)
        return float(thrust * (c[BACKWARDS] if rpm < 0.0 else 1.0))

    @property
    def torque_per_thrust(self) -> float:
        """N m that the body feels about the axis of the thrust per N of it; of a propeller with `rpm_to_force`."""
        return float(-self._shaft.constants[SENSE] * self._shaft.constants[TORQUE_PER_THRUST])

    def power_from(self, read: Read) -> Any | None:
        """Torque times speed of the shaft over the efficiency, W, in the last step; None if it has no torque."""
        return None if self._efficiency is None else self.shaft_power_from(read, self.rpm_by(read)) / self._efficiency

    @property
    def command_slot(self) -> CommandSlot:
        return CommandSlot(self._shaft.memory[WANTED : WANTED + 1], minimum=self._minimum)

    def _set(self, value: float) -> None:
        self._shaft.memory[WANTED] = value if abs(value) >= self._minimum else 0.0


class OpenWater(Config):
    """A propeller's open-water curve, as a straight line from bollard to the largest advance ratio."""

    diameter: Positive = Field(description="m")
    thrust_at_rest: Positive = Field(description="K_T at J = 0")
    torque_at_rest: Positive = Field(description="K_Q at J = 0")
    thrust_at_most: NonNegative = Field(description="K_T at the largest J")
    torque_at_most: NonNegative = Field(description="K_Q at the largest J")
    largest_advance: Positive = Field(description="J")
    inflow: Positive = Field(1.0, description="speed through the disc over the vehicle's own, 1 − wake fraction")


class Propeller(ActuatorConfig):
    """A propeller that pushes along the x axis of its mount."""

    kind: Literal["propeller"] = "propeller"
    rpm_to_force: Positive | None = Field(None, description="N per rpm; or give `open_water`")
    torque_per_thrust: NonNegative = Field(0.0, description="N m per N, with `rpm_to_force`")
    open_water: OpenWater | None = None
    maximum_rpm: Positive = Field(description="either way")
    minimum_rpm: NonNegative = Field(0.0, description="a slower command is none")
    reverse: bool = Field(False, description="turns against the right-hand rule about its thrust")
    reverse_efficiency: NonNegative = Field(1.0, description="of the thrust backwards over that forwards")
    medium: Literal["water", "air"] = "water"
    diameter: Positive | None = Field(
        None, description="m, with `rpm_to_force`: how soon it is out of its medium; 0.1 by default"
    )
    lag: NonNegative = Field(0.0, description="time constant of the shaft, s")
    rate: Positive | None = Field(None, description="rpm a second that the shaft can change at most")
    hover_default: bool = Field(False, description="start, and reset, at the rpm that carries the vehicle's weight")
    field: PropellerField | None = Field(None, description="the wash and suction that others feel; none by default")
    efficiency: float = Field(1.0, gt=0, le=1, description="of motor and gear: power of the shaft over what is drawn")
    num_propellers: int = Field(4, ge=1, description="that share the weight, with `hover_default`")

    @model_validator(mode="after")
    def _one_law(self) -> Propeller:
        if (self.rpm_to_force is None) == (self.open_water is None):
            raise ValueError("give either `rpm_to_force` or `open_water`")
        if self.hover_default and self.rpm_to_force is None:
            raise ValueError("`hover_default` needs `rpm_to_force`")
        if self.open_water is not None:
            if self.medium == "air":
                raise ValueError("`open_water` is the curve of a propeller in water; one for air needs `rpm_to_force`")
            if self.torque_per_thrust > 0 or self.diameter is not None:
                raise ValueError("`torque_per_thrust` and `diameter` go with `rpm_to_force`; `open_water` has its own")
        if self.minimum_rpm > self.maximum_rpm:
            raise ValueError("`minimum_rpm` must not be above `maximum_rpm`")
        return self

    @property
    def joint_is_visual(self) -> bool:
        return True

    def build(self, attach: Attach) -> Actuator:
        at = attach(self.link)
        reset = 0.0
        if self.hover_default:
            assert self.rpm_to_force is not None
            reset = min(at.robot_mass * at.gravity / self.num_propellers / self.rpm_to_force, self.maximum_rpm)
        place = at.offset @ self.offset()
        shaft = Law(
            self._constants(place, at.step),
            force=push,
            update=spin_up,
            initial_state=np.array([reset, reset, 0.0, 0.0, 0.0]),
        )
        if self.medium == "water":
            shaft.jet = Jet(place.rotation[:, 0], float(shaft.constants[DIAMETER]), THRUST)
        if self.field is not None:
            shaft.wash = (self.field.row(place.position, place.rotation[:, 0]), THRUST)
        return PropellerActuator(self, shaft, reset)

    def _constants(self, place: Pose, step: float) -> NDArray[np.float64]:
        c = np.zeros(CONSTANTS)
        c[X : Z + 1], c[AX : AZ + 1] = place.position, place.rotation[:, 0]
        c[SENSE] = -1.0 if self.reverse else 1.0
        c[MEDIUM] = AIR if self.medium == "air" else WATER
        c[DIAMETER] = self.open_water.diameter if self.open_water else self.diameter or 0.1
        c[PER_RPM], c[TORQUE_PER_THRUST] = self.rpm_to_force or 0.0, self.torque_per_thrust
        if curve := self.open_water:
            c[KT0], c[KQ0] = curve.thrust_at_rest, curve.torque_at_rest
            c[KT_SLOPE] = (curve.thrust_at_most - curve.thrust_at_rest) / curve.largest_advance
            c[KQ_SLOPE] = (curve.torque_at_most - curve.torque_at_rest) / curve.largest_advance
            c[INFLOW] = curve.inflow
        c[BACKWARDS], c[LAG], c[RATE], c[STEP] = self.reverse_efficiency, self.lag, self.rate or np.inf, step
        return c
